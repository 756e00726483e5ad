"""The cells that a text names, by the picture's own labels: `row 3, column 4`, `(3, 4)`, `C4`, `第3行第4列`.

Of a stretch, `row 3, columns 2 to 5`, these are the first and the last.
"""

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
_TO, _LAST = r"\s*(?:-|–|—|~|to|through|到|至)\s*", rf"(?-i:([A-Z]|\d{{1,2}})){_END}(?!\s*(?:cells?|steps?|squares?)\b)"
_COLS, _ROWS = rf"col(?:umn)?s?\s+{_LABEL}{_TO}(?:col(?:umn)?\s+)?{_LAST}", rf"rows?\s+{_LABEL}{_TO}(?:row\s+)?{_LAST}"
_ALONG_ROW = (
    rf"{_EDGE}row\s+{_LABEL}\s*,?\s*(?:and|in|at|from|over|covering|spanning)?\s*{_COLS}",
    rf"第\s*{_LABEL}\s*行[的，,、]?\s*第\s*{_LABEL}\s*列?{_TO}第?\s*{_LABEL}\s*列",
)
_ALONG_COLUMN = (
    rf"{_EDGE}col(?:umn)?\s+{_LABEL}\s*,?\s*(?:and|in|at|from|over|covering|spanning)?\s*{_ROWS}",
    rf"第\s*{_LABEL}\s*列[的，,、]?\s*第\s*{_LABEL}\s*行?{_TO}第?\s*{_LABEL}\s*行",
)
_IN_ROW, _IN_COLUMN = (
    rf"{_EDGE}{_COLS}\s*(?:,|of|in)\s*row\s+{_LABEL}{_END}",
    rf"{_EDGE}{_ROWS}\s*(?:,|of|in)\s*col(?:umn)?\s+{_LABEL}{_END}",
)


def cells(text: str, labels: Labels) -> Iterator[Cell]:
    """The cells that a text names, in its order."""
    for _, _, cell in places(text, labels):
        yield cell


def places(text: str, labels: Labels) -> list[tuple[int, int, Cell]]:
    """Where a text names a cell, from and to, and which."""
    found = list(_stretches(text, labels))
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
            apart = _is_apart(match.span(), [(start, end) for start, end, _ in found])
            if apart and number is not None and place is not None:
                found.append((*match.span(), Cell(number, place)))
    return sorted(found)


def _stretches(text: str, labels: Labels) -> Iterator[tuple[int, int, Cell]]:
    """The first and the last cell of each stretch of a row or column."""
    ways = [(pattern, (0, 1, 2), True) for pattern in _ALONG_ROW] + [(_IN_ROW, (2, 0, 1), True)]
    ways += [(pattern, (0, 1, 2), False) for pattern in _ALONG_COLUMN] + [(_IN_COLUMN, (2, 0, 1), False)]
    taken: list[tuple[int, int]] = []
    for pattern, order, in_row in ways:
        across, along = (labels.rows, labels.cols) if in_row else (labels.cols, labels.rows)
        for match in re.finditer(pattern, text, re.IGNORECASE):
            line, first, last = (match.groups()[place] for place in order)
            number, start, end = index_of(across, line), index_of(along, first), index_of(along, last)
            if number is None or start is None or end is None or not _is_apart(match.span(), taken):
                continue
            taken.append(match.span())
            middle = match.end() - 1
            yield match.start(), middle, Cell(number, start) if in_row else Cell(start, number)
            yield middle, match.end(), Cell(number, end) if in_row else Cell(end, number)


def _is_apart(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in others)


def index_of(kind: str, label: str) -> int | None:
    """The row or column that a label stands for; None if it is no label of this kind."""
    if kind in "Aa":
        return ord(label.upper()) - ord("A") if label.isalpha() else None
    if label.isalpha():
        return None
    return 8 - int(label) if kind == "8" else int(label) - int(kind)
