"""How well are edited pictures read back? `python -m benchmarks.reading [--games …] [--count N] [--write PAGE]`

For each game and perturbation: how many positions, right and wrong ones in turn, are read exactly, how many the reader
abstains from, and how many it misreads. A right answer that is read but called stained counts as abstained: the judge
would refuse it. `painted` are right answers drawn by hand (gamegen/painters). Strengths are of gamegen/perturb.py:
moderate, and full. With `--pairs` every perturbation follows every other one. With `--journal FILE` a run that was
killed goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from gamegen import __version__
from gamegen.core.errors import UnreadableImage
from gamegen.core.key import LEVELS, Key
from gamegen.core.stream import Stream
from gamegen.core.tables import fill, table
from gamegen.images import load_rgb
from gamegen.journal import journal
from gamegen.judge import look
from gamegen.painters import paint, right_answer
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.registry import games, plugin
from gamegen.sample import Sample, make_sample
from gamegen.workers import in_parallel

NONE, PAINTED = "none", "painted"
STRENGTHS = ("moderate", "full")
OUTCOMES = ("exact", "abstained", "misread")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the table: a game under a perturbation, or two in a row."""

    game: str
    names: tuple[str, ...]
    strength: str
    first: int = 0  # the number of its first sample


@dataclass(frozen=True, slots=True)
class Row:
    game: str
    perturbation: str
    strength: str
    exact: int
    abstained: int
    misread: int
    faults: tuple[str, ...]  # one line for every picture that was not read exactly


def main() -> None:
    args = _arguments()
    strengths = args.strengths.split(",")
    cells = [
        Cell(game, names, strength, place * args.count if args.pairs else 0)  # few of each pair: then of other samples
        for game in args.games.split(",")
        for place, names in enumerate(_combinations(args.perturbations.split(","), pairs=args.pairs))
        for strength in (strengths if names != (NONE,) else strengths[:1])
    ]
    rows = _measure(cells, args)
    if args.json:
        print(orjson.dumps([asdict(row) for row in rows], option=orjson.OPT_INDENT_2).decode())
    if args.write:
        page = _pairs_page if args.pairs else _page
        fill(args.write, "pairs" if args.pairs else "reading", page(rows, args.count, args.pixels, args.seed))


def _measure(cells: list[Cell], args: argparse.Namespace) -> list[Row]:
    """One row for each cell, in their order; those that the journal has are not measured again."""
    measure = partial(measured, count=args.count, pixels=args.pixels, seed=args.seed)
    plan = {name: getattr(args, name) for name in ("count", "pixels", "seed", "games", "perturbations", "pairs")}
    with journal(args.journal, {"command": "reading", "gamegen": __version__, **plan}) as kept:
        waiting = [cell for cell in cells if _name(cell) not in kept.done]
        for cell, row in in_parallel(measure, waiting, args.jobs):
            kept.add(_name(cell), asdict(row))
            if not args.json:
                _print(row, verbose=args.verbose)
        return [Row(**kept.done[_name(cell)]) for cell in cells]


def _name(cell: Cell) -> str:
    return f"{cell.game} {'+'.join(cell.names)} {cell.strength}"


def measured(cell: Cell, *, count: int, pixels: int, seed: int) -> Row:
    seen: Counter[str] = Counter()
    faults = []
    for sample, position, image, rng in _pictures(cell, count, pixels, seed):
        for name in cell.names:
            if name in PERTURBATIONS:
                strength = MODERATE[name] if cell.strength == "moderate" else 1.0
                image = PERTURBATIONS[name](Image.fromarray(load_rgb(image, ground=sample.style.page)), strength, rng)
        outcome, what = _outcome(sample, position, image)
        seen[outcome] += 1
        if outcome != "exact":
            faults.append(f"{sample.id} {sample.style.skin}: {outcome}: {what}")
    exact, abstained, misread = (seen[outcome] for outcome in OUTCOMES)
    return Row(cell.game, "+".join(cell.names), cell.strength, exact, abstained, misread, tuple(faults))


def _pictures(cell: Cell, count: int, pixels: int, seed: int) -> Iterator[tuple[Sample, Any, Image.Image, Stream]]:
    """Golds and one-cell mutations in turn, or painted right answers, over all tasks, levels and skins."""
    found = plugin(cell.game)
    tasks = found.game.tasks
    number, made = cell.first, 0
    while made < count:
        turn, place = divmod(number, len(tasks))
        task, level = tasks[place], LEVELS[turn % len(LEVELS)]
        sample = make_sample(Key(f"{cell.game}/{task.kind}", level=level, seed=seed, index=number, pixels=pixels))
        rng = sample.key.stream("reading")
        position, number = sample.solution.after, number + 1
        if PAINTED in cell.names:
            position = right_answer(sample, rng)
            image = paint(sample, position, rng, strength=0.5 if cell.strength == "moderate" else 1.0)
            if image is None:
                continue
        else:
            position = found.game.mutate(position, rng) if turn % 2 else position
            image = sample.plugin.renderer.render(position, sample.style).image()
        made += 1
        yield sample, position, image, rng


def _outcome(sample: Sample, position: Any, image: Image.Image) -> tuple[str, str]:
    try:
        reading = look(sample.plugin, sample.problem, sample.style, image)
        is_exact = reading.position == position
        right = is_exact and sample.plugin.solver.check(sample.problem, position).correct
        stain = reading.stain if right or not is_exact else ""
    except UnreadableImage as error:
        return "abstained", str(error)
    if stain:
        return "abstained", f"stain on {stain}"
    return ("exact", "") if is_exact else ("misread", _difference(reading, position))


