"""The tiles of a skin, as cells are compared with them, and what is worked out of them before any picture is seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats

Level = TypeVar("Level", bound=np.generic)

STRONG = 90
"""Grey levels by which a stained pixel differs, in the colour where it differs most."""


GREY = np.float32(128)
"""Levels are counted from here where small differences of large sums tell: rounding, which depends on the machine, is
then half as much."""


class Tiles:
    """The tiles (K, n, n, 3), smoothed a little.

    `meaning[k]` is the symbol that tile k stands for (several tiles may show one symbol); `inset` pixels at a cell's
    border are left out: grid lines tell nothing.
    """

    def __init__(self, images: Floats, *, inset: int, meaning: NDArray[np.intp] | None = None) -> None:
        self.images = images
        self.inset = inset
        self.meaning = np.arange(len(images), dtype=np.intp) if meaning is None else meaning
        self._last: tuple[NDArray[np.intp], Floats] | None = None

    @property
    def inner(self) -> slice:
        """The pixels of a cell, down or across, that are compared."""
        return slice(self.inset + 1, self.images.shape[1] - self.inset - 1)

    @cached_property
    def middle(self) -> Floats:
        """(K, pixels): the tiles' insides."""
        part: Floats = np.ascontiguousarray(self.images[:, self.inner, self.inner], np.float32)
        return part.reshape(len(part), -1)

    @cached_property
    def moved(self) -> tuple[Floats, Floats]:
        """(9*K, pixels): the tiles' insides, each also one pixel off all round; and their squared lengths. Counted from
        grey, as those of `unmoved`."""
        ways = [slice(self.inner.start + by, self.inner.stop + by) for by in (-1, 0, 1)]
        flat = np.concatenate(
            [self.images[:, down, right].reshape(len(self.images), -1) for down in ways for right in ways]
        )
        return _with_lengths(flat.astype(np.float32) - GREY)

    @cached_property
    def unmoved(self) -> tuple[Floats, Floats]:
        """(K, pixels): the tiles' insides, and their squared lengths."""
        return _with_lengths(self.middle - GREY)

    @cached_property
    def contrast(self) -> Floats:
        """(K,): by how many grey levels, root mean square, a tile differs from its own mean colour."""
        pixels = self.middle.reshape(len(self.middle), -1, 3)
        spread: Floats = np.sqrt(pixels.var(axis=1).mean(axis=1))
        return spread

    def centred(self, numbers: NDArray[np.intp]) -> Iterator[Floats]:
        """(9, pixels) each: what these tiles are beside their mean colours, also one pixel off all round."""
        moved = self.moved[0].reshape(9, len(self.images), -1, 3)
        for number in numbers:
            yield (moved[:, number] - moved[:, number].mean(axis=1, keepdims=True)).reshape(9, -1)

    @cached_property
    def apart(self) -> Floats:
        """(K, K): how far each tile is at least from another, also if that one is moved; inf if both mean the same."""
        gaps = distances(self.middle, self)
        return np.where(self.meaning[:, None] == self.meaning, np.inf, gaps)

    def away(self, board: Floats, symbols: NDArray[np.intp]) -> Floats:
        """(R, C): root mean square distance of every cell of a board (R*n, C*n, 3) to the tile that is named for it."""
        (rows, cols), n = symbols.shape, self.images.shape[1]
        gap = cv2.subtract(np.asarray(board, np.float32), self._laid(symbols))
        cv2.multiply(gap, gap, dst=gap)
        inner = np.ascontiguousarray(gap.reshape(rows, n, cols, n, 3)[:, self.inner, :, self.inner])
        joined = inner.reshape(rows * inner.shape[1], -1, 3)
        power = cv2.resize(joined, (cols, rows), interpolation=cv2.INTER_AREA)
        distance: Floats = np.sqrt(power.reshape(rows, cols, 3).mean(axis=2))
        return distance

    def _laid(self, symbols: NDArray[np.intp]) -> Floats:
        """(R*n, C*n, 3): a board of these tiles; the last one is kept, since pictures come in groups of one problem."""
        if self._last is None or not np.array_equal(self._last[0], symbols):
            self._last = symbols.copy(), join_cells(self.images[symbols].astype(np.float32))
        return self._last[1]

    @cached_property
    def products(self) -> Floats:
        """(K, K): inner products of the tiles' insides."""
        whole = self.middle.astype(np.float64)
        return whole @ whole.T

    @property
    def sizes(self) -> Floats:
        return self.products.diagonal()

    @cached_property
    def lengths(self) -> Floats:
        """(K, K): the squared way from one tile to another."""
        ways: Floats = np.maximum(self.sizes + self.sizes[:, None] - 2 * self.products, 1e-6)
        return ways

    @cached_property
    def differ(self) -> NDArray[np.bool_]:
        """(K, K): which two tiles mean different things."""
        different: NDArray[np.bool_] = self.meaning != self.meaning[:, None]
        return different

    @cached_property
    def unstained(self) -> tuple[Pixels, Pixels]:
        """(K, n, n, 3) each: the lowest and highest levels that are no stain on a tile."""
        return levels_between(self.images)


