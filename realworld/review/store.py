"""The votes of a run in one SQLite file: leases so that two people do not see the same, votes, undo.

Every change is one transaction that is on the disk before anyone is told of it (WAL, synchronous=FULL): a process that
is killed loses nothing it has confirmed. A decision carries the token of its lease, so one that is sent again, because
the answer was lost, is counted once. Several processes may work on one file.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gamegen.core.errors import BadInput, GamegenError
from realworld.review.ballot import Ballot, Vote
from realworld.review.items import Item

VERSION = 1
PATIENCE = 20.0
"""Seconds to wait for another process that writes."""


class Refused(GamegenError):
    """A decision came too late, or is another one than was recorded; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Lease:
    key: str
    token: str
    until: float
    former: Ballot | None  # what this annotator had decided before undoing it


class Store:
    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self._lock = threading.RLock()
        self._which_are_open = _sql("open")
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
            self._db.row_factory = sqlite3.Row
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, VERSION):
                raise BadInput(f"{path} is of version {found}; this program reads version {VERSION}")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_sql("schema"))
            if found != VERSION:
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        except sqlite3.Error as error:
            raise BadInput(f"cannot open {path}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def begin(self, found: Sequence[Item], *, stage: int, asked: int) -> None:
        """What there is to inspect, and how many votes each item shall have in this stage."""
        rows = [(item.place, item.key, item.candidate.id, item.candidate.category) for item in found]
        with self._change() as db:
            db.execute("DELETE FROM item")
            db.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", rows)
            db.execute("INSERT OR REPLACE INTO stage VALUES (?, ?)", (stage, asked))

    def asked(self, stage: int) -> int:
        row = self.rows("SELECT asked FROM stage WHERE stage = ?", stage)
        return int(row[0][0]) if row else 1

    def take(self, stage: int, annotator: str, *, most: int, hold: float) -> list[Lease]:
        """Up to `most` items for this annotator, those already held first; all are held for `hold` seconds from now."""
        with self._change() as db:
            now = self.clock()
            db.execute("INSERT OR IGNORE INTO annotator VALUES (?)", (annotator,))
            db.execute("DELETE FROM lease WHERE until <= ?", (now,))
            held = [row["key"] for row in self._held(stage, annotator)]
            for later in (0, 1):
                given = self._open(stage, annotator, most=max(0, most - len(held)), later=later)
                for key in given:
                    self._lend(stage, key, annotator, until=now + hold)
                held += given
            renew = "UPDATE lease SET until = ? WHERE stage = ? AND annotator = ? AND key IN (SELECT key FROM item)"
            db.execute(renew, (now + hold, stage, annotator))
            return [
                Lease(row["key"], row["token"], row["until"], self._former(stage, row["key"], annotator))
                for row in self._held(stage, annotator)
            ]

    def cast(self, stage: int, annotator: str, item: Item, ballot: Ballot, *, token: str) -> int:
        """Record a decision; its number. Sent again it is the same one. Refused if the item has gone to others."""
        with self._change() as db:
            for row in db.execute("SELECT * FROM vote WHERE token = ?", (token,)):
                vote = _vote(row)
                if vote.undone is not None:
                    raise Refused("this decision was undone meanwhile")
                same = (vote.stage, vote.key, vote.annotator) == (stage, item.key, annotator)
                if not same or replace(vote.ballot, seconds=0) != replace(ballot, seconds=0):
                    raise Refused(f"this was already decided otherwise: {vote.ballot.verdict}, by {vote.annotator}")
                return vote.number
            now = self.clock()
            lease = "SELECT 1 FROM lease WHERE stage = ? AND key = ? AND annotator = ? AND token = ? AND until > ?"
            holds = db.execute(lease, (stage, item.key, annotator, token, now)).fetchone()
            if not holds and not self._open(stage, annotator, most=1, key=item.key, later=None):
                raise Refused("this one was kept waiting too long and has gone to somebody else")
            place = (stage, item.key, annotator)
            db.execute("DELETE FROM lease WHERE stage = ? AND key = ? AND annotator = ?", place)
            db.execute("DELETE FROM later WHERE stage = ? AND key = ? AND annotator = ?", place)
            names = "stage, key, id, annotator, verdict, reasons, note, texts, seconds, made, token"
            reasons, texts = json.dumps(ballot.reasons), json.dumps(dict(ballot.texts), ensure_ascii=False)
            said = (ballot.verdict, reasons, ballot.note, texts, ballot.seconds)
            values = (stage, item.key, item.candidate.id, annotator, *said, now, token)
            return int(db.execute(f"INSERT INTO vote ({names}) VALUES ({_marks(values)})", values).lastrowid or 0)

    def last(self, stage: int, annotator: str) -> Vote | None:
        """The latest decision that can be undone."""
        sql = """SELECT * FROM vote WHERE stage = ? AND annotator = ? AND undone IS NULL
                 AND key IN (SELECT key FROM item) ORDER BY number DESC LIMIT 1"""
        found = self.rows(sql, stage, annotator)
        return _vote(found[0]) if found else None

    def undo(self, stage: int, annotator: str, number: int, *, hold: float) -> str:
        """Take one's own decision back and hold its item again; the item's key. Asked twice, it is undone once."""
        with self._change() as db:
            sql = "SELECT * FROM vote WHERE number = ? AND stage = ? AND annotator = ?"
            row = db.execute(sql, (number, stage, annotator)).fetchone()
            if row is None:
                raise Refused("there is no such decision of yours")
            vote = _vote(row)
            again = "SELECT 1 FROM vote WHERE stage = ? AND key = ? AND annotator = ? AND undone IS NULL AND number > ?"
            if db.execute(again, (stage, vote.key, annotator, number)).fetchone():
                raise Refused("you have decided this one anew since")
            if vote.undone is None:
                db.execute("UPDATE vote SET undone = ? WHERE number = ?", (self.clock(), number))
                self._lend(stage, vote.key, annotator, until=self.clock() + hold)
            return vote.key

    def postpone(self, stage: int, annotator: str, key: str) -> None:
        """Give an item back and be given it again only when nothing else is left."""
        with self._change() as db:
            db.execute("DELETE FROM lease WHERE stage = ? AND key = ? AND annotator = ?", (stage, key, annotator))
            db.execute("INSERT OR IGNORE INTO later VALUES (?, ?, ?)", (stage, key, annotator))

    def release(self, stage: int, annotator: str) -> None:
        """Give everything back that is held."""
        with self._change() as db:
            db.execute("DELETE FROM lease WHERE stage = ? AND annotator = ?", (stage, annotator))

    def votes(self, *, undone: bool = False) -> list[Vote]:
        """All votes that stand, in the order they were cast; on request those that were undone, too."""
        return [_vote(row) for row in self.rows("SELECT * FROM vote WHERE undone IS NULL OR ? ORDER BY number", undone)]

    def annotators(self) -> list[str]:
        """Everyone who ever began, in that order."""
        return [row[0] for row in self.rows("SELECT name FROM annotator ORDER BY rowid")]

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _held(self, stage: int, annotator: str) -> list[sqlite3.Row]:
        """Live leases, what was put off last."""
        sql = """SELECT lease.* FROM lease JOIN item USING (key) LEFT JOIN later USING (stage, key, annotator)
                 WHERE lease.stage = ? AND lease.annotator = ? AND until > ?
                 ORDER BY later.key IS NOT NULL, item.place"""
        return self.rows(sql, stage, annotator, self.clock())

    def _open(self, stage: int, annotator: str, *, most: int, later: int | None, key: str | None = None) -> list[str]:
        names = {"stage": stage, "annotator": annotator, "now": self.clock(), "key": key, "most": most}
        puts_off = (0, 1) if later is None else (later,)
        return [row[0] for off in puts_off for row in self._db.execute(self._which_are_open, {**names, "later": off})]

    def _lend(self, stage: int, key: str, annotator: str, *, until: float) -> None:
        lease = (stage, key, annotator, secrets.token_hex(8), until)
        self._db.execute("INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?, ?)", lease)

    def _former(self, stage: int, key: str, annotator: str) -> Ballot | None:
        sql = "SELECT * FROM vote WHERE stage = ? AND key = ? AND annotator = ? ORDER BY number DESC LIMIT 1"
        found = self.rows(sql, stage, key, annotator)
        return _vote(found[0]).ballot if found else None


def _sql(name: str) -> str:
    return files("realworld.review").joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _vote(row: sqlite3.Row) -> Vote:
    ballot = Ballot(
        row["verdict"], tuple(json.loads(row["reasons"])), row["note"], json.loads(row["texts"]), row["seconds"]
    )
    names = ("number", "stage", "key", "id", "annotator", "made", "undone")
    return Vote(**{name: row[name] for name in names}, ballot=ballot)
