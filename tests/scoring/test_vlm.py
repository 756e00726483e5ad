"""A model behind an endpoint that misbehaves: every sample is accounted for, and failures are blamed rightly."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gamegen.__main__ import main
from gamegen.core.errors import BadInput, JudgeFailed
from gamegen.stored import read_dataset
from scoring.asking import ATTEMPTS
from scoring.cache import ReplyCache
from scoring.dual import Dual
from scoring.prompts import QUESTIONS
from scoring.summary import vlm_numbers

from . import faulty
from .conftest import ROWS

pytest.importorskip("httpx")

from edit_models.endpoint import retry_after
from edit_models.vlm.chat import ChatModel

GOOD = faulty.says('{"reason": "fine", "score": 5}')
KEY = "secret of the tests"


def ask(endpoint: faulty.Endpoint, *, attempts: int = 4) -> str:
    async def once() -> str:
        model = ChatModel("m", base_url=endpoint.url, key=KEY, attempts=attempts, timeout=0.4, pause=0.01)
        try:
            return await model.ask(["look", b"PNG bytes"])
        finally:
            await model.close()

    return asyncio.run(once())


def judge(endpoint: faulty.Endpoint, dataset: Path, outputs: Path, cache: ReplyCache, passes: int = 1) -> list[Any]:
    async def everything() -> list[Any]:
        model = ChatModel("m", base_url=endpoint.url, key=KEY, attempts=3, timeout=0.4, pause=0.01, concurrency=4)
        try:
            return await Dual(model, cache, passes).judge_all(read_dataset(dataset), outputs, lambda: None)
        finally:
            await model.close()

    return asyncio.run(everything())


@pytest.mark.parametrize(
    "fault",
    [
        faulty.status(429),
        faulty.status(500),
        faulty.status(503),
        faulty.garbage,
        faulty.half,
        faulty.silence,
        faulty.says(""),
        faulty.says("   "),
    ],
)
def test_a_fault_that_passes_is_survived(fault: faulty.Behaviour) -> None:
    with faulty.serving(lambda number: fault if number < 2 else GOOD) as endpoint:
        assert json.loads(ask(endpoint))["score"] == 5
        assert len(endpoint.seen) == 3


def test_a_fault_that_stays_is_the_judge_s_failure() -> None:
    with faulty.serving(lambda number: faulty.half) as endpoint:
        with pytest.raises(JudgeFailed, match="4 attempts"):
            ask(endpoint)
        assert len(endpoint.seen) == 4


def test_retry_after_is_waited_for() -> None:
    limited = faulty.status(429, Retry_After="0.5")
    with faulty.serving(lambda number: limited if number == 0 else GOOD) as endpoint:
        ask(endpoint)
        (first, _), (second, _) = endpoint.seen
        assert second - first >= 0.5


def test_retry_after_may_be_a_date() -> None:
    date, later = "Mon, 01 Jan 2024 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:07 GMT"
    assert retry_after({"retry-after": later, "date": date}) == 7
    assert retry_after({"retry-after": date, "date": later}) == 0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_an_endpoint_without_schemas_is_asked_plainly() -> None:
    with faulty.serving(lambda number: faulty.no_schemas) as endpoint:
        assert "Final Score is 4" in ask(endpoint)
        assert ["response_format" in body for _, body in endpoint.seen] == [True, False]


def test_a_refused_key_stops_the_run_and_is_not_printed(dataset: Path, golds: Path) -> None:
    with faulty.serving(lambda number: faulty.status(401)) as endpoint, ReplyCache(None) as cache:
        with pytest.raises(BadInput, match="refuses the key") as caught:
            judge(endpoint, dataset, golds, cache)
        assert KEY not in str(caught.value)


def test_the_request_is_pinned_and_carries_the_pictures() -> None:
    with faulty.serving(lambda number: GOOD) as endpoint:
        ask(endpoint)
        body = endpoint.seen[0][1]
    assert body["model"] == "m" and body["temperature"] == 0
    text, picture = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "look"}
    head, _, data = picture["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(data) == b"PNG bytes"


def test_every_sample_is_accounted_for_under_all_faults_at_once(dataset: Path, golds: Path) -> None:
    faults = [faulty.status(429, Retry_After="0.05"), faulty.status(500), faulty.half, faulty.garbage, faulty.silence]
    missing, broken, *_ = sorted((golds / "Maze").iterdir())
    missing.unlink()
    broken.write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    unreadable = faulty.says("I like it, 4.5 of 5")

    def script(number: int) -> faulty.Behaviour:
        return faults[number // 3 % len(faults)] if number % 3 == 0 else unreadable if number % 7 == 1 else GOOD

    with faulty.serving(script) as endpoint, ReplyCache(None) as cache:
        records = judge(endpoint, dataset, golds, cache)
    assert [record["output"] for record in records] == [stored.output_name for stored in read_dataset(dataset)]
    assert sum(bool(record["model_failure"]) for record in records) == 2
    for record in records:
        (scores,) = record["passes"]
        expected = {1} if record["model_failure"] else {5, None} if record["failure"] else {5}
        assert set(scores.values()) <= expected and set(scores) == set(QUESTIONS)
        assert (None in scores.values()) == bool(record["failure"])


def test_a_judge_that_cannot_be_read_is_blamed_apart(dataset: Path, golds: Path) -> None:
    """It is asked again, then strict numbers take the sample as lowest and lenient ones leave it out."""
    with faulty.serving(lambda number: faulty.says("Final Score: 4.5")) as endpoint, ReplyCache(None) as cache:
        records = judge(endpoint, dataset, golds, cache)
        assert len(endpoint.seen) == ROWS * len(QUESTIONS) * ATTEMPTS
        assert len(cache) == 0
    numbers = vlm_numbers(records, "all")
    assert numbers["judge_failures"] == ROWS and numbers["missing"] == 0
    assert numbers["strict"]["percent"]["mean"] == 0 and numbers["strict"]["percent"]["coverage"] == 0
    assert numbers["lenient"]["percent"]["mean"] is None and numbers["lenient"]["percent"]["count"] == 0


def test_judging_again_asks_only_for_what_changed(dataset: Path, golds: Path, tmp_path: Path) -> None:
    """One output becomes a copy of another: then its quality alone is known, as that question shows nothing else."""
    with faulty.serving(lambda number: GOOD) as endpoint:
        with ReplyCache(tmp_path / "cache.sqlite") as cache:
            first = judge(endpoint, dataset, golds, cache, passes=2)
        assert len(endpoint.seen) == ROWS * len(QUESTIONS) * 2
        with ReplyCache(tmp_path / "cache.sqlite") as cache:
            assert judge(endpoint, dataset, golds, cache, passes=2) == first
            assert len(endpoint.seen) == ROWS * len(QUESTIONS) * 2
            one, other, *_ = sorted((golds / "Maze").iterdir())
            one.write_bytes(other.read_bytes())
            judge(endpoint, dataset, golds, cache, passes=2)
        assert len(endpoint.seen) == ROWS * len(QUESTIONS) * 2 + 2 * 2


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(dataset: Path, golds: Path, tmp_path: Path) -> None:
    whole, calls = tmp_path / "cache.sqlite", ROWS * len(QUESTIONS)
    cut = faulty.serving(lambda number: GOOD if number < 10 else faulty.status(403))
    with cut as endpoint, ReplyCache(whole) as cache, pytest.raises(BadInput):
        judge(endpoint, dataset, golds, cache)
    with faulty.serving(lambda number: GOOD) as endpoint:
        with ReplyCache(whole) as cache:
            kept = len(cache)
            resumed = judge(endpoint, dataset, golds, cache)
        assert 0 < kept <= 10 and len(endpoint.seen) == calls - kept
        with ReplyCache(None) as cache:
            assert judge(endpoint, dataset, golds, cache) == resumed


def test_the_command_judges_both_ways(dataset: Path, golds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with faulty.serving(lambda number: GOOD) as endpoint:
        options = ["--judge", "both", "--model", "m", "--base-url", endpoint.url, "--passes", "2"]
        assert main(["score", str(dataset), str(golds), *options, "--dry-run"]) == 0
        assert f"{ROWS * 6} calls and 0 from the cache" in capsys.readouterr().out
        assert endpoint.seen == []
        assert main(["score", str(dataset), str(golds), *options]) == 0
        assert len(endpoint.seen) == ROWS * 6
        assert "score of 2 passes: standard deviation 0.00" in capsys.readouterr().out
        assert main(["score", str(dataset), str(golds), *options, "--dry-run"]) == 0
        assert f"0 calls and {ROWS * 6} from the cache" in capsys.readouterr().out
    summary = json.loads((golds / "scores" / "summary.json").read_text())
    assert summary["vlm"]["strict"]["percent"]["mean"] == 100 and summary["vlm"]["strict"]["accuracy"]["mean"] == 1
    assert summary["vlm"]["strict"]["spread"] == {"percent": 0, "accuracy": 0}
    assert summary["vlm"]["strict"] == summary["vlm"]["lenient"]
    assert summary["exact"]["correct"]["mean"] == 1
    assert summary["judge"]["model"] == "m" and summary["judge"]["prompts"][0] == "instruction_following@1"
    assert len((golds / "scores" / "vlm.jsonl").read_text().splitlines()) == ROWS


def test_judging_one_way_keeps_what_the_other_said(
    dataset: Path, golds: Path, originals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def summary_after(outputs: Path, *kinds: str) -> dict[str, Any]:
        for kind in kinds:
            model = ["--model", "m", "--base-url", endpoint.url] if kind != "exact" else []
            assert main(["score", str(dataset), str(outputs), "--judge", kind, *model]) == 0
        return dict(json.loads((outputs / "scores" / "summary.json").read_text()))

    with faulty.serving(lambda number: GOOD) as endpoint:
        both = summary_after(golds, "both")
        assert both["exact"] and both["vlm"] and both["judge"]["model"] == "m"
        assert summary_after(golds, "exact") == both == summary_after(golds, "vlm")
        assert summary_after(originals, "exact", "vlm")["exact"]["correct"]["mean"] == 0
        (golds / "edit.json").write_bytes(b'{"dataset": "%s", "editor": "other"}' % both["dataset"].encode())
        assert summary_after(golds, "exact")["vlm"] is None, "scores of another model are not this one's"
