"""An editor over a whole dataset: resumable, every sample accounted for, the same files however often it is stopped.

A run can be shared out: share 2 of 4 edits every fourth row, into the folder of the others or into one of its own. When
those are copied together, the run without a share finishes: it edits what is still missing, if anything is.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from edit_models.editors.outputs import (
    ABOUT,
    FAILURES,
    Failure,
    claimed,
    dataset_id,
    foreign,
    is_done,
    keep,
    picture_path,
    write_failures,
)
from edit_models.editors.protocol import Edit, Request, Stop
from edit_models.editors.registry import build, check, waits
from gamegen.core.errors import BadInput, GamegenError
from gamegen.images import load_rgb
from gamegen.stored import StoredRow, read_dataset

__all__ = ["ABOUT", "Failure", "Ran", "Share", "dataset_id", "prompt_of", "run_editor", "seed_of"]

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ran:
    folder: Path
    edited: int
    kept: int  # there already
    failures: tuple[Failure, ...]
    seconds: float

    @property
    def total(self) -> int:
        return self.edited + self.kept + len(self.failures)


@dataclass(frozen=True, slots=True)
class Share:
    """Every `of`-th row, beginning with the `number`-th, which counts from 1."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise BadInput(f"a share is one of 1/N to N/N, not {self.number}/{self.of}")

    @classmethod
    def parse(cls, text: str) -> Share:
        number, slash, of = text.partition("/")
        if not slash or not number.isdecimal() or not of.isdecimal():
            raise BadInput(f"a share is written as 2/4, not {text!r}")
        return cls(int(number), int(of))

    def count(self, rows: int) -> int:
        return len(range(self.number - 1, rows, self.of))

    @property
    def failures(self) -> str:
        """The name of the list of what failed."""
        return FAILURES if self.of == 1 else f"failures-{self.number}-of-{self.of}.jsonl"


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker must know."""

    editor: str
    options: bytes  # JSON
    out: Path


def run_editor(
    dataset: Path,
    *,
    editor: str,
    out: Path,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    jobs: int = 1,
    batch: int = 1,
    share: Share | None = None,
    progress: Callable[[str], None] = lambda outcome: None,
) -> Ran:
    """Edit every row that has no picture yet; `progress` hears `edited`, `kept` or `failed` for each row.

    The editor is built only if there is something to edit.
    """
    started = time.monotonic()
    share = share or Share()
    if min(jobs, batch) < 1 or (limit is not None and limit < 1):
        raise BadInput("limit, jobs and batch must be at least 1")
    check(editor, options or {})
    about = foreign(out, dataset, editor=editor, options=options or {})
    tally = _Tally(progress)
    missing = _missing(dataset, share, limit, out, tally)
    first = next(missing, None)
    if not tally.rows:
        raise BadInput(f"{dataset} has no rows")
    job = Job(editor, orjson.dumps(dict(options or {})), out)
    if first is not None and (jobs == 1 or waits(editor)):
        _editor(job)  # built here, so that what is wrong with it is said before anything is written
    with claimed(out, about, shared=share.of > 1):
        try:
            for failed in _work(job, _chunks(chain([first] if first else [], missing), batch), jobs):
                tally.add("edited" if failed is None else "failed", failed)
        finally:
            write_failures(out, tally.failures, share.failures)
    return Ran(out, tally.edited, tally.kept, tuple(tally.failures), time.monotonic() - started)


class _Tally:
    """What became of the rows so far."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self.rows = self.edited = self.kept = 0
        self.failures: list[Failure] = []
        self._progress = progress

    def add(self, outcome: str, failed: Failure | None = None) -> None:
        self.edited += outcome == "edited"
        self.kept += outcome == "kept"
        self.failures += [failed] if failed else []
        self._progress(outcome)


def _missing(dataset: Path, share: Share, limit: int | None, out: Path, tally: _Tally) -> Iterator[StoredRow]:
    """The rows of a share that have no picture yet."""
    for number, stored in enumerate(islice(read_dataset(dataset), limit)):
        tally.rows += 1
        if number % share.of != share.number - 1:
            continue
        if is_done(stored, out):
            tally.add("kept")
        else:
            yield stored


def seed_of(stored: StoredRow) -> int:
    """31 bits of the sample's id: the same whoever edits it, and whenever."""
    name = str(stored.row.get("id") or stored.output_name)
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "big") >> 1


