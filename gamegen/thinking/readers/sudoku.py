"""Entries (`B3 = 5`, `put 5 at B3`, `5 at E6, B7 and H1`), or the whole grid written out line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gamegen.core.cell import Cell
from gamegen.games.sudoku import Grid
from gamegen.registry import plugin_of
from gamegen.thinking.claims import solution_of
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Sentence, Told

_BETWEEN = r"[\s|,，、;+\-]*"


def tellings(told: Told) -> Iterator[Telling]:
    if told.problem.kind == "next":
        for sentence in reversed(told.sentences):
            entry = _entry(told, sentence)
            if entry:
                yield Telling((f"{entry[0][0]}={entry[1]}",))
                return
        return
    yield from _grids(told)
    entries = dict(_entries(told))
    if entries:
        grid = told.problem.position
        right = solution_of(told.task, told.problem).after
        sound = all(_on(grid, cell) and right[cell] == digit for cell, digit in entries.items())
        new = [f"{cell}={digit}" for cell, digit in entries.items() if not _on(grid, cell) or grid[cell] != digit]
        yield Telling((" ".join(new),) if new else (), whole=not sound)


def _grids(told: Told) -> Iterator[Telling]:
    """The last grid that is written out, as rows of digits."""
    grid: Grid = told.problem.position
    size = grid.size
    row = _BETWEEN.join([rf"([1-{size}])"] * size)
    found = list(re.finditer(_BETWEEN.join([row] * size), told.text))
    for match in found[-1:]:
        yield Telling(position=Grid(size, tuple(map(int, match.groups()))))


def _entries(told: Told) -> Iterator[tuple[Cell, int]]:
    """Cells and digits of the sentences that state one digit, and nothing but where it is."""
    for sentence in told.sentences:
        entry = _entry(told, sentence)
        if sentence.sure and entry and len(_digits(told, sentence)) == 1:
            yield from ((cell, entry[1]) for cell in entry[0])


def _entry(told: Told, sentence: Sentence) -> tuple[tuple[Cell, ...], int] | None:
    digits = _digits(told, sentence)
    return (sentence.cells, digits[0]) if digits and sentence.cells else None


def _digits(told: Told, sentence: Sentence) -> list[int]:
    """The digits, or colours that stand for one, that are not part of a cell's name; in the order of the text."""
    rest = told.bare[sentence.start : sentence.end]
    found: list[tuple[int, int]] = []
    for language in ("en", "zh"):
        terms: Mapping[str, str] = plugin_of(told.task)[0].renderer.terms(told.style, language)
        for digit in range(1, told.problem.position.size + 1):
            word = terms.get(f"d{digit}", str(digit))
            pattern = rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])"
            found += [(match.start(), digit) for match in re.finditer(pattern, rest, re.IGNORECASE)]
    return [digit for _, digit in sorted(set(found))]


def _on(grid: Grid, cell: Cell) -> bool:
    return 0 <= cell.row < grid.size and 0 <= cell.col < grid.size
