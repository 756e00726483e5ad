"""Pictures that are nothing but our own drawing, as it was, compressed or moved: they show what it shows, and no more.

Our drawing is moved as the picture was, which mixes its pixels as they were mixed there. Compression keeps light, but
takes colour from blocks of pixels; so light is compared with a little around each pixel, and colour with more. That is
far stricter than any look at what another hand drew, and the quicker to tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import most
from renderers.reading.register import Floats

LARGEST = 512
"""Side at which pictures are compared, at most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a picture may differ from ours."""

    around: int  # pixels around each over which light is averaged
    light: float  # levels by which it may differ then
    rough: float  # levels by which single pixels may, in the square mean of a few
    tint: float  # levels by which tints may, averaged over blocks


STILL, MOVED = Limits(3, 20.0, 30.0, 18.0), Limits(5, 20.0, 40.0, 13.0)
"""Whoever moves a picture may mix its pixels otherwise than we do. Of right answers, those through JPEG of quality 80
have up to 18, 18 and 17, and nine of ten that were moved up to 18, 38 and 11. A stroke four pixels wide that differs by
90 levels in blue alone has a tint off by 22, in green alone by 19, in red alone by 22; and one that is as dark as the
text under it is rough."""

ROUGH, SMALLER, BLOCK = 5, 2, 4
"""Pixels around each over which squares are averaged; and tints, in a picture so many times smaller."""

PARTS, SHADE = 12, 5.0
"""And the levels by which all may differ on average in each of so many parts along a side: what is flat has the very
shade that we gave it."""

CHANGED = 0.05
"""A picture of which fewer pixels differ was not compressed, but drawn upon: JPEG of quality 95 changes 9 %."""

_BY_INVERSE = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def is_as_drawn(image: Pixels, drawn: Pixels, matrix: Floats | None = None) -> bool:
    """Whether a picture (H, W, 3) is the one that we drew (side, side, 3), give or take compression; one that moved
    lies as the matrix says."""
    if image.shape == drawn.shape:
        gap = cv2.absdiff(image, drawn)
        if not gap.any():
            return True
        if cv2.countNonZero(most(gap)) < CHANGED * drawn[..., 0].size:
            return False
    elif matrix is None:
        return False
    limits, image = STILL if matrix is None else MOVED, _reduced(image, LARGEST)
    light, clean = (cv2.cvtColor(each, cv2.COLOR_RGB2GRAY) for each in (image, _reduced(drawn, max(image.shape))))
    off = _off(light, clean, matrix)
    if _most(off, limits.around) > limits.light or _roughest(off) > limits.rough:
        return False
    small = max(image.shape) // SMALLER
    tints, clean = (cv2.cvtColor(_reduced(each, small), cv2.COLOR_RGB2YCrCb) for each in (image, drawn))
    blocks = cv2.blur(_off(tints, clean, matrix), (BLOCK, BLOCK))
    parts = cv2.resize(blocks[::BLOCK, ::BLOCK], (PARTS, PARTS), interpolation=cv2.INTER_AREA)
    return cv2.norm(parts, cv2.NORM_INF) <= SHADE and all(
        cv2.norm(cv2.extractChannel(blocks, tint), cv2.NORM_INF) <= limits.tint for tint in (1, 2)
    )


def likeness(image: Pixels, drawn: Pixels) -> float:
    """1 if a picture (h, w, 3) is the one that we drew, 0 if pixels are 128 levels off in the square mean."""
    off = float(cv2.norm(image, drawn, cv2.NORM_L2)) / math.sqrt(drawn.size)
    return max(0.0, 1 - off / 128)


def apart(tiles: Pixels, side: int, meaning: NDArray[np.intp] | None = None) -> float:
    """How many times farther the two most alike of some tiles (K, n, n, 3), in a picture of this side, are apart, in
    light or in tint, than a still picture may be from ours; those that mean the same (K,) may be alike."""
    scale = min(1.0, LARGEST / side)
    sizes = [round(part * scale * tiles.shape[1]) for part in (1, 1 / SMALLER)]
    light = [
        cv2.blur(_reduced(cv2.cvtColor(tile, cv2.COLOR_RGB2GRAY), sizes[0]), (STILL.around,) * 2).ravel()
        for tile in tiles
    ]
    tints = [
        cv2.blur(cv2.cvtColor(_reduced(tile, sizes[1]), cv2.COLOR_RGB2YCrCb), (BLOCK, BLOCK))[..., 1:].ravel()
        for tile in tiles
    ]
    soft = np.concatenate([np.stack(light) / STILL.light, np.stack(tints) / STILL.tint], axis=1).astype(np.float32)
    means = np.arange(len(tiles)) if meaning is None else meaning
    gaps = [
        np.where(means[number + 1 :] == means[number], np.inf, np.abs(soft[number + 1 :] - one).max(axis=1)).min()
        for number, one in enumerate(soft[:-1])
    ]
    return float(min(gaps))


def _reduced(picture: Pixels, side: int) -> Pixels:
    """A picture (h, w, …) with no side longer than this."""
    scale = side / max(picture.shape[:2])
    if scale >= 1:
        return picture
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))


def _off(seen: Pixels, clean: Pixels, matrix: Floats | None) -> NDArray[np.int16]:
    """By how much what is seen (h, w, …) differs from what is clean (side, side, …) and was moved: beyond that by
    nothing."""
    if matrix is not None:
        high, wide = seen.shape[:2]
        half = len(clean) / 2
        on_board = np.linalg.inv(matrix) @ np.array(
            [[2 / wide, 0, 1 / wide - 1], [0, 2 / high, 1 / high - 1], [0, 0, 1]]
        )
        way = np.array([[half, 0, half - 0.5], [0, half, half - 0.5], [0, 0, 1]]) @ on_board
        clean = np.asarray(
            cv2.warpPerspective(clean, way, (wide, high), seen.copy(), _BY_INVERSE, cv2.BORDER_TRANSPARENT)
        )
    return np.subtract(seen, clean, dtype=np.int16)


def _most(off: NDArray[np.int16], around: int) -> float:
    return cv2.norm(cv2.blur(off, (around, around)), cv2.NORM_INF)


def _roughest(off: NDArray[np.int16]) -> float:
    squares = cv2.blur(cv2.multiply(off, off, dtype=cv2.CV_32F), (ROUGH, ROUGH))
    return float(cv2.norm(squares, cv2.NORM_INF) ** 0.5)
