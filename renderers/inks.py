"""Palettes as recipes: which index a blend of named colours gets, long before anyone knows the colours.

A tile is drawn once for a geometry and shown in thousands of palettes. So a palette entry is not a colour but a
recipe: whole parts of each named colour, TOTAL parts in all. Indices depend on names and masks only, and a sample's
palette is one small matrix product, recipes x colours.

Indices are given in the order of first use, so draw every tile of a geometry in a fixed order, then ask for
palettes: the first one closes the book, and a later new blend is an error rather than a palette whose order
depends on which samples came before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BadInput, unknown

Coverage: TypeAlias = NDArray[np.uint8]
Tile: TypeAlias = NDArray[np.uint8]
RGB: TypeAlias = tuple[int, int, int]
Layer: TypeAlias = tuple[Coverage, str]

FULL = 15
"""Coverage of a pixel that is wholly inside; 0 is wholly outside."""

TOTAL = FULL**4
"""Parts in a recipe: four soft edges over one another are still exact."""

MAX_ENTRIES = 256
_KEPT_FOR_EDGES = 64
_KEPT_FOR_RAMP = FULL + 1
"""Entries that mixes leave to the first ramp: labels are drawn after all tiles."""

_MAX_LAYERS = 15

Recipe: TypeAlias = tuple[int, ...]


class Inks:
    """The palette of one family of tiles: the named colours first, in order, then the blends as they are met."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        if not 1 <= len(self.names) <= MAX_ENTRIES or len(set(self.names)) != len(self.names):
            raise BadInput(f"expected 1 to {MAX_ENTRIES} different colour names, got {self.names!r}")
        self._place = {name: place for place, name in enumerate(self.names)}
        self._recipes: list[Recipe] = []
        self._table = np.zeros((MAX_ENTRIES, len(self.names)), np.int64)  # the recipes again, to measure distances
        self._index: dict[Recipe, int] = {}
        self._ramps: dict[tuple[str, str], int] = {}
        self._book: NDArray[np.float64] | None = None
        for name in self.names:
            self._add(self._recipe({name: 1}))

    def __len__(self) -> int:
        return len(self._recipes)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """For each palette entry the parts of each named colour, TOTAL in all."""
        return tuple(self._recipes)

    def solid(self, name: str) -> int:
        """The index of a colour by itself."""
        try:
            return self._place[name]
        except KeyError:
            raise unknown("colour", name, self.names) from None

    def ramp(self, under: str, over: str) -> int:
        """The first of 16 indices in a row from `under` to `over`, so that `ramp + coverage` is a finished tile."""
        known = self._ramps.get((under, over))
        if known is not None:
            return known
        base = len(self)
        if base + FULL + 1 > MAX_ENTRIES:
            raise BadInput(f"no room for the ramp {under!r} to {over!r}: {base} of {MAX_ENTRIES} entries used")
        for level in range(FULL + 1):
            self._add(self._recipe(_stack([(over, level)], under)))
        self._ramps[under, over] = base
        return base

    def mix(self, parts: Mapping[str, int]) -> int:
        """The index of a mix such as `{"ink": 4, "paper": 11}`; the nearest one already there if the palette is full.

        The last entries are kept for mixes of two colours, the edges that the eye follows; mixes of three and more
        are single pixels where edges meet. Ties go to the lower index.
        """
        recipe = self._recipe(parts)
        if (known := self._index.get(recipe)) is not None:
            return known
        colours = sum(1 for weight in recipe if weight)
        kept = _KEPT_FOR_EDGES if colours > 2 else 0 if self._ramps else _KEPT_FOR_RAMP
        if len(self) < MAX_ENTRIES - kept:
            return self._add(recipe)
        distance = self._table[: len(self)] - np.array(recipe, np.int64)
        return int(np.argmin((distance * distance).sum(axis=1)))

    def palette(self, colours: Mapping[str, RGB]) -> NDArray[np.uint8]:
        """The palette (entries, 3) in these colours; from now on no new blends."""
        if self._book is None:
            self._book = np.array(self._recipes, np.float64)
        try:
            rgb = np.array([colours[name] for name in self.names], np.float64)
        except KeyError as error:
            raise unknown("colour", str(error.args[0]), colours) from error
        if rgb.shape != (len(self.names), 3) or rgb.min() < 0 or rgb.max() > 255:
            raise BadInput(f"expected (red, green, blue) from 0 to 255 for every colour, got {dict(colours)!r}")
        # Whole numbers far below 2**53: the float product is exact, in whatever order it is summed.
        return np.floor((self._book @ rgb + TOTAL // 2) / TOTAL).astype(np.uint8)

    def _recipe(self, parts: Mapping[str, int]) -> Recipe:
        """`parts` scaled to TOTAL; what rounding down leaves goes to the colour with most, the earlier of equals."""
        whole = sum(parts.values())
        if whole < 1 or min(parts.values()) < 0:
            raise BadInput(f"expected parts of colours, none below 0 and some above, got {dict(parts)!r}")
        recipe = [0] * len(self.names)
        for name, weight in parts.items():
            recipe[self.solid(name)] = weight * TOTAL // whole
        recipe[recipe.index(max(recipe))] += TOTAL - sum(recipe)
        return tuple(recipe)

    def _add(self, recipe: Recipe) -> int:
        if self._book is not None:
            raise BadInput("a new blend after the first palette: draw all tiles of a geometry before its palettes")
        self._table[len(self)] = recipe
        self._recipes.append(recipe)
        return self._index.setdefault(recipe, len(self) - 1)


def blend(inks: Inks, coverage: Coverage, *, under: str, over: str) -> Tile:
    """`coverage` in one colour on a flat ground of another: a ramp, which costs 16 palette entries once."""
    if coverage.dtype != np.uint8 or coverage.max() > FULL:
        raise BadInput(f"expected coverage of uint8 up to {FULL}, got {coverage.dtype} up to {coverage.max()}")
    return coverage + np.uint8(inks.ramp(under, over))


def compose(inks: Inks, n: int, layers: Sequence[Layer], under: str) -> Tile:
    """A tile of `n` x `n` indices: `layers` of (coverage, colour), first the lowest, over a ground of `under`."""
    if len(layers) > _MAX_LAYERS:
        raise BadInput(f"expected at most {_MAX_LAYERS} layers, got {len(layers)}")
    codes = np.zeros((n, n), np.int64)
    for coverage, name in layers:
        if coverage.shape != (n, n) or coverage.dtype != np.uint8 or coverage.max() > FULL:
            raise BadInput(
                f"expected coverage ({n}, {n}) of uint8 up to {FULL} for {name!r}, "
                f"got {coverage.shape} of {coverage.dtype} up to {coverage.max()}"
            )
        codes = codes * (FULL + 1) + coverage
    kinds, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    indices = np.zeros(len(kinds), np.uint8)
    for kind in np.argsort(first):
        row, col = divmod(int(first[kind]), n)
        levels = [(name, int(coverage[row, col])) for coverage, name in layers]
        indices[kind] = inks.mix(_stack(levels, under))
    return indices[inverse].reshape(n, n)


def _stack(levels: Sequence[tuple[str, int]], under: str) -> dict[str, int]:
    """The parts of each colour in one pixel, exactly: every soft layer multiplies the number of parts by FULL."""
    parts, whole = {under: 1}, 1
    for name, level in levels:
        if level == FULL:
            parts, whole = {name: 1}, 1
        elif level:
            parts = {colour: weight * (FULL - level) for colour, weight in parts.items()}
            parts[name] = parts.get(name, 0) + whole * level
            whole *= FULL
    return parts
