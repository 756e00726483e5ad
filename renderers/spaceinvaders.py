"""Space Invaders in pictures: pixel sprites of our own, bare, glowing or on badges; stars that stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.core.stream import Stream
from gamegen.games.spaceinvaders import EMPTY, SHIP, SYMBOLS, Position
from renderers.board import Seen
from renderers.inks import FULL, Coverage, Inks, Layer, Tile, compose
from renderers.page import Frame, scaled
from renderers.placed import PlacedRenderer
from renderers.reading.compared import WHOLE
from renderers.reading.traces import SIDE
from renderers.shapes import disc, fade, rectangle, stamp, union

SKIES = 6
"""Different patterns of stars; a cell's place decides which one lies behind it."""

APART = 0.16
"""The share of an invader, or a ship, that may be missing where it is believed to lie. Of 450 that other hands laid
elsewhere, in pictures changed as much as any, none had more than 0.15 but where they were blurred most, which their
lens undoes; two ships without a belly that were taken for smaller ones had 0.19 and 0.28."""

DROPS = 2
"""Rows by which a formation sinks in a volley, at most; if it sinks further, reading only becomes less sure."""

LOUD, MOSTLY_LINE = 130, 0.4
"""Grey levels between a line and its ground, and the share of a pixel that a line must have for it to be one of its."""

UNTOUCHED, DIFFERS, LONG = 4, 60, 1.5
"""If most pixels of the lines are as they were to so many grey levels, those that differ by so many may not go on for
so many cells: things that lean over a line are shorter."""

# The left half of each sprite with its middle column; the right half mirrors it.
_HALVES = {
    "3": {
        "a": (".....#", "....##", "...###", "..##.#", "..####", "...#.#", "..#.#.", ".#...#"),
        "b": (".....#", "....##", "...###", "..##.#", "..####", "....#.", "...#.#", "..#.#."),
    },
    "2": {
        "a": ("#..#..", "#...##", "#.####", "###.##", ".#####", "..####", "..#..#", ".#...."),
        "b": ("...#..", "....##", "#.####", "###.##", "######", "#.####", "..#..#", "...#.."),
    },
    "1": {
        "a": ("...###", ".#####", "######", "##..##", "######", "..##.#", ".#..#.", "#.#..#"),
        "b": ("...###", ".#####", "######", "##..##", "######", "..##.#", "..#.#.", ".#.#.."),
    },
    SHIP: {
        "a": (".....#", "....##", "....##", ".#..##", ".#.###", "######", "###.##", "#...#."),
        "b": (".....#", ".....#", "....##", "..####", ".#####", "######", "######", ".#.##."),
    },
}
_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))
_INKS = {"3": "kind3", "2": "kind2", "1": "kind1", SHIP: "ship"}


