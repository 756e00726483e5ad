"""What editors make of Sokoban: boxes told by their colour alone, and keepers that hide what they stand on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Pixels, Style
from gamegen.games.sokoban import (
    BOX,
    BOX_ON_TARGET,
    FLOOR,
    PLAYER,
    PLAYER_ON_TARGET,
    PLAYERS,
    SIGNS,
    TARGET,
    TARGETS,
)
from renderers.board import Seen
from renderers.reading.classify import HALF, LOWEST_CONFIDENCE, Named, classify, mixtures
from renderers.reading.register import Floats
from renderers.reading.tiles import Tiles, join_cells, split_cells

UNLIKE = 16.0
"""Grey levels (root mean square) by which a cell is not what a tile shows."""

FLOOR_OFF = 14.0
"""Grey levels (root mean square) by which floor that was wiped clean is off, beside twice what other floor is."""

SAME_LIGHT, SAME_TINT, PALE, MOVED, RESIZED = 0.78, 0.85, 20.0, 2, 0.05
"""A tinted box: correlation of its light with a plain box's, cosine of its colour with the named one, grey levels of
colour that it must have, pixels by which it may be off, and the share by which it may be larger or smaller."""

ONE_TINT = 0.72
"""The share of a tinted box's coloured pixels that must have its tint."""

SEE_THROUGH = 0.75
"""The contrast of light that a tinted box must have, as a share of a plain one's: less is see-through."""

PALEST = 30.0
OTHER_TINT = {"goal": 0.12, "crate": 0.05}
"""The share of a box of this colour, in its middle, that may have the tint of boxes of the other kind, and grey levels
of colour that such pixels have. Of 5,200 boxes in right answers, painted, compressed or drifted, one had 0.03, and one
laid high on its orange pad 0.1; green ones with a brown frame drawn on them had a third, and one in a frame of red wall
that was taken for a brown one 0.08."""

FREE, SAME_FLOOR, PLAIN_PAD, AS_A_PAD = 24.0, 6.0, 12.0, 0.65
"""Grey levels by which a pad shows beside a keeper, by which floor there is floor, and by which the light of a pad must
differ from the floor's to tell; and the share of that by which floor around a keeper may differ. An outline that runs
darkens floor by up to 0.48 of it, in 428 right answers; a pad in a picture of 32 colours, which is grey, has 0.83."""

HALO = np.ones((3, 3), np.uint8)
"""A pixel and those around it: what scissors that are not sharp cut out with it."""

_BOX, _GOAL, _KEEPER, _FLOOR, _TARGET = (SIGNS.index(sign) for sign in (BOX, BOX_ON_TARGET, PLAYER, FLOOR, TARGET))
_KINDS = {_GOAL: (_BOX, "goal"), _BOX: (_GOAL, "crate")}
"""By the kind of a box, the other kind, and the family of colours that tell this one."""

GROUND = [_TARGET if sign in TARGETS else _FLOOR for sign in SIGNS]
"""By each symbol, the one that its thing stands on."""
_EITHER_KEEPER = np.array([_KEEPER if sign in PLAYERS else number for number, sign in enumerate(SIGNS)])
_NO_BOXES = [number for number in range(len(SIGNS)) if number not in _KINDS]
_ON_TARGET = np.array([sign in TARGETS for sign in SIGNS])


@dataclass(frozen=True, eq=False)
class SeenBoxes(Seen):
    """A board on which our own boxes, of these kinds, took the place of `tinted` ones."""

    tinted: Mapping[Cell, int] = field(default_factory=dict)


