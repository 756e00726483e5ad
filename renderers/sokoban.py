"""Sokoban in pictures: walls, floor, crates, targets, and a warehouse keeper with a friendly face.

Whatever stands on a target lets it be seen: the target's pad stays visible around the keeper, and a box on a target
changes its colours (the palette's `goal` family instead of `crate`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import Problem
from gamegen.core.rendering import Picture, Pixels, Style
from gamegen.games.sokoban import BOX, BOXES, FLOOR, PLAYER, PLAYER_ON_TARGET, PLAYERS, SIGNS, TARGETS, WALL, Position
from renderers.board import Seen, reading_tiles, smooth_tiles
from renderers.inks import Coverage, Inks, Layer, Tile, compose
from renderers.overdrawn import drawn_cells, has_lost_colours
from renderers.placed import Numbers, PlacedRenderer
from renderers.reading.classify import Named
from renderers.shapes import cross, disc, intersection, line, rectangle, ring, subtract, union
from renderers.sokoban_reading import (
    GROUND,
    SeenBoxes,
    haloed_keeper,
    in_doubt_of_boxes,
    in_two_colours,
    keepers_on_their_targets,
    on_a_pad,
    on_their_targets,
    tinted_box,
    tinted_colours,
    unlike_others,
    with_own_boxes,
    with_placed_keeper,
)

_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(sign) for sign in SIGNS]] = range(len(SIGNS))


class SokobanRenderer(PlacedRenderer[Position]):
    name = "sokoban"
    glances = True
    page_picks = frozenset({"labels", "face"})

    def size(self, position: Position) -> tuple[int, int]:
        return position.height, position.width

    def symbols(self, style: Style) -> Sequence[str]:
        return SIGNS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        inks.ramp("page", "label")  # before the drawings, which may use up all blends that a palette can hold
        if symbol == WALL:
            return compose(inks, n, _WALLS[style.text("wall_look")](n), "wall")
        layers = _FLOORS[style.text("floor_look")](n)
        if symbol in TARGETS:
            layers += _MARKS[style.text("target_look")](n)
        if symbol in BOXES:
            layers += _CRATES[style.text("box_look")](n, "crate" if symbol == BOX else "goal")
        if symbol in PLAYERS:
            layers += _keeper(n)
        return compose(inks, n, layers, "floor")

    def encode(self, position: Position, style: Style) -> NDArray[np.intp]:
        signs = np.frombuffer("".join(position.rows).encode(), np.uint8)
        return _NUMBER[signs].reshape(position.height, position.width)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Position], style: Style) -> Position:
        return Position(tuple("".join(SIGNS[number] for number in row) for row in symbols.tolist()))

    def look(self, image: Pixels, problem: Problem[Position], style: Style) -> Seen:
        seen = super().look(image, problem, style)
        rows, cols = seen.frame.rows, seen.frame.cols
        tiles, clean = smooth_tiles(self, style, rows, cols), reading_tiles(self, style, rows, cols)
        return with_own_boxes(seen, tiles, clean, style)

    def ground(self, symbol: int, style: Style) -> int:
        return GROUND[symbol]

    def looks(self, symbol: int, cell: Cell, seen: Seen, bank: Pixels) -> Sequence[Numbers]:
        """A box may be one of the other kind, tinted, and a keeper may hide more of a target than he covers."""
        own = super().looks(symbol, cell, seen, bank)
        if SIGNS[symbol] == PLAYER_ON_TARGET:
            return [*own, haloed_keeper(bank), bank[SIGNS.index(PLAYER)].astype(np.intp)]
        if not isinstance(seen, SeenBoxes) or cell not in seen.tinted:
            return own
        return [*own, tinted_box(seen.tinted[cell], bank, seen.page.picture.palette.shape[0])]

    def more_colours(self, palette: Pixels, style: Style) -> Pixels:
        return tinted_colours(palette, style)

    def halves(self, problem: Problem[Position], style: Style) -> NDArray[np.bool_]:
        """A keeper where a target was stands on it, however much of it he hides: that is no second thing."""
        return keepers_on_their_targets(self.encode(problem.position, style))

    def find_stain(self, seen: Seen, symbols: Numbers, problem: Problem[Position], style: Style) -> str:
        """Floor that a box or the player has left looks like other floor, however bad the picture is; and a target is
        behind a keeper wherever one was, however much of it he hides, and nowhere else."""
        known = self.encode(problem.position, style)
        symbols = on_their_targets(symbols, known)
        tiles, changed = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols), symbols != known
        tile = tiles.images[SIGNS.index(FLOOR)]
        cell = unlike_others(seen, symbols == SIGNS.index(FLOOR), changed, tile)
        cell = cell or on_a_pad(seen, changed & (symbols == SIGNS.index(PLAYER)), tiles)
        if cell is None:
            two = in_two_colours(drawn_cells(seen, changed, len(tile)), symbols[changed], style)
            cell = Cell(*np.argwhere(changed)[two.argmax()].tolist()) if two.any() else None
        if cell is not None:
            return f"cell ({cell.row}, {cell.col})"
        return super().find_stain(seen, symbols, problem, style)

    def name_cells(self, seen: Seen, problem: Problem[Position], style: Style) -> Named:
        named = super().name_cells(seen, problem, style)
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known = self.encode(problem.position, style)
        named = with_placed_keeper(named, seen.cells, known, tiles)

        def drawn() -> Picture:
            return self.render(self.decode(named.symbols, problem, style), style)

        return in_doubt_of_boxes(named, known) if has_lost_colours(seen, drawn) else named


def _frame(n: int, inset: float, width: float, radius: float = 0.0) -> Coverage:
    """The outline of a square, `inset` from the tile's edge."""
    far, near = 1 - inset, inset + width
    outer = rectangle(n, box=(inset, inset, far, far), radius=radius)
    return subtract(outer, rectangle(n, box=(near, near, 1 - near, 1 - near), radius=max(0.0, radius - width)))


