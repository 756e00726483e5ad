"""Strokes across things that were laid anew: crossed out, struck through or boxed in, in the picture's own colours.

No colour is foreign to a board of things, so what is wrong with such a cell only shows beside the thing itself. Each
cell that changed is compared with its tile, which the editor may have laid a little off, larger or smaller. A pixel is
off if it is neither like one of the tile's pixels around it, nor between two of them, by more than pixels are in the
same picture where nothing was to change: compression, blur and drift make waves everywhere, a stroke is in one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import inf

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.cell import Cell
from gamegen.core.problem import P
from gamegen.core.rendering import Picture, Pixels, Style
from renderers.board import BoardRenderer, Seen
from renderers.laid import LARGE, Look
from renderers.page import Frame
from renderers.reading.foreign import most, without_hairs
from renderers.reading.lens import Lens, smoothed
from renderers.reading.struck import SHADE, are_covered, are_struck, gaps_of
from renderers.reading.tiles import join_cells, split_cells
from renderers.reading.waves import EDGE, FAINTEST, Levels, Waves, contrast_of, inside, off_at, waves_of

Flags = NDArray[np.bool_]
LARGEST, SMALL = 48, 20
"""Pixels across a cell at which it is compared, at most; and below which half a pixel moves as much as a stroke
covers."""

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

BLOCKS, BLOCKS_BESIDE, BLOCKS_SMEARED = 0.32, 0.55, 0.8
"""How many may be unlike their very pixels, in blocks of four and more: right answers have up to 0.29, those laid large
and beside their places, or cut out with a pale seam, up to 0.52, though hardly any is off all around it then; and small
cells in pictures that were compressed, moved or sharpened more."""

HARDLY = 0.1
"""How many are off, at most, where so many more are unlike their very pixels."""

ALIKE, LESS = 32, 0.02
"""Grey levels by which pixels are alike, beside those by which all are off; and by what share fewer may be so where a
thing is believed to lie than where it was to be laid. Of 358 things that other hands laid elsewhere none had fewer
there; six that were struck through, and seemed to lie elsewhere, had 0.05 to 0.15 less."""

SURELY = 0.999 / 3**0.5
"""A pixel that is no more unlike a colour, in any of three channels, than this share of a distance is within it."""

MIXED = 0.15
"""Share of a colour's pixels that may have another shade than most."""

TELLING = 9
"""So many old cells with the most contrast tell at a closer look what is usual."""

ROWS, FEWEST = 24, 64
"""So many rows of a picture that was reduced to few colours have so many at most."""

KEPT, FEW_LEFT, MOST = 0.4, 48, 0.8
"""Things of several colours may look alike in a picture that has this share of those that it is drawn with, at most; or
so few, and the second share. A palette of 90 colours keeps half of them, one of 36 a fifth of many, but two thirds of
few; other tones keep all."""


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
    *,
    telling: Flags | None = None,
    apart: float = inf,
) -> Cell | None:
    """A changed cell (R, C) that shows more, or less, than any of its looks; None if there is none.

    Of the `tiles` (K, n, n, 3), `symbols` (R, C) numbers the first look of each, and `known` (R, C) those that the
    other cells are to show; those `telling` (R, C), or all, tell how good the picture is. A thing lies nowhere where it
    is farther `apart` from what is shown; where that is limited, what seems to be off is looked at once more, through
    the lens of the picture.
    """
    if not changed.any():
        return None
    new, meant = drawn_cells(seen, changed, tiles.shape[1]), tiles[symbols[changed]]  # (N, n, n, 3)
    suspects = np.flatnonzero(_are_suspect(new, meant))
    if not len(suspects):
        return None
    old = ~changed if telling is None or not telling.any() else telling
    waves = waves_of((drawn_cells(seen, old, tiles.shape[1]), tiles[known[old]]), (new, meant))
    view = View(waves, is_reduced(seen), apart)
    places = [Cell(*place) for place in np.argwhere(changed)[suspects].tolist()]
    first = view.first_unlike(new[suspects], map(looks, places))
    if first is not None and apart < inf:
        places, left = places[first:], new[suspects[first:]]
        first = _closer(view, seen, symbols, changed, tiles).first_unlike(left, map(looks, places))
    return None if first is None else places[first]


@dataclass(frozen=True, slots=True)
class View:
    """How a picture's new cells are looked at: which waves it has, whether it `is_reduced` to few colours, how far
    `apart` things may be from what is shown where they lie, and the lens, if any, through which they are seen."""

    waves: Waves
    is_reduced: bool
    apart: float
    lens: Lens | None = None

    def first_unlike(self, shown: Pixels, looks: Iterable[Iterable[Look]]) -> int | None:
        """The first of the cells (N, n, n, 3) that shows none of its looks alone; None if each shows one.

        All are compared at once: first each with its first look, then those that are unlike it with their second one.
        """
        ways = [self._ways_to_lay(*each) for each in zip(looks, shown, strict=True)]
        first, left = len(shown), list(range(len(shown)))
        while left:
            found = {number: look for number in left if (look := next(ways[number], None)) is not None}
            first = min([first, *(number for number in left if number not in found)])
            left = [number for number in found if number < first]
            if left:
                are_it = _are_only(shown[left], [found[number] for number in left], self)
                left = [number for number, is_it in zip(left, are_it.tolist(), strict=True) if not is_it]
        return first if first < len(shown) else None

    def _ways_to_lay(self, looks: Iterable[Look], shown: Pixels) -> Iterator[Look]:
        """Looks as they are, and as they were laid, if a cell (n, n, 3) is as much like that: a stroke would have the
        thing moved so as to lie under its outline, where the rest of the cell fits no longer."""
        for clean in looks:
            look = clean.through(self.lens) if self.lens else clean
            yield look
            laid, levels = look.laid_as(shown), ALIKE + self.waves.everywhere
            is_alike = laid.share_of(shown, levels) > look.share_of(shown, levels) - LESS
            if len(shown) < SMALL or (is_alike and laid.unlike(shown) < self.apart):
                yield laid


