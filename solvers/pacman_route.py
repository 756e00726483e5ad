"""Shortest routes over several targets around standing ghosts: how long, one of them, and what a picture shows of one.

Breadth-first distances from every target, joined by a small table over subsets of targets (Held and Karp), give the
steps still needed from any cell with any set of targets left. A route is shortest exactly if every step lowers that
number by one, so all shortest routes are walked without ever being listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import Unsolvable
from gamegen.games.pacman import BLOCKED, FOOD, WALL, Position

FAR = 1_000_000
State = tuple[int, int, int]
"""On a route: the cell, the targets left, the step that led there."""


class Errand:
    """From `start`, come to all targets without entering a wall's or a ghost's cell. The border must be walls."""

    def __init__(self, position: Position, targets: tuple[Cell, ...], *, closed: str = BLOCKED) -> None:
        self.position = position
        self.start = position.pacman()
        self.targets = targets
        self._width = len(position.rows[0])
        self._offsets = tuple(d_row * self._width + d_col for d_row, d_col in STEPS.values())
        self._text = "".join(position.rows)
        self._open = [thing not in closed for thing in self._text]
        self._bit = {self._index(target): 1 << number for number, target in enumerate(targets)}
        self._far = [self._distances(self._index(target)) for target in targets]
        self._rest: dict[tuple[int, int], int] = {}
        self._all = (1 << len(targets)) - 1
        self.length = self._need(self._index(self.start), self._all)
        if self.length >= FAR:
            raise Unsolvable(f"a target is out of reach:\n{position}")

    @cached_property
    def route(self) -> list[Cell]:
        """Of the shortest routes one with fewest turns, start and end included."""
        start: State = (self._index(self.start), self._all, 0)
        layer: dict[State, tuple[int, State]] = {start: (0, start)}  # turns so far, and the state before
        layers = []
        for _ in range(self.length):
            onward: dict[State, tuple[int, State]] = {}
            for state, (turns, _) in layer.items():
                place, left, ahead = state
                for there in self._onward(place, left):
                    offset = there - place
                    reached = (there, left & ~self._bit.get(there, 0), offset)
                    more = turns + (offset != ahead)
                    if reached not in onward or more < onward[reached][0]:
                        onward[reached] = (more, state)
            layers.append(onward)
            layer = onward
        state = min(layer, key=lambda reached: layer[reached][0])
        places = [state[0]]
        for each in reversed(layers):
            state = each[state][1]
            places.append(state[0])
        return [self._cell(place) for place in reversed(places)]

    def explains(self, eaten: set[Cell], end: Cell, direction: str) -> bool:
        """Whether some shortest route ends so, and empties exactly these cells (the end's own among them)."""
        offset = dict(zip(STEPS, self._offsets, strict=True))[direction]
        goal = self._index(end)
        bit = {self._index(cell): 1 << number for number, cell in enumerate(eaten)}
        everything = (1 << len(eaten)) - 1
        if len(eaten) > self.length:
            return False
        front = {(self._index(self.start), self._all, 0)}
        for steps_left in range(self.length, 0, -1):
            front = {
                (there, left & ~self._bit.get(there, 0), had | bit.get(there, 0))
                for place, left, had in front
                if (everything & ~had).bit_count() <= steps_left
                for there in self._onward(place, left)
                if (there in bit or self._text[there] not in FOOD) and (steps_left > 1 or there - place == offset)
            }
        return any(place == goal and had == everything for place, _, had in front)

    def touched(self) -> set[Cell]:
        """Every cell that some shortest route enters, and the start."""
        front = {(self._index(self.start), self._all)}
        seen = {place for place, _ in front}
        for _ in range(self.length):
            front = {
                (there, left & ~self._bit.get(there, 0)) for place, left in front for there in self._onward(place, left)
            }
            seen.update(place for place, _ in front)
        return {self._cell(index) for index in seen}

    def first_choices(self) -> dict[Cell, int]:
        """For every target that can be the first: the steps of the best route that comes to it before the others."""
        steps = self._distances(self._index(self.start), through_targets=False)
        ends = {target: self._index(target) for target in self.targets}
        return {
            target: steps[end] + self._need(end, self._all & ~self._bit[end])
            for target, end in ends.items()
            if steps[end] < FAR
        }

    def _onward(self, place: int, left: int) -> Iterator[int]:
        return (place + offset for offset in self._offsets if left and self._nearer(place, place + offset, left))

    def _nearer(self, place: int, there: int, left: int) -> bool:
        if not self._open[there]:
            return False
        return self._need(there, left & ~self._bit.get(there, 0)) == self._need(place, left) - 1

    def _need(self, place: int, left: int) -> int:
        """The fewest steps from a cell over all targets that are left."""
        if not left:
            return 0
        key = (place, left)
        if key not in self._rest:
            self._rest[key] = min(
                far[place] + self._need(end, left & ~bit)
                for (end, bit), far in zip(self._bit.items(), self._far, strict=True)
                if left & bit
            )
        return self._rest[key]

    def _distances(self, start: int, *, through_targets: bool = True) -> list[int]:
        """Steps to every cell; without `through_targets`, no walk goes on from a target."""
        steps = [FAR] * len(self._text)
        steps[start] = 0
        front, walked = [start], 0
        opened, offsets = self._open, self._offsets
        while front:
            walked += 1
            onward = []
            for place in front:
                if not through_targets and place in self._bit:
                    continue
                for offset in offsets:
                    there = place + offset
                    if opened[there] and steps[there] == FAR:
                        steps[there] = walked
                        onward.append(there)
            front = onward
        return steps

    def _index(self, cell: Cell) -> int:
        return cell.row * self._width + cell.col

    def _cell(self, index: int) -> Cell:
        return Cell(*divmod(index, self._width))


def without_ghosts(position: Position, targets: tuple[Cell, ...]) -> int:
    """The length of the errand if the ghosts were not there."""
    return Errand(position, targets, closed=WALL).length


def legs(route: list[Cell], targets: tuple[Cell, ...]) -> Iterator[tuple[str, int, Cell]]:
    """The straight pieces of a route, cut at turns and at targets met for the first time: direction, cells, end."""
    ways = {step: direction for direction, step in STEPS.items()}
    left = set(targets)
    count, direction = 0, ""
    for here, there in pairwise(route):
        turned = ways[there.row - here.row, there.col - here.col]
        if count and (turned != direction or here in left):
            yield direction, count, here
            count = 0
        left.discard(here)
        count, direction = count + 1, turned
    yield direction, count, route[-1]
