"""Strokes across things that were laid anew: crossed out, struck through or boxed in, in the picture's own colours.

No colour is foreign to a board of things, so what is wrong with such a cell only shows beside the thing itself. Each
cell that changed is compared with its tile, which the editor may have laid a little off, larger or smaller. A pixel is
off if it is neither like one of the tile's pixels around it, nor between two of them, by more than pixels are in the
same picture where nothing was to change: compression, blur and drift make waves everywhere, a stroke is in one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

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
from renderers.reading.struck import SHADE, is_covered, is_struck
from renderers.reading.waves import EDGE, FAINTEST, Levels, Waves, contrast_of, inside, off_at, waves_of

Flags = NDArray[np.bool_]
LARGEST, LARGE, SMALL = 48, 36, 20
"""Pixels across a cell at which it is compared, at most; from which on outlines are two pixels wide; and below which
half a pixel moves as much as a stroke covers."""

MOVED, RESIZED = 0.07, 0.06
"""Shares of a cell by which a thing may be off its place or its size."""

UNLIKE = 30
"""Grey levels by which a pixel, beside those by which it is off, is unlike the very pixel of its tile."""

FEW, ALONG, ALONG_CLEAN = 9, 0.22, 0.12
"""How many pixels of a cell may be off: so few, or this share of its side, less of large ones in pictures that were not
even compressed. Right answers have up to 0.2 and 0.12; nine of ten strokes (4 px of 512) more than 0.9."""

GLANCE, GLANCE_BLOCKS = 1, 0.08
"""How many squares of four such pixels, and of such that are unlike their very own, a cell may have at a glance, the
second as a share of its side: they have no more pixels than may be off."""

SAME, SMEARED = 32, 80
"""Grey levels by which the pixels of a line of one colour may differ, and more where things of that contrast have waves
around them."""

BLOCKS, BLOCKS_SMEARED = 0.32, 0.8
"""How many may be unlike their very pixels, in blocks of four and more: right answers have up to 0.29, but small cells
in pictures that were compressed, moved or sharpened more."""

ALIKE, LESS = 32, 0.02
"""Grey levels by which pixels are alike, beside those by which all are off; and by what share fewer may be so where a
thing is believed to lie than where it was to be laid. Of 358 things that other hands laid elsewhere none had fewer
there; six that were struck through, and seemed to lie elsewhere, had 0.05 to 0.15 less."""

MIXED = 0.15
"""Share of a colour's pixels that may have another shade than most."""

