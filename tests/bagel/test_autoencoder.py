"""FLUX's autoencoder written out from its maths, as a check on the borrowed module and on the name map."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from edit_models.bagel.autoencoder import flux_autoencoder
from edit_models.bagel.config import LatentConfig
from gamegen.core.errors import BadInput

KEYS = json.loads((Path(__file__).parent / "keys.json").read_text(encoding="utf-8"))["autoencoder"]
State = dict[str, Tensor]
SCALE, SHIFT = 0.3611, 0.1159


@pytest.fixture(scope="module")
def state() -> State:
    """Random weights under FLUX's names, at a quarter of the width (32 channels is what 32 groups need)."""
    g = torch.Generator().manual_seed(0)

    def narrow(name: str, shape: list[int]) -> list[int]:
        ends = {3, 16, 32} if "conv_in" in name or "conv_out" in name else set()
        return [side if side in ends or i > 1 else side // 4 for i, side in enumerate(shape)]

    return {name: torch.randn(narrow(name, shape), generator=g) * 0.1 for name, shape in KEYS.items()}


def conv(s: State, name: str, x: Tensor, **how: int) -> Tensor:
    return F.conv2d(x, s[name + ".weight"], s[name + ".bias"], **how)


def norm(s: State, name: str, x: Tensor) -> Tensor:
    return F.group_norm(x, 32, s[name + ".weight"], s[name + ".bias"], eps=1e-6)


def residual(s: State, name: str, x: Tensor) -> Tensor:
    h = conv(s, f"{name}.conv1", F.silu(norm(s, f"{name}.norm1", x)), padding=1)
    h = conv(s, f"{name}.conv2", F.silu(norm(s, f"{name}.norm2", h)), padding=1)
    return h + (conv(s, f"{name}.nin_shortcut", x) if f"{name}.nin_shortcut.weight" in s else x)


def middle(s: State, name: str, x: Tensor) -> Tensor:
    x = residual(s, f"{name}.block_1", x)
    h = norm(s, f"{name}.attn_1.norm", x)
    q, k, v = (conv(s, f"{name}.attn_1.{part}", h).flatten(2)[0].T for part in "qkv")  # (h w, C)
    mixed = torch.softmax(q @ k.T / q.shape[1] ** 0.5, dim=-1) @ v
    x = x + conv(s, f"{name}.attn_1.proj_out", mixed.T.reshape(x.shape))
    return residual(s, f"{name}.block_2", x)


def encode(s: State, x: Tensor) -> Tensor:
    x = conv(s, "encoder.conv_in", x, padding=1)
    for level in range(4):
        for block in range(2):
            x = residual(s, f"encoder.down.{level}.block.{block}", x)
        if level < 3:
            x = conv(s, f"encoder.down.{level}.downsample.conv", F.pad(x, (0, 1, 0, 1)), stride=2)
    x = middle(s, "encoder.mid", x)
    return conv(s, "encoder.conv_out", F.silu(norm(s, "encoder.norm_out", x)), padding=1)


def decode(s: State, z: Tensor) -> Tensor:
    x = middle(s, "decoder.mid", conv(s, "decoder.conv_in", z, padding=1))
    for level in (3, 2, 1, 0):
        for block in range(3):
            x = residual(s, f"decoder.up.{level}.block.{block}", x)
        if level:
            x = conv(s, f"decoder.up.{level}.upsample.conv", F.interpolate(x, scale_factor=2), padding=1)
    return conv(s, "decoder.conv_out", F.silu(norm(s, "decoder.norm_out", x)), padding=1)


def test_encoding_and_decoding_equal_the_maths(state: State) -> None:
    autoencoder = flux_autoencoder(state, LatentConfig())
    image = torch.rand(3, 16, 24, generator=torch.Generator().manual_seed(1)) * 2 - 1
    latent = autoencoder.encode(image, torch.Generator().manual_seed(2))
    mean, log_variance = encode(state, image[None])[0].chunk(2)
    noise = torch.randn(16, 2, 3, generator=torch.Generator().manual_seed(2))
    expected = SCALE * (mean + (log_variance / 2).exp() * noise - SHIFT)
    assert latent.shape == (16, 2, 3)
    assert torch.allclose(latent, expected, atol=1e-4)
    assert torch.allclose(autoencoder.decode(latent), decode(state, latent[None] / SCALE + SHIFT)[0], atol=1e-3)


def test_a_wrong_autoencoder_is_refused(state: State) -> None:
    short = {name: tensor for name, tensor in state.items() if name != "decoder.mid.attn_1.q.weight"}
    with pytest.raises(BadInput, match=r"attentions\.0\.to_q\.weight"):
        flux_autoencoder(short, LatentConfig())
    with pytest.raises(BadInput, match=r"expected .* found"):
        flux_autoencoder({**state, "encoder.norm_out.bias": torch.zeros(3)}, LatentConfig())
