"""Whether what is new in a cell of a sudoku is one digit or one colour on bare ground, and nothing else.

Digits are as large as digits are, in whatever hand: a stroke drawn over one, or a box around it, reaches farther. A
mark of colour is solid inside, and has an edge as narrow as those of the marks that were given.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels
from renderers.board import Seen
from renderers.reading.foreign import most, off_colours
from renderers.reading.register import Floats
from renderers.reading.struck import WAYS, sum_of_three
from renderers.reading.tiles import AROUND, Tiles, in_bytes, split_cells
from renderers.touched import first

Flags = NDArray[np.bool_]
Levels = tuple[Pixels, Pixels]
"""(h, w, 3) each, see `levels_around`."""

Pieces = list[tuple[int, int, int]]
"""The row and the column of the cell in which a piece of ink is, and how many pixels it has."""

APART = 45
"""Grey levels by which what is drawn is outside all of the bare board around it, and other colours are off a mark's:
strokes that are seen at once differ by 90, and keep 60 of these through JPEG (q50)."""

OWN = 20.0
"""Grey levels by which no pixel of a cell, at reading size, differs from our own drawing if that is all there is."""

HIGHEST, WIDEST, SPECKS = 0.77, 0.6, 2
"""Shares of a cell that a digit is high and wide at most, and how many pixels beyond are no part of it: the largest by
hand are 0.7 and 0.48, strokes over a cell 0.9."""

FARTHEST = 0.46
"""Share of a cell from its middle beyond which there is nothing of a disc: the largest by hand reaches 0.44."""

BRIDGED, RIM = 5, 2
"""Pixels, at reading size, that a scratch is at most wide, and that the soft edge of a mark is."""

INSIDE, BESIDE = 7, 3
"""Pixels that may be off the colour of a mark inside of it, and that may lie beyond it: where a hand leaves ground
beside a line there are up to 5, where a stroke was drawn 32 and more, but 9 of a box at the edge of a mark in JPEG."""

PIECE = 0.15
"""The share of a digit's ink that may be apart from the rest of it: the smaller half of a 4 that is cut has 0.25."""

DEEP = 0.35
"""Share of the darkest of a digit's ink from which on its pixels hang together: a narrow bar over it, between pixels,
is filled by a fifth with what is beside it. Of 1,560 right answers, painted and perturbed, no digit comes apart even by
0.4."""

CRUMBS, LARGE = 5, 30
"""Pixels of a digit's ink that may be apart from the rest of it in cells of this side: of 2,200 right answers, painted
and perturbed, none had more than 2; a bar in the ground's colour over the left of a 5 leaves 7."""

FEWEST, DEEPEST, INKS, SECOND, OTHER_INK = 12, 0.6, 8, 70.0, 0.12
"""Pixels that tell; the quantile of their distance from the ground from which on they may be pure ink, and how many of
those are tried; grey levels by which a second ink is off the mixtures of ground and ink, and the share of what is drawn
that may be so."""

CROSSED, MORE_THAN_GIVEN, ALONG_IT = 38.0, 20.0, 0.4
"""Grey levels by which three lines side by side, inside of a mark, differ from its colour on average, and by how much
more than in marks that were given, if they are such a share of a cell long: what compression does to single pixels
has no mean. A purple bar across a small blue mark, in JPEG, had 57, given ones 28; of 750 right answers, painted and
perturbed up to full strength, some had 42 where given ones had 26."""

SOFTER = 0.18
"""The share of a mark that its edge may have more than the edges of given marks have: of 687 right answers, painted and
perturbed, the most is 0.12, but a small yellow disc with soft edges had 0.163; a box drawn on it has 0.2."""

WORSE = 1.5
"""How many times as much as in given marks may be amiss in new ones: sharpening and blur spoil all alike."""

MORE = 0.1
"""Share of a cell by which digits may be larger than all that were given, if those seem to be large."""

