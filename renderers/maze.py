"""Mazes in pictures: flat cells, a marked start and end, and a path whose tiles join wherever paint meets paint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.problem import Problem
from gamegen.core.rendering import Picture, Pixels, Reading, Style
from gamegen.core.stream import Stream
from gamegen.games.maze import BROKEN, END, FLOOR, PAINT, SMEAR, START, WALL, Maze
from renderers.board import GIVENS, BoardRenderer, Given, Seen
from renderers.inks import FULL, Coverage, Inks, Layer, Tile, compose
from renderers.maze_known import Known
from renderers.maze_reading import read_cells
from renderers.reading.colour import demand_colours, drift_between
from renderers.reading.pages import Page
from renderers.reading.register import CUTS, LEVELS, Floats, Landmarks, Registration, Scan, noting_where, register
from renderers.reading.strokes import WIPED_SIDE, wiped
from renderers.shapes import disc, line, rectangle, star, union

LINKS = 16
"""A path tile for every set of sides that it joins: 1 up, 2 down, 4 left, 8 right."""

GRID_CELL, SIGN_CELL = 16, 14
"""Smaller cells show no grid lines (in line widths), and no sign on start and end (in pixels)."""

THINNEST = 3.2
"""Pixels across the path in the smallest pictures: less would not survive JPEG."""

COARSE, AFFINE = 1, 6
"""The level on which a maze that has moved is looked for first, and the degrees in which it may have: no perspective
yet."""

READING_SIDE = 230
"""Pixels along the board in which it is read, or a few more."""

PLAIN = (WALL, FLOOR, START, END, BROKEN)
SYMBOLS = (*PLAIN, *(PAINT + str(links) for links in range(LINKS)), *(SMEAR + str(links) for links in range(LINKS)))
_BASE = {mark: SYMBOLS.index(mark) for mark in PLAIN} | {mark: SYMBOLS.index(f"{mark}0") for mark in (PAINT, SMEAR)}
_NUMBER = np.zeros(128, np.intp)
_NUMBER[[ord(mark) for mark in _BASE]] = list(_BASE.values())
_TAKES = np.zeros(128, np.intp)
_TAKES[[ord(mark) for mark in (PAINT, SMEAR)]] = 1
_GIVES = np.zeros(128, np.intp)
_GIVES[[ord(mark) for mark in (PAINT, SMEAR, START, END)]] = 1


class MazeRenderer(BoardRenderer[Maze]):
    name = "maze"

    def size(self, position: Maze) -> tuple[int, int]:
        return position.size, position.size

    def style(self, problem: Problem[Maze], *, skin: str, pixels: int, rng: Stream) -> Style:
        return _in_pen(super().style(problem, skin=skin, pixels=pixels, rng=rng), problem.text("colour"))

    def symbols(self, style: Style) -> Sequence[str]:
        return SYMBOLS

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        mark = symbol[0]
        if mark in (START, END):
            return compose(inks, n, _sign(mark, n, style), "start" if mark == START else "end")
        ground = "wall" if mark in (WALL, SMEAR) else "floor"
        layers = _grid(n, style)
        if mark == BROKEN:
            layers.append((disc(n, radius=style.number("stroke") / 220), "pen"))
        elif len(symbol) > 1:
            width = max(style.number("stroke") / 100, THINNEST / n)
            layers.append((_stroke(n, int(symbol[1:]), width, style.text("joint")), "pen"))
        return compose(inks, n, layers, ground)

    def encode(self, position: Maze, style: Style) -> NDArray[np.intp]:
        size = position.size
        codes = np.frombuffer(position.cells.encode(), np.uint8).reshape(size, size)
        numbers = _NUMBER[codes]
        if PAINT in position.cells or SMEAR in position.cells:
            gives, takes = _GIVES[codes], _TAKES[codes]
            links = np.zeros((size, size), np.intp)
            links[1:] += gives[:-1]
            links[:-1] += 2 * gives[1:]
            links[:, 1:] += 4 * gives[:, :-1]
            links[:, :-1] += 8 * gives[:, 1:]
            numbers += links * takes
        return numbers

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Maze], style: Style) -> Maze:
        return Maze(problem.position.pen, "".join(SYMBOLS[number][0] for number in symbols.ravel()))

    def render(self, position: Maze, style: Style) -> Picture:
        return super().render(position, _in_pen(style, position.pen))

    def label_every(self, count: int) -> int:
        return 1 if count < 15 else 2 if count < 26 else 5

    def tell(self, seen: Seen, problem: Problem[Maze], style: Style) -> Reading[Maze]:
        return read_cells(seen, _known(problem.position, style))

    def look(self, image: Pixels, problem: Problem[Maze], style: Style) -> Seen:
        """A path hides most corridors, so both pictures are laid onto each other with all vivid colours wiped off."""
        given = _given(problem.position, style)
        small = _laid(Scan(wiped(image, style.colours()["floor"])), given.landmarks)
        way = _unpadded(image.shape) @ small.matrix @ cv2.invert(_unpadded(given.page.picture.pixels.shape))[1]
        registration = replace(small, matrix=way, image=image)
        with noting_where(registration):
            demand_colours(registration.image, given.page.picture)
        raw = registration.crop(given.frame.box, (given.cells.shape[1], given.cells.shape[0]))
        drift = drift_between(raw, given.cells)
        return Seen(registration, drift, drift.undo(raw), given.cells, given.frame, given.page)


renderer = MazeRenderer()


@lru_cache(maxsize=GIVENS)
def _given(before: Maze, style: Style) -> Given:
    """The maze as its editor was given it, kept for the next picture of a group."""
    picture = renderer.render(before, style)
    reference = picture.rgb()
    frame = renderer.board(style, *renderer.size(before)).frame
    n = min(frame.cell, max(8, min(20, READING_SIDE // before.size)))
    cells = Registration(np.eye(3), 1.0, reference).crop(frame.box, (frame.cols * n, frame.rows * n))
    landmarks = Landmarks(wiped(reference, style.colours()["floor"]))
    return Given(landmarks, cells, frame, Page(picture, frame), None)


def _laid(scan: Scan, landmarks: Landmarks) -> Registration:
    """Where a maze lies. Of a fine one that has moved by part of a wall's width many edges meet others, so the way is
    felt for on a coarser picture first."""
    start: Floats = np.eye(3)
    finest = len(LEVELS) - 1
    if landmarks.template(finest).is_at(scan.level(finest), start):
        return Registration(start, 1.0, scan.image)
    start, _ = landmarks.template(COARSE).fit(scan.level(COARSE), start, AFFINE, CUTS[COARSE])
    return register(scan, landmarks, start=start)


def _unpadded(shape: tuple[int, ...]) -> Floats:
    """(3, 3): from points of a picture as it is wiped, which may go on a little at the right and below, to points of
    the picture itself (H, W, …)."""
    times = max(1, round(min(shape[:2]) / WIPED_SIDE))
    down, across = (1 + -side % times / side for side in shape[:2])
    return np.array([[across, 0.0, across - 1], [0.0, down, down - 1], [0.0, 0.0, 1.0]])


@lru_cache(maxsize=GIVENS)
def _known(before: Maze, style: Style) -> Known:
    return Known.of(_given(before, style).cells, before, style)


@lru_cache(maxsize=1024)
def _in_pen(style: Style, pen: str) -> Style:
    """The look with this colour in the pen."""
    colour = style[pen]
    if style["pen"] == colour:
        return style
    return replace(style, picks=tuple((name, colour if name == "pen" else value) for name, value in style.picks))


def _grid(n: int, style: Style) -> list[Layer]:
    """Thin lines along the top and the left, under the paint; cells of a few pixels have none."""
    width = round(style.number("grid") * style.pixels / 512)
    if not width or n < GRID_CELL * width:
        return []
    edge = np.zeros((n, n), np.uint8)
    edge[:width] = edge[:, :width] = FULL
    return [(edge, "line")]


def _sign(mark: str, n: int, style: Style) -> list[Layer]:
    if style.text("marks") == "square":
        return _grid(n, style)
    if n < SIGN_CELL:
        return []
    return [(disc(n, radius=0.24) if mark == START else star(n, radius=0.38), "detail")]


def _stroke(n: int, links: int, width: float, joint: str) -> Coverage:
    half = width / 2
    ends = ((0.5, -1.0), (0.5, 2.0), (-1.0, 0.5), (2.0, 0.5))
    boxes = ((0.5 - half, 0.0, 0.5 + half, 0.5 + half), (0.5 - half, 0.5 - half, 0.5 + half, 1.0),
             (0.0, 0.5 - half, 0.5 + half, 0.5 + half), (0.5 - half, 0.5 - half, 1.0, 0.5 + half))  # fmt: skip
    sides = [side for side in range(4) if links >> side & 1]
    if joint == "round":
        return union(
            disc(n, radius=half if sides else half * 1.2),
            *(line(n, points=((0.5, 0.5), ends[side]), width=width) for side in sides),
        )
    return union(
        rectangle(n, box=(0.5 - half, 0.5 - half, 0.5 + half, 0.5 + half)),
        *(rectangle(n, box=boxes[side]) for side in sides),
    )
