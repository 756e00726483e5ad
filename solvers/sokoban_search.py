"""Sokoban by bitboards: the fewest pushes to a goal, and every cell where the player can then stand.

A state is (boxes, the cells the player can reach). `fewest_pushes` is A*:

- lower bound: the cheapest assignment of boxes to goals, each pair costing the pushes it would take in a room without
  other boxes. One push changes it by one at most, so the bound is consistent and the first goal taken up is optimal;
  it has the parity of the pushes to come, so `f` grows by twos and the open list is a stack per value of `f`;
- transposition table: states, with the fewest pushes known to reach them;
- deadlock tables: cells from which a lone box can reach no goal are never entered, and boxes that block each other for
  good off the goals end a line; both, and the bound, are looked up by the box set once computed.

Limits count expanded states. Ties go to the box pushed last, so that plans are easy to tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from gamegen.core.errors import Unsolvable
from gamegen.games.sokoban import Position
from solvers.sokoban_bits import Board, Move, State, bits, board_of, moves

NEVER = 1 << 20
"""More pushes than any plan: the bound of a dead state."""


_ORDER = tuple(tuple(sorted(range(4), key=heading.__eq__)) for heading in (0, 1, 2, 3, -1))
"""Directions to try after a push in one of them: that one last, as the open list is a stack."""


LIMIT = 20_000
"""States that one search for an answer may expand: far more than generation allows any emitted problem."""

_ANSWERS: dict[Position, Answer] = {}


class NodeLimit(Unsolvable):
    """The search was cut off before it had an answer."""


NO_MOVE = Move(0, 0, -1)


@dataclass(frozen=True, slots=True)
class Plan:
    """A shortest sequence of pushes, with the states it passes: one more than pushes."""

    moves: tuple[Move, ...]
    states: tuple[State, ...]
    bound: int  # pushes that the assignment alone proves necessary
    nodes: int  # states expanded


class Tables:
    """What can be worked out once for a room and a set of goals, one for each box."""

    def __init__(self, board: Board, goals: int) -> None:
        self.board = board
        self.goals = goals
        self.costs: dict[int, list[tuple[int, int]]] = {}  # cell -> (goal as a bit, pushes to it), reachable goals only
        for number, goal in enumerate(bits(goals)):
            for cell, pushes in lone_pushes(board, goal).items():
                self.costs.setdefault(cell, []).append((1 << number, pushes))
        self.live = sum(self.costs)
        self._all = (1 << goals.bit_count()) - 1
        self._bounds: dict[int, int] = {}
        self._tables: dict[int, dict[int, int]] = {0: {0: 0}}

    def bound(self, boxes: int, moved: int = 0) -> int:
        """Pushes that are needed at least, NEVER for a state known to be dead; `moved` is the box that came last."""
        known = self._bounds.get(boxes)
        if known is None:
            known = NEVER if moved and self._jammed(boxes, moved) else self._assignment(boxes, moved or boxes & -boxes)
            self._bounds[boxes] = known
        return known

    def _assignment(self, boxes: int, last: int) -> int:
        """The cheapest pairing of all boxes with all goals: the others by table, then one goal for the last."""
        others = self._pairings(boxes ^ last)
        best = NEVER
        for goal, pushes in self.costs.get(last, ()):
            rest = others.get(self._all ^ goal)
            if rest is not None and rest + pushes < best:
                best = rest + pushes
        return best

    def _pairings(self, boxes: int) -> dict[int, int]:
        """Goals taken -> least pushes, for every way to pair these boxes; kept, as most boxes stay put for long."""
        known = self._tables.get(boxes)
        if known is None:
            known = {}
            box = 1 << boxes.bit_length() - 1
            for taken, cost in self._pairings(boxes ^ box).items():
                for goal, pushes in self.costs.get(box, ()):
                    if not taken & goal:
                        both, total = taken | goal, cost + pushes
                        if known.get(both, NEVER) > total:
                            known[both] = total
            self._tables[boxes] = known
        return known

    def _jammed(self, boxes: int, moved: int) -> bool:
        """Whether the box that just moved, or one beside it, is stuck for good off the goals."""
        board = self.board
        beside = 0
        for direction in range(4):
            beside |= board.shift(moved, direction)
        beside &= boxes
        if not beside:
            return False  # a lone box is stuck only on dead cells, and those are never entered
        return any(not box & self.goals and self._stuck(box, boxes, 0) for box in bits(beside | moved))

    def _stuck(self, box: int, boxes: int, fixed: int) -> bool:
        """Whether a box can move on neither axis, if those of `fixed` cannot move."""
        shift, walls = self.board.shift, ~self.board.floor | fixed
        for one, other in ((0, 1), (2, 3)):
            sides = shift(box, one) | shift(box, other)
            if sides & walls or not sides & self.live:
                continue
            if not any(self._stuck(side, boxes, fixed | box) for side in bits(sides & boxes)):
                return False
        return True


def fewest_pushes(tables: Tables, start: State, *, limit: int, ends: int = 0) -> Plan:
    """A plan with the fewest pushes that covers the goals, the player ending in `ends` if given; or Unsolvable."""
    board, goals, least = tables.board, tables.goals, {start: 0}
    came: dict[State, tuple[State, Move]] = {}
    f = lowest = tables.bound(start.boxes)
    stacks = {f: [(0, start)]}  # f -> open states with the pushes they took
    nodes = 0
    while f < NEVER:
        stack = stacks[f]
        while stack:
            g, state = stack.pop()
            if least[state] != g:
                continue  # a shorter way here was found since
            if state.boxes == goals and (not ends or state.reach & ends):
                return _plan(state, came, lowest, nodes)
            nodes += 1
            if nodes > limit:
                raise NodeLimit(f"no answer within {limit} states")
            last = came[state][1] if g else NO_MOVE
            g += 1
            same_box = []
            for move in moves(board, state, tables.live, order=_ORDER[last.direction]):
                boxes = state.boxes ^ move.box ^ move.to
                h = tables.bound(boxes, move.to)
                if h == NEVER:
                    continue
                child = State(boxes, board.flood(move.box, board.floor & ~boxes))
                if least.get(child, NEVER) <= g:
                    continue
                least[child] = g
                came[child] = (state, move)
                if move.box == last.to:
                    same_box.append((g + h, child))
                else:
                    stacks.setdefault(g + h, []).append((g, child))
            for total, child in same_box:
                stacks.setdefault(total, []).append((g, child))
        del stacks[f]
        f = min(stacks, default=NEVER)
    raise Unsolvable("no sequence of pushes leads there")


def lone_pushes(board: Board, goal: int) -> dict[int, int]:
    """Fewest pushes of a single box to `goal` from each cell, the player taken to be wherever it is needed."""
    floor, shift = board.floor, board.shift
    found, wave, pushes = {goal: 0}, goal, 0
    seen = goal
    while wave:
        pushes += 1
        pulled = 0
        for direction in range(4):
            pulled |= shift(wave, direction) & shift(floor, direction ^ 1)
        wave = pulled & floor & ~seen
        seen |= wave
        for cell in bits(wave):
            found[cell] = pushes
    return found


def ends(tables: Tables, plan: Plan, *, limit: int) -> int:
    """Every cell where the player can stand when all goals are covered, given one plan that covers them: exact.

    Covered goals may cut the floor into regions. A region counts if some last push ends in it and the play before that
    push exists: the plan's own region is known, each other one is searched for, with `limit` states each.
    """
    board, goals = tables.board, tables.goals
    free = board.floor & ~goals
    start, found = plan.states[0], plan.states[-1].reach
    rest = free & ~found
    while rest:
        region = board.flood(rest & -rest, free)
        rest &= ~region
        if _entered(board, goals, free, region) and _exists(tables, start, limit=limit, ends=region):
            found |= region
    return found


def _exists(tables: Tables, start: State, *, limit: int, ends: int) -> bool:
    try:
        fewest_pushes(tables, start, limit=limit, ends=ends)
    except NodeLimit:
        raise
    except Unsolvable:
        return False
    return True


def _entered(board: Board, goals: int, free: int, region: int) -> bool:
    """Whether some push onto a goal leaves the player in this region."""
    shift = board.shift
    return any(shift(region, d) & goals and shift(shift(goals, d ^ 1) & region, d ^ 1) & free for d in range(4))


def _plan(state: State, came: dict[State, tuple[State, Move]], bound: int, nodes: int) -> Plan:
    trail: list[Move] = []
    states = [state]
    while state in came:
        state, move = came[state]
        trail.append(move)
        states.append(state)
    return Plan(tuple(reversed(trail)), tuple(reversed(states)), bound, nodes)


@dataclass(frozen=True, slots=True)
class Answer:
    plan: Plan
    tables: Tables
    ends: int  # every cell where the player can stand at the end


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
