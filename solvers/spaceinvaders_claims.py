"""Whether what the Space Invaders solver says is true: each claim looked up anew in the position's own text.

Nothing here uses the solver. Columns are read as strings, and a volley is replayed with a drifting offset instead of
redrawn positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gamegen.core.problem import Problem, Step
from gamegen.games.spaceinvaders import INVADERS, SHIP, Position

Claim = Callable[[Problem[Position], Position, Step], bool]


def _ship(position: Position) -> int:
    """The ship's column, from 1; 0 if there is none in the last row."""
    return position.rows[-1].find(SHIP) + 1


def _column(position: Position, number: object) -> list[tuple[int, str]]:
    """Row number and kind of each invader in a column, from the top; all numbers from 1."""
    assert isinstance(number, int)
    return [(row, text[number - 1]) for row, text in enumerate(position.rows, start=1) if text[number - 1] in INVADERS]


def _ends(position: Position) -> dict[int, str]:
    """The kind of the lowest invader of each column that has one."""
    columns = range(1, position.width + 1)
    return {number: column[-1][1] for number in columns if (column := _column(position, number))}


def _extent(position: Position) -> tuple[int, int]:
    columns = list(_ends(position))
    return columns[0], columns[-1]


class _State(NamedTuple):
    """What a volley has come to: the heading, the ship's column, and how far down each column's lowest invader is."""

    heading: str
    ship: int
    ends: dict[int, int]


def _before(problem: Problem[Position], number: object) -> _State:
    """The state just before command `number`, by a replay on offsets from where the formation started."""
    assert isinstance(number, int)
    start, heading, ship = problem.position, problem.text("march"), _ship(problem.position)
    drift = drop = 0
    depths = {column: len(_column(start, column)) for column in range(1, start.width + 1)}
    for code in problem.text("program").split()[: number - 1]:
        if code != "F":
            ship += int(code[1:]) * (1 if code[0] == "R" else -1)
        elif depths.get(ship - drift, 0):
            depths[ship - drift] -= 1
        taken = [column + drift for column, depth in depths.items() if depth]
        if (start.width in taken) if heading == "right" else (1 in taken):
            heading = {"left": "right", "right": "left"}[heading]
            drop += 1
        else:
            drift += 1 if heading == "right" else -1
    return _State(heading, ship, {column + drift: depth + drop for column, depth in depths.items() if depth})


def _ordered(problem: Problem[Position], position: Position, step: Step) -> bool:
    return step.facts["ship"] == _ship(position) and step.facts["column"] == problem["column"]


def _columned(problem: Problem[Position], position: Position, step: Step) -> bool:
    column = step.facts["column"]
    return (
        column == problem["column"]
        and len(_column(position, column)) == step.facts["count"]
        and _lowest_is(position, step)
    )


def _lowest_is(position: Position, step: Step) -> bool:
    column = _column(position, step.facts["column"])
    return bool(column) and column[-1] == (step.facts["row"], str(step.facts["kind"])[-1])


def _steer(problem: Problem[Position], position: Position, step: Step) -> bool:
    by, column = step.facts["by"], step.facts["column"]
    assert isinstance(by, int)
    side, code = (1, f"R{by}") if step.facts["side"] == "@right" else (-1, f"L{by}")
    known = step.facts["side"] in ("@left", "@right")
    return known and by > 0 and _ship(position) + side * by == column and step.action == code


def _stay(problem: Problem[Position], position: Position, step: Step) -> bool:
    return step.facts["column"] == _ship(position)


def _fire(problem: Problem[Position], position: Position, step: Step) -> bool:
    return step.action == "F" and step.facts["column"] == _ship(position) and _lowest_is(position, step)


def _left_in_column(problem: Problem[Position], position: Position, step: Step) -> bool:
    count = step.facts["count"] if step.rule == "shield" else 0
    above = len(_column(position, step.facts["column"]))
    return step.facts["column"] == _ship(position) and above == count and (above > 0) == (step.rule == "shield")


