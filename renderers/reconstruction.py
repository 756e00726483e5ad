"""3D reconstruction in pictures: a corner view of the cubes on the left, two silhouettes on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.isometric import Heights, explain
from gamegen.core.problem import Problem
from gamegen.core.rendering import Picture, Pixels, Reading, Renderer, Style
from gamegen.core.stream import Stream
from gamegen.games.reconstruction import BLANK, FILLED, Position, View
from renderers import isometric, skin
from renderers.board import scaled
from renderers.glyphs import text
from renderers.inks import Inks
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, NOISE, Named, classify, demand, smooth, split_cells
from renderers.reading.colour import Drift, drift_between
from renderers.reading.register import Box, Floats, Registration, register
from renderers.reading.stains import margin_is_stained

SKINS = skin.FOLDER / "reconstruction.toml"
TITLES = {"front": "Front view (Y-Z)", "side": "Side view (X-Z)"}
AXES = {"front": ("y", "z"), "side": ("x", "z")}
GEOMETRIES = 64

# Where things lie, as shares of the picture's side.
VIEW_LEFT, VIEW_WIDTH, VIEW_MIDDLE = 0.085, 0.5, 0.53
PANEL_LEFT, PANEL_SIDE = 0.695, 0.255
PANEL_TOPS = {"front": 0.15, "side": 0.595}
TITLE_HEIGHT, LABEL_HEIGHT, TITLE_GAP, LABEL_GAP = 0.0245, 0.0245, 0.042, 0.03

READING_UNIT, READING_CELL, DRIFT_SIDE = 14, 14, 96
ENOUGH = 5
"""Triangles of one kind that tell its colour."""

WHOLE_PAGE: Box = (0.0, 0.0, 0.0, 1.0)
"""A box of no width: all of the page lies around it."""


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


class ReconstructionRenderer(Renderer[Position]):
    @property
    def skins(self) -> Sequence[str]:
        return tuple(skin.load(SKINS))

    def style(self, problem: Problem[Position], *, skin: str, pixels: int, rng: Stream) -> Style:
        return _pick(skin, pixels, rng)

    def terms(self, style: Style, language: str) -> Mapping[str, str]:
        return skin.say(SKINS, style.skin, language)

    def render(self, position: Position, style: Style) -> Picture:
        sheet = _sheet_of(position.size, style)
        layout = sheet.layout
        canvas = sheet.page.copy()
        top, left, side = layout.view
        shape = isometric.raster(layout.n, layout.unit, layout.line)
        area = canvas[top : top + side, left : left + side]
        np.copyto(area, isometric.paint(position.heights, shape, sheet.starts), where=shape.room)
        for name in TITLES:
            top, left, side = layout.panel(name)
            squares = sheet.bank[_marks(position.view(name))]  # (n, n, cell, cell)
            canvas[top : top + side, left : left + side] = squares.transpose(0, 2, 1, 3).reshape(side, side)
        return Picture(canvas, _palette(sheet, style))

    def mask(self, cells: frozenset[Cell], position: Position, style: Style) -> NDArray[np.bool_]:
        """By the game's convention for cells: silhouettes by their squares, the corner view as one."""
        layout = _sheet_of(position.size, style).layout
        mask = np.zeros((layout.pixels, layout.pixels), bool)
        for cell in cells:
            if cell.row == 2 * layout.n:
                top, left, side = layout.view
                room = isometric.raster(layout.n, layout.unit, layout.line).room
                mask[top : top + side, left : left + side] |= room
                continue
            top, left, _ = layout.panel("front" if cell.row < layout.n else "side")
            top, left = top + cell.row % layout.n * layout.cell, left + cell.col * layout.cell
            mask[top : top + layout.cell, left : left + layout.cell] = True
        return mask

    def read(self, image: Pixels, problem: Problem[Position], style: Style) -> Reading[Position]:
        before = self.render(problem.position, style)
        layout = _sheet_of(problem.position.size, style).layout
        registration = register(image, before.grey(), shaky=_redrawn(layout) if problem.kind == "project" else None)
        drift = _drift(registration, before)
        views = {name: _read_panel(name, registration, drift, layout, style) for name in TITLES}
        heights, confidence, distance = _read_view(registration, drift, layout, style, problem.position.heights)
        for name, named in views.items():
            try:
                demand(named)
            except UnreadableImage as error:
                raise UnreadableImage(f"in the {name} view, {error}") from error
        front, side = (_view(named) for named in views.values())
        position = Position(heights, front, side)
        distances = np.concatenate([distance, *(named.distance.ravel() for named in views.values())])
        sure = min(confidence, *(float(named.confidence.min()) for named in views.values()))
        stained = margin_is_stained(registration, drift, self.render(position, style), WHOLE_PAGE)
        quality = float(max(0.0, 1 - np.sqrt((distances**2).mean()) / 128))
        return Reading(position, sure, quality, "the page" if stained else "")


