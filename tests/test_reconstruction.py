"""3D reconstruction: seeing by ray casting, deciding by brute force, structures a person checked, tampered reasons."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, UnreadableImage
from gamegen.core.isometric import Heights, Strip, bit, decidable, explain, faces, triangles
from gamegen.core.problem import Problem, Step
from gamegen.core.stream import Stream
from gamegen.games.reconstruction import Position, Project, Stack, Unstack, game
from gamegen.judge import verify
from gamegen.painters import paint
from gamegen.perturb import jpeg, tone
from gamegen.sample import make_sample
from renderers import isometric
from renderers.reconstruction import renderer
from solvers.reconstruction import LEVELS, solver

CORNER = """3x3x3
heights
320
210
000
front
.##
.##
.##
side
##.
##.
##."""
"""Four columns in the back corner: heights as a map (greatest y first), both views wrong in one column."""


def maps(n: int) -> st.SearchStrategy[Heights]:
    row = st.tuples(*[st.integers(0, n)] * n)
    return st.tuples(*[row] * n)


def cast(heights: Heights, strip: int, v: int) -> str:
    """What the eye meets in the middle of a triangle, along the line of sight in small steps from the front."""
    n = len(heights)
    right_pointing = (v - strip) % 2 == 1
    u = strip + (1 / 3 if right_pointing else 2 / 3)
    fine = 600
    before = (0, 0, 0)
    for step in range((n + 1) * fine, 0, -1):
        z = (step - 0.5) / fine - 0.5 / fine
        place = math.floor((u + v) / 2 + z), math.floor((u - v) / 2 - z), math.floor(z)
        x, y, level = place
        if 0 <= x < n and 0 <= y < n and 0 <= level < heights[x][y]:
            moved = [axis for axis in range(3) if place[axis] != before[axis]]
            assert len(moved) == 1
            return ("right", "left", "top")[moved[0]]
        before = place
    return ""


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 4).flatmap(maps))
def test_faces_are_what_rays_meet(heights: Heights) -> None:
    n = len(heights)
    for strip, seen in enumerate(faces(heights)):
        for v in list(triangles(n))[strip % 3 :: 3]:
            shown = [name for name in Strip._fields if getattr(seen, name) & bit(n, v)]
            assert shown == [name for name in [cast(heights, strip, v)] if name]


def _by_look(n: int) -> dict[tuple[Strip, ...], list[Heights]]:
    groups = defaultdict(list)
    for flat in product(range(n + 1), repeat=n * n):
        heights = tuple(tuple(flat[x * n : (x + 1) * n]) for x in range(n))
        groups[faces(heights)].append(heights)
    return groups


def test_deciding_agrees_with_brute_force() -> None:
    """All 81 structures on a 2 by 2 floor: 70 different looks, 59 of them of one structure alone."""
    groups = _by_look(2)
    assert (len(groups), sum(len(group) == 1 for group in groups.values())) == (70, 59)
    for look, group in groups.items():
        for heights in group:
            assert decidable(heights) == (len(group) == 1)
            assert explain(look, heights) == heights  # what cannot be seen is taken to be unchanged


def test_the_nearest_explanation_is_found_or_none() -> None:
    groups = _by_look(2)
    start = ((1, 2), (0, 1))
    for look, group in groups.items():
        costs = sorted(
            sum(a != b for one, other in zip(start, h, strict=True) for a, b in zip(one, other, strict=True))
            for h in group
        )
        found = explain(look, start)
        if len(costs) > 1 and costs[0] == costs[1]:
            assert found is None
        else:
            assert found in group
    impossible = tuple(Strip(0, bit(2, -4), 0) for _ in range(4))
    assert explain(impossible, start) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5).flatmap(maps))
def test_the_painter_shows_the_same_faces(heights: Heights) -> None:
    """Painted from the back to the front, or hidden from the front to the back: two ways, one picture."""
    assert isometric.strips(isometric.kind(isometric.shown(heights)), len(heights)) == faces(heights)


