"""Bent pictures: whoever redraws a picture has one part of it a pixel farther left, and another one farther up.

No homography lays such a picture onto the one that was given. What is left to move is a smooth field of displacements,
cubic B-splines over a few control points. It is told by the same points and slopes as the homography was (see
`fit.py`), by robust Gauss-Newton steps, coarse to fine, and held stiff, so that nothing drawn or moved can pull at it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BoardNotFound
from gamegen.core.rendering import Pixels
from renderers.reading.fit import NARROW, TIGHTEN, Floats, Template, residual
from renderers.reading.foreign import most
from renderers.reading.register import LEVELS, Landmarks, Scan, blind, brightness, register

CONTROLS = 8
"""Control points along each side."""

SPANS = CONTROLS - 3
"""Spans along each side within which the same four have a say."""

NEAR = (np.arange(4)[:, None] * CONTROLS + np.arange(4)).ravel()
"""Control points that have a say within a span, counted from its first."""

STIFF, STEADY = 0.03, 0.03
"""How much bending costs, and how much moving does, as shares of what the points say."""

FINE = 384
"""Side at which bends are told at last, after the sides at which pictures are laid onto each other."""

CUTS = (45.0, 30.0, 20.0)
"""Errors above which points were drawn upon, from coarse to fine."""

STEPS, SETTLED = 4, 4e-4
"""Steps on each level at most; one that moves no control point by more is the last: a tenth of a pixel of 512."""

PARTS = 8
"""Along each side of a picture, the parts in which it is told whether it is bent."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of a picture that is said to be bent."""

    explained: float  # the share of the errors that goes if each part may move a little: of noise it is a tenth
    away: float  # by how much most parts then do
    less: float  # the share of the errors that may be left once it is ironed
    off: float = 0.0  # the errors that there must be, in grey levels: sound pictures that moved have 1 to 5


SLIGHTLY, RATHER, PLAINLY = Demand(0.15, 4e-4, 0.7), Demand(0.2, 8e-4, 0.7, 3.5), Demand(0.4, 1e-3, 0.25)
FULLY = Demand(0.2, 8e-4, 0.25, 3.5)
"""Away by a tenth, a fifth and a quarter of a pixel of 512. Of pictures bent by 1.5 px, 95 %, 85 % and 66 % are worth a
look then, and all of word searches; of those that were tilted, zoomed, sharpened or moved, 34 %, 6 % and hardly any.
`FULLY` asks for a bend, as the second does, and that hardly anything is left once it is ironed: sharpened pictures,
which seem to be bent, keep 0.37 of their errors and more."""

FEWEST = 100
"""Points that tell how a picture is bent, at least."""

STRAY = 0.02
"""How far no point may lie from where it belongs: 5 pixels of 512."""

SOFT = 0.05
"""How little parts move along their lines, where nothing tells by how much: a share of what their slopes say."""

OUTLIER = 30.0
"""The most that an error counts for."""

LATTICE = 32
"""Points along each side of a picture where its field is worked out; between them it is smooth."""


