"""Two autoencoders: FLUX's (what BAGEL draws with) and a lossless one for small experiments.

Pictures are encoded one by one at their own size: a pack never pads them together, so a latent does not depend
on its neighbours. FLUX's is diffusers' `AutoencoderKL` under other tensor names; `diffusers_name` maps them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from edit_models.bagel.config import LatentConfig
from gamegen.core.errors import BadInput, MissingExtra


class Autoencoder(Protocol):
    def encode(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        """(3, h, w) in [-1, 1] -> (channels, h / downsample, w / downsample)."""
        ...

    def decode(self, latent: Tensor) -> Tensor: ...

    def to(self, device: torch.device | str) -> Autoencoder: ...


class PatchAutoencoder(nn.Module):
    """Squares of pixels become channels; nothing is lost and nothing is learned."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.side, self.scale, self.shift = config.downsample, config.scale, config.shift
        if config.channels != 3 * self.side**2:
            raise BadInput(f"a patch autoencoder of {self.side} pixels has {3 * self.side**2} channels")

    def encode(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        return self.scale * (nn.functional.pixel_unshuffle(pixels[None], self.side)[0] - self.shift)

    def decode(self, latent: Tensor) -> Tensor:
        return nn.functional.pixel_shuffle(latent[None] / self.scale + self.shift, self.side)[0]


class FluxAutoencoder(nn.Module):
    def __init__(self, kl: nn.Module, config: LatentConfig) -> None:
        super().__init__()
        self.scale, self.shift = config.scale, config.shift
        self.kl = kl.eval().requires_grad_(False)

    @torch.no_grad()
    def encode(self, pixels: Tensor, generator: torch.Generator) -> Tensor:
        weight = next(self.kl.parameters())
        moments = self.kl.encoder(pixels[None].to(weight.device, weight.dtype))[0].float()
        mean, log_variance = moments.chunk(2)  # (16, h / 8, w / 8) each
        noise = torch.randn(mean.shape, generator=generator).to(mean.device)
        return self.scale * (mean + torch.exp(log_variance / 2) * noise - self.shift)

    @torch.no_grad()
    def decode(self, latent: Tensor) -> Tensor:
        weight = next(self.kl.parameters())
        z = latent[None] / self.scale + self.shift
        return self.kl.decoder(z.to(weight.device, weight.dtype))[0].float()


def flux_skeleton(config: LatentConfig, *, width: int = 128) -> nn.Module:
    """diffusers' module with FLUX's sizes, without memory."""
    try:
        from diffusers import AutoencoderKL
    except ImportError:
        raise MissingExtra("diffusers", "bagel") from None
    with torch.device("meta"):
        return AutoencoderKL(
            latent_channels=config.channels,
            block_out_channels=(width, 2 * width, 4 * width, 4 * width),
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            layers_per_block=2,
            use_quant_conv=False,
            use_post_quant_conv=False,
            force_upcast=False,
        )


def flux_autoencoder(tensors: Mapping[str, Tensor], config: LatentConfig) -> FluxAutoencoder:
    """The autoencoder of `ae.safetensors`; refuses missing, unknown or misshapen tensors."""
    width = tensors["encoder.conv_in.weight"].shape[0] if "encoder.conv_in.weight" in tensors else 128
    kl = flux_skeleton(config, width=width)
    renamed = {diffusers_name(name): tensor for name, tensor in tensors.items()}
    expected = kl.state_dict()
    missing, unknown = sorted(expected.keys() - renamed.keys()), sorted(renamed.keys() - expected.keys())
    if missing or unknown:
        raise BadInput(f"not a FLUX autoencoder: missing {missing[:5]}, unknown {unknown[:5]}")
    for name, tensor in renamed.items():
        flat = tensor[..., 0, 0] if tensor.ndim == 4 and expected[name].ndim == 2 else tensor
        if flat.shape != expected[name].shape:
            raise BadInput(f"{name}: expected {tuple(expected[name].shape)}, found {tuple(tensor.shape)}")
        renamed[name] = flat
    kl.load_state_dict(renamed, assign=True)
    return FluxAutoencoder(kl, config)


RENAMES = (
    (r"\.mid\.block_(\d)", lambda m: f".mid_block.resnets.{int(m[1]) - 1}"),
    (r"\.mid\.attn_1\.", lambda m: ".mid_block.attentions.0."),
    (r"\.down\.(\d)\.block\.", lambda m: f".down_blocks.{m[1]}.resnets."),
    (r"\.down\.(\d)\.downsample\.", lambda m: f".down_blocks.{m[1]}.downsamplers.0."),
    (
        r"\.up\.(\d)\.block\.",
        lambda m: f".up_blocks.{3 - int(m[1])}.resnets.",
    ),  # counted from the finest level
    (r"\.up\.(\d)\.upsample\.", lambda m: f".up_blocks.{3 - int(m[1])}.upsamplers.0."),
    (r"(attentions\.0)\.norm\.", lambda m: f"{m[1]}.group_norm."),
    (r"(attentions\.0)\.([qkv])\.", lambda m: f"{m[1]}.to_{m[2]}."),
    (r"(attentions\.0)\.proj_out\.", lambda m: f"{m[1]}.to_out.0."),
    (r"\.nin_shortcut\.", lambda m: ".conv_shortcut."),
    (r"^(encoder|decoder)\.norm_out\.", lambda m: f"{m[1]}.conv_norm_out."),
)


def diffusers_name(name: str) -> str:
    """FLUX's tensor name -> diffusers' name."""
    for pattern, new in RENAMES:
        name = re.sub(pattern, new, name)
    return name
