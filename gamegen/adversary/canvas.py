"""What attacks work on: the two pictures of a sample as pixels, drawn once however many attacks the sample suffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.rendering import Pixels
from gamegen.sample import Sample

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """Nobody may write to these arrays: the next attack works on the same."""

    before: Pixels  # (H, W, 3)
    after: Pixels  # (H, W, 3)
    edit: Flags  # (H, W): the pixels that the answer changed


@lru_cache(maxsize=2)
def canvas(sample: Sample) -> Canvas:
    before, after = sample.original_picture.rgb(), sample.edited_picture.rgb()
    edit = gap(before, after) > 0
    for each in (before, after, edit):
        each.setflags(write=False)
    return Canvas(before, after, edit)


def gap(one: Pixels, other: Pixels) -> Pixels:
    """(H, W): by how many grey levels two pictures differ, in the channel in which they do most."""
    red, green, blue = cv2.split(cv2.absdiff(one, other))
    return np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)


def share(flags: Flags) -> float:
    """The share that is true."""
    return np.count_nonzero(flags) / flags.size


def turned(colours: Pixels, turn: float) -> Pixels:
    """(n, 3): the same lightness and saturation, the hue turned by so much of a full circle."""
    wheel = cv2.cvtColor(colours[None].astype(np.float32) / 255, cv2.COLOR_RGB2HLS)
    wheel[..., 0] = (wheel[..., 0] + 360 * turn) % 360
    return np.asarray(np.rint(255 * cv2.cvtColor(wheel, cv2.COLOR_HLS2RGB)[0]), np.uint8)


def picture(pixels: Pixels) -> Image.Image:
    """A PIL image of its own, to draw on."""
    return Image.fromarray(pixels)
