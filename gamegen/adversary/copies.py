"""Attacks by copying: a piece of the right answer lies on it a second time, where it does not belong.

Whoever fills in what a brush has taken away leaves such pieces behind. All of one is in the picture's own colours, and
may be half a thing, a bit of a line, or bare ground where there should be something.
"""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from gamegen.adversary.canvas import Flags, canvas, gap, picture
from gamegen.adversary.positions import Made
from gamegen.adversary.scrawls import QUALITY, asked, compressed, is_maze, pieces
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.sample import Sample

LARGEST, SMALLEST = 1 / 8, 1 / 32
"""How wide and high a piece is at most, and how wide and high all of it must be plainly wrong somewhere, as shares of
the picture's side: 64 and 16 pixels of 512. Smaller ones over what is new may be the work of another hand."""

LOUD = 90
"""Grey levels by which what is plainly wrong differs."""

NEAR = np.ones((5, 5), np.uint8)
"""What is near to a path."""

SIZES = (0.75, 0.9, 1.1)
"""How large the picture comes back, one time in three."""


def copied_piece(sample: Sample, rng: Stream) -> Made:
    """The answer with a piece of it copied elsewhere, half of them onto something that it drew anew."""
    after, edit = canvas(sample).after, canvas(sample).edit
    side = len(after)
    high, wide = (rng.between(round(SMALLEST * side), round(LARGEST * side)) for _ in range(2))
    row, col, top, left = (rng.below(side - length) for length in (high, wide, high, wide))
    if rng.chance(0.5):
        rows, cols = np.nonzero(edit)
        number = rng.below(len(rows))
        top = min(max(0, int(rows[number]) - rng.below(high)), side - high)
        left = min(max(0, int(cols[number]) - rng.below(wide)), side - wide)
    drawn = after.copy()
    drawn[top : top + high, left : left + wide] = after[row : row + high, col : col + wide]
    wrong = gap(drawn, after) > LOUD
    least = round(SMALLEST * side)
    if not cv2.erode(wrong.view(np.uint8), np.ones((least, least), np.uint8), borderValue=0).any():
        return None
    if is_maze(sample) and _only_reshapes(wrong, drawn, least, sample):
        return None
    return _brought_back(picture(drawn), rng), False


def _only_reshapes(wrong: Flags, drawn: Pixels, least: int, sample: Sample) -> bool:
    """Whether a piece lies on a maze's path, or beside it, and leaves it whole: paths may be thin, thick and uneven."""
    after = canvas(sample).after
    path = np.zeros(wrong.shape, np.uint8)
    for pen in sorted(asked(sample)):
        path |= cv2.inRange(after, pen, pen)
    touched = (wrong & (cv2.dilate(path, NEAR) > 0)).any()
    width = max(2, least // 4)
    return bool(touched) and pieces(picture(drawn), sample, width) == pieces(picture(after), sample, width)


def _brought_back(image: Image.Image, rng: Stream) -> Image.Image:
    """As it is, through JPEG or in another size."""
    way = rng.below(3)
    if way == 1:
        return compressed(image, rng.between(*QUALITY))
    if way == 2:
        side = round(rng.choice(SIZES) * image.width)
        return image.resize((side, side), Image.Resampling.BICUBIC)
    return image


ATTACKS = (copied_piece,)
