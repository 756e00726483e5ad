"""Judges' replies, remembered by what was asked: one SQLite file, which several processes may use and people share.

The key holds everything that decides a reply: the judge and its parameters, the prompt and its version, every text and
every picture's bytes, and the number of the pass. A picture made anew is judged anew; nothing else is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

from gamegen.core.errors import BadInput

WAIT_SECONDS = 60.0
"""How long to wait for another process that is writing."""


def cache_key(
    parts: Sequence[str | bytes], *, prompt: str, judge: str, parameters: Mapping[str, Any], number: int = 0
) -> str:
    """`prompt` is its name and version, `number` the pass. Parts carry their length, so none runs into the next."""
    digest = blake2b(digest_size=32)
    head = json.dumps([judge, parameters, prompt, number], sort_keys=True, ensure_ascii=True)
    for part in (head, *parts):
        kind, data = ("t", part.encode()) if isinstance(part, str) else ("i", part)
        digest.update(f"{kind}{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


class ReplyCache:
    """Replies by key; `None` as path keeps them in memory for one run."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        try:
            self._connection = sqlite3.connect(path or ":memory:", timeout=WAIT_SECONDS, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, judge TEXT, prompt TEXT, reply TEXT) STRICT"
            )
        except sqlite3.Error as error:
            raise BadInput(f"{path} cannot be used as a cache of replies: {error}") from error

    def get(self, key: str) -> str | None:
        row = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, reply: str, *, judge: str, prompt: str) -> None:
        """Keep a reply; the first one for a key stays, so processes that share a file agree."""
        try:
            self._connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", (key, judge, prompt, reply))
        except sqlite3.Error as error:
            raise BadInput(f"{self._path} cannot be written: {error}; run the same command again to go on") from error

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Fold the write-ahead log into the file, so that it can be copied by itself."""
        with suppress(sqlite3.OperationalError):  # as on a full disk: then the log stays beside it, and is read as well
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def __enter__(self) -> ReplyCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
