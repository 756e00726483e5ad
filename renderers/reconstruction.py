"""3D reconstruction in pictures: a corner view of the cubes on the left, two silhouettes on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import Problem
from gamegen.core.rendering import Picture, Pixels, Reading, Renderer, Style
from gamegen.core.stream import Stream
from gamegen.games.reconstruction import BLANK, FILLED, Position, View
from renderers import isometric
from renderers import skin as skin_file
from renderers.reading.classify import Named
from renderers.reading.pages import Page
from renderers.reading.register import Floats, Landmarks, Registration, Scan, noting_where, register
from renderers.reading.traces import page_is_marked
from renderers.reconstruction_anew import Anew
from renderers.reconstruction_reading import (
    Look,
    cubes_between,
    page_drift,
    read_heights,
    read_silhouette,
    silhouettes_of,
    small_page,
)
from renderers.reconstruction_sheet import SKINS, TITLES, Sheet, sheet_of
from renderers.reconstruction_stains import is_scrawled


class ReconstructionRenderer(Renderer[Position]):
    @property
    def skins(self) -> Sequence[str]:
        return tuple(skin_file.load(SKINS))

    def style(self, problem: Problem[Position], *, skin: str, pixels: int, rng: Stream) -> Style:
        return skin_file.pick(SKINS, skin, pixels=pixels, rng=rng)

    def terms(self, style: Style, language: str) -> Mapping[str, str]:
        return skin_file.say(SKINS, style.skin, language)

    def render(self, position: Position, style: Style) -> Picture:
        sheet = sheet_of(position.size, style)
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
        layout = sheet_of(position.size, style).layout
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

    def shaky(self, problem: Problem[Position], style: Style) -> NDArray[np.bool_] | None:
        """The silhouettes, where both are to be drawn."""
        layout = sheet_of(problem.position.size, style).layout
        return silhouettes_of(layout) if problem.kind == "project" else None

    def read(self, image: Pixels, problem: Problem[Position], style: Style) -> Reading[Position]:
        registration = register(Scan(image), _landmarks(problem, style))
        with noting_where(registration):
            return self._tell(registration, problem, style)

    def _tell(self, registration: Registration, problem: Problem[Position], style: Style) -> Reading[Position]:
        layout = sheet_of(problem.position.size, style).layout
        look = Look(registration, page_drift(registration, _small(problem.position, style)), layout, style)
        views = {name: read_silhouette(name, look) for name in TITLES}
        heights, confidence, distance = read_heights(look, problem.position.heights)
        front, side = (_view(named) for named in views.values())
        position = Position(heights, front, side)
        distances = np.concatenate([distance, *(named.distance.ravel() for named in views.values())])
        sure = min(confidence, *(float(named.confidence.min()) for named in views.values()))
        quality = float(max(0.0, 1 - np.sqrt((distances**2).mean()) / 128))

        def stain() -> str:
            page, after = _page(problem.position, style), self.render(position, style)
            redrawn = cubes_between(problem.position.heights, heights, layout)
            if page_is_marked(registration, look.drift, page, after, redrawn):
                return "the page"
            anew = Anew(problem.position, position, redrawn, layout)
            return "what was drawn anew" if is_scrawled(look, page.picture, after, anew) else ""

        return Reading(position, sure, quality, stain, registration.is_still, registration.matrix)


@lru_cache(maxsize=64)
def _landmarks(problem: Problem[Position], style: Style) -> Landmarks:
    return Landmarks(renderer.render(problem.position, style).grey(), shaky=renderer.shaky(problem, style))


@lru_cache(maxsize=64)
def _page(position: Position, style: Style) -> Page:
    return Page(renderer.render(position, style), None)


@lru_cache(maxsize=64)
def _small(position: Position, style: Style) -> Floats:
    return small_page(renderer.render(position, style))


def _marks(view: View) -> NDArray[np.intp]:
    return np.array([[mark == FILLED for mark in row] for row in view], np.intp)


def _view(named: Named) -> View:
    return tuple("".join(FILLED if number else BLANK for number in row) for row in named.symbols)


@lru_cache(maxsize=1024)
def _palette(sheet: Sheet, style: Style) -> Pixels:
    return sheet.inks.palette(style.colours())


renderer = ReconstructionRenderer()
