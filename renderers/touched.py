"""Cells that were to stay as they were, on a page that mostly did: a few pixels tell what was drawn on them."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels
from renderers.board import Seen
from renderers.page import Frame
from renderers.reading.foreign import most
from renderers.reading.register import WHOLE
from renderers.reading.tiles import AROUND
from renderers.reading.traces import SIDE

COVERED, SHADE = 50.0, 24
"""Grey levels by which a pixel was drawn upon, and by which it is hardly the same."""

FEW, LEAN = 3, 0.05
"""Pixels of a cell that may have any colour, and the share of it, at its border, that cells beside it may lean over."""

STILL, SOME = 16, 0.02
"""Grey levels by which no pixel of a cell may differ that is the very same, and the share of cells that may, or one."""

FADING = 1.6
"""Pixels of a compared page, at a cell's border, in which what leans over from beside it fades."""

NUDGED = 0.2
"""Pixels of a compared page by which a picture that was moved does not lie on them."""

CORNERS = np.array([[[-1, -1], [1, -1], [-1, 1], [1, 1]]], np.float64)
"""(1, 4, 2): those of a page, normalised: nothing on it moves farther."""


def page_of(seen: Seen) -> Pixels | None:
    """(SIDE, SIDE, 3): the page as the editor left it, colour drift undone; None if it is smaller."""
    if min(seen.registration.image.shape[:2]) < SIDE:
        return None
    return seen.registration.page(seen.drift, SIDE)


def changes(page: Pixels, seen: Seen) -> Pixels:
    """(SIDE, SIDE): by how many grey levels each pixel of the page is otherwise than it was given."""
    return most(cv2.absdiff(page, seen.page.at(SIDE).pixels))


def given_drawn_on(
    page: Pixels, gap: Pixels, seen: Seen, given: NDArray[np.bool_], *, lean: float = LEAN
) -> Cell | None:
    """A cell with something `given` in which something was drawn, by the changes of the page, but for its border, over
    which a new cell may `lean`.

    Most others must be quite as they were: compression, blur and a picture that lies askew change all of them. Where
    all but a few are the very same, a paler change is enough.
    """
    loud = gap > (SHADE if are_still(gap, seen, given, STILL, lean=lean) else COVERED)
    lean = max(lean, FADING / (seen.frame.cell * SIDE / seen.frame.pixels))
    drawn = given & (count_inside(loud, seen.frame, lean) > FEW)
    if not drawn.any() or np.median(count_inside(gap > SHADE, seen.frame, lean)[given]) > FEW:
        return None
    odd = loud & seen.registration.covers(WHOLE, (SIDE, SIDE))
    if _is_nudged(seen):
        odd &= _beyond(page, seen.page.at(SIDE).pixels) > SHADE
    touched = np.argwhere(drawn & (count_inside(odd, seen.frame, lean) > FEW))
    return Cell(*touched[0].tolist()) if len(touched) else None


def are_still(gap: Pixels, seen: Seen, cells: NDArray[np.bool_], levels: int, *, lean: float = LEAN) -> bool:
    """Whether a page lies where it lay, and hardly any of these cells has a pixel that changed by more than so many
    grey levels."""
    if _is_nudged(seen):
        return False
    changed = np.count_nonzero(count_inside(gap > levels, seen.frame, lean)[cells])
    return bool(changed <= max(1, SOME * np.count_nonzero(cells)))


def count_inside(found: NDArray[np.bool_], frame: Frame, lean: float = LEAN) -> NDArray[np.intp]:
    """(R, C): how many true values (SIDE, SIDE) are inside of each cell, but for so much of it at its border."""
    places = np.flatnonzero(found)  # few, nearly always
    counts = np.bincount(_insides(frame, lean).take(places), minlength=frame.rows * frame.cols + 1)
    return counts[1:].reshape(frame.rows, frame.cols)


def first(cells: NDArray[np.bool_]) -> Cell | None:
    """The first cell that is true of (R, C)."""
    return Cell(*(int(at) for at in np.argwhere(cells)[0])) if cells.any() else None


def _is_nudged(seen: Seen) -> bool:
    """Whether a page lies askew on the one that was given, so that the edges of things are mixed otherwise."""
    moved = cv2.perspectiveTransform(CORNERS, seen.registration.matrix) - CORNERS
    return bool(np.abs(moved).max() > NUDGED * 2 / SIDE)


def _beyond(page: Pixels, given: Pixels) -> Pixels:
    """(h, w): by how many grey levels the pixels of a page are outside all that was given around them."""
    low, high = cv2.erode(given, AROUND), cv2.dilate(given, AROUND)
    return most(cv2.max(cv2.subtract(low, page), cv2.subtract(page, high)))


@lru_cache(maxsize=64)
def _insides(frame: Frame, lean: float) -> NDArray[np.intp]:
    """(SIDE, SIDE): the number of the cell, from 1 on, in which each pixel of the page is, but for its border; or 0."""
    places = (np.arange(SIDE) + 0.5) * frame.pixels / SIDE
    row, col = ((places - start) / frame.cell for start in (frame.top, frame.left))
    down, across = (
        (at > 0) & (at < count) & (np.abs(at % 1 - 0.5) < 0.5 - lean)
        for at, count in ((row, frame.rows), (col, frame.cols))
    )
    numbers = 1 + (row // 1)[:, None] * frame.cols + col // 1
    return np.where(down[:, None] & across, numbers, 0).astype(np.intp)
