"""Word search: hand-made grids, uniqueness against brute force, reasoning that cannot be bent."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gamegen import verify
from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, Unsolvable
from gamegen.core.key import Key
from gamegen.core.problem import Problem
from gamegen.core.rendering import Colour, Pixels
from gamegen.core.stream import Stream
from gamegen.games.wordsearch import COLOUR_OF, DIRECTIONS, UNMARKED, Highlight, WordGrid, game, line
from gamegen.painters import paint, right_answer
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import Sample, make_sample
from renderers.reading.hand import Hand
from renderers.reading.turned import turned
from renderers.wordsearch import renderer
from solvers.wordhiding import LEVELS, WORD_LIST
from solvers.wordlines import count_lines, scan
from solvers.wordsearch import solver

PAPER = ("KAYOT", "KQYVP", "GADTF", "JVIDR", "TFHIR")
"""The grid of the paper's figure; KAYO runs right from the first cell."""

KAYO = Problem("find", WordGrid(PAPER, (".....",) * 5), (("word", "KAYO"), ("colour", "purple")))


def generated(kind: str, level: int, number: int) -> Problem[WordGrid]:
    for attempt in range(1000):
        try:
            return solver.generate(kind, level, Stream("test", kind, level, number, attempt))
        except Rejected:
            continue
    raise AssertionError("every candidate was rejected")


def brute_force(letters: tuple[str, ...], word: str) -> int:
    size, total = len(letters), 0
    for row in range(size):
        for col in range(size):
            for d_row, d_col in DIRECTIONS.values():
                cells = [(row + i * d_row, col + i * d_col) for i in range(len(word))]
                if all(0 <= r < size and 0 <= c < size for r, c in cells):
                    total += "".join(letters[r][c] for r, c in cells) == word
    return total


@st.composite
def grids(draw: st.DrawFn) -> tuple[str, ...]:
    size = draw(st.integers(3, 7))
    row = st.text("ABC", min_size=size, max_size=size)
    return tuple(draw(st.lists(row, min_size=size, max_size=size)))


@given(grids(), st.text("ABC", min_size=3, max_size=5).filter(lambda word: word != word[::-1]))
def test_both_ways_of_finding_agree_with_brute_force(letters: tuple[str, ...], word: str) -> None:
    marks = ("." * len(letters),) * len(letters)
    assert count_lines(letters, word) == brute_force(letters, word)
    assert sum(each.fits == len(word) for each in scan(WordGrid(letters, marks), word)) == brute_force(letters, word)


def test_the_figure_of_the_paper() -> None:
    solution = solver.solve(KAYO)
    assert solution.after.marks == ("pppp.", ".....", ".....", ".....", ".....")
    assert [step.action for step in solution.steps if step.action] == ["0,0 right 4 purple"]
    story = ["few-starts", "decoy", "decoy-at-edge", "found", "cells", "rest-fails-at-once", "mark"]
    assert [step.rule for step in solution.steps] == story


def test_a_decoy_is_told_with_the_letter_that_breaks_it() -> None:
    grid = WordGrid(("CARD", "XXXX", "CARE", "XXXX"), ("....",) * 4)
    solution = solver.solve(Problem("find", grid, (("word", "CARE"), ("colour", "red"))))
    decoy = solution.steps[1]
    assert decoy.rule == "decoy"
    assert dict(decoy.facts) == {
        "word": "CARE",
        "first": "C",
        "start": Cell(0, 0),
        "direction": "@right",
        "read": "CAR",
        "missing": "E",
        "instead": "D",
    }


def test_a_decoy_may_end_at_the_edge() -> None:
    grid = WordGrid(("XXXCA", "XXXXX", "CARXX", "XXXXX", "XXXXX"), (".....",) * 5)
    steps = solver.solve(Problem("find", grid, (("word", "CAR"), ("colour", "red")))).steps
    assert steps[1].rule == "decoy-at-edge" and steps[1].facts["start"] == Cell(0, 3)


def test_a_word_that_occurs_twice_is_no_problem_to_solve() -> None:
    grid = WordGrid(("CAT", "XXX", "TAC"), ("...",) * 3)
    with pytest.raises(Unsolvable, match="2 times"):
        solver.solve(Problem("find", grid, (("word", "CAT"), ("colour", "red"))))


