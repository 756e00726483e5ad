"""Symbols that nobody was to change: what has become of each, in pictures of any quality."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from renderers.glyphs import glyph
from renderers.inks import FULL
from renderers.reading.classify import LOWEST_CONFIDENCE
from renderers.reading.kept import Kept
from renderers.reading.register import Floats
from renderers.reading.tiles import join_cells
from renderers.shapes import stamp

N, SIZE = 24, 6
GROUND, INK = np.array([250, 245, 230], np.float32), np.array([20, 30, 60], np.float32)
GIVEN = np.arange(SIZE * SIZE, dtype=np.intp).reshape(SIZE, SIZE) % 10


def _tiles() -> Floats:
    """(10, n, n, 3): the digits."""
    cover = [stamp(N, glyph(str(digit), face="sans", height=13)) / FULL for digit in range(10)]
    return (GROUND + np.stack(cover)[..., None] * (INK - GROUND)).astype(np.float32)


TILES = _tiles()


def _kept(asked: NDArray[np.bool_] | None = None) -> Kept:
    return Kept(join_cells(TILES[GIVEN]), TILES, GIVEN, ground=GROUND, ink=INK, inner=slice(2, N - 2), asked=asked)


def _mix(share: float) -> Floats:
    """The board with cell (2, 3), a 5, so much of a 6."""
    cells = TILES[GIVEN].copy()
    cells[2, 3] += np.float32(share) * (TILES[6] - TILES[5])
    return join_cells(cells)


def _worse(board: Floats, how: str) -> Floats:
    if how == "blurred":
        return np.asarray(cv2.GaussianBlur(board, (0, 0), 1.2))
    if how == "moved":
        way = np.array([[1, 0, 0.4], [0, 1, -0.3]])
        return np.asarray(cv2.warpAffine(board, way, board.shape[1::-1], borderMode=cv2.BORDER_REPLICATE))
    if how == "faded":
        return 60 + np.float32(0.7) * board
    return board


@pytest.mark.parametrize("how", ["clean", "blurred", "moved", "faded"])
def test_what_stayed_what_became_another_and_what_is_both(how: str) -> None:
    kept, free = _kept(), np.ones((SIZE * N, SIZE * N), bool)
    for share, symbol, sure in ((0.0, 5, True), (0.2, 5, True), (0.5, 5, False), (1.0, 6, True)):
        amount = kept.amount(_worse(_mix(share), how))
        mixing = kept.mixing(amount)
        named = kept.named(amount, free, mixing, kept.mixed(mixing))
        assert (named.confidence[2, 3] >= LOWEST_CONFIDENCE) == sure, share
        assert not sure or named.symbols[2, 3] == symbol, share
        others = np.ones(GIVEN.shape, bool)
        others[2, 3] = False
        assert (named.symbols == GIVEN)[others].all()
        assert (named.confidence >= LOWEST_CONFIDENCE)[others].all()


@pytest.mark.parametrize("how", ["clean", "blurred", "moved"])
def test_halves_name_the_other_and_how_much_it_explains(how: str) -> None:
    kept = _kept()
    amount = kept.amount(_worse(_mix(0.5), how))
    mixing = kept.mixing(amount)
    share, explained, towards = kept.halves(amount, mixing, kept.mixed(mixing), GIVEN, GIVEN == 5)
    odd = int(np.flatnonzero(np.flatnonzero(GIVEN == 5) == 2 * SIZE + 3)[0])
    assert towards[odd] == 6
    assert abs(share[odd] - 0.5) < 0.1
    assert explained[odd] > 0.8
    assert (np.delete(share, odd) < 0.2).all()


def test_only_what_is_asked_for_is_looked_at() -> None:
    asked = np.ones(GIVEN.shape, bool)
    asked[2, 3] = False
    kept = _kept(asked)
    amount = kept.amount(_mix(1.0))
    mixing = kept.mixing(amount)
    named = kept.named(amount, np.ones(amount.shape, bool), mixing, kept.mixed(mixing))
    assert (named.symbols == GIVEN).all()
    assert named.confidence[2, 3] == 1.0