def with_own_boxes(seen: Seen, tiles: Tiles, clean: Floats, style: Style) -> Seen:
    """The board with our own box wherever an editor, who was shown only boxes of the other kind, tinted one of those.

    `clean` (K, n, n, 3) are the tiles unsmoothed.
    """
    rows, cols = seen.frame.rows, seen.frame.cols
    changed, colours = _changed(seen), _means(join_cells(seen.cells), rows, cols)
    known = split_cells(seen.known, rows, cols)
    own: dict[Cell, int] = {}
    for kind, (other, family) in _KINDS.items():
        for row, col in np.argwhere(changed & _are_tinted(colours, _vivid(family, style))).tolist():
            cell, box, example = seen.cells[row, col], tiles.images[kind], tiles.images[other]
            is_new = _unlike(cell, box) and _unlike(known[row, col], clean[kind])
            ground = tiles.images[GROUND[other]]
            if not is_new or not _is_lit_alike(cell, example) or _is_mixed(cell, tiles, kind):
                continue
            if _is_in_one_tint(cell, _vivid(family, style), np.abs(example - ground).max(axis=2) > UNLIKE):
                own.setdefault(Cell(row, col), kind)
    if not own:
        return seen
    cells = split_cells(seen.board.copy(), rows, cols)
    for place, kind in own.items():
        cells[place] = clean[kind]
    parts = {each.name: getattr(seen, each.name) for each in fields(seen)} | {"board": join_cells(cells)}
    return SeenBoxes(**parts, tinted=own)


def tinted_box(kind: int, bank: Pixels, colours: int) -> NDArray[np.intp]:
    """The tile of a box of this kind that is one of the other in its colour, of a bank (K, n, n) with so many colours;
    `tinted_colours` are numbered on from there."""
    other = _KINDS[kind][0]
    is_box = bank[other] != bank[GROUND[other]]
    first = np.intp(colours * (1 + list(_KINDS).index(kind)))
    tile: NDArray[np.intp] = np.where(is_box, bank[other] + first, bank[GROUND[kind]])
    return tile


def haloed_keeper(bank: Pixels) -> NDArray[np.intp]:
    """The tile of a keeper on a target, of a bank (K, n, n), who was cut out with a little of his old floor around."""
    keeper, floor, target = (bank[number].astype(np.intp) for number in (_KEEPER, _FLOOR, _TARGET))
    near = cv2.dilate((keeper != floor).astype(np.uint8), HALO)
    tile: NDArray[np.intp] = np.where(near > 0, keeper, target)
    return tile