def test_silhouettes_a_person_checked() -> None:
    solution = solver.solve(Problem("project", game.parse(CORNER)))
    assert solution.after.front == ("..#", ".##", ".##")  # y = 1, 2, 3: tallest 0, 2, 3
    assert solution.after.side == ("#..", "##.", "##.")  # x = 1, 2, 3: tallest 3, 2, 0
    assert [step.action for step in solution.steps if step.action] == ["front 2", "side 2"]


def voxel(order: str, x: int, y: int) -> Problem[Position]:
    drawn = solver.solve(Problem("project", game.parse(CORNER))).after
    return Problem("voxel", drawn, (("order", order), ("x", x), ("y", y)))


@pytest.mark.parametrize(
    ("order", "x", "y", "front", "side"),
    [
        ("add", 3, 1, ("..#", ".##", "###"), ("#..", "##.", "###")),  # on bare floor, seen from both sides
        ("add", 2, 2, ("..#", ".##", ".##"), ("#..", "##.", "##.")),  # behind taller ones, seen from neither
        ("remove", 1, 3, ("...", ".##", ".##"), ("...", "##.", "##.")),  # the peak, seen from both
        ("remove", 1, 2, ("..#", "..#", ".##"), ("#..", "##.", "##.")),  # the tallest of its row, not of its line
    ],
)
def test_cubes_a_person_checked(order: str, x: int, y: int, front: tuple[str, ...], side: tuple[str, ...]) -> None:
    after = solver.solve(voxel(order, x, y)).after
    assert (after.front, after.side) == (front, side)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: p.with_height(2, 2, 2), "The column at x = 2, y = 2 is 2 cubes high instead of 1."),
        (
            lambda p: p.with_square("front", 0, 1, "#"),
            "In the front view the square y = 2, z = 3 is filled, but it must",
        ),
        (lambda p: p.with_square("side", 2, 0, "."), "The side view has a filled square above a blank one at x = 1."),
        (lambda p: p.with_square("side", 0, 0, "."), "In the side view the square x = 1, z = 3 is blank, but it must"),
    ],
)
def test_wrong_edits_are_named(change, says: str) -> None:  # type: ignore[no-untyped-def]
    problem = Problem("project", game.parse(CORNER))
    check = solver.check(problem, change(solver.solve(problem).after))
    assert not check.correct and check.reason.startswith(says), check.reason


def test_shares_count_what_is_right_and_what_stayed() -> None:
    problem = voxel("add", 3, 1)
    untouched = solver.check(problem, problem.position)
    assert not untouched.correct and untouched.preserved == 1.0
    assert untouched.parts == {"structure": 8 / 9, "front": 8 / 9, "side": 8 / 9}


def drawn(kind: str, level: int, count: int) -> list[Problem[Position]]:
    found, attempt = [], 0
    while len(found) < count:
        attempt += 1
        try:
            found.append(solver.generate(kind, level, Stream("test", kind, level, attempt)))
        except Rejected:
            continue
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_every_sample_is_decidable_before_and_after(level: int) -> None:
    for problem in drawn("voxel", level, 25):
        assert decidable(problem.position.heights)
        assert decidable(solver.solve(problem).after.heights)
        assert not solver.check(problem, problem.position).correct


def _tampered(step: Step) -> list[Step]:
    wrong: list[Step] = []
    for name, fact in step.facts.items():
        if isinstance(fact, int):
            wrong.append(replace(step, facts={**step.facts, name: fact + 1}))
        elif isinstance(fact, tuple):
            wrong.append(replace(step, facts={**step.facts, name: (*fact[1:], 9)}))
        elif fact in ("@front", "@side"):
            wrong.append(replace(step, facts={**step.facts, name: "@side" if fact == "@front" else "@front"}))
        elif fact in ("x", "y"):
            wrong.append(replace(step, facts={**step.facts, name: "y" if fact == "x" else "x"}))
    return wrong


@pytest.mark.parametrize("kind", ["project", "voxel"])
def test_claims_hold_and_tampered_ones_do_not(kind: str) -> None:
    for level in LEVELS:
        for problem in drawn(kind, level, 8):
            position = problem.position
            for step in solver.solve(problem).steps:
                assert solver.confirm(problem, position, step), step
                for wrong in _tampered(step):
                    blank = step.rule.endswith("-blank") and wrong.facts["column"] != step.facts["column"]
                    assert blank or not solver.confirm(problem, position, wrong), (wrong, str(position))
                if step.action:
                    position = game.apply(position, game.parse_action(step.action))


