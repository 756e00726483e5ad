"""Word search: hide words, find them, and say why every other start fails.

A *try* is one attempt to read the word from one cell in one direction; a *decoy* is a try that gets past the first
letter and still fails. The decoys that go furthest are what the reasoning has to explain. Words of one puzzle share no
cells, so that each cell has one colour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import and_, eq

from gamegen.core.cell import Cell
from gamegen.core.errors import Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.wordsearch import (
    BLANK,
    COLOUR_OF,
    COLOURS,
    DIRECTIONS,
    UNMARKED,
    Highlight,
    WordGrid,
    game,
    line,
)
from solvers.wordhiding import hide
from solvers.wordlines import Try, count_lines, scan

SHOWN_STARTS = 4
TOLD_DECOYS = 3


class WordSearchSolver(Solver[WordGrid]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[WordGrid]:
        words, letters = hide(level, kind, rng)
        size = len(letters)
        position = WordGrid(letters, (UNMARKED * size,) * size)
        colours = rng.sample(tuple(COLOURS), len(words))
        if kind == "find":
            return Problem(kind, position, (("word", words[0]), ("colour", colours[0])))
        return Problem(kind, position, (("words", " ".join(words)), ("colours", " ".join(colours))))

    def asked(self, problem: Problem[WordGrid]) -> Mapping[str, Fact]:
        words, colours = zip(*_wanted(problem), strict=True)
        if problem.kind == "find":
            return {"word": words[0], "colour": f"@{colours[0]}"}
        return {"words": words, "colours": tuple(f"@{each}" for each in colours), "count": len(words)}

    def solve(self, problem: Problem[WordGrid]) -> Solution[WordGrid]:
        steps: list[Step] = []
        found: list[Highlight] = []
        effort, tempting = 0, 0
        for word, colour in _wanted(problem):
            tries = scan(problem.position, word)
            hits = [each for each in tries if each.fits == len(word)]
            if len(hits) != 1:
                raise Unsolvable(f"{word} occurs {len(hits)} times, not once, in\n{problem.position}")
            action = Highlight(hits[0].start, hits[0].direction, len(word), colour)
            found.append(action)
            tell = _tell_one if problem.kind == "find" else _tell_of_many
            steps += tell(problem.position, word, action, tries)
            effort += problem.position.size**2 + sum(min(each.fits, len(word) - 1) for each in tries)
            tempting += sum(each.fits > 1 for each in tries)
        return Solution(
            tuple(steps),
            _highlighted(problem.position, found),
            Difficulty(effort=effort, length=len(found), nodes=effort, branching=tempting / len(found)),
            _result(found),
        )

    def check(self, problem: Problem[WordGrid], position: WordGrid) -> Check:
        before = problem.position
        if position.size != before.size:
            return Check(False, False, 0.0, f"The grid has {position.size} rows instead of {before.size}.")
        target = _target(problem)
        was, want, got = ("".join(grid.marks) for grid in (before, target, position))
        rest = list(map(eq, was, want))  # the cells of no word that was asked for
        cells, others = len(was), sum(rest)
        kept = sum(map(eq, "".join(before.letters), "".join(position.letters)))
        clean = sum(map(and_, rest, map(eq, got, was)))
        right = sum(map(eq, got, want)) - clean
        return Check(
            correct=position == target,
            legal=position.letters == before.letters and not game.faults(position),
            preserved=(kept + clean) / (cells + others),
            reason=_reason(before, target, position),
            parts={"letters": kept / cells, "word cells": right / (cells - others), "clean": clean / others},
        )

    def confirm(self, problem: Problem[WordGrid], position: WordGrid, step: Step) -> bool:
        word, colour = step.facts.get("word"), step.facts.get("colour")
        wanted = dict(_wanted(problem))
        if step.rule not in _TRUTHS or not isinstance(word, str) or word not in wanted:
            return False
        if colour is not None and colour != f"@{wanted[word]}":
            return False
        return dict(step.facts) == _TRUTHS[step.rule](position, word, step)


def _wanted(problem: Problem[WordGrid]) -> list[tuple[str, str]]:
    """The words asked for, each with its colour."""
    if problem.kind == "find":
        return [(problem.text("word"), problem.text("colour"))]
    return list(zip(problem.text("words").split(), problem.text("colours").split(), strict=True))


@lru_cache(maxsize=64)
def _target(problem: Problem[WordGrid]) -> WordGrid:
    """The right answer, kept for the next picture of a group."""
    found = [_occurrence(problem.position, word, colour) for word, colour in _wanted(problem)]
    return _highlighted(problem.position, found)


def _occurrence(position: WordGrid, word: str, colour: str) -> Highlight:
    for each in scan(position, word):
        if each.fits == len(word):
            return Highlight(each.start, each.direction, len(word), colour)
    raise Unsolvable(f"{word} does not occur in\n{position}")


def _highlighted(position: WordGrid, actions: list[Highlight]) -> WordGrid:
    for action in actions:
        position = game.apply(position, action)
    return position


def _result(found: list[Highlight]) -> dict[str, Fact]:
    if len(found) > 1:
        return {"starts": tuple(each.start for each in found), "ends": tuple(each.cells[-1] for each in found)}
    only = found[0]
    return {"start": only.start, "end": only.cells[-1], "direction": f"@{only.direction}", "letters": only.length}


def _tell_one(position: WordGrid, word: str, action: Highlight, tries: list[Try]) -> list[Step]:
    told = _decoys(word, tries)[:TOLD_DECOYS]
    return [
        _tell_starts(word, tries),
        *(_tell_decoy(position, word, each) for each in told),
        Step("found", {"word": word, "start": action.start, "direction": f"@{action.direction}", "read": tuple(word)}),
        Step("cells", {"word": word, "cells": action.cells}),
        _tell_rest(word, told, tries),
        Step(
            "mark",
            {"word": word, "count": len(word), "colour": f"@{action.colour}"},
            str(action),
        ),
    ]


def _tell_of_many(position: WordGrid, word: str, action: Highlight, tries: list[Try]) -> list[Step]:
    """Shorter, so that several words fit into one text."""
    facts: dict[str, Fact] = {"word": word, "start": action.start, "end": action.cells[-1], "count": len(word)}
    facts |= {"direction": f"@{action.direction}", "colour": f"@{action.colour}"}
    if told := _decoys(word, tries)[:1]:
        return [_tell_decoy(position, word, told[0], "-of-many"), Step("found-and-mark", facts, str(action))]
    return [_tell_starts(word, tries, shown=2), Step("found-and-mark", facts, str(action))]


def _tell_starts(word: str, tries: list[Try], *, shown: int = SHOWN_STARTS) -> Step:
    starts = tuple(dict.fromkeys(each.start for each in tries))
    facts: dict[str, Fact] = {"word": word, "first": word[0]}
    if len(starts) == 1:
        return Step("only-start", {**facts, "cell": starts[0]})
    if len(starts) <= shown:
        return Step("few-starts", {**facts, "cells": starts})
    return Step("many-starts", {**facts, "count": len(starts)})


def _decoys(word: str, tries: list[Try]) -> list[Try]:
    """Tries that get past the first letter and still fail, the longest first."""
    return sorted((each for each in tries if 1 < each.fits < len(word)), key=lambda each: -each.fits)


def _tell_decoy(position: WordGrid, word: str, decoy: Try, wording: str = "") -> Step:
    facts: dict[str, Fact] = {"word": word, "first": word[0], "start": decoy.start, "direction": f"@{decoy.direction}"}
    facts |= {"read": word[: decoy.fits], "missing": word[decoy.fits]}
    stop = line(decoy.start, decoy.direction, decoy.fits + 1)[-1]
    if not _inside(position, stop):
        return Step(f"decoy-at-edge{wording}", facts)
    return Step(f"decoy{wording}", {**facts, "instead": position.letter(stop)})


def _inside(position: WordGrid, cell: Cell) -> bool:
    return 0 <= cell.row < position.size and 0 <= cell.col < position.size


def _tell_rest(word: str, told: list[Try], tries: list[Try]) -> Step:
    rest = [each.fits for each in tries if each.fits < len(word) and each not in told]
    best = max(rest, default=1)
    facts: dict[str, Fact] = {"word": word, "first": word[0], "told": len(told)}
    if best == 1:
        return Step("rest-fails-at-once", {**facts, "second": word[1]})
    return Step("rest", {**facts, "best": best})


def _true_starts(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    cells = tuple(cell for cell in position.cells() if position.letter(cell) == word[0])
    facts: dict[str, Fact] = {"word": word, "first": word[0]}
    if step.rule == "only-start":
        return {**facts, "cell": cells[0]} if len(cells) == 1 else {}
    return {**facts, "cells": cells} if step.rule == "few-starts" else {**facts, "count": len(cells)}


def _true_decoy(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    text = _text_along(position, step)
    fits = next((i for i, letter in enumerate(word) if text[i : i + 1] != letter), len(word))
    if fits in (0, len(word)) or step.rule.startswith("decoy-at-edge") != (fits == len(text)):
        return {}
    facts: dict[str, Fact] = {name: step.facts[name] for name in ("start", "direction")}
    facts |= {"word": word, "first": word[0], "read": word[:fits], "missing": word[fits]}
    return facts if fits == len(text) else {**facts, "instead": text[fits]}


def _true_find(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    if not _text_along(position, step).startswith(word):
        return {}
    start, direction = step.facts["start"], str(step.facts["direction"])
    assert isinstance(start, Cell)
    facts: dict[str, Fact] = {"word": word, "start": start, "direction": direction}
    if step.rule == "found":
        return {**facts, "read": tuple(word)}
    action = game.parse_action(step.action)
    if (action.start, f"@{action.direction}", action.length) != (start, direction, len(word)):
        return {}
    return {**facts, "end": action.cells[-1], "count": len(word), "colour": f"@{action.colour}"}


def _true_cells(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    return {"word": word, "cells": _occurrence(position, word, next(iter(COLOURS))).cells}


def _true_rest(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    if count_lines(position.letters, word) != 1:
        return {}
    fits = sorted((each.fits for each in scan(position, word) if 1 < each.fits < len(word)), reverse=True)
    facts: dict[str, Fact] = {"word": word, "first": word[0], "told": len(fits[:TOLD_DECOYS])}
    if len(fits) <= TOLD_DECOYS:
        return {**facts, "second": word[1]} if step.rule == "rest-fails-at-once" else {}
    return {**facts, "best": fits[TOLD_DECOYS]} if step.rule == "rest" else {}


def _true_mark(position: WordGrid, word: str, step: Step) -> Mapping[str, Fact]:
    action = game.parse_action(step.action)
    spelt = "".join(position.letter(cell) for cell in action.cells if _inside(position, cell))
    return {"word": spelt, "count": action.length, "colour": f"@{action.colour}"}


def _text_along(position: WordGrid, step: Step) -> str:
    """The letters from the step's start in its direction up to the edge; none if there is no such line."""
    start, direction = step.facts.get("start"), str(step.facts.get("direction")).removeprefix("@")
    if not isinstance(start, Cell) or direction not in DIRECTIONS or not _inside(position, start):
        return ""
    cells = line(start, direction, position.size)
    return "".join(position.letter(cell) for cell in cells if _inside(position, cell))


