"""From PIL pictures to the numbers the two encoders take, and back."""

from __future__ import annotations

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from edit_models.bagel.config import SizeRule
from gamegen.core.errors import BadInput


def flat_rgb(image: Image.Image) -> Image.Image:
    """RGB, with transparency laid on white."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")


def fitted_size(width: int, height: int, rule: SizeRule) -> tuple[int, int]:
    """The size a picture is resized to: proportions kept as far as the stride allows; the long side wins."""
    if min(width, height) < 1:
        raise BadInput(f"expected a picture with pixels, got {width}x{height}")
    scale = min(rule.longest / max(width, height), 1.0)
    scale = max(scale, rule.shortest / min(width, height))
    sides = _strides(width * scale, height * scale, rule.stride)
    if max(sides) > rule.longest:
        scale = rule.longest / max(sides)
        sides = _strides(sides[0] * scale, sides[1] * scale, rule.stride)
    return sides


def pixels(image: Image.Image, rule: SizeRule) -> Tensor:
    """The picture at the rule's size, (3, height, width) in [-1, 1]."""
    image = flat_rgb(image)
    size = fitted_size(*image.size, rule)
    if image.size != size:
        image = image.resize(size, Image.Resampling.BICUBIC)
    values = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255)  # (h, w, 3)
    return (values.permute(2, 0, 1) - 0.5) / 0.5


def picture(values: Tensor) -> Image.Image:
    """The inverse of `pixels`, for (3, height, width); out-of-range values are clipped."""
    scaled = (values.float() * 0.5 + 0.5).clamp(0, 1) * 255
    # Half a level absorbs rounding, so that a lossless autoencoder gives back the same bytes.
    return Image.fromarray((scaled + 0.5).byte().permute(1, 2, 0).cpu().numpy())


def patchify(values: Tensor, patch: int, *, side: int, what: str) -> tuple[Tensor, Tensor]:
    """Cuts (channels, h, w) into row-major tokens (row in patch, column in patch, channel).

    Also gives each token's index in a position table of `side` x `side`; larger pictures are refused.
    """
    channels, height, width = values.shape
    if height % patch or width % patch:
        raise BadInput(f"{what}: expected sides to be multiples of {patch}, got {width}x{height}")
    rows, cols = height // patch, width // patch
    if max(rows, cols) > side:
        raise BadInput(f"{what}: {cols}x{rows} tokens do not fit the position table of {side}x{side}")
    tokens = values.reshape(channels, rows, patch, cols, patch).permute(1, 3, 2, 4, 0)
    index = torch.arange(rows)[:, None] * side + torch.arange(cols)  # (rows, cols)
    return tokens.reshape(rows * cols, patch * patch * channels), index.flatten()


def unpatchify(tokens: Tensor, patch: int, rows: int, cols: int) -> Tensor:
    """The inverse of `patchify`: (channels, rows * patch, cols * patch)."""
    channels = tokens.shape[-1] // patch**2
    values = tokens.reshape(rows, cols, patch, patch, channels).permute(4, 0, 2, 1, 3)
    return values.reshape(channels, rows * patch, cols * patch)


def _strides(width: float, height: float, stride: int) -> tuple[int, int]:
    sides = (max(stride, round(round(side) / stride) * stride) for side in (width, height))
    return next(sides), next(sides)
