"""Strokes across things that were laid anew: crossed out, struck through or boxed in, in the picture's own colours.

No colour is foreign to a board of things, so what is wrong with such a cell only shows beside the thing itself. Each
cell that changed is compared with its tile, which the editor may have laid a little off, larger or smaller. A pixel is
off if it is neither like one of the tile's pixels around it, nor between two of them, by more than pixels are in the
same picture where nothing was to change: compression, blur and drift make waves everywhere, a stroke is in one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.cell import Cell
from gamegen.core.problem import P
from gamegen.core.rendering import Pixels, Style
from renderers.board import BoardRenderer, Seen
from renderers.page import Frame
from renderers.reading.foreign import most, without_hairs

Flags = NDArray[np.bool_]
Levels = NDArray[Any]
Pair = tuple[Pixels, Pixels]
"""A cell (n, n, 3) as it is seen, and the tile that it is to show."""

LARGEST, LARGE = 64, 36
"""Pixels across a cell at which it is compared, at most; and from which on outlines are two pixels wide."""

EDGE, MOVED, RESIZED = 0.08, 0.07, 0.06
"""Shares of a cell: what is left out at its border, and by how much a thing may be off its place or its size."""

QUIET, FAINTEST, UNLIKE = 8, 40, 30
"""Grey levels that mean nothing; by which a pixel is off, beside what is usual around such a contrast; and by how many
more it is unlike the very pixel of its tile."""

FEW, ALONG, ALONG_CLEAN = 3, 0.22, 0.12
"""How many pixels of a cell may be off: so few in any, or this share of its side, less in pictures that were not even
compressed. Right answers have up to 0.2 and 0.12; nine of ten strokes (4 px of 512) have more than 0.9."""

BLOCKS = 0.32
"""How many may be unlike their very pixels, in blocks of four and more: right answers have up to 0.29."""

USUAL, USUAL_NEW, SMOOTH, STEEP, ENOUGH = 0.99, 0.98, 12, 48, 60
"""The quantile of pixels that is usual, in old cells and in new ones; grey levels of contrast where a tile is smooth,
and where it is steep; and how many pixels of each tell."""

OTHERS = 24
"""Cells that nobody was to change, at most, that tell what is usual."""

BUSY, SEVERAL, HIGHEST = 0.5, 4, 0.5
"""The share of a new cell that has contrast if it tells, too, how many such cells must be, and the highest share of its
contrast that they tell."""

CALM = 2.0, 0.05
"""What pixels are off, everywhere and beside contrast, in a picture that was only moved a little, if at all."""

MIXED, SHADE = 0.15, 64
"""Share of a colour's pixels that may have another shade than most, and grey levels by which that is another colour."""

ROWS, FEWEST = 24, 64
"""So many rows of a picture that was reduced to few colours have so many at most."""


@dataclass(frozen=True, eq=False)
class Look:
    """How a cell may look: a tile (n, n, 3), and the same without the thing on it."""

    tile: Pixels
    ground: Pixels
    thing: Pixels  # (n, n): 255 where it is, else 0

    @classmethod
    def of(cls, tile: Pixels, ground: Pixels) -> Look:
        is_thing = cv2.absdiff(tile, ground).any(axis=2)
        return cls(tile, ground, np.where(is_thing, np.uint8(255), np.uint8(0)))

    @cached_property
    def rim(self) -> Flags:
        """(m, m): where the thing's outline is, inside of the cell: what scissors leave there is anybody's."""
        near = np.ones((3, 3) if len(self.tile) < LARGE else (5, 5), np.uint8)
        return _inside(cv2.subtract(cv2.dilate(self.thing, near), cv2.erode(self.thing, near))) > 0

    def laid_as(self, shown: Pixels) -> Look:
        """The same, with its thing of the size and in the place that is most like what a cell (n, n, 3) shows."""
        n = len(self.tile)
        edge, reach, more = (max(1, round(share * n)) for share in (EDGE, MOVED, RESIZED))
        around = cv2.copyMakeBorder(shown, reach, reach, reach, reach, cv2.BORDER_REPLICATE)
        around = around[edge : len(around) - edge, edge : len(around) - edge]
        fits = []
        for size in (1 + by / n for by in range(-more, more + 1)):
            tile = _moved(self.tile, size, 0, 0)[edge : n - edge, edge : n - edge]
            gap, _, (right, down), _ = cv2.minMaxLoc(cv2.matchTemplate(around, tile, cv2.TM_SQDIFF))
            fits.append((gap, size, right - reach, down - reach))
        _, *place = min(fits)
        thing = _moved(self.thing, *place)
        laid = self.ground + thing[..., None] / np.float32(255) * (
            _moved(self.tile, *place) - self.ground.astype(float)
        )
        return Look(laid.astype(np.uint8), self.ground, thing)


