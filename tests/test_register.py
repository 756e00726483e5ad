"""Registration: a picture that only came back in another size lies where it lay."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gamegen.sample import make_sample
from renderers.board import BoardRenderer, given_board
from renderers.reading.register import Scan, register

HALF_A_PIXEL = 2 * 0.5 / 512


@pytest.mark.parametrize("size", [(512, 512), (724, 724), (575, 575), (767, 767), (700, 724), (1000, 767), (383, 383)])
@pytest.mark.parametrize("name", ["chess/mate@1:train:4:33:40", "sudoku/solve@1:train:4:3:0"])
def test_a_picture_of_any_size_is_whole(name: str, size: tuple[int, int]) -> None:
    """The odd pixels at the right and below were cut off, and the rest taken for the whole: a zoom of up to 0.3 %."""
    sample = make_sample(name)
    assert isinstance(sample.plugin.renderer, BoardRenderer)
    given = given_board(sample.plugin.renderer, sample.problem, sample.style)
    image = sample.original.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    found = register(Scan(np.asarray(image)), given.landmarks)
    assert np.abs(found.matrix - np.eye(3)).sum(axis=1).max() < HALF_A_PIXEL
