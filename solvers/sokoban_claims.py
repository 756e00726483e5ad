"""Whether what a Sokoban text claims is true: every step is worked out again from its facts, cell by cell.

Nothing here uses the bitboards that the claims were made with; only "no shorter plan" has to ask the search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise, permutations

from gamegen.core.cell import OPPOSITE, STEPS, Cell
from gamegen.core.errors import Unsolvable
from gamegen.core.problem import Problem, Step
from gamegen.games.sokoban import (
    BOX_ON_TARGET,
    BOXES,
    OPEN,
    PLAYERS,
    TARGETS,
    WALL,
    Position,
    Push,
    distances,
    room_ahead,
)
from solvers.sokoban_bits import board_of
from solvers.sokoban_search import LIMIT, Tables, fewest_pushes

Claim = Callable[[Problem[Position], Position, Step], bool]


def confirmed(problem: Problem[Position], position: Position, step: Step) -> bool:
    """Whether a step's claim holds in the position it is made in; a step that lacks a fact claims nothing true."""
    claim = _CLAIMS.get(step.rule)
    try:
        return claim is not None and claim(problem, position, step)
    except (KeyError, TypeError, Unsolvable):
        return False


def _cell(step: Step, name: str) -> Cell:
    value = step.facts[name]
    if not isinstance(value, Cell):
        raise TypeError(f"{name} must be a cell, not {value!r}")
    return value


def _number(step: Step, name: str) -> int:
    value = step.facts[name]
    if not isinstance(value, int):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return value


def _way(step: Step) -> str:
    return str(step.facts["direction"]).removeprefix("@")


def _player(position: Position) -> Cell:
    return position.cells(PLAYERS)[0]


def _finds(problem: Problem[Position], position: Position, step: Step) -> bool:
    box = _cell(step, "box")
    return position[box] in BOXES and str(box) == problem["box"] and _cell(step, "player") == _player(position)


def _names_side(problem: Problem[Position], position: Position, step: Step) -> bool:
    side, stand = OPPOSITE[_way(step)], _cell(step, "stand")
    at_side = stand == _cell(step, "box").moved(side) and step.facts["side"] == f"@side_{side}"
    return at_side and _way(step) == problem["direction"] and stand in distances(position, _player(position))


def _free_ahead(problem: Problem[Position], position: Position, step: Step) -> bool:
    to = _cell(step, "to")
    on_target = position[to] in TARGETS
    beside = to == _cell(step, "box").moved(_way(step)) and _way(step) == problem["direction"]
    return beside and position[to] in OPEN and on_target == (step.rule == "ahead_target")


def _stands(problem: Problem[Position], position: Position, step: Step) -> bool:
    return _cell(step, "stand") == _player(position)


def _walks(problem: Problem[Position], position: Position, step: Step) -> bool:
    """The corners lie on a walk of free cells that is as short as can be."""
    turns = step.facts.get("turns", ())
    player, stand = _player(position), _cell(step, "stand")
    corners = [player, *(cell for cell in turns if isinstance(cell, Cell)), stand] if isinstance(turns, tuple) else []
    length = 0
    for one, other in pairwise(corners):
        if (one.row != other.row) == (one.col != other.col):
            return False
        if any(position[cell] not in OPEN for cell in _between(one, other)):
            return False
        length += _apart(one, other)
    return length == _number(step, "steps") == distances(position, player).get(stand)


def _goes_round(problem: Problem[Position], position: Position, step: Step) -> bool:
    player, stand = _player(position), _cell(step, "stand")
    steps, direct = _number(step, "steps"), _number(step, "direct")
    return direct == _apart(player, stand) < steps == distances(position, player).get(stand)


def _shoves(problem: Problem[Position], position: Position, step: Step) -> bool:
    box, way = _cell(step, "box"), _way(step)
    named = str(box) == problem["box"] and way == problem["direction"]
    return named and _cell(step, "to") == box.moved(way) and _possible(position, Push(box, way), step)


def _sees(problem: Problem[Position], position: Position, step: Step) -> bool:
    boxes, targets = position.cells(BOXES), position.cells(TARGETS)
    alone = (step.rule == "see_one") == (len(boxes) == 1)
    seen = step.facts["box"] == boxes and step.facts["target"] == targets and _cell(step, "player") == _player(position)
    return alone and seen and _number(step, "boxes") == len(boxes) == len(targets)


def _sees_done(problem: Problem[Position], position: Position, step: Step) -> bool:
    done = position.cells(BOX_ON_TARGET)
    return step.facts["done"] == done and (step.rule == "already_one") == (len(done) == 1)


def _only_target(problem: Problem[Position], position: Position, step: Step) -> bool:
    room, box = position.lifted(), _cell(step, "box")
    able = [target for target in position.cells(TARGETS) if box in _pushes_to(room, target)]
    return position[box] in BOXES and able == [_cell(step, "target")]


def _only_box(problem: Problem[Position], position: Position, step: Step) -> bool:
    target = _cell(step, "target")
    known = _pushes_to(position.lifted(), target)
    return position[target] in TARGETS and [box for box in position.cells(BOXES) if box in known] == [
        _cell(step, "box")
    ]


