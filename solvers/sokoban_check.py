"""Whether a Sokoban answer, however it came about, is right.

For `push` one position is right. For `solve` the boxes are alike and must cover the targets, so a right answer differs
from another only in where the player stands: anywhere it can walk to after some play that covers them. Covered targets
may cut the room into regions; which of these a play can end in is known exactly, see `sokoban_search.ends`.
"""

from __future__ import annotations

from gamegen.core.cell import Cell
from gamegen.core.errors import Unsolvable
from gamegen.core.problem import Check, Problem
from gamegen.games.sokoban import (
    BOX,
    BOX_ON_TARGET,
    BOXES,
    FLOOR,
    PLAYER,
    PLAYER_ON_TARGET,
    PLAYERS,
    SIGNS,
    TARGET,
    TARGETS,
    WALL,
    Position,
    Push,
    game,
)
from solvers.sokoban_bits import State, board_of, mask_of
from solvers.sokoban_search import Tables, answer, fewest_pushes

LEGAL = 100
"""States that the search may expand to show that an unfinished position can be reached."""

_NAMES = {WALL: "wall", FLOOR: "floor", TARGET: "a target"}
_ON_TARGET = {BOX: BOX_ON_TARGET, PLAYER: PLAYER_ON_TARGET}


def checked(problem: Problem[Position], position: Position) -> Check:
    """Judge a position; a box or player drawn plain on a target's cell hides the target and does not remove it."""
    before = problem.position
    if (position.height, position.width) != (before.height, before.width):
        size, wanted = (f"{each.height} rows and {each.width} columns" for each in (position, before))
        return Check(False, False, 0.0, f"The room has {size} instead of {wanted}.")
    shown = _unhidden(before, position)
    return _check_push(problem, shown) if problem.kind == "push" else _check_all(problem, shown)


def asked_push(problem: Problem[Position]) -> Push:
    return Push(Cell.parse(problem.text("box")), problem.text("direction"))


def _check_push(problem: Problem[Position], position: Position) -> Check:
    before = problem.position
    push = asked_push(problem)
    after = game.apply(before, push)
    old, new, right = ("".join(each.rows) for each in (before, position, after))
    moving = [new[i] == right[i] for i in range(len(old)) if old[i] != right[i]]
    staying = [new[i] == right[i] for i in range(len(old)) if old[i] == right[i]]
    parts = {"moved": sum(moving) / len(moving), "kept": sum(staying) / len(staying)}
    if position == after:
        reason = f"The box stands at {_cell(push.box.moved(push.direction))} and the player at {_cell(push.box)}."
        return Check(True, True, 1.0, reason, parts)
    fault = _fault(before, position)
    legal = not fault and _reachable(before, position)
    return Check(False, legal, parts["kept"], fault or _first_difference(position, after), parts)


def _check_all(problem: Problem[Position], position: Position) -> Check:
    before = problem.position
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


def _unhidden(before: Position, position: Position) -> Position:
    """The position with every plain box or player that covers one of the room's targets shown as standing on it."""
    room = before.lifted()
    return Position(
        tuple(
            "".join(_ON_TARGET.get(sign, sign) if under == TARGET else sign for sign, under in zip(*rows, strict=True))
            for rows in zip(position.rows, room.rows, strict=True)
        )
    )


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


def _first_difference(position: Position, after: Position) -> str:
    for signs, name in ((BOXES, "box"), (PLAYERS, "player")):
        missing = [cell for cell in after.cells(signs) if position[cell] not in signs]
        if missing:
            return f"After the push a {name} should stand at {_cell(missing[0])}, but none is there."
    raise AssertionError("positions with the same room, boxes and player are the same")


def _differences(one: Position, other: Position) -> list[Cell]:
    return [cell for cell in one.cells(SIGNS) if one[cell] != other[cell]]


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


def _cell(cell: Cell) -> str:
    return f"cell ({cell.row}, {cell.col})"
