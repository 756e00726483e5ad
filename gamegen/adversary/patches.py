"""Attacks on parts of the right answer: something is drawn over it, wiped off, moved, or shown in the wrong colour."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image, ImageDraw

from gamegen.adversary.canvas import Flags, canvas, gap, picture, share, turned
from gamegen.adversary.pictures import loud
from gamegen.adversary.positions import Made
from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.games.maze import END, START, Maze
from gamegen.sample import Sample
from renderers.board import BoardRenderer
from renderers.page import LABEL_BAND, Frame

STROKE = 0.008
"""The thinnest ghost stroke, as a share of the picture's side: 4 pixels of 512. Thinner ones are forgiven."""

RIM = 0.02
"""Share of the side, at a picture's rim, that ghost strokes leave free: shifts and crops leave lines there."""

LOUD, MOSTLY = 120, 0.6
"""Grey levels by which a stroke stands out, and the share of it that must."""

PALE = (32, 60)
"""By how many grey levels a pale stroke differs: as much as anybody sees who looks for it, and less than a loud one."""

LENGTHS, WIDTHS, APART = (8, 16, 24), (0.008, 0.012), 0.4
"""A pale stroke is one of these parts of the side long, so many shares of it wide, and so far, as a share of a cell,
from the cells that the answer drew anew."""

NEAR = 41
"""Pixels across what is near to something drawn anew where there is no board."""

TURNED = (0.3, 0.7)
"""By so much of a full circle is the hue of a mark turned: no longer the colour that was asked for."""

VIVID = 90
"""Strongest minus weakest channel of what has a colour by which one could call it."""


INK = 90
"""Grey levels by which the strokes of a label differ from the page."""

Place = tuple[slice, slice]


def blot(sample: Sample, rng: Stream) -> Made:
    """The answer with a loud blot of a tenth of the side somewhere: nobody asked for one."""
    image = picture(canvas(sample).after)
    side = image.width // 10
    left, top = rng.below(image.width - side), rng.below(image.height - side)
    ImageDraw.Draw(image).ellipse((left, top, left + side, top + side), fill=loud(image, (left, top)))
    return image, False


def ghost_stroke(sample: Sample, rng: Stream) -> Made:
    """The answer with a thin loud line somewhere, a quarter of the side long: foreign, however thin."""
    image = picture(canvas(sample).after)
    length, width = image.width // 4, max(2, round(image.width * STROKE))
    rim = round(image.width * RIM)
    left, top = (rng.between(rim, side - length - rim) for side in image.size)
    ends = rng.choice(((0, 0, 1, 1), (0, 1, 1, 0), (0, 0, 1, 0), (0, 0, 0, 1)))
    line = tuple(start + end * length for start, end in zip((left, top) * 2, ends, strict=True))
    ImageDraw.Draw(image).line(line, fill=loud(image, (left, top), length), width=width)
    return (image, False) if _stands_out(image, sample) else None


