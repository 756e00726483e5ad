"""Measure a judge: have a seeing model judge edits whose worth the rules know, and count where it errs.

gamegen calibrate --judge NAME --out DIR --dry-run     calls and tokens that it would take
gamegen calibrate --judge NAME --out DIR               key and address: OPENAI_API_KEY, OPENAI_BASE_URL

Every sample gives right answers (its own, another one, a compressed or shifted one) and wrong ones (named errors, the
untouched picture, a smear, a blank). False accepts and false refusals are counted by question and threshold, by
category and by kind of edit. Writes calibration.json, edits.jsonl and the pictures into DIR; stopped, it goes on from
its cache.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamegen.dataset import Dataset
    from scoring.dual import Dual


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", required=True, metavar="NAME|DIR", help="a snapshot, or a folder to load it from")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint (default: OPENAI_BASE_URL)")
    parser.add_argument("--tasks", help="tasks or games with commas (default: the paper's nine games)")
    parser.add_argument("--count", type=int, default=90, metavar="N", help="samples, even over categories (default 90)")
    parser.add_argument("--levels", default="1,2,3,4,5", help="levels with commas (default: all five)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pixels", type=int, default=512, help="side of the pictures, 256 to 1024 (default 512)")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at a time (default 8)")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for a reply (default 120)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="replies, as of gamegen score (default: in DIR)")
    parser.add_argument("--dry-run", action="store_true", help="say what the judge would be asked, and stop")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace) -> int:
    from edit_models.vlm.named import open_model
    from scoring.cache import ReplyCache
    from scoring.dual import Dual

    judge = open_model(
        args.judge,
        base_url=args.base_url,
        concurrency=args.concurrency,
        timeout=args.timeout,
        counting=args.dry_run,
    )
    dataset = _samples(args)
    known = args.cache or args.out / "judge.sqlite"
    with ReplyCache(None if args.dry_run and not known.exists() else known) as cache:
        return _dry_run(dataset, Dual(judge, cache)) if args.dry_run else _measure(args, dataset, Dual(judge, cache))


def _samples(args: argparse.Namespace) -> Dataset:
    from gamegen.core.errors import BadInput
    from gamegen.core.key import Key
    from gamegen.presets import balanced_dataset, preset_named
    from gamegen.registry import select

    if args.count < 1:
        raise BadInput(f"--count must be at least 1, not {args.count}")
    try:
        levels = tuple(int(level) for level in args.levels.split(","))
    except ValueError:
        raise BadInput(f"levels must be numbers with commas, not {args.levels!r}") from None
    tasks = select(args.tasks) if args.tasks else preset_named("bench").tasks()
    for level in levels:
        Key(tasks[0], level=level, pixels=args.pixels)
    return balanced_dataset(tasks, size=args.count, levels=levels, split="test", seed=args.seed, pixels=args.pixels)


def _dry_run(dataset: Dataset, dual: Dual) -> int:
    from tempfile import TemporaryDirectory

    from scoring.calibrate import lay_out
    from scoring.forecast import forecast

    with TemporaryDirectory() as folder:
        made, _ = lay_out(dataset, Path(folder))
        print(forecast((stored for _, stored in made), Path(folder), dual))
    return 0


def _measure(args: argparse.Namespace, dataset: Dataset, dual: Dual) -> int:
    import asyncio
    import sys

    import orjson
    from tqdm import tqdm

    from gamegen.writing.format import replacing
    from scoring.calibrate import agreement, lay_out, trials
    from scoring.forecast import forecast
    from scoring.judges import judge_json

    hidden = args.json or not sys.stderr.isatty()
    with tqdm(dataset, desc="edits", unit=" samples", disable=hidden) as samples:
        made, unused = lay_out(samples, args.out / "edits")
    print(forecast((stored for _, stored in made), args.out / "edits", dual), file=sys.stderr)
    with tqdm(total=len(made), desc="judged", unit=" edits", disable=hidden) as bar:
        records = asyncio.run(_judged(dual, [stored for _, stored in made], args.out / "edits", bar))
    found = trials(made, records)
    numbers = {"judge": judge_json(dual.judge, passes=1), "samples": len(dataset), "unused": unused} | agreement(found)
    with replacing(args.out / "edits.jsonl") as stream:
        stream.writelines(orjson.dumps(trial.as_json()) + b"\n" for trial in found)
    with replacing(args.out / "calibration.json") as stream:
        stream.write(orjson.dumps(numbers, option=orjson.OPT_INDENT_2) + b"\n")
    if args.json:
        print(orjson.dumps(numbers, option=orjson.OPT_INDENT_2).decode())
    else:
        _print(numbers)
        print(f"written to {args.out}")
    return 0


async def _judged(dual: Dual, rows: list[Any], folder: Path, bar: Any) -> list[dict[str, Any]]:
    try:
        return await dual.judge_all(rows, folder, lambda: bar.update(1))
    finally:
        await dual.judge.close()


def _print(numbers: dict[str, Any]) -> None:
    from scoring.prompts import QUESTIONS

    print(
        f"{numbers['judge']['model']}: {numbers['edits']} edits of {numbers['samples']} samples, {numbers['right']} of"
        f" them right; {numbers['unused']} more not confirmed by the rules and not used;"
        f" {numbers['judge_failures']} judge failures"
    )
    head = f"{'accepted at':<12}  {'false accepts':>24}  {'false refusals':>24}  {'agreement':>10}"
    print(f"\n{'question':<22}  {head}")
    for question, each in numbers["questions"].items():
        for threshold, at in each["at"].items():
            sign = "three fives" if question == "accuracy" else f"{threshold}{' or more' if threshold != '5' else ''}"
            best = " < errs least" if str(each["best"]) == threshold else ""
            print(f"{question.replace('_', ' '):<22}  {sign:<12}  {_line(at)}{best}")
    print(f"\n{'instruction following':<22}  {head}")
    for name, questions in numbers["by_category"].items():
        print(f"{name:<22}  {'5':<12}  {_line(questions['instruction_following']['at']['5'])}")
    columns = "  ".join(f"{question.replace('_', ' '):>21}" for question in QUESTIONS)
    print(f"\n{'kind of edit':<22}  edits  {columns}   (share of fives, mean score)")
    for kind, each in numbers["by_kind"].items():
        cells = "  ".join(f"{_share(each['five'][name]):>14} {_number(each['mean'][name]):>6}" for name in QUESTIONS)
        print(f"{kind:<22}  {each['edits']:>5}  {cells}")


def _line(at: dict[str, Any]) -> str:
    agreed = _share(at["agreement"])
    return f"{_rate(at['false_accepts']):>24}  {_rate(at['false_refusals']):>24}  {agreed:>10}"


def _rate(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "nothing to measure"
    low, high = rate["interval"]
    return f"{rate['rate']:.1%} [{low:.1%}, {high:.1%}]"


def _share(rate: dict[str, Any]) -> str:
    return "-" if rate["rate"] is None else f"{rate['rate']:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
