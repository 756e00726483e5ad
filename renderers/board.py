"""Boards of cells: painted from tile banks, read back tile by tile.

A game says which symbols its cells can show (`symbols`), how each is painted (`paint`), and how a position becomes an
array of symbol numbers and back (`encode`, `decode`). Everything else is shared: page, labels, grid lines, palettes,
masks, reading.

What depends only on geometry (skin, picture size, board size, widths, faces) is drawn once and kept: the page with its
labels and a bank with one tile a symbol. A picture then is one copy of the page and one `take` from the bank, and its
colours are one small palette. Nothing is drawn cell by cell.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import P, Problem
from gamegen.core.rendering import Picture, Pixels, Reading, Renderer, Style
from gamegen.core.stream import Stream
from renderers import skin as skin_file
from renderers.glance import flat_tiles, guessed
from renderers.inks import Inks, Tile
from renderers.page import Frame, draw_labels, draw_outline, scaled
from renderers.reading.classify import (
    Named,
    classify,
    demand,
    demand_full_strength,
    demand_single,
    demand_unfaded,
    smooth,
    smooth_board,
)
from renderers.reading.colour import Drift, demand_colours, drift_between
from renderers.reading.pages import Page
from renderers.reading.register import Floats, Landmarks, Registration, Scan, noting_where, register
from renderers.reading.stains import stained_cell
from renderers.reading.tiles import Tiles, join_cells, split_cells
from renderers.reading.traces import AsLaid, find_traces

MOST_RECOLOURING = 45.0
"""A colour drift beyond this is no drift: hue turned by 15 degrees and saturation by a fifth stay well below."""

EDGES = np.array([[1.0, -2.0, 1.0]], np.float32)
"""How hard the edges along a row are: its second differences."""

GEOMETRIES = 256
"""How many drawn pages are kept: 256 KB each, and quickly drawn anew."""

GIVENS = 64
"""How many problems are kept prepared for judging: 1 to 2 MB each. Pictures to judge come in groups of one problem."""

BANKS = 2048
"""How many banks of tiles are kept: mostly under 100 KB, and slow to paint."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Everything about a look that does not depend on colours or on the position."""

    frame: Frame
    page: Pixels  # (H, W): ground, labels, outer line
    bank: Pixels  # (K, cell, cell): one tile a symbol
    inks: Inks


