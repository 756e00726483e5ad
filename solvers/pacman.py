"""Pac-Man: the run that collects most beans, and shortest routes around standing ghosts.

`sweep` looks along the four straight lines; a line that meets a ghost is out, and one of the others must beat the rest.
`route` asks for a shortest walk; several may exist and eat different beans, and `check` accepts each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import factorial

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.pacman import BEAN, CHERRY, FOOD, GHOSTS, PELLET, Position, Walk, game, reachable, run
from solvers.pacman_claims import holds
from solvers.pacman_judge import check_route, check_sweep
from solvers.pacman_maze import maze, with_trail
from solvers.pacman_route import Errand, legs, without_ghosts


@dataclass(frozen=True, slots=True)
class Plan:
    """What a level asks of a board."""

    sizes: tuple[int, int]
    trail: tuple[int, int]  # runs that Pac-Man has come before
    ghosts: tuple[int, int]
    sight: int  # of a run's board: cells that can be seen along the four lines, at least
    lead: int  # of a run's board: beans by which the best line is ahead, at most
    pellets: int  # of a route's board; 0: a cherry instead
    steps: tuple[int, int]  # length of the route


PLANS = {
    1: Plan((8, 9), trail=(1, 3), ghosts=(1, 1), sight=5, lead=9, pellets=0, steps=(4, 9)),
    2: Plan((10, 11), trail=(2, 4), ghosts=(1, 2), sight=9, lead=5, pellets=0, steps=(8, 16)),
    3: Plan((12, 13), trail=(2, 5), ghosts=(2, 3), sight=12, lead=4, pellets=2, steps=(12, 26)),
    4: Plan((14, 16), trail=(3, 6), ghosts=(2, 3), sight=15, lead=3, pellets=3, steps=(20, 38)),
    5: Plan((17, 20), trail=(4, 8), ghosts=(3, 3), sight=19, lead=3, pellets=4, steps=(28, 50)),
}
AMBUSH = 0.7
"""How often the first ghost stands where it matters: on the fullest line, or on the route that would be shortest."""

APART = 5
"""Rows plus columns that lie between two pellets, at least."""

TRIES = 12
"""Trails or goals tried on one maze before it is given up."""


@dataclass(frozen=True, slots=True)
class Line:
    """What Pac-Man meets if he goes straight one way."""

    direction: str
    cells: tuple[Cell, ...]
    beans: int
    ghost: Cell | None  # the ghost that would catch him

    @property
    def safe(self) -> bool:
        return bool(self.cells) and self.ghost is None


class PacmanSolver(Solver[Position]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Position]:
        plan = PLANS[level]
        size = rng.between(*plan.sizes)
        make, blocks = (_sweep_problem, 2 * size) if kind == "sweep" else (_route_problem, 5 * size)
        board = maze(size, blocks, rng)
        beans = board.find(BEAN)
        for _ in range(TRIES):
            try:
                return make(with_trail(board, rng.choice(beans), rng.between(*plan.trail), rng), plan, rng)
            except Rejected as rejected:
                reason = rejected.reason
        raise Rejected(reason)

    def solve(self, problem: Problem[Position]) -> Solution[Position]:
        return _solve_sweep(problem.position) if problem.kind == "sweep" else _solve_route(problem)

    def check(self, problem: Problem[Position], position: Position) -> Check:
        if problem.kind == "sweep":
            best, _ = best_lines(problem.position)
            return check_sweep(problem.position, Walk(best.direction, len(best.cells)), position)
        return check_route(Errand(problem.position, targets(problem)), position)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        return holds(problem, position, step)

    def asked(self, problem: Problem[Position]) -> Mapping[str, Fact]:
        if problem.kind == "sweep":
            return {}
        goal = problem.text("goal")
        return {"goal": f"@goal-{goal}", "done": f"@done-{goal}"}


def lines(position: Position) -> list[Line]:
    """Up, down, left, right."""
    start = position.pacman()
    found = []
    for direction in STEPS:
        cells = tuple(run(position, start, direction))
        stop = (cells[-1] if cells else start).moved(direction)
        beans = sum(position[cell] == BEAN for cell in cells)
        found.append(Line(direction, cells, beans, stop if position[stop] in GHOSTS else None))
    return found


def best_lines(position: Position) -> tuple[Line, Line]:
    """The safe line with most beans and the next best; raises Unsolvable if they tie or there is only one."""
    ranked = sorted((line for line in lines(position) if line.safe), key=lambda line: -line.beans)
    if len(ranked) < 2 or ranked[0].beans == ranked[1].beans:
        raise Unsolvable(f"no single best direction:\n{position}")
    return ranked[0], ranked[1]


def targets(problem: Problem[Position]) -> tuple[Cell, ...]:
    """What a route must come to."""
    return tuple(problem.position.find(CHERRY if problem.text("goal") == "cherry" else PELLET))


def _sweep_problem(board: Position, plan: Plan, rng: Stream) -> Problem[Position]:
    found = lines(board)
    if sum(len(line.cells) for line in found) < plan.sight:
        raise Rejected("too little to see")
    fullest = max(found, key=lambda line: line.beans)
    ambush = [cell for cell in fullest.cells if board[cell] == BEAN]
    position = _with_ghosts(board, plan, ambush, rng)
    try:
        best, second = best_lines(position)
    except Unsolvable:
        raise Rejected("no single best direction") from None
    if not second.beans or best.beans - second.beans > plan.lead:
        raise Rejected("the best direction is too obvious")
    return Problem("sweep", position)


def _route_problem(board: Position, plan: Plan, rng: Stream) -> Problem[Position]:
    goals = tuple(rng.sample(board.find(BEAN), plan.pellets or 1))
    if any(abs(a.row - b.row) + abs(a.col - b.col) < APART for a, b in combinations(goals, 2)):
        raise Rejected("two pellets close together")
    board = board.with_things(dict.fromkeys(goals, PELLET if plan.pellets else CHERRY))
    free = Errand(board, goals)
    if not plan.steps[0] <= free.length <= plan.steps[1]:
        raise Rejected("route too short or too long")
    ambush = [cell for cell in free.route[2:-1] if board[cell] == BEAN]
    goal = "pellets" if plan.pellets else "cherry"
    problem = Problem("route", _with_ghosts(board, plan, ambush, rng), (("goal", goal),))
    errand = Errand(problem.position, targets(problem))
    if errand.length > plan.steps[1]:
        raise Rejected("route too short or too long")
    if not any(problem.position[cell] == BEAN for cell in errand.route):
        raise Rejected("no bean on the route")
    return problem


def _with_ghosts(board: Position, plan: Plan, ambush: list[Cell], rng: Stream) -> Position:
    """Ghosts on beans' cells, the first often in ambush; Rejected if they cut anything off."""
    count = rng.between(*plan.ghosts)
    cells = rng.sample(board.find(BEAN), count)
    if ambush and rng.chance(AMBUSH):
        cells[0] = rng.choice(ambush)
    position = board.with_things(dict(zip(cells, rng.shuffled(GHOSTS), strict=False)))
    if len(set(cells)) < count:
        raise Rejected("two ghosts on one cell")
    if not reachable(position, position.pacman()).issuperset(position.find(FOOD)):
        raise Rejected("ghosts cut something off")
    return position


