"""Strokes across things that were laid anew: crossed out, struck through or boxed in, in the picture's own colours.

No colour is foreign to a board of things, so what is wrong with such a cell only shows beside the thing itself. Each
cell that changed is compared with its tile, which the editor may have laid a little off, larger or smaller. A pixel is
off if it is outside all that the tile shows around it, by more than cells that nobody was to change are in the same
picture: compression, blur and drift are everywhere, a stroke is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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

Pair = tuple[Pixels, Pixels]
"""A cell (n, n, 3) as it is seen, and a tile."""

Levels = NDArray[Any]

LARGEST = 64
"""Pixels across a cell at which it is compared, at most."""

EDGE, MOVED, RESIZED = 0.08, 0.07, 0.06
"""Shares of a cell: what is left out at its border, and by how much a thing may be off its place or its size."""

FAINTEST, TIMES = 40, 1.0
"""Grey levels by which a pixel is off, beside so many times what is usual around such a contrast in this picture."""

USUAL, SMOOTH, STEEP, ENOUGH = 0.99, 12, 48, 60
"""The quantile of pixels that is usual; grey levels of contrast where a tile is smooth, and where it is steep; and how
many pixels of each tell."""

BUSY, BETTER, SEVERAL, HIGHEST = 0.5, 0.5, 4, 0.5
"""The share of a new cell that has contrast if it tells what is usual, the quantile of several such cells that does,
how many that must be, and the highest share that they tell."""

ROWS, FEWEST = 24, 64
"""So many rows of a picture that was reduced to few colours have so many at most."""

CALM = 2.0, 0.05
"""What pixels are off, everywhere and beside contrast, in a picture that was only moved a little, if at all."""

LARGE = 36
"""Pixels across a cell from which on outlines are two pixels wide."""

QUIET = 8
"""Grey levels that mean nothing."""

MIXED, SHADE = 0.15, 64
"""Share of a colour's pixels that may have another shade than most, and grey levels by which that is another colour."""

OTHERS = 24
"""Cells that tell what is usual."""

FEW, ALONG, ALONG_CLEAN = 3, 0.22, 0.12
"""How many pixels of a cell may be off: so few in any, or this share of its side; the second in pictures that were not
even compressed. Right answers have up to 0.2 and 0.12, nine of ten strokes (4 px of 512) 2 and more."""


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
    def rim(self) -> NDArray[np.bool_]:
        """(m, m): where the thing's outline is, inside of the cell: what scissors leave there is anybody's."""
        near = np.ones((3, 3) if len(self.tile) < LARGE else (5, 5), np.uint8)
        rim = _inside(cv2.subtract(cv2.dilate(self.thing, near), cv2.erode(self.thing, near)))
        return np.asarray(rim > 0)

    def laid_as(self, shown: Pixels) -> Look:
        """The same, with its thing of the size and in the place that is most like what a cell shows."""
        n = len(self.tile)
        edge, reach, more = (max(1, round(share * n)) for share in (EDGE, MOVED, RESIZED))
        around = cv2.copyMakeBorder(shown, reach, reach, reach, reach, cv2.BORDER_REPLICATE)
        fits = []
        for size in (1 + by / n for by in range(-more, more + 1)):
            tile = self._moved(self.tile, size, 0, 0)[edge : n - edge, edge : n - edge]
            part = around[edge : len(around) - edge, edge : len(around) - edge]
            gap, _, (right, down), _ = cv2.minMaxLoc(cv2.matchTemplate(part, tile, cv2.TM_SQDIFF))
            fits.append((gap, size, right - reach, down - reach))
        _, *place = min(fits)
        thing = self._moved(self.thing, *place)
        share = thing[..., None] / np.float32(255)
        laid = self.ground + share * (self._moved(self.tile, *place).astype(np.float32) - self.ground)
        return Look(laid.astype(np.uint8), self.ground, thing)

    def _moved(self, picture: Pixels, size: float, right: float, down: float) -> Pixels:
        """A picture (n, n, …) larger or smaller about its middle, and moved by so many pixels."""
        n = len(picture)
        start = (1 - size) * (n - 1) / 2
        way = np.array([[size, 0, start + right], [0, size, start + down]])
        return np.asarray(cv2.warpAffine(picture, way, (n, n), borderMode=cv2.BORDER_REPLICATE))


@dataclass(frozen=True, slots=True)
class Waves:
    """By how many grey levels pixels are off in a picture: everywhere, and more beside what has contrast."""

    everywhere: float
    by_contrast: float  # a share of it

    @property
    def are_none(self) -> bool:
        return self.everywhere < CALM[0] and self.by_contrast < CALM[1]


@lru_cache(maxsize=64)
def compared_tiles(renderer: BoardRenderer[P], style: Style, frame: Frame) -> Pixels:
    """(K, n, n, 3): the tiles of a look, at the size at which cells are compared."""
    board, n = renderer.board(style, frame.rows, frame.cols), min(LARGEST, frame.cell)
    colours = board.inks.palette(style.colours())
    return np.stack([cv2.resize(colours[tile], (n, n), interpolation=cv2.INTER_AREA) for tile in board.bank])


