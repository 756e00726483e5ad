"""Sokoban: positions a person checked, published levels, brute force on small rooms, and claims that are caught lying.

The levels are Nos. 1, 2, 3, 4, 9, 12, 14, 15 and 21 of "Microban" by David W. Skinner, free to distribute with credit.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import reading
from gamegen.adversary import ATTACKS
from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import IllegalAction, Rejected, Unsolvable
from gamegen.core.key import Key
from gamegen.core.problem import Fact, Problem, Step
from gamegen.core.stream import Stream
from gamegen.games.sokoban import (
    BOXES,
    LARGEST_ROOM,
    PLAYERS,
    SIGNS,
    TARGETS,
    Position,
    Push,
    Walk,
    game,
    shortest_walk,
)
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import make_sample
from renderers.board import reading_tiles
from renderers.sokoban import renderer
from solvers.sokoban import LEVELS, solver
from solvers.sokoban_bits import board_of
from solvers.sokoban_rooms import Shape, draw_room
from solvers.sokoban_search import NodeLimit, Tables, answer, fewest_pushes


def room(text: str) -> Position:
    """A level as players write it: blanks are floor, and lines may be of different length."""
    rows = text.strip("\n").split("\n")
    width = max(map(len, rows))
    return Position(tuple(row.ljust(width).replace(" ", "-") for row in rows))


# number: (level, fewest moves as published, fewest pushes)
MICROBAN = {
    1: ("####\n# .#\n#  ###\n#*@  #\n#  $ #\n#  ###\n####", 33, 8),
    2: ("######\n#    #\n# #@ #\n# $* #\n# .* #\n#    #\n######", 16, 3),
    3: ("  ####\n###  ####\n#     $ #\n# #  #$ #\n# . .#@ #\n#########", 41, 13),
    4: ("########\n#      #\n# .**$@#\n#      #\n#####  #\n    ####", 23, 7),
    9: ("#####\n#.  ##\n#@$$ #\n##   #\n ##  #\n  ##.#\n   ###", 30, 10),
    12: ("#####\n#   ##\n# $  #\n## $ ####\n ###@.  #\n  #  .# #\n  #     #\n  #######", 49, 11),
    14: ("#######\n#     #\n# # # #\n#. $*@#\n#   ###\n#####", 51, 10),
    15: ("     ###\n######@##\n#    .* #\n#   #   #\n#####$# #\n    #   #\n    #####", 37, 12),
    21: ("####\n#  ####\n# . . #\n# $$#@#\n##    #\n ######", 17, 5),
}


def successors(
    state: tuple[Cell, frozenset[Cell]], floor: frozenset[Cell]
) -> list[tuple[tuple[Cell, frozenset[Cell]], int]]:
    """Every single step of the player, with the number of boxes it pushes: the rules of the game, and nothing else."""
    player, boxes = state
    found = []
    for direction in STEPS:
        step = player.moved(direction)
        beyond = step.moved(direction)
        if step in boxes:
            if beyond in floor and beyond not in boxes:
                found.append(((step, boxes - {step} | {beyond}), 1))
        elif step in floor:
            found.append(((step, boxes), 0))
    return found


def brute_force(position: Position, *, by_pushes: bool) -> tuple[int | None, set[Cell]]:
    """Least moves or pushes, and every cell where the player can stand in a solved state: by visiting all states."""
    floor = frozenset(position.cells(SIGNS.replace("#", "")))
    targets = frozenset(position.cells(TARGETS))
    start = (position.cells(PLAYERS)[0], frozenset(position.cells(BOXES)))
    cost = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        for after, pushed in successors(state, floor):
            price = cost[state] + (pushed if by_pushes else 1)
            if price < cost.get(after, 1 << 30):
                cost[after] = price
                if by_pushes and not pushed:
                    queue.appendleft(after)
                else:
                    queue.append(after)
    solved = {state: price for state, price in cost.items() if state[1] == targets}
    return min(solved.values(), default=None), {player for player, _ in solved}


@pytest.mark.parametrize("number", MICROBAN)
def test_published_levels(number: int) -> None:
    """Fewest moves are the published records, and the 8 pushes of No. 1 too; the other push counts are ours.

    Moves certify the brute force, which then certifies the solver in pushes and in the set of ends.
    """
    text, moves, pushes = MICROBAN[number]
    position = room(text)
    assert not game.faults(position)
    assert brute_force(position, by_pushes=False)[0] == moves
    least, ends = brute_force(position, by_pushes=True)
    found = answer(position)
    assert len(found.plan.moves) == least
    assert least == pushes
    assert set(found.tables.board.cells(found.ends)) == ends


@st.composite
def small_rooms(draw: st.DrawFn) -> Position:
    """Rooms of 3x3 to 3x5 cells with some walls, one to three boxes, solvable or not, targets anywhere."""
    height, width = 3, draw(st.integers(3, 5))
    cells = [Cell(r, c) for r in range(1, height + 1) for c in range(1, width + 1)]
    boxes = draw(st.integers(1, 3))
    order = draw(st.permutations(cells))
    walls = set(order[: draw(st.integers(0, 3))])
    free = [cell for cell in order if cell not in walls]
    player, targets = free[0], set(free[: draw(st.integers(0, 1)) + boxes][-boxes:])
    grid = [["#"] * (width + 2) for _ in range(height + 2)]
    for row, col in free:
        grid[row][col] = "." if (row, col) in targets else "-"
    blank = Position(tuple(map("".join, grid)))
    places = draw(st.permutations([cell for cell in free if cell != player]))
    return blank.placed(frozenset(places[:boxes]), player)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(small_rooms())
def test_solver_equals_brute_force(position: Position) -> None:
    least, ends = brute_force(position, by_pushes=True)
    if least is None:
        with pytest.raises(Unsolvable):
            answer(position)
        return
    found = answer(position)
    assert len(found.plan.moves) == least >= found.plan.bound
    assert set(found.tables.board.cells(found.ends)) == ends


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_reverse_play_is_solvable_and_solved_in_the_fewest_pushes(seed: int) -> None:
    rng = Stream("reverse", seed)
    try:
        drawn = draw_room(Shape((5, 6), (60, 90), 1, (2, 2)), (4, 12), rng)
    except Rejected:
        return
    position = drawn.position(drawn.state.reach & -drawn.state.reach)
    least, ends = brute_force(position, by_pushes=True)
    found = answer(position)
    assert least is not None and len(found.plan.moves) == least
    assert set(found.tables.board.cells(found.ends)) == ends


DIVIDED = room(
    """
