"""A whole run against a server process: what it gives, what it survives, and what it tells."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from edit_models.bagel.data import Rows
from gamegen.__main__ import main
from gamegen.core.categories import CATEGORIES
from gamegen.images import load_rgb
from gamegen.stored import read_dataset
from realworld.filter import QUESTIONS
from realworld.run import STAGES, Run
from realworld.status import STEPS

from .conftest import ROOT, serving, write_recipe

NINE = 9


def steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, int]]:
    capsys.readouterr()
    assert main(["real", "status", str(folder), "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out)["steps"])


def journals(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in STAGES.values()}


def pictures(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "images").rglob("*.png")}


def asked(url: str) -> dict[str, int]:
    return dict(httpx.get(f"{url}/asked").json())


def test_the_funnel_adds_up(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The server spoils two triples of four: one gives its effect away, one repeats another."""
    found = steps(finished, capsys)
    totals = {step: counts["all"] for step, counts in found.items()}
    assert list(found) == list(STEPS)
    assert totals["asked"] == 4 * NINE and totals["parsed"] == 3 * NINE and totals["unique"] == 2 * NINE
    assert totals["pictures"] == 2 * NINE and totals["pairs"] == totals["reasoned"] == totals["judged"] == 4 * NINE
    passed = [totals[question] for question in ("judged", *QUESTIONS)]
    assert passed == sorted(passed, reverse=True) and passed[-1] < passed[0]
    assert 0 < totals["candidates"] <= min(passed[-1], totals["unique"])
    assert main(["real", "status", str(finished)]) == 0
    text = capsys.readouterr().out
    assert f"triples: {NINE} x the instruction gives the effect away" in text
    assert f"dedup: {NINE} x same words in the description" in text
    assert sum(int(line.split()[1]) for line in text.splitlines() if "below 5" in line) == passed[0] - passed[-1]


def test_candidates_are_all_fives_and_one_a_triple(finished: Path) -> None:
    run = Run.open(finished)
    found = list(run.candidates())
    assert found and len({each.id.rpartition("-")[0] for each in found}) == len(found)
    for each in found:
        assert set(each.scores) == set(QUESTIONS) and set(each.scores.values()) == {5}
        assert load_rgb(each.original).shape == load_rgb(each.edited).shape
        assert each.reasoning.startswith("I see") and "<think>" not in each.reasoning
        assert CATEGORIES[each.category][0] == "real"
    passing = {pair.triple.id for pair, scores in run.judged() if set(scores.values()) == {5}}
    assert {each.id.rpartition("-")[0] for each in found} == passing


