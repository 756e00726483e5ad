"""Registration: where does the board lie in an edited picture?

Editors resize, shift, zoom, crop and tilt by a little. The picture the editor was given is known, and most of an edited
picture still is that picture. So the edited picture is laid onto it by robust Gauss-Newton steps on brightness (the
inverse compositional form of Lucas and Kanade's method), coarse to fine, on the points with the strongest gradients;
whatever the editor changed counts as an outlier and pulls at nothing.

Coordinates are normalised: (-1, -1) is the top left corner of a picture and (1, 1) the bottom right, so that one
homography serves pictures of all sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Pixels

Floats = NDArray[np.floating[Any]]
Box = tuple[float, float, float, float]
"""left, top, right, bottom, as shares of a picture's side."""

LEVELS = (48, 96, 192)
CUTS = (160.0, 70.0, 35.0)
"""Errors above the cut are outliers. On the coarsest level it starts wide: what is merely misplaced must still pull."""

NARROW, FAIR, TIGHTEN = 14.0, 30.0, 0.6
"""The cut tightens by step, to between these two, as the errors allow."""

BLOCKS, POINTS = 12, 14
"""So many points from each of 12 x 12 parts of the picture: strong edges in one part must not drown the others."""

FLAT = 4.0
"""Slopes below this (squared grey levels a pixel) show no edge."""

STEPS, PATIENCE = 10, 40
"""Steps of a fit, and of the last one."""

STRAY, SLACK = 0.02, 0.03
"""How far the last fit may lead, and how much less alike it may end: fine grids do, where they fit best."""

SETTLED = 2e-4

AGAIN, FAIRLY = 0.002, 0.75
"""A place so near to one found before is the same, and right if it has this likeness: half a pixel of 512."""

STARTS = (0.0, 0.03, -0.03, 0.055, -0.055)
"""Zooms to try when the first one leads nowhere."""

SAME, GOOD, LOWEST_LIKENESS = 0.998, 0.9, 0.5
"""Likeness at which the first place found is right; at which a search may end; below which there is no board."""

NEAR = ((0.004, GOOD), (0.01, 0.995))
"""A board found so near to where it is believed to lie (0.004 is a pixel of 512) need only be so good a likeness."""

MOST_WARP = 0.2
LEVEL = 5e-4
"""Perspective below this moves nothing by half a pixel, and an affine map is faster."""

SMALLER, NUDGE, SNAP = 1.9, 0.3, 0.15
"""How many times smaller a crop must be for all its pixels to weigh the same; how many pixels it may lean; and how many
it may be off a place where whole pixels are averaged."""

