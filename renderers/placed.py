"""Boards of things that editors cut out and lay elsewhere: a little off their place, a little larger or smaller.

Where such a picture seems to have something foreign on it, it is compared once more with a clean one that shows every
new thing where, and as large as, the editor laid it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import P, Problem
from gamegen.core.rendering import Picture, Pixels, Style
from renderers.board import BoardRenderer, Seen, smooth_tiles
from renderers.page import Frame
from renderers.reading.stains import stained_cell
from renderers.reading.traces import SIDE, WHOLE, find_traces

EDGE, MOVED, RESIZED = 0.1, 0.07, 0.06
"""Shares of a cell: what is left out at its border, and by how much a thing may be off its place or its size."""

FINE = 1024
"""Things are laid on a picture of about this side, which smooths their edges once it is made smaller again."""

Fit = tuple[float, float, float, float]
"""Of a thing: how badly it fits, its size, and where it begins, down and right; in shares of a cell."""

Looks = Callable[[Cell, Pixels], Sequence[Pixels]]
"""Tiles (n, n) that a cell may as well show as its own."""


class PlacedRenderer(BoardRenderer[P]):
    """The renderer of a game in which things move, and whole things are drawn anew."""

    def looks(self, symbol: str, tile: Pixels) -> Sequence[Pixels]:
        """The tile (n, n) of a symbol, and others that mean the same: things mirrored, say."""
        return [tile]

    def redrawn(self, after: Picture, seen: Seen, style: Style) -> Picture:
        """A clean picture with things as an editor draws them who was never shown ours."""
        return after

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> str:
        stain = super().find_stain(seen, symbols, problem, style)
        if not stain:
            return ""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known = self.encode(problem.position, style)
        changed = symbols != known
        if stained_cell(seen.cells, tiles, symbols, changed, inset=tiles.inset, before=known) is not None:
            return stain
        names = self.symbols(style)
        after = self.redrawn(self.render(self.decode(symbols, problem, style), style), seen, style)
        after = _placed(after, seen, changed, lambda cell, tile: self.looks(names[symbols[cell]], tile))
        own = self.own_colours(style)
        return find_traces(seen.registration, seen.drift, seen.page, after, changed, own_colours=own)


def _placed(after: Picture, seen: Seen, changed: NDArray[np.bool_], looks: Looks) -> Picture:
    """A clean picture whose things, in changed cells (R, C), are where an editor laid them."""
    frame: Frame = seen.frame
    side = min(SIDE, *seen.registration.image.shape[:2])
    page, scale = seen.drift.mend(seen.registration.part(WHOLE, (side, side))), side / frame.pixels
    fine = max(1, FINE // frame.pixels)
    pixels = after.pixels.repeat(fine, axis=0).repeat(fine, axis=1)
    for cell in (Cell(*place) for place in np.argwhere(changed).tolist()):
        top, left = frame.top + cell.row * frame.cell, frame.left + cell.col * frame.cell
        part = slice(top, top + frame.cell), slice(left, left + frame.cell)
        corner, n = (round(top * scale), round(left * scale)), round(frame.cell * scale)
        shown = page[corner[0] : corner[0] + n, corner[1] : corner[1] + n]
        tiles = looks(cell, after.pixels[part])
        fits = [_fit(after.palette[tile], shown) for tile in tiles]
        best = min(range(len(fits)), key=lambda number: fits[number][0])
        large = tuple(slice(fine * each.start, fine * each.stop) for each in part)
        pixels[large] = _moved(tiles[best].repeat(fine, axis=0).repeat(fine, axis=1), fits[best])
    return Picture(pixels, after.palette)


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
        bad, _, (right, down), _ = cv2.minMaxLoc(cv2.matchTemplate(around, inner, cv2.TM_SQDIFF))
        fits.append((bad, side / n, (near + down - start) / n, (near + right - start) / n))
    return min(fits)


def _moved(tile: Pixels, fit: Fit) -> Pixels:
    """A tile (n, n) in another size, at another place; its border, with the lines there, stays."""
    _, size, down, right = fit
    n, half, rim = len(tile), (size - 1) / 2, max(1, round(EDGE * len(tile) / 3))
    way = np.array([[size, 0, right * n + half], [0, size, down * n + half]])
    inner = slice(rim, n - rim)
    moved = tile.copy()
    moved[inner, inner] = cv2.warpAffine(tile, way, (n, n), flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)[
        inner, inner
    ]
    return moved
