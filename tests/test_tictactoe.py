"""Tic-tac-toe: published numbers, positions a person checked, tampered reasons."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.errors import IllegalAction
from gamegen.core.key import Key
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream
from gamegen.games.tictactoe import EMPTY, Grid, Mark, empties, game, put, winner
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import make_sample
from solvers.tictactoe import solver
from solvers.tictactoe_tree import by_level, optimal_moves, reachable, value


def best(text: str) -> Problem[Grid]:
    return Problem("best", game.parse(text))


def test_published_numbers() -> None:
    """5,478 positions, 765 up to symmetry, 255,168 games: the whole rule set in three integers."""

    @cache
    def games(position: Grid) -> int:
        if winner(position) or not empties(position):
            return 1
        return sum(games(game.apply(position, action)) for action in game.actions(position))

    assert len(reachable()) == 5478
    assert len({game.canonical(position) for position in reachable()}) == 765
    assert games(Grid(EMPTY * 9)) == 255_168
    assert all(not game.faults(position) for position in reachable())


def test_values_agree_with_a_plain_minimax() -> None:
    """An oracle that shares no code with the solver: lists, no memory, no symmetry."""
    lines = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]

    def minimax(mine: set[int], theirs: set[int]) -> int:
        if any(line <= theirs for line in lines):
            return -1
        free = set(range(9)) - mine - theirs
        return max((-minimax(theirs, mine | {at}) for at in free), default=0)

    for position in reachable()[::7]:
        if len(empties(position)) <= 7:
            mine = {at for at in range(9) if position.places[at] == position.turn}
            theirs = set(range(9)) - mine - set(empties(position))
            assert value(position) == minimax(mine, theirs)


def test_the_first_move_is_a_draw_everywhere() -> None:
    assert value(Grid(EMPTY * 9)) == 0
    assert len(optimal_moves(Grid(EMPTY * 9))) == 9


@pytest.mark.parametrize(
    ("before", "right", "wrong"),
    [
        ("OO./XX./...", [(0, 2)], [(1, 2), (2, 2)]),  # win now rather than block
        ("OX./.O./...", [(2, 2)], []),  # X must stop the diagonal
        ("X.O/.O./...", [(2, 0)], [(1, 0)]),  # X must stop the other diagonal
        ("O../.X./..O", [(0, 1), (1, 0), (1, 2), (2, 1)], [(0, 2), (2, 0)]),  # the corner trap: only an edge holds
    ],
)
def test_positions_a_person_checked(before: str, right: list[tuple[int, int]], wrong: list[tuple[int, int]]) -> None:
    problem = best(before)
    for cells, expected in ((right, True), (wrong, False)):
        for row, col in cells:
            check = solver.check(problem, put(problem.position, row * 3 + col))
            assert check.legal and check.correct is expected, check.reason


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ("OO./XX./...", "Exactly one mark"),
        ("OOO/XX./X..", "Exactly one mark"),
        ("OOX/XX./...", "It was O's turn"),
        ("OXO/XX./...", "should have stayed"),
        (".OO/XX./...", "should have stayed"),
    ],
)
def test_illegal_edits_are_named(after: str, says: str) -> None:
    check = solver.check(best("OO./XX./..."), game.parse(after))
    assert not check.legal and not check.correct and says in check.reason


def test_levels_hold_every_position_worth_asking_about() -> None:
    counts = {level: len(positions) for level, positions in by_level().items()}
    assert counts == {1: 1904, 2: 820, 3: 192, 4: 162, 5: 113}


def test_every_answer_of_every_problem_is_confirmed_and_tampering_is_caught() -> None:
    for positions in by_level().values():
        for position in positions[::5]:
            problem = Problem("best", position)
            now = position
            for step in solver.solve(problem).steps:
                assert solver.confirm(problem, now, step), (str(position), step)
                if "cell" in step.facts:
                    cell = step.facts["cell"]
                    assert isinstance(cell, Cell)
                    taken = next(at for at in range(9) if now.places[at] != EMPTY)
                    moved = replace(step, facts={**step.facts, "cell": Cell(*divmod(taken, 3))})
                    assert not solver.confirm(problem, now, moved), (str(position), moved)
                if step.action:
                    now = game.apply(now, game.parse_action(step.action))


def test_actions_out_of_turn_or_on_marks_are_refused() -> None:
    for action in (Mark("X", Cell(0, 0)), Mark("O", Cell(3, 0)), Mark("O", Cell(1, 1))):
        with pytest.raises(IllegalAction):
            game.apply(game.parse(".../.X./O.."), action)


def test_a_small_thick_nought_by_hand_is_one() -> None:
    """It was farther from our tile than anything may be; half of one still is nothing."""
    sample = make_sample("tictactoe/best@1:train:1:3000000:0?pixels=256")
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", 11))
    assert made is not None and verify(sample, made[0]).correct
    half = sample.original
    box = (0, 0, 218, 256)  # through the middle of the third column
    half.paste(made[0].crop(box), box)
    assert not verify(sample, half).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("tictactoe/best@1:train:1:60000000038:0?pixels=256", 226),
        ("tictactoe/best@1:train:2:60000000048:0?pixels=256", 301),
    ],
)
def test_a_nought_with_a_slip_of_the_pen_is_one(name: str, number: int) -> None:
    """A ring was laid by the box of what was drawn, which a spike makes larger, and so beside the line."""
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and verify(sample, made[0]).correct


@pytest.mark.parametrize("skin", ("classic", "paper", "dark"))
@pytest.mark.parametrize("pixels", (256, 512))
def test_a_new_mark_is_one_mark(skin: str, pixels: int) -> None:
    """Crossed out, boxed in or scratched, in the picture's own colours; painted by another hand it is right."""
    for index in range(3):
        sample = make_sample(Key("tictactoe/best", level=2, seed=8, index=index, skin=skin, pixels=pixels))
        for number in range(8):
            rng = Stream(sample.id, "attack", number)
            scrawled, painted = (ATTACKS[name](sample, rng) for name in ("scrawl", "painted"))
            assert scrawled is None or not verify(sample, scrawled[0]).correct, (sample.id, number)
            assert painted is not None and verify(sample, painted[0]).correct, (sample.id, number)


@pytest.mark.parametrize("pixels", (256, 512))
def test_a_zoomed_board_of_few_lines_is_found(pixels: int) -> None:
    """It was taken for one that had hardly moved, and its marks for something foreign."""
    sample = make_sample(f"tictactoe/best@1:train:4:11:1?pixels={pixels}")
    assert verify(sample, PERTURBATIONS["zoom"](sample.edited, MODERATE["zoom"], Stream("x", 4))).correct
