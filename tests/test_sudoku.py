"""Sudoku: published counts, puzzles and examples, brute force on small grids, tampered reasons, wrong answers."""

from __future__ import annotations

import colorsys
import math
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, Unsolvable
from gamegen.core.key import Key
from gamegen.core.problem import Problem, Step
from gamegen.core.rendering import parse_colour
from gamegen.core.stream import Stream
from gamegen.games.sudoku import BOXES, Fill, Grid, game, houses
from gamegen.images import load_rgb
from gamegen.judge import verify
from gamegen.painters import paint, right_answer
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import Sample, make_sample
from renderers import skin as skin_file
from renderers.page import Frame, scaled
from renderers.sudoku import renderer
from solvers.sudoku import solver
from solvers.sudoku_count import Completions, completion, count, full_grid
from solvers.sudoku_logic import Cut, Marks, find_cut
from solvers.sudoku_make import cores, dig, disguise
from solvers.sudoku_reasons import Trace

HARD = {
    "Inkala 2006": "85...24..72......9..4.........1.7..23.5...9...4...........8..7..17..........36.4.",
    "Inkala 2010": "..53.....8......2..7..1.5..4....53...1..7...6..32...8..6.5....9..4....3......97..",
    "Inkala 2012": "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..",
    "Golden Nugget": ".......39.....1..5..3.5.8....8.9...6.7...2...1..4.......9.8..5..2....6..4..7.....",
    "17 clues, a": ".......1.4.........2...........5.4.7..8...3....1.9....3..4..2...5.1........8.6...",
    "17 clues, b": ".......1.4.........2...........5.6.4..8...3....1.9....3..4..2...5.1........8.7...",
}
WIKIPEDIA = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
WIKIPEDIA_SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"


def grid(text: str) -> Grid:
    size = int(len(text) ** 0.5)
    return Grid(size, tuple(0 if char in ".0" else int(char) for char in text))


def generated(kind: str, level: int, name: int) -> Problem[Grid]:
    for attempt in range(200):
        try:
            return solver.generate(kind, level, Stream("test", kind, level, name, attempt))
        except Rejected:
            continue
    raise AssertionError("200 candidates in a row were turned down")


@cache
def all_4x4() -> tuple[tuple[int, ...], ...]:
    """Every full 4x4 grid, from all choices of four rows: an oracle without a solver."""
    rows, found = list(permutations(range(1, 5))), []
    bands = [one + other for one, other in product(rows, repeat=2) if {*one[:2], *other[:2]} == {1, 2, 3, 4}]
    for upper, lower in product(bands, repeat=2):
        cells = upper + lower
        if all(len({cells[number] for number in house}) == 4 for house in houses(4)):
            found.append(cells)
    return tuple(found)


# Counting -------------------------------------------------------------------------------------------------------------


def test_published_numbers_of_full_grids() -> None:
    assert count(Grid(3, (0,) * 9), limit=1000) == 12  # Latin squares of order 3
    assert count(Grid(4, (0,) * 16), limit=1000) == 288  # 4x4 sudoku grids
    assert len(all_4x4()) == 288
    assert len({game.canonical(Grid(4, cells)) for cells in all_4x4()}) == 2  # essentially different ones


def test_published_number_of_6x6_grids() -> None:
    """28,200,960: 6! first rows, and under each the 36 second rows that its boxes allow."""
    seconds = product(permutations((4, 5, 6)), permutations((1, 2, 3)))
    grids = [Grid(6, (1, 2, 3, 4, 5, 6, *left, *right, *[0] * 24)) for left, right in seconds]
    assert 720 * sum(count(each, limit=10**6) for each in grids) == 28_200_960


@pytest.mark.parametrize("name", HARD)
def test_hard_published_puzzles_have_one_solution(name: str) -> None:
    puzzle = grid(HARD[name])
    assert count(puzzle) == 1
    solved = completion(puzzle)
    assert not game.faults(solved) and 0 not in solved.digits
    assert all(given in (0, digit) for given, digit in zip(puzzle.digits, solved.digits, strict=True))


