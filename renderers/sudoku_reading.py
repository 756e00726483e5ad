"""What is looked at more closely in the cells of a sudoku: digits in another hand, colours cut through, borders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Style
from gamegen.games.sudoku import LARGEST_DIGIT
from renderers.board import Seen
from renderers.grid_lines import middle_colours
from renderers.reading.classify import NOISE
from renderers.reading.foreign import off_colours
from renderers.reading.register import Floats
from renderers.reading.stains import cut_marks
from renderers.reading.tiles import split_cells
from renderers.touched import COVERED, FEW, LEAN, SHADE, first

DIGITS = LARGEST_DIGIT + 1
"""Symbols on one ground: empty, then 1 to 9."""

EDGE = 0.17
"""Share of a cell, at its border, where there are lines but no parts of our digits."""

SHORT = 0.6
"""The height of our digits, as a share of it, below which one in another hand is only a part of one."""

THINNED = 1 / 3
"""The share of a digit's strongest ink that its thinnest stroke has, in a picture that was made smaller."""

OFF, SLIPS, HALF = 24, 2, 0.3
"""Grey levels by which a pixel is not its tile's, how many pixels may be so, and the share of a mark whose loss makes a
part of it."""

COMPLETE = 0.9
"""The share of a tile's ink that a digit has which nothing was cut off from."""

WHOLE_DIGIT = 5.0
"""Grey levels, root mean square, by which a digit that is all there is off its tile at most."""

SHARP, SHARP_EDGE, LEANING = 44, 4, 2
"""Pixels across a cell whose digit is read rather than recognised, how many of them at its border are left out, and how
many more may show lines, in a picture that was made smaller."""

INK_RANK = 0.985
"""The quantile of a sharp cell's pixels at which the strength of its ink is taken: even a thin 1 covers more."""

GROUND = 0.35
"""Empty cells, for each that is filled with a colour, that are looked at for how colours drifted."""

GAP = 0.2
"""Share of a cell, at its border, where a colour may leave something of the ground."""

BORDERS = {"digits": 0.13, "tile": 0.07, "disc": 0.17}
"""By what is drawn into cells: the share of one, at its border, where hardly anything of it is."""

ALONG, WORN = 0.25, 0.02
"""Share of a side's length that may be drawn on at the border, and of the very borders of old cells that are odd in a
bad picture."""

HALO, SELDOM, SHARPENED = 1.5, 0.1, 60.0
"""How many times as far off as the strong lines of old cells, but for so few of their pixels, must be what was drawn on
the border of a new one: sharpening takes nine of ten off by up to 48 to 59 grey levels; 1.25 times that
refused one right answer."""

SURE = 0.4
"""Confidence by which a colour alone tells what a mark means."""


def sharp(seen: Seen, asked: NDArray[np.bool_]) -> Floats:
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


def usual_gap(seen: Seen, given: NDArray[np.bool_], inset: float) -> float:
    """By how many grey levels, root mean square, most of the `given` cells (R, C) are off at least, but for a share of
    each at its border."""
    drawn, known = _drawn_and_known(seen, given, inset)
    gap = (drawn - known).reshape(len(drawn), -1)
    return float(np.median(np.sqrt(np.einsum("ij,ij->i", gap, gap) / gap.shape[1])))


def _drawn_and_known(seen: Seen, given: NDArray[np.bool_], inset: float) -> tuple[Floats, Floats]:
    """(K, n, n, 3) each: the `given` cells (R, C), but for a share at their border, as they are and as they were."""
    edge = max(2, round(inset * len(seen.board) / seen.frame.rows))
    inner = slice(edge, -edge)
    boards = (split_cells(board, seen.frame.rows, seen.frame.cols) for board in (seen.board, seen.known))
    drawn, known = (cells[given][:, inner, inner] for cells in boards)
    return drawn, known


