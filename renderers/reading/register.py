"""Registration: where does the board lie in an edited picture?

Editors resize, shift, zoom, crop and tilt by a little. The picture the editor was given is known, and most of an edited
picture still is that picture. So the edited picture is laid onto it by robust Gauss-Newton steps on brightness (the
inverse compositional form of Lucas and Kanade's method), coarse to fine, on the points with the strongest gradients;
whatever the editor changed counts as an outlier and pulls at nothing.

Coordinates are normalised: (-1, -1) is the top left corner of a picture and (1, 1) the bottom right, so that one
homography serves pictures of all sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BoardNotFound, UnreadableImage
from gamegen.core.rendering import Pixels
from renderers.reading.colour import Drift
from renderers.reading.fit import MOST_WARP, NARROW, Template
from renderers.reading.fit import Floats as Floats

Box = tuple[float, float, float, float]
"""left, top, right, bottom, as shares of a picture's side."""

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)

LEVELS = (48, 96, 192)
CUTS = (160.0, 70.0, 35.0)
"""Errors above the cut are outliers. On the coarsest level it starts wide: what is merely misplaced must still pull."""

PATIENCE = 40
"""Steps of the last fit."""

STRAY, SLACK = 0.02, 0.03
"""How far the last fit may lead, and how much less alike it may end: fine grids do, where they fit best."""

AGAIN, FAIRLY = 0.002, 0.75
"""A place so near to one found before is the same, and right if it has this likeness: half a pixel of 512."""

STARTS = (0.0, 0.03, -0.03, 0.055, -0.055)
"""Zooms to try when the first one leads nowhere."""

BETTER, HOPELESS = 0.03, 0.35
"""By how much a zoom must be more alike than the one before, even coarsely, to be followed; and a likeness from which
no last fit leads to a board."""

STILL = 1.0
"""Likeness of a picture that lies where it was believed to lie, to the pixel."""

SAME, GOOD, LOWEST_LIKENESS = 0.998, 0.9, 0.5
"""Likeness at which the first place found is right; at which a search may end; below which there is no board."""

NEAR = ((0.004, GOOD), (0.01, 0.95))
"""A board found so near to where it is believed to lie (0.004 is a pixel of 512) need only be so good a likeness: no
grid is so fine that it would fit there one cell off."""

LEVEL = 5e-4
"""Perspective below this moves nothing by half a pixel, and an affine map is faster."""

SNAP = 0.15
"""Pixels that a box may be off a place where whole pixels are averaged."""

SEEN = 0.99
"""What is nearer to the edge of a picture, whose sides are at 1, was not seen in full."""

