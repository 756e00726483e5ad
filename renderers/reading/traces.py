"""Traces of drawing where nothing was to be drawn: on the page, over labels, and in cells that are as they were.

The picture is compared with the one that the editor was given, at a size at which thin strokes still show. Compression,
blur and sharpening leave their traces everywhere; a hand leaves them in one place. So a place is told by how much more
of it differs than of others. What labels say is looked at, too, see `labels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Picture, Pixels
from renderers.page import Frame
from renderers.reading.colour import Drift
from renderers.reading.foreign import FOREIGN, Tints, off_colours, scratched, spoilt
from renderers.reading.labels import labels_differ
from renderers.reading.register import Box, Floats, Registration
from renderers.reading.tiles import AROUND

Flags = NDArray[np.bool_]
Part = tuple[slice, slice]
"""Rows and columns of a picture."""

SIDE, COARSEST = 256, 128
"""Side at which pictures are compared, and below which they show too little."""

FAINTEST, UNLIKE, HALO = 36.0, 70.0, 0.35
"""A pixel is strange if in some colour it is outside all clean ones around it by so many grey levels (the first in a
clean picture, at most the second in a bad one) and by so much of the contrast near it, which sharpening turns into
halos."""

NOISY, SPREAD = 0.98, 3.0
"""How bad a picture is: this quantile of what is strange in it, and by how much more a trace must be."""

UNTOUCHED, CHANGED, FEW = 4.0, 60, 5.0
"""A picture that, but for few pixels, is as it was to so many grey levels was neither compressed nor brought to another
size: then more than so few pixels that differ by so much were drawn, or wiped off."""

BROAD, REDRAWN, BROAD_NOISE = 64, 0.5, 6.0
"""Side at which pictures are compared as a whole, the share of what varies in the given one that may be otherwise
there, and grey levels of difference that mean nothing."""

ACROSS = 1.0
"""So many strange pixels, as a share of a cell's side, are needed to spoil it."""

RIM = 0.14
"""Share of a cell drawn anew, and of a little around it, in which the edge of its mark may be."""

LEAN = 4
"""Pixels by which what is drawn anew may lean over what it was to cover."""

TINTED = 90
"""A pixel of a tint by so many grey levels unlike all clean ones around it is strange, too."""

COLOURS = 12
"""How many colours of a clean picture count, the commonest, where colours that it does not have are looked for."""

DETAIL, FINE = 96, 16
"""A picture that nowhere differs by so many grey levels from itself at this side shows too little, however large."""

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)

WINDOW, DENSE, TIMES = 12, 0.11, 3.0
"""A window of so many pixels is drawn upon if this share of it differs, and so many times what differs elsewhere."""

ENOUGH = 2000
"""So many pixels of a class, or a few less, tell what has become of it."""

REACH = 2
"""Pixels beside a pixel that have a say in which levels are strange there."""

BORDER = 0.3
"""Share of a cell by which what is drawn into it may lean over."""

_SLACK = np.ceil(HALO * np.arange(256)).astype(np.uint8)
"""By contrast, how far halos may reach."""


class Page:
    """The picture as the editor was given it; what is compared with it is worked out once for every size.

    `frame` is where its board lies, if it is one.
    """

    def __init__(self, picture: Picture, frame: Frame | None) -> None:
        self.frame = frame
        self.picture = picture
        self._clean: dict[int, Clean] = {}
        self._tints: dict[int, Tints] = {}

    def at(self, side: int) -> Clean:
        if side not in self._clean:
            self._clean[side] = Clean.of(self.picture, side)
        return self._clean[side]

    def tints(self, side: int) -> Tints:
        if side not in self._tints:
            self._tints[side] = Tints.of(self.at(side).pixels, TINTED)
        return self._tints[side]


