"""Tic-tac-toe in pictures: coloured blocks, or rings and crosses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.games.tictactoe import Grid
from renderers.board import BoardRenderer, Seen, given_board, smooth_tiles
from renderers.grid_lines import line_gone, lines_of
from renderers.inks import FULL, Inks, Tile, compose
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, Named, classify, smooth
from renderers.reading.register import CUTS, Floats, Scan, register
from renderers.reading.stains import Lines
from renderers.reading.tiles import Tiles
from renderers.reading.traces import SIDE, is_coarse
from renderers.shapes import cross, ring
from renderers.tictactoe_marks import is_ours, is_spoilt

SYMBOLS = ".OX"
ALIKE, AFFINE = 0.98, 6
"""Likeness below which a board is looked for once more, and the degrees in which it may have moved: nine of ten boards
that are found have 0.993 and more, one that was zoomed by 3 % and not found had 0.956."""

RING, CROSS = 0.31, 0.29
"""How far the marks reach from the middle of a cell, as a share of its side."""

MOVES = (-2, 0, 2)
"""Pixels, at reading size, by which marks are looked for beside the middle; one more is always looked for."""

SIZES, WIDTHS = (0.87, 1.0, 1.13), (0.75, 1.0, 1.3)
"""How much smaller or larger, thinner or thicker marks by hand are looked for."""

BORDER, LONGEST, QUARTER = 0.08, 1.35, 0.12
"""Share of a cell, at its border, where no mark is; how much longer than wide a mark may be, and the least share of it
in each quarter."""

EMPTY, BARE = SYMBOLS.index("."), 20.0
"""The number of an empty cell, and grey levels (root mean square) by which one is off its tile at most: a thin mark
beside the middle is nearer to an empty cell than to a thick one."""

_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))


class TicTacToeRenderer(BoardRenderer[Grid]):
    name = "tictactoe"

    def size(self, position: Grid) -> tuple[int, int]:
        return 3, 3

    def symbols(self, style: Style) -> Sequence[str]:
        return SYMBOLS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        if symbol == ".":
            return np.full((n, n), inks.solid("cell"), np.uint8)
        if style.text("marks") == "block":
            return np.full((n, n), inks.solid(symbol.lower()), np.uint8)
        weight = style.number("weight") / 100
        shape = ring(n, radius=RING, width=weight) if symbol == "O" else cross(n, radius=CROSS, width=weight)
        return compose(inks, n, [(shape, symbol.lower())], "cell")

    def is_told_by_colour(self, style: Style) -> bool:
        return False  # two marks, as far apart as can be

    def name_cells(self, seen: Seen, problem: Problem[Grid], style: Style) -> Named:
        """A mark drawn by hand may be a little beside the middle of its cell, smaller or larger, thinner or thicker."""
        named = super().name_cells(seen, problem, style)
        far = (named.distance > np.where(named.symbols == EMPTY, BARE, FARTHEST)) | (
            named.confidence < LOWEST_CONFIDENCE
        )
        if not far.any():
            return named
        again = classify(seen.cells[far][None], _by_hand(style))
        symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
        symbols[far], distance[far] = again.symbols[0], again.distance[0]
        ground = np.array(style.colours()["cell"], np.float32)
        drawn = zip(seen.cells[far], symbols[far], strict=True)
        whole = [number == EMPTY or _is_whole(cell, ground) for cell, number in drawn]
        confidence[far] = np.where(whole, again.confidence[0], 0.0)
        return replace(named, symbols=symbols, confidence=confidence, distance=distance)

    def look(self, image: Pixels, problem: Problem[Grid], style: Style) -> Seen:
        """Of a board that seems to have hardly moved, but is not quite alike, the way is felt for coarsely, too.

        Its few lines are thin, and one that was zoomed may fit nearly as well where it lay.
        """
        seen = super().look(image, problem, style)
        if seen.registration.likeness >= ALIKE:
            return seen
        given, scan = given_board(self, problem, style), Scan(image)
        start, _ = given.landmarks.template(0).fit(scan.level(0), np.eye(3), AFFINE, CUTS[0])
        again = register(scan, given.landmarks, start=start)
        return self.laid(again, given) if again.likeness > seen.registration.likeness else seen

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> str:
        """The same, and new marks that are not just one mark."""
        stain = super().find_stain(seen, symbols, problem, style)
        if stain:
            return stain
        new = (symbols != self.encode(problem.position, style)) & (symbols != EMPTY)
        tiles = smooth_tiles(self, style, 3, 3)
        for row, col in np.argwhere(new).tolist():
            number = symbols[row, col]
            if is_ours(seen.cells[row, col], tiles.images[number]):
                continue
            if is_spoilt(seen, Cell(row, col), SYMBOLS[number], style):
                return "" if is_coarse(seen.registration.image) else f"cell ({row}, {col})"
        page = seen.registration.page(seen.drift, SIDE)
        cell = line_gone(page, seen, _lines(style), _blocks(symbols, style), style) if new.any() else None
        return f"cell ({cell.row}, {cell.col})" if cell else ""

    def encode(self, position: Grid, style: Style) -> NDArray[np.intp]:
        return _NUMBER[np.frombuffer(position.places.encode(), np.uint8)].reshape(3, 3)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> Grid:
        return Grid("".join(SYMBOLS[number] for number in symbols.ravel()))


def _is_whole(cell: Floats, ground: Floats) -> bool:
    """Whether a mark in a cell (n, n, 3) is about as wide as high, and reaches into all four corners of its box."""
    edge = round(BORDER * len(cell))
    gap = np.abs(cell[edge:-edge, edge:-edge] - ground).max(axis=2)
    ink = gap > gap.max() / 2
    rows, cols = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    box = ink[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
    high, wide = box.shape
    parts = [
        half[:, side]
        for half in (box[: high // 2], box[high // 2 :])
        for side in (slice(wide // 2), slice(wide // 2, None))
    ]
    least = min(np.count_nonzero(part) for part in parts)
    return bool(max(high, wide) <= LONGEST * min(high, wide) and least >= QUARTER * np.count_nonzero(ink))


@lru_cache(maxsize=4)  # each is large, and pictures to judge come in groups of one look
def _by_hand(style: Style) -> Tiles:
    """All tiles, and marks of other sizes and widths, moved by a few pixels each way."""
    tiles = smooth_tiles(renderer, style, 3, 3)
    images, meaning = [tiles.images], [*range(len(SYMBOLS))]
    if style.text("marks") != "block":
        for size in SIZES:
            for width in WIDTHS:
                images.append(smooth(_marks(style, tiles.images.shape[1], size, width)))
                meaning += [SYMBOLS.index("O"), SYMBOLS.index("X")]
    moves = [(down, right) for down in MOVES for right in MOVES]
    every = np.concatenate([np.roll(np.concatenate(images), move, axis=(1, 2)) for move in moves])
    return Tiles(every, inset=tiles.inset, meaning=np.tile(meaning, len(moves)))


def _marks(style: Style, n: int, size: float, width: float) -> Floats:
    """(2, n, n, 3): O and X so many times as large, and drawn so many times as wide, as ours."""
    colours = {name: np.array(style.colours()[name], np.float32) for name in ("cell", "o", "x")}
    weight = style.number("weight") / 100 * width
    shapes = (ring(n, radius=RING * size, width=weight), "o"), (cross(n, radius=CROSS * size, width=weight), "x")
    shares = [(shape[..., None] / np.float32(FULL), colours[ink]) for shape, ink in shapes]
    return np.stack([colours["cell"] + share * (colour - colours["cell"]) for share, colour in shares])


def _blocks(symbols: NDArray[np.intp], style: Style) -> NDArray[np.bool_]:
    """(3, 3): cells that are filled with a colour, which may cover the lines around them."""
    blocks: NDArray[np.bool_] = (symbols != EMPTY) & (style.text("marks") == "block")
    return blocks


@lru_cache(maxsize=64)
def _lines(style: Style) -> tuple[Lines, Lines]:
    colours = style.colours()
    empty = renderer.render(Grid(SYMBOLS[EMPTY] * 9), style).rgb()
    return lines_of(empty, renderer.board(style, 3, 3).frame, [colours["cell"]])


renderer = TicTacToeRenderer()
