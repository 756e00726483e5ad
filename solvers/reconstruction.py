"""3D reconstruction: structures that a single corner view decides, their silhouettes, and one cube more or less.

Larger structures are grown from the nearest place to the farthest, each column at least as high as the one in front of
it on the line of sight, because a lower one could not be seen. That is not enough: a structure is kept only if
`gamegen.core.isometric` proves that no other heights look the same. On the smallest floor all heights are tried alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gamegen.core.errors import Rejected
from gamegen.core.isometric import Heights, decidable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.reconstruction import FILLED, Position, Stack, Unstack, View, game, silhouette
from solvers.reconstruction_claims import CLAIMS

AXES = {"front": "y", "side": "x"}
"""The labels under each view."""

_OTHER = {"front": "x", "side": "y"}


@dataclass(frozen=True, slots=True)
class Size:
    """How large the structures of a level are."""

    side: int
    rise: tuple[int, ...] | None  # how often a column is 0, 1, 2… cubes higher than the one in front; None: any height
    cubes: tuple[int, int]
    named_height: bool  # whether the order tells the cube's z


LEVELS = {
    1: Size(3, None, (3, 20), named_height=True),
    2: Size(4, (12, 3, 2, 1), (6, 15), named_height=True),
    3: Size(4, (10, 3, 2, 1), (16, 28), named_height=True),
    4: Size(5, (16, 2, 2, 1), (12, 22), named_height=False),
    5: Size(5, (12, 4, 2), (23, 50), named_height=False),
}
BLANK_SHARE = 0.3
"""How often `project` starts with both views blank instead of wrong."""

TELLING = 0.7
"""How often `voxel` insists on a cube that changes a view."""


class ReconstructionSolver(Solver[Position]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Position]:
        size = LEVELS[level]
        heights = _structure(size, rng)
        if kind == "project":
            return Problem("project", _wrongly_drawn(heights, rng))
        position = _drawn(heights)
        order, x, y = _order(position, rng)
        changed = game.apply(position, game.parse_action(f"{order} {x},{y}"))
        if not decidable(changed.heights):
            raise Rejected("the change would hide something")
        params: tuple[tuple[str, str | int], ...] = (("order", order), ("x", x), ("y", y))
        if size.named_height:
            params += (("z", max(changed.heights[x - 1][y - 1], heights[x - 1][y - 1])),)
        return Problem("voxel", position, params)

    def solve(self, problem: Problem[Position]) -> Solution[Position]:
        return _solve_project(problem) if problem.kind == "project" else _solve_voxel(problem)

    def check(self, problem: Problem[Position], position: Position) -> Check:
        before, answer = problem.position, _answer(problem)
        if position.size != answer.size:
            return Check(
                False, False, 0.0, f"The structure's floor is {position.size} by {position.size}, not as given."
            )
        wanted, given, found = _parts(answer), _parts(before), _parts(position)
        stay = {key for key in wanted if wanted[key] == given[key]}
        kept = sum(found[key] == wanted[key] for key in stay)
        shares = {
            name: _share([found[key] == wanted[key] for key in wanted if key[0] == name])
            for name in ("structure", "front", "side")
        }
        faults = game.faults(position)
        reason = _reason(problem, position, answer, faults)
        return Check(position == answer, not faults, kept / len(stay) if stay else 1.0, reason, shares)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        claim = CLAIMS.get(step.rule)
        try:
            return claim is not None and claim(problem, position, step)
        except (KeyError, ValueError):  # a fact is missing, or a row of heights is empty
            return False

    def asked(self, problem: Problem[Position]) -> Mapping[str, Fact]:
        if problem.kind == "project":
            return {}
        names = [name for name in "xyz" if name in dict(problem.params)]
        place = f"({', '.join(names)}) = ({', '.join(problem.text(name) for name in names)})"
        return {"order": f"@{problem['order']}", "place": place}


def _structure(size: Size, rng: Stream) -> Heights:
    n = size.side
    grown = [[0] * n for _ in range(n)]
    for x, y in sorted(((x, y) for x in range(n) for y in range(n)), key=lambda place: (place[1] - place[0], place)):
        if size.rise is None:
            grown[x][y] = rng.between(0, n)
            continue
        front = grown[x + 1][y - 1] if x + 1 < n and y > 0 else 0
        grown[x][y] = min(n, front + rng.weighted(range(len(size.rise)), size.rise))
    heights = tuple(map(tuple, grown))
    if not size.cubes[0] <= sum(map(sum, heights)) <= size.cubes[1]:
        raise Rejected("too few or too many cubes")
    if not decidable(heights):
        raise Rejected("another structure looks the same")
    return heights


def _silhouettes(heights: Heights) -> tuple[View, View]:
    """The right front and side view."""
    n = len(heights)
    return silhouette([max(column) for column in zip(*heights, strict=True)], n), silhouette([*map(max, heights)], n)


def _drawn(heights: Heights) -> Position:
    return Position(heights, *_silhouettes(heights))


def _wrongly_drawn(heights: Heights, rng: Stream) -> Position:
    """Both views blank, or both drawn with some columns too high or too low."""
    n = len(heights)
    right = _silhouettes(heights)
    if rng.chance(BLANK_SHARE):
        return Position(heights, silhouette([0] * n, n), silhouette([0] * n, n))
    views = []
    for view in right:
        levels = ["".join(column).count(FILLED) for column in zip(*view, strict=True)]
        levels = [rng.between(0, n) if rng.chance(0.5) else level for level in levels]
        views.append(silhouette(levels, n))
    if views[0] == right[0] or views[1] == right[1]:
        raise Rejected("a view is right by chance")
    return Position(heights, views[0], views[1])


def _order(position: Position, rng: Stream) -> tuple[str, int, int]:
    """A cube to add or to remove, mostly one that can be told from a view; more can be added than removed."""
    wanted = Stack if rng.chance(0.5) else Unstack
    actions = [action for action in game.actions(position) if isinstance(action, wanted)]
    telling = [action for action in actions if _silhouettes(game.apply(position, action).heights) != _views(position)]
    if not actions:
        raise Rejected("there is no such cube")
    chosen = rng.choice(telling if telling and rng.chance(TELLING) else actions)
    return ("add" if isinstance(chosen, Stack) else "remove"), chosen.x, chosen.y


def _views(position: Position) -> tuple[View, View]:
    return position.front, position.side


def _solve_project(problem: Problem[Position]) -> Solution[Position]:
    start = problem.position
    n, places = start.size, [height for row in start.heights for height in row]
    filled = sum(height > 0 for height in places)
    steps = [Step("seen", {"n": n, "cubes": sum(places), "columns": filled})]
    after = start
    for view in AXES:
        for column in range(1, n + 1):
            step = _column_step(after, view, column)
            steps.append(step)
            after = game.apply(after, game.parse_action(step.action)) if step.action else after
    redrawn = sum(bool(step.action) for step in steps)
    difficulty = Difficulty(float(n * n + sum(places) + redrawn), length=redrawn, nodes=2 * n * n)
    return Solution(tuple(steps), after, difficulty, _profiles(after))


def _column_step(position: Position, view: str, column: int) -> Step:
    """What stands behind one column of a view, and whether the column is drawn so."""
    heights = _behind(position, view, column)
    tallest = max(heights)
    right = silhouette([tallest], position.size)
    drawn = tuple(row[column - 1] for row in position.view(view))
    facts: dict[str, Fact] = {"view": f"@{view}", "axis": AXES[view], "column": column}
    rule = "keep" if drawn == right else "redraw"
    if tallest:
        facts |= {"other": _OTHER[view], "heights": heights, "tallest": tallest}
    else:
        rule += "-blank"
    return Step(rule, facts, "" if drawn == right else f"{view} {column}")


def _solve_voxel(problem: Problem[Position]) -> Solution[Position]:
    x, y, order = int(problem["x"]), int(problem["y"]), problem.text("order")
    start = problem.position
    height = start.heights[x - 1][y - 1]
    action = f"{order} {x},{y}"
    moved = game.apply(start, game.parse_action(action))
    now = moved.heights[x - 1][y - 1]
    facts: dict[str, Fact] = {"x": x, "y": y}
    z = max(height, now)
    steps = [
        Step("found", facts | {"height": height}) if height else Step("bare", facts),
        Step(_CUBE_RULES[order, z == 1], facts | ({"z": z} if z == 1 else {"z": z, "height": now}), action),
    ]
    for view, column in (("front", y), ("side", x)):
        step = _view_step(start, moved, view, column)
        steps.append(step)
        moved = game.apply(moved, game.parse_action(step.action)) if step.action else moved
    changed = sum(bool(step.action) for step in steps)
    cubes = sum(map(sum, start.heights))
    difficulty = Difficulty(float(start.size**2 + cubes + changed), length=changed, nodes=2 * start.size)
    tops = {"front": moved.tallest("front", y), "side": moved.tallest("side", x)}
    return Solution(tuple(steps), moved, difficulty, facts | {"height": now} | tops)


_CUBE_RULES = {
    ("add", False): "add-cube",
    ("add", True): "add-first",
    ("remove", False): "remove-cube",
    ("remove", True): "remove-last",
}
"""What is said of a cube, by the order and by whether it lies on the floor."""


def _view_step(before: Position, moved: Position, view: str, column: int) -> Step:
    """How a view's column follows the changed structure."""
    old, new = before.tallest(view, column), moved.tallest(view, column)
    facts: dict[str, Fact] = {"view": f"@{view}", "axis": AXES[view], "column": column}
    if not new:
        return Step("view-empties", facts, f"{view} {column}")
    facts |= {"other": _OTHER[view], "heights": _behind(moved, view, column), "tallest": new}
    if new == old:
        return Step("view-stays", facts)
    rule = "view-grows" if new > old else "view-shrinks"
    return Step(rule, facts | {"square": max(old, new)}, f"{view} {column}")


