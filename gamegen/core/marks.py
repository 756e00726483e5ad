"""The canonical form of a square grid of marks whose rows, columns and kinds of marks may be rearranged.

Rows may be permuted within their band, and bands among each other; columns and stacks likewise; kinds of marks may be
renamed; and rows may be swapped with columns if bands are as high as stacks are wide. Two grids get the same text if
and only if they are the same up to that.

Rows and columns are sorted by what they hold, again and again, until no two are alike; where some stay alike each of
them is tried in turn (individualise and refine, the scheme of graph canonisers), and the smallest text wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Mark = tuple[int, int, int]
"""Row, column and kind of a mark; kinds are numbered from 1 to 9."""


def canonical_marks(marks: list[Mark], size: int, shape: tuple[int, int]) -> str:
    """One text for all rearrangements; `shape` is the height of a band and the width of a stack."""
    turned = [(col, row, digit) for row, col, digit in marks]
    views = [marks]
    if shape[0] == shape[1]:
        upright, flat = _profile(marks, size, shape[0]), _profile(turned, size, shape[0])
        views = [marks] if upright < flat else [turned] if flat < upright else [marks, turned]
    return min(_Canoniser(size, shape, view).text() for view in views)


def _profile(marks: list[Mark], size: int, high: int) -> list[list[int]]:
    """How many cells are filled in the rows of each band, in an order that no symmetry changes."""
    counts = [0] * size
    for row, _, _ in marks:
        counts[row] += 1
    return sorted(sorted(counts[top : top + high]) for top in range(0, size, high))


class _Canoniser:
    """Finds the smallest text of one grid. A *colour* is a rank among rows (columns, digits) that look different."""

    def __init__(self, size: int, shape: tuple[int, int], marks: list[Mark]) -> None:
        self.size = size
        self.high, self.wide = shape
        self.marks = marks

    def text(self) -> str:
        kinds = 1 + max((digit for _, _, digit in self.marks), default=0)
        return min(self._leaves([0] * self.size, [0] * self.size, [0] * kinds))

    def _leaves(self, rows: list[int], cols: list[int], digits: list[int]) -> Iterator[str]:
        rows, cols, digits = self._refine(rows, cols, digits)
        axis = int(len(set(cols)) < len(set(rows)))  # where less is known, since that soon settles the other
        colours = (rows, cols)[axis]
        alike = _first_tie(colours)
        if not alike:
            yield self._spell(rows, cols)
        for line in self._unlike(axis, alike):
            marked = [2 * colour for colour in colours]
            marked[line] -= 1
            yield from self._leaves(*((rows, marked) if axis else (marked, cols)), digits)

    def _refine(self, rows: list[int], cols: list[int], digits: list[int]) -> tuple[list[int], list[int], list[int]]:
        kinds = 0
        while True:
            held_rows: list[list[int]] = [[] for _ in rows]
            held_cols: list[list[int]] = [[] for _ in cols]
            held_digits: list[list[int]] = [[] for _ in digits]
            for row, col, digit in self.marks:
                y, x, d = rows[row], cols[col], digits[digit]
                held_rows[row].append(x * 64 + d)
                held_cols[col].append(y * 64 + d)
                held_digits[digit].append(y * 64 + x)
            rows = _rank(rows, held_rows, self.high)
            cols = _rank(cols, held_cols, self.wide)
            digits = _rank(digits, held_digits, 1)
            found = len(set(rows)) + len(set(cols)) + len(set(digits))
            if found == kinds:
                return rows, cols, digits
            kinds = found

    def _unlike(self, axis: int, lines: list[int]) -> list[int]:
        """Without empty lines that could be swapped with one we keep: of one band, or of bands all empty."""
        used = {mark[axis] for mark in self.marks}
        high = (self.high, self.wide)[axis]
        kept: dict[tuple[str, int], int] = {}
        for line in lines:
            band = line // high
            if line in used:
                kept["line", line] = line
            elif any(other in used for other in range(band * high, band * high + high)):
                kept.setdefault(("band", band), line)
            else:
                kept.setdefault(("empty", 0), line)
        return list(kept.values())

    def _spell(self, rows: list[int], cols: list[int]) -> str:
        row_at, col_at = _places(rows, self.high), _places(cols, self.wide)
        names: dict[int, str] = {}
        text = ["."] * (self.size * self.size)
        for place, digit in sorted((row_at[row] * self.size + col_at[col], digit) for row, col, digit in self.marks):
            text[place] = names.setdefault(digit, str(len(names) + 1))
        return "".join(text)


def _rank(colours: list[int], held: list[list[int]], high: int) -> list[int]:
    """New colours: by the old one, by what the line holds, and by the lines of its band."""
    looks = []
    for colour, contents in zip(colours, held, strict=True):
        contents.sort()
        looks.append((colour, contents))
    if high > 1 and high < len(looks):
        bands = [sorted(looks[top : top + high]) for top in range(0, len(looks), high)]
        pairs = [(look, bands[line // high]) for line, look in enumerate(looks)]
        return _ranks(pairs)
    return _ranks(looks)


def _ranks(looks: list[Any]) -> list[int]:
    """Places in the sorted order, equal ones sharing theirs."""
    order = sorted(range(len(looks)), key=looks.__getitem__)
    ranks = [0] * len(looks)
    rank = 0
    for before, line in pairwise(order):
        rank += looks[before] != looks[line]
        ranks[line] = rank
    return ranks


def _first_tie(colours: list[int]) -> list[int]:
    """The lines of the lowest colour that several lines share."""
    tied = [colour for colour in colours if colours.count(colour) > 1]
    return [line for line, colour in enumerate(colours) if colour == min(tied)] if tied else []


def _places(colours: list[int], high: int) -> list[int]:
    """Where each line goes: bands by their lowest colour, lines within a band by their own."""
    bands = sorted(range(0, len(colours), high), key=lambda top: min(colours[top : top + high]))
    places = [0] * len(colours)
    for block, top in enumerate(bands):
        for inner, line in enumerate(sorted(range(top, top + high), key=colours.__getitem__)):
            places[line] = block * high + inner
    return places
