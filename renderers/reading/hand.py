"""Whose hand: is a picture the one that was given, or was all of it drawn anew?

Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around it, everywhere in the same
way. So what was given, mixed in the way that fits best, explains nearly all of an edited picture, however bad; of
letters in another face, or lines of another width, it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.register import Floats

SAMPLES = 6_000
"""So many pixels, from all over a picture, tell."""

ALIKE = 1e-6
"""Of mixtures that vary by less than this share of the one that varies most, no two can be told apart."""

TINY = 1e-6
"""Squared levels, all together, below which there is nothing to see."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixing:
    """How a picture was mixed: each pixel is the sum of those around it, times the `kernel`, and the `base`."""

    kernel: Floats  # (2 * reach + 1, 2 * reach + 1)
    base: float
    explains: float  # the share of what there is to see in the picture that is explained by this


class Hand:
    """The levels (h, w) of a picture as it was given, prepared for telling whether others are made of it.

    Looked at are only the pixels `where` (h, w), the same number in each row that has any, and each may be mixed with
    those up to `reach` beside it.
    """

    def __init__(self, given: Floats, where: NDArray[np.bool_], reach: int) -> None:
        inside = np.flatnonzero(where)
        step, row = max(1, len(inside) // SAMPLES), int(np.count_nonzero(where, axis=1).max())
        while gcd(step, row) > 1:
            step += 1
        self._places = inside[::step]
        wide = where.shape[1] + 2 * reach
        levels = cv2.copyMakeBorder(given, reach, reach, reach, reach, cv2.BORDER_REPLICATE).ravel()
        corners = self._places + 2 * reach * (self._places // where.shape[1])
        ways = np.add.outer(np.arange(2 * reach + 1) * wide, np.arange(2 * reach + 1)).ravel()
        near = np.stack([levels.take(corners + way) for way in ways])  # (shifts, pixels)
        self._means = cv2.reduce(near, 1, cv2.REDUCE_AVG)
        near -= self._means
        size, axes = np.linalg.eigh(cv2.mulTransposed(near, aTa=False, dtype=cv2.CV_64F))
        apart = size > ALIKE * size[-1]
        self._units = (axes[:, apart] / np.sqrt(size[apart])).T.astype(np.float32)
        self._mixtures = cv2.gemm(self._units, near, 1.0, None, 0.0)  # (mixtures, pixels), no two alike at all

    def mixing(self, seen: Floats) -> Mixing:
        """The way in which the given picture, mixed, explains most of the levels (h, w) of another one."""
        levels = seen.ravel().take(self._places)
        mean = float(levels.mean())
        levels -= mean
        along = np.einsum("ij,j->i", self._mixtures, levels)
        ways = along @ self._units
        side = int(len(ways) ** 0.5)
        explained = float(along @ along) / max(float(levels @ levels), TINY)
        return Mixing(ways.reshape(side, side), mean - float(ways @ self._means.ravel()), explained)
