"""Pac-Man's reasoning, checked sentence by sentence: every claim is worked out anew, by plain walking and counting.

Nothing of the search that found the answer is used here; routes are measured by one flood over (cell, goals left).
"""

from __future__ import annotations

from collections.abc import Mapping

from gamegen.core.cell import STEPS, Cell
from gamegen.core.problem import Fact, Problem, Step
from gamegen.games.pacman import BEAN, BLOCKED, CHERRY, GHOSTS, PELLET, WALL, Position

Facts = Mapping[str, Fact]


def holds(problem: Problem[Position], position: Position, step: Step) -> bool:
    """Whether the step's facts are true; `position` is the one in which it is made."""
    facts = step.facts
    if step.rule in ("wall", "ghost", "barren", "count"):
        return _line(position, str(facts["direction"])[1:]) == (step.rule, dict(facts))
    if step.rule == "most":
        return _is_most(position, facts, step.action)
    if step.rule in ("leg", "leg-prize"):
        return _is_leg(position, step)
    if step.rule == "eaten":
        eaten = len(problem.position.find(BEAN)) - len(position.find(BEAN))
        return dict(facts) == {"beans": eaten, "steps": _fewest(problem.position, _goals(problem))}
    if step.rule.startswith("seen"):
        return _is_seen(position, step)
    return _is_length(position, _goals(problem), step)


def _line(position: Position, direction: str) -> tuple[str, dict[str, Fact]]:
    """The one true sentence about a direction: its rule and facts."""
    place = position.pacman()
    beans, walked = 0, 0
    while position[place.moved(direction)] not in BLOCKED:
        place = place.moved(direction)
        beans += position[place] == BEAN
        walked += 1
    stop = place.moved(direction)
    way: dict[str, Fact] = {"direction": f"@{direction}"}
    if position[stop] in GHOSTS:
        return "ghost", {**way, "ghost": stop}
    if not walked:
        return "wall", way
    return ("count", {**way, "beans": beans, "stop": place}) if beans else ("barren", {**way, "stop": place})


def _is_most(position: Position, facts: Facts, action: str) -> bool:
    found = {direction: _line(position, direction) for direction in STEPS}
    counts = {way: int(str(said.get("beans", 0))) for way, (rule, said) in found.items() if rule in ("count", "barren")}
    best = str(facts["direction"])[1:]
    rest = [count for way, count in counts.items() if way != best]
    if best not in counts or not rest or max(rest) >= counts[best]:
        return False
    stop, start = found[best][1]["stop"], position.pacman()
    assert isinstance(stop, Cell)
    walked = abs(stop.row - start.row) + abs(stop.col - start.col)
    return (facts["beans"], facts["second"], action) == (counts[best], max(rest), f"{best} {walked}")


def _is_seen(position: Position, step: Step) -> bool:
    want: dict[str, Fact] = {"cell": position.pacman()}
    if step.rule != "seen-sweep":
        want["ghosts"] = tuple(position.find(GHOSTS))
    if step.rule == "seen-cherry":
        (want["cherry"],) = position.find(CHERRY)
    if step.rule == "seen-pellets":
        want["pellets"] = tuple(position.find(PELLET))
        want["count"] = len(position.find(PELLET))
    return dict(step.facts) == want


def _is_leg(position: Position, step: Step) -> bool:
    facts, place = step.facts, position.pacman()
    direction, count = str(facts["direction"])[1:], int(str(facts["count"]))
    for _ in range(count):
        place = place.moved(direction)
        if position[place] in BLOCKED:
            return False
    prize = {PELLET: "@pellet", CHERRY: "@cherry"}.get(position[place])
    return (facts["cell"], facts.get("prize"), step.action) == (place, prize, f"{direction} {count}")


def _is_length(position: Position, goals: tuple[Cell, ...], step: Step) -> bool:
    """The sentences that say why no route is shorter."""
    facts, steps = step.facts, _fewest(position, goals)
    start, goal = position.pacman(), goals[0]
    apart = abs(start.row - goal.row) + abs(start.col - goal.col)
    free = _fewest(position, goals, closed=WALL)
    if steps is None or free is None or facts["steps"] != steps:
        return False
    if step.rule == "direct":
        return len(goals) == 1 and steps == apart
    if step.rule == "detour":
        return len(goals) == 1 and facts["apart"] == apart < steps == free
    if step.rule == "ghosts":
        return facts["free"] == free < steps and facts["number"] == len(position.find(GHOSTS))
    by_first = {goal: _fewest(position, goals, first=goal) for goal in goals}
    known = {goal: length for goal, length in by_first.items() if length is not None}
    others = {goal: length for goal, length in known.items() if goal != facts["first"]}
    if known.get(_cell(facts["first"])) != steps:
        return False
    if step.rule == "only-first":
        return not others
    more = steps if step.rule == "order-tie" else facts["more"]
    return bool(others) and min(others.values()) == more == others.get(_cell(facts["other"]))


def _goals(problem: Problem[Position]) -> tuple[Cell, ...]:
    return tuple(problem.position.find(CHERRY if problem.text("goal") == "cherry" else PELLET))


def _cell(fact: Fact) -> Cell:
    assert isinstance(fact, Cell)
    return fact


def _fewest(
    position: Position, goals: tuple[Cell, ...], *, closed: str = BLOCKED, first: Cell | None = None
) -> int | None:
    """Steps of the shortest walk over all goals (`first` before any other one), or None if there is none."""
    state = (position.pacman(), frozenset(goals))
    seen, front, steps = {state}, [state], 0
    while front:
        if any(not left for _, left in front):
            return steps
        onward = []
        for place, left in front:
            for direction in STEPS:
                there = place.moved(direction)
                early = first in left and there in left and there != first
                state = (there, left - {there})
                if position[there] not in closed and not early and state not in seen:
                    seen.add(state)
                    onward.append(state)
        front, steps = onward, steps + 1
    return None
