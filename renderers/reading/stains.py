"""Stains: what was drawn where nothing belongs. A right position with a scribble over it is not a clean edit.

Compared are the picture as seen and the clean rendering of what was read. A pixel is stained if it differs strongly
from every clean pixel next to it, so that blur, noise and half a pixel of misplacement stain nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats
from renderers.reading.tiles import STRONG, Tiles, in_bytes, join_cells, split_cells

OLD_CELL, NEW_CELL, FOREIGN = 0.035, 0.4, 0.05
"""Shares of a cell that may be stained: of one that should be as it was, of one drawn anew in another hand, and of that
one by colours that its symbol does not have at all."""

SEVERAL, BEYOND = 8, 2.0
"""How many cells must show the same for what is stained of half of them to be usual, and how many times that much more
of one may be: compression takes the colour of small things everywhere, but from some more than from others."""

FLAT, MOSTLY = 12, 0.8
"""A tile is bare if so many of its pixels are within so many grey levels of one colour."""

PLAIN = 100
"""Grey levels by which grid lines stand out that must still be there."""

GONE, WORN, UNWORN = 0.6, 0.35, 0.05
"""Share of its contrast that a line must have lost to be gone; what most may have lost in a bad picture, beyond which
lines tell nothing, and in a clean one."""

FEW_GONE, MANY_GONE = 2, 8
"""Pixels of lines that must be gone to tell, in a clean picture and in others."""

CUT = 4
"""Pixels of another colour that a mark of one colour may have inside."""


def stained_pixels(seen: Pixels, low: Pixels, high: Pixels) -> NDArray[np.bool_]:
    """(…, h, w): where `seen` (…, h, w, 3) is unlike a clean picture and its neighbours; see `levels_between`."""
    shape = seen.shape
    flat = (np.ascontiguousarray(each).reshape(-1, shape[-2], 3) for each in (seen, low, high))
    found: NDArray[np.bool_] = (cv2.inRange(*flat) == 0).reshape(shape[:-1])
    return found


def stained_cell(
    cells: Floats,
    tiles: Tiles,
    symbols: NDArray[np.intp],
    changed: NDArray[np.bool_],
    *,
    inset: int,
    excused: NDArray[np.bool_] | None = None,
    before: NDArray[np.intp] | None = None,
) -> Cell | None:
    """The most stained of the cells (R, C, n, n, 3) that is stained too much, if they show these tiles.

    `changed` (R, C) are cells drawn anew, and `excused` (R, C, n, n) pixels that are no stains, whatever they show.
    Nor is bare ground a stain that a cell's tile `before` (R, C) had and that its new mark leaves free.
    """
    drawn = split_cells(in_bytes(join_cells(cells)), *symbols.shape)
    stained = stained_pixels(drawn, *(each[symbols] for each in tiles.unstained))
    inner = slice(inset, cells.shape[2] - inset)
    stained = stained[:, :, inner, inner]
    if excused is not None:
        stained &= ~excused[:, :, inner, inner]
    share = np.count_nonzero(stained, axis=(2, 3)) / stained[0, 0].size / np.where(changed, NEW_CELL, OLD_CELL)
    for row, col in np.argwhere(changed & (share * NEW_CELL > FOREIGN)):
        colours = tiles.images[symbols[row, col], ::4, ::4].reshape(-1, 3)
        if before is not None:
            colours = _over(_bare(tiles.images[before[row, col]]), colours)
        odd = cells[row, col, inner, inner][stained[row, col]]
        away = np.abs(odd[:, None] - colours).max(axis=2).min(axis=1)
        share[row, col] = max(share[row, col], float((away > STRONG).sum()) / stained[row, col].size / FOREIGN)
    if share.max() > 1:
        share -= BEYOND * _usual(share, symbols, ~changed)
    row, col = np.unravel_index(int(share.argmax()), share.shape)
    return Cell(int(row), int(col)) if share[row, col] > 1 else None


def _usual(share: Floats, symbols: NDArray[np.intp], old: NDArray[np.bool_]) -> Floats:
    """(R, C): by what share half of the old cells that show the same symbol are stained, if they are several and it is
    no more than may be."""
    usual = np.zeros_like(share)
    for symbol in np.unique(symbols[old & (share > 1)]):
        same = old & (symbols == symbol)
        half = float(np.median(share[same]))
        if np.count_nonzero(same) >= SEVERAL and half <= 1:
            usual[same] = half
    return usual


def _bare(tile: Floats) -> Floats:
    """(1, 3): the colour of a tile (n, n, 3) with nothing on it; (0, 3) if there is something on it."""
    colour: Floats = np.median(tile, axis=(0, 1))[None]
    return colour[: int((np.abs(tile - colour).max(axis=2) < FLAT).mean() > MOSTLY)]


def _over(ground: Floats, colours: Floats) -> Floats:
    """The colours, and all that they fade to where they meet the ground (1 or 0, 3)."""
    fading = [colours + share * (each - colours) for each in ground for share in (1 / 3, 2 / 3, 1)]
    return np.concatenate([colours, *fading])


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The grid lines of a bare board that run one way, and stand out from it."""

    at: NDArray[np.intp]  # (L,): their rows
    start: int  # the column where they begin
    colours: NDArray[np.int16]  # (L, W, 3)
    contrast: Floats  # (L, 1): by how many grey levels they stand out

    @classmethod
    def of(cls, bare: Pixels, middle: int, grounds: NDArray[np.int16], board: tuple[slice, slice]) -> Lines:
        """The lines across the rows of a bare `board` in a picture, told from its column in the `middle` of a cell."""
        rows, cols = board
        profile = bare[rows, middle].astype(np.int16)
        contrast = np.abs(profile[:, None] - grounds).max(axis=2).min(axis=1)
        at = np.flatnonzero(contrast > PLAIN)
        plain = contrast[at, None].astype(np.float32)
        return cls(at + rows.start, cols.start, bare[at + rows.start, cols].astype(np.int16), plain)

    def gone(self, seen: Pixels) -> NDArray[np.intp]:
        """(N, 2): the places in a picture, rows and columns, where they are no more, nor a pixel beside."""
        if not len(self.at):
            return np.empty((0, 2), np.intp)
        part = seen[:, self.start : self.start + self.colours.shape[1]].astype(np.int16)
        gap = np.min([np.abs(part[self.at + by] - self.colours).max(axis=2) for by in (-1, 0, 1)], axis=0)
        lost = gap / self.contrast
        usual = float(np.quantile(lost, 0.9))
        line, col = np.nonzero(lost > max(GONE, 2 * usual))
        least = FEW_GONE if usual < UNWORN else MANY_GONE
        if usual > WORN or len(line) < least:
            return np.empty((0, 2), np.intp)
        return np.stack([self.at[line], col + self.start], axis=1)


def cut_marks(cells: Floats, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(K,): through which marks, each of one colour `inside` (n, n) their cells (K, n, n, 3), something was drawn."""
    pixels = cells[:, inside]
    gap = np.abs(pixels - pixels.mean(axis=1, keepdims=True)).max(axis=2)
    cut: NDArray[np.bool_] = np.count_nonzero(gap > STRONG, axis=1) > CUT
    return cut
