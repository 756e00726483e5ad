"""Bars around a page, as those paint them who bring a square picture to another format, or add an edge to it.

Along a bar every line is of one colour, and so is every line of a page's own margin. So the page's content begins with
the first line that is not, and what is known of the page says how much margin belongs to it: what is beyond that, or
beyond a line where the margin's colour ends, is a bar. A page that was only stretched to another format has its margins
stretched with it, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

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

STEP, BLURRED = 24, 1.5
"""Grey levels by which a bar's colour differs from the margin beside it, and pixels by which frames are less sharp."""

NARROWEST, COARSE = 0.92, 48
"""The share of its other side that a page may be narrow, and the pixels along which pages are compared coarsely."""

LEAST, BESIDE = 0.006, 0.02
"""The share of a side that is worth cutting off, and the one by which a page may leave the picture."""

DEEP, SAME, LONGEST = 0.035, 2, 1.1
"""The share of a side by which a page may have been zoomed or turned out of its frame before it got bars; the pixels by
which the sides of such a frame differ at most; and how many times its width a page may be high."""


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

    A page of less than the least size does not fill its picture: that is another picture with a small one in it.
    """
    seen, known, across = _Profile.of(image, axis), _Profile.of(clean, axis), _Profile.of(image, 1 - axis)
    if seen is None or known is None or across is None:
        return image
    side, other = len(seen.colours), len(across.colours)
    sides = (*across.enclosed, other)
    parts = []
    near = BLURRED * other / len(known.colours)
    for first in _matches(seen.start, seen.before, known.start, known.before, near):
        for last in _matches(seen.stop, seen.after, known.stop, known.after, near):
            scale = (last.seen - first.seen) / (last.known - first.known)
            start = first.seen - first.known * scale
            stop = last.seen + (len(known.colours) - last.known) * scale
            if stop - start < NARROWEST * other:
                scale = other / len(known.colours)  # by what is left at one end, or at the other
                starts = (first.seen - first.known * scale, last.seen - last.known * scale)
                parts += [_part(image, axis, start, start + other) for start in starts]
                continue
            start, stop = _snapped((start, stop), (first.edges, last.edges), side, sides)
            part = _part(image, axis, start, stop)
            if min(start, side - stop) >= -BESIDE * side and least <= part.shape[axis]:
                parts.append(part if part.shape[axis] < (1 - LEAST) * side else image)
    if len(parts) < 2:
        return parts[0] if parts else image
    return min(parts, key=lambda part: _unlikeness(part, clean))


def _snapped(
    page: tuple[float, float], edges: tuple[list[int], list[int]], side: int, sides: tuple[int, ...]
) -> tuple[float, float]:
    """From where to where a page is that, by its content, would be between two lines of `side`.

    Where the margin's colour ends there is a bar, unless that is nearer to the content than the page's margin reaches:
    then the page was painted over, as it was if it fills all lines; but a frame as high as wide, as one of `sides`, is
    one that it was laid out of. An answer may have less content than what was given, or more, and so more margin, or
    less; but pages are square.
    """
    start, stop = page
    near, deep, longest = LEAST * side, DEEP * side, LONGEST * sides[-1]
    if max(abs(start), abs(stop - side)) <= near:
        return 0, side
    for first, last in product([*edges[0][::-1], 0], [*edges[1][::-1], side]):
        is_frame = min(abs(last - first - each) for each in sides) <= SAME
        if is_frame and first - start <= deep and stop - last <= deep:
            return first, last
    if edges[0] and edges[0][0] <= start + near and stop - edges[0][0] < longest:
        start = edges[0][0]
    if edges[1] and edges[1][0] >= stop - near and edges[1][0] - start < longest:
        stop = edges[1][0]
    return start, stop


def _part(image: Pixels, axis: int, start: float, stop: float) -> Pixels:
    """The lines of a picture between two, where it has them."""
    lines = slice(max(0, round(start)), min(image.shape[axis], round(stop)))
    return image[lines] if axis == 0 else image[:, lines]


def _unlikeness(image: Pixels, clean: Pixels) -> float:
    """By how much a picture differs, coarsely, from a clean one."""
    one, other = (cv2.resize(each, (COARSE, COARSE), interpolation=cv2.INTER_AREA) for each in (image, clean))
    return float(cv2.norm(one, other, cv2.NORM_L1))


@dataclass(frozen=True, slots=True)
class _Match:
    """A line that is seen, the line of a clean page that it may be, and where colours change beyond it, outwards."""

    seen: int
    known: int
    edges: list[int]


def _matches(seen: int, steps: list[int], known: int, own: list[int], near: float) -> Iterator[_Match]:
    """What may be one line in both: where the content begins, or ends; if the margin has steps of its own, as beside a
    frame, the first of these, or the last one if the frame is uneven now. Frames become thicker by less than `near`."""
    if not own:
        yield _Match(seen, known, steps)
        return
    yield _Match(seen, own[-1], steps)
    if steps:
        frame = abs(own[-1] - own[0]) + near
        yield _Match(steps[0], own[0], [step for step in steps if abs(step - steps[0]) > frame])


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
    def before(self) -> list[int]:
        """The lines at which colours change before the content, going outwards."""
        return [self.start - lines for lines in self._steps(self.colours[: self.start][::-1])]

    @property
    def after(self) -> list[int]:
        """The same after the content."""
        return [self.stop + lines for lines in self._steps(self.colours[self.stop :])]

    @property
    def enclosed(self) -> list[int]:
        """How many lines there are between a step before the content, or the border, and one after it."""
        return [stop - start for start in (*self.before, 0) for stop in (*self.after, len(self.colours))]

    def _steps(self, outwards: Floats) -> list[int]:
        """How many lines, going outwards from the content, are on this side of each change of colour."""
        steps, at = [], 0
        while at < len(outwards):
            shade = np.median(outwards[at : at + 1 + round(LEAST * len(self.colours))], axis=0)
            other = np.flatnonzero(np.abs(outwards[at:] - shade).max(axis=1) > STEP)
            if not len(other):
                break
            at += max(1, int(other[0]))
            steps.append(at)
        return steps
