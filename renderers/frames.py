"""Highlights of cells: coloured frames inside their grid lines."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.board import Board


def draw_frames(
    canvas: Pixels, board: Board, marks: NDArray[np.uint8], colours: Mapping[str, str], *, line: int, width: int
) -> None:
    """Frame the cells (R, C) whose mark is the code of a colour (`colours`: name -> code), `width` pixels wide."""
    frame, n = board.frame, board.frame.cell
    area = canvas[frame.top : frame.bottom, frame.left : frame.right].reshape(frame.rows, n, frame.cols, n)
    for name, code in colours.items():
        rows, cols = np.nonzero(marks == ord(code))
        if len(rows):
            ink = board.inks.solid(name)
            area[rows, line : line + width, cols, line:] = ink
            area[rows, n - width :, cols, line:] = ink
            area[rows, line:, cols, line : line + width] = ink
            area[rows, line:, cols, n - width :] = ink


def frame_width(cell: int, hundredths: int, pixels: int, *, widest: float = 0.012) -> int:
    """The width of a frame in hundredths of the cell, but no wider than a share of the picture."""
    return max(1, min(round(cell * hundredths / 100), round(pixels * widest)))