LEANING, DARKER, ALONG = 0.115, 0.06, 0.4
"""Shares of a cell, at its border, where grid lines may lean in because the picture lies askew, and where sharpening
makes them stand out; and of its side that they cover at least."""


def not_ours(seen: Seen, new: Flags, symbols: NDArray[np.intp], tiles: Tiles) -> Flags:
    """(R, C): the new cells that do not show just our own tiles, the only ones worth a closer look."""
    inner = slice(tiles.inset, seen.cells.shape[2] - tiles.inset)
    gap = seen.cells[new][:, inner, inner] - tiles.images[symbols[new]][:, inner, inner]
    others = new.copy()
    others[new] = np.maximum(gap.max(axis=(1, 2, 3)), -gap.min(axis=(1, 2, 3))) > OWN
    return others


def drawn_over_digit(seen: Seen, new: Flags, given: Flags, bare: Levels, *, is_dark: bool) -> Cell | None:
    """A cell with a `new` digit (R, C) in which something reaches farther than any digit, and than in `given` cells.

    `bare` are the levels around the empty board's pixels; on dark ones ink is lighter than the ground.
    """
    board, (low, high) = in_bytes(seen.board), bare
    ink = _by_cells(most(cv2.subtract(board, high) if is_dark else cv2.subtract(low, board)), new.shape)
    cells, pieces = _by_pieces(_without_lines(ink > APART, LEANING))
    spoilt = np.zeros_like(new)
    for axis, most_of_it in ((3, HIGHEST), (2, WIDEST)):
        share = _extent(np.count_nonzero(cells, axis=axis)) / cells.shape[2]
        spoilt |= share > max(most_of_it, float(share[given].max(initial=0.0)) + MORE)
    deep = ink > np.maximum(APART, DEEP * ink.max(axis=(2, 3), keepdims=True))
    torn = _torn(cells, pieces) | _torn(*_by_pieces(_without_lines(deep, LEANING)))
    return first((spoilt | torn) & new)


