"""Digits in any face, ink, size and slant, typed or written: how an editor writes is its own affair, if it is plain.

A cell's ink is its distance from the ground, as a share of the strongest. The ink's box is brought to one size (narrow
ones keep their width: they are ones) and compared by correlation with masters: the nine digits of every face in the
atlas and of a pen, thin to bold, upright and slanted. What all digits have in common is subtracted first.

Four pairs differ by a stroke or two, and are told apart by these alone: a 6 is closed at the lower left where a 5 is
open, a 7 has a bar at the top left where a 1 has nothing or a flag that hangs, an 8 is closed at the left where a 3 is
open, and a 9 is round at the upper left where a 4 is open or slants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from renderers.glyphs import FACES, glyph
from renderers.inks import FULL
from renderers.reading.register import Floats

FAINTEST = 70.0
"""Grey levels, over all three colours, by which ink must differ from the ground."""

STRONGEST = 0.98
"""The quantile of a cell's pixels whose ink counts as full."""

SIDE, WIDTH, EDGE = 20, 14, 2
"""The size to which ink is brought, and the empty edge around it."""

NARROW, BROAD = 0.36, 0.46
"""Ink narrower than the first share of its height keeps its proportions; the 1 of a broad pen is at most so wide as the
second."""

THIN, SHORT = 0.2, 0.12
"""Shares of a digit's height: a spur is at most so thick and so long."""

ENDS, SIDES = 1, 0
"""The axes along which the lines of ink that spurs at the ends (above and below) and at the sides lie in are summed."""

BORDER, LEANING, FAINT_LINE = 0.45, 2, 0.2
"""Ink along so much of a cell's border is a line that leans in, not a digit; how many pixels of one are left out of
account, and how faint it may be: where two of them cross there is more ink."""

LOWEST_LIKENESS, CLEAR_LEAD = 0.68, 0.04
"""The least likeness to a digit, and the least by which it must lead over the next digit, unless it is an 8 with both
its holes."""

ONE_LEAD, PLAIN_ONE = 0.08, 0.8
"""The same for a 1, but over a 7: a narrow digit whose hole has run full is much like it; and the likeness to a 1 of a
broad pen."""

UNLIKELY, WIDE_LEAD = 0.58, 0.07
"""A likeness that is enough with so wide a lead, if the digit has its holes and no others: a trembling 3 is like no
master, but still less like another digit."""

RINGS, SOME_LEAD = {6: 0.6, 8: 0.45, 9: 0.6}, 0.06
"""The same for digits that must have holes, which say more than likeness does."""

HOLES = {4: (0, 1), 6: (1, 2), 8: (2,), 9: (1, 2)}
"""How many holes a digit may have, if it may have any: where a trembling pen ends, it may close one more."""

SMALLEST_HOLE = 4
"""Pixels of a hole that is meant."""

STRAIGHT, OPEN = [0, 6], [0, 1, 2, 4, 6]
"""The places of 1 and 7 among the digits, which never have a hole, and of these, 2, 3 and 5, which never have two."""

HIGH_HOLES, LOW = [3, 8], 0.65
"""The places of 4 and 9, and how low the middle of their only hole never is, as a share of their height."""

NEARLY_FULL = 0.8
"""Ink that encloses the holes of an 8 that have nearly run full."""

SLANTS = (-0.3, -0.15, 0.0, 0.15, 0.3)
WEIGHTS, PEN_WEIGHTS = (-2, -1, 0, 1, 3), (0, 1, 2)
"""Pixels by which the strokes of a master, 40 pixels high, are made thicker on each side."""

