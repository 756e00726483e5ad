"""What is seen at a glance is what is read, and what cannot be seen at a glance is not guessed."""

from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gamegen.core.key import LEVELS, Key
from gamegen.core.rendering import Pixels, parse_colour
from gamegen.games.wordsearch import COLOURS, WordGrid
from gamegen.judge import look, verify
from gamegen.perturb import PERTURBATIONS
from gamegen.sample import Sample, make_sample
from renderers import skin as skin_file
from renderers.glance import APART
from renderers.reading.drawn import STILL, apart, is_as_drawn, likeness
from renderers.wordsearch import renderer
from renderers.wordsearch_glance import NEAR


def _sample(kind: str, level: int, seed: int, pixels: int = 512) -> Sample:
    return make_sample(Key(f"wordsearch/{kind}", level=level, seed=seed, pixels=pixels))


def _jpeg(image: Pixels, quality: int) -> Pixels:
    data = io.BytesIO()
    Image.fromarray(image).save(data, "JPEG", quality=quality)
    return np.asarray(Image.open(data))


@settings(max_examples=40)
@given(
    st.sampled_from(("find", "find-all")),
    st.sampled_from(LEVELS),
    st.integers(0, 9999),
    st.sampled_from((256, 512, 768)),
    st.sampled_from((None, 75, 85, 95)),
)
def test_a_glance_and_a_reading_never_disagree(
    kind: str, level: int, seed: int, pixels: int, quality: int | None
) -> None:
    """Of any other highlight or letter, clean or compressed."""
    sample = _sample(kind, level, seed, pixels)
    wrong = sample.plugin.game.mutate(sample.solution.after, sample.key.stream("glance"))
    for position in (sample.solution.after, wrong):
        image = renderer.render(position, sample.style).rgb()
        image = image if quality is None else _jpeg(image, quality)
        found = renderer.glance(image, sample.problem, sample.style)
        told = found is not None and is_as_drawn(image, renderer.render(found, sample.style).rgb())
        assert not told or found == position
        if pixels >= 512:
            assert look(sample.plugin, sample.problem, sample.style, image).position == position
            assert renderer.read(image, sample.problem, sample.style).position == position


@pytest.mark.parametrize("level", LEVELS)
def test_most_right_answers_are_told_at_a_glance(level: int) -> None:
    """Compressed, too; no more than that is asked of what another hand drew."""
    told = 0
    for seed in range(10):
        sample = _sample("find", level, seed)
        for image in (np.asarray(sample.edited), _jpeg(np.asarray(sample.edited), 90)):
            found = renderer.glance(image, sample.problem, sample.style)
            told += found == sample.solution.after and is_as_drawn(image, np.asarray(sample.edited))
    assert told >= 12


def test_pictures_that_were_moved_or_coloured_otherwise_are_not_guessed() -> None:
    sample = _sample("find-all", 2, 3)
    image, rng = sample.edited, sample.key.stream("glance")
    assert renderer.glance(np.asarray(image), sample.problem, sample.style) == sample.solution.after
    for name, strength in (("shift", 1.0), ("zoom", 1.0), ("hue", 1.0), ("resize", 1.0), ("gamma", 1.0)):
        other = np.asarray(PERTURBATIONS[name](image, strength, rng))
        assert renderer.glance(other, sample.problem, sample.style) is None, name
    half = np.asarray(Image.blend(sample.original, image, 0.5))
    assert renderer.glance(half, sample.problem, sample.style) is None


def test_letters_that_could_pass_for_others_are_not_guessed() -> None:
    """A small D is an O but for two pixels, in thin strokes on a dark ground."""
    guessed = {}
    for seed in range(40):
        sample = make_sample(Key("wordsearch/find", level=1 + seed % 5, seed=seed, skin="dark", pixels=256))
        board = renderer.board(sample.style, *renderer.size(sample.problem.position))
        tiles = board.inks.palette(sample.style.colours())[board.bank]
        plain = apart(tiles, 256) >= APART
        guessed[plain] = renderer.glance(np.asarray(sample.edited), sample.problem, sample.style)
        assert (guessed[plain] is not None) == plain
    assert set(guessed) == {False, True}


