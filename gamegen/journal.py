"""A journal of finished pieces of work: a run that is killed goes on where it was when the same command is given again.

It is a JSONL file. The first line is the plan: what is being done, and how. Each further line names a piece and holds
its result. Lines are only ever added, so a kill tears the last one at most; a torn line is cut off and its piece done
again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from gamegen.core.errors import BadInput
from gamegen.writing.folder import lock
from gamegen.writing.format import replacing


class Journal:
    """`done` holds the results by the names of their pieces; without a path nothing is kept.

    A journal without a result that `stands` is begun anew, whatever its plan was.
    """

    def __init__(
        self, path: Path | None, plan: Mapping[str, Any], stands: Callable[[Any], bool] = lambda result: True
    ) -> None:
        self.path, self.plan = path, plan
        self.done: dict[str, Any] = {}
        if path is None:
            return
        first = orjson.dumps({"plan": plan}) + b"\n"
        whole = path.read_bytes() if path.exists() else b""
        if not first.startswith(whole):
            found, self.done = _read(path, whole)
            if any(map(stands, self.done.values())):
                _check_plan(path, found, orjson.loads(first)["plan"])
            else:
                self.done, whole = {}, b""
        _cut(path, whole, first)

    def add(self, piece: str, result: Any) -> None:
        self.done[piece] = result
        if self.path is None:
            return
        with _writing(self.path), self.path.open("ab") as stream:
            stream.write(_line(piece, result))

    def settle(self, pieces: Iterable[str]) -> None:
        """Put the file into this order, once each: then it does not tell in which order pieces were finished.

        Pieces that are not named come last.
        """
        self.done = {piece: self.done[piece] for piece in dict.fromkeys([*pieces, *self.done]) if piece in self.done}
        if self.path is not None and self.path.read_bytes() != _whole(self.plan, self.done):
            write_journal(self.path, self.plan, self.done)


@contextmanager
def journal(
    path: Path | None, plan: Mapping[str, Any], stands: Callable[[Any], bool] = lambda result: True
) -> Iterator[Journal]:
    """Open or begin a journal and keep other runs from writing to it."""
    if path is None:
        yield Journal(None, plan)
        return
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        try:
            handle = lock(path, wait=False)
        except BlockingIOError:
            raise BadInput(f"another run is writing to {path}; wait for it or choose another file") from None
    try:
        yield Journal(path, plan, stands)
    finally:
        os.close(handle)


def read_journal(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plan and the results of a journal that another run may be writing; nothing is changed."""
    whole = path.read_bytes()
    return _read(path, whole) if b"\n" in whole else ({}, {})


def write_journal(path: Path, plan: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """A whole journal at once, in this order."""
    with _writing(path), replacing(path) as stream:
        stream.write(_whole(plan, results))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error}; when that is mended, the same command goes on") from error


def _whole(plan: Mapping[str, Any], results: Mapping[str, Any]) -> bytes:
    lines = (_line(piece, result) for piece, result in results.items())
    return b"".join([orjson.dumps({"plan": plan}) + b"\n", *lines])


def _line(piece: str, result: Any) -> bytes:
    return orjson.dumps({"piece": piece, "result": result}) + b"\n"


def _read(path: Path, whole: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """A torn last line does not count."""
    lines = whole[: whole.rfind(b"\n") + 1].splitlines()
    try:
        plan = dict(orjson.loads(lines[0])["plan"])
    except (IndexError, ValueError, KeyError, TypeError):
        raise BadInput(f"{path} is no journal of this command; choose another file") from None
    return plan, dict(_entry(path, number, line) for number, line in enumerate(lines[1:], 2))


def _check_plan(path: Path, found: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    differs = [name for name in {**plan, **found} if found.get(name) != plan.get(name)]
    if differs:
        raise BadInput(f"{path} belongs to a run with other {', '.join(differs)}; choose another file or remove it")


def _entry(path: Path, number: int, line: bytes) -> tuple[str, Any]:
    try:
        entry = orjson.loads(line)
        return str(entry["piece"]), entry["result"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}, line {number} is damaged: {error}; remove that line and its piece is done again"
        ) from None


def _cut(path: Path, whole: bytes, first: bytes) -> None:
    """Begin the file if nothing is in it yet, and cut off a torn line."""
    with _writing(path):
        if b"\n" not in whole:
            path.write_bytes(first)
        elif not whole.endswith(b"\n"):
            os.truncate(path, whole.rfind(b"\n") + 1)
