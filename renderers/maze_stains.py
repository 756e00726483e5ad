"""Stains in a drawn maze: whatever is neither paint, nor ground, nor a mixture of both.

What shade a path has is the painter's business, but it has only one. So in painted cells, and a little around them,
every colour lies between that shade and the ground's; a stroke of another colour on the path, or beside it, does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from gamegen.games.maze import END, START, WALL
from renderers.board import Seen
from renderers.maze_cuts import FINE, Drawn, find_cut
from renderers.maze_known import DOWN, Flags, Known
from renderers.reading.foreign import most
from renderers.reading.register import Floats
from renderers.reading.stains import NEW_CELL, OLD_CELL
from renderers.reading.strokes import HAZE, coverage, off_line
from renderers.reading.tiles import split_cells
from renderers.reading.traces import find_traces

PLAIN, CORE = 0.62, 0.75
"""Share of the pen's colour from which a pixel is plainly of the path, and the quantile of their shares from which one
tells the path's own shade: of a thin line most pixels are its edges."""

AROUND, BETWEEN = 0.3, 0.5
"""Share of a cell around a painted one in which paint may be, too; and up to where a clean picture is looked at beside
it: between paths there is nothing else."""

ACROSS = 0.75
"""So many pixels of a foreign colour, as a share of a cell's side, are a stroke."""

FOREIGN, TIMES = 40.0, 2.0
"""Grey levels by which it is off the mixtures of paint and ground at least, beside so many times what as many pixels of
the cleaner cells are off: compression and sharpening leave their traces in all cells."""

HALF, CLOSED, DEEP, WIDE = 0.45, 0.3, np.ones((5, 5), np.uint8), 2
"""A path is where so much of a pixel is paint; gaps of such a share of a cell in it are closed; and what is so deep
inside is worth a look if it is so many strokes, on average, in each cell."""

CLEANER, MANY = 0.25, 12
"""The share of all painted cells that are the cleaner ones, if there are so many; else the cleanest tells."""

SAME, MOSTLY = 4, 0.98
"""A maze that in so many pixels far from all paint is as it was, to so many grey levels, was hardly touched."""

EVEN = 0.95
"""Share of the floor, and of the walls, that has one colour, give or take a level, where that is so: compression leaves
dark mazes nearly as they were, too, but not even."""

FAINTEST, FEW = 24, 5
"""Then more than so few pixels of a cell that differ by so much were drawn. In an even maze what a pen leaves is off by
less, at its edges, too: in 1,440 right answers by up to 11 in as many pixels as make a stroke."""

WORN, WORN_SHARE = 10, 0.06
"""So many pixels of a sign with its hard edges may, or such a share of it, if the maze is not even: of 920 right
answers through JPEG ten had more than ten, and up to 0.045."""

MARRED, MARRED_SHARE = 80, 0.055
"""Grey levels by which a pixel of a sign is plainly off in any picture, and the share of the sign that may be: of 960
right answers at full strength none had more than 0.035."""

SHADED = 60.0
"""Grey levels by which the colours of a sign may have become others."""

LARGE, SMEARED = 12, 0.2
"""From how many pixels on a cell is large, and the share of such a wall that may be covered by paint."""

SPOT, SPOT_TIMES, USUALLY = 26.5, 2.4, 0.9
"""Grey levels (root mean square) by which the middle of a cell with a spot is off its ground at least, and how many
times as much as this quantile of the cells is: of 540 right answers none had more than 25.2 and 2.2, at full strength,
and the faintest spot has 28.2 and 2.5."""

SIGN, RIM = 0.68, 0.15
"""Of how far the path is from looking like the start or the end, the share that makes a second one of a cell: through
JPEG those have up to 0.59, and of 3,100 right answers, painted and perturbed, none has less than 0.79. And the share of
a cell, at its border, that does not count.
"""

PATCH, FLAT = np.ones((3, 3), np.uint8), 6
"""A patch is flat if its pixels differ by no more grey levels."""

