"""A page as an editor left it beside the one that was given: what on it is strange, and is it the same page at all?"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Colour, Picture, Pixels
from renderers.reading.colour import STEADY, Drift
from renderers.reading.foreign import (
    FOREIGN,
    Edit,
    Flags,
    Part,
    left_over,
    littered,
    most,
    near_edges,
    off_colours,
    scratched,
    spoilt,
)
from renderers.reading.pages import BROAD, Clean, Page, broadly
from renderers.reading.patches import find_patch
from renderers.reading.register import WHOLE as WHOLE
from renderers.reading.register import Registration

FAINTEST, UNLIKE = 36.0, 70.0
"""A pixel is strange if in some colour it is outside all clean ones around it by so many grey levels: the first in a
clean picture, at most the second in a bad one."""

NOISY, SPREAD = 0.98, 3.0
"""How bad a picture is: this quantile of what is strange in it, and by how much more a trace must be."""

UNTOUCHED, CHANGED, FEW = 4, 60, 5.0
"""A picture that, but for few pixels, is as it was to so many grey levels was neither compressed nor brought to another
size: then more than so few pixels that differ by so much were drawn, or wiped off."""

OWN_EDGES = 0.95
"""Only where so many pixels at edges are as they were, too, little is forgiven: of dense boards few others tell."""

LEFT, FADING = 28, 0.035
"""By so many grey levels they differ, in colours that did not drift, where nothing was to be drawn: there a faint one
is a stroke, too, but for the share of the side at the edges of the page, which soft selections let fade."""

REDRAWN, BROAD_NOISE = 0.5, 6.0
"""Where pictures are compared as a whole: the share of what varies in the given one that may be otherwise there, and
grey levels of difference that mean nothing."""

LIT = 16.0
"""Grey levels by which all of a picture may be lighter or darker: a pale page that was brightened ends at white, and
does not tell by how much it was."""

WINDOW, DENSE = 12, 0.11
"""A window of so many pixels is drawn upon if this share of it is strange."""

ACROSS = 1.0
"""So many strange pixels, as a share of a cell's side, are needed to spoil it."""

AROUND = 0.13
"""Share of a cell drawn anew, and of what is around it, that may be its neighbours'."""

INSIDE = 0.26
"""The same, without anything beside the cell or at its border."""

MIDDLE = 0.38
"""The same, without anything where highlights go: the middle 40 % of the cell."""

REACH = 0.08
"""Share of a cell drawn anew, and of a little around it, by which a mark in our own colours may lie elsewhere."""

RIM = 0.14
"""Share of a cell drawn anew, and of a little around it, in which the edge of its mark may be."""

EVEN = 12
"""Grey levels by which a cell with nothing in it may differ, but for its border."""

COLOURS = 8
"""How many colours of a clean picture count, the commonest and as many that are new in it, where colours that it does
not have are looked for."""

ENOUGH = 2000
"""So many pixels of a class, or a few less, tell what has become of it."""


LINES = 60
"""So many pixels that have the same colours around them tell what has become of these: a stroke covers fewer."""


