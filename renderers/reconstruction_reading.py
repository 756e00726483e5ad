"""Reading a 3D reconstruction: silhouettes square by square, the corner view triangle by triangle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.isometric import Heights, explain
from gamegen.core.rendering import Colour, Picture, Pixels, Style
from renderers import isometric
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, NOISE, Named, demand
from renderers.reading.colour import Drift, drift_between
from renderers.reading.register import Floats, Registration
from renderers.reconstruction_sheet import TITLES, Layout

READING_UNIT, READING_CELL, DRIFT_SIDE = 14, 14, 96
RIM = 2
"""Of READING_CELL: a square counts as filled, or wiped, if it is up to so near to its lines."""

PARTLY = 0.45
"""Distance to a filled or blank square, as a share of theirs from each other, at which one is filled in part."""

ENOUGH = 5
"""Triangles of one kind that tell its colour."""

MANY, FADED = 16, 45.0
"""So many triangles of one kind tell its colour whatever they look like, since one cube is six; but sharpening makes
pale ones, between dark edges, paler by no more than so many grey levels."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """An edited picture, laid onto the page it was made from, and how its colours drifted."""

    registration: Registration
    drift: Drift
    layout: Layout
    style: Style


def small_page(before: Picture) -> Floats:
    """(DRIFT_SIDE, DRIFT_SIDE, 3): pixels from all over a page."""
    step = before.pixels.shape[0] / DRIFT_SIDE
    places = ((np.arange(DRIFT_SIDE) + 0.5) * step).astype(np.intp)
    return before.palette[before.pixels[np.ix_(places, places)]].astype(np.float64)


def page_drift(registration: Registration, small: Floats) -> Drift:
    """How colours drifted, told from the whole page at a small size."""
    return drift_between(registration.crop((0.0, 0.0, 1.0, 1.0), (DRIFT_SIDE, DRIFT_SIDE)), small)


def silhouettes_of(layout: Layout) -> NDArray[np.bool_]:
    """(H, W): the insides of both silhouettes, of which little may be left."""
    mask = np.zeros((layout.pixels, layout.pixels), bool)
    for name in TITLES:
        top, left, side = layout.panel(name)
        mask[top + layout.line : top + side, left + layout.line : left + side] = True
    return mask


def cubes_between(before: Heights, after: Heights, layout: Layout) -> Pixels:
    """(H, W): 255 where the cubes are that were put on or taken off, seen or hidden, else 0."""
    page = np.zeros((layout.pixels, layout.pixels), np.uint8)
    n, (top, left, side) = layout.n, layout.view
    triangle = isometric.raster(n, layout.unit, layout.line).triangle
    is_new = np.zeros(len(isometric.shown(before)), np.uint8)
    for x, y in np.ndindex(n, n):
        for z in range(*sorted((before[x][y], after[x][y]))):
            is_new[isometric.outline(n, x, y, z)] = 255
    page[top : top + side, left : left + side] = is_new[triangle]
    return page


def read_silhouette(name: str, look: Look) -> Named:
    layout, n = look.layout, look.layout.n
    size = READING_CELL * n
    seen = look.drift.undo(look.registration.crop(layout.box(layout.panel(name)), (size, size)))
    inner = slice(RIM, READING_CELL - RIM)
    cells = cv2.GaussianBlur(seen, (3, 3), 0).reshape(n, READING_CELL, n, READING_CELL, 3)[:, inner, :, inner]
    colours = look.style.colours()
    blank, filled = (_distance(cells, colours[fill]) for fill in ("blank", "filled"))
    near, other = np.minimum(blank, filled), np.maximum(blank, filled)
    confidence = 1 - (near + NOISE) / (np.minimum(other, 255.0) + NOISE)
    named = Named((filled < blank).astype(np.intp), confidence, near)
    try:
        demand(named)
        _demand_full(named, colours)
    except UnreadableImage as error:
        raise UnreadableImage(f"in the {name} view, {error}") from error
    return named


def _demand_full(named: Named, colours: Mapping[str, Colour]) -> None:
    """Raise UnreadableImage if a square is filled, or wiped, only in part."""
    contrast = float(np.sqrt(((np.array(colours["filled"], float) - colours["blank"]) ** 2).mean()))
    if named.distance.max() > PARTLY * contrast:
        row, col = np.unravel_index(int(named.distance.argmax()), named.distance.shape)
        raise UnreadableImage(f"the square in row {row + 1}, column {col + 1} is filled only in part")


def _distance(cells: Floats, colour: Colour) -> Floats:
    """(R, C): root mean square distance of cells (R, n, C, n, 3) to a colour."""
    away = cells - np.array(colour, np.float32)
    size = away.shape[1] * away.shape[3] * 3
    distance: Floats = np.sqrt(np.einsum("rycxk,rycxk->rc", away, away) / size)
    return distance


def read_heights(look: Look, given: Heights) -> tuple[Heights, float, Floats]:
    """The heights, the confidence of the least certain triangle, and each triangle's distance to its clean colour."""
    layout, n = look.layout, look.layout.n
    within = isometric.insides(n, READING_UNIT)
    top, left, side = layout.view
    inner = (top + layout.line, left + layout.line, side - 2 * layout.line)
    size = 2 * n * READING_UNIT
    view = look.drift.undo(look.registration.crop(layout.box(inner), (size, size)))
    colours = isometric.mean_colours(view, within)
    before = isometric.shown(given)
    palette = _as_seen(colours, isometric.kind(before[within.triangles]), look.style)
    away = colours - palette[within.choices]
    gaps = np.sqrt(np.einsum("ijk,ijk->ij", away, away) / 3)  # (4, A)
    ranked = np.sort(gaps, axis=0)
    confidence = 1 - (ranked[0] + NOISE) / (ranked[1] + NOISE)
    if ranked[0].max() > FARTHEST or confidence.min() < LOWEST_CONFIDENCE:
        raise UnreadableImage("a part of the 3D view shows none of a cube's sides, nor the empty room")
    kinds = np.zeros(len(before), np.intp)
    kinds[within.triangles] = np.take_along_axis(within.choices, gaps.argmin(axis=0)[None], axis=0)[0]
    heights = explain(isometric.strips(kinds, n), given)
    if heights is None:
        raise UnreadableImage("the 3D view shows nothing that stacked cubes could look like")
    return heights, float(confidence.min()), ranked[0]


def _as_seen(colours: Floats, before: NDArray[np.intp], style: Style) -> Floats:
    """(6, 3): each kind's colour as this picture has it, told from the triangles that showed it before the edit.

    Of a few, one that now looks more like another kind was edited, and tells nothing.
    """
    nominal = style.colours()
    clean = np.array([nominal[fill] for fill in isometric.FILLS], float)
    palette = clean.copy()
    nearest = ((colours[:, None] - clean) ** 2).sum(axis=2).argmin(axis=1)
    for number in range(len(palette)):
        same = colours[before == number]
        usual = _median(same) if len(same) >= MANY else clean[number]
        if len(same) < MANY or np.abs(usual - clean[number]).max() > FADED:
            same = colours[(before == number) & (nearest == number)]
            usual = _median(same) if len(same) >= ENOUGH else clean[number]
        palette[number] = usual
    return palette


def _median(colours: Floats) -> Floats:
    """(3,): the median of a few colours (N, 3), channel by channel."""
    ordered, half = np.sort(colours, axis=0), len(colours) // 2
    middle: Floats = (ordered[half] + ordered[-half - 1]) / 2
    return middle
