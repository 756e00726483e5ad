"""Whose hand: is a picture the one that was given, or was all of it drawn anew?

Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around it, everywhere in the same
way. So what was given, mixed in the way that fits best, explains nearly all of an edited picture, however bad; of
letters in another face, or lines of another width, it does not.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from renderers.reading.register import Floats

SAMPLES = 6_000
"""So many pixels, from all over a picture, tell."""


class Hand:
    """A picture (h, w, 3) as it was given, prepared for telling whether others are made of it.

    Looked at are only the pixels `where` (h, w), the same number in each row that has any, and each may be mixed with
    those up to `reach` beside it.
    """

    def __init__(self, given: Floats, where: NDArray[np.bool_], reach: int) -> None:
        high, wide = where.shape
        step, row = max(1, int(where.sum()) // SAMPLES), int(where.sum(axis=1).max())
        while gcd(step, row) > 1:
            step += 1
        self._places = np.flatnonzero(where)[::step]
        grey = np.pad(given.mean(axis=2, dtype=np.float64), reach, mode="edge")
        shifts = [(down, right) for down in range(2 * reach + 1) for right in range(2 * reach + 1)]
        near = [grey[down : down + high, right : right + wide].ravel()[self._places] for down, right in shifts]
        centred = np.stack([each - each.mean() for each in near], axis=1)
        self._mixtures = np.ascontiguousarray(np.linalg.qr(centred)[0].T, np.float32)  # (shifts, pixels)

    def explains(self, seen: Floats) -> float:
        """The share of what there is to see in a picture (h, w, 3) that the given one, so mixed, explains."""
        red, green, blue = seen.reshape(-1, 3).take(self._places, axis=0).T
        grey = red + green + blue
        grey -= grey.mean()
        along = np.einsum("ij,j->i", self._mixtures, grey)
        return float(along @ along) / max(float(grey @ grey), 1e-6)
