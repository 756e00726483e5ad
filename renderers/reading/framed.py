"""Cells with borders beside one another: what one of them shows besides its contents and a border like the others'.

One hand draws all borders alike. So the share of border in each pixel of a cell is about what it is in most cells at
that place, or beside it; all the rest is what was in the cell before. A cross over a cell, a bar through its border or
a side that is missing is neither, in whatever colour it is drawn: in the border's own, in that of the contents, or in
the ground's. Light is looked at closely, colour only around each pixel, since compression smears it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.fit import medians
from renderers.reading.foreign import without_hairs
from renderers.reading.hues import Layer
from renderers.reading.redrawn import OPPONENT
from renderers.reading.register import Floats

Levels = NDArray[np.float32]

EDGE = 2
"""Pixels at the edge of a cell that are not looked at: grid lines are there, and what bleeds in from next door."""

NEAR = np.ones((3, 3), np.uint8)
"""The pixels by which a border may be elsewhere than in other cells: hands tremble by 0.03 of a cell."""

SLACK = 0.2
"""By how much more or less of a pixel it may cover."""

SOME, FULL = 0.25, 1.4
"""Where others cover so much of a pixel, or of one beside it, a border may cover all: thin ones lie between pixels. The
shade of thin ones is told from pixels that they do not quite fill: those that they do are farther from the ground."""

BRIGHTEST = 255.0
"""The light of what takes nothing from an ink that is drawn over it."""

SURE = 0.6
"""The share of a pixel that it must cover, at most, where other borders cover all of it."""

DEEPEST = 0.25
"""Share of a cell, at its edge, where a border may be if too few others tell."""

LACKING, CORNER = 0.35, 0.2
"""Share of the ink of others below which a side is missing; trembling, smeared ones have 0.5 and more. And the share of
a side, at both ends, that is the corner.
"""

PARED, THINNED = 0.72, 0.42
"""Shares of the colour of others below which a border, as a whole, and the thinnest of its sides were drawn over: boxes
over all of it in a colour that is as light leave up to 0.68 and 0.36. Of 14,500 right ones, compressed, blurred or
painted, few have 0.7 and few one side with 0.45, but none had less than 0.75 with less than 0.5.
"""

FINEST = 20
"""Pixels of the smallest cells whose borders' colour tells that: in smaller ones it is smeared into the neighbours',
and lines of one pixel are now seen in full and now by a third."""

FEWEST = 3
"""So many borders tell what one looks like, even if one of them was drawn upon."""

LOUD = ((0.999, 30.0, 25.0), (0.975, 50.0, 40.0), (0.0, 60.0, 50.0))
"""Levels of light and of colour by which a pixel is otherwise than it may be, in pictures of which what was given,
mixed, explains so much: those that were not even compressed are looked at closely."""

PLAIN = 60.0
"""Levels of light between a border and what is under it from which on light tells how much of a pixel it covers, and
colour must agree: a grey as dark as half a border is none."""

HALF_HIDDEN, SMEARED = 40.0, 35.0
"""The same where borders may be, at least: their edges hide halves of pixels, and their colour is smeared. By 30 levels
of colour, compressed right answers have 0.2 of a side of such pixels at most, by 25 some have 0.8."""

GLANCE = (30.0, 25.0)
"""The same, wherever they are, in cells that are worth a closer look: a box that hides but the edge of a border, or a
thin line in its colour, had 1.4 of a side of such pixels and more; at 512 px, right answers that nobody sharpened
hardly ever have 0.3."""

STROKE = 0.32
"""So many of these, as a share of a cell's side, make a stroke: right answers, compressed, moved, sharpened or painted,
hardly ever have one, and 0.3 at most; strokes of four pixels (of 512) have 0.5 and more, nearly always."""

BADLY, WORST = 0.95, 0.6
"""And beyond what this share of the cells has in which nothing was drawn: bad pictures have such pixels anywhere. But
no more than this is forgiven: where letters are that far off, a part of one may be wiped out."""


class Framed:
    """Cells (M, n, n, 3) with borders of their shades (M, 3) around their own contents (M, n, n, 3).

    Cells that are not `alone` (M,) are in a closed line with others, which has no place of its own in them. What was
    given explains a share of the picture.
    """

    def __init__(self, cells: Floats, contents: Floats, shades: Floats, alone: Layer, explained: float) -> None:
        self._beyond, self._given = _beyond(cells, contents)
        self._way = (OPPONENT @ shades.T).astype(np.float32)[..., None, None] - self._given
        along, length = (each * self._way for each in (self._beyond, self._way))
        tint, vivid = along[1] + along[2], length[1] + length[2]
        self._tint = tint / np.maximum(vivid, 1.0)  # the share of a border in each pixel by its colour alone
        self._cover = (tint + along[0]) / np.maximum(vivid + length[0], 1.0)
        self._alone, self._explained = alone, explained

    def strange(self, *, closely: bool = False) -> Floats:
        """(M,): how many pixels, as a share of its side, each cell has that are neither of its contents nor of its
        border; or, `closely`, more where light and colour are both a little beyond."""
        strange = _strange(*self._odd, self._explained, closely=closely)
        shares = _shares(strange, self._cover.shape[1])
        for cell in np.flatnonzero(shares > STROKE):
            edge = slice(EDGE, -EDGE)
            strange[cell] &= without_hairs(strange[cell]) | ~self._trembled[cell, edge, edge]
        return _shares(strange, self._cover.shape[1])

    def suspect(self) -> Layer:
        """(M,): which cells may have enough such pixels to make a stroke, and perhaps others."""
        (light, (red, blue)), (loud, vivid) = self._odd, GLANCE
        inner = slice(EDGE, light.shape[1] - EDGE)
        odd = (light * light / loud**2 + (red * red + blue * blue) / vivid**2)[:, inner, inner] > 1
        suspects: Layer = np.count_nonzero(odd, axis=(1, 2)) > STROKE * light.shape[1]
        return suspects

    @cached_property
    def _odd(self) -> tuple[Floats, Floats]:
        """(M, n, n) and (2, M, n, n): by how much light and colour are beyond what they may be."""
        least, most = self._bounds()
        return self._odd_light(least, most), self._odd_colour(least, most)

    def _odd_light(self, least: Floats, most: Floats) -> Floats:
        """(M, n, n): by how much light is beyond what a border that covers so much of each pixel leaves of it.

        Where borders are, the edge of one may hide a part of a pixel, and leave what is like its neighbour; and ink
        that lets light through is darker over what is dark."""
        light, way, bordered = self._beyond[0], self._way[0], most > FULL
        ends = least * way, most * way
        through = (self._given[0] + way) * self._given[0] / BRIGHTEST - self._given[0]
        low, high = (
            np.where(bordered, extreme(extreme(each, through), self._nearby(shape)), each)
            for each, extreme, shape in (
                (np.minimum(*ends), np.minimum, cv2.MORPH_ERODE),
                (np.maximum(*ends), np.maximum, cv2.MORPH_DILATE),
            )
        )
        odd: Floats = light - np.clip(light, low, high)
        return odd

    def _odd_colour(self, least: Floats, most: Floats) -> Floats:
        """(2, M, n, n): by how much colour is beyond that of a border that covers as much as light says, or as it says
        around each pixel: colour is smeared, light is not."""
        light, way = self._beyond[0], self._way[0]
        tells = np.abs(way) > PLAIN
        cover = np.clip(np.where(tells, light / np.where(tells, way, 1.0), self._cover), least, most)
        smeared = np.asarray(cv2.blur(cover.reshape(-1, cover.shape[2]), NEAR.shape)).reshape(cover.shape)
        tint = np.clip(self._tint, np.minimum(cover, smeared), np.maximum(cover, smeared))
        odd: Floats = self._beyond[1:] - tint * self._way[1:]
        return odd

    def _bounds(self) -> tuple[Floats, Floats]:
        """(M or 1, n, n) each: the least and the most that a border may cover of each pixel of a cell."""
        least, most = _anywhere(self._cover.shape[1])
        if not self._is_known:
            return least[None], most[None]
        usual = medians(np.ascontiguousarray(self._cover[self._alone].transpose(1, 2, 0)))
        near = cv2.dilate(usual, NEAR)
        alike = np.minimum(cv2.erode(usual, NEAR) - SLACK, SURE), np.where(near > SOME, FULL, near) + SLACK
        if self._alone.all():
            return alike[0][None], alike[1][None]
        alone = self._alone[:, None, None]
        return np.where(alone, alike[0], least), np.where(alone, alike[1], most)

    def _nearby(self, shape: int) -> Levels:
        """(M, n, n): how much darker or lighter the darkest or lightest of the contents beside each pixel is."""
        light = self._given[0]
        flat = light.reshape(-1, light.shape[2])
        nearby: Levels = np.asarray(cv2.morphologyEx(flat, shape, NEAR)).reshape(light.shape) - light
        return nearby

    def is_open(self) -> Layer:
        """(M,): which borders lack a side that nearly all others have."""
        if not self._is_known:
            return np.zeros(len(self._alone), bool)
        ink = _ink_along(self._cover)
        lacking: Layer = (ink < LACKING * medians(ink[self._alone].T)).any(axis=1) & self._alone
        return lacking

    def is_pared(self) -> Layer:
        """(M,): which borders have much less of their colour than others, whatever light is there instead."""
        if not self._is_known or self._tint.shape[1] < FINEST:
            return np.zeros(len(self._alone), bool)
        ink = _ink_along(self._tint)
        usual = medians(ink[self._alone].T)
        thinned = (ink < THINNED * usual).any(axis=1)
        pared: Layer = thinned & (ink.sum(axis=1) < PARED * usual.sum()) & self._alone
        return pared

    @cached_property
    def _trembled(self) -> Layer:
        """(M, n, n): pixels in a border's light, no more than two beyond where most borders are: lines of one pixel are
        the hand's there."""
        if not self._is_known:
            return np.zeros(self._cover.shape, bool)
        usual = medians(np.ascontiguousarray(self._cover[self._alone].transpose(1, 2, 0)))
        beside = cv2.dilate(usual, NEAR, iterations=2) > SOME
        trembled: Layer = beside & (np.abs(self._beyond[0] - self._way[0]) < HALF_HIDDEN)
        return trembled & self._alone[:, None, None]

    @property
    def _is_known(self) -> bool:
        """Whether there are enough borders to tell what one looks like."""
        return bool(np.count_nonzero(self._alone) >= FEWEST)