BESIDE = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""A pixel and those around it, by how far down and right they are."""

STRONGER, CORE_STRONGER = 2.0, 1.25
"""How much stronger paint may be in the middle of a thick line than most of it is in a thin one; and in the very middle
of a thin one."""


def find_stain(
    seen: Seen, known: Known, share: Floats, painted: Flags, marks: NDArray[np.uint8], distance: Floats
) -> str:
    """Where something foreign was drawn: a cell, a label, the margin; empty if nowhere.

    `share` (R*n, C*n) is that of the pen's colour in each pixel, `marks` (R, C) are the cells as they were read, and
    `distance` (R, C) is how far each is from looking so.
    """
    signs = (marks == ord(START)) | (marks == ord(END))
    levels = cv2.add(seen.board, DOWN, dtype=cv2.CV_8U)
    unlike = cv2.bitwise_not(cv2.inRange(levels, *known.unstained))
    strange = cv2.min(unlike, cv2.compare(share, HAZE, cv2.CMP_LT))
    if cv2.countNonZero(strange):
        foreign = _share_of(strange, known) / np.where(painted | signs, NEW_CELL, OLD_CELL)
        if foreign.max() > 1:
            return _name(int(foreign.argmax()), painted)
    paint = _shade(seen.board, known, share, painted) if painted.any() else None
    away = _away(levels, known, painted, signs)
    if paint is not None:
        if (second := _second_sign(seen.board, known, painted, paint)) is not None:
            return _name(second, painted)
        beside = cv2.bitwise_not(_over(signs, known.n))
        if away.is_clean:
            off = _off_own(levels, known, paint, beside)
        elif away.is_untouched:
            off = _off_all(levels, known, paint, beside)
        else:
            off = cv2.min(_off_lines(seen.board, known, paint), cv2.min(unlike, beside))
        crossed = _crossed(off, known, painted, away)
        if crossed is None and not away.is_clean:
            crossed = _streaked(off, share, known, painted)
        if crossed is None:
            is_fine = min(seen.frame.pixels, *seen.registration.image.shape[:2]) * seen.frame.cell >= (
                FINE * known.n * seen.frame.pixels
            )
            path = Drawn(known, known.clean, seen.board, levels, share, painted, signs, paint, away.is_clean, is_fine)
            crossed = find_cut(path)
        if crossed is not None:
            return _name(int(np.flatnonzero(painted)[crossed]), painted)
    smeared = _smeared(share, known, painted)
    if smeared is not None:
        return _name(smeared, painted)
    spotted = _spotted(distance, painted | signs)
    if spotted is not None:
        return _name(spotted, painted)
    touched = _touched(levels, known, away, paint)
    if touched is not None:
        return _name(touched, painted)
    return find_traces(seen.registration, seen.drift, seen.page, None, painted | signs | (marks != known.marks))


def _second_sign(board: Floats, known: Known, painted: Flags, paint: Floats) -> int | None:
    """A cell of the path that looks like the start or the end, and much less like paint or like most of the others."""
    cells, edge = split_cells(board, *painted.shape), max(1, round(RIM * known.n))
    inner = slice(edge, known.n - edge)
    path = cells[painted][:, inner, inner]
    for home in known.homes.values():
        sign = cells[home][inner, inner]
        away = np.sqrt(((path - sign) ** 2).mean(axis=(1, 2, 3)))
        far = np.sqrt(((paint - sign) ** 2).mean())
        if away.min() < SIGN * min(far, float(np.median(away))):
            return int(np.flatnonzero(painted)[away.argmin()])
    return None


def _smeared(share: Floats, known: Known, painted: Flags) -> int | None:
    """A wall of which paint covers a good part, at its border: the path lies on it. In small cells nobody can tell."""
    if known.n < LARGE:
        return None
    covered = known.means(coverage(share)) * (known.was(WALL) & ~painted)
    return int(covered.argmax()) if covered.max() > SMEARED else None


def _spotted(distance: Floats, drawn: Flags) -> int | None:
    """A cell with nothing drawn around it that is much farther from looking like its ground than nearly all others: a
    dot whose colour was lost in compression."""
    bare = cv2.dilate(drawn.view(np.uint8), np.ones((3, 3), np.uint8)) == 0
    if not bare.any():
        return None
    odd = np.where(bare, distance, 0.0)
    usual = _quantile(distance[bare], USUALLY)
    return int(odd.argmax()) if odd.max() > max(SPOT, SPOT_TIMES * usual) else None


@dataclass(frozen=True, eq=False)
class Away:
    """What is farther than a little from all that is drawn."""

    known: Known
    levels: Pixels  # (R*n, C*n, 3): the maze as it is seen
    near: Pixels  # (R*n, C*n): 255 where it is not, else 0
    gap: Pixels  # (R*n, C*n): by how many grey levels it differs from what it was, 0 where it is near

    @cached_property
    def is_untouched(self) -> bool:
        """Whether the maze is as it was, or nearly."""
        same = cv2.countNonZero(cv2.subtract(cv2.compare(self.gap, SAME, cv2.CMP_LE), self.near))
        return same >= MOSTLY * (self.near.size - cv2.countNonZero(self.near))

    @cached_property
    def is_clean(self) -> bool:
        """Whether it was not even compressed."""
        return self.is_untouched and all(self._is_even(self.known.colours[ground]) for ground in ("floor", "wall"))

    def _is_even(self, ground: Floats) -> bool:
        """Whether what had the ground's colour (3,) still has one."""
        there = cv2.inRange(self.known.clean, *(tuple((ground + by).tolist()) for by in (-1, 1)))
        there = cv2.subtract(there, self.near)
        middle = [_middle(cv2.calcHist([self.levels], [channel], there, [256], [0, 256])) for channel in range(3)]
        lowest, highest = tuple(ceil(level - 1) for level in middle), tuple(floor(level + 1) for level in middle)
        same = cv2.min(cv2.inRange(self.levels, lowest, highest), there)
        return cv2.countNonZero(same) >= EVEN * cv2.countNonZero(there)


