"""Cut stones: silhouettes and facets of seven gems, as tones from shade to light.

A stone fills -1 to 1 in both directions, y downwards, and the light comes from the upper left. A convex outline is cut
like a brilliant: a flat table in the middle, and around it one facet per side, lighter the more it faces the light. The
diamond is drawn from the side, as everybody draws one, with facets of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from renderers.distance import Point

LIGHT: Point = (-0.55, -0.835)
"""Where the light comes from."""

SLOPE = 5
"""Tone of a facet that faces the light; its opposite is as dark."""

_C1, _C2, _C3 = 0.9238795325112867, 0.7071067811865476, 0.3826834323650898
_WIDE, _HIGH = 1.04, 0.82


@dataclass(frozen=True, slots=True)
class Facet:
    points: tuple[Point, ...]
    tone: int


@dataclass(frozen=True, slots=True)
class Stone:
    outline: tuple[Point, ...]
    facets: tuple[Facet, ...]


def _cut(outline: tuple[Point, ...], *, centre: Point = (0.0, 0.0), table: float, gleam: int) -> Stone:
    """A convex outline with a table `table` x its size; `gleam` is the tone of the table's lit half."""
    inner = tuple(_between(centre, point, table) for point in outline)
    facets = list(_ring(outline, inner, centre))
    facets.append(Facet(inner, 1))
    half = len(inner) // 2
    lit = [at for at in range(len(inner)) if _facing(inner[at], centre) > -0.25]
    start = next(at for at in lit if (at - 1) % len(inner) not in lit)
    facets.append(Facet(tuple(inner[(start + step) % len(inner)] for step in range(max(3, half))), gleam))
    return Stone(outline, tuple(facets))


def _ring(outer: tuple[Point, ...], inner: tuple[Point, ...], centre: Point) -> Iterator[Facet]:
    around = [*zip(outer, inner, strict=True), (outer[0], inner[0])]
    for number, ((out, into), (next_out, next_into)) in enumerate(pairwise(around)):
        middle = ((out[0] + next_out[0]) / 2, (out[1] + next_out[1]) / 2)
        tone = round(SLOPE * _facing(middle, centre))
        yield Facet((out, next_out, into), tone + number % 2)
        yield Facet((next_out, next_into, into), tone - 1)


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _facing(point: Point, centre: Point) -> float:
    """How much a side of the stone faces the light, from -1 to 1."""
    x, y = point[0] - centre[0], point[1] - centre[1]
    return (x * LIGHT[0] + y * LIGHT[1]) / sqrt(x * x + y * y)


def _mirrored(right: tuple[Point, ...]) -> tuple[Point, ...]:
    """A whole outline from its right half, given from the top to the bottom."""
    return (*right, *((-x, y) for x, y in reversed(right)))


_RUBY = _mirrored(((0.41, -0.98), (0.98, -0.41), (0.98, 0.41), (0.41, 0.98)))
_SAPPHIRE = ((0.0, -1.06), *_mirrored(((0.5, -0.42), (0.8, 0.06), (0.82, 0.42), (0.6, 0.76), (0.22, 0.95))))
_EMERALD = _mirrored(((0.44, -1.0), (0.76, -0.68), (0.76, 0.68), (0.44, 1.0)))
_TOPAZ = _mirrored(((0.13, -1.06), (1.06, -0.13), (1.06, 0.13), (0.13, 1.06)))
_AMETHYST = _mirrored(((0.15, -1.0), (1.06, 0.6), (0.91, 0.86)))
_ROUND = ((_C3, -_C1), (_C2, -_C2), (_C1, -_C3), (1.0, 0.0), (_C1, _C3), (_C2, _C2), (_C3, _C1))
_OPAL = _mirrored(tuple((_WIDE * x, _HIGH * y) for x, y in _ROUND))
_GIRDLE = -0.28
_DIAMOND = Stone(
    outline=((-0.58, -0.84), (0.58, -0.84), (1.06, _GIRDLE), (0.0, 0.96), (-1.06, _GIRDLE)),
    facets=(
        Facet(((-0.58, -0.84), (-1.06, _GIRDLE), (-0.44, _GIRDLE)), 2),
        Facet(((-0.58, -0.84), (0.0, -0.84), (-0.44, _GIRDLE)), 7),
        Facet(((0.0, -0.84), (0.44, _GIRDLE), (-0.44, _GIRDLE)), 1),
        Facet(((0.0, -0.84), (0.58, -0.84), (0.44, _GIRDLE)), 4),
        Facet(((0.58, -0.84), (1.06, _GIRDLE), (0.44, _GIRDLE)), -2),
        Facet(((-1.06, _GIRDLE), (-0.44, _GIRDLE), (0.0, 0.96)), 4),
        Facet(((-0.44, _GIRDLE), (0.0, _GIRDLE), (0.0, 0.96)), -1),
        Facet(((0.0, _GIRDLE), (0.44, _GIRDLE), (0.0, 0.96)), 2),
        Facet(((0.44, _GIRDLE), (1.06, _GIRDLE), (0.0, 0.96)), -4),
    ),
)

STONES = {
    "R": _cut(_RUBY, table=0.56, gleam=5),
    "S": _cut(_SAPPHIRE, centre=(0.0, 0.2), table=0.52, gleam=5),
    "E": _cut(_EMERALD, table=0.6, gleam=5),
    "T": _cut(_TOPAZ, table=0.5, gleam=5),
    "A": _cut(_AMETHYST, centre=(0.0, 0.2), table=0.5, gleam=5),
    "O": _cut(_OPAL, table=0.66, gleam=4),
    "D": _DIAMOND,
}
