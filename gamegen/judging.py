"""Judging for strangers: rows and pictures that may be anything, under limits, in processes of their own.

What is wrong with one item is said in that item's answer. A picture that cannot be read gets 0, as the editor's own
failure; an item that cannot be judged (no such task, too many pixels, too slow) gets no reward at all, but an error.
"""

from __future__ import annotations

import asyncio
import io
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from types import FrameType
from typing import Any

from PIL import Image

from gamegen.core.errors import GamegenError
from gamegen.core.rendering import Style
from gamegen.images import MAX_PIXELS, MIN_SIDE
from gamegen.reward import Grade, grade
from gamegen.workers import use_one_thread

FORMATS = ("PNG", "JPEG", "WEBP")


class Refused(GamegenError):
    """A limit is passed; the message names it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost; each field is also an option of `gamegen serve`."""

    max_body: int = 64 * 2**20  # bytes
    max_items: int = 256
    max_pixels: int = MAX_PIXELS  # of one picture
    max_seconds: float = 10.0  # of one item; kept where the system has interval timers, so not on Windows


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one item: a reward and a verdict, or an error and neither."""

    reward: float | None
    verdict: dict[str, Any]
    seconds: float = 0.0

    @classmethod
    def error(cls, message: str) -> Answer:
        return cls(None, {"error": message})


def judge_one(row: Mapping[str, Any], picture: bytes | None, *, dense: bool, limits: Limits) -> Answer:
    """Judge encoded bytes; None means that the editor gave no picture. Never raises."""
    started = time.perf_counter()
    try:
        with _at_most(limits.max_seconds):
            graded = _grade(row, picture, limits)
        answer = Answer(graded.dense if dense else graded.strict, asdict(graded.verdict))
    except GamegenError as error:
        answer = Answer.error(str(error))
    except Exception as error:  # the row is a stranger's: whatever it trips, the other items go on
        answer = Answer.error(f"the row cannot be judged: {type(error).__name__}: {error}")
    return replace(answer, seconds=time.perf_counter() - started)


class Judges:
    """Worker processes that judge one item at a time; a process that dies is replaced."""

    def __init__(self, *, jobs: int, limits: Limits) -> None:
        self._jobs = jobs
        self._limits = limits
        self._pool = self._start()

    async def judge(self, row: Mapping[str, Any], picture: bytes | None, *, dense: bool) -> Answer:
        pool = self._pool
        try:
            return await asyncio.wrap_future(pool.submit(_work, row, picture, dense, self._limits))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = self._start()
            return Answer.error("a judging process died during this request; send the item again on its own")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._jobs, get_context("spawn"), initializer=_begin)


def _work(row: Mapping[str, Any], picture: bytes | None, dense: bool, limits: Limits) -> Answer:
    return judge_one(row, picture, dense=dense, limits=limits)


def _grade(row: Mapping[str, Any], picture: bytes | None, limits: Limits) -> Grade:
    _check_style(row, limits)
    if picture is None or _is_image(picture, limits):
        return grade(row, picture)
    nothing = grade(row, None)
    reason = f"The picture cannot be read: it is not a {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file."
    return replace(nothing, verdict=replace(nothing.verdict, reason=reason))


def _check_style(row: Mapping[str, Any], limits: Limits) -> None:
    """Reading draws clean boards of the row's own size, so that size is under the limit of pictures, too."""
    if "style" not in row:
        return  # the judge names all columns that are missing
    side = Style.from_json(str(row["style"])).pixels
    if side < MIN_SIDE or side * side > limits.max_pixels:
        most = limits.max_pixels
        raise Refused(
            f"the row's style is {side} pixels wide; allowed are {MIN_SIDE} to the root of {most} (max_pixels)"
        )


def _is_image(data: bytes, limits: Limits) -> bool:
    """Whether the header is that of a picture we open; Refused if it announces too many pixels."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
    except Image.DecompressionBombError as error:
        raise Refused(f"the picture is far over the limit of {limits.max_pixels} pixels (max_pixels)") from error
    except (OSError, ValueError, SyntaxError):
        return False
    if width * height > limits.max_pixels:
        raise Refused(f"the picture is {width} x {height}; the limit is {limits.max_pixels} pixels (max_pixels)")
    return True


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Refused when the block takes longer; needs the main thread, where a worker process works."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise Refused(f"judging took more than {seconds:g} s (max_seconds)")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _begin() -> None:
    """Leave interrupts to the server."""
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