_GREY = (1 / 3, 1 / 3, 1 / 3, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """`matrix` takes a point of the board's picture to a point of the edited picture, both normalised."""

    matrix: Floats  # (3, 3)
    likeness: float  # correlation of the two pictures on the points used, 0 to 1
    image: Image.Image  # the edited picture, RGB
    shrunk: dict[tuple[int, int], Image.Image] = field(default_factory=dict, init=False)  # the same, smaller

    def crop(self, box: Box, size: tuple[int, int]) -> Floats:
        """(h, w, 3): the part of the edited picture that shows this box."""
        return np.asarray(self.part(box, size), dtype=np.float32)

    def part(self, box: Box, size: tuple[int, int]) -> Image.Image:
        """The same as a picture."""
        straight = self._upright(box, size)
        if straight is not None:
            return _resized(self.image, straight, size)
        (left, top, right, bottom), (width, height) = box, size
        image = self._reduced(width / max(right - left, 1e-6), height / max(bottom - top, 1e-6))
        data = self._towards(image, box, size)
        if max(width * abs(data[6]), height * abs(data[7])) < LEVEL:
            return image.transform(size, Image.Transform.AFFINE, data[:6], Image.Resampling.BILINEAR)
        return image.transform(size, Image.Transform.PERSPECTIVE, data, Image.Resampling.BILINEAR)

    def _towards(self, image: Image.Image, box: Box, size: tuple[int, int]) -> tuple[float, ...]:
        """The map from pixels of a crop to those of the picture, or a smaller copy, as Pillow's transforms take it."""
        left, top, right, bottom = box
        width, height = size
        to_board = np.array(
            [
                [2 * (right - left) / width, 0.0, 2 * left - 1],
                [0.0, 2 * (bottom - top) / height, 2 * top - 1],
                [0.0, 0.0, 1.0],
            ]
        )
        to_image = np.array(
            [[image.width / 2, 0, image.width / 2], [0, image.height / 2, image.height / 2], [0, 0, 1.0]]
        )
        full = to_image @ self.matrix @ to_board
        full /= full[2, 2]
        return tuple(full.ravel()[:8].tolist())

    def _upright(self, box: Box, size: tuple[int, int]) -> Box | None:
        """The box in pixels, if it lies upright in the picture: then pixels need only be averaged."""
        width, height = size
        across, lean, x, slant, down, y, *tilt = self._towards(self.image, box, size)
        if max(abs(lean) * height, abs(slant) * width) > NUDGE:
            return None
        if min(across, down) <= 0 or max(width * abs(tilt[0]), height * abs(tilt[1])) > LEVEL:
            return None
        return x, y, x + across * width, y + down * height

    def covers(self, box: Box, size: tuple[int, int]) -> NDArray[np.bool_]:
        """(h, w): which pixels of such a crop lie inside the edited picture; the others were never seen."""
        left, top, right, bottom = box
        x = 2 * np.linspace(left, right, size[0])[None, :] - 1
        y = 2 * np.linspace(top, bottom, size[1])[:, None] - 1
        m = self.matrix
        depth = m[2, 0] * x + m[2, 1] * y + m[2, 2]
        across, down = (np.abs((m[row, 0] * x + m[row, 1] * y + m[row, 2]) / depth) for row in (0, 1))
        inside: NDArray[np.bool_] = np.maximum(across, down) < 0.99
        return inside

    def _reduced(self, wide: float, high: float) -> Image.Image:
        """The picture, shrunk by whole factors while it stays finer than asked: bilinear sampling must skip nothing."""
        across, down = max(1, int(self.image.width / wide)), max(1, int(self.image.height / high))
        if (across, down) not in self.shrunk:
            self.shrunk[across, down] = self.image if across == down == 1 else self.image.reduce((across, down))
        return self.shrunk[across, down]


class Scan:
    """An edited picture (H, W, 3), with its brightness at each level, worked out once it is asked for."""

    def __init__(self, image: Pixels) -> None:
        self.image = Image.fromarray(image, "RGB")
        self._levels: dict[int, Floats] = {}

    @cached_property
    def _largest(self) -> Image.Image:
        return _shrunk(self.image.convert("L", _GREY))

    def level(self, number: int) -> Floats:
        if number not in self._levels:
            self._levels[number] = _brightness(self._largest, LEVELS[number])
        return self._levels[number]


class Landmarks:
    """The picture that others are laid onto: keep it, if there are several.

    `reference` is (H, W) or (H, W, 3); `shaky` (H, W) is true where the edit changes so much that nothing there helps
    to find the board.
    """

    def __init__(self, reference: Pixels, *, shaky: NDArray[np.bool_] | None = None) -> None:
        picture = Image.fromarray(reference)
        self._largest = _shrunk(picture if reference.ndim == 2 else picture.convert("L", _GREY))
        self._shaky = None if shaky is None else Image.fromarray(shaky.astype(np.uint8) * 255)
        self._templates: dict[int, _Template] = {}

    def template(self, number: int) -> _Template:
        if number not in self._templates:
            side = LEVELS[number]
            self._templates[number] = _Template(_brightness(self._largest, side), _blind(self._shaky, side))
        return self._templates[number]


def register(scan: Scan, landmarks: Landmarks, *, start: Floats | None = None) -> Registration:
    """Lay an edited picture onto the one the editor was given, or refuse.

    `start` is where the board is believed to lie, the matrix of an earlier registration.
    """
    finest = len(LEVELS) - 1
    start = np.eye(3) if start is None else start
    matrix, likeness = landmarks.template(finest).fit(scan.level(finest), start, 8, NARROW)
    moved = np.abs(matrix - start).sum(axis=1).max()
    if likeness < next((enough for near, enough in NEAR if moved < near), SAME):
        matrix, likeness = _search(landmarks, scan, matrix, likeness)
    if likeness < LOWEST_LIKENESS:
        raise UnreadableImage(
            f"the board was not found (likeness {likeness:.2f}, at least {LOWEST_LIKENESS} is needed)"
        )
    if np.abs(matrix - np.eye(3)).max() > MOST_WARP:
        raise UnreadableImage("the board lies too far from where it was")
    return Registration(matrix, likeness, scan.image)


def _search(landmarks: Landmarks, scan: Scan, matrix: Floats, likeness: float) -> tuple[Floats, float]:
    """Coarse to fine, from several zooms if need be; the best end wins, or the one that is known, the earlier on a tie.

    A likeness that is fair and found twice will not get better.
    """
    best, best_likeness = matrix, likeness
    for start in STARTS:
        matrix = np.diag([1 + start, 1 + start, 1.0])
        for number, cut in enumerate(CUTS):
            free = 8 if number == len(LEVELS) - 1 else 6
            matrix, likeness = landmarks.template(number).fit(scan.level(number), matrix, free, cut)
        again = np.abs(matrix - best).sum(axis=1).max() < AGAIN and likeness >= FAIRLY
        if likeness > best_likeness:
            best, best_likeness = matrix, likeness
        if again or best_likeness >= GOOD:
            break
    last = len(LEVELS) - 1
    settled, likeness = landmarks.template(last).fit(scan.level(last), best, 8, NARROW, steps=PATIENCE)
    strayed = np.abs(settled - best).max() > STRAY or likeness < best_likeness - SLACK
    return (best, best_likeness) if strayed else (settled, likeness)


def _resized(image: Image.Image, box: Box, size: tuple[int, int]) -> Image.Image:
    """What is in a box (in pixels), brought to this size; black where the box leaves the picture."""
    near = round(box[0]), round(box[1]), round(box[2]), round(box[3])
    if max(abs(edge - whole) for edge, whole in zip(box, near, strict=True)) < SNAP:
        across, down = ((near[2 + axis] - near[axis]) / size[axis] for axis in (0, 1))
        if across.is_integer() and down.is_integer():
            return image.crop(near).reduce((int(across), int(down)))
    if min(box[:2]) < 0 or box[2] > image.width or box[3] > image.height:
        left, top = math.floor(box[0]), math.floor(box[1])
        image = image.crop((left, top, math.ceil(box[2]), math.ceil(box[3])))
        box = box[0] - left, box[1] - top, box[2] - left, box[3] - top
    times = min((box[2] - box[0]) / size[0], (box[3] - box[1]) / size[1])
    return image.resize(size, Image.Resampling.BOX if times >= SMALLER else Image.Resampling.BILINEAR, box=box)


def _shrunk(grey: Image.Image) -> Image.Image:
    return grey.resize((LEVELS[-1],) * 2, Image.Resampling.BOX)


def _brightness(largest: Image.Image, side: int) -> Floats:
    """(side, side), smoothed a little so that thin lines have slopes to follow."""
    return _smooth(np.asarray(largest.reduce(LEVELS[-1] // side), dtype=np.float32))


def _blind(shaky: Image.Image | None, side: int) -> NDArray[np.bool_] | None:
    """(side, side): the shaky pixels and those next to them, whose slopes they share."""
    if shaky is None:
        return None
    return _smooth(np.asarray(shaky.resize((side, side), Image.Resampling.BOX), dtype=np.float32)) > 0


def _smooth(grey: Floats) -> Floats:
    """A 3 x 3 binomial blur; exact, as grey levels are whole numbers."""
    rows = 2 * grey
    rows[1:] += grey[:-1]
    rows[:-1] += grey[1:]
    rows[0] += grey[0]
    rows[-1] += grey[-1]
    both = 2 * rows
    both[:, 1:] += rows[:, :-1]
    both[:, :-1] += rows[:, 1:]
    both[:, 0] += rows[:, 0]
    both[:, -1] += rows[:, -1]
    both *= 1 / 16
    return both


class _Template:
    """The strongest points of the known picture at one scale, with their steepest-descent vectors."""

    def __init__(self, grey: Floats, blind: NDArray[np.bool_] | None = None) -> None:
        side = grey.shape[0]
        down, across, strength = (np.zeros_like(grey) for _ in range(3))  # there are none at the edge
        down[1:-1] = (grey[2:] - grey[:-2]) / 2
        across[:, 1:-1] = (grey[:, 2:] - grey[:, :-2]) / 2
        strength[1:-1, 1:-1] = (down**2 + across**2)[1:-1, 1:-1]
        if blind is not None:
            strength[blind] = 0
        part = side // BLOCKS
        blocks = strength.reshape(BLOCKS, part, BLOCKS, part).transpose(0, 2, 1, 3).reshape(BLOCKS**2, part**2)
        count = min(POINTS, part**2)
        chosen = np.argpartition(blocks, -count, axis=1)[:, -count:]
        block = np.arange(BLOCKS**2)[:, None]
        rows = (block // BLOCKS * part + chosen // part).ravel()
        cols = (block % BLOCKS * part + chosen % part).ravel()
        rows, cols = rows[strength[rows, cols] > FLAT], cols[strength[rows, cols] > FLAT]
        self.x = (cols + 0.5) * 2 / side - 1
        self.y = (rows + 0.5) * 2 / side - 1
        self.value = grey[rows, cols].astype(np.float64)
        gx, gy = (slope[rows, cols].astype(np.float64) * side / 2 for slope in (across, down))
        x, y = self.x, self.y
        along = gx * x + gy * y
        self.descent = np.stack([gx * x, gx * y, gx, gy * x, gy * y, gy, -along * x, -along * y], axis=1)  # (K, 8)

    def fit(self, image: Floats, matrix: Floats, free: int, cut: float, *, steps: int = STEPS) -> tuple[Floats, float]:
        """Improve the matrix in its first `free` degrees; also how alike the two pictures then are."""
        descent = self.descent[:, :free]
        keep = np.ones_like(self.value)
        for _ in range(steps):
            error, keep, narrow = _residual(self.value, self._look(image, matrix), keep, cut)
            weighted = descent * keep[:, None]
            normal = weighted.T @ descent
            normal[np.diag_indices(free)] = normal.diagonal() * (1 + 1e-6) + 1e-9
            step = np.zeros(8)
            step[:free] = np.linalg.solve(normal, weighted.T @ error)
            moved = matrix @ np.linalg.inv(np.eye(3) + np.append(step, 0.0).reshape(3, 3))
            moved /= moved[2, 2]
            if not np.isfinite(moved).all() or np.abs(moved - np.eye(3)).max() > 2 * MOST_WARP:
                break
            matrix = moved
            if np.abs(step).max() < SETTLED and cut <= narrow:
                break
            cut = max(narrow, cut * TIGHTEN)
        return matrix, _likeness(self.value, self._look(image, matrix), keep)

    def _look(self, image: Floats, matrix: Floats) -> Floats:
        """Brightness of the image where the matrix sends the points (bilinear, edges extended)."""
        depth = matrix[2, 0] * self.x + matrix[2, 1] * self.y + matrix[2, 2]
        side = image.shape[0]
        u = ((matrix[0, 0] * self.x + matrix[0, 1] * self.y + matrix[0, 2]) / depth + 1) * side / 2 - 0.5
        v = ((matrix[1, 0] * self.x + matrix[1, 1] * self.y + matrix[1, 2]) / depth + 1) * side / 2 - 0.5
        u, v = u.clip(0, side - 1.001), v.clip(0, side - 1.001)
        col, row = u.astype(np.intp), v.astype(np.intp)
        du, dv = u - col, v - row
        flat = image.ravel()
        corner = row * side + col
        top = flat[corner] * (1 - du) + flat[corner + 1] * du
        bottom = flat[corner + side] * (1 - du) + flat[corner + side + 1] * du
        values: Floats = top * (1 - dv) + bottom * dv
        return values


def _residual(want: Floats, seen: Floats, keep: Floats, cut: float) -> tuple[Floats, Floats, float]:
    """Seen minus wanted after the best gain and offset, the trust in each point (Tukey), and the narrowest fair cut."""
    total = keep.sum()
    mean_seen, mean_want = keep @ seen / total, keep @ want / total
    away = seen - mean_seen
    spread = keep @ (away * away)
    gain = min(2.0, max(0.5, keep @ (away * (want - mean_want)) / spread)) if spread > 1e-9 else 1.0
    error = gain * away + mean_want - want
    narrow = min(FAIR, max(NARROW, 6 * median(np.abs(error))))
    trust = 1 - np.minimum(1.0, (error / max(cut, narrow)) ** 2)
    return error, np.maximum(trust * trust, 1e-3), narrow


def median(values: Floats) -> float:
    """The upper median of many values, quickly."""
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def _likeness(want: Floats, seen: Floats, keep: Floats) -> float:
    """Correlation on the points that are trusted, times the share of them."""
    total = keep.sum()
    a, b = want - keep @ want / total, seen - keep @ seen / total
    scale = np.sqrt((keep @ (a * a)) * (keep @ (b * b)))
    share = min(1.0, 1.6 * total / len(keep))
    return float(share * (keep @ (a * b)) / scale) if scale > 1e-9 else 0.0
