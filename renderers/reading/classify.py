"""Cell by cell: which of the skin's own tiles is it, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from renderers.reading.register import Floats
from renderers.reading.tiles import Tiles, distances, insides, join_cells

NOISE = 7.0
"""Differences of this many grey levels mean nothing."""

FARTHEST = 62.0
"""A cell this far (root mean square, grey levels) from every tile shows something else."""

LOWEST_CONFIDENCE = 0.12

NEAR, CLEAR = 12.0, 0.3
"""A cell this near to the tile it is likely to show, and with this confidence, needs no comparison with the others."""

FAINT, STRONGEST = 0.62, 0.97
"""A change must reach this share of its full contrast, taken at this quantile of the cell's pixels."""

MIXED, HALF, EXPLAINED = 9.0, (0.28, 0.72), 0.93
"""A cell so far from its tile shows two tiles at once if a mixture, with this much of each, explains this share of how
it differs."""

EVENLY, MOSTLY = (0.37, 0.63), 0.78
"""The same for a mixture of that very tile and another, nearer to half and half, in pictures so bad that less is
certain: of 7,000 right answers, perturbed as much as any may be, one is explained so well, and most half things are."""

SLIGHT, UNUSUAL = 4.0, 3.0
"""A cell that seems to be as it was may show two things, too, if it is so far from its tile, and so many times as far
as most: a dark man on a dark square is not far from it."""

FADED, KEPT, MANY = 0.55, 0.35, 5
"""The share of its contrast that a mark which nobody was to change must have kept, compared with most others; the
distance to its tile, as a share of that contrast, up to which it surely has; and of how many others most tell."""

