"""Match three: swap two neighbouring gems, runs of three or more vanish, gems fall, and nothing refills.

A cell is two characters. The first is the gem: `R` red ruby, `S` blue sapphire, `E` green emerald, `T` yellow topaz,
`A` purple amethyst, `O` orange opal, `D` white diamond, or `.` for none. The second is its mark: `-` a row gem, `|` a
column gem, `*` a bomb, `.` a plain one. A marked gem that vanishes takes its row, its column or the eight cells around
it along; marked gems hit in this way go off too, all in the same round, before anything falls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

GEMS = "RSETAOD"
ROW, COLUMN, BOMB, PLAIN = "-", "|", "*", "."
MARKS = ROW + COLUMN + BOMB
EMPTY = ".."
THINGS = (EMPTY, *(gem + mark for gem in GEMS for mark in PLAIN + MARKS))
RUN = 3
"""So many gems of one kind, side by side in a row or column, make a run."""

_RUNS = re.compile(rf"([{GEMS}])\1{{{RUN - 1},}}")


@dataclass(frozen=True, slots=True)
class Position:
    rows: tuple[str, ...]  # two characters a cell

    def __str__(self) -> str:
        head = f"jewel2 {self.height}x{self.width}"
        return "\n".join([head, *(" ".join(_things(row)) for row in self.rows)])

    def __getitem__(self, cell: Cell) -> str:
        return self.rows[cell.row][2 * cell.col : 2 * cell.col + 2]

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0]) // 2

    def cells(self) -> Iterator[Cell]:
        """Row by row, from the top left."""
        return (Cell(row, col) for row in range(self.height) for col in range(self.width))

    def with_things(self, things: dict[Cell, str]) -> Position:
        """The same board, these cells changed."""
        rows = [_things(row) for row in self.rows]
        for cell, thing in things.items():
            rows[cell.row][cell.col] = thing
        return Position(tuple("".join(row) for row in rows))


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange two neighbouring gems so that a run forms, and let the board clear and fall until it is quiet."""

    first: Cell
    second: Cell

    def __str__(self) -> str:
        return f"{self.first} {self.second}"


@dataclass(frozen=True, slots=True)
class Run:
    gem: str
    cells: tuple[Cell, ...]  # from left to right, or from top to bottom


