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
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Pixels, Reading, Style
from gamegen.games.maze import BROKEN, END, FLOOR, PAINT, PENS, SMEAR, START, WALL, Maze
from renderers.board import Seen
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, NOISE
from renderers.reading.register import Floats
from renderers.reading.stains import NEW_CELL, OLD_CELL
from renderers.reading.strokes import HAZE, TOUCH, Planes, broken, coverage, hue_planes, paint_share, pen_counts, vivid
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

NEARLY = 0.6
"""Share of PAINTED from which paint in a cell with none beside it is no longer what a stroke next door leaves."""

ACROSS = 0.75
"""Pixels in quite another colour than the pen's, as a share of a cell's side, that are drawn across a painted cell."""

HARDLY_ANY = 0.1
"""Vivid pixels, as a share of one cell's, that are nothing but noise."""


TELLING = 300
"""So many pixels of walls, or up to twice as many, tell their colour."""

_CROSS = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
_DOWN = (-0.499,) * 4
"""What is added to grey levels so that rounding them cuts off what is behind the point."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of a maze before any picture of it is seen."""

    pen: str  # the colour asked for
    n: int  # pixels along a cell
    marks: NDArray[np.uint8]  # (R, C): what each cell was
    homes: Mapping[str, tuple[int, int]]  # where start and end were
    tiles: Mapping[str, Floats]  # (n, n, 3): what they look like
    colours: Mapping[str, Floats]  # of the look, by name
    walls: Pixels  # (R*n, C*n): 255 on walls, else 0
    telling: NDArray[np.intp]  # flat places of pixels in the middle of walls, enough to tell their colour
    grounds: Planes  # (R*n, C*n): the hue of the ground
    unstained: tuple[Pixels, Pixels]  # (R*n, C*n, 3): the lowest and highest levels that are no stain

    @classmethod
    def of(cls, cells: Floats, before: Maze, style: Style) -> Known:
        """`cells` (R*n, C*n, 3) is the maze as its editor was given it."""
        size = before.size
        n = len(cells) // size
        colours = {name: np.array(value, np.float32) for name, value in style.colours().items()}
        marks = np.frombuffer(before.cells.encode(), np.uint8).reshape(size, size)
        walls = (marks == ord(WALL)).repeat(n, axis=0).repeat(n, axis=1)
        inner = np.zeros(n, bool)
        inner[_middle(n)] = True
        middles = np.flatnonzero(walls & np.tile(inner, size) & np.tile(inner, size)[:, None])
        homes = {mark: divmod(int(np.flatnonzero(marks == ord(mark))[0]), size) for mark in (START, END)}
        return cls(
            before.pen,
            n,
            marks,
            homes,
            {mark: split_cells(cells, size, size)[home] for mark, home in homes.items()},
            colours,
            walls.astype(np.uint8) * 255,
            middles[:: max(1, len(middles) // TELLING)],
            hue_planes(np.where(walls[..., None], colours["wall"], colours["floor"])),
            levels_between(cells),
        )

    def was(self, mark: str) -> Flags:
        flags: Flags = self.marks == ord(mark)
        return flags

    def inner(self, pixels: NDArray[Any], part: slice) -> NDArray[Any]:
        """(R*m, C*m, …): this part, down and across, of all cells of a picture (R*n, C*n, …)."""
        (rows, cols), n = self.marks.shape, self.n
        cells = pixels.reshape(rows, n, cols, n, -1)[:, part, :, part]
        return cells.reshape(rows * cells.shape[1], cols * cells.shape[3], *pixels.shape[2:])

    def middle(self, pixels: NDArray[Any]) -> NDArray[Any]:
        return self.inner(pixels, _middle(self.n))

    def means(self, pixels: NDArray[Any]) -> Floats:
        """(R, C, …): the mean of every cell (m, m) of a picture (R*m, C*m, …)."""
        means: Floats = cv2.resize(pixels, self.marks.shape[::-1], interpolation=cv2.INTER_AREA)
        return means


def _middle(n: int) -> slice:
    edge = max(1, round(MIDDLE * n))
    return slice(edge, n - edge)


def read_cells(seen: Seen, known: Known) -> Reading[Maze]:
    _demand_same_walls(seen, known)
    signs = _signs(seen.board, known)
    free = signs == 0
    across, up = hue_planes(seen.board)
    moved = cv2.subtract(across, known.grounds[0]), cv2.subtract(up, known.grounds[1])
    pen = _pen(moved, free, known)
    floor, wall = (known.colours[pen] - known.colours[ground] for ground in ("floor", "wall"))
    share = paint_share(moved, floor, known.walls, wall)
    middle = known.middle(share)
    covered = known.means(coverage(middle))
    painted = free & (covered > PAINTED)
    _demand_paint(middle, painted)
    is_floor, certain, distance = _grounds(seen.board, middle, known)
    smeared = painted & known.was(WALL)
    marks = np.where(is_floor, np.uint8(ord(FLOOR)), np.uint8(ord(WALL)))
    marks[painted] = ord(PAINT)
    marks[smeared] = ord(SMEAR)
    marks[_interrupted(share, painted & ~smeared, ~free, known)] = ord(BROKEN)
    marks[~free] = signs[~free]
    doubt = np.where(_stray(covered, painted), 0.0, np.abs(covered / PAINTED - 1) / SURE)
    confidence = np.where(free, np.minimum(doubt, np.where(painted, 1.0, certain)), 1.0).clip(0.0, 1.0)
    distance[painted | ~free] = 0.0
    _demand(confidence, distance)
    quality = float(max(0.0, 1.0 - np.sqrt((distance**2).mean()) / 128))
    stain = partial(_stain, seen, known, moved, share, painted, marks)
    return Reading(Maze(pen, marks.tobytes().decode()), float(confidence.min()), quality, stain)


def _demand_same_walls(seen: Seen, known: Known) -> None:
    """Colours drift, but walls in quite another colour are another picture, however well it fits."""
    inverse = np.linalg.pinv(seen.drift.fit[:3])
    wall = np.median(seen.board.reshape(-1, 3)[known.telling], axis=0)
    drawn = (wall - 255 * seen.drift.fit[3]) @ inverse
    if np.abs(drawn - known.colours["wall"]).max() > REPAINTED:
        raise UnreadableImage("the walls have quite another colour")


def _signs(board: Floats, known: Known) -> NDArray[np.uint8]:
    """(R, C): start and end where they are seen, else 0."""
    signs = np.zeros_like(known.marks)
    others = np.stack([known.colours[name] for name in ("floor", "wall", known.pen)])[:, None, None]
    cells = split_cells(board, *known.marks.shape)
    for mark, home in known.homes.items():
        seen, tile = cells[home], known.tiles[mark]
        nearest_other = ((seen - others) ** 2).sum(axis=-1).min(axis=0)
        if (((seen - tile) ** 2).sum(axis=-1) < nearest_other).mean() >= STILL_THERE:
            signs[home] = ord(mark)
            continue
        gap = np.sqrt(((cells - tile) ** 2).mean(axis=(2, 3, 4)))
        alike = np.argwhere(gap < FARTHEST / 2)
        if len(alike) == 1:  # several would be a path in the colour of the sign
            signs[tuple(alike[0])] = ord(mark)
    return signs


def _pen(moved: Planes, free: Flags, known: Known) -> str:
    """The colour most of the paint has; the one asked for if there is hardly any."""
    n, coloured = known.n, vivid(moved)
    for row, col in [*known.homes.values(), *np.argwhere(~free).tolist()]:
        coloured[row * n : row * n + n, col * n : col * n + n] = 0
    there = np.flatnonzero(coloured.view(bool))
    vectors = np.stack([plane.ravel()[there] for plane in moved], axis=1)
    pens = np.stack([known.colours[name] for name in PENS])
    counts = dict(zip(PENS, pen_counts(vectors, pens).tolist(), strict=True))
    found = max(counts, key=lambda name: (counts[name], name == known.pen))
    return found if counts[found] > HARDLY_ANY * n * n else known.pen


def _grounds(board: Floats, share: Floats, known: Known) -> tuple[Flags, Floats, Floats]:
    """(R, C) each: whether it is floor rather than wall, how sure that is, and how far it is from looking so.

    `share` is that of the pen's colour in the middle of cells. Only what is bare of it counts.
    """
    floor, wall = known.colours["floor"], known.colours["wall"]
    bare = cv2.compare(share, TOUCH, cv2.CMP_LT)
    away = cv2.copyTo(cv2.subtract(known.middle(board), (*floor.tolist(), 0.0)), bare)  # from floor, 0 where painted
    red, green, blue = cv2.split(cv2.multiply(away, away))
    amount = np.maximum(known.means(bare.astype(np.float32)) / 255, 1e-6)
    power = known.means(cv2.add(cv2.add(red, green), blue)) / amount
    along = known.means(away) @ (wall - floor) / amount
    far = [np.sqrt(power / 3), np.sqrt(np.maximum(power - 2 * along + ((wall - floor) ** 2).sum(), 0.0) / 3)]
    near, other = np.minimum(*far), np.maximum(*far)
    return far[0] < far[1], 1 - (near + NOISE) / (other + NOISE), near


def _demand_paint(share: Floats, painted: Flags) -> None:
    """Raise UnreadableImage if the path, by the share of the pen's colour in its cells' middles, is see-through, as a
    whole or in one cell."""
    rows, cols = painted.shape
    if not painted.any():
        return
    cells = share.reshape(rows, len(share) // rows, cols, -1).transpose(0, 2, 1, 3)[painted]
    strongest = cells.reshape(len(cells), -1).max(axis=1)
    if np.quantile(strongest, 0.9) < FAINT:
        raise UnreadableImage("the paint is too faint to tell it from a shadow")
    pale = strongest < PALER * np.median(strongest)
    if pale.any():
        row, col = np.argwhere(painted)[int(pale.argmax())]
        raise UnreadableImage(f"cell ({row}, {col}) is painted so faintly that it may not be meant")


def _stray(covered: Floats, painted: Flags) -> Flags:
    """(R, C): cells that are not painted, nor any beside them, with too much paint to be bare: a faint dot, perhaps."""
    beside = cv2.dilate(painted.view(np.uint8), _CROSS)
    stray: Flags = (beside == 0) & (covered > NEARLY * PAINTED)
    return stray


def _interrupted(share: Floats, painted: Flags, signs: Flags, known: Known) -> Flags:
    """(R, C): painted cells whose paint does not reach the painted cell, or the sign, beside them."""
    n, half = known.n, known.n // 2
    slack, slack_at_ends = max(1, round(GAP * n)), max(1, round(GAP_AT_ENDS * n))
    touched = cv2.compare(share, TOUCH, cv2.CMP_GE)
    found = np.zeros_like(painted)
    for flags, one, sign, other in (
        (touched, painted, signs, found),
        (cv2.transpose(touched), painted.T, signs.T, found.T),
    ):
        line = flags.reshape(len(one), n, -1)[:, n // 8 : n - n // 8].max(axis=1).reshape(*one.shape, n)
        both = one[:, :-1] & one[:, 1:]
        between = np.concatenate([line[:, :-1, half:][both], line[:, 1:, :half][both]], axis=1)
        other[:, 1:][both] |= broken(between, slack)
        before, after = one[:, :-1] & sign[:, 1:], one[:, 1:] & sign[:, :-1]
        other[:, :-1][before] |= broken(line[:, :-1, half:][before], slack_at_ends)
        other[:, 1:][after] |= broken(line[:, 1:, : n - half][after], slack_at_ends)
    return found


def _stain(seen: Seen, known: Known, moved: Planes, share: Floats, painted: Flags, marks: NDArray[np.uint8]) -> str:
    """Where something was drawn that is not in the pen's colour: a cell, a label, the margin; empty if nowhere."""
    drawn = painted | (marks == ord(START)) | (marks == ord(END))
    levels = cv2.add(seen.board, _DOWN, dtype=cv2.CV_8U)
    strange = cv2.subtract(cv2.compare(share, HAZE, cv2.CMP_LT), cv2.inRange(levels, *known.unstained))
    if cv2.countNonZero(strange):
        foreign = _share_of(strange, known) / np.where(drawn, NEW_CELL, OLD_CELL)
        across = _share_of(cv2.min(strange, vivid(moved)), known) * (known.n - 2) ** 2 / (ACROSS * known.n)
        foreign = np.maximum(foreign, np.where(painted, across, 0.0))
        row, col = np.unravel_index(int(foreign.argmax()), foreign.shape)
        if foreign[row, col] > 1:
            return f"cell ({row}, {col})"
    return find_traces(seen.registration, seen.drift, seen.page, None, drawn | (marks != known.marks))


def _share_of(mask: Pixels, known: Known) -> Floats:
    """(R, C): how much of each cell is set, but for the pixels at its border."""
    return known.means(known.inner(mask, slice(1, -1)).astype(np.float32)) / 255


def _demand(confidence: Floats, distance: Floats) -> None:
    wrong = (distance > FARTHEST) | (confidence < LOWEST_CONFIDENCE)
    if wrong.any():
        row, col = np.argwhere(wrong)[0]
        strange = distance[row, col] > FARTHEST
        why = "shows none of the known marks" if strange else "may be painted or not, or wall or floor"
        raise UnreadableImage(f"cell ({row}, {col}) {why}")
