"""Which pixels of a 3D reconstruction an answer draws anew, and where of these another hand need not be exact."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from gamegen.games.reconstruction import Position
from renderers.reading.foreign import Flags
from renderers.reconstruction_reading import cubes_between
from renderers.reconstruction_sheet import TITLES, Layout

RIM = 1 / 7
"""Share of a square's side, along its lines, that may be left as it was: as in reading."""

Place = tuple[int, int, int, int]
"""left, top, width and height, in pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class Anew:
    """What a position shows otherwise than the one that was given, seen or hidden, on a page of (H, W) pixels."""

    whole: Pixels  # 255 where something is drawn anew
    rim: Pixels  # 255 where, at the border of that, something else may be
    squares: dict[str, Flags]  # by silhouette, if any did: which squares changed, (n, n)
    cube: Place | None  # around the cubes put on or taken off


def drawn_anew(before: Position, after: Position, layout: Layout) -> Anew:
    whole, cube = cubes_between(before.heights, after.heights, layout), None
    rim = np.zeros_like(whole)
    if before.heights != after.heights:
        left, top, width, height = cv2.boundingRect(whole)
        cube = left, top, width, height
        cv2.morphologyEx(whole, cv2.MORPH_GRADIENT, np.ones((2 * layout.line + 3,) * 2, np.uint8), dst=rim)
    views = {name: _marks(before, name) != _marks(after, name) for name in TITLES}
    squares = {name: changed for name, changed in views.items() if changed.any()}
    edge = depth(layout.cell)
    border = np.full((layout.cell, layout.cell), _FULL)
    border[layout.line + edge : -edge, layout.line + edge : -edge] = 0
    for name, changed in squares.items():
        top, left, side = layout.panel(name)
        panel = slice(top, top + side), slice(left, left + side)
        cells = changed.repeat(layout.cell, axis=0).repeat(layout.cell, axis=1)
        whole[panel], rim[panel] = np.where(cells, _FULL, 0), np.where(cells, np.tile(border, changed.shape), 0)
    return Anew(whole, rim, squares, cube)


_FULL = np.uint8(255)


def depth(cell: int) -> int:
    """How many pixels of a square with so many a rim is deep, soft edges included."""
    return round(RIM * cell) + 1


def _marks(position: Position, name: str) -> NDArray[np.str_]:
    return np.array([list(row) for row in position.view(name)])
