"""Whether what the 3D reconstruction solver says is true: each claim looked up anew in the plain set of cubes."""

from __future__ import annotations

from collections.abc import Callable

from gamegen.core.problem import Problem, Step
from gamegen.games.reconstruction import FILLED, Position

Claim = Callable[[Problem[Position], Position, Step], bool]


def _cubes(position: Position) -> set[tuple[int, int, int]]:
    return {
        (x, y, z)
        for x, row in enumerate(position.heights, start=1)
        for y, height in enumerate(row, start=1)
        for z in range(1, height + 1)
    }


def _squares(position: Position, view: object) -> set[tuple[int, int]]:
    """The filled squares of a view, by label and z."""
    rows = position.front if view == "@front" else position.side
    n = len(rows)
    return {(col + 1, n - row) for row, line in enumerate(rows) for col, mark in enumerate(line) if mark == FILLED}


def _shadow(position: Position, view: object, column: object) -> set[int]:
    """Every z at which a cube projects onto a column of a view."""
    return {z for x, y, z in _cubes(position) if (y if view == "@front" else x) == column}


def _axis_fits(step: Step) -> bool:
    return (step.facts["view"], step.facts["axis"]) in (("@front", "y"), ("@side", "x"))


def _seen_is(problem: Problem[Position], position: Position, step: Step) -> bool:
    cubes = _cubes(position)
    counts = (position.size, len(cubes), len({(x, y) for x, y, _ in cubes}))
    return (step.facts["n"], step.facts["cubes"], step.facts["columns"]) == counts


def _column_is(problem: Problem[Position], position: Position, step: Step) -> bool:
    view, column, n = step.facts["view"], step.facts["column"], position.size
    shadow = _shadow(position, view, column)
    drawn = {z for label, z in _squares(position, view) if label == column}
    blank, redrawn = step.rule.endswith("-blank"), step.rule.startswith("redraw")
    if not _axis_fits(step) or column not in range(1, n + 1) or blank == bool(shadow) or redrawn == (drawn == shadow):
        return False
    if step.action != (f"{str(view)[1:]} {column}" if redrawn else ""):
        return False
    return blank or (_line_is(position, step) and step.facts["tallest"] == max(shadow))


def _line_is(position: Position, step: Step) -> bool:
    """Whether the heights behind a view's column are told right, and along which axis."""
    cubes, labels = _cubes(position), range(1, position.size + 1)
    view, column = step.facts["view"], step.facts["column"]
    line = [(other, column) if view == "@front" else (column, other) for other in labels]
    heights = tuple(sum((x, y) == place for x, y, _ in cubes) for place in line)
    return step.facts["heights"] == heights and step.facts["other"] == ("x" if view == "@front" else "y")


def _found_is(problem: Problem[Position], position: Position, step: Step) -> bool:
    x, y = step.facts["x"], step.facts["y"]
    stacked = sum((a, b) == (x, y) for a, b, _ in _cubes(position))
    told = stacked == 0 if step.rule == "bare" else step.facts["height"] == stacked > 0
    return (x, y) == (problem["x"], problem["y"]) and told


def _cube_is(problem: Problem[Position], position: Position, step: Step) -> bool:
    x, y, z = (step.facts[name] for name in ("x", "y", "z"))
    order = str(problem["order"])
    stacked = sum((a, b) == (x, y) for a, b, _ in _cubes(position))
    top, left = (stacked + 1, stacked + 1) if order == "add" else (stacked, stacked - 1)
    lowest = step.rule in ("add-first", "remove-last")
    if (x, y) != (problem["x"], problem["y"]) or not step.rule.startswith(order) or lowest != (top == 1):
        return False
    return z == top and (lowest or step.facts["height"] == left) and step.action == f"{order} {x},{y}"


def _view_is(problem: Problem[Position], position: Position, step: Step) -> bool:
    """Made after the cube was moved, while the view is still drawn as it was."""
    view, column = step.facts["view"], step.facts["column"]
    shadow = _shadow(position, view, column)
    drawn = {z for label, z in _squares(position, view) if label == column}
    own = problem["y"] if view == "@front" else problem["x"]
    if not _axis_fits(step) or column != own:
        return False
    action = "" if step.rule == "view-stays" else f"{str(view)[1:]} {column}"
    if step.rule == "view-empties":
        return not shadow and bool(drawn) and step.action == action
    if not _line_is(position, step) or step.facts["tallest"] != max(shadow) or step.action != action:
        return False
    extra = {"view-stays": shadow ^ drawn, "view-grows": shadow - drawn, "view-shrinks": drawn - shadow}[step.rule]
    return extra == ({step.facts["square"]} if action else set())


CLAIMS: dict[str, Claim] = {
    "seen": _seen_is,
    "redraw": _column_is,
    "redraw-blank": _column_is,
    "keep": _column_is,
    "keep-blank": _column_is,
    "found": _found_is,
    "bare": _found_is,
    "add-cube": _cube_is,
    "add-first": _cube_is,
    "remove-cube": _cube_is,
    "remove-last": _cube_is,
    "view-grows": _view_is,
    "view-shrinks": _view_is,
    "view-stays": _view_is,
    "view-empties": _view_is,
}
"""The claim behind each rule that a reasoning step can name."""