@pytest.mark.parametrize("action", [Stack(1, 3), Unstack(3, 1), Stack(4, 1), Project("front", 4)])
def test_nothing_grows_too_high_sinks_or_leaves_the_floor(action: Stack | Unstack | Project) -> None:
    with pytest.raises(IllegalAction):
        game.apply(game.parse(CORNER), action)


@pytest.mark.parametrize(
    "text", ["3x3x3", "3x3x4\n", CORNER.replace("side", "back"), CORNER.replace("320", "32a"), CORNER + "\n"]
)
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


def test_the_mirror_image_is_the_same_puzzle() -> None:
    heights = game.parse(CORNER).heights
    lifted = game.parse(CORNER).with_height(3, 2, 2)
    mirrored = game.parse(CORNER).with_height(2, 1, 2)
    assert heights == tuple(tuple(heights[2 - y][2 - x] for y in range(3)) for x in range(3))
    assert game.canonical(lifted) == game.canonical(mirrored) != game.canonical(game.parse(CORNER))


def test_what_no_stack_could_look_like_is_refused() -> None:
    """A cube pasted into the air, between the places where cubes can be."""
    problem = voxel("add", 3, 1)
    style = renderer.style(problem, skin="classic", pixels=512, rng=Stream("air"))
    one = renderer.render(problem.position.with_height(3, 1, 1), style).rgb().copy()
    bare = renderer.render(problem.position, style).rgb()
    rows, cols = np.nonzero((one != bare).any(axis=2))
    inside = cols < 300
    top, bottom, left, right = rows[inside].min(), rows[inside].max(), cols[inside].min(), cols[inside].max()
    cube = one[top : bottom + 1, left : right + 1]
    floating = bare.copy()
    high = 60
    floating[top - high : bottom + 1 - high, left : right + 1] = cube
    with pytest.raises(UnreadableImage):
        renderer.read(floating, problem, style)


@pytest.mark.parametrize(("rim", "is_filled"), [(0.1, True), (0.2, False), (0.25, False)])
def test_squares_need_not_be_filled_to_their_lines(rim: float, is_filled: bool) -> None:
    problem = Problem("project", replace(game.parse(CORNER), front=("...",) * 3, side=("...",) * 3))
    style = renderer.style(problem, skin="classic", pixels=512, rng=Stream("rims"))
    after = solver.solve(problem).after
    drawn, blank = renderer.render(after, style).rgb().copy(), style.colours()["blank"]
    for row, line in enumerate((*after.front, *after.side)):
        for col, mark in enumerate(line):
            if mark != (*problem.position.front, *problem.position.side)[row][col]:
                square = renderer.mask(frozenset({Cell(row, col)}), problem.position, style)
                rows, cols = np.flatnonzero(square.any(axis=1)), np.flatnonzero(square.any(axis=0))
                edge = round(rim * len(rows))
                inside = np.zeros_like(square)
                inside[rows[edge] : rows[-edge], cols[edge] : cols[-edge]] = True
                drawn[square & ~inside & (drawn == style.colours()["filled"]).all(axis=2)] = blank
    if is_filled:
        reading = renderer.read(drawn, problem, style)
        assert (reading.position, reading.stain) == (after, "")
    else:
        with pytest.raises(UnreadableImage):
            renderer.read(drawn, problem, style)


def test_a_scribble_on_the_page_is_seen() -> None:
    problem = voxel("add", 3, 1)
    style = renderer.style(problem, skin="classic", pixels=512, rng=Stream("ink"))
    clean = renderer.render(solver.solve(problem).after, style).rgb()
    scribbled = clean.copy()
    scribbled[440:480, 60:130] = 0
    assert renderer.read(clean, problem, style).stain == ""
    assert renderer.read(scribbled, problem, style).stain == "the page"


