"""Pac-Man on a walled grid: he walks and eats, the ghosts stand still.

A cell holds one thing, written as one character: `#` wall, `.` bean, `o` power pellet, `%` cherry, `_` nothing, a ghost
(`B` red, `P` pink, `I` cyan, after Blinky, Pinky and Inky) or Pac-Man, an arrow the way he faces (`^ v < >`). Nothing
moves but Pac-Man, so no reply of a ghost has to be guessed from the picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

WALL, BEAN, PELLET, CHERRY, NOTHING = "#", ".", "o", "%", "_"
GHOSTS = "BPI"
FACING = {"^": "up", "v": "down", "<": "left", ">": "right"}
PACMAN = {direction: sign for sign, direction in FACING.items()}
FOOD = BEAN + PELLET + CHERRY
BLOCKED = WALL + GHOSTS
THINGS = WALL + FOOD + NOTHING + GHOSTS + "".join(FACING)
NAMES = {
    WALL: "a wall", BEAN: "a bean", PELLET: "a power pellet", CHERRY: "a cherry", NOTHING: "nothing",
    "B": "the red ghost", "P": "the pink ghost", "I": "the cyan ghost",
    **{sign: f"Pac-Man facing {direction}" for sign, direction in FACING.items()},
}  # fmt: skip

_ONE_GHOST = str.maketrans(GHOSTS, "B" * len(GHOSTS))
_MIRRORED = str.maketrans("<>", "><")
_FLIPPED = str.maketrans("^v", "v^")
_TRANSPOSED = str.maketrans("^v<>", "<>^v")


@dataclass(frozen=True, slots=True)
class Position:
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"pacman {len(self.rows)}x{len(self.rows[0])}", *self.rows])

    def __getitem__(self, cell: Cell) -> str:
        return self.rows[cell.row][cell.col]

    def cells(self) -> Iterator[Cell]:
        """Row by row, from the top left."""
        return (Cell(row, col) for row in range(len(self.rows)) for col in range(len(self.rows[0])))

    def find(self, things: str) -> list[Cell]:
        """The cells that hold one of these things, row by row."""
        width = len(self.rows[0])
        return [Cell(*divmod(hit.start(), width)) for hit in _one_of(things).finditer("".join(self.rows))]

    def pacman(self) -> Cell:
        """Where Pac-Man is; raises IllegalAction if there is not exactly one."""
        found = self.find("".join(FACING))
        if len(found) != 1:
            raise IllegalAction(f"there must be one Pac-Man, not {len(found)}:\n{self}")
        return found[0]

    def with_things(self, things: dict[Cell, str]) -> Position:
        """The same board, these cells changed."""
        lines = [list(line) for line in self.rows]
        for (row, col), thing in things.items():
            lines[row][col] = thing
        return Position(tuple("".join(line) for line in lines))


@dataclass(frozen=True, slots=True)
class Walk:
    """Go a number of cells in one direction, eat whatever lies on them, and face that way."""

    direction: str
    cells: int

    def __str__(self) -> str:
        return f"{self.direction} {self.cells}"


class Pacman(Game[Position, Walk]):
    name = "pacman"
    title = "Pac-Man"
    dimension = "Strategic Reasoning"
    category = "Pacman"
    tasks = (
        Task("sweep", "run in the one direction that collects most beans, straight until a wall", unique=True),
        Task("route", "walk a shortest route to the cherry, or over all power pellets, around the ghosts"),
    )

    def parse(self, text: str) -> Position:
        head, *rows = text.strip().split("\n")
        if not rows or head != f"pacman {len(rows)}x{len(rows[0])}" or len({len(row) for row in rows}) != 1:
            raise BadInput(f"a board is 'pacman ROWSxCOLS' and that many lines of that length, not {text!r}")
        strange = sorted(set("".join(rows)) - set(THINGS))
        if strange:
            raise BadInput(f"a cell holds one of {THINGS!r}, not {strange[0]!r}")
        return Position(tuple(rows))

    def parse_action(self, text: str) -> Walk:
        direction, _, cells = text.partition(" ")
        if direction not in STEPS or not cells.isdecimal() or int(cells) == 0:
            raise BadInput(f"a walk is a direction and a number of cells, such as 'left 3', not {text!r}")
        return Walk(direction, int(cells))

    def actions(self, position: Position) -> Iterator[Walk]:
        """Up, down, left, right; shorter walks first."""
        start = position.pacman()
        for direction in STEPS:
            for count in range(1, len(run(position, start, direction)) + 1):
                yield Walk(direction, count)

    def apply(self, position: Position, action: Walk) -> Position:
        start = position.pacman()
        open_cells = run(position, start, action.direction)
        if len(open_cells) < action.cells:
            stop = (open_cells[-1] if open_cells else start).moved(action.direction)
            raise IllegalAction(f"{action}: {NAMES[position[stop]]} stands in the way on {stop}:\n{position}")
        walked = open_cells[: action.cells]
        return position.with_things({**dict.fromkeys((start, *walked), NOTHING), walked[-1]: PACMAN[action.direction]})

    def canonical(self, position: Position) -> str:
        """The least of the eight rotations and reflections, with all ghosts alike."""
        rows = [row.translate(_ONE_GHOST) for row in position.rows]
        return min("\n".join(turned) for each in (rows, _transposed(rows)) for turned in _reflections(each))

    def faults(self, position: Position) -> list[str]:
        found = []
        count = len(position.find("".join(FACING)))
        if count != 1:
            found.append(f"there must be one Pac-Man, not {count}")
        last_row, last_col = len(position.rows) - 1, len(position.rows[0]) - 1
        for cell in position.cells():
            rim = cell.row in (0, last_row) or cell.col in (0, last_col)
            if rim and position[cell] != WALL:
                found.append(f"the border is open at {cell}")
        if count == 1:
            reached = reachable(position, position.pacman())
            found += [f"{NAMES[position[cell]]} on {cell} is out of reach" for cell in position.find(FOOD)
                      if cell not in reached]  # fmt: skip
        return found

    def may_change(self, problem: Problem[Position]) -> frozenset[Cell]:
        """For a run, the four straight lines; for a route, every cell Pac-Man can get to."""
        position = problem.position
        start = position.pacman()
        if problem.kind == "sweep":
            return frozenset({start}.union(*(run(position, start, direction) for direction in STEPS)))
        return frozenset(reachable(position, start))

    def mutate(self, position: Position, rng: Stream) -> Position:
        cell = rng.choice(list(position.cells()))
        return position.with_things({cell: rng.choice([thing for thing in THINGS if thing != position[cell]])})


def run(position: Position, start: Cell, direction: str) -> list[Cell]:
    """The cells that a straight walk from `start` can enter, before a wall, a ghost or the edge of the board."""
    d_row, d_col = STEPS[direction]
    rows, (row, col) = position.rows, start
    height, width = len(rows), len(rows[0])
    cells: list[Cell] = []
    while True:
        row, col = row + d_row, col + d_col
        if not (0 <= row < height and 0 <= col < width) or rows[row][col] in BLOCKED:
            return cells
        cells.append(Cell(row, col))


def reachable(position: Position, start: Cell) -> set[Cell]:
    """Every cell that a walk from `start` can come to, ghosts and walls closed; `start` itself is one."""
    stride = len(position.rows[0]) + 1
    # A wall after every row, and more than a row of them at the end: no step leaves the text, not even backwards.
    text = WALL.join(position.rows) + WALL * (stride + 1)
    free = [thing not in BLOCKED for thing in text]
    seen = [start.row * stride + start.col]
    free[seen[0]] = False
    for place in seen:
        for there in (place - stride, place + stride, place - 1, place + 1):
            if free[there]:
                free[there] = False
                seen.append(there)
    return {Cell(*divmod(place, stride)) for place in seen}


@lru_cache(maxsize=64)
def _one_of(things: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(things)}]")


def _transposed(rows: list[str]) -> list[str]:
    return ["".join(line).translate(_TRANSPOSED) for line in zip(*rows, strict=True)]


def _reflections(rows: list[str]) -> Iterator[list[str]]:
    for each in (rows, [row[::-1].translate(_MIRRORED) for row in rows]):
        yield each
        yield [row.translate(_FLIPPED) for row in reversed(each)]


game = Pacman()
