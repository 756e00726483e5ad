"""Registration: where does the board lie in an edited picture?

Editors resize, shift, zoom, crop and tilt by a little. The picture the editor was given is known, and most of an edited
picture still is that picture. So the edited picture is laid onto it by robust Gauss-Newton steps on brightness (the
inverse compositional form of Lucas and Kanade's method), coarse to fine, on the points with the strongest gradients;
whatever the editor changed counts as an outlier and pulls at nothing.

Coordinates are normalised: (-1, -1) is the top left corner of a picture and (1, 1) the bottom right, so that one
homography serves pictures of all sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Pixels

Floats = NDArray[np.float64]

LEVELS = (48, 96, 192)
POINTS = 1800
STEPS = 12
SETTLED = 2e-4
LOWEST_LIKENESS = 0.55
MOST_WARP = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """`matrix` takes a point of the board's picture to a point of the edited picture, both normalised."""

    matrix: Floats  # (3, 3)
    likeness: float  # correlation of the two pictures on the points used, 0 to 1
    image: Image.Image  # the edited picture, RGB

    def crop(self, box: tuple[float, float, float, float], size: tuple[int, int]) -> Floats:
        """(h, w, 3): the part of the edited picture that shows a box (left, top, right, bottom; shares)."""
        left, top, right, bottom = box
        width, height = size
        image = self._reduced(width / max(right - left, 1e-6), height / max(bottom - top, 1e-6))
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
        data = tuple(float(v) for v in full.ravel()[:8])
        part = image.transform(size, Image.Transform.PERSPECTIVE, data, Image.Resampling.BILINEAR)
        return np.asarray(part, dtype=np.float64)

    def _reduced(self, wide: float, high: float) -> Image.Image:
        """The picture, shrunk by whole factors while it stays finer than asked: bilinear sampling must skip nothing."""
        across, down = max(1, int(self.image.width / wide)), max(1, int(self.image.height / high))
        return self.image if across == down == 1 else self.image.reduce((across, down))


def register(image: Pixels, reference: Pixels) -> Registration:
    """Lay an edited picture (H, W, 3) onto the one the editor was given (H', W', 3), or raise UnreadableImage."""
    picture = Image.fromarray(image, "RGB")
    moving = picture.convert("L")
    still = Image.fromarray(reference, "RGB").convert("L")
    matrix = np.eye(3)
    likeness = 0.0
    for side in LEVELS:
        template = _Template(_grey(still, side))
        free = 8 if side == LEVELS[-1] else 6
        matrix, likeness = template.fit(_grey(moving, side), matrix, free)
    if likeness < LOWEST_LIKENESS:
        raise UnreadableImage(
            f"the board was not found (likeness {likeness:.2f}, at least {LOWEST_LIKENESS} is needed)"
        )
    if np.abs(matrix - np.eye(3)).max() > MOST_WARP:
        raise UnreadableImage("the board lies too far from where it was")
    return Registration(matrix, likeness, picture)


def _grey(image: Image.Image, side: int) -> Floats:
    """(side, side) brightness, smoothed a little so that thin lines have slopes to follow."""
    small = np.asarray(image.resize((side, side), Image.Resampling.BOX), dtype=np.float64)
    padded = np.pad(small, 1, mode="edge")
    rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    return (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 16


class _Template:
    """The strongest points of the known picture at one scale, with their steepest-descent vectors."""

    def __init__(self, grey: Floats) -> None:
        side = grey.shape[0]
        down, across = (np.asarray(slope) for slope in np.gradient(grey))
        strength: Floats = down**2 + across**2
        strength[:1] = strength[-1:] = 0
        strength[:, :1] = strength[:, -1:] = 0
        count = min(POINTS, strength.size // 2)
        chosen = np.argpartition(strength.ravel(), -count)[-count:]
        rows, cols = np.divmod(chosen, side)
        self.x = (cols + 0.5) * 2 / side - 1
        self.y = (rows + 0.5) * 2 / side - 1
        self.value = grey[rows, cols]
        gx, gy = across[rows, cols] * side / 2, down[rows, cols] * side / 2
        x, y = self.x, self.y
        along = gx * x + gy * y
        self.descent = np.stack([gx * x, gx * y, gx, gy * x, gy * y, gy, -along * x, -along * y], axis=1)  # (K, 8)

    def fit(self, image: Floats, matrix: Floats, free: int) -> tuple[Floats, float]:
        descent = self.descent[:, :free]
        keep = np.ones_like(self.value)
        likeness = _likeness(self.value, self._look(image, matrix), keep)
        for _ in range(STEPS):
            error, keep = _residual(self.value, self._look(image, matrix), keep)
            weighted = descent * keep[:, None]
            normal = weighted.T @ descent
            normal[np.diag_indices(free)] *= 1 + 1e-6
            normal[np.diag_indices(free)] += 1e-9
            step = np.linalg.solve(normal, weighted.T @ error)
            full = np.zeros(8)
            full[:free] = step
            change = np.eye(3) + np.array(
                [[full[0], full[1], full[2]], [full[3], full[4], full[5]], [full[6], full[7], 0]]
            )
            moved = matrix @ np.linalg.inv(change)
            moved /= moved[2, 2]
            if not np.isfinite(moved).all() or np.abs(moved - np.eye(3)).max() > 2 * MOST_WARP:
                break
            matrix = moved
            if np.abs(step).max() < SETTLED:
                break
        likeness = max(likeness, _likeness(self.value, self._look(image, matrix), keep))
        return matrix, likeness

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


def _residual(want: Floats, seen: Floats, keep: Floats) -> tuple[Floats, Floats]:
    """Seen minus wanted after the best gain and offset, and how far each point may be trusted (Tukey's weights)."""
    total = keep.sum()
    mean_seen, mean_want = (keep * seen).sum() / total, (keep * want).sum() / total
    spread = (keep * (seen - mean_seen) ** 2).sum()
    gain = (keep * (seen - mean_seen) * (want - mean_want)).sum() / spread if spread > 1e-9 else 1.0
    error = gain * (seen - mean_seen) + mean_want - want
    scale = max(4.0, 1.48 * float(np.median(np.abs(error))))
    trust = (1 - np.minimum(1.0, (error / (4.0 * scale)) ** 2)) ** 2
    return error, np.maximum(trust, 1e-3)


def _likeness(want: Floats, seen: Floats, keep: Floats) -> float:
    total = keep.sum()
    a, b = want - (keep * want).sum() / total, seen - (keep * seen).sum() / total
    scale = np.sqrt((keep * a * a).sum() * (keep * b * b).sum())
    return float((keep * a * b).sum() / scale) if scale > 1e-9 else 0.0
