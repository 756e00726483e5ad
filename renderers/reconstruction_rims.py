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
from renderers.reading.register import Floats
from renderers.reconstruction_anew import depth

TREMBLE = 0.03
"""Share of a square's side by which a hand's rim may be deeper here than there, besides a pixel of soft edge."""

SLIVER = 0.04
"""Share of a square's side: what is thinner, or by a pixel thicker, in a rim, a trembling hand left or covered."""

FLAT = 12.0
"""Grey levels by which rows of one colour differ."""

DEEPER, PIXELS, ALONG = 0.05, 1.5, 7
"""Share of a square's side, and pixels besides, by which a rim may be deeper along so many pixels than most of it is.

With squares of 26, 32 and 43 pixels this is 2.8, 3.1 and 3.6; of 1,100 silhouettes, painted and perturbed, none had
more than 2.5, 2.5 and 3.0, and a stroke beside a line has 4 or more.
"""


def uneven_squares(cells: Pixels, line: int, loud: float) -> tuple[Flags, NDArray[np.int16]]:
    """(K,) and (K, cell, cell): which squares have several colours, and how far each pixel is from the middle's."""
    edge, cell = depth(cells.shape[1]), cells.shape[1]
    few = slice(line + edge, cell - edge, 3)
    middle = np.median(cells[:, few, few].reshape(len(cells), -1, 3), axis=1).astype(np.int16)
    away = np.abs(cells - middle[:, None, None]).max(axis=3)
    return (away[:, line + 1 : -1, line + 1 : -1] > loud).any(axis=(1, 2)), away


def streaks(cells: Floats, away: NDArray[np.int16], line: int, fills: Floats, loud: float, fringe: int) -> Flags:
    """(K, cell, cell): pixels along the sides of squares that belong to no rim.

    In a corner, where two rims meet, what was drawn anew is so on both sides, and what was there before on one.
    """
    edge, cell = depth(cells.shape[1]), cells.shape[1]
    inner = np.zeros(cell, bool)
    inner[line + edge : cell - edge] = True
    (level, level_bars), (upright, upright_bars) = (
        _along(each, gap, line, fills, loud, fringe)
        for each, gap in ((cells, away), (cells.swapaxes(1, 2), away.swapaxes(1, 2)))
    )
    upright, upright_bars = upright.swapaxes(1, 2), upright_bars.swapaxes(1, 2)
    found = np.where(inner[:, None] | inner | (away < loud), level | upright, level & upright)
    return found | level_bars | upright_bars


def _along(
    cells: Floats, away: NDArray[np.int16], line: int, fills: Floats, loud: float, fringe: int
) -> tuple[Flags, Flags]:
    """(K, cell, cell): along the level sides of squares, what is unlike the rest of its row, and rows of no rim.

    `away` (K, cell, cell) is how far each pixel is from the colour of the square's middle.
    """
    unlike, bars = np.zeros(cells.shape[:3], bool), np.zeros(cells.shape[:3], bool)
    edge = depth(cells.shape[1])
    across, thin = slice(line + edge, cells.shape[1] - edge), 1 + round(SLIVER * cells.shape[1])
    for lined, order in ((line, slice(None)), (0, slice(None, None, -1))):
        rows = slice(lined, lined + edge)
        strips = cells[:, order][:, : lined + edge]  # (K, D, cell, 3)
        usual, found = _unlike_most(strips, across, loud)
        unlike[:, order][:, rows] = _deep(found[:, lined:], thin)  # lines may be covered in part
        gaps = np.median(away[:, order][:, rows, across], axis=2)
        bars[:, order][:, rows, across] = _bars(usual[:, lined:], gaps, fills, fringe, loud)[:, :, None]
    return unlike, bars


