"""What a format is: it writes one shard at a time, and an index when all shards are there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from gamegen.negatives import Negative
from gamegen.sample import Sample

Note = dict[str, Any]
"""What a shard remembers of a row until the index is written; plain JSON."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Rows `start` to `start + count` of a dataset; which ones never depends on the number of workers."""

    number: int
    total: int  # how many shards there are
    start: int
    split: str

    @property
    def stem(self) -> str:
        return f"{self.split}-{self.number:05d}-of-{self.total:05d}"


@dataclass(frozen=True, slots=True)
class Item:
    """A sample with its running number in the dataset and in its category."""

    sample: Sample
    number: int
    place: int
    negatives: tuple[Negative, ...] | None = None  # None if none were asked for

    def negative_columns(self) -> dict[str, list[str]]:
        """What a row says of its negatives beside their pictures; nothing if none were asked for."""
        if self.negatives is None:
            return {}
        return {
            "negative_errors": [negative.error for negative in self.negatives],
            "negative_positions": [negative.position for negative in self.negatives],
        }


class Format(Protocol):
    name: str
    holds_negatives: bool  # whether it has a place for them

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        """Write the rows of one shard. It may be called again for the same shard, and then writes the same bytes."""
        ...

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        """Write what needs all rows: index files and cards. `notes` are those of all shards, in order."""
        ...


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears whole or not at all, also when two processes write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
