"""Strokes over what was drawn anew of a 3D reconstruction, in colours that its page has anyway.

What is drawn anew is flat: squares filled or wiped, sides of a cube, the room behind it. Another hand has a shade of
its own, leaves a rim of what was there, or covers lines; but inside, every pixel has that shade, and a rim is about as
deep all around a square. What is not was drawn over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from gamegen.core.rendering import Picture, Pixels
from renderers.reading.foreign import Flags, Part, most, off_colours
from renderers.reading.pages import Clean
from renderers.reading.register import Box, Floats
from renderers.reading.tiles import AROUND
from renderers.reconstruction_anew import Anew, Place
from renderers.reconstruction_edges import thick_edges
from renderers.reconstruction_lines import is_barred
from renderers.reconstruction_reading import Look
from renderers.reconstruction_rims import deep_rims
from renderers.reconstruction_sheet import sheet_of

SIDE, COARSEST = 512, 128
"""Side at which pages are compared, at most, and below which they show too little."""

FINE = 400
"""Side from which on pages are smoothed, so that less is left of compression and sharpening, but all of a stroke."""

SMOOTH, SMOOTH_LOUDEST, SMOOTH_OVER = 30.0, 45.0, 2.5
"""The same as below in smoothed pages, the first for rims: pixels there are no mixtures of own colours, by so much.

