"""Judging mazes: whether a drawn path is right, and whether a sentence about a maze is true.

Nothing here looks at the solver's answer. Distances and dead ends are worked out anew, on sets of cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import compress, takewhile
from operator import ne

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.problem import Check, Fact, Problem, Step
from gamegen.games import maze as rules
from gamegen.games.maze import BROKEN, END, FLOOR, PAINT, SMEAR, START, WALL, Draw, Line, Maze, cell_table, follow

_NAMES = {WALL: "wall", SMEAR: "wall", START: "start", END: "end"}
_IS_PAINTED = bytes(chr(byte) in (PAINT, SMEAR, BROKEN) for byte in range(256))
_LEGS = ("straight", "straight_past", "straight_by", "bend", "bend_past", "bend_by")


def check(problem: Problem[Maze], position: Maze) -> Check:
    """Right is one line on floor from start to end in the pen's colour, over the same maze; the shortest, if asked."""
    before = problem.position
    if position.size != before.size:
        reason = f"The maze has {position.size} rows and columns, not {before.size}."
        return Check(False, False, 0.0, reason, {"path": 0.0, "precision": 0.0, "reach": 0.0})
    steps, right = _shortest(before)
    line = follow(position)
    damage, parts = _damage(before, position), _parts(right, steps, position, line)
    preserved = 1.0 - len(damage) / len(before.cells)
    if damage:
        return Check(False, False, preserved, f"{damage[0]}.", parts)
    reason = _wrong(problem, position, line, steps)
    legal = not line.fault and position.pen == problem.text("colour")
    return Check(not reason, legal, preserved, reason or "The path is right.", parts)


@lru_cache(maxsize=64)
def _shortest(before: Maze) -> tuple[int, Mapping[Cell, int]]:
    """How long the shortest paths are; and their cells, with how many steps from the start they are."""
    floor = _floor(before)
    from_start, from_end = (_distances(floor, _find(before, mark)) for mark in (START, END))
    steps = from_start[_find(before, END)]
    return steps, {cell: at for cell, at in from_start.items() if 0 < at < steps == at + from_end[cell]}


def _damage(before: Maze, after: Maze) -> list[str]:
    """What had to stay and did not, in sentences without their full stop."""
    found = []
    table = cell_table(before.size)
    for at in compress(range(len(table)), map(ne, before.cells, after.cells)):
        cell, was, now = table[at], before.cells[at], after.cells[at]
        if was == FLOOR and now not in (WALL, START, END, SMEAR):
            continue
        place = f"cell {tuple(cell)}"
        if was == WALL:
            found.append(
                f"The path runs through the wall at {place}" if now == SMEAR else f"The wall at {place} is gone"
            )
        elif was in (START, END):
            found.append(f"The {_NAMES[was]} at {place} is no longer to be seen")
        else:
            found.append(f"Cell {tuple(cell)} was floor and now shows the {_NAMES[now]}")
    return found


def _wrong(problem: Problem[Maze], position: Maze, line: Line, shortest: int) -> str:
    """Why the line is not an answer, as a sentence; empty if it is one."""
    colour = problem.text("colour")
    if line.fault:
        return f"{line.fault[:1].upper()}{line.fault[1:]}."
    if len(line.cells) < 2:
        return "No path is drawn."
    if not line.complete:
        return f"The path stops at cell {tuple(cell_table(position.size)[line.cells[-1]])} and does not reach the end."
    if position.pen != colour:
        return f"The path is {position.pen}, not {colour}."
    steps = len(line.cells) - 1
    if problem.kind == "shortest" and steps > shortest:
        return f"The path takes {steps} steps, and {shortest} are enough."
    return ""


def _parts(right: Mapping[Cell, int], steps: int, after: Maze, line: Line) -> dict[str, float]:
    """Shares: of a right path that is painted, of the paint that is on one, and of it that the line follows.

    `right` has the cells of all shortest paths and how many steps from the start they are.
    """
    table = cell_table(after.size)
    painted = set(compress(table, after.cells.encode().translate(_IS_PAINTED)))
    reached = len([*takewhile(right.__contains__, [table[at] for at in line.cells[1:]])])
    return {
        "path": len({right[cell] for cell in painted if cell in right}) / (steps - 1),
        "precision": len(painted & right.keys()) / len(painted) if painted else 0.0,
        "reach": reached / (steps - 1),
    }


def confirm(problem: Problem[Maze], position: Maze, step: Step) -> bool:
    try:
        return dict(step.facts) == _truth(problem.position, position, step)
    except (BadInput, IllegalAction, KeyError, ValueError, TypeError):
        return False  # a claim about something that is not there