def is_stroke(strange: float, rest: Floats, *, enough: float = STROKE) -> bool:
    """Whether a cell with so many strange pixels was drawn upon, in a picture whose other cells have these (N,)."""
    return bool(strange > enough + (min(WORST, float(np.quantile(rest, BADLY))) if len(rest) else 0.0))


def strange_contents(cells: Floats, contents: Floats, explained: float, *, closely: bool = False) -> Floats:
    """(M,): as `Framed.strange`, of cells without a border."""
    light, *colour = _beyond(cells, contents)[0]
    return _shares(_strange(light, colour, explained, closely=closely), light.shape[1])


def _beyond(cells: Floats, contents: Floats) -> tuple[Levels, Levels]:
    """(3, M, n, n) each: what cells (M, n, n, 3) show beyond their contents, and these, in light and colour."""
    given = _levels(contents)
    return _levels(cells) - given, given


def _shares(strange: Layer, n: int) -> Floats:
    """(M,): how many pixels are strange in each cell (M, m, m), as a share of its side of n."""
    shares: Floats = np.count_nonzero(strange, axis=(1, 2)) / n
    return shares


def _strange(light: Floats, colour: Sequence[Floats] | Floats, explained: float, *, closely: bool) -> Layer:
    """(M, m, m): which pixels of cells, but for their edges, have light (M, n, n) and colour (2, M, n, n) too far
    beyond what they may show."""
    n, (loud, vivid) = light.shape[1], next(levels for least, *levels in LOUD if explained >= least)
    rim = int(np.ceil(DEEPEST * n)) + 1
    inner, middle = slice(EDGE, n - EDGE), slice(rim - EDGE, n - rim - EDGE)
    light, red, blue = (each[:, inner, inner] for each in (light, *colour))
    power, light = red * red + blue * blue, light * light
    hidden = max(loud, HALF_HIDDEN)
    strange: Layer
    if closely:
        strange = light / hidden**2 + power / SMEARED**2 > 1
    else:
        strange = (light > hidden**2) | (power > SMEARED**2)
    strange[:, middle, middle] |= (light / loud**2 + power / vivid**2)[:, middle, middle] > 1
    return strange


