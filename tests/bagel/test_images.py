from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from edit_models.bagel.autoencoder import PatchAutoencoder
from edit_models.bagel.config import LatentConfig, SizeRule
from edit_models.bagel.images import fitted_size, flat_rgb, patchify, picture, pixels, unpatchify
from gamegen.core.errors import BadInput

VAE, VIT = SizeRule(1024, 512, 16), SizeRule(980, 378, 14)


@pytest.mark.parametrize(
    ("size", "rule", "fitted"),
    [
        ((1024, 1024), VAE, (1024, 1024)),
        ((256, 256), VAE, (512, 512)),  # raised to the short side
        ((2000, 1000), VAE, (1024, 512)),
        ((3000, 300), VAE, (1024, 96)),  # raised to 512 first, then the long side wins: 102 -> 6 * 16
        ((1024, 1024), VIT, (980, 980)),
        ((512, 512), VIT, (518, 518)),  # 36.57 strides round up
    ],
)
def test_sizes_by_hand(size: tuple[int, int], rule: SizeRule, fitted: tuple[int, int]) -> None:
    assert fitted_size(*size, rule) == fitted


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_sizes_fit_the_table(width: int, height: int) -> None:
    for rule in (VAE, VIT):
        sides = fitted_size(width, height, rule)
        assert all(side % rule.stride == 0 and rule.stride <= side <= rule.longest for side in sides)


def test_a_lossless_round_trip_keeps_every_byte() -> None:
    image = Image.frombytes("RGB", (32, 48), bytes(i * 7 % 256 for i in range(32 * 48 * 3)))
    config = LatentConfig(kind="patch", channels=48, downsample=4, patch=2, side=8)
    autoencoder = PatchAutoencoder(config)
    latent = autoencoder.encode(pixels(image, SizeRule(48, 32, 8)), torch.Generator())
    tokens, index = patchify(latent, 2, side=8, what="test")
    assert tokens.shape == (6 * 4, config.token_width) and index.tolist()[:5] == [0, 1, 2, 3, 8]
    back = picture(autoencoder.decode(unpatchify(tokens, 2, 6, 4)))
    assert back.tobytes() == image.tobytes()


def test_patch_order_is_row_column_channel() -> None:
    values = torch.arange(2 * 4 * 2).reshape(2, 4, 2)  # channels, rows, columns
    tokens, _ = patchify(values, 2, side=2, what="test")
    assert tokens[1].tolist() == [4, 12, 5, 13, 6, 14, 7, 15]


def test_pictures_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="position table of 2x2"):
        patchify(torch.zeros(3, 24, 16), 8, side=2, what="a picture")
    with pytest.raises(BadInput, match="multiples of 8"):
        patchify(torch.zeros(3, 20, 16), 8, side=9, what="a picture")


def test_transparency_becomes_white() -> None:
    assert flat_rgb(Image.new("RGBA", (1, 1), (255, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)
    palette = Image.new("P", (1, 1))
    palette.putpalette([10, 20, 30])
    assert flat_rgb(palette).getpixel((0, 0)) == (10, 20, 30)
