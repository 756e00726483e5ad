"""How fast the exact judge is, on one core.

    python -m benchmarks.verify [--games all] [--pixels 512,1024] [--count 60] [--rounds 3] [--json] [--write PAGE]

`count` pictures a game and size: right answers and one-cell mutations of them, each as drawn, through JPEG (q80), and
moved by a pixel or two; six pictures a row, the rows over all tasks, levels and skins. In milliseconds of processor
time, for pictures that are already decoded (PIL images): mean, median and 99th percentile. `first` is the mean for the
first picture of a row, whose look (tiles, page, colours) is not yet kept; the others find it kept, as all but the first
of a group of rollouts do. `bytes` is the mean from PNG bytes, decoding included. `painted` is the mean for right
answers that another hand drew (gamegen/painters), three a row: what is not as we draw it is looked at more closely.

All libraries run on one thread, as in gamegen's own worker processes. Rounds are repeated and each picture's best
counts: other programs on the machine matter little.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import numpy as np
import orjson
from PIL import Image

from gamegen import __version__, verify
from gamegen.core.key import LEVELS, Key
from gamegen.core.tables import fill, table
from gamegen.images import Source
from gamegen.painters import paint, right_answer
from gamegen.perturb import PERTURBATIONS
from gamegen.registry import games, plugin
from gamegen.sample import Sample, make_sample
from gamegen.workers import in_parallel

SEED = 23
MEAN_TARGET, P99_TARGET = 10.0, 30.0
"""Milliseconds allowed at TARGET_PIXELS."""

TARGET_PIXELS = 512
COLUMNS = ("mean", "p50", "p99", "first", "bytes", "painted")
HANDS = 3
"""Painted answers a row."""

WAYS = {"none": 0.0, "jpeg": 15 / 65, "shift": 0.25}
"""What editors do besides the edit, and how strongly: JPEG q80, and 2 px of 512."""


@dataclass(slots=True)
class Timing:
    """Seconds of one game at one size, by picture: the best of all rounds."""

    game: str
    pixels: int
    first: list[float] = field(default_factory=list)
    decoded: list[float] = field(default_factory=list)
    encoded: list[float] = field(default_factory=list)
    painted: list[float] = field(default_factory=list)

    def as_row(self) -> dict[str, object]:
        times = 1000 * np.array(self.decoded)
        mean, p50, p99 = float(times.mean()), float(np.median(times)), float(np.percentile(times, 99))
        return {
            "game": self.game,
            "pixels": self.pixels,
            "pictures": len(times),
            "images_per_second": round(1000 / mean, 1),
            "mean_ms": round(mean, 2),
            "p50_ms": round(p50, 2),
            "p99_ms": round(p99, 2),
            "first_ms": round(1000 * float(np.mean(self.first)), 2),
            "bytes_ms": round(1000 * float(np.mean(self.encoded)), 2),
            "painted_ms": round(1000 * float(np.mean(self.painted)), 2),
            "met": self.pixels > TARGET_PIXELS or (mean <= MEAN_TARGET and p99 <= P99_TARGET),
        }


def measure(piece: tuple[str, int, int, int]) -> Timing:
    """A game, a size, how many pictures, how many rounds."""
    game, pixels, count, rounds = piece
    timing = Timing(game, pixels)
    per_row = 2 * len(WAYS)
    for number in range(-(-count // per_row)):
        sample = _sample(game, number, pixels)
        row = sample.row()
        pictures = list(_pictures(sample))
        timing.first.append(_seconds(row, pictures[number % per_row]))
        data = [_png(picture) for picture in pictures]
        timing.decoded += [min(_seconds(row, picture) for _ in range(rounds)) for picture in pictures]
        timing.encoded += [min(_seconds(row, each) for _ in range(rounds)) for each in data]
        timing.painted += [min(_seconds(row, each) for _ in range(rounds)) for each in _painted(sample)]
    return timing


def _sample(game: str, number: int, pixels: int) -> Sample:
    tasks = plugin(game).game.tasks
    level = LEVELS[number % len(LEVELS)]
    return make_sample(
        Key(f"{game}/{tasks[number % len(tasks)].kind}", level=level, seed=SEED, index=number, pixels=pixels)
    )


def _pictures(sample: Sample) -> Iterator[Image.Image]:
    """The right answer and a wrong one, in all ways."""
    rng = sample.key.stream("verify")
    found = sample.plugin
    for position in (sample.solution.after, found.game.mutate(sample.solution.after, rng)):
        clean = found.renderer.render(position, sample.style).image()
        for name, strength in WAYS.items():
            yield PERTURBATIONS[name](clean, strength, rng) if strength else clean


def _painted(sample: Sample) -> Iterator[Image.Image]:
    """Right answers by other hands."""
    for number in range(HANDS):
        rng = sample.key.stream(f"verify {number}")
        image = paint(sample, right_answer(sample, rng), rng)
        if image is not None:
            yield image


def _seconds(row: dict[str, object], picture: Source) -> float:
    started = process_time()
    verify(row, picture)
    return process_time() - started


def _png(picture: Image.Image) -> bytes:
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


def main() -> int:
    """Prints the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default="all", help="games with commas (default: all)")
    parser.add_argument("--pixels", default="512,1024", help="sizes with commas (default: 512,1024)")
    parser.add_argument("--count", type=int, default=60, help="pictures a game and size")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page, at its speed markers")
    args = parser.parse_args()
    rows = []
    if not args.json:
        print(
            f"{'game':<15} pixels  images/s    mean     p50     p99   first   bytes painted  (ms)  target", flush=True
        )
    names = games() if args.games == "all" else args.games.split(",")
    pieces = [(game, int(pixels), args.count, args.rounds) for pixels in args.pixels.split(",") for game in names]
    for _, timing in in_parallel(measure, pieces, jobs=1):
        rows.append(timing.as_row())
        if not args.json:
            _print(rows[-1])
    if args.json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    if args.write is not None:
        fill(args.write, "speed", _page(rows, args))
    return 0 if all(row["met"] for row in rows) else 1


def _page(rows: list[dict[str, object]], args: argparse.Namespace) -> str:
    lines = [
        [row["game"], row["pixels"], row["images_per_second"], *(row[f"{name}_ms"] for name in COLUMNS)] for row in rows
    ]
    intro = (
        f"{datetime.now(UTC):%Y-%m-%d}, gamegen {__version__}, {args.count} pictures a game and size, one thread of a"
        f" shared machine, best of {args.rounds} rounds. In milliseconds of processor time but for the third column."
    )
    return intro + "\n\n" + table(["game", "pixels", "pictures/s", *COLUMNS], lines)


def _print(row: dict[str, object]) -> None:
    times = "".join(f"{row[f'{name}_ms']:8.2f}" for name in COLUMNS)
    print(
        f"{row['game']:<15} {row['pixels']:>6}  {row['images_per_second']:>8}{times}        "
        + ("met" if row["met"] else "missed"),
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