PEN_FORMS: dict[int, tuple[tuple[tuple[int, int], ...], ...]] = {
    1: (((50, 0), (50, 100)), ((25, 25), (60, 0), (60, 100)), ((10, 30), (50, 0), (50, 100))),
    2: (((5, 25), (15, 8), (35, 0), (65, 0), (88, 12), (93, 30), (80, 50), (40, 75), (3, 100), (97, 100)),),
    3: (((8, 12), (30, 1), (65, 1), (88, 15), (85, 36), (65, 47), (40, 48), (65, 50), (90, 62), (93, 80), (75, 96),
         (40, 100), (5, 90)),),
    4: (((72, 100), (72, 0), (3, 70), (97, 70)), ((15, 0), (8, 55), (95, 55), (75, 5), (75, 100))),
    5: (((90, 0), (20, 0), (14, 44), (40, 36), (70, 40), (92, 58), (90, 82), (70, 97), (40, 100), (7, 90)),),
    6: (((80, 2), (50, 10), (20, 38), (6, 68), (15, 90), (45, 100), (80, 92), (94, 72), (82, 52), (50, 44), (20, 54),
         (7, 70)),),
    7: (((3, 0), (96, 0), (60, 50), (35, 100)), ((3, 0), (96, 0), (60, 50), (35, 100), (60, 50), (25, 50), (85, 50))),
    8: (((50, 46), (20, 36), (12, 18), (30, 2), (70, 2), (88, 18), (80, 36), (50, 46), (15, 60), (4, 80), (25, 98),
         (75, 98), (96, 80), (85, 60), (50, 46)),
        ((50, 47), (14, 26), (28, 2), (72, 2), (86, 26), (50, 47), (8, 72), (24, 98), (76, 98), (92, 72), (50, 47))),
    9: (((92, 30), (75, 50), (40, 54), (12, 42), (8, 20), (30, 2), (65, 1), (90, 14), (93, 35), (85, 70), (65, 100)),
        ((90, 25), (70, 50), (35, 52), (10, 35), (15, 10), (45, 0), (75, 3), (90, 25), (90, 100))),
}  # fmt: skip
"""How people write digits, as strokes in a box of 100 by 100."""


