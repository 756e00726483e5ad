"""Bars around a page, as those paint them who bring a square picture to another format, or add an edge to it.

Along a bar every line is of one colour, and so is every line of a page's own margin. So the page's content begins with
the first line that is not, and what is known of the page says how much margin belongs to it: what is beyond that, or
beyond a line where the margin's colour ends, is a bar. A page that was only stretched to another format has its margins
stretched with it, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from gamegen.core.rendering import Colour, Pixels
from renderers.reading.fit import Floats

SQUARE = 0.02
"""By which share the sides of a square picture may differ."""

STRANGE = 45
"""Grey levels by which an edge differs from the page's colour that may be a bar's."""

PIECES, EVEN = 32, 24
"""Into how many pieces a line is averaged, and by how many grey levels these may differ in an even one."""

MIDDLE = 0.06
"""Share at both ends of a line that does not count: bars at the other sides lie there."""

STEP = 24
"""Grey levels by which a bar's colour differs from the margin beside it."""

NARROWEST, COARSE = 0.92, 48
"""The share of its other side that a page may be narrow, and the pixels along which pages are compared coarsely."""

LEAST, BESIDE = 0.006, 0.02
"""The share of a side that is worth cutting off, and the one by which a page may leave the picture."""


def without_bars(image: Pixels, page: Colour, given: Callable[[], Pixels]) -> Pixels:
    """The part of a picture (H, W, 3) that shows the page, if it has bars around it; else the picture.

    `page` is the colour of the page's margin; `given` makes the picture that the editor was given, a square one.
    """
    if not _may_have_bars(image, page):
        return image
    clean = given()
    height, width = image.shape[:2]
    least = (1 - 2 * MIDDLE) * min(height, width)
    for axis in (0, 1) if height > width else (1, 0):
        image = _cut(image, clean, axis, least)
    return image


def _may_have_bars(image: Pixels, page: Colour) -> bool:
    height, width = image.shape[:2]
    if abs(height - width) > SQUARE * min(height, width):
        return True
    edges = (image[:1], image[-1:], image[:, :1], image[:, -1:])
    return any(np.abs(np.subtract(cv2.mean(edge)[:3], page)).max() > STRANGE for edge in edges)


def _cut(image: Pixels, clean: Pixels, axis: int, least: float) -> Pixels:
    """The picture without the bars at its top and bottom (axis 0) or at its left and right (1).

    Where the margin's colour ends there is a bar, unless that is nearer to the content than the page's margin reaches:
    then the page was painted over. An answer may have less content than what was given, or more, and so more margin, or
    less: a margin of two colours is known by where these meet, and pages are square, or nearly.

    A page of less than the least size does not fill its picture: that is another picture with a small one in it.
    """
    seen, known = _Profile.of(image, axis), _Profile.of(clean, axis)
    if seen is None or known is None:
        return image
    side, other, page = len(seen.colours), image.shape[1 - axis], len(known.colours)
    first, begins = _meeting(seen.before, known.before) or (seen.start, known.start)
    last, ends = _meeting(seen.after, known.after) or (seen.stop, known.stop)
    scale = (last - first) / (ends - begins)
    start, stop = first - begins * scale, last + (page - ends) * scale
    if stop - start < NARROWEST * other:
        scale = other / page
        starts = (first - begins * scale, last - ends * scale)  # by what is left at one end, or at the other
        parts = [_part(image, axis, start, start + other) for start in starts]
        return min(parts, key=lambda part: _unlikeness(part, clean))
    near = LEAST * side
    if seen.before is not None and known.before is None and seen.before <= start + near:
        start = seen.before
    if seen.after is not None and known.after is None and seen.after >= stop - near:
        stop = seen.after
    part = _part(image, axis, start, stop)
    if min(start, side - stop) < -BESIDE * side or not least <= part.shape[axis] < (1 - LEAST) * side:
        return image
    return part


def _part(image: Pixels, axis: int, start: float, stop: float) -> Pixels:
    """The lines of a picture between two, where it has them."""
    lines = slice(max(0, round(start)), min(image.shape[axis], round(stop)))
    return image[lines] if axis == 0 else image[:, lines]


def _unlikeness(image: Pixels, clean: Pixels) -> float:
    """By how much a picture differs, coarsely, from a clean one."""
    one, other = (cv2.resize(each, (COARSE, COARSE), interpolation=cv2.INTER_AREA) for each in (image, clean))
    return float(cv2.norm(one, other, cv2.NORM_L1))


def _meeting(seen: int | None, known: int | None) -> tuple[int, int] | None:
    """Where two colours of a margin meet, if they do in both pictures."""
    return None if seen is None or known is None else (seen, known)


@dataclass(frozen=True, eq=False)
class _Profile:
    """The lines of a picture, from top to bottom or from left to right."""

    colours: Floats  # (n, 3): the mean of each
    start: int  # the first line that is not of one colour
    stop: int  # the line after the last one

    @classmethod
    def of(cls, image: Pixels, axis: int) -> _Profile | None:
        """None if all of the picture is even."""
        if axis == 1:
            image = image.transpose(1, 0, 2)
        ends = round(MIDDLE * image.shape[1])
        middle = np.ascontiguousarray(image[:, ends : image.shape[1] - ends])
        lines = cv2.resize(middle, (PIECES, len(middle)), interpolation=cv2.INTER_AREA).astype(np.float32)
        uneven = np.flatnonzero((lines.max(axis=1) - lines.min(axis=1)).max(axis=1) > EVEN)
        return cls(lines.mean(axis=1), int(uneven[0]), int(uneven[-1]) + 1) if len(uneven) else None

    @property
    def before(self) -> int | None:
        """The first line of the margin before the content, if there is something else before that."""
        ends = self._end_of(self.colours[: self.start][::-1])
        return None if ends is None else self.start - ends

    @property
    def after(self) -> int | None:
        """The line after the margin after the content, if there is something else after that."""
        ends = self._end_of(self.colours[self.stop :])
        return None if ends is None else self.stop + ends

    def _end_of(self, outwards: Floats) -> int | None:
        """How many lines, going outwards from the content, have the colour of those next to it; None if all have."""
        if not len(outwards):
            return None
        margin = np.median(outwards[: 1 + round(LEAST * len(self.colours))], axis=0)
        other = np.flatnonzero(np.abs(outwards - margin).max(axis=1) > STEP)
        return int(other[0]) if len(other) else None
