"""Foreign colours: what was drawn in no colour that belongs there, nor in a mixture of two that do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from math import ceil, floor

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.register import Floats

Flags = NDArray[np.bool_]
Part = tuple[slice, slice]

FOREIGN = 60
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

AT_ONCE = 4000
"""Pixels, times pairs of colours, that are compared at once: more no longer fit into the fast part of memory."""


def off_colours(drawn: Floats, colours: Floats, limit: float) -> Flags:
    """(N,): which pixels (N, 3) are off every mixture of two of the colours (K, 3), by so many grey levels."""
    levels = np.ascontiguousarray(drawn.T)  # channel by channel, which is faster
    off: Flags = np.abs(levels[:, None] - colours.T[:, :, None]).max(axis=0).min(axis=0) > limit
    pairs = _pairs(len(colours))
    while pairs.size and (left := np.count_nonzero(off)):
        many = max(1, AT_ONCE // left)
        one, other = (colours[each].T[..., None] for each in pairs[:, :many])
        off[off] = _off_mixtures(levels[:, off], one, other) > limit
        pairs = pairs[:, many:]
    return off


@lru_cache(maxsize=64)
def _pairs(count: int) -> NDArray[np.intp]:
    """(2, P): the numbers of any two of so many."""
    return np.stack(np.triu_indices(count, 1))


def _off_mixtures(drawn: Floats, one: Floats, other: Floats) -> Floats:
    """(N,): by how many grey levels pixels (3, N) are off all mixtures of one colour (3, P, 1) and the other."""
    left, way = drawn[:, None] - one, other - one
    share = (left * way).sum(axis=0) / np.maximum((way * way).sum(axis=0), 1)
    off: Floats = np.abs(left - share.clip(0, 1) * way).max(axis=0).min(axis=0)
    return off


class Edit:
    """A part of a page as an editor left it, (h, w, 3), and clean pictures of what was there and of what was read."""

    def __init__(self, seen: Pixels, before: Pixels, after: Pixels) -> None:
        self.seen, self.before, self.after = seen, before, after
        self._shades: dict[tuple[int, int], Floats | None] = {}

    @cached_property
    def mark(self) -> Flags:
        """(h, w): what was to be drawn, or wiped off."""
        mark: Flags = most(cv2.absdiff(self.before, self.after)) > FOREIGN
        return mark

    @cached_property
    def _ours(self) -> Flags:
        """(h, w): where the mark is in our colours, or nearly."""
        return self.mark & (most(cv2.absdiff(self.seen, self.after)) < FOREIGN)

    def is_ours(self, cell: Part) -> bool:
        return bool(np.count_nonzero(self._ours[cell]) >= OURS * np.count_nonzero(self.mark[cell]))

    def clean(self, cell: Part) -> Pixels:
        """(K, 3): all pixels that the cell had, or was to have."""
        return np.concatenate([image[cell].reshape(-1, 3) for image in (self.before, self.after)])

    def steps(self, cell: Part) -> NDArray[np.int16]:
        """(3, K): the colours of these pixels, each once, to steps of 16 levels in each channel."""
        there = np.zeros(1 << 12, bool)
        for numbers in self._steps:
            there[numbers[cell].astype(np.intp).ravel()] = True
        found = np.flatnonzero(there).astype(np.int16)
        return 16 * np.stack([found >> 8, found >> 4 & 15, found & 15]) + np.int16(8)

    @cached_property
    def _steps(self) -> list[NDArray[np.uint16]]:
        """(h, w) each: the numbers of the steps in which the clean pictures' colours are."""
        channels = (cv2.split(image) for image in (self.before, self.after))
        return [((red >> 4).astype(np.uint16) << 8) + (green & 0xF0) + (blue >> 4) for red, green, blue in channels]

    def ink(self, cell: Part) -> list[Floats]:
        """The colour of a mark that has but one, however few of its pixels show it in full; else none."""
        mark = self.mark[cell]
        before, after = (image[cell][mark].astype(np.float32) for image in (self.before, self.after))
        if not len(after):
            return []
        purest = int(np.abs(after - before).max(axis=1).argmax())
        one = np.stack([before[purest], after[purest]])
        return [] if off_colours(after, one, FLAT).any() else [after[purest]]

    def shades_unlike(self, own: Floats, cells: Iterable[Part]) -> list[Floats]:
        """The shades in which these cells' marks were drawn that are unlike the colours (K, 3), and each other."""
        unlike: list[Floats] = []
        for cell in cells:
            shade = self._shade(cell)
            if shade is not None and np.abs(np.array([*own, *unlike]) - shade).max(axis=1).min() > FLAT:
                unlike.append(shade)
        return unlike

    def _shade(self, cell: Part) -> Floats | None:
        """(3,): that of most of the mark; None if there is none."""
        place = cell[0].start, cell[1].start
        if place not in self._shades:
            drawn = self.seen[cell][self.mark[cell]]
            self._shades[place] = _median(drawn).astype(np.float32) if len(drawn) else None
        return self._shades[place]