def in_two_inks(seen: Seen, new: Flags) -> Cell | None:
    """A cell with a `new` digit (R, C) that is not in one ink: any will do, but no second one beside it."""
    cells = split_cells(seen.board, *new.shape)
    edge = max(2, round(LEANING * cells.shape[2]))
    pixels = cells[new][:, edge:-edge, edge:-edge].reshape(np.count_nonzero(new), -1, 3)  # (K, pixels, 3)
    levels = np.ascontiguousarray(pixels.transpose(2, 0, 1))  # channel by channel, which is faster
    ground = np.median(levels, axis=2)  # (3, K)
    away = np.abs(levels - ground[..., None]).max(axis=0)
    ground = ground.T
    drawn = np.count_nonzero(away > APART, axis=1)
    few = np.maximum(FEWEST, OTHER_INK * drawn)
    ranks = away.shape[1] - drawn + np.ceil(DEEPEST * (drawn - 1)).astype(np.intp)
    deep = away >= np.take_along_axis(np.sort(away, axis=1), ranks.clip(0, away.shape[1] - 1)[:, None], axis=1)
    odd = _off_first(pixels, ground, away > APART, deep)
    places = np.argwhere(new)
    for number in np.flatnonzero((drawn >= FEWEST) & (odd > few)):
        inks, inked = pixels[number][deep[number]], pixels[number][away[number] > APART]
        pairs = (np.stack([ground[number], ink]) for ink in inks[:: 1 + len(inks) // INKS])
        if all(np.count_nonzero(off_colours(inked, pair, SECOND)) > few[number] for pair in pairs):
            return Cell(*places[number].tolist())
    return None


def _off_first(pixels: Floats, ground: Floats, drawn: Flags, deep: Flags) -> NDArray[np.intp]:
    """(K,): how many of the `drawn` pixels (K, pixels) of cells are off all mixtures of the ground (K, 3) and the first
    ink that is `deep`; or a few more, since this is quick and only to find cells that are worth a closer look."""
    way = pixels[np.arange(len(pixels)), deep.argmax(axis=1)] - ground
    cells, places = np.nonzero(drawn)
    left, along = pixels[cells, places] - ground[cells], way[cells]
    share = np.einsum("ij,ij->i", left, along) / np.maximum(np.einsum("ij,ij->i", along, along), 1.0)
    off = np.abs(left - share.clip(0.0, 1.0)[:, None] * along).max(axis=1) > SECOND
    return np.bincount(cells[off], minlength=len(pixels))


def drawn_over_colour(seen: Seen, new: Flags, given: Flags, bare: Levels, *, is_disc: bool) -> Cell | None:
    """A cell with a `new` colour (R, C) that is less solid, or has a wider edge, than all marks that were `given`."""
    board, (low, high) = in_bytes(seen.board), bare
    drawn = most(cv2.max(cv2.subtract(low, board), cv2.subtract(board, high))) > APART
    off, cells = (_by_cells(each, new.shape) for each in (_off_middle(board, *new.shape), drawn))
    cells = _without_lines(cells, DARKER)
    edges = _count(cells & off) / np.maximum(1, _count(cells))
    insides = _insides(cells)
    inside = _count(insides & off)
    spoilt = (edges > edges[given].max(initial=0.0) + SOFTER) | _more(inside, given, INSIDE)
    if is_disc:
        spoilt |= _more(_count(cells & _far(cells.shape[2])), given, BESIDE)
    marks = split_cells(board, *new.shape)
    off = _off_along(marks[new], insides[new])
    if (off > CROSSED).any():
        usual = _off_along(marks[given], insides[given]).max(initial=0.0)
        spoilt[new] |= off > max(CROSSED, usual + MORE_THAN_GIVEN)
    return first(spoilt & new)


def _off_along(cells: Pixels, insides: Flags) -> Floats:
    """(K,): by how much, at most, lines inside (K, n, n) of marks, in cells (K, n, n, 3), are of another colour."""
    gaps = np.zeros(cells.shape, np.float32)
    for gap, cell, inside in zip(gaps, cells, insides, strict=True):
        if inside.any():
            gap[inside] = cell[inside] - np.median(cell[inside], axis=0)
    levels, long = np.moveaxis(gaps, -1, 0), ALONG_IT * cells.shape[1]
    most_of_all = np.zeros(len(cells), np.float32)
    for way in WAYS:
        total, length = (sum_of_three(way(each).sum(axis=-1)) for each in (levels, insides))
        off = np.where(length > 3 * long, np.abs(total).max(axis=0) / np.maximum(length, 1), 0.0)
        most_of_all = np.maximum(most_of_all, off.max(axis=1))
    return most_of_all


def _by_pieces(cells: Flags) -> tuple[Flags, Pieces]:
    """Cells of ink (R, C, n, n), free at their borders, without pieces that lie along a border only, and the others.

    A sharpened grid line leaves such pieces, a stroke goes on inwards.
    """
    rows, cols, n = cells.shape[:3]
    board = cells.transpose(0, 2, 1, 3).reshape(rows * n, cols * n).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(board, connectivity=8)
    x, y, wide, high, areas = stats[1:].T
    places, ends = np.stack([y, x]) % n, np.stack([y + high - 1, x + wide - 1]) % n
    edge = max(1, round(LEANING * n))
    inner = ((ends >= edge) & (places < n - edge)).all(axis=0)
    if not inner.all():
        cells = _by_cells(np.concatenate([[False], inner])[labels], (rows, cols))
    return cells, [(row, col, area) for row, col, area in np.stack([y // n, x // n, areas]).T[inner].tolist()]


def _torn(cells: Flags, pieces: Pieces) -> Flags:
    """(R, C): in which cells of ink (R, C, n, n) it is in two pieces, neither of them small; or, in large cells, leaves
    more than crumbs beside the largest."""
    largest, second = np.zeros((2, *cells.shape[:2]))
    for row, col, area in pieces:
        second[row, col] = max(second[row, col], min(area, largest[row, col]))
        largest[row, col] = max(largest[row, col], area)
    ink = _count(cells)
    torn: Flags = second > PIECE * np.maximum(1, ink)
    return torn | (ink - largest >= CRUMBS) if cells.shape[2] >= LARGE else torn


def levels_around(bare: Floats) -> Levels:
    """The lowest and the highest levels of a bare board (h, w, 3) around each pixel."""
    clean = in_bytes(bare)
    return np.asarray(cv2.erode(clean, AROUND)), np.asarray(cv2.dilate(clean, AROUND))


def _more(found: NDArray[Any], given: Flags, by: float) -> Flags:
    """(R, C): where more was found than in given cells, by so much."""
    more: Flags = found > WORSE * found[given].max(initial=0) + by
    return more


def _count(found: Flags) -> NDArray[np.intp]:
    """(R, C): true values in each cell (R, C, n, n)."""
    counts: NDArray[np.intp] = np.count_nonzero(found, axis=(2, 3))
    return counts


def _without_lines(cells: Flags, share: float) -> Flags:
    """Cells (R, C, n, n) without grid lines, in such a share of them at their border."""
    n = cells.shape[2]
    edge, cleared = max(1, round(share * n)), cells.copy()
    for turn in range(4):
        border = np.rot90(cleared, turn, axes=(2, 3))[:, :, :edge]
        border[:, :, 0] = False
        border[np.count_nonzero(border, axis=3) > ALONG * n] = False
    return cleared


def _off_middle(board: Pixels, rows: int, cols: int) -> Flags:
    """(h, w): which pixels of a board are unlike the colour that the middle of their cell has."""
    cells = split_cells(board, rows, cols)
    n = cells.shape[2]
    middle = cells[:, :, n // 3 : -(n // 3) : 2, n // 3 : -(n // 3) : 2].reshape(rows, cols, -1, 3)
    colours = np.partition(middle, middle.shape[2] // 2, axis=2)[:, :, middle.shape[2] // 2]  # (R, C, 3)
    return most(cv2.absdiff(board, colours.repeat(n, axis=0).repeat(n, axis=1))) > APART


def _insides(cells: Flags) -> Flags:
    """(R, C, n, n): what is drawn in each cell (R, C, n, n), with what scratches leave out and without its edge."""
    rows, cols, n = cells.shape[:3]
    room = n + 2 * BRIDGED
    apart = np.zeros((rows * room, cols * room), np.uint8)
    inner = slice(BRIDGED, -BRIDGED)
    _by_cells(apart, (rows, cols))[:, :, inner, inner] = cells
    whole = cv2.morphologyEx(apart, cv2.MORPH_CLOSE, np.ones((BRIDGED, BRIDGED), np.uint8))
    solid = cv2.erode(whole, np.ones((2 * RIM + 1, 2 * RIM + 1), np.uint8))
    inside: Flags = _by_cells(solid, (rows, cols))[:, :, inner, inner] > 0
    return inside


def _by_cells(board: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """(R, C, n, n): the pixels of a board (R*n, C*n)."""
    rows, cols = shape
    n = len(board) // rows
    return board.reshape(rows, n, cols, n).transpose(0, 2, 1, 3)


def _extent(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """(R, C): over how much of a line there are pixels, by their counts (R, C, n), but for specks at the ends."""
    ends = [(np.cumsum(each, axis=2) < SPECKS).sum(axis=2) for each in (counts, counts[:, :, ::-1])]
    extent: NDArray[np.intp] = np.maximum(0, counts.shape[2] - ends[0] - ends[1])
    return extent


@lru_cache(maxsize=16)
def _far(n: int) -> Flags:
    """(n, n): what is too far from the middle of a cell for any disc."""
    x = np.arange(n) - (n - 1) / 2
    far: Flags = np.hypot(x[:, None], x) > FARTHEST * n
    return far
