"""Cells whose border is in doubt, beside clean ones drawn with each border that they may have.

Compression keeps light and shade, but takes the colour of thin lines from blocks of many pixels: where two borders
meet, each has the colour of both, and single pixels tell nothing. A whole cell does. So it is drawn with each border,
beside its neighbours as they were read, and mixed as the picture was (see `hand.py`); what is seen of it is laid along
the ways from one to the others. A border that is there is hardly on any of them; half of one is half-way. One hand
draws all borders alike: if there are others that are plain, it is drawn as wide and as far inside as these.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from renderers.reading.fit import medians
from renderers.reading.hand import TINY, Hand
from renderers.reading.hues import Layer, Numbers
from renderers.reading.register import Floats

OPPONENT = np.array([[0.299, 0.587, 0.114], [0.5, -0.419, -0.081], [-0.169, -0.331, 0.5]], np.float32)
"""Light, and how much redder and bluer than grey: what JPEG and WebP keep apart."""

SMEARED = 5
"""Pixels over which the mean of colour is taken: compression keeps one for four, and of these no fine pattern."""

SMALLEST = 10
"""Pixels of the smallest cells that are looked at again: colour is smeared from each side into all, light is not."""

REACH = 2
"""Pixels from which mixing takes light."""

AROUND = SMEARED // 2
"""Pixels of its neighbours with which a cell is drawn."""

BEYOND = 2
"""Pixels beyond a border's width that are looked at along each side of a cell, for the grid line and for blur."""

MIDDLE = 0.25
"""Share of a cell, at its border, where borders are."""

ROUNDS = 4
"""How often cells are named anew, each beside what its neighbours were named last."""

OTHER, IN_PART = 0.26, 0.48
"""A border may be so far on its way to another, and one of its sides: of compressed right ones one in a hundred is 0.28
and the worst sides are 0.46, borders that are half of another colour are 0.5, and sides that are of another 1."""

PARTLY = 0.3
"""And each of its sides so far on its way to nothing, or to a border where there is none: bad right ones are at most
0.22, and half of a border's ink is 0.5."""

FOREIGN = 12.0
"""By how many levels, on average, colour may differ inside of a border from what is drawn there: compression takes up
to 10 in."""

FEWEST, LIGHT = 3, 40.0
"""So many borders tell what one looks like, if their light is so many levels from that of what they cover."""

OPAQUE, FULL = 0.7, 1.3
"""The share of ink that they must have to be meant, and the most that they may have: a hand's shade may be stronger."""


