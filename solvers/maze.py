"""Maze: carve one, pick two far ends, survey the path between them, and tell it.

The reasoning walks the path and stops at its most tempting junctions: it says what every other opening there comes to
(a dead end, a way back, a longer way, one just as short), and sums up the stretches between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.maze import END, FLOOR, PAINT, PENS, START, Draw, Maze, cell_table, enclosed, neighbours
from solvers import carving
from solvers.maze_judge import check, confirm
from solvers.maze_survey import Opening, Survey, flood, survey_of

SIZES = ((7, 9, 9, 9), (11, 13), (15, 17, 19, 21), (23, 25, 27, 29, 31), (33, 35, 37, 39, 41))
ALGORITHMS = (carving.backtracker, carving.wilson, carving.kruskal, carving.division, carving.prim)
WEIGHTS = ((1, 1, 1, 1, 1), (2, 2, 1, 1, 1), (4, 3, 2, 2, 1), (5, 3, 1, 2, 0), (6, 2, 0, 1, 0))
"""By level: winding algorithms for the higher ones."""

FAR = (0.5, 0.4, 0.25, 0.1, 0.05)
"""By level: the start is drawn from this share of the cells, the farthest from the end."""

ROOMS_A_LOOP = 9
DECISIONS_TOLD = 4

_PAINT = ord(PAINT)
_WALLS_ONLY = str.maketrans(START + END + PAINT, FLOOR * 3)


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
        if kind == "shortest" and not any(opening.leads_on for opening in survey.openings):
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
        cells = bytearray(maze.cells.encode())
        for at in path[1:-1]:
            cells[at] = _PAINT
        thoughts = (*_overview(problem.kind, survey, size), *_walk(problem.kind, survey, size))
        return Solution(
            thoughts,
            Maze(problem.text("colour"), cells.decode()),
            _difficulty(survey, sum(step.action != "" for step in thoughts)),
            {"painted": len(path) - 2, "first": cell_table(size)[path[1]], "last": cell_table(size)[path[-2]]},
        )

    def check(self, problem: Problem[Maze], position: Maze) -> Check:
        return check(problem, position)

    def confirm(self, problem: Problem[Maze], position: Maze, step: Step) -> bool:
        return confirm(problem, position, step)


solver = MazeSolver()


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
    """The junctions worth a sentence, in path order: openings that lead on count most, then the largest."""
    beside_end = len(survey.path) - 2  # nothing is left to decide there
    tempting = sorted([(not each.leads_on, -each.cells, each.place) for each in survey.openings])
    places = [place for _, _, place in tempting if place < beside_end][:DECISIONS_TOLD]
    told: dict[int, list[Opening]] = {place: [] for place in sorted(places)}
    for opening in survey.openings:
        if opening.place in told:
            told[opening.place].append(opening)
    return told


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
            steps.append(_decision(opening, survey, table, names))
        passed = [opening for opening in survey.openings if here < opening.place < there]
        steps.append(_leg(kind, path[here : there + 1], passed, table, names))
    steps.append(Step("done", {"steps": last}))
    return steps


def _decision(opening: Opening, survey: Survey, table: Sequence[Cell], names: Mapping[int, str]) -> Step:
    path, at = survey.path, survey.path[opening.place]
    left = len(path) - 1 - opening.place
    facts: dict[str, Fact] = {
        "spot": "@there" if opening.place else "@at-start",
        "here": table[at],
        "wrong": names[opening.at - at],
        "way": names[path[opening.place + 1] - at],
    }
    if not opening.leads_on:
        return Step("back" if opening.leads_back else "dead", facts | {"cells": opening.cells})
    rest = survey.rest(opening)
    return Step("tie", facts | {"left": left}) if rest == left else Step("longer", facts | {"rest": rest, "left": left})


def _leg(
    kind: str, path: list[int], passed: list[Opening], table: Sequence[Cell], names: Mapping[int, str]
) -> Step:  # fmt: skip
    runs = _runs(path, names)
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


def _runs(path: list[int], names: Mapping[int, str]) -> tuple[tuple[str, int], ...]:
    runs, last, since = [], path[1] - path[0], 0
    for number in range(1, len(path) - 1):
        delta = path[number + 1] - path[number]
        if delta != last:
            runs.append((names[last][1:], number - since))
            last, since = delta, number
    runs.append((names[last][1:], len(path) - 1 - since))
    return tuple(runs)


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