def _truth(before: Maze, position: Maze, step: Step) -> Mapping[str, Fact]:
    """The facts that a step of this rule would have to state, here."""
    rule, floor, start, end = step.rule, _floor(before), _find(before, START), _find(before, END)
    if rule == "see":
        return {"size": before.size, "here": start, "there": end}
    if rule in ("no_loop", "loops"):
        joins = sum(cell.moved(way) in floor for cell in floor for way in ("down", "right"))
        loops = joins - len(floor) + 1
        if len(_distances(floor, start)) < len(floor) or (rule == "loops") != (loops > 0):
            raise ValueError("a cell is cut off, or the maze has loops where none are claimed, or none where some are")
        return {"loops": loops} if loops else {"open": len(floor)}
    if rule == "far":
        return {"steps": _distances(floor, end)[start]}
    line = follow(position)
    if rule == "done":
        return {"steps": len(line.cells) - 1} if line.complete else {}
    tip = cell_table(position.size)[line.cells[-1]]
    if rule in _LEGS:
        return _true_leg(position, floor, tip, step)
    return _true_decision(floor, {cell_table(position.size)[at] for at in line.cells}, tip, end, step)


def _true_leg(position: Maze, floor: set[Cell], tip: Cell, step: Step) -> Mapping[str, Fact]:
    action = rules.game.parse_action(step.action)
    rules.game.apply(position, action)
    walked = _walked(action)
    ahead = set(walked)
    openings = [(cell, cell.moved(way)) for cell in walked[1:-1] for way in STEPS if cell.moved(way) in floor - ahead]
    shape, _, past = step.rule.partition("_")
    turns = sum(one != other for (one, _), (other, _) in zip(action.runs, action.runs[1:], strict=False))
    if (shape == "bend") != (turns > 0) or bool(past) != bool(openings) or walked[0] != tip:
        raise ValueError("the rule does not fit the way")
    facts: dict[str, Fact] = {
        "here": walked[0],
        "way": f"@{action.runs[0][0]}",
        "steps": len(walked) - 1,
        "turns": turns,
        "there": walked[-1],
    }
    end = _find(position, END)
    if past == "past":
        rooms = [_distances(floor - {cell}, opening) for cell, opening in openings]
        if any(end in room for room in rooms):
            raise ValueError("an opening that was passed is no dead end")
        facts |= {"passed": len(openings), "deepest": max(map(len, rooms))}
    elif past == "by":
        left = _distances(floor, end)
        if left[walked[0]] - left[walked[-1]] != len(walked) - 1:
            raise ValueError("an opening that was passed is a shorter way")
        facts |= {"passed": len(openings)}
    return facts


def _true_decision(floor: set[Cell], walked: set[Cell], tip: Cell, end: Cell, step: Step) -> Mapping[str, Fact]:
    wrong, way = (str(step.facts[name]).removeprefix("@") for name in ("wrong", "way"))
    ahead = floor - walked
    seen = _distances(ahead, tip.moved(wrong))
    left = _distances(ahead, tip.moved(way))[end] + 1
    spot = "@there" if len(walked) > 1 else "@at-start"
    facts: dict[str, Fact] = {"spot": spot, "here": tip, "wrong": f"@{wrong}", "way": f"@{way}"}
    if step.rule in ("dead", "back"):
        behind = {cell.moved(each) for cell in seen for each in STEPS} & walked - {tip}
        if end in seen or bool(behind) != (step.rule == "back"):
            raise ValueError("the opening leads elsewhere")
        return facts | {"cells": len(seen)}
    rest = seen[end] + 1
    if wrong == way or (step.rule == "tie") != (rest == left) or rest < left:
        raise ValueError("the ways compare otherwise")
    return facts | ({"left": left} if step.rule == "tie" else {"rest": rest, "left": left})


def _walked(action: Draw) -> list[Cell]:
    cells = [action.tip]
    for direction, count in action.runs:
        for _ in range(count):
            cells.append(cells[-1].moved(direction))
    return cells


def _distances(floor: set[Cell], root: Cell) -> dict[Cell, int]:
    """Steps from the root to every cell that it reaches over this floor; the root must be on it."""
    if root not in floor:
        raise ValueError(f"cell {tuple(root)} is no floor")
    steps, order = {root: 0}, [root]
    for cell in order:
        row, col = cell
        for d_row, d_col in STEPS.values():
            other = Cell(row + d_row, col + d_col)
            if other in floor and other not in steps:
                steps[other] = steps[cell] + 1
                order.append(other)
    return steps


def _floor(maze: Maze) -> set[Cell]:
    """Every cell that is no wall, start and end included."""
    return {cell for cell, mark in zip(cell_table(maze.size), maze.cells, strict=True) if mark not in (WALL, SMEAR)}


def _find(maze: Maze, mark: str) -> Cell:
    return cell_table(maze.size)[maze.cells.index(mark)]
