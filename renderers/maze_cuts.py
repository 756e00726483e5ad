"""Cuts in a drawn path: what was drawn over it, or close beside it, in the maze's own colours.

No pixel of such a stroke is foreign to the maze, but a path drawn with a pen, of any width, is solid from one edge to
the other and from one cell to the next. So the path is laid down once more in its one shade, over all that is painted
and over every gap in it that is narrower than a stroke. Whatever differs from this by more than an edge does, somebody
else drew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.maze_known import Flags, Known
from renderers.reading.foreign import most
from renderers.reading.redrawn import OPPONENT
from renderers.reading.register import Floats
from renderers.reading.strokes import off_line
from renderers.reading.struck import sum_of_three

FINEST = 10
"""Pixels along a cell below which nobody could tell a stroke from a slip of the pen."""

PAINT = 0.45
"""Share of the pen's colour, and of the path's shade, from which a pixel is taken for paint: compression smears colours
farther than brightness."""

GAP = np.ones((5, 5), np.uint8)
"""Gaps in the paint that are narrower than this are filled: strokes are up to 4 pixels wide, and wider gaps are seen
by whoever follows the line. Notches in the edge of a trembling hand's line are wider."""

EDGE = np.ones((3, 3), np.uint8)
"""A pixel may look like any of its neighbours, or like something between them: edges are soft."""

STRANGE, STRANGE_CLEAN, MANY, MANY_CLEAN = 40.0, 62.0, 5, 9
"""Grey levels by which a stroke differs from the path that was laid down once more, in so many pixels of a cell at
least: in pictures that were compressed, beside what is usual in them, and in clean ones. Of 4,000 clean right answers
nearly all have up to 4 such pixels, three, where a trembling line ends in a sign, 6 and 8; strokes that leave the path
in one piece have 10 and more."""

LIGHT, LIGHT_TIMES = 20.0, 2.0
"""Grey levels of light by which a stroke differs in compressed pictures, beside so many times what is usual in them. Of
1,050 right answers, compressed, moved, blurred or sharpened, none needs more than 0.9 of this; nineteen of twenty
strokes have 1.5 times as much, and crosses that have less leave the path in pieces."""

PIECE, PIECE_CLEAN, WIDE = 0.06, 0.02, 16
"""Share of a cell that a piece of a path covers at least, in compressed pictures and in clean ones; the pixels along
a cell from which on it is wide: there no piece comes off by compression. Of 2,000 such right answers clean ones
had no crumbs, others up to 0.04, while what a cross cuts off is 0.07 or more."""

NARROW = 0.43
"""The share of its usual width that a path must keep everywhere, on average of three places: of 6,000 right answers,
painted and perturbed up to full strength, none has less than 0.49, and wide ones no less than 0.65. What a patch laid
over one leaves, be it one unbroken line, has 0.09 to 0.37."""

HOLE = 0.05
"""The share of a cell that a hole in a path covers: of 6,000 right answers none has more than 0.04."""

USUAL, USUALLY = 0.4, 1.1
"""The quantile of a path's cells that tells what is usual, since a stroke may reach into two of four, and how many
times it counts."""

OFF, OFF_CLEAN, SOME = 26.0, 24.0, 6
"""Grey levels by which so many pixels of a cell are off the mixtures of paint and floor: in pictures that were
compressed, beside what the cleaner cells are off, and in clean ones. Right answers need 16, since compression smears
blue (q50) and a changed gamma bends the line of mixtures."""

CLEANER, TIMES = 0.25, 1.75
"""The quantile of a path's cells that tells what the cleaner ones are off, and how many times it counts."""

FINE, COARSE, COARSEST = 1.75, 1.05, 1.5
"""From how many pixels of a picture for one in which it is read its noise is averaged out; else, in compressed ones, so
many times as much is asked of a stroke, in wide cells and in others. Of 1,050 right answers of 256 px in wide cells,
compressed or moved, none needs more than 1; in others one in a hundred does."""