def _ink_along(cover: Floats) -> Floats:
    """(M, 4): how many pixels of its width, on average, a border covers along each side of cells (M, n, n)."""
    return cover.clip(0.0, 1.0).reshape(len(cover), -1) @ _along(cover.shape[1])


@lru_cache(maxsize=64)
def _along(n: int) -> Levels:
    """(n*n, 4): times these, the pixels of a cell are summed across each side's border, and averaged along it."""
    depth, corner = int(np.ceil(DEEPEST * n)), round(CORNER * n)
    sides = np.zeros((n, n, 4), np.float32)
    along = slice(corner, n - corner)
    sides[:depth, along, 0] = sides[n - depth :, along, 1] = 1 / (n - 2 * corner)
    sides[along, :depth, 2] = sides[along, n - depth :, 3] = 1 / (n - 2 * corner)
    return sides.reshape(-1, 4)


def _levels(cells: Floats) -> Levels:
    """(3, M, n, n): cells (M, n, n, 3) in light and colour, with the mean of colour around each pixel."""
    tall = cv2.transform(np.ascontiguousarray(cells, np.float32).reshape(-1, cells.shape[2], 3), OPPONENT)
    light, *colour = cv2.split(tall)
    smooth = (cv2.blur(each, (3, 3)) for each in colour)  # mixes cells only at their edges, where nobody looks
    return np.stack([light, *smooth]).reshape(3, *cells.shape[:3])


def _anywhere(n: int) -> tuple[Levels, Levels]:
    """(n, n) each: the least and most that a border may cover of each pixel, if it may be wherever borders are."""
    rim = int(np.ceil(DEEPEST * n))
    most = np.full((n, n), FULL + SLACK, np.float32)
    most[rim : n - rim, rim : n - rim] = SLACK
    return np.full((n, n), -SLACK, np.float32), most
