"""Sudoku: every row, column and box holds each digit once.

Four sizes: 3x3 (a Latin square, without boxes), 4x4 (boxes 2x2), 6x6 (boxes of 2 rows by 3 columns) and 9x9 (boxes
3x3). Cells are also numbered row by row from 0; a *house* is a row, a column or a box; a *peer* of a cell is another
cell of one of its houses.

`canonical` is exact: two grids get the same text if and only if one becomes the other by renaming digits, by
permuting bands, rows within a band, stacks and columns within a stack, and by swapping rows with columns where boxes
are square. It sorts rows and columns by what they hold, again and again, until no two are alike, and where some stay
alike tries each of them in turn (individualise and refine, the scheme of graph canonisers); the smallest text wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
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
        size, shape = position.size, BOXES[position.size] or (position.size, position.size)
        marks = [(*divmod(number, size), digit) for number, digit in enumerate(position.digits) if digit]
        turned = [(col, row, digit) for row, col, digit in marks]
        views = [marks]
        if shape[0] == shape[1]:
            upright, flat = _profile(marks, size, shape[0]), _profile(turned, size, shape[0])
            views = [marks] if upright < flat else [turned] if flat < upright else [marks, turned]
        return f"{size}:" + min(_Canoniser(size, shape, view).text() for view in views)

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


Mark = tuple[int, int, int]
"""Row, column and digit of a filled cell."""


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
        size = self.size
        return min(self._leaves([0] * size, [0] * size, [0] * (LARGEST_DIGIT + 1)))

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


def _ranks(looks: list[tuple]) -> list[int]:  # type: ignore[type-arg]
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


game = Sudoku()