MARGIN = 0.15
"""Share of a cell at its border where its neighbours' colours may be, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A path as it is seen."""

    known: Known
    clean: Pixels  # (R*n, C*n, 3): the maze as it was given
    board: Floats  # (R*n, C*n, 3): as it is seen
    levels: Pixels  # the same in whole grey levels
    share: Floats  # (R*n, C*n): that of the pen's colour in each pixel
    painted: Flags  # (R, C): the path's cells
    signs: Flags  # (R, C): start and end
    paint: Floats  # (3,): the path's shade
    is_clean: bool  # whether the picture was not even compressed
    is_fine: bool  # whether it has many more pixels than the maze is read in

    @property
    def leniency(self) -> float:
        """How many times as much as usual is asked of a stroke."""
        return 1.0 if self.is_fine else COARSE if self.known.n >= WIDE else COARSEST

    @property
    def is_sharp(self) -> bool:
        """Whether compression leaves narrow lines as they are, in light at least."""
        return self.is_fine or self.known.n >= WIDE

    def around(self) -> Drawn:
        """Only the part of the maze where the path is, and a cell more on every side."""
        ends = [np.flatnonzero(self.painted.any(axis=axis))[[0, -1]].tolist() for axis in (1, 0)]
        rows, cols = (slice(max(0, first - 1), last + 2) for first, last in ends)
        n = self.known.n
        part = slice(rows.start * n, rows.stop * n), slice(cols.start * n, cols.stop * n)
        return replace(
            self,
            clean=self.clean[part],
            board=self.board[part],
            levels=self.levels[part],
            share=self.share[part],
            painted=self.painted[rows, cols],
            signs=self.signs[rows, cols],
        )

    def cells(self, picture: NDArray[Any], edge: int) -> NDArray[Any]:
        """(K, m, m, …): the path's cells in a picture (R*n, C*n, …), without so many pixels at their border."""
        (rows, cols), n = self.painted.shape, self.known.n
        inner = slice(edge, n - edge)
        cells: NDArray[Any] = picture.reshape(rows, n, cols, n, *picture.shape[2:])[:, inner, :, inner]
        return cells.swapaxes(1, 2)[self.painted]


def find_cut(drawn: Drawn) -> int | None:
    """The number, among the path's cells, of one in which something else was drawn; None if there is none."""
    if drawn.known.n < FINEST:
        return None
    drawn = drawn.around()
    narrowed = _narrowed(drawn)
    if narrowed is not None:
        return narrowed
    shaded = _shaded(drawn)
    paint = _painted(drawn, shaded)
    severed = _severed(drawn, paint)
    if severed is None:
        severed = _holed(drawn, paint)
    if severed is not None:
        return severed
    paint = cv2.max(paint, cv2.min(cv2.dilate(paint, EDGE), shaded))  # compression smears the colour of pale edges
    unlit = _unlit(drawn, paint)
    if unlit is not None:
        return unlit
    again = _again(drawn, cv2.morphologyEx(paint, cv2.MORPH_CLOSE, GAP))
    many = MANY_CLEAN if drawn.is_clean else MANY
    strange = _largest(drawn.cells(most(_beyond(again, drawn.levels)), 1), many)
    limit = STRANGE_CLEAN if drawn.is_clean else drawn.leniency * (STRANGE + USUALLY * _quantile(strange, USUAL))
    if strange.max() > limit:
        return int(strange.argmax())
    off = _largest(_off_floor(drawn), SOME)
    limit = OFF_CLEAN if drawn.is_clean else drawn.leniency * (OFF + TIMES * _quantile(off, CLEANER))
    return int(off.argmax()) if off.max() > limit else None


def _painted(drawn: Drawn, shaded: Pixels) -> Pixels:
    """(R*n, C*n): 255 where there is paint, but for start and end, else 0."""
    n, paint = drawn.known.n, cv2.min(cv2.compare(drawn.share, PAINT, cv2.CMP_GE), shaded)
    for row, col in np.argwhere(drawn.signs).tolist():
        paint[row * n : (row + 1) * n, col * n : (col + 1) * n] = 0
    return np.asarray(paint)


