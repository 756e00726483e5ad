"""`gamegen score` by the rules, from folders to summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gamegen.__main__ import main
from gamegen.stored import read_dataset
from scoring.summary import sample_measures

from .conftest import ROWS


def score(*arguments: Any) -> dict[str, Any]:
    assert main(["score", *map(str, arguments)]) == 0
    return dict(json.loads((Path(arguments[1]) / "scores" / "summary.json").read_text()))


def test_the_right_answers_score_all_and_the_inputs_nothing(dataset: Path, golds: Path, originals: Path) -> None:
    right, idle = score(dataset, golds)["exact"], score(dataset, originals)["exact"]
    assert right["correct"] == {"mean": 1, "interval": [1, 1], "count": ROWS, "coverage": 1, "failures": 0}
    assert idle["correct"]["mean"] == 0 and idle["preserved"]["mean"] > 0.5


def test_what_is_missing_or_broken_counts_as_wrong(dataset: Path, golds: Path, capsys: Any) -> None:
    first, second, *_ = sorted((golds / "Maze").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:200])
    found = score(dataset, golds)
    assert found["exact"]["correct"]["mean"] == pytest.approx((ROWS - 2) / ROWS)
    assert found["exact"]["missing"] == 1 and found["exact"]["correct"]["coverage"] == 1 - 1 / ROWS
    assert found["by_category"]["Tictactoe"]["exact"]["correct"]["mean"] == 1
    assert found["by_dimension"]["Long-Horizon Planning"]["exact"]["missing"] == 1
    assert len((golds / "scores" / "exact.jsonl").read_text().splitlines()) == ROWS
    assert "Tictactoe" in capsys.readouterr().out


def test_thinking_beside_the_pictures_is_checked(dataset: Path, golds: Path, capsys: Any) -> None:
    assert score(dataset, golds)["exact"]["thinking"] is None
    rows = {stored.output_name: stored.row for stored in read_dataset(dataset)}
    for name, row in rows.items():
        (golds / f"{name}.txt").write_text(row["reasoning"], encoding="utf-8")
    told = score(dataset, golds)["exact"]["thinking"]
    assert told["texts"] == ROWS
    assert all(told[name] == {"share": 1.0, "count": ROWS} for name in ("holds", "legal", "correct"))
    assert f"thinking: {ROWS} texts; true 100.0% of {ROWS}" in capsys.readouterr().out
    first, second, *_ = (name for name in rows if name.startswith("Maze"))
    (golds / f"{first}.txt").write_text(rows[second]["reasoning"], encoding="utf-8")
    (golds / f"{second}.txt").write_text("I did what I was told.", encoding="utf-8")
    told = score(dataset, golds)["exact"]["thinking"]
    assert told["texts"] == ROWS and told["holds"]["count"] == ROWS - 1 and told["holds"]["share"] < 1
    verdicts = [json.loads(line) for line in (golds / "scores" / "exact.jsonl").read_text().splitlines()]
    assert {verdict["output"]: verdict["thinking"] for verdict in verdicts}[second]["holds"] is None


def test_scoring_twice_writes_the_same_bytes(dataset: Path, golds: Path) -> None:
    score(dataset, golds)
    before = {path.name: path.read_bytes() for path in (golds / "scores").iterdir()}
    score(dataset, golds)
    assert before == {path.name: path.read_bytes() for path in (golds / "scores").iterdir()}


def test_outputs_of_another_dataset_are_refused(dataset: Path, golds: Path, capsys: Any) -> None:
    (golds / "edit.json").write_text('{"dataset": "another", "editor": "somebody"}')
    assert main(["score", str(dataset), str(golds)]) == 2
    assert "another dataset" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "vlm"], "--model"),
        (["--judge", "vlm", "--model", "m", "--base-url", "ftp://x"], "http"),
        (["--judge", "vlm", "--model", "m"], "OPENAI_API_KEY"),
        (["--passes", "0"], "at least 1"),
        (["--dry-run"], "--judge vlm"),
    ],
)
def test_bad_options_end_in_one_clear_line(
    dataset: Path, golds: Path, arguments: list[str], message: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(["score", str(dataset), str(golds), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_outputs_is_refused(dataset: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["score", str(dataset), str(tmp_path)]) == 2
    assert "no picture for any row" in capsys.readouterr().err


def test_the_paper_s_numbers_by_hand() -> None:
    """A copied input as the paper's judge sees it: 5, 1, 5 gives 3 of 5, which is 50 %."""

    def scores(following: int | None, consistency: int | None, quality: int | None) -> dict[str, int | None]:
        names = ("instruction_following", "visual_consistency", "visual_quality")
        return dict(zip(names, (following, consistency, quality), strict=True))

    idle = sample_measures([scores(1, 5, 5)], strict=True)
    assert idle is not None and idle["percent"] == pytest.approx(50) and idle["accuracy"] == 0
    best = sample_measures([scores(5, 5, 5), scores(5, 5, 4)], strict=True)
    assert best is not None and best["percent"] == pytest.approx(97.5) and best["accuracy"] == 0.5
    failed = [scores(5, None, 5)]
    strict = sample_measures(failed, strict=True)
    assert strict is not None and strict["percent"] == pytest.approx(25 * (0.5 * 5 + 0.3 * 1 + 0.2 * 5 - 1))
    assert sample_measures(failed, strict=False) is None
