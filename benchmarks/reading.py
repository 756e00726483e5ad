"""How well are edited pictures read back? `python -m benchmarks.reading [--games …] [--count N]`

For each game and perturbation: how many right and wrong positions are read exactly, how many the reader abstains from,
and how many it misreads. Strengths are those of gamegen/perturb.py: moderate, and full.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import orjson
from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.core.key import LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.registry import games, plugin
from gamegen.sample import Sample, make_sample

STRENGTHS = ("moderate", "full")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", default=",".join(games()))
    parser.add_argument("--perturbations", default=",".join(["none", *PERTURBATIONS]))
    parser.add_argument("--count", type=int, default=40, help="pictures per game, perturbation and strength")
    parser.add_argument("--pixels", type=int, default=512)
    parser.add_argument("--pairs", action="store_true", help="also every perturbation followed by another one")
    parser.add_argument("--verbose", action="store_true", help="name every picture that was not read exactly")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for game in args.games.split(","):
        for names in _combinations(args.perturbations.split(","), args.pairs):
            for strength in STRENGTHS if names != ("none",) else ("moderate",):
                row = measure(game, names, strength, args.count, args.pixels, verbose=args.verbose)
                rows.append(row)
                if not args.json:
                    _print(row)
    if args.json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())


def measure(
    game: str, names: tuple[str, ...], strength: str, count: int, pixels: int, *, verbose: bool
) -> dict[str, object]:
    seen: Counter[str] = Counter()
    spent = 0.0
    for sample, position, rng in _pictures(game, count, pixels):
        image = sample.plugin.renderer.render(position, sample.style).image()
        for name in names:
            if name != "none":
                image = PERTURBATIONS[name](image, MODERATE[name] if strength == "moderate" else 1.0, rng)
        started = time.process_time()
        result = _outcome(sample, position, image)
        spent += time.process_time() - started
        seen[result.partition(":")[0]] += 1
        if verbose and result != "exact":
            print(f"  {'+'.join(names)} {strength} {sample.id} {sample.style.skin}: {result}", file=sys.stderr)
    return {
        "game": game,
        "perturbation": "+".join(names),
        "strength": strength,
        "count": count,
        "exact": seen["exact"] / count,
        "abstained": seen["abstained"] / count,
        "stained": seen["stained"] / count,
        "misread": seen["misread"] / count,
        "ms": 1000 * spent / count,
    }


def _pictures(game: str, count: int, pixels: int) -> Iterator[tuple[Sample, object, Stream]]:
    """Golds and one-cell mutations in turn, over all tasks, levels and skins."""
    found = plugin(game)
    for number in range(count):
        task = found.game.tasks[number % len(found.game.tasks)]
        level = LEVELS[(number // len(found.game.tasks)) % len(LEVELS)]
        sample = make_sample(Key(f"{game}/{task.kind}", level=level, seed=11, index=number, pixels=pixels))
        rng = sample.key.stream("reading")
        after = sample.solution.after
        yield sample, after if number % 2 == 0 else found.game.mutate(after, rng), rng


def _outcome(sample: Sample, position: object, image: Image.Image) -> str:
    try:
        reading = sample.plugin.renderer.read(np.asarray(image), sample.problem, sample.style)
    except UnreadableImage as error:
        return f"abstained: {error}"
    if reading.stain:
        return f"stained: {reading.stain}"
    return "exact" if reading.position == position else f"misread: {reading.position} instead of {position}"


def _combinations(names: list[str], pairs: bool) -> Iterator[tuple[str, ...]]:
    for first in names:
        yield (first,)
    if pairs:
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                if "none" not in (first, second):
                    yield first, second


def _print(row: dict[str, object]) -> None:
    print(
        f"{row['game']:<15} {row['perturbation']:<20} {row['strength']:<8} exact {row['exact']:7.2%}"
        f"  abstained {row['abstained']:7.2%}  stained {row['stained']:7.2%}  misread {row['misread']:7.2%}"
        f"  {row['ms']:6.1f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