def _narrowed(drawn: Drawn) -> int | None:
    """A cell in which, or next to which, the path is much narrower than it usually is.

    Its width is how much paint there is across it, between the middles of two cells.
    """
    n, (rows, cols) = drawn.known.n, drawn.painted.shape
    cells = drawn.share.reshape(rows, n, cols, n)
    numbers = np.cumsum(drawn.painted).reshape(rows, cols) - 1
    widths, places = [], []
    for along, painted, number in (
        (cells.sum(axis=1), drawn.painted, numbers),
        (cells.sum(axis=3).transpose(2, 0, 1), drawn.painted.T, numbers.T),
    ):
        both = painted[:, :-1] & painted[:, 1:]
        widths.append(np.concatenate([along[:, :-1, n // 2 :][both], along[:, 1:, : n // 2][both]], axis=1))
        places.append(number[:, :-1][both])
    width = np.concatenate(widths)
    if not len(width):
        return None
    least = sum_of_three(width).min(axis=1)
    narrowest = int(least.argmin())
    return int(np.concatenate(places)[narrowest]) if least[narrowest] < 3 * NARROW * np.median(width) else None


def _severed(drawn: Drawn, paint: Pixels) -> int | None:
    """A cell with a piece of the path that does not hang together with the rest of it."""
    if not (drawn.is_sharp or drawn.is_clean):
        return None
    count, pieces = cv2.connectedComponents(paint)
    if count < 3:
        return None
    cells = drawn.cells(pieces, 0)  # elsewhere, the edges of walls may seem to be painted
    areas = np.bincount(cells.ravel(), minlength=count)[1:]
    second = int(np.argsort(areas)[-2])
    if areas[second] <= (PIECE_CLEAN if drawn.is_clean else PIECE) * drawn.known.n**2:
        return None
    return int(np.count_nonzero(cells == 1 + second, axis=(1, 2)).argmax())


def _holed(drawn: Drawn, paint: Pixels) -> int | None:
    """A cell with a hole in its paint; what a path goes around has walls in it."""
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(cv2.bitwise_not(paint), connectivity=4)
    holes = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] > HOLE * drawn.known.n**2)
    cells = drawn.cells(pieces, 0)
    inside = np.bincount(cells.ravel(), minlength=count)
    for hole in holes[inside[holes] == stats[holes, cv2.CC_STAT_AREA]].tolist():
        if hole:  # the first one is the paint itself
            return int(np.count_nonzero(cells == hole, axis=(1, 2)).argmax())
    return None


def _again(drawn: Drawn, paint: Pixels) -> Pixels:
    """(R*n, C*n, 3): the maze with the path laid down once more where `paint` (R*n, C*n) is not 0."""
    again = drawn.clean.copy()
    again[paint > 0] = drawn.paint.clip(0, 255)
    return again


def _unlit(drawn: Drawn, paint: Pixels) -> int | None:
    """A cell that is much darker or lighter somewhere than paint is and what was around it: compression smears colours,
    but hardly light. A gap in the paint is none here, since a trembling line has notches. Clean pictures are looked at
    in colour."""
    if drawn.is_clean or not drawn.is_sharp:
        return None
    light = _beyond(*(cv2.transform(picture, OPPONENT[:1]) for picture in (_again(drawn, paint), drawn.levels)))
    dark = _largest(drawn.cells(light, 1), MANY)
    return int(dark.argmax()) if dark.max() > LIGHT + LIGHT_TIMES * _quantile(dark, USUAL) else None


def _beyond(again: Pixels, levels: Pixels) -> Pixels:
    """(R*n, C*n, …): by how many grey levels a maze is beyond all that one with the path laid down once more has there
    or beside."""
    below = cv2.subtract(cv2.erode(again, EDGE), levels)
    return np.asarray(cv2.max(below, cv2.subtract(levels, cv2.dilate(again, EDGE))))


def _shaded(drawn: Drawn) -> Pixels:
    """(R*n, C*n): 255 where the maze is nearly as far from the floor's colour as the path's shade is, else 0."""
    way = (drawn.paint - drawn.known.colours["floor"]).astype(np.float64)
    way /= max(float(way @ way), 1.0)
    gone = cv2.transform(drawn.board, np.append(way, -way @ drawn.known.colours["floor"])[None])
    return np.asarray(cv2.compare(gone, PAINT, cv2.CMP_GE))


def _off_floor(drawn: Drawn) -> Pixels:
    """(K, m, m): by how many grey levels pixels in the path's cells are off the mixtures of paint and floor."""
    cells = drawn.cells(drawn.board, max(2, round(MARGIN * drawn.known.n)))
    count, side = cells.shape[:2]
    off = off_line(cells.reshape(count * side, side, 3), drawn.paint, drawn.known.colours["floor"])
    return off.reshape(count, side, side)


def _largest(cells: Pixels, rank: int) -> Floats:
    """(K,): what so many pixels of each of the cells (K, m, m) have at least."""
    return np.partition(cells.reshape(len(cells), -1), -rank, axis=1)[:, -rank].astype(np.float32)


def _quantile(values: Floats, share: float) -> float:
    rank = int(share * (len(values) - 1))
    return float(np.partition(values, rank)[rank])
