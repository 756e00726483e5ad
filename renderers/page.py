"""The page a board lies on: where its cells are, its labels and its outer line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels, Style
from renderers.glyphs import text
from renderers.inks import Inks, Tile
from renderers.reading.register import Box

LABEL_BAND = 0.075
"""Space for labels along the top and the left, as a share of the picture's side."""

LABEL_ROOM = 0.7
"""How much of its columns' width a label may fill, so that neighbours stay apart."""

MARGIN = 0.03


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the cells lie in a square picture."""

    pixels: int
    rows: int
    cols: int
    cell: int  # side of a cell
    top: int
    left: int

    @classmethod
    def fit(cls, pixels: int, rows: int, cols: int, *, band: float = LABEL_BAND, margin: float = MARGIN) -> Frame:
        """The largest whole-pixel cells that leave room for labels at the top and left; centred in what remains."""
        start, end = round(pixels * (margin / 2 + band)), round(pixels * margin)
        cell = (pixels - start - end) // max(rows, cols)
        spare_down, spare_across = pixels - start - end - cell * rows, pixels - start - end - cell * cols
        return cls(pixels, rows, cols, cell, start + spare_down // 2, start + spare_across // 2)

    @property
    def bottom(self) -> int:
        return self.top + self.rows * self.cell

    @property
    def right(self) -> int:
        return self.left + self.cols * self.cell

    @property
    def box(self) -> Box:
        """The board's, in the picture."""
        side = self.pixels
        return self.left / side, self.top / side, self.right / side, self.bottom / side

    def over(self, cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(H, W): the pixels of these cells (R, C)."""
        mask = np.zeros((self.pixels, self.pixels), bool)
        area = mask[self.top : self.bottom, self.left : self.right].reshape(self.rows, self.cell, -1)
        area[...] = cells.repeat(self.cell, axis=1)[:, None]
        return mask


def scaled(width: int, pixels: int) -> int:
    """A width given for a 512 px picture, at another size: at least one pixel unless it is none."""
    return max(1, round(width * pixels / 512)) if width else 0


def draw_outline(page: Pixels, frame: Frame, line: int, inks: Inks) -> None:
    """The closing lines at the bottom and the right, which no tile brings."""
    if line:
        page[frame.top : frame.bottom + line, frame.left : frame.right + line] = inks.solid("line")


def draw_labels(page: Pixels, frame: Frame, style: Style, inks: Inks, every: tuple[int, int]) -> None:
    """Name every so many rows and columns, in one size for all."""
    labels, side = style.labels, frame.pixels
    band = round(side * LABEL_BAND)
    height = max(7, min(round(band * 0.5), round(frame.cell * 0.62)))
    ramp = inks.ramp("page", "label")
    rows, cols = range(0, frame.rows, every[0]), range(0, frame.cols, every[1])
    room = round(frame.cell * every[1] * LABEL_ROOM)
    coverages = iter(
        _fit([*((labels.row(row), band) for row in rows), *((labels.col(col), room) for col in cols)], style, height)
    )
    for row in rows:
        y = frame.top + row * frame.cell + frame.cell // 2
        _write(page, next(coverages), (y, frame.left - band // 2), ramp)
    for col in cols:
        x = frame.left + col * frame.cell + frame.cell // 2
        _write(page, next(coverages), (frame.top - band // 2, x), ramp)


def _fit(labels: Sequence[tuple[str, int]], style: Style, height: int) -> list[Tile]:
    """The labels' coverage, all made smaller together until each fits into its room."""
    while True:
        coverages = [text(label, face=style.text("face"), height=height) for label, _ in labels]
        if height <= 5 or all(c.shape[1] <= room for c, (_, room) in zip(coverages, labels, strict=True)):
            return coverages
        height -= 1


def _write(page: Pixels, coverage: Tile, centre: tuple[int, int], ramp: int) -> None:
    high, wide = coverage.shape
    top, left = max(0, centre[0] - high // 2), max(0, centre[1] - wide // 2)
    area = page[top : top + high, left : left + wide]
    part = coverage[: area.shape[0], : area.shape[1]]
    area[...] = np.where(part > 0, part + np.uint8(ramp), area)
