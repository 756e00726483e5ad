"""The cells that a text names, by the picture's own labels: `row 3, column 4`, `(3, 4)`, `C4`, `第3行第4列`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.core.cell import Cell, Labels

_LABEL = r"([A-Za-z]|\d{1,2})"
_EDGE, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_ROW_FIRST = (
    rf"{_EDGE}row\s+{_LABEL}{_END}\s*(?:,|and)?\s*col(?:umn)?\s+{_LABEL}{_END}",
    rf"第\s*{_LABEL}\s*行\s*[，,、]?\s*第\s*{_LABEL}\s*列",
    rf"{_EDGE}r{_LABEL}\s*,?\s*c{_LABEL}{_END}",
    rf"{_EDGE}[(（\[]\s*{_LABEL}\s*[,，]\s*{_LABEL}\s*[)）\]]",
)
_COLUMN_FIRST = (
    rf"{_EDGE}row\s+{_LABEL}{_END}\s+of\s+col(?:umn)?\s+{_LABEL}{_END}",
    rf"{_EDGE}col(?:umn)?\s+{_LABEL}{_END}\s*(?:,|and)?\s*row\s+{_LABEL}{_END}",
    rf"第\s*{_LABEL}\s*列\s*[，,、]?\s*第\s*{_LABEL}\s*行",
)


def cells(text: str, labels: Labels) -> Iterator[Cell]:
    """The cells that a text names, in its order."""
    for _, _, cell in places(text, labels):
        yield cell


def places(text: str, labels: Labels) -> list[tuple[int, int, Cell]]:
    """Where a text names a cell, from and to, and which."""
    found: list[tuple[int, int, Cell]] = []
    patterns = [(pattern, True) for pattern in (*_ROW_FIRST, _COLUMN_FIRST[0])]
    patterns += [(pattern, False) for pattern in _COLUMN_FIRST[1:]]
    if labels.cols in "Aa" and labels.rows not in "Aa":
        letters = "A-Z" if labels.cols == "A" else "a-z"
        patterns.append((rf"{_EDGE}(?-i:([{letters}]))(\d{{1,2}}){_END}", False))
    for pattern, row_first in patterns:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            first, second = match.groups()
            row, col = (first, second) if row_first else (second, first)
            number, place = index_of(labels.rows, row), index_of(labels.cols, col)
            apart = all(match.end() <= start or end <= match.start() for start, end, _ in found)
            if apart and number is not None and place is not None:
                found.append((*match.span(), Cell(number, place)))
    return sorted(found)


def index_of(kind: str, label: str) -> int | None:
    """The row or column that a label stands for; None if it is no label of this kind."""
    if kind in "Aa":
        return ord(label.upper()) - ord("A") if label.isalpha() else None
    if label.isalpha():
        return None
    return 8 - int(label) if kind == "8" else int(label) - int(kind)
