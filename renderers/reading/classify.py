"""Cell by cell: which of the skin's own tiles is it, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from renderers.reading.register import Floats

NOISE = 7.0
"""Differences of this many grey levels mean nothing."""

FARTHEST = 62.0
"""A cell this far (root mean square, grey levels) from every tile shows something else."""

LOWEST_CONFIDENCE = 0.12

FAINT, STRONGEST = 0.62, 0.97
"""A change must reach this share of its full contrast, taken at this quantile of the cell's pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """For every cell the number of its symbol, the confidence in it, and the distance to the clean tile."""

    symbols: NDArray[np.intp]  # (R, C)
    confidence: Floats  # (R, C), 0 to 1
    distance: Floats  # (R, C), grey levels

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
    rows = board.copy()
    rows[1:-1] += 0.5 * (board[:-2] + board[2:])
    rows[[0, -1]] *= 2
    rows *= 0.5
    result = rows.copy()
    result[:, 1:-1] += 0.5 * (rows[:, :-2] + rows[:, 2:])
    result[:, [0, -1]] *= 2
    result *= 0.5
    return result


def split_cells(board: Floats, rows: int, cols: int) -> Floats:
    """(R*n, C*n, 3) into (R, C, n, n, 3)."""
    n = board.shape[0] // rows
    return board.reshape(rows, n, cols, n, 3).transpose(0, 2, 1, 3, 4)


def join_cells(cells: Floats) -> Floats:
    """The inverse of split_cells."""
    rows, cols, n = cells.shape[:3]
    return cells.transpose(0, 2, 1, 3, 4).reshape(rows * n, cols * n, 3)


def classify(
    cells: Floats,
    tiles: Floats,
    *,
    meaning: NDArray[np.intp] | None = None,
    allowed: NDArray[np.bool_] | None = None,
    inset: int = 1,
) -> Named:
    """Name each cell (R, C, n, n, 3) by the nearest of the tiles (K, n, n, 3), also tried one pixel off all round.

    `meaning[k]` is the symbol that tile k stands for (several tiles may show one symbol), `allowed` (R, C, K) says
    which tiles a cell can show at all, and `inset` pixels at the cell's border are left out: grid lines tell nothing.
    """
    rows, cols, n = cells.shape[:3]
    count = len(tiles)
    meaning = np.arange(count, dtype=np.intp) if meaning is None else meaning
    inner = slice(inset + 1, n - inset - 1)
    size = (n - 2 * inset - 2) ** 2 * 3
    wanted = np.ascontiguousarray(cells[:, :, inner, inner]).reshape(rows * cols, size)
    best = np.full((rows * cols, count), np.inf)
    own = (wanted**2).sum(axis=1)[:, None]
    for d_row in (-1, 0, 1):
        for d_col in (-1, 0, 1):
            moved = tiles[:, inset + 1 + d_row : n - inset - 1 + d_row, inset + 1 + d_col : n - inset - 1 + d_col]
            flat = moved.reshape(count, size)
            gap = own - 2 * wanted @ flat.T + (flat**2).sum(axis=1)
            np.minimum(best, gap / size, out=best)
    distance = np.sqrt(np.maximum(best, 0)).reshape(rows, cols, count)
    if allowed is not None:
        distance = np.where(allowed, distance, np.inf)
    return _decide(distance, meaning)


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


def demand_full_strength(seen: Floats, before: Floats, after: Floats, changed: NDArray[np.bool_]) -> None:
    """Raise UnreadableImage if a changed cell changed only half: drawn faintly, or not wiped out.

    All are cells (R, C, n, n, 3): as seen, clean as they were, and clean as they are read. What counts is the contrast
    of the change, not its shape, so another hand or another face is as good as ours.
    """
    if not changed.any():
        return
    known = before[changed]
    wanted = np.abs(after[changed] - known).max(axis=3).reshape(len(known), -1)
    made = np.abs(seen[changed] - known).max(axis=3).reshape(len(known), -1)
    rank = int(STRONGEST * wanted.shape[1])
    faint = np.partition(made, rank, axis=1)[:, rank] < FAINT * np.partition(wanted, rank, axis=1)[:, rank]
    if faint.any():
        row, col = np.argwhere(changed)[int(faint.argmax())]
        raise UnreadableImage(f"the change in cell ({row}, {col}) is drawn so faintly that it may not be meant")


def _decide(distance: Floats, meaning: NDArray[np.intp]) -> Named:
    """The nearest symbol, against the nearest tile that means something else."""
    nearest = distance.argmin(axis=2)
    first = np.take_along_axis(distance, nearest[..., None], axis=2)[..., 0]
    symbol = meaning[nearest]
    other = np.where(meaning[None, None, :] == symbol[..., None], np.inf, distance).min(axis=2)
    other = np.minimum(other, 255.0)
    confidence = 1 - (first + NOISE) / (other + NOISE)
    return Named(symbol, confidence.clip(0, 1), first)