class SpaceInvadersRenderer(PlacedRenderer[Position]):
    name = "spaceinvaders"
    apart = APART

    def size(self, position: Position) -> tuple[int, int]:
        return position.height, position.width

    def symbols(self, style: Style) -> Sequence[str]:
        """A mark and the number of the sky behind it."""
        return tuple(f"{mark}{sky}" for mark in SYMBOLS for sky in range(_skies(style)))

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        mark, sky = symbol[0], int(symbol[1:])
        layers = _stars(n, sky, style) if _skies(style) > 1 else []
        if mark in _INKS:
            layers += _figure(mark, n, style)
        return compose(inks, n, layers, "cell")

    def encode(self, position: Position, style: Style) -> NDArray[np.intp]:
        marks = np.frombuffer("".join(position.rows).encode(), np.uint8).reshape(self.size(position))
        return _NUMBER[marks] * _skies(style) + _sky(*self.size(position), _skies(style))

    def ground(self, symbol: int, style: Style) -> int:
        skies = _skies(style)
        return SYMBOLS.index(EMPTY) * skies + symbol % skies

    def find_stain(self, seen: Seen, symbols: NDArray[np.intp], problem: Problem[Position], style: Style) -> str:
        """A long stroke on a grid line is foreign in whatever colour: no thing is so long."""
        stain = super().find_stain(seen, symbols, problem, style)
        side = min(SIDE, *seen.registration.image.shape[:2])
        if stain or not _are_loud(style) or not _lines_differ(seen, seen.page.at(side).pixels, style):
            return stain
        return "a grid line"

    def landmarks(self, problem: Problem[Position]) -> Position:
        """In a volley every invader moves: then only the bare grid with its labels tells where the board lies."""
        position = problem.position
        return Position((EMPTY * position.width,) * position.height) if problem.kind == "volley" else position

    def steady(self, problem: Problem[Position], style: Style) -> NDArray[np.bool_] | None:
        """In a volley, the rows below all that the formation can reach with the drops that a program allows."""
        if problem.kind != "volley":
            return None
        position = problem.position
        reach = max((cell.row for cell in problem.position.invaders()), default=0) + DROPS
        below = np.arange(position.height) > min(reach, position.height - 2)
        return np.repeat(below[:, None], position.width, axis=1)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Position], style: Style) -> Position:
        marks = (symbols // _skies(style)).tolist()
        return Position(tuple("".join([SYMBOLS[number] for number in row]) for row in marks))

    def allowed(self, problem: Problem[Position], style: Style) -> NDArray[np.bool_] | None:
        skies = _skies(style)
        if skies == 1:
            return None
        behind = np.arange(len(SYMBOLS) * skies) % skies
        same: NDArray[np.bool_] = _sky(*self.size(problem.position), skies)[:, :, None] == behind
        return same


def _are_loud(style: Style) -> bool:
    """Whether lines are so bright, or dark, that a colour between theirs and the ground's can be loud on both."""
    colours = style.colours()
    gaps = (abs(one - other) for one, other in zip(colours["line"], colours["cell"], strict=True))
    return style.number("line_width") > 0 and max(gaps) > LOUD


def _lines_differ(seen: Seen, clean: Pixels, style: Style) -> bool:
    """Whether some of the lines' pixels are not as in a clean picture (side, side, 3), though most are."""
    side = len(clean)
    page = seen.drift.mend(seen.registration.part(WHOLE, (side, side)))
    on_line = _line_pixels(seen.frame, scaled(style.number("line_width"), seen.frame.pixels), side)
    gap = cv2.absdiff(page, clean).max(axis=2)
    if np.median(gap[on_line]) > UNTOUCHED:
        return False
    differs = ((gap > DIFFERS) & on_line).view(np.uint8)
    long = round(LONG * seen.frame.cell * side / seen.frame.pixels)
    return any(cv2.erode(differs, np.ones(way, np.uint8), borderValue=0).any() for way in ((1, long), (long, 1)))


@lru_cache(maxsize=64)
def _line_pixels(frame: Frame, line: int, side: int) -> NDArray[np.bool_]:
    """(side, side): which pixels of a picture of this side show little else than grid lines."""
    lines = np.zeros((frame.pixels, frame.pixels), np.float32)
    board = lines[frame.top : frame.bottom, frame.left : frame.right]
    for start in range(line):
        board[start :: frame.cell] = board[:, start :: frame.cell] = 1
    flags: NDArray[np.bool_] = cv2.resize(lines, (side, side), interpolation=cv2.INTER_AREA) > MOSTLY_LINE
    return flags


def _skies(style: Style) -> int:
    return SKIES if style.number("stars") else 1


@lru_cache(maxsize=256)
def _sky(rows: int, cols: int, skies: int) -> NDArray[np.intp]:
    """(R, C): which pattern of stars lies behind each cell; neighbours differ."""
    row, col = np.indices((rows, cols))
    pattern: NDArray[np.intp] = (row * 7 + col * 5 + (row * col) % 3) % skies
    return pattern


def _stars(n: int, sky: int, style: Style) -> list[Layer]:
    """Two or three small stars, some of them faint."""
    rng = Stream("stars", style.number("stars"), sky)
    layers: list[Layer] = []
    for _ in range(rng.between(1, 3)):
        centre = (0.1 + 0.8 * rng.random(), 0.1 + 0.8 * rng.random())
        star = disc(n, centre=centre, radius=max(0.018, 0.6 / n))
        layers.append((fade(star, rng.between(5, 12)), "star"))
    return layers


def _figure(mark: str, n: int, style: Style) -> list[Layer]:
    look, ink = style.text("look"), _INKS[mark]
    pose = style.text("pose")
    if look == "badge":
        badge = rectangle(n, box=(0.08, 0.08, 0.92, 0.92), radius=0.2)
        return [(badge, ink), (_sprite(mark, pose, n, 0.6), "figure")]
    sprite = _sprite(mark, pose, n, 0.78)
    if look == "glow":
        reach = max(1, round(n * 0.035))
        near = [np.roll(sprite, shift, axis) for axis in (0, 1) for shift in (-reach, reach)]
        return [(fade(union(sprite, *near), 5), ink), (sprite, ink)]
    return [(sprite, ink)]


def _sprite(mark: str, pose: str, n: int, share: float) -> Coverage:
    """The sprite about `share` of the tile wide: in whole pixels where they come near enough, else averaged by area."""
    bitmap = np.array([[dot == "#" for dot in half + half[-2::-1]] for half in _HALVES[mark][pose]], np.int64)
    rows, cols = bitmap.shape
    scale = round(share * n / cols)
    width = scale * cols if abs(scale * cols - share * n) <= 0.12 * n else round(share * n)
    height = round(width * rows / cols)
    fine = bitmap.repeat(height, axis=0).repeat(width, axis=1)
    parts = fine.reshape(height, rows, width, cols).sum(axis=(1, 3))
    whole = rows * cols
    return stamp(n, ((2 * FULL * parts + whole) // (2 * whole)).astype(np.uint8))


renderer = SpaceInvadersRenderer()
