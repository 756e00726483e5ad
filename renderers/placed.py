"""Boards of things that editors cut out and lay elsewhere: a little off their place, a little larger or smaller.

Where such a picture seems to have something foreign on it, it is compared once more with a clean one that shows every
new thing where, and as large as, the editor laid it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import P, Problem
from gamegen.core.rendering import Picture, Pixels, Style
from renderers.board import BoardRenderer, Seen
from renderers.laid import Fit, Look
from renderers.overdrawn import compared_tiles, overdrawn
from renderers.page import Frame
from renderers.reading.traces import AsLaid

Numbers = NDArray[np.intp]
"""(n, n): a tile, each pixel the number of a colour."""

FINE = 1024
"""Things are laid on a picture of about this side, which smooths their edges once it is made smaller again."""

MOST_COLOURS = 256
"""Colours that a picture can have."""


class PlacedRenderer(BoardRenderer[P]):
    """The renderer of a game in which things move, and whole things are drawn anew."""

    thin_marks = False

    apart: float = inf
    """By how much, where a thing is believed to lie, the cell may differ from it, as a share of what the thing differs
    from its ground; without limit where things are little more than outlines, which half a pixel moves away. Things
    for which it is limited are looked at more closely before they are refused."""

    @abstractmethod
    def ground(self, symbol: int, style: Style) -> int:
        """The symbol that a cell shows once the thing in it is taken away."""

    def looks(self, symbol: int, cell: Cell, seen: Seen, bank: Pixels) -> Sequence[Numbers]:
        """A symbol's tile in the bank (K, n, n), and others that mean the same in this cell: things mirrored, say."""
        return [bank[symbol].astype(np.intp)]

    def shown_as(self, symbols: NDArray[np.intp], seen: Seen, style: Style) -> NDArray[np.intp]:
        """(R, C): of the symbols that mean the same as these, the one that each cell looks most like."""
        return symbols

    def more_colours(self, palette: Pixels, style: Style) -> Pixels:
        """(N, 3): colours that looks may have beside those of the palette; they are numbered on."""
        return palette[:0]

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> str:
        """Things that were laid anew have nothing drawn across them, in no colour at all."""
        frame, known = seen.frame, self.encode(problem.position, style)
        tiles, shown = compared_tiles(self, style, frame), self.shown_as(symbols, seen, style)

        def looks(cell: Cell) -> Iterator[Look]:
            return (look for _, look in self._looks(int(shown[cell]), cell, seen, tiles.shape[1], style))

        cell = overdrawn(seen, known, shown, symbols != known, tiles, looks, apart=self.apart)
        if cell is not None:
            return f"cell ({cell.row}, {cell.col})"
        return super().find_stain(seen, symbols, problem, style)

    def _looks(self, symbol: int, cell: Cell, seen: Seen, n: int, style: Style) -> Iterator[tuple[Numbers, Look]]:
        """How a cell may look that shows a symbol: tiles, and the same in colours, of the size (n, n)."""
        frame = seen.frame
        own = _own_look(self, style, frame, symbol, n)
        bank = self.board(style, frame.rows, frame.cols).bank
        yield bank[symbol].astype(np.intp), own
        palette = seen.page.picture.palette
        colours = np.concatenate([palette, self.more_colours(palette, style)])
        for tile in self.looks(symbol, cell, seen, bank)[1:]:
            yield tile, Look.of(_resized(colours[tile], n), own.ground)

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
            symbol, shown = int(symbols[cell]), page[_part(frame, cell, len(page) / frame.pixels)]
            fits = [(look.fit(shown), tile) for tile, look in self._looks(symbol, cell, seen, len(shown), style)]
            fit, tile = min(fits, key=lambda each: each[0].gap)
            laid[cell] = Thing(tile, bank[self.ground(symbol, style)].astype(np.intp), fit)
        return _with_things(after.pixels, palette, laid, frame) or after


@lru_cache(maxsize=1024)
def _own_look(renderer: PlacedRenderer[P], style: Style, frame: Frame, symbol: int, n: int) -> Look:
    """That of a symbol's own tile at the size (n, n), kept for all the cells, and pictures, that show it."""
    board = renderer.board(style, frame.rows, frame.cols)
    colours = board.inks.palette(style.colours())
    return Look.of(*(_resized(colours[board.bank[each]], n) for each in (symbol, renderer.ground(symbol, style))))


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A tile, the same without the thing on it, and how the thing was laid."""

    tile: Numbers
    ground: Numbers
    fit: Fit

    def over(self, ground: Pixels, numbers: Pixels, fine: int) -> Pixels:
        """The thing on a ground (fine * n, fine * n), its colours numbered anew."""
        tile, is_thing = (
            self.fit.lay(_enlarged(each, fine), cv2.INTER_NEAREST)
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


def _resized(tile: Pixels, n: int) -> Pixels:
    return np.asarray(cv2.resize(tile, (n, n), interpolation=cv2.INTER_AREA))
