"""Cells, and the names that a picture's labels give them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple


class Cell(NamedTuple):
    """Row and column, both from 0, from the top left; whatever the picture's labels say."""

    row: int
    col: int

    def __str__(self) -> str:
        return f"{self.row},{self.col}"

    @classmethod
    def parse(cls, text: str) -> Cell:
        row, col = text.split(",")
        return cls(int(row), int(col))

    def moved(self, direction: str) -> Cell:
        d_row, d_col = STEPS[direction]
        return Cell(self.row + d_row, self.col + d_col)


STEPS: dict[str, tuple[int, int]] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_CELL = re.compile(r"(?:cells? )?\((\d+), (\d+)\)", re.IGNORECASE)
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Labels:
    """How rows and columns are labelled: each `0` (0, 1, 2…), `1` (1, 2, 3…), `A` (A, B, C…), `a` (a, b, c…), or `8`:
    down from 8, as the ranks of a chessboard."""

    rows: str = "1"
    cols: str = "1"

    @classmethod
    def parse(cls, text: str) -> Labels:
        """From two letters, rows first: `11`, `00`, `1A`, `8a`."""
        return cls(text[0], text[1])

    def row(self, row: int) -> str:
        return _label(self.rows, row)

    def col(self, col: int) -> str:
        return _label(self.cols, col)

    def name(self, cell: Cell, language: str) -> str:
        """What a person calls the cell, looking at these labels."""
        row, col = self.row(cell.row), self.col(cell.col)
        if self.cols in "Aa" and self.rows not in "Aa":
            return f"{col}{row}"
        if language == "zh":
            return f"第{row}行第{col}列"
        return f"row {row}, column {col}"

    def told(self, text: str) -> str:
        """A solver's sentence, in which cells are written `cell (2, 3)`, as somebody who sees these labels says it."""
        told = _CELL.sub(lambda found: self.name(Cell(int(found[1]), int(found[2])), "en"), text)
        return told[:1].upper() + told[1:]


def _label(kind: str, number: int) -> str:
    if kind in "Aa":
        return chr(ord(kind) + number)
    if kind == "8":
        return str(8 - number)
    return str(number + int(kind))