def pale_stroke(sample: Sample, rng: Stream) -> Made:
    """The answer with a short pale line, as a shadow or a tint, where nothing was to be drawn."""
    after = canvas(sample).after
    side = len(after)
    length, width = side // rng.choice(LENGTHS), max(2, round(side * rng.choice(WIDTHS)))
    rim = round(2 * RIM * side)
    left, top = (rng.between(rim, side - length - rim) for _ in range(2))
    across, down = rng.choice(((1, 1), (1, 0), (0, 1)))
    layer = Image.new("L", (side, side))
    ImageDraw.Draw(layer).line((left, top, left + across * length, top + down * length), fill=255, width=width)
    line = np.asarray(layer) > 0
    if (line & _anew(sample)).any():
        return None
    by = rng.between(*PALE) * rng.choice((-1, 1))
    shift = rng.choice(((by, by, by), (by, -by // 3, 0), (0, by, -by // 3), (-by // 3, 0, by)))
    drawn = after.copy()
    drawn[line] = (after[line] + np.array(shift)).clip(0, 255)
    seen = cv2.erode((gap(drawn, after) >= PALE[0]).view(np.uint8), np.ones((width // 2 + 1,) * 2, np.uint8))
    if np.count_nonzero(seen) < MOSTLY * length * (width - width // 2):  # nothing is lighter than white
        return None
    return picture(drawn), False


def wiped_label(sample: Sample, rng: Stream) -> Made:
    """The answer with one row's or column's label painted over: the picture lost what the instruction speaks of."""
    return _relabelled(sample, rng, wiped=True)


def wrong_label(sample: Sample, rng: Stream) -> Made:
    """The answer with another row's or column's label in place of one: the instruction now means another cell."""
    return _relabelled(sample, rng, wiped=False)


def misplaced(sample: Sample, rng: Stream) -> Made:
    """What the answer changed, half a cell from where it belongs, on the original: on a border, so in no cell."""
    frame, before, after = _frame(sample), canvas(sample).before, canvas(sample).after
    if frame is None:
        return None
    rows, cols = (np.flatnonzero(canvas(sample).edit.any(axis=axis)) for axis in (1, 0))
    patch = after[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
    if min(patch.shape[:2]) > 2 * frame.cell:
        return None
    step = (2 * rng.below(2) + 1) * frame.cell // 2
    places = [
        (rows[0] + down, cols[0] + right)
        for down, right in ((step, 0), (-step, 0), (0, step), (0, -step), (step, step), (-step, -step))
    ]
    inside = [
        (top, left)
        for top, left in places
        if frame.top <= top <= frame.bottom - len(patch) and frame.left <= left <= frame.right - patch.shape[1]
    ]
    if not inside:
        return None
    top, left = rng.choice(inside)
    image = before.copy()
    image[top : top + len(patch), left : left + patch.shape[1]] = patch
    return picture(image), False


def wrong_colour(sample: Sample, rng: Stream) -> Made:
    """The answer with what it drew in another hue, where the task names a colour."""
    if not any(name.startswith("colour") for name, _ in sample.problem.params):
        return None
    after, edit = canvas(sample).after.copy(), canvas(sample).edit
    drawn = after[edit]
    vivid = np.ptp(drawn.astype(np.int16), axis=1) > VIVID
    if not vivid.any():
        return None
    drawn[vivid] = turned(drawn[vivid], TURNED[0] + (TURNED[1] - TURNED[0]) * rng.random())
    after[edit] = drawn
    return picture(after), False


def _stands_out(image: Image.Image, sample: Sample) -> bool:
    """Whether what was drawn onto the answer is loud along most of its way: on a line of its colour nobody sees it."""
    loudly = np.count_nonzero(gap(np.asarray(image), canvas(sample).after) > LOUD)
    return bool(loudly > MOSTLY * STROKE * image.width * image.width / 4)


def _anew(sample: Sample) -> Flags:
    """(H, W): the cells that the answer drew anew, or may lay a path over, and a part of those around them."""
    edit, frame = canvas(sample).edit, _frame(sample)
    if frame is None:
        return np.asarray(cv2.dilate(edit.view(np.uint8), np.ones((NEAR, NEAR), np.uint8))).view(bool)
    position = sample.problem.position
    cells = enumerate(position.cells if isinstance(position, Maze) else "")
    ends = {Cell(*divmod(at, position.size)) for at, mark in cells if mark in (START, END)}
    lean = round(APART * frame.cell)
    around, anew = np.ones((2 * lean + 1, 2 * lean + 1), np.uint8), np.zeros(edit.shape, np.uint8)
    for row, col in np.ndindex(frame.rows, frame.cols):
        top, left = frame.top + row * frame.cell, frame.left + col * frame.cell
        cell = slice(top, top + frame.cell), slice(left, left + frame.cell)
        anew[cell] = edit[cell].any() or Cell(row, col) in ends
    return np.asarray(cv2.dilate(anew, around)).view(bool)


def _frame(sample: Sample) -> Frame | None:
    renderer, position = sample.plugin.renderer, sample.problem.position
    if not isinstance(renderer, BoardRenderer):
        return None
    return renderer.board(sample.style, *renderer.size(position)).frame


def _relabelled(sample: Sample, rng: Stream, *, wiped: bool) -> Made:
    """The answer with a label wiped off, or replaced by another one; None if these have no labels that differ."""
    frame = _frame(sample)
    if frame is None:
        return None
    image = canvas(sample).after.copy()
    down = rng.chance(0.5)
    numbers = [rng.below(frame.rows if down else frame.cols) for _ in range(2)]
    page = np.median(image[1:4].reshape(-1, 3), axis=0).astype(np.uint8)
    found = _labels(image, frame, numbers, page, down=down)
    if found is None:
        return None
    one, other = found
    replaced = np.broadcast_to(page, image[one].shape) if wiped else image[other].copy()
    if not _unlike(image[one], replaced) or not _has_ink(image[one], page):
        return None
    image[one] = replaced
    return picture(image), False


def _labels(image: Pixels, frame: Frame, numbers: list[int], page: Pixels, *, down: bool) -> list[Place] | None:
    """Where two labels are, both places of one size, as large as it takes to cut through neither; None if none is.

    In fine mazes a label stands at every fifth row only, and is wider than its cell.
    """
    for more in (-round(0.15 * frame.cell), 0, frame.cell // 2, frame.cell, 3 * frame.cell // 2):
        apart = abs(numbers[0] - numbers[1]) * frame.cell
        if 0 < apart < frame.cell + 2 * more:
            return None
        places = [_label(frame, number, more, down=down) for number in numbers]
        if image[places[0]].shape != image[places[1]].shape:  # one reaches beyond the page
            return None
        if not any(_cuts_ink(image[place], page, down=down) for place in places):
            return places
    return None


def _label(frame: Frame, number: int, more: int, *, down: bool) -> Place:
    """Where the label of a row (`down`) or column is: beside its cell, and so many pixels more on both sides."""
    band = round(frame.pixels * LABEL_BAND)
    start = (frame.top if down else frame.left) + number * frame.cell
    along = slice(max(0, start - more), start + frame.cell + more)
    beside = frame.left if down else frame.top
    across = slice(max(0, beside - band + 4), beside - 4)
    return (along, across) if down else (across, along)


def _cuts_ink(patch: Pixels, page: Pixels, *, down: bool) -> bool:
    ends = patch[[0, -1]] if down else patch[:, [0, -1]]
    return bool((gap(np.ascontiguousarray(ends), np.full_like(ends, page)) > INK).any())


def _unlike(one: Pixels, other: Pixels) -> bool:
    """Whether two patches differ by more than the edge of a letter."""
    return share(gap(np.ascontiguousarray(one), np.ascontiguousarray(other)) > INK) > 0.02


def _has_ink(patch: Pixels, page: Pixels) -> bool:
    return _unlike(patch, np.broadcast_to(page, patch.shape))


ATTACKS = (blot, ghost_stroke, pale_stroke, wiped_label, wrong_label, misplaced, wrong_colour)
