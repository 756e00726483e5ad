"""Stacked cubes seen from a corner, painted and read on the lattice of `gamegen.core.isometric`.

The three edges of a cube run 2:1 down to the right, 2:1 up to the right, and straight up, so the whole view is made of
triangles of one size. For a floor size and a scale, two things are worked out once: which triangle each pixel lies in,
and which edges of triangles pass near it. A structure then says which face each triangle shows (painted from the
farthest column to the nearest) and so which edges are lines. Painting is two lookups a pixel, however many cubes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.isometric import Heights, Strip, bit, triangles
from renderers.inks import FULL
from renderers.reading.register import Floats

Ints = NDArray[np.intp]
Bytes = NDArray[np.uint8]

PAGE, FLOOR, WALL, TOP, LEFT, RIGHT = range(6)
"""What a triangle can show; from TOP on it is a cube."""

CUBE = (TOP, LEFT, RIGHT)
FILLS = ("page", "floor", "wall", "top", "left", "right")
"""The names of their colours."""

NO_LINE, GRID_LINE, CUBE_LINE = range(3)
_TILT = 0.8944271909999159  # perpendicular over vertical distance at a slope of 1:2
_CLEAR = 0.16  # share of a unit that reading keeps away from all edges


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The triangles and edges of an n by n by n view, before any pixel. Triangle 0 is everything outside."""

    n: int
    ground: Ints  # (T,): what each triangle shows with no cube at all, as a face
    faces: dict[tuple[int, int, int], tuple[Ints, Ints]]  # a column of a height: its triangles, and the face on each
    edges: Ints  # (E, 2): the triangles on both sides; edge 0 is none


def number(n: int, strip: int, v: int) -> int:
    """A triangle's number; 0 if it lies outside all strips."""
    rows = triangles(n)
    return 1 + strip * len(rows) + v - rows.start if 0 <= strip < 2 * n and v in rows else 0


def kind(faces: Ints) -> Ints:
    """What faces show. A face is a kind plus 6 times its own number, so that equal numbers mean one and the same."""
    shown: Ints = faces % len(FILLS)
    return shown


@lru_cache(maxsize=8)
def lattice(n: int) -> Lattice:
    ground = np.zeros(1 + 2 * n * len(triangles(n)), np.intp)
    faces = {}
    for x in range(n):
        for y in range(n):
            mark = len(FILLS) * (x * n + y + 1)
            ground[[number(n, x + y, x - y), number(n, x + y + 1, x - y)]] = mark + FLOOR
            for height in range(1, n + 1):
                faces[x, y, height] = _column(n, x, y, height)
    for place in range(n):
        for z in range(n):
            mark = len(FILLS) * (n * n + 1 + 2 * (place * n + z))
            for v in (-place - 2 * z - 1, -place - 2 * z - 2):  # the wall x = 0, at y = place
                ground[number(n, place, v)] = mark + WALL
            for v in (place - n - 2 * z, place - n - 2 * z - 1):  # the wall at the greatest y, at x = place
                ground[number(n, place + n, v)] = mark + len(FILLS) + WALL
    return Lattice(n, ground, faces, _edges(n))


def _column(n: int, x: int, y: int, height: int) -> tuple[Ints, Ints]:
    """The triangles that a column covers, and the face on each."""
    u, base = x + y, x - y
    own = len(FILLS) * (10_000 + (x * n + y) * (n + 1) * 3)
    covered = [(number(n, u, base - 2 * height), own + TOP), (number(n, u + 1, base - 2 * height), own + TOP)]
    for z in range(height):
        for v in (base - 2 * z, base - 2 * z - 1):
            covered.append((number(n, u, v), own + len(FILLS) * (2 * z + 1) + LEFT))
            covered.append((number(n, u + 1, v), own + len(FILLS) * (2 * z + 2) + RIGHT))
    where, which = zip(*covered, strict=True)
    return np.array(where, np.intp), np.array(which, np.intp)