class BoardRenderer(Renderer[P]):
    """The renderer of a game that is played on a grid of cells."""

    name: str
    """The game's name, and that of its skin file."""

    inset: float = 0.06
    """Share of a cell, at its border, that reading leaves out: grid lines, and what leans over from next door."""

    reading_cell, reading_side = 36, 360
    """Cells are read at most so large, and the whole board about so large, in pixels: time is spent on both."""

    page_picks: frozenset[str] = frozenset({"labels"})
    """Picks that only the page shows and no tile: looks that differ in nothing else share their tiles."""

    thin_marks: bool = True
    """Whether editors may draw marks so thinly that the ground shines through."""

    glances: bool = False
    """Whether all that a position shows is in its tiles, so that a still page can be told at a glance."""

    meaning: NDArray[np.intp] | None = None
    """By the number of each symbol, the first one that means the same; None if no two do."""

    # What a game says of itself -----------------------------------------------------------------------------------

    @abstractmethod
    def size(self, position: P) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def symbols(self, style: Style) -> Sequence[str]:
        """Everything a cell can show in this skin; a symbol's number is its place here."""

    @abstractmethod
    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        """The tile (n, n) of a symbol, without grid lines."""

    @abstractmethod
    def encode(self, position: P, style: Style) -> NDArray[np.intp]:
        """(R, C) symbol numbers."""

    @abstractmethod
    def decode(self, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> P:
        """The position that shows these symbols: the inverse of `encode`."""

    def allowed(self, problem: Problem[P], style: Style) -> NDArray[np.bool_] | None:
        """(R, C, K): which symbols a cell can show at all (dark and light squares…); None if all can."""
        return None

    def halves(self, problem: Problem[P], style: Style) -> NDArray[np.bool_] | None:
        """(R, C, K): of which symbols a cell that shows two things at once may show half; None if of all."""
        return self.allowed(problem, style)

    def steady(self, problem: Problem[P], style: Style) -> NDArray[np.bool_] | None:
        """(R, C): cells that no answer changes, if the others may change beyond recognition (whole cells filled with
        colours); the board and its colour drift are then told from these alone. None if all cells can serve."""
        return None

    def shaky(self, problem: Problem[P], style: Style) -> NDArray[np.bool_] | None:
        steady = self.steady(problem, style)
        return None if steady is None else self.board(style, *steady.shape).frame.over(~steady)

    def landmarks(self, problem: Problem[P]) -> P:
        """The position whose picture an edited one is laid onto: if most things may move, one without them."""
        return problem.position

    def own_colours(self, style: Style) -> bool:
        """Whether what an editor draws must be in the look's own colours, or near them."""
        return True

    def is_told_by_colour(self, style: Style) -> bool:
        """Whether marks differ in colour more than in shape, so that a picture of few colours says nothing."""
        return True

    def finish(self, canvas: Pixels, board: Board, position: P, style: Style) -> None:
        """Draw what is not in the tiles: thick box lines, and the like. Only slices, no loops over cells."""

    def label_every(self, count: int) -> int:
        """Large boards label every n-th row and column."""
        return 1 if count <= 24 else 5

    # The contract, for all of them ----------------------------------------------------------------------------------

    @property
    def skin_path(self) -> Path:
        return skin_file.path_of(self.name)

    @property
    def skins(self) -> Sequence[str]:
        return skin_file.names(self.skin_path)

    def style(self, problem: Problem[P], *, skin: str, pixels: int, rng: Stream) -> Style:
        return skin_file.pick(self.skin_path, skin, pixels=pixels, rng=rng)

    def terms(self, style: Style, language: str) -> Mapping[str, str]:
        return skin_file.say(self.skin_path, style.skin, language)

    def render(self, position: P, style: Style) -> Picture:
        board = self.board(style, *self.size(position))
        frame = board.frame
        canvas = board.page.copy()
        strips = board.bank.transpose(1, 0, 2).take(self.encode(position, style), axis=1)  # (n, R, C, n)
        area = canvas[frame.top : frame.bottom, frame.left : frame.right].reshape(frame.rows, frame.cell, -1)
        area[...] = strips.reshape(frame.cell, frame.rows, -1).transpose(1, 0, 2)
        self.finish(canvas, board, position, style)
        return Picture(canvas, _palette(board.inks, style))

    def mask(self, cells: frozenset[Cell], position: P, style: Style) -> NDArray[np.bool_]:
        frame = self.board(style, *self.size(position)).frame
        small = np.zeros((frame.rows, frame.cols), bool)
        places = np.fromiter(chain.from_iterable(cells), np.intp, 2 * len(cells))
        small[places[::2], places[1::2]] = True
        return frame.over(small)

    def glance(self, image: Pixels, problem: Problem[P], style: Style) -> P | None:
        rows, cols = self.size(problem.position)
        tiles = flat_tiles(self, style, rows, cols) if self.glances else None
        if tiles is None:
            return None
        given, before = given_board(self, problem, style), self.encode(problem.position, style)
        symbols = guessed(image, given.page.picture, given.frame, before, tiles)
        if symbols is None:
            return None
        return self.decode(symbols if self.meaning is None else self.meaning[symbols], problem, style)

    def read(self, image: Pixels, problem: Problem[P], style: Style) -> Reading[P]:
        seen = self.look(image, problem, style)
        with noting_where(seen.registration):
            return self.tell(seen, problem, style)

    def tell(self, seen: Seen, problem: Problem[P], style: Style) -> Reading[P]:
        """What a picture shows that was laid onto the board."""
        named = self.name_cells(seen, problem, style)
        demand(named)
        self.demand_single(seen, named, problem, style)
        self.demand_full_strength(seen, named.symbols, problem, style)
        position = self.decode(named.symbols, problem, style)
        stain = partial(self.find_stain, seen, named.symbols, problem, style)
        laid = seen.registration
        return Reading(position, float(named.confidence.min()), named.quality, stain, laid.is_still, laid.matrix)

    # Parts that games with more than tiles (strokes, frames, several panels) build their own reading from ------------

    def board(self, style: Style, rows: int, cols: int) -> Board:
        """The drawn geometry of a look, kept for the next sample of the same geometry."""
        return _board_now(self, style, rows, cols)

    def look(self, image: Pixels, problem: Problem[P], style: Style) -> Seen:
        """Lay the picture onto the board that was given."""
        given = given_board(self, problem, style)
        registration = register(Scan(image), given.landmarks)
        with noting_where(registration):
            if self.is_told_by_colour(style):
                demand_colours(registration.image, given.page.picture)
            return self.laid(registration, given)

    def laid(self, registration: Registration, given: Given) -> Seen:
        """The board where a picture shows it, brought to reading size, its colour drift undone."""
        frame, steady = given.frame, given.steady
        raw = registration.crop(frame.box, (given.cells.shape[1], given.cells.shape[0]))
        drift = drift_between(*(_cells_of(each, frame, steady) for each in (raw, given.cells)))
        if drift.recolouring(raw) > MOST_RECOLOURING:
            raise UnreadableImage("the board has been redrawn in other colours")
        return Seen(registration, drift, drift.undo(raw), given.cells, frame, given.page)

    def name_cells(self, seen: Seen, problem: Problem[P], style: Style) -> Named:
        """Every cell by the nearest tile of the skin."""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known = self.encode(problem.position, style)
        return classify(seen.cells, tiles, allowed=self.allowed(problem, style), known=known)

    def demand_single(self, seen: Seen, named: Named, problem: Problem[P], style: Style) -> None:
        """Raise UnreadableImage if a cell shows two things at once, or hardly what it showed before."""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known, halves = self.encode(problem.position, style), self.halves(problem, style)
        demand_single(seen.cells, tiles, named, before=known, allowed=halves, thin=self.thin_marks)
        demand_unfaded(seen.cells, tiles, named, before=known)

    def demand_full_strength(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> None:
        """Raise UnreadableImage if a cell shows both what it was and what it became."""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known = self.encode(problem.position, style)
        demand_full_strength(seen.cells, tiles, known, symbols, where=symbols != known)

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[P], style: Style) -> str:
        """Where something was drawn that belongs to no symbol: a cell, a label, the margin; empty if nowhere."""
        tiles = smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        known = self.encode(problem.position, style)
        cell = stained_cell(seen.cells, tiles, symbols, symbols != known, inset=tiles.inset, before=known)
        if cell is not None:
            return f"cell ({cell.row}, {cell.col})"
        after = self.render(self.decode(symbols, problem, style), style)
        changed = symbols != known
        return find_traces(
            seen.registration,
            seen.drift,
            seen.page,
            after,
            changed,
            own_colours=self.own_colours(style),
            as_laid=self.as_laid(after, seen, symbols, changed, style),
        )

    def as_laid(
        self, after: Picture, seen: Seen, symbols: NDArray[np.intp], changed: NDArray[np.bool_], style: Style
    ) -> AsLaid | None:
        """How to draw `after`, the clean picture of these symbols, with the things in changed cells (R, C) where an
        editor laid them; None if they can only be where ours are."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What an editor was given, prepared for laying edited pictures onto it."""

    landmarks: Landmarks
    cells: Floats  # (R*n, C*n, 3): the board at reading size
    frame: Frame
    page: Page
    steady: NDArray[np.bool_] | None  # (R, C), see `BoardRenderer.steady`


@dataclass(frozen=True, eq=False)
class Seen:
    """An edited picture, laid onto the board and brought to reading size."""

    registration: Registration
    drift: Drift
    board: Floats  # (R*n, C*n, 3): the cells as the editor left them, colour drift undone
    known: Floats  # (R*n, C*n, 3): the cells as the editor was given them
    frame: Frame
    page: Page  # as the editor was given it

    @cached_property
    def cells(self) -> Floats:
        """(R, C, n, n, 3): the board cell by cell, each smoothed a little."""
        return split_cells(smooth_board(self.board), self.frame.rows, self.frame.cols)

    @cached_property
    def crispness(self) -> float:
        """How much harder edges are than they were: the fringes along hard ones show colours that nobody drew."""
        now, before = (
            cv2.norm(cv2.filter2D(part[::4], -1, EDGES)[:, 1:-1], cv2.NORM_L1) for part in (self.board, self.known)
        )
        return now / max(before, 1e-6)


def _cells_of(board: Floats, frame: Frame, chosen: NDArray[np.bool_] | None) -> Floats:
    """The chosen cells of a board (R*n, C*n, 3), one below the other; the board itself if none are."""
    if chosen is None or not chosen.any():
        return board
    return split_cells(board, frame.rows, frame.cols)[chosen].reshape(-1, board.shape[1] // frame.cols, 3)


@lru_cache(maxsize=1024)
def _shape(style: Style) -> tuple[tuple[str, str | int], ...]:
    """The picks that change shapes: all but the colours."""
    return tuple((k, v) for k, v in style.picks if not (isinstance(v, str) and v.startswith("#")))


@lru_cache(maxsize=8)
def _board_now(renderer: BoardRenderer[P], style: Style, rows: int, cols: int) -> Board:
    """The board of the sample in hand, which is asked for several times over."""
    return _board(renderer, style.skin, style.pixels, _shape(style), rows, cols)


@lru_cache(maxsize=GEOMETRIES)
def _board(
    renderer: BoardRenderer[P], skin: str, pixels: int, shape: tuple[tuple[str, str | int], ...], rows: int, cols: int
) -> Board:
    frame = Frame.fit(pixels, rows, cols)
    on_tiles = tuple(pick for pick in shape if pick[0] not in renderer.page_picks)
    bank, inks = _bank(renderer, skin, pixels, on_tiles, frame.cell)
    style = Style(skin, pixels, shape)
    page = np.full((pixels, pixels), inks.solid("page"), np.uint8)
    draw_outline(page, frame, scaled(style.number("line_width"), pixels), inks)
    every = renderer.label_every(rows), renderer.label_every(cols)
    draw_labels(page, frame, style, inks, every)
    page.setflags(write=False)
    return Board(frame, page, bank, inks)


@lru_cache(maxsize=BANKS)
def _bank(
    renderer: BoardRenderer[P], skin: str, pixels: int, shape: tuple[tuple[str, str | int], ...], cell: int
) -> tuple[Pixels, Inks]:
    """The tiles and their inks: shared by boards of all shapes and labels whose cells have the same size."""
    colours = sorted(skin_file.load(renderer.skin_path)[skin]["palettes"][0])
    style = Style(skin, pixels, tuple(sorted([*shape, *((name, "#000000") for name in colours)])))
    inks = Inks(colours)
    # Lines of pixels first, then symbols: a row of cells is then taken line by line, in large pieces of memory.
    strips = np.stack([renderer.paint(symbol, cell, style, inks) for symbol in renderer.symbols(style)], axis=1)
    bank = strips.transpose(1, 0, 2)
    line = scaled(style.number("line_width"), pixels)
    if line:
        bank[:, :line, :] = inks.solid("line")
        bank[:, :, :line] = inks.solid("line")
    inks.ramp("page", "label")
    bank.setflags(write=False)
    return bank, inks


@lru_cache(maxsize=1024)
def _palette(inks: Inks, style: Style) -> Pixels:
    return inks.palette(style.colours())


@lru_cache(maxsize=64)
def reading_tiles(renderer: BoardRenderer[P], style: Style, rows: int, cols: int) -> Floats:
    """(K, n, n, 3): the bank in the look's colours, at the size in which cells are read."""
    n = max(8, min(renderer.reading_cell, renderer.reading_side // max(rows, cols)))
    return tiles_at(renderer, style, rows, cols, min(n, renderer.board(style, rows, cols).frame.cell))


def tiles_at(renderer: BoardRenderer[P], style: Style, rows: int, cols: int, n: int) -> Floats:
    """(K, n, n, 3): the same at another size."""
    board = renderer.board(style, rows, cols)
    tiles = _palette(board.inks, style)[board.bank].astype(np.float32)  # (K, cell, cell, 3)
    shrink = _averages(board.frame.cell, n).astype(np.float32)
    small: Floats = np.einsum("ij,kjlc,ml->kimc", shrink, tiles, shrink, optimize=True)
    return np.ascontiguousarray(small)


@lru_cache(maxsize=64)
def smooth_tiles(renderer: BoardRenderer[P], style: Style, rows: int, cols: int) -> Tiles:
    """The reading tiles, each smoothed a little: what cells are compared with."""
    small = reading_tiles(renderer, style, rows, cols)
    inset = max(1, round(renderer.inset * small.shape[1]))
    return Tiles(smooth(small), inset=inset, meaning=renderer.meaning)


@lru_cache(maxsize=GIVENS)
def given_board(renderer: BoardRenderer[P], problem: Problem[P], style: Style) -> Given:
    """The board of a problem as its editor was given it, kept for the next picture of a group."""
    before = problem.position
    rows, cols = renderer.size(before)
    frame = renderer.board(style, rows, cols).frame
    steady = renderer.steady(problem, style)
    marks = renderer.render(renderer.landmarks(problem), style).grey()
    return Given(
        Landmarks(marks, shaky=renderer.shaky(problem, style)),
        join_cells(reading_tiles(renderer, style, rows, cols)[renderer.encode(before, style)]),
        frame,
        Page(renderer.render(before, style), frame),
        steady,
    )


@lru_cache(maxsize=64)
def _averages(old: int, new: int) -> Floats:
    """(new, old): each new pixel is the mean of the old ones it covers."""
    edges = np.arange(new + 1) * old / new
    low, high = edges[:-1, None], edges[1:, None]
    pixel = np.arange(old)[None, :]
    overlap: Floats = np.minimum(high, pixel + 1) - np.maximum(low, pixel)
    shares: Floats = np.maximum(overlap, 0) * new / old
    return shares