def test_wikipedia_example() -> None:
    problem = Problem("solve", grid(WIKIPEDIA))
    solution = solver.solve(problem)
    assert solution.after == grid(WIKIPEDIA_SOLVED)
    assert {step.rule for step in solution.steps} <= {"start", "naked", "hidden", "last", "run"}


def test_inkala_is_solved_and_every_step_holds() -> None:
    """It takes a search in the end, and the solver says so."""
    problem = Problem("solve", grid(HARD["Inkala 2012"]))
    solution = solver.solve(problem)
    assert "search" in {step.rule for step in solution.steps}
    replay(problem)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 287), st.sets(st.integers(0, 15)), st.integers(0, 15), st.integers(0, 4))
def test_counter_equals_enumeration(which: int, kept: set[int], changed: int, digit: int) -> None:
    digits = [all_4x4()[which][number] if number in kept else 0 for number in range(16)]
    digits[changed] = digit
    puzzle = Grid(4, tuple(digits))
    fitting = [cells for cells in all_4x4() if all(g in (0, c) for g, c in zip(digits, cells, strict=True))]
    assert count(puzzle, limit=1000) == len(fitting)
    if len(fitting) != 1:
        with pytest.raises(Unsolvable):
            completion(puzzle)


# Symmetry -------------------------------------------------------------------------------------------------------------


def smallest_4x4(puzzle: Grid) -> tuple[int, ...]:
    """The canonical form by brute force: all 128 ways to rearrange, digits renamed as they appear."""
    lines = [
        [band[0] * 2 + a, band[0] * 2 + 1 - a, band[1] * 2 + b, band[1] * 2 + 1 - b]
        for band, a, b in product(((0, 1), (1, 0)), (0, 1), (0, 1))
    ]
    views = []
    for rows, cols, turned in product(lines, lines, (False, True)):
        names: dict[int, int] = {0: 0}
        cells = [puzzle.digits[c * 4 + r] if turned else puzzle.digits[r * 4 + c] for r in rows for c in cols]
        views.append(tuple(names.setdefault(cell, len(names)) for cell in cells))
    return min(views)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 287), st.sets(st.integers(0, 15), max_size=9), st.integers(0, 15), st.integers())
def test_canonical_form_is_exact(which: int, kept: set[int], other: int, seed: int) -> None:
    """Equal exactly when brute force says so, for a disguise and for a near miss."""
    first = Grid(4, tuple(all_4x4()[which][number] if number in kept else 0 for number in range(16)))
    twin = disguise(first, Stream("disguise", seed))
    near = disguise(first.filled([(other, first.digits[other] % 4 + 1)]), Stream("near", seed))
    assert game.canonical(first) == game.canonical(twin)
    assert (game.canonical(first) == game.canonical(near)) == (smallest_4x4(first) == smallest_4x4(near))


@pytest.mark.parametrize("size", BOXES)
def test_disguises_have_one_canonical_form(size: int) -> None:
    for name in range(4):
        rng = Stream("canonical", size, name)
        puzzle = dig(full_grid(size, rng), rng, blanks=size * size)
        forms = {game.canonical(disguise(puzzle, rng)) for _ in range(6)} | {game.canonical(puzzle)}
        assert len(forms) == 1


