"""A Sokoban room in bitboards: a set of cells is one Python integer, bit `row * width + col`.

The room's outer wall keeps shifts from wrapping, so a push, a pull or a flood of the whole room is a few shifts and
ands. Directions are numbered up, down, left, right; `direction ^ 1` is the opposite one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gamegen.core.cell import STEPS, Cell
from gamegen.games.sokoban import BOXES, OPEN, PLAYERS, TARGETS, Position

DIRECTIONS = tuple(STEPS)


@dataclass(frozen=True, slots=True)
class Board:
    """A room's shape: `floor` are the cells that are not wall and can be walked to."""

    width: int
    floor: int

    def shift(self, cells: int, direction: int) -> int:
        if direction == 0:
            return cells >> self.width
        if direction == 1:
            return cells << self.width
        return cells >> 1 if direction == 2 else cells << 1

    def flood(self, seed: int, free: int) -> int:
        """All cells of `free` connected to `seed`."""
        width = self.width
        while True:
            grown = seed | ((seed << 1 | seed >> 1 | seed << width | seed >> width) & free)
            if grown == seed:
                return seed
            seed = grown

    def cell(self, bit: int) -> Cell:
        return Cell(*divmod(bit.bit_length() - 1, self.width))

    def cells(self, mask: int) -> tuple[Cell, ...]:
        return tuple(self.cell(bit) for bit in bits(mask))

    def bit(self, cell: Cell) -> int:
        return 1 << (cell.row * self.width + cell.col)


class State(NamedTuple):
    boxes: int
    reach: int  # every cell the player can walk to, its own included


class Move(NamedTuple):
    """One push: the box's cell before and after it."""

    box: int
    to: int
    direction: int


def moves(board: Board, state: State, room: int, *, order: Sequence[int] = (0, 1, 2, 3)) -> Iterator[Move]:
    """Every push that the player can make now and that brings a box onto a cell of `room`."""
    boxes, reach = state
    width, room = board.width, room & ~boxes
    pushable = (
        boxes & reach >> width & room << width,
        boxes & reach << width & room >> width,
        boxes & reach >> 1 & room << 1,
        boxes & reach << 1 & room >> 1,
    )
    for direction in order:
        for box in bits(pushable[direction]):
            yield Move(box, board.shift(box, direction), direction)


def bits(mask: int) -> Iterator[int]:
    """The cells of a set, one bit each, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def mask_of(position: Position, signs: str) -> int:
    """The cells that show one of these signs."""
    mask = 0
    for number, sign in enumerate("".join(position.rows)):
        if sign in signs:
            mask |= 1 << number
    return mask


@lru_cache(maxsize=256)
def board_of(position: Position) -> tuple[Board, State, int]:
    """A position with one player in a closed room, as a board, a state and its targets."""
    player = mask_of(position, PLAYERS)
    shape = Board(position.width, 0)
    floor = shape.flood(player, mask_of(position, OPEN + BOXES + TARGETS))
    board = Board(position.width, floor)
    boxes = mask_of(position, BOXES) & floor
    return board, State(boxes, board.flood(player, floor & ~boxes)), mask_of(position, TARGETS) & floor
