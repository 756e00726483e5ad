"""Whose hand: is a picture the one that was given, or was all of it drawn anew?

Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around it, everywhere in the same
way. So what was given, mixed in the way that fits best, explains nearly all of an edited picture, however bad; of
letters in another face, or lines of another width, it does not.
"""

from __future__ import annotations

from math import gcd

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.register import Floats

SAMPLES = 6_000
"""So many pixels, from all over a picture, tell."""

ALIKE = 1e-6
"""Of mixtures that vary by less than this share of the one that varies most, no two can be told apart."""


class Hand:
    """A picture (h, w, 3) as it was given, prepared for telling whether others are made of it.

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
        grey = cv2.copyMakeBorder(brightness(given), reach, reach, reach, reach, cv2.BORDER_REPLICATE).ravel()
        corners = self._places + 2 * reach * (self._places // where.shape[1])
        ways = np.add.outer(np.arange(2 * reach + 1) * wide, np.arange(2 * reach + 1)).ravel()
        near = np.stack([grey.take(corners + way) for way in ways])  # (shifts, pixels)
        near -= cv2.reduce(near, 1, cv2.REDUCE_AVG)
        size, axes = np.linalg.eigh(cv2.mulTransposed(near, aTa=False, dtype=cv2.CV_64F))
        apart = size > ALIKE * size[-1]
        unit = (axes[:, apart] / np.sqrt(size[apart])).T.astype(np.float32)
        self._mixtures = cv2.gemm(unit, near, 1.0, None, 0.0)  # (mixtures, pixels), each at right angles to the others

    def explains(self, seen: Floats) -> float:
        """The share of what there is to see in a picture's `brightness` (h, w) that the given one, mixed, explains."""
        grey = seen.ravel().take(self._places)
        grey -= grey.mean()
        along = np.einsum("ij,j->i", self._mixtures, grey)
        return float(along @ along) / max(float(grey @ grey), 1e-6)


def brightness(picture: Floats) -> Floats:
    """(h, w): the three levels of each pixel together."""
    return np.asarray(cv2.transform(picture, np.ones((1, 3), np.float32)))
