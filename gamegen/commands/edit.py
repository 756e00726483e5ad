"""Run an image editor over a dataset; interrupted, it goes on where it stopped.

Editors:
  copy, oracle, noise, wrong   yardsticks with known scores
  diffusers:PATH_OR_NAME       a pipeline; options device, dtype, steps, guidance, and those of its own call
  bagel:PATH                   a BAGEL checkpoint; options device, dtype, and its settings (points, think…)
  openai:MODEL                 images/edits of an OpenAI-compatible server, see OPENAI_API_KEY and OPENAI_BASE_URL
  chat:MODEL                   a chat model of such a server that answers with pictures
  MODULE:FUNCTION              yours: returns an object with edit(image, instruction, *, seed)

Pictures are written to OUTPUTS/CATEGORY/NUMBER.png, thinking beside them as .txt. Samples that fail are listed with
their reasons in OUTPUTS/failures.jsonl, and tried again by the next run.

Several machines: run --shard 1/4 to --shard 4/4, into one folder or into four that are then copied together; the same
command without --shard finishes. Several GPUs of one machine: --jobs N, each process takes the next one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=Path, help="a folder that `gamegen make` wrote")
    parser.add_argument("--editor", required=True, metavar="NAME", help="which editor, see above")
    parser.add_argument("--out", type=Path, required=True, metavar="OUTPUTS", help="folder for the pictures")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the editor; may be repeated"
    )
    parser.add_argument("--limit", type=int, help="only the first rows of the dataset")
    parser.add_argument("--jobs", type=int, default=1, help="processes, or requests at a time (default: 1)")
    parser.add_argument("--batch", type=int, default=1, help="pictures at once, where the editor can (default: 1)")
    parser.add_argument("--shard", metavar="I/N", help="only every N-th row, from the I-th on: 1/4 to 4/4 are all")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    import sys

    import orjson
    from tqdm import tqdm

    from edit_models.editors.run import Share, run_editor
    from gamegen.stored import count_rows

    share = Share.parse(args.shard) if args.shard else Share()
    total = share.count(min(count_rows(args.dataset), args.limit or sys.maxsize))
    with tqdm(total=total, unit=" edits", disable=args.json or not sys.stderr.isatty()) as bar:

        def advance(outcome: str) -> None:
            if outcome == "kept" and not bar.disable:  # counts as done, but not into the rate
                bar.initial += 1
            bar.update(1)

        ran = run_editor(
            args.dataset,
            editor=args.editor,
            out=args.out,
            options=named_values(args.option),
            limit=args.limit,
            jobs=args.jobs,
            batch=args.batch,
            share=share,
            progress=advance,
        )
    failed = len(ran.failures)
    if args.json:
        counts = {"total": ran.total, "edited": ran.edited, "kept": ran.kept, "failed": failed}
        print(orjson.dumps({"folder": str(ran.folder), **counts, "seconds": ran.seconds}).decode())
    else:
        earlier = f", {ran.kept} there already" if ran.kept else ""
        losses = f", {failed} failed (see {ran.folder / share.failures})" if failed else ""
        print(f"{ran.edited} pictures by {args.editor} in {ran.folder} ({ran.seconds:.1f} s{earlier}){losses}")
    return 1 if failed else 0


def named_values(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE, where a value that reads as JSON is one: numbers, true, lists."""
    import orjson

    from gamegen.core.errors import BadInput

    options: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise BadInput(f"an option is written NAME=VALUE, not {pair!r}")
        try:
            options[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            options[name] = value
    return options
