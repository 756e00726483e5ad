"""The adversary: it finds a gullible judge, a blind one, and neither in ours."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import replace
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path

import cv2
import orjson
import pytest
from PIL import Image

from gamegen import audit
from gamegen.__main__ import main
from gamegen.adversary import ATTACKS, BY_NAME, USUAL, WEIGHTS
from gamegen.core.errors import BadInput
from gamegen.core.verdict import Verdict
from gamegen.journal import Journal, journal
from gamegen.judge import verify
from gamegen.sample import Sample, make_sample
from gamegen.workers import in_parallel


def test_our_judge_withstands() -> None:
    whole = audit.total(
        audit.audit_task("tictactoe/best", 80, seed=5, kinds=("gold", "mutation", "copy", "other_gold"))
    )
    assert whole.attempts == 80 and whole.deserved >= 10
    assert not whole.false_accepts and not whole.false_refusals


@pytest.mark.parametrize("gullible", [True, False])
def test_a_bad_judge_is_found(gullible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that accepts everything is fooled by every wrong picture; one that refuses everything is blind to gold."""

    def bad(row: object, image: object) -> Verdict:
        return replace(verify(row, image), correct=gullible)  # type: ignore[arg-type]

    monkeypatch.setattr(audit, "verify", bad)
    tallies = audit.audit_task("tictactoe/best", 32, kinds=("gold", "copy"))
    assert len(tallies["copy"].false_accepts) == (tallies["copy"].attempts if gullible else 0)
    assert len(tallies["gold"].false_refusals) == (0 if gullible else tallies["gold"].attempts)


def test_unknown_attacks_suggest_the_nearest() -> None:
    with pytest.raises(BadInput, match="mutation"):
        audit.audit_task("tictactoe/best", 1, kinds=("mutaton",))


def test_every_attack_has_its_weight_and_is_made_so_often_on_a_sample() -> None:
    assert list(WEIGHTS) == list(ATTACKS)
    assert set(USUAL) | set(BY_NAME) == set(ATTACKS)
    assert set(audit.audit_task("tictactoe/best", 1)) == set(USUAL)
    assert Counter(audit.turns(tuple(ATTACKS))) == WEIGHTS
    assert audit.turns(tuple(ATTACKS))[: len(ATTACKS)] == tuple(ATTACKS)
    assert WEIGHTS["painted"] >= 0.1 * sum(WEIGHTS.values())


def test_attacks_that_do_not_apply_leave_their_turns_to_others() -> None:
    tallies = audit.audit_task("reconstruction/project", 6, kinds=("wrong_label", "copy"), pixels=256)
    assert (tallies["wrong_label"].attempts, tallies["copy"].attempts) == (0, 6)
    assert not audit.total(audit.audit_task("tictactoe/best", 3, kinds=("wrong_colour",), pixels=256)).attempts


def test_a_failure_names_what_makes_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = {}

    def gullible(row: Sample, image: Image.Image) -> Verdict:
        pictures[len(pictures)] = row.id, image.tobytes()
        return replace(verify(row, image), correct=True)

    monkeypatch.setattr(audit, "verify", gullible)
    lines = audit.audit_task("tictactoe/best", 3, kinds=("blot",), pixels=256)["blot"].false_accepts
    for number, line in enumerate(lines):
        name, _, turn = line.partition(" #")
        again = audit.attacked("blot", make_sample(name), int(turn))
        assert again is not None and (name, again[0].tobytes()) == pictures[number]


def test_what_is_drawn_like_a_right_answer_is_right() -> None:
    """A label cannot make it wrong; one pixel can."""
    sample = make_sample("tictactoe/best@1:train:1:0:0?pixels=256")
    tally, image = audit.Tally(), sample.edited
    audit.judge(sample, image, False, tally, 0)
    assert (tally.deserved, tally.false_accepts) == (1, [])
    image.putpixel((0, 0), (1, 2, 3))
    audit.judge(sample, image, False, tally, 1)
    assert (tally.deserved, tally.false_accepts) == (1, [f"{sample.id} #1"])


JOURNAL = ["audit", "tictactoe", "--count", "24", "--attacks", "gold,copy", "--pixels", "256", "--jobs", "1", "--json"]


def test_an_audit_goes_on_where_it_was_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "audit.jsonl"
    command = [*JOURNAL, "--journal", str(path)]
    main(command)
    whole, first = path.read_bytes(), capsys.readouterr().out
    assert [list(orjson.loads(line)) for line in whole.splitlines()] == [["plan"], ["piece", "result"]]
    path.write_bytes(whole[:-20])
    main(command)
    assert path.read_bytes() == whole and capsys.readouterr().out == first
    path.write_bytes(whole.replace(b'"accepted":', b'"accepted":1'))
    main(command)
    assert capsys.readouterr().out != first, "a finished piece was done again"


