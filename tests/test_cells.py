"""Naming cells: what saves time must not change what is read."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from renderers.reading.classify import LOWEST_CONFIDENCE, classify
from renderers.reading.register import Registration
from renderers.reading.tiles import Tiles, distances, insides

SIDE = 14


def _tiles(rng: np.random.Generator, count: int) -> Tiles:
    """Random blots, some of them much alike."""
    base = rng.uniform(0, 255, (count, SIDE, SIDE, 3)).astype(np.float32)
    base[1::2] = 0.9 * base[::2][: len(base[1::2])] + 0.1 * base[1::2]
    return Tiles(base, inset=1, meaning=np.arange(count, dtype=np.intp) // 3 * 3)


@pytest.mark.parametrize("noise", [0.0, 4.0, 12.0, 40.0])
@pytest.mark.parametrize("right", [1.0, 0.7, 0.0])
def test_knowing_what_was_there_changes_no_name(noise: float, right: float) -> None:
    rng = np.random.default_rng(int(noise * 10 + right * 1000))
    tiles = _tiles(rng, 12)
    shown = rng.integers(0, 12, (6, 7))
    known = np.where(rng.random((6, 7)) < right, shown, rng.integers(0, 12, (6, 7)))
    allowed = rng.random((6, 7, 12)) < 0.8
    cells = tiles.images[shown] + rng.normal(0, 1, (6, 7, SIDE, SIDE, 3)).astype(np.float32) * noise
    free, helped = (classify(cells, tiles, allowed=allowed, known=guess) for guess in (None, known))
    fair = np.take_along_axis(allowed, known[..., None], axis=2)[..., 0]
    assert np.array_equal(free.symbols[fair], helped.symbols[fair])
    sure = free.confidence[fair] >= LOWEST_CONFIDENCE
    assert np.array_equal(sure, helped.confidence[fair] >= LOWEST_CONFIDENCE)
    assert (helped.confidence[fair] <= free.confidence[fair] + 0.01).all()  # a bound, but for rounding


def test_distances_are_those_of_the_best_fit_nearby() -> None:
    rng = np.random.default_rng(3)
    tiles = _tiles(rng, 5)
    cells = rng.uniform(0, 255, (4, SIDE, SIDE, 3)).astype(np.float32)
    got = distances(insides(cells, tiles), tiles)
    inner = cells[:, 2:-2, 2:-2].astype(np.float64)
    for cell, row in zip(inner, got, strict=True):
        for tile, distance in zip(tiles.images, row, strict=True):
            windows = [tile[d : d + SIDE - 4, r : r + SIDE - 4] for d in (1, 2, 3) for r in (1, 2, 3)]
            assert distance == pytest.approx(min(np.sqrt(((cell - w) ** 2).mean()) for w in windows), abs=0.05)


def test_upright_crops_are_what_slanted_ones_are() -> None:
    """A crop by averaging and one by a warp that is all but the same show the same."""
    noise = np.random.default_rng(5).integers(0, 255, (300, 300, 3)).astype(np.uint8)
    picture = np.asarray(Image.fromarray(noise).filter(ImageFilter.GaussianBlur(6)))
    upright, slanted = np.eye(3), np.eye(3)
    slanted[0, 1] = 0.004
    crops = [Registration(m, 1.0, picture).crop((0.1, 0.2, 0.7, 0.8), (60, 60)) for m in (upright, slanted)]
    means = picture[60:240, 30:210].reshape(60, 3, 60, 3, 3).mean(axis=(1, 3))
    assert np.abs(crops[0] - means).max() < 1
    assert np.abs(crops[0] - crops[1]).max() < 12
    assert crops[0].std() > 3
