"""Strange tints: a coloured line on a grey one is strange, though every channel of it is between black and white."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import BESIDE, Flags

FRINGE = 0.35
"""Share of the tints' range, around a pixel, by which it may be outside: compression and sharpening leave fringes."""


@dataclass(frozen=True, slots=True, eq=False)
class Tints:
    """Between which tints no pixel of a picture is strange, at half its size, told from a clean one.

    A tint is how far each channel is above the next one: greys have none.
    """

    low: NDArray[np.int16]  # (h / 2, w / 2, 3)
    high: NDArray[np.int16]

    @classmethod
    def of(cls, clean: Pixels, unlike: int) -> Tints:
        """What is strange is unlike all tints around by so much."""
        tints = _tints(clean)
        low, high = cv2.erode(tints, BESIDE), cv2.dilate(tints, BESIDE)
        slack = (FRINGE * (cv2.dilate(high, BESIDE) - cv2.erode(low, BESIDE))).astype(np.int16) + np.int16(unlike)
        return cls(low - slack, high + slack)

    def strange(self, seen: Pixels) -> Flags | None:
        """(h, w): which pixels of a picture have strange tints; None if none do."""
        usual = cv2.inRange(_tints(seen), self.low, self.high)
        if cv2.countNonZero(usual) == usual.size:
            return None
        found = np.zeros(seen.shape[:2], bool)
        odd = usual == 0
        found[: 2 * len(odd), : 2 * odd.shape[1]] = odd.repeat(2, axis=0).repeat(2, axis=1)
        return found


def _tints(image: Pixels) -> NDArray[np.int16]:
    """(h / 2, w / 2, 3): red over green, green over blue, blue over red."""
    height, width = (side // 2 for side in image.shape[:2])
    small = cv2.resize(image[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA)
    red, green, blue = cv2.split(small)
    ways = ((red, green), (green, blue), (blue, red))
    return np.asarray(cv2.merge([cv2.subtract(one, other, dtype=cv2.CV_16S) for one, other in ways]))
