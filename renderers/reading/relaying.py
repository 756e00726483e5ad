"""Laying a picture onto the board once more, blind to what was drawn in colour.

A border inside a square moves the edge between light and dark by its width. One such edge is an outlier; those of many
highlights pull together, and the board comes to lie some pixels off. On boards whose own colours are pale the ink is
easily told, and once it is known where it is, the board can be found by the rest.
"""

from __future__ import annotations

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.compared import WHOLE
from renderers.reading.fit import MOST_WARP
from renderers.reading.pages import Page
from renderers.reading.register import CUTS, GOOD, LEVELS, PATIENCE, Landmarks, Registration, Scan

WELL = 0.97
"""Likeness from which on ink was seen to pull at a board by half a pixel of 512 at most."""

SIDE = 256
"""At which ink is looked for."""

INK = 36
"""By how many grey levels ink is more vivid than what was there."""

MANY = 0.05
"""Share of the picture that must be ink to pull at the board: about a dozen highlighted squares."""

BESIDE = np.ones((7, 7), np.uint8)
"""Around a pixel of ink, what edges it may have moved, the board lying off."""

FEWEST = 300
"""Points that must be left to lay the board by, of about 2,000."""


def laid_again(registration: Registration, page: Page) -> Registration:
    """The same picture, laid onto the page by what no ink is near; as it was if it lies well, if there is too little
    ink to matter or so much that too little else is left, or if that leads nowhere."""
    if registration.likeness > WELL:
        return registration
    ink = _ink(registration, page)
    if cv2.countNonZero(ink) < MANY * ink.size:
        return registration
    finest = len(LEVELS) - 1
    template = Landmarks(page.at(SIDE).pixels, shaky=cv2.dilate(ink, BESIDE).view(bool)).template(finest)
    if len(template.value) < FEWEST:
        return registration
    scan = Scan(registration.image)
    scan.shrunk.update(registration.shrunk)
    matrix, likeness = template.fit(scan.level(finest), registration.matrix, 8, CUTS[finest], steps=PATIENCE)
    if likeness < GOOD or np.abs(matrix - np.eye(3)).max() > MOST_WARP:
        return registration
    again = Registration(matrix, likeness, registration.image)
    again.shrunk.update(scan.shrunk)
    return again


def _ink(registration: Registration, page: Page) -> Pixels:
    """(SIDE, SIDE): 1 where a picture is a good deal more vivid than the page, else 0."""
    seen = registration.part(WHOLE, (SIDE, SIDE))
    more = cv2.subtract(_vividness(seen), _vividness(page.at(SIDE).pixels))
    return np.asarray(cv2.threshold(more, INK, 1, cv2.THRESH_BINARY)[1])


def _vividness(pixels: Pixels) -> Pixels:
    """(h, w): each pixel's strongest channel less its weakest."""
    red, green, blue = cv2.split(pixels)
    return np.asarray(cv2.subtract(cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue)))
