"""Worker processes for measurements that take hours: one thread each, and none outlives the run."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import TypeVar

from gamegen.core.errors import BadInput

T = TypeVar("T")
R = TypeVar("R")

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""How many threads the libraries under numpy start; they read it when they are loaded."""


def in_parallel(work: Callable[[T], R], pieces: Sequence[T], jobs: int) -> Iterator[tuple[T, R]]:
    """Each piece with what `work` made of it, in the order in which they are finished."""
    with _one_thread_each(), ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin) as pool:
        futures = {pool.submit(work, piece): piece for piece in pieces}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise BadInput("a worker process died (out of memory?); run the same command again") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started meanwhile compute on one thread: the pool uses every core as it is."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end when it does, however it ends."""
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