def _solve_sweep(position: Position) -> Solution[Position]:
    found = lines(position)
    best, second = best_lines(position)
    action = Walk(best.direction, len(best.cells))
    steps = [Step("seen-sweep", {"cell": position.pacman()}), *map(_line_step, found)]
    facts: dict[str, Fact] = {"direction": f"@{best.direction}", "beans": best.beans, "second": second.beans}
    steps.append(Step("most", facts, str(action)))
    looked = sum(len(line.cells) + 1 for line in found)
    safe = sum(line.safe for line in found)
    return Solution(
        steps=tuple(steps),
        after=game.apply(position, action),
        difficulty=Difficulty(effort=float(looked), nodes=looked, branching=float(safe), forced=0.0),
        result={"direction": f"@{best.direction}", "beans": best.beans, "cell": best.cells[-1]},
    )


def _line_step(line: Line) -> Step:
    way: dict[str, Fact] = {"direction": f"@{line.direction}"}
    if line.ghost is not None:
        return Step("ghost", {**way, "ghost": line.ghost})
    if not line.cells:
        return Step("wall", way)
    if line.beans == 0:
        return Step("barren", {**way, "stop": line.cells[-1]})
    return Step("count", {**way, "beans": line.beans, "stop": line.cells[-1]})


def _solve_route(problem: Problem[Position]) -> Solution[Position]:
    position, goals = problem.position, targets(problem)
    errand = Errand(position, goals)
    route = errand.route
    pieces = list(legs(route, goals))
    beans = sum(position[cell] == BEAN for cell in set(route))
    orders = factorial(len(goals))
    steps = [*_route_thoughts(problem, errand), *_leg_steps(position, pieces)]
    steps.append(Step("eaten", {"beans": beans, "steps": errand.length}))
    after = position
    for direction, count, _ in pieces:
        after = game.apply(after, Walk(direction, count))
    return Solution(
        steps=tuple(steps),
        after=after,
        difficulty=Difficulty(
            effort=float(errand.length + len(pieces) + orders),
            length=len(pieces),
            nodes=orders * errand.length,
            branching=float(orders),
            forced=1.0 / orders,
        ),
        result={
            "cell": route[-1],
            "direction": f"@{pieces[-1][0]}",
            "beans": beans,
            "prize": f"@prize-{problem['goal']}",
        },
    )


