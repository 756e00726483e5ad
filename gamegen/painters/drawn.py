"""Answers that are drawn: marks, digits, colours, frames and paths, in another hand than ours."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour
from gamegen.games import chess, wordsearch
from gamegen.games.maze import follow
from gamegen.painters.hand import FINE, Hand, Point
from gamegen.sample import Sample

TREMBLE = 0.018
"""How far a pen may tremble, as a share of the cell."""

CLEAR = 0.12
"""The share of a small cell that the thinnest pen of a frame may have: a wider one makes an F of an E."""

AMONG_MANY = 0.5
"""Where up to nine colours lie side by side, yellow may not become orange: shades depart by this share only."""

PEN_DIGITS: dict[int, tuple[Point, ...]] = {
    1: ((0.3, 0.25), (0.55, 0.0), (0.55, 1.0)),
    2: ((0.08, 0.25), (0.3, 0.02), (0.7, 0.03), (0.9, 0.25), (0.82, 0.5), (0.05, 1.0), (0.95, 1.0)),
    3: ((0.08, 0.12), (0.4, 0.0), (0.8, 0.1), (0.85, 0.33), (0.45, 0.48), (0.88, 0.62), (0.88, 0.86), (0.5, 1.0),
        (0.05, 0.9)),
    4: ((0.7, 1.0), (0.7, 0.0), (0.05, 0.68), (0.95, 0.68)),
    5: ((0.88, 0.0), (0.2, 0.0), (0.12, 0.45), (0.55, 0.38), (0.9, 0.6), (0.85, 0.88), (0.5, 1.0), (0.08, 0.9)),
    6: ((0.8, 0.03), (0.35, 0.25), (0.1, 0.65), (0.25, 0.95), (0.6, 1.0), (0.9, 0.8), (0.8, 0.52), (0.45, 0.48),
        (0.13, 0.72)),
    7: ((0.05, 0.0), (0.95, 0.0), (0.35, 1.0)),
    8: ((0.5, 0.47), (0.15, 0.27), (0.3, 0.02), (0.7, 0.02), (0.85, 0.27), (0.5, 0.47), (0.1, 0.72), (0.25, 0.98),
        (0.75, 0.98), (0.9, 0.72), (0.5, 0.47)),
    9: ((0.87, 0.3), (0.6, 0.52), (0.2, 0.45), (0.12, 0.18), (0.45, 0.0), (0.8, 0.08), (0.87, 0.35), (0.75, 1.0)),
}  # fmt: skip
"""Digits as a person writes them, in one go, in a box of width and height 1."""


# Tic-tac-toe and sudoku ----------------------------------------------------------------------------------------------


def tictactoe(hand: Hand, sample: Sample, after: Any) -> bool:
    before = sample.problem.position
    for place, (old, new) in enumerate(zip(before.places, after.places, strict=True)):
        if old == new:
            continue
        cell, colour = Cell(*divmod(place, 3)), hand.shade(sample.style.colours()[new.lower()])
        if sample.style.text("marks") == "block":
            _block(hand, cell, colour, 0.04)
        else:
            _mark(hand, cell, new, colour, sample.style.number("weight") / 100)
    return True


def sudoku(hand: Hand, sample: Sample, after: Any) -> bool:
    """Digits by pen or in type, never in a paler ink than ours: a thin stroke with soft edges is pale as it is."""
    before, style = sample.problem.position, sample.style
    colours, marks = style.colours(), style.text("marks")
    by_pen, slant, bold = hand.rng.chance(0.4), hand.sway(0.12), hand.rng.chance(0.3)
    for number, (old, new) in enumerate(zip(before.digits, after.digits, strict=True)):
        if old == new:
            continue
        cell = before.cell(number)
        if marks != "digits":
            _spot(hand, cell, marks, hand.shade(colours[f"c{new}"], share=AMONG_MANY))
        elif by_pen:
            _pen_digit(hand, cell, new, hand.seen_on(hand.cut(cell), colours["ink"]))
        else:
            _type_digit(hand, cell, new, hand.seen_on(hand.cut(cell), colours["ink"]), slant, bold)
    return True


def _block(hand: Hand, cell: Cell, colour: Colour, inset: float) -> None:
    """A cell filled up to near its lines, by a hand that does not stop quite straight."""
    near = [inset + 0.02 + hand.sway(0.02) for _ in range(4)]
    left, top, right, bottom = near[0], near[1], 1 - near[2], 1 - near[3]
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    hand.patch([hand.at(cell, x, y) for x, y in corners], colour, tremble=0.012 * hand.cell)


def _mark(hand: Hand, cell: Cell, mark: str, colour: Colour, weight: float) -> None:
    """A ring or a cross, not quite in the middle, drawn with a thinner or thicker pen."""
    x, y = 0.5 + hand.sway(0.04), 0.5 + hand.sway(0.04)
    reach, width = 0.3 * (1 + hand.sway(0.1)), weight * (1 + hand.sway(0.25)) * hand.cell
    tremble = 0.012 * hand.cell
    if mark == "O":
        turns = [2 * math.pi * k / 24 for k in range(25)]
        ring = [hand.at(cell, x + reach * math.cos(t), y + reach * math.sin(t)) for t in turns[:-1]]
        hand.line([*ring, ring[0]], width, colour, tremble=tremble)
        return
    for lean in (1, -1):
        ends = [hand.at(cell, x - reach, y - lean * reach), hand.at(cell, x + reach, y + lean * reach)]
        hand.line(ends, width, colour, tremble=tremble)


def _spot(hand: Hand, cell: Cell, marks: str, colour: Colour) -> None:
    """What carries a colour: the whole cell, a tile or a disc, of another size and not quite in the middle."""
    if marks == "fill":
        _fill(hand, cell, colour)
        return
    x, y = 0.5 + hand.sway(0.03), 0.5 + hand.sway(0.03)
    corners: tuple[Point, ...]
    if marks == "tile":
        half = 0.4 * (1 + hand.sway(0.06))
        corners = ((-half, -half), (half, -half), (half, half), (-half, half))
    else:
        radius = 0.36 * (1 + hand.sway(0.1))
        turns = [2 * math.pi * k / 32 for k in range(32)]
        corners = tuple((radius * math.cos(t), radius * math.sin(t)) for t in turns)
    hand.patch([hand.at(cell, x + dx, y + dy) for dx, dy in corners], colour, tremble=0.01 * hand.cell)


def _fill(hand: Hand, cell: Cell, colour: Colour) -> None:
    """A cell coloured in up to its lines, not quite straight; they are the board's, and a careful hand spares them."""
    left, top, right, bottom = hand.room(cell)
    near = [(0.02 + hand.sway(0.02)) * hand.cell for _ in range(4)]
    left, top, right, bottom = left + near[0], top + near[1], right - near[2], bottom - near[3]
    hand.patch([(left, top), (right, top), (right, bottom), (left, bottom)], colour, tremble=0.012 * hand.cell)


