"""Perfect mazes: spanning trees of a square lattice of rooms, carved out of a grid whose walls are cells too.

A grid of odd size n has its rooms at odd rows and odd columns; between two neighbouring rooms is a cell that is either
wall or door; all other cells are wall. A spanning tree of the rooms opens just enough doors: any two cells are joined,
and by one path only. The algorithms differ in the trees they favour, and so in how a maze feels:

backtracker  depth first; few, long, winding passages
prim         grows from a random edge of what is carved; many short dead ends
kruskal      opens doors in random order where they join two parts; short dead ends everywhere
wilson       loop-erased random walks; every spanning tree is equally likely
division     halves rooms by a wall with one door; long straight walls
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

Draws = Callable[[], float]
"""Where randomness comes from: the next number in [0, 1)."""

WALL, OPEN = ord("#"), ord(".")

_Way = tuple[int, int]
"""A neighbouring room, and the door to it."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """What all mazes of one size share. Cells are places in the row-by-row text."""

    rooms: tuple[int, ...]
    doors: tuple[tuple[int, int, int], ...]  # the door and the two rooms it joins
    ways: tuple[tuple[_Way, ...], ...]  # by cell: 12 of them, each neighbour equally often
    orders: tuple[tuple[tuple[_Way, ...], ...], ...]  # by cell: 24 of them, each order equally often
    shut: bytes  # rooms only, every door shut
    ajar: bytes  # every door open
    unseen: bytes  # 1 at every room


@lru_cache(maxsize=32)
def lattice(size: int) -> Lattice:
    rooms = tuple(row * size + col for row in range(1, size, 2) for col in range(1, size, 2))
    inside = set(rooms)
    ways: list[tuple[_Way, ...]] = [()] * (size * size)
    for room in rooms:
        ways[room] = tuple((room + 2 * d, room + d) for d in (-size, size, -1, 1) if room + 2 * d in inside)
    doors = tuple((door, room, other) for room in rooms for other, door in ways[room] if other > room)
    shut = bytearray([WALL]) * (size * size)
    for room in rooms:
        shut[room] = OPEN
    ajar = bytearray(shut)
    for door, _, _ in doors:
        ajar[door] = OPEN
    return Lattice(
        rooms,
        doors,
        tuple(each * (12 // len(each)) if each else () for each in ways),
        tuple(_all_orders(each) for each in ways),
        bytes(shut),
        bytes(ajar),
        bytes(at in inside for at in range(size * size)),
    )


def _all_orders(ways: tuple[_Way, ...]) -> tuple[tuple[_Way, ...], ...]:
    orders = tuple(permutations(ways))
    return orders * (24 // len(orders))


def backtracker(size: int, draw: Draws) -> bytearray:
    plan = lattice(size)
    cells, unseen, orders = bytearray(plan.shut), bytearray(plan.unseen), plan.orders
    first = plan.rooms[int(draw() * len(plan.rooms))]
    unseen[first] = 0
    trail = [iter(orders[first][int(draw() * 24)])]
    while trail:
        for room, door in trail[-1]:
            if unseen[room]:
                unseen[room] = 0
                cells[door] = OPEN
                trail.append(iter(orders[room][int(draw() * 24)]))
                break
        else:
            trail.pop()
    return cells


def prim(size: int, draw: Draws) -> bytearray:
    plan = lattice(size)
    cells, unseen, orders = bytearray(plan.shut), bytearray(plan.unseen), plan.orders
    first = plan.rooms[int(draw() * len(plan.rooms))]
    unseen[first] = 0
    edge = list(orders[first][0])
    while edge:
        pick = int(draw() * len(edge))
        room, door = edge[pick]
        edge[pick] = edge[-1]
        edge.pop()
        if unseen[room]:
            unseen[room] = 0
            cells[door] = OPEN
            edge += orders[room][0]
    return cells


def kruskal(size: int, draw: Draws) -> bytearray:
    plan = lattice(size)
    cells = bytearray(plan.shut)
    root = list(range(size * size))
    keys = [draw() for _ in plan.doors]
    for _, (door, one, other) in sorted(zip(keys, plan.doors, strict=True)):
        while root[one] != one:
            root[one] = one = root[root[one]]
        while root[other] != other:
            root[other] = other = root[root[other]]
        if one != other:
            root[one] = other
            cells[door] = OPEN
    return cells


def wilson(size: int, draw: Draws) -> bytearray:
    plan = lattice(size)
    cells, unseen, ways = bytearray(plan.shut), bytearray(plan.unseen), plan.ways
    unseen[plan.rooms[int(draw() * len(plan.rooms))]] = 0
    left_by = [(0, 0)] * len(cells)
    for room in plan.rooms:
        at = room
        while unseen[at]:
            left_by[at] = way = ways[at][int(draw() * 12)]
            at = way[0]
        at = room
        while unseen[at]:
            unseen[at] = 0
            at, door = left_by[at]
            cells[door] = OPEN
    return cells


def division(size: int, draw: Draws) -> bytearray:
    cells = bytearray(lattice(size).ajar)
    regions = [(1, 1, size - 2, size - 2)]  # first and last row and column, all of them rooms
    while regions:
        top, left, bottom, right = regions.pop()
        rows, cols = (bottom - top) // 2, (right - left) // 2  # places for a wall
        if not rows or not cols:
            continue
        if rows > cols or (rows == cols and draw() < 0.5):
            wall = top + 1 + 2 * int(draw() * rows)
            at = wall * size
            cells[at + left : at + right + 1] = bytes([WALL]) * (right - left + 1)
            cells[at + left + 2 * int(draw() * (cols + 1))] = OPEN
            regions += ((top, left, wall - 1, right), (wall + 1, left, bottom, right))
        else:
            wall = left + 1 + 2 * int(draw() * cols)
            cells[top * size + wall : bottom * size + wall + 1 : size] = bytes([WALL]) * (bottom - top + 1)
            cells[(top + 2 * int(draw() * (rows + 1))) * size + wall] = OPEN
            regions += ((top, left, bottom, wall - 1), (top, wall + 1, bottom, right))
    return cells


ALGORITHMS: tuple[Callable[[int, Draws], bytearray], ...] = (backtracker, prim, kruskal, wilson, division)


def open_more(cells: bytearray, size: int, count: int, draw: Draws) -> None:
    """Open `count` more doors of a perfect maze, at random: each closes one loop."""
    doors = lattice(size).doors
    while count:
        door = doors[int(draw() * len(doors))][0]
        if cells[door] == WALL:
            cells[door] = OPEN
            count -= 1
