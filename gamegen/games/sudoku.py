"""Sudoku: every row, column and box holds each digit once.

Four sizes: 3x3 (a Latin square, without boxes), 4x4 (boxes 2x2), 6x6 (boxes of 2 rows by 3 columns) and 9x9 (boxes
3x3). Cells are also numbered row by row from 0; a *house* is a row, a column or a box; a *peer* of a cell is another
cell of one of its houses.

Two grids are the same puzzle if one becomes the other by renaming digits, by permuting bands, rows within a band,
stacks and columns within a stack, and by swapping rows with columns where boxes are square; `canonical` is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.marks import canonical_marks
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

BOXES: dict[int, tuple[int, int] | None] = {3: None, 4: (2, 2), 6: (2, 3), 9: (3, 3)}
"""size -> rows and columns of a box."""

LARGEST_DIGIT = 9
"""A picture can show digits that the size does not allow, so a grid can hold them."""


@dataclass(frozen=True, slots=True)
class Grid:
    size: int
    digits: tuple[int, ...]  # row by row; 0 where the cell is empty

    def __str__(self) -> str:
        text = "".join(".123456789"[digit] for digit in self.digits)
        rows = [text[start : start + self.size] for start in range(0, len(text), self.size)]
        return "\n".join([_header(self.size), *rows])

    def __getitem__(self, cell: Cell) -> int:
        return self.digits[cell.row * self.size + cell.col]

    def cell(self, number: int) -> Cell:
        return Cell(*divmod(number, self.size))

    @property
    def empty(self) -> tuple[int, ...]:
        """Numbers of the empty cells."""
        return tuple(number for number, digit in enumerate(self.digits) if not digit)

    def filled(self, entries: Iterable[tuple[int, int]]) -> Grid:
        """With these digits written into these numbered cells, whatever the rules say."""
        digits = list(self.digits)
        for number, digit in entries:
            digits[number] = digit
        return Grid(self.size, tuple(digits))


@dataclass(frozen=True, slots=True)
class Fill:
    """Write digits into empty cells, one after the other; none may repeat a digit of its row, column or box."""

    entries: tuple[tuple[Cell, int], ...]

    def __str__(self) -> str:
        return " ".join(f"{cell}={digit}" for cell, digit in self.entries)


class Sudoku(Game[Grid, Fill]):
    name = "sudoku"
    title = "Sudoku"
    dimension = "Logic Puzzle Solving"
    category = "Sudoku"
    tasks = (
        Task("solve", "fill every empty cell", unique=True),
        Task("next", "fill the one cell that is forced now", unique=True),
    )

    def parse(self, text: str) -> Grid:
        header, *rows = text.strip().split("\n")
        size = next((size for size in BOXES if _header(size) == header), 0)
        if not size or [len(row) for row in rows] != [size] * size or set("".join(rows)) - set(".123456789"):
            raise BadInput(f"not a sudoku grid: {text!r}; one starts with {_header(4)!r} and has rows like '1.3.'")
        return Grid(size, tuple(0 if char == "." else int(char) for char in "".join(rows)))

    def parse_action(self, text: str) -> Fill:
        entries = []
        for part in text.split(" "):
            place, _, digit = part.partition("=")
            try:
                entries.append((Cell.parse(place), int(digit)))
            except ValueError as error:
                raise BadInput(f"not a fill: {text!r}; one looks like '0,2=4 1,3=2'") from error
        return Fill(tuple(entries))

    def actions(self, position: Grid) -> Iterator[Fill]:
        """Every fill of one cell, row by row and digit by digit; longer ones are several of these."""
        for number in position.empty:
            taken = {position.digits[peer] for peer in peers(position.size)[number]}
            for digit in range(1, position.size + 1):
                if digit not in taken:
                    yield Fill(((position.cell(number), digit),))

    def apply(self, position: Grid, action: Fill) -> Grid:
        size, digits = position.size, list(position.digits)
        for cell, digit in action.entries:
            if not (0 <= cell.row < size and 0 <= cell.col < size and 1 <= digit <= size):
                raise IllegalAction(f"{cell}={digit} is outside a {size}x{size} grid of 1 to {size}")
            number = cell.row * size + cell.col
            if digits[number]:
                raise IllegalAction(f"cell {cell} already holds {digits[number]} in\n{position}")
            twin = next((peer for peer in peers(size)[number] if digits[peer] == digit), None)
            if twin is not None:
                raise IllegalAction(f"{cell}={digit} repeats the {digit} of cell {position.cell(twin)} in\n{position}")
            digits[number] = digit
        return Grid(size, tuple(digits))

    def canonical(self, position: Grid) -> str:
        size = position.size
        marks = [(*divmod(number, size), digit) for number, digit in enumerate(position.digits) if digit]
        return f"{size}:{canonical_marks(marks, size, BOXES[size] or (size, size))}"

    def faults(self, position: Grid) -> list[str]:
        found = [
            f"cell {position.cell(number)} holds {digit} in a grid of 1 to {position.size}"
            for number, digit in enumerate(position.digits)
            if digit > position.size
        ]
        return found + [
            f"cells {position.cell(one)} and {position.cell(other)} hold the same digit in one {kind}"
            for kind, one, other in clashes(position)
        ]

    def may_change(self, problem: Problem[Grid]) -> frozenset[Cell]:
        return frozenset(map(problem.position.cell, problem.position.empty))

    def mutate(self, position: Grid, rng: Stream) -> Grid:
        number = rng.below(len(position.digits))
        others = [digit for digit in range(position.size + 1) if digit != position.digits[number]]
        return position.filled([(number, rng.choice(others))])


@lru_cache(maxsize=8)
def houses(size: int) -> tuple[tuple[int, ...], ...]:
    """Cell numbers of every row, then every column, then every box, each from the top left."""
    rows = [tuple(range(start, start + size)) for start in range(0, size * size, size)]
    cols = [tuple(range(start, size * size, size)) for start in range(size)]
    shape = BOXES[size]
    if shape is None:
        return (*rows, *cols)
    high, wide = shape
    corners = [(top, left) for top in range(0, size, high) for left in range(0, size, wide)]
    boxes = [
        tuple((top + row) * size + left + col for row in range(high) for col in range(wide)) for top, left in corners
    ]
    return (*rows, *cols, *boxes)


@lru_cache(maxsize=8)
def houses_of(size: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Per cell number, its row, its column and its box."""
    return tuple(tuple(house for house in houses(size) if number in house) for number in range(size * size))


@lru_cache(maxsize=8)
def peers(size: int) -> tuple[tuple[int, ...], ...]:
    """Per cell number, the numbers of its peers, sorted."""
    return tuple(
        tuple(sorted({peer for house in around for peer in house} - {number}))
        for number, around in enumerate(houses_of(size))
    )


def clashes(position: Grid) -> Iterator[tuple[str, int, int]]:
    """Two cells of one house with the same digit: the house's kind and the cells' numbers."""
    for place, house in enumerate(houses(position.size)):
        first: dict[int, int] = {}
        for number in house:
            digit = position.digits[number]
            if digit and first.setdefault(digit, number) != number:
                yield ("row", "column", "box")[place // position.size], first[digit], number


def _header(size: int) -> str:
    shape = BOXES[size]
    return f"{size}x{size} without boxes" if shape is None else f"{size}x{size} with boxes {shape[0]}x{shape[1]}"


game = Sudoku()
