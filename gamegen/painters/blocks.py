"""Cubes and silhouettes: squares filled in or wiped out, a cube put on or taken off with ruler and brush."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour
from gamegen.games.reconstruction import FILLED
from gamegen.painters.hand import FINE, TINT, Hand, Point
from gamegen.sample import Sample

Corner = tuple[float, float, float]
"""x, y and z of a point of the structure."""


@dataclass(frozen=True, slots=True)
class Room:
    """Where the corner view lies: x runs to the lower right, y to the upper right, z straight up."""

    left: float
    top: float
    unit: float  # half the width of a cube, in pixels
    n: int

    def at(self, x: float, y: float, z: float) -> Point:
        return self.left + (x + y) * self.unit, self.top + (x - y - 2 * z + 3 * self.n) * self.unit / 2


def reconstruction(hand: Hand, sample: Sample, after: Any) -> bool:
    before, colours = sample.problem.position, sample.style.colours()
    if before.heights != after.heights:
        _cube(hand, sample, after)
    filled, blank = hand.shade(colours["filled"]), colours["blank"]
    for name, first in (("front", 0), ("side", before.size)):
        left, top, side = _box(sample, Cell(first, 0))
        for row, (old, new) in enumerate(zip(before.view(name), after.view(name), strict=True)):
            for col, mark in enumerate(new):
                if mark != old[col]:
                    near = 0.06 + hand.sway(0.03)
                    corners = ((near, near), (1 - near, near), (1 - near, 1 - near), (near, 1 - near))
                    points = [(left + (col + x) * side, top + (row + y) * side) for x, y in corners]
                    if mark == FILLED:
                        hand.patch(points, filled, tremble=0.02 * side)
                    else:
                        _wipe(hand, (left + col * side, top + row * side), side, blank)
    return True


def _wipe(hand: Hand, corner: tuple[float, float], side: float, blank: Colour) -> None:
    """A square up to its lines, in the colour of the empty ones."""
    edge = max(2, round(0.03 * side))
    left, top = round(corner[0]) + edge, round(corner[1]) + edge
    tint = round(hand.sway(TINT))
    red, green, blue = (min(255, max(0, level + tint)) for level in blank)
    hand.image.paste((red, green, blue), (left, top, left + round(side) - edge, top + round(side) - edge))


def _cube(hand: Hand, sample: Sample, after: Any) -> None:
    """Draw the whole corner view anew, and take of it only where the cube is, or was."""
    before, n = sample.problem.position, after.size
    left, top, wide = _box(sample, Cell(2 * n, 0))
    line = max(1.0, sample.style.number("line_width") * sample.style.pixels / 512)
    room = Room(left + line / 2, top + line / 2, (wide - line) / (2 * n), n)
    x, y = next((x, y) for x in range(n) for y in range(n) if before.heights[x][y] != after.heights[x][y])
    z = min(before.heights[x][y], after.heights[x][y])
    rim = [(x, y, z), (x + 1, y, z), (x + 1, y + 1, z), (x + 1, y + 1, z + 1), (x, y + 1, z + 1), (x, y, z + 1)]
    outline = [room.at(*corner) for corner in rim]
    mask = Image.new("L", hand.image.size)
    ImageDraw.Draw(mask).polygon(outline, fill=255)
    mask = mask.filter(ImageFilter.MaxFilter(2 * round(line) + 1)).filter(ImageFilter.GaussianBlur(0.6))
    hand.image.paste(_scene(hand, sample, after, room, line), (0, 0), mask)


def _scene(hand: Hand, sample: Sample, position: Any, room: Room, line: float) -> Image.Image:
    """The room and its cubes, from the farthest to the nearest."""
    colours = {name: _off(hand, colour) for name, colour in sample.style.colours().items()}
    image = hand.image.resize((hand.image.width * FINE, hand.image.height * FINE), Image.Resampling.NEAREST)
    pen, n, width = ImageDraw.Draw(image), room.n, max(1, round(line * FINE * (1 + hand.sway(0.3))))

    def face(corners: tuple[Corner, ...], fill: str, edge: str) -> None:
        points = [(px * FINE, py * FINE) for px, py in (room.at(*corner) for corner in corners)]
        pen.polygon(points, fill=colours[fill])
        pen.line([*points, points[0]], fill=colours[edge], width=width, joint="curve")

    for a in range(n):
        for b in range(n):
            face(((a, b, 0), (a + 1, b, 0), (a + 1, b + 1, 0), (a, b + 1, 0)), "floor", "grid")
            face(((0, a, b), (0, a + 1, b), (0, a + 1, b + 1), (0, a, b + 1)), "wall", "grid")
            face(((a, n, b), (a + 1, n, b), (a + 1, n, b + 1), (a, n, b + 1)), "wall", "grid")
    for x, y in sorted(((x, y) for x in range(n) for y in range(n)), key=lambda place: place[0] - place[1]):
        for z in range(position.heights[x][y]):
            face(((x, y, z), (x + 1, y, z), (x + 1, y, z + 1), (x, y, z + 1)), "left", "edge")
            face(((x + 1, y, z), (x + 1, y + 1, z), (x + 1, y + 1, z + 1), (x + 1, y, z + 1)), "right", "edge")
            face(((x, y, z + 1), (x + 1, y, z + 1), (x + 1, y + 1, z + 1), (x, y + 1, z + 1)), "top", "edge")
    return image.reduce(FINE)


def _off(hand: Hand, colour: Colour) -> Colour:
    tint = round(hand.sway(2 * TINT))
    red, green, blue = (min(255, max(0, level + tint)) for level in colour)
    return red, green, blue


def _box(sample: Sample, cell: Cell) -> tuple[int, int, int]:
    """left, top and width of a part of the page."""
    mask = sample.plugin.renderer.mask(frozenset({cell}), sample.problem.position, sample.style)
    rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(cols[0]), int(rows[0]), len(cols)