def _pen_digit(hand: Hand, cell: Cell, digit: int, ink: Colour) -> None:
    high = 0.52 * (1 + hand.sway(0.12))
    wide = high * 0.56 * (1 + hand.sway(0.12))
    left, top = 0.5 - wide / 2 + hand.sway(0.05), 0.5 - high / 2 + hand.sway(0.05)
    points = [hand.at(cell, left + x * wide, top + y * high) for x, y in PEN_DIGITS[digit]]
    width = max(1.6, hand.cell * 0.065 * (1 + hand.sway(0.3)))
    hand.line(points, width, ink, tremble=TREMBLE * hand.cell * 0.6)


def _type_digit(hand: Hand, cell: Cell, digit: int, ink: Colour, slant: float, bold: bool) -> None:
    """A digit in Pillow's own face, upright or slanted, thin or bold."""
    size = round(hand.cell * FINE * 0.66 * (1 + hand.sway(0.12)))
    more = round(size / 36) if bold else 0
    side = hand.cell * FINE
    mask = Image.new("L", (side, side))
    font = _face(size)
    ImageDraw.Draw(mask).text((side / 2, side / 2), str(digit), fill=255, font=font, anchor="mm", stroke_width=more)
    turn = (1, slant, -slant * side / 2, 0, 1, 0)
    mask = mask.transform(mask.size, Image.Transform.AFFINE, turn, Image.Resampling.BILINEAR).reduce(FINE)
    box = mask.getbbox() or (0, 0, 1, 1)
    x, y = hand.at(cell, 0.5 + hand.sway(0.05), 0.5 + hand.sway(0.05))
    hand.stamp(mask.crop(box), (x, y), ink)