@pytest.mark.parametrize("kind", ["find", "find-all"])
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_every_word_is_there_once_and_shares_no_cell(kind: str, level: int) -> None:
    for number in range(8):
        problem = generated(kind, level, number)
        words = problem.text("words" if kind == "find-all" else "word").split()
        assert [brute_force(problem.position.letters, word) for word in words] == [1] * len(words)
        after = solver.solve(problem).after
        assert sum(mark != "." for row in after.marks for mark in row) == sum(map(len, words))
        low, high = LEVELS[level].sizes
        assert low <= problem.position.size <= high


def test_only_the_answer_is_right() -> None:
    after = solver.solve(KAYO).after
    verdict = solver.check(KAYO, after)
    assert verdict.correct and verdict.legal and verdict.preserved == 1.0
    rng = Stream("mutations")
    for _ in range(300):
        wrong = game.mutate(after, rng)
        assert wrong != after and not solver.check(KAYO, wrong).correct


def test_the_verdict_names_what_is_wrong() -> None:
    after = solver.solve(KAYO).after
    short = replace(after, marks=("ppp..", *after.marks[1:]))
    assert solver.check(KAYO, short).reason == "The letter O in cell (0, 3) should be highlighted in purple."
    assert solver.check(KAYO, short).parts["word cells"] == 0.75
    long = replace(after, marks=("ppppp", *after.marks[1:]))
    assert "T in cell (0, 4) is highlighted but is not part of the answer" in solver.check(KAYO, long).reason
    blue = replace(after, marks=("pppb.", *after.marks[1:]))
    assert "blue instead of purple" in solver.check(KAYO, blue).reason
    typo = replace(after, letters=("KAYOX", *after.letters[1:]))
    assert solver.check(KAYO, typo).reason == "The letter T in cell (0, 4) became X."
    gone = replace(after, letters=("KAYO_", *after.letters[1:]))
    assert solver.check(KAYO, gone).reason == "The letter T in cell (0, 4) is gone."
    assert game.faults(gone) == ["cell (0, 4) has no letter"]


@pytest.mark.parametrize("kind", ["find", "find-all"])
def test_bent_reasoning_is_noticed(kind: str) -> None:
    for level in LEVELS:
        problem = generated(kind, level, 1)
        position = problem.position
        for step in solver.solve(problem).steps:
            assert solver.confirm(problem, position, step)
            for name, fact in step.facts.items():
                bent = replace(step, facts={**step.facts, name: _bent(fact)})
                assert not solver.confirm(problem, position, bent), bent
            if step.action:
                position = game.apply(position, game.parse_action(step.action))


def _bent(fact: object) -> object:
    if isinstance(fact, Cell):
        return Cell(fact.row + 1, fact.col)
    if isinstance(fact, int):
        return fact + 1
    if isinstance(fact, tuple):
        return fact[:-1]
    assert isinstance(fact, str)
    return "@up" if fact.startswith("@") and fact != "@up" else fact[:-1] + "?"


def test_highlights_stay_on_the_grid_apart_and_in_their_own_colour() -> None:
    position = game.apply(KAYO.position, Highlight(Cell(0, 0), "right", 4, "purple"))
    for text, why in (
        ("1,1 right 4 purple", "used already"),
        ("1,1 right 5 red", "outside the grid"),
        ("1,1 up-left 3 red", "outside the grid|highlighted already"),
        ("2,2 up 3 red", "highlighted already"),
        ("2,2 up 2 red", "3 cells or more"),
    ):
        with pytest.raises(IllegalAction, match=why):
            game.apply(position, game.parse_action(text))
    for action in list(game.actions(position))[::97]:
        assert game.parse_action(str(action)) == action
        assert game.faults(game.apply(position, action)) == []


def test_turning_and_mirroring_keep_the_canonical_form() -> None:
    turned = tuple("".join(column)[::-1] for column in zip(*PAPER, strict=True))
    mirrored = tuple(row[::-1] for row in PAPER)
    forms = {game.canonical(WordGrid(rows, (".....",) * 5)) for rows in (PAPER, turned, mirrored)}
    assert len(forms) == 1


