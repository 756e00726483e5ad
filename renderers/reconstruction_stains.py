"""Strokes over what was drawn anew of a 3D reconstruction, in colours that its page has anyway.

For silhouettes see `reconstruction_squares` and `reconstruction_lines`. What is drawn anew in the view is flat: sides
of a cube, the room behind it. Another hand has a shade of its own; but inside, every pixel has that shade. What has not
was drawn over it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from gamegen.core.rendering import Picture, Pixels
from renderers.reading.foreign import Flags, Part, most
from renderers.reading.pages import Clean
from renderers.reading.register import Box, Floats
from renderers.reading.tiles import AROUND
from renderers.reconstruction_anew import Anew, Place
from renderers.reconstruction_edges import missing_edges, thick_edges
from renderers.reconstruction_lines import is_barred
from renderers.reconstruction_reading import Look
from renderers.reconstruction_sheet import sheet_of
from renderers.reconstruction_squares import is_struck

SIDE, COARSEST = 512, 128
"""Side at which pages are compared, at most, and below which they show too little."""

FINE = 400
"""Side from which on pages are smoothed, so that less is left of compression and sharpening, but all of a stroke, and
the lines between squares are looked at for themselves: in smaller ones `reconstruction_squares` sees what is there."""

SMOOTH, LOUDEST, SPREAD, SMOOTH_OVER = 30.0, 45.0, 3.0, 2.5
"""Grey levels by which a picture as it should be is off at most. And in smoothed pages, by how many odd pixels are off
at most in a bad one, how much more they must be than pixels nobody changed, and how many times that, always."""

FINEST = 240
"""Side from which on the edges of cubes are looked at: in a smaller page they are most of a cube."""

NEAR, BESIDE, MARGIN = 10 / 512, 20 / 512, 40 / 512
"""Share of the page's side, around squares and around cubes that are drawn anew, that is looked at, too (farther off,
`traces` sees to it); and around a cube, which is so small that what sticks out of it must not be most of what tells how
bad a picture is."""

FAINTEST, OVER = 36.0, 1.8
"""A pixel is odd if it is off all that it may be by so many grey levels, and by so many times what pixels nobody
changed are off (sharpening makes that 50 to 80, JPEG of quality 50, between orange squares on a dark page, 32). Of
1,140 right answers in small pages, painted, perturbed up to full strength, one has as many as a stroke."""

NOISY = 0.98
"""How bad a picture is: this quantile of how far pixels nobody changed are off."""

UNTOUCHED, MOSTLY = 4, 0.9
"""A picture in which so many of these pixels are as they were, to so many grey levels, is not bad at all: what else is
off was drawn there."""

SHADE, OFF = 4, 40.0
"""Grey levels by which a hand's shade must differ from ours to be looked at, and by which it may in a view, where so
little of a side may be seen that a stroke covers most of it. Squares were read as filled."""

WINDOW, LEAST = 16 / 512, 17 / 512**2
"""So many odd pixels, as a share of the page, in a window of this side are a stroke.