def _is_trap(problem: Problem[Position], position: Position, step: Step) -> bool:
    box, to, way = _cell(step, "box"), _cell(step, "to"), _way(step)
    up, down, left, right = (position[to.moved(direction)] == WALL for direction in STEPS)
    corner = (up or down) and (left or right)
    possible = to == box.moved(way) and _possible(position, Push(box, way))
    lost = all(to not in _pushes_to(position.lifted(), target) for target in position.cells(TARGETS))
    return possible and lost and corner == (step.rule == "trap_corner")


def _waits(problem: Problem[Position], position: Position, step: Step) -> bool:
    """The named box cannot be pushed this way now; with the other one out of the way nothing hinders the player."""
    box, blocker, way = _cell(step, "box"), _cell(step, "blocker"), _way(step)
    if position[box] not in BOXES or position[blocker] not in BOXES or box == blocker:
        return False
    if step.rule in ("occupied", "taken"):
        return box.moved(way if step.rule == "occupied" else OPPOSITE[way]) == blocker
    stand, player = _cell(step, "stand"), _player(position)
    without = position.placed(frozenset(position.cells(BOXES)) - {blocker}, player)
    opened = stand not in distances(position, player) and stand in distances(without, player)
    return opened and stand == box.moved(OPPOSITE[way]) != blocker


def _runs(problem: Problem[Position], position: Position, step: Step) -> bool:
    box, way, cells, to, stand = (
        _cell(step, "box"),
        _way(step),
        _number(step, "cells"),
        _cell(step, "to"),
        step.facts["stand"],
    )
    opening, _, closing = step.rule.partition("_")
    end = box
    for _ in range(cells):
        end = end.moved(way)
    here = _player(position) == stand
    if (opening == "here" and not here) or (opening == "go" and here):
        return False
    if to != end or stand != box.moved(OPPOSITE[way]) or (position[to] in TARGETS) != (closing == "target"):
        return False
    return _possible(position, Push(box, way, cells), step)


def _least(problem: Problem[Position], position: Position, step: Step) -> bool:
    """All targets are covered, and no fewer pushes do it."""
    pushes, start = _number(step, "pushes"), problem.position
    bound = _assignment(start)
    shortest = pushes == bound if step.rule == "tight" else bound == _number(step, "bound") < pushes
    board, state, targets = board_of(start)
    found = len(fewest_pushes(Tables(board, targets), state, limit=LIMIT).moves)
    return shortest and pushes == found and position.cells(TARGETS) == position.cells(BOX_ON_TARGET)


_RUNS = [opening + closing for opening in ("go", "here", "next") for closing in ("", "_target", "_later")]
_CLAIMS: dict[str, Claim] = {
    "find": _finds,
    "side": _names_side,
    "ahead": _free_ahead,
    "ahead_target": _free_ahead,
    "standing": _stands,
    "straight": _walks,
    "route": _walks,
    "detour": _goes_round,
    "shove": _shoves,
    "see": _sees,
    "see_one": _sees,
    "already": _sees_done,
    "already_one": _sees_done,
    "only_target": _only_target,
    "only_box": _only_box,
    "trap": _is_trap,
    "trap_corner": _is_trap,
    "blocked": _waits,
    "occupied": _waits,
    "taken": _waits,
    "tight": _least,
    "searched": _least,
    **dict.fromkeys(_RUNS, _runs),
}


def _possible(position: Position, push: Push, step: Step | None = None) -> bool:
    """Whether the player can make this push now, and the step, if any, says so in its action."""
    stand = push.box.moved(OPPOSITE[push.direction])
    walkable = position[push.box] in BOXES and stand in distances(position, _player(position))
    spoken = step is None or step.action == str(push)
    return walkable and spoken and 1 <= push.cells <= room_ahead(position, push.box, push.direction)


def _between(one: Cell, other: Cell) -> list[Cell]:
    """The cells after `one` up to `other`, which lies in the same row or column."""
    rows, cols = other.row - one.row, other.col - one.col
    length = abs(rows + cols)
    return [Cell(one.row + rows * n // length, one.col + cols * n // length) for n in range(1, length + 1)]


def _apart(one: Cell, other: Cell) -> int:
    return abs(one.row - other.row) + abs(one.col - other.col)


def _pushes_to(room: Position, target: Cell) -> dict[Cell, int]:
    """Fewest pushes of a lone box to the target from each cell: the target's box is pulled away in all ways."""
    found = {target: 0}
    queue = deque([target])
    while queue:
        cell = queue.popleft()
        for direction in STEPS:
            to = cell.moved(direction)
            if to not in found and room[to] in OPEN and room[to.moved(direction)] in OPEN:
                found[to] = found[cell] + 1
                queue.append(to)
    return found


def _assignment(position: Position) -> int:
    """Pushes needed if boxes were never in each other's way: the best of all pairings."""
    room, boxes, targets = position.lifted(), position.cells(BOXES), position.cells(TARGETS)
    pushes = {target: _pushes_to(room, target) for target in targets}
    far = len(boxes) * len(pushes) * 10_000
    return min(
        sum(pushes[target].get(box, far) for box, target in zip(boxes, order, strict=True))
        for order in permutations(targets)
    )
