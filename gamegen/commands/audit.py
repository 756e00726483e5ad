"""Try to fool the judge; exit 1 if it works. Or check every row of a dataset.

gamegen audit maze,sudoku --count 2000     attacks on games: mutations, collages, overlays, other answers…
gamegen audit --all --write docs/JUDGE.md  the same for every game, and the table into that page
gamegen audit --all --count 100000 --pixels 256 --journal audit.jsonl  for hours: killed, the same command goes on,
                                           and takes over what that journal has of single games or smaller counts
gamegen audit FOLDER                       each row rebuilds from its id, its answer passes, cheap tricks do not
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamegen.audit import Tally
    from gamegen.journal import Journal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="?", default="all", metavar="TASKS|FOLDER", help="tasks, or a dataset's folder")
    parser.add_argument("--all", action="store_true", help="every game")
    parser.add_argument("--count", type=int, default=720, metavar="N", help="attacks per game (default 720)")
    parser.add_argument("--attacks", help="only these kinds, with commas (default: all but two that must be named)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one per core)")
    parser.add_argument("--pixels", type=int, default=512, help="side of the pictures (default 512)")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keep finished work in this JSONL file, and skip what it has"
    )
    parser.add_argument("--so-far", action="store_true", help="attack nothing: count only what the journal has")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page, between its markers")
    parser.add_argument("--marker", default="audit", metavar="NAME", help="which markers those are (default audit)")
    parser.add_argument("--date", help="when, for the line above that table (default: today)")


def run(args: argparse.Namespace) -> int:
    if not args.all and Path(args.target).is_dir():
        return _audit_folder(args)
    return _audit_games(args)


def _audit_games(args: argparse.Namespace) -> int:
    import orjson

    from gamegen.audit import total
    from gamegen.core.tables import around, fill

    if args.write is not None:
        around(args.write, args.marker)
    results = _attack(args)
    failed = any(total(tallies).false_accepts or total(tallies).false_refusals for tallies in results.values())
    if args.write is not None:
        fill(args.write, args.marker, _page(results, args))
    if args.json:
        print(orjson.dumps({game: _figures(tallies) for game, tallies in results.items()}).decode())
    else:
        _print(results)
    return 1 if failed else 0


PIECE = 360
"""Attacks on one task that a worker makes in one go: every kind on a sample of each level."""

SEEDS = 1_000_000
"""Seeds of pieces that belong to one seed of the command."""

Piece = tuple[str, int, int, tuple[str, ...], int]
"""Task, number of attacks, seed, kinds of attacks, picture size."""


def _attack(args: argparse.Namespace) -> dict[str, dict[str, Tally]]:
    """The tallies by game and kind of attack."""
    from gamegen.audit import Tally, merge
    from gamegen.core.errors import BadInput
    from gamegen.journal import journal

    if args.count < 1:
        raise BadInput(f"--count must be at least 1, not {args.count}")
    pieces = _pieces(args)
    with journal(args.journal, _plan(args)) as kept:
        if args.so_far:
            pieces = [piece for piece in pieces if _name(piece) in kept.done]
        waiting = [piece for piece in pieces if _name(piece) not in kept.done]
        if waiting:
            _work(pieces, waiting, kept, args)
    if not pieces:
        raise BadInput(f"there is nothing of this audit in {args.journal or 'any journal: name one by --journal'}")
    results: dict[str, dict[str, Tally]] = {}
    for piece in pieces:
        game = piece[0].partition("/")[0]
        tallies = {name: Tally(**found) for name, found in kept.done[_name(piece)].items()}
        results[game] = merge(results[game], tallies) if game in results else tallies
    return results


def _work(pieces: list[Piece], waiting: list[Piece], kept: Journal, args: argparse.Namespace) -> None:
    """Do what waits, note each piece, and show how many failed so far."""
    import os
    import sys

    from tqdm import tqdm

    from gamegen.workers import in_parallel

    bar = tqdm(total=sum(piece[1] for piece in pieces), unit=" attacks", disable=args.json or not sys.stderr.isatty())
    failed = [0, 0]

    def count(piece: Piece) -> None:
        for tally in kept.done[_name(piece)].values():
            failed[0] += len(tally["false_accepts"])
            failed[1] += len(tally["false_refusals"])
        bar.set_postfix_str(f"fooled {failed[0]}, blind {failed[1]}", refresh=False)
        bar.update(piece[1])

    for piece in set(pieces).difference(waiting):
        count(piece)
    for piece, tallies in in_parallel(_piece, waiting, args.jobs or os.cpu_count() or 1):
        kept.add(_name(piece), tallies)
        count(piece)
    bar.close()


def _pieces(args: argparse.Namespace) -> list[Piece]:
    """The work, game by game: every task in turn, each piece with a seed of its own. More attacks are more pieces, of
    which a journal may have the first."""
    from gamegen.registry import select

    games: dict[str, list[str]] = {}
    for task in select("all" if args.all else args.target):
        games.setdefault(task.partition("/")[0], []).append(task)
    pieces = []
    for tasks in games.values():
        whole, rest = divmod(-(-args.count // len(tasks)), PIECE)
        laps = [PIECE] * whole + [rest] * (rest > 0)
        pieces += [
            (task, each, args.seed * SEEDS + lap, _kinds(args), args.pixels)
            for lap, each in enumerate(laps)
            for task in tasks
        ]
    return pieces


def _plan(args: argparse.Namespace) -> dict[str, Any]:
    """What two runs must share to share a journal; their games may differ, see `_name`."""
    from gamegen import __version__
    from gamegen.adversary import USUAL, WEIGHTS
    from gamegen.core.key import VERSION

    return {
        "command": "audit",
        "gamegen": __version__,
        "generator_version": VERSION,
        "seed": args.seed,
        "pixels": args.pixels,
        "attacks": {name: WEIGHTS.get(name) for name in _kinds(args) or USUAL},
    }


def _kinds(args: argparse.Namespace) -> tuple[str, ...]:
    return tuple(filter(None, (args.attacks or "").split(",")))


def _name(piece: Piece) -> str:
    return f"{piece[0]} seed {piece[2]}, {piece[1]} attacks"


def _piece(piece: Piece) -> dict[str, Any]:
    from dataclasses import asdict

    from gamegen.audit import audit_task

    task, count, seed, kinds, pixels = piece
    return {
        name: asdict(tally) for name, tally in audit_task(task, count, seed=seed, kinds=kinds, pixels=pixels).items()
    }


def _figures(tallies: dict[str, Tally]) -> dict[str, Any]:
    from dataclasses import asdict

    from gamegen.audit import total

    return {name: asdict(tally) for name, tally in tallies.items()} | {"all": asdict(total(tallies))}


def _page(results: dict[str, dict[str, Tally]], args: argparse.Namespace) -> str:
    """The table for a page: attempts by attack and game, and behind a stroke how many fooled the judge, if any did."""
    import datetime

    from gamegen import __version__
    from gamegen.adversary import WEIGHTS
    from gamegen.audit import total
    from gamegen.core.tables import table

    date = args.date or datetime.datetime.now(datetime.UTC).date().isoformat()
    names = list(next(iter(results.values())))
    rows: list[list[object]] = [
        [name, WEIGHTS[name], *(_cell(tallies[name]) for tallies in results.values())] for name in names
    ]
    sums = {game: total(tallies) for game, tallies in results.items()}
    rows.append(["**all**", sum(WEIGHTS[name] for name in names), *(_cell(tally) for tally in sums.values())])
    rows.append(["right by the rules", "", *(f"{tally.deserved:,}" for tally in sums.values())])
    rows.append(["of these refused", "", *(len(tally.false_refusals) for tally in sums.values())])
    whole = total(sums)
    intro = (
        f"gamegen {__version__}, {date}, seed {args.seed}, {args.pixels} px: {whole.attempts:,} attacks, of which"
        f" {len(whole.false_accepts)} fooled the judge. Where some did, their number stands behind a stroke."
        " The weight is how often an attack is made on one sample; where a sample does not lend itself to one, the"
        " others have its turn."
    )
    return intro + "\n\n" + table(["attack", "weight", *results], rows)


def _cell(tally: Tally) -> str:
    fooled = len(tally.false_accepts)
    return f"{tally.attempts:,}" + (f" / **{fooled}**" if fooled else "")


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
