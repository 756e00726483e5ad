"""Word search: a square of letters hides words, written straight in one of eight directions.

A position is the letters and, for every cell, the colour of its highlight (a coloured border) or none. As text it is
the letters, a blank line, and the highlights as letters of their own (`r` red, `.` none).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

DIRECTIONS: dict[str, tuple[int, int]] = {
    "right": (0, 1),
    "down": (1, 0),
    "down-right": (1, 1),
    "up-right": (-1, 1),
    "left": (0, -1),
    "up": (-1, 0),
    "up-left": (-1, -1),
    "down-left": (1, -1),
}
COLOURS = {"red": "r", "orange": "o", "green": "g", "cyan": "c", "blue": "b", "purple": "p"}
COLOUR_OF = {code: name for name, code in COLOURS.items()}
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
BLANK = "_"
"""A cell whose letter is gone: no puzzle has one, but a careless editor may make one."""

UNMARKED = "."
SHORTEST = 3
"""Words of fewer letters are not hidden, so shorter lines are not highlighted either."""

_TEXT = re.compile(rf"[A-Z{BLANK}\n]+\n\n[{UNMARKED}{''.join(COLOUR_OF)}\n]+")


@dataclass(frozen=True, slots=True)
class WordGrid:
    letters: tuple[str, ...]  # one text a row
    marks: tuple[str, ...]  # the same shape: a colour's code, or UNMARKED

    def __str__(self) -> str:
        return "\n".join(self.letters) + "\n\n" + "\n".join(self.marks)

    @property
    def size(self) -> int:
        return len(self.letters)

    def cells(self) -> Iterator[Cell]:
        return (Cell(row, col) for row in range(self.size) for col in range(self.size))

    def letter(self, cell: Cell) -> str:
        return self.letters[cell.row][cell.col]

    def mark(self, cell: Cell) -> str:
        return self.marks[cell.row][cell.col]

    def marked(self, cells: tuple[Cell, ...], colour: str) -> WordGrid:
        rows = [list(row) for row in self.marks]
        for cell in cells:
            rows[cell.row][cell.col] = COLOURS[colour]
        return WordGrid(self.letters, tuple(map("".join, rows)))


class Highlight(NamedTuple):
    """Colour the borders of `length` cells, from the first one straight on in a direction."""

    start: Cell
    direction: str
    length: int
    colour: str

    def __str__(self) -> str:
        return f"{self.start} {self.direction} {self.length} {self.colour}"

    @property
    def cells(self) -> tuple[Cell, ...]:
        return line(self.start, self.direction, self.length)


class WordSearch(Game[WordGrid, Highlight]):
    name = "wordsearch"
    title = "Word Search"
    dimension = "Logic Puzzle Solving"
    category = "Word Search"
    tasks = (
        Task("find", "colour the borders of the cells of one hidden word", unique=True),
        Task("find-all", "colour the borders of several hidden words, each in a colour of its own", unique=True),
    )

    def parse(self, text: str) -> WordGrid:
        if not _TEXT.fullmatch(text):
            raise BadInput(f"expected rows of letters, a blank line and rows of highlights, not {text[:80]!r}")
        above, below = text.split("\n\n")
        letters, marks = tuple(above.split("\n")), tuple(below.split("\n"))
        if len(letters) != len(marks) or any(len(row) != len(letters) for row in letters + marks):
            raise BadInput(f"letters and highlights must be squares of one size, not {text[:80]!r}")
        return WordGrid(letters, marks)

    def parse_action(self, text: str) -> Highlight:
        try:
            start, direction, length, colour = text.split(" ")
            action = Highlight(Cell.parse(start), direction, int(length), colour)
        except ValueError:
            raise BadInput(f"expected 'ROW,COL DIRECTION LENGTH COLOUR', not {text!r}") from None
        if direction not in DIRECTIONS or colour not in COLOURS:
            raise BadInput(f"unknown direction or colour in {text!r}")
        return action

    def actions(self, position: WordGrid) -> Iterator[Highlight]:
        """By colour, start cell, direction and length."""
        lines = [
            (start, direction, length)
            for start in position.cells()
            for direction in DIRECTIONS
            for length in range(SHORTEST, _reach(position, start, direction) + 1)
        ]
        for colour in _unused_colours(position):
            yield from (Highlight(*each, colour) for each in lines)

    def apply(self, position: WordGrid, action: Highlight) -> WordGrid:
        if action.length < SHORTEST:
            raise IllegalAction(f"a highlight covers {SHORTEST} cells or more, not {action.length}")
        if action.colour not in _unused_colours(position):
            raise IllegalAction(f"{action.colour} is used already, and each highlight has its own colour")
        if obstacle := _obstacle(position, action):
            raise IllegalAction(f"cannot highlight {action}: {obstacle}")
        return position.marked(action.cells, action.colour)

    def canonical(self, position: WordGrid) -> str:
        """Rotated and mirrored grids hide the same words, in other directions."""
        return min(map("\n".join, _views(position.letters)))

    def faults(self, position: WordGrid) -> list[str]:
        found = [f"cell ({c.row}, {c.col}) has no letter" for c in _where(position.letters, BLANK)]
        for code, colour in COLOUR_OF.items():
            cells = _where(position.marks, code)
            if cells and not is_line(cells):
                found.append(f"the {colour} cells are not one straight line of {SHORTEST} or more")
        return found

    def may_change(self, problem: Problem[WordGrid]) -> frozenset[Cell]:
        return frozenset(problem.position.cells())

    def mutate(self, position: WordGrid, rng: Stream) -> WordGrid:
        """Another letter, no letter, or another highlight in one cell."""
        cell = Cell(rng.below(position.size), rng.below(position.size))
        if rng.chance(0.5):
            others = [c for c in ALPHABET + BLANK if c != position.letter(cell)]
            return WordGrid(_replaced(position.letters, cell, rng.choice(others)), position.marks)
        others = [c for c in (UNMARKED, *COLOUR_OF) if c != position.mark(cell)]
        return WordGrid(position.letters, _replaced(position.marks, cell, rng.choice(others)))


def _where(rows: tuple[str, ...], sign: str) -> list[Cell]:
    """The cells that show this sign, in reading order."""
    size, text = len(rows), "".join(rows)
    return [Cell(*divmod(place, size)) for place in range(len(text)) if text[place] == sign] if sign in text else []


def line(start: Cell, direction: str, length: int) -> tuple[Cell, ...]:
    d_row, d_col = DIRECTIONS[direction]
    return tuple(Cell(start.row + i * d_row, start.col + i * d_col) for i in range(length))


def is_line(cells: list[Cell]) -> bool:
    """Whether these cells, in reading order, are one gapless straight line long enough for a word."""
    if len(cells) < SHORTEST:
        return False
    step = (cells[1].row - cells[0].row, cells[1].col - cells[0].col)
    if step not in DIRECTIONS.values():
        return False
    return all((b.row - a.row, b.col - a.col) == step for a, b in pairwise(cells))


def _unused_colours(position: WordGrid) -> list[str]:
    used = "".join(position.marks)
    return [colour for colour, code in COLOURS.items() if code not in used]


def _reach(position: WordGrid, start: Cell, direction: str) -> int:
    """How many cells can be highlighted from the start in that direction."""
    (row, col), (d_row, d_col), size = start, DIRECTIONS[direction], position.size
    length = 0
    while 0 <= row < size and 0 <= col < size and position.marks[row][col] == UNMARKED:
        length, row, col = length + 1, row + d_row, col + d_col
    return length


def _obstacle(position: WordGrid, action: Highlight) -> str:
    size = position.size
    for cell in action.cells:
        if not (0 <= cell.row < size and 0 <= cell.col < size):
            return f"cell ({cell.row}, {cell.col}) is outside the grid"
        if position.mark(cell) != UNMARKED:
            return f"cell ({cell.row}, {cell.col}) is highlighted already"
    return ""


def _views(rows: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The eight rotations and reflections."""
    for each in (rows, tuple(map("".join, zip(*rows, strict=True)))):
        flipped = tuple(row[::-1] for row in each)
        yield from (each, each[::-1], flipped, flipped[::-1])


def _replaced(rows: tuple[str, ...], cell: Cell, char: str) -> tuple[str, ...]:
    row = rows[cell.row]
    return (*rows[: cell.row], row[: cell.col] + char + row[cell.col + 1 :], *rows[cell.row + 1 :])


game = WordSearch()