ROWS, FEWEST = 24, 64
"""So many rows of a picture that was reduced to few colours have so many at most."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a thing was laid: by how much it differs from what is shown, its size, and where its tile begins, as shares
    of a cell: on the corner of a pixel, as whoever pastes it lays it."""

    gap: float
    size: float
    right: float
    down: float

    def lay(self, tile: Pixels, flags: int = cv2.INTER_LINEAR) -> Pixels:
        """A tile (n, n, …) of that size, in that place."""
        n, half = len(tile), (self.size - 1) / 2
        way = np.array([[self.size, 0, self.right * n + half], [0, self.size, self.down * n + half]])
        return np.asarray(cv2.warpAffine(tile, way, (n, n), flags=flags, borderMode=cv2.BORDER_REPLICATE))


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
        near, inner = np.ones((5, 5), np.uint8), np.ones((3, 3) if len(self.tile) < LARGE else (5, 5), np.uint8)
        return inside(cv2.subtract(cv2.dilate(self.thing, near), cv2.erode(self.thing, inner))) > 0

    @cached_property
    def inner(self) -> Pixels:
        """(m, m, 3): the tile without its border."""
        return inside(self.tile)

    @cached_property
    def contrast(self) -> Pixels:
        """(m, m): by how many grey levels the tile differs around each pixel inside."""
        return contrast_of(self.tile)

    @cached_property
    def plain(self) -> Levels:
        """(3,): the colour that most of the ground has."""
        colour: Levels = np.median(self.ground, axis=(0, 1))
        return colour

    def off(self, shown: Pixels, places: tuple[NDArray[np.intp], ...]) -> Levels:
        """(N,): by how many grey levels a cell (n, n, 3) is off the tile at some rows and columns inside."""
        rows, cols = places
        edge = (len(self.tile) - len(self.inner)) // 2
        return off_at(shown[None], self.tile[None], (np.zeros_like(rows), rows + edge, cols + edge))

    def share_of(self, shown: Pixels, levels: float) -> float:
        """The share of a cell (n, n, 3) that is like the tile to so many grey levels."""
        return float(np.mean(most(cv2.absdiff(inside(shown), self.inner)) <= levels))

    def fit(self, shown: Pixels) -> Fit:
        """The size and place at which its thing is most like what a cell (n, n, 3) shows."""
        n = len(self.tile)
        edge, reach = (max(1, round(share * n)) for share in (EDGE, MOVED))
        around = cv2.copyMakeBorder(shown, reach, reach, reach, reach, cv2.BORDER_REPLICATE)
        around = around[edge : len(around) - edge, edge : len(around) - edge]
        fits = []
        for fit, tile in self._sized:
            gap, _, (right, down), _ = cv2.minMaxLoc(cv2.matchTemplate(around, tile, cv2.TM_SQDIFF))
            fits.append(Fit(gap, fit.size, fit.right + (right - reach) / n, fit.down + (down - reach) / n))
        return min(fits, key=lambda fit: fit.gap)

    def laid_as(self, shown: Pixels) -> Look:
        """The same, with its thing of the size and in the place that is most like what a cell (n, n, 3) shows."""
        fit = self.fit(shown)
        thing = fit.lay(self.thing)
        laid = self.ground + thing[..., None] / np.float32(255) * (fit.lay(self.tile) - self.ground.astype(float))
        return Look(laid.astype(np.uint8), self.ground, thing)

    @cached_property
    def _sized(self) -> list[tuple[Fit, Pixels]]:
        """The sizes that its thing may have, and its tile (m, m, 3) in each, without its border."""
        n = len(self.tile)
        more = max(1, round(RESIZED * n))
        fits = (Fit(0.0, side / n, (n - side) // 2 / n, (n - side) // 2 / n) for side in range(n - more, n + more + 1))
        return [(fit, inside(fit.lay(self.tile))) for fit in fits]


@lru_cache(maxsize=64)
def compared_tiles(renderer: BoardRenderer[P], style: Style, frame: Frame) -> Pixels:
    """(K, n, n, 3): the tiles of a look, at the size at which cells are compared."""
    board, n = renderer.board(style, frame.rows, frame.cols), min(LARGEST, frame.cell)
    colours = board.inks.palette(style.colours())
    return np.stack([cv2.resize(colours[tile], (n, n), interpolation=cv2.INTER_AREA) for tile in board.bank])


def overdrawn(
    seen: Seen,
    known: NDArray[np.intp],
    symbols: NDArray[np.intp],
    changed: Flags,
    tiles: Pixels,
    looks: Callable[[Cell], Iterable[Look]],
    telling: Flags | None = None,
) -> Cell | None:
    """A changed cell (R, C) that shows more, or less, than any of its looks; None if there is none.

    Of the `tiles` (K, n, n, 3), `symbols` (R, C) numbers the first look of each, and `known` (R, C) those that the
    other cells are to show; those `telling` (R, C), or all, tell how good the picture is.
    """
    if not changed.any():
        return None
    new, meant = drawn_cells(seen, changed, tiles.shape[1]), tiles[symbols[changed]]  # (N, n, n, 3)
    suspects = np.flatnonzero(_are_suspect(new, meant))
    if not len(suspects):
        return None
    old = ~changed if telling is None or not telling.any() else telling
    waves = waves_of((drawn_cells(seen, old, tiles.shape[1]), tiles[known[old]]), (new, meant))
    is_only = partial(_is_only, waves=waves, is_reduced=_is_reduced(seen))
    places = np.argwhere(changed)
    for number in suspects:
        cell, drawn = Cell(*places[number].tolist()), new[number]
        if not any(is_only(drawn, each) for look in looks(cell) for each in _ways_to_lay(look, drawn, waves)):
            return cell
    return None


def _ways_to_lay(look: Look, shown: Pixels, waves: Waves) -> Iterator[Look]:
    """A look as it is, and as it was laid, if a cell (n, n, 3) is as much like that: a stroke would have the thing
    moved so as to lie under its outline, where the rest of the cell fits no longer."""
    yield look
    laid, most_of = look.laid_as(shown), look.share_of(shown, ALIKE + waves.everywhere)
    if len(shown) < SMALL or laid.share_of(shown, ALIKE + waves.everywhere) > most_of - LESS:
        yield laid


def drawn_cells(seen: Seen, chosen: Flags, n: int) -> Pixels:
    """(N, n, n, 3): the chosen cells (R, C) as the editor left them, colour drift undone."""
    frame = seen.frame
    rows, cols = (np.flatnonzero(chosen.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros((0, n, n, 3), np.uint8)
    (top, down), (left, right) = ((int(each[0]), int(each[-1]) + 1) for each in (rows, cols))
    box = (
        (frame.left + left * frame.cell) / frame.pixels,
        (frame.top + top * frame.cell) / frame.pixels,
        (frame.left + right * frame.cell) / frame.pixels,
        (frame.top + down * frame.cell) / frame.pixels,
    )
    part = seen.drift.mend(seen.registration.part(box, ((right - left) * n, (down - top) * n)))
    cells = part.reshape(down - top, n, right - left, n, 3).transpose(0, 2, 1, 3, 4)
    return cells[chosen[top:down, left:right]]


def _are_suspect(shown: Pixels, tiles: Pixels) -> Flags:
    """(N,): which cells (N, n, n, 3) may have something on them, at a glance: the others surely have not.

    A pixel is off by no more than it is unlike the nearest of a few pixels of its tile.
    """
    n = shown.shape[1]
    edge = max(1, round(EDGE * n))
    inner = slice(edge, n - edge)
    tall = np.ascontiguousarray(shown[:, inner, inner]).reshape(-1, n - 2 * edge, 3)
    gaps = []
    for down, right in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
        rows, cols = (slice(edge + by, n - edge + by) for by in (down, right))
        near = np.ascontiguousarray(tiles[:, rows, cols]).reshape(tall.shape)
        gaps.append(most(cv2.absdiff(tall, near)))
    least = cv2.min(cv2.min(cv2.min(gaps[0], gaps[1]), cv2.min(gaps[2], gaps[3])), gaps[4])
    side = n - 2 * edge
    off, unlike = (
        levels.reshape(-1, side, side) > loud for levels, loud in ((least, FAINTEST), (gaps[0], FAINTEST + UNLIKE))
    )
    suspect: Flags = (_squares(off) > GLANCE) | (_squares(unlike) > GLANCE_BLOCKS * n)
    return suspect


def _squares(found: Flags) -> NDArray[np.intp]:
    """(N,): how many squares of four true values there are in each of (N, m, m)."""
    squares = found[:, 1:, 1:] & found[:, 1:, :-1] & found[:, :-1, 1:] & found[:, :-1, :-1]
    counts: NDArray[np.intp] = np.count_nonzero(squares, axis=(1, 2))
    return counts


def _is_reduced(seen: Seen) -> bool:
    """Whether a picture was reduced to few colours, so that one may have become another."""
    image = seen.registration.image
    found = Image.fromarray(image[:: max(1, len(image) // ROWS)]).getcolors(FEWEST)
    own = set(map(tuple, seen.page.picture.palette.tolist()))
    return found is not None and any(colour not in own for _, colour in found)


def _is_only(shown: Pixels, look: Look, *, waves: Waves, is_reduced: bool) -> bool:
    """Whether a cell (n, n, 3) shows a look, and nothing else."""
    loud, n, drawn = waves.loud(look.contrast), len(shown), inside(shown)
    gap = most(cv2.absdiff(drawn, look.inner))
    blocks = BLOCKS if waves.are_none or n >= LARGE else BLOCKS_SMEARED
    if not is_reduced and _count(gap > loud + np.float32(UNLIKE), look) > blocks * n:
        return False
    unlike = gap > loud
    off = unlike.copy()
    off[unlike] = look.off(shown, np.nonzero(unlike)) > loud[unlike]
    same = SAME + waves.everywhere + SMEARED * waves.by_contrast
    if not is_reduced and is_struck(drawn, look.inner, unlike, off, look.plain, same):
        return False
    if not is_reduced and n >= SMALL and is_covered(drawn, look.inner):
        return False
    few = max(FEW, round(ALONG * n)) if n < LARGE or not waves.are_none else round(ALONG_CLEAN * n)
    return _count(off, look) <= few or _count_odd(drawn, look, off, is_reduced=is_reduced) <= few


def _count(found: Flags, look: Look) -> int:
    """How many true values (m, m) are in blocks of four and more, beside the thing's outline: where a thing lies half a
    pixel off there are only lines of them."""
    blocks = without_hairs(found)
    return int(np.count_nonzero(blocks & ~look.rim)) if blocks.any() else 0


def _count_odd(drawn: Pixels, look: Look, off: Flags, *, is_reduced: bool) -> int:
    """The same of those that are off; a colour that has become another one all over a cell (m, m, 3) is but a shade,
    and may be any if the picture `is_reduced` to few colours."""
    odd, meant = without_hairs(off) & ~look.rim, look.inner
    classes = (meant >> 5) @ np.array([64, 8, 1])
    count = 0
    for number in np.unique(classes[odd]):
        there = classes == number
        shade, own = (np.median(image[there], axis=0) for image in (drawn, meant))
        away = np.abs(drawn[there] - shade).max(axis=1) > FAINTEST
        is_shade = away.mean() < MIXED and (is_reduced or np.abs(shade - own).max() < SHADE)
        count += int(np.count_nonzero(away & odd[there] if is_shade else odd[there]))
    return count
