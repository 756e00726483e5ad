"""Lenses: what blur, sharpening or another size made of a whole picture, told from the cells that stayed as they were.

Each of them adds to every pixel a share of how it differs from the mean of those around it. So the clean board, and two
smoother ones, are mixed so as to be most like what is seen of it; then a clean tile, mixed likewise, is what an honest
picture shows of a new thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from gamegen.core.rendering import Pixels

SMOOTH = 0.8, 2.0
"""Pixels within which the means are taken: those of a resized picture, and those of a sharpened one."""

BLACK, WHITE = 3, 252
"""Grey levels beyond which sharpening may have ended early."""


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """The shares in which a clean picture, and smoother ones, make up what is seen of it."""

    shares: tuple[float, ...]

    @classmethod
    def between(cls, clean: Sequence[Pixels], seen: Pixels) -> Lens:
        """That through which a clean picture (…, 3), given with the smoother ones, is seen so."""
        told = (seen > BLACK) & (seen < WHITE)
        levels = np.stack([each[told] for each in clean]).astype(np.float64)  # (3, N)
        shares, *_ = np.linalg.lstsq(levels @ levels.T, levels @ seen[told], rcond=None)
        return cls(tuple(shares.tolist()))

    def mixed(self, clean: Sequence[Pixels]) -> Pixels:
        """How a clean picture (…, 3), given with the smoother ones, is seen."""
        levels = sum(share * each.astype(np.float32) for share, each in zip(self.shares, clean, strict=True))
        return np.asarray(levels).round().clip(0, 255).astype(np.uint8)

    def through(self, picture: Pixels) -> Pixels:
        """How a clean picture (h, w, 3) is seen."""
        return self.mixed(smoothed(picture))


def smoothed(picture: Pixels) -> list[Pixels]:
    """A picture (h, w, 3), and the same ever smoother."""
    blurred = (cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE) for sigma in SMOOTH)
    return [picture, *map(np.asarray, blurred)]
