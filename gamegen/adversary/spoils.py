"""Attacks on what was to stay: one cell of the right answer is spoilt, as a careless brush or filter leaves it.

What it shows can often still be told, and all of its colours may be the picture's own; but nobody asked for it.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from gamegen.adversary.canvas import canvas, gap, picture, turned
from gamegen.adversary.copies import brought_back
from gamegen.adversary.positions import Made
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.sample import Sample
from renderers.board import BoardRenderer

LOUD, MOSTLY = 90, 0.15
"""Grey levels by which what is plainly otherwise differs, and the share of a cell that must."""

PATCH = 0.07
"""Side of what is spoilt where there is no board, as a share of the picture's."""

TRIES = 12
"""Cells that are tried, until one is found that the answer left alone."""

Spoil = Callable[[Pixels, Stream], Pixels]


def spoilt_cell(sample: Sample, rng: Stream) -> Made:
    """The answer with a cell that it left alone blurred, veiled, turned, recoloured or the like."""
    after, cell = canvas(sample).after, _cell(sample, rng)
    if cell is None:
        return None
    drawn, left = after.copy(), np.ascontiguousarray(after[cell])
    drawn[cell] = rng.choice(SPOILS)(left, rng)
    if np.count_nonzero(gap(drawn[cell], left) > LOUD) < MOSTLY * left[..., 0].size:
        return None
    return brought_back(picture(drawn), rng), False


def _cell(sample: Sample, rng: Stream) -> tuple[slice, slice] | None:
    edit, renderer = canvas(sample).edit, sample.plugin.renderer
    for _ in range(TRIES):
        if isinstance(renderer, BoardRenderer):
            frame = renderer.board(sample.style, *renderer.size(sample.problem.position)).frame
            side = frame.cell
            top, left = frame.top + rng.below(frame.rows) * side, frame.left + rng.below(frame.cols) * side
        else:
            side = round(PATCH * len(edit))
            top, left = (rng.below(len(edit) - side) for _ in range(2))
        cell = slice(top, top + side), slice(left, left + side)
        if not edit[cell].any():
            return cell
    return None


def _blurred(cell: Pixels, rng: Stream) -> Pixels:
    sigma = (0.15 + 0.25 * rng.random()) * len(cell)
    return np.asarray(cv2.GaussianBlur(cell, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE))


def _smeared(cell: Pixels, rng: Stream) -> Pixels:
    size = rng.choice(((len(cell), 1), (1, len(cell))))
    return np.asarray(cv2.blur(cell, size, borderType=cv2.BORDER_REPLICATE))


def _coarse(cell: Pixels, rng: Stream) -> Pixels:
    side = rng.choice((2, 3, 4))
    small = cv2.resize(cell, (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, cell.shape[1::-1], interpolation=cv2.INTER_NEAREST))


def _turned(cell: Pixels, rng: Stream) -> Pixels:
    return np.ascontiguousarray(np.rot90(cell, rng.between(1, 3)))


def _mirrored(cell: Pixels, rng: Stream) -> Pixels:
    return np.ascontiguousarray(np.flip(cell, rng.below(2)))


def _recoloured(cell: Pixels, rng: Stream) -> Pixels:
    return turned(cell.reshape(-1, 3), 0.2 + 0.6 * rng.random()).reshape(cell.shape)


def _shaded(cell: Pixels, rng: Stream) -> Pixels:
    return np.asarray((cell * rng.choice((0.4, 0.55, 1.6, 2.0))).clip(0, 255), np.uint8)


def _veiled(cell: Pixels, rng: Stream) -> Pixels:
    veil = np.array([rng.below(256) for _ in range(3)])
    return np.asarray(0.55 * cell + 0.45 * veil, np.uint8)


def _shrunk(cell: Pixels, rng: Stream) -> Pixels:
    side = round((0.4 + 0.3 * rng.random()) * len(cell))
    start = (len(cell) - side) // 2
    small = np.broadcast_to(_ground(cell), cell.shape).copy()
    small[start : start + side, start : start + side] = cv2.resize(cell, (side, side), interpolation=cv2.INTER_AREA)
    return small


def _exchanged(cell: Pixels, rng: Stream) -> Pixels:
    return np.roll(cell, len(cell) // 2, axis=rng.below(2))


def _slid(cell: Pixels, rng: Stream) -> Pixels:
    far = round((0.25 + 0.25 * rng.random()) * len(cell))
    return np.roll(cell, rng.choice((-far, far)), axis=rng.below(2))


def _swirled(cell: Pixels, rng: Stream) -> Pixels:
    middle = (len(cell) - 1) / 2
    down, across = np.mgrid[: len(cell), : len(cell)].astype(np.float32) - np.float32(middle)
    angle = rng.choice((-3, 3)) * (1 - np.hypot(down, across) / (len(cell) / 2)).clip(0, 1)
    cos, sin = np.cos(angle), np.sin(angle)
    ways = (across * cos - down * sin, across * sin + down * cos)
    x, y = ((middle + way).astype(np.float32) for way in ways)
    return np.asarray(cv2.remap(cell, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))


def _checkered(cell: Pixels, rng: Stream) -> Pixels:
    wide = max(2, len(cell) // rng.between(4, 8))
    down, across = np.mgrid[: len(cell), : len(cell)] // wide
    spoilt = cell.copy()
    spoilt[(down + across) % 2 == 0] = _ground(cell)
    return spoilt


def _ground(cell: Pixels) -> Pixels:
    """(3,): what most of a cell has."""
    return np.asarray(np.median(cell.reshape(-1, 3), axis=0), np.uint8)


SPOILS: tuple[Spoil, ...] = (
    _blurred, _smeared, _coarse, _turned, _mirrored, _recoloured, _shaded, _veiled, _shrunk, _exchanged, _slid,
    _swirled, _checkered,
)  # fmt: skip

ATTACKS = (spoilt_cell,)
