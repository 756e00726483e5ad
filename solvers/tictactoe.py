"""Tic-tac-toe: the optimal move and why; whether another is optimal too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.tictactoe import EMPTY, LINES, Grid, Mark, empties, put, winner
from solvers.tictactoe_claims import CLAIMS
from solvers.tictactoe_tree import (
    by_level,
    cell_of,
    completions,
    look_ahead,
    mark,
    optimal_moves,
    other,
    plies_to_end,
    side,
    tree_size,
    value,
)


class TicTacToeSolver(Solver[Grid]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Grid]:
        return rng.choice(self.universe(kind, level))

    def universe(self, kind: str, level: int) -> Sequence[Problem[Grid]]:
        return tuple(Problem(kind, position) for position in by_level()[level])

    def solve(self, problem: Problem[Grid]) -> Solution[Grid]:
        return _solve(problem.position)

    def check(self, problem: Problem[Grid], position: Grid) -> Check:
        before, after = problem.position.places, position.places
        added = [at for at in range(9) if before[at] == EMPTY and after[at] != EMPTY]
        kept = [at for at in range(9) if before[at] != EMPTY and after[at] == before[at]]
        marks = 9 - before.count(EMPTY)
        preserved = len(kept) / marks if marks else 1.0
        turn = problem.position.turn
        fault = _fault(problem.position, position, added, len(kept) == marks, turn)
        if fault:
            return Check(False, False, preserved, fault, {"kept": preserved, "moved": 0.0})
        optimal = added[0] in optimal_moves(problem.position)
        row, col = divmod(added[0], 3)
        verdict = "which is optimal" if optimal else f"but {_loss(problem.position, added[0])}"
        reason = f"One {turn} was added at cell ({row}, {col}), {verdict}."
        return Check(optimal, True, preserved, reason, {"kept": 1.0, "moved": 1.0})

    def confirm(self, problem: Problem[Grid], position: Grid, step: Step) -> bool:
        claim = CLAIMS.get(step.rule)
        return claim is not None and claim(position, dict(step.facts), step.action)


def _fault(before: Grid, after: Grid, added: list[int], kept: bool, turn: str) -> str:
    if not kept:
        at = next(at for at in range(9) if before.places[at] not in (EMPTY, after.places[at]))
        return f"The {before.places[at]} at cell ({at // 3}, {at % 3}) should have stayed."
    if len(added) != 1:
        return f"Exactly one mark should be added, not {len(added)}."
    if after.places[added[0]] != turn:
        return f"It was {turn}'s turn, but an {after.places[added[0]]} was added."
    return ""


def _loss(position: Grid, move: int) -> str:
    had, now = value(position), -value(put(position, move))
    return f"that turns a {_RESULT[had]} into a {_RESULT[now]}"


_RESULT = {1: "win", 0: "draw", -1: "loss"}


@lru_cache(maxsize=8192)
def _solve(position: Grid) -> Solution[Grid]:
    me, them = position.turn, other(position.turn)
    optimal = optimal_moves(position)
    move = min(
        optimal, key=lambda at: (plies_to_end(put(position, at)) if value(position) > 0 else 0, optimal.index(at))
    )
    after = put(position, move)
    action = str(Mark(me, cell_of(move)))
    steps = [_look(position), *_urgent(position), *_choice(position, move, action)]
    nodes = tree_size(position)
    difficulty = Difficulty(
        effort=float(look_ahead(position)),
        length=1,
        nodes=nodes,
        branching=float(len(empties(position))),
        forced=1.0 if len(optimal) == 1 else 0.0,
    )
    result: dict[str, Fact] = {"me": side(me), "mark": mark(me), "cell": cell_of(move), "them": side(them)}
    return Solution(tuple(steps), after, difficulty, result)


def _look(position: Grid) -> Step:
    o, x = position.places.count("O"), position.places.count("X")
    rule = "turn-even" if o == x else "turn-odd"
    return Step(rule, {"o": o, "x": x, "me": side(position.turn), "them": side(other(position.turn))})


def _urgent(position: Grid) -> list[Step]:
    """What the lines on the board say: who could win now, and where."""
    me, them = position.turn, other(position.turn)
    if completions(position, me):
        return []
    threats = completions(position, them)
    if not threats:
        return [Step("no-threat", {"me": side(me), "them": side(them)})]
    return [
        Step(
            "threat",
            {"them": side(them), "me": side(me), "held": _held(position, them, place), "cell": cell_of(place)},
        )
        for place in threats
    ]


def _choice(position: Grid, move: int, action: str) -> list[Step]:
    """Why this move."""
    me, them = position.turn, other(position.turn)
    after = put(position, move)
    facts: dict[str, Fact] = {"me": side(me), "them": side(them), "mark": mark(me), "cell": cell_of(move)}
    if winner(after) == me:
        return [Step("win", {**facts, "held": _held(position, me, move)}, action)]
    steps = _refutations(position, move)
    wins = completions(after, me)
    if completions(position, them) and move in completions(position, them):
        rule = "block-fork" if len(wins) > 1 else "block-threat" if wins else "block"
    elif len(wins) > 1:
        rule = "fork"
    elif wins:
        rule = "force"
        facts["reply"] = cell_of(wins[0])
    else:
        rule = "quiet"
    if len(wins) > 1 or rule == "block-threat":
        facts["wins"] = tuple(cell_of(place) for place in wins)
    steps.append(Step(rule, facts, action))
    steps.append(Step("outcome-win" if value(position) > 0 else "outcome-draw", {"me": side(me), "them": side(them)}))
    return steps


def _refutations(position: Grid, move: int) -> list[Step]:
    """What goes wrong elsewhere, where looking at single lines does not tell: at most two examples."""
    me, them = position.turn, other(position.turn)
    if look_ahead(position) < 3:
        return []
    bad = [at for at in empties(position) if at not in optimal_moves(position)]
    steps = []
    for at in bad[:2]:
        reply = optimal_moves(put(position, at))[0]
        result = -value(put(position, at))
        rule = "refute-loss" if result < 0 else "refute-draw"
        steps.append(Step(rule, {"me": side(me), "them": side(them), "cell": cell_of(at), "reply": cell_of(reply)}))
    return steps


def _held(position: Grid, player: str, place: int) -> tuple[Fact, ...]:
    """The two marks of the line that this place would complete."""
    for line in LINES:
        if place in line and all(position.places[at] == player for at in line if at != place):
            return tuple(cell_of(at) for at in line if at != place)
    raise AssertionError(f"{place} completes no line of {player} in {position}")


solver = TicTacToeSolver()