def test_an_audit_tells_how_far_it_has_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "audit.jsonl"
    assert main([*JOURNAL, "--so-far"]) == 2 and "--journal" in capsys.readouterr().err
    assert main([*JOURNAL, "--so-far", "--journal", str(path)]) == 2 and path.name in capsys.readouterr().err
    main([*JOURNAL, "--journal", str(path)])
    first = capsys.readouterr().out
    main(["audit", "maze,tictactoe", *JOURNAL[2:], "--so-far", "--journal", str(path)])
    assert capsys.readouterr().out == first


def test_games_of_one_audit_may_be_attacked_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "audit.jsonl"
    options = [*JOURNAL[2:], "--journal", str(path)]
    for games in ("tictactoe", "maze", "maze,tictactoe"):
        main(["audit", games, *options])
        found = orjson.loads(capsys.readouterr().out)
        assert {game: tallies["all"]["attempts"] for game, tallies in found.items()} == dict.fromkeys(
            games.split(","), 24
        )
    assert len(path.read_bytes().splitlines()) == 1 + 1 + 2, "a finished piece was done again"


def test_more_attacks_go_on_from_fewer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of another size had been other pieces, so that a larger count began anew."""
    monkeypatch.setattr("gamegen.commands.audit.PIECE", 12)
    path = tmp_path / "audit.jsonl"
    for count, pieces in ((24, 2), (36, 3), (96, 8)):
        command = ["audit", "tictactoe", "--count", str(count), *JOURNAL[4:], "--journal", str(path)]
        main(command)
        assert orjson.loads(capsys.readouterr().out)["tictactoe"]["all"]["attempts"] == count
        assert len(path.read_bytes().splitlines()) == 1 + pieces


def test_an_audit_of_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """It was said that a journal was missing."""
    assert main(["audit", "tictactoe", "--count", "0"]) == 2 and "at least 1" in capsys.readouterr().err


def test_a_journal_is_kept_to_its_own_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "audit.jsonl"
    with journal(path, {"seed": 1}) as kept, pytest.raises(BadInput, match="another run"):
        kept.add("a", 1)
        with journal(path, {"seed": 1}):
            pass
    assert Journal(path, {"seed": 1}).done == {"a": 1}
    with pytest.raises(BadInput, match="other seed"):
        Journal(path, {"seed": 2})
    assert main([*JOURNAL, "--journal", str(path)]) == 2 and "other command" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["# A page\n", "no line at all", '{"id": 3}\n', "[]\n"])
def test_foreign_files_are_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(text)
    with pytest.raises(BadInput, match="no journal"):
        Journal(path, {"seed": 1})
    assert path.read_text() == text


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    Journal(path, {}).add("a", 1)
    path.write_bytes(path.read_bytes() + b"{torn\n")
    with pytest.raises(BadInput, match="line 3 is damaged"):
        Journal(path, {})


def _threads(piece: str) -> tuple[int, set[int]]:
    """What OpenCV and the libraries under numpy compute on."""
    from threadpoolctl import threadpool_info

    return cv2.getNumThreads(), {int(library["num_threads"]) for library in threadpool_info()}


def test_workers_compute_on_one_thread_each() -> None:
    assert list(in_parallel(_threads, ["any"], 1)) == [("any", (1, {1}))]


def test_a_tampered_dataset_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    make = ["make", "--tasks", "tictactoe", "--count", "4", "--format", "uniredit", "--out", str(folder)]
    assert main(make) == 0
    assert main(["audit", str(folder)]) == 0
    index = folder / "data.json"
    index.write_text(
        re.sub(r'"instruction": "[^"]*"', '"instruction": "x"', index.read_text(encoding="utf-8"), count=1)
    )
    assert main(["audit", str(folder)]) == 1
    assert "instruction is not what the id rebuilds" in capsys.readouterr().out


def test_who_stops_a_run_waits_for_no_piece_of_it() -> None:
    """Workers that were left alone would sleep for a minute, and the program would wait for them."""
    pieces = in_parallel(time.sleep, [0.0, 60.0], 2)
    assert next(pieces) == (0.0, None)
    started = time.monotonic()
    pieces.close()  # as an interrupt does, from inside
    assert time.monotonic() - started < 30
    assert _end(active_children(), within=10)


def _end(workers: list[BaseProcess], *, within: float) -> bool:
    """Whether all do. One may seem alive for a moment after its end, while the pool's own thread takes note of it."""
    deadline = time.monotonic() + within
    while any(worker.is_alive() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(worker.is_alive() for worker in workers)
