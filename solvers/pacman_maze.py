"""Pac-Man mazes: mirrored wall blocks with a corridor around each, so that nothing is ever sealed off.

Blocks of a few plain shapes are dropped on one half of the board and repeated on the other, by reflection or by half a
turn. A block is kept only if no other block lies within a king's move of it; short stubs may grow from the border.
"""

from __future__ import annotations

from collections.abc import Iterable

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import Rejected
from gamegen.core.stream import Stream
from gamegen.games.pacman import BEAN, NOTHING, PACMAN, WALL, Position, reachable, run

Spot = tuple[int, int]

_BLOCKS: tuple[tuple[Spot, ...], ...] = (
    ((0, 0), (0, 1)),
    ((0, 0), (0, 1), (0, 2)),
    ((0, 0), (0, 1), (0, 2), (0, 3)),
    ((0, 0), (0, 1), (1, 0), (1, 1)),
    ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)),
    ((0, 0), (1, 0), (1, 1)),
    ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2)),
    ((0, 0), (0, 1), (0, 2), (1, 1), (2, 1)),
    ((0, 0), (0, 1), (0, 2), (1, 1)),
)
_SMALL_BOARD = 10
"""Below this size only the blocks of up to four cells are used."""

_STUB_SHARE = 0.15


def maze(size: int, tries: int, rng: Stream) -> Position:
    """A square board of walls and beans, without Pac-Man, after so many tries to drop a block; all beans connect."""
    turned = rng.chance(0.3)
    blocks = [block for block in _BLOCKS if size >= _SMALL_BOARD or len(block) <= 4]
    walls: set[Spot] = set()
    near: set[Spot] = set()
    for _ in range(tries):
        block = _placed_stub(size, rng) if rng.chance(_STUB_SHARE) else _placed(rng.choice(blocks), size, rng)
        cells = {*block, *((size - 1 - row if turned else row, size - 1 - col) for row, col in block)}
        if near.isdisjoint(cells):
            walls |= cells
            near.update((row + down, col + right) for row, col in cells for down in (-1, 0, 1) for right in (-1, 0, 1))
    return _board(size, walls)


def _placed(block: Iterable[Spot], size: int, rng: Stream) -> list[Spot]:
    """A block in one of its eight turns, somewhere inside, a corridor away from the border."""
    if rng.chance(0.5):
        block = [(col, row) for row, col in block]
    down, right = rng.choice((1, -1)), rng.choice((1, -1))
    block = [(row * down, col * right) for row, col in block]
    top, bottom = min(row for row, _ in block), max(row for row, _ in block)
    first, last = min(col for _, col in block), max(col for _, col in block)
    row = rng.between(2 - top, size - 3 - bottom)
    col = rng.between(2 - first, size - 3 - last)
    return [(row + down, col + right) for down, right in block]


def _placed_stub(size: int, rng: Stream) -> list[Spot]:
    """One to three cells that stick out of the border."""
    length, place = rng.between(1, max(1, size // 6)), rng.between(3, size - 4)
    stub = [(1 + depth, place) for depth in range(length)]
    if rng.chance(0.5):
        stub = [(size - 1 - row, col) for row, col in stub]
    return [(col, row) for row, col in stub] if rng.chance(0.5) else stub


def _board(size: int, walls: set[Spot]) -> Position:
    rim = (0, size - 1)
    board = Position(
        tuple(
            "".join(WALL if row in rim or col in rim or (row, col) in walls else BEAN for col in range(size))
            for row in range(size)
        )
    )
    beans = board.find(BEAN)
    if len(reachable(board, beans[0])) != len(beans):
        raise Rejected("sealed pocket")
    return board


def with_trail(board: Position, start: Cell, runs: int, rng: Stream) -> Position:
    """The board after Pac-Man has come some runs from `start`: his trail is eaten, and he faces the way he came."""
    place = start
    eaten, facing = {place}, rng.choice(tuple(STEPS))
    for _ in range(runs):
        ways = {way: cells for way in STEPS if (cells := run(board, place, way))}
        facing = rng.choice(tuple(ways))
        walked = ways[facing][: rng.between(1, len(ways[facing]))]
        eaten.update(walked)
        place = walked[-1]
    return board.with_things({**dict.fromkeys(eaten, NOTHING), place: PACMAN[facing]})
