"""Labels of rows and columns: another one in their place is seen at 256 px, what editors do to all of them is not."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gamegen.adversary import ATTACKS
from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import make_sample
from renderers.board import BoardRenderer


@pytest.mark.parametrize(
    ("attack", "name", "number"),
    [
        ("wrong_label", "sudoku/next@1:train:4:103000000:0?pixels=256", 204),  # an F in place of an E
        ("wrong_label", "wordsearch/find@1:train:2:101000001:0?pixels=256", 114),  # an E in place of an F
    ],
)
def test_letters_that_differ_by_a_bar_are_told_apart(attack: str, name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None
    assert not verify(sample, made[0]).correct


def test_a_label_where_none_was_is_seen() -> None:
    """In a fine maze every fifth row has a label."""
    sample = make_sample(Key("maze/shortest", level=5, seed=5, pixels=256))
    renderer = sample.plugin.renderer
    assert isinstance(renderer, BoardRenderer)
    frame = renderer.board(sample.style, *renderer.size(sample.problem.position)).frame
    cell, beside = frame.cell, slice(frame.left - 19, frame.left - 2)
    for row in (2, 3, 7):
        image = np.array(sample.edited)
        image[frame.top + row * cell :, beside][:cell] = image[frame.top :, beside][:cell]
        assert not verify(sample, Image.fromarray(image)).correct


@pytest.mark.parametrize("perturbation", ["jpeg", "blur", "sharpen", "noise", "resize", "shift", "perspective", "zoom"])
@pytest.mark.parametrize(
    "name",
    [
        "maze/path@1:train:5:5:0",
        "maze/shortest@1:train:5:5:0",
        "wordsearch/find-all@1:train:4:6:0",
        "maze/path@1:train:5:880011:0",
    ],
)
def test_small_labels_survive_editors(perturbation: str, name: str) -> None:
    sample = make_sample(name)
    image = PERTURBATIONS[perturbation](sample.edited, MODERATE[perturbation], Stream(sample.id, perturbation))
    assert verify(sample, image).correct
