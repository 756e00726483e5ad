"""Jewel2: boards a person checked, the rules against a second telling of them, tampered reasons, past faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, Unsolvable
from gamegen.core.problem import Problem, Step
from gamegen.core.stream import Stream
from gamegen.games.jewel2 import EMPTY, GEMS, THINGS, Position, Swap, game, rounds, runs, swapped
from gamegen.perturb import PERTURBATIONS
from gamegen.sample import make_sample
from renderers.jewel2 import renderer
from renderers.reading.register import Registration
from solvers.jewel2 import PLANS, best, plays, solver


def board(*rows: str) -> Position:
    return game.parse("\n".join([f"jewel2 {len(rows)}x{len(rows[0].split())}", *rows]))


def swap(position: Position, first: tuple[int, int], second: tuple[int, int]) -> Problem[Position]:
    return Problem("swap", position, (("first", str(Cell(*first))), ("second", str(Cell(*second)))))


def problems(kind: str, level: int, count: int) -> list[Problem[Position]]:
    found: list[Problem[Position]] = []
    at = 0
    while len(found) < count:
        at += 1
        try:
            found.append(solver.generate(kind, level, Stream("test", kind, level, at)))
        except Rejected:
            continue
    return found


START = board(
    "T. S. E. E.",
    "S. R. T. S.",
    "R. A. R. R.",
    "A. S. S. T.",
)
"""Swapping (1, 1) with (2, 1) makes four rubies in row 2; what falls lines nothing up."""


def test_a_swap_that_a_person_followed() -> None:
    solution = solver.solve(swap(START, (1, 1), (2, 1)))
    assert solution.after == board(
        ".. .. .. ..",
        "T. S. E. E.",
        "S. A. T. S.",
        "A. S. S. T.",
    )
    assert [step.rule for step in solution.steps] == ["trade", "run", "fall", "quiet-once"]
    assert solution.steps[2].facts == {"round": 1, "count": 4, "fallen": 8}


def test_a_cascade_that_a_person_followed() -> None:
    """Three rubies clear and no more; with one emerald beside them, what falls lines up three emeralds."""
    start = board(
        "T. T. S. A.",
        "S. R. E. T.",
        "R. E. R. S.",
        "A. S. T. E.",
    )
    assert solver.solve(swap(start, (1, 1), (2, 1))).after == board(
        ".. .. .. A.",
        "T. T. S. T.",
        "S. E. E. S.",
        "A. S. T. E.",
    )
    start = start.with_things({Cell(0, 2): "T.", Cell(0, 1): "S.", Cell(1, 1): "R.", Cell(2, 3): "E."})
    found = rounds(swapped(start, Swap(Cell(1, 1), Cell(2, 1))))
    assert [len(each.cleared) for each in found] == [3, 3]
    assert found[-1].runs[0].cells == (Cell(2, 1), Cell(2, 2), Cell(2, 3))
    assert found[-1].after == board(
        ".. .. .. ..",
        "T. .. .. A.",
        "S. S. T. T.",
        "A. S. T. E.",
    )


BOMB = board(
    "T. S. E. S. T.",
    "S. E| T. R. S.",
    "R. R* E. T- A.",
    "A. T. R. S. E.",
    "E. A. S. A. T.",
)


def test_marked_gems_go_off_in_a_chain() -> None:
    """The bomb in the run takes the column gem above it, which takes its column; the row gem is out of reach."""
    solution = solver.solve(swap(BOMB, (3, 2), (2, 2)))
    blasts = {step.rule: step.facts for step in solution.steps if "cell" in step.facts}
    assert blasts == {
        "bomb": {"round": 1, "cell": Cell(2, 1), "more": 6},
        "column-gem": {"round": 1, "cell": Cell(1, 1), "more": 2},
    }
    assert solution.after == board(
        ".. .. .. S. T.",
        ".. .. .. R. S.",
        ".. .. .. T- A.",
        "T. .. E. S. E.",
        "E. .. S. A. T.",
    )


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [((0, 0), (0, 1), "makes no run"), ((0, 0), (1, 1), "not two neighbouring"), ((0, 3), (0, 4), "not two neighb")],
)
def test_swaps_that_the_rules_forbid(first: tuple[int, int], second: tuple[int, int], why: str) -> None:
    with pytest.raises(IllegalAction, match=why):
        game.apply(START, Swap(Cell(*first), Cell(*second)))


def test_an_empty_cell_cannot_be_swapped() -> None:
    gap = START.with_things({Cell(0, 0): EMPTY})
    with pytest.raises(IllegalAction, match="empty"):
        game.apply(gap, Swap(Cell(0, 0), Cell(0, 1)))


@pytest.mark.parametrize("text", ["jewel2 1x2\nR.", "jewel2 1x1\nX.", "jewel2 1x1\nR?", "R. R.", "jewel2 1x2\nR.S."])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


def scattered(seed: int) -> Position:
    """Any board, with gaps, runs and marks where they fall."""
    rng = Stream("scattered", seed)
    height, width, kinds = rng.between(3, 6), rng.between(3, 6), rng.between(2, 4)
    things = [EMPTY, *(gem + mark for gem in GEMS[:kinds] for mark in (".", ".", ".", "-", "|", "*"))]
    return Position(tuple("".join(rng.choice(things) for _ in range(width)) for _ in range(height)))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_clearing_and_falling_agree_with_a_plain_telling(seed: int) -> None:
    """Arrays, no regular expressions, no queue of blasts: only the rules as they are written."""
    position = scattered(seed)
    grid = np.array([[position[Cell(row, col)] for col in range(position.width)] for row in range(position.height)])
    for each in rounds(position):
        hit = plain_hits(grid)
        assert {(cell.row, cell.col) for cell in each.cleared} == hit
        for row, col in hit:
            grid[row, col] = EMPTY
        for col in range(grid.shape[1]):
            gems = [thing for thing in grid[:, col] if thing != EMPTY]
            grid[:, col] = [EMPTY] * (grid.shape[0] - len(gems)) + gems
        assert str(Position(tuple("".join(row) for row in grid))) == str(each.after)
    assert not plain_hits(grid)


def plain_hits(grid: np.ndarray[tuple[int, ...], np.dtype[np.str_]]) -> set[tuple[int, int]]:
    height, width = grid.shape
    hit: set[tuple[int, int]] = set()
    for row in range(height):
        for col in range(width):
            for down, right in ((0, 1), (1, 0)):
                cells = [(row + step * down, col + step * right) for step in range(3)]
                if cells[-1][0] < height and cells[-1][1] < width:
                    gems = {grid[cell][0] for cell in cells}
                    if len(gems) == 1 and gems != {"."}:
                        hit.update(cells)
    while True:
        more = set(hit)
        for row, col in hit:
            mark = grid[row, col][1]
            more |= {(row, other) for other in range(width) if mark == "-"}
            more |= {(other, col) for other in range(height) if mark == "|"}
            more |= {(r, c) for r in range(row - 1, row + 2) for c in range(col - 1, col + 2) if mark == "*"}
        more = {cell for cell in more if 0 <= cell[0] < height and 0 <= cell[1] < width and grid[cell] != EMPTY}
        if more == hit:
            return hit
        hit = more


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_legal_swaps_are_those_that_make_a_run(seed: int) -> None:
    """On boards without a run, for every two neighbours."""
    position = rounds(scattered(seed))[-1].after if rounds(scattered(seed)) else scattered(seed)
    legal = set(game.actions(position))
    for cell in position.cells():
        for other in (cell.moved("right"), cell.moved("down")):
            if other.row < position.height and other.col < position.width:
                both = EMPTY not in (position[cell], position[other])
                makes = both and bool(runs(swapped(position, Swap(cell, other))))
                assert (Swap(cell, other) in legal) == makes


def test_boards_start_quiet_and_the_best_swap_is_the_only_one() -> None:
    """Older generators began with runs on four boards of five, and tied best moves on one board of three."""
    for level in PLANS:
        for problem in problems("best", level, 12):
            position = problem.position
            assert not game.faults(position) and not any(position[cell] == EMPTY for cell in position.cells())
            scores = {str(action): cleared(position, action) for action in game.actions(position)}
            most = max(scores.values())
            ends = {str(game.apply(position, game.parse_action(a))) for a, score in scores.items() if score == most}
            assert ends == {str(solver.solve(problem).after)}


def cleared(position: Position, action: Swap) -> int:
    after = game.apply(position, action)
    return sum(after[cell] == EMPTY for cell in after.cells())


def test_a_tie_between_different_boards_has_no_answer() -> None:
    tied = board("R. R. T. R.", "S. E. A. S.", "E. E. D. E.", "S. A. S. D.")
    with pytest.raises(Unsolvable):
        best(plays(tied))


def test_wrong_results_are_named() -> None:
    problem = swap(START, (1, 1), (2, 1))
    after = solver.solve(problem).after
    (only,) = rounds(swapped(START, Swap(Cell(1, 1), Cell(2, 1))))
    other = Swap(Cell(2, 1), Cell(1, 1))
    told = {
        START: "Nothing has changed.",
        swapped(START, other): "The two gems were swapped, but the run was not cleared.",
        only.holes: "After clearing number 1 the gems did not fall.",
        after.with_things({Cell(0, 2): "D."}): "Cell (0, 2) shows a white diamond instead of no gem.",
        after.with_things({Cell(3, 3): "T*"}): "Cell (3, 3) shows a yellow topaz (a bomb) instead of a yellow topaz.",
    }
    for shown, reason in told.items():
        check = solver.check(problem, shown)
        assert not check.correct and check.reason == reason
    assert solver.check(problem, after).correct


def test_half_a_cascade_is_wrong() -> None:
    for problem in problems("swap", 3, 8):
        first, second = Cell.parse(problem.text("first")), Cell.parse(problem.text("second"))
        found = rounds(swapped(problem.position, Swap(first, second)))
        check = solver.check(problem, found[0].after)
        assert not check.correct and check.reason == f"Only 1 of {len(found)} clearings was made."


@pytest.mark.parametrize("kind", ["swap", "best"])
@pytest.mark.parametrize("level", PLANS)
def test_reasons_hold_and_tampering_is_caught(kind: str, level: int) -> None:
    for problem in problems(kind, level, 2):
        for step in solver.solve(problem).steps:
            assert solver.confirm(problem, problem.position, step), step
            for wrong in tampered(step):
                assert not solver.confirm(problem, problem.position, wrong), wrong


def tampered(step: Step) -> list[Step]:
    """The step with one fact changed a little, for every fact."""
    wrong = []
    for name, fact in step.facts.items():
        if isinstance(fact, Cell):
            wrong.append(replace(step, facts={**step.facts, name: Cell(fact.row + 7, fact.col)}))
        elif isinstance(fact, int) and name != "round" and (step.rule, name) != ("tally", "gems"):
            wrong.append(replace(step, facts={**step.facts, name: fact + 1}))
        elif isinstance(fact, str) and fact[1:2] in GEMS:
            wrong.append(replace(step, facts={**step.facts, name: "@x"}))
    return wrong


def test_mirrored_and_recoloured_boards_are_one() -> None:
    mirrored = board(*(" ".join(reversed(str(BOMB).split("\n")[1 + row].split())) for row in range(BOMB.height)))
    recoloured = Position(tuple(row.translate(str.maketrans("RSETA", "SEDOR")) for row in BOMB.rows))
    assert len({BOMB, mirrored, recoloured}) == 3
    assert game.canonical(BOMB) == game.canonical(mirrored) == game.canonical(recoloured)
    upside_down = Position(BOMB.rows[::-1])
    assert game.canonical(BOMB) != game.canonical(upside_down)


def test_every_thing_has_a_place_in_the_text() -> None:
    assert len(THINGS) == len(set(THINGS)) == 1 + 4 * len(GEMS)


@pytest.mark.parametrize(("strength", "looks"), [(0.0, 1), (1.0, 2)])
def test_a_board_that_lies_where_it_lay_is_looked_at_once(
    strength: float, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = make_sample("jewel2/swap@1:train:2:0:0")
    image = PERTURBATIONS["shift"](sample.edited, strength, Stream("shift")) if strength else sample.edited
    crop, crops = Registration.crop, []
    monkeypatch.setattr(Registration, "crop", lambda self, *where: crops.append(where) or crop(self, *where))
    seen = renderer.look(np.asarray(image), sample.problem, sample.style)
    assert len(crops) == looks
    named = renderer.name_cells(seen, sample.problem, sample.style)
    assert renderer.decode(named.symbols, sample.problem, sample.style) == sample.solution.after
