"""Bent pictures: ironed by what was given, right answers accepted, and nothing that was drawn ironed away."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gamegen.adversary import ATTACKS
from gamegen.core.key import Key
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.perturb import PERTURBATIONS
from gamegen.sample import Sample, make_sample
from renderers.reading.bent import PLAINLY, Press
from renderers.reading.register import WHOLE, Landmarks, Scan, register

EDGE = 24
"""Pixels at the edge of a page where nothing tells how it is bent."""


def _press(sample: Sample) -> Press:
    renderer = sample.plugin.renderer
    return Press(np.asarray(sample.original), renderer.shaky(sample.problem, sample.style))


def _bent(sample: Sample, strength: float) -> Image.Image:
    return PERTURBATIONS["bend"](sample.edited, strength, Stream("bend", sample.id))


def _off(sample: Sample, image: Pixels) -> float:
    """The mean by which a picture, laid as well as it can be without bending it, differs from the answer."""
    laid = register(Scan(image), Landmarks(np.asarray(sample.original))).part(WHOLE, sample.edited.size)
    inner = slice(EDGE, -EDGE)
    return float(np.abs(laid.astype(float) - np.asarray(sample.edited))[inner, inner].mean())


@pytest.mark.parametrize(
    "task", ["chess/move", "sudoku/next", "wordsearch/find", "reconstruction/voxel", "pacman/sweep"]
)
@pytest.mark.parametrize("strength", [0.5, 0.8])
def test_ironing_undoes_most_of_a_bend(task: str, strength: float) -> None:
    sample = make_sample(Key(task, level=3, seed=11))
    bent = np.asarray(_bent(sample, strength))
    flat = _press(sample).ironed(bent)
    assert flat is not None and flat.shape == bent.shape
    assert _off(sample, flat) < 0.75 * _off(sample, bent)


@pytest.mark.parametrize("name", ["none", "jpeg", "noise", "shift"])
def test_what_is_not_bent_is_left_alone(name: str) -> None:
    sample = make_sample("chess/mate@1:train:3:11:0")
    image = sample.edited if name == "none" else PERTURBATIONS[name](sample.edited, 0.5, Stream("x"))
    assert _press(sample).ironed(np.asarray(image)) is None


def test_another_picture_is_not_bent_into_this_one() -> None:
    sample, other = (make_sample(Key("sudoku/solve", level=3, seed=seed)) for seed in (1, 2))
    assert _press(sample).ironed(np.asarray(other.edited), PLAINLY) is None


@pytest.mark.parametrize(
    "name",
    [
        "wordsearch/find@1:train:3:3001:4",
        "wordsearch/find-all@1:train:4:3001:7",
        "reconstruction/project@1:train:4:3001:16",
        "reconstruction/voxel@1:train:2:3001:3",
        "sudoku/solve@1:train:5:3001:18",
        "maze/shortest@1:train:3:3001:5",
    ],
)
def test_right_answers_that_are_bent_are_right(name: str) -> None:
    sample = make_sample(name)
    verdict = verify(sample, _bent(sample, 0.7))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("chess/attacks@1:train:2:41000000:1", 96),  # a bar inside of a highlight, which seemed to be its bent side
        ("chess/attacks@1:train:4:41000000:1", 141),
        ("sokoban/push@1:train:3:400000000001:0?pixels=256", 157),  # a bar in the noise that the bend seemed to be
    ],
)
def test_strokes_on_bent_pictures_are_seen_once_these_are_ironed(name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS["bent"](sample, Stream(sample.id, "attack", number))
    assert made is not None and not made[1]
    assert not verify(sample, made[0]).correct


def test_a_wrong_answer_that_is_bent_is_wrong() -> None:
    sample = make_sample("tictactoe/best@1:train:2:11:0")
    wrong = sample.plugin.game.mutate(sample.solution.after, Stream("wrong"))
    assert not sample.plugin.solver.check(sample.problem, wrong).correct
    image = sample.plugin.renderer.render(wrong, sample.style).image()
    assert not verify(sample, PERTURBATIONS["bend"](image, 1.0, Stream("bend"))).correct


@pytest.mark.parametrize("strength", [0.8, 0.9])
def test_letters_that_seem_to_be_others_are_ironed_before_that_is_believed(strength: float) -> None:
    sample = make_sample("wordsearch/find@1:train:3:42:0")  # unironed, its O in row 7 looks like a Q
    image = PERTURBATIONS["bend"](sample.edited, strength, Stream("x"))
    verdict = verify(sample, image)
    assert verdict.correct, verdict.reason


def test_lines_beside_what_was_drawn_anew_bend_nothing() -> None:
    sample = make_sample("tictactoe/best@1:train:1:62:20")  # a line between a red square and one that became blue
    renderer = sample.plugin.renderer
    bent = np.asarray(PERTURBATIONS["bend"](sample.edited, 0.5, sample.key.stream("reading")))
    reading = renderer.read(bent, sample.problem, sample.style)
    known = _press(sample).ironed(bent, matrix=reading.matrix, answer=lambda: np.asarray(sample.edited))
    guessed = _press(sample).ironed(bent, matrix=reading.matrix)
    assert known is not None and guessed is not None and _off(sample, known) < _off(sample, guessed)
    stains = [renderer.read(flat, sample.problem, sample.style).stain for flat in (known, guessed)]
    assert stains == ["", "cell (0, 2)"]
    assert verify(sample, bent).correct


def test_where_all_was_drawn_anew_nothing_tells_of_a_bend() -> None:
    sample = make_sample("chess/move@1:train:3:11:0")
    bent = np.asarray(_bent(sample, 0.5))
    assert _press(sample).ironed(bent) is not None
    assert _press(sample).ironed(bent, answer=lambda: 255 - np.asarray(sample.original)) is None
