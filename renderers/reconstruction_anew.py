"""Which pixels of a 3D reconstruction an answer draws anew, and where of these another hand need not be exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from gamegen.games.reconstruction import FILLED, Position, View
from renderers.reading.foreign import Flags
from renderers.reconstruction_sheet import TITLES, Layout

RIM = 1 / 7
"""Share of a square's side, along its lines, that may be left as it was: as in reading."""

Place = tuple[int, int, int, int]
"""left, top, width and height, in pixels."""


@dataclass(frozen=True, eq=False)
class Anew:
    """What a position shows otherwise than the one that was given, seen or hidden, on a page of (H, W) pixels."""

    before: Position
    after: Position
    cubes: Pixels  # (H, W): 255 where cubes were put on or taken off
    layout: Layout

    @cached_property
    def squares(self) -> dict[str, Flags]:
        """By silhouette, if any did: which squares changed, (n, n)."""
        views = {name: (self.before.view(name), self.after.view(name)) for name in TITLES}
        return {name: filled(was) != filled(now) for name, (was, now) in views.items() if was != now}

    @cached_property
    def cube(self) -> Place | None:
        """What is around the cubes put on or taken off."""
        if self.before.heights == self.after.heights:
            return None
        left, top, width, height = cv2.boundingRect(self.cubes)
        return left, top, width, height

    @cached_property
    def masks(self) -> tuple[Pixels, Pixels]:
        """(H, W) each: 255 where something is drawn anew, and where, at the border of that, something else may be."""
        layout, whole, rim = self.layout, self.cubes.copy(), np.zeros_like(self.cubes)
        if self.cube is not None:
            cv2.morphologyEx(whole, cv2.MORPH_GRADIENT, np.ones((2 * layout.line + 3,) * 2, np.uint8), dst=rim)
        edge = depth(layout.cell)
        border = np.full((layout.cell, layout.cell), _FULL)
        border[layout.line + edge : -edge, layout.line + edge : -edge] = 0
        for name, changed in self.squares.items():
            top, left, side = layout.panel(name)
            panel = slice(top, top + side), slice(left, left + side)
            cells = changed.repeat(layout.cell, axis=0).repeat(layout.cell, axis=1)
            whole[panel], rim[panel] = np.where(cells, _FULL, 0), np.where(cells, np.tile(border, changed.shape), 0)
        return whole, rim


_FULL = np.uint8(255)


def depth(cell: int) -> int:
    """How many pixels of a square with so many a rim is deep, soft edges included."""
    return round(RIM * cell) + 1


def filled(view: View) -> Flags:
    """(n, n): which squares of a silhouette are."""
    return np.array([[mark == FILLED for mark in row] for row in view])
