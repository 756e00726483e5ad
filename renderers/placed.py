"""Boards of things that editors cut out and lay elsewhere: a little off their place, a little larger or smaller.

Where such a picture seems to have something foreign on it, it is compared once more with a clean one that shows every
new thing where, and as large as, the editor laid it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import P, Problem
from gamegen.core.rendering import Picture, Pixels, Style
from renderers.board import BoardRenderer, Seen
from renderers.overdrawn import Look, compared_tiles, overdrawn
from renderers.page import Frame
from renderers.reading.traces import AsLaid

Numbers = NDArray[np.intp]
"""(n, n): a tile, each pixel the number of a colour."""

EDGE, MOVED, RESIZED = 0.1, 0.07, 0.06
"""Shares of a cell: what is left out at its border, and by how much a thing may be off its place or its size."""

FINE = 1024
"""Things are laid on a picture of about this side, which smooths their edges once it is made smaller again."""

MOST_COLOURS = 256
"""Colours that a picture can have."""


class PlacedRenderer(BoardRenderer[P]):
    """The renderer of a game in which things move, and whole things are drawn anew."""

    thin_marks = False

    @abstractmethod
    def ground(self, symbol: int, style: Style) -> int:
        """The symbol that a cell shows once the thing in it is taken away."""

    def looks(self, symbol: int, cell: Cell, seen: Seen, bank: Pixels) -> Sequence[Numbers]:
        """A symbol's tile in the bank (K, n, n), and others that mean the same in this cell: things mirrored, say."""
        return [bank[symbol].astype(np.intp)]

    def more_colours(self, palette: Pixels, style: Style) -> Pixels:
        """(N, 3): colours that looks may have beside those of the palette; they are numbered on."""
        return palette[:0]

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> str:
        """Things that were laid anew have nothing drawn across them, in no colour at all."""
        frame, known = seen.frame, self.encode(problem.position, style)
        tiles = compared_tiles(self, style, frame)
        looks = partial(self._looks, seen, symbols, tiles, style)
        cell = overdrawn(seen, known, symbols, symbols != known, tiles, looks)
        if cell is not None:
            return f"cell ({cell.row}, {cell.col})"
        return super().find_stain(seen, symbols, problem, style)

    def _looks(self, seen: Seen, symbols: NDArray[np.intp], tiles: Pixels, style: Style, cell: Cell) -> Iterator[Look]:
        """How a cell may look that shows one of these symbols (R, C), at the size of the tiles (K, n, n, 3)."""
        symbol, n = int(symbols[cell]), tiles.shape[1]
        own = _own_look(self, style, seen.frame, symbol)
        yield own
        board = self.board(style, seen.frame.rows, seen.frame.cols)
        palette = seen.page.picture.palette
        colours = np.concatenate([palette, self.more_colours(palette, style)])
        for look in self.looks(symbol, cell, seen, board.bank)[1:]:
            yield Look.of(np.asarray(cv2.resize(colours[look], (n, n), interpolation=cv2.INTER_AREA)), own.ground)

    def as_laid(
        self, after: Picture, seen: Seen, symbols: NDArray[np.intp], changed: NDArray[np.bool_], style: Style
    ) -> AsLaid:
        return partial(self._with_laid, after, seen, symbols, changed, style)

    def _with_laid(
        self,
        after: Picture,
        seen: Seen,
        symbols: NDArray[np.intp],
        changed: NDArray[np.bool_],
        style: Style,
        page: Pixels,
    ) -> Picture:
        """A clean picture whose things, in changed cells (R, C), are where the page (side, side, 3) shows them."""
        frame, bank = seen.frame, self.board(style, seen.frame.rows, seen.frame.cols).bank
        palette = np.concatenate([after.palette, self.more_colours(after.palette, style)])
        laid = {}
        for cell in (Cell(*place) for place in np.argwhere(changed).tolist()):
            looks = self.looks(int(symbols[cell]), cell, seen, bank)
            shown = page[_part(frame, cell, len(page) / frame.pixels)]
            fits = [_fit(palette[look], shown) for look in looks]
            best = min(range(len(fits)), key=lambda number: fits[number].gap)
            laid[cell] = Thing(looks[best], bank[self.ground(int(symbols[cell]), style)].astype(np.intp), fits[best])
        return _with_things(after.pixels, palette, laid, frame) or after


