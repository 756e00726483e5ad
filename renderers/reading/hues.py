"""Hues: the pixels of a board that have the colour of a mark, whatever their shade.

These are few, so they are kept as a list; everything else of the picture is looked at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.register import Floats

Layer = NDArray[np.bool_]
Numbers = NDArray[np.intp]
Levels = float | Floats

FAINTEST = 30.0
"""Pixels whose strongest and weakest channel differ by less have no colour."""

WASHED_OUT = 0.15
"""The least share of a mark's own colour that a pixel of its hue has: what compression leaves of a thin line."""

SAME_HUE = 0.88
"""Cosine between two colours' directions away from grey, to be called by the same name."""


MARGIN = 2
"""Pixels beyond a cell that still count as its border: recoloured grid lines belong to both neighbours."""

LOWEST, COARSE = -50.0, 0.7
"""Undone colour drift may take levels down to the first, and as far above 255: bytes hold this share of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Where the pixels of a square board (R*n, R*n) are, each by its number in the flat board."""

    size: int  # R
    n: int
    cells: Numbers  # (pixels,): their cell, in the flat (R, R) cells
    within: Numbers  # (pixels,): their place in that cell, in the flat (n, n) pixels
    padded: Numbers  # (pixels,): their place in the flat board with MARGIN more pixels all round

    @staticmethod
    @lru_cache(maxsize=16)
    def of(size: int, n: int) -> Grid:
        cell, place = np.divmod(np.arange(size * n), n)
        cells, within = np.add.outer(cell * size, cell), np.add.outer(place * n, place)
        along = np.arange(size * n) + MARGIN
        padded = np.add.outer(along * (size * n + 2 * MARGIN), along)
        return Grid(size, n, cells.reshape(-1), within.reshape(-1), padded.reshape(-1))


@dataclass(frozen=True, eq=False)
class Hues:
    """The pixels of a square board that have the hue of a mark, down to WASHED_OUT; the rest is not looked at again."""

    places: Numbers  # (N,): in the flat board, row by row
    names: Numbers  # (N,): the number of the mark
    share: Floats  # (N,): how much of the mark's colour there is
    pixels: Floats  # (N, 3)
    cells: Numbers  # (N,): in the flat (R, R) cells
    marks: Floats  # (K, 3)
    grid: Grid

    @classmethod
    def of(cls, board: Floats, marks: Floats, size: int, faintest: Levels) -> Hues:
        """Those of a board (R*n, R*n, 3) that are more vivid than the `faintest`, one for all or for each of the marks
        (K, 3)."""
        grid = Grid.of(size, len(board) // size)
        floors = np.broadcast_to(np.asarray(faintest, np.float32), len(marks))
        vivid = _vivid(board, float(floors.min()))
        if not len(vivid):
            return cls(vivid, vivid, vivid * 0.0, np.zeros((0, 3)), vivid, marks, grid)
        pixels = board.reshape(-1, 3).take(vivid, axis=0)
        planes = np.ascontiguousarray(pixels.T)
        red, green, blue = planes
        strength = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
        grey = (red + green + blue) / 3
        away = np.sqrt((red - grey) ** 2 + (green - grey) ** 2 + (blue - grey) ** 2)
        likeness = from_grey(marks).astype(np.float32) @ planes  # (K, N), times how far from grey
        names = cv2.reduceArgMax(likeness, 0).ravel().astype(np.intp)
        best = cv2.reduce(likeness, 0, cv2.REDUCE_MAX).ravel()
        share = strength / np.ptp(marks, axis=1).astype(np.float32).take(names)
        named = np.flatnonzero((best > SAME_HUE * away) & (share > WASHED_OUT) & (strength > floors.take(names)))
        return cls(vivid, names, share, pixels, grid.cells.take(vivid), marks, grid)._at(named)

    def some(self, chosen: Layer) -> Hues:
        """Those of the pixels (N,) that are chosen."""
        return self._at(np.flatnonzero(chosen))

    def without(self, tints: Floats) -> Hues:
        """The same pixels without the tint (R*R, 3) of their cell's ground, as far as it shows through, named anew."""
        shining = np.maximum(1 - self.share, 0.0)[:, None]
        pixels = self.pixels - shining * tints.take(self.cells, axis=0).astype(np.float32)
        likeness = from_grey(pixels) @ from_grey(self.marks).T
        names = likeness.argmax(axis=1)
        share = np.ptp(pixels, axis=1) / np.ptp(self.marks, axis=1).take(names)
        named = np.flatnonzero((likeness.max(axis=1) > SAME_HUE) & (share > WASHED_OUT))
        return Hues(self.places, names, share, pixels, self.cells, self.marks, self.grid)._at(named)

    def _at(self, some: Numbers) -> Hues:
        if len(some) == len(self.places):
            return self
        places, names, cells = (part.take(some) for part in (self.places, self.names, self.cells))
        return Hues(places, names, self.share.take(some), self.pixels.take(some, axis=0), cells, self.marks, self.grid)

    @cached_property
    def counts(self) -> Floats:
        """(K, R, R): how many there are in each cell of each mark's hue."""
        return self._sums(None)

    @cached_property
    def amounts(self) -> Floats:
        """(K, R, R): how much of each mark's colour there is in each cell."""
        return self._sums(self.share)

    def _sums(self, weights: Floats | None) -> Floats:
        size = self.grid.size
        keys, shape = self.names * size**2 + self.cells, (len(self.marks), size, size)
        sums: Floats = np.bincount(keys, weights, math.prod(shape)).astype(np.float64, copy=False)
        return sums.reshape(shape)

    def layer(self) -> Layer:
        """(R*n, R*n): where they are."""
        side = self.grid.size * self.grid.n
        layer = np.zeros((side, side), bool)
        layer.reshape(-1)[self.places] = True
        return layer


def _vivid(board: Floats, faintest: float) -> Numbers:
    """(N,): the pixels of a board whose strongest and weakest channel may differ by more, and hardly any others."""
    red, green, blue = cv2.split(cv2.convertScaleAbs(board, alpha=COARSE, beta=-LOWEST * COARSE))
    strength = cv2.subtract(cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue))
    return np.flatnonzero(strength >= int(COARSE * faintest))


def from_grey(colours: Floats) -> Floats:
    """Unit vectors from grey towards each colour (N, 3)."""
    away = colours - np.einsum("ij->i", colours)[:, None] / 3
    unit: Floats = away / np.maximum(np.sqrt(np.einsum("ij,ij->i", away, away))[:, None], 1e-9)
    return unit
