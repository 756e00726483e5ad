"""Hues: the pixels of a board that have the colour of a mark, whatever their shade.

These are few, so they are kept as a list; everything else of the picture is looked at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.register import Floats

Layer = NDArray[np.bool_]
Numbers = NDArray[np.intp]

FAINTEST = 30.0
"""Pixels whose strongest and weakest channel differ by less have no colour."""

WASHED_OUT = 0.15
"""The least share of a mark's own colour that a pixel of its hue has: what compression leaves of a thin line."""

SAME_HUE = 0.88
"""Cosine between two colours' directions away from grey, to be called by the same name."""


@dataclass(frozen=True, slots=True, eq=False)
class Hues:
    """The pixels of a square board that have the hue of a mark, down to WASHED_OUT; the rest is not looked at again."""

    places: Numbers  # (N,): in the flat board, row by row
    names: Numbers  # (N,): the number of the mark
    share: Floats  # (N,): how much of the mark's colour there is
    pixels: Floats  # (N, 3)
    cells: Numbers  # (N,): in the flat (R, R) cells
    marks: Floats  # (K, 3)
    size: int  # R
    n: int  # pixels of a cell, down or across

    @classmethod
    def of(cls, board: Floats, marks: Floats, size: int, faintest: float) -> Hues:
        side = len(board)
        red, green, blue = cv2.split(board)
        strength = cv2.subtract(cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue))
        vivid = np.flatnonzero(strength > faintest)
        pixels = board.reshape(-1, 3)[vivid]
        likeness = from_grey(pixels) @ from_grey(marks).T  # (N, K)
        names = likeness.argmax(axis=1)
        share = strength.ravel()[vivid] / (marks.max(axis=1) - marks.min(axis=1))[names]
        named = np.flatnonzero((likeness[np.arange(len(names)), names] > SAME_HUE) & (share > WASHED_OUT))
        places, n = vivid[named], side // size
        rows, cols = np.divmod(places, side)
        return cls(places, names[named], share[named], pixels[named], rows // n * size + cols // n, marks, size, n)

    def some(self, chosen: Layer) -> Hues:
        """Those of the pixels (N,) that are chosen."""
        at = np.flatnonzero(chosen)
        parts = (part[at] for part in (self.places, self.names, self.share, self.pixels, self.cells))
        return Hues(*parts, self.marks, self.size, self.n)

    def per_cell(self, weights: Floats | None = None) -> Floats:
        """(K, R, R): how many there are in each cell of each mark's hue, or what these weigh."""
        keys, shape = self.names * self.size**2 + self.cells, (len(self.marks), self.size, self.size)
        return np.bincount(keys, weights, math.prod(shape)).reshape(shape)

    def layer(self) -> Layer:
        """(R*n, R*n): where they are."""
        side = self.size * self.n
        layer = np.zeros((side, side), bool)
        layer.reshape(-1)[self.places] = True
        return layer


def from_grey(colours: Floats) -> Floats:
    """Unit vectors from grey towards each colour (N, 3)."""
    away = colours - np.einsum("ij->i", colours)[:, None] / 3
    unit: Floats = away / np.maximum(np.sqrt(np.einsum("ij,ij->i", away, away))[:, None], 1e-9)
    return unit
