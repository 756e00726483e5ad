"""Straight lines struck through a cell, in the picture's own colours: no single pixel of them is foreign to it.

Two looks at each line, three pixels wide: pixel by pixel, by how far each is off; and as a whole, whether it is of one
colour or as in its tile, which compression hardly hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.fit import medians
from renderers.reading.foreign import most

Flags = NDArray[np.bool_]
Levels = NDArray[Any]
Numbers = NDArray[np.intp]
Way = Callable[[Levels], Levels]
"""Takes squares (…, m, m) to lines (…, L, k) of theirs."""


STRAIGHT, CROSSING, TOUCHING, THROUGH, SLACK = 0.8, 0.3, 0.175, 0.95, 0.03
"""A line is struck through a cell if it has one colour along this share of it, and is off the cell's tile along the
second share: whatever lies straight on things is shorter. Or if it is only unlike the very pixels of the tile along the
third one, where that has no such line itself: of 6,000 things in right answers that were painted, compressed or moved,
none is along more than 0.17, and of 36 strokes in small cells that went unseen otherwise 29 are. Or if it runs all
along; but a thing with lines of its own may be larger, and theirs longer by the last share."""

BRUSHING, ON_AVERAGE = 0.12, 0.32
"""The same for lines that are but half beside what lies there: the least that each of three is unlike its tile, and all
of them on average. Of 6,300 right answers none that has the first has more than 0.29 of the second."""

FAR, MUCH, RATHER = 85, 0.4, 0.27
"""A line is covered if it has one colour where its tile has others, by so many grey levels, along this share of it:
what is there differs from that colour by no more than the last share of what it differs from the tile. Compression
smears both alike. Six strokes that no pixel gave away have 0.1 to 0.2, things in 2,500 right answers 0.36 and more."""

MUCH_AROUND, RATHER_AROUND = 0.3, 0.15
"""The same of rings along a cell's border, all of which are seldom of one colour by chance."""

SHADE = 64
"""Grey levels by which a colour is another one than the ground's."""


class Lines:
    """The lines of a tile (m, m, 3) on a ground of one colour (3,), in all ways, looked at once they are asked for."""

    def __init__(self, tile: Pixels, ground: Levels) -> None:
        self.tile, self.ground = tile, ground
        self._gaps: dict[Way, Levels] = {}

    def run_along(self, way: Way, share: float, same: float) -> Flags:
        """(L,): which lines are of one colour along nearly such a share of them, and that is not the ground's."""
        if way not in self._gaps:
            self._gaps[way] = self._gaps_of(way(_planes(self.tile)))
        gaps = self._gaps[way]
        run: Flags = gaps[:, floor((share - SLACK) * gaps.shape[1])] < same
        return run

    def _gaps_of(self, lines: Levels) -> Levels:
        """(L, k): by how many grey levels the pixels of each line (3, L, k) differ from its colour, the least first."""
        colour = medians(lines)
        gaps = np.sort(np.abs(lines - colour[..., None]).max(axis=0), axis=1)
        gaps[np.abs(colour - self.ground[:, None]).max(axis=0) <= SHADE] = np.inf
        return gaps


def are_struck(drawn: Pixels, tiles: Sequence[Lines], unlike: Flags, off: Flags, same: float) -> Flags:
    """(N,): through which cells (N, m, m, 3) a straight line of one colour, give or take so many grey levels, three
    pixels wide or more, goes: where they are `unlike` their tiles, and `off` what these have around; or all along and
    away from their grounds, though nothing in the tile is so."""
    grounds = np.stack([each.ground for each in tiles])
    away = gaps_of(drawn, np.broadcast_to(grounds.astype(np.uint8)[:, None, None], drawn.shape)) > SHADE - same - 1
    shown, struck = _planes(drawn), np.zeros(len(drawn), bool)
    for way in WAYS:
        lines = way(unlike), way(off), way(away)
        crossed, touched, through = _crossed(way(shown), *lines, grounds, same)
        for cell in np.flatnonzero(_three(crossed | (touched > BRUSHING) | through).any(axis=1) & ~struck).tolist():
            found = crossed[cell]
            if touched[cell].any():
                anew = np.where(tiles[cell].run_along(way, STRAIGHT, same), 0.0, touched[cell])
                struck[cell] = (_three(anew > BRUSHING) & (sum_of_three(anew) > 3 * ON_AVERAGE)).any()
                found = found | (anew > TOUCHING)
            if through[cell].any():
                found = found | through[cell] & ~tiles[cell].run_along(way, THROUGH, same).any()
            struck[cell] |= _three(found).any()
    return struck


def are_covered(drawn: Pixels, tiles: Sequence[Lines], gaps: Pixels, rims: Flags) -> Flags:
    """(N,): of which cells (N, m, m, 3) three lines side by side are rather of one colour than as in their tiles, from
    which they differ by the gaps (N, m, m). A little of the ground at their things' `rims` (N, m, m) covers nothing."""
    shown, meant = _planes(drawn), _planes(np.stack([each.tile for each in tiles]))
    grounds, covered = np.stack([each.ground for each in tiles]), np.zeros(len(drawn), bool)
    for way, much, rather in (*((way, MUCH, RATHER) for way in WAYS), (_rings, MUCH_AROUND, RATHER_AROUND)):
        lines = way(gaps).mean(axis=2)
        cells, starts = np.nonzero(sum_of_three(lines) > 3 * much * FAR / (1 + rather))  # others are not
        if len(cells):
            seen, clean, rim = (_three_of(way(each), cells, starts) for each in (shown, meant, rims))
            far, off = _beside_one_colour(seen, clean, rim, grounds[cells].T)
            covered[cells[(far > much) & (off < rather)]] = True
    return covered


