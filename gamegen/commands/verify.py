"""Judge an editor's outputs by the rules: read every picture back into a position, no model needed.

gamegen verify DATASET OUTPUTS    all that an editor made of a dataset: pictures at OUTPUTS/CATEGORY/NUMBER.png (or
                                  .jpg, .webp), NUMBER counting the dataset's rows of that category from 0
gamegen verify ID PICTURE         one picture, by its sample's id
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamegen.stored import StoredRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET|ID", help="a folder that `gamegen make` wrote, or a sample's id")
    parser.add_argument("outputs", type=Path, metavar="OUTPUTS|PICTURE", help="the folder, or file, of what was edited")
    parser.add_argument("--out", type=Path, help="write every verdict into this JSONL file")
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one per core)")
    parser.add_argument("--json", action="store_true", help="print the table, or the verdict, as JSON")


def run(args: argparse.Namespace) -> int:
    import orjson

    from gamegen.core.errors import BadInput

    if "@" in args.dataset and not Path(args.dataset).exists():
        return _judge_one(args)
    args.dataset = Path(args.dataset)
    if not args.outputs.is_dir():
        raise BadInput(f"no such outputs folder: {args.outputs}")
    verdicts = _judge(args)
    if not any(verdict["found"] for verdict in verdicts):
        raise BadInput(
            f"{args.outputs} has no picture for any row of {args.dataset}; expected e.g. {_example(verdicts)}"
        )
    if args.out:
        from gamegen.writing.format import replacing

        with replacing(args.out) as stream:
            stream.writelines(orjson.dumps(verdict) + b"\n" for verdict in verdicts)
    table = _table(verdicts)
    if args.json:
        print(orjson.dumps(table, option=orjson.OPT_INDENT_2).decode())
    else:
        _print(table)
    return 0


def _judge_one(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    import orjson

    from gamegen.core.errors import BadInput
    from gamegen.judge import verify
    from gamegen.sample import make_sample

    if not args.outputs.is_file():
        raise BadInput(f"no such picture: {args.outputs}; for a folder of pictures, name the folder of their dataset")
    verdict = verify(make_sample(args.dataset), args.outputs)
    if args.json:
        print(orjson.dumps(asdict(verdict), option=orjson.OPT_INDENT_2).decode())
        return 0
    outcome = "correct" if verdict.correct else "wrong" if verdict.readable else "unreadable"
    print(f"{outcome}: {verdict.reason}")
    if verdict.readable:
        print(f"preserved {verdict.preserved:.1%}, quality {verdict.quality:.3f}, read as\n{verdict.position}")
    return 0


def _judge(args: argparse.Namespace) -> list[dict[str, Any]]:
    import os
    import sys
    from multiprocessing import get_context

    from tqdm import tqdm

    from gamegen.stored import count_rows, read_dataset
    from gamegen.workers import use_one_thread

    total = count_rows(args.dataset)
    jobs = args.jobs or (os.cpu_count() or 1)
    work = ((stored, args.outputs) for stored in read_dataset(args.dataset))
    bar = tqdm(total=total, unit=" pictures", disable=args.json or not sys.stderr.isatty())
    with bar:
        if jobs == 1 or total < 64:
            return [_advance(bar, _verdict(item)) for item in work]
        with get_context("spawn").Pool(jobs, use_one_thread) as pool:
            return [_advance(bar, verdict) for verdict in pool.imap(_verdict, work, chunksize=16)]


def _advance(bar: Any, verdict: dict[str, Any]) -> dict[str, Any]:
    bar.update(1)
    return verdict


def _verdict(item: tuple[StoredRow, Path]) -> dict[str, Any]:
    from dataclasses import asdict

    from gamegen.judge import verify

    stored, outputs = item
    path = stored.output(outputs)
    verdict = asdict(verify(stored.row, path))
    return {
        "id": stored.row.get("id"),
        "category": stored.category,
        "output": stored.output_name,
        "found": path is not None,
        **verdict,
    }


def _example(verdicts: list[dict[str, Any]]) -> str:
    return f"{verdicts[0]['output']}.png" if verdicts else "Maze/0.png"


def _table(verdicts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line a category, and the whole."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict["category"], []).append(verdict)
    rows = [_line(name, group) for name, group in sorted(groups.items())]
    return [*rows, _line("all", verdicts)]


def _line(name: str, group: list[dict[str, Any]]) -> dict[str, Any]:
    def share(field: str) -> float:
        return round(sum(float(verdict[field]) for verdict in group) / len(group), 4)

    return {
        "category": name,
        "count": len(group),
        "missing": sum(not verdict["found"] for verdict in group),
        "correct": share("correct"),
        "legal": share("legal"),
        "readable": share("readable"),
        "preserved": share("preserved"),
        "quality": share("quality"),
    }


def _print(table: list[dict[str, Any]]) -> None:
    wide = max(len(row["category"]) for row in table)
    print(f"{'category':<{wide}}  count  missing  correct   legal  readable  preserved  quality")
    for row in table:
        print(
            f"{row['category']:<{wide}}  {row['count']:>5}  {row['missing']:>7}  {row['correct']:>7.1%}"
            f"  {row['legal']:>6.1%}  {row['readable']:>8.1%}  {row['preserved']:>9.1%}  {row['quality']:>7.3f}"
        )
