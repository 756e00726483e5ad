"""What is known of a maze before any picture of it is seen, worked out once for all of its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels, Style
from gamegen.games.maze import END, START, WALL, Maze
from renderers.reading.register import Floats
from renderers.reading.strokes import Planes, hue_planes
from renderers.reading.tiles import levels_between, split_cells

Flags = NDArray[np.bool_]

DOWN = (-0.499,) * 4
"""What is added to grey levels so that rounding them cuts off what is behind the point."""

MIDDLE = 0.22
"""Share of a cell, on each side, that does not count when paint is looked for in it."""

TELLING = 300
"""So many pixels of walls, or up to twice as many, tell their colour."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of a maze before any picture of it is seen."""

    pen: str  # the colour asked for
    n: int  # pixels along a cell
    marks: NDArray[np.uint8]  # (R, C): what each cell was
    homes: Mapping[str, tuple[int, int]]  # where start and end were
    tiles: Mapping[str, Floats]  # (n, n, 3): what they look like
    colours: Mapping[str, Floats]  # of the look, by name
    walls: Pixels  # (R*n, C*n): 255 on walls, else 0
    telling: NDArray[np.intp]  # flat places of pixels in the middle of walls, enough to tell their colour
    grounds: Planes  # (R*n, C*n): the hue of the ground
    clean: Pixels  # (R*n, C*n, 3): the maze
    unstained: tuple[Pixels, Pixels]  # (R*n, C*n, 3): the lowest and highest levels that are no stain

    @classmethod
    def of(cls, cells: Floats, before: Maze, style: Style) -> Known:
        """`cells` (R*n, C*n, 3) is the maze as its editor was given it."""
        size = before.size
        n = len(cells) // size
        colours = {name: np.array(value, np.float32) for name, value in style.colours().items()}
        marks = np.frombuffer(before.cells.encode(), np.uint8).reshape(size, size)
        walls = (marks == ord(WALL)).repeat(n, axis=0).repeat(n, axis=1)
        inner = np.zeros(n, bool)
        inner[_middle(n)] = True
        middles = np.flatnonzero(walls & np.tile(inner, size) & np.tile(inner, size)[:, None])
        homes = {mark: divmod(int(np.flatnonzero(marks == ord(mark))[0]), size) for mark in (START, END)}
        return cls(
            before.pen,
            n,
            marks,
            homes,
            {mark: split_cells(cells, size, size)[home] for mark, home in homes.items()},
            colours,
            walls.astype(np.uint8) * 255,
            middles[:: max(1, len(middles) // TELLING)],
            hue_planes(np.where(walls[..., None], colours["wall"], colours["floor"])),
            cv2.add(cells, DOWN, dtype=cv2.CV_8U),
            levels_between(cells),
        )

    def was(self, mark: str) -> Flags:
        flags: Flags = self.marks == ord(mark)
        return flags

    def inner(self, pixels: NDArray[Any], part: slice) -> NDArray[Any]:
        """(R*m, C*m, …): this part, down and across, of all cells of a picture (R*n, C*n, …)."""
        (rows, cols), n = self.marks.shape, self.n
        cells = pixels.reshape(rows, n, cols, n, -1)[:, part, :, part]
        return cells.reshape(rows * cells.shape[1], cols * cells.shape[3], *pixels.shape[2:])

    def middle(self, pixels: NDArray[Any]) -> NDArray[Any]:
        return self.inner(pixels, _middle(self.n))

    def means(self, pixels: NDArray[Any]) -> Floats:
        """(R, C, …): the mean of every cell (m, m) of a picture (R*m, C*m, …)."""
        means: Floats = cv2.resize(pixels, self.marks.shape[::-1], interpolation=cv2.INTER_AREA)
        return means


def _middle(n: int) -> slice:
    edge = max(1, round(MIDDLE * n))
    return slice(edge, n - edge)