def outline(n: int, x: int, y: int, z: int) -> Ints:
    """The triangles that one cube covers."""
    return np.array([number(n, x + y + right, x - y - 2 * z - up) for right in range(2) for up in range(3)], np.intp)


def _edges(n: int) -> Ints:
    """Edge 0, then the upright edges (strips s - 1 and s), then the slanted ones (v and v + 1 of a strip)."""
    rows = triangles(n)
    upright = [(number(n, s - 1, v), number(n, s, v)) for s in range(2 * n + 1) for v in rows]
    slanted = [(number(n, s, v), number(n, s, v + 1)) for s in range(2 * n) for v in range(rows.start - 1, rows.stop)]
    return np.array([(0, 0), *upright, *slanted], np.intp)


@lru_cache(maxsize=256)
def shown(heights: Heights) -> Ints:
    """(T,): the face on each triangle."""
    n = len(heights)
    net = lattice(n)
    faces = net.ground.copy()
    for x, y in _far_to_near(n):
        if heights[x][y]:
            where, which = net.faces[x, y, heights[x][y]]
            faces[where] = which
    faces.setflags(write=False)
    return faces


@lru_cache(maxsize=8)
def _far_to_near(n: int) -> list[tuple[int, int]]:
    return sorted(((x, y) for x in range(n) for y in range(n)), key=lambda place: (place[0] - place[1], place))


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """A lattice at some scale: pixels of a square view, 2n units wide and high, and `pad` pixels all round."""

    triangle: Ints  # (H, W): which triangle each pixel lies in
    near: Ints  # (K,): flat places of the pixels near an edge
    edge: Ints  # (2, K): the nearest edge and the next one
    ink: Bytes  # (2, K): how much of the pixel each would cover as a line
    inner: NDArray[np.bool_]  # (H, W): clear of all edges
    room: NDArray[np.bool_]  # (H, W): the floor, the walls and their lines; beyond is page


@lru_cache(maxsize=64)
def raster(n: int, unit: int, width: int) -> Raster:
    """`unit` is half the width of a cube, an even number of pixels; `width` that of a line, and of the padding."""
    side, top = 2 * (n * unit + width), 3 * n
    row, col = np.indices((side, side)) - width
    u = (2 * col + 1) / (2 * unit)  # (H, W): across, in units
    v = (2 * row + 1) / unit - top  # down, in half units
    falling, rising = (v - u) / 2, (v + u) / 2
    strip = np.floor(u).astype(np.intp)
    middle = (np.floor(falling) + np.floor(rising)).astype(np.intp) + 1
    rows = len(triangles(n))
    triangle = 1 + strip * rows + middle - triangles(n).start
    inside = (middle >= triangles(n).start) & (middle < triangles(n).stop) & (strip >= 0) & (strip < 2 * n)
    distance, edge = _near_edges(n, u, v, falling, rising, strip, middle)
    order = np.argsort(distance, axis=0, kind="stable")[:2]
    distance = np.take_along_axis(distance, order, axis=0) * unit
    edge = np.take_along_axis(edge, order, axis=0)
    ink = np.floor(FULL * (width / 2 + 0.5 - distance).clip(0, 1) + 0.5).astype(np.uint8)
    near = np.flatnonzero(ink[0])
    triangle = np.where(inside, triangle, 0)
    return Raster(
        triangle,
        near,
        edge.reshape(2, -1)[:, near],
        ink.reshape(2, -1)[:, near],
        distance[0] > _CLEAR * unit,
        _room(n, triangle, edge, ink),
    )


def _room(n: int, triangle: Ints, edge: Ints, ink: Bytes) -> NDArray[np.bool_]:
    ground = lattice(n).ground > 0
    sides = ground[lattice(n).edges]  # (E, 2)
    lined = (sides[:, 0] | sides[:, 1])[edge] & (ink > 0)
    room: NDArray[np.bool_] = ground[triangle] | lined.any(axis=0)
    return room