class Redrawn:
    """A board (R*n, R*n, 3) as it was `seen`, and clean ones (2, R*n, R*n, 3) whose cells all have a border of the
    first of the colours `marks` (K, 3), `width` pixels wide, and none."""

    def __init__(self, seen: Floats, clean: NDArray[np.uint8], marks: Floats, size: int, width: int) -> None:
        self._size, self._n = size, len(seen) // size
        self._depth = width + BEYOND
        self._marks = (marks @ OPPONENT.T).astype(np.float32)
        bordered, bare = (cv2.transform(board.astype(np.float32), OPPONENT) for board in clean)
        self._sharp = cv2.transform(seen, OPPONENT)
        mixing = self._hand(bare).mixing(np.ascontiguousarray(self._sharp[..., 0]))
        bordered, bare = (cv2.filter2D(board, -1, mixing.kernel) for board in (bordered, bare))
        bare[..., 0] += mixing.base
        bordered[..., 0] += mixing.base
        self._bare = self._tiles(bare)
        ours = (self._tiles(bordered) - self._bare)[..., 0] / _away_from(self._marks[0, 0] - self._bare[..., 0])
        self._ours = medians(np.ascontiguousarray(ours.reshape(-1, self._n, self._n).transpose(1, 2, 0)))
        self._seen = _smeared(self._sharp)

    def settle(self, colours: Numbers, doubtful: Layer) -> tuple[Numbers, Layer]:
        """The colours (R, R), -1 for none, in which doubtful cells are what they look most like; and which of these
        cells plainly are."""
        cells = np.nonzero(doubtful)
        seen = self._windows(self._seen, cells)
        none = len(self._marks)
        cover = self._cover(colours, (colours >= 0) & ~doubtful)
        named = colours.copy()
        for _ in range(ROUNDS):
            drawn = self._drawn(named, cells, cover)
            best = self._sides(((drawn - seen[:, None]) ** 2).sum(axis=4)).sum(axis=2).argmin(axis=1)
            if (named[cells] % (none + 1) == best).all():
                plainly = np.zeros(colours.shape, bool)
                plainly[cells] = self._is_plain(drawn, seen, best)
                return named, plainly
            named[cells] = np.where(best == none, -1, best)
        return colours, np.zeros(colours.shape, bool)

    def _is_plain(self, drawn: Floats, seen: Floats, best: Numbers) -> Layer:
        """(M,): which of the cells that are seen (M, n, n, 3) and drawn (M, K+1, n, n, 3) are the best of these, and
        hardly on the way to another."""
        none = len(self._marks)
        own = drawn[np.arange(len(best)), best]
        ways, beyond = drawn - own[:, None], seen - own
        along = self._sides(np.einsum("mkyxc,myxc->mkyx", ways, beyond))  # (M, K+1, 4)
        length = self._sides(np.einsum("mkyxc,mkyxc->mkyx", ways, ways))
        whole = along.sum(axis=2) / np.maximum(length.sum(axis=2), TINY)
        sides = along / np.maximum(length, TINY)
        partly = np.where(best == none, sides.max(axis=(1, 2)), sides[:, none].max(axis=1))
        plain = (whole.max(axis=1) < OTHER) & (sides.max(axis=(1, 2)) < IN_PART) & (partly < PARTLY)
        clean: Layer = plain & ((best == none) | (self._foreign(beyond) < FOREIGN))
        return clean

    def _foreign(self, beyond: Floats) -> Floats:
        """(M,): the mean by which colour is beyond (M, n, n, 3) what is drawn inside of a border."""
        inner = slice(self._depth, self._n - self._depth)
        mean: Floats = np.abs(beyond[:, inner, inner, 1:]).sum(axis=3).mean(axis=(1, 2))
        return mean

    def _cover(self, colours: Numbers, plain: Layer) -> Floats:
        """(n, n): the share of each pixel that a border covers in most of the plain cells (R, R), by their light; or
        in ours, if they are too few to tell, or so faint that they may not be meant."""
        rows, cols = np.nonzero(plain)
        if len(rows) < FEWEST:
            return self._ours
        bare = self._bare[rows, cols, ..., 0]
        way = self._marks[colours[rows, cols], 0, None, None] - bare
        tells = np.abs(way).mean(axis=(1, 2)) > LIGHT
        if np.count_nonzero(tells) < FEWEST:
            return self._ours
        seen = self._tiles(self._sharp)[rows, cols, ..., 0]
        cover = ((seen - bare) / _away_from(way))[tells]
        usual = medians(np.ascontiguousarray(cover.transpose(1, 2, 0))).clip(0.0, FULL)
        return usual if self._least_ink(usual) > OPAQUE else self._ours

    def _least_ink(self, cover: Floats) -> float:
        """The share of the middle of a border that is ink, along its faintest side."""
        corner, deep = round(MIDDLE * self._n), round(MIDDLE * self._n) + 1
        along = slice(corner, self._n - corner)
        strips = cover[:deep, along], cover[-deep:, along], cover[along, :deep].T, cover[along, -deep:].T
        return min(float(np.median(strip.max(axis=0))) for strip in strips)

    def _drawn(self, named: Numbers, cells: tuple[Numbers, ...], cover: Floats) -> Floats:
        """(M, K+1, n, n, 3): what would be seen of cells with each border, which covers such shares (n, n) of a cell,
        beside neighbours as named (R, R)."""
        size, n, count = self._size, self._n, len(self._marks) + 1
        board, share = self._bare.copy(), cover[..., None]
        rows, cols = np.nonzero(named >= 0)
        board[rows, cols] += share * (self._marks[named[rows, cols], None, None] - board[rows, cols])
        flat = board.transpose(0, 2, 1, 3, 4).reshape(size * n, size * n, 3)
        windows = np.repeat(self._windows(flat, cells, AROUND)[:, None], count, axis=1)
        bare = self._bare[cells][:, None]
        inner = windows[:, :, AROUND:-AROUND, AROUND:-AROUND]
        inner[:, :-1] = bare + share * (self._marks[:, None, None] - bare)
        inner[:, -1:] = bare
        smeared = _smeared(windows.reshape(-1, n + 2 * AROUND, 3)).reshape(windows.shape)
        return smeared[:, :, AROUND:-AROUND, AROUND:-AROUND]

    def _tiles(self, board: Floats) -> Floats:
        """(R, R, n, n, 3): the cells of a board (R*n, R*n, 3)."""
        return board.reshape(self._size, self._n, self._size, self._n, 3).transpose(0, 2, 1, 3, 4)

    def _windows(self, board: Floats, cells: tuple[Numbers, ...], around: int = 0) -> Floats:
        """(M, m, m, 3): cells of a board (R*n, R*n, 3) with so many pixels around each."""
        large = cv2.copyMakeBorder(board, around, around, around, around, cv2.BORDER_REPLICATE)
        down, across, channel = large.strides
        side = self._n + 2 * around
        shape, strides = (
            (self._size, self._size, side, side, 3),
            (down * self._n, across * self._n, down, across, channel),
        )
        return as_strided(large, shape, strides, writeable=False)[cells]

    def _sides(self, values: Floats) -> Floats:
        """(…, 4): the sums of values (…, n, n) along each side of a cell."""
        ends = slice(self._depth), slice(self._n - self._depth, None)
        strips = [values[..., end, :] for end in ends] + [values[..., end] for end in ends]
        return np.stack([strip.sum(axis=(-2, -1)) for strip in strips], axis=-1)

    def _hand(self, bare: Floats) -> Hand:
        """That of what is in the middles of cells of a board (R*n, R*n, 3) as it was given."""
        rim = round(MIDDLE * self._n)
        middle = np.zeros((self._n, self._n), bool)
        middle[rim : self._n - rim, rim : self._n - rim] = True
        light = np.ascontiguousarray(bare[..., 0])
        return Hand(light, np.tile(middle, (self._size, self._size)), REACH)


Again = Callable[[], Redrawn]
"""Draws what is needed for looking again, where that is needed."""


def confirmed(colours: Numbers, doubtful: Layer, again: Again | None) -> Layer:
    """(R, R): which of the doubtful cells, looked at again, plainly have borders of their colours (R, R)."""
    if again is None or not doubtful.any():
        return np.zeros(colours.shape, bool)
    named, plainly = again().settle(colours, doubtful)
    sure: Layer = plainly & (named == colours)
    return sure


def _away_from(way: Floats) -> Floats:
    """Ways in levels of light, none so short that a share of it says nothing."""
    long: Floats = np.where(way < 0, np.minimum(way, -LIGHT / 2), np.maximum(way, LIGHT / 2))
    return long


def _smeared(levels: Floats) -> Floats:
    """Levels (h, w, 3) as OPPONENT says, with the mean of colour over the pixels around each."""
    light, red, blue = cv2.split(levels)
    return np.asarray(cv2.merge([light, cv2.blur(red, (SMEARED, SMEARED)), cv2.blur(blue, (SMEARED, SMEARED))]))
