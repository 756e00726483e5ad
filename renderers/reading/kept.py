"""Symbols that no answer changes, such as the letters of a word search: has one of them become another?

Resizing, blur, sharpening and half a pixel of misplacement mix each pixel with those around it, everywhere in the same
way (see `hand.py`), so what each symbol must look like in a picture is known, and so is what any other would. What a
cell shows beyond its own symbol is then laid along the way to each other one: a symbol that stayed is hardly on any of
these ways, half of another is half-way, in pictures of any quality.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.classify import LOWEST_CONFIDENCE, Named
from renderers.reading.fit import median
from renderers.reading.hand import TINY, Hand, Mixing
from renderers.reading.register import Floats

Numbers = NDArray[np.intp]

REACH = 2
"""Pixels from which mixing takes ink."""

EDGE = 1
"""Pixels at the border of a cell that are not looked at: grid lines are there, and what bleeds in from next door."""

SHOWS = 0.1
"""Two symbols that differ by less than this, in squared pixels of full ink that no highlight covers, look the same."""

LEANS, PLAINLY = 0.42, 5.0
"""A symbol so far on its way to another, and so many times farther than others are, is not what it was: half of another
is drawn over it. Of right answers hardly any is 0.3 on its way."""

MOSTLY, FAIRLY = 0.6, 3.0
"""The same in pictures so bad that less is certain: wrong ones are at least 0.85 on their way there, and 4 times
farther than others are where the picture is sharper in one place than in another."""

BECAME = 0.75
"""From here on it is read as the other symbol."""

STEADY = 0.02
"""Shares of full ink, over a whole symbol, by which symbols are off in the cleanest of pictures."""

SPREAD = 1.4826
"""Times the median of many deviations: their standard deviation, whatever a few of them are."""

_ALL_ROUND = ((0, 0), (REACH, REACH), (REACH, REACH))


class Kept:
    """The symbols of a square board as they were given, by how far each pixel is on the way from the ground to ink.

    `known` is the board at reading size (R*n, R*n, 3), `tiles` (K, n, n, 3) each symbol of the look, of which `given`
    (R, R) numbers the board's; `inner` are the pixels of a cell that make out a hand, `edge` of them at its border are
    not looked at otherwise. Only of some cells is it `asked` (R, R), or of all, and each symbol may become one of its
    `rivals` (K, K), or any.
    """

    def __init__(
        self,
        known: Floats,
        tiles: Floats,
        given: Numbers,
        *,
        ground: Floats,
        ink: Floats,
        inner: slice,
        edge: int = EDGE,
        asked: NDArray[np.bool_] | None = None,
        rivals: NDArray[np.bool_] | None = None,
    ) -> None:
        self.size, self.n, self.given = len(given), tiles.shape[1], given
        self.ground, self.ink = ground, ink - ground
        self.known = self.amount(known)
        padded = np.pad(self.amount(tiles.reshape(-1, self.n, 3)).reshape(-1, self.n, self.n), _ALL_ROUND, "wrap")
        self._tiles = padded.reshape(-1, padded.shape[2])  # (K*(n+2*REACH), n+2*REACH): grid lines go on all round
        looked_at = np.zeros((self.n, self.n), bool)
        looked_at[inner, inner] = True
        asked = np.ones(given.shape, bool) if asked is None else asked
        self._hand = Hand(self.known, np.kron(asked, looked_at), REACH)
        self._asked, self._rivals, self._inner = np.flatnonzero(asked), rivals, slice(edge, self.n - edge)

    def mixing(self, amount: Floats) -> Mixing:
        """How the given board was mixed in a picture with so much ink (R*n, R*n)."""
        return self._hand.mixing(amount)

    def mixed(self, mixing: Mixing) -> Floats:
        """(K, n, n): each symbol in a picture that was mixed so, but for its base."""
        side, own = self.n + 2 * REACH, slice(REACH, REACH + self.n)
        return np.asarray(cv2.filter2D(self._tiles, -1, mixing.kernel)).reshape(-1, side, side)[:, own, own]

    def named(self, amount: Floats, free: NDArray[np.bool_], mixing: Mixing, mixed: Floats) -> Named:
        """What each cell has become of a board with so much ink, where it is `free` (R*n, R*n) to be seen, in a picture
        that was mixed so, as was each symbol (K, n, n)."""
        tiles = self._flat(mixed)
        own, each = self.given.ravel().take(self._asked), np.arange(len(self._asked))
        beyond = self._cells(amount, self._asked)
        beyond -= (tiles + mixing.base).take(own, axis=0)
        length = _lengths(tiles, own)
        free = self._cells(free, self._asked)
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
        return self._judged(own, along, length, np.einsum("ij,ij->i", beyond, beyond), beyond.shape[1])

    def halves(
        self, amount: Floats, mixing: Mixing, mixed: Floats, symbols: Numbers, where: NDArray[np.bool_]
    ) -> tuple[Floats, Floats, Numbers]:
        """(M,) each, of the cells `where` (R, R) there are `symbols` (R, R), given or new: the share of another one in
        each, how much of what is beyond its own that explains, and which one it is."""
        tiles, own, places = self._flat(mixed), symbols[where], np.flatnonzero(where)
        beyond = self._cells(amount, places) - (tiles + mixing.base).take(own, axis=0)
        length, each = np.maximum(_lengths(tiles, own), SHOWS**2), np.arange(len(own))
        along = beyond @ tiles.T
        along -= along[each, own][:, None]
        far = self._far(own, along, length)
        towards = far.argmax(axis=1)
        power = np.maximum(np.einsum("ij,ij->i", beyond, beyond), TINY)
        return along[each, towards] / length[each, towards], far[each, towards] ** 2 / power, towards

    def _judged(self, own: Numbers, along: Floats, length: Floats, power: Floats, pixels: int) -> Named:
        """From the products (cells, K) of what is beyond each cell's own symbol with the ways to others, the squared
        lengths of these, and the squared length (cells,) of what is beyond."""
        far = self._far(own, along, length)
        usual = max(STEADY, SPREAD * median(np.abs(far).ravel()))
        each, towards = np.arange(len(far)), far.argmax(axis=1)
        farthest, share = far[each, towards], along[each, towards] / length[each, towards]
        turned = (share > LEANS) & (farthest > np.where(share > MOSTLY, FAIRLY, PLAINLY) * usual)
        became = turned & (share > BECAME)
        sure = np.where(turned, np.where(became, share, 0.0), np.maximum(1 - share, LOWEST_CONFIDENCE))
        left = np.where(became, power - farthest**2, power)
        symbols, confidence, distance = self.given.ravel().copy(), np.ones(self.given.size), np.zeros(self.given.size)
        symbols[self._asked] = np.where(became, towards, own)
        confidence[self._asked] = sure.clip(0.0, 1.0)
        distance[self._asked] = np.sqrt(np.maximum(left, 0.0) / pixels) * np.sqrt(float(self.ink @ self.ink) / 3)
        shape = self.given.shape
        return Named(symbols.reshape(shape), confidence.reshape(shape), distance.reshape(shape))

    def _far(self, own: Numbers, along: Floats, length: Floats) -> Floats:
        """(cells, K): how far cells are on the ways to others, in pixels of full ink; 0 where these are none."""
        far: Floats = along / np.sqrt(length)
        far[length <= SHOWS] = 0.0
        if self._rivals is not None:
            far[~self._rivals.take(own, axis=0)] = 0.0
        return far

    def _flat(self, mixed: Floats) -> Floats:
        """(K, pixels): what is looked at of each symbol (K, n, n)."""
        return np.ascontiguousarray(mixed[:, self._inner, self._inner]).reshape(len(mixed), -1)

    def _cells(self, board: NDArray[Any], places: Numbers) -> NDArray[Any]:
        """(M, pixels): what is looked at of cells (M,), by their numbers in the flat (R, R), of a board (R*n, R*n)."""
        cells = board.reshape(self.size, self.n, self.size, self.n)[:, self._inner, :, self._inner]
        whole = cells.transpose(0, 2, 1, 3).reshape(self.size**2, -1)
        return whole if len(places) == self.size**2 else whole[places]

    def amount(self, picture: Floats) -> Floats:
        """(h, w): how far each pixel of a picture (h, w, 3) is on the way from the ground to ink."""
        way = self.ink / float(self.ink @ self.ink)
        return np.asarray(cv2.transform(picture, np.append(way, -way @ self.ground)[None]))


def _lengths(tiles: Floats, own: Numbers) -> Floats:
    """(M, K): the squared ways from symbols (M,) of the tiles (K, pixels) to all others."""
    products = tiles @ tiles.T
    sizes = products.diagonal()
    return sizes - 2 * products.take(own, axis=0) + sizes.take(own)[:, None]
