"""Coloured borders around cells: frames of single cells, or one closed line around several.

Only a colour's direction away from grey counts, not its shade: editors thin, blur and darken lines. A cell is framed
if one colour runs along all four of its sides. Colour that is left after that must be a closed line; the cells whose
middles it shuts in are outlined. Coloured marks that are neither make the picture unreadable: nobody could say which
cells they mean. So do marks through which the ground shows: half a frame's ink may be a frame or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from renderers.reading.hues import FAINTEST, MARGIN, Hues, Layer, Levels, Numbers
from renderers.reading.ink import CORNER, DEPTH, faint_frames
from renderers.reading.plain_hues import demand_plain_hues
from renderers.reading.redrawn import Again, confirmed
from renderers.reading.register import Floats

PALEST = 0.3
"""A frame's pixels may be as pale as this share of the skin's own colour; where its other sides are plain to see, even
paler, see `WASHED_OUT`."""

HALOS = ((0.25, 0.62), (0.5, 0.4))
"""A colour with so small a share of the strongest one's ink in a cell, and so pale, is a fringe of it: what sharpening
leaves, or the rim of a red line on brown, which is orange."""

PALEST_ALONE = 0.36
"""Fainter colour away from all frames is what compression smears, not a mark."""

SKIP = 0.03
"""Share of a cell at its very edge into which a neighbour's frame may bleed."""

ALONG = 0.7
"""Share of a side that must be coloured. Less is a mark that must prove to be closed. What is pale along all four is in
doubt."""

GAP, NEARLY = 0.45, 0.75
"""Or so much of a side, and of all four: compression and sharpening take the colour from parts of a thin line."""

MOSTLY, PARTLY = 0.55, 0.35
"""Share of all four sides that must be coloured plainly, if some are washed out; above the second nobody can say."""

SHRED = 0.15
"""Nor can anybody where they are mostly plain, but of one side no more than this share is left."""

STRAY = 0.5
"""A line of colour as long as this share of a cell's side that belongs to no frame is a mark of its own."""


CROWDED, TINT = 2.0, 16.0
"""A cell may have a border whose own colour is lost between those of its neighbours if its coloured pixels, of whatever
hues, would fill so many of its sides, and channels differ by so many levels more than they should along all four."""


@dataclass(frozen=True, eq=False)
class Outlines:
    colours: Numbers  # (R, C): number of the colour, -1 for none
    framed: Layer  # (R, C): which cells have a border of their own, and are not in a line around several
    confidence: float
    ink: Layer  # (R*n, C*n): where they were drawn, and one pixel around it
    plain: Hues  # all that was drawn
    own: Hues  # only what is in cells outlined in the very colour

    @cached_property
    def shades(self) -> Floats:
        """(K, 3): each colour as it was drawn, in the middle of its lines; as it should be where it was not."""
        return self._shades(self.own.names, self.own.marks)

    @property
    def own_shades(self) -> Floats:
        """(R, C, 3): the same of each cell's border alone: a hand may draw it lighter on what is dark."""
        cells = np.where(self.colours < 0, 0, self.colours)
        return self._shades(self.own.cells, self.own.marks[cells.reshape(-1)]).reshape(*cells.shape, 3)

    def laid_on(self, pale: Hues) -> Outlines:
        """The same on a board of another size, which has these hues."""
        plain = pale.some(pale.share > PALEST)
        own = plain.some(plain.names == self.colours.take(plain.cells))
        return replace(self, ink=grown(plain.layer(), 1), plain=plain, own=own)

    def _shades(self, names: Numbers, marks: Floats) -> Floats:
        """(K, 3): the mean of the stronger pixels of each name (N,), of which the clean colours are `marks` (K, 3)."""
        own, count = self.own, len(marks)
        many, amounts = (np.bincount(names, weights, count) for weights in (None, own.share))
        most = np.flatnonzero(own.share >= (amounts / np.maximum(many, 1)).take(names))
        names, pixels = names.take(most), own.pixels.take(most, axis=0)
        sums = np.stack([np.bincount(names, channel, count) for channel in pixels.T], axis=1)
        many = np.bincount(names, minlength=count)[:, None]
        return np.where(many > 0, sums / np.maximum(many, 1), marks)