@pytest.mark.parametrize(
    "text", ["", "AB\nCD", "AB\nCD\n\n..", "AB\nCD\n\n..\n.x", "Ab\nCD\n\n..\n..", "ABC\nCD\n\n..\n.."]
)
def test_other_text_is_no_position(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


def _frames(pen: ImageDraw.ImageDraw, cells: list[tuple[float, float]], side: int, colour: Colour, width: int) -> None:
    for x, y in cells:
        pen.rectangle((x - side / 2, y - side / 2, x + side / 2, y + side / 2), outline=colour, width=width)


def _ring(pen: ImageDraw.ImageDraw, cells: list[tuple[float, float]], side: int, colour: Colour, width: int) -> None:
    """One line around the whole word, in any direction: the edge of a thick line with round ends."""
    (x0, y0), (x1, y1) = cells[0], cells[-1]
    angle, radius = math.atan2(y1 - y0, x1 - x0), 0.42 * side
    dx, dy, degrees = -math.sin(angle) * radius, math.cos(angle) * radius, math.degrees(angle)
    for sign in (-1, 1):
        pen.line((x0 + sign * dx, y0 + sign * dy, x1 + sign * dx, y1 + sign * dy), fill=colour, width=width)
    for x, y, turn in ((x0, y0, 90), (x1, y1, -90)):
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.arc(box, degrees + turn, degrees + turn + 180, fill=colour, width=width)


def _strike(pen: ImageDraw.ImageDraw, cells: list[tuple[float, float]], side: int, colour: Colour, width: int) -> None:
    pen.line((*cells[0], *cells[-1]), fill=colour, width=width)


def _with_scribble(
    pen: ImageDraw.ImageDraw, cells: list[tuple[float, float]], side: int, colour: Colour, width: int
) -> None:
    _frames(pen, cells, side, colour, width)
    pen.line((90, 90, 200, 140), fill=colour, width=width)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("draw", "width", "right"),
    [(_frames, 5, True), (_frames, 2, True), (_ring, 3, True), (_strike, 3, False), (_with_scribble, 3, False)],
)
def test_highlights_in_another_hand(draw: Callable[..., None], width: int, right: bool, level: int) -> None:
    sample = make_sample(Key("wordsearch/find", level=level, seed=4))
    grid = renderer.board(sample.style, *renderer.size(sample.problem.position)).frame
    action = next(game.parse_action(step.action) for step in sample.solution.steps if step.action)
    half = grid.cell / 2
    cells = [(grid.left + c.col * grid.cell + half, grid.top + c.row * grid.cell + half) for c in action.cells]
    image = sample.original
    red, green, blue = sample.style.colours()[action.colour]
    other_shade = (red * 4 // 5, green * 4 // 5, blue * 4 // 5)
    draw(ImageDraw.Draw(image), cells, grid.cell - 2, other_shade, width)
    assert verify(sample.row(), image).correct is right


@pytest.mark.parametrize(("index", "level", "skin"), [(2, 1, "tiles"), (1, 1, "tiles"), (3, 4, "newspaper")])
def test_a_redrawn_board_is_refused(index: int, level: int, skin: str) -> None:
    """Boards in other skins that are hard to tell from the given ones: letters, sizes and colours are much alike."""
    sample = make_sample(Key("wordsearch/find-all", level=level, index=index, pixels=256))
    assert sample.style.skin != skin
    assert verify(sample.row(), sample.edited).correct
    assert not verify(sample.row(), make_sample(replace(sample.key, skin=skin)).edited).correct


@pytest.mark.parametrize("seed", [1, 2])
def test_a_blurred_and_moved_picture_is_of_the_same_hand(seed: int) -> None:
    noise = np.random.default_rng(seed)
    board, other = noise.uniform(0, 255, (2, 60, 60)).astype(np.float32)
    hand = Hand(board, np.ones((60, 60), bool), 2)
    moved = cv2.GaussianBlur(np.roll(board, 1, axis=1), (3, 3), 0)
    assert hand.mixing(moved).explains > 0.95
    again = cv2.filter2D(board, -1, hand.mixing(moved).kernel) + hand.mixing(moved).base
    assert np.abs(again - moved).mean() < 5.0
    assert hand.mixing(other).explains < 0.1


def test_the_word_list_is_clean() -> None:
    rows = WORD_LIST.read_text(encoding="utf-8").splitlines()
    words = [word for row in rows if not row.startswith("#") for word in row.split()]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    assert all(word.isascii() and word.isalpha() and word.isupper() and 3 <= len(word) <= 10 for word in words)
    assert [word for word in words if word == word[::-1]] == []
    assert len(words) > 1500


def test_a_line_runs_from_its_start() -> None:
    assert line(Cell(2, 2), "up-left", 3) == (Cell(2, 2), Cell(1, 1), Cell(0, 0))


@pytest.mark.parametrize(
    ("attack", "name", "number", "right"),
    [
        (
            "double_exposure",
            "wordsearch/find-all@1:train:4:501000000:0?pixels=256",
            241,
            False,
        ),  # a frame of two colours
        ("double_exposure", "wordsearch/find@1:train:3:504000000:0?pixels=256", 191, False),  # of two that are near
        ("adversarial_noise", "wordsearch/find-all@1:train:5:501000001:0?pixels=256", 242, False),  # a coloured letter
        ("murky_mutation", "wordsearch/find-all@1:train:3:503000003:0?pixels=256", 344, False),  # V for Y, blurred
        ("double_exposure", "wordsearch/find@1:train:4:503000001:0?pixels=256", 170, False),  # the tail of a J on an I
        ("gold", "wordsearch/find-all@1:train:5:504000002:0?pixels=256", 142, True),  # an O above a frame
        ("gold", "wordsearch/find-all@1:train:4:50000000022:0?pixels=256", 76, True),  # lone borders of one pixel
        ("painted", "wordsearch/find-all@1:train:2:501000001:0?pixels=256", 30, True),  # lighter shades on a dark board
        ("painted", "wordsearch/find-all@1:train:4:501000001:0?pixels=256", 193, True),  # soft frames on white
        ("painted", "wordsearch/find-all@1:train:5:81005:0?pixels=256", 0, True),  # a soft pen, one pixel wide
        ("painted", "wordsearch/find@1:train:5:81016:0?pixels=256", 4, True),  # red with rims that are nearly orange
    ],
)
def test_judged_right(attack: str, name: str, number: int, right: bool) -> None:
    """Pictures that the judge once got wrong, one of each class."""
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None
    verdict = verify(sample, made[0])
    assert verdict.correct is right, verdict.reason


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("wordsearch/find@1:train:4:2027:6", "resize"),
        ("wordsearch/find@1:train:5:4041:8", "zoom"),
        ("wordsearch/find@1:train:5:4041:8", "blur"),
    ],
)
def test_twin_letters_are_told_apart_in_blurred_and_moved_pictures(name: str, perturbation: str) -> None:
    """Half a pixel of misplacement made an O look like a D, whose middle is nearly the same."""
    sample = make_sample(name)
    image = PERTURBATIONS[perturbation](sample.edited, MODERATE[perturbation], sample.key.stream("reading"))
    assert verify(sample, image).correct


