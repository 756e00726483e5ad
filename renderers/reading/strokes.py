"""Paint by its hue: how much of a pen's colour lies on each pixel, each cell, and across each border.

Editors draw thick or thin, straight or by hand, in their own shade of a colour. So paint is looked for in the plane of
hue and saturation alone, as the way a pixel has gone from its ground towards the pen.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Colour, Pixels
from renderers.reading.register import Floats

Planes = tuple[Floats, Floats]
"""(H, W) each: both coordinates of every pixel in the hue plane."""

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

_TALL = 0.8660254
"""The height of a triangle of sides 1, in which the three channels pull at the corners."""


def hue_plane(rgb: Floats) -> Floats:
    """(…, 3) to (…, 2): hue is the direction, saturation the length, brightness is gone."""
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    return np.stack([red - (green + blue) / 2, (green - blue) * _TALL], axis=-1)


def hue_planes(picture: Floats) -> Planes:
    """The same of a whole picture (H, W, 3)."""
    red, green, blue = cv2.split(picture)
    return cv2.add(red, cv2.addWeighted(green, -0.5, blue, -0.5, 0.0)), cv2.addWeighted(green, _TALL, blue, -_TALL, 0.0)


def wiped(image: Pixels, ground: Colour) -> Pixels:
    """A picture at half size or less, with every strongly coloured pixel set to the ground's colour."""
    times = max(1, round(min(image.shape[:2]) / WIPED_SIDE))
    down, across = (-side % times for side in image.shape[:2])
    if down or across:
        image = cv2.copyMakeBorder(image, 0, down, 0, across, cv2.BORDER_REPLICATE)
    size = image.shape[1] // times, image.shape[0] // times
    red, green, blue = cv2.split(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
    spread = cv2.subtract(cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue))
    strong = cv2.compare(spread, STRONG, cv2.CMP_GT)
    small: Pixels = cv2.merge(
        [
            cv2.copyTo(np.full_like(red, level), strong, channel)
            for level, channel in zip(ground, (red, green, blue), strict=True)
        ]
    )
    return small


def vivid(moved: Planes) -> Pixels:
    """(H, W): 255 where a pixel that has moved so far from its ground is coloured by somebody."""
    found: Pixels = cv2.compare(cv2.magnitude(*moved), VIVID, cv2.CMP_GT)
    return found


def pen_counts(moved: Floats, pens: Floats) -> NDArray[np.intp]:
    """(P,): how many of (N, 2) vectors away from their ground are nearest by hue to each of the pens (P, 3)."""
    directions = hue_plane(pens)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    nearest = np.einsum("ij,kj->ik", moved, directions).argmax(axis=1)
    return np.bincount(nearest, minlength=len(pens))


def paint_share(moved: Planes, way: Floats, other: Pixels, other_way: Floats) -> Floats:
    """(H, W): how far, from 0 to 1, each pixel has gone along the `way` (3,) from its ground to the pen; 0 if it went
    elsewhere. Where the mask `other` (H, W) is set, the ground is another, and so is the way."""
    along, aside = _towards(moved, way)
    for plane, there in zip((along, aside), _towards(moved, other_way), strict=True):
        cv2.copyTo(there, other, plane)
    straying = cv2.addWeighted(np.abs(aside), 1.0, along, -HUE_SLACK, 0.0)
    share: Floats = cv2.min(cv2.max(cv2.copyTo(along, cv2.compare(straying, 0.08, cv2.CMP_LE)), 0.0), 1.0)
    return share


def _towards(moved: Planes, way: Floats) -> Planes:
    """How far each pixel has gone along the way, and how far to its side, both as shares of its length."""
    flat = hue_plane(way)
    x, y = (flat / (flat**2).sum()).tolist()
    return cv2.addWeighted(moved[0], x, moved[1], y, 0.0), cv2.addWeighted(moved[0], y, moved[1], -x, 0.0)


def off_line(picture: Floats, one: Floats, other: Floats) -> Pixels:
    """(H, W): by how many grey levels, in the channel where it is most, each pixel of a picture (H, W, 3) is off the
    straight line of mixtures of two colours (3,), which goes on beyond them: sharpening does."""
    way = (other - one).astype(np.float64)
    aside = np.eye(3) - np.outer(way, way) / max(float(way @ way), 1.0)
    away = cv2.transform(picture, np.column_stack([aside, -aside @ one]))
    red, green, blue = cv2.split(cv2.convertScaleAbs(away))
    return np.asarray(cv2.max(cv2.max(red, green), blue))


def coverage(share: Floats) -> Floats:
    """Paint for sure or none: the haze around strokes, and grounds that have changed, count as none."""
    return ((share - HAZE) / (SOLID - HAZE)).clip(0.0, 1.0)


def lines_along(touched: Pixels, shape: tuple[int, ...], n: int) -> Pixels:
    """(R, C, n): 255 at the places along each cell, of `shape` (R, C), where its row has paint; of pixels (R*n, C*n)
    those that are `touched` are not 0. What is near the cells' other borders does not count."""
    rows, cols = shape
    lines: Pixels = touched.reshape(rows, n, -1)[:, n // 8 : n - n // 8].max(axis=1).reshape(rows, cols, n)
    return lines


def broken(touched: Pixels, slack: int) -> NDArray[np.bool_]:
    """(N,): whether more than `slack` neighbouring values of each line (N, L) are 0, without paint."""
    bare = touched == 0
    last = bare.shape[1] - slack
    runs = [bare[:, start : last + start] for start in range(slack + 1)]
    result: NDArray[np.bool_] = np.logical_and.reduce(runs).any(axis=1)
    return result
