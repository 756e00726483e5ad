"""Pages as editors are given them, at the size in which they are compared with what editors leave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np

from gamegen.core.rendering import Picture, Pixels
from renderers.page import Frame
from renderers.reading.foreign import Flags, Part, most
from renderers.reading.labels import Labels
from renderers.reading.tiles import AROUND
from renderers.reading.tints import Tints

HALO = 0.35
"""Share of the contrast near a pixel by which it may be outside all clean ones around it: sharpening makes halos."""

TINTED = 90
"""A pixel of a tint by so many grey levels unlike all clean ones around it is strange, too."""

EDGE = 60
"""Grey levels by which pixels beside one another differ at an edge."""

REACH = 2
"""Pixels beside a pixel that have a say in which levels are strange there."""

BROAD = 64
"""Side at which pictures are compared as a whole."""

_SLACK = np.ceil(HALO * np.arange(256)).astype(np.uint8)
"""By contrast, how far halos may reach."""


class Page:
    """The picture as the editor was given it; what is compared with it is worked out once for every size.

    `frame` is where its board lies, if it is one.
    """

    def __init__(self, picture: Picture, frame: Frame | None) -> None:
        self.frame = frame
        self.picture = picture
        self._clean: dict[int, Clean] = {}
        self._tints: dict[int, Tints] = {}
        self._labels: dict[int, list[Labels]] = {}

    def at(self, side: int) -> Clean:
        if side not in self._clean:
            self._clean[side] = Clean.of(self.picture, side)
        return self._clean[side]

    def tints(self, side: int) -> Tints:
        if side not in self._tints:
            self._tints[side] = Tints.of(self.at(side).pixels, TINTED)
        return self._tints[side]

    def labels(self, side: int) -> list[Labels]:
        """Those of a board's rows and of its columns."""
        if side not in self._labels:
            frame, clean = self.frame, self.at(side).pixels
            self._labels[side] = [] if frame is None else [Labels(clean, frame, down=down) for down in (True, False)]
        return self._labels[side]


def broadly(image: Pixels) -> Pixels:
    """(BROAD, BROAD, …): a picture (h, w, …) so small that only what is broad is left."""
    return np.asarray(cv2.resize(image, (BROAD, BROAD), interpolation=cv2.INTER_AREA))


@dataclass(frozen=True, eq=False)
class Clean:
    """A clean picture at some size, or a part of it, and the levels between which nothing is strange, with halos."""

    pixels: Pixels  # (h, w, 3)
    low: Pixels
    high: Pixels

    @classmethod
    def of(cls, picture: Picture, side: int, part: Part | None = None) -> Clean:
        rows, cols = (slice(0, side), slice(0, side)) if part is None else part
        (rows, down), (cols, across) = _widened(rows, side), _widened(cols, side)
        pixels = _shrunk(picture, side, (rows, cols))
        low, high = cv2.erode(pixels, AROUND), cv2.dilate(pixels, AROUND)
        slack = cv2.LUT(cv2.subtract(cv2.dilate(high, AROUND), cv2.erode(low, AROUND)), _SLACK)
        low, high = cv2.subtract(low, slack), cv2.add(high, slack)
        return cls(*(np.ascontiguousarray(each[down, across]) for each in (pixels, low, high)))

    @cached_property
    def broad(self) -> Pixels:
        return broadly(self.pixels)

    @cached_property
    def edges(self) -> Flags:
        """(h, w): where a picture that was blurred, sharpened, moved or compressed differs before it does elsewhere."""
        return most(cv2.subtract(cv2.dilate(self.pixels, AROUND), cv2.erode(self.pixels, AROUND))) > EDGE

    def excess(self, seen: Pixels) -> Pixels:
        """(h, w, 3): by how many grey levels a picture is outside; 0 where it is inside."""
        return np.asarray(cv2.max(cv2.subtract(self.low, seen), cv2.subtract(seen, self.high)))


def _shrunk(picture: Picture, side: int, part: Part) -> Pixels:
    """(h, w, 3): the part of a picture of this side that a larger one is made into."""
    times, odd = divmod(len(picture.pixels), side)
    if odd:
        return np.asarray(cv2.resize(_coloured(picture), (side, side), interpolation=cv2.INTER_AREA))[part]
    rows, cols = (slice(times * each.start, times * each.stop) for each in part)
    pixels = _coloured(replace(picture, pixels=picture.pixels[rows, cols]))
    size = pixels.shape[1] // times, pixels.shape[0] // times
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))


def _coloured(picture: Picture) -> Pixels:
    """(H, W, 3), as `Picture.rgb`, but faster."""
    colours = np.zeros((256, 1, 3), np.uint8)
    colours[: len(picture.palette), 0] = picture.palette
    return np.asarray(cv2.applyColorMap(picture.pixels, colours))


def _widened(part: slice, side: int) -> Part:
    """So much more, on both sides, as the levels of its pixels are decided by; and where in that the part is."""
    start, stop = max(0, part.start - REACH), min(side, part.stop + REACH)
    return slice(start, stop), slice(part.start - start, part.stop - start)
