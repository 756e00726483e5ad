"""A text as a stranger may write it, cut into what every game asks for: sentences, cells, directions.

A clause that speaks of what would happen, or must not, is heard but not sure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

from gamegen.core.cell import STEPS, Cell
from gamegen.core.problem import Problem
from gamegen.core.rendering import Style
from gamegen.thinking.cells import places
from gamegen.thinking.ways import BLANK, Way, ways_in

_SENTENCE = re.compile(r"[^.!?。！？;；\n]+")
_CLAUSE = re.compile(
    r"[,，:：.!?。！？;；\n]|\b(?:because|since|but|though|although|while|whereas)\b|因为|由于|但|虽然|而不是"
)
_UNSURE = re.compile(
    r"\b(?:would|could|might|if|suppose|instead|rather than|dead|never|cannot|can't|not|no|blocks?|blocked|wrong"
    r"|mistake|avoid|don't|neither|nor|impossible|tempting|try|because|since)\b"
    r"|如果|若|假如|不|无法|死路|否则|避免|没有|未|致命|因为|由于|试",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    cell: Cell
    start: int
    end: int
    sure: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    start: int
    end: int
    sure: bool  # no part of it speaks of what would be
    ways: tuple[Way, ...]
    places: tuple[Place, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(place.cell for place in self.places)


@dataclass(frozen=True)
class Told:
    """A text about one problem."""

    task: str
    problem: Problem[Any]
    style: Style
    text: str

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        found = []
        for match in _SENTENCE.finditer(self.bare):
            start, end = match.span()
            ways = tuple(way for way in self.ways if start <= way.start < end)
            named = tuple(place for place in self.places if start <= place.start < end)
            found.append(Sentence(self.text[start:end], start, end, not _UNSURE.search(match[0]), ways, named))
        return tuple(found)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(Place(cell, start, end, self.sure(start)) for start, end, cell in self._named)

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        return tuple(ways_in(self.bare))

    @cached_property
    def sure_ways(self) -> tuple[Way, ...]:
        return tuple(way for way in self.ways if self.sure(way.start))

    @cached_property
    def bare(self) -> str:
        """The text with its cells blanked out: their digits, letters and commas are not to be read twice."""
        text = self.text
        for start, end, _ in self._named:
            text = text[:start] + BLANK * (end - start) + text[end:]
        return text

    def sure(self, at: int) -> bool:
        """Whether the clause at this place states something, not what would be or must not be."""
        return self._clauses[bisect_right(self._clauses, at, key=lambda clause: clause[0]) - 1][1]

    @cached_property
    def _named(self) -> list[tuple[int, int, Cell]]:
        return places(self.text, self.style.labels)

    @cached_property
    def _clauses(self) -> list[tuple[int, bool]]:
        starts = [0, *(match.start() for match in _CLAUSE.finditer(self.bare))]
        ends = [*starts[1:], len(self.bare)]
        return [(start, not _UNSURE.search(self.bare, start, end)) for start, end in zip(starts, ends, strict=True)]


Walk = tuple[tuple[str, int], ...]


def walks(told: Told, start: Cell) -> Iterator[Walk]:
    """The walks that a text may tell: all its sure directions, a list of some, a chain of cells; later ones first."""
    lists = [sentence.ways for sentence in reversed(told.sentences) if len(sentence.ways) > 1]
    for ways in (told.sure_ways, *lists):
        if ways and all(way.direction in STEPS for way in ways):
            yield tuple((way.direction, way.count) for way in ways)
    chains = [sentence.cells for sentence in reversed(told.sentences)]
    for cells in (*chains, tuple(place.cell for place in told.places if place.sure)):
        legs = _legs(cells if cells[:1] == (start,) else (start, *cells))
        if len(cells) > 1 and legs:
            yield legs


def _legs(cells: Sequence[Cell]) -> Walk:
    """The walk along these cells; empty if two of them do not lie in one line."""
    legs = [straight(one, other) for one, other in pairwise(cell for cell, _ in groupby(cells))]
    return () if None in legs else tuple(leg for leg in legs if leg is not None)


def straight(one: Cell, other: Cell) -> tuple[str, int] | None:
    """The direction and distance from a cell to another one of its row or column; None if it is in neither."""
    d_row, d_col = other.row - one.row, other.col - one.col
    for direction, (row, col) in STEPS.items():
        distance = d_row * row + d_col * col
        if distance > 0 and (d_row, d_col) == (row * distance, col * distance):
            return direction, distance
    return None
