"""Space Invaders: formations, the exact result of shots, and the most valuable single shot.

A shot is decided by one look up a column, so everything is worked out directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gamegen.core.cell import Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.spaceinvaders import EMPTY, INVADERS, SHIP, Fire, Move, Position, game
from solvers.spaceinvaders_claims import CLAIMS
from solvers.spaceinvaders_volley import draw_volley, solve_volley, ticks


@dataclass(frozen=True, slots=True)
class Size:
    """Formation sizes of one level, and how long its volleys are; pairs are lowest and highest."""

    rows: tuple[int, int]
    cols: tuple[int, int]
    commands: int
    turns: int
    padding: int  # free columns on each side: 1 to this many


LEVELS = {
    1: Size(rows=(3, 3), cols=(4, 5), commands=2, turns=0, padding=3),
    2: Size(rows=(3, 4), cols=(5, 6), commands=3, turns=0, padding=3),
    3: Size(rows=(4, 4), cols=(6, 8), commands=4, turns=1, padding=3),
    4: Size(rows=(5, 5), cols=(8, 9), commands=6, turns=1, padding=2),
    5: Size(rows=(5, 6), cols=(10, 11), commands=7, turns=2, padding=2),
}
KINDS = {3: "321", 4: "3221", 5: "32211", 6: "332211"}
"""Which kind each row of a formation of so many rows holds."""

GAP = 0.12
"""How often an inner column of a formation is empty."""


class SpaceInvadersSolver(Solver[Position]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Position]:
        size = LEVELS[level]
        position = _board(size, rng, room=3 if kind == "volley" else 2)
        if kind == "volley":
            return draw_volley(position, rng, commands=size.commands, turns=size.turns)
        if kind == "best":
            if len({position[low] for low in _lowest(position)}) == 1:
                raise Rejected("all columns are worth the same")
            return Problem("best", position)
        (ship,) = position.ships()
        columns = [low.col for low in _lowest(position) if low.col != ship.col]
        return Problem("shoot", position, (("column", rng.choice(columns) + 1),))

    def solve(self, problem: Problem[Position]) -> Solution[Position]:
        if problem.kind == "volley":
            return solve_volley(problem)
        (ship,) = problem.position.ships()
        if problem.kind == "shoot":
            column = int(problem["column"])
            steps = [Step("ordered", {"ship": ship.col + 1, "column": column})]
            hit = problem.position.lowest(column - 1)
            if hit is None:
                raise Unsolvable(f"column {column} has no invader to shoot in\n{problem.position}")
            steps.append(
                Step("column", {"column": column, "count": _depth(problem.position, hit), **_named(hit, problem)})
            )
        else:
            hit, steps = _compare(problem)
        return _one_shot(problem, hit, steps)

    def check(self, problem: Problem[Position], position: Position) -> Check:
        answers = _answers(problem)
        if (position.height, position.width) != (problem.position.height, problem.position.width):
            return Check(False, False, 0.0, f"The area is {position.height}x{position.width}, not the given one.")
        nearest = min(answers, key=lambda answer: len(_differences(answer, position)))
        wrong = _differences(nearest, position)
        moved = _differences(problem.position, nearest)
        stayed = position.height * position.width - len(moved)
        faults = game.faults(position)
        parts = {
            "ship": float(position.ships() == nearest.ships()),
            "changes": 1.0 - len(moved & wrong) / len(moved) if moved else 1.0,
        }
        preserved = 1.0 - len(wrong - moved) / stayed if stayed else 1.0
        return Check(not wrong, not faults, preserved, _reason(problem, position, nearest, faults), parts)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        claim = CLAIMS.get(step.rule)
        try:
            return claim is not None and claim(problem, position, step)
        except (KeyError, IndexError, ValueError):  # a fact is missing, or names a column or command that is not there
            return False

    def asked(self, problem: Problem[Position]) -> Mapping[str, Fact]:
        if problem.kind != "volley":
            return dict(problem.params)
        return {"program": problem.text("program").replace(" ", ", "), "march": f"@{problem['march']}"}


def _board(size: Size, rng: Stream, *, room: int) -> Position:
    """A formation that hangs from the first row with padding at its sides, and a ship below it."""
    rows, cols = rng.between(*size.rows), rng.between(*size.cols)
    shallow = rng.between(1, max(1, rows - 2))  # on deep boards the most valuable row is often out of reach
    depths = [rng.between(shallow, rows) for _ in range(cols)]
    for col in range(1, cols - 1):
        if rng.chance(GAP):
            depths[col] = 0
    depths[rng.below(cols)] = rows
    left, right = rng.between(1, size.padding), rng.between(1, size.padding)
    height, width = rows + rng.between(room, room + 1), left + cols + right
    lines = [
        EMPTY * left + "".join(kind if row < depth else EMPTY for depth in depths) + EMPTY * right
        for row, kind in enumerate(KINDS[rows])
    ]
    lines += [EMPTY * width] * (height - rows - 1)
    ship = rng.below(width)
    return Position((*lines, EMPTY * ship + SHIP + EMPTY * (width - ship - 1)))


def _compare(problem: Problem[Position]) -> tuple[Cell, list[Step]]:
    """What each kind's columns offer, and the best shot: of equal ones the nearest to the ship, then the leftmost."""
    position = problem.position
    (ship,) = position.ships()
    steps = [Step("ship", {"ship": ship.col + 1})]
    for kind in sorted(INVADERS):
        columns = tuple(low.col + 1 for low in _lowest(position) if position[low] == kind)
        if columns:
            facts: dict[str, Fact] = {"columns": columns, "count": len(columns), "kind": f"@kind{kind}"}
            steps.append(Step("offer", facts | {"points": 10 * int(kind)}))
    best = _best(position)
    hit = min(best, key=lambda low: (abs(low.col - ship.col), low.col))
    facts = {"points": 10 * int(position[hit]), "column": hit.col + 1}
    steps.append(Step("only", facts) if len(best) == 1 else Step("tie", facts | {"count": len(best)}))
    return hit, steps


