"""Volleys of Space Invaders: a command of the ship and a step of the formation, in turns.

The step goes onward unless one of the remaining invaders is in the edge column ahead; then it goes down and the heading
turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gamegen.core.cell import OPPOSITE
from gamegen.core.errors import IllegalAction, Rejected
from gamegen.core.problem import Difficulty, Fact, Problem, Solution, Step
from gamegen.core.stream import Stream
from gamegen.games.spaceinvaders import Action, Fire, March, Move, Position, game


@dataclass(frozen=True, slots=True)
class Tick:
    """One action of a volley, the position it meets, and which way the formation heads before it."""

    number: int  # of the command, from 1
    action: Action
    position: Position
    heading: str


def draw_volley(position: Position, rng: Stream, *, commands: int, turns: int) -> Problem[Position]:
    """Commands drawn one by one as the volley runs: a shot after every move, most shots aimed, one at the end."""
    march = rng.choice(("left", "right"))
    program: list[str] = []
    now, heading, made = position, march, 0
    while len(program) < commands:
        rest = commands - len(program)
        fire = rest == 1 or (program and program[-1] != "F") or (rest != 2 and program and rng.chance(0.3))
        action = Fire() if fire else _aim(now, heading, rng)
        program.append(str(action))
        now = game.apply(now, action)
        step, heading = next_step(now, heading)
        now = _marched(now, step)
        made += step == March("down")
    if made != turns:
        raise Rejected("the formation turns too often or too rarely")
    left = now.invaders()
    if len(left) == len(position.invaders()):
        raise Rejected("no shot hits")
    if len({cell.row for cell in left}) < 2 or len({cell.col for cell in left}) < 2:
        raise Rejected("too little of the formation is left")
    return Problem("volley", position, (("program", " ".join(program)), ("march", march)))


def _aim(position: Position, heading: str, rng: Stream) -> Move:
    """A move of up to four columns, mostly to where an invader will be once the formation has taken its next step."""
    (ship,) = position.ships()
    step, _ = next_step(position, heading)
    targets = _marched(position, step).columns()
    moves = [by for by in range(-4, 5) if by and 0 <= ship.col + by < position.width]
    aimed = [by for by in moves if ship.col + by in targets]
    return Move(rng.choice(aimed if aimed and rng.chance(0.85) else moves))


def next_step(position: Position, heading: str) -> tuple[March | None, str]:
    """The formation's next step and the heading after it; no step if no invader is left."""
    columns = position.columns()
    if not columns:
        return None, heading
    if columns[0] == 0 if heading == "left" else columns[-1] == position.width - 1:
        return March("down"), OPPOSITE[heading]
    return March(heading), heading


def _marched(position: Position, step: March | None) -> Position:
    if step is None:
        return position
    try:
        return game.apply(position, step)
    except IllegalAction:
        raise Rejected("the formation reaches the ship") from None


def ticks(problem: Problem[Position]) -> Iterator[Tick]:
    """Every action of a volley, in order: command, step of the formation, command, …"""
    position, heading = problem.position, problem.text("march")
    for number, code in enumerate(problem.text("program").split(), start=1):
        command = game.parse_action(code)
        yield Tick(number, command, position, heading)
        position = game.apply(position, command)
        step, turned = next_step(position, heading)
        if step is not None:
            yield Tick(number, step, position, heading)
            position = game.apply(position, step)
        heading = turned


def solve_volley(problem: Problem[Position]) -> Solution[Position]:
    start = problem.position
    (ship,) = start.ships()
    first, last = _extent(start)
    facts: dict[str, Fact] = {"count": len(start.invaders()), "first": first, "last": last, "width": start.width}
    steps = [Step("formation", facts | {"ship": ship.col + 1, "march": f"@{problem['march']}"})]
    after = start
    for tick in ticks(problem):
        after = game.apply(tick.position, tick.action)
        steps.append(_told(tick, after))
    rules = [step.rule for step in steps]
    program = problem.text("program").split()
    left = after.invaders()
    rows = [cell.row + 1 for cell in left]
    first, last = _extent(after)
    return Solution(
        tuple(steps),
        after,
        Difficulty(
            effort=len(program) + rules.count("hit") + 3 * rules.count("turn"),
            length=len(steps) - 1,
            nodes=len(steps) - 1,
        ),
        {
            "left": len(left),
            "top": min(rows),
            "bottom": max(rows),
            "first": first,
            "last": last,
            "ship": after.ships()[0].col + 1,
        },
    )


def _told(tick: Tick, after: Position) -> Step:
    """The sentence's facts for one action of a volley."""
    (ship,) = tick.position.ships()
    code, column = str(tick.action), ship.col + 1
    if isinstance(tick.action, Move):
        return Step(
            "command",
            {"number": tick.number, "code": code, "start": column, "column": column + tick.action.by},
            code,
        )
    if isinstance(tick.action, Fire):
        hit = tick.position.lowest(ship.col)
        facts: dict[str, Fact] = {"number": tick.number, "column": column}
        if hit is None:
            return Step("miss", facts, code)
        return Step("hit", facts | {"row": hit.row + 1, "kind": f"@kind{tick.position[hit]}"}, code)
    if tick.action.way == "down":
        edge = 1 if tick.heading == "left" else tick.position.width
        return Step("turn", {"number": tick.number, "edge": edge, "march": f"@{OPPOSITE[tick.heading]}"}, code)
    first, last = _extent(after)
    return Step("march", {"number": tick.number, "way": f"@{tick.action.way}", "first": first, "last": last}, code)


def _extent(position: Position) -> tuple[int, int]:
    columns = position.columns()
    return columns[0] + 1, columns[-1] + 1