def test_canonical_form_of_symmetric_and_empty_grids() -> None:
    """Grids with many automorphisms, and empty lines, which are all alike, must not explode."""
    cyclic = Grid(9, tuple((row // 3 + row % 3 * 3 + col) % 9 + 1 for row in range(9) for col in range(9)))
    for puzzle in (cyclic, Grid(9, (0,) * 81), Grid(9, (1, 2) + (0,) * 79), Grid(6, (0,) * 35 + (3,))):
        assert game.canonical(puzzle) == game.canonical(disguise(puzzle, Stream("many", puzzle.size)))


# Rules ----------------------------------------------------------------------------------------------------------------


def test_text_of_grids_and_actions() -> None:
    puzzle = grid("12..3....2.....4")
    assert str(puzzle) == "4x4 with boxes 2x2\n12..\n3...\n.2..\n...4"
    assert game.parse(str(puzzle)) == puzzle
    assert game.parse("3x3 without boxes\n1..\n.7.\n..3")[Cell(1, 1)] == 7  # drawn, though it does not belong
    for text in ("4x4 with boxes 2x2\n12..\n3...\n.2..", "5x5\n", "4x4 with boxes 2x2\n12..\n3...\n.2..\n...0"):
        with pytest.raises(BadInput):
            game.parse(text)


def test_fills_must_keep_the_rules() -> None:
    puzzle = grid("12..3....2.....4")
    assert game.apply(puzzle, game.parse_action("0,2=4 0,3=3"))[Cell(0, 3)] == 3
    for wrong in ("0,0=1", "0,2=1", "2,0=3", "1,1=1", "0,2=5", "4,0=1", "0,2=4 0,3=4"):
        with pytest.raises(IllegalAction):
            game.apply(puzzle, game.parse_action(wrong))
    assert game.faults(grid("1..1............"))[0] == "cells 0,0 and 0,3 hold the same digit in one row"
    assert game.faults(grid("7..............."))


# Techniques -----------------------------------------------------------------------------------------------------------

EXAMPLES = {
    "x-wing": (
        "1.....569492.561.8.561.924...964.8.1.64.1....218.356.4.4.5...169.5.614.2621.....5",
        Cut("x-wing", (7,), (12, 16, 48, 52), ()),
    ),
    "naked-pair": (
        "4.....938.32.941...953..24.37.6.9..4529..16736.47.3.9.957..83....39..4..24..3.7.9",
        Cut("naked-pair", (1, 6), (1, 2), ()),
    ),
    "hidden-pair": (
        ".........9.46.7....768.41..3.97.1.8.7.8...3.1.513.87.2..75.261...54.32.8.........",
        Cut("hidden-pair", (6, 7), (7, 8), ()),
    ),
    "naked-triple": (
        ".7.4.8.29..2.....4854.2...7..83742.............32617......936122.....4.313.642.7.",
        Cut("naked-triple", (5, 8, 9), (39, 40, 41), ()),
    ),
}
"""Textbook examples: the grid, and the pattern that the books point out."""


@pytest.mark.parametrize("rule", EXAMPLES)
def test_textbook_examples(rule: str) -> None:
    from solvers import sudoku_logic

    finder = getattr(sudoku_logic, "_" + rule.replace("-", "_") + "s")
    text, wanted = EXAMPLES[rule]
    found = [(cut.rule, cut.digits, cut.cells) for cut in finder(Marks(grid(text)))]
    assert (wanted.rule, wanted.digits, wanted.cells) in found


@pytest.mark.parametrize("level", (4, 5))
def test_cuts_never_rule_out_the_solution(level: int) -> None:
    for core in cores()[level][:12]:
        assert not Marks(core).singles() and count(core) == 1
        end, marks = completion(core), Marks(core)
        while cut := find_cut(marks):
            assert cut.gone and all(not mask >> end.digits[number] - 1 & 1 for number, mask in cut.gone)
            assert all(marks.masks[number] & mask for number, mask in cut.gone)
            marks.cut(cut.gone)
            if marks.singles():
                break


def test_no_two_cores_of_the_bank_are_the_same() -> None:
    every = [core for level in (4, 5) for core in cores()[level]]
    assert len(every) == len({game.canonical(core) for core in every}) == 1000


def test_digging_leads_back_to_the_core() -> None:
    for core in cores()[4][:5]:
        dug = dig(core, Stream("back", core.digits.count(0)), blanks=50)
        marks = Marks(dug)
        while singles := marks.singles():
            for number, digit in singles.items():
                marks.place(number, digit)
        assert tuple(marks.digits) == core.digits


# Problems -------------------------------------------------------------------------------------------------------------


def replay(problem: Problem[Grid]) -> None:
    position = problem.position
    for step in solver.solve(problem).steps:
        assert solver.confirm(problem, position, step), step
        if step.action:
            position = game.apply(position, game.parse_action(step.action))
    assert position == solver.solve(problem).after


@pytest.mark.parametrize("level", range(1, 6))
def test_puzzles_are_unique_and_need_their_level(level: int) -> None:
    wanted = {1: {"naked"}, 2: {"naked", "hidden"}, 3: {"naked", "hidden"}}
    for name in range(6):
        problem = generated("solve", level, name)
        assert count(problem.position) == 1
        rules = set(Trace(problem.position).tell().weights)
        if level < 4:
            assert rules <= wanted[level] | {"hidden"}
        else:
            harder = {"naked-triple", "x-wing", "suppose-cell", "suppose-house"}
            assert rules - {"naked", "hidden"} and bool(rules & harder) == (level == 5)


def forced_by_definition(puzzle: Grid) -> set[tuple[int, int]]:
    """The forced cells, straight from the words of the rules, with sets."""
    free = {}
    for number in puzzle.empty:
        near = {puzzle.digits[other] for house in houses(puzzle.size) if number in house for other in house}
        free[number] = set(range(1, puzzle.size + 1)) - near
    forced = {(number, digit) for number, digits in free.items() if len(digits) == 1 for digit in digits}
    for house in houses(puzzle.size):
        for digit in range(1, puzzle.size + 1):
            places = [number for number in house if digit in free.get(number, ())]
            if len(places) == 1:
                forced.add((places[0], digit))
    return forced


@pytest.mark.parametrize("level", range(1, 6))
def test_exactly_one_cell_is_forced(level: int) -> None:
    for name in range(6):
        problem = generated("next", level, name)
        ((number, digit),) = forced_by_definition(problem.position)
        assert solver.solve(problem).after == problem.position.filled([(number, digit)])
        assert count(problem.position) >= 1  # it can still be completed


def test_next_refuses_a_grid_with_several_forced_cells() -> None:
    with pytest.raises(Unsolvable):
        solver.solve(Problem("next", grid(WIKIPEDIA)))


# Reasons --------------------------------------------------------------------------------------------------------------


def tampered(step: Step, size: int) -> list[Step]:
    """The step with one fact changed into another of its kind, or with another action."""
    found = []
    for name, fact in step.facts.items():
        if name == "crossed":
            continue
        for other in _others(fact, size):
            found.append(Step(step.rule, {**step.facts, name: other}, step.action))
    if step.action:
        cell, _, digit = step.action.split(" ")[0].partition("=")
        found.append(Step(step.rule, step.facts, f"{cell}={int(digit) % size + 1}"))
    return [*found, Step(step.rule, {}, step.action), Step("made-up", step.facts, step.action)]


def _others(fact: object, size: int) -> list[object]:
    if isinstance(fact, Cell):
        return [Cell(fact.row, (fact.col + 1) % size), Cell(fact.row, size), "nowhere"]
    if isinstance(fact, int):
        return [fact + 1, "many"]
    if isinstance(fact, tuple):
        return [(), fact + fact[:1], "none"]
    text = str(fact)
    stem, place = text[:-1], int(text[-1])
    return [f"{stem}{(place + 1) % size}" if not stem.startswith("@d") else f"{stem}{place % size + 1}", "@x-y"]


@pytest.mark.parametrize("kind", ("solve", "next"))
@pytest.mark.parametrize("level", (1, 2, 4, 5))
def test_tampered_reasons_are_caught(kind: str, level: int) -> None:
    for name in range(2):
        problem = generated(kind, level, name)
        position = problem.position
        replay(problem)
        for step in solver.solve(problem).steps:
            for wrong in tampered(step, position.size):
                assert not solver.confirm(problem, position, wrong), (step, wrong)
            if step.action:
                position = game.apply(position, game.parse_action(step.action))


def test_false_eliminations_are_caught() -> None:
    """A step may not rest on a candidate that was never ruled out: here the right digit itself."""
    problem = Problem("solve", cores()[4][0])
    position, number = problem.position, problem.position.empty[0]
    digit = completion(position).digits[number]
    others = [d for d in range(1, 10) if d != digit]
    wrong = Step("left", {"cell": position.cell(number), "digit": f"@d{others[0]}"})
    action = str(Fill(((position.cell(number), others[0]),)))
    crossed = f"{position.cell(number)}:{''.join(str(d) for d in range(1, 10) if d != others[0])}"
    assert not solver.confirm(problem, position, Step(wrong.rule, {**wrong.facts, "crossed": crossed}, action))


# Answers --------------------------------------------------------------------------------------------------------------


def test_solve_is_judged_by_the_rules() -> None:
    problem, solved = Problem("solve", grid(WIKIPEDIA)), grid(WIKIPEDIA_SOLVED)
    assert solver.check(problem, solved).correct
    cases = {
        "is still empty": solved.filled([(2, 0)]),
        "The given in cell (0, 0) was changed.": solved.filled([(0, 4)]),
        "hold the same in one row": solved.filled([(2, 5)]),
    }
    for reason, wrong in cases.items():
        check = solver.check(problem, wrong)
        assert not check.correct and reason in check.reason
    nothing = solver.check(problem, problem.position)
    assert nothing.parts == {"cells": 0.0, "givens": 1.0} and nothing.legal and not nothing.correct
    half = solver.check(problem, problem.position.filled([(2, 4)]))
    assert half.parts["cells"] == pytest.approx(1 / 51) and half.preserved == 1


def test_every_completion_of_an_ambiguous_grid_is_right() -> None:
    puzzle = grid("12..............")
    found = Completions(puzzle, limit=99).found
    assert len(found) > 1 and all(solver.check(Problem("solve", puzzle), Grid(4, cells)).correct for cells in found)


def test_next_is_judged_by_the_one_forced_cell() -> None:
    problem = generated("next", 3, 0)
    before, right = problem.position, solver.solve(problem).after
    assert solver.check(problem, right).correct
    (forced,) = (n for n, digit in enumerate(before.digits) if digit != right.digits[n])
    other = next(n for n in before.empty if n != forced)
    given_cell = next(n for n, digit in enumerate(before.digits) if digit)
    for wrong in (
        before,
        right.filled([(other, 1)]),
        before.filled([(other, 1)]),
        before.filled([(forced, right.digits[forced] % 9 + 1)]),
        right.filled([(given_cell, 0)]),
    ):
        check = solver.check(problem, wrong)
        assert not check.correct and check.reason.endswith(".")
    assert solver.check(problem, right.filled([(given_cell, 0)])).preserved == pytest.approx(79 / 80)


# Pictures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skin", ("classic", "dark"))
@pytest.mark.parametrize(("face", "ink", "height"), (("serif", "#3070f0", 46), ("round", "#d03030", 60)))
def test_another_hand_is_read(skin: str, face: str, ink: str, height: int) -> None:
    """An editor may write in another face, ink and size."""
    sample = make_sample(Key("sudoku/solve", level=4, seed=31, skin=skin))
    hand = {"face": face, "ink": ink, "height": height}
    style = replace(sample.style, picks=tuple((name, hand.get(name, value)) for name, value in sample.style.picks))
    drawn = sample.plugin.renderer.render(sample.solution.after, style).rgb()
    verdict = verify(sample.row(), np.where(sample.mask[:, :, None], drawn, sample.original_picture.rgb()))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize("skin", ("classic", "dark"))
def test_a_scribble_is_not_an_answer(skin: str) -> None:
    sample = make_sample(Key("sudoku/next", level=3, seed=31, skin=skin))
    scribble = sample.original_picture.rgb().copy()
    rows, cols = np.nonzero(sample.plugin.renderer.mask(_changed(sample), sample.problem.position, sample.style))
    middle = slice(rows.min() + 12, rows.max() - 12), slice(cols.min() + 12, cols.max() - 12)
    scribble[middle] = 255 - scribble[middle]
    assert not verify(sample.row(), scribble).correct


@pytest.mark.parametrize(
    ("attack", "name", "number"),
    [
        ("gold", "sudoku/next@1:train:4:101000000:0?pixels=256", 180),  # thick box lines reach far into small cells
        ("gold", "sudoku/solve@1:train:5:201000000:0?pixels=256", 292),
        ("painted", "sudoku/solve@1:train:3:101000001:0?pixels=256", 151),  # a 9 with a pointed head, like a 4
        ("painted", "sudoku/solve@1:train:4:101000001:0?pixels=256", 181),  # a small 1 whose flag is nearly a bar
        ("painted", "sudoku/solve@1:train:4:11000003:0?pixels=256", 68),  # a trembling 8, like no master
        (
            "painted",
            "sudoku/solve@1:train:3:31000000000:3?pixels=256",
            283,
        ),  # a hard pen leaves single pixels beside it
        ("painted", "sudoku/solve@1:train:4:31000000000:3?pixels=256", 290),
        ("painted", "sudoku/solve@1:train:3:2028000002:0?pixels=256", 30),  # white between a colour and a box line
        ("painted", "sudoku/solve@1:train:2:31000000001:0?pixels=256", 12),  # large tiles with corners
        ("painted", "sudoku/solve@1:train:4:34000000021:0?pixels=256", 210),  # a soft 8, one of whose holes ran full
        ("painted", "sudoku/solve@1:train:4:34000000026:0?pixels=256", 172),  # a soft 9 without a hole, nearly a 1
        ("painted", "sudoku/solve@1:train:5:34000000020:0?pixels=256", 335),  # a thin, soft 2 in an ink paler than ours
        ("painted", "sudoku/solve@1:train:5:34000000016:0?pixels=256", 243),  # a colour that leans over a line
        ("painted", "sudoku/solve@1:train:2:33000000001:0?pixels=256", 66),  # large discs
        ("painted", "sudoku/solve@1:train:3:31000000000:4?pixels=256", 363),  # an orange between red and yellow
        ("painted", "sudoku/solve@1:train:3:32000000000:2?pixels=256", 196),  # a small disc of a light red
        ("painted", "sudoku/solve@1:train:2:6000000039:0?pixels=256", 208),  # a thin 6, not quite closed at the left
        ("painted", "sudoku/solve@1:train:4:38000000005:1?pixels=256", 204),  # a 7 with a pixel above its bar
        ("painted", "sudoku/solve@1:train:4:7301000000:2?pixels=256", 219),  # a 7 whose bar hangs at the left
        ("painted", "sudoku/solve@1:train:3:7301000007:1?pixels=256", 87),  # a 1 of a broad pen
        ("painted", "sudoku/solve@1:train:5:7302000011:0?pixels=256", 275),  # a 6 with pixels beside it, like a 4
        ("painted", "sudoku/solve@1:train:4:50000000022:0?pixels=256", 129),  # a 1 so thin that it seemed half of ours
        (
            "painted",
            "sudoku/solve@1:train:2:16000000001:3",
            413,
        ),  # a line of which two colours and some ground are left
        ("painted", "sudoku/solve@1:train:2:16000000001:3", 415),
    ],
)
def test_right_answers_that_were_refused_once(attack: str, name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None and made[1]
    verdict = verify(sample, made[0])
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("perturbation", "name"),
    [
        ("hue", "sudoku/next@1:train:2:31:13"),  # orange that seemed half red and half yellow, among much white
        ("hue", "sudoku/next@1:train:2:31:53"),  # yellow that seemed half orange
        ("hue", "sudoku/next@1:train:1:32:141"),  # so few beads that nothing seemed to have drifted
        ("shift", "sudoku/solve@1:train:5:31:88"),  # half a pixel, by which edges are mixed otherwise
        ("shift", "sudoku/solve@1:train:2:32:22"),
        ("tone", "sudoku/solve@1:train:5:32:78"),  # so bright that shaded boxes are as white as the others
        ("tone", "sudoku/solve@1:train:3:32:94"),
    ],
)
def test_spoilt_pictures_that_were_abstained_from_once(perturbation: str, name: str) -> None:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = game.mutate(sample.solution.after, rng) if sample.key.index % 2 else sample.solution.after
    drawn = renderer.render(position, sample.style).image().convert("RGB")
    image = PERTURBATIONS[perturbation](drawn, MODERATE[perturbation], rng)
    reading = renderer.read(load_rgb(image), sample.problem, sample.style)
    assert reading.position == position
    assert sample.key.index % 2 or not reading.stain


@pytest.mark.parametrize(
    ("perturbation", "name"),
    [
        ("tone", "sudoku/solve@1:train:1:4242:20"),  # a page that lies askew in one corner only
        ("resize", "sudoku/solve@1:train:3:4243:4?pixels=256"),  # a 1 beside the crossing of two blurred lines
        ("resize", "sudoku/solve@1:train:3:4243:14?pixels=256"),
        ("resize", "sudoku/solve@1:train:4:4243:16?pixels=256"),  # lines all along, and thin strokes that became pale
        ("resize", "sudoku/solve@1:train:3:777:4?pixels=256"),  # a 3 that was taken for a 1
        ("resize", "sudoku/solve@1:train:3:777:54?pixels=256"),  # thin strokes, as pale as the givens became
        ("resize", "sudoku/solve@1:train:3:71010:24?pixels=256"),  # a 1 whose stem is thinner than its head
    ],
)
def test_spoilt_pictures_by_hand_that_were_refused_once(perturbation: str, name: str) -> None:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = right_answer(sample, rng)
    painted = paint(sample, position, rng, strength=0.5)
    assert painted is not None
    reading = renderer.read(
        load_rgb(PERTURBATIONS[perturbation](painted, MODERATE[perturbation], rng)), sample.problem, sample.style
    )
    assert reading.position == position and not reading.stain


@pytest.mark.parametrize("skin", ("classic", "dark", "newspaper"))
def test_a_faint_digit_is_faint_in_a_small_picture_too(skin: str) -> None:
    """Thin strokes are pale in a picture that was made smaller, but no more so than the givens are."""
    sample = make_sample(Key("sudoku/next", level=4, skin=skin, pixels=256))
    for share, is_right in ((1.0, True), (0.5, False)):
        faded = Image.blend(sample.original, sample.edited, share)
        assert verify(sample, faded.resize((181, 181), Image.Resampling.LANCZOS)).correct is is_right


@pytest.mark.parametrize("gain", (1.0, 1.1))
def test_boxes_that_lost_their_shade_tell_another_look(gain: float) -> None:
    """Brightness takes the shade away, but only together with that of digits and lines."""
    sample = make_sample("sudoku/solve@1:train:5:32:78")
    drawn = renderer.render(sample.solution.after, sample.style).rgb()
    white = (drawn == sample.style.colours()["shade"]).all(axis=2)
    image = np.where(white[:, :, None], 255, (gain * drawn).clip(0, 255)).astype(np.uint8)
    assert verify(sample, image).correct == (gain > 1)


def test_a_nine_with_a_pointed_head_is_no_four() -> None:
    """It was read as a 4, of which it has less than the round upper left of a 9."""
    sample = make_sample("sudoku/solve@1:train:5:906:0?pixels=256")
    image = paint(sample, sample.solution.after, Stream(sample.id, "lab", 4))
    assert image is not None
    verdict = verify(sample, image)
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("attack", "name", "number"),
    [
        ("ghost_stroke", "sudoku/solve@1:train:1:102000000:0?pixels=256", 52),  # white, down a line between new cells
        ("ghost_stroke", "sudoku/solve@1:train:3:11000002:0?pixels=256", 43),  # cyan, along a box line
        ("partial_edit", "sudoku/next@1:train:3:11000001:0?pixels=256", 110),  # half a 1, which looks like a thin one
        ("partial_edit", "sudoku/next@1:train:1:33000000013:0?pixels=256", 157),  # the same, cut through a read pixel
        ("partial_edit", "sudoku/next@1:train:1:33000000018:0?pixels=256", 181),
        ("double_exposure", "sudoku/solve@1:train:5:36000000003:3?pixels=256", 291),  # a bold 5 and a 6, much alike
        ("ghost_stroke", "sudoku/solve@1:train:2:34000000017:0?pixels=256", 306),  # yellow, on a box line between discs
        ("ghost_stroke", "sudoku/solve@1:train:2:34000000017:0?pixels=256", 342),
        ("ghost_stroke", "sudoku/solve@1:train:1:37000000000:1?pixels=256", 145),  # black, beside a disc
        ("ghost_stroke", "sudoku/solve@1:train:2:37000000000:2?pixels=256", 287),  # cyan, below the outer line
    ],
)
def test_wrong_answers_that_were_taken_once(attack: str, name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None and not made[1]
    assert not verify(sample, made[0]).correct


def test_no_box_line_reaches_beyond_what_reading_leaves_out() -> None:
    """Tiles do not have these lines."""
    for skin, table in skin_file.load(renderer.skin_path).items():
        for pixels, size in product((256, 384, 512, 1024), BOXES):
            frame = Frame.fit(pixels, size, size)
            n = min(frame.cell, max(8, min(renderer.reading_cell, renderer.reading_side // size)))
            for wide, thin in product(table["box_width"], table["line_width"]):
                box, line = scaled(wide, pixels), scaled(thin, pixels)
                reach = (box - (box - line) // 2) * n / frame.cell
                assert reach <= round(renderer.inset * n) + 0.5, (skin, pixels, size)


def _changed(sample: Sample) -> frozenset[Cell]:
    before, after = sample.problem.position, sample.solution.after
    return frozenset(before.cell(n) for n, digit in enumerate(before.digits) if digit != after.digits[n])


def test_colour_words_fit_and_differ() -> None:
    """In every colour skin nine words, nine colours, and no two colours alike."""
    for skin, table in skin_file.load(renderer.skin_path).items():
        for palette in table["palettes"]:
            shown = [parse_colour(palette[f"c{digit}"]) for digit in range(1, 10) if f"c{digit}" in palette]
            if table["marks"] == "digits":
                assert not shown
                continue
            assert [table["say"]["en"][f"d{digit}"] for digit in range(1, 10)] == list(HUES)
            for (name, (low, high)), colour in zip(HUES.items(), shown, strict=True):
                hue, light, strength = colorsys.rgb_to_hls(*(part / 255 for part in colour))
                assert low <= hue * 360 % 360 < high or (name == "red" and hue * 360 > 345), (skin, name, colour)
                assert strength > 0.4 and (name != "brown" or light < 0.36) and (name != "pink" or light > 0.75)
            ground = parse_colour(palette["cell"])
            for one, other in combinations([*shown, ground], 2):
                assert math.dist(one, other) > 70, (skin, one, other)


HUES = {
    "red": (0, 12), "blue": (212, 232), "yellow": (46, 58), "green": (120, 145), "purple": (265, 290),
    "orange": (25, 35), "cyan": (186, 200), "pink": (320, 335), "brown": (22, 35),
}  # fmt: skip
"""What a person calls a colour: its range of hues in degrees. Brown is a dark orange, pink a light red or magenta."""


@pytest.mark.parametrize("skin", renderer.skins)
@pytest.mark.parametrize("task", ("sudoku/solve", "sudoku/next"))
def test_what_is_new_in_a_cell_is_one_thing(task: str, skin: str) -> None:
    """Struck through, crossed out or boxed in, in the picture's own colours; painted by another hand it is right."""
    for level, pixels in ((1, 256), (2, 512), (4, 512)):
        sample = make_sample(Key(task, level=level, seed=8, skin=skin, pixels=pixels))
        for number in range(5):
            rng = Stream(sample.id, "attack", number)
            scrawled, painted = (ATTACKS[name](sample, rng) for name in ("scrawl", "painted"))
            assert scrawled is None or not verify(sample, scrawled[0]).correct, (sample.id, number)
            assert painted is not None and verify(sample, painted[0]).correct, (sample.id, number)


@pytest.mark.parametrize(
    "name",
    [
        "sudoku/solve@1:train:1:11:1",  # box lines that became darker than any colour of the picture
        "sudoku/solve@1:train:3:41:0",
        "sudoku/next@1:train:2:23:1",
        "sudoku/solve@1:train:2:25:3",  # a darkened line beside a disc
        "sudoku/solve@1:train:3:11:0?pixels=256",  # what is left of a line beside a digit
    ],
)
def test_halos_of_sharpened_lines_are_no_strokes(name: str) -> None:
    sample = make_sample(name)
    assert verify(sample, PERTURBATIONS["sharpen"](sample.edited, MODERATE["sharpen"], Stream("test"))).correct
