"""The whole way, in processes of their own: an editor and a judge behind a faulty server, killed and started again."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gamegen.__main__ import main

from . import faulty
from .conftest import ROWS

pytest.importorskip("httpx")

ROOT = Path(__file__).parents[2]
CALLS = 3 * ROWS


def start(*command: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def server() -> Iterator[str]:
    process = start("tests.scoring.faulty_server")
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def finish(*command: object, **environment: str) -> None:
    process = start(*command, **environment)
    said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, said + complaint


def kill_when(process: subprocess.Popen[str], ready: Callable[[], bool]) -> None:
    while not ready() and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -9


def files(folder: Path, pattern: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob(pattern))}


def test_faults_and_kills_change_no_result(dataset: Path, tmp_path: Path, server: str) -> None:
    """Every first answer is spoilt; both commands are killed on the way. What is left equals an undisturbed run."""
    world = {"OPENAI_BASE_URL": server, "OPENAI_API_KEY": "word"}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    patience = ["--option", "timeout=0.7", "--option", "backoff=0.01", "--jobs", 2]
    edit = ["gamegen", "edit", dataset, "--editor", "openai:painter", *patience, "--out"]
    kill_when(start(*edit, killed, **world), lambda: len(list(killed.glob("*/*.png"))) >= 3)
    assert len(list(killed.glob("*/*.png"))) < ROWS
    finish(*edit, killed, **world)
    finish(*edit, whole, **world)
    assert len(files(whole, "*/*.png")) == ROWS and files(killed, "**/*.*") == files(whole, "**/*.*")

    judge = ["--judge", "both", "--model", "m", "--timeout", 0.7, "--concurrency", 4]
    cache = killed / "scores" / "judge.sqlite"
    kill_when(start("gamegen", "score", dataset, killed, *judge, **world), lambda: _replies(cache) >= 4)
    assert 4 <= _replies(cache) < CALLS and not (killed / "scores" / "summary.json").exists()
    for folder in (killed, whole):
        finish("gamegen", "score", dataset, folder, *judge, **world)
    assert files(killed, "scores/*.json*") == files(whole, "scores/*.json*")
    summary = json.loads((whole / "scores" / "summary.json").read_text())
    assert summary["vlm"]["strict"]["percent"]["count"] == ROWS and summary["vlm"]["judge_failures"] == 0
    assert summary["exact"]["correct"] == {"mean": 0, "interval": [0, 0], "count": ROWS, "coverage": 1, "failures": 0}


def _replies(cache: Path) -> int:
    if not cache.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


@pytest.mark.parametrize("editor, right", [("oracle", 1), ("copy", 0), ("noise", 0), ("wrong", 0)])
def test_the_yardsticks_score_what_they_must(dataset: Path, tmp_path: Path, editor: str, right: int) -> None:
    out = tmp_path / "out"
    assert main(["edit", str(dataset), "--editor", editor, "--out", str(out)]) == 0
    assert main(["score", str(dataset), str(out), "--judge", "exact"]) == 0
    summary = json.loads((out / "scores" / "summary.json").read_text())
    for numbers in (summary, *summary["by_category"].values(), *summary["by_dimension"].values()):
        assert numbers["exact"]["correct"]["mean"] == right and numbers["exact"]["missing"] == 0


def _promising(side: int) -> bytes:
    """A PNG whose head promises so many pixels a side, and that holds none."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"")


def test_outputs_that_are_no_pictures_cost_only_themselves(dataset: Path, golds: Path) -> None:
    """Cut off, 30,000 pixels a side, no picture, too small; a right answer of another size is still right."""
    cut, huge, text, small = sorted((golds / "Maze").iterdir())
    cut.write_bytes(cut.read_bytes()[:300])
    huge.write_bytes(_promising(30_000))
    text.write_bytes(b"I cannot draw that.")
    Image.new("RGB", (8, 8)).save(small)
    for path in (golds / "Tictactoe").iterdir():
        with Image.open(path) as picture:
            wide = picture.convert("RGB").resize((400, 300), Image.Resampling.LANCZOS)
        wide.save(path)
    with faulty.serving(lambda number: faulty.says('{"reason": "fine", "score": 5}')) as endpoint:
        judge = ["--judge", "both", "--model", "m", "--base-url", endpoint.url]
        assert main(["score", str(dataset), str(golds), *judge]) == 0
        assert len(endpoint.seen) == 3 * (ROWS - 4)
    summary = json.loads((golds / "scores" / "summary.json").read_text())
    assert summary["by_category"]["Maze"]["exact"]["correct"]["mean"] == 0
    assert summary["by_category"]["Tictactoe"]["exact"]["correct"]["mean"] == 1
    assert summary["by_category"]["Maze"]["vlm"]["missing"] == 4 and summary["vlm"]["judge_failures"] == 0
    assert summary["by_category"]["Maze"]["vlm"]["lenient"]["percent"]["mean"] == 0
    reasons = [json.loads(line)["reason"] for line in (golds / "scores" / "exact.jsonl").read_text().splitlines()]
    assert sum("cannot be read" in reason for reason in reasons) == 4


@pytest.mark.parametrize("command", ["edit", "score"])
def test_an_empty_dataset_ends_in_one_line(command: str, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.json").write_text("[]")
    (tmp_path / "out").mkdir()
    arguments = {"edit": ["--editor", "copy", "--out", str(tmp_path / "new")], "score": [str(tmp_path / "out")]}
    assert main([command, str(tmp_path / "data"), *arguments[command]]) == 2
    assert "no rows" in capsys.readouterr().err and not (tmp_path / "new").exists()
