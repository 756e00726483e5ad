"""Match three without refills: every swap can be played out to its end, so the best one is found by trying them all.

`swap` follows one named swap through its cascade. `best` compares all swaps that make a run; a board on which two swaps
clear the most and leave different boards is refused, so the result is always unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gamegen.core.cell import Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.jewel2 import (
    BOMB,
    COLUMN,
    EMPTY,
    GEMS,
    MARKS,
    PLAIN,
    ROW,
    RUN,
    Position,
    Round,
    Swap,
    game,
    rounds,
    swapped,
)  # fmt: skip
from solvers.jewel2_claims import holds
from solvers.jewel2_judge import judge


@dataclass(frozen=True, slots=True)
class Plan:
    """What a level asks of a board."""

    sizes: tuple[int, int]
    kinds: tuple[int, int]
    marks: tuple[int, int]  # marked gems on the board
    rounds: tuple[int, int]  # of a named swap
    fallen: tuple[int, int]  # gems that fall after a named swap
    fired: int  # marked gems that a named swap sets off, at least


PLANS = {
    1: Plan((4, 4), kinds=(4, 4), marks=(0, 0), rounds=(1, 1), fallen=(0, 4), fired=0),
    2: Plan((5, 5), kinds=(4, 5), marks=(0, 0), rounds=(1, 1), fallen=(3, 99), fired=0),
    3: Plan((6, 6), kinds=(4, 5), marks=(0, 0), rounds=(2, 4), fallen=(3, 99), fired=0),
    4: Plan((7, 7), kinds=(5, 6), marks=(3, 5), rounds=(2, 3), fallen=(3, 99), fired=1),
    5: Plan((8, 9), kinds=(5, 7), marks=(6, 9), rounds=(2, 4), fallen=(3, 99), fired=2),
}
FIRED = {ROW: "row-gem", COLUMN: "column-gem", BOMB: "bomb"}
EVENTS = 11
"""Boards whose answer takes more than so many sentences to follow are turned down."""

SCORES = 3
"""How many different scores are told one by one when swaps are compared; lower ones are told together."""


@dataclass(frozen=True, slots=True)
class Play:
    """A swap, played out."""

    swap: Swap
    rounds: tuple[Round, ...]

    @property
    def cleared(self) -> int:
        return sum(len(each.cleared) for each in self.rounds)

    @property
    def events(self) -> int:
        """Runs, blasts and falls: about a sentence each."""
        return sum(len(each.runs) + len(each.blasts) + 1 for each in self.rounds)

    @property
    def after(self) -> Position:
        return self.rounds[-1].after


class Jewel2Solver(Solver[Position]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Position]:
        plan = PLANS[level]
        position = _board(plan, rng)
        if kind == "best":
            found = plays(position)
            if len(found) < 2:
                raise Rejected("nothing to compare")
            try:
                chosen = best(found)
            except Unsolvable:
                raise Rejected("two swaps clear the most") from None
            if chosen.events > EVENTS:
                raise Rejected("too long to tell")
            return Problem("best", position)
        for swap in rng.shuffled(list(game.actions(position))):
            if _fits(play(position, swap), plan):
                cells = [str(swap.first), str(swap.second)]
                rng.shuffle(cells)
                return Problem("swap", position, (("first", cells[0]), ("second", cells[1])))
        raise Rejected("no swap with the wanted cascade")

    def solve(self, problem: Problem[Position]) -> Solution[Position]:
        if problem.kind == "swap":
            named = play(problem.position, named_swap(problem))
            return _solution(named, list(_told(problem.position, named)), looked=1)
        found = plays(problem.position)
        chosen = best(found)
        steps = [*_compared(found, chosen), *_told(problem.position, chosen)]
        return _solution(chosen, steps, looked=len(found))

    def check(self, problem: Problem[Position], position: Position) -> Check:
        return judge(problem.position, _asked(problem), position)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        return holds(problem, step)

    def asked(self, problem: Problem[Position]) -> Mapping[str, Fact]:
        marked = any(row[at] in MARKS for row in problem.position.rows for at in range(1, len(row), 2))
        asked: dict[str, Fact] = {"marks": "@with-marks" if marked else "@without-marks"}
        if problem.kind == "best":
            return asked
        swap = named_swap(problem)
        gems = {"gem": f"@{problem.position[swap.first][0]}", "other": f"@{problem.position[swap.second][0]}"}
        return {**asked, **gems, "first": swap.first, "second": swap.second}


@lru_cache(maxsize=64)
def _asked(problem: Problem[Position]) -> Swap:
    """The swap that is named, or the best one."""
    if problem.kind == "swap":
        return play(problem.position, named_swap(problem)).swap
    return best(plays(problem.position)).swap


def named_swap(problem: Problem[Position]) -> Swap:
    return Swap(Cell.parse(problem.text("first")), Cell.parse(problem.text("second")))


def play(position: Position, swap: Swap) -> Play:
    """Raises Unsolvable if the swap makes no run."""
    found = rounds(swapped(position, swap))
    if not found:
        raise Unsolvable(f"swapping {swap} makes no run:\n{position}")
    return Play(swap, tuple(found))


@lru_cache(maxsize=4)  # a problem is solved right after it was generated
def plays(position: Position) -> tuple[Play, ...]:
    """Every swap that makes a run, played out."""
    return tuple(play(position, swap) for swap in game.actions(position))


def best(found: tuple[Play, ...]) -> Play:
    """The play that clears the most; raises Unsolvable if there is none, or two that leave different boards."""
    most = max((each.cleared for each in found), default=0)
    top = [each for each in found if each.cleared == most]
    if len({each.after for each in top}) != 1:
        raise Unsolvable(f"{len(top)} swaps clear {most} gems and leave different boards")
    return top[0]


def _fits(made: Play, plan: Plan) -> bool:
    blasts, fallen = sum(len(each.blasts) for each in made.rounds), sum(each.fallen for each in made.rounds)
    return (
        plan.rounds[0] <= len(made.rounds) <= plan.rounds[1]
        and plan.fallen[0] <= fallen <= plan.fallen[1]
        and blasts >= plan.fired
        and made.events <= EVENTS
    )


def _board(plan: Plan, rng: Stream) -> Position:
    """A full board without a run: gem by gem, never a kind that would complete one."""
    size = rng.between(*plan.sizes)
    kinds = rng.sample(GEMS, rng.between(*plan.kinds))
    gems: list[list[str]] = []
    for row in range(size):
        gems.append([])
        for col in range(size):
            barred = set()
            if col >= RUN - 1 and gems[row][col - 1] == gems[row][col - 2]:
                barred.add(gems[row][col - 1])
            if row >= RUN - 1 and gems[row - 1][col] == gems[row - 2][col]:
                barred.add(gems[row - 1][col])
            gems[row].append(rng.choice([kind for kind in kinds if kind not in barred]))
    marked = rng.sample(range(size * size), rng.between(*plan.marks))
    marks = {place: rng.choice(MARKS) for place in marked}
    return Position(
        tuple(
            "".join(gem + marks.get(row * size + col, PLAIN) for col, gem in enumerate(line))
            for row, line in enumerate(gems)
        )
    )


def _solution(made: Play, steps: list[Step], *, looked: int) -> Solution[Position]:
    fallen = sum(each.fallen for each in made.rounds)
    effort = made.cleared + fallen + (looked if looked > 1 else 0)
    return Solution(
        steps=tuple(steps),
        after=made.after,
        difficulty=Difficulty(
            effort=float(effort), nodes=looked, branching=float(looked), forced=1.0 if looked == 1 else 0.0
        ),
        result={"total": made.cleared, "ends": _empty_ends(made.after)},
    )


def _compared(found: tuple[Play, ...], chosen: Play) -> Iterator[Step]:
    """The scores of all swaps, grouped, then the runner-up, then the choice."""
    scores = Counter(each.cleared for each in found)
    yield Step("look", {"swaps": len(found)})
    ranked = sorted(scores, reverse=True)
    told = ranked[:SCORES] if len(ranked) > SCORES + 1 else ranked
    if low := ranked[len(told) :]:
        yield Step("tally-low", {"swaps": sum(scores[score] for score in low), "gems": low[0]})
    for score in reversed([score for score in told if score != chosen.cleared]):
        yield Step("tally", {"swaps": scores[score], "gems": score})
    swap = chosen.swap
    yield Step("choose", {"first": swap.first, "second": swap.second, "gems": chosen.cleared})


def _told(position: Position, made: Play) -> Iterator[Step]:
    """The swap and its rounds, ending with the board quiet; the action is played at the end of the thought."""
    first, second = made.swap.first, made.swap.second
    gems = {"gem": f"@{position[first][0]}", "other": f"@{position[second][0]}"}
    yield Step("trade", {"first": first, "second": second, **gems})
    for number, each in enumerate(made.rounds, start=1):
        yield from _round_told(each, number)
    facts = {"total": made.cleared, "rounds": len(made.rounds)}
    yield Step("quiet" if len(made.rounds) > 1 else "quiet-once", facts, str(made.swap))


def _round_told(each: Round, number: int) -> Iterator[Step]:
    for line in each.runs:
        yield Step(
            "run-again" if number > 1 else "run",
            {
                "round": number,
                "gems": f"@{line.gem}s",
                "count": len(line.cells),
                "way": "@in-row" if line.cells[0].row == line.cells[-1].row else "@in-column",
                "start": line.cells[0],
                "end": line.cells[-1],
            },
        )
    for blast in each.blasts:
        if blast.more:
            yield Step(FIRED[blast.mark], {"round": number, "cell": blast.cell, "more": len(blast.more)})
    facts = {"round": number, "count": len(each.cleared)}
    yield Step("fall", {**facts, "fallen": each.fallen}) if each.fallen else Step("still", facts)


def _empty_ends(position: Position) -> tuple[Cell, ...]:
    """The lowest empty cell of every column that has one."""
    lowest = {cell.col: cell for cell in position.cells() if position[cell] == EMPTY}
    return tuple(lowest[col] for col in sorted(lowest))


solver = Jewel2Solver()
