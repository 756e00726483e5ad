"""What is looked at on the whole page of a sudoku: givens drawn on, grid lines that are gone, another look."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels, Style
from renderers.board import Seen
from renderers.page import Frame
from renderers.reading.compared import WHOLE
from renderers.reading.foreign import most, off_colours
from renderers.reading.register import Floats
from renderers.reading.stains import GONE, Lines
from renderers.reading.tiles import AROUND, split_cells
from renderers.reading.traces import SIDE
from renderers.sudoku_reading import COVERED, FEW, LEAN, SHADE, first, middle_colours

ANOTHER_FORM = 0.2
"""The share of most marks of colour that may have changed: sharpening changes 0.15 of them, tiles in place of discs or
filled cells 0.25."""

SHADED = 10.0
"""Grey levels by which boxes may be lighter or darker beside the others than they were."""

LUMA = np.array([0.299, 0.587, 0.114])
"""What red, green and blue have of the brightness of a colour."""

BRIGHTEST, UNEVEN = 1.3, 0.06
"""How many times as bright a picture may have become, and by how much of that its parts may differ."""

NUDGED = 0.2
"""Pixels of a compared page by which a picture that was moved does not lie on them."""

BESIDE = 0.2
"""Share of a cell by which the middle of a line is away from the cells beside it, at least."""


def page_of(seen: Seen) -> Pixels | None:
    """(SIDE, SIDE, 3): the page as the editor left it, colour drift undone; None if it is smaller."""
    if min(seen.registration.image.shape[:2]) < SIDE:
        return None
    return seen.drift.mend(seen.registration.part(WHOLE, (SIDE, SIDE)))


def changes(page: Pixels, seen: Seen) -> Pixels:
    """(SIDE, SIDE): by how many grey levels each pixel of the page is otherwise than it was given."""
    return most(cv2.absdiff(page, seen.page.at(SIDE).pixels))


def are_in_another_form(gap: Pixels, seen: Seen, given: NDArray[np.bool_]) -> bool:
    """Whether most marks of colour that were `given` have become smaller or larger, by the changes of the page: tiles
    in place of filled cells are another look of the whole board."""
    whole = _count(np.ones_like(gap, bool), seen.frame)[given]
    return bool(given.any() and np.median(_count(gap > COVERED, seen.frame)[given] / whole) > ANOTHER_FORM)


def given_drawn_on(page: Pixels, gap: Pixels, seen: Seen, given: NDArray[np.bool_]) -> Cell | None:
    """A cell with something `given` in which something was drawn, by the changes of the page, but for its border, where
    a new cell may lean over.

    Most others must be quite as they were: compression, blur and a picture that lies askew change all of them.
    """
    drawn = given & (_count(gap > COVERED, seen.frame) > FEW)
    if not drawn.any() or np.median(_count(gap > SHADE, seen.frame)[given]) > FEW:
        return None
    odd = (gap > COVERED) & seen.registration.covers(WHOLE, (SIDE, SIDE))
    if _is_nudged(seen):
        odd &= _beyond(page, seen.page.at(SIDE).pixels) > SHADE
    return first(drawn & (_count(odd, seen.frame) > FEW))


def line_gone(
    page: Pixels, seen: Seen, lines: tuple[Lines, Lines], coloured: NDArray[np.bool_], style: Style
) -> Cell | None:
    """A cell whose grid lines are gone, and not under the colour of a cell beside them that is `coloured` (R, C)."""
    down, across = lines
    places = np.concatenate([_gone(down, page), _gone(across, page.transpose(1, 0, 2))[:, ::-1]])
    if not len(places):
        return None
    middles = middle_colours(seen)
    inks = [np.array(style.colours()[name], np.float32) for name in ("line", "box")]
    gone = np.zeros_like(coloured)
    shown = places[seen.registration.covers(WHOLE, (SIDE, SIDE))[tuple(places.T)]]
    for beside, there in _by_cells(shown, seen.frame):
        colours = [middles[cell] for cell in beside if coloured[cell]]
        drawn = page[tuple(there.T)].astype(np.float32)
        if beside and (not colours or off_colours(drawn, np.array([*colours, *inks]), COVERED).any()):
            gone[beside[0]] = True
    return first(gone)


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


def _is_nudged(seen: Seen) -> bool:
    """Whether a page lies askew on the one that was given, so that the edges of things are mixed otherwise."""
    return bool(np.abs(seen.registration.matrix - np.eye(3)).sum(axis=1).max() > NUDGED * 2 / SIDE)


def _beyond(page: Pixels, given: Pixels) -> Pixels:
    """(h, w): by how many grey levels the pixels of a page are outside all that was given around them."""
    low, high = cv2.erode(given, AROUND), cv2.dilate(given, AROUND)
    return most(cv2.max(cv2.subtract(low, page), cv2.subtract(page, high)))


def _count(found: NDArray[np.bool_], frame: Frame) -> NDArray[np.intp]:
    """(R, C): how many true values (SIDE, SIDE) are inside of each cell."""
    counts = np.bincount(_insides(frame)[found], minlength=frame.rows * frame.cols + 1)
    return counts[1:].reshape(frame.rows, frame.cols)


@lru_cache(maxsize=64)
def _insides(frame: Frame) -> NDArray[np.intp]:
    """(SIDE, SIDE): the number of the cell, from 1 on, in which each pixel of the page is, but for its border; or 0."""
    places = (np.arange(SIDE) + 0.5) * frame.pixels / SIDE
    row, col = ((places - start) / frame.cell for start in (frame.top, frame.left))
    down, across = (
        (at > 0) & (at < count) & (np.abs(at % 1 - 0.5) < 0.5 - LEAN)
        for at, count in ((row, frame.rows), (col, frame.cols))
    )
    numbers = 1 + (row // 1)[:, None] * frame.cols + col // 1
    return np.where(down[:, None] & across, numbers, 0).astype(np.intp)


def _gone(lines: Lines, page: Pixels) -> NDArray[np.intp]:
    """(N, 2): where lines are gone. They are not looked for in a page on which every one is plainly where it was."""
    there = page[lines.at, lines.start : lines.start + lines.colours.shape[1]]
    if (np.abs(there - lines.colours) <= GONE * lines.contrast[:, :, None]).all():
        return np.empty((0, 2), np.intp)
    return lines.gone(page)


def _by_cells(places: NDArray[np.intp], frame: Frame) -> Iterator[tuple[list[Cell], NDArray[np.intp]]]:
    """Pixels (N, 2) of the page at the size where lines are seen, those together that have the same cells around."""
    at = (places * frame.pixels / SIDE - (frame.top, frame.left)) / frame.cell
    ends = np.floor(np.concatenate([at - BESIDE, at + BESIDE], axis=1)).astype(np.intp)  # up, left, down, right
    groups, which = np.unique(ends, axis=0, return_inverse=True)
    for number, (up, left, down, right) in enumerate(groups.tolist()):
        around = [(row, col) for row in (up, down) for col in (left, right)]
        cells = [Cell(row, col) for row, col in around if 0 <= row < frame.rows and 0 <= col < frame.cols]
        yield cells, places[which.ravel() == number]


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
