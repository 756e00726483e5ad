"""Maze: flood from the end, walk the parents back from the start, and look into every opening on the way.

The flood goes breadth first (up, down, left, right), so the walk is a shortest path, and in a maze without loops the
only one. At each junction on it every other opening is searched as far as it goes without crossing the path: it is a
dead end, or it leads back to the path behind, or it meets the path ahead, and then the steps that way would cost are
known. These are the facts that the reasoning tells; of many junctions it tells the few most tempting ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.maze import END, FLOOR, PAINT, PENS, START, WALL, Draw, Maze, cell_table, enclosed, neighbours
from solvers import carving
from solvers.maze_judge import check, confirm

SIZES = ((7, 9, 9, 9), (11, 13), (15, 17, 19, 21), (23, 25, 27, 29, 31), (33, 35, 37, 39, 41))
ALGORITHMS = (carving.backtracker, carving.wilson, carving.kruskal, carving.division, carving.prim)
WEIGHTS = ((1, 1, 1, 1, 1), (2, 2, 1, 1, 1), (4, 3, 2, 2, 1), (5, 3, 1, 2, 0), (6, 2, 0, 1, 0))
"""By level: winding algorithms for the higher ones."""

FAR = (0.5, 0.4, 0.25, 0.1, 0.05)
"""By level: the start is drawn from this share of the cells, the farthest from the end."""

ROOMS_A_LOOP = 9
DECISIONS_TOLD = 5

_OPEN = bytes(byte != ord(WALL) for byte in range(256))
_BITS = bytes(ord("0") + (byte != ord(WALL)) for byte in range(256))
_WALLS_ONLY = str.maketrans(START + END + PAINT, FLOOR * 3)


class Opening(NamedTuple):
    """A way off the path."""

    place: int  # how many steps along the path
    at: int
    cells: int  # that can be seen in there without crossing the path
    rest: int  # steps to the end from the junction this way, without turning back; 0 if it does not lead there
    back: bool  # it meets the path again, but only behind


class Survey(NamedTuple):
    path: list[int]
    openings: list[Opening]
    floor: int
    loops: int


class MazeSolver(Solver[Maze]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Maze]:
        size = rng.choice(SIZES[level - 1])
        cells = rng.weighted(ALGORITHMS, WEIGHTS[level - 1])(size, rng.random)
        if kind == "shortest":
            rooms = (size // 2) ** 2
            carving.open_more(cells, size, max(1, rooms // ROOMS_A_LOOP), rng.random)
        walls = cells.decode()
        start, end = _ends(walls, size, level, rng)
        if end in neighbours(size)[start]:
            raise Rejected("the end is beside the start")
        survey = survey_of(walls, size, start, end)
        if kind == "path" and survey.loops:
            raise Rejected("the maze has a loop")
        if not survey.openings:
            raise Rejected("there is nothing to decide")
        if kind == "shortest" and not any(opening.rest for opening in survey.openings):
            raise Rejected("only one way leads to the end")
        cells[start], cells[end] = ord(START), ord(END)
        pen = rng.choice(PENS)
        return Problem(kind, Maze(pen, cells.decode()), (("colour", pen),))

    def asked(self, problem: Problem[Maze]) -> Mapping[str, Fact]:
        return {"colour": f"@{problem.text('colour')}"}

    def solve(self, problem: Problem[Maze]) -> Solution[Maze]:
        maze = problem.position
        size, start, end = maze.size, maze.cells.find(START), maze.cells.find(END)
        if start < 0 or end < 0 or not enclosed(maze):
            raise Unsolvable(f"the maze has no start, no end or no outer wall:\n{maze}")
        survey = survey_of(maze.cells.translate(_WALLS_ONLY), size, start, end)
        if problem.kind == "path" and survey.loops:
            raise Unsolvable(f"the maze has loops ({survey.loops}), so its path is not the only one:\n{maze}")
        path = survey.path
        cells = list(maze.cells)
        for at in path[1:-1]:
            cells[at] = PAINT
        thoughts = (*_overview(problem.kind, survey, size), *_walk(problem.kind, survey, size))
        return Solution(
            thoughts,
            Maze(problem.text("colour"), "".join(cells)),
            _difficulty(survey, sum(step.action != "" for step in thoughts)),
            {"painted": len(path) - 2, "first": cell_table(size)[path[1]], "last": cell_table(size)[path[-2]]},
        )

    def check(self, problem: Problem[Maze], position: Maze) -> Check:
        return check(problem, position)

    def confirm(self, problem: Problem[Maze], position: Maze, step: Step) -> bool:
        return confirm(problem, position, step)


solver = MazeSolver()


@lru_cache(maxsize=8)
def flood(walls: str, size: int, root: int) -> tuple[list[int], list[int]]:
    """The cells that can be reached, nearest to the root first, and the next cell towards it by cell."""
    unseen = bytearray(walls.encode().translate(_OPEN))
    unseen[root] = 0
    near, order, onward = neighbours(size), [root], [-1] * len(walls)
    for at in order:
        for other in near[at]:
            if unseen[other]:
                unseen[other] = 0
                onward[other] = at
                order.append(other)
    return order, onward


@lru_cache(maxsize=8)
def survey_of(walls: str, size: int, start: int, end: int) -> Survey:
    """What a solver needs to know of a maze given as walls and floor alone; generating and solving share it."""
    order, onward = flood(walls, size, end)
    path = [start]
    while path[-1] != end:
        if onward[path[-1]] < 0:
            raise Unsolvable(f"no way leads from place {start} to place {end}")
        path.append(onward[path[-1]])
    loops = _joins(walls, size) - len(order) + 1
    look = _look_into_loops if loops else _look_into_trees
    return Survey(path, look(walls, size, path, order, onward), len(order), loops)


def _look_into_trees(
    walls: str, size: int, path: list[int], order: list[int], onward: list[int]
) -> list[Opening]:  # fmt: skip
    """Without loops every opening is a dead end, as large as the part of the flood beyond it."""
    beyond = [1] * len(walls)
    for at in reversed(order):
        beyond[onward[at]] += beyond[at]
    near, openings, behind, seen = neighbours(size), [], -1, 0
    for place, at in enumerate(path[:-1]):
        if beyond[at] > seen + 1:
            openings += [
                Opening(place, other, beyond[other], 0, False)
                for other in near[at]
                if onward[other] == at and other != behind
            ]
        behind, seen = at, beyond[at]
    return openings


def _look_into_loops(
    walls: str, size: int, path: list[int], order: list[int], onward: list[int]
) -> list[Opening]:  # fmt: skip
    off, wall = -1, -2
    places = [wall] * len(walls)
    for at in order:
        places[at] = off
    for place, at in enumerate(path):
        places[at] = place
    near = neighbours(size)
    return [
        _look(other, place, places, near, len(path) - 1)
        for place, at in enumerate(path[:-1])
        for other in near[at]
        if places[other] == off
    ]


def _look(
    opening: int, place: int, places: list[int], near: Sequence[tuple[int, ...]], steps: int
) -> Opening:  # fmt: skip
    """Search an opening breadth first, up to the path: `places` has the path's numbers, -1 for other floor."""
    depth, order, rest, back = {opening: 1}, [opening], 0, False
    for at in order:
        for other in near[at]:
            met = places[other]
            if met == -1:
                if other not in depth:
                    depth[other] = depth[at] + 1
                    order.append(other)
            elif met > place:
                way = depth[at] + 1 + steps - met
                rest = min(rest, way) if rest else way
            elif 0 <= met < place:
                back = True
    return Opening(place, opening, len(order), rest, back and not rest)