def gaps_of(cells: Pixels, tiles: Pixels) -> Pixels:
    """(N, m, m): by how many grey levels cells (N, m, m, 3) differ from their tiles."""
    tall = (np.ascontiguousarray(each).reshape(-1, each.shape[2], 3) for each in (cells, tiles))
    return most(cv2.absdiff(*tall)).reshape(cells.shape[:3])


def sum_of_three(shares: Levels) -> Levels:
    """(…, L - 2): the sums of the values (…, L), from each on, of three."""
    return shares[..., 2:] + shares[..., 1:-1] + shares[..., :-2]


def _three_of(lines: Levels, cells: Numbers, starts: Numbers) -> Levels:
    """(…, K, 3 * k): three of the lines (…, N, L, k) of some cells side by side, from each of these on."""
    return np.concatenate([lines[..., cells, starts + by, :] for by in range(3)], axis=-1)


def _beside_one_colour(shown: Levels, meant: Levels, rims: Flags, grounds: Levels) -> tuple[Levels, Levels]:
    """(K,) each: the share of what is `meant` (3, K, k) that is far from the colour which most of what is shown has,
    but for rims (K, k) where that is the ground's (3, K); and by how much what is shown differs from that colour there,
    as a share of what it differs from what is meant."""
    colour = medians(shown)
    is_ground = np.abs(colour - grounds).max(axis=0) <= SHADE
    colour = colour[..., None]
    far = (np.abs(meant - colour).max(axis=0) > FAR) & ~(rims & is_ground[:, None])
    unlike, off = (np.where(far, np.abs(shown - each).max(axis=0), 0).sum(axis=1) for each in (meant, colour))
    return far.mean(axis=1), off / np.maximum(unlike, 1)


def _crossed(
    drawn: Levels, unlike: Flags, off: Flags, away: Flags, grounds: Levels, same: float
) -> tuple[Flags, Levels, Flags]:
    """(N, L) each: which lines (3, N, L, k) are straight ones that are off the cells' tiles along a share; along which
    share straight ones are only unlike them; and which run all along, away from the ground.

    Looked at are only those, three and more side by side, that may be: unlike the tile along a share, or away from the
    ground all along, which few are, and which is soon told.
    """
    wide = np.zeros((len(unlike), unlike.shape[1] + 2), bool)
    wide[:, 2:-2] = _three((_share_along(unlike) > BRUSHING) | (_share_along(away) > THROUGH))
    cells, lines = here = np.nonzero(wide[:, 2:] | wide[:, 1:-1] | wide[:, :-2])
    colour, alike = _alike(drawn[:, cells, lines], same)
    run = _share_along(alike)
    straight = run > STRAIGHT
    crossed, through = np.zeros((2, *unlike.shape[:2]), bool)
    touched = np.zeros(unlike.shape[:2])
    crossed[here] = straight & (_share_along(alike & off[here]) > CROSSING)
    touched[here] = straight * _share_along(alike & unlike[here])
    through[here] = (run > THROUGH) & (np.abs(colour - grounds[cells].T).max(axis=0) > SHADE)
    return crossed, touched, through


def _share_along(found: Flags) -> Levels:
    """(…, L): along which share of each of the lines (…, L, k) values are true."""
    lines = np.ascontiguousarray(found).view(np.uint8).reshape(-1, found.shape[-1])
    if not len(lines):
        return np.zeros(found.shape[:-1])
    counts = cv2.reduce(lines, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)
    return np.asarray(counts.reshape(found.shape[:-1]) / found.shape[-1])


def _three(flags: Flags) -> Flags:
    """(…, L - 2): from which of the values (…, L) on three are true."""
    return flags[..., 2:] & flags[..., 1:-1] & flags[..., :-2]


def _alike(lines: Levels, same: float) -> tuple[Levels, Flags]:
    """The colour (3, L) that most of each line (3, L, k) has, and which of its pixels (L, k) have it."""
    colour = medians(lines)
    return colour, np.abs(lines - colour[..., None]).max(axis=0) < same


def _planes(picture: Pixels) -> Levels:
    """(3, …): a picture (…, 3), one channel after the other, in the numbers that are soonest sorted."""
    return np.ascontiguousarray(np.moveaxis(picture, -1, 0), np.float32)


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


def _rings(square: Levels) -> Levels:
    """(…, L, k): the rings of a square (…, m, m) along its border, the outermost first, but for its corners."""
    side = square.shape[-1]
    deep = max(3, side // 4)
    along = slice(deep, side - deep)
    sides = (square, square[..., ::-1, :], square.swapaxes(-1, -2), square[..., ::-1].swapaxes(-1, -2))
    return np.concatenate([each[..., :deep, along] for each in sides], axis=-1)


WAYS: tuple[Way, ...] = (_rows, _columns, _falling, _rising)