def _middle(counts: Floats) -> float:
    """The median of grey levels of which there are so many (256, 1) each."""
    below = counts.ravel().cumsum()
    half = float(below[-1]) / 2
    return float(np.searchsorted(below, half) + np.searchsorted(below, half, side="right")) / 2


def _away(levels: Pixels, known: Known, painted: Flags, signs: Flags) -> Away:
    around = np.ones((2 * round(AROUND * known.n) + 1,) * 2, np.uint8)
    near = cv2.max(cv2.dilate(_over(painted, known.n), around), _over(signs, known.n))
    return Away(known, levels, near, cv2.subtract(most(cv2.absdiff(levels, known.clean)), near))


def _touched(levels: Pixels, known: Known, away: Away, paint: Floats | None) -> int | None:
    """A cell in which, away from all that is drawn, something faint is, if the rest is as it was; or start or end, if
    they are no longer what they were, and not for the `paint` of the path."""
    if not away.is_untouched:
        return _marred(levels, known, paint)
    faint = known.means((away.gap > FAINTEST).astype(np.float32)) * known.n**2
    for home in known.homes.values():
        faded = _faded(levels, known, home, paint)
        faint[home] = faded if away.is_clean else faded * FEW / max(WORN, WORN_SHARE * known.n**2)
    return int(faint.argmax()) if faint.max() > FEW else None


def _faded(levels: Pixels, known: Known, home: tuple[int, int], paint: Floats | None) -> int:
    """How many pixels of the start or the end, but for those at its border, are neither as they were nor mixed with
    paint."""
    row, col = (slice(at * known.n + 1, (at + 1) * known.n - 1) for at in home)
    was, seen = known.clean[row, col], levels[row, col]
    off = most(cv2.absdiff(seen, was)) if paint is None else _beside_paint(seen, was, paint)
    return int(np.count_nonzero(off > FOREIGN))


def _beside_paint(seen: Pixels, was: Pixels, paint: Floats) -> Floats:
    """(…): by how many grey levels pixels (…, 3) are off mixtures of what they were with paint (3,), or more of it."""
    moved, way = np.subtract(seen, was, dtype=np.float32), paint - was
    share = (moved * way).sum(axis=-1) / np.maximum((way**2).sum(axis=-1), 1.0)
    off: Floats = np.abs(moved - share.clip(0.0, STRONGER)[..., None] * way).max(axis=-1)
    return off