At 512 pixels, of 1,520 right answers, painted and perturbed, one had 12 odd pixels and all others none; of
strokes that were missed before, through JPEG, those in rims have 48 to 68.
"""

BESIDE = 3
"""Pixels beside squares drawn anew that have lines on them."""

FINEST = 240
"""Side from which on the rims of squares are looked at: in a smaller page they are a pixel or two."""

NEAR, MARGIN = 10 / 512, 40 / 512
"""Share of the page's side, around what is drawn anew, that is looked at, too (farther off, `traces` sees to it); and
around a cube, which is so small that what sticks out of it must not be most of what tells how bad a picture is."""

FAINTEST, LOUDEST, OVER = 36.0, 55.0, 2.0
"""A pixel is odd if it is off all that it may be by so many grey levels: the first in a clean picture, at most the
second in a bad one, but always so many times what pixels nobody changed are off (sharpening makes that 50 to 80,
JPEG of quality 50, between orange squares on a dark page, 32)."""

NOISY, SPREAD = 0.98, 3.0
"""How bad a picture is: this quantile of how far pixels nobody changed are off, and how much more odd ones must be."""

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

SQUARES = ("blank", "filled")
FILLS = (*SQUARES, "floor", "wall", "top", "left", "right")
"""The colours of flat areas, of squares and in the view."""

Shades = dict[str, Floats]
"""By the name of a flat colour, the shade (3,) that a hand has for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A part of a page of `side` pixels, as the editor left it and as it may be."""

    part: Part
    side: int
    seen: Pixels  # (h, w, 3)
    whole: Pixels  # (h, w), see Anew.masks
    rim: Pixels
    excess: Pixels  # (h, w): by how many grey levels a pixel is off all that it may be
    shades: Shades
    thick: Flags | None  # (h, w): of cubes in fine pages, what is thicker than their edges, and no side of theirs
    noise: float  # by how many grey levels what nobody changed is off


def is_scrawled(look: Look, given: Picture, after: Picture, anew: Anew) -> bool:
    """Whether something was drawn over what `after`, the clean picture of what was read, shows unlike `given`."""
    side = min(SIDE, look.layout.pixels, *look.registration.image.shape[:2])
    if side < COARSEST:
        return False
    found = {name: _spot(look, given, after, anew, place, side) for name, place in _places(look, anew)}
    spots = {name: spot for name, spot in found.items() if spot is not None}
    noise = max((spot.noise for spot in spots.values()), default=0.0)
    loud, off = _limits(noise, side)
    for name, spot in spots.items():
        odd = _opened(spot.excess > loud, 2)  # a hair is a line of another width
        if spot.thick is not None:
            odd |= spot.thick
        if name in anew.squares and side >= FINEST:
            odd |= _opened(_off_rims(look, spot, off), 2)
            _add_rims(odd, look, name, anew.squares[name], spot)
        if _densest(odd, look, spot) > LEAST:
            return True
    shades = {name: spot.shades for name, spot in spots.items()}
    return any(is_barred(look, anew, name, side, shades.get(name, {})) for name in anew.squares)


def _limits(noise: float, side: int) -> tuple[float, float]:
    """Grey levels by which odd pixels are off all that they may be, and all mixtures in rims, in so bad a picture."""
    if side >= FINE:
        return max(min(SMOOTH_LOUDEST, FAINTEST + SPREAD * noise), SMOOTH_OVER * noise), max(SMOOTH, noise)
    loud = max(min(LOUDEST, FAINTEST + SPREAD * noise), OVER * noise)
    return loud, loud


def _places(look: Look, anew: Anew) -> Iterator[tuple[str, Place]]:
    if anew.cube is not None:
        yield "view", anew.cube
    for name in anew.squares:
        top, left, side = look.layout.panel(name)
        yield name, (left, top, side, side)


def _spot(look: Look, given: Picture, after: Picture, anew: Anew, place: Place, side: int) -> Spot | None:
    """None if it is just as `after` shows it: then nothing can be on it."""
    layout, is_cube = look.layout, place == anew.cube
    part = _part(place, MARGIN if is_cube else NEAR, layout.pixels, side)
    rows, cols = part
    seen = look.drift.mend(look.registration.part(_box(part, side), (cols.stop - cols.start, rows.stop - rows.start)))
    gap = most(cv2.absdiff(seen, _coloured(after, part))) if len(after.pixels) == side else None
    if gap is not None and _is_faint(gap, side):
        return None  # just our own drawing, which is the quicker to tell
    sharp, seen = seen, np.asarray(cv2.blur(seen, (3, 3))) if side >= FINE else seen
    if _is_faint(_beyond(seen, *_levels(after, part, side)), side):
        return None
    whole, rim = (_at(mask, part, side) for mask in anew.masks)
    shades = _shades(look, after, seen, part, side, (whole > 0) & (rim == 0))
    meant = _recoloured(look, after, anew.masks[0], shades) if shades else after
    low, high = _levels(meant, part, side)
    thick = _thick(look, sharp, meant, part, side, whole) if is_cube and side >= FINE else None
    if not is_cube:
        was_low, was_high = _levels(given, part, side)
        reach = max(1, round(layout.line * side / layout.pixels))
        around = np.ones((2 * reach + 1,) * 2, np.uint8)
        cv2.copyTo(cv2.erode(cv2.min(low, was_low), around), rim, low)
        cv2.copyTo(cv2.dilate(cv2.max(high, was_high), around), rim, high)
    excess = _beyond(seen, low, high)
    return Spot(part, side, seen, whole, rim, excess, shades, thick, _noise(excess, gap, whole == 0))


def _noise(excess: Pixels, gap: Pixels | None, calm: Flags) -> float:
    """By how many grey levels `calm` pixels, off what they were by `gap`, are off all that they may be."""
    if gap is not None and np.count_nonzero(gap[calm] <= UNTOUCHED) > MOSTLY * np.count_nonzero(calm):
        return 0.0
    return float(np.quantile(excess[calm], NOISY))


def _thick(look: Look, seen: Pixels, meant: Picture, part: Part, side: int, whole: Pixels) -> Flags:
    clean = _coloured(meant, part) if len(meant.pixels) == side else Clean.of(meant, side, part).pixels
    return thick_edges(seen, clean, whole, max(1, round(look.layout.line * side / look.layout.pixels)))


def _levels(picture: Picture, part: Part, side: int) -> tuple[Pixels, Pixels]:
    """(h, w, 3) each: the levels between which nothing is strange in a part of a page, by a clean picture of it."""
    if side < FINE or len(picture.pixels) != side:
        clean = Clean.of(picture, side, part)
        if side < FINE:
            return clean.low, clean.high
    pixels = _coloured(picture, part) if len(picture.pixels) == side else clean.pixels
    return np.asarray(cv2.erode(pixels, AROUND)), np.asarray(cv2.dilate(pixels, AROUND))


def _beyond(seen: Pixels, low: Pixels, high: Pixels) -> Pixels:
    """(h, w): by how many grey levels pixels are off what is between two pictures."""
    return most(cv2.max(cv2.subtract(low, seen), cv2.subtract(seen, high)))


def _coloured(picture: Picture, part: Part) -> Pixels:
    """(h, w, 3): a part of a picture."""
    colours = np.zeros((256, 1, 3), np.uint8)
    colours[: len(picture.palette), 0] = picture.palette
    return np.asarray(cv2.applyColorMap(np.ascontiguousarray(picture.pixels[part]), colours))


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
        own, most_off = drawn[index == inks.solid(fill)], 255.0 if fill in SQUARES else OFF
        if len(own) and SHADE < np.abs((shade := np.median(own, axis=0)) - colours[fill]).max() < most_off:
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


def _off_rims(look: Look, spot: Spot, limit: float) -> Flags:
    """(h, w): pixels in the rims of squares, and on the lines beside, that are no mixture of the colours there."""
    own, rest = _own(look, spot), cv2.dilate(spot.rim, np.ones((2 * BESIDE + 1,) * 2, np.uint8))
    for colour in own:
        rest[cv2.inRange(spot.seen, colour - limit, colour + limit) > 0] = 0
    off: Flags = rest > 0
    seen = spot.seen[off].astype(np.float32).clip(own.min(axis=0), own.max(axis=0))  # without halos
    off[off] = off_colours(seen, own, limit)
    return off


def _add_rims(odd: Flags, look: Look, name: str, changed: Flags, spot: Spot) -> None:
    """Mark where the rims of squares are too deep."""
    layout, n, scale = look.layout, look.layout.n, spot.side / look.layout.pixels
    cell, line = round(layout.cell * scale), max(1, round(layout.line * scale))
    panel = layout.panel(name)
    seen = look.drift.mend(look.registration.part(layout.box(panel), (n * cell, n * cell)))
    found = np.zeros((n, n, cell, cell), bool)
    found[changed] = deep_rims(seen.reshape(n, cell, n, cell, 3).swapaxes(1, 2)[changed], line)
    page = found.swapaxes(1, 2).reshape(n * cell, n * cell)
    top, left = (round(start * scale) - each.start for start, each in zip(panel, spot.part, strict=False))
    odd[top : top + n * cell, left : left + n * cell] |= page[: len(odd) - top, : odd.shape[1] - left]


def _own(look: Look, spot: Spot) -> Floats:
    """(F, 3): the colours of squares and of what is around them, ours and the hand's."""
    colours = look.style.colours()
    return np.array(
        [*(colours[name] for name in ("frame", "blank", "filled", "page")), *spot.shades.values()], np.float32
    )


def _opened(found: Flags, size: int) -> Flags:
    """Without what is thinner than so many pixels."""
    kernel = np.ones((size, size), np.uint8)
    return np.asarray(cv2.morphologyEx(found.view(np.uint8), cv2.MORPH_OPEN, kernel)).view(np.bool_)


def _densest(odd: Flags, look: Look, spot: Spot) -> float:
    """How many odd pixels the window has that has most of them, as a share of the page."""
    if np.count_nonzero(odd) <= LEAST * spot.side**2:
        return 0.0
    reach, window = 2 * round(NEAR * spot.side) + 1, round(WINDOW * spot.side)
    near = cv2.dilate(spot.whole, np.ones((reach, reach), np.uint8)) > 0
    odd = odd & near & look.registration.covers(_box(spot.part, spot.side), odd.shape[::-1])
    counts = cv2.boxFilter(odd.astype(np.float32), -1, (window, window), normalize=False, borderType=_NOTHING)
    return float(counts.max()) / spot.side**2


_NOTHING = cv2.BORDER_CONSTANT
"""Beyond a part nothing is odd."""
