from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from gamegen.__main__ import main


def test_inspect_says_what_a_checkpoint_is(tiny_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bagel", "inspect", str(tiny_folder), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["problems"] == [] and facts["dtypes"] == ["F32"] and facts["language"]["layers"] == 2
    assert main(["bagel", "inspect", str(tiny_folder)]) == 0
    assert "problems: none" in capsys.readouterr().out


def test_inspect_lists_what_is_wrong(tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(tiny_folder, tmp_path / "bad")
    config = json.loads((tmp_path / "bad/llm_config.json").read_text())
    (tmp_path / "bad/llm_config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    assert main(["bagel", "inspect", str(tmp_path / "bad")]) == 1
    assert "28 missing tensors: language_model.model.layers.2." in capsys.readouterr().out
    assert main(["bagel", "inspect", str(tmp_path / "nowhere")]) == 2
    assert "no such checkpoint" in capsys.readouterr().err


def test_train_export_edit(
    tiny_folder: Path, board_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    train = ["train", "bagel", "--data", str(board_data), "--model", str(tiny_folder), "--out", run]
    assert main([*train, "--steps", "1", "--tokens", "260", "--dtype", "fp32", "--no-recompute", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == 1
    assert main(["bagel", "export", run, out]) == 0
    Image.new("RGB", (64, 64), "red").save(tmp_path / "board.png")
    edit = ["bagel", "edit", out, str(tmp_path / "board.png"), "Place X.", "--out", str(tmp_path / "edited.png")]
    assert main([*edit, "--points", "3", "--no-think", "--json"]) == 0
    assert Image.open(tmp_path / "edited.png").size == (64, 64)
    assert main(["bagel", "export", str(tmp_path), out]) == 2
    assert "not a training run" in capsys.readouterr().err
