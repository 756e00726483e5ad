"""Pac-Man in pictures: walls that join their neighbours, beans, pellets, a cherry, ghosts with eyes.

A wall is drawn in one of 47 forms, by which of its eight neighbours are walls too, so that blocks look like one piece:
a neighbour at a corner matters only where the wall runs on along both sides of that corner. All forms mean the same
thing, and a reader only needs to know a few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.games.pacman import BEAN, CHERRY, FACING, GHOSTS, NOTHING, PELLET, WALL, Position
from renderers.board import Seen
from renderers.inks import Coverage, Inks, Layer, Tile, compose
from renderers.placed import Numbers, PlacedRenderer
from renderers.reading.classify import Named
from renderers.shapes import disc, line, pacman, polygon, rectangle, subtract, union

THINGS = NOTHING + BEAN + PELLET + CHERRY + GHOSTS + "".join(FACING) + WALL
_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(thing) for thing in THINGS]] = range(len(THINGS))
_WALL = int(_NUMBER[ord(WALL)])
"""The last thing: a wall's forms are numbered on from here."""

GONE = 0.5
"""The share of the walls that may seem to be gone: whoever breaks through them leaves most."""

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_CORNERS = ((16, _UP | _LEFT), (32, _UP | _RIGHT), (64, _DOWN | _LEFT), (128, _DOWN | _RIGHT))
"""A bit a corner neighbour, and the sides between which it lies."""


def _form(bits: int) -> int:
    """What of the eight neighbours can be seen in the wall's form."""
    return bits & 15 | sum(corner for corner, sides in _CORNERS if bits & corner and bits & sides == sides)


_FORMS = sorted({_form(bits) for bits in range(256)})
_FORM_NUMBER = np.array([_FORMS.index(_form(bits)) for bits in range(256)], np.intp)
_NEIGHBOURS = (
    (_UP, -1, 0), (_DOWN, 1, 0), (_LEFT, 0, -1), (_RIGHT, 0, 1),
    (16, -1, -1), (32, -1, 1), (64, 1, -1), (128, 1, 1),
)  # fmt: skip

_READ_FORMS = (0, _UP | _DOWN, _LEFT | _RIGHT, 255)
_READ = np.array([*(True for _ in range(_WALL)), *(form in _READ_FORMS for form in _FORMS)])
_MEANING = np.minimum(np.arange(_WALL + len(_FORMS)), _WALL)

_TOWARDS = {"^": (0.0, -1.0), "v": (0.0, 1.0), "<": (-1.0, 0.0), ">": (1.0, 0.0)}
_EYE = {"^": (0.27, 0.44), "v": (0.73, 0.56), "<": (0.46, 0.27), ">": (0.54, 0.27)}


class PacmanRenderer(PlacedRenderer[Position]):
    name = "pacman"
    reading_cell, reading_side = 24, 256
    meaning = _MEANING

    def size(self, position: Position) -> tuple[int, int]:
        return len(position.rows), len(position.rows[0])

    def symbols(self, style: Style) -> Sequence[str]:
        return [*THINGS[:-1], *(f"{WALL}{form}" for form in _FORMS)]

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        return compose(inks, n, _layers(symbol, n, style), "floor")

    def encode(self, position: Position, style: Style) -> NDArray[np.intp]:
        return _numbers(position)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Position], style: Style) -> Position:
        """No answer moves a wall: if many are gone, the picture's colours have drifted too far."""
        was_wall = _numbers(problem.position) >= _WALL
        if np.mean(symbols[was_wall] < _WALL) > GONE:
            raise UnreadableImage("most walls look like something else")
        rows = np.minimum(symbols, _WALL).tolist()
        return Position(tuple("".join([THINGS[number] for number in row]) for row in rows))

    def allowed(self, problem: Problem[Position], style: Style) -> NDArray[np.bool_]:
        return np.broadcast_to(_READ, (*self.size(problem.position), len(_READ)))

    def name_cells(self, seen: Seen, problem: Problem[Position], style: Style) -> Named:
        named = super().name_cells(seen, problem, style)
        forms = self.encode(self.decode(named.symbols, problem, style), style)
        return replace(named, symbols=forms)

    def demand_full_strength(
        self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Position], style: Style
    ) -> None:
        """A wall that only takes another form, since one beside it came or went, has not been changed by anybody."""
        known = self.encode(problem.position, style)
        meant = np.where(_MEANING[symbols] == _MEANING[known], known, symbols)
        super().demand_full_strength(seen, meant, problem, style)

    def ground(self, symbol: int, style: Style) -> int:
        return THINGS.index(NOTHING)

    def looks(self, symbol: int, cell: Cell, seen: Seen, bank: Pixels) -> Sequence[Numbers]:
        """Pac-Man may be turned by a quarter, or mirrored: his eye is then on the other side."""
        (tile,) = super().looks(symbol, cell, seen, bank)
        if symbol >= _WALL or THINGS[symbol] not in FACING:
            return [tile]
        floor = bank[THINGS.index(NOTHING)]
        other, is_body = (each[::-1] if THINGS[symbol] in "<>" else each[:, ::-1] for each in (tile, tile != floor))
        return [tile, np.where(is_body, other, floor)]


