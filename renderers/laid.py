"""How a cell may look, and how the thing on it was laid: a little off its place, a little larger or smaller."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import most
from renderers.reading.lens import Lens
from renderers.reading.struck import Lines
from renderers.reading.waves import EDGE, FAINTEST, Levels, contrast_of, inside

Flags = NDArray[np.bool_]
LARGE = 36
"""Pixels across a cell from which on outlines are two pixels wide."""

MOVED, RESIZED = 0.07, 0.06
"""Shares of a cell by which a thing may be off its place or its size."""

SPECKS = 0.02
"""Share of a ground that specks cover, at most: stars cover a hundredth, the rings of targets far more."""

GREY = 128
"""The middle grey level: sums of squares from there have fewer digits to be rounded."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a thing was laid: by how much it differs from what is shown, its size, and where its tile begins, as shares
    of a cell: on the corner of a pixel, as whoever pastes it lays it."""

    gap: float
    size: float
    right: float
    down: float

    def lay(self, tile: Pixels, flags: int = cv2.INTER_LINEAR) -> Pixels:
        """A tile (n, n, …) of that size, in that place."""
        n, half = len(tile), (self.size - 1) / 2
        way = np.array([[self.size, 0, self.right * n + half], [0, self.size, self.down * n + half]])
        return np.asarray(cv2.warpAffine(tile, way, (n, n), flags=flags, borderMode=cv2.BORDER_REPLICATE))


@dataclass(frozen=True, eq=False)
class Look:
    """How a cell may look: a tile (n, n, 3), and the same without the thing on it."""

    tile: Pixels
    ground: Pixels
    thing: Pixels  # (n, n): 255 where it is, else 0

    @classmethod
    def of(cls, tile: Pixels, ground: Pixels) -> Look:
        is_thing = cv2.absdiff(tile, ground).any(axis=2)
        return cls(tile, ground, np.where(is_thing, np.uint8(255), np.uint8(0)))

    @cached_property
    def rim(self) -> Flags:
        """(m, m): where the thing's outline is, inside of the cell: what scissors leave there is anybody's."""
        near, inner = np.ones((5, 5), np.uint8), np.ones((3, 3) if len(self.tile) < LARGE else (5, 5), np.uint8)
        return inside(cv2.subtract(cv2.dilate(self.thing, near), cv2.erode(self.thing, inner))) > 0

    @cached_property
    def specks(self) -> int:
        """How many pixels its ground's specks cover, if it has any: whoever lays a thing may bring others along."""
        count = int(np.count_nonzero(np.abs(inside(self.ground) - self.plain).max(axis=2) > FAINTEST))
        return count if count < SPECKS * self.rim.size else 0

    @cached_property
    def inner(self) -> Pixels:
        """(m, m, 3): the tile without its border."""
        return inside(self.tile)

    @cached_property
    def contrast(self) -> Pixels:
        """(m, m): by how many grey levels the tile differs around each pixel inside."""
        return contrast_of(self.tile)

    @cached_property
    def plain(self) -> Levels:
        """(3,): the colour that most of the ground has."""
        colour: Levels = np.median(self.ground, axis=(0, 1))
        return colour

    @cached_property
    def lines(self) -> Lines:
        """Those of the tile without its border."""
        return Lines(self.inner, self.plain)

    def share_of(self, shown: Pixels, levels: float) -> float:
        """The share of a cell (n, n, 3) that is like the tile to so many grey levels."""
        return float(np.mean(most(cv2.absdiff(inside(shown), self.inner)) <= levels))

    def unlike(self, shown: Pixels) -> float:
        """By how much a cell (n, n, 3) differs from its thing, as a share of what that differs from its ground."""
        stands_out = cv2.norm(self.inner, inside(self.ground), cv2.NORM_L2SQR)
        return float(cv2.norm(inside(shown), self.inner, cv2.NORM_L2SQR, inside(self.thing)) / max(1.0, stands_out))

    def through(self, lens: Lens) -> Look:
        """The same as it is seen through a lens."""
        return Look(lens.through(self.tile), lens.through(self.ground), self.thing)

    def fit(self, shown: Pixels) -> Fit:
        """The size and place at which its thing is most like what a cell (n, n, 3) shows."""
        n = len(self.tile)
        edge, reach = (max(1, round(share * n)) for share in (EDGE, MOVED))
        around = cv2.copyMakeBorder(shown, reach, reach, reach, reach, cv2.BORDER_REPLICATE)
        around = around[edge : len(around) - edge, edge : len(around) - edge] - np.float32(GREY)
        fits, tiles, lengths = self._sized
        side = len(around) - 2 * reach
        parts = sliding_window_view(around, (side, side, 3)).reshape((2 * reach + 1) ** 2, -1)
        gaps = (np.einsum("ij,ij->i", parts, parts)[:, None] - 2 * (parts @ tiles) + lengths).T  # (sizes, places)
        size, place = divmod(int(gaps.argmin()), len(parts))
        down, right = divmod(place, 2 * reach + 1)
        fit = fits[size]
        return replace(
            fit, gap=float(gaps[size, place]), right=fit.right + (right - reach) / n, down=fit.down + (down - reach) / n
        )

    def laid_as(self, shown: Pixels) -> Look:
        """The same, with its thing of the size and in the place that is most like what a cell (n, n, 3) shows."""
        fit = self.fit(shown)
        thing = fit.lay(self.thing)
        laid = self.ground + thing[..., None] / np.float32(255) * (fit.lay(self.tile) - self.ground.astype(float))
        look = Look(laid.astype(np.uint8), self.ground, thing)
        vars(look).update(plain=self.plain)
        return look

    @cached_property
    def _sized(self) -> tuple[list[Fit], Levels, Levels]:
        """The sizes that its thing may have; its tile in each without its border, (pixels, sizes); and how far each is
        from grey, squared."""
        n = len(self.tile)
        more = max(1, round(RESIZED * n))
        fits = [Fit(0.0, side / n, (n - side) // 2 / n, (n - side) // 2 / n) for side in range(n - more, n + more + 1)]
        tiles = np.stack([inside(fit.lay(self.tile)).ravel() for fit in fits], axis=1) - np.float32(GREY)
        return fits, tiles, np.einsum("ij,ij->j", tiles, tiles)