def _near_edges(
    n: int, u: Floats, v: Floats, falling: Floats, rising: Floats, strip: Ints, middle: Ints
) -> tuple[Floats, Ints]:
    """(3, H, W): distance in units to the nearest edge of each direction, and that edge's number."""
    rows = triangles(n)
    border = np.round(u).astype(np.intp)
    upright = 2 * np.floor((v - border) / 2).astype(np.intp) + 1 + border  # the upright edge's middle
    edges = [1 + border * len(rows) + upright - rows.start]
    valid = [(upright >= rows.start) & (upright < rows.stop)]
    distances: list[Floats] = [np.abs(u - border)]
    first = 1 + (2 * n + 1) * len(rows) + strip * (len(rows) + 1) - (rows.start - 1)
    for slope in (falling, rising):
        line = np.round(slope)
        below = np.where(line > np.floor(slope), middle, middle - 1)  # the edge under this triangle, or over it
        edges.append(first + below)
        valid.append((below >= rows.start - 1) & (below < rows.stop) & (strip >= 0) & (strip < 2 * n))
        distances.append(np.abs(slope - line) * _TILT)
    found = np.stack(distances)
    return found, np.where(np.stack(valid), np.stack(edges), 0)


def paint(heights: Heights, raster: Raster, starts: Bytes) -> Bytes:
    """(H, W) indices; `starts[line, kind]` is the first of 16 indices from a kind's colour to that line's."""
    net = lattice(len(heights))
    faces = shown(heights)
    kinds = kind(faces)
    canvas = np.take(starts[NO_LINE][kinds], raster.triangle)
    one, other = faces[net.edges[:, 0]], faces[net.edges[:, 1]]
    cube = (kind(one) >= TOP) | (kind(other) >= TOP)
    lines = np.where(one == other, NO_LINE, np.where(cube, CUBE_LINE, GRID_LINE))
    drawn = lines[raster.edge]  # (2, K)
    ink = np.where(drawn == NO_LINE, 0, raster.ink)
    second = ink[1] > ink[0]
    ink, line = np.where(second, ink[1], ink[0]), np.where(second, drawn[1], drawn[0])
    flat = canvas.reshape(-1)
    flat[raster.near] = starts[line, kinds[raster.triangle.reshape(-1)[raster.near]]] + ink
    return canvas


@dataclass(frozen=True, slots=True, eq=False)
class Insides:
    """The triangles of floor and walls in a view without padding, as far as they are clear of all edges."""

    triangles: Ints  # (A,): their numbers
    choices: Ints  # (4, A): what each can show: its ground, or a side of a cube
    places: Ints  # (A, K): flat places of their pixels, as many in each


@lru_cache(maxsize=8)
def insides(n: int, unit: int) -> Insides:
    pad = 2
    shape = raster(n, unit, pad)
    ground = kind(lattice(n).ground)
    triangle = np.where(shape.inner, shape.triangle, 0)[pad:-pad, pad:-pad].ravel()
    asked = np.flatnonzero((ground != PAGE) & (np.bincount(triangle, minlength=len(ground)) > 0))
    places = np.argsort(triangle, kind="stable")[np.isin(np.sort(triangle), asked)]
    choices = np.stack([ground[asked], *(np.full(len(asked), cube) for cube in CUBE)])
    return Insides(asked, choices, places.reshape(len(asked), -1))


def mean_colours(view: Floats, within: Insides) -> Floats:
    """(A, 3): the mean colour inside each triangle of a view (H, W, 3)."""
    means: Floats = np.einsum("aki->ai", view.reshape(-1, 3)[within.places]) / within.places.shape[1]
    return means


def strips(kinds: Ints, n: int) -> tuple[Strip, ...]:
    """What each strip shows, from what each triangle shows."""
    rows = triangles(n)
    bits = np.array([bit(n, v) for v in rows])
    shows = kinds[1:].reshape(2 * n, len(rows))
    return tuple(Strip(*found) for found in np.stack([(shows == face) @ bits for face in CUBE], axis=1).tolist())
