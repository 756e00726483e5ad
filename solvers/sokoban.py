"""Sokoban: problems by reverse play, answers by optimal search.

The parts: `sokoban_bits` (rooms as bitboards), `sokoban_rooms` (reverse play), `sokoban_search` (fewest pushes, ends),
`sokoban_reasons` (a plan in steps), `sokoban_claims` (each step checked anew), `sokoban_check` (any answer judged).
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
from gamegen.games.sokoban import BOXES, PLAYERS, TARGETS, Position, game, shortest_walk
from solvers.sokoban_bits import DIRECTIONS, bits, mask_of, moves
from solvers.sokoban_check import asked_push, checked
from solvers.sokoban_claims import confirmed
from solvers.sokoban_reasons import plan_steps, push_steps, runs
from solvers.sokoban_rooms import Room, Shape, draw_room
from solvers.sokoban_search import NodeLimit, Tables, answer


@dataclass(frozen=True, slots=True)
class Level:
    """What a level asks for; pairs are the least and the most."""

    shape: Shape
    walk: tuple[int, int]  # `push`: steps to the named box
    pulls: tuple[int, int]  # `solve`: reverse play
    pushes: tuple[int, int]  # `solve`: of a shortest solution
    nodes: tuple[int, int]  # `solve`: states that the search for it expands


LEVELS = {
    1: Level(Shape((7, 8), (45, 75), 3, (1, 1)), (0, 1), (8, 16), (2, 4), (1, 40)),
    2: Level(Shape((7, 9), (50, 75), 3, (2, 2)), (2, 4), (16, 26), (4, 8), (4, 80)),
    3: Level(Shape((8, 10), (50, 70), 4, (3, 3)), (5, 7), (24, 40), (8, 14), (8, 100)),
    4: Level(Shape((9, 12), (50, 70), 6, (3, 4)), (8, 11), (35, 55), (13, 22), (16, 200)),
    5: Level(Shape((11, 14), (50, 70), 9, (4, 5)), (12, 30), (60, 80), (20, 60), (28, 400)),
}
PULLS_BEFORE_PUSH = (3, 16)
"""Reverse play before a `push` is asked for: enough to scatter the boxes, few enough to leave some on targets."""

MOST_RUNS = 14
"""Straight runs of pushes that a solution may have: longer plans make dull reading."""

OTHER_ENDS = 200
"""States that generation grants to the search for each further region in which the player may end."""


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
        return checked(problem, position)

    def confirm(self, problem: Problem[Position], position: Position, step: Step) -> bool:
        return confirmed(problem, position, step)


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
    if len(runs(plan)) > MOST_RUNS:
        raise Rejected("too long to tell")
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
    push = asked_push(problem)
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


solver = SokobanSolver()
