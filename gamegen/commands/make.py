"""Make a dataset: N samples, spread evenly over tasks and levels, written crash-safe.

Run the same command again after an interruption and it goes on to the same bytes. A mix is a YAML file:
  tasks: {maze: 2, sokoban/solve: {weight: 1, levels: [3, 4]}}
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tasks", default="all", metavar="all|LIST|MIX.yaml", help="tasks or games with commas, or a mix"
    )
    parser.add_argument("--count", type=int, required=True, metavar="N", help="samples in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--levels", help="levels with commas, e.g. 1,2,3 (default: all five)")
    parser.add_argument("--skins", help="skins with commas (default: each sample's own)")
    parser.add_argument("--split", default="train", choices=("train", "test"))
    parser.add_argument("--language", default="en", choices=("en", "zh"))
    parser.add_argument("--pixels", type=int, default=512, help="side of the pictures, 256 to 1024 (default 512)")
    parser.add_argument("--format", default="parquet", help="parquet, uniredit, bagel, webdataset or jsonl")
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one per core for large datasets)")
    parser.add_argument("--shard", type=int, default=250, help="samples in a shard (default 250)")
    parser.add_argument(
        "--negatives", type=int, default=0, metavar="K", help="wrong results of each sample, with their errors"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    import os
    import sys

    import orjson
    from tqdm import tqdm

    from gamegen.core.errors import BadInput
    from gamegen.core.key import Key
    from gamegen.dataset import Dataset, skins_for
    from gamegen.mix import cells_of
    from gamegen.writing.run import write_dataset

    if args.count < 1:
        raise BadInput(f"--count must be at least 1, not {args.count}")
    cells = cells_of(args.tasks, _numbers(args.levels))
    tasks = tuple(dict.fromkeys(task for task, _ in cells))
    for _, level in cells:
        Key(tasks[0], split=args.split, level=level, seed=args.seed, pixels=args.pixels)
    dataset = Dataset(
        cells,
        seed=args.seed,
        size=args.count,
        skins=skins_for(tasks, tuple(filter(None, (args.skins or "").split(",")))),
        split=args.split,
        language=args.language,
        pixels=args.pixels,
    )
    jobs = args.jobs or ((os.cpu_count() or 1) if args.count >= 4 * args.shard else 1)
    hidden = args.quiet or args.json or not sys.stderr.isatty()
    with tqdm(total=args.count, unit=" samples", disable=hidden, smoothing=0.1) as bar:

        def advance(count: int) -> None:
            bar.update(count)

        written = write_dataset(
            dataset,
            args.out,
            format=args.format,
            jobs=jobs,
            shard=args.shard,
            negatives=args.negatives,
            progress=advance,
        )
    if args.json:
        summary = {
            "folder": str(written.folder),
            "count": written.count,
            "kept": written.kept,
            "dropped": written.dropped,
            "seconds": written.seconds,
            "resumed": written.resumed,
        }
        print(orjson.dumps(summary, option=orjson.OPT_INDENT_2).decode())
    else:
        rate = f", {(written.count - written.resumed) / written.seconds:.0f}/s" if written.seconds else ""
        earlier = f", {written.resumed} of them there already" if written.resumed else ""
        print(
            f"{written.count} samples of {len(written.kept)} tasks in {written.folder} as {args.format}"
            f" ({written.seconds:.1f} s{rate}{earlier}; {sum(written.dropped.values())} candidates turned down)"
        )
    return 0


def _numbers(text: str | None) -> tuple[int, ...] | None:
    from gamegen.core.errors import BadInput

    if not text:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"levels must be numbers with commas, not {text!r}") from None
