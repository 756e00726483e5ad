"""A sudoku solved as a person would tell it, in steps whose facts are what made the solver choose.

Few empty cells are told one by one, each with its reason; many are told digit by digit. Candidates that cuts ruled
out are not in the grid, so later steps that may rest on them list them as the fact `crossed` (see sudoku_claims).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gamegen.core.cell import Cell
from gamegen.core.problem import Fact, Step
from gamegen.games.sudoku import Fill, Grid, houses, houses_of, peers
from solvers.sudoku_claims import claim_holds, cross_out, house_term
from solvers.sudoku_count import Completions
from solvers.sudoku_logic import Cut, Marks, find_cut

TOLD_ONE_BY_ONE = 9
"""Empty cells up to which each is told with its own reason."""

OPENING = 2
"""Single cells told with a reason before many are told digit by digit."""


@dataclass(slots=True)
class Trace:
    """A solution while it is being found and told."""

    grid: Grid
    steps: list[Step] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)  # the rule of every cell filled and of every cut
    nodes: int = 0

    def tell(self) -> Trace:
        self.steps.append(start(self.grid))
        marks, one_by_one = Marks(self.grid), len(self.grid.empty) <= TOLD_ONE_BY_ONE
        crossed: dict[int, int] = {}
        while True:
            while singles := marks.singles():
                if one_by_one or self.nodes < OPENING:
                    self._tell_one(marks, singles, crossed)
                else:
                    self._tell_digit(marks, singles, crossed)
            if 0 not in marks.digits:
                return self
            cuts = _episode(marks)
            if not cuts:
                self._tell_search(marks)
                return self
            for cut in cuts:
                self.steps.append(Step(cut.rule, _cut_facts(cut, marks.size) | cross_out(crossed, marks)))
                self.weights.append(cut.rule)
                marks.cut(cut.gone)
                for number, mask in cut.gone:
                    crossed[number] = crossed.get(number, 0) | mask

    def _tell_one(self, marks: Marks, singles: dict[int, int], crossed: dict[int, int]) -> None:
        """The single that is easiest to see: the last empty cell of a house, then naked, then hidden."""
        self.nodes += 1
        number = min(singles, key=lambda each: _ease(marks, each))
        step = reason(marks, number, singles[number])
        facts = dict(step.facts)
        if step.rule in ("left", "only"):
            facts |= cross_out(crossed, marks)
        self.steps.append(Step(step.rule, facts, step.action))
        marks.place(number, singles[number])
        self.weights.append("naked" if step.rule in ("last", "naked", "left") else "hidden")

    def _tell_digit(self, marks: Marks, singles: dict[int, int], crossed: dict[int, int]) -> None:
        """All singles of the digit that has most of them now, and those of the same digit that follow."""
        facts_crossed = cross_out(crossed, marks)
        found = list(singles.values())
        digit = max(found, key=lambda each: (found.count(each), -each))
        placed: list[int] = []
        while ready := [number for number, each in singles.items() if each == digit]:
            for number in ready:
                self.weights.append("naked" if marks.masks[number].bit_count() == 1 else "hidden")
                marks.place(number, digit)
            placed += ready
            singles = marks.singles()
        cells = tuple(_cell(number, marks.size) for number in placed)
        facts: dict[str, Fact] = {"digit": f"@d{digit}", "cells": cells}
        self.steps.append(Step("run", facts | facts_crossed, str(Fill(tuple((cell, digit) for cell in cells)))))

    def _tell_search(self, marks: Marks) -> None:
        grid = Grid(marks.size, tuple(marks.digits))
        search = Completions(grid, limit=2)
        self.weights += ["search"] * search.nodes
        entries = tuple((grid.cell(number), search.found[0][number]) for number in grid.empty)
        self.steps.append(Step("search", {"blanks": len(entries), "nodes": search.nodes}, str(Fill(entries))))


def start(grid: Grid) -> Step:
    return Step("start", {"blanks": len(grid.empty), "around": f"@houses-or-{grid.size}"})


def _ease(marks: Marks, number: int) -> int:
    digits = marks.digits
    if any(sum(not digits[each] for each in house) == 1 for house in houses_of(marks.size)[number]):
        return 0
    return 1 if marks.masks[number].bit_count() == 1 else 2


def _episode(marks: Marks) -> list[Cut]:
    """Cuts that lead to a single, without those that do not matter for it; empty if the techniques give out."""
    trial, cuts = marks.copy(), []
    while not trial.singles():
        cut = find_cut(trial)
        if cut is None:
            return []
        cuts.append(cut)
        trial.cut(cut.gone)
    for cut in cuts[-2::-1]:
        fewer = [each for each in cuts if each is not cut]
        if _still_leads(marks, fewer):
            cuts = fewer
    return cuts


def _still_leads(marks: Marks, cuts: Sequence[Cut]) -> bool:
    trial = marks.copy()
    for cut in cuts:
        if not claim_holds(trial, Step(cut.rule, _cut_facts(cut, marks.size))):
            return False
        trial.cut(cut.gone)
    return bool(trial.singles())


def reason(marks: Marks, number: int, digit: int) -> Step:
    """Why a single is forced: by the grid alone if that suffices, else by what was ruled out before."""
    size, cell = marks.size, _cell(number, marks.size)
    facts: dict[str, Fact] = {"cell": cell, "digit": f"@d{digit}"}
    action = str(Fill(((cell, digit),)))
    around = houses_of(size)[number]
    for house in reversed(around):
        if not any(not marks.digits[other] for other in house if other != number):
            return Step("last", facts | {"house": house_term(house, size)}, action)
    seen = {marks.digits[peer] for peer in peers(size)[number]} - {0}
    if len(seen) == size - 1:
        seen_terms = tuple(f"@d{each}" for each in sorted(seen))
        return Step("naked", facts | {"seen": seen_terms, "around": f"@houses-or-{size}"}, action)
    for house in reversed(around):
        others = [other for other in house if other != number and not marks.digits[other]]
        blockers = _blockers(marks, others, digit)
        if blockers:
            cells = tuple(_cell(other, size) for other in others)
            told: dict[str, Fact] = {"house": house_term(house, size), "others": cells, "blockers": blockers}
            counts: dict[str, Fact] = {"count": len(others), "bars": len(blockers)}
            return Step("hidden", facts | told | counts, action)
    if marks.masks[number].bit_count() == 1:
        return Step("left", facts, action)
    bit = 1 << digit - 1
    house = next(house for house in reversed(around) if not any(marks.masks[o] & bit for o in house if o != number))
    return Step("only", facts | {"house": house_term(house, size)}, action)


def _blockers(marks: Marks, others: Sequence[int], digit: int) -> tuple[Cell, ...]:
    """Filled cells that bar the digit from all these cells, as few as a greedy choice finds; empty if one is free."""
    sight = {
        holder: {other for other in others if holder in peers(marks.size)[other]}
        for holder, held in enumerate(marks.digits)
        if held == digit
    }
    left, chosen = set(others), []
    while left:
        best = max(sight, key=lambda holder: len(sight[holder] & left), default=None)
        if best is None or not sight[best] & left:
            return ()
        chosen.append(best)
        left -= sight[best]
    return tuple(_cell(holder, marks.size) for holder in sorted(chosen))


def _cut_facts(cut: Cut, size: int) -> dict[str, Fact]:
    digits: tuple[Fact, ...] = tuple(f"@d{digit}" for digit in cut.digits)
    cells: tuple[Fact, ...] = tuple(_cell(number, size) for number in cut.cells)
    gone: tuple[Fact, ...] = tuple(_cell(number, size) for number, _ in cut.gone)
    every = houses(size)
    if cut.rule.startswith("locked"):
        names = {"house": house_term(every[cut.house], size), "line": house_term(every[cut.lines[0]], size)}
        return {"digit": digits[0], "cells": cells, "gone": gone, **names}
    if cut.rule == "x-wing":
        lines = tuple(house_term(every[place], size) for place in cut.lines)
        return {"digit": digits[0], "lines": lines[:2], "across": lines[2:], "gone": gone}
    if cut.rule.startswith("suppose"):
        chain: tuple[Fact, ...] = tuple(_cell(number, size) for number, _ in cut.chain)
        forced: tuple[Fact, ...] = tuple(f"@d{digit}" for _, digit in cut.chain)
        forced = forced[:1] if len(set(forced)) == 1 else forced
        facts: dict[str, Fact] = {"cell": cells[0], "digit": digits[0], "chain": chain, "forced": forced}
        facts["links"] = len(chain)
        if cut.rule.endswith("cell"):
            return facts | {"dead": _cell(cut.dead, size)}
        return facts | {"house": house_term(every[cut.dead], size), "missing": digits[1]}
    return {"digits": digits, "cells": cells, "gone": gone, "house": house_term(every[cut.house], size)}


def _cell(number: int, size: int) -> Cell:
    return Cell(*divmod(number, size))
