"""Whether a new mark of tic-tac-toe is one ring, one cross or one block, in one ink on bare ground, and nothing else.

Other hands draw smaller or larger, thinner or thicker, beside the middle and with a tremble. So a ring or a cross is
laid through what is drawn; what is drawn away from its strokes is foreign, and so is whatever is along the middle of
them in another colour.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour, Pixels, Style
from renderers.board import Seen
from renderers.reading.foreign import FOREIGN, off_colours
from renderers.reading.register import Floats

Flags = NDArray[np.bool_]

SIDE, EDGE = 80, 4
"""Pixels across a cell that is looked at, and how many of them at its border are the grid's."""

APART = 50.0
"""Grey levels by which what is drawn differs from the ground, and other colours from the ink: strokes that are seen at
once differ by 90, and keep 60 of these through JPEG (q50)."""

SLACK = 0.035
"""Share of a cell by which ink may be away from the strokes laid through it: trembling hands need 0.025."""

CORE = 0.35
"""Share of a stroke's width, along its middle, that is all ink however the hand trembles."""

BESIDE, INSIDE, IN_BLOCK = 0.001, 0.0024, 0.0015
"""Shares of a cell that may be ink beside the strokes, and something else in the middle of them or inside of a block.
Of 5,400 painted and perturbed answers none needs more than 0, 0.0013 and 0.0002 (of 13,000 more, painted, one 0.00235);
the second times so much as a picture was sharpened. Strokes of 4 px of 512 over them make 0.009 of one of the first two
and more, and 0.019 in a block; and a piece of the picture laid over them, 12 px wide and high and more, 0.0025 of one
of them, or a notch."""

THIN, INSIDE_THIN = 0.1, 0.006
"""Share of a cell by which the stroke of a thin pen is narrower, and what may then be in the middle of it: of 25,000
answers by hand one needed 0.0055 and two 0.0033, since a hand that trembles leaves the middle sooner."""

ON_RIM = 0.004
"""The share of a cell that may be along a block's border, in no colour of the block, the ground or a line."""

NOTCH, WIDE, FULL = 3, 4, 0.25
"""Pixels by which a block may end deeper, along so many pixels of a side, than it does along this share of it."""

BLOT = np.ones((6, 6), np.uint8)
"""As many pixels of a block are not odd together, not even in a corner: what a hand leaves free is narrower."""

TOWARDS = 0.45
"""How far a mark's shade may be on the way from its own ink to the other's: painted answers are up to 0.27 on it, an X
that is all but covered by a cross in the ink of O's 0.65."""

PIECE = 0.01
"""Share of a cell from which on something is a piece of a mark."""

OWN = 24.0
"""Grey levels by which no pixel of a cell, at reading size, differs from our own drawing if that is all there is."""

RIM = 0.11
"""Share of a cell, at its border, that a block may leave free: other hands leave up to 0.09."""

SOME = 4
"""One in so many pixels of a mark tells its shade."""

SPECK = np.ones((2, 2), np.uint8)
"""What is smaller than this is no stroke."""


def is_spoilt(seen: Seen, cell: Cell, symbol: str, style: Style) -> bool:
    """Whether there is more in a cell, or less, than one mark; `symbol` is what it was read as."""
    inside = _close_up(seen, cell)
    drawn = _apart(inside, style.colours()["cell"])
    if not drawn.any():
        return False
    own, other = (style.colours()[name] for name in ("xo" if symbol == "X" else "ox"))
    ink = _shade(inside[drawn][::SOME], own)
    if _on_the_way(ink, own, other) > TOWARDS:
        return True
    odd = _apart(inside, ink)
    if style.text("marks") == "block":
        rim = round(RIM * SIDE) - EDGE
        colours = np.array([ink, *(style.colours()[name] for name in ("cell", "line"))], np.float32)
        if _share(_opened(_off_rim(inside, rim, colours))) > ON_RIM:
            return True
        if cv2.erode(odd.view(np.uint8), BLOT, borderValue=0).any():
            return True
        return _share(odd[rim:-rim, rim:-rim]) > IN_BLOCK or _is_notched(odd, rim)
    away, width = (_from_ring if symbol == "O" else _from_cross)(drawn)
    beside = _share(drawn & (away > width / 2 + SLACK * SIDE))
    within = _share(odd & (away < CORE * width / 2))
    most = (INSIDE if width > THIN * SIDE else INSIDE_THIN) * max(1.0, seen.crispness)
    return beside > BESIDE or within > most or _is_cut(drawn & ~odd)


def is_ours(cell: Floats, tile: Floats) -> bool:
    """Whether a cell (n, n, 3), but for the very border, shows just our own tile."""
    inner = slice(1, -1)
    return bool(np.abs(cell[inner, inner] - tile[inner, inner]).max() < OWN)