def test_the_mask_holds_the_views_and_nothing_written() -> None:
    problem = voxel("add", 3, 1)
    style = renderer.style(problem, skin="modern", pixels=512, rng=Stream("mask"))
    everything = renderer.mask(game.may_change(problem), problem.position, style)
    views_alone = renderer.mask(game.may_change(Problem("project", problem.position)), problem.position, style)
    assert views_alone.sum() < everything.sum() < 0.5 * everything.size
    assert not (views_alone & ~everything).any()
    blank = Position(((0,) * 3,) * 3, ("...",) * 3, ("...",) * 3)
    full = Position(((3,) * 3,) * 3, ("###",) * 3, ("###",) * 3)
    changed = (renderer.render(blank, style).pixels != renderer.render(full, style).pixels) & ~everything
    assert not changed.any()


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("reconstruction/voxel@1:train:1:411000000:0?pixels=256", 1),
        ("reconstruction/voxel@1:train:5:411000001:0?pixels=256", 288),
    ],
)
def test_lines_around_a_cube_may_be_drawn_anew(name: str, number: int) -> None:
    """Whoever takes a cube off draws what was behind it, though some of that may have shown the same before."""
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and made[1]
    assert verify(sample, made[0]).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("reconstruction/project@1:train:1:5:3", 0),  # a filled square crossed
        ("reconstruction/project@1:train:3:5:1", 1),  # a bar in the lines' colour, along a line
        ("reconstruction/project@1:train:5:5:1", 2),
        ("reconstruction/voxel@1:train:3:5:0", 7),
        ("reconstruction/voxel@1:train:4:5:2", 1),  # along the edge of a cube, through JPEG
        ("reconstruction/voxel@1:train:4:5:1", 8),
    ],
)
def test_what_is_drawn_anew_has_no_strokes_over_it(name: str, number: int) -> None:
    """In the picture's own colours they passed for another hand's."""
    sample = make_sample(name)
    made = ATTACKS["scrawl"](sample, Stream(sample.id, "attack", number))
    assert made is not None
    verdict = verify(sample, made[0])
    assert not verdict.correct
    assert verify(sample, sample.edited).correct


def test_another_hand_draws_squares_and_cubes() -> None:
    """Rims of another depth, shades of its own, lines a pixel beside ours."""
    for name in ("project@1:train:3:5:1", "project@1:train:1:5:3", "voxel@1:train:1:77000001:2?pixels=256"):
        sample = make_sample(f"reconstruction/{name}")
        for number in range(6):
            image = paint(sample, sample.solution.after, Stream(sample.id, "hand", number))
            assert image is not None
            assert verify(sample, image).correct, (name, number)


def test_compression_tints_the_lines_between_squares() -> None:
    """Lines of a pixel between orange squares turned brown, all of them, and were taken for strokes."""
    sample = make_sample("reconstruction/project@1:train:5:4243:18?pixels=256")
    assert verify(sample, jpeg(sample.edited, 0.7, sample.key.stream("reading"))).correct


def test_a_line_a_little_wider_is_no_attack_once_compressed() -> None:
    sample = make_sample("reconstruction/project@1:train:3:16000000001:0")
    assert ATTACKS["scrawl"](sample, Stream(sample.id, "attack", 47)) is None


def test_a_line_in_the_colour_of_the_square_beside_it_is_no_attack() -> None:
    sample = make_sample("reconstruction/voxel@1:train:2:92800000002:1")
    assert ATTACKS["scrawl"](sample, Stream(sample.id, "attack", 191)) is None


def test_bright_cubes_are_read_by_what_most_became() -> None:
    """Where a picture is so bright that its page is white, the colours of sides drift unlike it."""
    sample = make_sample("reconstruction/project@1:train:3:77:4")
    rng = sample.key.stream("reading")
    assert verify(sample, tone(sample.edited, 1.0, rng)).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("reconstruction/voxel@1:train:3:70000000024:0?pixels=256", 259),
        ("reconstruction/voxel@1:train:1:70000000045:1?pixels=256", 381),
    ],
)
def test_edges_of_small_cubes_meet_in_knots(name: str, number: int) -> None:
    """In dark pages of 256 pixels these were taken for a bar along an edge."""
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and verify(sample, made[0]).correct