def _perturbed(name: str, perturbation: str, strength: float, *, right: bool) -> tuple[Sample, WordGrid, Pixels]:
    """The right answer or, as the benchmark makes it, a wrong one, after a perturbation."""
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = sample.solution.after if right else game.mutate(sample.solution.after, rng)
    image = PERTURBATIONS[perturbation](renderer.render(position, sample.style).image(), strength, rng)
    return sample, position, np.asarray(image)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("wordsearch/find-all@1:train:4:4041:7", False),  # orange that is turned towards red
        ("wordsearch/find@1:train:5:4041:38", True),  # orange that is nearer to red
        ("wordsearch/find-all@1:train:5:4041:39", False),  # purple that is turned pink, and blue towards cyan
        ("wordsearch/find-all@1:train:5:777:29", False),  # red with rims that look orange
        ("wordsearch/find@1:train:5:777:58", True),  # ground that is tinted by the undone drift
        ("wordsearch/find@1:train:5:777:18", True),  # a D that looks like an O
        ("wordsearch/find-all@1:train:2:777:173", False),  # a P instead of an O, in a border
    ],
)
def test_sharpened_pictures_are_read(name: str, right: bool) -> None:
    sample, position, image = _perturbed(name, "sharpen", MODERATE["sharpen"], right=right)
    reading = renderer.read(image, sample.problem, sample.style)
    assert reading.position == position and not (right and reading.stain)


@pytest.mark.parametrize(
    ("name", "perturbation", "right"),
    [
        ("wordsearch/find@1:train:4:5150:46", "zoom", True),  # a fine grid that was laid one cell off
        ("wordsearch/find-all@1:train:5:5150:9", "zoom", False),
        ("wordsearch/find-all@1:train:1:5150:31", "resize", False),  # one other letter among few
    ],
)
def test_moved_pictures_are_read(name: str, perturbation: str, right: bool) -> None:
    sample, position, image = _perturbed(name, perturbation, MODERATE[perturbation], right=right)
    reading = renderer.read(image, sample.problem, sample.style)
    assert reading.position == position and not (right and reading.stain)


