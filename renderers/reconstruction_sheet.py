"""The page of a 3D reconstruction: where the views lie, and everything on it that depends on no position."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gamegen.core.rendering import Pixels, Style
from renderers import isometric, skin
from renderers.glyphs import text
from renderers.inks import Inks
from renderers.page import scaled
from renderers.reading.register import Box

SKINS = skin.FOLDER / "reconstruction.toml"
TITLES = {"front": "Front view (Y-Z)", "side": "Side view (X-Z)"}
AXES = {"front": ("y", "z"), "side": ("x", "z")}
GEOMETRIES = 64

# Where things lie, as shares of the picture's side.
VIEW_LEFT, VIEW_WIDTH, VIEW_MIDDLE = 0.085, 0.5, 0.53
PANEL_LEFT, PANEL_SIDE = 0.695, 0.255
PANEL_TOPS = {"front": 0.15, "side": 0.595}
TITLE_HEIGHT, LABEL_HEIGHT, TITLE_GAP, LABEL_GAP = 0.0245, 0.0245, 0.042, 0.03


@dataclass(frozen=True, slots=True)
class Layout:
    """Whole pixels: the corner view's square, and the silhouettes' squares."""

    n: int
    pixels: int
    unit: int  # half the width of a cube
    line: int
    cell: int

    @classmethod
    def fit(cls, n: int, pixels: int, line: int) -> Layout:
        unit = int(VIEW_WIDTH * pixels / (2 * n)) // 2 * 2
        return cls(n, pixels, unit, line, int(PANEL_SIDE * pixels / n))

    @property
    def view(self) -> tuple[int, int, int]:
        """top, left and side of the corner view, padding included."""
        side = 2 * (self.n * self.unit + self.line)
        spare = round(VIEW_WIDTH * self.pixels) - 2 * self.n * self.unit
        return round(VIEW_MIDDLE * self.pixels) - side // 2, round(VIEW_LEFT * self.pixels) + spare // 2, side

    def corner(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Row and column of a point of the structure."""
        top, left, _ = self.view
        across, down = (x + y) * self.unit, (x - y - 2 * z + 3 * self.n) * self.unit / 2
        return top + self.line + down, left + self.line + across

    def panel(self, name: str) -> tuple[int, int, int]:
        """top, left and side of a silhouette, without its closing lines."""
        return round(PANEL_TOPS[name] * self.pixels), round(PANEL_LEFT * self.pixels), self.n * self.cell

    def box(self, square: tuple[int, int, int]) -> Box:
        top, left, side = square
        return (
            left / self.pixels,
            top / self.pixels,
            (left + side) / self.pixels,
            (top + side) / self.pixels,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Everything about a look that does not depend on colours or on the position."""

    layout: Layout
    page: Pixels  # (H, W): titles, labels, frames of the silhouettes
    bank: Pixels  # (2, cell, cell): a blank and a filled square
    starts: Pixels  # (3, 6): see `isometric.paint`
    inks: Inks


def sheet_of(n: int, style: Style) -> Sheet:
    return _sheet(n, style.skin, style.pixels, style.number("line_width"), style.text("face"))


@lru_cache(maxsize=GEOMETRIES)
def _sheet(n: int, skin_name: str, pixels: int, line_width: int, face: str) -> Sheet:
    inks = Inks(sorted(skin.load(SKINS)[skin_name]["palettes"][0]))
    line = scaled(line_width, pixels)
    layout = Layout.fit(n, pixels, line)
    page = np.full((pixels, pixels), inks.solid("page"), np.uint8)
    bank = np.empty((2, layout.cell, layout.cell), np.uint8)
    for number, colour in enumerate(("blank", "filled")):
        bank[number] = inks.solid(colour)
        bank[number, :line] = bank[number, :, :line] = inks.solid("frame")
    for name in TITLES:
        top, left, side = layout.panel(name)
        page[top : top + side + line, left : left + side + line] = inks.solid("frame")
    _write_panel_labels(page, layout, inks, face)
    _write_axes(page, layout, inks, face)
    starts = np.array([[_start(inks, fill, ink) for fill in isometric.FILLS] for ink in ("", "grid", "edge")], np.uint8)
    return Sheet(layout, page, bank, starts, inks)


def _start(inks: Inks, fill: str, ink: str) -> int:
    if ink == "grid" and fill in isometric.FILLS[isometric.TOP :]:
        return 0  # never asked for: the lines of a cube are edges
    return inks.ramp(fill, ink) if ink else inks.solid(fill)


def _write_panel_labels(page: Pixels, layout: Layout, inks: Inks, face: str) -> None:
    height, gap = round(LABEL_HEIGHT * layout.pixels), round(LABEL_GAP * layout.pixels)
    for name, (across, down) in AXES.items():
        top, left, side = layout.panel(name)
        title = top - round(TITLE_GAP * layout.pixels)
        _write(page, TITLES[name], (title, left + side / 2), inks.ramp("page", "label"), face, height)
        for number in range(layout.n):
            middle = (number + 0.5) * layout.cell
            _write(page, str(number + 1), (top + side + gap, left + middle), _axis(inks, across), face, height)
            _write(page, str(number + 1), (top + side - middle, left - gap), _axis(inks, down), face, height)


def _write_axes(page: Pixels, layout: Layout, inks: Inks, face: str) -> None:
    """Numbers along the lower edges and up the left one, each axis in its colour with its letter farther out."""
    n, height = layout.n, round(LABEL_HEIGHT * layout.pixels)
    gap, far = 0.036 * layout.pixels, 0.078 * layout.pixels
    lean = 0.5  # labels stand off an edge that runs 2:1 mostly downwards, and half as much sideways
    for number in range(n):
        middle = number + 0.5
        row, col = layout.corner(middle, 0, 0)
        _write(page, str(number + 1), (row + gap, col - gap * lean), _axis(inks, "x"), face, height)
        row, col = layout.corner(n, middle, 0)
        _write(page, str(number + 1), (row + gap, col + gap * lean), _axis(inks, "y"), face, height)
        row, col = layout.corner(0, 0, middle)
        _write(page, str(number + 1), (row, col - gap), _axis(inks, "z"), face, height)
    row, col = layout.corner(n / 2, 0, 0)
    _write(page, "X", (row + far, col - far * lean), _axis(inks, "x"), face, height)
    row, col = layout.corner(n, n / 2, 0)
    _write(page, "Y", (row + far, col + far * lean), _axis(inks, "y"), face, height)
    row, col = layout.corner(0, 0, n)
    _write(page, "Z", (row - gap, col - gap), _axis(inks, "z"), face, height)
    row, col = layout.corner(0, n, n)
    title = row - round(TITLE_GAP * layout.pixels)
    _write(page, "3D structure", (title, col), inks.ramp("page", "label"), face, height)


def _axis(inks: Inks, name: str) -> int:
    return inks.ramp("page", f"axis_{name}")


def _write(page: Pixels, string: str, centre: tuple[float, float], ramp: int, face: str, height: int) -> None:
    coverage = text(string, face=face, height=height)
    high, wide = coverage.shape
    top, left = round(centre[0] - high / 2), round(centre[1] - wide / 2)
    area = page[top : top + high, left : left + wide]
    area[...] = np.where(coverage > 0, coverage + np.uint8(ramp), area)
