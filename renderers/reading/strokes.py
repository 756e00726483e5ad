"""Paint by its hue: how much of a pen's colour lies on each pixel, each cell, and across each border.

Editors draw thick or thin, straight or by hand, in their own shade of a colour. So paint is looked for in the plane of
hue and saturation alone, as the way a pixel has gone from its ground towards the pen.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.rendering import Colour, Pixels
from renderers.reading.register import Floats

VIVID = 64.0
"""A pixel this far from its ground, in the hue plane, is coloured by somebody."""

STRONG, WIPED_SIDE = 88, 256
"""What is wiped off before a picture is laid onto another: colours of this spread between their channels."""

HUE_SLACK = 0.55
"""Tangent of the angle by which paint may differ from the pen's hue."""

HAZE, SOLID = 0.25, 0.65
"""Shares of the pen's colour that are still no paint, and already nothing but paint."""

TOUCH = 0.35
"""Share of the pen's colour from which a pixel counts as painted when a line is followed."""


def hue_plane(rgb: Floats) -> Floats:
    """(…, 3) to (…, 2): hue is the direction, saturation the length, brightness is gone."""
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    return np.stack([red - (green + blue) / 2, (green - blue) * 0.8660254], axis=-1)


def wiped(image: Pixels, ground: Colour) -> Pixels:
    """A picture at half size or less, with every strongly coloured pixel set to the ground's colour."""
    small = Image.fromarray(image, "RGB").reduce(max(1, round(min(image.shape[:2]) / WIPED_SIDE)))
    red, green, blue = (np.asarray(channel) for channel in small.split())
    spread = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    small.paste(ground, mask=Image.fromarray(spread > STRONG))
    return np.asarray(small)


def pen_counts(moved: Floats, pens: Mapping[str, Colour]) -> dict[str, int]:
    """How many vivid pixels, of (N, 2) vectors away from their ground, are nearest to each pen by hue."""
    directions = hue_plane(np.array(list(pens.values()), np.float64))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vivid = moved[moved[:, 0] ** 2 + moved[:, 1] ** 2 > VIVID**2]
    counts = np.bincount((vivid @ directions.T).argmax(axis=1), minlength=len(pens))
    return dict(zip(pens, map(int, counts), strict=True))


def paint_share(moved: Floats, way: Floats) -> Floats:
    """How far, from 0 to 1, each vector (…, 2) has gone along the `way` from ground to pen; 0 if it went elsewhere."""
    size = (way**2).sum(axis=-1)
    along = (moved[..., 0] * way[..., 0] + moved[..., 1] * way[..., 1]) / size
    aside = np.abs(moved[..., 0] * way[..., 1] - moved[..., 1] * way[..., 0]) / size
    share: Floats = np.where(aside <= HUE_SLACK * along + 0.08, along, 0.0).clip(0.0, 1.0)
    return share


def coverage(share: Floats) -> Floats:
    """Paint for sure or none: the haze around strokes, and grounds that have changed, count as none."""
    return ((share - HAZE) / (SOLID - HAZE)).clip(0.0, 1.0)


def broken(profile: Floats, slack: int) -> NDArray[np.bool_]:
    """Along the last axis, whether more than `slack` neighbouring values are without paint."""
    runs = [profile[..., start : profile.shape[-1] - slack + start] < TOUCH for start in range(slack + 1)]
    result: NDArray[np.bool_] = np.logical_and.reduce(runs).any(axis=-1)
    return result
