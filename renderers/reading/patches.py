"""A patch where nothing was to be drawn that is otherwise, and all else is as it was: somebody spoilt it.

Whatever an editor does to a whole picture, blur and sharpen it, say, can be done to the given one, too. What then
still differs, if light is averaged a little, does so by a few levels, in many places. Who smears, veils, turns or wipes
a cell changes it there and nowhere else, be all of its colours the page's own.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import Flags
from renderers.reading.register import Floats

AROUND, INSIDE = (3, 3), np.ones((9, 9), np.uint8)
"""Pixels over which light is averaged, and around each that must have been given as well."""

ALONE, LEAST = 2.75, 10.0
"""By how many times a patch must differ more than any other of the page, and grey levels by which all may. Of 240,000
right answers, drawn and painted, none was refused for one."""

NARROWEST, REACH = 24, 1.1
"""Pixels around the worst place that are one patch with it, at least, and as a share of a cell."""

BLURS = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Widths to which pictures are blurred."""

MASKS = ((1.0, 0.5), (1.0, 1.0), (2.0, 0.5), (2.0, 1.0), (2.0, 2.0))
"""Radius and amount of the unsharp masks with which they are sharpened."""

LOUD = 60.0
"""Differences count up to so many levels where it is told what was done to the whole picture."""


def find_patch(seen: Pixels, clean: Pixels, old: Flags, cell: float) -> tuple[float, float] | None:
    """The middle, as shares of the page, of the one patch of `seen` (h, w, 3) that is otherwise, if there is one.

    `clean` is what was given, and only what is `old` should be as it was. A cell has so many pixels across.
    """
    inside = cv2.erode(old.view(np.uint8), INSIDE)
    light = _light(seen)
    if _most(_off(light, _light(clean)), inside)[0] <= ALONE * LEAST:
        return None
    like = min((_light(page) for page in _changed(clean)), key=lambda given: _unlike(light, given, inside))
    off = _off(light, like)
    most, (col, row) = _most(off, inside)
    reach = max(NARROWEST, int(REACH * cell))
    inside[max(0, row - reach) : row + reach + 1, max(0, col - reach) : col + reach + 1] = 0
    rest, _ = _most(off, inside)
    return ((row + 0.5) / len(off), (col + 0.5) / len(off)) if most > ALONE * max(LEAST, rest) else None


def _changed(clean: Pixels) -> Iterator[Pixels]:
    """A page as it was given, and blurred and sharpened."""
    yield clean
    for sigma in BLURS:
        yield np.asarray(cv2.GaussianBlur(clean, (0, 0), sigma))
    for radius, amount in MASKS:
        yield np.asarray(cv2.addWeighted(clean, 1 + amount, cv2.GaussianBlur(clean, (0, 0), radius), -amount, 0))


def _light(image: Pixels) -> Floats:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.float32)


def _off(light: Floats, given: Floats) -> Floats:
    """(h, w): by how many grey levels the light around each pixel differs."""
    return np.asarray(np.abs(cv2.blur(light - given, AROUND)))


def _unlike(light: Floats, given: Floats, inside: Pixels) -> float:
    return cv2.mean(cv2.min(cv2.absdiff(light, given), LOUD), inside)[0]


def _most(off: Floats, inside: Pixels) -> tuple[float, tuple[int, int]]:
    """The highest level, and the column and row where it is."""
    _, level, _, (col, row) = cv2.minMaxLoc(off, inside)
    return level, (col, row)
