"""Leases, votes, ties, undo: every sequence of calls against a plain model, and the few cases people run into."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gamegen.core.errors import BadInput
from realworld.review.ballot import Ballot
from realworld.review.items import Item
from realworld.review.store import Refused, Store
from realworld.run import Candidate

HOLD = 100.0
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # thousands of commits, each waiting for a disk
WHO = ("ann", "ben", "cem")
KEEP, DROP = Ballot("keep", seconds=2), Ballot("drop", ("not-followed",), seconds=3)


def item(place: int) -> Item:
    nowhere = Path("nowhere")
    candidate = Candidate(f"c{place}", "Temporal Evolution", "d", "i", "e", "r", {}, nowhere, nowhere, "key")
    return Item(f"k{place}", place, candidate)


ITEMS = [item(place) for place in range(3)]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Cast:
    """A vote as the model remembers it."""

    stage: int
    key: str
    who: str
    ballot: Ballot
    token: str
    number: int
    undone: bool = False


class AnySequence(RuleBasedStateMachine):
    """Three people, three items and both stages, on a store that is closed and opened again at any time."""

    @initialize(first=st.integers(1, 3), second=st.integers(1, 2))
    def begin(self, first: int, second: int) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.clock = Clock()
        self.asked = {1: first, 2: second}
        self.votes: list[Cast] = []
        self.leases: dict[tuple[int, str, str], tuple[str, float]] = {}
        self.tokens: list[tuple[int, str, str, str]] = []  # every lease that ever was: stage, key, who, token
        self.later: set[tuple[int, str, str]] = set()
        self._open()

    def _open(self) -> None:
        self.store = Store(self.folder / "review.sqlite", clock=self.clock)
        for stage, asked in self.asked.items():
            self.store.begin(ITEMS, stage=stage, asked=asked)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    # The model ------------------------------------------------------------------------------------------------------

    def standing(self, stage: int, key: str) -> list[Cast]:
        return [vote for vote in self.votes if (vote.stage, vote.key) == (stage, key) and not vote.undone]

    def missing(self, stage: int, key: str) -> int:
        votes = self.standing(stage, key)
        keeps = sum(vote.ballot.verdict == "keep" for vote in votes)
        if len(votes) < self.asked[stage]:
            return self.asked[stage] - len(votes)
        return int(2 * keeps == len(votes))

    def reached(self, stage: int, key: str) -> bool:
        first = self.standing(1, key)
        kept = 2 * sum(vote.ballot.verdict == "keep" for vote in first) > len(first)
        return stage == 1 or (kept and self.missing(1, key) == 0)

    def live(self, stage: int, key: str) -> set[str]:
        return {
            who for (s, k, who), (_, until) in self.leases.items() if (s, k) == (stage, key) and until > self.clock()
        }

    def is_open(self, stage: int, key: str, who: str) -> bool:
        live = self.live(stage, key)
        voted = any(vote.who == who for vote in self.standing(stage, key))
        room = self.missing(stage, key) > len(live - {who})
        return self.reached(stage, key) and room and not voted and who not in live

    # What people do -------------------------------------------------------------------------------------------------

    @rule(stage=st.sampled_from((1, 1, 2)), who=st.sampled_from(WHO), most=st.integers(1, 3))
    def take(self, stage: int, who: str, most: int) -> None:
        keys = [item.key for item in ITEMS]
        off = {key: (stage, key, who) in self.later for key in keys}
        held = [key for key in keys if who in self.live(stage, key)]
        new = [key for key in sorted(keys, key=off.__getitem__) if self.is_open(stage, key, who)]
        expected = sorted([*held, *new[: max(0, most - len(held))]], key=lambda key: (off[key], key))
        given = self.store.take(stage, who, most=most, hold=HOLD)
        assert [lease.key for lease in given] == expected
        for lease in given:
            assert lease.until == self.clock() + HOLD
            if lease.key in held:
                assert lease.token == self.leases[stage, lease.key, who][0], "a lease that is renewed stays the same"
            own = [vote for vote in self.votes if (vote.stage, vote.key, vote.who) == (stage, lease.key, who)]
            assert lease.former == (own[-1].ballot if own else None)
            self.leases[stage, lease.key, who] = (lease.token, lease.until)
            self.tokens.append((stage, lease.key, who, lease.token))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), ballot=st.sampled_from((KEEP, DROP)))
    def cast(self, data: st.DataObject, ballot: Ballot) -> None:
        stage, key, who, token = data.draw(st.sampled_from(self.tokens[-6:]))
        before = next((vote for vote in self.votes if vote.token == token), None)
        if before is not None:
            allowed = not before.undone and before.ballot == ballot
        else:
            held = self.leases.get((stage, key, who))
            allowed = held is not None and held[0] == token and held[1] > self.clock()
            allowed = allowed or self.is_open(stage, key, who)
        try:
            number = self.store.cast(stage, who, ITEMS[int(key[1:])], ballot, token=token)
        except Refused:
            assert not allowed
            return
        assert allowed
        if before is not None:
            assert number == before.number, "sent again it is the same vote"
            return
        self.votes.append(Cast(stage, key, who, ballot, token, number))
        self.leases.pop((stage, key, who), None)
        self.later.discard((stage, key, who))

    @precondition(lambda self: self.votes)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        vote = data.draw(st.sampled_from(self.votes[-4:]))
        anew = any(
            (v.stage, v.key, v.who, v.undone) == (vote.stage, vote.key, vote.who, False) and v.number > vote.number
            for v in self.votes
        )
        try:
            assert self.store.undo(vote.stage, vote.who, vote.number, hold=HOLD) == vote.key
        except Refused:
            assert anew
            return
        assert not anew
        if not vote.undone:
            vote.undone = True
            token, until = self._lease(vote.stage, vote.key, vote.who)
            assert until == self.clock() + HOLD
            self.leases[vote.stage, vote.key, vote.who] = (token, until)
            self.tokens.append((vote.stage, vote.key, vote.who, token))

    def _lease(self, *place: Any) -> tuple[str, float]:
        [row] = self.store.rows("SELECT token, until FROM lease WHERE stage = ? AND key = ? AND annotator = ?", *place)
        return row[0], row[1]

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def postpone(self, data: st.DataObject) -> None:
        stage, key, who, _ = data.draw(st.sampled_from(self.tokens[-6:]))
        self.store.postpone(stage, who, key)
        self.leases.pop((stage, key, who), None)
        self.later.add((stage, key, who))

    @rule(stage=st.sampled_from((1, 2)), who=st.sampled_from(WHO))
    def release(self, stage: int, who: str) -> None:
        self.store.release(stage, who)
        self.leases = {place: lease for place, lease in self.leases.items() if (place[0], place[2]) != (stage, who)}

    @rule(seconds=st.sampled_from((1.0, HOLD / 2, HOLD)))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self._open()

    # What always holds ----------------------------------------------------------------------------------------------

    @invariant()
    def the_store_knows_what_was_said(self) -> None:
        if hasattr(self, "store"):
            said = [(v.number, v.stage, v.key, v.annotator, v.ballot) for v in self.store.votes()]
            assert said == [(v.number, v.stage, v.key, v.who, v.ballot) for v in self.votes if not v.undone]
            assert len({entry[1:4] for entry in said}) == len(said), "nobody votes twice on an item"

    @invariant()
    def counts_are_the_votes(self) -> None:
        if hasattr(self, "store"):
            found = {(row["stage"], row["key"]): row for row in self.store.rows("SELECT * FROM standing")}
            for stage, each in itertools.product((1, 2), ITEMS):
                assert ((stage, each.key) in found) == self.reached(stage, each.key)
                if (stage, each.key) in found:
                    row, votes = found[stage, each.key], self.standing(stage, each.key)
                    assert row["missing"] == self.missing(stage, each.key)
                    assert row["keeps"] == sum(vote.ballot.verdict == "keep" for vote in votes)


TestAnySequence = AnySequence.TestCase
TestAnySequence.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


# By hand --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Any:
    with Store(tmp_path / "review.sqlite", clock=clock) as opened:
        opened.begin(ITEMS, stage=1, asked=1)
        yield opened


def take(store: Store, who: str, most: int = 1, stage: int = 1) -> list[str]:
    return [lease.key for lease in store.take(stage, who, most=most, hold=HOLD)]


def decide(store: Store, who: str, ballot: Ballot, stage: int = 1) -> int:
    [lease, *_] = store.take(stage, who, most=1, hold=HOLD)
    return store.cast(stage, who, ITEMS[int(lease.key[1:])], ballot, token=lease.token)


def test_two_people_never_look_at_the_same(store: Store) -> None:
    assert take(store, "ann", 2) == ["k0", "k1"]
    assert take(store, "ben", 2) == ["k2"]
    assert take(store, "cem", 2) == []


def test_what_is_left_lying_goes_to_others(store: Store, clock: Clock) -> None:
    [lease] = store.take(1, "ann", most=1, hold=HOLD)
    clock.now += HOLD - 1
    assert take(store, "ben") == ["k1"]
    clock.now += 1
    assert take(store, "ben", 2) == ["k0", "k1"]
    with pytest.raises(Refused, match="gone to somebody else"):
        store.cast(1, "ann", ITEMS[0], KEEP, token=lease.token)
    clock.now += HOLD
    assert store.cast(1, "ann", ITEMS[0], KEEP, token=lease.token) == 1, "late, but nobody has it now"


def test_a_tie_asks_a_third_person(store: Store) -> None:
    store.begin(ITEMS[:1], stage=1, asked=2)
    decide(store, "ann", KEEP)
    decide(store, "ben", DROP)
    store.begin(ITEMS[:1], stage=2, asked=1)
    assert take(store, "ann") == take(store, "ann", stage=2) == []
    decide(store, "cem", KEEP)
    assert take(store, "dora") == [] and take(store, "ann", stage=2) == ["k0"]


def test_stage_two_has_what_stage_one_keeps(store: Store) -> None:
    decide(store, "ann", KEEP)
    decide(store, "ann", DROP)
    store.begin(ITEMS, stage=2, asked=1)
    assert take(store, "ben", 3, stage=2) == ["k0"]


def test_undo_gives_the_item_back_with_what_was_said(store: Store) -> None:
    said = replace(DROP, note="the flame is missing")
    number = decide(store, "ann", said)
    assert store.undo(1, "ann", number, hold=HOLD) == store.undo(1, "ann", number, hold=HOLD) == "k0"
    [lease, *_] = store.take(1, "ann", most=1, hold=HOLD)
    assert (lease.key, lease.former) == ("k0", said)
    again = store.cast(1, "ann", ITEMS[0], KEEP, token=lease.token)
    with pytest.raises(Refused, match="anew"):
        store.undo(1, "ann", number, hold=HOLD)
    store.undo(1, "ann", again, hold=HOLD)
    [lease, *_] = store.take(1, "ann", most=1, hold=HOLD)
    assert lease.former == KEEP, "the latest"
    last = store.cast(1, "ann", ITEMS[0], KEEP, token=lease.token)
    assert [vote.number for vote in store.votes()] == [last]
    assert [vote.number for vote in store.votes(undone=True)] == [number, again, last], "nothing is ever deleted"


def test_nobody_undoes_what_another_said(store: Store) -> None:
    number = decide(store, "ann", KEEP)
    with pytest.raises(Refused, match="no such decision of yours"):
        store.undo(1, "ben", number, hold=HOLD)


def test_two_tabs_cannot_decide_differently(store: Store) -> None:
    [lease] = store.take(1, "ann", most=1, hold=HOLD)
    assert store.cast(1, "ann", ITEMS[0], KEEP, token=lease.token) == 1
    assert store.cast(1, "ann", ITEMS[0], replace(KEEP, seconds=9), token=lease.token) == 1
    for other in (DROP, replace(KEEP, texts={"effect": "another"})):
        with pytest.raises(Refused, match="already decided otherwise: keep, by ann"):
            store.cast(1, "ann", ITEMS[0], other, token=lease.token)


def test_more_votes_asked_for_later_open_what_was_closed(store: Store) -> None:
    decide(store, "ann", KEEP)
    store.begin(ITEMS, stage=1, asked=3)
    assert take(store, "ben", 3) == ["k0", "k1", "k2"] and take(store, "ann", 3) == ["k1", "k2"]


def test_a_decision_is_on_the_disk_before_it_is_confirmed(store: Store) -> None:
    assert store.rows("PRAGMA journal_mode")[0][0] == "wal" and store.rows("PRAGMA synchronous")[0][0] == 2


def test_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "review.sqlite"
    path.write_bytes(b"not a database, but long enough to look at" * 20)
    with pytest.raises(BadInput, match=r"cannot open .*review\.sqlite: file is not a database"):
        Store(path)
    path.unlink()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 7")
    with pytest.raises(BadInput, match="version 7"):
        Store(path)