@lru_cache(maxsize=64)
def _face(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own face; opening it takes longer than writing with it."""
    return ImageFont.load_default(size)


# Frames and paths ----------------------------------------------------------------------------------------------------


def frames(hand: Hand, sample: Sample, before: tuple[str, ...], after: tuple[str, ...], codes: dict[str, str]) -> None:
    """A coloured border in each cell whose mark (`codes`: letter -> colour) is new."""
    width, least = (0.04 + 0.05 * hand.rng.random()) * hand.cell, max(min(2.2, CLEAR * hand.cell), 0.045 * hand.cell)
    inset, round_off = 0.035 + hand.rng.random() * 0.05, hand.rng.choice((0.0, 0.0, 0.08))
    for row, (old, new) in enumerate(zip(before, after, strict=True)):
        for col, code in enumerate(new):
            if code != old[col]:
                colour = hand.seen_on(hand.cut(Cell(row, col)), sample.style.colours()[codes[code]])
                pen = max(least, width * (1 + hand.sway(0.15)))
                border(hand, Cell(row, col), colour, width=pen, inset=inset + pen / 2 / hand.cell, corner=round_off)


def border(hand: Hand, cell: Cell, colour: Colour, *, width: float, inset: float, corner: float) -> None:
    low, high = inset, 1 - inset
    places = [(low + corner, low), (high - corner, low), (high, low + corner), (high, high - corner),
              (high - corner, high), (low + corner, high), (low, high - corner), (low, low + corner)]  # fmt: skip
    x, y = hand.sway(0.012), hand.sway(0.012)
    points = [hand.at(cell, px + x, py + y) for px, py in places]
    hand.line([*points, points[0]], width, colour, tremble=TREMBLE * hand.cell * 0.6)


def words(hand: Hand, sample: Sample, after: Any) -> bool:
    frames(hand, sample, sample.problem.position.marks, after.marks, wordsearch.COLOUR_OF)
    return True


def attacked_squares(hand: Hand, sample: Sample, after: Any) -> bool:
    frames(hand, sample, sample.problem.position.marks, after.marks, chess.COLOUR_OF)
    return True


def maze(hand: Hand, sample: Sample, after: Any) -> bool:
    """One line from the edge of the start to the edge of the end."""
    size, pen = after.size, sample.problem.position.pen
    middles = [hand.at(Cell(*divmod(at, size)), 0.5, 0.5) for at in follow(after).cells]
    share = 0.28 + 0.24 * hand.rng.random()
    width = max(2.6, share * hand.cell)
    first, last = _short(middles[0], middles[1]), _short(middles[-1], middles[-2])
    colour = hand.shade(sample.style.colours()[pen])
    hand.line([first, *middles[1:-1], last], width, colour, tremble=0.05 * hand.cell)
    return True


def _short(end: Point, before: Point) -> Point:
    """Where a line that comes from the neighbouring cell touches the edge of the last one."""
    return (end[0] + before[0]) / 2, (end[1] + before[1]) / 2
