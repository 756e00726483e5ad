"""The reading benchmark: what counts as exact, and the forms of pictures that must not cost a bit of the position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.reading import Cell, Row, _page, _pairs_page, measured
from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.images import load_rgb
from gamegen.perturb import PERTURBATIONS
from gamegen.sample import make_sample


@pytest.mark.parametrize("form", ["palette", "deep", "orientation"])
def test_forms_keep_the_picture(form: str) -> None:
    original = make_sample(Key("tictactoe/best", seed=3)).original
    back = load_rgb(PERTURBATIONS[form](original, 0.0, Stream("form")))
    assert back.shape == np.asarray(original).shape
    assert np.abs(back.astype(int) - np.asarray(original)).mean() < 2


def test_transparent_edges_become_white() -> None:
    original = make_sample(Key("tictactoe/best", seed=3, skin="dark")).original
    back = load_rgb(PERTURBATIONS["alpha"](original, 1.0, Stream("form")))
    assert back[0, 0].min() > 200 and (back[100:400, 100:400] == np.asarray(original)[100:400, 100:400]).all()


def test_blank_pictures_are_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    row = measured(Cell("tictactoe", ("none",), "moderate"), count=6, pixels=256, seed=1)
    assert (row.exact, row.abstained, row.misread) == (6, 0, 0)
    monkeypatch.setitem(PERTURBATIONS, "noise", lambda image, strength, rng: image.point(lambda level: 255))
    row = measured(Cell("tictactoe", ("noise",), "moderate"), count=6, pixels=256, seed=1)
    assert row.exact == 0 and len(row.faults) == 6


def test_the_page_tells_date_version_and_counts(tmp_path: Path) -> None:
    rows = [measured(Cell("tictactoe", (name,), "moderate"), count=2, pixels=256, seed=1) for name in ("none", "jpeg")]
    text = _page(rows, 2, 256, 1)
    assert "4 in all, 4 exact, 0 abstained, 0 misread" in text and "| jpeg" in text


def test_pairs_are_a_square_over_all_games() -> None:
    rows = [
        Row(game, pair, strength, 8 - faults, faults, 0, ())
        for game, faults in (("chess", 1), ("maze", 2))
        for pair in ("blur+jpeg", "jpeg+blur", "painted+jpeg")
        for strength in ("moderate", "full")
    ]
    text = _pairs_page(rows, 8, 256, 1)
    assert "**moderate**: 48 pictures, 9 abstained from, 0 misread." in text
    head = [cell.strip() for cell in text.splitlines()[4].split("|")]
    assert head == ["", "of 16", "jpeg", "blur", ""]
    lines = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:4]] for line in text.splitlines()[6:9]
    }
    assert lines == {"blur": ["3 / 0", ""], "jpeg": ["", "3 / 0"], "painted": ["3 / 0", ""]}