Of right answers, as drawn, painted or perturbed, none had more than 16 of 512 x 512; of strokes, most have over 40.
"""

TRACE = 0.4
"""The share of what was there that may be left of the outline of a cube that was taken off, or put in its place."""

FILLS = ("floor", "wall", "top", "left", "right")
"""The colours of flat areas in the view."""

Shades = dict[str, Floats]
"""By the name of a flat colour, the shade (3,) that a hand has for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A part of a page of `side` pixels, as the editor left it and as it may be."""

    part: Part
    side: int
    whole: Pixels  # (h, w): 255 where something is drawn anew
    excess: Pixels  # (h, w): by how many grey levels a pixel is off all that it may be
    amiss: Flags | None  # (h, w): in fine pages, what is thicker than the edges of cubes, or where edges are missing
    noise: float  # by how many grey levels what nobody changed is off


def is_scrawled(look: Look, before: Picture, after: Picture, anew: Anew) -> bool:
    """Whether something was drawn over what is new in `after`, the clean picture of what was read."""
    side = min(SIDE, look.layout.pixels, *look.registration.image.shape[:2])
    if side < COARSEST:
        return False
    spot = None if anew.cube is None else _spot(look, before, after, anew, anew.cube, side)
    if spot is not None:
        odd = _opened(spot.excess > _limit(spot.noise, side), 2)  # a hair is a line of another width
        if spot.amiss is not None:
            odd |= spot.amiss
        if _densest(odd, look, spot) > LEAST:
            return True
    return any(
        not _is_as_drawn(look, after, name, side)
        and (is_struck(look, anew, name, side) or (side >= FINE and is_barred(look, anew, name, side)))
        for name in anew.squares
    )


def _is_as_drawn(look: Look, after: Picture, name: str, side: int) -> bool:
    """Whether a silhouette is, but for a little noise, just as `after` shows it, which is the quicker to tell."""
    if len(after.pixels) != side:
        return False
    top, left, wide = look.layout.panel(name)
    part = _part((left, top, wide, wide), NEAR, look.layout.pixels, side)
    seen, clean = (cv2.blur(image, (3, 3)) for image in (_seen(look, part, side), _coloured(after, part)))
    return _is_faint(most(cv2.absdiff(seen, clean)), side)


def _limit(noise: float, side: int) -> float:
    """Grey levels by which odd pixels are off all that they may be, in so bad a picture."""
    if side >= FINE:
        return max(min(LOUDEST, FAINTEST + SPREAD * noise), SMOOTH_OVER * noise)
    return max(FAINTEST, OVER * noise)


def _spot(look: Look, before: Picture, after: Picture, anew: Anew, place: Place, side: int) -> Spot | None:
    """None if it is just as `after` shows it: then nothing can be on it."""
    part = _part(place, MARGIN, look.layout.pixels, side)
    seen = _seen(look, part, side)
    gap = most(cv2.absdiff(seen, _coloured(after, part))) if len(after.pixels) == side else None
    if gap is not None and _is_faint(gap, side):
        return None  # just our own drawing, which is the quicker to tell
    sharp, seen = seen, np.asarray(cv2.blur(seen, (3, 3))) if side >= FINE else seen
    if _is_faint(_beyond(seen, *_levels(after, part, side)), side):
        return None
    whole, rim = (_at(mask, part, side) for mask in (anew.cubes, anew.outlines))
    shades = _shades(look, after, seen, part, side, (whole > 0) & (rim == 0))
    meant = _recoloured(look, after, anew.cubes, shades) if shades else after
    amiss = _amiss(look, sharp, meant, part, side, whole) if side >= FINEST else None
    low, high = _levels(meant, part, side)
    left = _left(_coloured_at(before, part, side), _coloured_at(meant, part, side), rim)
    excess = _beyond(seen, cv2.min(low, left), cv2.max(high, left))
    return Spot(part, side, whole, excess, amiss, _noise(excess, gap, whole == 0))


def _seen(look: Look, part: Part, side: int) -> Pixels:
    """(h, w, 3): a part of a page as the editor left it, colour drift undone."""
    rows, cols = part
    return look.drift.mend(look.registration.part(_box(part, side), (cols.stop - cols.start, rows.stop - rows.start)))


def _noise(excess: Pixels, gap: Pixels | None, calm: Flags) -> float:
    """By how many grey levels `calm` pixels, off what they were by `gap`, are off all that they may be."""
    if gap is not None and np.count_nonzero(gap[calm] <= UNTOUCHED) > MOSTLY * np.count_nonzero(calm):
        return 0.0
    return float(np.quantile(excess[calm], NOISY))


def _amiss(look: Look, seen: Pixels, meant: Picture, part: Part, side: int, whole: Pixels) -> Flags:
    clean = _coloured_at(meant, part, side)
    thick = thick_edges(seen, clean, whole, max(1, round(look.layout.line * side / look.layout.pixels)))
    return thick | missing_edges(seen, clean, whole, side)


def _levels(picture: Picture, part: Part, side: int) -> tuple[Pixels, Pixels]:
    """(h, w, 3) each: the levels between which nothing is strange in a part of a page, by a clean picture of it."""
    if side < FINE:
        clean = Clean.of(picture, side, part)
        return clean.low, clean.high
    pixels = _coloured_at(picture, part, side)
    return np.asarray(cv2.erode(pixels, AROUND)), np.asarray(cv2.dilate(pixels, AROUND))


def _left(before: Pixels, after: Pixels, rim: Pixels) -> Pixels:
    """(h, w, 3): what is drawn anew, at its `rim` (h, w) mixed with what was there: whoever takes a cube off may leave
    a pale trace of its outline."""
    mixed = cv2.addWeighted(before, TRACE, after, 1 - TRACE, 0.0)
    return np.asarray(cv2.copyTo(mixed, rim, after.copy()))


def _beyond(seen: Pixels, low: Pixels, high: Pixels) -> Pixels:
    """(h, w): by how many grey levels pixels are off what is between two pictures."""
    return most(cv2.max(cv2.subtract(low, seen), cv2.subtract(seen, high)))


def _coloured(picture: Picture, part: Part) -> Pixels:
    """(h, w, 3): a part of a picture."""
    colours = np.zeros((256, 1, 3), np.uint8)
    colours[: len(picture.palette), 0] = picture.palette
    return np.asarray(cv2.applyColorMap(np.ascontiguousarray(picture.pixels[part]), colours))


def _coloured_at(picture: Picture, part: Part, side: int) -> Pixels:
    """The same for a page of this side."""
    return _coloured(picture, part) if len(picture.pixels) == side else Clean.of(picture, side, part).pixels


def _is_faint(off: Pixels, side: int) -> bool:
    """Whether hardly any pixels of a part of a page are off by more than the faintest stroke."""
    return bool(np.count_nonzero(_opened(off > SMOOTH, 1 + side // SIDE)) <= LEAST * side**2)


def _part(place: Place, margin: float, pixels: int, side: int) -> Part:
    left, top, width, height = (each / pixels for each in place)

    def along(start: float, size: float) -> slice:
        return slice(max(0, int((start - margin) * side)), min(side, int((start + size + margin) * side) + 1))

    return along(top, height), along(left, width)


def _box(part: Part, side: int) -> Box:
    rows, cols = part
    return cols.start / side, rows.start / side, cols.stop / side, rows.stop / side


def _at(mask: Pixels, part: Part, side: int) -> Pixels:
    """The part of a mask (H, W) for a page of this side."""
    return mask[part] if len(mask) == side else cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA)[part]


def _shades(look: Look, after: Picture, seen: Pixels, part: Part, side: int, inner: Flags) -> Shades:
    """The shades that are not ours: what most of the flat pixels of a colour that were drawn anew have."""
    times = len(after.pixels) / side
    rows, cols = (((np.arange(each.start, each.stop, 2) + 0.5) * times).astype(np.intp) for each in part)
    inner = inner[::2, ::2]
    index = after.pixels[np.ix_(rows, cols)][inner]
    drawn, inks, colours = seen[::2, ::2][inner], sheet_of(look.layout.n, look.style).inks, look.style.colours()
    shades = {}
    for fill in FILLS:
        own = drawn[index == inks.solid(fill)]
        if len(own) and SHADE < np.abs((shade := np.median(own, axis=0)) - colours[fill]).max() < OFF:
            shades[fill] = shade
    return shades


def _recoloured(look: Look, after: Picture, whole: Pixels, shades: Shades) -> Picture:
    """The clean picture in the hand's shades, where it drew."""
    inks = sheet_of(look.layout.n, look.style).inks
    palette = np.zeros((256, 3), np.uint8)
    palette[: len(after.palette)] = after.palette
    names = np.arange(256, dtype=np.uint8)
    for place, (fill, shade) in enumerate(shades.items(), len(after.palette)):
        palette[place] = shade
        names[inks.solid(fill)] = place
    pixels = after.pixels.copy()
    cv2.copyTo(cv2.LUT(pixels, names), whole, pixels)
    return Picture(pixels, palette)


def _opened(found: Flags, size: int) -> Flags:
    """Without what is thinner than so many pixels."""
    kernel = np.ones((size, size), np.uint8)
    return np.asarray(cv2.morphologyEx(found.view(np.uint8), cv2.MORPH_OPEN, kernel)).view(np.bool_)


def _densest(odd: Flags, look: Look, spot: Spot) -> float:
    """How many odd pixels the window has that has most of them, as a share of the page."""
    if np.count_nonzero(odd) <= LEAST * spot.side**2:
        return 0.0
    reach, window = 2 * round(BESIDE * spot.side) + 1, round(WINDOW * spot.side)
    near = cv2.dilate(spot.whole, np.ones((reach, reach), np.uint8)) > 0
    odd = odd & near & look.registration.covers(_box(spot.part, spot.side), odd.shape[::-1])
    counts = cv2.boxFilter(odd.astype(np.float32), -1, (window, window), normalize=False, borderType=_NOTHING)
    return float(counts.max()) / spot.side**2


_NOTHING = cv2.BORDER_CONSTANT
"""Beyond a part nothing is odd."""
