"""The judge at its edges: small pictures, foreign rows, scribbles."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw, ImageFilter

import gamegen
from gamegen.core.errors import BadInput
from gamegen.judge import problem_of


@pytest.mark.parametrize("skin", ["classic", "paper", "dark"])
@pytest.mark.parametrize("side", [64, 96, 160, 700])
def test_small_and_large_outputs_are_read(skin: str, side: int) -> None:
    """Editors answer in their own size; small classic boards were once refused for a margin that blur had stained."""
    for sample in gamegen.create_dataset("tictactoe/best", seed=2, size=6, skin=skin):
        verdict = gamegen.verify(sample, sample.edited.resize((side, side), Image.Resampling.BICUBIC))
        assert verdict.correct, (sample.id, verdict.reason)


def test_colours_are_told_from_more_than_grid_lines() -> None:
    """Samples of colour were once taken in step with the grid of a fine board; blurred, its lines are grey."""
    sample = gamegen.create_dataset("wordsearch/find-all", level=5, seed=9001, size=20, skin="classic")[19]
    verdict = gamegen.verify(sample, sample.edited.filter(ImageFilter.GaussianBlur(1)))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize("skin", ["classic", "dark"])
def test_transparent_edges_show_the_page(skin: str) -> None:
    """Laid on white, a dark board's faded edges were once taken for a stain."""
    sample = gamegen.create_dataset("tictactoe/best", size=1, skin=skin)[0]
    layer = sample.edited.convert("RGBA")
    cutout = Image.new("RGBA", layer.size, (255, 0, 0, 0))
    cutout.paste(layer.crop((10, 10, 502, 502)), (10, 10))
    assert gamegen.verify(sample, cutout).correct
    assert not gamegen.verify(sample, cutout.convert("RGB")).correct  # red, once nothing is transparent


@pytest.mark.parametrize(
    "change",
    [
        {"style": "{}"},
        {"style": '{"skin":"classic","pixels":512,"picks":{}}'},
        {"params": "[]"},
        {"position_before": "nonsense"},
        {"task": "maze/paht"},
        {"task": None},
    ],
)
def test_foreign_rows_are_named(change: dict[str, object]) -> None:
    sample = gamegen.create_dataset("tictactoe/best", size=1)[0]
    with pytest.raises(BadInput):
        gamegen.verify(dict(sample) | change, sample.edited)


def test_rows_of_one_text_share_what_was_understood() -> None:
    row = dict(gamegen.create_dataset("tictactoe/best", size=1)[0])
    assert problem_of(row | {"id": "another"})[0] is problem_of(row)[0]
    assert problem_of(row | {"params": bytearray(str(row["params"]), "utf-8")}) == problem_of(row)
    for params in ("[]", "{", {}, 7):
        with pytest.raises(BadInput, match="row 'mine': params is not a JSON object"):
            problem_of(row | {"id": "mine", "params": params})


def test_a_scribble_on_the_margin_spoils_a_right_answer() -> None:
    sample = gamegen.create_dataset("tictactoe/best", size=1, skin="paper")[0]
    image = sample.edited
    ImageDraw.Draw(image).rectangle((0, 200, 24, 225), fill="purple")
    verdict = gamegen.verify(sample, image)
    assert not verdict.correct and verdict.readable and "margin" in verdict.reason
