"""Sudoku in pictures: digits in many faces, or cells filled with colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Labels
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.core.stream import Stream
from gamegen.games.sudoku import BOXES, LARGEST_DIGIT, Grid
from renderers import skin as skin_file
from renderers.board import Board, BoardRenderer, Seen, reading_tiles
from renderers.glyphs import glyph
from renderers.inks import FULL, Coverage, Inks, Tile, compose
from renderers.page import scaled
from renderers.reading.classify import FAINT, FARTHEST, LOWEST_CONFIDENCE, Named
from renderers.reading.digits import has_ink, read_digits
from renderers.reading.register import Floats
from renderers.reading.tiles import split_cells
from renderers.shapes import disc, rectangle, stamp

DIGITS = LARGEST_DIGIT + 1
"""Symbols on one ground: empty, then 1 to 9."""

LETTERED = 9
"""From this size on columns have letters: `D3` is short where many cells are named, and is no digit of the puzzle."""

OWN_HAND, NO_HAND = 15.0, 24.0
"""A digit this far (root mean square, grey levels) from its tile may be in another face or ink, and surely is."""

SHARP, SHARP_EDGE = 44, 4
"""Pixels across a cell whose digit is read rather than recognised, and how many of them at its border are left out."""

INK_RANK = 0.985
"""The quantile of a sharp cell's pixels at which the strength of its ink is taken: even a thin 1 covers more."""

ANOTHER_HAND = 0.5
"""Confidence in a digit that was read, not recognised."""

_LINES = {"en": {"row": "row {}", "column": "column {}"}, "zh": {"row": "第{}行", "column": "第{}列"}}


