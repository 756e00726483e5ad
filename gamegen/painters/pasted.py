"""Answers that are pasted: things cut out of the original with scissors that are not quite sharp, and laid elsewhere.

What a thing leaves behind is painted over with the ground's colour, or with a copy of an empty cell. A thing of which
the original shows no example is not invented: then there is no such picture.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from gamegen.core.cell import Cell
from gamegen.core.rendering import Colour
from gamegen.games import jewel2, sokoban, spaceinvaders
from gamegen.painters.drawn import attacked_squares
from gamegen.painters.hand import Alpha, Hand, Patch, cut_out
from gamegen.sample import Sample

Things = Mapping[Cell, str]
Ground = Callable[[Cell], Patch]
"""What a cell would look like with nothing on it."""

QUARTERS = {">": 0, "^": 1, "<": 2, "v": 3}
"""Quarter turns, anticlockwise, from facing right."""


def chess(hand: Hand, sample: Sample, after: Any) -> bool:
    before, colours = sample.problem.position, sample.style.colours()
    if before.marks != after.marks:
        return attacked_squares(hand, sample, after)

    def square(cell: Cell) -> Patch:
        return hand.bare(cell, colours["dark" if sum(cell) % 2 else "light"], inset=0.03)

    return _rearranged(hand, _things(before.rows), _things(after.rows), ".", square)


def invaders(hand: Hand, sample: Sample, after: Any) -> bool:
    """Where a ship was is sky, up to the grid lines: scissors that took these along would lay them elsewhere."""
    before, style = sample.problem.position, sample.style
    line = max(1, round(style.number("line_width") * style.pixels / 512))  # at the top and the left of each cell

    def sky(cell: Cell) -> Patch:
        patch = hand.cut(cell).copy()
        patch[line:, line:] = style.colours()["cell"]
        return patch

    return _rearranged(hand, _things(before.rows), _things(after.rows), spaceinvaders.EMPTY, sky)


def jewels(hand: Hand, sample: Sample, after: Any) -> bool:
    """An emptied cell is its tile without the stone, or like a cell that was empty before."""
    before, colours = sample.problem.position, sample.style.colours()
    old, new = ({cell: position[cell] for cell in position.cells()} for position in (before, after))
    inset = sample.style.number("tile_gap") / 100 + 0.04
    example = next((hand.cut(cell) for cell, thing in old.items() if thing == jewel2.EMPTY), None)
    corner = next((cell for cell, thing in old.items() if thing != jewel2.EMPTY), None)
    if corner is None:
        return False
    tile = hand.bare(corner, colours["cell"], inset=inset)
    things = {cell: thing for cell, thing in old.items() if thing != jewel2.EMPTY}
    return _rearranged(hand, things, new, jewel2.EMPTY, lambda cell: tile, empty=example)


def pac_man(hand: Hand, sample: Sample, after: Any) -> bool:
    """The eaten are wiped off; Pac-Man is cut out and turned the way he ran."""
    before, floor = sample.problem.position, sample.style.colours()["floor"]
    home, goal = before.pacman(), after.pacman()
    patch = hand.cut(home)
    ground = np.full_like(patch, floor)
    alpha = cut_out(patch, ground)
    turned = _turned(patch, alpha, before[home], after[goal])
    for cell in before.cells():
        if before[cell] != after[cell] or cell == goal:
            hand.fill(cell, ground)
    hand.glue(turned[0], goal, turned[1])
    return True


def boxes(hand: Hand, sample: Sample, after: Any) -> bool:
    """Sokoban: floor and targets are copies of others; a box that comes onto a target, or leaves one, is tinted."""
    before = sample.problem.position
    floors, targets = ([hand.cut(cell) for cell in before.cells(sign)][:1] for sign in (sokoban.FLOOR, sokoban.TARGET))
    if not floors:
        return False
    changed = [cell for cell in after.cells(sokoban.SIGNS) if before[cell] != after[cell]]
    bare = {sign: (targets if sign in sokoban.TARGETS else floors) for sign in sokoban.SIGNS}
    if any(not bare[after[cell]] for cell in changed):
        return False
    cuttings = _cuttings(hand, sample, bare)
    for cell in changed:
        hand.fill(cell, bare[after[cell]][0])
    for cell in changed:
        sign = after[cell]
        kind = "@" if sign in sokoban.PLAYERS else sign
        if kind in cuttings:
            hand.glue(cuttings[kind][0], cell, cuttings[kind][1])
        elif sign not in (sokoban.FLOOR, sokoban.TARGET):
            return False
    return True


def _cuttings(hand: Hand, sample: Sample, bare: Mapping[str, list[Patch]]) -> dict[str, tuple[Patch, Alpha]]:
    """The keeper and both kinds of box, cut out where they stand; a box of the other kind is one with another tint.

    On a target the scissors are sharp: a keeper who took some of its colour along would seem to stand on one still.
    """
    before, colours = sample.problem.position, sample.style.colours()
    found: dict[str, tuple[Patch, Alpha]] = {}
    for cell in before.cells(sokoban.BOXES + sokoban.PLAYERS):
        sign = before[cell]
        kind = "@" if sign in sokoban.PLAYERS else sign
        ground = bare["-"][0] if sign in sokoban.BOXES or sign == "@" else next(iter(bare["."]), None)
        if ground is not None:
            patch = hand.cut(cell)
            found.setdefault(kind, (patch, cut_out(patch, ground, sharp=sign in sokoban.TARGETS)))
    for missing, example, name in (("*", "$", "goal"), ("$", "*", "crate")):
        if missing not in found and example in found:
            patch, alpha = found[example]
            found[missing] = _tinted(patch, hand.shade(_most_vivid(colours, name))), alpha
    return found


def _rearranged(
    hand: Hand, before: Things, after: Things, nothing: str, ground: Ground, *, empty: Patch | None = None
) -> bool:
    """Every cell that differs is wiped, then gets a copy of what it shows now from a cell that showed it before.

    `empty` is what a wiped cell looks like that stays empty, if not like the ground.
    """
    homes: dict[str, Cell] = {}
    for cell, thing in before.items():
        homes.setdefault(thing, cell)
    changed = [cell for cell in after if before.get(cell, nothing) != after[cell]]
    if any(after[cell] != nothing and after[cell] not in homes for cell in changed):
        return False
    cuttings = {}
    for thing in {after[cell]: None for cell in changed if after[cell] != nothing}:
        patch = hand.cut(homes[thing])
        cuttings[thing] = patch, cut_out(patch, ground(homes[thing]))
    for cell in changed:
        hand.fill(cell, empty if empty is not None and after[cell] == nothing else ground(cell))
    for cell in changed:
        if after[cell] != nothing:
            patch, alpha = cuttings[after[cell]]
            hand.glue(patch, cell, alpha)
    return True


def _things(rows: tuple[str, ...]) -> dict[Cell, str]:
    return {Cell(row, col): thing for row, line in enumerate(rows) for col, thing in enumerate(line)}


def _turned(patch: Patch, alpha: Alpha, old: str, new: str) -> tuple[Patch, Alpha]:
    """Turned from facing one way to facing another; mirrored, rather than stood on its head."""
    quarters = (QUARTERS[new] - QUARTERS[old]) % 4
    if quarters == 2:
        return (patch[:, ::-1], alpha[:, ::-1]) if old in "<>" else (patch[::-1], alpha[::-1])
    return np.rot90(patch, quarters), np.rot90(alpha, quarters)


def _most_vivid(colours: Mapping[str, Colour], family: str) -> Colour:
    """Of the colours whose names begin so, the one a person would name it after."""
    own = [colour for name, colour in colours.items() if name.startswith(family)]
    return max(own, key=lambda colour: max(colour) - min(colour))


def _tinted(patch: Patch, colour: Colour) -> Patch:
    """The same light and dark in another colour."""
    hue, _, saturation = colorsys.rgb_to_hls(*(level / 255 for level in colour))
    wheel = cv2.cvtColor(np.ascontiguousarray(patch) / np.float32(255), cv2.COLOR_RGB2HLS)
    wheel[..., 0], wheel[..., 2] = 360 * hue, saturation
    return np.asarray(255 * cv2.cvtColor(wheel, cv2.COLOR_HLS2RGB), np.float32)