def test_keeping_less_asks_nothing(finished: Path, endpoint: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    before, strict = asked(endpoint), list(Run.open(folder).candidates())
    assert main(["real", "filter", str(folder), "--model", "m", "--base-url", endpoint, "--keep", "4"]) == 0
    assert asked(endpoint) == before
    assert len(list(Run.open(folder).candidates())) == len(list(Run.open(folder).unique())) > len(strict)


def test_an_export_is_a_dataset_like_any_other(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    assert main(["real", "export", str(folder)]) == 2 and "not decided by people" in capsys.readouterr().err
    assert main(["real", "export", str(folder), "--unreviewed"]) == 0
    rows = list(read_dataset(folder / "dataset"))
    candidates = list(Run.open(folder).candidates())
    for stored, candidate in zip(rows, candidates, strict=True):
        row = stored.row
        assert row["id"] == f"real/{candidate.id}" and row["scenario"] == "real" and row["rules"] == ""
        assert (row["instruction"], row["reference_effect"]) == (candidate.instruction, candidate.effect)
        assert row["original_image"] == candidate.original.read_bytes()
        assert row["edited_image"] == candidate.edited.read_bytes()
        assert json.loads(row["scores"]) == candidate.scores
        made = json.loads(row["provenance"])
        assert made["stages"]["triples"]["prompts"] == ["triples@1"] and made["seeds"]["original"] >= 0
    example = Rows(folder / "dataset", seed=0).example(0)
    assert example.instruction in {each.instruction for each in candidates} and example.reasoning
    assert steps(folder, capsys)["exported"]["all"] == len(rows)

    outputs = tmp_path / "outputs"
    assert main(["edit", str(folder / "dataset"), "--editor", "oracle", "--out", str(outputs)]) == 0
    assert main(["score", str(folder / "dataset"), str(outputs)]) == 2
    assert "photographs and imports have none; use --judge vlm" in capsys.readouterr().err

    assert main(["real", "export", str(folder), "--unreviewed", "--format", "uniredit"]) == 0
    again = [stored.row for stored in read_dataset(folder / "dataset")]
    assert [row["id"] for row in again] == [stored.row["id"] for stored in rows]
    assert [row["edited_image"] for row in again] == [stored.row["edited_image"] for stored in rows]


def test_a_vlm_judges_edits_of_an_export(
    finished: Path, endpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outputs = Path(shutil.copytree(finished, tmp_path / "run")), tmp_path / "outputs"
    main(["real", "export", str(folder), "--unreviewed"])
    main(["edit", str(folder / "dataset"), "--editor", "copy", "--out", str(outputs)])
    judge = ["--judge", "vlm", "--model", "m", "--base-url", endpoint, "--json"]
    capsys.readouterr()
    assert main(["score", str(folder / "dataset"), str(outputs), *judge]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["vlm"]["strict"]["percent"]["coverage"] == 1 and summary["exact"] is None


@pytest.mark.parametrize("stage", list(STAGES))
def test_a_killed_stage_goes_on_to_the_same_files(stage: str, finished: Path, tmp_path: Path) -> None:
    """The journal is torn as by a kill in the middle of a line: what was whole is not asked again."""
    with serving() as url:
        folder = Path(shutil.copytree(finished, tmp_path / "run"))
        (folder / "replies.sqlite").unlink()
        path = folder / STAGES[stage]
        lines = path.read_bytes().splitlines(keepends=True)
        left = len(lines) // 2
        path.write_bytes(b"".join(lines[:left]) + lines[left][:-7])
        assert main(["real", "run", str(folder), str(write_recipe(tmp_path / "r.toml", url))]) == 0
        missing = len(lines) - left
        calls = sum(asked(url).values())
    assert journals(folder) == journals(finished) and pictures(folder) == pictures(finished)
    assert calls == {"triples": missing, "reason": missing, "filter": missing * len(QUESTIONS)}.get(stage, 0)


def test_a_run_that_is_really_killed_goes_on(finished: Path, tmp_path: Path) -> None:
    """kill -9 at several moments of one run; nothing finished is asked again, and the files are as if undisturbed."""
    with serving() as url:
        recipe = write_recipe(tmp_path / "r.toml", url)
        command = [sys.executable, "-m", "gamegen", "real", "run", str(tmp_path / "run"), str(recipe)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        for stage in ("triples", "pairs", "reason", "filter"):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            path = tmp_path / "run" / STAGES[stage]
            while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 4):
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert subprocess.run(command, env=environment, capture_output=True).returncode == 0
        counts = asked(url)
    assert journals(tmp_path / "run") == journals(finished)
    assert pictures(tmp_path / "run") == pictures(finished)
    again = sum(counts.values()) - len(counts)
    in_flight = 8 * (1 + 1 + len(QUESTIONS))  # at each kill of a stage that asks, what was under way is lost
    assert again <= in_flight


@pytest.mark.parametrize("limit", [3_000, 50_000])
def test_a_disk_that_is_full_loses_nothing(limit: int, finished: Path, endpoint: str, tmp_path: Path) -> None:
    """No file may grow beyond the limit: first the journals hit it, later what replies are remembered in."""
    recipe = write_recipe(tmp_path / "r.toml", endpoint)
    command = [sys.executable, "-m", "gamegen", "real", "run", str(tmp_path / "run"), str(recipe)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    full = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=small)
    assert full.returncode == 2 and full.stderr.count("\n") == 1, full.stderr
    assert full.stderr.startswith("gamegen: ") and "cannot" in full.stderr
    assert subprocess.run(command, env=environment, capture_output=True).returncode == 0
    assert journals(tmp_path / "run") == journals(finished)


def test_a_spoilt_server_gives_the_same_run(finished: Path, tmp_path: Path) -> None:
    """Every first answer is late, broken, nonsense or an error; pictures come from the server, too."""
    recipes = {name: tmp_path / f"{name}.toml" for name in ("well", "spoilt")}
    with serving() as url, serving("--spoil") as bad:
        for name, address in (("well", url), ("spoilt", bad)):
            options = "{" + f'base_url = "{address}", backoff = 0.01' + "}"
            asking = f'model = "m"\nbase_url = "{address}"\n'
            recipes[name].write_text(
                f'[triples]\n{asking}count = 3\nbatch = 3\ncategories = "Pose Adjustment"\n'
                f'[pairs]\ngenerator = "openai:g"\neditor = "openai:e"\njobs = 4\n'
                f"generator_options = {options}\neditor_options = {options}\n[reason]\n{asking}[filter]\n{asking}"
            )
            assert main(["real", "run", str(tmp_path / name), str(recipes[name])]) == 0
        assert max(asked(bad).values()) > 1
    assert pictures(tmp_path / "well") == pictures(tmp_path / "spoilt") != {}
    texts: list[Any] = [Run.open(tmp_path / name).results("filter") for name in recipes]
    assert texts[0] == texts[1] != {}


def test_the_recipe_and_the_commands_are_one(finished: Path, endpoint: str, tmp_path: Path) -> None:
    ask = ["--model", "m", "--base-url", endpoint]
    folder = str(tmp_path / "run")
    pairs = ["--generator", "tests.realworld.painter:painter", "--editor", "tests.realworld.painter:painter"]
    assert main(["real", "triples", folder, *ask, "--count", "4", "--batch", "4"]) == 0
    assert main(["real", "dedup", folder]) == 0
    assert main(["real", "pairs", folder, *pairs, "--candidates", "2"]) == 0
    assert main(["real", "reason", folder, *ask]) == 0
    assert main(["real", "filter", folder, *ask]) == 0
    assert journals(tmp_path / "run") == journals(finished)


def test_a_dry_run_counts_and_asks_nothing(
    finished: Path, endpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = write_recipe(tmp_path / "r.toml", "http://127.0.0.1:9/v1")
    before = asked(endpoint)
    assert main(["real", "run", str(tmp_path / "new"), str(recipe), "--dry-run", "--json"]) == 0
    found = {each["stage"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["triples"]["calls"] == NINE and found["pairs"]["images"] == 4 * NINE * 3
    assert found["reason"]["calls"] == 4 * NINE * 2 and found["filter"]["calls"] == 4 * NINE * 2 * 6
    assert found["filter"]["input_tokens"] > 765 * found["filter"]["calls"]
    assert not (tmp_path / "new").exists() and asked(endpoint) == before
    assert main(["real", "run", str(finished), str(recipe), "--dry-run"]) == 0
    assert capsys.readouterr().out.count("nothing to ask for") == len(STAGES)