@dataclass(frozen=True, slots=True, eq=False)
class Clean:
    """A clean picture at some size, or a part of it, and the levels between which nothing is strange, with halos."""

    pixels: Pixels  # (h, w, 3)
    low: Pixels
    high: Pixels

    @classmethod
    def of(cls, picture: Picture, side: int, part: Part | None = None) -> Clean:
        rows, cols = (slice(0, side), slice(0, side)) if part is None else part
        (rows, down), (cols, across) = _widened(rows, side), _widened(cols, side)
        pixels = _shrunk(picture, side, (rows, cols))
        low, high = cv2.erode(pixels, AROUND), cv2.dilate(pixels, AROUND)
        slack = cv2.LUT(cv2.subtract(cv2.dilate(high, AROUND), cv2.erode(low, AROUND)), _SLACK)
        low, high = cv2.subtract(low, slack), cv2.add(high, slack)
        return cls(*(np.ascontiguousarray(each[down, across]) for each in (pixels, low, high)))

    def excess(self, seen: Pixels) -> Pixels:
        """(h, w, 3): by how many grey levels a picture is outside; 0 where it is inside."""
        return np.asarray(cv2.max(cv2.subtract(self.low, seen), cv2.subtract(seen, self.high)))


def find_traces(
    registration: Registration,
    drift: Drift,
    page: Page,
    after: Picture | None,
    changed: Flags,
    *,
    own_colours: bool = True,
) -> str:
    """Where something was drawn: "the margin", "cell (1, 2)", "a label" or nothing.

    Cells drawn anew, `changed` (R, C), may look unlike ours; only colours that `after`, the clean picture of what was
    read, does not have are foreign to them, and if they need not be in our `own_colours`, only beside marks that are.
    Without `after` they are not looked at.
    """
    side = _side(registration)
    if side is None or page.frame is None:
        return ""
    cells = _cells(page.frame, changed, side)
    compared = _Compared(_seen(registration, drift, side), page, _drawn(cells, side))
    compared.demand_own_board(registration)
    found = compared.beside() | compared.within(after, cells, own_colours=own_colours)
    place = _densest(found, registration, compared.least)
    if place is not None:
        trace = _name(page.frame, *place)
    else:
        trace = "a label" if labels_differ(compared.seen, compared.clean.pixels, page.frame) else ""
    return "" if trace and _coarse(registration.image) else trace


def page_is_marked(registration: Registration, drift: Drift, page: Page, after: Picture, redrawn: Pixels) -> bool:
    """The same for a page that is no board: whether something was drawn beside what `after` shows otherwise, and what
    was drawn anew though it may look as before: where `redrawn` (H, W) is not 0."""
    side = _side(registration)
    if side is None:
        return False
    anew = cv2.resize(redrawn, (side, side), interpolation=cv2.INTER_AREA)
    edited = cv2.add(_most(cv2.absdiff(page.at(side).pixels, Clean.of(after, side).pixels)), anew) > 0
    drawn = cv2.dilate(edited.view(np.uint8), np.ones((2 * LEAN + 1, 2 * LEAN + 1), np.uint8)).view(bool)
    compared = _Compared(_seen(registration, drift, side), page, drawn)
    compared.demand_own_board(registration)
    found = compared.beside() | compared.within(after, [], own_colours=True)
    return _densest(found, registration, compared.least) is not None and not _coarse(registration.image)


