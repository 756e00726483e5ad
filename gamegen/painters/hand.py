"""A hand with a brush: strokes, patches and cut-outs on the picture that an editor was given.

No two hands draw alike: each has its own shade of a named colour, its own pen, a tremble, and edges that are hard,
smooth or soft. All of it is drawn with Pillow onto the original's pixels: no renderer of ours made what is new in it.
"""

from __future__ import annotations

import colorsys
import math
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour
from gamegen.core.stream import Stream
from gamegen.sample import Sample

Point = tuple[float, float]
Patch = NDArray[np.float32]
"""(n, n, 3): the pixels of a cell."""

Alpha = NDArray[np.float32]
"""(n, n), 0 to 1: how much of each pixel is covered."""

FINE = 4
"""Strokes are drawn so many times larger, then shrunk: smooth edges."""

HUE, LIGHTNESS, TINT = 10 / 360, 0.15, 4
"""How far a hand's shade of a named colour may lie from ours, and the grey levels by which its ground is off."""


SOFT, THIN = 0.7, 0.25
"""How many pixels soft edges are wide, and the share of a thin pen that they are at most: all across, its line would be
as pale as one through which the ground shows, and may not be meant.
"""

RIM = 2 / 512
"""Share of the picture's side, at the border of a cell, that is never painted over."""

SAME = 24
"""Grey levels between a thing and its ground below which no scissors find the edge."""


DARK, OUTSIDE = 128, 2
"""Grey levels under which a ground is dark, and a mark for what scissors leave."""


class Hand:
    """One hand at work on one sample's original; `image` is what it has drawn so far."""

    def __init__(self, sample: Sample, rng: Stream, strength: float) -> None:
        self.image = sample.original
        self.rng = rng
        self.strength = strength
        self.edges = rng.choice(("hard", "smooth", "smooth", "soft"))
        first = sample.plugin.renderer.mask(frozenset({Cell(0, 0)}), sample.problem.position, sample.style)
        rows, cols = np.flatnonzero(first.any(axis=1)), np.flatnonzero(first.any(axis=0))
        self.top, self.left, self.cell = int(rows[0]), int(cols[0]), len(rows)
        self._turn, self._light = self.sway(HUE), self.sway(LIGHTNESS)

    def sway(self, most: float) -> float:
        """A number within `most` of 0, at full strength."""
        return (2 * self.rng.random() - 1) * most * self.strength

    def shade(self, colour: Colour, *, share: float = 1.0, lighter: float | None = None) -> Colour:
        """This hand's own shade of a colour, the same one whenever it is asked; departing by a `share` only.

        `lighter` is by how much it is, if not as this hand likes it.
        """
        hue, light, saturation = colorsys.rgb_to_hls(*(level / 255 for level in colour))
        light = min(1.0, light * (1 + share * (self._light if lighter is None else lighter)))
        turned = colorsys.hls_to_rgb((hue + share * self._turn) % 1, light, saturation)
        red, green, blue = (round(255 * level) for level in turned)
        return red, green, blue

    def seen_on(self, ground: Patch, colour: Colour) -> Colour:
        """The same, but never nearer to the ground's own lightness: a line is drawn to be seen."""
        is_nearer = (self._light > 0) == (np.median(ground) > DARK)
        return self.shade(colour, lighter=0.0 if is_nearer else self._light)

    # Cells ----------------------------------------------------------------------------------------------------------

    def at(self, cell: Cell, x: float = 0.0, y: float = 0.0) -> Point:
        """A place in a cell, given in shares of its side, as pixels (x, y)."""
        return self.left + (cell.col + x) * self.cell, self.top + (cell.row + y) * self.cell

    def cut(self, cell: Cell) -> Patch:
        left, top = (int(place) for place in self.at(cell))
        part = self.image.crop((left, top, left + self.cell, top + self.cell))
        return np.asarray(part, np.float32)

    def room(self, cell: Cell) -> tuple[float, float, float, float]:
        """left, top, right and bottom of the ground within an empty cell's lines, in pixels of the picture."""
        patch = self.cut(cell)
        ground = np.abs(patch - np.median(patch, axis=(0, 1))).max(axis=2) < SAME
        rows, cols = (np.flatnonzero(ground.mean(axis=axis) > 0.5) for axis in (1, 0))
        left, top = self.at(cell)
        return left + int(cols[0]), top + int(rows[0]), left + int(cols[-1]) + 1, top + int(rows[-1]) + 1

    def glue(self, patch: Patch, cell: Cell, alpha: Alpha) -> None:
        """Lay pixels over a cell where `alpha` (n, n) says, moved by a few hundredths of the cell and resized."""
        side = round(self.cell * (1 + self.sway(0.05)))
        dx, dy = (round(self.sway(0.035) * self.cell + (self.cell - side) / 2) for _ in range(2))
        left, top = (int(place) for place in self.at(cell))
        mask, thing = _picture(255 * alpha), _picture(patch + self.sway(TINT))
        if side != self.cell:
            mask, thing = (each.resize((side, side), Image.Resampling.BICUBIC) for each in (mask, thing))
        self.image.paste(thing, (left + dx, top + dy), mask)

    def fill(self, cell: Cell, patch: Patch, *, inset: float = 0.0) -> None:
        """Cover a cell with a ground that is a touch off in tone; `inset` of it, at the border, is left alone."""
        edge = round(inset * self.cell)
        left, top = (int(place) + edge for place in self.at(cell))
        part = patch[edge : self.cell - edge, edge : self.cell - edge] + self.sway(TINT)
        self.image.paste(_picture(part), (left, top))

    def bare(self, cell: Cell, colour: Colour, *, inset: float) -> Patch:
        """The cell, one flat colour but for what lies at its very border: lines and rounded corners."""
        patch = self.cut(cell).copy()
        edge = max(round(RIM * self.image.width), round(inset * self.cell))
        patch[edge:-edge, edge:-edge] = colour
        return patch

    # Strokes --------------------------------------------------------------------------------------------------------

    def line(self, points: list[Point], width: float, colour: Colour, *, tremble: float = 0.0) -> None:
        """A pen drawn along points, with round ends and corners."""
        path = self.trembling(points, tremble) if tremble else points
        box = _bounds(path, width / 2 + 3)
        pen, dots = _fine(path, box), ImageDraw.Draw(layer := _layer(box))
        dots.line(pen, fill=255, width=max(1, round(width * FINE)), joint="curve")
        for x, y in pen:
            half = width * FINE / 2
            dots.ellipse((x - half, y - half, x + half, y + half), fill=255)
        self._ink(layer, box, colour, soft=min(SOFT, THIN * width))

    def patch(self, points: list[Point], colour: Colour, *, tremble: float = 0.0) -> None:
        """A filled shape."""
        path = self.trembling([*points, points[0]], tremble) if tremble else points
        box = _bounds(path, 3)
        layer = _layer(box)
        ImageDraw.Draw(layer).polygon(_fine(path, box), fill=255)
        self._ink(layer, box, colour)

    def trembling(self, points: list[Point], tremble: float) -> list[Point]:
        """The same line, its places moved by up to `tremble` pixels, no place far from its neighbours'."""
        path = []
        reach = max(6.0, self.cell * 0.35)
        for (ax, ay), (bx, by) in pairwise(points):
            pieces = max(1, round(math.hypot(bx - ax, by - ay) / reach))
            path += [(ax + (bx - ax) * k / pieces, ay + (by - ay) * k / pieces) for k in range(pieces)]
        moved = [(x + self.sway(tremble), y + self.sway(tremble)) for x, y in [*path, points[-1]]]
        return [*moved[:-1], moved[0]] if points[0] == points[-1] else moved

    def stamp(self, mask: Image.Image, centre: Point, colour: Colour) -> None:
        """Ink through a stencil, its middle at a place."""
        left, top = round(centre[0] - mask.width / 2), round(centre[1] - mask.height / 2)
        self.image.paste(colour, (left, top), mask)

    def _ink(self, layer: Image.Image, box: tuple[int, int, int, int], colour: Colour, *, soft: float = SOFT) -> None:
        mask = layer.reduce(FINE)
        if self.edges == "hard":
            mask = mask.point([0] * 128 + [255] * 128)
        elif self.edges == "soft":
            mask = mask.filter(ImageFilter.GaussianBlur(soft))
        self.image.paste(colour, box[:2], mask)


