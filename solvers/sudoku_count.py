"""Counting the completions of a sudoku grid, exactly, and drawing random full grids.

Depth first, always at an empty cell with the fewest digits left; the digits used in each row, column and box are bit
masks (bit d - 1 for digit d), and those three masks of a cell give its candidates.
"""

from __future__ import annotations

from functools import lru_cache

from gamegen.core.errors import Unsolvable
from gamegen.core.stream import Stream
from gamegen.games.sudoku import BOXES, Grid, clashes

NODE_LIMIT = 2_000_000
"""Nodes per count. The hardest published 9x9 puzzles take some ten thousand."""


@lru_cache(maxsize=8)
def where(size: int) -> tuple[tuple[int, int, int], ...]:
    """Per cell number, its row, its column and its box, as places in one list of masks; without boxes, a row again."""
    shape = BOXES[size]
    places = []
    for number in range(size * size):
        row, col = divmod(number, size)
        box = 2 * size + row // shape[0] * (size // shape[1]) + col // shape[1] if shape else row
        places.append((row, size + col, box))
    return tuple(places)


class Completions:
    """The completions of a grid, up to `limit` of them; digits are tried in rising order unless a stream is given."""

    def __init__(self, grid: Grid, *, limit: int, rng: Stream | None = None) -> None:
        self.found: list[tuple[int, ...]] = []
        self.nodes = 0
        self._size, self._where = grid.size, where(grid.size)
        self._all = (1 << grid.size) - 1
        self._limit = limit
        self._rng = rng
        if any(clashes(grid)) or max(grid.digits) > grid.size:
            return
        self._digits = list(grid.digits)
        self._used = [0] * (3 * grid.size)
        for (row, col, box), digit in zip(self._where, grid.digits, strict=True):
            bit = 1 << digit >> 1
            self._used[row] |= bit
            self._used[col] |= bit
            self._used[box] |= bit
        self._search(list(grid.empty))

    def _search(self, empty: list[int]) -> None:
        self.nodes += 1
        if self.nodes > NODE_LIMIT:
            raise Unsolvable(f"counting hit its limit of {NODE_LIMIT} nodes")
        if not empty:
            self.found.append(tuple(self._digits))
            return
        used, places, full = self._used, self._where, self._all
        fewest, number, left = 99, 0, 0
        for each in empty:
            row, col, box = places[each]
            free = full & ~(used[row] | used[col] | used[box])
            count = free.bit_count()
            if count < fewest:
                fewest, number, left = count, each, free
                if count < 2:
                    break
        if not fewest:
            return
        rest = [each for each in empty if each != number]
        row, col, box = places[number]
        before = used[row], used[col], used[box]
        bits = _bits(left)
        if self._rng and fewest > 1:
            self._rng.shuffle(bits)
        for bit in bits:
            used[row], used[col], used[box] = before[0] | bit, before[1] | bit, before[2] | bit
            self._digits[number] = bit.bit_length()
            self._search(rest)
            if len(self.found) == self._limit:
                return
        used[row], used[col], used[box] = before
        self._digits[number] = 0


def count(grid: Grid, *, limit: int = 2) -> int:
    """How many completions the grid has, counted up to `limit`."""
    return len(Completions(grid, limit=limit).found)


def completion(grid: Grid) -> Grid:
    """The only completion of the grid; raises Unsolvable if there is none or another."""
    found = Completions(grid, limit=2).found
    if len(found) != 1:
        raise Unsolvable(f"expected exactly one completion, found {'none' if not found else 'several'} of\n{grid}")
    return Grid(grid.size, found[0])


def full_grid(size: int, rng: Stream) -> Grid:
    """A random full grid. Every full grid can come; they are not all equally likely."""
    first_row = rng.shuffled(range(1, size + 1))
    start = Grid(size, (*first_row, *[0] * (size * size - size)))
    return Grid(size, Completions(start, limit=1, rng=rng).found[0])


def _bits(mask: int) -> list[int]:
    bits = []
    while mask:
        bits.append(mask & -mask)
        mask &= mask - 1
    return bits
