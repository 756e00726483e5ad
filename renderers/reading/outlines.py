"""Coloured borders around cells: frames of single cells, or one closed line around several.

Only a colour's direction away from grey counts, not its shade: editors thin, blur and darken lines. A cell is framed
if one colour runs along all four of its sides. Colour that is left after that must be a closed line; the cells whose
middles it shuts in are outlined. Coloured marks that are neither make the picture unreadable: nobody could say which
cells they mean. So do marks through which the ground shows: half a frame's ink may be a frame or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from renderers.reading.register import Floats

Layer = NDArray[np.bool_]

FAINTEST = 30.0
"""Pixels whose strongest and weakest channel differ by less have no colour."""

PALEST, WASHED_OUT = 0.3, 0.15
"""A frame's pixels may be as pale as this share of the skin's own colour; where its other sides are plain to see, even
as pale as the second, which is what compression leaves of a thin line."""

OPAQUE, FAINT = 0.6, 0.54
"""Share of ink in the middle of a line that is surely meant, and that may be a blurred one."""

ENOUGH_INK = 0.68
"""Blur spreads ink and takes none away: the share of a clean frame's ink that a blurred one must have."""

DARK = 128.0
"""On a ground darker than this a darker shade of a colour looks just like a faint one."""

HALO, PALE_HALO = 0.25, 0.62
"""A colour with so small a share of the strongest one's ink in a cell, and so pale, is a fringe of it."""

PALEST_ALONE = 0.36
"""Fainter colour away from all frames is what compression smears, not a mark."""

SAME_HUE = 0.88
"""Cosine between two colours' directions away from grey, to be called by the same name."""

RIVAL = 0.25
"""A border is of two colours if so many of its pixels, to one of its own, have the hue that is next to its own."""

DEPTH = 0.3
"""How far into a cell its border may reach, as a share of its side."""

CORNER = 0.15
"""Share of a side, at both ends, that is the corner and belongs to no side."""

MARGIN = 2
"""Pixels beyond the cell that still count as its border: recoloured grid lines belong to both neighbours."""

SKIP = 0.03
"""Share of a cell at its very edge into which a neighbour's frame may bleed."""

ALONG = 0.7
"""Share of a side that must be coloured. Less is a mark that must prove to be closed."""

GAP, NEARLY = 0.45, 0.75
"""Or so much of a side, and of all four: compression and sharpening take the colour from parts of a thin line."""

MOSTLY, PARTLY = 0.55, 0.35
"""Share of all four sides that must be coloured plainly, if some are washed out; above the second nobody can say."""