def _close_up(seen: Seen, cell: Cell) -> Pixels:
    """(n, n, 3): a cell without its border, colour drift undone; first as large as it was drawn, which is quicker."""
    x, y, far, low = seen.frame.box
    wide, high = (far - x) / seen.frame.cols, (low - y) / seen.frame.rows
    box = x + cell.col * wide, y + cell.row * high, x + (cell.col + 1) * wide, y + (cell.row + 1) * high
    down, across = seen.registration.image.shape[:2]
    part = seen.registration.part(box, (max(SIDE, round(wide * across)), max(SIDE, round(high * down))))
    inner = slice(EDGE, SIDE - EDGE)
    small = cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_AREA)[inner, inner]
    return seen.drift.mend(np.ascontiguousarray(small))


def _apart(pixels: Pixels, colour: Colour | Floats) -> Flags:
    """(n, n): which pixels (n, n, 3) differ from a colour, but for specks."""
    low, high = ([level + by for level in colour] for by in (-APART, APART))
    return _opened(cv2.inRange(pixels, np.array(low), np.array(high)) == 0)


def _opened(found: Flags) -> Flags:
    """(n, n): without specks."""
    strokes: Flags = cv2.morphologyEx(found.view(np.uint8), cv2.MORPH_OPEN, SPECK) > 0
    return strokes


def _shade(drawn: Pixels, named: Colour) -> Floats:
    """(3,): the shade of pixels (N, 3), told from those that are nearest to the colour that was named."""
    gap = np.abs(drawn - np.array(named, np.int16)).max(axis=1)
    shade: Floats = np.median(drawn[gap <= np.median(gap)], axis=0)
    return shade


def _on_the_way(shade: Floats, start: Colour, end: Colour) -> float:
    """How far a shade (3,) is on the way from one colour to another, which are not the same."""
    way = np.subtract(end, start)
    return float((shade - start) @ way / (way @ way))


def _share(found: Flags) -> float:
    """The share of a cell."""
    return float(np.count_nonzero(found) / SIDE**2)


def _off_rim(inside: Pixels, rim: int, colours: Floats) -> Flags:
    """(n, n): which pixels along a cell's border (n, n, 3) are in none of these colours (K, 3), nor between two."""
    off = np.ones(inside.shape[:2], bool)
    off[rim:-rim, rim:-rim] = False
    off[off] = off_colours(inside[off].astype(np.float32), colours, FOREIGN)
    return off


def _is_notched(odd: Flags, rim: int) -> bool:
    """Whether the edge of a block, where nothing is odd, is farther in at one part of a side than at others."""
    for side in (odd, odd[::-1], odd.T, odd.T[::-1]):
        depths = side[: 2 * rim, rim:-rim].argmin(axis=0)
        if np.count_nonzero(depths > np.quantile(depths, FULL) + NOTCH) > WIDE:
            return True
    return False


def _is_cut(ink: Flags) -> bool:
    """Whether what has a mark's ink is in several pieces: a ring is one, and so is a cross."""
    areas = cv2.connectedComponentsWithStats(ink.view(np.uint8))[2][1:, cv2.CC_STAT_AREA]
    return bool(np.count_nonzero(areas > PIECE * SIDE**2) > 1)


def _from_ring(drawn: Flags) -> tuple[Floats, float]:
    """How far each pixel is from the middle of the line of a ring, and how wide that line is.

    The ring is laid by how what is drawn is spread about its middle, which one slip of the pen hardly changes.
    """
    rows, cols = np.nonzero(drawn)
    y, x = _places(len(drawn))
    across, down = np.sqrt(2 * cols.var()), np.sqrt(2 * rows.var())
    wide = float(len(rows) / (np.pi * max(across + down, 1.0)))
    across, down = (np.sqrt(max(reach**2 - wide**2 / 4, 1.0)) for reach in (across, down))
    away = np.abs(np.hypot((x - cols.mean()) / across, (y - rows.mean()) / down) - 1) * (across + down) / 2
    return away.astype(np.float32), wide


def _from_cross(drawn: Flags) -> tuple[Floats, float]:
    """The same for a cross, whose strokes go from corner to corner of its box."""
    x, y, across, down = _box(drawn)
    wide, area = 0.0, float(np.count_nonzero(drawn))
    for _ in range(3):
        length = 2 * float(np.hypot(across - wide / 2, down - wide / 2))
        wide = (area + wide**2) / (2 * length + wide)
    across, down = across - wide / 2, down - wide / 2
    along = np.stack([x * across + y * down, x * across - y * down]) / (across**2 + down**2)
    nearest = along.clip(-1, 1)
    away = np.hypot(x - nearest * across, y - nearest * down * np.array([1, -1])[:, None, None])
    return away.min(axis=0), wide


def _box(drawn: Flags) -> tuple[Floats, Floats, float, float]:
    """Places right of and below the middle of the box of what is drawn, and half of its width and height."""
    rows, cols = (np.flatnonzero(drawn.any(axis=axis)) for axis in (1, 0))
    y, x = _places(len(drawn))
    middle = (cols[0] + cols[-1]) / 2, (rows[0] + rows[-1]) / 2
    return x - middle[0], y - middle[1], (cols[-1] - cols[0] + 1) / 2, (rows[-1] - rows[0] + 1) / 2


@lru_cache(maxsize=2)
def _places(side: int) -> tuple[Floats, Floats]:
    y, x = np.indices((side, side), np.float32)
    return y, x
