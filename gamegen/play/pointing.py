"""From a click to an action, for any game: what an action touches is what it names and what it visibly changes.

A game's actions are its own (a push, a swap, a word's line), so nothing here knows them. An action *names* the cells
found in its fields, and *changes* the cells whose pixels differ once it is played. It *touches* both; but one that
names several cells touches only those, since they say all about it. Offered are the actions that touch every clicked
cell, and of these the ones that name most of them. If that leaves several, but they are all longer forms of one (the
same but for greater numbers: a run that goes on past the clicked cell), the clicks have decided for the shortest.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.rendering import Picture
from gamegen.sample import Sample

Cells = frozenset[Cell]


@dataclass(frozen=True, slots=True)
class Offer:
    """The actions that the clicks leave, the shortest of each kind first, and whether these are only one."""

    actions: tuple[Any, ...] = ()
    decided: bool = False


class Places:
    """Where the cells of a sample lie in its picture: those that some answer may change."""

    def __init__(self, sample: Sample) -> None:
        self.cells = tuple(sorted(sample.plugin.game.may_change(sample.problem)))
        self.numbers = self._number_pixels(sample)  # (H, W): 1 + a cell's number, 0 where there is none

    def at(self, x: int, y: int) -> Cell | None:
        """The cell under a pixel."""
        height, width = self.numbers.shape
        number = self.numbers[y, x] if 0 <= x < width and 0 <= y < height else 0
        return self.cells[number - 1] if number else None

    def box(self, cell: Cell) -> tuple[int, int, int, int]:
        """left, top, width and height of a cell."""
        rows, cols = np.nonzero(self.numbers == 1 + self.cells.index(cell))
        left, top = int(cols.min()), int(rows.min())
        return left, top, int(cols.max()) - left + 1, int(rows.max()) - top + 1

    def changed(self, before: Picture, after: Picture) -> Cells:
        """The cells that differ between two pictures of the sample."""
        if before.palette is after.palette:
            differs = before.pixels != after.pixels
        else:
            differs = (before.rgb() != after.rgb()).any(axis=2)
        return frozenset(self.cells[number - 1] for number in np.unique(self.numbers[differs]) if number)

    def _number_pixels(self, sample: Sample) -> NDArray[np.int32]:
        """One mask a binary digit of the cells' numbers, instead of one mask a cell."""
        side = sample.style.pixels
        numbers = np.zeros((side, side), np.int32)
        for digit in range(len(self.cells).bit_length()):
            chosen = frozenset(cell for number, cell in enumerate(self.cells, 1) if number >> digit & 1)
            mask = sample.plugin.renderer.mask(chosen, sample.problem.position, sample.style)
            numbers += mask.astype(np.int32) << digit
        return numbers


class Pointer:
    """Finds actions by clicks, in one position of a sample."""

    def __init__(self, sample: Sample, position: Any, places: Places) -> None:
        self.sample = sample
        self.position = position
        self.places = places
        self._played: dict[Any, tuple[Any, Cells]] = {}

    @cached_property
    def actions(self) -> tuple[Any, ...]:
        """Every legal action, in the game's order."""
        return tuple(self.sample.plugin.game.actions(self.position))

    @cached_property
    def picture(self) -> Picture:
        return self.sample.plugin.renderer.render(self.position, self.sample.style)

    def offer(self, clicks: tuple[Cell, ...]) -> Offer:
        """The legal actions that touch every clicked cell."""
        wanted = frozenset(clicks)
        ranks: dict[int, list[Any]] = {}
        for action, names in self._named:
            ranks.setdefault(len(names & wanted), []).append(action)
        for rank in sorted(ranks, reverse=True):
            touching = [action for action in ranks[rank] if wanted <= self.touched(action)]
            if touching:
                return self._sorted(touching)
        return Offer()

    def after(self, action: Any) -> Any:
        """The position after a legal action."""
        return self._result(action)[0]

    def touched(self, action: Any) -> Cells:
        names = named(action)
        return names if len(names) > 1 else names | self._result(action)[1]

    @cached_property
    def _named(self) -> list[tuple[Any, Cells]]:
        return [(action, named(action)) for action in self.actions]

    def _result(self, action: Any) -> tuple[Any, Cells]:
        """The position after a legal action, and the cells that it changes."""
        if action not in self._played:
            plugin = self.sample.plugin
            after = plugin.game.apply(self.position, action)
            picture = plugin.renderer.render(after, self.sample.style)
            self._played[action] = after, self.places.changed(self.picture, picture)
        return self._played[action]

    def _sorted(self, actions: list[Any]) -> Offer:
        """Of those with the same result only the first; longer forms last; else in the game's order."""
        kinds: dict[Hashable, list[Any]] = {}
        for action in actions:
            kinds.setdefault(_kind(action), []).append(action)
        longer = {
            action
            for same in kinds.values()
            for action in same
            if any(self._is_shorter(other, action) for other in same)
        }
        unlike = list({self.after(action): action for action in reversed(actions)}.values())[::-1]
        shortest = [action for action in unlike if action not in longer]
        rest = [action for action in unlike if action in longer]
        return Offer((*shortest, *rest), decided=len(shortest) == 1)

    def _is_shorter(self, one: Any, other: Any) -> bool:
        """Of two actions of a kind. Numbers that lead to the same cells are no lengths: digits, say."""
        mine, others = _numbers(one), _numbers(other)
        smaller = mine != others and all(a <= b for a, b in zip(mine, others, strict=True))
        return smaller and self.touched(one) != self.touched(other)


def named(action: Any) -> Cells:
    """The cells in an action's fields."""
    return frozenset([value for value in _values(action) if isinstance(value, Cell)])


def _kind(action: Any) -> Hashable:
    """What an action is apart from its numbers."""
    return type(action), tuple(None if isinstance(value, int) else value for value in _values(action))


def _numbers(action: Any) -> tuple[int, ...]:
    return tuple(abs(value) for value in _values(action) if isinstance(value, int))


def _values(action: Any) -> list[Any]:
    """What an action's fields hold; of tuples, cells aside, their items."""
    flat: list[Any] = []
    parts = fields(action) if is_dataclass(action) else ()
    waiting = [action if isinstance(action, tuple) else [getattr(action, part.name) for part in parts]]
    for values in waiting:
        for value in values:
            if isinstance(value, tuple) and not isinstance(value, Cell):
                waiting.append(value)
            else:
                flat.append(value)
    return flat