def test_how_far_tiles_are_apart() -> None:
    """Of three grey ones by the two nearest, in times of what compression may do."""
    tiles = np.stack([np.full((8, 8, 3), level, np.uint8) for level in (0, 100, 160)])
    assert apart(tiles, 512) == apart(tiles, 1024) == 60 / STILL.light


def test_likeness_is_one_less_the_deviation() -> None:
    grey = np.full((16, 16, 3), 100, np.uint8)
    assert likeness(grey, grey) == 1.0
    assert likeness(grey + np.uint8(32), grey) == pytest.approx(0.75)
    assert likeness(grey + np.uint8(150), grey) == 0.0


@pytest.mark.parametrize("skin", renderer.skins)
def test_no_two_colours_are_taken_for_each_other(skin: str) -> None:
    """Nothing lies within what a glance forgives of two of them."""
    for palette in skin_file.load(renderer.skin_path)[skin]["palettes"]:
        colours = [parse_colour(palette[name]) for name in ("cell", *COLOURS)]
        for one, other in combinations(colours, 2):
            assert np.abs(np.subtract(one, other)).max() > 2 * NEAR, (palette, one, other)


def test_a_glance_keeps_the_letters_and_judges_nothing() -> None:
    sample = _sample("find", 1, 4)
    found = renderer.glance(np.asarray(sample.original), sample.problem, sample.style)
    assert isinstance(found, WordGrid)
    assert found == sample.problem.position


@settings(max_examples=40)
@given(
    st.sampled_from(("jewel2/swap", "jewel2/best", "sokoban/push", "sokoban/solve")),
    st.sampled_from(LEVELS),
    st.integers(0, 9999),
    st.sampled_from((256, 512)),
    st.sampled_from((None, 80, 95)),
)
def test_boards_of_tiles_are_told_at_a_glance_as_they_are_read(
    task: str, level: int, seed: int, pixels: int, quality: int | None
) -> None:
    sample = make_sample(Key(task, level=level, seed=seed, pixels=pixels))
    drawer = sample.plugin.renderer
    wrong = sample.plugin.game.mutate(sample.solution.after, sample.key.stream("glance"))
    for position in (sample.problem.position, sample.solution.after, wrong):
        image = drawer.render(position, sample.style).rgb()
        image = image if quality is None else _jpeg(image, quality)
        assert look(sample.plugin, sample.problem, sample.style, image).position == position
        assert drawer.glance(image, sample.problem, sample.style) in (None, position)


def test_a_tile_that_no_position_draws_is_guessed_by_its_meaning() -> None:
    """A stone that was wiped off leaves a bare tile, which an answer of ours does not have."""
    sample = make_sample(Key("jewel2/swap", level=1, seed=1))
    drawer = sample.plugin.renderer
    frame = drawer.board(sample.style, *drawer.size(sample.problem.position)).frame
    n, wiped = frame.cell, np.array(sample.original)
    bare = wiped[frame.top + n // 8 : frame.top + n - n // 8, frame.left + n // 8 : frame.left + n - n // 8]
    bare[...] = bare[0, 0]
    assert drawer.glance(wiped, sample.problem, sample.style) is not None
    assert not verify(sample, wiped).correct


@pytest.mark.parametrize("task", ["jewel2/best", "sokoban/solve"])
def test_only_still_pages_of_tiles_are_told_at_a_glance(task: str) -> None:
    told = 0
    for level in LEVELS:
        sample = make_sample(Key(task, level=level, seed=11))
        drawer, rng = sample.plugin.renderer, sample.key.stream("glance")
        told += drawer.glance(np.asarray(sample.edited), sample.problem, sample.style) == sample.solution.after
        for name in ("shift", "zoom", "crop", "rotate", "letterbox"):
            other = np.asarray(PERTURBATIONS[name](sample.edited, 0.5, rng))
            assert drawer.glance(other, sample.problem, sample.style) is None, name
    assert told >= 4
