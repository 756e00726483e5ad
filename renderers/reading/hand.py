"""Whose hand: is a picture the one that was given, or was all of it drawn anew?

Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around it, everywhere in the same
way. So what was given, mixed in the way that fits best, explains nearly all of an edited picture, however bad; of
letters in another face, or lines of another width, it does not.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from renderers.reading.register import Floats

SAMPLES = 12_000
"""So many pixels, from all over a picture, tell."""


class Hand:
    """A picture (h, w, 3) as it was given, prepared for telling whether others are made of it."""

    def __init__(self, given: Floats) -> None:
        high, wide = given.shape[:2]
        grey = np.pad(given.mean(axis=2, dtype=np.float64), 1, mode="edge")
        step = max(1, high * wide // SAMPLES)
        while gcd(step, wide) > 1:
            step += 1
        self._step = step
        mixed = [
            grey[down : down + high, right : right + wide].ravel()[::step] for down in range(3) for right in range(3)
        ]
        centred = np.stack([each - each.mean() for each in mixed], axis=1)
        self._mixtures = np.ascontiguousarray(np.linalg.qr(centred)[0].T, np.float32)  # (9, pixels)

    def explains(self, seen: Floats) -> float:
        """The share of what there is to see in a picture that a mixture of neighbours in the given one explains."""
        few = seen.reshape(-1, 3)[:: self._step]
        grey = np.einsum("ij->i", few)
        grey -= grey.mean()
        along = np.einsum("ij,j->i", self._mixtures, grey)
        return float(along @ along / max(float(grey @ grey), 1e-6))
