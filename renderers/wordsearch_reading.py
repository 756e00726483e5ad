"""Letters of a word search, read in a picture whose every letter is known: has one of them become another?

No answer changes a letter, so each is told by what has become of it, see `reading/kept.py`.
Highlights do not count: of each pixel it is told how much of it is a letter's ink, and how much the highlight's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Style, parse_colour
from renderers.reading.classify import Named
from renderers.reading.framed import STROKE, Framed, is_stroke, strange_contents
from renderers.reading.hand import TINY, Hand, Mixing
from renderers.reading.kept import Kept
from renderers.reading.outlines import Outlines
from renderers.reading.register import Floats

Numbers = NDArray[np.intp]
Closer = Callable[[], "tuple[Letters, Floats, Outlines]"]
"""The given letters, a board and what is highlighted there, in more pixels."""

COVERED = 0.25
"""Share of a highlight's ink in a pixel from which on it hides what was there; with less, the rest shows through."""

PERHAPS = 0.1
"""So many strange pixels, as a share of its side, and a highlighted cell is worth a closer look: a thin diagonal in a
cell of 22 pixels that is read in 15 has 0.2, and 1.2 then. Painted right answers of 512 px hardly ever have as many."""

OWN_LETTERS = ((28, 0.94), (20, 0.89), (0, 0.76))
"""What the given letters must explain of those in cells of so many pixels: bad pictures keep 0.967, 0.939 and 0.798 of
it, other faces have up to 0.916, 0.848 and 0.794. Small letters are much alike in all faces."""

OWN_BOARD = 0.71
"""What the given board must explain of the whole: bad pictures keep 0.75, most other skins have less than 0.68."""


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
        ground, ink = (np.array(parse_colour(style[name]), np.float32) for name in ("cell", "ink"))
        self._kept = Kept(known, tiles, given, ground=ground, ink=ink, inner=inner)
        self._size, self._n, self._given = len(given), tiles.shape[1], given
        self._ground, self._ink = ground, ink - ground
        self._whole = Hand(self._kept.known, np.ones(known.shape[:2], bool), 1)

    def read(self, board: Floats, outlines: Outlines) -> Written:
        """What each cell of a board (R*n, R*n, 3) with highlights shows."""
        amount, free = self._seen(board, outlines)
        mixing = self._kept.mixing(amount)
        mixed = self._kept.mixed(mixing)
        return Written(self._kept.named(amount, free, mixing, mixed), amount, mixing, mixed)

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
        amount, covered = self._kept.amount(board), outlines.ink
        rows, cols = np.nonzero(outlines.colours >= 0)
        if len(rows):
            grid = (self._size, self._n, self._size, self._n)
            ways = self._ways(outlines.shades.astype(np.float32)).take(outlines.colours[rows, cols], axis=0)
            colours = board.reshape(*grid, 3)[rows, :, cols].reshape(len(rows), -1, 3) - self._ground
            drawn, cover = np.matmul(colours, ways).reshape(len(rows), self._n, self._n, 2).transpose(3, 0, 1, 2)
            amount.reshape(grid)[rows, :, cols] = drawn / (1 - cover.clip(0.0, COVERED))
            covered = covered.copy()
            covered.reshape(grid)[rows, :, cols] = cover >= COVERED
        return cv2.copyTo(self._kept.known, covered.view(np.uint8), amount), ~covered

    def _ways(self, shades: Floats) -> Floats:
        """(K, 3, 2): times a colour beyond the ground, the shares of a letter's ink and of a highlight's, by shade."""
        marks = shades - self._ground
        ii, mm, im = self._ink @ self._ink, np.einsum("ij,ij->i", marks, marks)[:, None], (marks @ self._ink)[:, None]
        both = np.maximum(ii * mm - im * im, TINY)
        ways: Floats = np.stack([(self._ink * mm - marks * im) / both, (marks * ii - self._ink * im) / both], axis=2)
        return ways
