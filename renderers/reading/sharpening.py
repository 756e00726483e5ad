"""Sharpening, undone: it turns the colours of thin lines.

An unsharp mask takes every pixel farther from the mean of those around it, until its channels end at black or white,
each at its own time: thin orange lines turn towards red, purple ones pink. What was given is known, so it is told how
much a picture was sharpened; and so are the colours that may be drawn onto it, so it is told what it was before.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats

RADIUS = 2.0
"""Pixels within which most editors take the mean."""

AMOUNTS = np.arange(0.0, 2.3, 0.25)
"""How far, in the usual steps, they take pixels from it."""

MIDDLE = 0.25
"""Share of a cell, at its border, where highlights are."""

ALIKE = 6.0
"""Grey levels, on average, by which the middles of cells may differ from those of cells that were sharpened so."""

STEPS = 5
"""How often a guess at the picture before is mended: each leaves a third of what was wrong."""

DRAWN = 24.0
"""Grey levels by which a pixel is otherwise than it was given where something was drawn."""


def sharpness(seen: Floats, given: Pixels, lay: Callable[[Pixels], Floats], size: int) -> float:
    """How much a board (R*n, R*n, 3) was sharpened, given the picture before and how to `lay` a board of one; 0 if it
    was changed in another way."""
    boards = [lay(sharpened(given, amount)) for amount in AMOUNTS]
    gaps = [float(np.abs(middles(seen, size) - middles(board, size)).mean()) for board in boards]
    best = int(np.argmin(gaps))
    return float(AMOUNTS[best]) if gaps[best] <= ALIKE else 0.0


def sharpened(picture: Pixels, amount: float) -> Pixels:
    """A picture (h, w, 3) after an unsharp mask."""
    mean = cv2.GaussianBlur(picture, (0, 0), RADIUS, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.addWeighted(picture, 1 + amount, mean, -amount, 0))


def unsharpened(image: Pixels, given: Pixels, amount: float, palette: Floats) -> Pixels:
    """A picture (h, w, 3) before an unsharp mask, if it was mostly the one that was given, with more of its palette
    (P, 3) drawn onto it.

    Where that took a channel to black or white, all levels of a range would explain what is seen. What was given is
    believed to be there still if it is one of them. Where it is not, something was drawn: that colour of the palette
    which needs the least change to be one of them.
    """
    levels, known = image.astype(np.float32), given.astype(np.float32)
    mild = _before(levels, known, amount)
    drawn = np.flatnonzero(cv2.reduce(cv2.absdiff(mild, known).reshape(-1, 3), 1, cv2.REDUCE_MAX).ravel() > DRAWN)
    full = mild.copy()
    full.reshape(-1, 3)[drawn] = levels.reshape(-1, 3)[drawn]
    full = _before(levels, full, amount)
    one, other = (each.reshape(-1, 3)[drawn] for each in (mild, full))
    least, most = np.minimum(one, other), np.maximum(one, other)
    fits = palette.astype(np.float32).clip(least[:, None], most[:, None])  # (drawn, P, 3)
    best = ((fits - palette) ** 2).sum(axis=2).argmin(axis=1)
    full.reshape(-1, 3)[drawn] = fits[np.arange(len(drawn)), best]
    return _before(levels, full, amount).round().astype(np.uint8)


def _before(image: Floats, start: Floats, amount: float) -> Floats:
    """The picture that an unsharp mask makes this image of, found step by step from the start."""
    for _ in range(STEPS):
        mean = cv2.GaussianBlur(start, (0, 0), RADIUS, borderType=cv2.BORDER_REPLICATE)
        made = cv2.addWeighted(start, 1 + amount, mean, -amount, 0).clip(0, 255)
        start = (start + (image - made) / (1 + amount / 2)).clip(0, 255)
    return start


def middles(board: Floats, size: int) -> Floats:
    """(R, h, R, w, 3): the middles of the cells of a board (R*n, R*n, 3)."""
    n = len(board) // size
    inner = slice(round(MIDDLE * n), n - round(MIDDLE * n))
    return board.reshape(size, n, size, n, 3)[:, inner, :, inner]