def read_outlines(
    board: Floats,
    marks: Floats,
    shades: Floats,
    ground: Numbers,
    *,
    width: float,
    closer: Callable[[], Floats],
    faintest: Levels = FAINTEST,
    lead: float = 0.0,
    known: Floats | None = None,
    again: Again | None = None,
    tints: Floats | None = None,
) -> Outlines:
    """The outline of every cell of a square board (R*n, R*n, 3), each in one of the colours `marks` (K, 3) or none.

    The cells' own colours are `shades` (S, 3), of which `ground` (R, R) numbers each one's, and `width` is that of a
    clean frame, as a share of a cell. `closer` gives the same board in more pixels: thin lines may look faint from
    afar. `lead` is the least by which a border's hue must be nearer to its colour than to any other (cosine).
    `again` looks at whole cells whose border is in doubt: those with a tint all around that is not `known`, too.
    What shows through of the grounds' own `tints` (R*R, 3), if they are given, is no part of a border's hue.
    """
    size = len(ground)
    pale = Hues.of(board, marks, size, faintest)
    pale = pale if tints is None else pale.without(tints)
    plain = pale.some(pale.share > PALEST)
    colours = np.full((size, size), -1, np.intp)
    if not len(plain.places):
        return Outlines(colours, colours >= 0, 1.0, np.zeros(board.shape[:2], bool), plain, plain)
    confidence, doubtful = _frame_cells(colours, pale)
    tinted = np.zeros_like(doubtful) if known is None else _tinted(colours, pale, board, known)
    doubtful &= ~_settled(colours, doubtful | tinted, again)
    if doubtful.any():
        row, col = np.argwhere(doubtful)[0]
        raise UnreadableImage(f"the border of cell ({row}, {col}) is so pale or broken that it may not be meant")
    framed = _outline_cells(colours, plain, again)
    ink, own = grown(plain.layer(), 1), plain.some(plain.names == colours.take(plain.cells))
    found = Outlines(colours, framed, confidence, ink, plain, own)
    if (colours < 0).all():
        return found
    if lead:
        demand_plain_hues(plain, own, colours, lead, again)
    faint = faint_frames(pale, colours, framed, shades, ground, width)
    if faint.any():
        near = Hues.of(closer(), marks, size, faintest)
        faint &= faint_frames(near, colours, framed, shades, ground, width)
        faint &= ~confirmed(colours, faint, again)
    if faint.any():
        row, col = np.argwhere(faint)[0]
        raise UnreadableImage(f"the ground shows through the border of cell ({row}, {col}): it may not be meant")
    return found


def grown(layer: Layer, pixels: int) -> Layer:
    """The layer and everything up to `pixels` away from it, up, down and sideways."""
    around = np.ones((2 * pixels + 1, 2 * pixels + 1), np.uint8)
    large: Layer = cv2.dilate(layer.view(np.uint8), around).view(np.bool_)
    return large


def over_cells(chosen: Layer, n: int) -> Layer:
    """(R*n, C*n): all pixels of the cells (R, C) that are chosen."""
    rows, cols = chosen.shape
    large = cv2.resize(chosen.view(np.uint8), (cols * n, rows * n), interpolation=cv2.INTER_NEAREST)
    whole: Layer = large.view(np.bool_)
    return whole


def _frame_cells(colours: Numbers, pale: Hues) -> tuple[float, Layer]:
    """Name the colours (R, R) of cells with a frame of their own; how plain the worst of these is, 0 to 1, and which
    cells (R, R) may have one."""
    which, around, sure = _around(pale)
    better, most = np.maximum(around, sure), sure.mean(axis=0)
    worst = better.min(axis=0)
    halfway = ((worst > GAP) & (most > PARTLY)) | ((worst > SHRED) & (most > MOSTLY)) | (worst > ALONG)
    sides = np.where(most > MOSTLY, better, sure)
    least = sides.min(axis=0)
    framed = (least > ALONG) | ((least > GAP) & (sides.mean(axis=0) > NEARLY))
    lines = ~_halos(pale)[which]
    halfway, framed = halfway & ~framed & lines, framed & lines
    numbers, rows, cols = which
    doubtful = np.zeros(colours.shape, bool)
    doubtful[rows[halfway], cols[halfway]] = True
    for number in _found(numbers[framed]):
        cells = np.zeros_like(colours, bool)
        cells[rows[framed & (numbers == number)], cols[framed & (numbers == number)]] = True
        _give(colours, cells, int(number))
    return float(least[framed].min(initial=1.0)), doubtful


