"""Try to fool the judge; exit 1 if it works. Or check every row of a dataset.

gamegen audit maze,sudoku --count 2000     attacks on games: mutations, collages, overlays, other answers…
gamegen audit --all                        the same for every game
gamegen audit FOLDER                       each row rebuilds from its id, its answer passes, cheap tricks do not
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamegen.audit import Tally


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="?", default="all", metavar="TASKS|FOLDER", help="tasks, or a dataset's folder")
    parser.add_argument("--all", action="store_true", help="every game")
    parser.add_argument("--count", type=int, default=340, metavar="N", help="attacks per game (default 340)")
    parser.add_argument("--attacks", help="only these kinds, with commas (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one per core)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace) -> int:
    if not args.all and Path(args.target).is_dir():
        return _audit_folder(args)
    return _audit_games(args)


def _audit_games(args: argparse.Namespace) -> int:
    import os
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    import orjson

    from gamegen.audit import merge, total
    from gamegen.registry import select

    tasks = select("all" if args.all else args.target)
    kinds = tuple(filter(None, (args.attacks or "").split(",")))
    games: dict[str, list[str]] = {}
    for task in tasks:
        games.setdefault(task.partition("/")[0], []).append(task)
    pieces = [
        (task, -(-args.count // (len(each) * PARTS)), args.seed * PARTS + part, kinds)
        for each in games.values()
        for task in each
        for part in range(PARTS)
    ]
    results: dict[str, dict[str, Tally]] = {}
    with ProcessPoolExecutor(args.jobs or os.cpu_count() or 1, get_context("spawn")) as pool:
        for (task, *_), tallies in zip(pieces, pool.map(_piece, pieces), strict=True):
            game = task.partition("/")[0]
            results[game] = merge(results[game], tallies) if game in results else tallies
    failed = any(total(tallies).false_accepts or total(tallies).false_refusals for tallies in results.values())
    if args.json:
        print(orjson.dumps({game: _figures(tallies) for game, tallies in results.items()}).decode())
    else:
        _print(results)
    return 1 if failed else 0


PARTS = 4


def _piece(piece: tuple[str, int, int, tuple[str, ...]]) -> dict[str, Tally]:
    from gamegen.audit import audit_task

    task, count, seed, kinds = piece
    return audit_task(task, count, seed=seed, kinds=kinds)


def _figures(tallies: dict[str, Tally]) -> dict[str, Any]:
    from dataclasses import asdict

    from gamegen.audit import total

    return {name: asdict(tally) for name, tally in tallies.items()} | {"all": asdict(total(tallies))}


def _print(results: dict[str, dict[str, Tally]]) -> None:
    from gamegen.audit import total

    wide = max(len(game) for game in results)
    print(f"{'game':<{wide}}  attack                attempts  right  accepted  unreadable  fooled  blind")
    for game, tallies in results.items():
        for name, tally in {**tallies, "all": total(tallies)}.items():
            print(
                f"{game:<{wide}}  {name:<20}  {tally.attempts:>8}  {tally.deserved:>5}  {tally.accepted:>8}"
                f"  {tally.unreadable:>10}  {len(tally.false_accepts):>6}  {len(tally.false_refusals):>5}"
            )
            for line in (tally.false_accepts + tally.false_refusals)[:3] if name != "all" else ():
                print(f"{'':<{wide}}    {line}")


def _audit_folder(args: argparse.Namespace) -> int:
    import io
    import sys

    from PIL import Image
    from tqdm import tqdm

    from gamegen.audit import check_row
    from gamegen.stored import count_rows, read_dataset

    folder = Path(args.target)
    last = None
    wrong: dict[str, list[str]] = {}
    count = 0
    bar = tqdm(
        read_dataset(folder), total=count_rows(folder), unit=" rows", disable=args.json or not sys.stderr.isatty()
    )
    for stored in bar:
        found = check_row(stored.row, last)
        if found:
            wrong[str(stored.row["id"])] = found
        last = Image.open(io.BytesIO(stored.row["edited_image"])).convert("RGB")
        count += 1
    if args.json:
        import orjson

        print(orjson.dumps({"rows": count, "wrong": wrong}, option=orjson.OPT_INDENT_2).decode())
    else:
        for name, found in list(wrong.items())[:20]:
            print(f"{name}: {'; '.join(found)}")
        good = count - len(wrong)
        print(f"{count} rows: {good} rebuild, pass with their answer and refuse cheap tricks; {len(wrong)} do not")
    return 1 if wrong else 0
