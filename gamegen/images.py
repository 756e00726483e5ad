"""Pictures from outside: opened with limits, turned upright, flattened to RGB, never trusted."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import WHITE, Colour, Pixels

MAX_PIXELS = 4096 * 4096
MIN_SIDE = 32
ORIENTATION = 0x0112
"""The EXIF tag that says how a picture is turned; 1, or none, is upright."""


Source = Image.Image | bytes | str | Path | np.ndarray[Any, Any]


def load_rgb(source: Source, *, ground: Colour = WHITE) -> Pixels:
    """(H, W, 3) uint8 of a PIL image, PNG/JPEG/WebP bytes, a path or an array, or UnreadableImage.

    Transparent parts show the `ground`.
    """
    if isinstance(source, np.ndarray):
        return _from_array(source, ground)
    if isinstance(source, Image.Image):
        return _flatten(source, "the image", ground)
    name = "the image bytes" if isinstance(source, bytes) else str(source)
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(stream) as image:
                _check_size(image.size, name)
                return _flatten(image, name, ground)
    except FileNotFoundError:
        raise UnreadableImage(f"no such image: {name}") from None
    except UnreadableImage:
        raise
    except (
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise UnreadableImage(f"cannot open {name}: {error}") from error


def _check_size(size: tuple[int, int], name: str) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        raise UnreadableImage(f"{name} is {width} x {height}; more than {MAX_PIXELS} pixels are not opened")
    if min(size) < MIN_SIDE:
        raise UnreadableImage(f"{name} is {width} x {height}; a side under {MIN_SIDE} pixels shows no board")


def _flatten(image: Image.Image, name: str, ground: Colour) -> Pixels:
    _check_size(image.size, name)
    upright = ImageOps.exif_transpose(image) if image.getexif().get(ORIENTATION, 1) != 1 else image
    if upright.mode.startswith("I") or upright.mode == "F":  # 16-bit and deeper greys
        grey = np.asarray(upright, dtype=np.float64)
        top = 65535.0 if grey.max(initial=0) > 255 else 255.0
        return np.repeat((grey * (255.0 / top)).clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)
    if "A" in upright.mode or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", layer.size, (*ground, 255)), layer)
    return np.asarray(upright if upright.mode == "RGB" else upright.convert("RGB"))


def _from_array(array: np.ndarray[Any, Any], ground: Colour) -> Pixels:
    """Accepts (H, W), (H, W, 3|4) and (3, H, W); floats in [0, 1] and uint8."""
    if array.ndim == 3 and array.shape[0] == 3 and array.shape[2] not in (3, 4):
        array = array.transpose(1, 2, 0)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise UnreadableImage("the image array has values that are not finite")
        array = (array.clip(0, 1) * 255 + 0.5).astype(np.uint8)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise UnreadableImage(f"an image array must be H x W x 3, not {array.dtype} {array.shape}")
    return _flatten(Image.fromarray(array), "the image array", ground)