STRAY = 0.5
"""A line of colour as long as this share of a cell's side that belongs to no frame is a mark of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    colours: NDArray[np.intp]  # (R, C): number of the colour, -1 for none
    confidence: float
    ink: Layer  # (R*n, C*n): where they were drawn, and one pixel around it


def read_outlines(
    board: Floats,
    marks: Floats,
    grounds: Floats,
    *,
    width: float,
    closer: Callable[[], Floats],
    faintest: float = FAINTEST,
    lead: float = 0.0,
) -> Outlines:
    """The outline of every cell of a square board (R*n, R*n, 3), each in one of the colours `marks` (K, 3) or none.

    `grounds` (R, R, 3) are the cells' own colours, and `width` is that of a clean frame, as a share of a cell. `closer`
    gives the same board in more pixels: thin lines may look faint from afar. `lead` is the least by which a border's
    hue must be nearer to its colour than to any other (cosine).
    """
    size = len(grounds)
    pale, share = name_hues(board, marks, faintest)
    hues = np.where(share > PALEST, pale, np.int8(-1))
    n = board.shape[0] // size
    colours = np.full((size, size), -1, np.intp)
    confidence = 1.0
    numbers = np.unique(hues[hues >= 0])
    halo = _halos(pale, share, numbers, size)
    for number, fringe in zip(numbers, halo, strict=True):
        layer = pale == number
        if np.count_nonzero(layer) <= 2 * ALONG * (n - 2 * round(CORNER * n)):
            continue  # too little for two sides of one cell
        around, plain = _around(layer, size, n), _around(hues == number, size, n)
        halfway = (np.maximum(around, plain).min(axis=0) > GAP) & (plain.mean(axis=0) > PARTLY) & ~fringe
        sides = np.where(plain.mean(axis=0) > MOSTLY, np.maximum(around, plain), plain)
        around = sides.min(axis=0)
        framed = ((around > ALONG) | ((around > GAP) & (sides.mean(axis=0) > NEARLY))) & ~fringe
        confidence = min(confidence, float(np.where(framed, around, 1.0).min()))
        if (halfway & ~framed).any():
            row, col = np.argwhere(halfway & ~framed)[0]
            raise UnreadableImage(f"the border of cell ({row}, {col}) is so pale or broken that it may not be meant")
        _give(colours, framed, int(number))
    alone = (share > PALEST_ALONE) & ~grown(np.repeat(np.repeat(colours >= 0, n, axis=0), n, axis=1), MARGIN + 1)
    for number in numbers:
        rest = (hues == number) & alone
        if rest.reshape(size, n, size, n).sum(axis=(1, 3)).max() > STRAY * n:
            _give(colours, _shut_in(rest, size, n), int(number))
    if len(numbers):
        _demand_plain_hues(board, hues, colours, marks, lead)
        faint = _faint_frames(_ink(board, pale, marks, grounds), colours, width)
        if faint.any():
            near = closer()
            ink = _ink(near, name_hues(near, marks, faintest)[0], marks, grounds)
            faint &= _faint_frames(ink, colours, width)
        if faint.any():
            row, col = np.argwhere(faint)[0]
            raise UnreadableImage(f"the ground shows through the border of cell ({row}, {col}): it may not be meant")
    return Outlines(colours, confidence, grown(hues >= 0, 1))


def name_hues(board: Floats, marks: Floats, faintest: float) -> tuple[NDArray[np.int8], Floats]:
    """(H, W): for every pixel the number of the mark whose hue it has, -1 for none; and its share of that colour."""
    red, green, blue = board[..., 0], board[..., 1], board[..., 2]
    strength = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    hues, shares = np.full(strength.shape, -1, np.int8), np.zeros(strength.shape, np.float32)
    vivid = strength > faintest
    likeness = _from_grey(board[vivid]) @ _from_grey(marks).T  # (N, K)
    nearest = likeness.argmax(axis=1)
    share = strength[vivid] / (marks.max(axis=1) - marks.min(axis=1))[nearest]
    hues[vivid] = np.where((likeness.max(axis=1) > SAME_HUE) & (share > WASHED_OUT), nearest, -1)
    shares[vivid] = share
    return hues, shares


def _ink(board: Floats, hues: NDArray[np.int8], marks: Floats, grounds: Floats) -> Floats:
    """(H, W): how much of each coloured pixel is ink, and not the ground behind it; 0 where there is no colour.

    A pixel is taken to be p x ground + q x mark, in any shade: then q / (p + q) is ink. On a dark ground, where a shade
    tells nothing, q itself is.
    """
    n = len(board) // len(grounds)
    rows, cols = np.nonzero(hues >= 0)
    seen, mark, ground = board[rows, cols], marks[hues[rows, cols]], grounds[rows // n, cols // n]
    mm, gg, mg = (mark * mark).sum(axis=1), (ground * ground).sum(axis=1), (mark * ground).sum(axis=1)
    sm, sg = (seen * mark).sum(axis=1), (seen * ground).sum(axis=1)
    both = np.maximum(mm * gg - mg * mg, 1e-6)
    q, p = (sm * gg - sg * mg) / both, (sg * mm - sm * mg) / both
    share = np.where(ground.mean(axis=1) < DARK, q, q / np.maximum(q + p.clip(0.0), 1e-6))
    ink: Floats = np.zeros(hues.shape)
    ink[rows, cols] = share.clip(0.0, 1.0)
    return ink


def _faint_frames(ink: Floats, colours: NDArray[np.intp], width: float) -> Layer:
    """(R, C): which borders have so little ink that the ground shows through, judged by their two best sides."""
    size, n = len(colours), len(ink) // len(colours)
    depth, corner = max(2, round(DEPTH * n)), round(CORNER * n)
    along = slice(corner, n - corner)
    cells = ink.reshape(size, n, size, n).transpose(0, 2, 1, 3)[colours >= 0]  # (K, n, n)
    upright = cells.transpose(0, 2, 1)
    strips = [part[:, along, some] for part in (cells, upright) for some in (slice(depth), slice(n - depth, n))]
    across = np.stack(strips)  # (4, K, along, depth)
    sides = (np.median(part, axis=2) for part in (across.max(axis=3), across.sum(axis=3)))  # (4, K) each
    peak, amount = (np.sort(part, axis=0)[2:].mean(axis=0) for part in sides)
    faint = np.zeros(colours.shape, bool)
    faint[colours >= 0] = (peak < OPAQUE) & ((peak < FAINT) | (amount < ENOUGH_INK * width * n)) & (amount > 0)
    return faint


def _from_grey(colours: Floats) -> Floats:
    """Unit vectors from grey towards each colour (N, 3)."""
    away = colours - colours.mean(axis=1, keepdims=True)
    unit: Floats = away / np.maximum(np.sqrt((away**2).sum(axis=1, keepdims=True)), 1e-9)
    return unit


def _halos(hues: NDArray[np.int8], share: Floats, numbers: NDArray[np.intp], size: int) -> Layer:
    """(K, R, C): in which cells a colour is but the pale fringe that sharpening leaves around a line of another one."""
    if not len(numbers):
        return np.zeros((0, size, size), bool)
    n = len(hues) // size
    layers = [hues == number for number in numbers]
    count = np.stack([layer.reshape(size, n, size, n).sum(axis=(1, 3)) for layer in layers])
    amount = np.stack([np.where(layer, share, 0).reshape(size, n, size, n).sum(axis=(1, 3)) for layer in layers])
    fringe: Layer = (amount < HALO * amount.max(axis=0)) & (amount < PALE_HALO * count)
    return fringe


def _demand_plain_hues(
    board: Floats, hues: NDArray[np.intp], colours: NDArray[np.intp], marks: Floats, lead: float
) -> None:
    """Raise UnreadableImage if the hue of a border lies between two colours that may be asked for."""
    n = len(board) // len(colours)
    for row, col in np.argwhere(colours >= 0) if lead else ():
        part = slice(row * n, row * n + n), slice(col * n, col * n + n)
        own = hues[part] == colours[row, col]
        if own.any():
            near = _from_grey(board[part][own].mean(axis=0)[None])[0] @ _from_grey(marks).T
            second, first = np.argsort(near)[-2:]
            rival = np.count_nonzero(hues[part] == second)
            if near[first] - near[second] < lead or rival > RIVAL * np.count_nonzero(own):
                raise UnreadableImage(f"the border of cell ({row}, {col}) may be of one colour or of another")


def _give(colours: NDArray[np.intp], cells: Layer, number: int) -> None:
    if not cells.any():
        return
    if (colours[cells] >= 0).any():
        raise UnreadableImage("a cell has borders of two colours")
    colours[cells] = number


def _around(layer: Layer, size: int, n: int) -> Floats:
    """(4, R, C): the share of each side of each cell that is coloured.

    A frame lies well inside its cell. A recoloured grid line does not; but where the neighbour has a frame of its own,
    colour on the line says nothing about this cell.
    """
    inside = _sides(layer, size, n, skip=max(1, round(SKIP * n)), margin=0)
    framed = np.pad(inside.min(axis=0) > ALONG, 1)
    across = [framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:]]
    on_line = np.where(across, 0.0, _sides(layer, size, n, skip=0, margin=MARGIN))
    better = on_line.min(axis=0) > inside.min(axis=0)
    return np.where(better, on_line, inside)


def _sides(layer: Layer, size: int, n: int, *, skip: int, margin: int) -> Floats:
    """(4, R, C): the share of each side (top, bottom, left, right) of each cell along which the layer runs.

    Looked at is a strip from `margin` pixels outside the cell, or `skip` pixels inside it, to DEPTH.
    """
    padded = np.pad(layer, margin)
    down, across = padded.strides
    m = n + 2 * margin
    cells = as_strided(padded, (size, size, m, m), (down * n, across * n, down, across), writeable=False)
    depth, corner = margin + max(2, round(DEPTH * n)), margin + round(CORNER * n)
    along = slice(corner, m - corner)
    strips = [
        np.logical_or.reduce([part[:, :, along, place] for place in places])
        for part in (cells.transpose(0, 1, 3, 2), cells)
        for places in (range(skip, depth), range(m - depth, m - skip))
    ]
    shares: Floats = np.stack(strips).mean(axis=3)
    return shares


def grown(layer: Layer, pixels: int) -> Layer:
    """The layer and everything up to `pixels` away from it, up, down and sideways."""
    tall = layer.copy()
    for step in range(1, pixels + 1):
        tall[step:] |= layer[:-step]
        tall[:-step] |= layer[step:]
    wide = tall.copy()
    for step in range(1, pixels + 1):
        wide[:, step:] |= tall[:, :-step]
        wide[:, :-step] |= tall[:, step:]
    return wide


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
