"""Reading a drawn maze: which cells are painted, in what colour, whether the paint joins up, and what has changed.

1. Start and end are looked for where they were; only if one is gone, elsewhere.
2. The pen is the colour that most of the vivid pixels have.
3. A cell is painted if enough of its middle is in the pen's colour; strokes may be thin, thick or drawn by hand, and
   lean over into walls a little.
4. Between two painted cells, from middle to middle, the paint may not be interrupted for longer than a grid line.
5. What is not painted must still look like wall or floor, and nothing foreign may be drawn over it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Reading, Style
from gamegen.games.maze import BROKEN, END, FLOOR, PAINT, PENS, SMEAR, START, WALL, Maze
from renderers.board import Seen
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, NOISE
from renderers.reading.register import Floats
from renderers.reading.stains import NEW_CELL, OLD_CELL, stained_pixels
from renderers.reading.strokes import HAZE, TOUCH, broken, coverage, hue_plane, paint_share, pen_counts
from renderers.reading.tiles import levels_between, split_cells
from renderers.reading.traces import find_traces

Flags = NDArray[np.bool_]

MIDDLE = 0.22
"""Share of a cell, on each side, that does not count when paint is looked for in it."""

PAINTED = 0.13
"""Share of the middle from which a cell is painted."""

FAINT = 0.62
"""The pen's share of the colour that the strongest pixels of a path must reach: a see-through path is none."""

PALER = 0.7
"""The least of that share in any one cell, compared with the path's other cells."""

REPAINTED = 60.0
"""Grey levels, in the channel that changed most, by which no editor lets a wall's colour drift."""

SURE = 0.3
"""The distance from PAINTED, as a share of it, at which there is no doubt left: below it confidence falls."""

GAP = 0.16
"""The longest interruption between two cells, as a share of a cell, that is a grid line and no gap."""

GAP_AT_ENDS = 0.3
"""The same between the middle of a cell and the border of the start or the end."""

STILL_THERE = 0.3
"""Share of the start's or end's pixels, nearer to it than to floor, wall and pen, that must be left to see it."""

HARDLY_ANY = 0.1
"""Vivid pixels, as a share of one cell's, that are nothing but noise."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The picture by cells, with what is known of each cell."""

    cells: Floats  # (R, C, n, n, 3)
    known: Floats  # (R, C, n, n, 3)
    marks: NDArray[np.uint8]  # (R, C): what each cell was
    grounds: Floats  # (R, C, 3): its ground's colour
    colours: Mapping[str, Floats]  # of the look, by name

    def was(self, mark: str) -> Flags:
        flags: Flags = self.marks == ord(mark)
        return flags


def read_cells(seen: Seen, before: Maze, style: Style) -> Reading[Maze]:
    view = _view(seen, before, style)
    _demand_same_walls(seen, view)
    signs = _signs(view, before.pen)
    free = signs == ""
    moved = hue_plane(view.cells) - hue_plane(view.grounds)[:, :, None, None]
    pen = _pen(moved[free & ~view.was(START) & ~view.was(END)], before.pen, style)
    way = hue_plane(view.colours[pen] - view.grounds)[:, :, None, None]
    share = paint_share(moved, way)
    covered = coverage(_middle(share)).mean(axis=(2, 3))
    painted = free & (covered > PAINTED)
    _demand_paint(_middle(share).max(axis=(2, 3)), painted)
    is_floor, certain, distance = _grounds(view, share)
    wall = view.was(WALL)
    marks = np.where(painted, np.where(wall, SMEAR, PAINT), np.where(is_floor, FLOOR, WALL))
    marks[_interrupted(share, painted & ~wall, ~free)] = BROKEN
    marks[~free] = signs[~free]
    doubt = np.abs(covered / PAINTED - 1) / SURE
    confidence = np.where(free, np.minimum(doubt, np.where(painted, 1.0, certain)), 1.0).clip(0.0, 1.0)
    distance[painted | ~free] = 0.0
    _demand(confidence, distance)
    quality = float(max(0.0, 1.0 - np.sqrt((distance**2).mean()) / 128))
    stain = _stain(seen, share, painted | ~free, marks != view.marks.view("S1").astype(str))
    return Reading(Maze(pen, "".join(marks.ravel())), float(confidence.min()), quality, stain)


def _view(seen: Seen, before: Maze, style: Style) -> View:
    size = before.size
    colours = {name: np.array(value, np.float32) for name, value in style.colours().items()}
    marks = np.frombuffer(before.cells.encode(), np.uint8).reshape(size, size)
    grounds = np.where((marks == ord(WALL))[..., None], colours["wall"], colours["floor"])
    return View(split_cells(seen.board, size, size), split_cells(seen.known, size, size), marks, grounds, colours)


def _demand_same_walls(seen: Seen, view: View) -> None:
    """Colours drift, but walls in quite another colour are another picture, however well it fits."""
    inverse = np.linalg.pinv(seen.drift.fit[:3])
    wall = np.median(_middle(view.cells)[view.was(WALL)], axis=(0, 1, 2))
    drawn = (wall - 255 * seen.drift.fit[3]) @ inverse
    if np.abs(drawn - view.colours["wall"]).max() > REPAINTED:
        raise UnreadableImage("the walls have quite another colour")


