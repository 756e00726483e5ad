"""Why a Sokoban answer is right: the steps that tell a plan, built from what the search found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gamegen.core.cell import OPPOSITE, STEPS, Cell
from gamegen.core.problem import Fact, Step
from gamegen.games.sokoban import BOX_ON_TARGET, BOXES, PLAYERS, TARGETS, WALL, Position, Push
from solvers.sokoban_bits import DIRECTIONS, bits, mask_of, moves
from solvers.sokoban_search import Plan, Tables

ASIDES = 2
"""How many remarks of one sort a text may hold."""

LONG = 10
"""Plans of so many runs are told with one remark less."""


@dataclass(frozen=True, slots=True)
class Run:
    """Pushes of one box in one direction without a break; a stage is all that is done with a box in one go."""

    start: int  # index of its first push in the plan
    pushes: int
    opens: bool  # first run of its stage
    closes: bool  # last run of its stage


def push_steps(position: Position, push: Push, walk: list[Cell]) -> tuple[Step, ...]:
    """Find the box, the cell behind it and the cell ahead; walk; push."""
    box, direction = push.box, push.direction
    to, stand = box.moved(direction), walk[-1]
    ahead = "ahead_target" if position[to] in TARGETS else "ahead"
    way = f"@{direction}"
    return (
        Step("find", {"box": box, "player": walk[0]}),
        Step("side", {"box": box, "direction": way, "side": f"@side_{OPPOSITE[direction]}", "stand": stand}),
        Step(ahead, {"box": box, "direction": way, "to": to}),
        *_walk_steps(walk),
        Step("shove", {"box": box, "direction": way, "to": to}, str(push)),
    )


def plan_steps(position: Position, tables: Tables, plan: Plan) -> tuple[Step, ...]:
    """What is seen, what must be kept in mind, the runs of the plan, and how good it is."""
    boxes, targets = position.cells(BOXES), position.cells(TARGETS)
    seen = Step(
        "see_one" if len(boxes) == 1 else "see",
        {"player": position.cells(PLAYERS)[0], "boxes": len(boxes), "box": boxes, "target": targets},
    )
    pushes = len(plan.moves)
    proof = "tight" if plan.bound == pushes else "searched"
    return (
        seen,
        *_already(position),
        *_only_pairs(tables, plan),
        *_trap(position, tables, plan),
        *_told(tables, plan, mask_of(position, PLAYERS)),
        Step(proof, {"pushes": pushes} | ({} if proof == "tight" else {"bound": plan.bound})),
    )


def runs(plan: Plan) -> list[Run]:
    """The plan, push by push, cut where the box or the direction changes."""
    cuts: list[tuple[int, bool]] = []  # where a run begins, and whether a stage does
    for number, move in enumerate(plan.moves):
        last = plan.moves[number - 1] if number else None
        if last is None or move.box != last.to:
            cuts.append((number, True))
        elif move.direction != last.direction:
            cuts.append((number, False))
    ends = [*cuts[1:], (len(plan.moves), True)]
    return [Run(start, end - start, opens, closes) for (start, opens), (end, closes) in zip(cuts, ends, strict=True)]


def _walk_steps(walk: list[Cell]) -> list[Step]:
    steps, start, stand = len(walk) - 1, walk[0], walk[-1]
    if not steps:
        return [Step("standing", {"stand": stand})]
    turns = tuple(here for before, here, after in zip(walk, walk[1:], walk[2:], strict=False) if _bends(before, after))
    if not turns:
        return [Step("straight", {"stand": stand, "steps": steps})]
    direct = abs(start.row - stand.row) + abs(start.col - stand.col)
    told = [Step("detour", {"stand": stand, "steps": steps, "direct": direct})] if steps > direct else []
    return [*told, Step("route", {"stand": stand, "steps": steps, "turns": turns})]


def _bends(before: Cell, after: Cell) -> bool:
    return before.row != after.row and before.col != after.col


def _already(position: Position) -> Iterator[Step]:
    done = position.cells(BOX_ON_TARGET)
    if done:
        yield Step("already_one" if len(done) == 1 else "already", {"done": done})


def _only_pairs(tables: Tables, plan: Plan) -> list[Step]:
    """Boxes that walls allow on one target only, and targets that walls allow for one box only."""
    board = tables.board
    boxes, goals = list(bits(plan.states[0].boxes)), list(bits(tables.goals))
    if len(boxes) == 1:
        return []
    fits = {(box, goals[goal.bit_length() - 1]) for box in boxes for goal, _ in tables.costs[box]}
    found, told = [], set()
    for box, goal in sorted(fits):
        lone_box = sum(each == box for each, _ in fits) == 1
        if lone_box or sum(each == goal for _, each in fits) == 1:
            if box not in told and goal not in told:
                rule = "only_target" if lone_box else "only_box"
                found.append(Step(rule, {"box": board.cell(box), "target": board.cell(goal)}))
            told |= {box, goal}
    return found[:ASIDES]


def _trap(position: Position, tables: Tables, plan: Plan) -> Iterator[Step]:
    """A push that is possible at once and can never be made good, if there is one: one that looks like progress."""
    board, start = tables.board, plan.states[0]
    found = []
    for move in moves(board, start, board.floor & ~tables.live):
        box, to = board.cell(move.box), board.cell(move.to)
        gain = min(_apart(box, goal) for goal in board.cells(tables.goals)) - min(
            _apart(to, goal) for goal in board.cells(tables.goals)
        )
        found.append((-gain, box, DIRECTIONS[move.direction], to))
    if found:
        _, box, direction, to = min(found)
        rule = "trap_corner" if _in_corner(position, to) else "trap"
        yield Step(rule, {"box": box, "direction": f"@{direction}", "to": to})


def _told(tables: Tables, plan: Plan, player: int) -> Iterator[Step]:
    """The runs, each with the action that carries it out, and why a box has to wait where one has to."""
    board, told = tables.board, runs(plan)
    remarks = 0 if len(told) < LONG else ASIDES - 1
    for run in told:
        move = plan.moves[run.start]
        stand, to = board.shift(move.box, move.direction ^ 1), plan.moves[run.start + run.pushes - 1].to
        if run.opens and remarks < ASIDES:
            for remark in _waiting(tables, plan, run):
                remarks += 1
                yield remark
        opening = "next" if not run.opens else "here" if player == stand else "go"
        closing = "_target" if to & tables.goals else "_later" if run.closes else ""
        box, direction = board.cell(move.box), DIRECTIONS[move.direction]
        facts: dict[str, Fact] = {"stand": board.cell(stand), "box": box, "cells": run.pushes}
        facts |= {"direction": f"@{direction}", "to": board.cell(to)}
        yield Step(opening + closing, facts, str(Push(box, direction, run.pushes)))
        player = board.shift(to, move.direction ^ 1)


def _waiting(tables: Tables, plan: Plan, run: Run) -> Iterator[Step]:
    """The box that is pushed after this stage, if the box of this stage keeps it from being pushed now."""
    board, now, blocker = tables.board, plan.states[run.start], plan.moves[run.start].box
    following = [each for each in runs(plan) if each.opens and each.start > run.start]
    if not following:
        return
    move = plan.moves[following[0].start]
    stand = board.shift(move.box, move.direction ^ 1)
    if not move.box & now.boxes:
        return
    facts: dict[str, Fact] = {"box": board.cell(move.box), "blocker": board.cell(blocker)}
    facts["direction"] = f"@{DIRECTIONS[move.direction]}"
    if move.to == blocker:
        yield Step("occupied", facts)
    elif stand == blocker:
        yield Step("taken", facts)
    elif not stand & now.reach:
        lifted = board.floor & ~(now.boxes ^ blocker)
        if stand & lifted and board.flood(now.reach, lifted) & stand:
            yield Step("blocked", facts | {"stand": board.cell(stand)})


def _apart(one: Cell, other: Cell) -> int:
    return abs(one.row - other.row) + abs(one.col - other.col)


def _in_corner(position: Position, cell: Cell) -> bool:
    up, down, left, right = (position[cell.moved(direction)] == WALL for direction in STEPS)
    return (up or down) and (left or right)
