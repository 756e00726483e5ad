"""Tic-tac-toe: what each kind of reasoning step claims, checked from its facts alone."""

from __future__ import annotations

from collections.abc import Callable

from gamegen.core.cell import Cell
from gamegen.core.problem import Fact
from gamegen.games.tictactoe import EMPTY, LINES, Grid, Mark, put
from solvers.tictactoe_tree import cell_of, completions, mark, optimal_moves, other, side, value

Facts = dict[str, Fact]
Claim = Callable[[Grid, Facts, str], bool]


def _place(fact: Fact) -> int:
    assert isinstance(fact, Cell)
    return fact.row * 3 + fact.col


def _players(position: Grid, facts: Facts) -> bool:
    me = position.turn
    return facts["me"] == side(me) and facts.get("them", side(other(me))) == side(other(me))


def _says_turn(position: Grid, facts: Facts, action: str) -> bool:
    counts = position.places.count("O"), position.places.count("X")
    return _players(position, facts) and (facts["o"], facts["x"]) == counts


def _says_no_threat(position: Grid, facts: Facts, action: str) -> bool:
    return _players(position, facts) and not any(completions(position, player) for player in "OX")


def _says_threat(position: Grid, facts: Facts, action: str) -> bool:
    return _players(position, facts) and _line_holds(position, other(position.turn), facts)


def _line_holds(position: Grid, player: str, facts: Facts) -> bool:
    held, place = facts["held"], _place(facts["cell"])
    assert isinstance(held, tuple)
    line = tuple(sorted([place, *(_place(cell) for cell in held)]))
    return line in LINES and position.places[place] == EMPTY and all(position.places[_place(c)] == player for c in held)


def _says_move(position: Grid, facts: Facts, action: str) -> bool:
    """The move named is the move made, and it is optimal."""
    place, me = _place(facts["cell"]), position.turn
    return (
        _players(position, facts)
        and facts["mark"] == mark(me)
        and action == str(Mark(me, cell_of(place)))
        and place in optimal_moves(position)
    )


def _says_win(position: Grid, facts: Facts, action: str) -> bool:
    return _says_move(position, facts, action) and _line_holds(position, position.turn, facts)


def _wins_after(position: Grid, facts: Facts) -> list[Fact]:
    return [cell_of(at) for at in completions(put(position, _place(facts["cell"])), position.turn)]


def _stops(position: Grid, facts: Facts) -> bool:
    return list(completions(position, other(position.turn))) == [_place(facts["cell"])]


def _says_block(position: Grid, facts: Facts, action: str) -> bool:
    return _says_move(position, facts, action) and _stops(position, facts) and not _wins_after(position, facts)


def _says_block_more(position: Grid, facts: Facts, action: str) -> bool:
    wins = _wins_after(position, facts)
    return _says_move(position, facts, action) and _stops(position, facts) and wins == list(_cells(facts["wins"]))


def _says_fork(position: Grid, facts: Facts, action: str) -> bool:
    wins = _wins_after(position, facts)
    return _says_move(position, facts, action) and len(wins) > 1 and wins == list(_cells(facts["wins"]))


def _says_force(position: Grid, facts: Facts, action: str) -> bool:
    return _says_move(position, facts, action) and _wins_after(position, facts) == [facts["reply"]]


def _says_quiet(position: Grid, facts: Facts, action: str) -> bool:
    return _says_move(position, facts, action) and not _wins_after(position, facts)


def _cells(fact: Fact) -> tuple[Fact, ...]:
    assert isinstance(fact, tuple)
    return fact


def _says_refute(wanted: int) -> Claim:
    def claim(position: Grid, facts: Facts, action: str) -> bool:
        move, reply = _place(facts["cell"]), _place(facts["reply"])
        if position.places[move] != EMPTY:
            return False
        answered = put(position, move)
        return (
            _players(position, facts)
            and -value(answered) == wanted
            and answered.places[reply] == EMPTY
            and value(put(answered, reply)) == wanted
        )

    return claim


def _says_outcome(wanted: int) -> Claim:
    def claim(position: Grid, facts: Facts, action: str) -> bool:
        """Made after the move: it is the opponent's turn, who can force no better than this."""
        swapped = facts["me"] == side(other(position.turn)) and facts["them"] == side(position.turn)
        return swapped and -value(position) == wanted

    return claim


CLAIMS: dict[str, Claim] = {
    "turn-even": _says_turn,
    "turn-odd": _says_turn,
    "no-threat": _says_no_threat,
    "threat": _says_threat,
    "win": _says_win,
    "block": _says_block,
    "block-threat": _says_block_more,
    "block-fork": _says_block_more,
    "fork": _says_fork,
    "force": _says_force,
    "quiet": _says_quiet,
    "refute-loss": _says_refute(-1),
    "refute-draw": _says_refute(0),
    "outcome-win": _says_outcome(1),
    "outcome-draw": _says_outcome(0),
}