# Walls --------------------------------------------------------------------------------------------------------------


def _bricks(n: int) -> list[Layer]:
    """Two courses of bricks, the lower one shifted by half a brick; they go on seamlessly next door."""
    courses = ((0.0, (0.0, 0.5)), (0.5, (-0.25, 0.25, 0.75)))
    gap, edge = 0.035, 0.08
    bricks, light, dark = [], [], []
    for top, lefts in courses:
        high, low = top + gap, top + 0.5 - gap
        for left in (start + gap for start in lefts):
            right = left + 0.5 - 2 * gap
            bricks.append(rectangle(n, box=(left, high, right, low)))
            light.append(rectangle(n, box=(left, high, right, high + edge)))
            dark.append(rectangle(n, box=(left, low - edge, right, low)))
    mortar = subtract(rectangle(n, box=(0.0, 0.0, 1.0, 1.0)), *bricks)
    return [(mortar, "mortar"), (union(*light), "wall_light"), (union(*dark), "wall_dark")]


def _blocks(n: int) -> list[Layer]:
    """A plain block, lit from above."""
    top, bottom = rectangle(n, box=(0, 0, 1, 0.14)), rectangle(n, box=(0, 0.86, 1, 1))
    return [(top, "wall_light"), (bottom, "wall_dark")]


def _panels(n: int) -> list[Layer]:
    """A dark panel with a thin bright outline."""
    return [
        (_frame(n, 0.1, 0.06, 0.08), "wall_light"),
        (rectangle(n, box=(0.3, 0.3, 0.7, 0.7), radius=0.06), "wall_dark"),
    ]


_WALLS: dict[str, Callable[[int], list[Layer]]] = {"bricks": _bricks, "blocks": _blocks, "panels": _panels}


# Floor and targets --------------------------------------------------------------------------------------------------


def _speckled(n: int) -> list[Layer]:
    spots = ((0.2, 0.28), (0.72, 0.18), (0.5, 0.55), (0.82, 0.68), (0.28, 0.8))
    return [(union(*(disc(n, centre=spot, radius=0.028) for spot in spots)), "speck")]


def _plain(n: int) -> list[Layer]:
    return []


_FLOORS: dict[str, Callable[[int], list[Layer]]] = {"speckled": _speckled, "plain": _plain}


def _cross_mark(n: int) -> list[Layer]:
    pad = rectangle(n, box=(0.07, 0.07, 0.93, 0.93), radius=0.08)
    return [
        (pad, "pad"),
        (cross(n, radius=0.27, width=0.21), "target_dark"),
        (cross(n, radius=0.27, width=0.13), "target"),
    ]


def _ring_mark(n: int) -> list[Layer]:
    pad = rectangle(n, box=(0.07, 0.07, 0.93, 0.93), radius=0.2)
    return [(pad, "pad"), (union(ring(n, radius=0.25, width=0.09), disc(n, radius=0.1)), "target")]


def _glow_mark(n: int) -> list[Layer]:
    diamond_frame = _frame(n, 0.07, 0.06, 0.22)
    return [
        (rectangle(n, box=(0.07, 0.07, 0.93, 0.93), radius=0.22), "pad"),
        (union(diamond_frame, disc(n, radius=0.13)), "target"),
    ]


_MARKS: dict[str, Callable[[int], list[Layer]]] = {"cross": _cross_mark, "ring": _ring_mark, "glow": _glow_mark}


# Boxes --------------------------------------------------------------------------------------------------------------


