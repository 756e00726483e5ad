"""Signed distances on the pixel grid of a tile, in pixels, and the coverage they mean.

Only + - * / and square roots: the floating-point standard fixes those to the last bit, so all machines agree.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BadInput
from renderers.inks import FULL, Coverage

Point: TypeAlias = tuple[float, float]
Distance: TypeAlias = NDArray[np.float64]

MAX_TILE = 4096
# Places are rounded to this part of a pixel, so that 0.2 and 0.8 lie exactly as far from the middle.
_GRID = 4096


def cover(distance: Distance) -> Coverage:
    """Coverage by the distance of the pixel's middle from the edge: half on it, full half a pixel inside."""
    share = np.minimum(np.maximum(0.5 - distance, 0.0), 1.0)
    return np.floor(share * FULL + 0.5).astype(np.uint8)


def stroke(distance: Distance, width: float) -> Coverage:
    """Coverage by the distance from the middle of a pen; a pen thinner than a pixel is pale, not a pixel wide."""
    share = np.minimum(np.maximum(0.5 + width / 2 - distance, 0.0), min(width, 1.0))
    return np.floor(share * FULL + 0.5).astype(np.uint8)


def pixels(n: int) -> tuple[Distance, Distance]:
    """The middles of the pixels, x (1, n) and y (n, 1)."""
    if not 1 <= n <= MAX_TILE:
        raise BadInput(f"expected a tile of 1 to {MAX_TILE} pixels, got {n!r}")
    middles = np.arange(n, dtype=np.float64) + 0.5
    return middles[None, :], middles[:, None]


def snap(n: int, place: float) -> float:
    return math.floor(place * n * _GRID + 0.5) / _GRID


def offsets(n: int, centre: Point) -> tuple[Distance, Distance]:
    x, y = pixels(n)
    return x - snap(n, centre[0]), y - snap(n, centre[1])


def length(x: Distance, y: Distance) -> Distance:
    return np.sqrt(x * x + y * y)


def placed(corners: list[Point] | tuple[Point, ...], centre: Point, radius: float, towards: Point) -> tuple[Point, ...]:
    """Corners given for the direction (1, 0), turned, scaled and moved into the tile."""
    east, south = direction(towards)
    return tuple(
        (centre[0] + radius * (x * east - y * south), centre[1] + radius * (x * south + y * east)) for x, y in corners
    )


def direction(towards: Point) -> Point:
    length = math.sqrt(towards[0] * towards[0] + towards[1] * towards[1])
    if length == 0:
        raise BadInput("expected a direction, got (0, 0)")
    return towards[0] / length, towards[1] / length


def wedge(n: int, centre: Point, towards: Point, spread: float) -> Distance:
    """Signed distance from the two edges of a slice without end."""
    east, south = direction(towards)
    x, y = offsets(n, centre)
    along, aside = x * east + y * south, abs(y * east - x * south)
    return (aside - spread * along) / math.sqrt(1 + spread * spread)


def squared_to_line(n: int, points: tuple[Point, ...]) -> Distance:
    """Squared distance of every pixel from an open line."""
    x, y = pixels(n)
    best: Distance = np.full((n, n), np.inf)
    places = [(snap(n, px), snap(n, py)) for px, py in points]
    for (ax, ay), (bx, by) in pairwise(places):
        ex, ey = bx - ax, by - ay
        squared = ex * ex + ey * ey
        along = ((x - ax) * ex + (y - ay) * ey) / squared if squared else np.zeros((n, n))
        share = np.minimum(np.maximum(along, 0.0), 1.0)
        dx, dy = x - ax - share * ex, y - ay - share * ey
        best = np.minimum(best, dx * dx + dy * dy)
    return best


def to_polygon(n: int, points: tuple[Point, ...]) -> Distance:
    """Signed distance from a closed polygon, negative inside."""
    if len(points) < 3:
        raise BadInput(f"expected three or more corners, got {points!r}")
    x, y = pixels(n)
    inside = np.zeros((n, n), np.bool_)
    closed = (*points, points[0])
    places = [(snap(n, px), snap(n, py)) for px, py in closed]
    for (ax, ay), (bx, by) in pairwise(places):
        if ay != by:
            crossing = (bx - ax) * (y - ay) / (by - ay) + ax
            inside ^= ((ay > y) != (by > y)) & (x < crossing)
    distance = np.sqrt(squared_to_line(n, closed))
    return np.where(inside, -distance, distance)
