"""Word search in pictures: letters in cells, and coloured borders around them.

Letters are read like any other tile, from the inside of a cell; borders by their colour, see `reading/outlines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Reading, Style, parse_colour
from gamegen.games.wordsearch import ALPHABET, BLANK, COLOURS, UNMARKED, WordGrid
from renderers.board import GIVENS, Board, BoardRenderer, Seen, given_board, smooth_tiles
from renderers.frames import demand_single_inside, draw_frames, frame_width, read_frames, stain_beside, without_ink
from renderers.glyphs import glyph
from renderers.inks import Inks, Tile, blend
from renderers.page import LABEL_BAND, scaled
from renderers.reading.classify import LOWEST_CONFIDENCE, NOISE, Named, demand
from renderers.reading.fit import MOST_WARP, NARROW
from renderers.reading.hand import Hand, brightness
from renderers.reading.outlines import over_cells
from renderers.reading.register import LEVELS, Floats, Registration, Scan
from renderers.reading.sharpening import middles
from renderers.reading.tiles import distances, insides
from renderers.shapes import stamp

SYMBOLS = ALPHABET + BLANK
SMALLEST = 7
"""Capitals are at least this many pixels high."""

WELL_LAID, ZOOMS = 0.8, np.arange(0.94, 1.07, 0.015)
"""Likeness above which a picture is laid well onto the given one; and zooms that are tried where it is not."""

UNTOUCHED = 6.0
"""Grey levels, on average, by which the middle of a cell may be off once sharpening is undone: clean ones are off by up
to 3, those with half of another letter by 16."""

LIKE_BEFORE, LIKE_NEITHER = 0.72, 0.6
"""Another letter than before is believed only if it fits so much better: below the second share of the distance to the
letter that was there. Above the first it is the letter that was there; between them nobody can say."""

WORSE = 1.12
"""The picture is bad all over where letters are hard to read: one so much worse than all others was drawn over."""

_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))
_LETTERS = np.frombuffer(SYMBOLS.encode(), np.uint8)
_CODES = np.frombuffer("".join([UNMARKED, *COLOURS.values()]).encode(), np.uint8)

TWINS = 5.0
"""Letters whose middles differ by less, in grey levels on average, are told apart by their whole cells."""

TAIL = 0.35
"""So much of the way from one such letter to the other may be drawn."""

INSIDE = (slice(1, -1), slice(1, -1))
"""Where they are told apart: borders bleed in farther out."""

OWN_LETTERS = ((28, 0.94), (20, 0.89), (0, 0.76))
"""What the given letters must explain of those in cells of so many pixels: bad pictures keep 0.967, 0.939 and 0.798 of
it, other faces have up to 0.916, 0.848 and 0.794. Small letters are much alike in all faces."""

OWN_BOARD = 0.71
"""What the given board must explain of the whole: bad pictures keep 0.75, most other skins have less than 0.68."""


class WordSearchRenderer(BoardRenderer[WordGrid]):
    name = "wordsearch"
    inset = 0.13
    reading_cell = 28
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
        frame, line = board.frame, scaled(style.number("line_width"), style.pixels)
        if style.text("header") == "boxed":
            _box_labels(canvas, board, line)
        width = frame_width(frame.cell, style.number("frame"), style.pixels)
        draw_frames(canvas, board, _bytes(position.marks), COLOURS, line=line, width=width)

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

    def read(self, image: Pixels, problem: Problem[WordGrid], style: Style) -> Reading[WordGrid]:
        seen = self.look(image, problem, style)
        shades, ground = (
            np.array([parse_colour(style["cell"])], np.float64),
            np.zeros((seen.frame.rows, seen.frame.cols), np.intp),
        )
        draw = partial(self._framed, problem, style)
        outlines = read_frames(seen, style, _mark_colours(style), shades, ground, draw=draw)
        drawn = plain = without_ink(seen, outlines)
        if outlines.undone is not None:
            plain = without_ink(replace(seen, board=outlines.undone), outlines)
        named = self._settled(self.name_cells(plain, problem, style), plain, problem, style)
        demand(named)
        if outlines.undone is not None:
            self._demand_untouched(plain, named.symbols, problem, style)
        self._demand_own_hand(drawn, named.symbols, problem, style)
        self._demand_tails(plain, named.symbols, problem, style)
        self.demand_single(plain, named, problem, style)
        demand_single_inside(outlines, plain, named, renderer=self, problem=problem, style=style)
        letters = self.decode(named.symbols, problem, style).letters
        marks = _rows(_CODES[outlines.colours + 1])
        confidence = min(float(named.confidence.min()), outlines.confidence)
        position = WordGrid(letters, marks)

        def stain() -> str:
            after = self.render(position, style)
            return stain_beside(outlines, plain, named.symbols, after, renderer=self, problem=problem, style=style)

        return Reading(position, confidence, named.quality, stain)

    def _framed(self, problem: Problem[WordGrid], style: Style, colours: NDArray[np.intp]) -> Pixels:
        """The clean picture of the given letters with borders of these colours (R, C), -1 for none."""
        return self.render(WordGrid(problem.position.letters, _rows(_CODES[colours + 1])), style).rgb()

    def _demand_untouched(
        self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[WordGrid], style: Style
    ) -> None:
        """Raise UnreadableImage if a letter that is read as it was is not just that, sharpening undone."""
        off = middles(cv2.absdiff(seen.board, seen.known), seen.frame.rows).mean(axis=(1, 3, 4))
        touched = (off > UNTOUCHED) & (symbols == self.encode(problem.position, style))
        if touched.any():
            row, col = np.argwhere(touched)[0]
            raise UnreadableImage(f"something was drawn over the letter in cell ({row}, {col})")

    def _demand_own_hand(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[WordGrid], style: Style) -> None:
        """Raise UnreadableImage if the board, of which no answer changes a letter or line, was drawn anew.

        Cells whose letter became another one say nothing: that letter is wrong in any hand.
        """
        letters, whole = _hands(self, problem, style)
        n = len(seen.board) // seen.frame.rows
        enough = next(share for least, share in OWN_LETTERS if n >= least)
        changed = symbols != self.encode(problem.position, style)
        board = seen.board
        if changed.any():
            board = cv2.copyTo(seen.known, over_cells(changed, n).view(np.uint8), board.copy())
        grey = brightness(board)
        if letters.explains(grey) < enough or whole.explains(grey) < OWN_BOARD:
            raise UnreadableImage("the letters have been written anew, in another hand")

    def _demand_tails(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[WordGrid], style: Style) -> None:
        """Raise UnreadableImage if a letter that seems to have stayed has become one that differs only where borders
        go: small O and Q do."""
        given, tiles = self.encode(problem.position, style), smooth_tiles(self, style, seen.frame.rows, seen.frame.cols)
        for letter, twin, telling in _twins(self, style, seen.frame.rows, seen.frame.cols):
            drawn = (seen.cells[(given == letter) & (symbols == letter)] - tiles.images[letter])[:, *INSIDE]
            share = np.einsum("ij,kj->ik", drawn.reshape(-1, telling.shape[1]), telling)
            if (share > TAIL).all(axis=1).any():
                raise UnreadableImage(f"a letter {SYMBOLS[letter]} looks like the letter {SYMBOLS[twin]}")

    def _settled(self, named: Named, seen: Seen, problem: Problem[WordGrid], style: Style) -> Named:
        """Small, blurred letters could be many things; most likely they are what they were."""
        given = self.encode(problem.position, style)
        other = (named.symbols != given) | (named.confidence < LOWEST_CONFIDENCE)
        if not other.any():
            return named
        frame = seen.frame
        tiles = smooth_tiles(self, style, frame.rows, frame.cols)
        gaps = distances(insides(seen.cells[other], tiles), tiles)
        there = gaps[np.arange(len(gaps)), given[other]]
        share = (named.distance[other] + NOISE) / (there + NOISE)
        worst = named.distance[~other].max(initial=0.0)
        stayed = (share > LIKE_BEFORE) & (there < WORSE * max(worst, NOISE))
        symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
        symbols[other] = np.where(stayed, given[other], symbols[other])
        distance[other] = np.where(stayed, there, distance[other])
        confidence[other] = np.select([stayed, share > LIKE_NEITHER], [LOWEST_CONFIDENCE, 0.0], 1 - share)
        return replace(named, symbols=symbols, confidence=confidence, distance=distance)


@lru_cache(maxsize=GIVENS)
def _hands(renderer: WordSearchRenderer, problem: Problem[WordGrid], style: Style) -> tuple[Hand, Hand]:
    """The letters and the whole board as they were given, kept for the next picture of a group."""
    given = given_board(renderer, problem, style).cells
    size = problem.position.size
    tiles = smooth_tiles(renderer, style, size, size)
    inner = np.zeros(tiles.images.shape[1:3], bool)
    inner[tiles.inner, tiles.inner] = True
    return Hand(given, np.tile(inner, (size, size)), 2), Hand(given, np.ones(given.shape[:2], bool), 1)


@lru_cache(maxsize=64)
def _twins(renderer: WordSearchRenderer, style: Style, rows: int, cols: int) -> list[tuple[int, int, Floats]]:
    """Pairs of letters with nearly the same middle, and what tells the second from the first."""
    tiles = smooth_tiles(renderer, style, rows, cols)
    apart = [np.abs(tiles.middle - middle).mean(axis=1) for middle in tiles.middle]
    pairs = [(one, other) for one, other in np.argwhere(np.stack(apart) < TWINS).tolist() if one != other]
    return [(one, other, _telling(tiles.images[one], tiles.images[other])) for one, other in pairs]


def _telling(letter: Floats, twin: Floats) -> Floats:
    """(2, pixels): times what is drawn beyond a letter, the share of the way to its twin; and the same, but for what
    blur, or being moved by half a pixel, makes of any letter."""
    moved = [np.roll(letter, by, axis) - letter for axis in (0, 1) for by in (1, -1)]
    way = (twin - letter)[INSIDE].ravel()
    changes, _ = np.linalg.qr(np.stack([each[INSIDE].ravel() for each in moved], axis=1))
    left = way - changes @ (changes.T @ way)
    telling: Floats = np.stack([each / max(float(each @ each), 1e-6) for each in (way, left)])
    return telling


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


def _mark_colours(style: Style) -> Floats:
    return np.array([parse_colour(style[name]) for name in COLOURS], dtype=np.float64)


renderer = WordSearchRenderer()