@pytest.mark.parametrize(
    ("name", "perturbation", "right"),
    [
        ("wordsearch/find-all@1:train:5:31:49", "blur", False),  # two borders that meet, each with the colour of both
        ("wordsearch/find-all@1:train:5:31:19", "jpeg", False),
        ("wordsearch/find-all@1:train:5:33:19", "jpeg", False),  # so much so that no side is left of one
        ("wordsearch/find-all@1:train:4:2027:7", "gamma", False),
        ("wordsearch/find@1:train:5:31:8", "jpeg", True),  # colour that was left of a border
        ("wordsearch/find@1:train:5:31:238", "jpeg", True),  # a border so grey that the ground seemed to show through
        ("wordsearch/find-all@1:train:5:33:159", "webp", False),  # one between four others that was overlooked
    ],
)
def test_borders_without_a_plain_colour_are_read_by_their_whole_cells(
    name: str, perturbation: str, right: bool
) -> None:
    sample, position, image = _perturbed(name, perturbation, MODERATE[perturbation], right=right)
    reading = renderer.read(image, sample.problem, sample.style)
    assert reading.position == position and not (right and reading.stain)


def test_a_letter_mixed_with_another_is_refused_sharpened_too() -> None:
    sample = make_sample("wordsearch/find-all@1:train:5:77019:0?pixels=512")
    made = ATTACKS["double_exposure"](sample, Stream(sample.id, "attack", 19))
    assert made is not None
    for strength in (0.3, 0.5, 0.7):
        image = PERTURBATIONS["sharpen"](made[0], strength, Stream("sharpen"))
        assert not verify(sample, image).correct


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("wordsearch/find-all@1:train:2:4242:3", "hue"),  # red and cyan, each half-way to the next colour
        ("wordsearch/find-all@1:train:5:4242:29", "hue"),
        ("wordsearch/find@1:train:5:60606:38", "hue"),  # one colour, on a page whose lines tell
        ("wordsearch/find-all@1:train:4:4242:17", "sharpen"),
        ("wordsearch/find-all@1:train:5:4242:19", "sharpen"),  # purple that is turned pink
        ("wordsearch/find@1:train:3:4242:24", "sharpen"),
        ("wordsearch/find-all@1:train:3:7171:105", "tone"),  # a ground too bright to have kept its hue
        ("wordsearch/find-all@1:train:5:4242:29", "jpeg"),  # thin green lines whose colour is washed out
        ("wordsearch/find@1:train:3:7171:54", "jpeg"),  # one of which hardly any is left
        ("wordsearch/find-all@1:train:4:7171:77", "webp"),
        ("wordsearch/find-all@1:train:4:7171:7?pixels=256", "jpeg"),  # cells of so few pixels that only light tells
    ],
)
def test_painted_borders_of_turned_or_smeared_colours_are_read(name: str, perturbation: str) -> None:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = right_answer(sample, rng)
    image = paint(sample, position, rng, strength=0.5)
    assert image is not None
    changed = PERTURBATIONS[perturbation](image, MODERATE[perturbation], rng)
    reading = renderer.read(np.asarray(changed), sample.problem, sample.style)
    assert reading.position == position and not reading.stain


@pytest.mark.parametrize("perturbation", ["hue", "sharpen"])
@pytest.mark.parametrize("name", ["wordsearch/find-all@1:train:5:4041:39", "wordsearch/find@1:train:5:4041:38"])
def test_hues_that_are_turned_much_are_turned_back(name: str, perturbation: str) -> None:
    sample, position, image = _perturbed(name, perturbation, 1.0, right=True)
    reading = renderer.read(image, sample.problem, sample.style)
    assert reading.position == position and not reading.stain


def test_a_hue_half_way_between_two_colours_is_doubted() -> None:
    """On a grey page, one colour alone does not tell which of them it was."""
    sample = make_sample("wordsearch/find@1:train:1:78:53")
    pixels = np.asarray(sample.edited)
    half_way = turned(pixels.reshape(-1, 3).astype(np.float64), 16.5).reshape(pixels.shape)
    assert not verify(sample, Image.fromarray(half_way.round().astype(np.uint8))).readable


@pytest.mark.parametrize("other", ["red", "orange", "purple", "cyan"])
def test_a_sharpened_border_of_two_colours_is_refused(other: str) -> None:
    sample = make_sample("wordsearch/find-all@1:train:4:4041:7")
    image = PERTURBATIONS["sharpen"](_with_second_colour(sample, other), MODERATE["sharpen"], Stream("sharpen"))
    assert not verify(sample, image).correct


