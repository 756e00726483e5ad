"""Waves: by how much the pixels of a picture are off what they should be where nobody drew anything.

A pixel is off if it is neither like one of the clean pixels around it, nor between two of them. Compression, blur and
drift make waves everywhere, and more of them beside what has contrast; a stroke must be beyond these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import most

Levels = NDArray[Any]
Pair = tuple[Pixels, Pixels]
"""A cell (n, n, 3) as it is seen, or several, and the tile that it is to show."""

EDGE = 0.08
"""Share of a cell, at its border, that is left out."""

FAINTEST = 40
"""Grey levels by which a pixel is off, beside what is usual around such a contrast."""

USUAL, USUAL_NEW, SMOOTH, STEEP, ENOUGH = 0.99, 0.98, 12, 48, 20
"""The quantile of pixels that is usual, in old cells and in new ones; grey levels of contrast where a tile is smooth,
and where it is steep; and how many pixels of each tell."""

OTHERS, SPARSE = 10, 5
"""About so many cells, at most, and one in so many of their pixels tell what is usual."""

BUSY, SEVERAL, HIGHEST = 0.5, 4, 0.5
"""The share of a new cell that has contrast if it tells, too, how many such cells must be, and the highest share of its
contrast that they tell."""

WORST = 60.0
"""Grey levels by which pixels are off anywhere, at most: of 2,000 right answers, painted and perturbed up to full
strength, few have 40 and one 51. Where few cells are old, what was drawn over these may seem to be usual."""

CALM = 2.0, 0.05
"""What pixels are off, everywhere and beside contrast, in a picture that was only moved a little, if at all."""


@dataclass(frozen=True, slots=True)
class Waves:
    """By how many grey levels pixels are off in a picture: everywhere, and more beside what has contrast."""

    everywhere: float
    by_contrast: float  # a share of it

    @property
    def are_none(self) -> bool:
        return self.everywhere < CALM[0] and self.by_contrast < CALM[1]

    def loud(self, contrast: Pixels) -> NDArray[np.float32]:
        """(m, m): by how many grey levels a pixel inside of a cell must be off its tile, so contrasted, to tell."""
        return np.asarray(FAINTEST + self.everywhere + self.by_contrast * contrast, np.float32)


def waves_of(old: Pair, new: Pair) -> Waves:
    """Those of a picture with these old and new cells (N, n, n, 3), each with the tile that it is to show.

    Where nothing old has contrast, because all things moved, most of the new cells tell how much it makes; not without
    limit, since all of them may be overdrawn.
    """
    off, contrast = _sampled(*old)
    flat = off[contrast < SMOOTH]
    base = min(_quantile(flat, USUAL), WORST) if len(flat) > ENOUGH else 0.0
    slopes = [_slope(*cell, base, USUAL_NEW, least=BUSY) for cell in zip(*_sampled(*new), strict=True)]
    found = [slope for slope in slopes if slope is not None]
    slope = min(float(np.median(found)), HIGHEST) if len(found) >= SEVERAL else 0.0
    return Waves(base, max(_slope(off, contrast, base, USUAL) or 0.0, slope, 0.0))


def _sampled(shown: Pixels, tiles: Pixels) -> tuple[Levels, Levels]:
    """(K, S) each: by how many grey levels some pixels inside of some of the cells (N, n, n, 3) are off, and the
    contrast there."""
    some = slice(None, None, 1 + len(shown) // OTHERS)
    shown, tiles = shown[some], tiles[some]
    if not len(shown):
        return np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32)
    contrast = np.stack([contrast_of(tile) for tile in tiles])
    side = contrast.shape[1]
    rows, cols = np.divmod(np.arange(0, side * side, SPARSE), side)
    edge, cells = (tiles.shape[1] - side) // 2, np.arange(len(tiles)).repeat(len(rows))
    places = cells, np.tile(rows + edge, len(tiles)), np.tile(cols + edge, len(tiles))
    return off_at(shown, tiles, places).reshape(len(tiles), -1), contrast[:, rows, cols]


def _slope(off: Levels, contrast: Levels, base: float, usual: float, *, least: float = 0.0) -> float | None:
    """How much more a quantile of the pixels is off beside contrast, as a share of it; None if hardly any have it, or
    less than a share of them."""
    steep = contrast >= STEEP
    if np.count_nonzero(steep) < max(ENOUGH, least * steep.size):
        return None
    return _quantile((off[steep] - np.float32(base)) / contrast[steep], usual)


def _quantile(values: Levels, share: float) -> float:
    """That of a few values, as numpy has it, but sooner."""
    low, between = divmod(np.float32(share) * (len(values) - 1), 1)
    below, above = np.partition(values, (int(low), min(int(low) + 1, len(values) - 1)))[int(low) :][:2]
    return float(below + between * (above - below))


def off_at(shown: Pixels, tiles: Pixels, places: tuple[NDArray[np.intp], ...]) -> NDArray[np.float32]:
    """(N,): by how many grey levels pixels of cells (K, n, n, 3), at some places, are off all that their tiles have
    around, and off mixtures of two such colours."""
    n, flat = tiles.shape[1], tiles.reshape(-1, 3)
    at = (places[0] * n + places[1]) * n + places[2]
    drawn = shown.reshape(-1, 3).take(at, axis=0)
    off, differs = np.zeros(len(at), np.float32), np.flatnonzero((drawn != flat.take(at, axis=0)).any(axis=1))
    near = flat.take(_AROUND @ (n, 1) + at[differs, None], axis=0)  # (M, 9, 3)
    off[differs] = _off_mixtures(*(each.T.astype(np.float32, order="C") for each in (drawn[differs], near)))
    return off


def _off_mixtures(drawn: Levels, near: Levels) -> Levels:
    """(M,): by how many grey levels colours (3, M) are off all mixtures of those (3, 9, M) of a pixel and its
    neighbours. Large arrays cost more to make than to fill, so each is used for what comes next."""
    one, way = near.take(_ONE, axis=1), near.take(_OTHER, axis=1)  # (3, pairs, M)
    way -= one
    left = np.subtract(drawn[:, None], one, out=one)
    share, length = np.einsum("ckm,ckm->km", left, way), np.einsum("ckm,ckm->km", way, way)
    share /= np.maximum(length, 1, out=length)
    way *= share.clip(0, 1, out=share)
    left -= way
    off: Levels = np.abs(left, out=left).max(axis=0).min(axis=0)
    return off


_AROUND = np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1], indexing="ij"), axis=2).reshape(9, 2)
"""The steps down and to the right from a pixel to itself and its eight neighbours, row by row."""

_ONE, _OTHER = np.array([[4, other] for other in range(9) if other != 4] + [[0, 8], [1, 7], [2, 6], [3, 5]]).T
"""Two of a pixel and its eight neighbours: it and each of these, and those opposite to each other."""

BLOCK = np.ones((9, 9), np.uint8)
"""A pixel and those to which compression carries its edges."""


def contrast_of(tile: Pixels) -> Pixels:
    """(m, m): by how many grey levels what a tile (n, n, 3) has around each pixel inside differs."""
    return most(inside(cv2.subtract(cv2.dilate(tile, BLOCK), cv2.erode(tile, BLOCK))))


def inside(cell: Pixels) -> Pixels:
    """A cell (n, n, …) without its border."""
    edge = max(1, round(EDGE * len(cell)))
    return np.ascontiguousarray(cell[edge : len(cell) - edge, edge : len(cell) - edge])