def _route_thoughts(problem: Problem[Position], errand: Errand) -> Iterator[Step]:
    """What is seen, and why no route is shorter."""
    position = problem.position
    seen: dict[str, Fact] = {"cell": errand.start, "ghosts": tuple(position.find(GHOSTS))}
    length = errand.length
    free = without_ghosts(position, errand.targets)
    if problem["goal"] == "cherry":
        cherry = errand.targets[0]
        yield Step("seen-cherry", {**seen, "cherry": cherry})
        apart = abs(cherry.row - errand.start.row) + abs(cherry.col - errand.start.col)
        if length == apart:
            yield Step("direct", {"steps": length})
        elif free == length:
            yield Step("detour", {"steps": length, "apart": apart})
    else:
        yield Step("seen-pellets", {**seen, "pellets": errand.targets, "count": len(errand.targets)})
        yield _order_step(errand)
    if free < length:
        yield Step("ghosts", {"steps": length, "free": free, "number": len(position.find(GHOSTS))})


def _order_step(errand: Errand) -> Step:
    """Which pellet comes first, against the best route that begins with another one."""
    choices = errand.first_choices()
    first = next(cell for cell in errand.route if cell in errand.targets)
    others = {cell: steps for cell, steps in choices.items() if cell != first}
    if not others:
        return Step("only-first", {"first": first, "steps": errand.length})
    other = min(others, key=lambda cell: (others[cell], cell))
    if others[other] == errand.length:
        return Step("order-tie", {"first": first, "other": other, "steps": errand.length})
    return Step("order", {"first": first, "steps": errand.length, "other": other, "more": others[other]})


def _leg_steps(position: Position, pieces: list[tuple[str, int, Cell]]) -> Iterator[Step]:
    eaten: set[Cell] = set()
    for direction, count, end in pieces:
        facts: dict[str, Fact] = {"direction": f"@{direction}", "count": count, "cell": end}
        prize = {PELLET: "@pellet", CHERRY: "@cherry"}.get(position[end])
        if prize and end not in eaten:
            eaten.add(end)
            yield Step("leg-prize", {**facts, "prize": prize}, f"{direction} {count}")
        else:
            yield Step("leg", facts, f"{direction} {count}")


solver = PacmanSolver()