def cut_out(patch: Patch, ground: Patch, *, sharp: bool = False) -> Alpha:
    """Where a cell shows something else than its ground, and a pixel more unless the scissors are sharp; soft edges."""
    apart = np.pad(np.abs(patch - ground).max(axis=2) > SAME, 1).astype(np.uint8)
    outside = apart if sharp else np.asarray(cv2.dilate(apart, np.ones((3, 3), np.uint8)))
    cv2.floodFill(outside, None, (0, 0), OUTSIDE)  # what is white inside a white thing is cut out with it
    mask = _picture(255.0 * (outside[1:-1, 1:-1] != OUTSIDE)).filter(ImageFilter.GaussianBlur(0.6))
    return np.asarray(mask, np.float32) / np.float32(255)


def _picture(pixels: NDArray[np.floating[Any]]) -> Image.Image:
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def _bounds(path: list[Point], more: float) -> tuple[int, int, int, int]:
    xs, ys = [x for x, _ in path], [y for _, y in path]
    return (
        math.floor(min(xs) - more),
        math.floor(min(ys) - more),
        math.ceil(max(xs) + more),
        math.ceil(max(ys) + more),
    )


def _layer(box: tuple[int, int, int, int]) -> Image.Image:
    return Image.new("L", ((box[2] - box[0]) * FINE, (box[3] - box[1]) * FINE))


def _fine(path: list[Point], box: tuple[int, int, int, int]) -> list[Point]:
    return [((x - box[0]) * FINE, (y - box[1]) * FINE) for x, y in path]
