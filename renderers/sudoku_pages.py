"""What is looked at on the whole page of a sudoku: grid lines that are gone, another look."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels, Style
from renderers.board import Seen
from renderers.page import Frame
from renderers.reading.compared import WHOLE
from renderers.reading.foreign import off_colours
from renderers.reading.register import Floats
from renderers.reading.stains import GONE, Lines
from renderers.reading.tiles import split_cells
from renderers.reading.traces import SIDE
from renderers.sudoku_reading import first, middle_colours
from renderers.touched import COVERED, count_inside

ANOTHER_FORM = 0.2
"""The share of most marks of colour that may have changed: sharpening changes 0.15 of them, tiles in place of discs or
filled cells 0.25."""

SHADED = 10.0
"""Grey levels by which boxes may be lighter or darker beside the others than they were."""

LUMA = np.array([0.299, 0.587, 0.114])
"""What red, green and blue have of the brightness of a colour."""

BRIGHTEST, UNEVEN = 1.3, 0.06
"""How many times as bright a picture may have become, and by how much of that its parts may differ."""

BESIDE = 0.2
"""Share of a cell by which the middle of a line is away from the cells beside it, at least."""

LEFT_BESIDE = 0.3
"""The share of a line's pixel that may be ground: where a colour that leans over half of it leaves some beside it."""


def are_in_another_form(gap: Pixels, seen: Seen, given: NDArray[np.bool_]) -> bool:
    """Whether most marks of colour that were `given` have become smaller or larger, by the changes of the page: tiles
    in place of filled cells are another look of the whole board."""
    whole = count_inside(np.ones_like(gap, bool), seen.frame)[given]
    return bool(given.any() and np.median(count_inside(gap > COVERED, seen.frame)[given] / whole) > ANOTHER_FORM)


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


def is_shaded_anew(seen: Seen, boxes: NDArray[np.intp], style: Style) -> bool:
    """Whether the grounds of some boxes, those with a 1 in `boxes` (R, C), differ otherwise from the others than they
    did: then the board was drawn anew, in another look. In a picture that was brightened white may be all that is left
    of both."""
    given = _grounds(seen.known, seen.frame)
    if not _differ(_grounds(seen.board, seen.frame), given, boxes):
        return False
    gain = _brightening(seen, style)
    if gain is None:
        return True
    raw = seen.registration.crop(seen.frame.box, (seen.board.shape[1], seen.board.shape[0]))
    return _differ(_grounds(raw, seen.frame), np.minimum(gain * given, 255), boxes)


def _gone(lines: Lines, page: Pixels) -> NDArray[np.intp]:
    """(N, 2): where lines are gone. They are not looked for in a page on which every one is plainly where it was."""
    there = page[lines.at, lines.start : lines.start + lines.colours.shape[1]]
    if (np.abs(there - lines.colours) <= GONE * lines.contrast[:, :, None]).all():
        return np.empty((0, 2), np.intp)
    return lines.gone(page)


def _line_colours(style: Style) -> Floats:
    """(K, 3): the colours of lines, and what is left of these beside a little of the ground."""
    colours = {name: np.array(colour, np.float32) for name, colour in style.colours().items()}
    inks = [colours[name] for name in ("line", "box")]
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


def _differ(grounds: Floats, others: Floats, boxes: NDArray[np.intp]) -> bool:
    """Whether the boxes are otherwise apart in the grounds (R, C, 3) than in the others."""
    apart = [each[boxes == 1].mean(axis=0) - each[boxes == 0].mean(axis=0) for each in (grounds, others)]
    return bool(np.abs(apart[0] - apart[1]).max() > SHADED)


def _grounds(board: Floats, frame: Frame) -> Floats:
    """(R, C, 3): the grounds of the cells of a board."""
    some = split_cells(board, frame.rows, frame.cols)[:, :, 1::3, 1::3]
    pixels = some.reshape(*some.shape[:2], -1, 3)
    middle = pixels.shape[2] // 2
    grounds: Floats = np.partition(pixels, middle, axis=2)[:, :, middle]
    return grounds


def _brightening(seen: Seen, style: Style) -> float | None:
    """How many times as bright as it was all that was drawn has become, the digits and the lines around boxes alike;
    None if it has not."""
    given = seen.page.picture.rgb()
    page = seen.registration.part(WHOLE, (given.shape[1], given.shape[0]))
    gains = []
    for name in ("ink", "box"):
        colour = np.array(style.colours()[name], np.uint8)
        there = page[(given == colour).all(axis=2)]
        if not len(there) or not colour.any():  # black stays black, however bright the rest becomes
            return None
        gains.append(float(np.median(there @ LUMA) / (colour @ LUMA)))
    return min(gains) if min(gains) > 1 and max(gains) < min(BRIGHTEST, min(gains) + UNEVEN) else None