#######
#--#--#
#@$.--#
#--#--#
#######
"""
)
"""The target is the only door between two halves, and its box is pushed in from the left."""


def test_the_player_cannot_end_behind_a_closed_door() -> None:
    problem = Problem("solve", DIVIDED)
    door = frozenset({Cell(2, 3)})
    for col, right in ((1, True), (2, True), (4, False), (5, False)):
        check = solver.check(problem, DIVIDED.placed(door, Cell(2, col)))
        assert check.correct == right
    assert "cell (2, 5)" in solver.check(problem, DIVIDED.placed(door, Cell(2, 5))).reason


def test_every_one_cell_mutation_is_judged_by_the_rules() -> None:
    """All 6 other signs on every cell of a solved room: right only if nothing but a hidden target differs."""
    problem = Problem("solve", DIVIDED)
    gold = solver.solve(problem).after
    accepted = []
    for cell in gold.cells(SIGNS):
        for sign in SIGNS.replace(gold[cell], ""):
            rows = [list(row) for row in gold.rows]
            rows[cell.row][cell.col] = sign
            if solver.check(problem, Position(tuple(map("".join, rows)))).correct:
                accepted.append((cell, sign))
    assert accepted == [(Cell(2, 3), "$")]


def test_both_sides_of_a_door_count_if_both_can_be_ended_on() -> None:
    two_doors = room("#######\n#  #  #\n#@$.  #\n#  #  #\n# $.  #\n#  #  #\n#######")
    found = answer(two_doors)
    ends = set(found.tables.board.cells(found.ends))
    assert ends == brute_force(two_doors, by_pushes=True)[1]
    assert Cell(1, 1) in ends and Cell(1, 5) in ends


def test_push_moves_the_box_and_the_player_follows() -> None:
    before = room("######\n#@ $.#\n#    #\n######")
    after = room("######\n#  @*#\n#    #\n######")
    problem = Problem("push", before, (("box", "1,3"), ("direction", "right")))
    solution = solver.solve(problem)
    assert solution.after == after == game.apply(before, Push(Cell(1, 3), "right"))
    assert solver.check(problem, after).correct
    hidden = Position(tuple(row.replace("*", "$") for row in after.rows))
    assert solver.check(problem, hidden).correct, "a plain box on the target hides it"
    assert not solver.check(problem, before).correct
    assert game.apply(before, Walk(Cell(2, 1))) == room("######\n#  $.#\n#@   #\n######")
    assert shortest_walk(before, Cell(1, 1), Cell(1, 2)) == [Cell(1, 1), Cell(1, 2)]


@pytest.mark.parametrize(
    "action",
    [
        Push(Cell(1, 3), "left"),  # the player cannot get to its right side
        Push(Cell(1, 3), "right", 2),  # the second cell is wall
        Push(Cell(1, 3), "down"),  # the player cannot get above it: a wall
        Push(Cell(3, 3), "up"),  # wall ahead
        Push(Cell(3, 3), "right"),  # another box ahead
        Push(Cell(1, 2), "right"),  # no box there
        Walk(Cell(1, 3)),  # a box is there
        Walk(Cell(1, 1)),  # the player is there
    ],
    ids=str,
)
def test_illegal_actions_raise(action: Push | Walk) -> None:
    with pytest.raises(IllegalAction):
        game.apply(room("######\n#@ $.#\n#  ###\n#  $$#\n# ..##\n######"), action)


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        (("#####", "#@$.#", "#-@-#", "#####"), "one player"),
        (("#####", "#-$.#", "#---#", "#####"), "one player"),
        (("#####", "#@$.#", "#-$-#", "#####"), "as many boxes"),
        (("#####", "#@$.-", "#---#", "#####"), "open"),
        (("#######", "#@$.#--", "#######"), ""),
        (("#######", "#@--#$.", "#######"), "walled off"),
    ],
)
def test_faults_are_named(rows: tuple[str, ...], word: str) -> None:
    faults = " ".join(game.faults(Position(rows)))
    assert word in faults if word else not faults


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda grid: grid[1].__setitem__(3, "-"), "There is no player."),
        (lambda grid: grid[2].__setitem__(2, "@"), "There are 2 players instead of one."),
        (lambda grid: grid[2].__setitem__(2, "$"), "The number of boxes changed: 2 instead of 1."),
        (lambda grid: grid[0].__setitem__(0, "-"), "The room changed: cell (0, 0) was wall and is now floor."),
        (lambda grid: grid[2].__setitem__(2, "."), "The room changed: cell (2, 2) was floor and is now a target."),
    ],
)
def test_what_an_editor_broke_is_named(edit: object, reason: str) -> None:
    before = room("######\n#@ $.#\n#    #\n######")
    grid = [list(row) for row in room("######\n#  @*#\n#    #\n######").rows]
    assert callable(edit)
    edit(grid)
    shown = Position(tuple(map("".join, grid)))
    for problem in (Problem("solve", before), Problem("push", before, (("box", "1,3"), ("direction", "right")))):
        check = solver.check(problem, shown)
        assert not check.correct and not check.legal and check.reason == reason


def test_turned_and_mirrored_rooms_are_the_same() -> None:
    rows = room(MICROBAN[3][0]).rows
    turned = tuple("".join(column) for column in zip(*rows[::-1], strict=True))
    mirrored = tuple(row[::-1] for row in turned)
    assert len({game.canonical(Position(each)) for each in (rows, turned, mirrored)}) == 1


def test_limits_count_states() -> None:
    board, start, targets = board_of(room(MICROBAN[14][0]))
    with pytest.raises(NodeLimit):
        fewest_pushes(Tables(board, targets), start, limit=3)


@pytest.mark.parametrize("level", LEVELS)
def test_levels_are_what_they_say(level: int) -> None:
    wanted = LEVELS[level]
    for index in range(6):
        sample = make_sample(Key("sokoban/solve", level=level, seed=11, index=index))
        position = sample.problem.position
        assert max(position.height, position.width) <= LARGEST_ROOM
        assert wanted.shape.boxes[0] <= len(position.cells(BOXES)) <= wanted.shape.boxes[1]
        assert wanted.pushes[0] <= sample.solution.difficulty.length <= wanted.pushes[1]
        walk = make_sample(Key("sokoban/push", level=level, seed=11, index=index)).solution.difficulty.nodes - 1
        assert wanted.walk[0] <= walk <= wanted.walk[1]


def lies(fact: Fact) -> list[Fact]:
    """The fact, made untrue."""
    if isinstance(fact, Cell):
        return [Cell(fact.row + 1, fact.col), Cell(fact.row, fact.col - 1)]
    if isinstance(fact, int):
        return [fact + 1, fact - 1]
    if isinstance(fact, tuple):
        return [fact[:-1], (*fact[:-1], *lies(fact[-1])[:1])]
    return [f"@{way}" for way in ("up", "left") if fact in {f"@{each}" for each in STEPS} - {f"@{way}"}] or [
        "@side_none"
    ]


@pytest.mark.parametrize("kind", ["push", "solve"])
def test_tampered_reasoning_is_caught(kind: str) -> None:
    """Every fact of every step, changed by itself, makes the step untrue, and so does a swapped rule."""
    caught = 0
    for level in (1, 3, 4):
        for index in range(3):
            sample = make_sample(Key(f"sokoban/{kind}", level=level, seed=21, index=index))
            position = sample.problem.position
            for step in sample.solution.steps:
                for name, fact in step.facts.items():
                    for lie in lies(fact):
                        if name == "blocker" and isinstance(lie, Cell) and position[lie] in BOXES:
                            continue  # another box may be in the way just as much
                        false = replace(step, facts={**step.facts, name: lie})
                        assert not solver.confirm(sample.problem, position, false), (name, lie, step, str(position))
                        caught += 1
                if step.action:
                    position = game.apply(position, game.parse_action(step.action))
            assert not solver.confirm(sample.problem, position, replace(step, rule="no such rule"))
    assert caught > 150


CORRIDOR = room("########\n#@ $  .#\n#### $ #\n#  .   #\n########")
FALSE_CLAIMS = [
    Step("trap", {"box": Cell(1, 3), "direction": "@right", "to": Cell(1, 4)}),  # it can still go on to the right
    Step("trap_corner", {"box": Cell(1, 3), "direction": "@left", "to": Cell(1, 2)}),  # not possible, and no corner
    Step("occupied", {"box": Cell(1, 3), "blocker": Cell(2, 5), "direction": "@right"}),  # it is not in front
    Step("taken", {"box": Cell(2, 5), "blocker": Cell(1, 3), "direction": "@down"}),  # it is not behind
    Step("only_target", {"box": Cell(2, 5), "target": Cell(3, 3)}),  # both targets can be reached
    Step("only_box", {"box": Cell(1, 3), "target": Cell(1, 6)}),  # the other box can get there too
    Step("already_one", {"done": ()}),
    Step("tight", {"pushes": 1}),
    Step("here", {"stand": Cell(1, 2), "box": Cell(1, 3), "cells": 1, "direction": "@right", "to": Cell(1, 4)}),
]


@pytest.mark.parametrize("step", FALSE_CLAIMS, ids=lambda step: step.rule)
def test_false_claims_are_refused(step: Step) -> None:
    assert not solver.confirm(Problem("solve", CORRIDOR), CORRIDOR, step)


def test_a_box_is_blocked_only_by_what_is_in_the_way() -> None:
    """The box at (1, 3) shuts the player in; once it is gone, nothing keeps the player from (1, 5)."""
    facts: dict[str, Fact] = {"box": Cell(2, 5), "blocker": Cell(1, 3), "direction": "@down", "stand": Cell(1, 5)}
    problem = Problem("solve", CORRIDOR)
    assert solver.confirm(problem, CORRIDOR, Step("blocked", facts))
    opened = game.apply(CORRIDOR, Push(Cell(1, 3), "right", 3))
    moved = {**facts, "blocker": Cell(1, 6)}
    assert not solver.confirm(problem, opened, Step("blocked", moved))


@pytest.mark.parametrize("skin", renderer.skins)
def test_what_stands_on_a_target_shows_it(skin: str) -> None:
    """Every pair of signs differs by far more than the reader needs, at the smallest size and the largest room."""
    sample = make_sample(Key("sokoban/push", level=1, seed=1, index=0, skin=skin, pixels=256))
    tiles = reading_tiles(renderer, sample.style, LARGEST_ROOM, LARGEST_ROOM)
    for one in range(len(SIGNS)):
        for other in range(one):
            gap = float(np.sqrt(((tiles[one] - tiles[other]) ** 2).mean()))
            assert gap > 18, (SIGNS[one], SIGNS[other], gap)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("sokoban/solve@1:train:4:0:0?pixels=256", 52),  # tinted boxes a pixel of eighteen smaller, once unlike any box
        ("sokoban/solve@1:train:5:0:1?pixels=256", 145),  # once read as a wall
    ],
)
def test_a_tinted_box_may_be_a_little_larger_or_smaller(name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and verify(sample, made[0]).correct


def test_a_box_of_two_kinds_is_no_tinted_one() -> None:
    """A box that nobody was to touch, half transparent over one on a target, was taken for one drawn in our colour."""
    sample = make_sample("sokoban/push@1:train:3:800:10?pixels=256")
    made = ATTACKS["double_exposure"](sample, Stream(sample.id, "attack", 390))
    assert made is not None and not made[1]
    assert not verify(sample, made[0]).correct


def test_boxes_of_few_colours_are_in_doubt() -> None:
    """With the last of its tint a box on a target became one beside it: the target seemed to be gone."""
    sample = make_sample("sokoban/push@1:train:1:2040:0")
    rng = sample.key.stream("reading")
    resized = PERTURBATIONS["resize"](sample.edited, MODERATE["resize"], rng)
    assert not verify(sample, PERTURBATIONS["quantise"](resized, MODERATE["quantise"], rng)).readable


@pytest.mark.parametrize("perturbation", ["gamma", "hue", "tone", "palette"])
@pytest.mark.parametrize(
    "name", ["sokoban/solve@1:train:3:2060:5", "sokoban/solve@1:train:4:2060:7", "sokoban/solve@1:train:3:2110:15"]
)
def test_boxes_in_other_tones_are_in_no_doubt(name: str, perturbation: str) -> None:
    """A flat picture has few colours, in other tones, too: nothing has become one then."""
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = sample.plugin.game.mutate(sample.solution.after, rng)
    drawn = renderer.render(position, sample.style).image()
    verdict = verify(sample, PERTURBATIONS[perturbation](drawn, MODERATE[perturbation], rng))
    assert verdict.position == str(position)


def test_few_colours_of_a_board_that_has_few_are_in_doubt() -> None:
    """Without a keeper it has 56; of 36 that were left, those of two kinds of boxes had become one."""
    cell = reading.Cell("sokoban", ("orientation", "quantise"), "moderate", 479)
    row = reading.measured(cell, count=1, pixels=512, seed=2130)
    assert (row.misread, row.abstained) == (0, 1)