def split_cells(board: NDArray[Level], rows: int, cols: int) -> NDArray[Level]:
    """(R*n, C*n, 3) into (R, C, n, n, 3)."""
    n = board.shape[0] // rows
    return board.reshape(rows, n, cols, n, 3).transpose(0, 2, 1, 3, 4)


def join_cells(cells: NDArray[Level]) -> NDArray[Level]:
    """The inverse of split_cells."""
    rows, cols, n = cells.shape[:3]
    return cells.transpose(0, 2, 1, 3, 4).reshape(rows * n, cols * n, 3)


def in_bytes(picture: Floats) -> Pixels:
    """A picture (h, w, 3) in whole grey levels from 0 to 255."""
    return np.asarray(cv2.add(picture, _NOTHING, dtype=cv2.CV_8U))


_NOTHING = (0.0, 0.0, 0.0, 0.0)


def insides(cells: Floats, tiles: Tiles) -> Floats:
    """(N, pixels): what is compared of cells (…, n, n, 3)."""
    part: Floats = cells[..., tiles.inner, tiles.inner, :]
    return np.ascontiguousarray(part).reshape(-1, tiles.middle.shape[1])


def _with_lengths(images: Floats) -> tuple[Floats, Floats]:
    return images, np.einsum("ij,ij->i", images, images)


def distances(wanted: Floats, tiles: Tiles, *, moved: bool = True) -> Floats:
    """(N, K): root mean square distance of cells' insides (N, pixels) to each tile, where it fits best if it may be
    `moved` by a pixel."""
    images, sizes = tiles.moved if moved else tiles.unmoved
    wanted = wanted - GREY
    gaps = sizes - 2 * (wanted @ images.T)
    best = gaps.reshape(len(wanted), -1, len(tiles.images)).min(axis=1)
    best += np.einsum("ij,ij->i", wanted, wanted)[:, None]
    distance: Floats = np.sqrt(np.maximum(best / wanted.shape[1], 0))
    return distance


def levels_between(clean: Floats) -> tuple[Pixels, Pixels]:
    """The lowest and the highest levels, at each pixel of pictures (…, h, w, 3), that are no stain on them."""
    levels = clean.clip(0, 255).astype(np.uint8)
    pictures = levels.reshape(-1, *levels.shape[-3:])
    low = np.stack([cv2.erode(picture, AROUND) for picture in pictures]).reshape(levels.shape)
    high = np.stack([cv2.dilate(picture, AROUND) for picture in pictures]).reshape(levels.shape)
    return np.maximum(low, STRONG) - np.uint8(STRONG), np.minimum(high, 255 - STRONG) + np.uint8(STRONG)


AROUND = np.ones((3, 3), np.uint8)
"""A pixel and its eight neighbours."""