def overdrawn(
    seen: Seen,
    known: NDArray[np.intp],
    changed: NDArray[np.bool_],
    tiles: Pixels,
    looks: Callable[[Cell], Iterable[Look]],
) -> Cell | None:
    """A changed cell (R, C) that shows more than any of its looks; None if there is none.

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
        [(shown[cell], tiles[known[cell]]) for cell in shown if not changed[cell]],
        [(shown[cell], next(iter(looks(cell))).tile) for cell in new],
    )
    few, is_reduced = max(FEW, round((ALONG_CLEAN if waves.are_none else ALONG) * n)), _is_reduced(seen)
    for cell in new:
        if any(np.count_nonzero(_odd(shown[cell], look.tile, waves)) <= few for look in looks(cell)):
            continue
        laid = (look.laid_as(shown[cell]) for look in looks(cell))
        if all(_count(shown[cell], look, waves, is_reduced=is_reduced) > few for look in laid):
            return cell
    return None


def _waves(old: Sequence[Pair], new: Sequence[Pair]) -> Waves:
    """Those of a picture with these old and new cells, each with the tile that it is to show.

    Where nothing old has contrast, because all things moved, the better ones of the new cells tell how much it makes;
    not without limit, since all of them may be overdrawn.
    """
    off, contrast = (
        np.concatenate([each(*pair).ravel() for pair in old] or [np.zeros(0, np.uint8)]) for each in (_off, _contrast)
    )
    flat = off[contrast < SMOOTH]
    base = float(np.quantile(flat, USUAL)) if len(flat) > ENOUGH else 0.0
    slopes = [slope for pair in new if (slope := _slope(_off(*pair), _contrast(*pair), base, least=BUSY)) is not None]
    slope = min(float(np.quantile(slopes, BETTER)), HIGHEST) if len(slopes) >= SEVERAL else 0.0
    return Waves(base, max(_slope(off, contrast, base, least=0.0) or 0.0, slope, 0.0))


def _slope(off: Levels, contrast: Levels, base: float, *, least: float) -> float | None:
    """How much more pixels are off beside contrast, as a share of it; None if less than a share of them have any."""
    steep = contrast >= STEEP
    if np.count_nonzero(steep) < max(ENOUGH, least * steep.size):
        return None
    return float(np.quantile((off[steep] - np.float32(base)) / contrast[steep], USUAL))


def _is_reduced(seen: Seen) -> bool:
    """Whether a picture was reduced to few colours, so that one may have become another."""
    image = seen.registration.image
    found = Image.fromarray(image[:: max(1, len(image) // ROWS)]).getcolors(FEWEST)
    own = set(map(tuple, seen.page.picture.palette.tolist()))
    return found is not None and any(colour not in own for _, colour in found)


def _odd(shown: Pixels, tile: Pixels, waves: Waves) -> NDArray[np.bool_]:
    """(m, m): which pixels of a cell are off its tile, in a picture that has such waves around what it shows."""
    loud = (
        FAINTEST + np.float32(TIMES * waves.everywhere) + np.float32(TIMES * waves.by_contrast) * _contrast(shown, tile)
    )
    return without_hairs(_off(shown, tile) > loud)


def _count(shown: Pixels, look: Look, waves: Waves, *, is_reduced: bool) -> int:
    """How many pixels of a cell are off its look; a colour that has become another one all over it is but a shade, and
    may be any if the picture `is_reduced` to few colours."""
    odd, meant, drawn = _odd(shown, look.tile, waves) & ~look.rim, _inside(look.tile), _inside(shown)
    classes = (meant >> 5) @ np.array([64, 8, 1])
    count = np.intp(0)
    for number in np.unique(classes[odd]):
        there = classes == number
        shade, own = (np.median(image[there], axis=0) for image in (drawn, meant))
        away = np.abs(drawn[there] - shade).max(axis=1) > FAINTEST
        is_shade = away.mean() < MIXED and (is_reduced or np.abs(shade - own).max() < SHADE)
        count += (away & odd[there] if is_shade else odd[there]).sum()
    return int(count)


def _off(shown: Pixels, tile: Pixels) -> Pixels:
    """(m, m): by how many grey levels the pixels inside of a cell (n, n, 3) are off all that a tile has around, and off
    mixtures of two such colours."""
    gap = most(_inside(cv2.absdiff(shown, tile)))
    rows, cols = np.nonzero(gap > QUIET)
    if not len(rows):
        return gap
    edge = (len(tile) - len(gap)) // 2
    around = [
        tile[rows + down, cols + right] for down in (-1 + edge, edge, 1 + edge) for right in (-1 + edge, edge, 1 + edge)
    ]
    near = np.stack(around).astype(np.float32)  # (9, N, 3)
    drawn = shown[rows + edge, cols + edge].astype(np.float32)
    one, other = near[_ONE], near[_OTHER]
    way = other - one
    share = np.einsum("knc,knc->kn", drawn - one, way) / np.maximum(np.einsum("knc,knc->kn", way, way), 1.0)
    off = np.abs(drawn - one - share.clip(0.0, 1.0)[..., None] * way).max(axis=2).min(axis=0)
    gap[rows, cols] = np.minimum(off, 255)
    return gap


def _contrast(_: Pixels, tile: Pixels) -> Pixels:
    """(m, m): by how many grey levels what a cell's tile (n, n, 3) has around each pixel inside differs."""
    return most(_inside(cv2.subtract(cv2.dilate(tile, BLOCK), cv2.erode(tile, BLOCK))))


def _inside(cell: Pixels) -> Pixels:
    """(m, m, 3): a cell (n, n, 3) without its border."""
    edge = max(1, round(EDGE * len(cell)))
    return np.ascontiguousarray(cell[edge : len(cell) - edge, edge : len(cell) - edge])


_ONE, _OTHER = np.array([[4, other] for other in range(9) if other != 4] + [[0, 8], [1, 7], [2, 6], [3, 5]]).T
"""Two of a pixel and its eight neighbours: it and each of these, and those opposite to each other."""

BLOCK = np.ones((9, 9), np.uint8)
"""A pixel and those to which compression carries its edges."""
