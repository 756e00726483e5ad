"""Calibration: edits are worth what they are said to be, and judges whose errors are known get them counted exactly."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gamegen.__main__ import main
from gamegen.core.key import Key
from gamegen.judge import verify
from gamegen.presets import balanced_dataset
from gamegen.registry import plugin_of
from gamegen.sample import make_sample
from gamegen.slips import MEANINGS as SLIPS
from scoring.calibrate import agreement, lay_out, trials
from scoring.dual import as_seen
from scoring.known import KINDS, RIGHT, KnownEdit, known_edits
from scoring.prompts import QUESTIONS
from scoring.statistics import Rate

from . import faulty

pytest.importorskip("httpx")

TASKS, COUNT = "tictactoe,sudoku/next", 4
OPTIONS = ["--tasks", TASKS, "--count", str(COUNT), "--levels", "1", "--pixels", "256"]
Scores = dict[str, int]


@pytest.fixture(scope="module")
def edits() -> list[KnownEdit]:
    samples = balanced_dataset(
        ("tictactoe/best", "sudoku/next"), size=COUNT, levels=(1,), split="test", seed=0, pixels=256
    )
    return [edit for sample in samples for edit in known_edits(sample) if edit is not None]


def test_every_edit_is_worth_what_it_is_said_to_be(edits: list[KnownEdit]) -> None:
    kinds = Counter(edit.kind for edit in edits)
    assert kinds["gold"] == kinds["blank"] == kinds["untouched"] == COUNT and set(kinds) <= set(KINDS)
    assert len({edit.id for edit in edits}) == len(edits) and kinds["collateral"] and kinds["perturbed"]
    for edit in edits:
        verdict = verify(edit.sample, edit.image)
        if edit.kind == "smeared":
            assert edit.deserves == {"visual_quality": False} and verdict.quality < 0.99
            continue
        assert edit.verdict == verdict and verdict.correct == (edit.kind in RIGHT) == edit.deserves[QUESTIONS[0]]
        if edit.kind == "perturbed":
            assert set(edit.deserves) == {QUESTIONS[0]}
        else:
            stayed = edit.kind not in ("blank", "collateral")
            assert edit.deserves["visual_consistency"] == stayed or edit.kind in ("guess", "wrong-move", *SLIPS)
            assert edit.deserves["visual_quality"] == (edit.kind != "blank")


def test_other_right_answers_are_found_where_there_are_any() -> None:
    """On an empty tic-tac-toe board, and on others like it, several moves are best."""
    found = 0
    for index in range(12):
        sample = make_sample(Key("tictactoe/best", index=index, pixels=256))
        for edit in known_edits(sample):
            if edit is not None and edit.kind == "alternative":
                found += 1
                assert edit.verdict.correct and edit.verdict.position != sample["position_after"]
                position = plugin_of("tictactoe/best")[0].game.parse(edit.verdict.position)
                assert sample.plugin.solver.check(sample.problem, position).correct
    assert found >= 3


def judging(edits: list[KnownEdit], scores: Callable[[KnownEdit], Scores]) -> faulty.Behaviour:
    """An endpoint that knows each edit by the picture it is shown last, and the question by how many it is shown."""
    seen = {base64.b64encode(as_seen(edit.image)).decode(): scores(edit) for edit in edits}

    def answer(handler: faulty.Handler, body: dict[str, Any]) -> None:
        shown = [part["image_url"]["url"] for part in body["messages"][0]["content"] if part["type"] == "image_url"]
        question = {3: QUESTIONS[0], 2: QUESTIONS[1], 1: QUESTIONS[2]}[len(shown)]
        given = seen[shown[-1].partition(",")[2]][question]
        text = "no idea" if not given else json.dumps({"reason": "I know it.", "score": given})
        handler.send(200, faulty.completion(text))

    return answer


def calibrate(behaviour: faulty.Behaviour, out: Path) -> tuple[dict[str, Any], int]:
    with faulty.serving(lambda number: behaviour) as endpoint:
        assert main(["calibrate", "--judge", "m", "--base-url", endpoint.url, "--out", str(out), *OPTIONS]) == 0
        return json.loads((out / "calibration.json").read_text()), len(endpoint.seen)


def deserved(edit: KnownEdit) -> Scores:
    return {question: 5 if edit.deserves.get(question, False) else 1 for question in QUESTIONS}


def test_a_perfect_judge_errs_nowhere_and_is_asked_once(
    edits: list[KnownEdit], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers, asked = calibrate(judging(edits, deserved), tmp_path)
    assert numbers["edits"] == len(edits) and asked <= 3 * len(edits)
    for part in (numbers["questions"], *numbers["by_category"].values()):
        for question in (*QUESTIONS, "accuracy"):
            at = part[question]["at"]["5"]
            assert at["false_accepts"]["count"] == at["false_refusals"]["count"] == 0 == at["failures"]
            assert at["agreement"]["rate"] == 1 and at["false_accepts"]["of"] > 0 < at["false_refusals"]["of"]
    assert set(numbers["by_category"]) == {"Tictactoe", "Sudoku"}
    lines = [json.loads(line) for line in (tmp_path / "edits.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [edit.id for edit in edits]
    assert all((tmp_path / "edits" / f"{line['output']}.png").is_file() for line in lines)
    assert "false accepts" in capsys.readouterr().out
    first = {path.name: path.read_bytes() for path in tmp_path.glob("*.json*")}
    again, asked = calibrate(judging([], deserved), tmp_path)
    assert (again, asked) == (numbers, 0)
    assert first == {path.name: path.read_bytes() for path in tmp_path.glob("*.json*")}


def test_a_judge_that_overlooks_one_error_is_found_out(edits: list[KnownEdit], tmp_path: Path) -> None:
    def hasty(edit: KnownEdit) -> Scores:
        return deserved(edit) | ({QUESTIONS[0]: 4} if edit.kind == "one-cell" else {})

    numbers, _ = calibrate(judging(edits, hasty), tmp_path)
    at = numbers["questions"]["instruction_following"]["at"]
    overlooked = sum(edit.kind == "one-cell" for edit in edits)
    assert overlooked and at["4"]["false_accepts"]["count"] == overlooked and at["5"]["false_accepts"]["count"] == 0
    assert at["4"]["false_accepts"]["of"] == sum(edit.kind not in (*RIGHT, "smeared") for edit in edits)
    assert numbers["questions"]["instruction_following"]["best"] == 5
    assert numbers["by_kind"]["one-cell"]["mean"]["instruction_following"] == 4
    assert numbers["by_kind"]["gold"]["five"]["instruction_following"]["rate"] == 1


def test_what_the_judge_failed_to_say_is_counted_apart(edits: list[KnownEdit], tmp_path: Path) -> None:
    def mute(edit: KnownEdit) -> Scores:
        return deserved(edit) | ({"visual_quality": 0} if edit.kind == "gold" else {})

    numbers, _ = calibrate(judging(edits, mute), tmp_path)
    assert numbers["judge_failures"] == COUNT == numbers["questions"]["visual_quality"]["at"]["5"]["failures"]
    drawn = sum(edit.deserves.get("visual_quality", False) for edit in edits)
    assert numbers["questions"]["visual_quality"]["at"]["5"]["false_refusals"] == Rate(0, drawn - COUNT).as_json()
    assert numbers["by_kind"]["gold"]["mean"]["visual_quality"] is None


def test_a_model_on_this_machine_that_always_says_4(tiny_judge: Path, tmp_path: Path) -> None:
    assert main(["calibrate", "--judge", str(tiny_judge), "--out", str(tmp_path), *OPTIONS]) == 0
    numbers = json.loads((tmp_path / "calibration.json").read_text())
    assert numbers["judge"]["model"] == "tiny-judge" and numbers["judge_failures"] == 0
    for question in QUESTIONS:
        at = numbers["questions"][question]["at"]
        assert [at[str(t)]["false_accepts"]["rate"] for t in (2, 3, 4, 5)] == [1, 1, 1, 0]
        assert [at[str(t)]["false_refusals"]["rate"] for t in (2, 3, 4, 5)] == [0, 0, 0, 1]


def test_an_estimate_asks_nothing_and_leaves_nothing(
    edits: list[KnownEdit], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(["calibrate", "--judge", "m", "--out", str(tmp_path / "x"), *OPTIONS, "--dry-run"]) == 0
    assert f"{3 * len(edits)} calls and 0 from the cache" in capsys.readouterr().out
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "m", "--count", "0", "--dry-run"], "at least 1"),
        (["--judge", "m", "--levels", "6", "--dry-run"], "1 to 5"),
        (["--judge", "m", "--levels", "x", "--dry-run"], "numbers"),
        (["--judge", "m", "--tasks", "maize", "--dry-run"], "did you mean 'maze'"),
        (["--judge", "m"], "OPENAI_API_KEY"),
        ([], "--judge"),
    ],
)
def test_bad_options_end_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(["calibrate", *arguments, "--out", str(tmp_path / "x")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_rates_have_wilson_s_interval() -> None:
    """0, 5 and 10 of 10, as tables of the score interval give them."""
    for count, low, high in ((0, 0, 0.2775), (5, 0.2366, 0.7634), (10, 0.7225, 1)):
        assert Rate(count, 10).interval == pytest.approx((low, high), abs=1e-4)
    assert Rate(0, 0).as_json() == {"count": 0, "of": 0, "rate": None, "interval": None}


def test_nothing_to_measure_is_no_number(tmp_path: Path) -> None:
    made, unused = lay_out([], tmp_path)
    assert (made, unused) == ([], 0)
    at = agreement(trials([], []))["questions"]["instruction_following"]
    assert at["best"] is None and at["at"]["5"]["agreement"]["rate"] is None