@lru_cache(maxsize=64)
def _numbers(position: Position) -> NDArray[np.intp]:
    """(R, C) symbol numbers, asked for several times a picture."""
    rows, cols = len(position.rows), len(position.rows[0])
    text = np.frombuffer("".join(position.rows).encode(), np.uint8).reshape(rows, cols)
    wall = np.zeros((rows + 2, cols + 2), np.intp)
    wall[1:-1, 1:-1] = text == ord(WALL)
    bits = np.zeros((rows, cols), np.intp)
    for bit, down, right in _NEIGHBOURS:
        bits += bit * wall[1 + down : 1 + down + rows, 1 + right : 1 + right + cols]
    numbers: NDArray[np.intp] = _NUMBER[text] + _FORM_NUMBER[bits] * wall[1:-1, 1:-1]
    numbers.setflags(write=False)
    return numbers


def _layers(symbol: str, n: int, style: Style) -> list[Layer]:
    if symbol == NOTHING:
        return []
    if symbol == BEAN:
        return [(disc(n, radius=style.number("bean_size") / 200), "bean")]
    if symbol == PELLET:
        return [(disc(n, radius=style.number("pellet_size") / 200), "pellet")]
    if symbol == CHERRY:
        return _cherry(n)
    if symbol in GHOSTS:
        return _ghost(n, symbol)
    if symbol in FACING:
        body = pacman(n, radius=0.42, towards=_TOWARDS[symbol], spread=style.number("mouth") / 100)
        return [(body, "pacman"), (disc(n, centre=_EYE[symbol], radius=0.055), "eye")]
    return _wall(n, int(symbol[1:]), style)


def _wall(n: int, form: int, style: Style) -> list[Layer]:
    """A block, rounded and rimmed where it is exposed, running on into its neighbours where it is not."""
    corner, rim, gap = (style.number(name) / 100 for name in ("corner", "rim", "gap"))
    body = subtract(rectangle(n, box=_exposed(form, gap), radius=corner), *_nooks(n, form, gap))
    if not rim:
        return [(body, "wall")]
    inside = rectangle(n, box=_exposed(form, gap + rim), radius=max(0.0, corner - rim))
    return [(body, "rim_colour"), (subtract(inside, *_nooks(n, form, gap + rim)), "wall")]


def _nooks(n: int, form: int, inset: float) -> list[Coverage]:
    """The corners where two sides run on but the cell between them is free."""
    free = [sides for corner, sides in _CORNERS if not form & corner and form & sides == sides]
    boxes = [
        (
            -1.0 if sides & _LEFT else 1 - inset,
            -1.0 if sides & _UP else 1 - inset,
            inset if sides & _LEFT else 2.0,
            inset if sides & _UP else 2.0,
        )
        for sides in free
    ]
    return [rectangle(n, box=box, radius=inset / 2) for box in boxes]


def _exposed(form: int, inset: float) -> tuple[float, float, float, float]:
    """The box of a wall: `inset` from a free side, far beyond a side where the wall goes on."""
    return (
        -1.0 if form & _LEFT else inset,
        -1.0 if form & _UP else inset,
        2.0 if form & _RIGHT else 1 - inset,
        2.0 if form & _DOWN else 1 - inset,
    )


def _ghost(n: int, ghost: str) -> list[Layer]:
    left = union(disc(n, centre=(0.36, 0.45), radius=0.115), disc(n, centre=(0.64, 0.45), radius=0.115))
    pupils = union(disc(n, centre=(0.39, 0.47), radius=0.06), disc(n, centre=(0.67, 0.47), radius=0.06))
    return [(_sheet(n), f"ghost_{ghost.lower()}"), (left, "white"), (pupils, "pupil")]


def _sheet(n: int) -> Coverage:
    """A ghost's body: a dome, straight sides, and a hem of four waves."""
    dome = disc(n, centre=(0.5, 0.48), radius=0.37)
    skirt = rectangle(n, box=(0.13, 0.48, 0.87, 0.88))
    notches = [polygon(n, points=((x - 0.09, 0.9), (x, 0.76), (x + 0.09, 0.9))) for x in (0.254, 0.5, 0.746)]
    return subtract(union(dome, skirt), *notches)


def _cherry(n: int) -> list[Layer]:
    stems = union(
        line(n, points=((0.33, 0.55), (0.45, 0.3), (0.68, 0.16)), width=0.06),
        line(n, points=((0.66, 0.6), (0.62, 0.36), (0.68, 0.16)), width=0.06),
    )
    fruit = union(disc(n, centre=(0.32, 0.67), radius=0.19), disc(n, centre=(0.68, 0.71), radius=0.19))
    shine = union(disc(n, centre=(0.26, 0.61), radius=0.05), disc(n, centre=(0.62, 0.65), radius=0.05))
    return [(stems, "stem"), (fruit, "cherry"), (shine, "white")]


renderer = PacmanRenderer()
