"""Maze: a square of wall and floor cells, a start, an end, and a path that somebody draws between them.

Walls are whole cells, as in the original, so two floor cells side by side are always joined, and no two by two block
is all floor. A path that never touches itself is then told by its cells alone. A position can also hold what a
careless editor draws: paint on a wall, two lines, a stroke with a gap, a start that has moved or is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from math import isqrt

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction, unknown
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

WALL, FLOOR, START, END = "#", ".", "S", "E"
PAINT = "*"  # floor with the path on it
SMEAR = "%"  # wall with the path on it
BROKEN = "~"  # floor with paint that does not reach the paint beside it
MARKS = WALL + FLOOR + START + END + PAINT + SMEAR + BROKEN
PENS = ("green", "blue", "orange", "purple", "pink")
"""Colours that a path may be asked in: none is the red of the end, nor close to a wall or floor of any skin."""

SMALLEST, LARGEST = 5, 61

_IS_FLOOR = bytes(byte == ord(FLOOR) for byte in range(256))
_ENDS_ALIKE = str.maketrans({START: "o", END: "o"})


@dataclass(frozen=True, slots=True)
class Maze:
    pen: str  # the colour that the path is drawn in
    cells: str  # row by row, one mark a cell

    @property
    def size(self) -> int:
        return isqrt(len(self.cells))

    def __str__(self) -> str:
        size = self.size
        return "\n".join([self.pen, *(self.cells[at : at + size] for at in range(0, len(self.cells), size))])

    def with_mark(self, at: int, mark: str) -> Maze:
        return Maze(self.pen, self.cells[:at] + mark + self.cells[at + 1 :])


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the path on from its tip (at first the start), run by run over free floor; stop at the end, or before."""

    tip: Cell
    runs: tuple[tuple[str, int], ...]  # direction and number of cells

    def __str__(self) -> str:
        return " ".join([str(self.tip), *(f"{direction} {count}" for direction, count in self.runs)])


@dataclass(frozen=True, slots=True)
class Line:
    """The paint, followed from the start."""

    cells: tuple[int, ...]  # the start, then every painted cell in order, then the end if it is reached
    fault: str = ""  # why the paint is not one line from the start, as a clause; empty if it is
    complete: bool = False  # it reaches the end


class MazeGame(Game[Maze, Draw]):
    name = "maze"
    title = "Maze"
    dimension = "Long-Horizon Planning"
    category = "Maze"
    tasks = (
        Task("path", "draw the only path from the start to the end", unique=True),
        Task("shortest", "draw a shortest path through a maze with loops"),
    )

    def parse(self, text: str) -> Maze:
        pen, *rows = text.split("\n")
        size = len(rows)
        if pen not in PENS:
            raise unknown("pen colour", pen, PENS)
        if not SMALLEST <= size <= LARGEST or any(len(row) != size for row in rows):
            raise BadInput(f"expected {SMALLEST} to {LARGEST} rows of as many cells, got lengths {[*map(len, rows)]}")
        cells = "".join(rows)
        if strange := set(cells) - set(MARKS):
            raise BadInput(f"expected cells of {MARKS!r}, got {sorted(strange)}")
        return Maze(pen, cells)

    def parse_action(self, text: str) -> Draw:
        tip, *words = text.split(" ")
        try:
            runs = tuple(zip(words[::2], map(int, words[1::2]), strict=True))
            action = Draw(Cell.parse(tip), runs)
        except ValueError as error:
            raise BadInput(f"expected a path such as '1,1 right 4 down 2', got {text!r}") from error
        if not runs or any(direction not in STEPS or count < 1 for direction, count in runs):
            raise BadInput(f"expected directions {', '.join(STEPS)} with counts of 1 or more, got {text!r}")
        return action

    def actions(self, position: Maze) -> Iterator[Draw]:
        """Every straight run from the tip: up, down, left, right; short before long."""
        line = follow(position)
        if line.fault or line.complete or not line.cells:
            return
        tip = cell_table(position.size)[line.cells[-1]]
        for direction in STEPS:
            for count in range(1, position.size):
                action = Draw(tip, ((direction, count),))
                try:
                    self.apply(position, action)
                except IllegalAction:
                    break
                yield action

    def apply(self, position: Maze, action: Draw) -> Maze:
        line = follow(position)
        if line.fault or line.complete or not line.cells:
            reason = line.fault or ("it reaches the end" if line.complete else "there is no start")
            raise IllegalAction(f"the path cannot be drawn on: {reason}")
        at = cell_table(position.size)[line.cells[-1]]
        if action.tip != at:
            raise IllegalAction(f"the path goes on from cell {tuple(at)}, not from {tuple(action.tip)}")
        for direction, count in action.runs:
            for _ in range(count):
                position, at = _extended(position, at, at.moved(direction))
        return position

    def canonical(self, position: Maze) -> str:
        """The least of the eight turns and reflections; start and end are alike, since a path may be walked back."""
        size = position.size
        cells = position.cells.translate(_ENDS_ALIKE)
        turned = "".join([cells[col::size] for col in range(size)])
        views = [cells, turned]
        for view in (cells, turned):
            views.append("".join([view[row : row + size] for row in range(len(view) - size, -1, -size)]))
        return min(views + [view[::-1] for view in views])

    def faults(self, position: Maze) -> list[str]:
        cells = position.cells
        found = [
            f"there are {cells.count(mark)} {name} cells, not 1"
            for mark, name in ((START, "start"), (END, "end"))
            if cells.count(mark) != 1
        ]
        if not enclosed(position):
            found.append("the outer wall has a hole")
        line = follow(position)
        if line.fault:
            found.append(line.fault)
        if not found and not _joined(position):
            found.append("no way leads from the start to the end")
        if not found and _beside(position, cells.index(START), END):
            found.append("the end is beside the start, so there is no path to draw")
        return found

    def may_change(self, problem: Problem[Maze]) -> frozenset[Cell]:
        cells = problem.position.cells
        return frozenset(compress(cell_table(problem.position.size), cells.encode().translate(_IS_FLOOR)))

    def mutate(self, position: Maze, rng: Stream) -> Maze:
        """Paint put on or taken off, a wall broken or built, or the start or end moved or wiped out."""
        mark = rng.weighted(MARKS[:-1], (4, 6, 1, 1, 6, 1))
        at = rng.choice([at for at, each in enumerate(position.cells) if each == mark] or [0])
        mark = position.cells[at]
        if mark in (START, END) and FLOOR in position.cells and rng.chance(0.5):
            to = rng.choice([at for at, each in enumerate(position.cells) if each == FLOOR])
            return position.with_mark(at, FLOOR).with_mark(to, mark)
        others = {WALL: (SMEAR, FLOOR), FLOOR: (PAINT, PAINT, WALL), SMEAR: (WALL,)}
        return position.with_mark(at, rng.choice(others.get(mark, (FLOOR,))))