@lru_cache(maxsize=1024)
def _own_look(renderer: PlacedRenderer[P], style: Style, frame: Frame, symbol: int) -> Look:
    """That of a symbol's own tile, kept for all the cells, and pictures, that show it."""
    tiles = compared_tiles(renderer, style, frame)
    return Look.of(tiles[symbol], tiles[renderer.ground(symbol, style)])


@dataclass(frozen=True, slots=True)
class Fit:
    """How a thing was laid: by how much it differs from what is shown, its size, and where its tile begins, as shares
    of a cell."""

    gap: float
    size: float
    down: float
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A tile, the same without the thing on it, and how the thing was laid."""

    tile: Numbers
    ground: Numbers
    fit: Fit

    def over(self, ground: Pixels, numbers: Pixels, fine: int) -> Pixels:
        """The thing on a ground (fine * n, fine * n), its colours numbered anew."""
        fit, n = self.fit, fine * len(self.tile)
        half = (fit.size - 1) / 2
        way = np.array([[fit.size, 0, fit.right * n + half], [0, fit.size, fit.down * n + half]])
        tile, is_thing = (
            cv2.warpAffine(_enlarged(each, fine), way, (n, n), flags=cv2.INTER_NEAREST)
            for each in (numbers[self.tile], (self.tile != self.ground).astype(np.uint8))
        )
        return np.asarray(np.where(is_thing > 0, tile, ground), np.uint8)


def _with_things(pixels: Pixels, palette: Pixels, laid: Mapping[Cell, Thing], frame: Frame) -> Picture | None:
    """A picture, larger, with things laid on the grounds of their cells; None if it cannot have so many colours."""
    tiles = [each for thing in laid.values() for each in (thing.tile, thing.ground)]
    used = np.unique(np.concatenate([pixels.ravel(), *(tile.ravel() for tile in tiles)]))
    if len(used) > MOST_COLOURS:
        return None
    numbers = np.zeros(len(palette), np.uint8)
    numbers[used] = np.arange(len(used))
    fine = max(1, FINE // frame.pixels)
    large = _enlarged(numbers[pixels], fine)
    for cell, thing in laid.items():
        part = _part(frame, cell, fine)
        large[part] = thing.over(_enlarged(numbers[thing.ground], fine), numbers, fine)
    return Picture(large, palette[used])


def _part(frame: Frame, cell: Cell, scale: float) -> tuple[slice, slice]:
    """Where a cell is in a picture that is so many times as large."""
    top, left = frame.top + cell.row * frame.cell, frame.left + cell.col * frame.cell
    n = round(frame.cell * scale)
    top, left = round(top * scale), round(left * scale)
    return slice(top, top + n), slice(left, left + n)


def _enlarged(tile: Pixels, times: int) -> Pixels:
    return tile.repeat(times, axis=0).repeat(times, axis=1)


def _fit(tile: Pixels, shown: Pixels) -> Fit:
    """The size and place at which a tile (m, m, 3) is most like what a cell (n, n, 3) shows."""
    n = len(shown)
    edge, reach, more = (max(1, round(share * n)) for share in (EDGE, MOVED, RESIZED))
    near = edge - min(edge, reach)
    around = shown[near : n - near, near : n - near]
    fits = []
    for side in range(n - more, n + more + 1):
        start = edge + (side - n) // 2
        inner = cv2.resize(tile, (side, side), interpolation=cv2.INTER_AREA)
        inner = inner[start : start + n - 2 * edge, start : start + n - 2 * edge]
        gap, _, (right, down), _ = cv2.minMaxLoc(cv2.matchTemplate(around, inner, cv2.TM_SQDIFF))
        fits.append(Fit(gap, side / n, (near + down - start) / n, (near + right - start) / n))
    return min(fits, key=lambda fit: fit.gap)