def _closer(view: View, seen: Seen, symbols: NDArray[np.intp], changed: Flags, tiles: Pixels) -> View:
    """The same through the lens of a picture, with the waves that it has then where old cells have most contrast."""
    n = tiles.shape[1]
    new, old = drawn_cells(seen, changed, n), drawn_cells(seen, ~changed, n)
    kinds, each = np.unique(symbols[~changed], return_inverse=True)
    busy = np.array([contrast_of(tiles[kind]).mean() for kind in kinds])
    chosen = np.argsort(-busy[each], kind="stable")[:TELLING]
    clean = [split_cells(board, *symbols.shape)[~changed][chosen] for board in smoothed(join_cells(tiles[symbols]))]
    lens = Lens.between(clean, old[chosen])
    kinds, each = np.unique(symbols[changed], return_inverse=True)
    usual = np.stack([lens.through(tiles[kind]) for kind in kinds])[each]  # (N, n, n, 3)
    return replace(view, waves=waves_of((old[chosen], lens.mixed(clean)), (new, usual)), lens=lens)


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


def is_reduced(seen: Seen) -> bool:
    """Whether a picture was reduced to few colours, so that one may have become another."""
    image = seen.registration.image
    found = Image.fromarray(image[:: max(1, len(image) // ROWS)]).getcolors(FEWEST)
    own = set(map(tuple, seen.page.picture.palette.tolist()))
    return found is not None and any(colour not in own for _, colour in found)


def has_lost_colours(seen: Seen, drawn: Callable[[], Picture]) -> bool:
    """Whether a picture was so far reduced that most colours of what it shows, as it is `drawn`, have become others."""
    if not is_reduced(seen):
        return False
    wanted = np.count_nonzero(np.bincount(drawn().pixels.ravel()))
    few = max(int(KEPT * wanted), min(FEW_LEFT, int(MOST * wanted)))
    return Image.fromarray(seen.registration.image).getcolors(few) is not None


def _are_only(shown: Pixels, looks: Sequence[Look], view: View) -> Flags:
    """(N,): which cells (N, n, n, 3) show each its look, and nothing else."""
    waves, is_reduced = view.waves, view.is_reduced
    drawn, meant = np.stack([inside(cell) for cell in shown]), np.stack([look.inner for look in looks])
    loud, gap = waves.loud(np.stack([look.contrast for look in looks])), gaps_of(drawn, meant)
    n, rims = shown.shape[1], np.stack([look.rim for look in looks])
    only: Flags = np.ones(len(shown), bool)
    if not is_reduced:
        blocks = BLOCKS if waves.are_none or n >= LARGE else BLOCKS_SMEARED
        counts = _counts(gap > loud + np.float32(UNLIKE), rims)
        only = counts <= max(blocks, BLOCKS_BESIDE) * n
        if not only.any():
            return only
    unlike = (gap > loud) & only[:, None, None]
    off = _off(shown, np.stack([look.tile for look in looks]), unlike, loud)
    if not is_reduced:
        same = SAME + waves.everywhere + SMEARED * waves.by_contrast
        left = np.flatnonzero(only)
        lines = [looks[number].lines for number in left.tolist()]
        crossed = are_struck(drawn[left], lines, unlike[left], off[left], same)
        if n >= SMALL:
            crossed |= are_covered(drawn[left], lines, gap[left], rims[left])
        only[left] = ~crossed
        only &= (counts <= blocks * n) | (_counts(off, rims) <= HARDLY * n)
    few = max(FEW, round(ALONG * n)) if n < LARGE or not waves.are_none else round(ALONG_CLEAN * n)
    for number in np.flatnonzero(only & (_counts(off, rims) > few)).tolist():
        look = looks[number]
        only[number] = _count_odd(drawn[number], look, off[number], is_reduced=is_reduced) <= few + look.specks
    return only


def _off(shown: Pixels, tiles: Pixels, unlike: Flags, loud: Levels) -> Flags:
    """(N, m, m): which of the pixels inside of cells (N, n, n, 3) that are unlike those of their tiles are off, too.

    No pixel is off by more than its distance to any colour around it, so mixtures need be looked at for few.
    """
    edge, side = (shown.shape[1] - unlike.shape[1]) // 2, unlike.shape[1]
    around = [slice(edge + by, edge + by + side) for by in (-1, 0, 1)]
    drawn = shown[:, around[1], around[1]]
    nearest = reduce(cv2.min, (gaps_of(drawn, tiles[:, rows, cols]) for rows in around for cols in around))
    off = unlike & (nearest > loud * SURELY)
    cells, rows, cols = np.nonzero(off)
    off[off] = off_at(shown, tiles, (cells, rows + edge, cols + edge)) > loud[off]
    return off


def _counts(found: Flags, rims: Flags) -> NDArray[np.intp]:
    """(N,): how many true values (N, m, m) are in blocks of four and more, beside the things' outlines: where a thing
    lies half a pixel off there are only lines of them."""
    count, side, _ = found.shape
    apart = np.zeros((count, side + 1, side), bool)  # so that no block reaches into the next cell
    apart[:, :side] = found
    blocks = without_hairs(apart.reshape(-1, side)).reshape(apart.shape)[:, :side]
    counts: NDArray[np.intp] = np.count_nonzero(blocks & ~rims, axis=(1, 2))
    return counts


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