_TRUTHS: dict[str, Callable[[WordGrid, str, Step], Mapping[str, Fact]]] = {
    "only-start": _true_starts,
    "few-starts": _true_starts,
    "many-starts": _true_starts,
    "decoy": _true_decoy,
    "decoy-at-edge": _true_decoy,
    "decoy-of-many": _true_decoy,
    "decoy-at-edge-of-many": _true_decoy,
    "found": _true_find,
    "found-and-mark": _true_find,
    "cells": _true_cells,
    "rest": _true_rest,
    "rest-fails-at-once": _true_rest,
    "mark": _true_mark,
}
"""For each rule the facts as they should be, worked out from the grid and the step's start, direction or action."""


def _reason(before: WordGrid, target: WordGrid, position: WordGrid) -> str:
    if position == target:
        return "Every letter of what was asked for is highlighted in its colour, and nothing else changed."
    if position.letters != before.letters:
        cell = _first_change(before.letters, position.letters)
        now = position.letter(cell)
        gone = "is gone" if now == BLANK else f"became {now}"
        return f"The letter {before.letter(cell)} in cell ({cell.row}, {cell.col}) {gone}."
    cell = _first_change(target.marks, position.marks)
    want, got, place = target.mark(cell), position.mark(cell), f"cell ({cell.row}, {cell.col})"
    if want == UNMARKED:
        return f"The letter {before.letter(cell)} in {place} is highlighted but is not part of the answer."
    if got == UNMARKED:
        return f"The letter {before.letter(cell)} in {place} should be highlighted in {COLOUR_OF[want]}."
    return f"The letter {before.letter(cell)} in {place} is {COLOUR_OF[got]} instead of {COLOUR_OF[want]}."


def _first_change(before: tuple[str, ...], after: tuple[str, ...]) -> Cell:
    """The first cell, row by row, in which two grids differ."""
    row = list(map(eq, before, after)).index(False)
    return Cell(row, list(map(eq, before[row], after[row])).index(False))


solver = WordSearchSolver()
