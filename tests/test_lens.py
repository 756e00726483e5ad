"""Lenses: what blur or sharpening makes of a picture is told from a part of it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from gamegen.sample import make_sample
from renderers.reading.lens import Lens, smoothed


@pytest.mark.parametrize(
    "change", [ImageFilter.GaussianBlur(1), ImageFilter.GaussianBlur(0.6), ImageFilter.UnsharpMask(2, 100, 0)]
)
def test_half_of_a_picture_tells_what_the_other_half_became(change: ImageFilter.Filter) -> None:
    clean = make_sample("spaceinvaders/volley@1:train:2:4242:4").original
    before, after = (np.asarray(image) for image in (clean, clean.filter(change)))
    half = before.shape[1] // 2
    seen = Lens.between([each[:, :half] for each in smoothed(before)], after[:, :half]).through(before)
    gaps = [np.abs(after.astype(int) - each).max(axis=2)[:, half:] for each in (before, seen)]
    assert np.quantile(gaps[1], 0.99) < 0.3 * np.quantile(gaps[0], 0.99)


def test_a_picture_that_stayed_as_it_was_is_seen_as_it_is() -> None:
    clean = np.asarray(Image.linear_gradient("L").convert("RGB").rotate(30))
    assert np.array_equal(Lens.between(smoothed(clean), clean).through(clean), clean)