BARE = 4.0
"""Grey levels of contrast (root mean square) below which a tile shows no mark."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """For every cell the number of its symbol, the confidence in it, and the distance to the clean tile."""

    symbols: NDArray[np.intp]  # (R, C)
    confidence: Floats  # (R, C), 0 to 1
    distance: Floats  # (R, C), grey levels
    away: Floats | None = None  # (R, C), grey levels to the tiles that cells were likely to show, if that is known

    @property
    def quality(self) -> float:
        return float(max(0.0, 1.0 - np.sqrt((self.distance**2).mean()) / 128))


def smooth(cells: Floats) -> Floats:
    """A 3 x 3 binomial blur of each (…, n, n, 3) cell on its own."""
    padded = np.concatenate([cells[..., :1, :, :], cells, cells[..., -1:, :, :]], axis=-3)
    rows = padded[..., :-2, :, :] + 2 * padded[..., 1:-1, :, :] + padded[..., 2:, :, :]
    padded = np.concatenate([rows[..., :1, :], rows, rows[..., -1:, :]], axis=-2)
    result: Floats = (padded[..., :-2, :] + 2 * padded[..., 1:-1, :] + padded[..., 2:, :]) / 16
    return result


def smooth_board(board: Floats) -> Floats:
    """The same blur of a whole board (h, w, 3); only the outermost pixels of cells differ, where no reader looks."""
    return np.asarray(cv2.GaussianBlur(board, (3, 3), 0, borderType=cv2.BORDER_REPLICATE))


def classify(
    cells: Floats,
    tiles: Tiles,
    *,
    allowed: NDArray[np.bool_] | None = None,
    known: NDArray[np.intp] | None = None,
) -> Named:
    """Name each cell (R, C, n, n, 3) by the nearest of the tiles, also tried one pixel off all round.

    `allowed` (R, C, K) says which tiles a cell can show at all. `known` (R, C), the tiles that cells are likely to
    show, only saves time: a cell much nearer to a tile than that tile is to all others is nearest to it, by the
    triangle inequality, and need not be compared with them. Nor with tiles one pixel off, if it is so near to one.
    """
    rows, cols = cells.shape[:2]
    free = np.broadcast_to(True if allowed is None else allowed, (rows, cols, len(tiles.images)))
    free = free.reshape(rows * cols, -1)
    symbols = np.zeros(rows * cols, np.intp)
    confidence, distance = np.zeros(rows * cols), np.zeros(rows * cols)
    rest = np.arange(rows * cols)
    away = None

    def name_sure(guess: NDArray[np.intp], far: Floats, near: float) -> NDArray[np.intp]:
        """Name those of the rest that are so near to the tiles guessed that no other can be nearer; give the others."""
        other = np.where(free[rest], tiles.apart[guess], np.inf).min(axis=1).clip(0, 255) - far
        sure = (far <= near) & (far + NOISE <= (1 - CLEAR) * (other + NOISE))
        named = rest[sure]
        symbols[named], distance[named] = tiles.meaning[guess[sure]], far[sure]
        confidence[named] = 1 - (far[sure] + NOISE) / (other[sure] + NOISE)
        others: NDArray[np.intp] = rest[~sure]
        return others

    if known is not None:
        away = tiles.away(join_cells(cells), known)
        rest = name_sure(known.ravel(), away.ravel(), NEAR)
    if len(rest):
        gaps = np.where(free[rest], distances(_inside(cells, rest, tiles), tiles, moved=False), np.inf)
        rest = name_sure(gaps.argmin(axis=1), gaps.min(axis=1), MIXED)
    if len(rest):
        gaps = distances(_inside(cells, rest, tiles), tiles)
        symbols[rest], confidence[rest], distance[rest] = _decide(np.where(free[rest], gaps, np.inf), tiles.meaning)
    shape = (rows, cols)
    return Named(symbols.reshape(shape), confidence.reshape(shape), distance.reshape(shape), away)


def _inside(cells: Floats, numbers: NDArray[np.intp], tiles: Tiles) -> Floats:
    """(N, pixels): what is compared of these cells, counted row by row."""
    cols = cells.shape[1]
    return insides(cells[numbers // cols, numbers % cols], tiles)


def demand(named: Named, *, where: NDArray[np.bool_] | None = None) -> None:
    """Raise UnreadableImage if any cell is unlike every tile, or could be two things."""
    wrong = (named.distance > FARTHEST) | (named.confidence < LOWEST_CONFIDENCE)
    if where is not None:
        wrong &= where
    if wrong.any():
        row, col = (int(v[0]) for v in np.nonzero(wrong))
        cell = Cell(row, col)
        why = "shows none of the known marks" if named.distance[cell] > FARTHEST else "could be two different things"
        raise UnreadableImage(
            f"cell ({row}, {col}) {why}" + (f", and {int(wrong.sum()) - 1} more" if wrong.sum() > 1 else "")
        )


def demand_single(
    cells: Floats,
    tiles: Tiles,
    named: Named,
    *,
    before: NDArray[np.intp],
    allowed: NDArray[np.bool_] | None = None,
    thin: bool = True,
) -> None:
    """Raise UnreadableImage if a cell shows two tiles, each half transparent.

    Cells drawn anew may shine through to what was there `before` (R, C), or to bare ground, where strokes are `thin`;
    see `demand_full_strength` for these.
    """
    usual = float(np.median(named.distance))
    odd = (tiles.meaning[named.symbols] == tiles.meaning[before]) & (named.distance > max(SLIGHT, UNUSUAL * usual))
    doubtful = np.argwhere((named.distance > MIXED) | odd)
    if not len(doubtful):
        return
    wanted = insides(cells[tuple(doubtful.T)], tiles)
    marks = tiles.contrast > BARE
    products = wanted @ tiles.middle.T  # (N, K)
    power = np.einsum("ij,ij->i", wanted, wanted)
    for (row, col), along, size in zip(doubtful, products, power, strict=True):
        own, known = named.symbols[row, col], before[row, col]
        far = named.distance[row, col] > MIXED
        mixed = _mixtures(along, float(size), tiles, own, at_least=MOSTLY if far else EXPLAINED)
        if own != known:
            mixed[[own, known], [known, own]] = False
            mixed &= (marks & marks[:, None]) | ~marks[own] | (not thin)
        if allowed is not None:
            mixed &= allowed[row, col] & allowed[row, col][:, None]
        if mixed.any():
            raise UnreadableImage(f"cell ({row}, {col}) shows two things at once, each half transparent")


def mixtures(cell: Floats, tiles: Tiles, own: int) -> NDArray[np.bool_]:
    """(K, K): which pairs of tiles, mixed about half and half, explain a cell (n, n, 3) far better than tile `own`."""
    wanted = insides(cell[None], tiles)[0]
    return _mixtures(tiles.middle @ wanted, float(wanted @ wanted), tiles, own)


def _mixtures(
    products: Floats, size: float, tiles: Tiles, own: int, *, at_least: float = EXPLAINED
) -> NDArray[np.bool_]:
    """(K, K): which pairs of tiles with different meanings, mixed about half and half, explain what tile `own` leaves
    unexplained of a cell; `at_least` so much of it, if that tile is one of both. Of the cell only its products (K,)
    with the tiles and with itself are needed."""
    left_by_own = size - 2 * products[own] + tiles.products[own, own]
    between = products - products[:, None] - tiles.products + tiles.sizes[:, None]  # from one towards the other
    share = between / tiles.lengths
    left = size - 2 * products[:, None] + tiles.sizes[:, None] - share * between
    mixed: NDArray[np.bool_] = (share > HALF[0]) & (share < HALF[1]) & (left < (1 - EXPLAINED) * left_by_own)
    evenly = (share[own] > EVENLY[0]) & (share[own] < EVENLY[1])
    mixed[own] |= evenly & (left[own] < (1 - at_least) * left_by_own)
    mixed &= tiles.differ
    return mixed


def demand_unfaded(cells: Floats, tiles: Tiles, named: Named, *, before: NDArray[np.intp]) -> None:
    """Raise UnreadableImage if of a mark that is read as it was, `before` (R, C), only a shadow is left.

    It may have taken another form, as walls do when one beside them is broken.
    """
    marked = (tiles.meaning[named.symbols] == tiles.meaning[before]) & (tiles.contrast[before] > BARE)
    away = tiles.away(join_cells(cells), before) if named.away is None else named.away
    doubtful = marked & (away > KEPT * tiles.contrast[before])
    if not doubtful.any():
        return
    drawn = insides(cells[doubtful], tiles)
    own, form = before[doubtful], named.symbols[doubtful]
    shown = _kept(drawn, tiles, np.where(tiles.contrast[form] > BARE, form, own))
    kept = np.maximum(_kept(drawn, tiles, own), shown)
    kinds, marks = tiles.meaning[own], tiles.meaning[before[marked]]
    groups = [(kinds == kind, marks == kind) for kind in np.unique(kinds)] + [(kinds >= 0, marks >= 0)]
    usual = np.ones(len(kept))
    for some, alike in groups:  # bad pictures wash out most things of a kind, or most of all
        if 2 * np.count_nonzero(some) > np.count_nonzero(alike) and (np.count_nonzero(alike) >= MANY or alike.all()):
            usual[some] = np.minimum(usual[some], np.median(kept[some]))
    if (kept < FADED * usual).any():
        row, col = np.argwhere(doubtful)[int((kept - FADED * usual).argmin())]
        raise UnreadableImage(f"what cell ({row}, {col}) showed is hardly there any more")


def _kept(drawn: Floats, tiles: Tiles, marks: NDArray[np.intp]) -> Floats:
    """(N,): the share of their contrast that these tiles' marks (N,) have in what was drawn (N, pixels)."""
    along = np.stack([moved @ cell for cell, moved in zip(drawn, tiles.centred(marks), strict=True)]).max(axis=1)
    kept: Floats = along / (tiles.contrast[marks] ** 2 * drawn.shape[1])
    return kept


