"""The tiles of a skin, as cells are compared with them, and what is worked out of them before any picture is seen."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats

STRONG = 90
"""Grey levels by which a stained pixel differs, in the colour where it differs most."""


class Tiles:
    """The tiles (K, n, n, 3), smoothed a little.

    `meaning[k]` is the symbol that tile k stands for (several tiles may show one symbol); `inset` pixels at a cell's
    border are left out: grid lines tell nothing.
    """

    def __init__(self, images: Floats, *, inset: int, meaning: NDArray[np.intp] | None = None) -> None:
        self.images = images
        self.inset = inset
        self.meaning = np.arange(len(images), dtype=np.intp) if meaning is None else meaning

    @property
    def inner(self) -> slice:
        """The pixels of a cell, down or across, that are compared."""
        return slice(self.inset + 1, self.images.shape[1] - self.inset - 1)

    def moved(self, down: int, right: int) -> Floats:
        """(K, pixels): the tiles' insides, so many pixels off."""
        rows, cols = (slice(self.inner.start + by, self.inner.stop + by) for by in (down, right))
        return self.images[:, rows, cols].reshape(len(self.images), -1)

    @cached_property
    def middle(self) -> Floats:
        """(K, pixels): the tiles' insides."""
        return self.moved(0, 0)

    @cached_property
    def apart(self) -> Floats:
        """(K, K): how far each tile is at least from another, also if that one is moved; inf if both mean the same."""
        gaps = distances(self.middle, self)
        return np.where(self.meaning[:, None] == self.meaning, np.inf, gaps)

    @cached_property
    def unstained(self) -> tuple[Pixels, Pixels]:
        """(K, n, n, 3) each: the lowest and highest levels that are no stain on a tile."""
        return levels_between(self.images)


def insides(cells: Floats, tiles: Tiles) -> Floats:
    """(N, pixels): what is compared of cells (…, n, n, 3)."""
    part: Floats = cells[..., tiles.inner, tiles.inner, :]
    return np.ascontiguousarray(part).reshape(-1, tiles.middle.shape[1])


def distances(wanted: Floats, tiles: Tiles) -> Floats:
    """(N, K): root mean square distance of cells' insides (N, pixels) to each tile, where it fits best."""
    own = np.einsum("ij,ij->i", wanted, wanted)[:, None]
    best = np.full((len(wanted), len(tiles.images)), np.inf)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            flat = tiles.moved(down, right)
            gap = own - 2 * wanted @ flat.T + np.einsum("ij,ij->i", flat, flat)
            np.minimum(best, gap, out=best)
    distance: Floats = np.sqrt(np.maximum(best / wanted.shape[1], 0))
    return distance


def levels_between(clean: Floats) -> tuple[Pixels, Pixels]:
    """The lowest and the highest levels, at each pixel of pictures (…, h, w, 3), that are no stain on them."""
    levels = clean.clip(0, 255).astype(np.uint8)
    low, high = _around(levels, np.minimum), _around(levels, np.maximum)
    low = np.maximum(low, STRONG) - np.uint8(STRONG)
    high = np.minimum(high, 255 - STRONG) + np.uint8(STRONG)
    return low, high


def _around(image: Pixels, least: np.ufunc) -> Pixels:
    """The least (or largest) value of each pixel (…, h, w, 3) and its eight neighbours, colour by colour."""
    tall = image.copy()
    least(tall[..., 1:, :, :], image[..., :-1, :, :], out=tall[..., 1:, :, :])
    least(tall[..., :-1, :, :], image[..., 1:, :, :], out=tall[..., :-1, :, :])
    wide = tall.copy()
    least(wide[..., 1:, :], tall[..., :-1, :], out=wide[..., 1:, :])
    least(wide[..., :-1, :], tall[..., 1:, :], out=wide[..., :-1, :])
    return wide
