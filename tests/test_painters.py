"""Painters: deterministic, careful (they draw where the answer is and nowhere else), and accepted by the judge."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.painters import PAINTERS, paint, right_answer
from gamegen.registry import games, plugin
from gamegen.sample import Sample, make_sample

TASKS = [f"{name}/{task.kind}" for name in games() for task in plugin(name).game.tasks]


def test_every_game_has_a_painter() -> None:
    assert sorted(PAINTERS) == sorted(games())


def _sample(task: str, index: int) -> Sample:
    return make_sample(Key(task, level=1 + index % 5, seed=404, index=index))


@pytest.mark.parametrize("task", TASKS)
def test_painted_answers_are_accepted(task: str) -> None:
    for index in range(3):
        sample = _sample(task, index)
        rng = Stream(sample.id, "test")
        image = paint(sample, right_answer(sample, rng), rng)
        if image is not None:
            verdict = verify(sample, image)
            assert verdict.correct, (sample.id, verdict.reason)


@pytest.mark.parametrize(
    ("name", "hand"),
    [
        ("sudoku/solve@1:train:2:85:41", 1),  # a 1 with a long upstroke, once read as a 7
        ("sudoku/solve@1:train:4:85:133", 3),  # a trembling 8, once like no digit
    ],
)
def test_digits_that_were_once_misread(name: str, hand: int) -> None:
    sample = make_sample(Key.parse(name))
    image = paint(sample, sample.solution.after, Stream(sample.id, "many", hand))
    assert image is not None and verify(sample, image).correct


@pytest.mark.parametrize("task", TASKS)
def test_a_painter_draws_where_the_answer_is_and_twice_the_same(task: str) -> None:
    sample = _sample(task, 1)
    first, second = (paint(sample, sample.solution.after, Stream("same")) for _ in range(2))
    assert first is not None and second is not None
    assert first.tobytes() == second.tobytes()
    before, gold, drawn = (np.asarray(each, np.int16) for each in (sample.original, sample.edited, first))
    changed, asked = (np.abs(each - before).max(axis=2) > 60 for each in (drawn, gold))
    near = Image.fromarray(asked.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(31))
    assert changed.any() and not (changed & (np.asarray(near) == 0)).any()
    assert np.abs(drawn - gold).max() > 60, "a copy of our own drawing tests nothing"


def test_cells_are_coloured_within_their_lines() -> None:
    """A painter once covered the lines at two sides of small cells, and left white at the other two."""
    sample = make_sample(Key("sudoku/solve", level=4, seed=31, skin="colours", pixels=256))
    before, colours = np.asarray(sample.original, np.int16), sample.style.colours()
    lines = np.logical_or.reduce([np.abs(before - colours[name]).max(axis=2) < 8 for name in ("line", "box")])
    for number in range(4):
        image = paint(sample, sample.solution.after, Stream("lines", number))
        assert image is not None
        covered = np.abs(np.asarray(image, np.int16) - before).max(axis=2) > 128
        assert not (covered & lines).any()


def test_strength_is_how_far_the_hand_strays() -> None:
    sample = make_sample(Key("maze/path", level=2, seed=1, index=0, skin="classic"))
    pen = sample.style.colours()[sample.problem.position.pen]
    calm = paint(sample, sample.solution.after, Stream("calm"), strength=0.0)
    assert calm is not None and pen in {colour for _, colour in calm.getcolors(1 << 20) or []}