def _joins(walls: str, size: int) -> int:
    """How many pairs of floor cells are side by side. The outer wall keeps rows apart."""
    bits = int(walls.encode().translate(_BITS), 2)
    return (bits & bits >> 1).bit_count() + (bits & bits >> size).bit_count()


def _ends(walls: str, size: int, level: int, rng: Stream) -> tuple[int, int]:
    """A start far from the end. From level 4 on the end is far from somewhere too: a long way through the maze."""
    rooms = carving.lattice(size).rooms
    end = rng.choice(rooms)
    if level == 1:
        end = rng.choice([at for at, mark in enumerate(walls) if mark == FLOOR])
    order = flood(walls, size, end)[0]
    if level >= 4:
        end = order[-1 - rng.below(len(order) // 20)]
        order = flood(walls, size, end)[0]
    return order[-1 - rng.below(int(len(order) * FAR[level - 1]))], end


def _told(survey: Survey) -> dict[int, list[Opening]]:
    """The junctions worth a sentence, in path order: openings that lead on count most, then the deepest."""
    last = len(survey.path) - 2  # beside the end nothing is left to decide
    tempting = sorted(
        (opening for opening in survey.openings if opening.place < last),
        key=lambda opening: (not opening.rest, -opening.cells, opening.place),
    )
    chosen = sorted({opening.place for opening in tempting[:DECISIONS_TOLD]})
    return {place: [each for each in survey.openings if each.place == place] for place in chosen}


def _overview(kind: str, survey: Survey, size: int) -> list[Step]:
    table = cell_table(size)
    facts: dict[str, Fact] = {"size": size, "here": table[survey.path[0]], "there": table[survey.path[-1]]}
    if kind == "path":
        return [Step("see", facts), Step("no_loop", {"open": survey.floor})]
    return [Step("see", facts), Step("loops", {"loops": survey.loops}), Step("far", {"steps": len(survey.path) - 1})]


def _walk(kind: str, survey: Survey, size: int) -> list[Step]:
    path, table, names = survey.path, cell_table(size), _names(size)
    told, last = _told(survey), len(path) - 1
    stops = [*told, last] if 0 in told else [0, *told, last]
    steps: list[Step] = []
    for here, there in pairwise(stops):
        for opening in told.get(here, ()):
            steps.append(_decision(opening, path, table, names))
        passed = [opening for opening in survey.openings if here < opening.place < there]
        steps.append(_leg(kind, path[here : there + 1], passed, table, names))
    steps.append(Step("done", {"steps": last}))
    return steps


def _decision(opening: Opening, path: list[int], table: Sequence[Cell], names: Mapping[int, str]) -> Step:
    at = path[opening.place]
    left = len(path) - 1 - opening.place
    facts: dict[str, Fact] = {
        "spot": "@there" if opening.place else "@at-start",
        "here": table[at],
        "wrong": names[opening.at - at],
        "way": names[path[opening.place + 1] - at],
    }
    if not opening.rest:
        return Step("back" if opening.back else "dead", facts | {"cells": opening.cells})
    if opening.rest == left:
        return Step("tie", facts | {"left": left})
    return Step("longer", facts | {"rest": opening.rest, "left": left})


def _leg(
    kind: str, path: list[int], passed: list[Opening], table: Sequence[Cell], names: Mapping[int, str]
) -> Step:  # fmt: skip
    runs = tuple((names[delta][1:], len(tuple(same))) for delta, same in groupby([b - a for a, b in pairwise(path)]))
    facts: dict[str, Fact] = {
        "here": table[path[0]],
        "way": f"@{runs[0][0]}",
        "steps": len(path) - 1,
        "turns": len(runs) - 1,
        "there": table[path[-1]],
    }
    rule = "bend" if len(runs) > 1 else "straight"
    if passed and kind == "path":
        rule += "_past"
        facts |= {"passed": len(passed), "deepest": max(each.cells for each in passed)}
    elif passed:
        rule += "_by"
        facts["passed"] = len(passed)
    return Step(rule, facts, str(Draw(table[path[0]], runs)))


@lru_cache(maxsize=64)
def _names(size: int) -> Mapping[int, str]:
    return {row * size + col: f"@{name}" for name, (row, col) in STEPS.items()}


def _difficulty(survey: Survey, actions: int) -> Difficulty:
    steps, openings = len(survey.path) - 1, survey.openings
    junctions = len({opening.place for opening in openings})
    explored = min(sum(opening.cells for opening in openings), survey.floor - len(survey.path))
    return Difficulty(
        effort=steps + len(openings) + explored / 2,
        length=actions,
        nodes=survey.floor,
        branching=1 + len(openings) / junctions if junctions else 1.0,
        forced=1 - junctions / steps,
    )