def keepers_on_their_targets(known: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(R, C, K): all symbols anywhere, but for a bare keeper where `known` (R, C) has a target."""
    halves = np.ones((*known.shape, len(SIGNS)), bool)
    halves[..., _KEEPER] = ~_ON_TARGET[known]
    return halves


def on_their_targets(symbols: NDArray[np.intp], known: NDArray[np.intp]) -> NDArray[np.intp]:
    """(R, C): the symbols of a board, but keepers are on targets where `known` (R, C) has some, which never move."""
    return np.where((symbols == _KEEPER) & _ON_TARGET[known], SIGNS.index(PLAYER_ON_TARGET), symbols)


def tinted_colours(palette: Pixels, style: Style) -> Pixels:
    """(2 * K, 3): a palette in the colour that tells the boxes of each kind."""
    return np.concatenate([_tinted(palette, _vivid(family, style)) for _, family in _KINDS.values()])


def with_placed_keeper(named: Named, cells: Floats, known: NDArray[np.intp], tiles: Tiles) -> Named:
    """A keeper of whom nobody can say whether a target is behind him is told by his place, since targets never move.

    He may bring so much of his old floor along that it hides the target; but he hides none where one is to be seen.
    """
    unsure = named.confidence < LOWEST_CONFIDENCE
    if not unsure.any():
        return named
    either = classify(cells[unsure][None], Tiles(tiles.images, inset=tiles.inset, meaning=_EITHER_KEEPER))
    symbols, confidence = named.symbols.copy(), named.confidence.copy()
    on_target = _ON_TARGET[known[unsure]]
    placed = (either.symbols[0] == _KEEPER) & (on_target | (symbols[unsure] == _KEEPER))
    symbols[unsure] = np.where(placed & on_target, SIGNS.index(PLAYER_ON_TARGET), symbols[unsure])
    confidence[unsure] = np.where(placed, either.confidence[0], confidence[unsure])
    return replace(named, symbols=symbols, confidence=confidence)


def in_doubt_of_boxes(named: Named, known: NDArray[np.intp]) -> Named:
    """The same for a picture that was reduced to few colours, in which boxes of both kinds may have become one: nothing
    tells then whether a target has gone or come under a box that is new."""
    is_new_box = np.isin(named.symbols, list(_KINDS)) & (named.symbols != known)
    doubtful = is_new_box & (_ON_TARGET[named.symbols] != _ON_TARGET[known])
    return replace(named, confidence=np.where(doubtful, 0.0, named.confidence))


def _changed(seen: Seen) -> NDArray[np.bool_]:
    """(R, C): which cells differ from what they showed before."""
    gap = cv2.GaussianBlur(cv2.subtract(seen.board, seen.known), (3, 3), 0, borderType=cv2.BORDER_REPLICATE)
    squares = _means(cv2.multiply(gap, gap), seen.frame.rows, seen.frame.cols)
    differs: NDArray[np.bool_] = squares.mean(axis=2) > UNLIKE**2
    return differs


def _means(board: Floats, rows: int, cols: int) -> Floats:
    """(R, C, 3): the mean of each cell of a board (R*n, C*n, 3)."""
    means: Floats = cv2.resize(board, (cols, rows), interpolation=cv2.INTER_AREA)
    return means


def _unlike(cell: Floats, tile: Floats) -> bool:
    """Whether a cell (n, n, 3) differs from a tile."""
    return bool(cv2.norm(cell, tile) > UNLIKE * cell.size**0.5)


def _is_mixed(cell: Floats, tiles: Tiles, kind: int) -> bool:
    """Whether a cell (n, n, 3) is a box of this kind and something else at once, each half transparent."""
    box, example = (tiles.images[number] for number in (kind, _KINDS[kind][0]))
    way, drawn = (example - box).ravel(), (cell - box).ravel()
    share = float(drawn @ way) / max(float(way @ way), 1.0)
    if HALF[0] < share < HALF[1] and not _unlike(cell, box + np.float32(share) * (example - box)):
        return True
    return bool(mixtures(cell, tiles, kind)[kind, _NO_BOXES].any())


def _is_in_one_tint(cell: Floats, vivid: Floats, where: NDArray[np.bool_]) -> bool:
    """Whether most of what is coloured in a cell (n, n, 3), there, has the tint of a vivid colour."""
    asked, drawn = vivid - vivid.mean(), cell[where] - cell[where].mean(axis=1, keepdims=True)
    strength = np.sqrt(np.einsum("ij,ij->i", drawn, drawn))
    towards = drawn @ asked >= SAME_TINT * float(np.sqrt((asked**2).sum())) * strength
    coloured = strength >= PALE
    return bool(np.count_nonzero(towards & coloured) >= ONE_TINT * np.count_nonzero(coloured))


def in_two_colours(drawn: Pixels, symbols: NDArray[np.intp], style: Style) -> NDArray[np.bool_]:
    """(N,): which cells (N, n, n, 3), of these symbols, show boxes that have the other kind's colour in part."""
    found = np.zeros(len(symbols), bool)
    edge = drawn.shape[1] // 8
    for number in np.flatnonzero(np.isin(symbols, list(_KINDS))):
        other, own = _KINDS[int(symbols[number])]
        ways = [_vivid(family, style) for family in (own, _KINDS[other][1])]
        if not _are_tinted(ways[0][None, None], ways[1]):
            inner = drawn[number, edge:-edge, edge:-edge].astype(np.float32)
            found[number] = _are_tinted(inner, ways[1], PALEST).mean() > OTHER_TINT[own]
    return found


@lru_cache(maxsize=256)
def _vivid(family: str, style: Style) -> Floats:
    """(3,): the most vivid of a family of colours."""
    colours = np.array([colour for name, colour in style.colours().items() if name.startswith(family)], float)
    vivid: Floats = colours[int((colours.max(axis=1) - colours.min(axis=1)).argmax())]
    return vivid


def _tinted(colours: Pixels, vivid: Floats) -> Pixels:
    """(K, 3): colours as light and dark as these, in the hue and saturation of a vivid one."""
    wheel, one = (
        cv2.cvtColor(each.reshape(1, -1, 3).astype(np.float32) / 255, cv2.COLOR_RGB2HLS) for each in (colours, vivid)
    )
    wheel[..., ::2] = one[..., ::2]
    return np.asarray(np.rint(255 * cv2.cvtColor(wheel, cv2.COLOR_HLS2RGB)[0]), np.uint8)


def unlike_others(seen: Seen, floor: NDArray[np.bool_], changed: NDArray[np.bool_], tile: Floats) -> Cell | None:
    """A changed cell (R, C) of the floor whose middle is much farther from its tile (n, n, 3) than other floor is."""
    if not (floor & changed).any() or not (floor & ~changed).any():
        return None
    edge = len(tile) // 6
    inner = slice(edge, len(tile) - edge)
    gap = seen.cells[floor][:, inner, inner] - tile[inner, inner]
    off = np.zeros(floor.shape, np.float32)
    off[floor] = np.sqrt(np.einsum("ijkl,ijkl->i", gap, gap) / gap[0].size)
    cell = np.unravel_index(int((off * changed).argmax()), off.shape)
    usual = float(np.quantile(off[floor & ~changed], 0.9))
    return Cell(int(cell[0]), int(cell[1])) if off[cell] > FLOOR_OFF + 2 * usual else None


def on_a_pad(seen: Seen, keepers: NDArray[np.bool_], tiles: Tiles) -> Cell | None:
    """A cell (R, C) whose keeper should stand on floor, but has ground around him that is as light or dark as a pad."""
    if not keepers.any():
        return None
    keeper, floor, padded = (tiles.images[number] for number in (_KEEPER, _FLOOR, SIGNS.index(PLAYER_ON_TARGET)))
    free = (np.abs(padded - keeper).max(axis=2) > FREE) & (np.abs(keeper - floor).max(axis=2) < SAME_FLOOR)
    edge = len(floor) // 10
    places = np.argwhere(free[edge:-edge, edge:-edge]) + edge
    light, *lights = (
        np.median((tile - floor)[tuple(places.T)].mean(axis=1)) if len(places) else 0.0
        for tile in (padded, *seen.cells[keepers])
    )
    if abs(light) < PLAIN_PAD:
        return None
    found = np.array(lights) / light > AS_A_PAD
    return Cell(*np.argwhere(keepers)[found.argmax()].tolist()) if found.any() else None


def _are_tinted(colours: Floats, vivid: Floats, pale: float = PALE) -> NDArray[np.bool_]:
    """(R, C): which of the colours (R, C, 3) are in the tint of a vivid one, and less than so pale."""
    asked, drawn = vivid - vivid.mean(), colours - colours.mean(axis=2, keepdims=True)
    strength = np.sqrt((drawn**2).sum(axis=2))
    towards = drawn @ asked >= SAME_TINT * float(np.sqrt((asked**2).sum())) * strength
    tinted: NDArray[np.bool_] = towards & (strength >= pale)
    return tinted


def _light(cell: Floats) -> Floats:
    """(n, n): the highest and the lowest of a pixel's three levels, together."""
    red, green, blue = cv2.split(cell)
    light: Floats = cv2.max(cv2.max(red, green), blue) + cv2.min(cv2.min(red, green), blue)
    return light


def _is_lit_alike(cell: Floats, box: Floats) -> bool:
    """Whether a cell (n, n, 3) is this box in light and dark, whatever its colour, and as strong."""
    light, known = _light(cell), _light(box)
    edge, n = max(MOVED, len(cell) // 10), len(cell)
    around = light[edge - MOVED : n - edge + MOVED, edge - MOVED : n - edge + MOVED]
    more = max(1, round(RESIZED * n))
    for side in (n, n - more, n + more):
        start = edge + (side - n) // 2
        inner = cv2.resize(known, (side, side))[start : start + n - 2 * edge, start : start + n - 2 * edge]
        _, alike, _, (right, down) = cv2.minMaxLoc(cv2.matchTemplate(around, inner, cv2.TM_CCOEFF_NORMED))
        best = around[down : down + len(inner), right : right + len(inner)]
        if alike > SAME_LIGHT and alike * best.std() > SEE_THROUGH * inner.std():
            return True
    return False
