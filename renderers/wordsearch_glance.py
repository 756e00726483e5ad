"""Word search at a glance: a page that lies just where it lay, on which nothing was done but to highlight cells.

A few pixels of each cell, where a highlight would be, tell its colour. That is only a guess, but a cheap one: whoever
asks for it draws the page that it means and compares the two, pixel by pixel. That the letters are still those that
were given is a part of the guess.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Picture, Pixels
from renderers.glance import is_moved
from renderers.page import Frame
from renderers.reading.register import Floats

ALONG = (0.3, 0.5, 0.7)
"""Where along each side of a cell it is looked at."""

NEAR = 24.0
"""Levels by which these places may be off a colour, on average, in any channel: two that may be asked for are more than
twice as far apart."""


def glance(
    image: Pixels, given: Picture, frame: Frame, colours: Floats, *, line: int, width: int
) -> NDArray[np.intp] | None:
    """(R, C): which of the colours (K, 3) cells of a picture (H, W, 3) have where their highlights would be, `width`
    pixels wide inside of the grid's lines; None if one has another colour, or if the picture moved."""
    if image.shape[:2] != given.pixels.shape or is_moved(image, given, frame):
        return None
    n = frame.cell
    cells = image[frame.top : frame.bottom, frame.left : frame.right].reshape(frame.rows, n, frame.cols, n, 3)
    ends, along = (line + width // 2, n - 1 - width // 2), [round(share * (n - 1)) for share in ALONG]
    places = [(end, at) for end in ends for at in along]
    sides = [cells[:, down, :, right] for down, right in [*places, *((at, end) for end, at in places)]]
    off = np.abs(np.mean(sides, axis=0)[:, :, None] - colours).max(axis=3)  # (R, C, K)
    return off.argmin(axis=2) if off.min(axis=2).max() <= NEAR else None