class Press:
    """A picture that editors were given, prepared for ironing what they made of it. Where it is shaky nothing tells."""

    def __init__(self, given: Pixels, shaky: NDArray[np.bool_] | None) -> None:
        self._given, self._shaky = given, shaky
        self._landmarks = Landmarks(given, shaky=shaky)

    @cached_property
    def _irons(self) -> list[Iron]:
        """One for each level but the coarsest."""
        return [Iron(self._landmarks.template(number)) for number in range(1, len(LEVELS))]

    @cached_property
    def _finest(self) -> Iron:
        unseen = None if self._shaky is None else blind(self._shaky, FINE)
        return Iron(Template(brightness(self._given, FINE), unseen))

    def ironed(
        self,
        image: Pixels,
        demand: Demand = SLIGHTLY,
        matrix: Floats | None = None,
        answer: Callable[[], Pixels] | None = None,
    ) -> Pixels | None:
        """A picture (H, W, 3) without its bend; None if it has none, or is another picture altogether.

        The matrix tells where it lies, and the answer how what it shows would look if it were not bent, if these are
        known: lines beside what was drawn anew seem to lie elsewhere.
        """
        scan = Scan(image)
        if matrix is None:
            try:
                matrix = register(scan, self._landmarks).matrix
            except BoardNotFound:
                return None
        tells, level = self._irons[-1], scan.level(len(LEVELS) - 1)
        if not tells.may_be_bent(level, matrix, tells.told(None), demand):
            return None
        anew = None if answer is None else most(cv2.absdiff(answer(), self._given)) > 0
        if anew is not None and not tells.may_be_bent(level, matrix, tells.told(anew), demand):
            return None
        bend, fine = NO_BEND, brightness(image, FINE)
        levels = [*map(scan.level, range(1, len(LEVELS))), fine]
        for iron, level, cut in zip([*self._irons, self._finest], levels, CUTS, strict=True):
            told = iron.told(anew)
            if np.count_nonzero(told) < FEWEST:
                return None
            bend = iron.refine(bend, level, matrix, cut, told)
        return bend.ironed(image, matrix) if self._finest.is_better(bend, fine, matrix, told, demand) else None


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """How far the points of a board's picture lie from where they belong, before a homography takes them to an edited
    one."""

    controls: Floats  # (2, CONTROLS**2): x and y of each

    def ironed(self, image: Pixels, matrix: Floats) -> Pixels:
        """A picture (H, W, 3) without its bend: then the matrix alone takes points of the board's picture to it."""
        high, wide = image.shape[:2]
        middles = (np.arange(LATTICE) + 0.5) * 2 / LATTICE - 1
        places = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(1, -1, 2)
        on_board = cv2.perspectiveTransform(places, np.linalg.inv(matrix))
        bent = cv2.perspectiveTransform(on_board + Splines(on_board[0]).moved(self.controls), matrix)
        by = ((bent - places) * (wide / 2, high / 2)).astype(np.float32).reshape(LATTICE, LATTICE, 2)
        field = cv2.resize(by, (wide, high), interpolation=cv2.INTER_CUBIC)
        field[..., 0] += np.arange(wide, dtype=np.float32)
        field[..., 1] += np.arange(high, dtype=np.float32)[:, None]
        return np.asarray(cv2.remap(image, field, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE))


NO_BEND = Bend(np.zeros((2, CONTROLS**2)))


class Iron:
    """A template's points, prepared for telling how pictures that were laid onto it are bent."""

    def __init__(self, template: Template) -> None:
        self._template = template
        part = ((template.points[0] + 1) / 2 * PARTS).astype(np.intp).clip(0, PARTS - 1)
        self._part = part[:, 1] * PARTS + part[:, 0]

    def may_be_bent(self, image: Floats, matrix: Floats, told: Floats, demand: Demand) -> bool:
        """Whether parts of a picture, its brightness (side, side) laid by a matrix, lie elsewhere than they should."""
        if np.count_nonzero(told) < FEWEST:
            return False
        want, seen = self._template.value, self._template.look(image, matrix)
        _, keep, cut = residual(want, seen, told, NARROW)
        error, keep, _ = residual(want, seen, keep * told, cut)
        keep *= told
        if keep @ (error * error) < demand.off**2 * keep.sum():
            return False
        across, down = self._template.slopes
        right, below = self._sums(keep * error * across, keep * error * down)
        xx, xy, yy = self._sums(keep * across * across, keep * across * down, keep * down * down)
        tells = np.flatnonzero(xx + yy)  # most parts of a small board's picture are empty
        xx, yy = (each + SOFT * (xx + yy) + 1e-9 for each in (xx, yy))
        x, y = (yy * right - xy * below) / (xx * yy - xy * xy), (xx * below - xy * right) / (xx * yy - xy * xy)
        explained = float(x @ right + y @ below) / max(1e-9, float(keep @ (error * error)))
        return bool(explained > demand.explained and np.median(np.hypot(x, y)[tells]) > demand.away)

    def told(self, anew: NDArray[np.bool_] | None) -> Floats:
        """(K,): 1 for points that tell something, 0 for those beside pixels (H, W) that were drawn anew."""
        if anew is None:
            return np.ones_like(self._template.value)
        side = self._template.side
        x, y = ((self._template.points[0] + 1) / 2 * side).astype(np.intp).T
        told: Floats = 1.0 - blind(anew, side)[y, x]
        return told

    def refine(self, bend: Bend, image: Floats, matrix: Floats, cut: float, told: Floats) -> Bend:
        keep = told
        for _ in range(STEPS):
            error, keep, narrow = residual(self._template.value, self._look(bend, image, matrix), keep, cut)
            keep = keep * told
            step = self._ways.step(error, keep)
            bend = Bend(bend.controls - step)
            if np.abs(step).max() < SETTLED and cut <= narrow:
                break
            cut = max(narrow, cut * TIGHTEN)
        return bend

    def is_better(self, bend: Bend, image: Floats, matrix: Floats, told: Floats, demand: Demand) -> bool:
        """Whether a bend leaves much less of the errors than there are without, and moves nothing far."""
        if np.abs(self._moved(bend)).max() > STRAY:
            return False
        return self._cost(bend, image, matrix, told) < demand.less * self._cost(NO_BEND, image, matrix, told)

    def _cost(self, bend: Bend, image: Floats, matrix: Floats, told: Floats) -> float:
        error, _, _ = residual(self._template.value, self._look(bend, image, matrix), told, NARROW)
        return float(told @ np.minimum(error * error, OUTLIER**2))

    def _look(self, bend: Bend, image: Floats, matrix: Floats) -> Floats:
        return self._template.look(image, matrix, self._template.points + self._moved(bend).astype(np.float32))

    def _moved(self, bend: Bend) -> Floats:
        """(K, 2): how far a bend moves the points."""
        return self._ways.splines.moved(bend.controls)

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self._template)

    def _sums(self, *values: Floats) -> Floats:
        """(V, PARTS**2): the sums of values (K,) over the points of each part."""
        return np.stack([np.bincount(self._part, each, PARTS**2) for each in values])


