"""Sudoku in pictures: digits in many faces, or cells filled with colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell, Labels
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.core.stream import Stream
from gamegen.games.sudoku import BOXES, Grid
from renderers import skin as skin_file
from renderers.board import (
    GIVENS,
    Board,
    BoardRenderer,
    Seen,
    given_board,
    reading_tiles,
    smooth_tiles,
    tiles_at,
)
from renderers.glyphs import glyph
from renderers.grid_lines import line_gone, lines_of
from renderers.inks import FULL, Coverage, Inks, Tile, compose
from renderers.page import scaled
from renderers.reading.classify import FAINT, FARTHEST, LOWEST_CONFIDENCE, MIXED, Named, demand_single, demand_unfaded
from renderers.reading.digits import has_ink, read_digits
from renderers.reading.kept import Kept
from renderers.reading.register import Floats
from renderers.reading.stains import Lines
from renderers.reading.tiles import join_cells, split_cells
from renderers.reading.traces import is_coarse
from renderers.shapes import disc, rectangle, stamp
from renderers.sudoku_marks import (
    Levels,
    drawn_over_colour,
    drawn_over_digit,
    in_two_inks,
    levels_around,
    not_ours,
)
from renderers.sudoku_pages import are_in_another_form, is_shaded_anew
from renderers.sudoku_reading import (
    BORDERS,
    DIGITS,
    LEANING,
    border_drawn_on,
    cut_mark,
    fill_gaps,
    half_digit,
    ink_strength,
    kept_ink,
    odd_colour,
    sharp,
    sure_of_colour,
    usual_gap,
    with_ground,
)
from renderers.touched import changes, first, given_drawn_on, page_of

LETTERED = 9
"""From this size on columns have letters: `D3` is short where many cells are named, and is no digit of the puzzle."""

OWN_HAND, NO_HAND = 15.0, 24.0
"""A digit this far (root mean square, grey levels) from its tile may be in another face or ink, and surely is."""

ANOTHER_HAND = 0.5
"""Confidence in a digit that was read, not recognised."""

HAND = 0.08
"""Share of a cell by which the border of a mark may be elsewhere than ours."""

DRIFTED, UNDONE, NEARER = 2.5, 15.0, 0.8
"""Grey levels, root mean square, by which most givens are off where their colours may have drifted; at most, where that
was undone; and the share of the first that must then be left at most."""

LARGER = {"tile": "large tile", "disc": "large disc"}
"""By the mark that carries a colour: the largest that others may draw in its place, with corners."""

ABOUT, HALF_ANOTHER, HALF_GONE = 0.15, 0.75, 0.95
"""A digit that is so near to half-way to another, or to nothing, is both if that explains so much of what is beyond
it: of right answers in other hands at most 0.7, and 0.84 of those that are thin."""

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
        return None if problem.kind == "next" else _given(problem.position)

    def look(self, image: Pixels, problem: Problem[Grid], style: Style) -> Seen:
        """The same, but most of a picture in which one cell is asked for may be bare ground, which does not tell how
        colours drifted. If most givens are off, it is told from them alone, if they are then as they were."""
        seen = super().look(image, problem, style)
        marks = style.text("marks")
        if problem.kind != "next" or marks == "digits":
            return seen
        given = _given(problem.position)
        off = usual_gap(seen, given, self.inset)
        if off < DRIFTED:
            return seen
        told = with_ground(given) if marks == "fill" else given
        try:
            again = self.laid(seen.registration, replace(given_board(self, problem, style), steady=told))
        except UnreadableImage:
            return seen
        return again if usual_gap(again, given, self.inset) < min(NEARER * off, UNDONE) else seen

    def name_cells(self, seen: Seen, problem: Problem[Grid], style: Style) -> Named:
        """By the nearest tile; digits unlike every tile may still be plain digits in another hand, but one that is torn
        between two tiles, and near to both, is in no other hand, and one that is as near to its tile as most that were
        given are cannot be another digit in one."""
        named = super().name_cells(seen, problem, style)
        if style.text("marks") != "digits":
            return self._by_colour(named, seen, problem, style)
        doubtful = (named.distance > NO_HAND) | (named.confidence < LOWEST_CONFIDENCE)
        blank = named.symbols % DIGITS == 0
        blank[blank] = has_ink(self._insides(seen)[blank])
        torn = (named.confidence < LOWEST_CONFIDENCE) & (named.distance <= MIXED) & (named.symbols % DIGITS > 0)
        asked = (doubtful & ~torn) | blank | (named.distance > OWN_HAND)
        given = self.encode(problem.position, style) % DIGITS > 0
        usual = np.median(named.distance[given]) if given.any() else 0.0
        as_given = ~doubtful & (named.distance <= usual)
        symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
        for (row, col), digit in zip(np.argwhere(asked), read_digits(sharp(seen, asked)), strict=True):
            if digit is not None and as_given[row, col] and digit != symbols[row, col] % DIGITS:
                confidence[row, col] = 0.0
            elif digit is not None:
                symbols[row, col] += digit - symbols[row, col] % DIGITS
                confidence[row, col] = max(confidence[row, col], ANOTHER_HAND)
                distance[row, col] = min(distance[row, col], FARTHEST)
            elif doubtful[row, col] or blank[row, col]:
                confidence[row, col] = 0.0
        return replace(named, symbols=symbols, confidence=confidence, distance=distance)

    def _by_colour(self, named: Named, seen: Seen, problem: Problem[Grid], style: Style) -> Named:
        """The same, surer of new marks that are of another size than ours and could be two: by their colour alone."""
        new = named.symbols != self.encode(problem.position, style)
        doubtful = new & (named.confidence < LOWEST_CONFIDENCE)
        if not doubtful.any():
            return named
        tiles = reading_tiles(self, style, seen.frame.rows, seen.frame.cols)
        cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)[doubtful]
        confidence = named.confidence.copy()
        spot = _inside(style.text("marks"), tiles.shape[1])
        confidence[doubtful] = sure_of_colour(cells[:, spot], tiles[:, spot], named.symbols[doubtful])
        return replace(named, confidence=np.maximum(confidence, named.confidence))

    def _insides(self, seen: Seen) -> Floats:
        """(R, C, n, n, 3): the cells without their borders, as sharp as they were read."""
        cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)
        inset = max(2, round(self.inset * cells.shape[2]))
        return cells[:, :, inset:-inset, inset:-inset]

    def own_colours(self, style: Style) -> bool:
        """Digits may be written in any ink."""
        return style.text("marks") != "digits"

    def demand_single(self, seen: Seen, named: Named, problem: Problem[Grid], style: Style) -> None:
        """A new colour that two others mix to is only a shade of its own, as orange is between red and yellow."""
        try:
            super().demand_single(seen, named, problem, style)
        except UnreadableImage:
            if style.text("marks") == "digits":
                raise
            self._demand_unmixed(seen, named, problem, style)

    def _demand_unmixed(self, seen: Seen, named: Named, problem: Problem[Grid], style: Style) -> None:
        """The same for colours: new ones must not be mixed of their own and another, the others of no two."""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known, numbers = self.encode(problem.position, style), np.arange(len(self.symbols(style)))
        own = (numbers == named.symbols[:, :, None]) | (named.symbols == known)[:, :, None]
        allowed = self.allowed(problem, style)
        for other in range(DIGITS):
            pair = own | (numbers % DIGITS == other)
            free = pair if allowed is None else pair & allowed
            demand_single(seen.cells, tiles, named, before=known, allowed=free)
        demand_unfaded(seen.cells, tiles, named, before=known)

    def demand_full_strength(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> None:
        """Thin strokes are pale at the size in which cells are read; ink that is pale there is judged on sharp ones, by
        what the givens have kept of theirs."""
        known = self.encode(problem.position, style)
        new = (symbols != known) & (symbols % DIGITS > 0) & (style.text("marks") == "digits")
        if new.any():
            pale = new.copy()
            pale[new] = ink_strength(self._insides(seen)[new], style) < FAINT
            if pale.any():
                least = FAINT * kept_ink(seen, _given(problem.position), self.inset, style)
                inner = slice(LEANING, -LEANING)
                pale[pale] = ink_strength(sharp(seen, pale)[:, inner, inner], style) < least
            if pale.any():
                row, col = np.argwhere(pale)[0]
                raise UnreadableImage(f"the digit in cell ({row}, {col}) is written too faintly to be meant")
        super().demand_full_strength(seen, np.where(new, known, symbols), problem, style)

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> str:
        """New digits in another hand are unlike our tiles, but no stain: only plain digits were read as such."""
        new = (symbols != self.encode(problem.position, style)) & (symbols % DIGITS > 0)
        digits, boxes = style.text("marks") == "digits", _shaded(seen.frame.rows)
        if digits and boxes.any() and is_shaded_anew(seen, boxes, style):
            raise UnreadableImage("the board has been drawn anew, in another look")
        ours = self._in_our_hand(seen, symbols, new, style) if digits else seen
        stain = super().find_stain(ours, symbols, problem, style)
        if stain and not digits and new.any() and odd_colour(seen, new, style) is None:
            tiles = reading_tiles(self, style, seen.frame.rows, seen.frame.cols)
            stain = super().find_stain(fill_gaps(seen, symbols, new, tiles, style), symbols, problem, _larger(style))
        if stain or not new.any():
            return stain
        if digits:
            cell = half_digit(seen, symbols, new, reading_tiles(self, style, seen.frame.rows, seen.frame.cols))
        else:
            cell = cut_mark(seen, new, _inside(style.text("marks"), len(seen.board) // seen.frame.rows))
        if cell is None and style.text("marks") in BORDERS:
            cell = border_drawn_on(seen, new, _bare(style, seen.frame.rows, len(seen.board)), style)
        cell = cell or self._drawn_over(seen, new, symbols, _given(problem.position), style)
        cell = cell or (self._mixed_digit(seen, symbols, problem, style) if digits else None)
        marked, page = symbols % DIGITS > 0, page_of(seen) if cell is None else None
        if page is not None:
            gap = changes(page, seen)
            if not digits and are_in_another_form(gap, seen, marked & ~new):
                raise UnreadableImage("the board has been drawn anew, in another look")
            cell = given_drawn_on(page, gap, seen, marked & ~new)
            cell = cell or line_gone(page, seen, _lines(style, seen.frame.rows), marked & (not digits), style)
        return f"cell ({cell.row}, {cell.col})" if cell else ""

    def _drawn_over(
        self,
        seen: Seen,
        new: NDArray[np.bool_],
        symbols: NDArray[np.intp],
        given: NDArray[np.bool_],
        style: Style,
    ) -> Cell | None:
        """A new cell in which there is more than one digit or one colour, unless the picture has no edges at all."""
        marks, colours = style.text("marks"), style.colours()
        new = not_ours(seen, new, symbols, smooth_tiles(self, style, seen.frame.rows, seen.frame.cols))
        if not new.any():
            return None
        bare = _bare_levels(style, seen.frame.rows, len(seen.board))
        if marks == "digits":
            cell = drawn_over_digit(seen, new, given, bare, is_dark=sum(colours["cell"]) < sum(colours["ink"]))
            cell = cell or in_two_inks(seen, new)
        else:
            cell = drawn_over_colour(seen, new, given, bare, is_disc=marks == "disc")
        return None if cell and is_coarse(seen.registration.image) else cell

    def _mixed_digit(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Grid], style: Style) -> Cell | None:
        """A digit that is half of another, or half wiped out; new ones in another hand are neither."""
        if not _given(problem.position).any():
            return None
        kept = _kept(self, problem, style, len(seen.board) // seen.frame.rows)
        amount = kept.amount(seen.board)
        mixing = kept.mixing(amount)
        mixed = kept.mixed(mixing)
        named = kept.named(amount, np.ones(amount.shape, bool), mixing, mixed)
        odd = (named.symbols != kept.given) | (named.confidence < LOWEST_CONFIDENCE)
        digits = symbols % DIGITS > 0
        share, explained, towards = kept.halves(amount, mixing, mixed, symbols, digits)
        enough = np.where(towards % DIGITS > 0, HALF_ANOTHER, HALF_GONE)
        odd[digits] |= (np.abs(share - 0.5) < ABOUT) & (explained > enough)
        return first(odd)

    def _in_our_hand(self, seen: Seen, symbols: NDArray[np.intp], new: NDArray[np.bool_], style: Style) -> Seen:
        """The same with our own tiles in place of new digits that are far from them."""
        if not new.any():
            return seen
        frame = seen.frame
        cells = split_cells(seen.board, frame.rows, frame.cols)[new]
        tiles = reading_tiles(self, style, frame.rows, frame.cols)[symbols[new]]
        gap = (cells - tiles).reshape(len(cells), -1)
        other = np.einsum("ij,ij->i", gap, gap) > OWN_HAND**2 * gap.shape[1]
        if not other.any():
            return seen
        foreign = new.copy()
        foreign[new] = other
        board = seen.board.copy()
        split_cells(board, frame.rows, frame.cols)[foreign] = tiles[other]
        return replace(seen, board=board)

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


@lru_cache(maxsize=2 * GIVENS)
def _kept(renderer: SudokuRenderer, problem: Problem[Grid], style: Style, n: int) -> Kept:
    """The given digits, in cells of `n` pixels, kept for the next picture of a group."""
    size, symbols = problem.position.size, renderer.encode(problem.position, style)
    tiles, colours, edge = tiles_at(renderer, style, size, size, n), style.colours(), round(renderer.inset * n) + 1
    ground, ink = (np.array(colours[name], np.float32) for name in ("cell", "ink"))
    return Kept(
        join_cells(tiles[symbols]),
        tiles,
        symbols,
        ground=ground,
        ink=ink,
        inner=slice(edge, n - edge),
        edge=edge,
        asked=_given(problem.position),
        rivals=np.equal.outer(np.arange(len(tiles)) // DIGITS, np.arange(len(tiles)) // DIGITS),
    )


@lru_cache(maxsize=2)
def _empty(style: Style, size: int) -> Pixels:
    """(H, W, 3): the page with nothing in its cells."""
    return renderer.render(Grid(size, (0,) * size**2), style).rgb()


@lru_cache(maxsize=64)
def _lines(style: Style, size: int) -> tuple[Lines, Lines]:
    grounds = [style.colours()[name] for name in ("cell", "shade") if name in style.colours()]
    return lines_of(_empty(style, size), renderer.board(style, size, size).frame, grounds)


@lru_cache(maxsize=64)
def _bare(style: Style, size: int, side: int) -> Floats:
    """(side, side, 3): a board with nothing but its lines, at the size in which it is read."""
    frame = renderer.board(style, size, size).frame
    board = _empty(style, size)[frame.top : frame.bottom, frame.left : frame.right]
    return np.asarray(cv2.resize(board, (side, side), interpolation=cv2.INTER_AREA), np.float32)


@lru_cache(maxsize=64)
def _bare_levels(style: Style, size: int, side: int) -> Levels:
    """What is around the pixels of such a board."""
    return levels_around(_bare(style, size, side))


@lru_cache(maxsize=64)
def _larger(style: Style) -> Style:
    """The same look with marks of colour as large as anybody draws them."""
    return replace(style, picks=tuple((k, LARGER.get(str(v), v) if k == "marks" else v) for k, v in style.picks))


@lru_cache(maxsize=64)
def _inside(marks: str, n: int) -> NDArray[np.bool_]:
    """(n, n): the pixels that a mark of colour covers in whatever hand it is drawn."""
    reach = 2 * max(1, round(HAND * n)) + 1
    inside = cv2.erode((_spot(marks, n) == FULL).astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    edge = round(renderer.inset * n) + 1
    free = np.zeros((n, n), bool)
    free[edge:-edge, edge:-edge] = inside[edge:-edge, edge:-edge]
    return free


def _spot(marks: str, n: int) -> Coverage:
    """What carries a colour: the whole cell, a rounded tile or a disc; or the largest of these."""
    if marks == "fill":
        return np.full((n, n), FULL, np.uint8)
    if marks == "tile":
        return rectangle(n, box=(0.1, 0.1, 0.9, 0.9), radius=0.14)
    if marks == "large tile":
        return rectangle(n, box=(0.05, 0.05, 0.95, 0.95))
    return disc(n, radius=0.36 if marks == "disc" else 0.41)


def _given(position: Grid) -> NDArray[np.bool_]:
    """(size, size): the cells with something in them."""
    return np.array(position.digits, bool).reshape(position.size, position.size)


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
