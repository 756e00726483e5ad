"""What comes of the votes: majorities, the wording that stands, stale decisions, files for others."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamegen.core.errors import BadInput
from realworld.review import decisions
from realworld.review.ballot import MAX_TEXT, Ballot, Vote, annotator_name, checked
from realworld.review.export import write_decisions
from realworld.review.items import items
from realworld.review.outcome import corrections, reasons, verdict
from realworld.review.progress import progress, results
from realworld.review.reasons import REASONS
from realworld.review.store import Store

from .runs import ReadyRun, ready_run

KEEP, DROP = Ballot("keep", seconds=4), Ballot("drop", ("not-followed", "edited-poor"), seconds=8)


def mended(**texts: str) -> Ballot:
    return Ballot("keep", texts=texts)


def votes(*ballots: Ballot, stage: int = 2) -> list[Vote]:
    return [Vote(n, stage, "k", "c", f"person {n}", float(n), None, ballot) for n, ballot in enumerate(ballots, 1)]


# Outcomes -------------------------------------------------------------------------------------------------------------


@given(said=st.lists(st.sampled_from((KEEP, DROP))), asked=st.integers(1, 5))
def test_a_majority_of_enough_votes_decides(said: list[Ballot], asked: int) -> None:
    keeps, drops = said.count(KEEP), said.count(DROP)
    expected = None if len(said) < asked or keeps == drops else "keep" if keeps > drops else "drop"
    assert verdict(votes(*said), asked) == expected


def test_reasons_are_told_by_frequency() -> None:
    other = Ballot("drop", ("content-changed", "edited-poor"))
    assert reasons(votes(DROP, KEEP, other)) == ("edited-poor", "not-followed", "content-changed")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((mended(effect="A"),), ("A", "person 1")),
        ((mended(effect="A"), KEEP, KEEP), None),  # two of three left it as it was
        ((mended(effect="A"), mended(effect="B"), mended(effect="A")), ("A", "person 3")),
        ((mended(effect="A"), mended(effect="B"), KEEP, DROP), None),  # all different: the latest, who left it
        ((KEEP, mended(effect="A"), mended(effect="B")), ("B", "person 3")),
        ((DROP, mended(effect="A")), ("A", "person 2")),
    ],
)
def test_the_wording_that_most_left_stands(said: tuple[Ballot, ...], expected: tuple[str, str] | None) -> None:
    found = corrections(votes(*said))
    assert {name: (vote.ballot.texts[name], vote.annotator) for name, vote in found.items()} == (
        {} if expected is None else {"effect": expected}
    )


# Rules of a ballot ----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> ReadyRun:
    return ready_run(tmp_path / "run", 4)


@pytest.mark.parametrize(
    ("ballot", "stage", "message"),
    [
        (Ballot("drop"), 1, "at least one reason"),
        (Ballot("keep", ("edited-poor",)), 1, "reasons are for a drop"),
        (Ballot("drop", ("ugly",)), 1, "unknown reason 'ugly'; known: effect-wrong"),
        (Ballot("drop", ("other",), note="  "), 1, "few words"),
        (Ballot("maybe"), 1, "not 'maybe'"),  # type: ignore[arg-type]
        (mended(effect="x"), 1, "stage 2"),
        (mended(effect=" \n"), 2, "must not be empty"),
        (mended(effect="x" * (MAX_TEXT + 1)), 2, "at most 8000 characters, not 8001"),
        (mended(effect="a\x00b"), 2, "control characters"),
        (mended(id="x"), 2, "unknown text 'id'"),
        (Ballot("keep", note="x" * 1001), 2, "at most 1000"),
    ],
)
def test_ballots_that_break_a_rule(run: ReadyRun, ballot: Ballot, stage: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        checked(ballot, next(run.candidates()), stage=stage)


def test_a_text_that_was_not_changed_is_no_correction(run: ReadyRun) -> None:
    candidate = next(run.candidates())
    ballot = mended(effect=f" {candidate.effect}\r\n", instruction="Wait.\r\nThen look.")
    assert checked(ballot, candidate, stage=2).texts == {"instruction": "Wait.\nThen look."}
    assert checked(replace(KEEP, seconds=-5), candidate, stage=1).seconds == 0
    assert checked(replace(KEEP, seconds=1e9), candidate, stage=1).seconds == 3600


def test_names_are_one_for_one_person() -> None:
    assert annotator_name("  Ann   Lee ", []) == "Ann Lee"
    assert annotator_name("ann lee", ["Ben", "Ann Lee"]) == "Ann Lee"
    for wrong in ("", "  ", "x" * 41, "a\x00b", "a\u202eb"):
        with pytest.raises(BadInput, match="a name has 1 to 40 printable characters"):
            annotator_name(wrong, [])


# A run ----------------------------------------------------------------------------------------------------------------


class Inspection:
    """Decisions made straight in the store, a second apart."""

    def __init__(self, run: ReadyRun) -> None:
        times = count(1_700_000_000)
        self.run, self.store = run, Store(run.decisions, clock=lambda: float(next(times)))
        self.items = items(run.candidates())
        self.asked(1, 1)

    def asked(self, stage: int, votes: int) -> None:
        self.store.begin(self.items, stage=stage, asked=votes)

    def say(self, who: str, place: int, ballot: Ballot, stage: int = 1) -> None:
        token = f"{who}-{place}-{stage}-{self.store.clock()}"
        self.store.cast(stage, who, self.items[place], ballot, token=token)


@pytest.fixture
def people(run: ReadyRun) -> Iterator[Inspection]:
    inspection = Inspection(run)
    yield inspection
    inspection.store.close()


def test_nobody_has_decided_yet(run: ReadyRun) -> None:
    assert decisions(run) == {} and not run.decisions.exists(), "asking leaves nothing behind"


def test_decisions_of_both_stages(run: ReadyRun, people: Inspection) -> None:
    people.say("Ann", 0, KEEP)
    people.say("Ann", 1, DROP)
    people.say("Ben", 2, KEEP)
    people.asked(2, 1)
    people.say("Cem", 0, mended(effect="It is one o'clock."), stage=2)
    people.say("Cem", 2, DROP, stage=2)
    found = decisions(run)
    assert list(found) == ["c0", "c1", "c2"]
    assert [(d.stage1, d.stage2) for d in found.values()] == [("keep", "keep"), ("drop", None), ("keep", "drop")]
    assert found["c0"].texts == {"effect": "It is one o'clock."} and found["c0"].corrections["effect"].by == "Cem"
    assert found["c0"].corrections["effect"].made.startswith("2023-11-14T22:13:")
    assert found["c1"].reasons == found["c2"].reasons == ("not-followed", "edited-poor")
    assert found["c0"].reviewers == ("Ann", "Cem") and len(found["c0"].times) == 2


def test_corrections_of_what_is_dropped_in_the_end_do_not_stand(run: ReadyRun, people: Inspection) -> None:
    people.say("Ann", 0, KEEP)
    people.asked(2, 3)
    for who, ballot in (("Ann", mended(effect="Better.")), ("Ben", DROP), ("Cem", DROP)):
        people.say(who, 0, ballot, stage=2)
    assert decisions(run)["c0"].stage2 == "drop" and decisions(run)["c0"].texts == {}


def test_open_ties_decide_nothing(run: ReadyRun, people: Inspection) -> None:
    people.asked(1, 2)
    people.say("Ann", 0, KEEP)
    assert decisions(run)["c0"].stage1 is None
    people.say("Ben", 0, DROP)
    assert decisions(run)["c0"].stage1 is None and decisions(run)["c0"].reasons == ()
    people.say("Cem", 0, DROP)
    assert decisions(run)["c0"].stage1 == "drop"


@pytest.mark.parametrize("what", ["effect", "edited"])
def test_what_has_changed_since_counts_as_unseen(run: ReadyRun, people: Inspection, what: str) -> None:
    people.say("Ann", 0, KEEP)
    people.say("Ann", 1, KEEP)
    entries = json.loads((run.folder / "ready.json").read_text())
    if what == "effect":
        entries[0]["effect"] = "Something else."
    else:
        (run.folder / entries[0]["edited"]).write_bytes(b"\x89PNG, but another")
    (run.folder / "ready.json").write_text(json.dumps(entries))
    assert list(decisions(run)) == ["c1"]


def test_progress_and_results_count_the_same(people: Inspection) -> None:
    people.asked(1, 2)
    for who, place, ballot in (
        ("Ann", 0, KEEP),
        ("Ben", 0, KEEP),
        ("Ann", 1, KEEP),
        ("Ben", 1, DROP),
        ("Ann", 3, DROP),
    ):
        people.say(who, place, ballot)
    people.asked(2, 1)
    people.say("Dora", 0, DROP, stage=2)
    now = progress(people.store, 1, "Ann")
    counts = {name: now[name] for name in ("items", "votes", "missing", "keep", "drop")}
    assert counts == {"items": 4, "votes": 5, "missing": 4, "keep": 1, "drop": 0}
    assert (now["mine"], now["pace"], now["people"]) == (3, 4, 2) and now["left"] == 4 * 4 / 2
    told = results(people.store, 1, people.items)
    assert told["counts"] == counts and told["agreement"]["items"] == 2 and told["agreement"]["observed"] == 0.5
    assert told["categories"] == [
        {"category": "Medium Interaction", "keep": 0, "drop": 0, "open": 1},
        {"category": "Motion State Change", "keep": 0, "drop": 0, "open": 1},
        {"category": "Temporal Evolution", "keep": 1, "drop": 0, "open": 1},
    ]
    assert told["reasons"] == {"not-followed": 2, "edited-poor": 2}
    ann, ben = told["people"]
    assert (ann["annotator"], ann["votes"], ann["keep"], ann["seconds"]) == ("Ann", 3, 2, 4) and ben["votes"] == 2
    assert results(people.store, 2, people.items)["counts"]["drop"] == 1


def test_files_for_others(run: ReadyRun, people: Inspection, tmp_path: Path) -> None:
    said = replace(DROP, reasons=("effect-wrong", "other"), note='=HYPERLINK("x"), "quoted"\nline')
    people.say("Ann", 0, said)
    people.say("Ann", 1, KEEP)
    people.asked(2, 1)
    people.say("Ben Li", 1, mended(effect="=1+1 o'clock"), stage=2)
    assert write_decisions(run, tmp_path / "out" / "decisions.json") == 2
    first, second = json.loads((tmp_path / "out" / "decisions.json").read_text())["decisions"]
    assert first["reasons"] == ["effect-wrong", "other"] and first["votes"][0]["note"] == said.note
    effect = second["texts"]["effect"]
    assert effect["original"] == "Then it is 2 o'clock." and effect["corrected"]["text"] == "=1+1 o'clock"
    assert effect["corrected"]["by"] == "Ben Li" and list(second["texts"]) == ["effect"]
    write_decisions(run, tmp_path / "decisions.csv")
    with (tmp_path / "decisions.csv").open(newline="", encoding="utf-8") as stream:
        dropped, kept = csv.DictReader(stream)
    assert dropped["notes"] == f"Ann: {said.note}" and dropped["stage2"] == ""
    assert kept["effect"] == "'=1+1 o'clock", "no formula for a spreadsheet"
    assert (kept["corrected"], kept["reviewers"], kept["votes"]) == ("effect", "Ann, Ben Li", "2")
    with pytest.raises(BadInput, match=r"\.json or \.csv, not as '\.xlsx'"):
        write_decisions(run, tmp_path / "decisions.xlsx")


def test_reasons_have_a_key_each() -> None:
    assert len(REASONS) <= 9, "there are nine number keys"
    assert all(reason.label and reason.hint.endswith(".") for reason in REASONS.values())
