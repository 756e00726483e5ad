"""Sudoku: makes puzzles by the hardest technique they need, solves them as a person would, judges any answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from gamegen.core.cell import Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.sudoku import Grid, clashes, game, houses
from solvers.sudoku_claims import confirm
from solvers.sudoku_count import Completions, full_grid
from solvers.sudoku_logic import Marks
from solvers.sudoku_make import cores, dig, disguise, one_forced
from solvers.sudoku_reasons import Trace, reason, start

WEIGHTS = {
    "naked": 1.0, "hidden": 1.5, "locked-box": 10.0, "locked-line": 10.0, "naked-pair": 15.0, "hidden-pair": 18.0,
    "naked-triple": 25.0, "x-wing": 30.0, "suppose-cell": 40.0, "suppose-house": 40.0, "search": 1.0,
}  # fmt: skip
"""What filling a cell or ruling candidates out costs a person, by technique; a search costs per node."""

SIZES = {1: ((3, 4, 6), (1, 27, 72)), 2: ((4, 6), (6, 94)), 3: ((9,), (1,)), 4: ((9,), (1,)), 5: ((9,), (1,))}
"""level -> grid sizes and how often each comes. There are too few small puzzles for them to come more often."""

BLANKS = {(1, 3): (3, 6), (1, 4): (5, 9), (1, 6): (6, 9), (2, 4): (10, 12), (2, 6): (16, 22), (3, 9): (36, 46)}
"""level and size -> fewest and most empty cells of a puzzle that singles solve."""

CORE_BLANKS = (44, 50)
MOST_STEPS = 24
"""A longer story is nobody's idea of an explanation."""

ALL_ROWS = 6
"""Up to this size the result is told in full; of larger grids, whose steps name every cell anyway, the top row."""

FORCED_SIZES = {1: ((3, 4, 6), (1, 3, 96)), 2: ((6,), (1,)), 3: ((9,), (1,)), 4: ((9,), (1,)), 5: ((9,), (1,))}
FORCED_RULES = {1: ("naked",), 2: ("hidden-box", "hidden-line"), 3: ("naked",), 4: ("hidden-box",), 5: ("hidden-line",)}
FORCED_FILLED = {3: 1, 4: 3, 6: 8, 9: 16}
"""level -> sizes and shares, and how the one forced cell is seen; size -> fewest cells filled."""


class SudokuSolver(Solver[Grid]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Grid]:
        grid = _puzzle(level, rng) if kind == "solve" else _forced_puzzle(level, rng)
        return Problem(kind, grid)

    def solve(self, problem: Problem[Grid]) -> Solution[Grid]:
        return _solve(problem.position) if problem.kind == "solve" else _next(problem.position)

    def check(self, problem: Problem[Grid], position: Grid) -> Check:
        judge = _check_solve if problem.kind == "solve" else _check_next
        if position.size != problem.position.size:
            return Check(False, False, 0.0, "The grid has another size.")
        return judge(problem.position, position)

    def confirm(self, problem: Problem[Grid], position: Grid, step: Step) -> bool:
        if step.rule == "rest":
            return step == _rest(problem.position) and bool(step.facts)
        return confirm(position, step)

    def asked(self, problem: Problem[Grid]) -> Mapping[str, Fact]:
        size = problem.position.size
        digits = tuple(f"@d{digit}" for digit in range(1, size + 1))
        return {
            "size": size,
            "digits": digits,
            "puzzle": f"@puzzle-{size}",
            "houses": f"@houses-{size}",
            "around": f"@houses-or-{size}",
        }


def _puzzle(level: int, rng: Stream) -> Grid:
    if level > 3:
        core = disguise(rng.choice(cores()[level]), rng)
        grid = dig(core, rng, blanks=rng.between(*CORE_BLANKS))
        if len(_solve(grid).steps) > MOST_STEPS:
            raise Rejected("long story")
        return grid
    sizes, shares = SIZES[level]
    size = rng.weighted(sizes, shares)
    fewest, most = BLANKS[level, size]
    grid = dig(full_grid(size, rng), rng, blanks=rng.between(fewest, most), hidden=level > 1)
    if len(grid.empty) < fewest:
        raise Rejected("too few empty cells")
    return grid


def _forced_puzzle(level: int, rng: Stream) -> Grid:
    sizes, shares = FORCED_SIZES[level]
    size = rng.weighted(sizes, shares)
    return one_forced(full_grid(size, rng), rng, filled=FORCED_FILLED[size], rules=FORCED_RULES[level])


@lru_cache(maxsize=64)
def _solve(grid: Grid) -> Solution[Grid]:
    trace = Trace(grid).tell()
    after = grid
    for step in trace.steps:
        if step.action:
            after = game.apply(after, game.parse_action(step.action))
    easy = sum(rule in ("naked", "hidden") for rule in trace.weights)
    difficulty = Difficulty(
        effort=sum(WEIGHTS[rule] for rule in trace.weights),
        length=len(grid.empty),
        nodes=len(trace.weights),
        forced=easy / len(trace.weights),
    )
    told, part = (grid.size, "@top-row") if grid.size > ALL_ROWS else (len(after.digits), "@all-rows")
    cells = tuple(f"@d{digit}" for digit in after.digits[:told])
    return Solution(tuple(trace.steps), after, difficulty, {"blanks": len(grid.empty), "part": part, "cells": cells})


