"""Word search in pictures: letters in cells, and coloured borders around them.

Letters are read by what has become of them, see `wordsearch_reading.py`; borders by their colour, see
`reading/outlines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.problem import Problem
from gamegen.core.rendering import Colour, Pixels, Reading, Style, parse_colour
from gamegen.games.wordsearch import ALPHABET, BLANK, COLOURS, UNMARKED, WordGrid
from renderers.board import GIVENS, Board, BoardRenderer, Seen, given_board, tiles_at
from renderers.frames import (
    DEEPEST,
    closely,
    draw_frames,
    frame_width,
    read_frames,
    softened,
    stain_beside,
    without_ink,
)
from renderers.glance import APART
from renderers.glyphs import glyph
from renderers.inks import Inks, Tile, blend
from renderers.page import LABEL_BAND, Frame, scaled
from renderers.reading.classify import demand
from renderers.reading.drawn import apart
from renderers.reading.fit import MOST_WARP, NARROW
from renderers.reading.foreign import most
from renderers.reading.hues import FAINTEST, Hues
from renderers.reading.outlines import Outlines
from renderers.reading.register import LEVELS, Floats, Registration, Scan
from renderers.reading.tiles import join_cells
from renderers.reading.traces import SIDE
from renderers.reading.turned import common_turn, turn_of, turned
from renderers.shapes import stamp
from renderers.touched import are_still, changes, given_drawn_on, page_of
from renderers.wordsearch_glance import glance
from renderers.wordsearch_reading import Letters

SYMBOLS = ALPHABET + BLANK
SMALLEST = 7
"""Capitals are at least this many pixels high."""

WELL_LAID, ZOOMS = 0.8, np.arange(0.94, 1.07, 0.015)
"""Likeness above which a picture is laid well onto the given one; and zooms that are tried where it is not."""

CLOSER = 28
"""Pixels of a cell at a closer look, if the picture has them."""

LEAN_OVER = 0.25
"""Share of a cell beside a highlighted one, at its border, that another hand may draw over."""

UNTOUCHED = 8
"""Grey levels by which letters differ that were not even compressed: compression smears borders into them."""

BORDER, TINTED, DARK, BLEED = 0.1, 30, 0.6, np.ones((3, 3), np.uint8)
"""Share of a highlighted cell, at its border, that is its highlight's; grey levels between its channels from which on a
pixel farther inside may be the highlight's, too; the share of a highlight's brightest channel below which it is ink in
any tint; and the pixels around those."""

PAGE = ("cell", "line", "ink")
"""The colours of a board that no answer changes."""

_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))
_LETTERS = np.frombuffer(SYMBOLS.encode(), np.uint8)
_CODES = np.frombuffer("".join([UNMARKED, *COLOURS.values()]).encode(), np.uint8)


class WordSearchRenderer(BoardRenderer[WordGrid]):
    name = "wordsearch"
    inset = 0.13
    reading_cell, reading_side = 28, 300
    page_picks = frozenset({"labels", "header", "frame"})

    def size(self, position: WordGrid) -> tuple[int, int]:
        return position.size, position.size

    def symbols(self, style: Style) -> Sequence[str]:
        return SYMBOLS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        if symbol == BLANK:
            return np.full((n, n), inks.solid("cell"), np.uint8)
        height = max(SMALLEST, round(n * style.number("letter") / 100))
        return blend(inks, stamp(n, glyph(symbol, face=style.text("face"), height=height)), under="cell", over="ink")

    def encode(self, position: WordGrid, style: Style) -> NDArray[np.intp]:
        return _NUMBER[_bytes(position.letters)]

    def decode(self, symbols: NDArray[np.intp], problem: Problem[WordGrid], style: Style) -> WordGrid:
        letters = _rows(_LETTERS[symbols])
        return WordGrid(letters, (UNMARKED * len(letters),) * len(letters))

    def finish(self, canvas: Pixels, board: Board, position: WordGrid, style: Style) -> None:
        """Frames of highlighted cells, inside their grid lines, and the boxes around the labels."""
        line, width = _widths(board.frame, style)
        if style.text("header") == "boxed":
            _box_labels(canvas, board, line)
        draw_frames(canvas, board, _bytes(position.marks), COLOURS, line=line, width=width)

    def glance(self, image: Pixels, problem: Problem[WordGrid], style: Style) -> WordGrid | None:
        given = given_board(self, problem, style)
        if not _is_legible(self, style, given.frame.rows):
            return None
        line, width = _widths(given.frame, style)
        colours = np.array([parse_colour(style["cell"]), *_mark_colours(style)], np.float64)
        marks = glance(image, given.page.picture, given.frame, colours, line=line, width=width)
        return None if marks is None else WordGrid(problem.position.letters, _rows(_CODES[marks]))

    def look(self, image: Pixels, problem: Problem[WordGrid], style: Style) -> Seen:
        """As for all boards. But a fine grid lies nearly as well one cell off: then zooms are tried one by one."""
        seen = super().look(image, problem, style)
        if seen.registration.likeness > WELL_LAID:
            return seen
        finest, given = len(LEVELS) - 1, given_board(self, problem, style)
        template, level = given.landmarks.template(finest), Scan(image).level(finest)
        fits = [template.fit(level, np.diag([zoom, zoom, 1.0]), 8, NARROW) for zoom in ZOOMS]
        matrix, likeness = max(fits, key=itemgetter(1))
        if likeness < WELL_LAID or np.abs(matrix - np.eye(3)).max() > MOST_WARP:
            return seen
        return self.laid(Registration(matrix, likeness, image), given)

    def tell(self, seen: Seen, problem: Problem[WordGrid], style: Style) -> Reading[WordGrid]:
        shades, ground = (
            np.array([parse_colour(style["cell"])], np.float64),
            np.zeros((seen.frame.rows, seen.frame.cols), np.intp),
        )
        draw = partial(self._framed, problem, style)
        soft = softened(seen, draw, np.array(list(style.colours().values()), np.float32))
        if soft is not None:
            seen = self.laid(soft, given_board(self, problem, style))
        turn = common_turn(
            seen.board,
            _mark_colours(style),
            turn_of(seen.drift, np.array([parse_colour(style[name]) for name in PAGE])),
        )
        drawn = _turned(style, turn)
        draw, colours = partial(self._framed, problem, drawn), np.array(_mark_colours(drawn), np.float64)
        outlines = read_frames(seen, style, colours, shades, ground, draw=draw)
        given = _letters(self, problem, style, len(seen.board) // seen.frame.rows)
        written = given.read(seen.board, outlines)
        named = written.named
        demand(named)
        letters = self.decode(named.symbols, problem, style).letters
        marks = _rows(_CODES[outlines.colours + 1])
        confidence = min(float(named.confidence.min()), outlines.confidence)
        position = WordGrid(letters, marks)

        def closer() -> tuple[Letters, Floats, Outlines]:
            board = closely(seen, CLOSER).board
            there = outlines.laid_on(Hues.of(board, outlines.own.marks, seen.frame.rows, FAINTEST))
            return _letters(self, problem, style, len(board) // seen.frame.rows), board, there

        def stain() -> str:
            given.demand_own_hand(written)
            darkest = float(colours.max(axis=1).min())
            drawn_on = _touched_letter(seen, outlines.colours >= 0, darkest) or given.scrawled(
                seen.board, outlines, written, closer if _has_more(seen) else None
            )
            if drawn_on is not None:
                return f"cell ({drawn_on.row}, {drawn_on.col})"
            plain, after = without_ink(seen, outlines), self.render(position, drawn)
            return stain_beside(outlines, plain, named.symbols, after, renderer=self, problem=problem, style=style)

        laid = seen.registration
        return Reading(position, confidence, named.quality, stain, laid.is_still, laid.matrix)

    def _framed(self, problem: Problem[WordGrid], style: Style, colours: NDArray[np.intp]) -> Pixels:
        """The clean picture of the given letters with borders of these colours (R, C), -1 for none."""
        return self.render(WordGrid(problem.position.letters, _rows(_CODES[colours + 1])), style).rgb()


def _touched_letter(seen: Seen, marked: NDArray[np.bool_], darkest: float) -> Cell | None:
    """A cell in which something was drawn: a small G is an O but for four pixels. Into those that are `marked` (R, C) a
    border's colour may reach, though not to their middle, but nothing else, nor what is much darker than the `darkest`
    of these; that is asked of pictures otherwise untouched."""
    page = page_of(seen)
    if page is None:
        return None
    gap = changes(page, seen)
    beside = cv2.dilate(marked.view(np.uint8), np.ones((3, 3), np.uint8)).view(bool) & ~marked
    far = given_drawn_on(page, gap, seen, ~marked & ~beside)
    near = far or (given_drawn_on(page, gap, seen, beside, lean=LEAN_OVER) if beside.any() else None)
    if near or not marked.any() or not are_still(gap, seen, ~marked & ~beside, UNTOUCHED):
        return near
    middle = given_drawn_on(page, gap, seen, marked, lean=DEEPEST)
    if middle:
        return middle
    value, least = most(page), cv2.bitwise_not(most(cv2.bitwise_not(page)))
    is_ink = cv2.min(
        cv2.compare(value, DARK * darkest, cv2.CMP_LT), cv2.compare(value, most(seen.page.at(SIDE).pixels), cv2.CMP_LT)
    )
    coloured = cv2.dilate(cv2.compare(cv2.subtract(value, least), TINTED, cv2.CMP_GT), BLEED)
    gap = cv2.min(gap, cv2.max(cv2.bitwise_not(coloured), is_ink))
    return given_drawn_on(page, gap, seen, marked, lean=BORDER)


def _widths(frame: Frame, style: Style) -> tuple[int, int]:
    """Those of grid lines and of highlights, in pixels."""
    line = scaled(style.number("line_width"), style.pixels)
    return line, frame_width(frame.cell, style.number("frame"), style.pixels)


@lru_cache(maxsize=256)
def _is_legible(renderer: WordSearchRenderer, style: Style, size: int) -> bool:
    """Whether no letter can pass for another in a picture that is compared pixel by pixel."""
    board = renderer.board(style, size, size)
    return apart(board.inks.palette(style.colours())[board.bank], style.pixels) >= APART


def _has_more(seen: Seen) -> bool:
    """Whether a picture has more pixels than it is read in."""
    frame, side = seen.frame, min(seen.registration.image.shape[:2])
    return side >= frame.pixels and min(CLOSER, frame.cell) * frame.rows > len(seen.board)


@lru_cache(maxsize=2 * GIVENS)
def _letters(renderer: WordSearchRenderer, problem: Problem[WordGrid], style: Style, n: int) -> Letters:
    """The letters as they were given, in cells of `n` pixels, kept for the next picture of a group."""
    size, symbols = problem.position.size, renderer.encode(problem.position, style)
    tiles, inset = tiles_at(renderer, style, size, size, n), max(1, round(renderer.inset * n)) + 1
    return Letters(join_cells(tiles[symbols]), tiles, symbols, style, slice(inset, n - inset))


def _bytes(rows: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(rows).encode(), np.uint8).reshape(len(rows), -1)


def _rows(codes: NDArray[np.uint8]) -> tuple[str, ...]:
    """The inverse of `_bytes`."""
    return tuple(row.tobytes().decode() for row in codes)


def _box_labels(canvas: Pixels, board: Board, line: int) -> None:
    """The grid goes on around the row and column numbers."""
    frame, ink = board.frame, board.inks.solid("line")
    band = round(frame.pixels * LABEL_BAND)
    for offset in range(line):
        canvas[frame.top + offset : frame.bottom + line : frame.cell, frame.left - band : frame.left] = ink
        canvas[frame.top - band : frame.top, frame.left + offset : frame.right + line : frame.cell] = ink
        canvas[frame.top - band + offset, frame.left - band : frame.right + line] = ink
        canvas[frame.top - band : frame.bottom + line, frame.left - band + offset] = ink


def _mark_colours(style: Style) -> tuple[Colour, ...]:
    return tuple(parse_colour(style[name]) for name in COLOURS)


def _turned(style: Style, turn: float) -> Style:
    """The look with the hues of its highlights turned by so many degrees."""
    if not turn:
        return style
    levels = turned(np.array(_mark_colours(style), np.float64), turn).round().astype(int)
    picks = dict(style.picks) | {
        name: "#" + bytes(each).hex() for name, each in zip(COLOURS, levels.tolist(), strict=True)
    }
    return replace(style, picks=tuple(picks.items()))


renderer = WordSearchRenderer()