def _tinted(colours: Numbers, pale: Hues, board: Floats, known: Floats) -> Layer:
    """(R, R): which cells without a frame yet have a colour along each of their sides that the known board has not."""
    size, n = pale.grid.size, pale.grid.n
    tinted: Layer = (colours < 0) & (pale.counts.sum(axis=0) > CROWDED * n)
    if tinted.any():
        rows, cols = np.nonzero(tinted)
        seen, given = (part.reshape(size, n, size, n, 3)[rows, :, cols] for part in (board, known))
        beyond, along = seen - given, slice(round(CORNER * n), n - round(CORNER * n))
        sides = [beyond[:, end, along].mean(axis=1) for end in (1, n - 2)]
        sides += [beyond[:, along, end].mean(axis=1) for end in (1, n - 2)]
        tinted[rows, cols] = np.ptp(np.stack(sides), axis=2).min(axis=0) > TINT
    return tinted


def _settled(colours: Numbers, doubtful: Layer, again: Again | None) -> Layer:
    """Name the colours (R, R) of doubtful cells that, looked at again, plainly have a border of one, or none; which
    (R, R) do."""
    if again is None or not doubtful.any():
        return np.zeros(colours.shape, bool)
    named, plainly = again().settle(colours, doubtful)
    colours[plainly] = named[plainly]
    return plainly


def _outline_cells(colours: Numbers, plain: Hues, again: Again | None) -> Layer:
    """Name the colours (R, R) of cells that closed lines away from all frames go around, unless there are frames there,
    too; which cells (R, R) have frames."""
    enough = STRAY * plain.grid.n
    alone = _alone(colours, plain, enough)
    if (_settled(colours, alone.counts.max(axis=0) > enough, again) & (colours >= 0)).any():
        alone = _alone(colours, plain, enough)
    framed: Layer = colours >= 0
    for number in np.flatnonzero(alone.counts.max(axis=(1, 2)) > enough):
        _give(colours, _shut_in(alone.some(alone.names == number)), int(number))
    return framed


def _alone(colours: Numbers, plain: Hues, enough: float) -> Hues:
    """The colour away from all frames of these colours (R, R), where a cell may have more than enough of it."""
    alone = plain.some((plain.share > PALEST_ALONE) & (colours < 0).take(plain.cells))
    if alone.counts.max() <= enough:
        return alone
    framed = grown(over_cells(colours >= 0, plain.grid.n), MARGIN + 1)
    return alone.some(~framed.take(alone.places))


def _halos(pale: Hues) -> Layer:
    """(K, R, R): in which cells a colour is but the pale fringe around a line of another one."""
    amount = pale.amounts
    plain = np.zeros(len(amount), bool)
    plain[pale.names[pale.share > PALEST]] = True
    strongest, counts = amount[plain].max(axis=0), pale.counts
    fringe: Layer = np.any([(amount < less * strongest) & (amount < faint * counts) for less, faint in HALOS], axis=0)
    return fringe


def _give(colours: Numbers, cells: Layer, number: int) -> None:
    if not cells.any():
        return
    if (colours[cells] >= 0).any():
        raise UnreadableImage("a cell has borders of two colours")
    colours[cells] = number


def _around(hues: Hues) -> tuple[tuple[Numbers, ...], Floats, Floats]:
    """Colour, row and column (M,) of cells that may be framed; and (4, M) the share of each of their sides that is in
    that colour, and that plainly is.

    A frame lies well inside its cell. A recoloured grid line does not; but where the neighbour has a frame of its own,
    colour on the line says nothing about this cell.
    """
    n, size = hues.grid.n, hues.grid.size
    (of, rows, cols), cells = _cells_with(hues, GAP * (n - 2 * round(CORNER * n)))
    own = slice(MARGIN, MARGIN + n)
    inside = _sides(cells[:, own, own], skip=max(1, round(SKIP * n)), margin=0)
    on_line = _sides(cells, skip=0, margin=MARGIN)
    framed = np.zeros((2, len(hues.marks), size + 2, size + 2), bool)
    least = inside.min(axis=1)
    framed[:, of, rows + 1, cols + 1] = least > ALONG
    beside = ((rows, cols + 1), (rows + 2, cols + 1), (rows + 1, cols), (rows + 1, cols + 2))
    on_line[np.stack([framed[:, of, row, col] for row, col in beside], axis=1)] = 0.0
    around, sure = np.where((on_line.min(axis=1) > least)[:, None], on_line, inside)
    return (of, rows, cols), around, sure


