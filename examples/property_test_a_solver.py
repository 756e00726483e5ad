"""Test a solver of your own against exact rules: hypothesis draws seeds, gamegen the problems, and the rules judge."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen import Key, make_sample
from gamegen.games.tictactoe import PLAYERS, Grid, empties, has_won, put


def greedy(position: Grid) -> int:
    """Win if you can, stop a win if you must, else take the first free place."""
    places = empties(position)
    for player in sorted(PLAYERS, key=lambda player: player != position.turn):  # mine first, then theirs
        for at in places:
            if has_won(Grid(position.places[:at] + player + position.places[at + 1 :]), player):
                return at
    return places[0]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=st.integers(), level=st.sampled_from([1, 2, 3, 4, 5]))
def greedy_is_optimal(seed: int, level: int) -> None:
    sample = make_sample(Key("tictactoe/best", seed=seed, level=level))
    before = sample.problem.position
    check = sample.plugin.solver.check(sample.problem, put(before, greedy(before)))
    assert check.correct, f"In {before}: {check.reason}"


try:
    greedy_is_optimal()
    print("Greedy play is optimal.")
except AssertionError as error:
    print(f"Greedy play is not optimal. {str(error).splitlines()[0]}")
