"""Laying one picture onto another: robust Gauss-Newton steps on brightness, at the points with the strongest gradients.

This is the inverse compositional form of Lucas and Kanade's method. What was edited counts as an outlier.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

NARROW, FAIR, TIGHTEN = 14.0, 30.0, 0.6
"""The cut tightens by step, to between these two, as the errors allow."""

BLOCKS, POINTS = 12, 14
"""So many points from each of 12 x 12 parts of the picture: strong edges in one part must not drown the others."""

FLAT = 4.0
"""Slopes below this (squared grey levels a pixel) show no edge."""

STEPS = 10
"""Steps of a fit."""

SETTLED, STEADY = 2e-4, 1.05
"""A step that moves nothing by more, a twentieth of a pixel of 512, is the last, once the cut has tightened to so many
times its narrowest."""

STEEP, MANY, SOME, NEARLY = 64.0, 200, 0.35, 0.5
"""The share of points on steep slopes (squared grey levels a pixel) that, if they look just as they should, need no
fit: a third of a pixel away hardly one does, and the others may have been drawn upon. If there are not many such
points, the share of all."""

EACH_PART, OUTER, CORNER, FEWEST = 0.6, 0.6, 1 / 3, 12
"""So much of that share must be at every side of the picture, too, so far out of its middle, if there are so many
points; in all corners but one, which may have been drawn upon; and on slopes across as well as down. A board that was
tilted or stretched agrees in the middle, at one side or in two corners, and one that was moved along its lines agrees
on those lines."""

MOST_WARP = 0.2
"""How far a board may lie from where it was."""


class Template:
    """The strongest points of the known picture at one scale, with their steepest-descent vectors."""

    def __init__(self, grey: Floats, blind: NDArray[np.bool_] | None = None) -> None:
        self.side = side = grey.shape[0]
        down, across, strength = (np.zeros_like(grey) for _ in range(3))  # there are none at the edge
        down[1:-1] = (grey[2:] - grey[:-2]) / 2
        across[:, 1:-1] = (grey[:, 2:] - grey[:, :-2]) / 2
        strength[1:-1, 1:-1] = (down**2 + across**2)[1:-1, 1:-1]
        if blind is not None:
            strength[blind] = 0
        part = side // BLOCKS
        blocks = strength.reshape(BLOCKS, part, BLOCKS, part).transpose(0, 2, 1, 3).reshape(BLOCKS**2, part**2)
        count = min(POINTS, part**2)
        chosen = np.argpartition(blocks, -count, axis=1)[:, -count:]
        block = np.arange(BLOCKS**2)[:, None]
        rows = (block // BLOCKS * part + chosen // part).ravel()
        cols = (block % BLOCKS * part + chosen % part).ravel()
        rows, cols = rows[strength[rows, cols] > FLAT], cols[strength[rows, cols] > FLAT]
        x, y = (cols + 0.5) * 2 / side - 1, (rows + 0.5) * 2 / side - 1
        self.points = np.stack([x, y], axis=1)[None].astype(np.float32)  # (1, K, 2)
        self.value = grey[rows, cols].astype(np.float64)
        steep = np.flatnonzero(strength[rows, cols] > STEEP)
        self._told_by, self._needed = (steep, SOME) if len(steep) >= MANY else (np.arange(len(rows)), NEARLY)
        gx, gy = (slope[rows, cols].astype(np.float64) * side / 2 for slope in (across, down))
        is_upright = np.abs(gx) > np.abs(gy)
        left, right, above, below = x < -CORNER, x > CORNER, y < -CORNER, y > CORNER
        self._parts = self._told((x < -OUTER, x > OUTER, y < -OUTER, y > OUTER, is_upright, ~is_upright))
        self._corners = self._told((left & above, left & below, right & above, right & below))
        along = gx * x + gy * y
        ways = [gx * x, gx * y, gx, gy * x, gy * y, gy, -along * x, -along * y]
        self.descent = np.stack(ways).astype(np.float32)  # (8, K)

    def is_at(self, image: Floats, matrix: Floats) -> bool:
        """Whether enough points look as they should where the matrix sends them: nothing is to be fitted then."""
        same = (np.abs(self.look(image, matrix) - self.value) < 1.0).take(self._told_by)
        if np.count_nonzero(same) <= self._needed * len(same):
            return False
        least = EACH_PART * self._needed
        if any(np.count_nonzero(same.take(part)) <= least * len(part) for part in self._parts):
            return False
        spoilt = [corner for corner in self._corners if np.count_nonzero(same.take(corner)) <= least * len(corner)]
        return len(spoilt) <= 1

    def _told(self, parts: Iterable[NDArray[np.bool_]]) -> list[NDArray[np.intp]]:
        """Which of the points that tell are in each part, but for parts that have too few."""
        told = (np.flatnonzero(part.take(self._told_by)) for part in parts)
        return [numbers for numbers in told if len(numbers) >= FEWEST]

    def fit(self, image: Floats, matrix: Floats, free: int, cut: float, *, steps: int = STEPS) -> tuple[Floats, float]:
        """Improve the matrix in its first `free` degrees; also how alike the two pictures then are."""
        descent = self.descent[:free]
        system = np.concatenate([descent, descent[:1]])  # one product, not two: BLAS would start threads for the second
        keep = np.ones_like(self.value)
        for _ in range(steps):
            system[free], keep, narrow = residual(self.value, self.look(image, matrix), keep, cut)
            normal = ((descent * keep.astype(np.float32)) @ system.T).astype(np.float64)
            diagonal = normal.reshape(-1)[:: free + 2]
            diagonal *= 1 + 1e-6
            diagonal += 1e-9
            step = np.zeros(9)
            step[:free] = cv2.solve(normal[:, :free], normal[:, free:], flags=cv2.DECOMP_LU)[1].ravel()
            moved = matrix @ cv2.invert(_IDENTITY + step.reshape(3, 3))[1]
            moved /= moved[2, 2]
            if not np.abs(moved - _IDENTITY).max() <= 2 * MOST_WARP:  # or not a number
                break
            matrix = moved
            if np.abs(step).max() < SETTLED and cut <= STEADY * narrow:
                break
            cut = max(narrow, cut * TIGHTEN)
        return matrix, _likeness(self.value, self.look(image, matrix), keep)

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """(K,) each: how much lighter the picture gets at each point, across and down, a half of its side away."""
        return self.descent[2], self.descent[5]

    def look(self, image: Floats, matrix: Floats, points: Floats | None = None) -> Floats:
        """Brightness of the image where the matrix sends the points, or others in their place (bilinear, edges
        extended)."""
        to_image = _to_pixels(len(image)) @ matrix
        places = cv2.perspectiveTransform(self.points if points is None else points, to_image)
        seen = cv2.remap(image, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        values: Floats = seen.ravel().astype(np.float64)
        return values


_IDENTITY = np.eye(3)


@lru_cache(maxsize=16)
def _to_pixels(side: int) -> Floats:
    """(3, 3): from normalised points to the pixels of a square picture, counted from their middles."""
    half = side / 2
    return np.array([[half, 0.0, half - 0.5], [0.0, half, half - 0.5], [0.0, 0.0, 1.0]])


def residual(want: Floats, seen: Floats, keep: Floats, cut: float) -> tuple[Floats, Floats, float]:
    """Seen minus wanted after the best gain and offset, the trust in each point (Tukey), and the narrowest fair cut."""
    total = keep.sum()
    mean_seen, mean_want = keep @ seen / total, keep @ want / total
    away = seen - mean_seen
    spread = keep @ (away * away)
    gain = min(2.0, max(0.5, keep @ (away * (want - mean_want)) / spread)) if spread > 1e-9 else 1.0
    error = gain * away + mean_want - want
    narrow = min(FAIR, max(NARROW, 6 * median(np.abs(error))))
    trust = 1 - np.minimum(1.0, (error / max(cut, narrow)) ** 2)
    return error, np.maximum(trust * trust, 1e-3), narrow


def median(values: Floats) -> float:
    """The upper median of many values, quickly."""
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def medians(values: Floats) -> Floats:
    """The medians along the last axis."""
    count = values.shape[-1]
    ranked = np.sort(values, axis=-1)
    middles: Floats = (ranked[..., (count - 1) // 2] + ranked[..., count // 2]) / 2
    return middles


def _likeness(want: Floats, seen: Floats, keep: Floats) -> float:
    """Correlation on the points that are trusted, times the share of them."""
    total = keep.sum()
    a, b = want - keep @ want / total, seen - keep @ seen / total
    scale = np.sqrt((keep @ (a * a)) * (keep @ (b * b)))
    share = min(1.0, 1.6 * total / len(keep))
    return float(share * (keep @ (a * b)) / scale) if scale > 1e-9 else 0.0
