"""Sharpening: what it makes of a picture, and of the colours of thin lines in it.

An unsharp mask takes every pixel farther from the mean of those around it, until its channels end at black or white,
each at its own time: thin orange lines turn towards red, purple ones pink. What was given is known, so it is told how
much a picture was sharpened; then what became of a colour is seen by doing the same to a clean picture of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.hues import Layer, Numbers
from renderers.reading.register import Floats
from renderers.reading.tiles import join_cells, split_cells

RADIUS = 2.0
"""Pixels within which most editors take the mean."""

AMOUNTS = np.arange(0.0, 2.3, 0.25)
"""How far, in the usual steps, they take pixels from it."""

MIDDLE = 0.25
"""Share of a cell, at its border, where highlights are."""

ALIKE = 6.0
"""Grey levels, on average, by which the middles of cells may differ from those of cells that were sharpened so."""

RIM, SAME = 0.2, 9.0
"""Share of a cell, at its border, where its frame is and hardly any of its letter; and by how much that may differ from
the rim of such a cell: from one in the next colour it differs by more than 11."""

BETTER = 0.4
"""It must differ from one in any other colour by so much more: a quarter of that colour in it is too much."""

VIVID = 0.5
"""Pixels with so much of the strongest one's colour are of a frame, and not of the fringe beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Sharpening:
    """How a board was sharpened, of which clean pictures can be drawn."""

    seen: Floats  # (R*n, R*n, 3): the board without what sharpening made of what was given
    known: Floats  # (R*n, R*n, 3): the board that was given
    made: Floats  # (R*n, R*n, 3): what sharpening added to it
    draw: Callable[[Numbers], Pixels]  # the clean picture with frames (R, R), each of the number of a colour or -1
    lay: Callable[[Pixels], Floats]  # the board of a picture as it would be seen
    size: int  # R
    amount: float

    @classmethod
    def of(
        cls,
        seen: Floats,
        known: Floats,
        draw: Callable[[Numbers], Pixels],
        lay: Callable[[Pixels], Floats],
        size: int,
    ) -> Sharpening | None:
        """That of a board (R*n, R*n, 3) whose unedited form is known; None if it was changed in another way."""
        clean = draw(np.full((size, size), -1))
        boards = [lay(sharpened(clean, amount)) for amount in AMOUNTS]
        gaps = [float(np.abs(middles(seen, size) - middles(board, size)).mean()) for board in boards]
        best = int(np.argmin(gaps))
        if best == 0 or gaps[best] > ALIKE:
            return None
        made = boards[best] - known
        return cls(seen - made, known, made, draw, lay, size, float(AMOUNTS[best]))

    def board(self, colours: Numbers) -> Floats:
        """(R*n, R*n, 3): what is seen of frames in these colours (R, R)."""
        return self.lay(sharpened(self.draw(colours), self.amount)) - self.made

    def turned(self, count: int) -> Floats:
        """(K, 3): what became of each of so many colours."""
        number = np.add.outer(np.arange(self.size) * 3, np.arange(self.size)) // 2 % count
        number[1::2], number[:, 1::2] = -1, -1
        cells = split_cells(self.board(number), self.size, self.size)
        return np.stack([_vivid(cells[number == each].reshape(-1, 3)) for each in range(count)])

    def proves(self, colours: Numbers, count: int) -> Layer:
        """(R, R): which frames look just as they would in these colours, and much less so in any other of so many."""
        off = self._off(colours)
        others = [
            np.where(colours == each, np.inf, self._off(np.where(colours < 0, -1, each))) for each in range(count)
        ]
        proven: Layer = (off < SAME) & (off < BETTER * np.minimum.reduce(others)) & (colours >= 0)
        return proven

    def without(self, colours: Numbers) -> Floats:
        """(R*n, R*n, 3): the board as it was before it was sharpened, without those of these frames that it shows."""
        frames = split_cells(self.board(colours) - self.known, self.size, self.size)
        shown = (self._off(colours) < SAME) & (colours >= 0)
        return self.seen - join_cells(frames * shown[..., None, None, None])

    def _off(self, colours: Numbers) -> Floats:
        """(R, R): how far, on average, the rims of cells are from what they would be with frames in these colours."""
        off = split_cells(np.abs(self.seen - self.board(colours)), self.size, self.size)
        n = off.shape[2]
        inner = slice(round(RIM * n), n - round(RIM * n))
        sums = off.sum(axis=(2, 3, 4)) - off[:, :, inner, inner].sum(axis=(2, 3, 4))
        mean: Floats = sums / (3 * (n * n - (inner.stop - inner.start) ** 2))
        return mean


def sharpened(picture: Pixels, amount: float) -> Pixels:
    """A picture (h, w, 3) after an unsharp mask."""
    mean = cv2.GaussianBlur(picture, (0, 0), RADIUS, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.addWeighted(picture, 1 + amount, mean, -amount, 0))


def middles(board: Floats, size: int) -> Floats:
    """(R, h, R, w, 3): the middles of the cells of a board (R*n, R*n, 3)."""
    n = len(board) // size
    inner = slice(round(MIDDLE * n), n - round(MIDDLE * n))
    return board.reshape(size, n, size, n, 3)[:, inner, :, inner]


def _vivid(pixels: Floats) -> Floats:
    """(3,): the mean of the most colourful of the pixels (N, 3)."""
    strength = np.ptp(pixels, axis=1)
    mean: Floats = pixels[strength > VIVID * strength.max()].mean(axis=0)
    return mean