def _one_shot(problem: Problem[Position], hit: Cell, steps: list[Step]) -> Solution[Position]:
    """Go to the column and fire once."""
    position = problem.position
    (ship,) = position.ships()
    column = hit.col + 1
    if hit.col == ship.col:
        steps.append(Step("stay", {"column": column}))
    else:
        move = Move(hit.col - ship.col)
        side = "@right" if move.by > 0 else "@left"
        steps.append(Step("steer", {"by": abs(move.by), "side": side, "column": column}, str(move)))
        position = game.apply(position, move)
    steps.append(Step("fire", {"column": column, **_named(hit, problem)}, "F"))
    above = _depth(position, hit) - 1
    steps.append(Step("shield", {"count": above, "column": column}) if above else Step("alone", {"column": column}))
    seen = _lowest(position) if problem.kind == "best" else [hit]
    effort = sum(_depth(position, low) for low in seen) + position.width + abs(hit.col - ship.col)
    after = game.apply(position, Fire())
    result = {"column": column, "points": 10 * int(position[hit]), **_named(hit, problem)}
    difficulty = Difficulty(
        effort, length=sum(bool(s.action) for s in steps), nodes=len(seen), branching=float(len(seen))
    )
    return Solution(tuple(steps), after, difficulty, result)


def _answers(problem: Problem[Position]) -> list[Position]:
    """Every right result."""
    position = problem.position
    if problem.kind == "volley":
        *_, last = ticks(problem)
        return [game.apply(last.position, last.action)]
    hits = _best(position) if problem.kind == "best" else [position.lowest(int(problem["column"]) - 1)]
    return [_after(position, hit) for hit in hits if hit is not None]


def _reason(problem: Problem[Position], position: Position, answer: Position, faults: list[str]) -> str:
    """One true sentence on the first thing that is wrong: the ship, what should have changed, what should not."""
    if position == answer:
        return "The ship and every invader are where the rules put them."
    if faults:
        return f"{faults[0][0].upper()}{faults[0][1:]}."
    (ship,), (goal,) = position.ships(), answer.ships()
    if problem.kind == "best":
        shot = [low for low in _lowest(problem.position) if position == _after(problem.position, low)]
        if shot:
            points, most = 10 * int(problem.position[shot[0]]), 10 * int(problem.position[_best(problem.position)[0]])
            return f"The shot up column {shot[0].col + 1} scores {points} points, but {most} were possible."
    if ship != goal and problem.kind != "best":
        return f"The ship is in cell ({ship.row}, {ship.col}) instead of cell ({goal.row}, {goal.col})."
    moved = _differences(problem.position, answer)
    wrong = _differences(position, answer)
    cell = min(wrong & moved or wrong)
    return f"Cell ({cell.row}, {cell.col}) shows {_NAMES[position[cell]]} instead of {_NAMES[answer[cell]]}."


_NAMES = {EMPTY: "nothing", SHIP: "the ship"} | {kind: f"an invader of {10 * int(kind)} points" for kind in INVADERS}


def _after(position: Position, hit: Cell) -> Position:
    (ship,) = position.ships()
    return position.with_marks({hit: EMPTY, ship: EMPTY} | {Cell(ship.row, hit.col): SHIP})


def _lowest(position: Position) -> list[Cell]:
    """The lowest invader of each column that has one, from the left."""
    return [low for col in range(position.width) if (low := position.lowest(col))]


def _best(position: Position) -> list[Cell]:
    lows = _lowest(position)
    most = max(position[low] for low in lows)
    return [low for low in lows if position[low] == most]


def _depth(position: Position, low: Cell) -> int:
    return sum(row[low.col] in INVADERS for row in position.rows)


def _differences(one: Position, other: Position) -> set[Cell]:
    return {
        Cell(row, col)
        for row, (mine, yours) in enumerate(zip(one.rows, other.rows, strict=True))
        if mine != yours
        for col in range(one.width)
        if mine[col] != yours[col]
    }


def _named(hit: Cell, problem: Problem[Position]) -> dict[str, Fact]:
    return {"row": hit.row + 1, "kind": f"@kind{problem.position[hit]}"}


solver = SpaceInvadersSolver()
