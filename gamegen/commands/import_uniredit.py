"""Import the official UniREditBench release (data.json, original_image/, reference_image/) as a dataset.

gamegen import-uniredit UniREditBench --out out/official
gamegen edit out/official --editor NAME --out out/run
gamegen score out/official out/run --judge vlm --model NAME

Its rows have no positions, so the rules cannot judge them; `--judge vlm` can. Outputs made by upstream's own scripts
(NAME/IDX.png) are found as they lie.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="DIR", help="the release, its two zip files unpacked")
    parser.add_argument("--out", type=Path, required=True, metavar="DATASET", help="a new folder for the dataset")
    parser.add_argument(
        "--alias", action="append", default=[], metavar="NAME=CATEGORY", help="what a name stands for; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    import sys

    import orjson
    from tqdm import tqdm

    from gamegen.core.errors import BadInput
    from gamegen.uniredit import OFFICIAL, count_release, import_release

    aliases = {}
    for pair in args.alias:
        name, sign, meant = pair.partition("=")
        if not sign or not name or not meant:
            raise BadInput(f"an alias is written NAME=CATEGORY, not {pair!r}")
        aliases[name] = meant
    hidden = args.json or not sys.stderr.isatty()
    with tqdm(total=count_release(args.source), unit=" rows", disable=hidden) as bar:
        imported = import_release(args.source, args.out, aliases=aliases, progress=lambda: bar.update(1))
    if args.json:
        summary = {"folder": str(imported.folder), "count": imported.count, "kept": imported.kept}
        print(orjson.dumps(summary | {"renamed": imported.renamed}, option=orjson.OPT_INDENT_2).decode())
        return 0
    print(
        f"{imported.count} rows of {len(imported.kept)} categories in {imported.folder}; to be judged by a model only"
    )
    other = {name: count for name, count in imported.kept.items() if count != OFFICIAL}
    if other:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(other.items()))
        print(f"the official release has {OFFICIAL} rows of each category; here are others: {listed}")
    return 0