def spoilt(edit: Edit, strange: Flags, cells: Sequence[Part], *, least: float, mixed: bool) -> Flags:
    """(h, w): which strange pixels are foreign to their cell, among the cells whose marks are in our own colours.

    Whoever draws a mark in our colours, or nearly, has no use for others than these and the shade that most of it has;
    what a mark in quite another shade may look like, nobody knows. Where cells are `mixed`, because they reach into
    each other or a detail may lie elsewhere in them, colours that are rare or of a mark beside are no foreign ones. A
    cell with fewer strange pixels than `least` is not looked at.
    """
    found = np.zeros_like(strange)
    for cell in cells:
        if np.count_nonzero(strange[cell]) < least or not edit.is_ours(cell):
            continue
        odd, now = without_hairs(strange[cell]), edit.seen[cell]
        if mixed and odd.any():
            odd[odd] = _is_rare(now[odd], edit.steps(cell))
            odd = without_hairs(odd)
        if not odd.any():
            continue
        beside = [other for other in cells if _overlap(cell, other)] if mixed else [cell]
        own = np.array([*_colours(edit.clean(cell)), *edit.ink(cell)])
        own = np.array([*own, *edit.shades_unlike(own, beside)])
        odd[odd] = off_colours(now[odd].astype(np.float32), own, FOREIGN)
        found[cell] |= without_hairs(odd)
    return found


def littered(edit: Edit, odd: Flags, cells: Sequence[Part], *, least: float) -> Flags:
    """(h, w): odd pixels that are left in cells that were to be emptied: there even their former colours are foreign.

    A cell with fewer odd pixels than `least` is not looked at.
    """
    found = np.zeros_like(odd)
    for cell in cells:
        if np.count_nonzero(odd[cell]) < least or not _is_bare(edit.after[cell]) or _is_bare(edit.before[cell]):
            continue
        now = edit.seen[cell]
        unlike = ~np.logical_or(*(_is_like(now, _median(image[cell]), FOREIGN) for image in (edit.seen, edit.after)))
        found[cell] |= without_hairs(odd[cell] & unlike)
    return found


def left_over(edit: Edit, kept: Flags, cells: Sequence[Part]) -> Flags:
    """(h, w): what is left of marks that were to make way for others: `kept` (h, w) is as it was, and should not be.

    Another hand may leave some of it uncovered, but not most of what the two marks differ in.
    """
    found = np.zeros_like(kept)
    for cell in cells:
        many = np.count_nonzero(kept[cell]) > LEFT * np.count_nonzero(edit.mark[cell])
        if many and not _is_bare(edit.before[cell]):
            found[cell] |= without_hairs(kept[cell])
    return found


def _is_bare(cell: Pixels) -> bool:
    like = _is_like(cell, _median(cell), FLAT - 0.5)  # medians are whole levels or halves
    return bool(np.count_nonzero(like) / like.size > BARE)


def _is_like(image: Pixels, colour: Floats, by: float) -> Flags:
    """(h, w): which pixels (h, w, 3) are off a colour by no more than so many grey levels, in whatever channel."""
    low = tuple(max(0, ceil(level - by)) for level in colour.tolist())
    high = tuple(min(255, floor(level + by)) for level in colour.tolist())
    return np.asarray(cv2.inRange(image, low, high)) > 0


def _median(pixels: Pixels) -> Floats:
    """(3,): the middle level of each channel of pixels (…, 3), or half between two."""
    levels = np.ascontiguousarray(pixels.reshape(-1, 3).T)
    low, high = (levels.shape[1] - 1) // 2, levels.shape[1] // 2
    levels = np.partition(levels, (low, high), axis=1)
    middle: Floats = (levels[:, low] + levels[:, high].astype(np.float64)) / 2
    return middle


def _is_rare(drawn: Pixels, clean: NDArray[np.int16]) -> Flags:
    """(N,): which of the pixels drawn (N, 3) are like none of the clean colours (3, K), not even a rare one."""
    gaps = np.abs(drawn.T[:, :, None] - clean[:, None])  # (3, N, K): channel by channel, which is faster
    rare: Flags = gaps.max(axis=0).min(axis=1) > FOREIGN
    return rare


def _overlap(one: Part, other: Part) -> bool:
    return all(mine.start < its.stop and its.start < mine.stop for mine, its in zip(one, other, strict=True))


def scratched(edit: Edit, *, rim: int, loud: int) -> Flags:
    """(h, w): edges inside of marks that should be of one colour, in whatever shade they were drawn; `rim` pixels along
    a mark's border are anybody's."""
    mark = edit.mark & (_range(edit.after) < FLAT)
    near = np.ones((2 * rim + 1, 2 * rim + 1), np.uint8)
    inside: Flags = cv2.erode(mark.view(np.uint8), near, borderType=cv2.BORDER_CONSTANT, borderValue=0).view(bool)
    return inside & (_range(edit.seen) > loud) if inside.any() else inside


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
    if not found.size:
        return found.copy()
    squares = cv2.erode(found.view(np.uint8), _SQUARE, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    return np.asarray(cv2.dilate(squares, _SQUARE, anchor=(1, 1))).view(bool)


_SQUARE = np.ones((2, 2), np.uint8)


def _colours(pixels: Pixels) -> Floats:
    """(K, 3): the commonest colours, at least two."""
    red, green, blue = (pixels >> 5).astype(np.intp).T
    which = (red << 6) + (green << 3) + blue
    counts = np.bincount(which, minlength=1)
    commonest = np.argsort(-counts, kind="stable")[:COLOURS]
    commonest = commonest[(counts[commonest] > COMMON * len(pixels)) | (np.arange(len(commonest)) == 0)]
    sums = np.stack([np.bincount(which, weights=channel) for channel in pixels.T], axis=1)
    means: Floats = (sums[commonest] / counts[commonest, None]).astype(np.float32)
    return means if len(means) > 1 else means.repeat(2, axis=0)


BESIDE = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
"""A pixel and its neighbours up, down and sideways."""