def demand_full_strength(
    cells: Floats, tiles: Tiles, before: NDArray[np.intp], after: NDArray[np.intp], *, where: NDArray[np.bool_]
) -> None:
    """Raise UnreadableImage if a changed cell changed only half: drawn faintly, or not wiped out.

    `cells` (R, C, n, n, 3) are as seen; `before` and `after` (R, C) are the tiles that they showed and that they are
    read as. What counts is the contrast of the change, not its shape: another hand or face is as good as ours.
    """
    if not where.any():
        return
    known, meant = (tiles.images[numbers[where]] for numbers in (before, after))
    faint = strength(cells[where], known, tiles.inset) < FAINT * strength(meant, known, tiles.inset)
    if faint.any():
        row, col = np.argwhere(where)[int(faint.argmax())]
        raise UnreadableImage(f"the change in cell ({row}, {col}) is drawn so faintly that it may not be meant")


def strength(cells: Floats, ground: Floats, inset: int) -> Floats:
    """(…): by how many grey levels cells (…, n, n, 3), but for so much at their border, stand out from a ground."""
    inner = slice(inset, cells.shape[-2] - inset)
    tall = (np.ascontiguousarray(each[..., inner, inner, :], np.float32) for each in (cells, ground))
    gap = cv2.absdiff(*(each.reshape(-1, each.shape[-2], 3) for each in tall))
    red, green, blue = cv2.split(gap)
    most: Floats = cv2.max(cv2.max(red, green), blue).reshape(*cells.shape[:-3], -1)
    rank = int(STRONGEST * most.shape[-1])
    strongest: Floats = np.partition(most, rank, axis=-1)[..., rank]
    return strongest


def _decide(distance: Floats, meaning: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Of each cell (N, K): the nearest symbol, the confidence in it against all others, and its distance."""
    nearest = distance.argmin(axis=1)
    first = distance[np.arange(len(distance)), nearest]
    symbol = meaning[nearest]
    other = np.where(meaning == symbol[:, None], np.inf, distance).min(axis=1)
    confidence = 1 - (first + NOISE) / (np.minimum(other, 255.0) + NOISE)
    return symbol, confidence.clip(0, 1), first
