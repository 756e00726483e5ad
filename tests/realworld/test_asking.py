"""Models that fail: what is retried, what stops a stage, and what is never lost or counted wrongly."""

from __future__ import annotations

import base64
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gamegen.__main__ import main
from gamegen.core.errors import BadInput
from gamegen.writing.folder import lock
from realworld.reason import read_text
from realworld.run import STAGES, Run
from realworld.stage import PATIENCE
from tests.scoring import faulty

from .server import reply

pytest.importorskip("httpx")

GOOD = faulty.says('{"reason": "fine", "score": 5}')


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A run of which only the filter is missing."""
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    (folder / STAGES["filter"]).unlink()
    (folder / "replies.sqlite").unlink()
    return folder


def filtering(run: Path, endpoint: faulty.Endpoint, *more: str) -> list[str]:
    return ["real", "filter", str(run), "--model", "m", "--base-url", endpoint.url, "--concurrency", "1", *more]


def test_an_unreadable_score_is_neither_kept_nor_dropped(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The third question of the first pair gets no reply that can be read; the next run asks for that alone."""
    picture = base64.b64encode(next(Run.open(run).pairs()).edited.read_bytes()).decode()
    mended = threading.Event()

    def answer(handler: faulty.Handler, body: dict[str, object]) -> None:
        text = json.dumps(body)
        bad = "did everything stay" in text and picture in text and not mended.is_set()
        handler.send(200, faulty.completion("4.5 of 5" if bad else '{"reason": "fine", "score": 5}'))

    with faulty.serving(lambda number: answer) as endpoint:
        assert main(filtering(run, endpoint)) == 1
        assert "1 failed, as " in capsys.readouterr().out
        first = len(endpoint.seen)
        assert main(["real", "status", str(run)]) == 0
        assert "filter: 1 x content_preservation: the reply states no score" in capsys.readouterr().out
        pairs = len(list(Run.open(run).pairs()))
        assert len(list(Run.open(run).judged())) == pairs - 1
        mended.set()
        assert main(filtering(run, endpoint)) == 0
        assert len(endpoint.seen) - first == 1, "the other five replies are remembered"
    assert len(list(Run.open(run).judged())) == pairs
    assert "failure" not in (run / STAGES["filter"]).read_text()


def test_a_refused_key_stops_at_once(run: Path, says: Callable[..., str]) -> None:
    with faulty.serving(lambda number: GOOD if number < 12 else faulty.status(401)) as endpoint:
        assert "refuses the key: HTTP 401" in says(*filtering(run, endpoint)[1:])
        assert len(endpoint.seen) < 12 + 6 + 1
    assert len(list(Run.open(run).judged())) == 2


def test_a_model_that_nobody_can_read_stops_the_stage(run: Path, says: Callable[..., str]) -> None:
    with faulty.serving(lambda number: faulty.says("hm")) as endpoint:
        assert f"{PATIENCE} failures in a row" in says(*filtering(run, endpoint)[1:])
    assert not list(Run.open(run).judged())