game = MazeGame()


def follow(maze: Maze) -> Line:
    """Follow the paint from the start, as far as it is one line on floor."""
    cells, size = maze.cells, maze.size
    table, near = cell_table(size), neighbours(size)
    start = cells.find(START)
    painted = {at for at, mark in enumerate(cells) if mark in (PAINT, SMEAR, BROKEN)}
    walked = [start] if start >= 0 else []
    for mark, clause in ((SMEAR, "the path runs through the wall at"), (BROKEN, "the path has a gap at")):
        if mark in cells:
            return Line(tuple(walked), f"{clause} cell {tuple(table[cells.index(mark)])}")
    left = set(painted)
    while walked:
        onward = [at for at in near[walked[-1]] if at in left or (cells[at] == END and len(walked) > 1)]
        if len(onward) > 1:
            return Line(tuple(walked), f"the path branches at cell {tuple(table[walked[-1]])}")
        if not onward:
            break
        walked += onward
        left.discard(onward[0])
        if cells[onward[0]] == END:
            break
    if left:
        apart = (
            "has paint that is not joined to the path" if len(walked) > 1 else "is painted but not joined to the start"
        )
        return Line(tuple(walked), f"cell {tuple(table[min(left)])} {apart}")
    return Line(tuple(walked), "", bool(walked) and cells[walked[-1]] == END)


def enclosed(maze: Maze) -> bool:
    """Whether the outermost cells are all wall, painted or not."""
    cells, size = maze.cells, maze.size
    border = cells[:size] + cells[-size:] + cells[::size] + cells[size - 1 :: size]
    return border.count(WALL) + border.count(SMEAR) == len(border)


@lru_cache(maxsize=64)
def cell_table(size: int) -> tuple[Cell, ...]:
    return tuple(Cell(row, col) for row in range(size) for col in range(size))


@lru_cache(maxsize=64)
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """The cells beside each cell, as places in the row-by-row text: up, down, left, right."""
    return tuple(
        tuple(
            row * size + col
            for row, col in map(cell.moved, STEPS)
            if 0 <= row < size and 0 <= col < size
        )
        for cell in cell_table(size)
    )  # fmt: skip


def _extended(maze: Maze, tip: Cell, to: Cell) -> tuple[Maze, Cell]:
    """The maze with the path one cell longer, and its new tip."""
    size, near = maze.size, neighbours(maze.size)
    if not (0 <= to.row < size and 0 <= to.col < size):
        raise IllegalAction(f"cell {tuple(to)} is outside the maze")
    at, last = to.row * size + to.col, tip.row * size + tip.col
    mark = maze.cells[at]
    if maze.cells[last] == END or (mark != END and maze.cells[last] == PAINT and _beside(maze, last, END)):
        raise IllegalAction(f"at cell {tuple(tip)} the path has reached the end")
    if mark == END:
        return maze, to
    if mark != FLOOR:
        what = "a wall" if mark == WALL else "already part of the path"
        raise IllegalAction(f"cell {tuple(to)} is {what}")
    if any(maze.cells[other] in (PAINT, START) for other in near[at] if other != last):
        raise IllegalAction(f"at cell {tuple(to)} the path would touch itself")
    return maze.with_mark(at, PAINT), to


def _beside(maze: Maze, at: int, mark: str) -> bool:
    return any(maze.cells[other] == mark for other in neighbours(maze.size)[at])


def _joined(maze: Maze) -> bool:
    """Whether some way over floor, painted or not, leads from the start to the end."""
    near, goal = neighbours(maze.size), maze.cells.index(END)
    seen = [maze.cells.index(START)]
    open_cells = {at for at, mark in enumerate(maze.cells) if mark in (FLOOR, PAINT, BROKEN, END)}
    for at in seen:
        fresh = [other for other in near[at] if other in open_cells]
        open_cells.difference_update(fresh)
        seen += fresh
    return goal in seen