def _cells_with(hues: Hues, enough: float) -> tuple[tuple[Numbers, ...], NDArray[np.uint8]]:
    """Colour, row and column (M,) of the cells that may have more than enough pixels of a colour along each side; and
    these (M, m, m), with MARGIN pixels around each: 1 where there is the colour, 2 where it is plain."""
    size, n = hues.grid.size, hues.grid.n
    side, m = size * n + 2 * MARGIN, n + 2 * MARGIN
    counts = np.zeros((len(hues.marks), size + 2, size + 2))
    counts[:, 1:-1, 1:-1] = hues.counts
    beside = counts[:, :-2, 1:-1], counts[:, 2:, 1:-1], counts[:, 1:-1, :-2], counts[:, 1:-1, 2:]
    of, rows, cols = np.nonzero(counts[:, 1:-1, 1:-1] + np.minimum.reduce(beside) > enough)
    numbers = _found(of)
    layers = np.zeros((len(numbers) + 1, side, side), np.uint8)
    layer_of = np.full(len(hues.marks), len(numbers))  # the others share the last layer
    layer_of[numbers] = np.arange(len(numbers))
    layers.reshape(-1)[(layer_of * side**2).take(hues.names) + hues.grid.padded.take(hues.places)] = 1 + (
        hues.share > PALEST
    )
    layer, down, across = layers.strides
    shape, strides = (len(numbers), size, size, m, m), (layer, down * n, across * n, down, across)
    return (of, rows, cols), as_strided(layers, shape, strides, writeable=False)[layer_of.take(of), rows, cols]


def _sides(cells: NDArray[np.uint8], *, skip: int, margin: int) -> Floats:
    """(2, 4, M): the share of each side (top, bottom, left, right) along which there is colour, and along which it is
    plain, of cells (M, m, m) as `_cells_with` gives them.

    They are shown with `margin` pixels around them. Looked at is a strip from the edge, or `skip` pixels inside it, to
    DEPTH.
    """
    m = cells.shape[1]
    n = m - 2 * margin
    depth, corner = margin + max(2, round(DEPTH * n)), margin + round(CORNER * n)
    along = slice(corner, m - corner)
    strips = [
        part[:, places, along].max(axis=1)
        for part in (cells, np.ascontiguousarray(cells.transpose(0, 2, 1)))
        for places in (slice(skip, depth), slice(m - depth, m - skip))
    ]
    sides = np.stack(strips).astype(np.float32)  # (4, M, along)
    ones = np.ones(sides.shape[2], np.float32)  # times these a side is summed: much faster than otherwise
    some, twice = np.minimum(sides, 1.0) @ ones, sides @ ones
    shares: Floats = np.stack([some, twice - some]).astype(np.float64) / max(sides.shape[2], 1)
    return shares


def _found(numbers: Numbers) -> Numbers:
    """Which of the numbers from 0 on there are."""
    return np.flatnonzero(np.bincount(numbers))


def _shut_in(line: Hues) -> Layer:
    """(R, R): the cells whose middles cannot be left without crossing the line."""
    size, n = line.grid.size, line.grid.n
    free = np.pad((~grown(line.layer(), 1)).view(np.uint8), 1, constant_values=1)
    reached = 2
    cv2.floodFill(free, None, (0, 0), reached, flags=4)
    shut = (free == 1)[1:-1, 1:-1].reshape(size, n, size, n)
    middle = slice(n // 2 - 1, n // 2 + 2)
    inside: Layer = shut[:, middle][..., middle].mean(axis=(1, 3)) > 0.5
    if not inside.any():
        raise UnreadableImage("there are coloured marks that go around no cell")
    return inside
