"""Shapes as coverage: how much of each pixel of a tile is inside, in 16 levels.

Places and lengths are in units of the tile: (0, 0) is its top left corner, (1, 1) its bottom right, x before y.
Directions are vectors, not angles: sines differ in the last bit from machine to machine. `grow` moves the whole
edge outwards: the same shape grown, underneath, is its outline.

Results are cached and read-only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, cast

import numpy as np

from gamegen.core.errors import BadInput
from renderers import distance
from renderers.distance import Point
from renderers.inks import FULL, Coverage
from renderers.inks import RGB as RGB
from renderers.inks import Inks as Inks
from renderers.inks import blend as blend
from renderers.inks import compose as compose

P = ParamSpec("P")

CENTRE: Point = (0.5, 0.5)
UP: Point = (0.0, -1.0)
RIGHT: Point = (1.0, 0.0)

_HALF_ROOT_3 = 0.8660254037844386
_ROOT_2 = 1.4142135623730951
# The corners of a regular pentagon, the first one up, clockwise.
_PENTAGON: tuple[Point, ...] = (
    (0.0, -1.0),
    (0.9510565162951535, -0.30901699437494745),
    (0.5877852522924731, 0.8090169943749475),
    (-0.5877852522924731, 0.8090169943749475),
    (-0.9510565162951535, -0.30901699437494745),
)


def _drawn(shape: Callable[P, Coverage]) -> Callable[P, Coverage]:
    """Remember what a shape looks like; nobody may draw on it."""

    @wraps(shape)
    def draw(*args: P.args, **kwargs: P.kwargs) -> Coverage:
        coverage = shape(*args, **kwargs)
        coverage.flags.writeable = False
        return coverage

    return cast(Callable[P, Coverage], lru_cache(maxsize=512)(draw))


@_drawn
def disc(n: int, *, centre: Point = CENTRE, radius: float = 0.35) -> Coverage:
    x, y = distance.offsets(n, centre)
    return distance.cover(distance.length(x, y) - radius * n)


@_drawn
def ring(n: int, *, centre: Point = CENTRE, radius: float = 0.35, width: float = 0.1) -> Coverage:
    """A circle drawn with a pen: `radius` runs to the middle of the stroke."""
    x, y = distance.offsets(n, centre)
    return distance.stroke(abs(distance.length(x, y) - radius * n), width * n)


@_drawn
def rectangle(
    n: int, *, box: tuple[float, float, float, float] = (0.1, 0.1, 0.9, 0.9), radius: float = 0.0
) -> Coverage:
    """A rectangle (left, top, right, bottom) with corners rounded by `radius`."""
    left, top, right, bottom = (distance.snap(n, side) for side in box)
    x, y = distance.pixels(n)
    round_off = radius * n
    across = abs(x - (left + right) / 2) - (right - left) / 2 + round_off
    down = abs(y - (top + bottom) / 2) - (bottom - top) / 2 + round_off
    outside = distance.length(np.maximum(across, 0.0), np.maximum(down, 0.0))
    return distance.cover(outside + np.minimum(np.maximum(across, down), 0.0) - round_off)


@_drawn
def polygon(n: int, *, points: tuple[Point, ...], grow: float = 0.0) -> Coverage:
    """Any closed polygon; where it crosses itself, the even-odd rule decides."""
    return distance.cover(distance.to_polygon(n, points) - grow * n)


@_drawn
def line(n: int, *, points: tuple[Point, ...], width: float = 0.1) -> Coverage:
    """An open line through two or more points with a round pen."""
    if len(points) < 2:
        raise BadInput(f"expected two or more points, got {points!r}")
    return distance.stroke(np.sqrt(distance.squared_to_line(n, points)), width * n)


@_drawn
def cross(n: int, *, centre: Point = CENTRE, radius: float = 0.3, width: float = 0.12) -> Coverage:
    """An X whose strokes end `radius` from the centre along each axis."""
    x, y = centre
    falling = ((x - radius, y - radius), (x + radius, y + radius))
    rising = ((x - radius, y + radius), (x + radius, y - radius))
    return union(line(n, points=falling, width=width), line(n, points=rising, width=width))


@_drawn
def star(n: int, *, centre: Point = CENTRE, radius: float = 0.4, waist: float = 0.45, grow: float = 0.0) -> Coverage:
    """Five points `radius` from their middle, one up; inner corners at `waist` x that. Centred by its height."""
    drop = (1 - _PENTAGON[2][1]) / 2
    corners: list[Point] = []
    for at, (x, y) in enumerate(_PENTAGON):
        across = _PENTAGON[(at + 3) % 5]
        corners += [(x, y + drop), (-across[0] * waist, -across[1] * waist + drop)]
    return polygon(n, points=distance.placed(corners, centre, radius, RIGHT), grow=grow)


@_drawn
def triangle(
    n: int, *, centre: Point = CENTRE, radius: float = 0.38, towards: Point = UP, grow: float = 0.0
) -> Coverage:
    """Equal sides, corners `radius` from the centre, one of them `towards` a direction."""
    corners = ((1.0, 0.0), (-0.5, _HALF_ROOT_3), (-0.5, -_HALF_ROOT_3))
    return polygon(n, points=distance.placed(corners, centre, radius, towards), grow=grow)


@_drawn
def arrow(
    n: int,
    *,
    centre: Point = CENTRE,
    radius: float = 0.38,
    shaft: float = 0.4,
    towards: Point = RIGHT,
    grow: float = 0.0,
) -> Coverage:
    """Tip and tail `radius` from the centre; the shaft is `shaft` x as wide as the head."""
    half, wing = 0.8 * shaft, 0.8
    upper = ((-1.0, -half), (0.05, -half), (0.05, -wing))
    lower = ((0.05, wing), (0.05, half), (-1.0, half))
    corners = (*upper, (1.0, 0.0), *lower)
    return polygon(n, points=distance.placed(corners, centre, radius, towards), grow=grow)


@_drawn
def chevron(
    n: int, *, centre: Point = CENTRE, radius: float = 0.3, width: float = 0.12, towards: Point = RIGHT
) -> Coverage:
    """An open arrow head."""
    corners = ((-0.5, -1.0), (0.5, 0.0), (-0.5, 1.0))
    return line(n, points=distance.placed(corners, centre, radius, towards), width=width)


@_drawn
def diamond(n: int, *, centre: Point = CENTRE, radius: float = 0.4, slim: float = 0.75, grow: float = 0.0) -> Coverage:
    """A square on its corner, `radius` high above the centre and `slim` x as wide."""
    corners = ((0.0, -1.0), (slim, 0.0), (0.0, 1.0), (-slim, 0.0))
    return polygon(n, points=distance.placed(corners, centre, radius, RIGHT), grow=grow)


@_drawn
def gem(n: int, *, centre: Point = CENTRE, radius: float = 0.4, grow: float = 0.0) -> Coverage:
    """A cut stone seen from the side: flat top, wide girdle, point below."""
    corners = ((-0.55, -0.85), (0.55, -0.85), (1.0, -0.3), (0.0, 0.85), (-1.0, -0.3))
    return polygon(n, points=distance.placed(corners, centre, radius, RIGHT), grow=grow)


@_drawn
def heart(n: int, *, centre: Point = CENTRE, radius: float = 0.38, grow: float = 0.0) -> Coverage:
    """A square on its corner with a disc on each upper side; `radius` is half the width."""
    side = radius / (_ROOT_2 / 4 + 0.5)
    reach, off = side * _ROOT_2 / 2, side * _ROOT_2 / 4
    x, y = centre[0], centre[1] + (side / 2 - off) / 2
    edge = distance.to_polygon(n, ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)))
    for lobe in (x - off, x + off):
        edge = np.minimum(edge, distance.length(*distance.offsets(n, (lobe, y - off))) - side / 2 * n)
    return distance.cover(edge - grow * n)


@_drawn
def sector(
    n: int, *, centre: Point = CENTRE, radius: float = 0.4, towards: Point = RIGHT, spread: float = 0.7
) -> Coverage:
    """A slice of a disc around the direction `towards`; its edges rise `spread` for each step outwards."""
    rim = distance.length(*distance.offsets(n, centre)) - radius * n
    return distance.cover(np.maximum(rim, distance.wedge(n, centre, towards, spread)))


@_drawn
def pacman(
    n: int, *, centre: Point = CENTRE, radius: float = 0.4, towards: Point = RIGHT, spread: float = 0.7
) -> Coverage:
    """A disc without that slice."""
    rim = distance.length(*distance.offsets(n, centre)) - radius * n
    return distance.cover(np.maximum(rim, -distance.wedge(n, centre, towards, spread)))


def union(first: Coverage, *others: Coverage) -> Coverage:
    for other in others:
        first = np.maximum(first, other)
    return first


def intersection(first: Coverage, *others: Coverage) -> Coverage:
    for other in others:
        first = np.minimum(first, other)
    return first


def subtract(first: Coverage, *holes: Coverage) -> Coverage:
    for hole in holes:
        first = np.minimum(first, FULL - hole)
    return first


def fade(coverage: Coverage, level: int) -> Coverage:
    """The same shape, see-through: `level` of FULL."""
    if not 0 <= level <= FULL:
        raise BadInput(f"expected a level from 0 to {FULL}, got {level!r}")
    return ((coverage.astype(np.uint16) * level + FULL // 2) // FULL).astype(np.uint8)


def stamp(n: int, coverage: Coverage, *, centre: Point = CENTRE) -> Coverage:
    """An empty tile with `coverage` (a glyph, say) centred on a point to the nearest pixel; what sticks out is cut."""
    height, width = coverage.shape
    top = math.floor(centre[1] * n - height / 2 + 0.5)
    left = math.floor(centre[0] * n - width / 2 + 0.5)
    tile = np.zeros((n, n), np.uint8)
    rows, cols = slice(max(top, 0), max(top + height, 0)), slice(max(left, 0), max(left + width, 0))
    window = tile[rows, cols]
    window[...] = coverage[max(-top, 0) :, max(-left, 0) :][: window.shape[0], : window.shape[1]]
    return tile