@dataclass(frozen=True, slots=True)
class Waves:
    """By how many grey levels pixels are off in a picture: everywhere, and more beside what has contrast."""

    everywhere: float
    by_contrast: float  # a share of it

    @property
    def are_none(self) -> bool:
        return self.everywhere < CALM[0] and self.by_contrast < CALM[1]

    def loud(self, tile: Pixels) -> NDArray[np.float32]:
        """(m, m): by how many grey levels a pixel inside of a cell must be off its tile (n, n, 3) to tell."""
        return np.asarray(FAINTEST + self.everywhere + self.by_contrast * _contrast(tile), np.float32)


@lru_cache(maxsize=64)
def compared_tiles(renderer: BoardRenderer[P], style: Style, frame: Frame) -> Pixels:
    """(K, n, n, 3): the tiles of a look, at the size at which cells are compared."""
    board, n = renderer.board(style, frame.rows, frame.cols), min(LARGEST, frame.cell)
    colours = board.inks.palette(style.colours())
    return np.stack([cv2.resize(colours[tile], (n, n), interpolation=cv2.INTER_AREA) for tile in board.bank])


def overdrawn(
    seen: Seen, known: NDArray[np.intp], changed: Flags, tiles: Pixels, looks: Callable[[Cell], Iterable[Look]]
) -> Cell | None:
    """A changed cell (R, C) that shows more, or less, than any of its looks; None if there is none.

    The others are to show the `tiles` (K, n, n, 3) that `known` (R, C) numbers.
    """
    if not changed.any():
        return None
    frame, n = seen.frame, tiles.shape[1]
    board = seen.drift.mend(seen.registration.part(frame.box, (frame.cols * n, frame.rows * n)))
    cells = board.reshape(frame.rows, n, frame.cols, n, 3).transpose(0, 2, 1, 3, 4)
    old, new = (list(map(Cell._make, np.argwhere(which).tolist())) for which in (~changed, changed))
    shown = {cell: np.ascontiguousarray(cells[cell]) for cell in (*old[:: 1 + len(old) // OTHERS], *new)}
    waves = _waves(
        [(drawn, tiles[known[cell]]) for cell, drawn in shown.items() if not changed[cell]],
        [(shown[cell], next(iter(looks(cell))).tile) for cell in new],
    )
    is_only = partial(_is_only, waves=waves, is_reduced=_is_reduced(seen))
    for cell in new:
        drawn = shown[cell]
        if not any(is_only(drawn, look) or is_only(drawn, look.laid_as(drawn)) for look in looks(cell)):
            return cell
    return None


def _waves(old: Sequence[Pair], new: Sequence[Pair]) -> Waves:
    """Those of a picture with these old and new cells, each with the tile that it is to show.

    Where nothing old has contrast, because all things moved, most of the new cells tell how much it makes; not without
    limit, since all of them may be overdrawn.
    """
    off, contrast = (
        np.concatenate([levels.ravel() for levels in each] or [np.zeros(0, np.uint8)])
        for each in ([_off(*pair) for pair in old], [_contrast(tile) for _, tile in old])
    )
    flat = off[contrast < SMOOTH]
    base = float(np.quantile(flat, USUAL)) if len(flat) > ENOUGH else 0.0
    slopes = [
        slope
        for pair in new
        if (slope := _slope(_off(*pair), _contrast(pair[1]), base, USUAL_NEW, least=BUSY)) is not None
    ]
    slope = min(float(np.median(slopes)), HIGHEST) if len(slopes) >= SEVERAL else 0.0
    return Waves(base, max(_slope(off, contrast, base, USUAL) or 0.0, slope, 0.0))


def _slope(off: Levels, contrast: Levels, base: float, usual: float, *, least: float = 0.0) -> float | None:
    """How much more a quantile of the pixels is off beside contrast, as a share of it; None if hardly any have it, or
    less than a share of them."""
    steep = contrast >= STEEP
    if np.count_nonzero(steep) < max(ENOUGH, least * steep.size):
        return None
    return float(np.quantile((off[steep] - np.float32(base)) / contrast[steep], usual))


def _is_reduced(seen: Seen) -> bool:
    """Whether a picture was reduced to few colours, so that one may have become another."""
    image = seen.registration.image
    found = Image.fromarray(image[:: max(1, len(image) // ROWS)]).getcolors(FEWEST)
    own = set(map(tuple, seen.page.picture.palette.tolist()))
    return found is not None and any(colour not in own for _, colour in found)


def _is_only(shown: Pixels, look: Look, *, waves: Waves, is_reduced: bool) -> bool:
    """Whether a cell (n, n, 3) shows a look, and nothing else."""
    loud, n = waves.loud(look.tile), len(shown)
    if is_reduced or _count_blocks(shown, look, loud) <= BLOCKS * n:
        few = max(FEW, round((ALONG_CLEAN if waves.are_none else ALONG) * n))
        return _count_odd(shown, look, loud, is_reduced=is_reduced) <= few
    return False


def _count_blocks(shown: Pixels, look: Look, loud: Levels) -> int:
    """How many pixels of a cell are unlike those of its look, in blocks of four and more: where a thing lies half a
    pixel off there are only lines of them."""
    gap = most(_inside(cv2.absdiff(shown, look.tile)))
    return int(np.count_nonzero(without_hairs(gap > loud + np.float32(UNLIKE)) & ~look.rim))


def _count_odd(shown: Pixels, look: Look, loud: Levels, *, is_reduced: bool) -> int:
    """How many pixels of a cell are off its look; a colour that has become another one all over it is but a shade, and
    may be any if the picture `is_reduced` to few colours."""
    odd, meant, drawn = without_hairs(_off(shown, look.tile) > loud) & ~look.rim, _inside(look.tile), _inside(shown)
    classes = (meant >> 5) @ np.array([64, 8, 1])
    count = 0
    for number in np.unique(classes[odd]):
        there = classes == number
        shade, own = (np.median(image[there], axis=0) for image in (drawn, meant))
        away = np.abs(drawn[there] - shade).max(axis=1) > FAINTEST
        is_shade = away.mean() < MIXED and (is_reduced or np.abs(shade - own).max() < SHADE)
        count += int(np.count_nonzero(away & odd[there] if is_shade else odd[there]))
    return count


def _off(shown: Pixels, tile: Pixels) -> Pixels:
    """(m, m): by how many grey levels the pixels inside of a cell (n, n, 3) are off all that a tile has around, and off
    mixtures of two such colours."""
    gap = most(_inside(cv2.absdiff(shown, tile)))
    rows, cols = np.nonzero(gap > QUIET)
    if not len(rows):
        return gap
    edge = (len(tile) - len(gap)) // 2
    rows, cols, steps = rows + edge, cols + edge, (-1, 0, 1)
    near = np.stack([tile[rows + down, cols + right] for down in steps for right in steps]).astype(np.float32)
    drawn, one, other = shown[rows, cols].astype(np.float32), near[_ONE], near[_OTHER]  # (N, 3), (pairs, N, 3)
    way = other - one
    share = np.einsum("knc,knc->kn", drawn - one, way) / np.maximum(np.einsum("knc,knc->kn", way, way), 1.0)
    off = np.abs(drawn - one - share.clip(0.0, 1.0)[..., None] * way).max(axis=2).min(axis=0)
    gap[rows - edge, cols - edge] = np.minimum(off, 255)
    return gap


_ONE, _OTHER = np.array([[4, other] for other in range(9) if other != 4] + [[0, 8], [1, 7], [2, 6], [3, 5]]).T
"""Two of a pixel and its eight neighbours: it and each of these, and those opposite to each other."""

BLOCK = np.ones((9, 9), np.uint8)
"""A pixel and those to which compression carries its edges."""


def _contrast(tile: Pixels) -> Pixels:
    """(m, m): by how many grey levels what a tile (n, n, 3) has around each pixel inside differs."""
    return most(_inside(cv2.subtract(cv2.dilate(tile, BLOCK), cv2.erode(tile, BLOCK))))


def _inside(cell: Pixels) -> Pixels:
    """A cell (n, n, …) without its border."""
    edge = max(1, round(EDGE * len(cell)))
    return np.ascontiguousarray(cell[edge : len(cell) - edge, edge : len(cell) - edge])


def _moved(picture: Pixels, size: float, right: float, down: float) -> Pixels:
    """A picture (n, n, …) larger or smaller about its middle, and moved by so many pixels."""
    n = len(picture)
    start = (1 - size) * (n - 1) / 2
    way = np.array([[size, 0, start + right], [0, size, start + down]])
    return np.asarray(cv2.warpAffine(picture, way, (n, n), borderMode=cv2.BORDER_REPLICATE))