@pytest.mark.parametrize("other", ["orange", "purple", "cyan"])
def test_a_border_of_two_colours_is_refused(other: str) -> None:
    sample = make_sample(Key("wordsearch/find-all", level=5, seed=5001, pixels=256))
    assert not verify(sample, _with_second_colour(sample, other)).correct


@pytest.mark.parametrize("way", ["none", "jpeg", "webp", "blur"])
@pytest.mark.parametrize(
    ("name", "row", "col", "colour"),
    [("wordsearch/find@1:train:4:977:1", 3, 7, "green"), ("wordsearch/find@1:train:5:977:6", 13, 4, "green")],
)
def test_a_highlighted_cell_crossed_out_in_another_colour_is_refused(
    name: str, row: int, col: int, colour: str, way: str
) -> None:
    sample = make_sample(name)
    size = len(sample.solution.after.marks)
    grid, image = renderer.board(sample.style, size, size).frame, sample.edited.convert("RGB")
    left, top = grid.left + col * grid.cell + 4, grid.top + row * grid.cell + 4
    right, bottom = left + grid.cell - 9, top + grid.cell - 9
    for ends in ((left, top, right, bottom), (left, bottom, right, top)):
        ImageDraw.Draw(image).line(ends, fill=sample.style.colours()[colour], width=2)
    made = image if way == "none" else PERTURBATIONS[way](image, MODERATE[way], Stream("cross"))
    assert not verify(sample, made).correct


@pytest.mark.parametrize("quality", [None, 90, 79])
@pytest.mark.parametrize("other", [None, "red"])
@pytest.mark.parametrize(
    ("name", "row", "col", "side"),
    [
        ("wordsearch/find-all@1:train:1:31:0?pixels=256", 4, 4, (slice(None), slice(9))),  # a neighbour has it, too
        ("wordsearch/find-all@1:train:1:31:0?pixels=256", 4, 3, (slice(9), slice(None))),
    ],
)
def test_a_border_with_a_side_that_is_missing_or_of_another_colour_is_refused(
    name: str, row: int, col: int, side: tuple[slice, slice], other: str | None, quality: int | None
) -> None:
    sample = make_sample(name)
    marks, colours = sample.solution.after.marks, sample.style.colours()
    grid, image = renderer.board(sample.style, len(marks), len(marks)).frame, np.array(sample.edited.convert("RGB"))
    top, left = grid.top + row * grid.cell, grid.left + col * grid.cell
    part = image[top : top + grid.cell, left : left + grid.cell][side]
    own = colours[COLOUR_OF[marks[row][col]]]
    part[(part == own).all(axis=2)] = colours[other or "cell"]
    assert not verify(sample, _compressed(Image.fromarray(image), quality)).correct
    assert verify(sample, _compressed(sample.edited.convert("RGB"), quality)).correct


def _compressed(image: Image.Image, quality: int | None) -> Image.Image:
    if quality is None:
        return image
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def _with_second_colour(sample: Sample, other: str) -> Image.Image:
    """The right answer, but the first border has another colour in every second row."""
    marks, colours = sample.solution.after.marks, sample.style.colours()
    grid = renderer.board(sample.style, len(marks), len(marks)).frame
    row, col = next(
        (row, col)
        for row, line in enumerate(marks)
        for col, mark in enumerate(line)
        if mark != UNMARKED and COLOUR_OF[mark] != other
    )
    top, left = grid.top + row * grid.cell, grid.left + col * grid.cell
    image = np.asarray(sample.edited).copy()
    part = image[top : top + grid.cell : 2, left : left + grid.cell]
    part[(part == colours[COLOUR_OF[marks[row][col]]]).all(axis=2)] = colours[other]
    return Image.fromarray(image)


def test_a_border_that_compression_broke_is_not_overlooked() -> None:
    """A third of one's lower side was left, and less of the other's, and their cells were taken for ones without."""
    for name in ("wordsearch/find-all@1:train:5:5150:49", "wordsearch/find-all@1:train:5:41:19"):
        sample, position, image = _compressed_mutation(name)
        assert renderer.read(np.asarray(image), sample.problem, sample.style).position == position


def _compressed_mutation(name: str) -> tuple[Sample, WordGrid, Image.Image]:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = game.mutate(sample.solution.after, rng)
    clean = renderer.render(position, sample.style).image()
    return sample, position, PERTURBATIONS["jpeg"](clean, MODERATE["jpeg"], rng)
