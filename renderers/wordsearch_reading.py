"""Letters of a word search, read in a picture whose every letter is known: has one of them become another?

No answer changes a letter. Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around
it, everywhere in the same way (see `reading/hand.py`), so what each letter must look like in a picture is known, and so
is what any other would. What a cell shows beyond its own letter is then laid along the way to each other one: a letter
that stayed is hardly on any of these ways, half of another is half-way, in pictures of any quality.

Highlights do not count: of each pixel it is told how much of it is a letter's ink, and how much the highlight's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Style, parse_colour
from renderers.reading.classify import LOWEST_CONFIDENCE, Named
from renderers.reading.fit import median
from renderers.reading.framed import STROKE, Framed, is_stroke, strange_contents
from renderers.reading.hand import TINY, Hand, Mixing
from renderers.reading.outlines import Outlines
from renderers.reading.register import Floats

Numbers = NDArray[np.intp]
Closer = Callable[[], "tuple[Letters, Floats, Outlines]"]
"""The given letters, a board and what is highlighted there, in more pixels."""

COVERED = 0.25
"""Share of a highlight's ink in a pixel from which on it hides what was there; with less, the rest shows through."""

REACH = 2
"""Pixels from which mixing takes ink."""

EDGE = 1
"""Pixels at the border of a cell that are not looked at: grid lines are there, and what bleeds in from next door."""

SHOWS = 0.1
"""Two letters that differ by less than this, in squared pixels of full ink that no highlight covers, look the same."""

LEANS, PLAINLY = 0.42, 5.0
"""A letter so far on its way to another, and so many times farther than others are, is not what it was: half of another
is drawn over it. Of right answers hardly any is 0.3 on its way."""

MOSTLY, FAIRLY = 0.6, 3.0
"""The same in pictures so bad that less is certain: wrong letters are at least 0.85 on their way there, and 4 times
farther than others are where the picture is sharper in one place than in another."""

BECAME = 0.75
"""From here on it is read as the other letter."""

PERHAPS = 0.1
"""So many strange pixels, as a share of its side, and a highlighted cell is worth a closer look: a thin diagonal in a
cell of 22 pixels that is read in 15 has 0.2, and 1.2 then. Painted right answers of 512 px hardly ever have as many."""

STEADY = 0.02
"""Shares of full ink, over a whole letter, by which letters are off in the cleanest of pictures."""

SPREAD = 1.4826
"""Times the median of many deviations: their standard deviation, whatever a few of them are."""

OWN_LETTERS = ((28, 0.94), (20, 0.89), (0, 0.76))
"""What the given letters must explain of those in cells of so many pixels: bad pictures keep 0.967, 0.939 and 0.798 of
it, other faces have up to 0.916, 0.848 and 0.794. Small letters are much alike in all faces."""

OWN_BOARD = 0.71
"""What the given board must explain of the whole: bad pictures keep 0.75, most other skins have less than 0.68."""

_ALL_ROUND = ((0, 0), (REACH, REACH), (REACH, REACH))


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """The letters that a board shows."""

    named: Named
    amount: Floats  # (R*n, R*n): how much of each pixel is letters' ink
    mixing: Mixing  # how the given letters were mixed, which explains most of this
    mixed: Floats  # (K, n, n): each letter, mixed so


