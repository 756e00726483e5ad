"""Traces of drawing where nothing was to be drawn: on the page, over labels, and in cells that are as they were.

The picture is compared with the one that the editor was given, at a size at which thin strokes still show. Compression,
blur and sharpening leave their traces everywhere; a hand leaves them in one place. So a place is told by how much more
of it differs than of others. What labels say is looked at, too, see `labels`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import cv2
import numpy as np

from gamegen.core.rendering import Picture, Pixels
from renderers.page import Frame
from renderers.reading.colour import Drift
from renderers.reading.compared import WINDOW, Compared
from renderers.reading.foreign import Flags, Part, most
from renderers.reading.pages import Clean, Page
from renderers.reading.register import Floats, Registration

SIDE, COARSEST = 256, 128
"""Side at which pictures are compared, and below which they show too little."""

LEAN = 4
"""Pixels by which what is drawn anew may lean over what it was to cover."""

DETAIL, FINE = 96, 16
"""A picture that nowhere differs by so many grey levels from itself at this side shows too little, however large."""

TIMES = 3.0
"""So many times the strange pixels that most windows have must be in the one that is drawn upon, too."""

SLIPS = 3
"""So many strange pixels more may be around things that lie where an editor laid them: a patch under one may end beside
a grid line, and one laid large has sharper corners than ours enlarged."""

LARGE = 36
"""Pixels across a cell from which on the edges of things that were laid a little off are told from strokes."""

BORDER, LEANING = 0.3, 0.06
"""Shares of a cell around one that was drawn anew: within the first nothing is known of how good the picture is, and by
the second what was drawn into it may lean over."""

AsLaid = Callable[[Pixels], Picture]
"""From the page (side, side, 3) as it is seen, a clean picture whose things are where an editor laid them."""


def find_traces(
    registration: Registration,
    drift: Drift,
    page: Page,
    after: Picture | None,
    changed: Flags,
    *,
    own_colours: bool = True,
    own_places: bool = True,
    as_laid: AsLaid | None = None,
) -> str:
    """Where something was drawn: "the margin", "cell (1, 2)", "a label" or nothing.

    Cells drawn anew, `changed` (R, C), may look unlike ours; only colours that `after`, the clean picture of what was
    read, does not have are foreign to them, and if they need not be in our `own_colours`, only beside marks that are.
    Without `after` they are not looked at. Marks lie about where ours do, unless they need not be in our `own_places`.
    Where cells still seem to have something foreign in them, `as_laid` gives a picture to compare them with once more.
    """
    side = _side(registration)
    if side is None or page.frame is None:
        return ""
    cells, near = (_cells(page.frame, changed, side, border) for border in (BORDER, LEANING))
    compared = Compared(registration, drift, page, _drawn(cells, side), _drawn(near, side))
    compared.demand_own_board(registration)
    densest = partial(_densest, registration=registration)
    within = partial(compared.within, cells=cells, own_colours=own_colours, own_places=own_places)
    beside = compared.beside()
    place = densest(beside, least=compared.least)
    if place is None:
        inside = within(after)
        place = densest(beside | inside, least=compared.least) if inside.any() else None
        if place is not None and as_laid is not None:
            inside = within(as_laid(compared.seen), is_laid=page.frame.cell >= LARGE)
            place = densest(beside | inside, least=compared.least + SLIPS)
    place = place or compared.patch()
    if place is not None:
        trace = _name(page.frame, *place)
    else:
        is_untouched = compared.is_untouched
        differ = any(labels.differ(compared.seen, is_untouched=is_untouched) for labels in page.labels(side))
        trace = "a label" if differ else ""
    return "" if trace and is_coarse(registration.image) else trace


def page_is_marked(registration: Registration, drift: Drift, page: Page, after: Picture, redrawn: Pixels) -> bool:
    """The same for a page that is no board: whether something was drawn beside what `after` shows otherwise, and what
    was drawn anew though it may look as before: where `redrawn` (H, W) is not 0."""
    side = _side(registration)
    if side is None:
        return False
    anew = cv2.resize(redrawn, (side, side), interpolation=cv2.INTER_AREA)
    edited = cv2.add(most(cv2.absdiff(page.at(side).pixels, Clean.of(after, side).pixels)), anew) > 0
    drawn = cv2.dilate(edited.view(np.uint8), np.ones((2 * LEAN + 1, 2 * LEAN + 1), np.uint8)).view(bool)
    compared = Compared(registration, drift, page, drawn)
    compared.demand_own_board(registration)
    found = compared.beside() | compared.within(after, [], own_colours=True)
    place = _densest(found, registration, least=compared.least) or compared.patch()
    return place is not None and not is_coarse(registration.image)


def _side(registration: Registration) -> int | None:
    """The side at which a page is compared; None if it shows too little."""
    side = min(SIDE, *registration.image.shape[:2])
    return side if side >= COARSEST else None


def _densest(found: Flags, registration: Registration, *, least: float) -> tuple[float, float] | None:
    """The middle, as shares of the picture, of the window with most strange pixels, if they are more than `least`."""
    if np.count_nonzero(found) <= least:
        return None
    found = registration.only_seen(found)
    side, share = len(found), _windows(found)
    row, col = (int(at) for at in np.unravel_index(int(share.argmax()), share.shape))
    if share[row, col] <= least / WINDOW**2 or share[row, col] <= least / WINDOW**2 + TIMES * _usual(share):
        return None
    return (row + WINDOW / 2) / side, (col + WINDOW / 2) / side


def _usual(share: Floats) -> float:
    """What nine of ten windows have at most."""
    return float(np.quantile(share, 0.9))


def is_coarse(image: Pixels) -> bool:
    """Whether a picture was enlarged from so small a one, or blurred so much, that no thin stroke can be in it."""
    large = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    small = cv2.resize(large, (DETAIL, DETAIL), interpolation=cv2.INTER_AREA)
    again = cv2.resize(small, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    return bool(cv2.absdiff(large, again).max() < FINE)


def _cells(frame: Frame, changed: Flags, side: int, border: float) -> list[Part]:
    """The cells drawn anew, and so much around each, but hardly anything beside the board."""
    scale = side / frame.pixels

    def along(start: int, at: int, count: int) -> slice:
        low, high = max(0.0, at - border), min(float(count), at + 1 + border)
        return slice(int((start + low * frame.cell) * scale) - 1, int((start + high * frame.cell) * scale) + 2)

    rows = [along(frame.top, row, frame.rows) for row in range(frame.rows)]
    cols = [along(frame.left, col, frame.cols) for col in range(frame.cols)]
    return [(rows[row], cols[col]) for row, col in np.argwhere(changed).tolist()]


def _drawn(cells: list[Part], side: int) -> Flags:
    """(side, side): everything in these cells."""
    mask = np.zeros((side, side), bool)
    for cell in cells:
        mask[cell] = True
    return mask


def _windows(found: Flags) -> Floats:
    """The share of true values in every window."""
    sums = cv2.boxFilter(found.view(np.uint8), cv2.CV_32S, (WINDOW, WINDOW), anchor=(0, 0), normalize=False)
    high, wide = (side - WINDOW + 1 for side in found.shape)
    share: Floats = sums[:high, :wide] / WINDOW**2
    return share


def _name(frame: Frame, y: float, x: float) -> str:
    row, col = int((y * frame.pixels - frame.top) // frame.cell), int((x * frame.pixels - frame.left) // frame.cell)
    return f"cell ({row}, {col})" if 0 <= row < frame.rows and 0 <= col < frame.cols else "the margin"
