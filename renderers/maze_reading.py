"""Reading a drawn maze: which cells are painted, in what colour, whether the paint joins up, and what has changed.

1. Start and end are looked for where they were; only if one is gone, elsewhere.
2. The pen is the colour that most of the vivid pixels have.
3. A cell is painted if enough of its middle is in the pen's colour; strokes may be thin, thick or drawn by hand, and
   lean over into walls a little.
4. Between two painted cells, from middle to middle, the paint may not be interrupted for longer than a grid line.
5. What is not painted must still look like wall or floor, and nothing foreign may be drawn over it.
"""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Reading
from gamegen.games.maze import BROKEN, FLOOR, PAINT, PENS, SMEAR, WALL, Maze
from renderers.board import Seen
from renderers.maze_known import Known
from renderers.maze_stains import find_stain
from renderers.reading.classify import FARTHEST, LOWEST_CONFIDENCE, NOISE
from renderers.reading.register import Floats
from renderers.reading.strokes import (
    TOUCH,
    Planes,
    broken,
    coverage,
    hue_plane,
    hue_planes,
    lines_along,
    paint_share,
    pen_counts,
    vivid,
)
from renderers.reading.tiles import split_cells

Flags = NDArray[np.bool_]

PAINTED = 0.13
"""Share of the middle from which a cell is painted."""

FAINT = 0.62
"""The pen's share of the colour that the strongest pixels of a path must reach: a see-through path is none."""

PALER = 0.7
"""The least of that share in any one cell, compared with the path's other cells."""

PALER_ALONE = 0.55
"""The same of a cell with nothing painted beside it, which no answer has: a dot fades sooner than a line."""

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

FADED = 22.0
"""Grey levels that half the pixels of a missing start or end may be away from floor, wall and pen: one that is farther
from them has not been removed, but faded. Compressed, toned and blurred, removed ones have 20, and a few at full
strength up to 28; in eight colours of a dull picture, ends have 23 and more."""

CHANGED = 0.35
"""How sure it must be that floor has become wall, or wall floor: at full strength, what really has is so by 0.37 and
more. Where brightening cut off what told the two colours apart, all floor seems to be wall, by 0.25 and less."""

NEARLY = 0.45
"""Share of PAINTED from which paint in a cell with none beside it is no longer what a stroke next door leaves."""

EITHER = 0.35
"""A path that seems to have another colour than was asked for may have that one, too, if its hue is no nearer to what
it seems than so many times the other: sharpened, purple ones on a dark floor turn pink, by 0.38 and more. Of paths that
have another colour, compressed, tinted, turned by 10 degrees or sharpened by 100 %, nine in ten have 0.2 at most."""

HARDLY_ANY = 0.1
"""Vivid pixels, as a share of one cell's, that are nothing but noise."""


_CROSS = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
_BESIDE = _CROSS - np.pad(np.ones((1, 1), np.uint8), 1)


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
    _demand_paint(middle, painted, ~free)
    is_floor, certain, distance = _grounds(seen.board, middle, known)
    certain[(is_floor == known.was(WALL)) & (certain < CHANGED)] = 0.0
    smeared = painted & known.was(WALL)
    marks = np.where(is_floor, np.uint8(ord(FLOOR)), np.uint8(ord(WALL)))
    marks[painted] = ord(PAINT)
    marks[smeared] = ord(SMEAR)
    marks[_interrupted(share, painted & ~smeared, ~free, known)] = ord(BROKEN)
    marks[~free] = signs[~free]
    stray = _stray(covered, painted) & (is_floor != known.was(WALL))  # where a wall was built, its colour is no paint
    doubt = np.where(stray, 0.0, np.abs(covered / PAINTED - 1) / SURE)
    confidence = np.where(free, np.minimum(doubt, np.where(painted, 1.0, certain)), 1.0).clip(0.0, 1.0)
    distance[painted | ~free] = 0.0
    _demand(confidence, distance)
    quality = float(max(0.0, 1.0 - np.sqrt((distance**2).mean()) / 128))
    stain = partial(find_stain, seen, known, share, painted, marks, distance)
    position = Maze(pen, marks.tobytes().decode())
    return Reading(
        position, float(confidence.min()), quality, stain, seen.registration.is_still, seen.registration.matrix
    )


def _demand_same_walls(seen: Seen, known: Known) -> None:
    """Colours drift, but walls in quite another colour are another picture, however well it fits."""
    inverse = np.linalg.pinv(seen.drift.fit[:3])
    wall = np.median(seen.board.reshape(-1, 3)[known.telling], axis=0)
    drawn = (wall - 255 * seen.drift.fit[3]) @ inverse
    if np.abs(drawn - known.colours["wall"]).max() > REPAINTED:
        raise UnreadableImage("the walls have quite another colour")


