"""Coloured borders around cells: frames of single cells, or one closed line around several.

Only a colour's direction away from grey counts, not its shade: editors thin, fade and darken lines. A cell is framed
if one colour runs along all four of its sides. Colour that is left after that must be a closed line; the cells whose
middles it shuts in are outlined. Coloured marks that are neither make the picture unreadable: nobody could say which
cells they mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from renderers.reading.register import Floats

Layer = NDArray[np.bool_]

FAINTEST = 30.0
"""Pixels whose strongest and weakest channel differ by less have no colour."""

PALEST = 0.3
"""A frame may be as pale as this share of the skin's own colour."""

PALEST_ALONE = 0.36
"""Fainter colour away from all frames is what compression smears, not a mark."""

SAME_HUE = 0.88
"""Cosine between two colours' directions away from grey, to be called by the same name."""

DEPTH = 0.3
"""How far into a cell its border may reach, as a share of its side."""

MARGIN = 2
"""Pixels beyond the cell that still count as its border: recoloured grid lines belong to both neighbours."""

SKIP = 0.03
"""Share of a cell at its very edge into which a neighbour's frame may bleed."""

ALONG = 0.7
"""Share of a side that must be coloured. Less is a mark that must prove to be closed."""

STRAY = 0.5
"""A line of colour as long as this share of a cell's side that belongs to no frame is a mark of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    colours: NDArray[np.intp]  # (R, C): number of the colour, -1 for none
    confidence: float
    ink: Layer  # (R*n, C*n): where they were drawn, and one pixel around it


def read_outlines(board: Floats, size: int, marks: Floats, *, faintest: float = FAINTEST) -> Outlines:
    """The outline of every cell of a square board (R*n, R*n, 3), each in one of the colours `marks` (K, 3) or none."""
    hues, strong = name_hues(board, marks, faintest)
    n = board.shape[0] // size
    colours = np.full((size, size), -1, np.intp)
    confidence = 1.0
    numbers = np.unique(hues[hues >= 0])
    for number in numbers:
        around = _around(hues == number, size, n)
        framed = around > ALONG
        confidence = min(confidence, float(np.where(framed, around, 1.0).min()))
        _give(colours, framed, int(number))
    alone = strong & ~grown(np.repeat(np.repeat(colours >= 0, n, axis=0), n, axis=1), MARGIN + 1)
    for number in numbers:
        rest = (hues == number) & alone
        if rest.reshape(size, n, size, n).sum(axis=(1, 3)).max() > STRAY * n:
            _give(colours, _shut_in(rest, size, n), int(number))
    return Outlines(colours, confidence, grown(hues >= 0, 1))


def name_hues(board: Floats, marks: Floats, faintest: float) -> tuple[NDArray[np.intp], Layer]:
    """(H, W): for every pixel the number of the mark whose hue it has, -1 for none; and whether it is as strong."""
    red, green, blue = board[..., 0], board[..., 1], board[..., 2]
    strength = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    hues, strong = np.full(strength.shape, -1, np.intp), np.zeros(strength.shape, bool)
    vivid = strength > faintest
    likeness = _from_grey(board[vivid]) @ _from_grey(marks).T  # (N, K)
    nearest = likeness.argmax(axis=1)
    share = strength[vivid] / (marks.max(axis=1) - marks.min(axis=1))[nearest]
    hues[vivid] = np.where((likeness.max(axis=1) > SAME_HUE) & (share > PALEST), nearest, -1)
    strong[vivid] = share > PALEST_ALONE
    return hues, strong


def _from_grey(colours: Floats) -> Floats:
    """Unit vectors from grey towards each colour (N, 3)."""
    away = colours - colours.mean(axis=1, keepdims=True)
    unit: Floats = away / np.maximum(np.sqrt((away**2).sum(axis=1, keepdims=True)), 1e-9)
    return unit


def _give(colours: NDArray[np.intp], cells: Layer, number: int) -> None:
    if not cells.any():
        return
    if (colours[cells] >= 0).any():
        raise UnreadableImage("a cell has borders of two colours")
    colours[cells] = number


def _around(layer: Layer, size: int, n: int) -> Floats:
    """(R, C): the share of the least coloured side of each cell.

    A frame lies well inside its cell. A recoloured grid line does not; but where the neighbour has a frame of its own,
    colour on the line says nothing about this cell.
    """
    inside = _sides(layer, size, n, skip=max(1, round(SKIP * n)), margin=0)
    framed = np.pad(inside.min(axis=0) > ALONG, 1)
    across = [framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:]]
    on_line = np.where(across, 0.0, _sides(layer, size, n, skip=0, margin=MARGIN))
    best: Floats = np.maximum(inside.min(axis=0), on_line.min(axis=0))
    return best


def _sides(layer: Layer, size: int, n: int, *, skip: int, margin: int) -> Floats:
    """(4, R, C): the share of each side (top, bottom, left, right) of each cell along which the layer runs.

    Looked at is a strip from `margin` pixels outside the cell, or `skip` pixels inside it, to DEPTH.
    """
    padded = np.pad(layer, margin)
    down, across = padded.strides
    m = n + 2 * margin
    cells = as_strided(padded, (size, size, m, m), (down * n, across * n, down, across), writeable=False)
    depth, corner = margin + max(2, round(DEPTH * n)), margin + round(0.15 * n)
    along = slice(corner, m - corner)
    return np.stack(
        [
            cells[:, :, skip:depth, along].any(axis=2).mean(axis=2),
            cells[:, :, m - depth : m - skip, along].any(axis=2).mean(axis=2),
            cells[:, :, along, skip:depth].any(axis=3).mean(axis=2),
            cells[:, :, along, m - depth : m - skip].any(axis=3).mean(axis=2),
        ]
    )


def grown(layer: Layer, pixels: int) -> Layer:
    """The layer and everything up to `pixels` away from it, up, down and sideways."""
    for axis in (0, 1):
        padded = np.pad(layer, [(pixels, pixels) if at == axis else (0, 0) for at in (0, 1)])
        span = layer.shape[axis]
        parts = [padded.take(range(start, start + span), axis=axis) for start in range(2 * pixels + 1)]
        layer = np.logical_or.reduce(parts)
    return layer


def _shut_in(line: Layer, size: int, n: int) -> Layer:
    """(R, C): the cells whose middles cannot be left without crossing the line."""
    free = np.pad(~grown(line, 1), 1, constant_values=True)
    reached = np.zeros_like(free)
    reached[0] = True
    before = -1
    while (now := int(reached.sum())) != before:
        before = now
        for _ in range(8):
            spread = reached.copy()
            spread[1:] |= reached[:-1]
            spread[:-1] |= reached[1:]
            spread[:, 1:] |= reached[:, :-1]
            spread[:, :-1] |= reached[:, 1:]
            reached = spread & free
    shut = (free & ~reached)[1:-1, 1:-1].reshape(size, n, size, n)
    middle = slice(n // 2 - 1, n // 2 + 2)
    inside: Layer = shut[:, middle][..., middle].mean(axis=(1, 3)) > 0.5
    if not inside.any():
        raise UnreadableImage("there are coloured marks that go around no cell")
    return inside