def _behind(position: Position, view: str, column: int) -> tuple[int, ...]:
    """The heights behind a column of a view, from label 1 on."""
    if view == "front":
        return tuple(row[column - 1] for row in position.heights)
    return position.heights[column - 1]


def _profiles(position: Position) -> dict[str, Fact]:
    labels = range(1, position.size + 1)
    return {
        "n": position.size,
        **{view: tuple(position.tallest(view, column) for column in labels) for view in AXES},
    }


def _answer(problem: Problem[Position]) -> Position:
    """The one right result."""
    heights = problem.position.heights
    if problem.kind == "voxel":
        action = game.parse_action(f"{problem['order']} {problem['x']},{problem['y']}")
        heights = game.apply(problem.position, action).heights
    return _drawn(heights)


def _parts(position: Position) -> dict[tuple[str, int, int], int | str]:
    """Everything that is drawn, by where: column heights by x and y, squares of the views by row and column."""
    parts: dict[tuple[str, int, int], int | str] = {
        ("structure", x, y): height for x, row in enumerate(position.heights) for y, height in enumerate(row)
    }
    for view in AXES:
        parts |= {
            (view, row, col): mark for row, line in enumerate(position.view(view)) for col, mark in enumerate(line)
        }
    return parts


def _share(right: list[bool]) -> float:
    return sum(right) / len(right)


def _reason(problem: Problem[Position], position: Position, answer: Position, faults: list[str]) -> str:
    """One true sentence on the first thing that is wrong: the structure first, then the front, then the side view."""
    if position == answer:
        return "The structure and both views are as they must be."
    wanted, found = _parts(answer), _parts(position)
    name, first, second = next(key for key in wanted if wanted[key] != found[key])
    if name == "structure":
        key = (name, first, second)
        return f"The column at x = {first + 1}, y = {second + 1} is {found[key]} cubes high instead of {wanted[key]}."
    if faults:
        return f"{faults[0][0].upper()}{faults[0][1:]}."
    drawn, right = ("filled", "blank") if found[name, first, second] == FILLED else ("blank", "filled")
    z = answer.size - first
    return f"In the {name} view the square {AXES[name]} = {second + 1}, z = {z} is {drawn}, but it must be {right}."


solver = ReconstructionSolver()
