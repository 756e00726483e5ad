"""What is looked at on the whole page of a sudoku: whether it has another look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels, Style
from renderers.board import Seen
from renderers.page import Frame
from renderers.reading.compared import WHOLE
from renderers.reading.register import Floats
from renderers.reading.tiles import split_cells
from renderers.touched import COVERED, count_inside

ANOTHER_FORM = 0.2
"""The share of most marks of colour that may have changed: sharpening changes 0.15 of them, tiles in place of discs or
filled cells 0.25."""

SHADED = 10.0
"""Grey levels by which boxes may be lighter or darker beside the others than they were."""

LUMA = np.array([0.299, 0.587, 0.114])
"""What red, green and blue have of the brightness of a colour."""

BRIGHTEST, UNEVEN = 1.3, 0.06
"""How many times as bright a picture may have become, and by how much of that its parts may differ."""


def are_in_another_form(gap: Pixels, seen: Seen, given: NDArray[np.bool_]) -> bool:
    """Whether most marks of colour that were `given` have become smaller or larger, by the changes of the page: tiles
    in place of filled cells are another look of the whole board."""
    whole = count_inside(np.ones_like(gap, bool), seen.frame)[given]
    return bool(given.any() and np.median(count_inside(gap > COVERED, seen.frame)[given] / whole) > ANOTHER_FORM)


def is_shaded_anew(seen: Seen, boxes: NDArray[np.intp], style: Style) -> bool:
    """Whether the grounds of some boxes, those with a 1 in `boxes` (R, C), differ otherwise from the others than they
    did: then the board was drawn anew, in another look. In a picture that was brightened white may be all that is left
    of both."""
    given = _grounds(seen.known, seen.frame)
    if not _differ(_grounds(seen.board, seen.frame), given, boxes):
        return False
    gain = _brightening(seen, style)
    if gain is None:
        return True
    raw = seen.registration.crop(seen.frame.box, (seen.board.shape[1], seen.board.shape[0]))
    return _differ(_grounds(raw, seen.frame), np.minimum(gain * given, 255), boxes)


def _differ(grounds: Floats, others: Floats, boxes: NDArray[np.intp]) -> bool:
    """Whether the boxes are otherwise apart in the grounds (R, C, 3) than in the others."""
    apart = [each[boxes == 1].mean(axis=0) - each[boxes == 0].mean(axis=0) for each in (grounds, others)]
    return bool(np.abs(apart[0] - apart[1]).max() > SHADED)


def _grounds(board: Floats, frame: Frame) -> Floats:
    """(R, C, 3): the grounds of the cells of a board."""
    some = split_cells(board, frame.rows, frame.cols)[:, :, 1::3, 1::3]
    pixels = some.reshape(*some.shape[:2], -1, 3)
    middle = pixels.shape[2] // 2
    grounds: Floats = np.partition(pixels, middle, axis=2)[:, :, middle]
    return grounds


def _brightening(seen: Seen, style: Style) -> float | None:
    """How many times as bright as it was all that was drawn has become, the digits and the lines around boxes alike;
    None if it has not."""
    given = seen.page.picture.rgb()
    page = seen.registration.part(WHOLE, (given.shape[1], given.shape[0]))
    gains = []
    for name in ("ink", "box"):
        colour = np.array(style.colours()[name], np.uint8)
        there = page[(given == colour).all(axis=2)]
        if not len(there) or not colour.any():  # black stays black, however bright the rest becomes
            return None
        gains.append(float(np.median(there @ LUMA) / (colour @ LUMA)))
    return min(gains) if min(gains) > 1 and max(gains) < min(BRIGHTEST, min(gains) + UNEVEN) else None