def prompt_of(row: Mapping[str, Any]) -> str:
    """What an editor reads: the rules, then the instruction."""
    return " ".join(str(row[name]) for name in ("rules", "instruction") if row.get(name))


def _chunks(rows: Iterable[StoredRow], size: int) -> Iterator[list[StoredRow]]:
    rows = iter(rows)
    while chunk := list(islice(rows, size)):
        yield chunk


def _work(job: Job, chunks: Iterable[list[StoredRow]], jobs: int) -> Iterator[Failure | None]:
    """The outcome of every row, in order; at most two chunks a worker are held in memory."""
    if jobs == 1:
        for chunk in chunks:
            yield from _edit_chunk(job, chunk)
        return
    flying: deque[Future[list[Failure | None]]] = deque()
    pool = _pool(job, jobs)
    try:
        for chunk in chunks:
            flying.append(pool.submit(_edit_chunk, job, chunk))
            if len(flying) >= 2 * jobs:
                yield from flying.popleft().result()
        while flying:
            yield from flying.popleft().result()
    except BrokenProcessPool as error:
        raise GamegenError("a worker process died; run the same command again to go on") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(job: Job, jobs: int) -> Executor:
    if waits(job.editor):
        return ThreadPoolExecutor(jobs)
    context = get_context("spawn")
    return ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(context.Value("i", 0),))


_worker = 0
"""The number of this process among the workers."""


def _begin(counter: Any) -> None:
    global _worker
    with counter.get_lock():
        _worker, counter.value = counter.value, counter.value + 1
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot stop its workers, so they watch it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _editor(job: Job) -> Any:
    return build(job.editor, orjson.loads(job.options), worker=_worker)


def _edit_chunk(job: Job, chunk: Sequence[StoredRow]) -> list[Failure | None]:
    try:
        editor = _editor(job)
    except GamegenError as error:
        raise BadInput(str(error)) from None  # some of ours cannot travel between processes
    outcomes: list[Failure | None] = []
    for stored, edit in zip(chunk, _edits(editor, chunk), strict=True):
        reason = edit if isinstance(edit, str) else keep(edit, picture_path(stored, job.out))
        outcomes.append(Failure(stored.output_name, str(stored.row.get("id", "")), reason) if reason else None)
    return outcomes


def _edits(editor: Any, chunk: Sequence[StoredRow]) -> list[Edit | str]:
    """An edit, or the reason why there is none, for each row; a batch that fails is tried again one by one."""
    if len(chunk) > 1 and hasattr(editor, "edit_batch"):
        try:
            requests = [_request(stored) for stored in chunk]
            if len({request.image.size for request in requests}) == 1:
                edits = editor.edit_batch(requests)
                if len(edits) == len(chunk):
                    return [as_edit(made) for made in edits]
        except Stop:
            raise
        except Exception:  # one of them may be to blame, so each gets its own try and its own reason
            LOG.info("a batch failed; its samples are tried one by one", exc_info=True)
    return [_one(editor, stored) for stored in chunk]


def _one(editor: Any, stored: StoredRow) -> Edit | str:
    if hasattr(editor, "edit_row"):
        return attempt(lambda: editor.edit_row(stored.row, seed=seed_of(stored)))

    def edit() -> Any:
        request = _request(stored)
        return editor.edit(request.image, request.instruction, seed=request.seed)

    return attempt(edit)


def attempt(make: Callable[[], Any]) -> Edit | str:
    """What a model makes, or the reason why it makes nothing."""
    try:
        return as_edit(make())
    except Stop:
        raise
    except Exception as error:  # a model may be anybody's: whatever it trips over, the other samples go on
        return f"{type(error).__name__}: {error}"


def as_edit(made: Any) -> Edit | str:
    """What an editor returned as an edit; a bare picture will do."""
    if isinstance(made, Image.Image):
        return Edit(made)
    if isinstance(made, Edit) and isinstance(made.image, Image.Image):
        return made
    return f"the editor returned no picture but {made!r:.100}"


def _request(stored: StoredRow) -> Request:
    image = Image.fromarray(load_rgb(stored.row["original_image"]))
    return Request(image, prompt_of(stored.row), seed_of(stored))
