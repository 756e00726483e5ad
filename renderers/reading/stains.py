"""Stains: what was drawn where nothing belongs. A right position with a scribble over it is not a clean edit.

Compared are the picture as seen and the clean rendering of what was read. A pixel is stained if it differs strongly
from every clean pixel next to it, so that blur, noise and half a pixel of misplacement stain nothing.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.cell import Cell
from gamegen.core.rendering import Picture, Pixels
from renderers.reading.colour import Drift
from renderers.reading.register import Box, Floats, Registration
from renderers.reading.tiles import STRONG, Tiles, in_bytes, join_cells, levels_between, split_cells

MARGIN_SIDE, COARSEST = 256, 128
"""Side at which the page around the board is compared; a picture smaller than the second shows no labels to compare."""

OLD_CELL, NEW_CELL, FOREIGN = 0.035, 0.4, 0.05
"""Shares of a cell that may be stained: of one that should be as it was, of one drawn anew in another hand, and of that
one by colours that its symbol does not have at all."""

FLAT, MOSTLY = 12, 0.8
"""A tile is bare if so many of its pixels are within so many grey levels of one colour."""

WINDOW, MARGIN = 10, 0.35
"""A margin is stained where so large a window is stained to so large a share: a halo round a letter is less."""


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
    row, col = np.unravel_index(int(share.argmax()), share.shape)
    return Cell(int(row), int(col)) if share[row, col] > 1 else None


def _bare(tile: Floats) -> Floats:
    """(1, 3): the colour of a tile (n, n, 3) with nothing on it; (0, 3) if there is something on it."""
    colour: Floats = np.median(tile, axis=(0, 1))[None]
    return colour[: int((np.abs(tile - colour).max(axis=2) < FLAT).mean() > MOSTLY)]


def _over(ground: Floats, colours: Floats) -> Floats:
    """The colours, and all that they fade to where they meet the ground (1 or 0, 3)."""
    fading = [colours + share * (each - colours) for each in ground for share in (1 / 3, 2 / 3, 1)]
    return np.concatenate([colours, *fading])


class Margin:
    """The clean page around a board (`box`: left, top, right, bottom, as shares); its parts are worked out once."""

    def __init__(self, picture: Picture, box: Box) -> None:
        left, top, right, bottom = box
        self.picture = picture
        self._bands: tuple[Box, ...] = (
            (0.0, 0.0, 1.0, top), (0.0, bottom, 1.0, 1.0), (0.0, top, left, bottom), (right, top, 1.0, bottom)
        )  # fmt: skip
        self._levels: dict[int, list[tuple[Box, Pixels, Pixels]]] = {}

    def bands(self, side: int) -> list[tuple[Box, Pixels, Pixels]]:
        """The bands that are wide enough to compare on a page of this side, and their unstained levels."""
        if side not in self._levels:
            sizes = [(round(side * (band[2] - band[0])), round(side * (band[3] - band[1]))) for band in self._bands]
            self._levels[side] = [
                (band, *levels_between(_part(self.picture, band, size)))
                for band, size in zip(self._bands, sizes, strict=True)
                if min(size) >= 4
            ]
        return self._levels[side]


def margin_is_stained(
    registration: Registration, drift: Drift, margin: Margin, *, excused: NDArray[np.bool_] | None = None
) -> bool:
    """Whether something was drawn on the page around the board; what lies on `excused` pixels (H, W) is no stain."""
    side = min(MARGIN_SIDE, *registration.image.shape[:2])
    if side < COARSEST:
        return False
    for band, low, high in margin.bands(side):
        size = low.shape[1], low.shape[0]
        seen = drift.mend(registration.part(band, size))
        found = stained_pixels(seen, low, high)
        if excused is not None:
            found &= ~_pieces(excused, band, size)
        if np.count_nonzero(found) <= MARGIN * min(WINDOW, size[0]) * min(WINDOW, size[1]):
            continue  # too few for any window
        if _densest(found & registration.covers(band, size)) > MARGIN:
            return True
    return False


def _densest(found: NDArray[np.bool_]) -> float:
    """The largest share of true values in any window."""
    high, wide = min(WINDOW, found.shape[0]), min(WINDOW, found.shape[1])
    sums: NDArray[np.int32] = np.pad(found.astype(np.int32).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    inside: NDArray[np.int32] = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    share: float = inside.max() / (high * wide)
    return share


def _pieces(mask: NDArray[np.bool_], band: Box, size: tuple[int, int]) -> NDArray[np.bool_]:
    """A part of a mask of the page, brought to this size: all that any of it falls on."""
    side = mask.shape[0]
    left, top, right, bottom = (round(edge * side) for edge in band)
    part = Image.fromarray(mask[top:bottom, left:right].astype(np.uint8) * 255)
    return np.asarray(part.resize(size, Image.Resampling.BOX)) > 0


def _part(picture: Picture, band: Box, size: tuple[int, int]) -> Floats:
    """A part of a clean picture, brought to this size."""
    side = picture.pixels.shape[0]
    left, top, right, bottom = (round(edge * side) for edge in band)
    image = Image.fromarray(picture.palette[picture.pixels[top:bottom, left:right]])
    return np.asarray(image.resize(size, Image.Resampling.BOX), dtype=np.float32)