class SudokuRenderer(BoardRenderer[Grid]):
    name = "sudoku"
    inset = 0.13  # the thickest box lines reach so far into a cell
    reading_side = 234

    def size(self, position: Grid) -> tuple[int, int]:
        return position.size, position.size

    def style(self, problem: Problem[Grid], *, skin: str, pixels: int, rng: Stream) -> Style:
        style = super().style(problem, skin=skin, pixels=pixels, rng=rng)
        if problem.position.size < LETTERED:
            return style
        return replace(style, picks=tuple((k, "1A" if k == "labels" else v) for k, v in style.picks))

    def terms(self, style: Style, language: str) -> Mapping[str, str]:
        return _terms(style.skin, style.labels, language)

    def symbols(self, style: Style) -> Sequence[str]:
        grounds = ("cell", "shade") if style.text("ground") == "boxes" else ("cell",)
        return [f"{digit}/{ground}" for ground in grounds for digit in range(DIGITS)]

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        digit, ground = symbol.split("/")
        if digit == "0":
            return np.full((n, n), inks.solid(ground), np.uint8)
        marks = style.text("marks")
        if marks == "digits":
            shape = stamp(n, glyph(digit, face=style.text("face"), height=round(n * style.number("height") / 100)))
            return compose(inks, n, [(shape, "ink")], ground)
        return compose(inks, n, [(_spot(marks, n), f"c{digit}")], ground)

    def encode(self, position: Grid, style: Style) -> NDArray[np.intp]:
        digits = np.array(position.digits, np.intp).reshape(position.size, position.size)
        return digits + DIGITS * _shaded(position.size) if style.text("ground") == "boxes" else digits

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> Grid:
        return Grid(problem.position.size, tuple((symbols % DIGITS).ravel().tolist()))

    def allowed(self, problem: Problem[Grid], style: Style) -> NDArray[np.bool_] | None:
        """Only the tiles on the cell's own ground."""
        size, count = problem.position.size, len(self.symbols(style))
        if count == DIGITS:
            return None
        own: NDArray[np.bool_] = np.arange(count) // DIGITS == _shaded(size)[:, :, None]
        return own

    def is_told_by_colour(self, style: Style) -> bool:
        return style.text("marks") != "digits"

    def steady(self, problem: Problem[Grid], style: Style) -> NDArray[np.bool_] | None:
        """The givens, where a full grid is asked for: it changes most of the picture."""
        if problem.kind == "next":
            return None
        given = np.array(problem.position.digits, bool)
        return given.reshape(problem.position.size, problem.position.size)

    def name_cells(self, seen: Seen, problem: Problem[Grid], style: Style) -> Named:
        """By the nearest tile; digits unlike every tile may still be plain digits in another hand."""
        named = super().name_cells(seen, problem, style)
        if style.text("marks") != "digits":
            return named
        doubtful = (named.distance > NO_HAND) | (named.confidence < LOWEST_CONFIDENCE)
        blank = named.symbols % DIGITS == 0
        blank[blank] = has_ink(self._insides(seen)[blank])
        asked = doubtful | blank | (named.distance > OWN_HAND)
        symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
        for (row, col), digit in zip(np.argwhere(asked), read_digits(_sharp(seen, asked)), strict=True):
            if digit is not None:
                symbols[row, col] += digit - symbols[row, col] % DIGITS
                confidence[row, col] = max(confidence[row, col], ANOTHER_HAND)
                distance[row, col] = min(distance[row, col], FARTHEST)
            elif doubtful[row, col] or blank[row, col]:
                confidence[row, col] = 0.0
        return replace(named, symbols=symbols, confidence=confidence, distance=distance)

    def _insides(self, seen: Seen) -> Floats:
        """(R, C, n, n, 3): the cells without their borders, as sharp as they were read."""
        cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)
        inset = max(2, round(self.inset * cells.shape[2]))
        return cells[:, :, inset:-inset, inset:-inset]

    def own_colours(self, style: Style) -> bool:
        """Digits may be written in any ink."""
        return style.text("marks") != "digits"

    def demand_full_strength(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> None:
        """Thin strokes are pale at the size in which cells are read; ink that is pale there is judged on sharp ones."""
        known = self.encode(problem.position, style)
        new = (symbols != known) & (symbols % DIGITS > 0) & (style.text("marks") == "digits")
        if new.any():
            pale = new.copy()
            pale[new] = _is_pale(self._insides(seen)[new], style)
            pale[pale] = _is_pale(_sharp(seen, pale), style)
            if pale.any():
                row, col = np.argwhere(pale)[0]
                raise UnreadableImage(f"the digit in cell ({row}, {col}) is written too faintly to be meant")
        super().demand_full_strength(seen, np.where(new, known, symbols), problem, style)

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> str:
        """New digits in another hand are unlike our tiles, but no stain: only plain digits were read as such."""
        new = (symbols != self.encode(problem.position, style)) & (symbols % DIGITS > 0)
        if style.text("marks") == "digits" and new.any():
            frame = seen.frame
            cells = split_cells(seen.board, frame.rows, frame.cols)[new]
            tiles = reading_tiles(self, style, frame.rows, frame.cols)[symbols[new]]
            gap = (cells - tiles).reshape(len(cells), -1)
            new[new] = other = np.einsum("ij,ij->i", gap, gap) > OWN_HAND**2 * gap.shape[1]
            if other.any():
                board = seen.board.copy()
                split_cells(board, frame.rows, frame.cols)[new] = tiles[other]
                seen = replace(seen, board=board)
        return super().find_stain(seen, symbols, problem, style)

    def finish(self, canvas: Pixels, board: Board, position: Grid, style: Style) -> None:
        """Thick lines around the boxes; around the whole where there are none."""
        frame, ink = board.frame, board.inks.solid("box")
        width = scaled(style.number("box_width"), frame.pixels)
        high, wide = BOXES[position.size] or (position.size, position.size)
        line = scaled(style.number("line_width"), frame.pixels)
        before = (width - line) // 2
        top, left, bottom, right = (at - before for at in (frame.top, frame.left, frame.bottom, frame.right))
        for y in range(top, bottom + 1, high * frame.cell):
            canvas[y : y + width, left : right + width] = ink
        for x in range(left, right + 1, wide * frame.cell):
            canvas[top : bottom + width, x : x + width] = ink


def _sharp(seen: Seen, asked: NDArray[np.bool_]) -> Floats:
    """(K, n, n, 3): the insides of the cells that are asked for, larger than cells are read otherwise."""
    if not asked.any():
        return np.empty((0, SHARP - 2 * SHARP_EDGE, SHARP - 2 * SHARP_EDGE, 3), np.float32)
    (top, bottom), (left, right) = (np.flatnonzero(asked.any(axis=axis))[[0, -1]].tolist() for axis in (1, 0))
    rows, cols = bottom + 1 - top, right + 1 - left
    x, y, far, low = seen.frame.box
    wide, high = (far - x) / seen.frame.cols, (low - y) / seen.frame.rows
    box = x + left * wide, y + top * high, x + (left + cols) * wide, y + (top + rows) * high
    board = seen.registration.crop(box, (cols * SHARP, rows * SHARP))
    inner = slice(SHARP_EDGE, -SHARP_EDGE)
    cells = split_cells(board, rows, cols)[asked[top : top + rows, left : left + cols]]
    return seen.drift.undo(np.ascontiguousarray(cells[:, inner, inner]))


def _is_pale(cells: Floats, style: Style) -> NDArray[np.bool_]:
    """(K,): in which cells (K, n, n, 3) the ink is weaker than digits are meant to be."""
    pixels = cells.reshape(len(cells), cells.shape[1] * cells.shape[2], 3)
    middle, rank = pixels.shape[1] // 2, round(INK_RANK * (pixels.shape[1] - 1))
    ground = np.partition(pixels, middle, axis=1)[:, middle]  # (K, 3)
    full = np.abs(ground - style.colours()["ink"]).max(axis=1)
    gap = np.abs(pixels - ground[:, None])
    drawn = np.maximum(np.maximum(gap[..., 0], gap[..., 1]), gap[..., 2])
    pale: NDArray[np.bool_] = np.partition(drawn, rank, axis=1)[:, rank] < FAINT * full
    return pale


def _spot(marks: str, n: int) -> Coverage:
    """What carries a colour: the whole cell, a rounded tile or a disc."""
    if marks == "fill":
        return np.full((n, n), FULL, np.uint8)
    if marks == "tile":
        return rectangle(n, box=(0.1, 0.1, 0.9, 0.9), radius=0.14)
    return disc(n, radius=0.36)


@lru_cache(maxsize=8)
def _shaded(size: int) -> NDArray[np.intp]:
    """(size, size): 1 in every other box."""
    shape = BOXES[size]
    if shape is None:
        return np.zeros((size, size), np.intp)
    row, col = np.indices((size, size))
    return (row // shape[0] + col // shape[1]) % 2


@lru_cache(maxsize=64)
def _terms(skin: str, labels: Labels, language: str) -> Mapping[str, str]:
    """Digits or colours, rows and columns, as the skin and its labels call them."""
    terms = {f"d{digit}": str(digit) for digit in range(1, DIGITS)}
    for place in range(max(BOXES)):
        terms[f"row-{place}"] = _LINES[language]["row"].format(labels.row(place))
        terms[f"column-{place}"] = _LINES[language]["column"].format(labels.col(place))
    return terms | dict(skin_file.say(renderer.skin_path, skin, language))


renderer = SudokuRenderer()