def _marred(levels: Pixels, known: Known, paint: Floats | None) -> int | None:
    """The start or the end, if too much of it is plainly unlike what is there and beside it, even in its own shade, and
    no mixture with paint."""
    for home in known.homes.values():
        row, col = (slice(at * known.n + 1, (at + 1) * known.n - 1) for at in home)
        clean, seen = known.clean[row, col], levels[row, col]
        least, most_of_all = (way(clean, PATCH).astype(np.float32) for way in (cv2.erode, cv2.dilate))
        off = np.ones(seen.shape[:2], bool)
        for drawn in (seen.astype(np.float32), seen - _shade_of_sign(seen, clean)):
            off &= np.maximum(least - drawn, drawn - most_of_all).max(axis=2) > MARRED
        if paint is not None and off.any():
            off[off] = _beside_paint(seen[off], clean[off], paint) > MARRED
        if off.mean() > MARRED_SHARE:
            return int(np.ravel_multi_index(home, known.marks.shape))
    return None


def _shade_of_sign(seen: Pixels, clean: Pixels) -> Floats:
    """(n, n, 3): by how much each of its two colours, that of the tile and that in its middle, has become another; not
    without limit, since something may lie on most of it."""
    by = np.subtract(seen, clean, dtype=np.float32)
    middle = clean[len(clean) // 2, len(clean) // 2]
    inside = np.abs(np.subtract(clean, middle, dtype=np.float32)).max(axis=2) <= FLAT
    shades = np.empty_like(by)
    for there in (inside, ~inside):
        shades[there] = np.median(by[there], axis=0).clip(-SHADED, SHADED) if there.any() else 0.0
    return shades


def _name(place: int, cells: Flags) -> str:
    row, col = np.unravel_index(place, cells.shape)
    return f"cell ({row}, {col})"


def _share_of(mask: Pixels, known: Known) -> Floats:
    """(R, C): how much of each cell is set, but for the pixels at its border."""
    return known.means(known.inner(mask, slice(1, -1)).astype(np.float32)) / 255


def _over(cells: Flags, n: int) -> Pixels:
    """(R*n, C*n): 255 in these cells and on the pixels around them, else 0."""
    flags = cells.view(np.uint8).repeat(n, axis=0).repeat(n, axis=1) * np.uint8(255)
    return np.asarray(cv2.dilate(flags, np.ones((3, 3), np.uint8)))


def _off_lines(board: Floats, known: Known, paint: Floats) -> Pixels:
    """(R*n, C*n): by how many grey levels each pixel is off all mixtures of paint (3,) with one of the grounds."""
    return np.asarray(cv2.min(*(off_line(board, paint, known.colours[ground]) for ground in ("floor", "wall"))))


def _off_all(levels: Pixels, known: Known, paint: Floats, where: Pixels) -> Pixels:
    """The same for mixtures of all three, of pixels that are not as they were, `where` (R*n, C*n) is not 0; else 0."""
    floor, wall = known.colours["floor"], known.colours["wall"]
    changed = (most(cv2.absdiff(levels, known.clean)) > FAINTEST) & (where > 0)
    ways = np.stack([paint - floor, wall - floor])
    beyond = levels[changed] - floor
    shares = (beyond @ np.linalg.pinv(ways)).clip(0.0, 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    off = np.zeros(levels.shape[:2], np.uint8)
    off[changed] = np.abs(beyond - shares @ ways).max(axis=1)
    return off


def _off_own(levels: Pixels, known: Known, paint: Floats, where: Pixels) -> Pixels:
    """The same for mixtures of paint with what was there or beside it: all that a pen leaves in a clean picture. But
    such mixtures are at its edges: a flat patch is none, even if it is as pale."""
    changed = cv2.min(cv2.compare(most(cv2.absdiff(levels, known.clean)), FAINTEST, cv2.CMP_GT), where)
    flat = cv2.compare(most(cv2.subtract(cv2.dilate(levels, PATCH), cv2.erode(levels, PATCH))), FLAT, cv2.CMP_LE)
    clean = cv2.copyMakeBorder(known.clean, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    rows, cols = np.nonzero(changed)
    drawn = levels[rows, cols].astype(np.float32)
    gaps = np.full(len(rows), 255.0, np.float32)
    for down, right in BESIDE:
        left = np.flatnonzero(gaps > FAINTEST)  # few, once what was there was tried
        ground = clean[rows[left] + 1 + down, cols[left] + 1 + right].astype(np.float32)
        way, away = paint - ground, drawn[left] - ground
        share = np.einsum("ij,ij->i", away, way) / np.maximum(np.einsum("ij,ij->i", way, way), 1.0)
        rest = np.abs(away - share.clip(0.0, CORE_STRONGER)[:, None] * way).max(axis=1)
        gaps[left] = np.minimum(gaps[left], rest)
    gaps[(flat[rows, cols] > 0) & (np.abs(drawn - paint).max(axis=1) > FAINTEST)] = 255.0
    off = np.zeros(changed.shape, np.uint8)
    off[rows, cols] = gaps
    return off


def _streaked(off: Pixels, share: Floats, known: Known, painted: Flags) -> int | None:
    """The same for what is well inside of a wide path, where compression leaves little: a streak in a colour that is as
    light as the paint's."""
    path = cv2.compare(share, HALF, cv2.CMP_GT)
    closed = cv2.morphologyEx(path, cv2.MORPH_CLOSE, np.ones((round(CLOSED * known.n),) * 2, np.uint8))
    inner = cv2.erode(closed, DEEP)
    if cv2.countNonZero(inner) < WIDE * ACROSS * known.n * np.count_nonzero(painted):
        return None
    worst = _worst(cv2.min(off, inner), known, painted, AROUND)
    where = int(worst.argmax())
    return where if worst[where] > FOREIGN + worst.min() else None


def _crossed(off: Pixels, known: Known, painted: Flags, away: Away) -> int | None:
    """Which of the painted cells something foreign was drawn across or beside, if any.

    `off` (R*n, C*n) is how far pixels are from any mixture of paint and ground. In a clean picture not even the
    cleanest cell is excused: a stroke may run along the whole of a path.
    """
    if off.max() <= FAINTEST:
        return None
    worst = _worst(off, known, painted, BETWEEN if away.is_clean else AROUND)
    where = int(worst.argmax())
    if away.is_clean:
        return where if worst[where] > FAINTEST else None
    usual = float(np.quantile(worst, CLEANER if len(worst) >= MANY else 0.0))
    return where if worst[where] > FOREIGN + TIMES * usual else None


def _worst(off: Pixels, known: Known, painted: Flags, around: float) -> Floats:
    """(N,): by how much the pixels of each of the painted cells, and of so much of a cell around it, are off that would
    make a stroke."""
    n, beside = known.n, round(around * known.n)
    wide = n + 2 * beside
    padded = cv2.copyMakeBorder(off, beside, beside, beside, beside, cv2.BORDER_CONSTANT, value=0)
    windows = sliding_window_view(padded, (wide, wide))[::n, ::n][painted].reshape(-1, wide * wide)
    there = max(2, round(ACROSS * n))
    return np.partition(windows, -there, axis=1)[:, -there].astype(np.float32)


def _quantile(values: Floats, share: float) -> float:
    """That of one of the values (N,), quickly."""
    rank = int(share * (len(values) - 1))
    return float(np.partition(values, rank)[rank])


def _shade(board: Floats, known: Known, share: Floats, painted: Flags) -> Floats:
    """(3,): the colour in which the path is drawn."""
    n = known.n
    shares = share.reshape(len(painted), n, -1, n).transpose(0, 2, 1, 3)[painted]
    cells = board.reshape(len(painted), n, -1, n, 3).transpose(0, 2, 1, 3, 4)[painted]
    plain = shares[shares >= PLAIN]
    core = cells[shares >= _quantile(plain, CORE)] if len(plain) else cells.reshape(-1, 3)
    shade: Floats = np.median(core, axis=0)
    return shade