def _ship_at(problem: Problem[Position], position: Position, step: Step) -> bool:
    return step.facts["ship"] == _ship(position)


def _offer(problem: Problem[Position], position: Position, step: Step) -> bool:
    kind = str(step.facts["kind"])[-1]
    columns = tuple(number for number, end in _ends(position).items() if end == kind)
    facts = step.facts
    return facts["columns"] == columns and facts["count"] == len(columns) and facts["points"] == 10 * int(kind)


def _most(problem: Problem[Position], position: Position, step: Step) -> bool:
    points = {number: 10 * int(kind) for number, kind in _ends(position).items()}
    best = [number for number, worth in points.items() if worth == max(points.values())]
    column, ship = step.facts["column"], _ship(position)
    if column not in best or step.facts["points"] != max(points.values()):
        return False
    assert isinstance(column, int)
    if step.rule == "only":
        return len(best) == 1
    return step.facts["count"] == len(best) > 1 and all(abs(column - ship) <= abs(number - ship) for number in best)


def _formation(problem: Problem[Position], position: Position, step: Step) -> bool:
    facts = step.facts
    return (
        facts["count"] == sum(text.count(kind) for text in position.rows for kind in INVADERS)
        and (facts["first"], facts["last"]) == _extent(position)
        and (facts["width"], facts["ship"]) == (position.width, _ship(position))
        and facts["march"] == f"@{problem['march']}"
    )


def _command(problem: Problem[Position], position: Position, step: Step) -> bool:
    code, start, column = str(step.facts["code"]), step.facts["start"], step.facts["column"]
    assert isinstance(start, int)
    sign = 1 if code[0] == "R" else -1
    return (
        _is_command(problem, position, step, code)
        and start == _ship(position)
        and column == start + sign * int(code[1:])
        and step.action == code
    )


def _is_command(problem: Problem[Position], position: Position, step: Step, code: str) -> bool:
    """Whether it is this command's turn: the program says so, and everything stands where the replay has it."""
    number = step.facts["number"]
    program = problem.text("program").split()
    if not (isinstance(number, int) and 1 <= number <= len(program) and program[number - 1] == code):
        return False
    state = _before(problem, number)
    ends = {column: _column(position, column)[-1][0] for column in _ends(position)}
    return state.ship == _ship(position) and state.ends == ends


def _hit(problem: Problem[Position], position: Position, step: Step) -> bool:
    return _is_command(problem, position, step, "F") and _fire(problem, position, step)


def _miss(problem: Problem[Position], position: Position, step: Step) -> bool:
    column = step.facts["column"]
    return (
        _is_command(problem, position, step, "F")
        and step.action == "F"
        and column == _ship(position)
        and not _column(position, column)
    )


def _marches(problem: Problem[Position], position: Position, step: Step) -> bool:
    heading = _before(problem, step.facts["number"]).heading
    first, last = _extent(position)
    blocked = first == 1 if heading == "left" else last == position.width
    drift = 1 if heading == "right" else -1
    return (
        not blocked
        and step.facts["way"] == f"@{heading}"
        and (step.facts["first"], step.facts["last"]) == (first + drift, last + drift)
        and step.action == f"march {heading}"
    )


def _turns(problem: Problem[Position], position: Position, step: Step) -> bool:
    heading = _before(problem, step.facts["number"]).heading
    edge = 1 if heading == "left" else position.width
    turned = "@right" if heading == "left" else "@left"
    facts = step.facts
    return (
        edge in _extent(position) and facts["edge"] == edge and facts["march"] == turned and step.action == "march down"
    )


CLAIMS: dict[str, Claim] = {
    "ordered": _ordered,
    "column": _columned,
    "steer": _steer,
    "stay": _stay,
    "fire": _fire,
    "shield": _left_in_column,
    "alone": _left_in_column,
    "ship": _ship_at,
    "offer": _offer,
    "only": _most,
    "tie": _most,
    "formation": _formation,
    "command": _command,
    "hit": _hit,
    "miss": _miss,
    "march": _marches,
    "turn": _turns,
}
"""The claim behind each rule that a reasoning step can name."""
