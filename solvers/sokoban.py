"""Sokoban: problems by reverse play, answers by optimal search, and the exact set of right end positions.

For `push` one position is right. For `solve` the boxes are alike and must cover the targets, so a right answer differs
from another only in where the player stands: anywhere it can walk to after some play that covers them. Covered targets
may cut the room into regions, and which of these can be ended in is found by search, at generation as at judging;
rooms where that takes too many states are not emitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2

from gamegen.core.cell import OPPOSITE, Cell
from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.sokoban import BOXES, PLAYERS, TARGETS, Position, Push, game, shortest_walk
from solvers.sokoban_claims import confirmed
from solvers.sokoban_reasons import plan_steps, push_steps
from solvers.sokoban_rooms import Room, Shape, draw_room
from solvers.sokoban_search import (
    DIRECTIONS,
    NodeLimit,
    Plan,
    State,
    Tables,
    bits,
    board_of,
    ends,
    fewest_pushes,
    mask_of,
    moves,
)


@dataclass(frozen=True, slots=True)
class Level:
    """What a level asks for; pairs are the least and the most."""

    shape: Shape
    walk: tuple[int, int]  # `push`: steps to the named box
    pulls: tuple[int, int]  # `solve`: reverse play
    pushes: tuple[int, int]  # `solve`: of a shortest solution
    nodes: tuple[int, int]  # `solve`: states that the search for it expands


LEVELS = {
    1: Level(Shape((6, 8), (50, 80), 2, (1, 1)), (0, 1), (8, 16), (2, 4), (1, 40)),
    2: Level(Shape((7, 9), (50, 75), 3, (2, 2)), (2, 4), (16, 26), (4, 8), (4, 80)),
    3: Level(Shape((8, 10), (50, 70), 4, (3, 3)), (5, 7), (24, 40), (8, 14), (8, 100)),
    4: Level(Shape((9, 12), (50, 70), 6, (3, 4)), (8, 11), (35, 55), (13, 22), (16, 200)),
    5: Level(Shape((11, 14), (50, 70), 9, (4, 5)), (12, 30), (60, 80), (20, 60), (28, 500)),
}
PULLS_BEFORE_PUSH = (3, 16)
"""Reverse play before a `push` is asked for: enough to scatter the boxes, few enough to leave some on targets."""

LIMIT = 20_000
"""States that one search for an answer may expand: far more than generation allows any emitted problem."""

OTHER_ENDS, LEGAL = 200, 100
"""States that generation grants to each further end region; that judging grants to an unfinished position."""


@dataclass(frozen=True, slots=True)
class Answer:
    plan: Plan
    tables: Tables
    ends: int  # every cell where the player can stand at the end


class SokobanSolver(Solver[Position]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Position]:
        wanted = LEVELS[level]
        return _draw_push(wanted, rng) if kind == "push" else _draw_solve(wanted, rng)

    def asked(self, problem: Problem[Position]) -> Mapping[str, Fact]:
        position = problem.position
        facts: dict[str, Fact] = {"boxes": len(position.cells(BOXES)), "player": position.cells(PLAYERS)[0]}
        if problem.kind == "push":
            facts |= {"box": Cell.parse(problem.text("box")), "direction": f"@{problem['direction']}"}
        return facts

    def solve(self, problem: Problem[Position]) -> Solution[Position]:
        return _solve_push(problem) if problem.kind == "push" else _solve_all(problem)

    def check(self, problem: Problem[Position], position: Position) -> Check:
        return _check_push(problem, position) if problem.kind == "push" else _check_all(problem, position)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        return confirmed(problem, position, step)


def answer(position: Position, *, limit: int = LIMIT, others: int = LIMIT) -> Answer:
    """The shortest plan and all ends, remembered; NodeLimit if one search, or one for `others`, takes more states."""
    known = _ANSWERS.get(position)
    if known is None:
        board, start, targets = board_of(position)
        tables = Tables(board, targets)
        plan = fewest_pushes(tables, start, limit=limit)
        known = Answer(plan, tables, ends(tables, plan, limit=others))
        if len(_ANSWERS) >= 256:
            _ANSWERS.clear()
        _ANSWERS[position] = known
    return known


_ANSWERS: dict[Position, Answer] = {}


def _draw_solve(level: Level, rng: Stream) -> Problem[Position]:
    room = draw_room(level.shape, level.pulls, rng)
    least, most = level.pushes
    if not least - 4 <= Tables(room.board, room.targets).bound(room.state.boxes) <= most:
        raise Rejected("too few or too many pushes")
    position = room.position(rng.choice(list(bits(room.state.reach))))
    try:
        plan = answer(position, limit=level.nodes[1], others=OTHER_ENDS).plan
    except NodeLimit:
        raise Rejected("search too long") from None
    if not least <= len(plan.moves) <= most:
        raise Rejected("too few or too many pushes")
    if plan.nodes < level.nodes[0]:
        raise Rejected("too easy")
    return Problem("solve", position)


def _draw_push(level: Level, rng: Stream) -> Problem[Position]:
    """Any push that is possible, with the player as many steps away from it as the level asks."""
    room = draw_room(level.shape, PULLS_BEFORE_PUSH, rng)
    board = room.board
    for move in rng.shuffled(list(moves(board, room.state, board.floor))):
        starts = _at_distance(room, board.shift(move.box, move.direction ^ 1), level.walk)
        if starts:
            params = (("box", str(board.cell(move.box))), ("direction", DIRECTIONS[move.direction]))
            return Problem("push", room.position(rng.choice(list(bits(starts)))), params)
    raise Rejected("no such push")


def _at_distance(room: Room, stand: int, walk: tuple[int, int]) -> int:
    """The cells whose shortest walk to `stand` has a length from the first to the second number."""
    width, near, found = room.board.width, 0, 0
    wave = stand
    for steps in range(walk[1] + 1):
        near |= wave
        if steps >= walk[0]:
            found |= wave
        wave = (wave << 1 | wave >> 1 | wave << width | wave >> width) & room.state.reach & ~near
    return found


def _solve_push(problem: Problem[Position]) -> Solution[Position]:
    position = problem.position
    push = _asked_push(problem)
    player = position.cells(PLAYERS)[0]
    walk = shortest_walk(position, player, push.box.moved(OPPOSITE[push.direction]))
    if walk is None:
        raise Unsolvable(f"the player cannot get behind the box for '{push}' in\n{position}")
    after = game.apply(position, push)
    to = push.box.moved(push.direction)
    steps = len(walk) - 1
    return Solution(
        steps=push_steps(position, push, walk),
        after=after,
        difficulty=Difficulty(effort=steps + 1.0, length=1, nodes=steps + 1),
        result={"box": push.box, "to": to, "place": "@on_target" if position[to] in TARGETS else "@on_floor"},
    )


def _solve_all(problem: Problem[Position]) -> Solution[Position]:
    position = problem.position
    found = answer(position)
    plan, board = found.plan, found.tables.board
    end = plan.moves[-1].box if plan.moves else mask_of(position, PLAYERS)
    targets = position.cells(TARGETS)
    choices = [sum(1 for _ in moves(board, state, board.floor)) for state in plan.states[:-1]]
    return Solution(
        steps=plan_steps(position, found.tables, plan),
        after=position.placed(frozenset(targets), board.cell(end)),
        difficulty=Difficulty(
            effort=len(plan.moves) + log2(1 + plan.nodes),
            length=len(plan.moves),
            nodes=plan.nodes,
            branching=sum(choices) / max(1, len(choices)),
            forced=choices.count(1) / max(1, len(choices)),
        ),
        result={"boxes": len(targets), "targets": targets, "player": board.cell(end)},
    )


def _asked_push(problem: Problem[Position]) -> Push:
    return Push(Cell.parse(problem.text("box")), problem.text("direction"))


def _check_push(problem: Problem[Position], position: Position) -> Check:
    before = problem.position
    after = game.apply(before, _asked_push(problem))
    if (position.height, position.width) != (before.height, before.width):
        return _wrong_size(before, position)
    old, new, right = ("".join(each.rows) for each in (before, position, after))
    moving = [new[i] == right[i] for i in range(len(old)) if old[i] != right[i]]
    staying = [new[i] == right[i] for i in range(len(old)) if old[i] == right[i]]
    parts = {"moved": sum(moving) / len(moving), "kept": sum(staying) / len(staying)}
    push = _asked_push(problem)
    if position == after:
        reason = f"The box stands at {_cell(push.box.moved(push.direction))} and the player at {_cell(push.box)}."
        return Check(True, True, 1.0, reason, parts)
    fault = _fault(before, position)
    legal = not fault and _reachable(before, position)
    return Check(False, legal, parts["kept"], fault or _first_difference(position, after), parts)


def _check_all(problem: Problem[Position], position: Position) -> Check:
    before = problem.position
    if (position.height, position.width) != (before.height, before.width):
        return _wrong_size(before, position)
    old, new = "".join(before.lifted().rows), "".join(position.lifted().rows)
    kept = sum(map(str.__eq__, old, new)) / len(old)
    targets = before.cells(TARGETS)
    empty = [cell for cell in targets if position[cell] not in BOXES]
    parts = {"targets": 1 - len(empty) / len(targets), "room": kept}
    fault = _fault(before, position)
    if fault:
        return Check(False, False, kept, fault, parts)
    if empty:
        reason = f"The target at {_cell(empty[0])} has no box."
        return Check(False, _reachable(before, position), kept, reason, parts)
    player = position.cells(PLAYERS)[0]
    found = answer(before)
    if not found.ends & found.tables.board.bit(player):
        reason = f"All targets are covered, but no play that covers them lets the player end at {_cell(player)}."
        return Check(False, False, kept, reason, parts)
    return Check(True, True, 1.0, f"Every target has its box, and the player can end at {_cell(player)}.", parts)


def _fault(before: Position, position: Position) -> str:
    """What no play could do: change the room, or the number of boxes or players."""
    for cell in _differences(before.lifted(), position.lifted()):
        was, now = (_NAMES[each.lifted()[cell]] for each in (before, position))
        return f"The room changed: {_cell(cell)} was {was} and is now {now}."
    players, boxes, wanted = len(position.cells(PLAYERS)), len(position.cells(BOXES)), len(before.cells(BOXES))
    if players != 1:
        return f"There are {players} players instead of one." if players else "There is no player."
    if boxes != wanted:
        return f"The number of boxes changed: {boxes} instead of {wanted}."
    return ""


_NAMES = {"#": "wall", "-": "floor", ".": "a target"}


def _first_difference(position: Position, after: Position) -> str:
    for signs, name in ((BOXES, "box"), (PLAYERS, "player")):
        missing = [cell for cell in after.cells(signs) if position[cell] not in signs]
        if missing:
            return f"After the push a {name} should stand at {_cell(missing[0])}, but none is there."
    raise AssertionError("positions with the same room, boxes and player are the same")


def _differences(one: Position, other: Position) -> list[Cell]:
    return [cell for cell in one.cells("#-.$*@+") if one[cell] != other[cell]]


def _reachable(before: Position, position: Position) -> bool:
    """Whether play is known to lead to a position of the same room; unproven counts as no."""
    board, start, _ = board_of(before)
    boxes = mask_of(position, BOXES)
    goal = board.flood(mask_of(position, PLAYERS), board.floor & ~boxes)
    if start == State(boxes, goal):
        return True
    try:
        fewest_pushes(Tables(board, boxes), start, limit=LEGAL, ends=goal)
    except Unsolvable:
        return False
    return True


def _wrong_size(before: Position, position: Position) -> Check:
    shown, wanted = (f"{each.height} rows and {each.width} columns" for each in (position, before))
    return Check(False, False, 0.0, f"The room has {shown} instead of {wanted}.")


def _cell(cell: Cell) -> str:
    return f"cell ({cell.row}, {cell.col})"


solver = SokobanSolver()
