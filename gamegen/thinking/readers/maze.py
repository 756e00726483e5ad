"""A path as directions or as cells."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from gamegen.core.cell import STEPS, Cell
from gamegen.games.maze import PAINT, START, WALL, Maze
from gamegen.thinking.claims import solution_of
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Told, walks


def tellings(told: Told) -> Iterator[Telling]:
    maze = told.problem.position
    start = Cell(*divmod(maze.cells.index(START), maze.size))
    for walk in (*walks(told, start), tuple(_by_waypoints(told, start))):
        if walk:
            yield Telling((" ".join([str(start), *(f"{direction} {count}" for direction, count in walk)]),))


def _by_waypoints(told: Told, start: Cell) -> Iterator[tuple[str, int]]:
    """The corridors that a text follows from one cell it names to the next, each from the direction it starts in."""
    at, solved = start, solution_of(told.task, told.problem).after
    for sentence in told.sentences:
        ways = [way.direction for way in sentence.ways if told.sure(way.start) and way.direction in STEPS]
        places = [place.cell for place in sentence.places if place.sure]
        if ways and places:
            yield from ((direction, 1) for direction in _corridor(solved, at, ways[0], places[0]))
            at = places[0]


def _corridor(maze: Maze, start: Cell, first: str, goal: Cell) -> list[str]:
    """A shortest way over floor that starts so, of several the painted one; the bare first step if there is none."""
    came: dict[Cell, tuple[Cell, str]] = {start.moved(first): (start, first)}
    queue = deque(came)
    while queue and goal not in came:
        cell = queue.popleft()
        for direction in sorted(STEPS, key=lambda way: _mark(maze, cell.moved(way)) != PAINT):
            there = cell.moved(direction)
            if WALL not in (_mark(maze, cell), _mark(maze, there)) and there not in came and there != start:
                came[there] = (cell, direction)
                queue.append(there)
    ways: list[str] = []
    at = goal
    while at in came and at != start:
        at, direction = came[at]
        ways.append(direction)
    return ways[::-1] or [first]


def _mark(maze: Maze, cell: Cell) -> str:
    inside = 0 <= cell.row < maze.size and 0 <= cell.col < maze.size
    return maze.cells[cell.row * maze.size + cell.col] if inside else WALL
