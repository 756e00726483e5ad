"""Grid lines that are gone: whoever draws into a cell leaves the lines around it, or covers them with its colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour, Pixels, Style
from renderers.board import Seen
from renderers.page import Frame
from renderers.reading.compared import WHOLE
from renderers.reading.foreign import off_colours
from renderers.reading.register import Floats
from renderers.reading.stains import GONE, Lines
from renderers.reading.tiles import split_cells
from renderers.reading.traces import SIDE
from renderers.touched import COVERED, first

BESIDE = 0.2
"""Share of a cell by which the middle of a line is away from the cells beside it, at least."""

LEFT_BESIDE = 0.3
"""The share of a line's pixel that may be ground: where a colour that leans over half of it leaves some beside it."""


def lines_of(empty: Pixels, frame: Frame, grounds: Sequence[Colour]) -> tuple[Lines, Lines]:
    """The grid lines across a board's rows, and across its columns, of a picture of it with nothing in its cells, which
    have these grounds; at the size where lines are looked at."""
    bare = np.asarray(cv2.resize(empty, (SIDE, SIDE), interpolation=cv2.INTER_AREA))
    levels, scale = np.array(grounds, np.int16), SIDE / frame.pixels
    rows, cols = (
        slice(*(round(at * scale) for at in (start, start + count * frame.cell)))
        for start, count in ((frame.top, frame.rows), (frame.left, frame.cols))
    )
    middle = [round((start + frame.cell / 2) * scale) for start in (frame.left, frame.top)]
    down = Lines.of(bare, middle[0], levels, (rows, cols))
    return down, Lines.of(bare.transpose(1, 0, 2), middle[1], levels, (cols, rows))


def line_gone(
    page: Pixels, seen: Seen, lines: tuple[Lines, Lines], coloured: NDArray[np.bool_], style: Style
) -> Cell | None:
    """A cell whose grid lines are gone, and not under the colour of a cell beside them that is `coloured` (R, C)."""
    down, across = lines
    places = np.concatenate([_gone(down, page), _gone(across, page.transpose(1, 0, 2))[:, ::-1]])
    if not len(places):
        return None
    middles, inks = middle_colours(seen), _line_colours(style)
    gone = np.zeros_like(coloured)
    shown = places[seen.registration.covers(WHOLE, (SIDE, SIDE))[tuple(places.T)]]
    for beside, there in _by_cells(shown, seen.frame):
        colours = [middles[cell] for cell in beside if coloured[cell]]
        drawn = page[tuple(there.T)].astype(np.float32)
        if beside and (not colours or off_colours(drawn, np.concatenate([colours, inks]), COVERED).any()):
            gone[beside[0]] = True
    return first(gone)


def middle_colours(seen: Seen) -> Floats:
    """(R, C, 3): the colours in the middles of the cells."""
    cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols)
    third = cells.shape[2] // 3
    colours: Floats = cells[:, :, third:-third, third:-third].mean(axis=(2, 3))
    return colours


def _gone(lines: Lines, page: Pixels) -> NDArray[np.intp]:
    """(N, 2): where lines are gone. They are not looked for in a page on which every one is plainly where it was."""
    there = page[lines.at, lines.start : lines.start + lines.colours.shape[1]]
    if (np.abs(there - lines.colours) <= GONE * lines.contrast[:, :, None]).all():
        return np.empty((0, 2), np.intp)
    return lines.gone(page)


def _line_colours(style: Style) -> Floats:
    """(K, 3): the colours of lines, and what is left of these beside a little of the ground."""
    colours = {name: np.array(colour, np.float32) for name, colour in style.colours().items()}
    inks = [colours[name] for name in ("line", "box") if name in colours]
    grounds = [colours[name] for name in ("cell", "shade") if name in colours]
    return np.array([*inks, *(ink + LEFT_BESIDE * (ground - ink) for ink in inks for ground in grounds)], np.float32)


def _by_cells(places: NDArray[np.intp], frame: Frame) -> Iterator[tuple[list[Cell], NDArray[np.intp]]]:
    """Pixels (N, 2) of the page at the size where lines are seen, those together that have the same cells around."""
    at = (places * frame.pixels / SIDE - (frame.top, frame.left)) / frame.cell
    ends = np.floor(np.concatenate([at - BESIDE, at + BESIDE], axis=1)).astype(np.intp)  # up, left, down, right
    groups, which = np.unique(ends, axis=0, return_inverse=True)
    for number, (up, left, down, right) in enumerate(groups.tolist()):
        around = [(row, col) for row in (up, down) for col in (left, right)]
        cells = [Cell(row, col) for row, col in around if 0 <= row < frame.rows and 0 <= col < frame.cols]
        yield cells, places[which.ravel() == number]