@lru_cache(maxsize=64)
def _next(grid: Grid) -> Solution[Grid]:
    marks = Marks(grid)
    singles = marks.singles()
    if len(singles) != 1:
        raise Unsolvable(f"expected exactly one forced cell, found {len(singles)} in\n{grid}")
    ((number, digit),) = singles.items()
    steps = (start(grid), reason(marks, number, digit), _rest(grid))
    choices = [mask.bit_count() for mask in marks.masks if mask]
    looked = _looks(marks, number, digit)
    difficulty = Difficulty(effort=float(looked), nodes=looked, branching=sum(choices) / len(choices))
    result: dict[str, Fact] = {"cell": grid.cell(number), "digit": f"@d{digit}"}
    return Solution(steps, grid.filled([(number, digit)]), difficulty, result)


def _looks(marks: Marks, number: int, digit: int) -> int:
    """Looks until the single is found: at every empty cell, then at every missing digit of boxes, rows and columns."""
    looked = sum(mask > 0 for mask in marks.masks)
    if marks.masks[number].bit_count() == 1:
        return looked
    every = houses(marks.size)
    for house in (*every[2 * marks.size :], *every[: 2 * marks.size]):
        held = {marks.digits[each] for each in house}
        for wanted in range(1, marks.size + 1):
            looked += wanted not in held
            if wanted == digit and [each for each in house if marks.masks[each] >> digit - 1 & 1] == [number]:
                return looked
    raise Unsolvable(f"digit {digit} is no single in cell {number}")


def _rest(grid: Grid) -> Step:
    """That no second cell is forced: how few candidates any other empty cell has."""
    marks = Marks(grid)
    singles = marks.singles()
    others = [mask.bit_count() for each, mask in enumerate(marks.masks) if mask and each not in singles]
    cells, around = tuple(map(grid.cell, singles)), f"@houses-or-{grid.size}"
    return (
        Step("rest", {"cell": cells[0], "least": min(others, default=0), "around": around})
        if len(cells) == 1
        else Step("rest")
    )


def _check_solve(before: Grid, after: Grid) -> Check:
    """Any completion that keeps the givens is right, also of a grid with several."""
    blank, kept = before.empty, _kept(before, after)
    fault = _fault(before, after)
    found = _completed(before) if fault else after.digits
    good = sum(after.digits[number] == found[number] for number in blank) / max(1, len(blank)) if found else 0.0
    legal = kept == 1.0 and not game.faults(after)
    reason = fault or "Every cell is filled, the givens are kept, and no row, column or box repeats anything."
    return Check(not fault, legal, kept, reason, {"cells": good, "givens": kept})


@lru_cache(maxsize=64)
def _completed(grid: Grid) -> tuple[int, ...]:
    """The digits of the first completion; none if there is none."""
    found = Completions(grid, limit=1).found
    return found[0] if found else ()


def _check_next(before: Grid, after: Grid) -> Check:
    right = _next(before).after
    (forced,) = (number for number, digit in enumerate(before.digits) if digit != right.digits[number])
    cell = before.cell(forced)
    others = [n for n in range(len(before.digits)) if n != forced]
    kept = sum(before.digits[n] == after.digits[n] for n in others) / len(others)
    moved = next((n for n in others if before.digits[n] != after.digits[n]), None)
    good = after.digits[forced] == right.digits[forced]
    if moved is not None:
        did = "should have stayed" if before.digits[moved] else "is not the forced cell, and should have stayed empty"
        fault = f"Cell {_plain(before.cell(moved))} {did}."
    elif not after.digits[forced]:
        fault = "The forced cell is still empty."
    else:
        fault = "" if good else f"Cell {_plain(cell)} is the forced cell, but what was filled in is not what is forced."
    legal = _kept(before, after) == 1.0 and not game.faults(after)
    reason = fault or f"Cell {_plain(cell)}, the only forced cell, holds what is forced, and the rest is unchanged."
    return Check(not fault, legal, kept, reason, {"cell": float(good), "rest": kept})


def _kept(before: Grid, after: Grid) -> float:
    """The share of the filled cells that still hold what they held."""
    given = [number for number, digit in enumerate(before.digits) if digit]
    return sum(before.digits[n] == after.digits[n] for n in given) / len(given) if given else 1.0


def _fault(before: Grid, after: Grid) -> str:
    """What keeps a grid from being a solution; empty if nothing does."""
    for number, digit in enumerate(before.digits):
        if digit and after.digits[number] != digit:
            return f"The given in cell {_plain(before.cell(number))} was changed."
    for kind, one, other in clashes(after):
        return f"Cells {_plain(after.cell(one))} and {_plain(after.cell(other))} hold the same in one {kind}."
    for number, digit in enumerate(after.digits):
        if not digit:
            return f"Cell {_plain(after.cell(number))} is still empty."
        if digit > after.size:
            return f"Cell {_plain(after.cell(number))} holds something that does not belong to this puzzle."
    return ""


def _plain(cell: Cell) -> str:
    return f"({cell.row}, {cell.col})"


solver = SudokuSolver()