class Compared:
    """A page as the editor left it beside the one that was given; `drawn` (side, side) is what may be new, or be near
    to it, and `leant` what something new may lean over, if that is less."""

    def __init__(
        self, registration: Registration, drift: Drift, page: Page, drawn: Flags, leant: Flags | None = None
    ) -> None:
        self._leant = drawn if leant is None else leant
        self.page, self.drawn, self.clean = page, drawn, page.at(len(drawn))
        covered = registration.covers(WHOLE, (len(drawn), len(drawn)))
        self._old, self._not_leant = ~drawn & covered, ~self._leant & covered
        self._look(registration.page(STEADY, len(drawn)))
        self._is_strict = self.is_untouched and self._has_own_edges()
        if not self._is_strict:
            self._look(registration.page(drift, len(drawn)))
        self._excess = most(self.clean.excess(self.seen))
        self._badness = SPREAD * _quantile(self._excess, self._old, NOISY)
        self._faintest = int(min(UNLIKE, FAINTEST + self._badness))

    def _look(self, seen: Pixels) -> None:
        self.seen, self._gap = seen, most(cv2.absdiff(seen, self.clean.pixels))
        self.is_untouched = _quantile(self._gap, self._old, NOISY) <= UNTOUCHED

    def _has_own_edges(self) -> bool:
        edges = self.clean.edges & ~self.drawn
        same = np.count_nonzero(edges & (self._gap <= UNTOUCHED))
        return bool(same >= OWN_EDGES * np.count_nonzero(edges))

    def demand_own_board(self, registration: Registration) -> None:
        """Raise UnreadableImage if what was given explains too little of what is seen: a board in another look."""
        seen, known, drawn = broadly(self.seen), self.clean.broad, broadly(self.drawn.view(np.uint8) * np.uint8(255))
        old = ((drawn == 0) & registration.covers(WHOLE, (BROAD, BROAD))).view(np.uint8)
        size = cv2.countNonZero(old)
        spread = size * float((cv2.meanStdDev(known, mask=old)[1] ** 2).sum())
        lighter = np.subtract(cv2.mean(seen, mask=old), cv2.mean(known, mask=old))
        lit = lighter.clip(-LIT, LIT)
        gap = cv2.norm(seen, known, cv2.NORM_L2SQR, mask=old) - size * float(lit @ (2 * lighter - lit))
        if gap > REDRAWN * spread + 3 * size * BROAD_NOISE**2:
            raise UnreadableImage("the board has been drawn anew, in another look")

    @property
    def least(self) -> float:
        """How many strange pixels in a window are a trace: very few where the rest was not even compressed."""
        return FEW if self.is_untouched else DENSE * WINDOW**2

    def beside(self) -> Flags:
        """(h, w): strange pixels where nothing was to be drawn."""
        found = self._excess > self._faintest
        tinted = self.page.tints(len(self.seen)).strange(self.seen)
        if tinted is not None:
            found |= tinted
        if self.is_untouched:
            found |= self._gap > CHANGED
        if self._is_strict:
            inner = (slice(round(FADING * len(found)), -round(FADING * len(found))),) * 2
            found[inner] |= self._gap[inner] > LEFT
        found &= ~self._leant
        if np.count_nonzero(found) > self.least:
            found = self._lonely(found, _classes(self.clean.pixels))
        if self.page.frame is None and np.count_nonzero(found) > self.least:
            found = self._lonely(found, _surroundings(self.clean.pixels), least=LINES)
        return found

    def patch(self) -> tuple[float, float] | None:
        """The middle, as shares of the page, of a patch where nothing was to be drawn that was spoilt."""
        cell = 0.0 if self.page.frame is None else self.page.frame.cell * len(self.seen) / self.page.frame.pixels
        return find_patch(self.seen, self.clean.pixels, self._not_leant, cell)

    def _lonely(self, found: Flags, classes: NDArray[np.int64], *, least: int = 1) -> Flags:
        """Without pixels of classes (h, w) that have become the same other colour everywhere, or have changed as much
        everywhere where little is forgiven, if so many are of one."""
        become = cv2.subtract(self.seen, self.clean.pixels, dtype=cv2.CV_16S) if self._is_strict else self.seen
        labels, colours, old = classes.ravel(), become.reshape(-1, 3), ~self.drawn.ravel()
        strange = np.flatnonzero(found)
        of_class = labels[strange]
        result = np.zeros(found.size, bool)
        for number in np.unique(of_class):
            there, mine = np.flatnonzero((labels == number) & old), strange[of_class == number]
            if len(there) < least:
                result[mine] = True
                continue
            usual = np.median(colours[there[:: 1 + len(there) // ENOUGH]], axis=0)
            off = np.abs(colours[mine] - usual).max(axis=1)
            result[mine] = off > (LEFT if self._is_strict else FAINTEST)
        return result.reshape(found.shape)

    def within(
        self,
        after: Picture | None,
        cells: list[Part],
        *,
        own_colours: bool,
        own_places: bool = True,
        is_laid: bool = False,
    ) -> Flags:
        """(h, w): foreign pixels in what is drawn anew, if it was to look like `after`, see `traces.find_traces`.

        A picture that `is_laid` shows things where the editor laid them, give or take part of a pixel at their edges.
        """
        found = np.zeros_like(self.drawn)
        if after is None or not self.drawn.any():
            return found
        part = _around(self.drawn)
        meant = Clean.of(after, len(self.seen), part)
        edit = Edit(self.seen[part], self.clean.pixels[part], meant.pixels)
        loud = int(UNLIKE + self._badness)
        excess = most(meant.excess(edit.seen))
        faint = excess > self._faintest
        if faint.any():
            found[part] |= faint & _emptied(edit, _within(cells, part, less=INSIDE, of=_widest(cells)))
        strange = (excess > loud) & self.drawn[part]
        if strange.any():
            least = self.least if self.is_untouched else ACROSS * _width(cells)
            inner = _within(cells, part, less=AROUND)
            found[part] |= spoilt(edit, strange, inner, least=least, mixed=False)
            if own_colours:
                found[part] |= _foreign(edit.seen, strange, after, self.page.picture)
        if self.is_untouched:
            needless = self._needless(edit, part, cells, own_colours=own_colours, own_places=own_places)
            found[part] |= needless & ~near_edges(meant.pixels) if is_laid else needless
        if cells:
            rim = round(RIM * _width(cells))
            found[part] |= scratched(edit, rim=rim, loud=loud) & self.drawn[part]
        return found

    def _needless(self, edit: Edit, part: Part, cells: list[Part], *, own_colours: bool, own_places: bool) -> Flags:
        """(h, w): what in a part of an untouched picture is neither as it was nor as it was meant to be, and does not
        belong to any mark that was drawn there."""
        off = most(cv2.absdiff(edit.seen, edit.after))
        unlike, odd = ((each > CHANGED) & self.drawn[part] for each in (off, cv2.min(off, self._gap[part])))
        found = spoilt(edit, odd, _within(cells, part, less=0.0), least=self.least, mixed=True)
        if own_colours and cells:
            inside = _within(cells, part, less=INSIDE)
            found |= littered(edit, unlike, inside, least=self.least)
            middle = _within(cells, part, less=MIDDLE, of=_widest(cells))
            found |= left_over(edit, unlike & (self._gap[part] <= UNTOUCHED), middle)
            if own_places:
                found |= odd & ~_near(edit.mark, round(REACH * _width(cells)))
        return found


def _emptied(edit: Edit, insides: list[Part]) -> Flags:
    """(h, w): the insides of those cells in which there was something and is to be nothing but one colour."""
    empty = np.zeros(edit.seen.shape[:2], bool)
    for inside in insides:
        if _is_even(edit.after[inside]) and not _is_even(edit.before[inside]):
            empty[inside] = True
    return empty


def _is_even(pixels: Pixels) -> bool:
    return pixels.size > 0 and bool((np.ptp(pixels.reshape(-1, 3), axis=0) <= EVEN).all())


def _near(found: Flags, reach: int) -> Flags:
    """(h, w): true values, and so many pixels around each."""
    return np.asarray(cv2.dilate(found.view(np.uint8), np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))).view(bool)


def _quantile(levels: Pixels, old: Flags, share: float) -> float:
    """Of levels (h, w), where the page is seen and nothing on it is drawn anew."""
    counts = cv2.calcHist([levels], [0], old.view(np.uint8), [256], [0, 256]).ravel().cumsum()
    return float(np.searchsorted(counts, share * counts[-1]))


def _foreign(seen: Pixels, strange: Flags, clean: Picture, given: Picture) -> Flags:
    """(h, w): which strange pixels are in no colour of a clean picture, be it common or new beside the `given` one.

    Two of its colours may be mixed, or one with black or white: that is what soft edges and other shades look like.
    """
    drawn = seen[strange].astype(np.float32)
    if not len(drawn):
        return strange
    shares, before = _shares(clean), _shares(given)
    grown = {colour: share - before.get(colour, 0.0) for colour, share in shares.items()}
    own = {colour for some in (shares, grown) for colour in sorted(some, key=some.__getitem__, reverse=True)[:COLOURS]}
    colours = np.array([*sorted(own), (0, 0, 0), (255, 255, 255)], np.float32)
    foreign = strange.copy()
    foreign[strange] = off_colours(drawn, colours, FOREIGN)
    return foreign


def _shares(picture: Picture) -> dict[Colour, float]:
    """The share of a picture that each colour has."""
    counts = cv2.calcHist([picture.pixels], [0], None, [256], [0, 256]).ravel()[: len(picture.palette)]
    areas = counts / np.float64(picture.pixels.size)
    shares: dict[Colour, float] = {}
    for (red, green, blue), area in zip(picture.palette.tolist(), areas.tolist(), strict=True):
        if area:
            shares[red, green, blue] = shares.get((red, green, blue), 0.0) + area
    return shares


def _around(found: Flags) -> Part:
    """The smallest part of a picture with all true values."""
    rows, cols = (np.flatnonzero(found.any(axis=axis)) for axis in (1, 0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)


def _classes(known: Pixels) -> NDArray[np.int64]:
    """(h, w): numbers of the colours of a clean picture (h, w, 3), in a few steps: few colours are left of many."""
    red, green, blue = (known[..., channel].astype(np.int64) >> 5 for channel in range(3))
    return np.asarray(64 * red + 8 * green + blue)


def _surroundings(known: Pixels) -> NDArray[np.int64]:
    """(h, w): the same with the colours around each: compression smears those of a thin line between squares."""
    around = (known, cv2.erode(known, _BESIDE), cv2.dilate(known, _BESIDE))
    return np.asarray(sum(_classes(each) << 9 * place for place, each in enumerate(around)))


_BESIDE = np.ones((3, 3), np.uint8)
"""A pixel and all around it."""


def _width(cells: list[Part]) -> int:
    """Pixels across a cell and what is around it; 0 if there are none."""
    return min((min(part.stop - part.start for part in cell) for cell in cells[:1]), default=0)


def _widest(cells: list[Part]) -> int:
    """The same of the widest: the first may be at the edge of the board, with little around it."""
    return max((part.stop - part.start for cell in cells for part in cell), default=0)


def _within(cells: list[Part], part: Part, *, less: float, of: int | None = None) -> list[Part]:
    """The cells, as parts of the part of the picture that they all are in, without so much of what is around each, as a
    share of a cell and what is around it: the first, or `of` so many pixels."""
    inset, (down, right) = round(less * (of or _width(cells))), (each.start for each in part)
    return [
        (
            slice(rows.start - down + inset, rows.stop - down - inset),
            slice(cols.start - right + inset, cols.stop - right - inset),
        )
        for rows, cols in cells
    ]