def _pick(name: str, pixels: int, rng: Stream) -> Style:
    return skin.pick(SKINS, name, pixels=pixels, rng=rng)


def _marks(view: View) -> NDArray[np.intp]:
    return np.array([[mark == FILLED for mark in row] for row in view], np.intp)


def _view(named: Named) -> View:
    return tuple("".join(FILLED if number else BLANK for number in row) for row in named.symbols)


# Drawing what stays ------------------------------------------------------------------------------------------------


def _sheet_of(n: int, style: Style) -> Sheet:
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


@lru_cache(maxsize=1024)
def _palette(sheet: Sheet, style: Style) -> Pixels:
    return sheet.inks.palette(style.colours())


# Reading -------------------------------------------------------------------------------------------------------------


def _drift(registration: Registration, before: Picture) -> Drift:
    """How colours drifted, told from the whole page at a small size."""
    side = (DRIFT_SIDE, DRIFT_SIDE)
    step = before.pixels.shape[0] / DRIFT_SIDE
    places = ((np.arange(DRIFT_SIDE) + 0.5) * step).astype(np.intp)
    known = before.palette[before.pixels[np.ix_(places, places)]].astype(np.float64)
    return drift_between(registration.crop((0.0, 0.0, 1.0, 1.0), side), known)


def _redrawn(layout: Layout) -> NDArray[np.bool_]:
    """(H, W): the insides of both silhouettes, of which little may be left."""
    mask = np.zeros((layout.pixels, layout.pixels), bool)
    for name in TITLES:
        top, left, side = layout.panel(name)
        mask[top + layout.line : top + side, left + layout.line : left + side] = True
    return mask


def _read_panel(name: str, registration: Registration, drift: Drift, layout: Layout, style: Style) -> Named:
    n = layout.n
    size = READING_CELL * n
    seen = drift.undo(registration.crop(layout.box(layout.panel(name)), (size, size)))
    colours = style.colours()
    tiles = np.empty((2, READING_CELL, READING_CELL, 3))
    tiles[0], tiles[1] = colours["blank"], colours["filled"]
    return classify(smooth(split_cells(seen, n, n)), tiles, inset=2)


def _read_view(
    registration: Registration, drift: Drift, layout: Layout, style: Style, given: Heights
) -> tuple[Heights, float, Floats]:
    """The heights, the confidence of the least certain triangle, and each triangle's distance to its clean colour."""
    n = layout.n
    shape = isometric.raster(n, READING_UNIT, 2)
    top, left, side = layout.view
    inner = (top + layout.line, left + layout.line, side - 2 * layout.line)
    size = 2 * n * READING_UNIT
    view = np.zeros((size + 4, size + 4, 3))
    view[2:-2, 2:-2] = drift.undo(registration.crop(layout.box(inner), (size, size)))
    colours, real = isometric.mean_colours(view, shape)
    ground = isometric.kind(isometric.lattice(n).ground)
    asked = np.flatnonzero(real & (ground[: len(real)] != isometric.PAGE))
    before = isometric.kind(isometric.shown(given))[asked]
    palette = _as_seen(colours[asked], before, style)
    choices = np.stack([ground[asked], *(np.full(len(asked), cube) for cube in isometric.CUBE)])
    gaps = np.sqrt(((colours[asked] - palette[choices]) ** 2).mean(axis=2))  # (4, A)
    ranked = np.sort(gaps, axis=0)
    confidence = 1 - (ranked[0] + NOISE) / (ranked[1] + NOISE)
    if ranked[0].max() > FARTHEST or confidence.min() < LOWEST_CONFIDENCE:
        raise UnreadableImage("a part of the 3D view shows none of a cube's sides, nor the empty room")
    kinds = np.zeros(len(ground), np.intp)
    kinds[asked] = np.take_along_axis(choices, gaps.argmin(axis=0)[None], axis=0)[0]
    heights = explain(isometric.strips(kinds, n), given)
    if heights is None:
        raise UnreadableImage("the 3D view shows nothing that stacked cubes could look like")
    return heights, float(confidence.min()), ranked[0]


def _as_seen(colours: Floats, before: NDArray[np.intp], style: Style) -> Floats:
    """(6, 3): each kind's colour as this picture has it, told from the triangles that showed it before the edit.

    A triangle that now looks more like another kind was edited, and tells nothing.
    """
    nominal = style.colours()
    palette = np.array([nominal[fill] for fill in isometric.FILLS], float)
    nearest = ((colours[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    for number in range(len(palette)):
        same = colours[(before == number) & (nearest == number)]
        if len(same) >= ENOUGH:
            palette[number] = np.median(same, axis=0)
    return palette


renderer = ReconstructionRenderer()