class Splines:
    """Cubic B-splines at normalised points (N, 2): which control points move each, and by how much."""

    def __init__(self, points: Floats) -> None:
        (self.column, across), (self.row, down) = (_pieces(points[:, axis]) for axis in (0, 1))
        self.share = (down[:, :, None] * across[:, None, :]).reshape(len(points), -1)  # (N, 16)
        self._shares = np.zeros((len(points), CONTROLS**2))
        np.put_along_axis(self._shares, (self.row * CONTROLS + self.column)[:, None] + NEAR, self.share, axis=1)

    def moved(self, controls: Floats) -> Floats:
        """(N, 2): by how much control points (2, CONTROLS**2) move the points."""
        moved: Floats = self._shares @ controls.T
        return moved


class Ways:
    """How much lighter each point of a template gets if a control point moves.

    Points between the same four control points depend on the same sixteen. So their sums are small products, one for
    each span, far less to work out than one great product is; and none so large that BLAS would start threads for it.
    """

    def __init__(self, template: Template) -> None:
        self.splines = Splines(template.points[0])
        span = self.splines.row * SPANS + self.splines.column
        ways = np.concatenate([slope[:, None] * self.splines.share for slope in template.slopes], axis=1)
        order = np.argsort(span, kind="stable")
        counts = np.bincount(span, minlength=SPANS**2)
        rank = np.arange(len(order)) - np.repeat(counts.cumsum() - counts, counts)
        self._points = np.full((SPANS**2, counts.max()), len(order))  # the last one, which has no slope, fills up
        self._points[span[order], rank] = order
        self._ways = np.append(ways, np.zeros_like(ways[:1]), axis=0)[self._points].astype(np.float32)
        first = np.arange(SPANS**2) // SPANS * CONTROLS + np.arange(SPANS**2) % SPANS
        near = first[:, None] + np.concatenate([NEAR, CONTROLS**2 + NEAR])
        self._control, self._pair = near, near[:, :, None] * 2 * CONTROLS**2 + near[:, None, :]

    def step(self, error: Floats, keep: Floats) -> Floats:
        """(2, CONTROLS**2): by how much control points are off."""
        weight, wrong = (np.append(each, 0.0).astype(np.float32)[self._points, None] for each in (keep, error))
        sums = (self._ways * weight).transpose(0, 2, 1) @ np.concatenate([self._ways, wrong], axis=2)
        size = 2 * CONTROLS**2
        normal = np.bincount(self._pair.ravel(), sums[..., :-1].ravel(), size * size).reshape(size, size)
        normal += normal.trace() / size * _stiffness()
        towards = np.bincount(self._control.ravel(), sums[..., -1].ravel(), size)[:, None]
        return np.asarray(cv2.solve(normal, towards, flags=cv2.DECOMP_CHOLESKY)[1]).reshape(2, -1)


def _pieces(at: Floats) -> tuple[NDArray[np.intp], Floats]:
    """(N,) and (N, 4): the first of the four splines that are not zero at places between -1 and 1, and their values."""
    along = ((at.astype(np.float64) + 1) / 2 * SPANS).clip(0, SPANS - 1e-9)
    first = along.astype(np.intp)
    t = along - first
    pieces = ((1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3)
    return first, np.stack(pieces, axis=1) / 6


@lru_cache(maxsize=1)
def _stiffness() -> Floats:
    """(2 * CONTROLS**2, 2 * CONTROLS**2): what bending and moving cost."""
    one, eye = np.diff(np.eye(CONTROLS), 2, axis=0), np.eye(CONTROLS)
    bends = one.T @ one
    each = STIFF * (np.kron(bends, eye) + np.kron(eye, bends)) + STEADY * np.eye(CONTROLS**2)
    stiffness: Floats = np.kron(np.eye(2), each)
    return stiffness
