"""How fast samples are made on one core, and where the time goes.

    python -m benchmarks.generate [--tasks all] [--level 3] [--seconds-per-task 1.5] [--json]

Per sample, in milliseconds: `solve` makes the problem and its answer, `draw` makes the look, two pictures and the mask,
`png` packs them, `text` says everything, `row` puts the row together, hashes its pixels and writes it as Parquet.
`floor` is the same two palette pictures through our encoder alone; `Pillow` is the yardstick that every user knows: the
same two pictures, already RGB, saved as PNG with Pillow's default settings.

No sample is made twice. Time is the processor time of this process, tasks take turns in short rounds, and the best
round counts: other programs on the machine matter little. Looks that were drawn before are kept, as in any long run.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from time import process_time
from typing import Any

from gamegen import Key, Sample, make_sample
from gamegen.registry import select
from gamegen.writing.format import Item, Shard
from gamegen.writing.parquet import ParquetFormat
from gamegen.writing.run import SHARD
from renderers.png import encode_indexed, encode_mask, pixel_hash

ROUNDS = 10
TRIAL = 8
FLOOR_TARGET = 5.0
FLOOR_GAMES = {"tictactoe": 5, "maze": 3}
"""Games that must stay within FLOOR_TARGET times the floor, and up to which level (mazes: up to 21 x 21)."""

PHASES = ("solve", "draw", "png", "text", "row")


@dataclass(slots=True)
class Timing:
    """One task's best round, in seconds a sample."""

    task: str
    level: int
    made: int = 0
    best: dict[str, float] = field(default_factory=dict)
    kept: list[Sample] = field(default_factory=list)

    def note(self, name: str, seconds: float) -> None:
        self.best[name] = min(seconds, self.best.get(name, seconds))

    @property
    def total(self) -> float:
        return sum(self.best[phase] for phase in PHASES)

    @property
    def floor_ratio(self) -> float:
        return self.total / self.best["floor"]

    @property
    def pillow_ratio(self) -> float:
        return self.total / self.best["pillow"]

    def missed(self) -> list[str]:
        """The targets that this task misses."""
        found = [] if self.pillow_ratio < 1 else ["slower than Pillow"]
        if self.level <= FLOOR_GAMES.get(self.task.partition("/")[0], 0) and self.floor_ratio > FLOOR_TARGET:
            found.append(f"over {FLOOR_TARGET:g}x the floor")
        return found

    def as_row(self) -> dict[str, Any]:
        times = {f"{name}_ms": round(seconds * 1e3, 4) for name, seconds in self.best.items()}
        return {
            "task": self.task,
            "level": self.level,
            "samples": self.made,
            "samples_per_second": round(1 / self.total, 1),
            **times,
            "floor_ratio": round(self.floor_ratio, 2),
            "pillow_ratio": round(self.pillow_ratio, 3),
            "missed": self.missed(),
        }


