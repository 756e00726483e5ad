"""Surveying a maze: a shortest path, and what every opening beside it leads to.

The flood from the end goes breadth first (up, down, left, right), so walking it back from the start is a shortest path,
and in a maze without loops the only one. Floor off the path falls into regions; an opening leads into one of them, and
where that region meets the path again decides what the opening is worth. How many steps a way through a region would
cost is searched only when somebody wants to tell it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gamegen.core.errors import Unsolvable
from gamegen.games.maze import WALL, neighbours

_OPEN = bytes(byte != ord(WALL) for byte in range(256))
_BITS = bytes(ord("0") + (byte != ord(WALL)) for byte in range(256))
_OFF, _SHUT, _REGIONS = -1, -2, -3


class Opening(NamedTuple):
    """A way off the path."""

    place: int  # how many steps along the path
    at: int  # its first cell
    cells: int  # that can be seen in there without crossing the path
    first: int  # the first place on the path that its region touches
    last: int  # and the last

    @property
    def leads_on(self) -> bool:
        return self.last > self.place

    @property
    def leads_back(self) -> bool:
        return self.first < self.place >= self.last


class Survey(NamedTuple):
    path: list[int]
    openings: list[Opening]
    floor: int
    loops: int
    places: list[int]  # by cell: its place on the path, or below 0 its region; empty without loops
    near: Sequence[tuple[int, ...]]

    def rest(self, opening: Opening) -> int:
        """Steps from the junction to the end by this opening, without turning back; it must lead on."""
        places, near, steps = self.places, self.near, len(self.path) - 1
        region, place, least = places[opening.at], opening.place, len(places)
        front, seen, onward = [opening.at], {opening.at}, 1
        while front:
            onward += 1
            if onward + steps - opening.last >= least:
                break
            ahead = []
            for at in front:
                for other in near[at]:
                    met = places[other]
                    if met == region:
                        if other not in seen:
                            seen.add(other)
                            ahead.append(other)
                    elif met > place and onward + steps - met < least:
                        least = onward + steps - met
            front = ahead
        return least


@lru_cache(maxsize=8)
def flood(walls: str, size: int, root: int) -> tuple[list[int], list[int]]:
    """The cells that can be reached, nearest to the root first, and by cell the next one towards it."""
    unseen = bytearray(walls.encode().translate(_OPEN))
    unseen[root] = 0
    near, order, onward = neighbours(size), [root], [-1] * len(walls)
    push = order.append
    for at in order:
        for other in near[at]:
            if unseen[other]:
                unseen[other] = 0
                onward[other] = at
                push(other)
    return order, onward


@lru_cache(maxsize=8)
def survey_of(walls: str, size: int, start: int, end: int) -> Survey:
    """What there is to know of a maze given as walls and floor alone; generating and solving share it."""
    order, onward = flood(walls, size, end)
    path, at = [start], start
    while at != end:
        at = onward[at]
        if at < 0:
            raise Unsolvable(f"no way leads from place {start} to place {end}")
        path.append(at)
    loops = _joins(walls, size) - len(order) + 1
    near = neighbours(size)
    if not loops:
        return Survey(path, _dead_ends(path, order, onward, near), len(order), 0, [], near)
    places = [_SHUT] * len(walls)
    for at in order:
        places[at] = _OFF
    for place, at in enumerate(path):
        places[at] = place
    return Survey(path, _openings(path, places, near), len(order), loops, places, near)


def _dead_ends(
    path: list[int], order: list[int], onward: list[int], near: Sequence[tuple[int, ...]]
) -> list[Opening]:  # fmt: skip
    """Without loops every opening is a dead end, as large as the part of the flood beyond it."""
    beyond = [1] * len(onward)
    for at in reversed(order):
        beyond[onward[at]] += beyond[at]
    openings, behind, seen = [], -1, 0
    for place, at in enumerate(path[:-1]):
        if beyond[at] > seen + 1:
            openings += [
                Opening(place, other, beyond[other], place, place)
                for other in near[at]
                if onward[other] == at and other != behind
            ]
        behind, seen = at, beyond[at]
    return openings


def _openings(path: list[int], places: list[int], near: Sequence[tuple[int, ...]]) -> list[Opening]:
    """Every opening, in path order; `places` gets a number below 0 for each region."""
    openings = []
    regions: list[tuple[int, int, int]] = []
    for place, at in enumerate(path[:-1]):
        for other in near[at]:
            if places[other] == _OFF:
                regions.append(_region(other, _REGIONS - len(regions), places, near))
            if places[other] <= _REGIONS:
                openings.append(Opening(place, other, *regions[_REGIONS - places[other]]))
    return openings


def _region(opening: int, number: int, places: list[int], near: Sequence[tuple[int, ...]]) -> tuple[int, int, int]:
    """How many cells hang together here without crossing the path, and the first and last place they touch it."""
    places[opening] = number
    order, first, last = [opening], len(places), -1
    for at in order:
        for other in near[at]:
            met = places[other]
            if met == _OFF:
                places[other] = number
                order.append(other)
            elif met >= 0:
                if met < first:
                    first = met
                if met > last:
                    last = met
    return len(order), first, last


def _joins(walls: str, size: int) -> int:
    """How many pairs of floor cells are side by side. The outer wall keeps rows apart."""
    bits = int(walls.encode().translate(_BITS), 2)
    return (bits & bits >> 1).bit_count() + (bits & bits >> size).bit_count()
