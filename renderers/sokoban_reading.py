"""What editors make of Sokoban: boxes told by their colour alone, and keepers that hide what they stand on."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gamegen.core.rendering import Style
from gamegen.games.sokoban import BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET, PLAYERS, SIGNS, TARGETS
from renderers.board import Seen
from renderers.reading.classify import LOWEST_CONFIDENCE, Named, classify
from renderers.reading.register import Floats
from renderers.reading.tiles import Tiles, join_cells, split_cells

UNLIKE = 16.0
"""Grey levels (root mean square) by which a cell is not what a tile shows."""

SAME_LIGHT, SAME_TINT, PALE, MOVED = 0.78, 0.85, 20.0, 2
"""A tinted box: correlation of its light with a plain box's, cosine of its colour with the named one, grey levels of
colour that it must have, and pixels by which it may be off."""

SEE_THROUGH = 0.75
"""The contrast of light that a tinted box must have, as a share of a plain one's: less is see-through."""

_BOX, _GOAL, _KEEPER = (SIGNS.index(sign) for sign in (BOX, BOX_ON_TARGET, PLAYER))
_EITHER_KEEPER = np.array([_KEEPER if sign in PLAYERS else number for number, sign in enumerate(SIGNS)])
_ON_TARGET = np.array([sign in TARGETS for sign in SIGNS])


def with_own_boxes(seen: Seen, known: NDArray[np.intp], tiles: Tiles, clean: Floats, style: Style) -> Seen:
    """The board with our own box wherever an editor, who was shown only boxes of the other kind, tinted one of those.

    `known` (R, C) is what cells showed before, `clean` (K, n, n, 3) the tiles unsmoothed.
    """
    changed = np.argwhere(_unlike(seen.cells, tiles.images[known]))
    for kind, other, family in ((_GOAL, _BOX, "goal"), (_BOX, _GOAL, "crate")):
        for row, col in changed:
            cell = seen.cells[row, col]
            if _unlike(cell, tiles.images[kind]) and _is_tinted(cell, tiles.images[other], _vivid(family, style)):
                cells = split_cells(seen.board, seen.frame.rows, seen.frame.cols).copy()
                cells[row, col] = clean[kind]
                seen = replace(seen, board=join_cells(cells))
    return seen


def with_placed_keeper(named: Named, cells: Floats, known: NDArray[np.intp], tiles: Tiles) -> Named:
    """A keeper of whom nobody can say whether a target is behind him is told by his place: targets never move."""
    unsure = named.confidence < LOWEST_CONFIDENCE
    if not unsure.any():
        return named
    either = classify(cells, Tiles(tiles.images, inset=tiles.inset, meaning=_EITHER_KEEPER))
    keeper = unsure & (either.symbols == _KEEPER)
    kinds = np.where(_ON_TARGET[known], SIGNS.index(PLAYER_ON_TARGET), _KEEPER)
    return Named(
        np.where(keeper, kinds, named.symbols),
        np.where(keeper, either.confidence, named.confidence),
        named.distance,
    )


def _unlike(cells: Floats, tiles: Floats) -> NDArray[np.bool_]:
    """(…): which cells (…, n, n, 3) differ from a tile, or each from its own."""
    differs: NDArray[np.bool_] = ((cells - tiles) ** 2).mean(axis=(-3, -2, -1)) > UNLIKE**2
    return differs


@lru_cache(maxsize=256)
def _vivid(family: str, style: Style) -> Floats:
    """(3,): the most vivid of a family of colours."""
    colours = np.array([colour for name, colour in style.colours().items() if name.startswith(family)], float)
    vivid: Floats = colours[int((colours.max(axis=1) - colours.min(axis=1)).argmax())]
    return vivid


def _is_tinted(cell: Floats, box: Floats, vivid: Floats) -> bool:
    """Whether a cell (n, n, 3) is this box in light and dark, but in the tint of a colour."""
    asked, drawn = vivid - vivid.mean(), (cell - cell.mean(axis=2, keepdims=True)).mean(axis=(0, 1))
    strength = float(np.sqrt((drawn**2).sum()))
    if strength < PALE or float(asked @ drawn) < SAME_TINT * strength * float(np.sqrt((asked**2).sum())):
        return False
    light, known = (each.max(axis=2) + each.min(axis=2) for each in (cell, box))
    edge, n = max(MOVED, len(cell) // 10), len(cell)
    inner = known[edge : n - edge, edge : n - edge].ravel()
    around = light[edge - MOVED : n - edge + MOVED, edge - MOVED : n - edge + MOVED]
    parts = sliding_window_view(around, (n - 2 * edge, n - 2 * edge)).reshape(-1, len(inner))
    parts, inner = (each - each.mean(axis=-1, keepdims=True) for each in (parts, inner))
    lengths, length = np.sqrt(np.einsum("ij,ij->i", parts, parts)), float(np.sqrt(inner @ inner))
    alike = parts @ inner / np.maximum(lengths * length, 1e-6)
    best = int(alike.argmax())
    return bool(alike[best] > SAME_LIGHT and alike[best] * lengths[best] > SEE_THROUGH * length)
