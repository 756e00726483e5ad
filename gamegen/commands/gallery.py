"""Lay a dataset out as one HTML page: pairs, texts and steps, with filters; opens anywhere, needs no network.

With --outputs an editor's pictures stand beside the right ones, each with its verdict; they lie as `gamegen verify`
wants them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

LIMIT = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="a folder that `gamegen make` wrote")
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="a folder with edited pictures to judge and show")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"first N rows (default {LIMIT}; 0: all)")
    parser.add_argument("--title", help="the page's heading (default: the folder's name)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html")


def run(args: argparse.Namespace) -> int:
    from itertools import islice

    from gamegen.core.errors import BadInput
    from gamegen.gallery import page
    from gamegen.stored import count_rows, read_dataset
    from gamegen.writing.format import replacing

    if args.limit < 0:
        raise BadInput(f"--limit must not be negative, not {args.limit}")
    if args.outputs and not args.outputs.is_dir():
        raise BadInput(f"no such outputs folder: {args.outputs}")
    stored = read_dataset(args.dataset)
    total = count_rows(args.dataset)
    count = min(total, args.limit or total)
    lead = (
        f"{count} samples"
        + (f" of {total}" if count < total else "")
        + (f", with the outputs in {args.outputs} judged by the rules." if args.outputs else ".")
    )
    title = args.title or args.dataset.resolve().name
    try:
        with replacing(args.out) as stream:
            for piece in page(islice(stored, count), title=title, lead=lead, outputs=args.outputs):
                stream.write(piece)
    except OSError as error:
        raise BadInput(f"cannot write {args.out}: {error}") from error
    print(f"{args.out}: {count} samples, {args.out.stat().st_size / 1e6:.1f} MB")
    return 0