def with_ground(given: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(R, C): the cells that are `given`, and some from all over the others."""
    bare = np.flatnonzero(~given)
    step = max(1, round(len(bare) / (GROUND * np.count_nonzero(given))))
    chosen = given.copy()
    chosen.flat[bare[::step]] = True
    return chosen


def sure_of_colour(cells: Floats, tiles: Floats, symbols: NDArray[np.intp]) -> Floats:
    """(N,): the confidence that pixels (N, pixels, 3) from the middles of cells have the colours of their symbols, by
    the same pixels of the tiles (K, pixels, 3); 0 where another colour is nearly as near."""
    gap = np.abs(cells.mean(axis=1)[:, None] - tiles.mean(axis=1)).max(axis=2)  # (N, K)
    own = gap[np.arange(len(cells)), symbols]
    gap[np.arange(len(tiles)) % DIGITS == symbols[:, None] % DIGITS] = np.inf
    sure: Floats = 1 - (own + NOISE) / (gap.min(axis=1) + NOISE)
    return np.where(sure > SURE, sure, 0.0)


def cut_mark(seen: Seen, new: NDArray[np.bool_], spot: NDArray[np.bool_]) -> Cell | None:
    """A cell whose new colour something was drawn through, inside the `spot` (n, n) that it covers."""
    cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)
    cut = new.copy()
    cut[new] = cut_marks(cells[new], spot)
    return first(cut)


def fill_gaps(seen: Seen, symbols: NDArray[np.intp], new: NDArray[np.bool_], tiles: Floats, style: Style) -> Seen:
    """The same with nothing of the ground between new colours and the lines around them: whoever colours a cell may
    leave a little of it, and shrunk with the line it is grey."""
    board = seen.board.copy()
    cells = split_cells(board, seen.frame.rows, seen.frame.cols)
    drawn, meant = cells[new], tiles[symbols[new]]
    rim = np.ones(drawn.shape[1:3], bool)
    reach = round(GAP * len(rim))
    rim[reach:-reach, reach:-reach] = False
    odd = (_most(drawn - meant) > SHADE) & rim
    gap = odd.copy()
    gap[odd] = ~off_colours(drawn[odd], _around(style), COVERED)
    cells[new] = np.where(gap[..., None], meant, drawn)
    return replace(seen, board=board)


def odd_colour(seen: Seen, new: NDArray[np.bool_], style: Style) -> Cell | None:
    """A new cell with something in it that is neither the colour of its middle, the ground, nor a line, nor between two
    of these: then it matters not how large its mark is."""
    cells, middles = split_cells(seen.board, seen.frame.rows, seen.frame.cols), middle_colours(seen)
    edge = max(1, round(LEAN * cells.shape[2]))
    cells = cells[:, :, edge:-edge, edge:-edge]
    for row, col in np.argwhere(new).tolist():
        own = np.concatenate([middles[row, col][None], _around(style)])
        if np.count_nonzero(off_colours(cells[row, col].reshape(-1, 3), own, COVERED)) > FEW:
            return Cell(row, col)
    return None


def border_drawn_on(seen: Seen, new: NDArray[np.bool_], bare: Floats, style: Style) -> Cell | None:
    """A new cell along whose border, where the `bare` board (h, w, 3) shows lines and ground, something was drawn in
    neither its colour nor the one across the border. Marks must not fill their cells; in a picture in which the borders
    of old cells are odd, too, these tell nothing."""
    rows, cols = new.shape
    n = len(bare) // rows
    wide, least = round(BORDERS[style.text("marks")] * n), ALONG * n
    gap = _most(seen.board - bare).reshape(rows, n, cols, n).transpose(0, 2, 1, 3)
    odd = gap > COVERED
    around = np.count_nonzero(odd, axis=(2, 3)) - np.count_nonzero(odd[:, :, wide:-wide, wide:-wide], axis=(2, 3))
    suspect = new & (around > least)
    if not suspect.any() or _odd_around(odd[~new]) > WORN:
        return None
    cells, middles = split_cells(seen.board, rows, cols), middle_colours(seen)
    lines = _most(split_cells(bare, rows, cols)[~new] - np.array(style.colours()["cell"], np.float32)) > COVERED
    limit = max(COVERED, HALO * _off_lines(gap[~new], lines))
    odd = np.zeros_like(odd)
    odd[suspect] = (gap[suspect] > limit) & (_most(cells[suspect] - middles[suspect][:, None, None]) > limit)
    usual = np.concatenate([_around(style), [style.colours()["page"]]]).astype(np.float32)
    for turn in range(4):
        strips, bands = (np.rot90(np.rot90(each, turn), turn, axes=(2, 3))[:, :, :wide] for each in (odd, cells))
        colours = np.rot90(middles, turn)
        for row, col in np.argwhere(np.count_nonzero(strips, axis=(2, 3)) > least).tolist():
            there = np.concatenate([usual, colours[max(0, row - 1) : row + 1, col]])
            if np.count_nonzero(off_colours(bands[row, col][strips[row, col]], there, limit)) > least:
                return _turned_back(row, col, turn, rows)
    return None


def _odd_around(odd: NDArray[np.bool_]) -> float:
    """The share of true values at the very borders of most cells (K, n, n): a stroke may lie on some of them."""
    if not len(odd):
        return 0.0
    edge = max(1, round(LEAN * odd.shape[1]))
    inner = np.count_nonzero(odd[:, edge:-edge, edge:-edge], axis=(1, 2))
    return float(np.median(np.count_nonzero(odd, axis=(1, 2)) - inner) / (4 * edge * odd.shape[1]))


def _off_lines(gap: Floats, lines: NDArray[np.bool_]) -> float:
    """By how many grey levels, at most but for a few, pixels of cells (K, n, n) are off that show strong lines, and no
    more than sharpening leaves: a stroke may lie on some of them."""
    return min(SHARPENED, float(np.quantile(gap[lines], 1 - SELDOM))) if lines.any() else 0.0


def _turned_back(row: int, col: int, turns: int, side: int) -> Cell:
    """Where a cell was before its board was turned, each time by a quarter to the left."""
    for _ in range(turns):
        row, col = col, side - 1 - row
    return Cell(row, col)


def _around(style: Style) -> Floats:
    """(K, 3): the colours of the ground and of lines."""
    colours = style.colours()
    return np.array([colours[name] for name in ("cell", "shade", "line", "box") if name in colours], np.float32)


def half_digit(seen: Seen, symbols: NDArray[np.intp], new: NDArray[np.bool_], tiles: Floats) -> Cell | None:
    """A cell that shows only a part of one of our own tiles, cut off: half a 1 still looks like a 1."""
    inner = slice(round(EDGE * tiles.shape[1]), -round(EDGE * tiles.shape[1]))
    cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)[:, :, inner, inner]
    tiles = tiles[:, inner, inner]
    gap = (cells[new] - tiles[symbols[new]]).reshape(np.count_nonzero(new), -1)
    half = new.copy()
    half[new] = np.einsum("ij,ij->i", gap, gap) > WHOLE_DIGIT**2 * gap.shape[1]
    own = symbols[half]
    if len(own):
        drawn, meant, bare = cells[half], tiles[own], tiles[own - own % DIGITS]
        ink, our_ink = _most(drawn - bare), _most(meant - bare)
        cut = ink.sum(axis=(1, 2)) < COMPLETE * our_ink.sum(axis=(1, 2))
        cut[cut] = _cut_off(drawn[cut], meant[cut], bare[cut])
        half[half] = cut | (_height(ink) < SHORT * _height(our_ink))
    return first(half)


def _cut_off(cells: Floats, tiles: Floats, bare: Floats) -> NDArray[np.bool_]:
    """(K,): which cells (K, n, n, 3) show their tile on one side of a straight cut and bare ground on the other.

    The cut may run through a line of pixels, where the two are mixed: cells are seldom read at their own size. What is
    in that line and no mixture of them was drawn otherwise, as the stem of a thin 1 that stands beside ours.
    """
    off, off_bare, ink = (_most(one - other) > OFF for one, other in ((cells, tiles), (cells, bare), (tiles, bare)))
    unmixed = _most(cells - cells.clip(np.minimum(tiles, bare), np.maximum(tiles, bare))) > OFF
    half = np.zeros(len(cells), bool)
    for axis in (1, 2):
        lines = [np.count_nonzero(each, axis=axis) for each in (off, off_bare, ink, unmixed)]  # (K, n) each
        for shown, wiped, drawn, odd in (lines, [each[:, ::-1] for each in lines]):
            kept = np.cumsum(shown, axis=1) - shown
            rest = wiped.sum(axis=1, keepdims=True) - np.cumsum(wiped, axis=1)
            lost = drawn.sum(axis=1, keepdims=True) - np.cumsum(drawn, axis=1)
            slips = kept + odd + rest
            half |= ((slips <= SLIPS) & (lost >= HALF * drawn.sum(axis=1, keepdims=True))).any(axis=1)
    return half


def _most(gap: Floats) -> Floats:
    """(K, n, n): the largest of three differences (K, n, n, 3), whatever their signs."""
    red, green, blue = (np.abs(gap[..., channel]) for channel in range(3))
    return np.maximum(np.maximum(red, green), blue)


def _height(ink: Floats) -> NDArray[np.intp]:
    """(K,): over how many rows the ink (K, n, n) of cells reaches."""
    inked = (ink > THINNED * ink.max(axis=(1, 2), keepdims=True)).any(axis=2)  # (K, n)
    height: NDArray[np.intp] = inked.shape[1] - inked[:, ::-1].argmax(axis=1) - inked.argmax(axis=1)
    return height


def kept_ink(seen: Seen, given: NDArray[np.bool_], inset: float, style: Style) -> float:
    """The share of its strength that the ink of most `given` digits (R, C) has kept, but for a share of each at its
    border: in a picture that was made smaller all thin strokes are pale."""
    drawn, known = (ink_strength(cells, style) for cells in _drawn_and_known(seen, given, inset))
    return min(1.0, float(np.median(drawn / known)))


def ink_strength(cells: Floats, style: Style) -> Floats:
    """(K,): the ink in cells (K, n, n, 3), as a share of what digits are meant to have."""
    pixels = np.ascontiguousarray(cells.reshape(len(cells), cells.shape[1] * cells.shape[2], 3).transpose(0, 2, 1))
    middle, rank = pixels.shape[2] // 2, round(INK_RANK * (pixels.shape[2] - 1))
    ground = np.partition(pixels, middle, axis=2)[:, :, middle]  # (K, 3)
    full = np.abs(ground - style.colours()["ink"]).max(axis=1)
    drawn = np.abs(pixels - ground[:, :, None]).max(axis=1)
    strength: Floats = np.partition(drawn, rank, axis=1)[:, rank] / full
    return strength
