"""Bars around a page are taken off, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gamegen.core.key import Key
from gamegen.judge import verify
from gamegen.registry import select
from gamegen.sample import Sample, make_sample
from renderers.reading.bars import without_bars

TASKS = select("all")
COLOURS = st.tuples(*(st.integers(0, 255),) * 3)


def _sample(task: str, index: int = 0) -> Sample:
    return make_sample(Key(task, level=1 + index % 5, seed=3, index=index, pixels=256))


def _framed(image: Image.Image, left: int, top: int, right: int, bottom: int, colour: object) -> Image.Image:
    frame = Image.new("RGB", (image.width + left + right, image.height + top + bottom), colour)  # type: ignore[arg-type]
    frame.paste(image, (left, top))
    return frame


def _cut(sample: Sample, image: Image.Image) -> np.ndarray:
    return without_bars(np.asarray(image), sample.style.page, lambda: np.asarray(sample.original))


@given(st.sampled_from(TASKS), st.integers(0, 200), st.integers(0, 200), st.booleans(), COLOURS)
@settings(max_examples=80, deadline=None)
def test_bars_of_any_colour_are_taken_off_two_sides(task: str, one: int, other: int, across: bool, colour) -> None:
    sample = _sample(task)
    sides = (one, 0, other, 0) if across else (0, one, 0, other)
    cut = _cut(sample, _framed(sample.original, *sides, colour))
    if cut.shape == (256, 256, 3):
        assert np.abs(cut.astype(int) - np.asarray(sample.original)).mean() < 12
    else:  # a little of a bar in nearly the page's colour is like a shift, which registration undoes
        assert max(abs(side - 256) for side in cut.shape[:2]) <= 6


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("colour", ["black", "white", "page"])
def test_an_answer_between_bars_is_judged_as_it_is_without(task: str, colour: str) -> None:
    sample = _sample(task, 2)
    shade = sample.style.page if colour == "page" else colour
    for sides in ((70, 0, 70, 0), (0, 0, 0, 90), (7, 2, 5, 7)):
        assert verify(sample, _framed(sample.edited, *sides, shade)).correct
        wrong = verify(sample, _framed(sample.original, *sides, shade))
        assert wrong.readable and not wrong.correct
        assert wrong.position == sample["position_before"]


def _zoomed(image: Image.Image, by: float) -> Image.Image:
    more = image.width * by / 2
    return image.resize(image.size, Image.Resampling.BICUBIC, (more, more, image.width - more, image.height - more))


@pytest.mark.parametrize("task", TASKS)
def test_a_page_that_was_zoomed_or_turned_before_is_cut_at_its_frame(task: str) -> None:
    sample = make_sample(Key(task, level=1, seed=3, index=0, pixels=512))
    strange = "black" if sum(sample.style.page) > 380 else "white"
    turned = sample.edited.rotate(1, Image.Resampling.BICUBIC, fillcolor=sample.style.page)
    for image in (_zoomed(sample.edited, 0.02), turned):
        for sides in ((70, 0, 70, 0), (0, 171, 0, 0), (12, 8, 5, 14)):
            assert _cut(sample, _framed(image, *sides, strange)).shape == (512, 512, 3)
            assert verify(sample, _framed(image, *sides, strange)).correct


@pytest.mark.parametrize("task", TASKS)
def test_an_edge_around_bars_in_the_pages_colour_is_taken_off_with_them(task: str) -> None:
    sample = make_sample(Key(task, level=1, seed=3, index=0, pixels=512))
    strange = "black" if sum(sample.style.page) > 380 else "white"
    for sides in ((85, 0, 86, 0), (0, 85, 0, 86)):
        framed = _framed(_framed(sample.edited, *sides, sample.style.page), 12, 7, 9, 11, strange)
        assert verify(sample, framed).correct


@pytest.mark.parametrize("task", ["tictactoe/best", "maze/path", "sudoku/solve", "pacman/sweep"])
def test_a_bar_over_labels_is_none(task: str) -> None:
    sample = make_sample(Key(task, level=1, seed=3, index=0, pixels=512))
    strange = "black" if sum(sample.style.page) > 380 else "white"
    for box in ((0, 0, 512, 36), (0, 0, 36, 512)):
        covered = sample.edited.copy()
        covered.paste(strange, box)
        assert verify(sample, sample.edited).correct
        assert not verify(sample, covered).correct
        assert not verify(sample, _framed(covered, 0, 85, 0, 86, strange)).correct


@pytest.mark.parametrize("task", TASKS)
def test_a_stretched_page_keeps_its_margins(task: str) -> None:
    sample = _sample(task, 1)
    for size in ((448, 256), (256, 448), (300, 256)):
        stretched = np.asarray(sample.edited.resize(size, Image.Resampling.BICUBIC))
        cut = without_bars(stretched, sample.style.page, lambda: np.asarray(sample.original))
        assert all(abs(one - other) <= 0.02 * other for one, other in zip(cut.shape, stretched.shape, strict=True))


def test_a_margin_of_two_colours_is_known_by_where_they_meet() -> None:
    """A highlight at the edge of the board was taken for a wider board."""
    sample = make_sample("wordsearch/find@1:train:1:2029:10")
    for sides in ((199, 0, 199, 0), (0, 0, 0, 200)):
        framed = _framed(sample.edited, *sides, "black")
        cut = without_bars(np.asarray(framed), sample.style.page, lambda: np.asarray(sample.original))
        assert cut.shape == (512, 512, 3)


def test_a_page_as_it_was_is_not_even_looked_at() -> None:
    sample = _sample("maze/path")
    image = np.asarray(sample.edited)

    def never() -> np.ndarray:
        raise AssertionError

    assert without_bars(image, sample.style.page, never) is image


@pytest.mark.parametrize("task", ["tictactoe/best", "maze/path", "sudoku/solve", "chess/move"])
@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_small_page_on_a_large_ground_is_none(task: str, colour: str) -> None:
    sample = _sample(task)
    for side, size in ((128, (256, 256)), (200, (256, 256)), (128, (256, 400))):
        ground = Image.new("RGB", size, colour)
        ground.paste(sample.edited.resize((side, side)), ((size[0] - side) // 2, (size[1] - side) // 2))
        assert not verify(sample, ground).correct


def test_a_blank_of_another_format_is_unreadable() -> None:
    sample = _sample("tictactoe/best")
    assert not verify(sample, Image.new("RGB", (400, 256), "black")).readable


@pytest.mark.parametrize("sides", [(85, 0, 85, 0), (0, 0, 170, 0), (0, 0, 0, 0)])
def test_a_column_that_was_emptied_is_no_bar(sides: tuple[int, int, int, int]) -> None:
    """All but its label has nearly the page's colour then, and it was cut off with the bar beside it."""
    sample = make_sample("jewel2/best@1:train:1:2031:1")
    emptied = sample.plugin.game.mutate(sample.solution.after, sample.key.stream("reading"))
    image = sample.plugin.renderer.render(emptied, sample.style).image().point(lambda level: round(0.8 * level))
    verdict = verify(sample, _framed(image, *sides, (0, 0, 0)))
    assert verdict.readable and verdict.position == str(emptied)
