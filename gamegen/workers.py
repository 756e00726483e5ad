"""Worker processes: one thread each; those of measurements that take hours do not outlive the run."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import TypeVar

from gamegen.core.errors import BadInput

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(work: Callable[[T], R], pieces: Sequence[T], jobs: int) -> Generator[tuple[T, R], None, None]:
    """Each piece with what `work` made of it, in the order in which they are finished."""
    others = active_children()
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin) as pool:
        futures = {pool.submit(work, piece): piece for piece in pieces}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise BadInput("a worker process died (out of memory?); run the same command again") from None
        except BaseException:  # whoever interrupts a run waits for no piece of it
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()).difference(others):
                worker.terminate()
            raise


def use_one_thread() -> None:
    """For worker processes, of which there is one a core: threads below OpenCV and numpy would only wait."""
    import cv2
    from threadpoolctl import threadpool_limits

    cv2.setNumThreads(1)
    threadpool_limits(1)


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end when it does, however it ends."""
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
