"""Lay runs out side by side: one HTML page with tables, charts and a gallery, and the tables as files.

gamegen report OUTPUTS... --out report/
gamegen report ours=out/a theirs=out/b --out report/        with names of your own

Runs are folders that `gamegen edit` wrote and `gamegen score` judged, all of one dataset. The page opens anywhere and
needs no network; the paper's published rows stand beside yours, marked as such. Tables: report/tables/ as CSV, JSON,
LaTeX and Markdown.
"""

from __future__ import annotations

import argparse
from pathlib import Path

SIDE = 512


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a folder of outputs, or NAME=FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for page and tables")
    parser.add_argument("--dataset", type=Path, metavar="DIR", help="the runs' dataset, if it was moved")
    parser.add_argument("--title", default="Benchmark report", help="the page's heading")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="show the first N samples (default: all)")
    parser.add_argument(
        "--pixels", type=int, default=SIDE, metavar="N", help=f"reduce larger pictures to N pixels (default {SIDE})"
    )
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one per core)")


def run(args: argparse.Namespace) -> int:
    import sys

    from tqdm import tqdm

    from gamegen.core.errors import BadInput
    from gamegen.stored import count_rows
    from scoring.report import write_report
    from scoring.report.runs import find_dataset, load_runs

    if args.limit < 0 or args.pixels < 64 or args.jobs < 0:
        raise BadInput("--limit and --jobs must not be negative, and --pixels at least 64")
    runs = load_runs(args.runs)
    dataset = find_dataset(runs, args.dataset)
    rows = count_rows(dataset)
    total = min(rows, args.limit or rows)
    try:
        with tqdm(total=total, unit=" samples", disable=not sys.stderr.isatty()) as bar:
            shown = write_report(
                runs,
                dataset,
                args.out,
                title=args.title,
                limit=args.limit,
                side=args.pixels,
                jobs=args.jobs,
                progress=lambda: bar.update(1),
            )
    except OSError as error:
        raise BadInput(f"cannot write {args.out}: {error}") from error
    page = args.out / "index.html"
    size = page.stat().st_size / 1e6
    print(f"{page}: {len(runs)} runs, {shown} samples, {size:.1f} MB; tables in {args.out / 'tables'}")
    return 0
