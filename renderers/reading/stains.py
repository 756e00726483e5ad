"""Stains: what was drawn where nothing belongs. A right position with a scribble over it is not a clean edit.

Compared are the picture as seen and the clean rendering of what was read. A pixel is stained if it differs strongly
from every clean pixel next to it, so that blur, noise and half a pixel of misplacement stain nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.cell import Cell
from gamegen.core.rendering import Picture, Pixels
from renderers.reading.colour import Drift
from renderers.reading.register import Box, Floats, Registration

MARGIN_SIDE, COARSEST = 256, 128
"""Side at which the page around the board is compared; a picture smaller than the second shows no labels to compare."""

STRONG = 90
"""Grey levels by which a stained pixel differs, in the colour where it differs most."""

OLD_CELL, NEW_CELL, FOREIGN = 0.035, 0.4, 0.05
"""Shares of a cell that may be stained: of one that should be as it was, of one drawn anew in another hand, and of that
one by colours that its symbol does not have at all."""

WINDOW, MARGIN = 10, 0.35
"""A margin is stained where so large a window is stained to so large a share: a halo round a letter is less."""


def stained_pixels(seen: Floats, clean: Floats) -> NDArray[np.bool_]:
    """(h, w): where `seen` (h, w, 3) is unlike `clean` and unlike its eight neighbours."""
    drawn, levels = (part.clip(0, 255).astype(np.uint8) for part in (seen, clean))
    low, high = _around(levels, np.minimum), _around(levels, np.maximum)
    np.maximum(low, STRONG, out=low)
    np.minimum(high, 255 - STRONG, out=high)
    strange = (drawn < low - np.uint8(STRONG)) | (drawn > high + np.uint8(STRONG))
    found: NDArray[np.bool_] = strange[..., 0] | strange[..., 1] | strange[..., 2]
    return found


def stained_cell(seen: Floats, clean: Floats, changed: NDArray[np.bool_], *, inset: int = 1) -> Cell | None:
    """The most stained of the cells (R, C, n, n, 3) that is stained too much; `changed` (R, C) are cells drawn anew."""
    rows, cols, n = seen.shape[:3]
    board = stained_pixels(_board(seen), _board(clean)).reshape(rows, n, cols, n)
    inner = board[:, inset : n - inset, :, inset : n - inset]
    share = inner.mean(axis=(1, 3)) / np.where(changed, NEW_CELL, OLD_CELL)
    for row, col in np.argwhere(changed & (share * NEW_CELL > FOREIGN)):
        odd = inner[row, :, col]
        colours = clean[row, col, ::4, ::4].reshape(-1, 3)
        drawn = seen[row, col, inset : n - inset, inset : n - inset][odd]
        away = np.abs(drawn[:, None] - colours).max(axis=2).min(axis=1)
        share[row, col] = max(share[row, col], float((away > STRONG).sum()) / odd.size / FOREIGN)
    row, col = np.unravel_index(int(share.argmax()), share.shape)
    return Cell(int(row), int(col)) if share[row, col] > 1 else None


def margin_is_stained(registration: Registration, drift: Drift, picture: Picture, box: Box) -> bool:
    """Whether something was drawn on the page around the board (`box`: left, top, right, bottom, as shares)."""
    left, top, right, bottom = box
    side = min(MARGIN_SIDE, *registration.image.size)
    if side < COARSEST:
        return False
    for band in ((0.0, 0.0, 1.0, top), (0.0, bottom, 1.0, 1.0), (0.0, top, left, bottom), (right, top, 1.0, bottom)):
        size = round(side * (band[2] - band[0])), round(side * (band[3] - band[1]))
        if min(size) < 4:
            continue
        seen = drift.undo(registration.crop(band, size))
        found = stained_pixels(seen, _part(picture, band, size)) & registration.covers(band, size)
        if _densest(found) > MARGIN:
            return True
    return False


def _densest(found: NDArray[np.bool_]) -> float:
    """The largest share of true values in any window."""
    high, wide = min(WINDOW, found.shape[0]), min(WINDOW, found.shape[1])
    sums: NDArray[np.int32] = np.pad(found.astype(np.int32).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    inside: NDArray[np.int32] = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    share: float = inside.max() / (high * wide)
    return share


def _part(picture: Picture, band: Box, size: tuple[int, int]) -> Floats:
    """A part of a clean picture, brought to this size."""
    side = picture.pixels.shape[0]
    left, top, right, bottom = (round(edge * side) for edge in band)
    image = Image.fromarray(picture.palette[picture.pixels[top:bottom, left:right]])
    return np.asarray(image.resize(size, Image.Resampling.BOX), dtype=np.float32)


def _board(cells: Floats) -> Floats:
    rows, cols, n = cells.shape[:3]
    return cells.transpose(0, 2, 1, 3, 4).reshape(rows * n, cols * n, 3)


def _around(image: Pixels, least: np.ufunc) -> Pixels:
    """The least (or largest) value of each pixel and its eight neighbours, colour by colour."""
    tall = image.copy()
    least(tall[1:], image[:-1], out=tall[1:])
    least(tall[:-1], image[1:], out=tall[:-1])
    wide = tall.copy()
    least(wide[:, 1:], tall[:, :-1], out=wide[:, 1:])
    least(wide[:, :-1], tall[:, 1:], out=wide[:, :-1])
    return wide