def _deep(found: Flags, least: int) -> Flags:
    """(K, D, L): only what goes on for so many rows (K, D, L)."""
    for _ in range(least - 1):
        found = found[:, 1:] & found[:, :-1]
    for _ in range(least - 1):
        wider = np.zeros((len(found), found.shape[1] + 1, found.shape[2]), bool)
        wider[:, 1:] = found
        wider[:, :-1] |= found
        found = wider
    return found


def _unlike_most(strips: Floats, across: slice, loud: float) -> tuple[Floats, Flags]:
    """(K, D, 3) and (K, D, L): what most pixels of a row of strips (K, D, L, 3) are like, told from those `across`, and
    which are unlike that, and unlike the rows beside."""
    usual = np.median(strips[:, :, across], axis=2)
    reach = 1 + int(np.ceil(TREMBLE * strips.shape[2]))
    padded = np.pad(usual, ((0, 0), (reach, reach), (0, 0)), mode="edge")
    beside = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=1)  # (K, D, 3, W)
    low, high = beside.min(axis=3)[:, :, None], beside.max(axis=3)[:, :, None]
    return usual, np.maximum(low - strips, strips - high).max(axis=3) > loud


def _bars(usual: Floats, gaps: Floats, fills: Floats, fringe: int, loud: float) -> Flags:
    """(K, D): rows of a rim, from its line inwards, that cannot be in one.

    These are two or more alike, beyond the line's `fringe`, in a colour (K, D, 3) that no square is filled with; and
    those off the colour of the square's middle by a gap (K, D), though rows nearer to the line are not.
    """
    bars = np.zeros(gaps.shape, bool)
    off = np.abs(usual[:, fringe:, None] - fills).max(axis=3).min(axis=2) > loud  # (K, D - fringe)
    flat = np.abs(np.diff(usual[:, fringe:], axis=1)).max(axis=2) < FLAT
    pairs = off[:, 1:] & off[:, :-1] & flat
    bars[:, fringe + 1 :] |= pairs
    bars[:, fringe:-1] |= pairs
    bars[:, 1:] |= np.logical_or.accumulate(gaps < loud, axis=1)[:, :-1] & (gaps[:, 1:] > loud)
    return bars


def deep_rims(away: NDArray[np.int16], line: int, loud: float) -> Flags:
    """(K, cell, cell): the rims of squares, along their sides, where they are deeper than all around them.

    `away` (K, cell, cell) is how far each pixel is from the colour of the square's middle.
    """
    edge, cell = depth(away.shape[1]), away.shape[1]
    other, found = away > loud, np.zeros(away.shape, bool)
    across, rows = slice(line + edge, cell - edge), edge + 2
    if across.stop - across.start < ALONG:
        return found  # so small that a stroke would be most of a square
    views = [(turned(other), turned(found)) for turned in _SIDES]
    starts = (line, 0, line, 0)
    strips = [seen[:, start : start + rows, across] for (seen, _), start in zip(views, starts, strict=True)]
    depths = np.stack([strip.sum(axis=1) for strip in strips], axis=1).astype(np.float32)  # (K, 4, L)
    most = np.median(depths.reshape(len(away), -1), axis=1)
    sums = np.cumsum(np.pad(depths, ((0, 0), (0, 0), (1, 0))), axis=2)
    means = (sums[:, :, ALONG:] - sums[:, :, :-ALONG]) / ALONG
    is_deep = (means - most[:, None, None]).max(axis=2) > PIXELS + DEEPER * cell  # (K, 4)
    for number, ((_, marked), start) in enumerate(zip(views, starts, strict=True)):
        marked[:, start : start + rows, across] |= strips[number] & is_deep[:, number, None, None]
    return found


_SIDES: tuple[Callable[[Flags], Flags], ...] = (
    lambda square: square,
    lambda square: square[:, ::-1],
    lambda square: square.swapaxes(1, 2),
    lambda square: square.swapaxes(1, 2)[:, ::-1],
)
"""Views of squares (K, cell, cell) whose first rows are those along each of their sides."""
