"""Foreign colours: what was drawn in no colour that belongs there, nor in a mixture of two that do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats

Flags = NDArray[np.bool_]
Part = tuple[slice, slice]

FOREIGN = 60.0
"""Grey levels by which a foreign colour is unlike all others, in the channel where it is most."""

OURS = 0.8
"""The share of a mark that must be in our colours for the cell to be ours."""

COMMON, COLOURS = 0.02, 8
"""The share of a cell that a colour of it must have to count, and how many do at most."""

FLAT = 24
"""Grey levels by which neighbouring pixels of one colour may differ."""

BARE = 0.9
"""The share of a bare cell that has the ground's colour: there may be grains and stars."""

LEFT = 0.35
"""The share of what two marks differ in that may be left of the old one under the new one."""

FRINGE = 0.35
"""Share of the tints' range, around a pixel, by which it may be outside: compression and sharpening leave fringes."""


@dataclass(frozen=True, slots=True, eq=False)
class Tints:
    """Between which tints no pixel of a picture is strange, at half its size, told from a clean one.

    A tint is how far each channel is above the next one: greys have none, so that a coloured line on a grey one is
    strange, though every channel of it is between black and white.
    """

    low: NDArray[np.int16]  # (h / 2, w / 2, 3)
    high: NDArray[np.int16]

    @classmethod
    def of(cls, clean: Pixels, unlike: int) -> Tints:
        """What is strange is unlike all tints around by so much."""
        tints = _tints(clean)
        low, high = cv2.erode(tints, BESIDE), cv2.dilate(tints, BESIDE)
        slack = (FRINGE * (cv2.dilate(high, BESIDE) - cv2.erode(low, BESIDE))).astype(np.int16) + np.int16(unlike)
        return cls(low - slack, high + slack)

    def strange(self, seen: Pixels) -> Flags | None:
        """(h, w): which pixels of a picture have strange tints; None if none do."""
        usual = cv2.inRange(_tints(seen), self.low, self.high)
        if cv2.countNonZero(usual) == usual.size:
            return None
        found = np.zeros(seen.shape[:2], bool)
        odd = usual == 0
        found[: 2 * len(odd), : 2 * odd.shape[1]] = odd.repeat(2, axis=0).repeat(2, axis=1)
        return found


def off_colours(drawn: Floats, colours: Floats, limit: float) -> Flags:
    """(N,): which pixels (N, 3) are off every mixture of two of the colours (K, 3), by so many grey levels."""
    off: Flags = np.abs(drawn[:, None] - colours).max(axis=2).min(axis=1) > limit
    for one, other in combinations(colours, 2):
        left = drawn[off] - one
        if not len(left):
            break
        way = other - one
        share = (left @ way / max(float(way @ way), 1.0)).clip(0.0, 1.0)
        off[off] = np.abs(left - share[:, None] * way).max(axis=1) > limit
    return off


def spoilt(
    seen: Pixels, strange: Flags, before: Pixels, after: Pixels, cells: Sequence[Part], *, least: float, mixed: bool
) -> Flags:
    """(h, w): which strange pixels are foreign to their cell, among the cells whose marks are in our own colours.

    Whoever draws a mark in our colours, or nearly, has no use for others than these and the shade that most of it has;
    what a mark in quite another shade may look like, nobody knows. Where cells are `mixed`, because they reach into
    each other or a detail may lie elsewhere in them, colours that are rare or of a mark beside are no foreign ones.
    `before` and `after` are clean pictures (h, w, 3) of what was there and of what was read; a cell with fewer strange
    pixels than `least` is not looked at.
    """
    found, shades = np.zeros_like(strange), _Shades(seen, before, after)
    for cell in cells:
        odd = strange[cell].copy()
        if np.count_nonzero(odd) < least:
            continue
        now, old, new = (image[cell].astype(np.int16) for image in (seen, before, after))
        mark = np.abs(new - old).max(axis=2) > FOREIGN
        if (np.abs(now - new).max(axis=2) < FOREIGN)[mark].sum() < OURS * mark.sum():
            continue
        clean = np.concatenate([old.reshape(-1, 3), new.reshape(-1, 3)])
        if mixed:
            odd[odd] = _is_rare(now[odd], clean)
        odd = without_hairs(odd)
        if not odd.any():
            continue
        own, beside = _colours(clean), [other for other in cells if _overlap(cell, other)] if mixed else [cell]
        own = np.array([*own, *shades.unlike(own, beside)])
        odd[odd] = off_colours(now[odd].astype(np.float32), own, FOREIGN)
        found[cell] |= without_hairs(odd)
    return found


def littered(seen: Pixels, odd: Flags, before: Pixels, after: Pixels, cells: Sequence[Part], *, least: float) -> Flags:
    """(h, w): odd pixels that are left in cells that were to be emptied: there even their former colours are foreign.

    `before` and `after` are clean pictures (h, w, 3) of what was there and of what was read; a cell with fewer odd
    pixels than `least` is not looked at.
    """
    found = np.zeros_like(odd)
    for cell in cells:
        if np.count_nonzero(odd[cell]) < least or not _is_bare(after[cell]) or _is_bare(before[cell]):
            continue
        now = seen[cell].astype(np.int16)
        grounds = [np.median(image[cell].reshape(-1, 3), axis=0) for image in (seen, after)]
        unlike = np.minimum(*(np.abs(now - ground).max(axis=2) for ground in grounds)) > FOREIGN
        found[cell] |= without_hairs(odd[cell] & unlike)
    return found