COARSER, EVEN = 1.15, 0.125
"""From how many pixels to one of a crop on they are averaged a little before, and how much of each neighbour then
counts: between pixels bilinear sampling averages, on them it does not."""


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """`matrix` takes a point of the board's picture to a point of the edited picture, both normalised."""

    matrix: Floats  # (3, 3)
    likeness: float  # correlation of the two pictures on the points used, 0 to 1
    image: Pixels  # (H, W, 3): the edited picture
    shrunk: dict[tuple[int, int], Pixels] = field(default_factory=dict, init=False)  # the same, some times smaller
    pages: dict[tuple[Drift, int], Pixels] = field(default_factory=dict, init=False)  # see `page`

    @property
    def is_still(self) -> bool:
        """Whether the picture lies just where it lay, so that nothing had to be fitted."""
        return self.likeness == STILL

    def page(self, drift: Drift, side: int) -> Pixels:
        """(side, side, 3): the whole page as the editor left it, colour drift undone; kept once it was asked for."""
        if (drift, side) not in self.pages:
            self.pages[drift, side] = drift.mend(self.part(WHOLE, (side, side)))
        return self.pages[drift, side]

    def crop(self, box: Box, size: tuple[int, int]) -> Floats:
        """(h, w, 3): the part of the edited picture that shows this box."""
        return self.part(box, size).astype(np.float32)

    def part(self, box: Box, size: tuple[int, int]) -> Pixels:
        """The same in whole grey levels; black where the box leaves the picture."""
        full = self._towards(box, size)
        whole = self._whole(full, size)
        if whole is not None:
            return whole
        factors = max(1, int(full[0, 0])), max(1, int(full[1, 1]))
        image = shrunk(self.image, factors, self.shrunk)
        full = np.diag([1 / factors[0], 1 / factors[1], 1.0]) @ full
        image = _evened(image, max(full[0, 0], full[1, 1]))
        middles = _BACK_HALF @ full @ _ON_HALF  # OpenCV counts from the middles of pixels
        image = cv2.cvtColor(image, cv2.COLOR_RGB2RGBA)  # four channels are sampled twice as fast as three
        if max(size[0] * abs(full[2, 0]), size[1] * abs(full[2, 1])) < LEVEL:
            laid = cv2.warpAffine(image, middles[:2], size, flags=_SAMPLING)
        else:
            laid = cv2.warpPerspective(image, middles, size, flags=_SAMPLING)
        return np.asarray(cv2.cvtColor(laid, cv2.COLOR_RGBA2RGB))

    def _towards(self, box: Box, size: tuple[int, int]) -> Floats:
        """(3, 3): the map from pixels of a crop to those of the picture, counted from their corners."""
        left, top, right, bottom = box
        width, height = size
        to_board = np.array(
            [
                [2 * (right - left) / width, 0.0, 2 * left - 1],
                [0.0, 2 * (bottom - top) / height, 2 * top - 1],
                [0.0, 0.0, 1.0],
            ]
        )
        high, wide = self.image.shape[:2]
        to_image = np.array([[wide / 2, 0, wide / 2], [0, high / 2, high / 2], [0, 0, 1.0]])
        full: Floats = to_image @ self.matrix @ to_board
        full /= full[2, 2]
        return full

    def _whole(self, full: Floats, size: tuple[int, int]) -> Pixels | None:
        """A crop each of whose pixels is the mean of whole ones of the picture; None if it is not."""
        ends = full @ np.array([[0.0, size[0], 0.0, size[0]], [0.0, 0.0, size[1], size[1]], [1.0, 1.0, 1.0, 1.0]])
        x, y = ends[:2] / ends[2]
        edges = np.array([x[0], y[0], x[3], y[3]])
        left, top, right, bottom = (int(edge) for edge in np.rint(edges))
        across, down = (right - left) / size[0], (bottom - top) / size[1]
        high, wide = self.image.shape[:2]
        if left < 0 or top < 0 or right > wide or bottom > high or min(across, down) < 1 or across % 1 or down % 1:
            return None
        if max(np.abs(edges - (left, top, right, bottom)).max(), abs(x[1] - x[3]), abs(y[2] - y[3])) > SNAP:
            return None
        if (left, top, right, bottom) == (0, 0, wide, high):
            return shrunk(self.image, (int(across), int(down)), self.shrunk)
        return np.asarray(cv2.resize(self.image[top:bottom, left:right], size, interpolation=cv2.INTER_AREA))

    def only_seen(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(h, w): those pixels of a crop of the whole board's picture that lie inside the edited picture, too."""
        rows, cols = np.nonzero(found)
        high, wide = found.shape
        points = np.stack([2 * cols / (wide - 1) - 1, 2 * rows / (high - 1) - 1], axis=1)
        inside = np.abs(cv2.perspectiveTransform(points[None], self.matrix)[0]).max(axis=1) < SEEN
        seen = np.zeros_like(found)
        seen[rows[inside], cols[inside]] = True
        return seen

    def covers(self, box: Box, size: tuple[int, int]) -> NDArray[np.bool_]:
        """(h, w): which pixels of such a crop lie inside the edited picture; the others were never seen."""
        left, top, right, bottom = box
        x = 2 * np.linspace(left, right, size[0])[None, :] - 1
        y = 2 * np.linspace(top, bottom, size[1])[:, None] - 1
        m = self.matrix
        depth = m[2, 0] * x + m[2, 1] * y + m[2, 2]
        across, down = (np.abs((m[row, 0] * x + m[row, 1] * y + m[row, 2]) / depth) for row in (0, 1))
        inside: NDArray[np.bool_] = np.maximum(across, down) < SEEN
        return inside


@contextmanager
def noting_where(registration: Registration) -> Iterator[None]:
    """Within, an error that a picture cannot be read says where its board lies: it may only have to be ironed."""
    try:
        yield
    except UnreadableImage as error:
        error.matrix = registration.matrix
        raise


_ON_HALF, _BACK_HALF = (np.array([[1.0, 0.0, half], [0.0, 1.0, half], [0.0, 0.0, 1.0]]) for half in (0.5, -0.5))
_GREY = np.full((1, 3), 1 / 3, np.float32)
_SAMPLING = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def shrunk(image: Pixels, factors: tuple[int, int], kept: dict[tuple[int, int], Pixels]) -> Pixels:
    """A picture so many times smaller, across and down; `kept` are those made before. What is left over is cut off."""
    if factors == (1, 1):
        return image
    if factors not in kept:
        wide, high = image.shape[1] // factors[0], image.shape[0] // factors[1]
        even = image[: high * factors[1], : wide * factors[0]]
        kept[factors] = np.asarray(cv2.resize(even, (wide, high), interpolation=cv2.INTER_AREA))
    return kept[factors]


class Scan:
    """An edited picture (H, W, 3), with its brightness at each level, worked out once it is asked for."""

    def __init__(self, image: Pixels) -> None:
        self.image = image
        self.shrunk: dict[tuple[int, int], Pixels] = {}
        self._levels: dict[int, Floats] = {}

    @cached_property
    def _largest(self) -> Floats:
        return _shrunk_grey(self.image, self.shrunk, LEVELS[-1])

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
        self._largest = _shrunk_grey(reference, {}, LEVELS[-1])
        self._shaky = shaky
        self._templates: dict[int, Template] = {}

    def template(self, number: int) -> Template:
        if number not in self._templates:
            side = LEVELS[number]
            unseen = None if self._shaky is None else blind(self._shaky, side)
            self._templates[number] = Template(_brightness(self._largest, side), unseen)
        return self._templates[number]


def register(scan: Scan, landmarks: Landmarks, *, start: Floats | None = None) -> Registration:
    """Lay an edited picture onto the one the editor was given, or refuse.

    `start` is where the board is believed to lie, the matrix of an earlier registration.
    """
    finest = len(LEVELS) - 1
    start = np.eye(3) if start is None else start
    template = landmarks.template(finest)
    if template.is_at(scan.level(finest), start):
        return _found(start, STILL, scan)
    matrix, likeness = template.fit(scan.level(finest), start, 8, NARROW)
    if _moved(matrix, start) >= NEAR[0][0]:  # half of a grid may lie right, and hold back the rest
        coarse, _ = landmarks.template(finest - 1).fit(scan.level(finest - 1), start, 6, CUTS[finest - 1])
        if _moved(coarse, matrix) >= AGAIN:
            fine = template.fit(scan.level(finest), coarse, 8, CUTS[finest])
            matrix, likeness = max((matrix, likeness), fine, key=itemgetter(1))
    if likeness < next((enough for near, enough in NEAR if _moved(matrix, start) < near), SAME):
        matrix, likeness = _search(landmarks, scan, matrix, likeness)
    if likeness < LOWEST_LIKENESS:
        raise BoardNotFound(f"the board was not found (likeness {likeness:.2f}, at least {LOWEST_LIKENESS} is needed)")
    if np.abs(matrix - np.eye(3)).max() > MOST_WARP:
        raise BoardNotFound("the board lies too far from where it was")
    return _found(matrix, likeness, scan)


def _moved(matrix: Floats, start: Floats) -> float:
    return float(np.abs(matrix - start).sum(axis=1).max())


def _found(matrix: Floats, likeness: float, scan: Scan) -> Registration:
    found = Registration(matrix, likeness, scan.image)
    found.shrunk.update(scan.shrunk)
    return found


def _search(landmarks: Landmarks, scan: Scan, matrix: Floats, likeness: float) -> tuple[Floats, float]:
    """Coarse to fine, from several zooms if need be; the best end wins, or the one that is known, the earlier on a tie.

    A likeness that is fair and found twice will not get better, and a zoom that looks no better coarsely is left alone.
    """
    best, best_likeness, promise = matrix, likeness, 0.0
    finer = range(1, len(LEVELS))
    for start in STARTS:
        matrix, coarse = landmarks.template(0).fit(scan.level(0), np.diag([1 + start, 1 + start, 1.0]), 6, CUTS[0])
        if start and coarse < promise + BETTER:
            continue
        promise = coarse
        for number in finer:
            free = 8 if number == finer[-1] else 6
            matrix, likeness = landmarks.template(number).fit(scan.level(number), matrix, free, CUTS[number])
        again = _moved(matrix, best) < AGAIN and likeness >= FAIRLY
        if likeness > best_likeness:
            best, best_likeness = matrix, likeness
        if again or best_likeness >= GOOD:
            break
    if best_likeness < HOPELESS:
        return best, best_likeness
    settled, likeness = landmarks.template(finer[-1]).fit(scan.level(finer[-1]), best, 8, NARROW, steps=PATIENCE)
    strayed = np.abs(settled - best).max() > STRAY or likeness < best_likeness - SLACK
    return (best, best_likeness) if strayed else (settled, likeness)


def brightness(image: Pixels, side: int) -> Floats:
    """(side, side): that of a picture (H, W) or (H, W, 3), as it is compared."""
    return _smooth(_shrunk_grey(image, {}, side))


def _shrunk_grey(image: Pixels, kept: dict[tuple[int, int], Pixels], side: int) -> Floats:
    """(side, side): the brightness of a picture (H, W) or (H, W, 3)."""
    high, wide = image.shape[:2]
    across, down = max(1, wide // side), max(1, high // side)
    small = shrunk(image, (across, down), kept)
    grey = (cv2.transform(small, _GREY) if small.ndim == 3 else small).astype(np.float32)
    if wide % across == 0 and high % down == 0:
        return np.asarray(cv2.resize(grey, (side, side), interpolation=cv2.INTER_AREA))
    x, y = wide / across / side, high / down / side  # of the whole picture: what was cut off makes it no smaller
    way = np.array([[x, 0, (x - 1) / 2], [0, y, (y - 1) / 2]])
    even = _evened(grey, max(x, y))
    return np.asarray(cv2.warpAffine(even, way, (side, side), flags=_SAMPLING, borderMode=cv2.BORDER_REPLICATE))


def _evened(image: NDArray[Any], coarse: float) -> NDArray[Any]:
    """A picture of which so many pixels will be sampled as one, averaged a little before."""
    if coarse <= COARSER:
        return image
    side = EVEN * (coarse - 1)
    return np.asarray(cv2.sepFilter2D(image, -1, *(np.array([side, 1 - 2 * side, side]),) * 2))


def _brightness(largest: Floats, side: int) -> Floats:
    """(side, side), smoothed a little so that thin lines have slopes to follow."""
    return _smooth(cv2.resize(largest, (side, side), interpolation=cv2.INTER_AREA))


def blind(shaky: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    """(side, side): the shaky pixels (H, W) and those next to them, whose slopes they share."""
    return _smooth(cv2.resize(shaky.astype(np.float32), (side, side), interpolation=cv2.INTER_AREA)) > 0


def _smooth(grey: Floats) -> Floats:
    """A 3 x 3 binomial blur."""
    return np.asarray(cv2.GaussianBlur(grey, (3, 3), 0, borderType=cv2.BORDER_REPLICATE))