def _wooden(n: int, wood: str) -> list[Layer]:
    """A crate: frame, dark panel, two light boards crossed over it."""
    inner = (0.2, 0.2, 0.8, 0.8)
    panel = rectangle(n, box=inner)
    boards = intersection(cross(n, radius=0.4, width=0.13), panel)
    nails = union(*(disc(n, centre=(x, y), radius=0.022) for x in (0.14, 0.86) for y in (0.14, 0.86)))
    return [
        (rectangle(n, box=(0.05, 0.05, 0.95, 0.95), radius=0.04), f"{wood}_dark"),
        (rectangle(n, box=(0.08, 0.08, 0.92, 0.92), radius=0.02), wood),
        (rectangle(n, box=(0.17, 0.17, 0.83, 0.83)), f"{wood}_dark"),
        (panel, f"{wood}_panel"),
        (boards, f"{wood}_light"),
        (nails, f"{wood}_dark"),
    ]


def _carton(n: int, card: str) -> list[Layer]:
    """A flat parcel with a strip of tape; on a target it has a tick instead."""
    body = rectangle(n, box=(0.09, 0.09, 0.91, 0.91), radius=0.12)
    lower = intersection(body, rectangle(n, box=(0, 0.78, 1, 1)))
    if card == "goal":
        sign = line(n, points=((0.3, 0.5), (0.44, 0.63), (0.7, 0.34)), width=0.1)
    else:
        sign = union(rectangle(n, box=(0.43, 0.09, 0.57, 0.5)), rectangle(n, box=(0.22, 0.62, 0.44, 0.69)))
    return [(body, card), (lower, f"{card}_dark"), (sign, f"{card}_light")]


def _lantern(n: int, light: str) -> list[Layer]:
    """A box of light: an outline and a cross, filled once it is on a target."""
    body = rectangle(n, box=(0.1, 0.1, 0.9, 0.9), radius=0.1)
    bars = intersection(cross(n, radius=0.35, width=0.08), body)
    return [
        (body, f"{light}_panel"),
        (_frame(n, 0.1, 0.09, 0.1), light),
        (bars, light),
        (disc(n, radius=0.14), f"{light}_light"),
    ]


_CRATES: dict[str, Callable[[int, str], list[Layer]]] = {"wooden": _wooden, "carton": _carton, "lantern": _lantern}


# The player ---------------------------------------------------------------------------------------------------------


def _keeper(n: int) -> list[Layer]:
    """A warehouse keeper from the front: cap, smiling face, shirt, dungarees, boots."""
    boots = union(
        rectangle(n, box=(0.31, 0.84, 0.48, 0.95), radius=0.04), rectangle(n, box=(0.52, 0.84, 0.69, 0.95), radius=0.04)
    )
    arms = union(
        line(n, points=((0.32, 0.6), (0.22, 0.74)), width=0.13), line(n, points=((0.68, 0.6), (0.78, 0.74)), width=0.13)
    )
    hands = union(disc(n, centre=(0.21, 0.76), radius=0.06), disc(n, centre=(0.79, 0.76), radius=0.06))
    shirt = rectangle(n, box=(0.3, 0.53, 0.7, 0.76), radius=0.09)
    dungarees = union(
        rectangle(n, box=(0.33, 0.7, 0.67, 0.87), radius=0.03), rectangle(n, box=(0.4, 0.58, 0.6, 0.75), radius=0.02)
    )
    face = disc(n, centre=(0.5, 0.35), radius=0.215)
    cap = intersection(disc(n, centre=(0.5, 0.32), radius=0.235), rectangle(n, box=(0, 0, 1, 0.27)))
    peak = rectangle(n, box=(0.23, 0.245, 0.77, 0.305), radius=0.03)
    eyes = union(disc(n, centre=(0.415, 0.38), radius=0.032), disc(n, centre=(0.585, 0.38), radius=0.032))
    smile = line(n, points=((0.42, 0.455), (0.46, 0.482), (0.5, 0.49), (0.54, 0.482), (0.58, 0.455)), width=0.028)
    outline = union(
        rectangle(n, box=(0.28, 0.81, 0.72, 0.98), radius=0.05),
        line(n, points=((0.32, 0.6), (0.21, 0.76)), width=0.18),
        line(n, points=((0.68, 0.6), (0.79, 0.76)), width=0.18),
        rectangle(n, box=(0.27, 0.5, 0.73, 0.9), radius=0.1),
        disc(n, centre=(0.5, 0.345), radius=0.25),
        rectangle(n, box=(0.2, 0.22, 0.8, 0.33), radius=0.04),
    )
    return [
        (outline, "ink"),
        (boots, "boots"),
        (arms, "shirt"),
        (hands, "skin"),
        (shirt, "shirt"),
        (dungarees, "dungarees"),
        (face, "skin"),
        (cap, "cap"),
        (peak, "cap_dark"),
        (union(eyes, smile), "ink"),
    ]


renderer = SokobanRenderer()