def has_ink(cells: Floats) -> NDArray[np.bool_]:
    """(K,): in the middle of which of these cells (K, n, n, 3) something stands out from the ground."""
    count, side = cells.shape[:2]
    edge = side // 6
    middle = cells[:, edge : side - edge, edge : side - edge].sum(axis=3)
    grey = middle.reshape(count, (side - 2 * edge) ** 2)
    few = max(1, grey.shape[1] // 30)
    grey = np.partition(grey, (few - 1, grey.shape[1] - few), axis=1)
    inked: NDArray[np.bool_] = grey[:, -few] - grey[:, few - 1] > FAINTEST
    return inked


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """Ink (n, n), brought to one size, where its holes are, and its likeness (9,) to each digit."""

    ink: Floats
    shape: Floats
    holes: list[float]
    likeness: Floats


def read_digits(cells: Floats) -> list[int | None]:
    """The digits written in cells (K, n, n, 3) on plain ground; None for each that is not plainly one digit."""
    return _read(list(_inks(cells)))


def _read(inks: list[Floats]) -> list[int | None]:
    """The digits that inks (n, n) show.

    In small cells a hard pen that trembles leaves single pixels beside a digit, which then seems larger than it is:
    where nothing is read, these are taken off. But so is the end of a 7's bar, and what is left looks like a 1.
    """
    digits = [None if form is None else _decide(form) for form in _forms(inks)]
    unread = [number for number, digit in enumerate(digits) if digit is None and inks[number].any()]
    trimmed = [_without_spurs(inks[number], (ENDS, SIDES)) for number in unread]
    for number, form in zip(unread, _forms(trimmed), strict=True):
        digit = None if form is None else _decide(form)
        if digit is not None and digit != 1 and len(_holes(inks[number])) <= max(HOLES.get(digit, (0,))):
            digits[number] = digit
    return digits


def _forms(inks: Sequence[Floats], *, narrow: float = NARROW) -> list[_Form | None]:
    """What inks (n, n) are like; None for those that are no digits by their size. Rings are no 1, and never narrow."""
    holes = [_holes(ink) for ink in inks]
    shapes = _normals(inks, [0.0 if some else narrow for some in holes])
    if all(shape is None for shape in shapes):
        return [None] * len(inks)
    masters, starts, mean = _masters()
    vectors = _units(_units(np.stack([shape.ravel() for shape in shapes if shape is not None])) - mean)
    alike = iter(np.maximum.reduceat(vectors.astype(np.float32) @ masters.T, starts, axis=1))  # (shapes, 9)
    return [
        None if shape is None else _Form(ink, shape, some, next(alike))
        for ink, shape, some in zip(inks, shapes, holes, strict=True)
    ]


def _without_spurs(ink: Floats, axes: tuple[int, ...]) -> Floats:
    """The ink without what juts out of its box on one side, thin and short; the very same if nothing does."""
    strong = ink > 0.5
    high = np.count_nonzero(strong.any(axis=1))
    trimmed = ink
    for axis in axes:
        counts = np.count_nonzero(strong, axis=axis)
        lines = np.flatnonzero(counts)
        for way in (lines, lines[::-1]):
            fringe = int(np.argmax(counts[way] > THIN * high)) if high else 0
            if 0 < fringe <= SHORT * high:
                beyond = slice(None, way[fringe]) if way is lines else slice(way[fringe] + 1, None)
                trimmed = ink.copy() if trimmed is ink else trimmed
                trimmed[(beyond,) if axis == ENDS else (slice(None), beyond)] = 0.0
    return trimmed


def _inks(cells: Floats) -> Floats:
    """(K, n, n): the ink of each cell (K, n, n, 3), from 0 to 1; none where there is hardly any."""
    count, side = cells.shape[:2]
    pixels = np.ascontiguousarray(cells.reshape(count, side * side, 3).transpose(0, 2, 1))  # (K, 3, pixels)
    middle, rank = side * side // 2, round(STRONGEST * (side * side - 1))
    ground = np.partition(pixels, middle, axis=2)[:, :, middle]  # (K, 3)
    ink = np.abs(pixels - ground[:, :, None]).sum(axis=1)  # (K, pixels)
    strongest = np.partition(ink, rank, axis=1)[:, rank]
    strongest[strongest <= FAINTEST] = np.inf
    share: Floats = (ink / strongest[:, None]).clip(0, 1)
    return _without_lines(share.reshape(count, side, side))


def _without_lines(inks: Floats) -> Floats:
    """The inks (K, n, n) without what leans in of the lines around their cells."""
    for turn in range(4):
        borders = np.rot90(inks, turn, axes=(1, 2))[:, :LEANING]
        lines = np.count_nonzero(borders > FAINT_LINE, axis=2) > BORDER * inks.shape[2]  # (K, LEANING)
        borders[np.logical_and.accumulate(lines, axis=1)] = 0.0
    return inks


def _decide(form: _Form) -> int | None:
    """The digit that it shows."""
    likeness, holes = form.likeness.copy(), len(form.holes)
    likeness[_unlike(form.holes)] = 0.0
    second, first = (int(place) + 1 for place in np.argsort(likeness)[-2:])
    lead = float(likeness[first - 1] - likeness[second - 1])
    if likeness[first - 1] < LOWEST_LIKENESS and not _is_shaky(first, float(likeness[first - 1]), lead, holes):
        return None
    if first == 8 and (rings := holes or len(_holes(form.ink, NEARLY_FULL))) != 1:
        return first if rings else None
    pair = min(first, second), max(first, second)
    stroke, absent, present, close, weight = _STROKES.get(pair, (None, 0.0, 0.0, 0.0, 0.0))
    if stroke is not None and lead < 2 * close:
        share = stroke(form) + weight * float(likeness[pair[1] - 1] - likeness[pair[0] - 1])
        told = pair[0] if share < absent else pair[1] if share > present else None
        if lead < close:
            return told
        return None if told == second else first
    if first == 1 and lead < ONE_LEAD:
        return first if _is_broad_one(form) else None
    return first if lead >= CLEAR_LEAD else None


def _is_broad_one(form: _Form) -> bool:
    """Whether it is plainly a 1 if it keeps its proportions, though it is nearly too wide for that."""
    kept = _forms([form.ink], narrow=BROAD)[0]
    return kept is not None and bool(
        kept.likeness[0] >= PLAIN_ONE and kept.likeness[0] - kept.likeness[1:].max() >= ONE_LEAD
    )


def _is_shaky(digit: int, likeness: float, lead: float, holes: int) -> bool:
    """Whether a shape so little like a digit still is one, written with a trembling hand: nothing else than an 8 has
    two holes and is most like one."""
    least, needed = (RINGS[digit], SOME_LEAD) if digit in RINGS else (UNLIKELY, WIDE_LEAD)
    if (digit, holes) == (8, 2):
        needed = 0.0
    return likeness >= least and lead >= needed and holes in HOLES.get(digit, (0,))


def _unlike(holes: list[float]) -> list[int]:
    """The places among the digits of those that never have such holes."""
    if len(holes) != 1:
        return OPEN if holes else []
    return STRAIGHT + HIGH_HOLES if holes[0] > LOW else STRAIGHT


def _holes(ink: Floats, level: float = 0.5) -> list[float]:
    """Where the middles of all pieces of ground are that ink (n, n) above this level encloses: as shares of its height,
    from the top."""
    inked = ink > level
    ground = cv2.copyMakeBorder((~inked).astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=1)
    count, _, stats, middles = cv2.connectedComponentsWithStats(ground, connectivity=4)
    pieces = [n for n in range(1, count) if stats[n, cv2.CC_STAT_AREA] >= SMALLEST_HOLE and stats[n, cv2.CC_STAT_LEFT]]
    if not pieces:
        return []
    rows = np.flatnonzero(inked.any(axis=1))
    return [float((middles[n, 1] - 0.5 - rows[0]) / len(rows)) for n in pieces]


def _closed_below(form: _Form) -> float:
    """The least ink at the left, over the rows below the middle: a 6 has a stroke there all along."""
    shape = form.shape
    left = (shape.shape[1] - WIDTH) // 2
    rows = slice(EDGE + round(0.52 * SIDE), EDGE + round(0.74 * SIDE))
    return float(shape[rows, left : left + WIDTH // 4].max(axis=1).min())


def _bar_above(form: _Form) -> float:
    """How much of a 7's bar there is, with and without what juts out above: a spur there hides a bar, but so is taken
    off the tip of a 1, beside which its flag is a bar. A flag is short, so it counts how wide the digit is there."""
    trimmed = _without_spurs(form.ink, (ENDS,))
    shape = None if trimmed is form.ink else _normal(trimmed, narrow=0.0 if form.holes else NARROW)
    strong = form.ink > 0.5
    rows = np.flatnonzero(strong.any(axis=1))
    wide = np.count_nonzero(strong[rows[: 2 * len(rows) // 5]].any(axis=0)) / len(rows)
    return (_bar(form.shape) + _bar(form.shape if shape is None else shape)) / 2 + WIDTH_COUNTS * (wide - FLAG)


def _bar(shape: Floats) -> float:
    """The ink at the top left, where a 7 has its bar; less if it hangs there, as the flag of a 1 does, and if the stem
    ends at the right."""
    cols = np.flatnonzero((shape > 0.5 * shape.max()).any(axis=0))
    box = shape[EDGE : EDGE + SIDE, cols[0] : cols[-1] + 1]
    top, wide = box[: 2 * SIDE // 5], box.shape[1]
    bar = float(top[:2, : max(1, round(0.25 * wide))].max(axis=0).mean())
    left = top[:, : max(1, round(0.3 * wide))].mean(axis=1)
    level = float(left[:2].sum() / max(float(left.sum()), 1e-6)) - LEVEL
    tip, middle = top[:, : max(1, round(0.25 * wide))], top[:, round(0.3 * wide) : max(round(0.5 * wide), 1)]
    hangs = max(0.0, _centre(tip.sum(axis=1)) - _centre(middle.sum(axis=1)) - TREMBLE) if bar < PLAIN_BAR else 0.0
    foot = _centre(box[round(0.8 * SIDE) :].sum(axis=0)) / max(wide - 1, 1)
    return float(bar + min(0.1, max(-0.1, level)) - hangs - foot)


def _centre(ink: Floats) -> float:
    """The mean place of ink along a line."""
    return float(ink @ np.arange(len(ink)) / max(float(ink.sum()), 1e-6))


def _closed_left(form: _Form) -> float:
    """The least ink at the left, above and below the middle: an 8 has strokes there."""
    shape = form.shape
    left = (shape.shape[1] - WIDTH) // 2
    side = shape[:, left : left + round(0.4 * WIDTH)].max(axis=1)
    parts = (side[EDGE + round(low * SIDE) : EDGE + round(high * SIDE)] for low, high in ((0.22, 0.36), (0.62, 0.78)))
    return float(sum(part.min() for part in parts)) / 2


def _round_above(form: _Form) -> float:
    """The least ink along the upper left and the top: a 9 has a stroke there all along."""
    shape = form.shape
    left = (shape.shape[1] - WIDTH) // 2
    side = shape[EDGE + round(0.18 * SIDE) : EDGE + round(0.38 * SIDE), left : left + WIDTH // 3]
    top = shape[EDGE : EDGE + SIDE // 4, left + round(0.25 * WIDTH) : left + round(0.75 * WIDTH)]
    return float(min(side.max(axis=1).min(), top.max(axis=0).min()))


WIDTH_COUNTS, FLAG = 2.0, 0.42
"""How much the width of a bar counts beside its ink, and the share of a digit's height between a flag's and a bar's."""

PLAIN_BAR, TREMBLE, LEVEL = 0.65, 0.25, 0.33
"""Ink that is a bar, even with a serif that hangs from it; by how many rows one hangs whose pen trembled; and the share
of what is at the upper left that is at the very top: a bar has more there, a flag less."""

_STROKES = {
    (5, 6): (_closed_below, 0.8, 0.85, 0.1, 0.5),
    (1, 7): (_bar_above, -0.08, -0.02, 0.2, 1.0),
    (3, 8): (_closed_left, 0.56, 0.6, 0.1, 0.0),
    (4, 9): (_round_above, 0.38, 0.46, 0.15, 0.0),
}
"""By pair: the telling strokes, the shares of ink below which they are absent and above which they are there, the lead
below which they decide, and how much that counts with them. Up to twice that lead nothing is read against them."""


@lru_cache(maxsize=1)
def _masters() -> tuple[Floats, NDArray[np.intp], Floats]:
    """(K, side x side): unit vectors of all masters less their mean, by digits; where each digit starts; the mean."""
    shapes: list[Floats] = []
    starts = []
    for digit in range(1, 10):
        starts.append(len(shapes))
        shapes += [_unit(shape) for image, weights in _drawings(digit) for shape in _variants(image, weights)]
    mean: Floats = np.mean(shapes, axis=0)
    masters: Floats = np.stack([_unit(shape - mean) for shape in shapes]).astype(np.float32)
    return masters, np.array(starts), mean


def _variants(image: Image.Image, weights: tuple[int, ...]) -> Iterator[Floats]:
    """The drawing in these weights and all slants, brought to one size."""
    for weight in weights:
        heavier = image.filter(_thicken(weight)) if weight else image
        for slant in SLANTS:
            turn = (1, slant, -slant * image.height / 2, 0, 1, 0)
            leaning = heavier.transform(image.size, Image.Transform.AFFINE, turn, Image.Resampling.BILINEAR)
            shape = _normal(np.asarray(leaning) / 255)
            if shape is not None:
                yield shape


def _thicken(weight: int) -> ImageFilter.Filter:
    return ImageFilter.MaxFilter(2 * weight + 1) if weight > 0 else ImageFilter.MinFilter(1 - 2 * weight)


def _drawings(digit: int) -> Iterator[tuple[Image.Image, tuple[int, ...]]]:
    """The digit in every face and form, with room around it, and the weights in which it is worth having."""
    for face in FACES:
        typed = np.pad(glyph(str(digit), face=face, height=40), 14) * (255 // FULL)
        yield Image.fromarray(typed.astype(np.uint8)), WEIGHTS
    for form in PEN_FORMS[digit]:
        for wide in (18, 26):
            points = [(36 + wide * (x - 50) / 100, 14 + 0.44 * y) for x, y in form]
            image = Image.new("L", (72, 72))
            ImageDraw.Draw(image).line(points, fill=255, width=4, joint="curve")
            yield image, PEN_WEIGHTS


def _normal(ink: Floats, *, narrow: float = NARROW) -> Floats | None:
    """The ink (0 to 1) within its box, brought to one size, if it is not `narrow`; None if the box is no digit's."""
    return _normals([ink], [narrow])[0]


def _normals(inks: Sequence[Floats], narrow: Sequence[float]) -> list[Floats | None]:
    """The same for several inks (n, n), each with what is narrow: they lie in one picture, far enough apart, while they
    are blurred."""
    if not inks:
        return []
    boxes, high = _boxes(np.stack(inks)), len(inks[0])
    whole, step = SIDE + 2 * EDGE, SIDE + 4 * EDGE
    drawn = Image.fromarray((255 * np.concatenate(inks)).astype(np.uint8))
    canvas = Image.new("L", (step * len(boxes), whole))
    for number, box in enumerate(boxes):
        if box is not None:
            left, top, right, bottom = box
            proportion = (right - left) / (bottom - top)
            width = WIDTH if proportion > narrow[number] else max(3, round(SIDE * proportion))
            part = drawn.crop((left, high * number + top, right, high * number + bottom))
            image = part.resize((width, SIDE), Image.Resampling.BILINEAR)
            canvas.paste(image, (step * number + (whole - width) // 2, EDGE))
    blurred = np.asarray(canvas.filter(ImageFilter.GaussianBlur(0.5)), np.float64) / 255
    return [
        None if box is None else blurred[:, step * number : step * number + whole] for number, box in enumerate(boxes)
    ]


def _boxes(inks: Floats) -> list[tuple[int, int, int, int] | None]:
    """Left, top, right and bottom of the strong ink in each of (K, n, n); None where it is no digit's."""
    strong = inks > 0.5
    sides = strong[:, 0], strong[:, -1], strong[:, :, 0], strong[:, :, -1]
    along = np.max([np.count_nonzero(side, axis=1) / side.shape[1] for side in sides], axis=0)
    down, across = (np.asarray(strong.any(axis=axis)) for axis in (2, 1))  # (K, n) each
    rows, cols = (np.count_nonzero(lines, axis=1) for lines in (down, across))
    is_digit = (along <= BORDER) & (rows >= 5) & (cols >= 2) & (cols <= 1.2 * rows)
    starts = [lines.argmax(axis=1) for lines in (across, down)]
    ends = [lines.shape[1] - lines[:, ::-1].argmax(axis=1) for lines in (across, down)]
    boxes = zip(*(each.tolist() for each in (*starts, *ends)), strict=True)
    return [box if fits else None for box, fits in zip(boxes, is_digit.tolist(), strict=True)]


def _unit(shape: Floats) -> Floats:
    """As a vector of length 1 and mean 0."""
    return np.asarray(_units(shape.reshape(1, -1))[0])


def _units(shapes: Floats) -> Floats:
    """(K, pixels): the same of several vectors."""
    vectors = shapes - shapes.mean(axis=1, keepdims=True)
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    units: Floats = vectors / np.maximum(lengths, 1e-9)
    return units