def left_over(kept: Flags, before: Pixels, after: Pixels, cells: Sequence[Part]) -> Flags:
    """(h, w): what is left of marks that were to make way for others: `kept` (h, w) is as it was, and should not be.

    Another hand may leave some of it uncovered, but not most of what the two marks differ in.
    """
    found, differs = np.zeros_like(kept), most(cv2.absdiff(before, after)) > FOREIGN
    for cell in cells:
        if np.count_nonzero(kept[cell]) > LEFT * np.count_nonzero(differs[cell]) and not _is_bare(before[cell]):
            found[cell] |= without_hairs(kept[cell])
    return found


def _is_bare(cell: Pixels) -> bool:
    ground = np.median(cell.reshape(-1, 3), axis=0)
    return bool((np.abs(cell - ground).max(axis=2) < FLAT).mean() > BARE)


class _Shades:
    """In which shades the marks of cells were drawn; pictures as those of `spoilt`."""

    def __init__(self, seen: Pixels, before: Pixels, after: Pixels) -> None:
        self.seen = seen
        self.mark = most(cv2.absdiff(before, after)) > FOREIGN
        self._of: dict[tuple[int, int], Floats | None] = {}

    def unlike(self, own: Floats, cells: Iterable[Part]) -> list[Floats]:
        """The shades of these cells' marks that are unlike the colours (K, 3), and each other."""
        unlike: list[Floats] = []
        for cell in cells:
            shade = self._shade(cell)
            if shade is not None and np.abs(np.array([*own, *unlike]) - shade).max(axis=1).min() > FLAT:
                unlike.append(shade)
        return unlike

    def _shade(self, cell: Part) -> Floats | None:
        """(3,): that of most of the mark; None if there is none."""
        place = cell[0].start, cell[1].start
        if place not in self._of:
            mark = self.mark[cell]
            self._of[place] = np.median(self.seen[cell][mark], axis=0).astype(np.float32) if mark.any() else None
        return self._of[place]


def _is_rare(drawn: NDArray[np.int16], clean: NDArray[np.int16]) -> Flags:
    """(N,): which of the pixels drawn (N, 3) are like none of the clean ones (K, 3), not even a rare one."""
    if not len(drawn):
        return np.zeros(0, bool)
    red, green, blue = (clean >> 4).T
    numbers = np.flatnonzero(np.bincount((red << 8) + (green << 4) + blue, minlength=1))
    kinds = np.stack([numbers >> 8, numbers >> 4 & 15, numbers & 15], axis=1).astype(np.int16) * np.int16(
        16
    ) + np.int16(8)
    gap = np.abs(drawn[:, None] - kinds).max(axis=2).min(axis=1, initial=255)
    rare: Flags = gap > FOREIGN
    return rare


def _overlap(one: Part, other: Part) -> bool:
    return all(mine.start < its.stop and its.start < mine.stop for mine, its in zip(one, other, strict=True))


def scratched(seen: Pixels, before: Pixels, after: Pixels, *, rim: int, loud: int) -> Flags:
    """(h, w): edges inside of marks that should be of one colour, in whatever shade they were drawn.

    `before` and `after` are clean pictures (h, w, 3); `rim` pixels along a mark's border are anybody's.
    """
    mark = (most(cv2.absdiff(before, after)) > FOREIGN) & (_range(after) < FLAT)
    near = np.ones((2 * rim + 1, 2 * rim + 1), np.uint8)
    inside: Flags = cv2.erode(mark.view(np.uint8), near, borderType=cv2.BORDER_CONSTANT, borderValue=0).view(bool)
    return inside & (_range(seen) > loud) if inside.any() else inside


def most(levels: Pixels) -> Pixels:
    """(h, w): the highest of the three levels (h, w, 3)."""
    red, green, blue = cv2.split(levels)
    return np.asarray(cv2.max(cv2.max(red, green), blue))


def _range(image: Pixels) -> Pixels:
    """(h, w): by how many grey levels each pixel and its neighbours differ, in the channel where they do most."""
    return most(cv2.subtract(cv2.dilate(image, BESIDE), cv2.erode(image, BESIDE)))


def near_edges(image: Pixels) -> Flags:
    """(h, w): pixels of a picture (h, w, 3) next to which its colour changes."""
    return _range(image) > FOREIGN


def without_hairs(found: Flags) -> Flags:
    """(h, w): only squares of four: a line one pixel thin is the fringe of a mark, or what it does not quite cover."""
    square = found[1:, 1:] & found[1:, :-1] & found[:-1, 1:] & found[:-1, :-1]
    thick = np.zeros_like(found)
    for rows in (slice(1, None), slice(None, -1)):
        for cols in (slice(1, None), slice(None, -1)):
            thick[rows, cols] |= square
    return thick


def _colours(pixels: NDArray[np.int16]) -> Floats:
    """(K, 3): the commonest colours, at least two."""
    red, green, blue = (pixels >> 5).T
    names, which, counts = np.unique((red << 6) + (green << 3) + blue, return_inverse=True, return_counts=True)
    commonest = np.argsort(-counts, kind="stable")[:COLOURS]
    commonest = commonest[(counts[commonest] > COMMON * len(pixels)) | (np.arange(len(commonest)) == 0)]
    sums = np.stack([np.bincount(which, weights=channel, minlength=len(names)) for channel in pixels.T], axis=1)
    means: Floats = (sums[commonest] / counts[commonest, None]).astype(np.float32)
    return means if len(means) > 1 else means.repeat(2, axis=0)


def _tints(image: Pixels) -> NDArray[np.int16]:
    """(h / 2, w / 2, 3): red over green, green over blue, blue over red."""
    height, width = (side // 2 for side in image.shape[:2])
    small = cv2.resize(image[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA)
    red, green, blue = cv2.split(small)
    ways = ((red, green), (green, blue), (blue, red))
    return np.asarray(cv2.merge([cv2.subtract(one, other, dtype=cv2.CV_16S) for one, other in ways]))


BESIDE = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
"""A pixel and its neighbours up, down and sideways."""
