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
    def outlines(self) -> Pixels:
        """(H, W): 255 at the border of these cubes, where something else may be."""
        around = np.ones((2 * self.layout.line + 3,) * 2, np.uint8)
        return np.asarray(cv2.morphologyEx(self.cubes, cv2.MORPH_GRADIENT, around))


def filled(view: View) -> Flags:
    """(n, n): which squares of a silhouette are."""
    return np.array([[mark == FILLED for mark in row] for row in view])
