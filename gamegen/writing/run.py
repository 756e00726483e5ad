"""A run: shards written by any number of workers, one after the other or all at once, to the same bytes.

The folder tells how far a run has come. `plan.json` says what is being made; a run with another plan refuses the
folder. Each finished shard leaves a note in `.parts/`, written after its files; a shard without one is written again.
When all notes are there, the index files and `manifest.json` are made of them and the notes are removed. So a run may
be killed at any moment, and the same command goes on to the same result. Only `run.json`, which tells of the run itself
(command, time, workers), varies.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import orjson

from gamegen import __version__
from gamegen.core.errors import BadInput
from gamegen.core.key import VERSION
from gamegen.dataset import Dataset
from gamegen.negatives import MOST
from gamegen.negatives import negatives as negatives_of
from gamegen.registry import plugin_of
from gamegen.writing import FORMATS, format_named
from gamegen.writing.folder import alone_in, lock, open_folder, write_json
from gamegen.writing.format import Item, Note, Shard, replacing

SHARD = 250
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Written:
    """What a run came to."""

    folder: Path
    count: int
    kept: dict[str, int]
    dropped: dict[str, int]
    seconds: float
    resumed: int  # samples that an earlier run had already written


def write_dataset(
    dataset: Dataset,
    folder: Path | str,
    *,
    format: str = "parquet",
    jobs: int = 1,
    shard: int = SHARD,
    negatives: int = 0,
    progress: Progress | None = None,
) -> Written:
    """Write a dataset, or go on writing it. `jobs` processes share the work; they decide nothing else.

    With `negatives`, so many wrong results of each sample are written beside the right one.
    """
    started = time.perf_counter()
    folder = Path(folder)
    if not len(dataset):
        raise BadInput("nothing to write: the dataset has no samples")
    if jobs < 1 or shard < 1:
        raise BadInput(f"jobs and shard must be at least 1, not {jobs} and {shard}")
    if not 0 <= negatives <= MOST:
        raise BadInput(f"negatives must be 0 to {MOST}, not {negatives}")
    if not format_named(format).holds_negatives and negatives:
        able = ", ".join(name for name, each in FORMATS.items() if each.holds_negatives)
        raise BadInput(f"the format {format!r} has no place for negatives; these have: {able}")
    plan = _plan(dataset, format, shard) | ({"negatives": negatives} if negatives else {})
    try:
        with alone_in(folder):
            done = open_folder(folder, plan)
            if done is not None:
                return Written(folder, len(dataset), done["kept"], done["dropped"], 0.0, len(dataset))
            resumed = _write_shards(dataset, folder, plan, jobs, progress or (lambda count: None))
            manifest = _finish(folder, format, plan, len(dataset), shard)
    except OSError as error:
        raise BadInput(
            f"cannot write to {folder}: {error}; free space or fix it, then run the same command again"
        ) from error
    seconds = time.perf_counter() - started
    write_json(folder / "run.json", {"command": sys.argv, "seconds": round(seconds, 3), "jobs": jobs})
    return Written(folder, len(dataset), manifest["kept"], manifest["dropped"], seconds, resumed)


def _plan(dataset: Dataset, format: str, shard: int) -> Note:
    plan: Note = {
        "format": format,
        "size": len(dataset),
        "window": [dataset.window.start, dataset.window.stop, dataset.window.step],
        "seed": dataset.seed,
        "split": dataset.split,
        "language": dataset.language,
        "pixels": dataset.pixels,
        "skins": {game: list(skins) for game, skins in sorted(dataset.skins.items())},
        "cells": [list(cell) for cell in dataset.cells],
        "shard": shard,
        "generator_version": VERSION,
    }
    return plan | ({"skins_in_turn": True} if dataset.skins_in_turn else {})


def _write_shards(dataset: Dataset, folder: Path, plan: Note, jobs: int, progress: Progress) -> int:
    """Write the shards that are not there yet; the number of samples that were."""
    shard = plan["shard"]
    resumed = 0
    waiting = []
    for piece, places in _shards(dataset, shard):
        count = min(shard, len(dataset) - piece.start)
        if _part(folder, piece).exists():
            resumed += count
            progress(count)
        else:
            waiting.append((piece, places, count))
    if jobs == 1 or len(waiting) < 2:
        for piece, places, count in waiting:
            _write_shard(dataset[piece.start : piece.start + count], folder, plan, piece, places, progress)
        return resumed
    workers = min(jobs, len(waiting))
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin_work, (folder / ".parts",)) as pool:
        futures = {
            pool.submit(_write_shard, dataset[piece.start : piece.start + count], folder, plan, piece, places): count
            for piece, places, count in waiting
        }
        try:
            for future in as_completed(futures):
                future.result()
                progress(futures[future])
        except BrokenProcessPool:
            raise BadInput("a worker process died (out of memory?); run the same command again to go on") from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return resumed


def _shards(dataset: Dataset, size: int) -> Iterator[tuple[Shard, dict[str, int]]]:
    """Each shard, with how often each category came before it."""
    total = -(-len(dataset) // size)
    categories = {task: plugin_of(task)[0].game.category for task, _ in dataset.cells}
    places: Counter[str] = Counter()
    for number in range(total):
        yield Shard(number, total, number * size, dataset.split), dict(places)
        for at in range(number * size, min(len(dataset), (number + 1) * size)):
            places[categories[dataset.task(at)]] += 1


def _write_shard(
    dataset: Dataset,
    folder: Path,
    plan: Note,
    shard: Shard,
    places: dict[str, int],
    progress: Progress | None = None,
) -> None:
    """Make one shard's samples, write them, and then the note that says so."""
    count: Counter[str] = Counter(places)
    items, hashes, dropped = [], [], Counter[str]()
    wanted = plan.get("negatives", 0)
    for offset, sample in enumerate(dataset):
        category = sample.plugin.game.category
        wrong = tuple(negatives_of(sample, wanted)) if wanted else None
        items.append(Item(sample, shard.start + offset, count[category], wrong))
        count[category] += 1
        hashes.append([sample.id, _pixels(sample.original_picture), _pixels(sample.edited_picture)])
        dropped.update(sample.drops)
        sample.row()
        sample.forget_pictures()
        if progress:
            progress(1)
    notes = format_named(plan["format"]).write(folder, shard, items)
    kept = Counter(item.sample.key.task for item in items)
    write_json(_part(folder, shard), {"rows": notes, "hashes": hashes, "kept": kept, "dropped": dropped})


