"""Make a dataset: N samples, spread evenly over tasks and levels, written crash-safe.

Run the same command again after an interruption and it goes on to the same bytes. A mix is a YAML file:
  tasks: {maze: 2, sokoban/solve: {weight: 1, levels: [3, 4]}}
A preset fixes what is not given: `bench` is 150 test samples, `train` 5,580 training samples of each of the paper's
nine games, balanced over tasks, levels and skins. With --tasks it makes others so, as many per category.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gamegen.dataset import Dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", metavar="bench|train", help="a benchmark or a training mix, see above")
    parser.add_argument("--tasks", metavar="all|LIST|MIX.yaml", help="tasks or games with commas, or a mix")
    parser.add_argument("--count", type=int, metavar="N", help="samples in all (needed without a preset)")
    parser.add_argument("--seed", type=int, help="(default 0)")
    parser.add_argument("--levels", help="levels with commas, e.g. 1,2,3 (default: all five)")
    parser.add_argument("--skins", help="skins with commas (default: each sample's own)")
    parser.add_argument("--split", choices=("train", "test"), help="(default: train, or the preset's)")
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

    from gamegen.writing.run import write_dataset

    dataset = _preset(args) if args.preset else _plain(args)
    jobs = args.jobs or ((os.cpu_count() or 1) if len(dataset) >= 4 * args.shard else 1)
    hidden = args.quiet or args.json or not sys.stderr.isatty()
    with tqdm(total=len(dataset), unit=" samples", disable=hidden, smoothing=0.1) as bar:

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


def _plain(args: argparse.Namespace) -> Dataset:
    """What the options say, all of them in turn."""
    from gamegen.core.errors import BadInput
    from gamegen.dataset import Dataset, skins_for
    from gamegen.mix import cells_of

    if args.count is None:
        raise BadInput("how many? give --count N, or --preset bench or train")
    cells = cells_of(args.tasks or "all", _numbers(args.levels))
    tasks = tuple(dict.fromkeys(task for task, _ in cells))
    dataset = Dataset(
        cells,
        seed=args.seed or 0,
        size=_counted(args.count),
        skins=skins_for(tasks, _names(args.skins)),
        split=args.split or "train",
        language=args.language,
        pixels=args.pixels,
    )
    _check_keys(dataset)
    return dataset


def _preset(args: argparse.Namespace) -> Dataset:
    """What the preset says, where the options do not."""
    from gamegen.core.errors import BadInput
    from gamegen.presets import balanced_dataset, categories_of, preset_named
    from gamegen.registry import select

    preset = preset_named(args.preset)
    if (args.tasks or "").endswith((".yaml", ".yml")):
        raise BadInput(f"a preset is a mix of its own; give tasks or games beside it, not {args.tasks!r}")
    tasks = select(args.tasks) if args.tasks else preset.tasks()
    count = preset.per_category * len(categories_of(tasks)) if args.count is None else args.count
    dataset = balanced_dataset(
        tasks,
        size=_counted(count),
        levels=_numbers(args.levels) or preset.levels,
        split=args.split or preset.split,
        seed=preset.seed if args.seed is None else args.seed,
        skins=_names(args.skins),
        language=args.language,
        pixels=args.pixels,
    )
    _check_keys(dataset)
    return dataset


def _check_keys(dataset: Dataset) -> None:
    """A bad option is an error now, not at the first sample."""
    from gamegen.core.key import Key

    for task, level in dict.fromkeys(dataset.cells):
        Key(task, split=dataset.split, level=level, seed=dataset.seed, pixels=dataset.pixels)


def _counted(count: int) -> int:
    from gamegen.core.errors import BadInput

    if count < 1:
        raise BadInput(f"--count must be at least 1, not {count}")
    return count


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (text or "").split(",")))


def _numbers(text: str | None) -> tuple[int, ...] | None:
    from gamegen.core.errors import BadInput

    if not text:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"levels must be numbers with commas, not {text!r}") from None