class _Compared:
    """A page as the editor left it, (side, side, 3), beside the one that was given; `drawn` is what may be new."""

    def __init__(self, seen: Pixels, page: Page, drawn: Flags) -> None:
        self.seen, self.page, self.drawn = seen, page, drawn
        self.clean = page.at(len(seen))
        self._excess = _most(self.clean.excess(seen))
        self._badness = SPREAD * _quantile(self._excess, drawn, NOISY)
        self._gap = _most(cv2.absdiff(seen, self.clean.pixels))
        self._is_untouched = _quantile(self._gap, drawn, NOISY) <= UNTOUCHED

    def demand_own_board(self, registration: Registration) -> None:
        """Raise UnreadableImage if what was given explains too little of what is seen: a board in another look."""
        seen, known, drawn = (
            cv2.resize(each, (BROAD, BROAD), interpolation=cv2.INTER_AREA)
            for each in (self.seen, self.clean.pixels, self.drawn.view(np.uint8) * np.uint8(255))
        )
        old = ((drawn == 0) & registration.covers(WHOLE, (BROAD, BROAD))).view(np.uint8)
        size = cv2.countNonZero(old)
        spread = size * float((cv2.meanStdDev(known, mask=old)[1] ** 2).sum())
        gap = cv2.norm(seen, known, cv2.NORM_L2SQR, mask=old)
        if gap > REDRAWN * spread + 3 * size * BROAD_NOISE**2:
            raise UnreadableImage("the board has been drawn anew, in another look")

    @property
    def least(self) -> float:
        """How many strange pixels in a window are a trace: very few where the rest was not even compressed."""
        return FEW if self._is_untouched else DENSE * WINDOW**2

    def beside(self) -> Flags:
        """(h, w): strange pixels where nothing was to be drawn."""
        found = self._excess > int(min(UNLIKE, FAINTEST + self._badness))
        tinted = self.page.tints(len(self.seen)).strange(self.seen)
        if tinted is not None:
            found |= tinted
        if self._is_untouched:
            found |= self._gap > CHANGED
        found &= ~self.drawn
        return _lonely(found, self.seen, self.clean.pixels) if np.count_nonzero(found) > self.least else found

    def within(self, after: Picture | None, cells: list[Part], *, own_colours: bool) -> Flags:
        """(h, w): foreign pixels in what is drawn anew, if it was to look like `after`."""
        found = np.zeros_like(self.drawn)
        if after is None or not self.drawn.any():
            return found
        part = _around(self.drawn)
        meant, seen = Clean.of(after, len(self.seen), part), self.seen[part]
        strange = _most(meant.excess(seen)) * self.drawn[part]
        loud = int(UNLIKE + self._badness)
        if strange.max() > UNLIKE:
            odd = strange > loud
            least = self.least if self._is_untouched else ACROSS * _width(cells)
            within = _within(cells, part)
            found[part] = spoilt(seen, odd, self.clean.pixels[part], meant.pixels, within, least=least)
            if own_colours:
                found[part] |= _foreign(seen, odd, after)
        if cells:
            rim = round(RIM * _width(cells))
            found[part] |= scratched(seen, self.clean.pixels[part], meant.pixels, rim=rim, loud=loud) & self.drawn[part]
        return found


def _side(registration: Registration) -> int | None:
    """The side at which a page is compared; None if it shows too little."""
    side = min(SIDE, *registration.image.shape[:2])
    return side if side >= COARSEST else None


def _seen(registration: Registration, drift: Drift, side: int) -> Pixels:
    """(side, side, 3): the page as the editor left it, colour drift undone."""
    return drift.mend(registration.part(WHOLE, (side, side)))


def _most(levels: Pixels) -> Pixels:
    """(h, w): the highest of the three levels (h, w, 3)."""
    red, green, blue = cv2.split(levels)
    return np.asarray(cv2.max(cv2.max(red, green), blue))


def _quantile(levels: Pixels, drawn: Flags, share: float) -> float:
    """Of levels (h, w), where nothing is drawn anew."""
    counts = cv2.calcHist([levels], [0], (~drawn).view(np.uint8), [256], [0, 256]).ravel().cumsum()
    return float(np.searchsorted(counts, share * counts[-1]))


def _foreign(seen: Pixels, strange: Flags, clean: Picture) -> Flags:
    """(h, w): which strange pixels are in no colour of a clean picture.

    Two of its colours may be mixed, or one with black or white: that is what soft edges and other shades look like.
    """
    drawn = seen[strange].astype(np.float32)
    if not len(drawn):
        return strange
    areas = np.bincount(clean.pixels.ravel(), minlength=len(clean.palette))
    commonest = np.argsort(-areas, kind="stable")[:COLOURS]
    colours = np.concatenate([clean.palette[commonest], [(0, 0, 0), (255, 255, 255)]]).astype(np.float32)
    foreign = strange.copy()
    foreign[strange] = off_colours(drawn, colours) > FOREIGN
    return foreign


def _densest(found: Flags, registration: Registration, least: float) -> tuple[float, float] | None:
    """The middle, as shares of the picture, of the window with most strange pixels, if they are more than `least`."""
    if np.count_nonzero(found) <= least:
        return None
    side = len(found)
    share = _windows(found & registration.covers(WHOLE, (side, side)))
    row, col = (int(at) for at in np.unravel_index(int(share.argmax()), share.shape))
    if share[row, col] <= least / WINDOW**2 + TIMES * float(np.quantile(share, 0.9)):
        return None
    return (row + WINDOW / 2) / side, (col + WINDOW / 2) / side