def _finish(folder: Path, format: str, plan: Note, size: int, shard: int) -> Note:
    total = -(-size // shard)
    parts = [
        orjson.loads(_part(folder, Shard(number, total, 0, plan["split"])).read_bytes()) for number in range(total)
    ]
    kept: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for part in parts:
        kept.update(part["kept"])
        dropped.update(part["dropped"])
    about: Note = {
        "gamegen": __version__,
        "generator_version": VERSION,
        "plan": plan,
        "kept": dict(sorted(kept.items())),
        "dropped": dict(sorted(dropped.items())),
    }
    format_named(format).finish(folder, [row for part in parts for row in part["rows"]], about)
    with replacing(folder / "hashes.tsv") as stream:
        stream.write(b"id\toriginal\tedited\n")
        for part in parts:
            stream.writelines("\t".join(line).encode() + b"\n" for line in part["hashes"])
    write_json(folder / "manifest.json", about)
    shutil.rmtree(folder / ".parts")
    return about


def _part(folder: Path, shard: Shard) -> Path:
    return folder / ".parts" / f"{shard.number:05d}.json"


def _pixels(picture: Any) -> str:
    from renderers.png import pixel_hash

    return pixel_hash(picture.pixels, picture.palette)


def _begin_work(parts: Path) -> None:
    """Workers leave Ctrl-C to the parent and do not outlive it; while one lives, no other run begins to tidy up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    lock(parts, shared=True)
    parent = parent_process()
    assert parent is not None
    if not parent.is_alive():
        os._exit(1)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