def test_failures_among_successes_stop_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every second pair fails: more than would stop the stage, but never so many in a row."""
    pairs = list(Run.open(run).pairs())
    bad = [base64.b64encode(pair.edited.read_bytes()).decode() for pair in pairs[::2]]

    def answer(handler: faulty.Handler, body: dict[str, object]) -> None:
        unreadable = any(picture in json.dumps(body) for picture in bad)
        handler.send(200, faulty.completion("hm" if unreadable else '{"reason": "fine", "score": 5}'))

    with faulty.serving(lambda number: answer) as endpoint:
        assert main(filtering(run, endpoint)) == 1
    assert len(bad) > PATIENCE and f"{len(bad)} failed, as" in capsys.readouterr().out
    assert [pair.id for pair, _ in Run.open(run).judged()] == [pair.id for pair in pairs[1::2]]


def test_a_server_that_is_not_there_is_said_at_once(run: Path, says: Callable[..., str]) -> None:
    with faulty.serving(lambda number: GOOD) as endpoint:
        pass
    assert f"nobody answers at {endpoint.url}" in says(*filtering(run, endpoint)[1:])


def test_failures_bind_nobody_to_a_model(run: Path, endpoint: str, says: Callable[..., str]) -> None:
    """A stage in which nothing succeeded may be done by another model; one in which something did may not."""
    with faulty.serving(lambda number: faulty.says("hm")) as bad:
        says(*filtering(run, bad)[1:])
    assert main(["real", "filter", str(run), "--model", "other", "--base-url", endpoint]) == 0
    assert "belongs to a run with other model" in says("filter", run, "--model", "third", "--base-url", endpoint)


def test_a_missing_picture_fails_its_pair_alone(run: Path, endpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    gone = next(Run.open(run).pairs())
    gone.edited.write_bytes(b"no picture")
    assert main(["real", "filter", str(run), "--model", "m", "--base-url", endpoint]) == 1
    assert f"1 failed, as {gone.id}: {gone.edited} cannot be shown" in capsys.readouterr().out
    assert gone.id not in {pair.id for pair, _ in Run.open(run).judged()}


@pytest.mark.parametrize(
    ("stage", "old", "new", "words"),
    [
        ("filter", b'{"piece"', b'{"peace"', "line 2 is damaged"),
        ("filter", b'"scores":{', b'"scores":7,"x":{', "scores are 7"),
        ("dedup", b'"effect":', b'"defect":', "unexpected keyword argument 'defect'"),
        ("dedup", b'"category":"', b'"category":"No ', "unknown category 'No "),
        ("dedup", b'"piece":"', b'"piece":"../../', "leaves"),
        ("pairs", b'"number":1', b'"number":"../1"', "it has no number"),
        ("triples", b'"plan"', b'"plain"', "is no journal of this command"),
    ],
)
def test_damaged_and_foreign_lines_are_named(
    stage: str, old: bytes, new: bytes, words: str, finished: Path, tmp_path: Path, says: Callable[..., str]
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    path = run / STAGES[stage]
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    if stage == "dedup" and b"piece" in old:
        with pytest.raises(BadInput, match=words):
            [Run.open(run).images(triple) for triple in Run.open(run).unique()]
        return
    assert words in says("status", run)


def test_a_run_that_is_none_is_named(tmp_path: Path, says: Callable[..., str]) -> None:
    assert "is no run folder: it has no run.json" in says("status", tmp_path / "none")
    (tmp_path / "run.json").write_text("{")
    assert "run.json is damaged" in says("status", tmp_path)
    (tmp_path / "run.json").write_text('{"version": 9, "settings": {}}')
    assert "is of version 9" in says("export", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[triple]", "did you mean 'triples'"),
        ("triples = 3", "triples must be a table"),
        ("[triples]\nmodell = 'm'", "did you mean 'model'"),
        ("[triples]\nmodel = 'm'\ncount = '7'", "count of [triples] must be a whole number, not '7'"),
        ("[triples]\nmodel = 'm'\ncount = 0", "count must be at least 1, not 0"),
        ("[triples]\nmodel = 'm'\n[dedup]\nthreshold = 2", "threshold must be above 0 and at most 1, not 2"),
        ("[triples]\nmodel = 'm'", "[pairs] needs generator"),
        ("[triples", "is no recipe"),
    ],
)
def test_a_recipe_is_checked_before_anything_runs(
    text: str, words: str, tmp_path: Path, says: Callable[..., str]
) -> None:
    (tmp_path / "recipe.toml").write_text(text)
    assert words in says("run", tmp_path / "run", tmp_path / "recipe.toml")
    assert not (tmp_path / "run").exists()


def test_reasoning_is_one_paragraph_without_what_was_thought_before() -> None:
    text = reply("Write one paragraph")
    assert read_text(text + "\n\n").startswith("I see")
    assert "<think>" not in read_text(text)


def test_two_runs_do_not_write_at_once(run: Path, says: Callable[..., str]) -> None:
    path = run / STAGES["reason"]
    handle = lock(path, wait=False)
    try:
        assert "another run is writing to" in says("reason", run, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    finally:
        os.close(handle)