def _signs(view: View, pen: str) -> NDArray[np.str_]:
    """(R, C): start and end where they are seen, else empty."""
    signs = np.full(view.marks.shape, "", "<U1")
    others = np.stack([view.colours[name] for name in ("floor", "wall", pen)])
    for mark in (START, END):
        home = tuple(np.argwhere(view.was(mark))[0])
        seen, tile = view.cells[home], view.known[home]
        nearest_other = ((seen[:, :, None] - others) ** 2).sum(axis=-1).min(axis=-1)
        if (((seen - tile) ** 2).sum(axis=-1) < nearest_other).mean() >= STILL_THERE:
            signs[home] = mark
            continue
        gap = np.sqrt(((view.cells - tile) ** 2).mean(axis=(2, 3, 4)))
        alike = np.argwhere(gap < FARTHEST / 2)
        if len(alike) == 1:  # several would be a path in the colour of the sign
            signs[tuple(alike[0])] = mark
    return signs


def _pen(moved: Floats, asked: str, style: Style) -> str:
    """The colour most of the paint has; the one asked for if there is hardly any."""
    colours = style.colours()
    counts = pen_counts(moved.reshape(-1, 2), {name: colours[name] for name in PENS})
    found = max(counts, key=lambda name: (counts[name], name == asked))
    return found if counts[found] > HARDLY_ANY * moved[0, ..., 0].size else asked


def _middle(cells: Floats) -> Floats:
    n = cells.shape[2]
    edge = max(1, round(MIDDLE * n))
    return cells[:, :, edge : n - edge, edge : n - edge]


def _grounds(view: View, share: Floats) -> tuple[Flags, Floats, Floats]:
    """(R, C) each: whether it is floor rather than wall, how sure that is, and how far it is from looking so."""
    cells, bare = _middle(view.cells), (_middle(share) < TOUCH).astype(np.float64)
    amount = np.maximum(bare.sum(axis=(2, 3)), 1.0)
    mean = np.einsum("rcijk,rcij->rck", cells, bare) / amount[..., None]
    power = np.einsum("rcijk,rcijk,rcij->rc", cells, cells, bare) / amount
    far = [
        np.sqrt(np.maximum(power - 2 * mean @ view.colours[name] + (view.colours[name] ** 2).sum(), 0.0) / 3)
        for name in ("floor", "wall")
    ]
    near, other = np.minimum(*far), np.maximum(*far)
    return far[0] < far[1], 1 - (near + NOISE) / (other + NOISE), near


def _demand_paint(strongest: Floats, painted: Flags) -> None:
    """Raise UnreadableImage if the path is see-through, as a whole or in one cell."""
    if not painted.any():
        return
    if np.quantile(strongest[painted], 0.9) < FAINT:
        raise UnreadableImage("the paint is too faint to tell it from a shadow")
    pale = painted & (strongest < PALER * np.median(strongest[painted]))
    if pale.any():
        row, col = np.argwhere(pale)[0]
        raise UnreadableImage(f"cell ({row}, {col}) is painted so faintly that it may not be meant")


def _interrupted(share: Floats, painted: Flags, signs: Flags) -> Flags:
    """(R, C): painted cells whose paint does not reach the painted cell, or the sign, beside them."""
    n = share.shape[-1]
    inner, half = slice(n // 8, n - n // 8), n // 2
    across, down = share[:, :, inner].max(axis=2), share[:, :, :, inner].max(axis=3)  # (R, C, n)
    slack, slack_at_ends = max(1, round(GAP * n)), max(1, round(GAP_AT_ENDS * n))
    found = np.zeros_like(painted)
    for profile, turn in ((across, False), (down, True)):
        one, other = (painted.T, found.T) if turn else (painted, found)
        line = profile.transpose(1, 0, 2) if turn else profile
        sign = signs.T if turn else signs
        between = np.concatenate([line[:, :-1, half:], line[:, 1:, :half]], axis=2)
        other[:, 1:] |= one[:, :-1] & one[:, 1:] & broken(between, slack)
        other[:, :-1] |= one[:, :-1] & sign[:, 1:] & broken(line[:, :-1, half:], slack_at_ends)
        other[:, 1:] |= one[:, 1:] & sign[:, :-1] & broken(line[:, 1:, : n - half], slack_at_ends)
    return found


def _stain(seen: Seen, share: Floats, drawn: Flags, changed: Flags) -> str:
    """Where something was drawn that is not in the pen's colour: a cell, a label, the margin; empty if nowhere."""
    rows, cols, n = share.shape[:3]
    levels = seen.board.clip(0, 255).astype(np.uint8)
    strange = stained_pixels(levels, *levels_between(seen.known)).reshape(rows, n, cols, n).transpose(0, 2, 1, 3)
    foreign = (strange & (share < HAZE))[:, :, 1:-1, 1:-1].mean(axis=(2, 3)) / np.where(drawn, NEW_CELL, OLD_CELL)
    row, col = np.unravel_index(int(foreign.argmax()), foreign.shape)
    if foreign[row, col] > 1:
        return f"cell ({row}, {col})"
    return find_traces(seen.registration, seen.drift, seen.page, None, drawn | changed)


def _demand(confidence: Floats, distance: Floats) -> None:
    wrong = (distance > FARTHEST) | (confidence < LOWEST_CONFIDENCE)
    if wrong.any():
        row, col = np.argwhere(wrong)[0]
        strange = distance[row, col] > FARTHEST
        why = "shows none of the known marks" if strange else "may be painted or not, or wall or floor"
        raise UnreadableImage(f"cell ({row}, {col}) {why}")
