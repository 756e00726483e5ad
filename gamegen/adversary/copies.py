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
from gamegen.adversary.scrawls import ALIKE, GROUNDS, QUALITY, asked, compressed, is_maze
from gamegen.core.rendering import Colour, Pixels
from gamegen.core.stream import Stream
from gamegen.sample import Sample

LARGEST, SMALLEST = 1 / 8, 1 / 20
"""How wide and high a piece is at most, and how wide and high all of it must be plainly wrong somewhere, as shares of
the picture's side: 64 and 26 pixels of 512. Smaller ones over what is new may be the work of another hand."""

LOUD = 90
"""Grey levels by which what is plainly wrong differs."""

AROUND, FEW = np.ones((5, 5), np.uint8), 16
"""What is near to a path, and how many pixels are no part of one."""

MOSTLY = 0.95
"""The share of a piece that has one colour."""

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
    if is_maze(sample) and _only_reshapes(wrong, drawn, sample):
        return None
    if _only_enlarges(wrong, drawn, least, sample):
        return None
    return brought_back(picture(drawn), rng), False


def _only_reshapes(wrong: Flags, drawn: Pixels, sample: Sample) -> bool:
    """Whether a piece lies on a maze's path, on its start or end, or beside it, and severs nothing: paths may be thin,
    thick and uneven, and reach over their ends."""
    after, own = canvas(sample).after, sample.style.colours()
    path = _near(after, [*asked(sample), own["start"], own["end"]])
    return bool((wrong & path).any()) and _parts(drawn, sample) == _parts(after, sample)


def _only_enlarges(wrong: Flags, drawn: Pixels, least: int, sample: Sample) -> bool:
    """Whether a piece has one colour, and lies beside what has that colour and was drawn anew: then that is larger."""
    colour = np.median(drawn[wrong], axis=0)
    grounds = np.array([level for name, level in sample.style.colours().items() if name in GROUNDS])
    is_even = np.mean(np.abs(drawn[wrong] - colour).max(axis=1) < ALIKE) > MOSTLY
    if not is_even or np.abs(grounds - colour).max(axis=1).min() < LOUD:
        return False
    same = (np.abs(canvas(sample).after - colour).max(axis=2) < ALIKE) & canvas(sample).edit
    beside = cv2.dilate(same.view(np.uint8), np.ones((2 * least + 1, 2 * least + 1), np.uint8)) > 0
    return bool(beside[wrong].all())


def _near(image: Pixels, colours: list[Colour]) -> Flags:
    there = np.zeros(image.shape[:2], np.uint8)
    for colour in colours:
        there |= cv2.inRange(image, colour, colour)
    return np.asarray(cv2.dilate(there, AROUND)).view(bool)


def _parts(image: Pixels, sample: Sample) -> int:
    """In how many parts the path is."""
    (pen,) = asked(sample)
    areas = cv2.connectedComponentsWithStats(cv2.inRange(image, pen, pen))[2][1:, cv2.CC_STAT_AREA]
    return int(np.count_nonzero(areas > FEW))


def brought_back(image: Image.Image, rng: Stream) -> Image.Image:
    """As it is, through JPEG or in another size."""
    way = rng.below(3)
    if way == 1:
        return compressed(image, rng.between(*QUALITY))
    if way == 2:
        side = round(rng.choice(SIZES) * image.width)
        return image.resize((side, side), Image.Resampling.BICUBIC)
    return image


ATTACKS = (copied_piece,)
