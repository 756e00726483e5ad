"""Boards of tiles at a glance: a page that lies just where it lay, on which some cells show other tiles of ours.

Cells that hardly changed show what they showed; the others what they are nearest to. That is only a guess, but a cheap
one: whoever asks for it draws the page that it means and compares the two, pixel by pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Picture, Pixels, Style
from renderers.page import Frame
from renderers.reading.drawn import apart
from renderers.reading.foreign import most
from renderers.reading.register import Floats

if TYPE_CHECKING:
    from renderers.board import BoardRenderer

APART = 2.7
"""How many times farther two tiles must be from one another than compression takes a picture: half of one on another is
then beyond that, too."""

CHANGED = 8
"""Levels, on average, by which a cell shows something else."""

STRANGE, MOVED = 40, 0.003
"""Levels by which a pixel above the board is another one, and the share of these in pages that were moved, whose labels
are elsewhere: of 20 that were moved by two pixels of 512 each has 0.015 and more, compressed ones have none."""

STEP = 2
"""Of a cell, one pixel of so many tells, down and across."""


def guessed(
    image: Pixels, given: Picture, frame: Frame, before: NDArray[np.intp], tiles: Floats
) -> NDArray[np.intp] | None:
    """(R, C): which tile (K, pixels), as `flat_tiles` gives them, each cell of a picture (H, W, 3) is nearest to, or
    what it was `before` (R, C) in the given one; None if the picture moved."""
    if image.shape[:2] != given.pixels.shape or is_moved(image, given, frame):
        return None
    off = cv2.absdiff(image, given.rgb())
    inside = slice(frame.top, frame.bottom), slice(frame.left, frame.right)
    means = cv2.resize(off[inside], (frame.cols, frame.rows), interpolation=cv2.INTER_AREA)
    changed = means.reshape(frame.rows, frame.cols, 3).max(axis=2) > CHANGED
    rows, cols = np.nonzero(changed)
    cells = image[inside].reshape(frame.rows, frame.cell, frame.cols, frame.cell, 3)[rows, :, cols]
    seen = cells[:, ::STEP, ::STEP].reshape(len(rows), tiles.shape[1]).astype(np.float32)
    symbols = before.copy()
    symbols[rows, cols] = (np.einsum("ij,ij->i", tiles, tiles) - 2 * (seen @ tiles.T)).argmin(axis=1)
    return symbols


def is_moved(image: Pixels, given: Picture, frame: Frame) -> bool:
    """Whether what is above the board is elsewhere in a picture (H, W, 3) than in the given one, of the same size."""
    above = slice(frame.top)
    off = most(cv2.absdiff(image[above], given.palette[given.pixels[above]]))
    return cv2.countNonZero(cv2.compare(off, STRANGE, cv2.CMP_GT)) > MOVED * off.size


@lru_cache(maxsize=32)
def flat_tiles(renderer: BoardRenderer[object], style: Style, rows: int, cols: int) -> Floats | None:
    """(K, pixels): the tiles of a look, as they are drawn; None if one could pass for another, once compressed."""
    board = renderer.board(style, rows, cols)
    tiles = board.inks.palette(style.colours())[board.bank]
    if apart(tiles, style.pixels, renderer.meaning) < APART:
        return None
    return np.ascontiguousarray(tiles[:, ::STEP, ::STEP]).reshape(len(tiles), -1).astype(np.float32)
