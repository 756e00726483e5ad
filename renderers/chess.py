"""Chess in pictures: chessmen of our own on light and dark squares, and coloured borders for highlights.

Every square is read as one of thirteen things on its own shade; borders by their colour, see `reading/outlines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Reading, Style, parse_colour
from gamegen.games.chess import COLOURS, EMPTY, PIECES, UNMARKED, Diagram
from renderers.board import GIVENS, Board, BoardRenderer, Given, Seen, given_board
from renderers.chess_reading import (
    demand_as_strong,
    demand_men_inside,
    demand_one_hue,
    light_of,
    overdrawn_man,
    read_highlights,
    scrawled_square,
    settle_pasted,
)
from renderers.chessmen import MEN
from renderers.frames import (
    demand_no_shadows,
    draw_frames,
    frame_width,
    known_at,
    stain_beside,
    without_ink,
)
from renderers.inks import Inks, Tile, compose
from renderers.page import scaled
from renderers.reading.classify import demand
from renderers.reading.hand import Hand
from renderers.reading.hues import from_grey
from renderers.reading.register import Floats, Registration
from renderers.reading.relaying import laid_again

SHADES = ("light", "dark")
CONTENTS = EMPTY + PIECES
SYMBOLS = tuple(f"{shade} {content}" for shade in SHADES for content in CONTENTS)
OUTLINE = 0.024
"""Width of a chessman's outline, as a share of the square."""

VIVID, PLAIN, ALIKE = 32.0, 10.0, 0.6
"""By how much more vivid than coloured squares highlights are, at the edges of soft lines, too; by how much at least if
no square's hue is like theirs, up to this cosine. On grey squares the first is needed in any case."""

REACH = 2
"""Pixels from which mixing takes light."""

_SHADE: NDArray[np.intp] = np.add.outer(np.arange(8), np.arange(8)) % 2  # (8, 8): a8 is light
_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(content) for content in CONTENTS]] = range(len(CONTENTS))
_CODES = np.array([UNMARKED, *COLOURS.values()])
_ALLOWED: NDArray[np.bool_] = _SHADE[..., None] == np.arange(len(SYMBOLS)) // len(CONTENTS)


class ChessRenderer(BoardRenderer[Diagram]):
    name = "chess"
    inset = 0.08
    reading_cell = 28  # half of a square at 512 pixels: there each pixel is the mean of four whole ones, and soon made
    page_picks = frozenset({"labels", "frame"})

    def size(self, position: Diagram) -> tuple[int, int]:
        return 8, 8

    def symbols(self, style: Style) -> Sequence[str]:
        return SYMBOLS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        shade, content = symbol.split(" ")
        if content == EMPTY:
            return np.full((n, n), inks.solid(shade), np.uint8)
        man, side = MEN[content.lower()], "white" if content.isupper() else "black"
        layers = [
            (man.silhouette(n, grow=OUTLINE), f"{side}-edge"),
            (man.silhouette(n), side),
            (man.engraving(n, width=OUTLINE), f"{side}-detail"),
        ]
        return compose(inks, n, layers, shade)

    def encode(self, position: Diagram, style: Style) -> NDArray[np.intp]:
        return _encoded(position.rows)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Diagram], style: Style) -> Diagram:
        return Diagram(tuple("".join(CONTENTS[number % len(CONTENTS)] for number in row) for row in symbols))

    def allowed(self, problem: Problem[Diagram], style: Style) -> NDArray[np.bool_]:
        return _ALLOWED

    def finish(self, canvas: Pixels, board: Board, position: Diagram, style: Style) -> None:
        """Frames of highlighted squares."""
        width = frame_width(board.frame.cell, style.number("frame"), style.pixels)
        line = scaled(style.number("line_width"), style.pixels)
        draw_frames(canvas, board, _bytes(position.marks), COLOURS, line=line, width=width)

    def laid(self, registration: Registration, given: Given) -> Seen:
        """By what no highlight is near, if there are many."""
        return super().laid(laid_again(registration, given.page), given)

    def tell(self, seen: Seen, problem: Problem[Diagram], style: Style) -> Reading[Diagram]:
        shades = np.array([parse_colour(style[shade]) for shade in SHADES], np.float64)
        marks = _mark_colours(style)
        outlines = read_highlights(seen, style, marks, shades, _SHADE, _faintest(marks, shades))
        demand_one_hue(outlines, _SHADE)
        demand_no_shadows(seen, outlines, shades, _SHADE)
        plain = without_ink(seen, outlines)
        named = self.name_cells(plain, problem, style)
        given = self.encode(problem.position, style)
        named = settle_pasted(named, plain, given, style, self)
        demand(named)
        self.demand_single(plain, named, problem, style)
        demand_men_inside(outlines, plain, named, given, style, self)
        self.demand_full_strength(plain, named.symbols, problem, style)
        demand_as_strong(plain, named, given, style, self)
        codes = tuple("".join(row) for row in _CODES[outlines.colours + 1])
        position = Diagram(self.decode(named.symbols, problem, style).rows, codes)
        confidence = min(float(named.confidence.min()), outlines.confidence)

        def stain() -> str:
            crossed = overdrawn_man(plain, named, given, outlines, style, self)
            crossed = crossed or scrawled_square(seen, plain, outlines, partial(_hand, self, problem, style))
            if crossed is not None:
                return f"cell ({crossed.row}, {crossed.col})"
            after = self.render(position, style)
            return stain_beside(outlines, plain, named.symbols, after, renderer=self, problem=problem, style=style)

        laid = seen.registration
        return Reading(position, confidence, named.quality, stain, laid.is_still, laid.matrix)


@lru_cache(maxsize=64)
def _encoded(rows: tuple[str, ...]) -> NDArray[np.intp]:
    """(8, 8): the symbols of a board, asked for several times over while one picture is read."""
    symbols = _NUMBER[_bytes(rows)] + _SHADE * len(CONTENTS)
    symbols.setflags(write=False)
    return symbols


@lru_cache(maxsize=GIVENS)
def _hand(renderer: ChessRenderer, problem: Problem[Diagram], style: Style, n: int) -> Hand:
    """That of the board as it was given, in squares of `n` pixels, kept for the next picture of a group."""
    given = given_board(renderer, problem, style)
    light = light_of(known_at(given.page, given.frame, n))
    return Hand(light, np.ones(light.shape, bool), REACH)


def _bytes(rows: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(rows).encode(), np.uint8).reshape(8, 8)


def _faintest(marks: Floats, shades: Floats) -> Floats:
    """(K,): how vivid pixels in the hue of a mark (K, 3) must be, on squares of the shades (S, 3), to be drawn."""
    vivid = float(np.ptp(shades, axis=1).max())
    alike = (from_grey(marks) @ from_grey(shades).T).max(axis=1) > ALIKE
    return np.where(alike, VIVID + vivid, max(VIVID, PLAIN + vivid))


def _mark_colours(style: Style) -> Floats:
    return np.array([parse_colour(style[name]) for name in COLOURS], dtype=np.float64)


renderer = ChessRenderer()
