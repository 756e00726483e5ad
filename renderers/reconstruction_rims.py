"""The rims of squares drawn anew: what is along their lines, where another hand need not have filled or wiped them.

A rim shows what was there before, and is about as deep all around a square. What crosses it, or lies along a part of
it, was drawn over it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import Flags
from renderers.reconstruction_anew import depth

UNLIKE = 45
"""Grey levels by which a pixel is in another colour than the middle of its square."""

DEEPER, PIXELS, ALONG = 0.05, 1.5, 7
"""Share of a square's side, and pixels besides, by which a rim may be deeper along so many pixels than most of it is.

With squares of 26, 32 and 43 pixels this is 2.8, 3.1 and 3.6; of 1,100 silhouettes, painted and perturbed, none had
more than 2.5, 2.5 and 3.0, and a stroke beside a line has 4 or more.
"""

UNEVEN = 1.0
"""Pixels by which most of a rim may be deeper than the shallower two of its sides are: a cross covers the other two."""


def deep_rims(cells: Pixels, line: int) -> Flags:
    """(K, cell, cell): the rims of squares (K, cell, cell, 3), along their sides, where they are deeper than others."""
    edge, cell = depth(cells.shape[1]), cells.shape[1]
    across, rows, starts = slice(line + edge, cell - edge), edge + 2, (line, 0, line, 0)
    other = _other(cells, slice(line + edge, cell - edge, 3))
    found = np.zeros_like(other)
    if across.stop - across.start < ALONG or not other[:, line + 1 : -1, line + 1 : -1].any():
        return found  # so small that a stroke would be most of a square, or filled up to the lines
    strips = [
        turned(other)[:, start : start + rows, across] for turned, start in zip(_SIDES, starts, strict=True)
    ]  # (K, rows, L) each
    is_deep = _are_deeper(np.stack([strip.sum(axis=1) for strip in strips], axis=1), PIXELS + DEEPER * cell)
    for number, (turned, start) in enumerate(zip(_SIDES, starts, strict=True)):
        turned(found)[:, start : start + rows, across] |= strips[number] & is_deep[:, number, None, None]
    return found


def _other(cells: Pixels, few: slice) -> Flags:
    """(K, cell, cell): the pixels of squares (K, cell, cell, 3) that are unlike a `few` in their middle."""
    middle = np.median(cells[:, few, few].reshape(len(cells), -1, 3), axis=1).astype(np.int16)
    return np.asarray(np.abs(cells - middle[:, None, None]).max(axis=3) > UNLIKE)


def _are_deeper(depths: NDArray[np.intp], limit: float) -> Flags:
    """(K, 4): which sides are so much deeper somewhere than the rims of a square mostly are, by depths (K, 4, L)."""
    shallow = np.sort(np.median(depths, axis=2), axis=1)[:, 1]
    mostly = np.minimum(np.median(depths.reshape(len(depths), -1), axis=1), shallow + UNEVEN)
    sums = np.cumsum(np.pad(depths, ((0, 0), (0, 0), (1, 0))), axis=2)
    means = (sums[:, :, ALONG:] - sums[:, :, :-ALONG]) / ALONG
    return np.asarray(means.max(axis=2) - mostly[:, None] > limit)


_SIDES: tuple[Callable[[Flags], Flags], ...] = (
    lambda square: square,
    lambda square: square[:, ::-1],
    lambda square: square.swapaxes(1, 2),
    lambda square: square.swapaxes(1, 2)[:, ::-1],
)
"""Views of squares (K, cell, cell) whose first rows are those along each of their sides."""
