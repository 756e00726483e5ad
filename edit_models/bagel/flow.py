"""Rectified flow: how pictures become noise, and back.

The convention, here and everywhere: t = 0 is data, t = 1 is noise,

    x_t = (1 - t) * x_0 + t * noise        velocity v = dx/dt = noise - x_0

so the model learns v, and a sampler starts at t = 1 and walks down: x <- x - v * (t - t_next).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

Renorm = Literal["global", "channel", "text_channel"]


def shift(t: Tensor, by: float) -> Tensor:
    """Moves times towards noise (by > 1), keeping 0 and 1 where they are."""
    return by * t / (1 + (by - 1) * t)


def draw_time(generator: torch.Generator, by: float) -> float:
    """A training time: logit-normal, then shifted."""
    return float(shift(torch.sigmoid(torch.randn((), generator=generator)), by))


def noised(clean: Tensor, noise: Tensor, t: float) -> Tensor:
    return (1 - t) * clean + t * noise


def velocity(clean: Tensor, noise: Tensor) -> Tensor:
    return noise - clean


def timetable(points: int, by: float) -> Iterator[tuple[float, float]]:
    """The sampler's steps (t, t_next); `points` times make `points - 1` steps."""
    times = shift(torch.linspace(1, 0, points, dtype=torch.float64), by).tolist()
    yield from itertools.pairwise(times)


def guided(
    v: Tensor,  # (n, width), with everything in sight
    without_text: Tensor | None,
    without_image: Tensor | None,
    *,
    text_scale: float,
    image_scale: float,
    renorm: Renorm,
    renorm_min: float = 0.0,
) -> Tensor:
    """Pushes v away from what the model would draw without the words, then without the picture.

    Guidance inflates the velocity; the renorm shrinks it back towards |v|: over the whole picture (`global`),
    per token (`channel`), or per token between the two pushes (`text_channel`).
    """
    g = v
    if without_text is not None:
        g = without_text + text_scale * (g - without_text)
        if renorm == "text_channel":
            g = g * _shrink(v, g, renorm_min, whole=False)
    if without_image is not None:
        g = without_image + image_scale * (g - without_image)
    if renorm != "text_channel":
        g = g * _shrink(v, g, renorm_min, whole=renorm == "global")
    return g


def _shrink(v: Tensor, g: Tensor, lowest: float, *, whole: bool) -> Tensor:
    if whole:
        ratio = v.norm() / (g.norm() + 1e-8)
    else:
        ratio = v.norm(dim=-1, keepdim=True) / (g.norm(dim=-1, keepdim=True) + 1e-8)
    return ratio.clamp(lowest, 1.0)