def _coarse(image: Pixels) -> bool:
    """Whether a picture was enlarged from so small a one, or blurred so much, that no thin stroke can be in it."""
    large = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    small = cv2.resize(large, (DETAIL, DETAIL), interpolation=cv2.INTER_AREA)
    again = cv2.resize(small, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    return bool(cv2.absdiff(large, again).max() < FINE)


def _shrunk(picture: Picture, side: int, part: Part) -> Pixels:
    """(h, w, 3): the part of a picture of this side that a larger one is made into."""
    times, odd = divmod(len(picture.pixels), side)
    if odd:
        return np.asarray(cv2.resize(_coloured(picture), (side, side), interpolation=cv2.INTER_AREA))[part]
    rows, cols = (slice(times * each.start, times * each.stop) for each in part)
    pixels = _coloured(replace(picture, pixels=picture.pixels[rows, cols]))
    size = pixels.shape[1] // times, pixels.shape[0] // times
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))


def _coloured(picture: Picture) -> Pixels:
    """(H, W, 3), as `Picture.rgb`, but faster."""
    colours = np.zeros((256, 1, 3), np.uint8)
    colours[: len(picture.palette), 0] = picture.palette
    return np.asarray(cv2.applyColorMap(picture.pixels, colours))


def _widened(part: slice, side: int) -> Part:
    """So much more, on both sides, as the levels of its pixels are decided by; and where in that the part is."""
    start, stop = max(0, part.start - REACH), min(side, part.stop + REACH)
    return slice(start, stop), slice(part.start - start, part.stop - start)


def _around(found: Flags) -> Part:
    """The smallest part of a picture with all true values."""
    rows, cols = (np.flatnonzero(found.any(axis=axis)) for axis in (1, 0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)


def _lonely(found: Flags, seen: Pixels, known: Pixels) -> Flags:
    """Without pixels of a colour that has become the same other one everywhere, as in a picture of few colours."""
    red, green, blue = ((known[..., channel] >> 5).astype(np.int16) for channel in range(3))
    classes, colours = (64 * red + 8 * green + blue).ravel(), seen.reshape(-1, 3)
    strange = np.flatnonzero(found)
    of_class = classes[strange]
    result = np.zeros(found.size, bool)
    for number in np.unique(of_class):
        there, mine = np.flatnonzero(classes == number), strange[of_class == number]
        usual = np.median(colours[there[:: 1 + len(there) // ENOUGH]], axis=0)
        result[mine] = np.abs(colours[mine] - usual).max(axis=1) > FAINTEST
    return result.reshape(found.shape)


def _cells(frame: Frame, changed: Flags, side: int) -> list[Part]:
    """The cells drawn anew, and a little around each, but hardly anything beside the board."""
    scale = side / frame.pixels

    def along(start: int, at: int, count: int) -> slice:
        low, high = max(0.0, at - BORDER), min(float(count), at + 1 + BORDER)
        return slice(int((start + low * frame.cell) * scale) - 1, int((start + high * frame.cell) * scale) + 2)

    rows = [along(frame.top, row, frame.rows) for row in range(frame.rows)]
    cols = [along(frame.left, col, frame.cols) for col in range(frame.cols)]
    return [(rows[row], cols[col]) for row, col in np.argwhere(changed).tolist()]


def _width(cells: list[Part]) -> int:
    """Pixels across a cell and what is around it; 0 if there are none."""
    return min((min(part.stop - part.start for part in cell) for cell in cells[:1]), default=0)


def _drawn(cells: list[Part], side: int) -> Flags:
    """(side, side): everything in these cells."""
    mask = np.zeros((side, side), bool)
    for cell in cells:
        mask[cell] = True
    return mask


def _within(cells: list[Part], part: Part) -> Iterator[Part]:
    """The cells, as parts of the part of the picture that they all are in."""
    down, right = (each.start for each in part)
    for rows, cols in cells:
        yield slice(rows.start - down, rows.stop - down), slice(cols.start - right, cols.stop - right)


def _windows(found: Flags) -> Floats:
    """The share of true values in every window."""
    sums = cv2.integral(found.view(np.uint8))
    inside = sums[WINDOW:, WINDOW:] - sums[:-WINDOW, WINDOW:] - sums[WINDOW:, :-WINDOW] + sums[:-WINDOW, :-WINDOW]
    share: Floats = inside / WINDOW**2
    return share


def _name(frame: Frame, y: float, x: float) -> str:
    row, col = int((y * frame.pixels - frame.top) // frame.cell), int((x * frame.pixels - frame.left) // frame.cell)
    return f"cell ({row}, {col})" if 0 <= row < frame.rows and 0 <= col < frame.cols else "the margin"
