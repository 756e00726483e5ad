"""What all stages share: pieces of work that are done once, and failures that are named and tried again.

A piece is finished when its line is in the journal, whole, and what it was made from is what it would be made from now.
When a stage is through, its journal is put in order, so that it does not tell how often the stage was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gamegen.core.errors import GamegenError
from gamegen.journal import Journal, journal
from realworld.run import Run

PATIENCE = 10
"""So many failures in a row stop a stage: what fails them would fail all others, too."""

Progress = Callable[[int, int], object]
"""Hears how many pieces are done, and of how many."""

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Done:
    """What a stage came to."""

    new: int
    earlier: int
    failures: Mapping[str, str]  # reasons, by piece


@dataclass(frozen=True, slots=True)
class Piece(Generic[P]):
    name: str
    of: str  # the fingerprint of what it is made from
    work: P


class Stage:
    """A stage at work; made by `at_work`."""

    def __init__(self, name: str, journal: Journal, progress: Progress) -> None:
        self.name = name
        self.new = self.earlier = 0
        self.failures: dict[str, str] = {}
        self._journal, self._progress = journal, progress
        self._in_a_row = 0
        self._total = 0

    def missing(self, pieces: Sequence[Piece[P]], there: Callable[[P], bool] = lambda work: True) -> list[Piece[P]]:
        """Those that are not finished, or whose files are not `there`."""
        found = [piece for piece in pieces if not (self._finished(piece) and there(piece.work))]
        self._total += len(pieces)
        self.earlier += len(pieces) - len(found)
        self._tell()
        return found

    def add(self, piece: Piece[Any], result: Mapping[str, Any]) -> None:
        self.new += 1
        self._in_a_row = 0
        self._journal.add(piece.name, {"of": piece.of, **result})
        self._tell()

    def fail(self, piece: Piece[Any], reason: str) -> None:
        self.failures[piece.name] = reason
        self._in_a_row += 1
        self._journal.add(piece.name, {"failure": reason})
        self._tell()
        if self._in_a_row == PATIENCE:
            raise GamegenError(f"{self.name}: {PATIENCE} failures in a row, so the stage stops; the last: {reason}")

    def result(self, name: str) -> dict[str, Any]:
        """What a piece has come to; empty if it is not in the journal."""
        found: dict[str, Any] = self._journal.done.get(name, {})
        return found

    def settle(self, pieces: Sequence[Piece[Any]], order: Callable[[str], Any] | None = None) -> Done:
        """The last act of a stage that got through. Lines get the order of the pieces, or are sorted by `order`."""
        names = [piece.name for piece in pieces]
        self._journal.settle(sorted(self._journal.done, key=order) if order else names)
        return Done(self.new, self.earlier, self.failures)

    def _tell(self) -> None:
        self._progress(self.earlier + self.new + len(self.failures), self._total)

    def _finished(self, piece: Piece[Any]) -> bool:
        result = self.result(piece.name)
        return succeeded(result) and result.get("of") == piece.of


@contextmanager
def at_work(run: Run, name: str, plan: Mapping[str, Any], progress: Progress) -> Iterator[Stage]:
    """One process at a time works at a stage. `plan` says how; one that has results of another plan is refused."""
    with journal(run.journal(name), {"stage": name, **plan}, succeeded) as book:
        yield Stage(name, book, progress)


def succeeded(result: object) -> bool:
    return isinstance(result, dict) and "failure" not in result
