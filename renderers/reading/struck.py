"""Straight lines struck through a cell, in the picture's own colours: no single pixel of them is foreign to it.

Two looks at each line, three pixels wide: pixel by pixel, by how far each is off; and as a whole, whether it is of one
colour or as in its tile, which compression hardly hides.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.fit import medians
from renderers.reading.foreign import most

Flags = NDArray[np.bool_]
Levels = NDArray[Any]

STRAIGHT, CROSSING, TOUCHING, THROUGH, SLACK = 0.8, 0.3, 0.18, 0.95, 0.03
"""A line is struck through a cell if it has one colour along this share of it, and is off the cell's tile along the
second share: whatever lies straight on things is shorter. Or if it is only unlike the very pixels of the tile along the
third one, where that has no such line itself: of 6,000 things in right answers that were painted, compressed or moved,
none is along more than 0.17, and of 36 strokes in small cells that went unseen otherwise 29 are. Or if it runs all
along; but a thing with lines of its own may be larger, and theirs longer by the last share."""

FAR, MUCH, RATHER = 85, 0.4, 0.27
"""A line is covered if it has one colour where its tile has others, by so many grey levels, along this share of it:
what is there differs from that colour by no more than the last share of what it differs from the tile. Compression
smears both alike. Six strokes that no pixel gave away have 0.1 to 0.2, things in 2,500 right answers 0.36 and more."""

SHADE = 64
"""Grey levels by which a colour is another one than the ground's."""


def is_struck(drawn: Pixels, tile: Pixels, unlike: Flags, off: Flags, ground: Levels, same: float) -> bool:
    """Whether a straight line of one colour, give or take so many grey levels, three pixels wide or more, goes through
    a cell (m, m, 3): where it is `unlike` its tile, and `off` what that has around; or all along and away from the
    ground (3,), though nothing in the tile is so."""
    away = most(cv2.absdiff(drawn, np.full_like(drawn, ground))) > SHADE - same - 1
    return any(
        _may_be_struck(way(unlike), way(away))
        and _are_struck(way(_planes(drawn)), way(_planes(tile)), way(unlike), way(off), ground, same)
        for way in (_rows, _columns, _falling, _rising)
    )


def is_covered(drawn: Pixels, tile: Pixels) -> bool:
    """Whether three lines side by side of a cell (m, m, 3) are rather of one colour than as in its tile."""
    gap = most(cv2.absdiff(drawn, tile))
    for way in (_rows, _columns, _falling, _rising):
        lines = way(gap).mean(axis=1)
        may_be = np.flatnonzero(lines[2:] + lines[1:-1] + lines[:-2] > 3 * MUCH * FAR / (1 + RATHER))  # else it is not
        if len(may_be) and _are_covered(way(_planes(drawn)), way(_planes(tile)), may_be):
            return True
    return False


def _are_covered(drawn: Levels, tile: Levels, starts: NDArray[np.intp]) -> bool:
    """Whether three of the lines (3, L, k) side by side are, from one of these on."""
    shown, meant = (np.concatenate([each[:, starts + by] for by in range(3)], axis=2) for each in (drawn, tile))
    colour = medians(shown)[..., None]
    far = np.abs(meant - colour).max(axis=0) > FAR  # (K, 3 * k)
    unlike, off = (np.where(far, np.abs(shown - each).max(axis=0), 0).sum(axis=1) for each in (meant, colour))
    return bool(((far.mean(axis=1) > MUCH) & (off < RATHER * unlike)).any())


def _may_be_struck(unlike: Flags, away: Flags) -> bool:
    """Whether three of the lines (L, k) side by side may be: unlike the tile along a share, or away from the ground all
    along, which few are, and which is soon told."""
    crossing, through = (
        np.count_nonzero(each, axis=1) > share * each.shape[1] for each, share in ((unlike, TOUCHING), (away, THROUGH))
    )
    return _three(crossing | through)


def _are_struck(drawn: Levels, tile: Levels, unlike: Flags, off: Flags, ground: Levels, same: float) -> bool:
    """Whether three of the lines (3, L, k) side by side are struck through; `unlike` and `off` are (L, k)."""
    colour, alike = _alike(drawn, same)
    own = _run_through(*_alike(tile, same), ground, STRAIGHT - SLACK)
    struck = ((alike & off).mean(axis=1) > CROSSING) | ((alike & unlike).mean(axis=1) > TOUCHING) & ~own
    struck &= alike.mean(axis=1) > STRAIGHT
    if not own.any():
        struck |= _run_through(colour, alike, ground, THROUGH)
    return _three(struck)


def _three(flags: Flags) -> bool:
    return bool((flags[2:] & flags[1:-1] & flags[:-2]).any())


def _alike(lines: Levels, same: float) -> tuple[Levels, Flags]:
    """The colour (3, L) that most of each line (3, L, k) has, and which of its pixels (L, k) have it."""
    colour = medians(lines)
    return colour, np.abs(lines - colour[..., None]).max(axis=0) < same


def _run_through(colour: Levels, alike: Flags, ground: Levels, share: float) -> Flags:
    """(L,): which lines are of one colour along such a share, and that is not the ground's."""
    through: Flags = (alike.mean(axis=1) > share) & (np.abs(colour - ground[:, None]).max(axis=0) > SHADE)
    return through


def _planes(picture: Pixels) -> Levels:
    """(3, m, m): a picture (m, m, 3), one channel after the other."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1)).astype(np.int16)


def _rows(square: Levels) -> Levels:
    """(…, m, m): those of a square (…, m, m)."""
    return square


def _columns(square: Levels) -> Levels:
    return square.swapaxes(-1, -2)


def _falling(square: Levels) -> Levels:
    """(…, 3, m - 1): the diagonal of a square (…, m, m), and those beside it."""
    shorter = square.shape[-1] - 1
    beside = (np.diagonal(square, offset, axis1=-2, axis2=-1)[..., :shorter] for offset in (-1, 0, 1))
    return np.stack(list(beside), axis=-2)


def _rising(square: Levels) -> Levels:
    return _falling(square[..., ::-1, :])