@dataclass(frozen=True, slots=True)
class Blast:
    """A marked gem that went off, and the cells it cleared that nothing had cleared before."""

    cell: Cell
    mark: str
    more: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One clearing: the runs seen, the marked gems in the order in which they went off, and the board after it."""

    runs: tuple[Run, ...]
    blasts: tuple[Blast, ...]
    cleared: frozenset[Cell]
    holes: Position  # after clearing
    after: Position  # after falling

    @property
    def fallen(self) -> int:
        """How many gems fell: those with a hole below them."""
        count = 0
        for column in zip(*map(_things, self.holes.rows), strict=True):
            below = "".join("." if thing == EMPTY else "o" for thing in column).rstrip("o")
            count += below.count("o")
        return count


class Jewel2(Game[Position, Swap]):
    name = "jewel2"
    title = "Jewel2"
    dimension = "Strategic Reasoning"
    category = "Jewel2"
    tasks = (
        Task("swap", "swap two named gems, clear the runs, let the gems fall, until the board is quiet", unique=True),
        Task("best", "make the swap that clears the most gems, cascades included", unique=True),
    )

    def parse(self, text: str) -> Position:
        head, *lines = text.strip().split("\n")
        rows = [line.split(" ") for line in lines]
        if not rows or head != f"jewel2 {len(rows)}x{len(rows[0])}" or len({len(row) for row in rows}) != 1:
            raise BadInput(f"a board is 'jewel2 ROWSxCOLS' and that many lines of that many cells, not {text!r}")
        strange = sorted({thing for row in rows for thing in row} - set(THINGS))
        if strange:
            raise BadInput(f"a cell holds a gem and a mark, such as 'R.' or 'S*', or '..', not {strange[0]!r}")
        return Position(tuple("".join(row) for row in rows))

    def parse_action(self, text: str) -> Swap:
        parts = re.fullmatch(r"(\d+,\d+) (\d+,\d+)", text)
        if parts is None:
            raise BadInput(f"a swap is two cells, such as '0,3 1,3', not {text!r}")
        return Swap(Cell.parse(parts[1]), Cell.parse(parts[2]))

    def actions(self, position: Position) -> Iterator[Swap]:
        """Row by row; at each cell the swap to the right, then the one down."""
        gems = [row[0::2] for row in position.rows]
        for row, line in enumerate(gems):
            for col in range(len(line)):
                here = Cell(row, col)
                if col + 1 < len(line) and _makes_run(gems, here, Cell(row, col + 1)):
                    yield Swap(here, Cell(row, col + 1))
                if row + 1 < len(gems) and _makes_run(gems, here, Cell(row + 1, col)):
                    yield Swap(here, Cell(row + 1, col))

    def apply(self, position: Position, action: Swap) -> Position:
        found = rounds(swapped(position, action))
        if not found:
            raise IllegalAction(f"swapping {action} makes no run:\n{position}")
        return found[-1].after

    def canonical(self, position: Position) -> str:
        """The lesser of the board and its mirror image, gems renamed in the order in which they are met."""
        mirrored = ["".join(reversed(_things(row))) for row in position.rows]
        return min(_renamed("\n".join(rows)) for rows in (position.rows, mirrored))

    def faults(self, position: Position) -> list[str]:
        found = [
            f"the gem on {Cell(row, col)} hangs over an empty cell"
            for row, col in position.cells()
            if row + 1 < position.height and position[Cell(row, col)] != EMPTY == position[Cell(row + 1, col)]
        ]
        return found + [f"a run from {run.cells[0]} to {run.cells[-1]} was not cleared" for run in runs(position)]

    def may_change(self, problem: Problem[Position]) -> frozenset[Cell]:
        """Every cell: a cascade may reach any of them."""
        return frozenset(problem.position.cells())

    def mutate(self, position: Position, rng: Stream) -> Position:
        cell = rng.choice(list(position.cells()))
        return position.with_things({cell: rng.choice([thing for thing in THINGS if thing != position[cell]])})


def swapped(position: Position, action: Swap) -> Position:
    """The two gems exchanged, nothing cleared yet; raises IllegalAction if they are not two neighbouring gems."""
    first, second = action.first, action.second
    inside = all(0 <= row < position.height and 0 <= col < position.width for row, col in (first, second))
    if not inside or abs(first.row - second.row) + abs(first.col - second.col) != 1:
        raise IllegalAction(f"{action} are not two neighbouring cells:\n{position}")
    if EMPTY in (position[first], position[second]):
        raise IllegalAction(f"{action}: one of the cells is empty:\n{position}")
    return position.with_things({first: position[second], second: position[first]})


def runs(position: Position) -> list[Run]:
    """Every longest run of three or more, those in rows first, from the top, then those in columns, from the left."""
    gems = [row[0::2] for row in position.rows]
    lying = [
        Run(match[1], tuple(Cell(row, col) for col in range(*match.span())))
        for row, line in enumerate(gems)
        for match in _RUNS.finditer(line)
    ]
    standing = [
        Run(match[1], tuple(Cell(row, col) for row in range(*match.span())))
        for col, line in enumerate(zip(*gems, strict=True))
        for match in _RUNS.finditer("".join(line))
    ]
    return lying + standing


def rounds(position: Position) -> list[Round]:
    """Clear and fall until no run is left."""
    found = []
    while lines := runs(position):
        cleared, blasts = _cleared(position, {cell for line in lines for cell in line.cells})
        holes = position.with_things(dict.fromkeys(cleared, EMPTY))
        position = _fallen(holes)
        found.append(Round(tuple(lines), tuple(blasts), frozenset(cleared), holes, position))
    return found


def _cleared(position: Position, hit: set[Cell]) -> tuple[set[Cell], list[Blast]]:
    """All cells that are cleared once these are hit, and the marked gems in the order in which they went off."""
    cleared = set(hit)
    waiting = sorted(cell for cell in hit if position[cell][1] in MARKS)
    blasts = []
    while waiting:
        cell = waiting.pop(0)
        more = sorted(other for other in _reach(position, cell) if other not in cleared and position[other] != EMPTY)
        cleared.update(more)
        waiting += [other for other in more if position[other][1] in MARKS]
        blasts.append(Blast(cell, position[cell][1], tuple(more)))
    return cleared, blasts


def _reach(position: Position, cell: Cell) -> list[Cell]:
    """The cells that a marked gem takes along."""
    mark = position[cell][1]
    if mark == ROW:
        return [Cell(cell.row, col) for col in range(position.width)]
    if mark == COLUMN:
        return [Cell(row, cell.col) for row in range(position.height)]
    rows = range(max(0, cell.row - 1), min(position.height, cell.row + 2))
    return [Cell(row, col) for row in rows for col in range(max(0, cell.col - 1), min(position.width, cell.col + 2))]


def _fallen(position: Position) -> Position:
    """Every gem straight down onto the next one or the floor."""
    columns = []
    for column in zip(*map(_things, position.rows), strict=True):
        gems = [thing for thing in column if thing != EMPTY]
        columns.append([EMPTY] * (len(column) - len(gems)) + gems)
    return Position(tuple("".join(row) for row in zip(*columns, strict=True)))


def _makes_run(gems: list[str], first: Cell, second: Cell) -> bool:
    one, other = gems[first.row][first.col], gems[second.row][second.col]
    if one == other or "." in (one, other):
        return False
    return _joins(gems, one, second, first) or _joins(gems, other, first, second)


def _joins(gems: list[str], gem: str, to: Cell, left: Cell) -> bool:
    """Whether `gem`, moved from `left` to `to`, is part of a run there."""
    for d_row, d_col in ((0, 1), (1, 0)):
        length = 1
        for sign in (-1, 1):
            row, col = to.row + sign * d_row, to.col + sign * d_col
            while 0 <= row < len(gems) and 0 <= col < len(gems[0]) and gems[row][col] == gem and (row, col) != left:
                length += 1
                row, col = row + sign * d_row, col + sign * d_col
        if length >= RUN:
            return True
    return False


def _things(row: str) -> list[str]:
    return [row[start : start + 2] for start in range(0, len(row), 2)]


def _renamed(text: str) -> str:
    order = dict.fromkeys(letter for letter in text if letter in GEMS)
    return text.translate(str.maketrans("".join(order), GEMS[: len(order)]))


game = Jewel2()