class Letters:
    """The letters of a board as they were given, prepared for telling what has become of each.

    `known` is the board at reading size (R*n, R*n, 3), `tiles` (K, n, n, 3) each letter of the look, of which `given`
    (R, R) numbers the board's; `inner` are the pixels of a cell that make out a hand.
    """

    def __init__(self, known: Floats, tiles: Floats, given: Numbers, style: Style, inner: slice) -> None:
        self._size, self._n = len(given), tiles.shape[1]
        self._given = given
        self._ground = np.array(parse_colour(style["cell"]), np.float32)
        self._ink = np.array(parse_colour(style["ink"]), np.float32) - self._ground
        self._known = self._amount(known)
        padded = np.pad(self._amount(tiles.reshape(-1, self._n, 3)).reshape(-1, self._n, self._n), _ALL_ROUND, "wrap")
        self._tiles = padded.reshape(-1, padded.shape[2])  # (K*(n+2*REACH), n+2*REACH): grid lines go on all round
        looked_at = np.zeros((self._n, self._n), bool)
        looked_at[inner, inner] = True
        self._letters = Hand(self._known, np.tile(looked_at, given.shape), REACH)
        self._whole = Hand(self._known, np.ones(self._known.shape, bool), 1)

    def read(self, board: Floats, outlines: Outlines) -> Written:
        """What each cell of a board (R*n, R*n, 3) with highlights shows."""
        amount, free = self._seen(board, outlines)
        mixing = self._letters.mixing(amount)
        mixed = self._mixed(mixing)
        return Written(self._named(amount, free, mixing, mixed), amount, mixing, mixed)

    def demand_own_hand(self, written: Written) -> None:
        """Raise UnreadableImage if the board, of which no answer changes a letter or line, was drawn anew."""
        enough = next(share for least, share in OWN_LETTERS if self._n >= least)
        if written.mixing.explains < enough or self._whole.mixing(written.amount).explains < OWN_BOARD:
            raise UnreadableImage("the letters have been written anew, in another hand")

    def scrawled(self, board: Floats, outlines: Outlines, written: Written, closer: Closer | None) -> Cell | None:
        """A highlighted cell of a board (R*n, R*n, 3) that shows more than its letter and its highlight; one that may
        is looked at `closer`, if the picture has more pixels."""
        rows, cols = np.nonzero(outlines.colours >= 0)
        if not len(rows):
            return None
        framed = self._framed(board, outlines, written)
        worst = self._struck(framed, board, outlines, written)
        if worst is None and closer is not None and framed.strange().max() > PERHAPS:
            letters, board, closely = closer()
            written = letters.read(board, closely)
            worst = letters._struck(letters._framed(board, closely, written), board, closely, written)
        if worst is None and (cut := framed.is_open() | framed.is_pared()).any():
            worst = int(cut.argmax())
        return None if worst is None else Cell(int(rows[worst]), int(cols[worst]))

    def _framed(self, board: Floats, outlines: Outlines, written: Written) -> Framed:
        """The highlighted cells of a board."""
        rows, cols = np.nonzero(outlines.colours >= 0)
        cells = board.reshape(self._size, self._n, self._size, self._n, 3)[rows, :, cols]
        shades = outlines.shades.take(outlines.colours[rows, cols], axis=0)
        own = self._coloured(written, (rows, cols))
        return Framed(cells, own, shades, outlines.framed[rows, cols], written.mixing.explains)

    def _struck(self, framed: Framed, board: Floats, outlines: Outlines, written: Written) -> int | None:
        """The number, among the highlighted cells, of one with a stroke."""
        strange = framed.strange()
        worst = int(strange.argmax())
        if strange[worst] <= STROKE:
            return None
        rest = self._strange_letters(board, outlines.colours < 0, written)
        return worst if is_stroke(strange[worst], rest) else None

    def _strange_letters(self, board: Floats, bare: NDArray[np.bool_], written: Written) -> Floats:
        """(M,): how much the bare cells (R, R) of a board show that is not of their letters."""
        rows, cols = np.nonzero(bare)
        cells = board.reshape(self._size, self._n, self._size, self._n, 3)[rows, :, cols]
        return strange_contents(cells, self._coloured(written, (rows, cols)), written.mixing.explains)

    def _coloured(self, written: Written, cells: tuple[Numbers, ...]) -> Floats:
        """(M, n, n, 3): the letters of cells, in a picture that was mixed so."""
        amount = written.mixed.take(self._given[cells], axis=0)
        colours = np.stack([self._ink, self._ground + written.mixing.base * self._ink], axis=1)
        return np.asarray(cv2.transform(amount.reshape(-1, self._n), colours)).reshape(*amount.shape, 3)

    def _seen(self, board: Floats, outlines: Outlines) -> tuple[Floats, NDArray[np.bool_]]:
        """(R*n, R*n) each: how much of each pixel is letters' ink, as it was where a highlight hides it; and where none
        does."""
        amount, covered = self._amount(board), outlines.ink
        rows, cols = np.nonzero(outlines.colours >= 0)
        if len(rows):
            grid = (self._size, self._n, self._size, self._n)
            ways = self._ways(outlines.shades.astype(np.float32)).take(outlines.colours[rows, cols], axis=0)
            colours = board.reshape(*grid, 3)[rows, :, cols].reshape(len(rows), -1, 3) - self._ground
            drawn, cover = np.matmul(colours, ways).reshape(len(rows), self._n, self._n, 2).transpose(3, 0, 1, 2)
            amount.reshape(grid)[rows, :, cols] = drawn / (1 - cover.clip(0.0, COVERED))
            covered = covered.copy()
            covered.reshape(grid)[rows, :, cols] = cover >= COVERED
        return cv2.copyTo(self._known, covered.view(np.uint8), amount), ~covered

    def _ways(self, shades: Floats) -> Floats:
        """(K, 3, 2): times a colour beyond the ground, the shares of a letter's ink and of a highlight's, by shade."""
        marks = shades - self._ground
        ii, mm, im = self._ink @ self._ink, np.einsum("ij,ij->i", marks, marks)[:, None], (marks @ self._ink)[:, None]
        both = np.maximum(ii * mm - im * im, TINY)
        ways: Floats = np.stack([(self._ink * mm - marks * im) / both, (marks * ii - self._ink * im) / both], axis=2)
        return ways

    def _named(self, amount: Floats, free: NDArray[np.bool_], mixing: Mixing, mixed: Floats) -> Named:
        inner = slice(EDGE, self._n - EDGE)
        tiles = np.ascontiguousarray(mixed[:, inner, inner]).reshape(len(mixed), -1)  # (K, pixels)
        own, each = self._given.ravel(), np.arange(self._given.size)
        beyond = self._cells(amount)
        beyond -= (tiles + mixing.base).take(own, axis=0)
        products = tiles @ tiles.T
        sizes = products.diagonal()
        length = sizes - 2 * products.take(own, axis=0) + sizes.take(own)[:, None]  # (cells, K)
        free = self._cells(free)
        hidden = np.flatnonzero(~free.all(axis=1))
        if len(hidden):
            shown, mine = free.take(hidden, axis=0).astype(np.float32), tiles.take(own[hidden], axis=0)
            beyond[hidden] *= shown
            length[hidden] = (
                shown @ (tiles**2).T - 2 * (shown * mine) @ tiles.T + (shown * mine**2).sum(axis=1)[:, None]
            )
        along = beyond @ tiles.T
        along -= along[each, own][:, None]
        length = np.maximum(length, SHOWS**2)
        return self._judged(along, length, np.einsum("ij,ij->i", beyond, beyond), beyond.shape[1])

    def _judged(self, along: Floats, length: Floats, power: Floats, pixels: int) -> Named:
        """From the products (cells, K) of what is beyond each letter with the ways to others, the squared lengths of
        these, and the squared length (cells,) of what is beyond."""
        far = along / np.sqrt(length)
        far[length <= SHOWS] = 0.0
        usual = max(STEADY, SPREAD * median(np.abs(far).ravel()))
        each, towards = np.arange(len(far)), far.argmax(axis=1)
        farthest, share = far[each, towards], along[each, towards] / length[each, towards]
        turned = (share > LEANS) & (farthest > np.where(share > MOSTLY, FAIRLY, PLAINLY) * usual)
        became = turned & (share > BECAME)
        symbols = np.where(became, towards, self._given.ravel())
        confidence = np.where(turned, np.where(became, share, 0.0), np.maximum(1 - share, LOWEST_CONFIDENCE))
        left = np.where(became, power - farthest**2, power)
        distance = np.sqrt(np.maximum(left, 0.0) / pixels) * np.sqrt(float(self._ink @ self._ink) / 3)
        shape = self._given.shape
        return Named(symbols.reshape(shape), confidence.clip(0.0, 1.0).reshape(shape), distance.reshape(shape))

    def _mixed(self, mixing: Mixing) -> Floats:
        """(K, n, n): each letter in a picture that was mixed so, but for its base."""
        side, own = self._n + 2 * REACH, slice(REACH, REACH + self._n)
        return np.asarray(cv2.filter2D(self._tiles, -1, mixing.kernel)).reshape(-1, side, side)[:, own, own]

    def _cells(self, board: NDArray[Any]) -> NDArray[Any]:
        """(cells, pixels): what is looked at of each cell of a board (R*n, R*n)."""
        inner = slice(EDGE, self._n - EDGE)
        cells = board.reshape(self._size, self._n, self._size, self._n)[:, inner, :, inner]
        return cells.transpose(0, 2, 1, 3).reshape(self._size**2, -1)

    def _amount(self, picture: Floats) -> Floats:
        """(h, w): how far each pixel of a picture (h, w, 3) is on the way from the ground to ink."""
        way = self._ink / float(self._ink @ self._ink)
        return np.asarray(cv2.transform(picture, np.append(way, -way @ self._ground)[None]))