def _signs(board: Floats, known: Known) -> NDArray[np.uint8]:
    """(R, C): start and end where they are seen, else 0. Raise UnreadableImage if one may be there or not."""
    signs = np.zeros_like(known.marks)
    others = np.stack([known.colours[name] for name in ("floor", "wall", known.pen)])[:, None, None]
    cells = split_cells(board, *known.marks.shape)
    for mark, home in known.homes.items():
        seen, tile = cells[home], known.tiles[mark]
        nearest_other = ((seen - others) ** 2).sum(axis=-1).min(axis=0)
        if (((seen - tile) ** 2).sum(axis=-1) < nearest_other).mean() >= STILL_THERE:
            signs[home] = ord(mark)
            continue
        gap = np.sqrt(((cells - tile)[:, :, 1:-1, 1:-1] ** 2).mean(axis=(2, 3, 4)))  # borders are blurred first
        alike = np.argwhere(gap < FARTHEST / 2)
        if len(alike) == 1:  # several would be a path in the colour of the sign
            signs[tuple(alike[0])] = ord(mark)
        elif np.median(nearest_other) > 3 * FADED**2:
            raise UnreadableImage(f"cell {home} is neither as it was nor anything else")
    return signs


def _pen(moved: Planes, free: Flags, known: Known) -> str:
    """The colour most of the paint has; the one asked for if there is hardly any. Raise UnreadableImage if it may
    be either."""
    n, coloured = known.n, vivid(moved)
    for row, col in [*known.homes.values(), *np.argwhere(~free).tolist()]:
        coloured[row * n : row * n + n, col * n : col * n + n] = 0
    there = np.flatnonzero(coloured.view(bool))
    vectors = np.stack([plane.ravel()[there] for plane in moved], axis=1)
    pens = np.stack([known.colours[name] for name in PENS])
    counts = dict(zip(PENS, pen_counts(vectors, pens).tolist(), strict=True))
    found = max(counts, key=lambda name: (counts[name], name == known.pen))
    if found == known.pen or counts[found] <= HARDLY_ANY * n * n:
        return known.pen
    shade = np.median(vectors, axis=0)
    own, other = (_angle(shade, hue_plane(known.colours[name])) for name in (found, known.pen))
    if own > EITHER * other:
        raise UnreadableImage(f"the path may be {found} as well as {known.pen}")
    return found


def _angle(one: Floats, other: Floats) -> float:
    """Between two vectors (2,)."""
    return float(abs(np.arctan2(one[0] * other[1] - one[1] * other[0], one @ other)))


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


def _demand_paint(share: Floats, painted: Flags, signs: Flags) -> None:
    """Raise UnreadableImage if the path, by the share of the pen's colour in its cells' middles, is see-through, as a
    whole or in one cell. `signs` (R, C) are the start and the end."""
    rows, cols = painted.shape
    if not painted.any():
        return
    cells = share.reshape(rows, len(share) // rows, cols, -1).transpose(0, 2, 1, 3)[painted]
    strongest = cells.reshape(len(cells), -1).max(axis=1)
    if np.quantile(strongest, 0.9) < FAINT:
        raise UnreadableImage("the paint is too faint to tell it from a shadow")
    is_alone = cv2.dilate((painted | signs).view(np.uint8), _BESIDE)[painted] == 0
    pale = strongest < np.where(is_alone, PALER_ALONE, PALER) * np.median(strongest)
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
        line = lines_along(flags, one.shape, n)
        both = one[:, :-1] & one[:, 1:]
        between = np.concatenate([line[:, :-1, half:][both], line[:, 1:, :half][both]], axis=1)
        other[:, 1:][both] |= broken(between, slack)
        before, after = one[:, :-1] & sign[:, 1:], one[:, 1:] & sign[:, :-1]
        other[:, :-1][before] |= broken(line[:, :-1, half:][before], slack_at_ends)
        other[:, 1:][after] |= broken(line[:, 1:, : n - half][after], slack_at_ends)
    return found


def _demand(confidence: Floats, distance: Floats) -> None:
    wrong = (distance > FARTHEST) | (confidence < LOWEST_CONFIDENCE)
    if wrong.any():
        row, col = np.argwhere(wrong)[0]
        strange = distance[row, col] > FARTHEST
        why = "shows none of the known marks" if strange else "may be painted or not, or wall or floor"
        raise UnreadableImage(f"cell ({row}, {col}) {why}")