def measure(tasks: tuple[str, ...], *, level: int, seconds: float) -> list[Timing]:
    """All tasks, in turns. Before anything counts, each draws looks for as long as it will be measured."""
    timings = [Timing(task, level) for task in tasks]
    batches = {}
    for timing in timings:
        _warm(timing, seconds)
        started = process_time()
        _round(timing, TRIAL)
        batches[timing.task] = max(TRIAL, int(seconds / ROUNDS / (process_time() - started) * TRIAL))
        timing.best.clear()
    for _ in range(ROUNDS):
        for timing in timings:
            _round(timing, batches[timing.task])
    for _ in range(ROUNDS // 2):
        for timing in timings:
            _write(timing)
    for timing in timings:
        timing.best["row"] += timing.best.pop("write")
    return timings


def _warm(timing: Timing, seconds: float) -> None:
    _solved(Key(timing.task, level=timing.level, seed=12))
    started = process_time()
    while process_time() - started < seconds:
        _ = make_sample(Key(timing.task, level=timing.level, seed=12, index=timing.made)).original_picture
        timing.made += 1


def _round(timing: Timing, count: int) -> None:
    """Make `count` new samples, each phase for all of them before the next."""
    first, timing.made = timing.made, timing.made + count
    keys = [Key(timing.task, level=timing.level, seed=11, index=first + place) for place in range(count)]
    samples: list[Sample] = []
    pack: dict[str, float] = {}

    def phase(name: str, work: Callable[[Any], object], items: list[Any]) -> None:
        started = process_time()
        for item in items:
            work(item)
        pack[name] = (process_time() - started) / count

    phase("solve", lambda key: samples.append(_solved(key)), keys)
    phase("draw", lambda sample: (sample.original_picture, sample.edited_picture, sample.mask), samples)
    phase("text", lambda sample: sample.texts, samples)
    phase("mask", lambda sample: sample.mask, samples)
    masks = [sample.mask for sample in samples]
    phase("mask png", encode_mask, masks)
    phase("floor", _encode, samples)
    phase("assembly", lambda sample: (sample.row(), _hash(sample)), samples)
    images = [(sample.original, sample.edited) for sample in samples]
    phase("pillow", _pillow, images)
    for name in ("solve", "draw", "text", "floor", "pillow"):
        timing.note(name, pack[name])
    timing.note("png", pack["floor"] + pack["mask png"])
    timing.note("row", max(0.0, pack["assembly"] - pack["floor"] - pack["mask png"] - pack["mask"]))
    for sample in samples:
        sample.forget_pictures()
    timing.kept = (timing.kept + samples)[-SHARD:]


def _solved(key: Key) -> Sample:
    sample = make_sample(key)
    _ = sample.solution
    return sample


def _encode(sample: Sample) -> None:
    for picture in (sample.original_picture, sample.edited_picture):
        encode_indexed(picture.pixels, picture.palette)


def _hash(sample: Sample) -> None:
    for picture in (sample.original_picture, sample.edited_picture):
        pixel_hash(picture.pixels, picture.palette)


def _pillow(images: tuple[Any, Any]) -> None:
    for image in images:
        image.save(io.BytesIO(), "PNG")


def _write(timing: Timing) -> None:
    """A full shard, as a run writes it."""
    items = [Item(sample, number, number) for number, sample in enumerate(islice(cycle(timing.kept), SHARD))]
    with tempfile.TemporaryDirectory() as folder:
        started = process_time()
        ParquetFormat().write(Path(folder), Shard(0, 1, 0, "train"), items)
        timing.note("write", (process_time() - started) / len(items))


def table(timings: list[Timing]) -> str:
    wide = max(len(timing.task) for timing in timings)
    head = f"{'task':<{wide}}  samples/s  ms each" + "".join(f"{phase:>8}" for phase in PHASES)
    lines = [head + "   floor  x floor  Pillow  x Pillow  targets"]
    for timing in timings:
        best = timing.best
        lines.append(
            f"{timing.task:<{wide}}  {1 / timing.total:>9.0f}  {timing.total * 1e3:>7.3f}"
            + "".join(f"{best[phase] * 1e3:>8.3f}" for phase in PHASES)
            + f"{best['floor'] * 1e3:>8.3f}  {timing.floor_ratio:>7.1f}{best['pillow'] * 1e3:>8.2f}"
            + f"  {timing.pillow_ratio:>8.3f}  {', '.join(timing.missed()) or 'met'}"
        )
    return "\n".join(lines)


def main() -> int:
    """Prints the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="all", help="tasks or games with commas (default: all)")
    parser.add_argument("--level", type=int, default=3, choices=range(1, 6))
    parser.add_argument("--seconds-per-task", type=float, default=1.5, metavar="S")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    args = parser.parse_args()
    timings = measure(select(args.tasks), level=args.level, seconds=args.seconds_per_task)
    print(json.dumps([timing.as_row() for timing in timings], indent=2) if args.json else table(timings))
    return 1 if any(timing.missed() for timing in timings) else 0


if __name__ == "__main__":
    sys.exit(main())