def _difference(reading: Any, position: Any) -> str:
    """The first lines of both texts that differ."""
    pairs = zip(str(reading.position).splitlines(), str(position).splitlines(), strict=False)
    return next((f"{one!r} instead of {other!r}" for one, other in pairs if one != other), "another size")


def _combinations(names: list[str], *, pairs: bool) -> Iterator[tuple[str, ...]]:
    if not pairs:
        yield from ((name,) for name in names)
        return
    for first, second in permutations((name for name in names if name != NONE), 2):
        if second != PAINTED:  # a picture is painted first
            yield first, second


def _page(rows: list[Row], count: int, pixels: int, seed: int) -> str:
    """The figures as Markdown: one line a perturbation and strength, one column a game."""
    named = sorted({row.game for row in rows})
    lines = []
    for name, strength in dict.fromkeys((row.perturbation, row.strength) for row in rows):
        cells = {row.game: row for row in rows if (row.perturbation, row.strength) == (name, strength)}
        lines.append([name, strength, *(_figures(cells.get(game)) for game in named)])
    explained = " A cell says exact / abstained / misread in percent; a dash means that all were exact."
    text = _intro(rows, count, pixels, seed) + explained + f" {_by_strength(rows)}."
    return text + "\n\n" + table(["perturbation", "strength", *named], lines)


def _by_strength(rows: list[Row]) -> str:
    """The share of pictures read exactly: "Moderate: 99.9 % exact; full: 95 % exact"."""
    parts = []
    for strength in dict.fromkeys(row.strength for row in rows):
        exact, *others = (sum(getattr(row, name) for row in rows if row.strength == strength) for name in OUTCOMES)
        parts.append(f"{strength}: {100 * exact / (exact + sum(others)):.4g} % exact")
    return "; ".join(parts).capitalize()


def _pairs_page(rows: list[Row], count: int, pixels: int, seed: int) -> str:
    """Two perturbations in a row: a square table for each strength, all games together."""
    text = _intro(rows, count, pixels, seed) + (
        " The line is what was done first, the column what was done then; a cell says how many of all games' pictures"
        " were abstained from / misread, and nothing where all were exact."
    )
    for strength in dict.fromkeys(row.strength for row in rows):
        pairs: dict[tuple[str, ...], Counter[str]] = {}
        for row in (row for row in rows if row.strength == strength):
            seen = pairs.setdefault(tuple(row.perturbation.split("+")), Counter())
            seen.update({outcome: getattr(row, outcome) for outcome in OUTCOMES})
        whole = sum(pairs.values(), Counter())
        text += (
            f"\n\n**{strength}**: {whole.total():,} pictures, {whole['abstained']:,} abstained from,"
            f" {whole['misread']:,} misread.\n\n" + _square(pairs)
        )
    return text


def _square(pairs: dict[tuple[str, ...], Counter[str]]) -> str:
    firsts, seconds = (list(dict.fromkeys(pair[place] for pair in pairs)) for place in (0, 1))
    seconds.sort(key=list(PERTURBATIONS).index)
    each = max(seen.total() for seen in pairs.values())
    lines = [[first, *(_pair(pairs.get((first, second))) for second in seconds)] for first in firsts]
    return table([f"of {each}", *seconds], lines)


def _pair(seen: Counter[str] | None) -> str:
    if seen is None or not (seen["abstained"] or seen["misread"]):
        return ""
    return f"{seen['abstained']} / {seen['misread']}"


def _intro(rows: list[Row], count: int, pixels: int, seed: int) -> str:
    total = [sum(getattr(row, outcome) for row in rows) for outcome in OUTCOMES]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, gamegen {__version__}, {count} pictures of {pixels} px a game and perturbation,"
        f" seed {seed}: {sum(total)} in all, {total[0]} exact, {total[1]} abstained, {total[2]} misread."
    )


def _figures(row: Row | None) -> str:
    if row is None:
        return ""
    shown = [getattr(row, outcome) for outcome in OUTCOMES]
    if not any(shown[1:]):
        return "-"
    return " / ".join(f"{100 * number / sum(shown):.4g}" for number in shown)


def _print(row: Row, *, verbose: bool) -> None:
    print(
        f"{row.game:<15} {row.perturbation:<22} {row.strength:<8} exact {row.exact:>5}"
        f"  abstained {row.abstained:>4}  misread {row.misread:>4}",
        flush=True,
    )
    if verbose:
        for fault in row.faults:
            print(f"  {row.perturbation} {row.strength} {fault}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", default=",".join(games()))
    parser.add_argument("--perturbations", default=",".join([NONE, PAINTED, *PERTURBATIONS]))
    parser.add_argument("--strengths", default=",".join(STRENGTHS))
    parser.add_argument("--count", type=int, default=40, help="pictures per game, perturbation and strength")
    parser.add_argument("--pixels", type=int, default=512)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--pairs", action="store_true", help="every perturbation followed by every other one, instead")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--journal", type=Path, help="keep finished work in this JSONL file, and skip what it has")
    parser.add_argument("--verbose", action="store_true", help="name every picture that was not read exactly")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help="a Markdown page to fill between its markers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
