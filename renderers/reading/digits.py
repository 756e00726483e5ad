"""Digits in any face, ink and size: how an editor writes is its own affair, as long as the digit is plain.

A cell's ink is its distance from the ground, as a share of the strongest; the ink's box is brought to one size, its
proportions kept, and compared with the nine digits of every face in the atlas by correlation.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from renderers.glyphs import FACES, glyph
from renderers.inks import FULL
from renderers.reading.register import Floats

FAINTEST = 70.0
"""Grey levels, over all three colours, by which ink must differ from the ground."""

SIDE = 20
LOWEST_LIKENESS = 0.72
CLEAR_LEAD = 0.04
"""The least likeness to a digit, and the least by which it must lead over the next digit."""


def has_ink(cells: Floats) -> NDArray[np.bool_]:
    """(K,): in the middle of which of these cells (K, n, n, 3) something stands out from the ground."""
    count, side = cells.shape[:2]
    edge = side // 6
    middle = cells[:, edge : side - edge, edge : side - edge].sum(axis=3)
    grey = np.sort(middle.reshape(count, (side - 2 * edge) ** 2), axis=1)
    few = max(1, grey.shape[1] // 30)
    inked: NDArray[np.bool_] = grey[:, -few] - grey[:, few - 1] > FAINTEST
    return inked


def read_digit(cell: Floats) -> int | None:
    """The digit written in a cell (n, n, 3) on plain ground; None if it is not plainly one digit."""
    ink = np.abs(cell - np.median(cell.reshape(-1, 3), axis=0)).sum(axis=2)
    strongest = float(np.percentile(ink, 98))
    shape = _normal((ink / strongest).clip(0, 1)) if strongest > FAINTEST else None
    if shape is None:
        return None
    likeness = (_masters() @ shape).reshape(-1, 9).max(axis=0)
    order = np.argsort(-likeness)
    if likeness[order[0]] < LOWEST_LIKENESS or likeness[order[0]] - likeness[order[1]] < CLEAR_LEAD:
        return None
    return int(order[0]) + 1


@lru_cache(maxsize=1)
def _masters() -> Floats:
    """(faces x 9, SIDE x SIDE): the digits 1 to 9 of every face, brought to one size."""
    shapes = []
    for face in FACES:
        for digit in "123456789":
            shape = _normal(np.pad(glyph(digit, face=face, height=40), 4) / FULL)
            assert shape is not None
            shapes.append(shape)
    return np.stack(shapes)


def _normal(ink: Floats) -> Floats | None:
    """The ink (0 to 1) within its box as a vector of length 1 and mean 0; None if the box is no digit's."""
    strong = ink > 0.5
    rows, cols = np.flatnonzero(strong.any(axis=1)), np.flatnonzero(strong.any(axis=0))
    if len(rows) < 5 or len(cols) < 2 or len(cols) > 1.2 * len(rows):
        return None
    if strong[0].any() or strong[-1].any() or strong[:, 0].any() or strong[:, -1].any():
        return None  # a line that leans in from the border
    part = ink[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
    width = max(3, round(SIDE * part.shape[1] / part.shape[0]))
    image = Image.fromarray(part.astype(np.float32)).resize((min(width, SIDE), SIDE), Image.Resampling.BILINEAR)
    canvas = np.zeros((SIDE, SIDE))
    left = (SIDE - image.width) // 2
    canvas[:, left : left + image.width] = np.asarray(image)
    canvas -= canvas.mean()
    length = float(np.sqrt((canvas**2).sum()))
    shape: Floats = canvas.ravel() / max(length, 1e-9)
    return shape
