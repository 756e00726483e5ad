"""Fine-tune an editing model on a dataset; prints the run's folder.

One process, or several:  torchrun --nproc-per-node 8 -m gamegen train bagel --data DIR --model CKPT --out RUN
Stopped or killed, the same command continues where the last save left it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import MISSING, fields
from pathlib import Path

from gamegen.core.errors import MissingExtra


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from edit_models.bagel.recipe import Recipe  # plain Python, no torch

    parser.add_argument("architecture", choices=["bagel"], help="what to train")
    for option in fields(Recipe):
        name = "--" + option.name.replace("_", "-")
        about = option.metadata["help"]
        if option.default is MISSING:
            parser.add_argument(name, required=True, help=about)
        elif isinstance(option.default, bool):
            parser.add_argument(name, action=argparse.BooleanOptionalAction, default=option.default, help=about)
        else:
            shown = f"{about} (default: {option.default})" if option.default != "" else about
            parser.add_argument(name, type=type(option.default), default=option.default, help=shown)
    parser.add_argument("--json", action="store_true", help="print the last figures of the run as JSON")


def run(args: argparse.Namespace) -> int:
    from edit_models.bagel.recipe import Recipe

    recipe = Recipe(**{option.name: getattr(args, option.name) for option in fields(Recipe)})
    try:
        from edit_models.bagel.train import train
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "torch", "bagel") from None
    folder: Path = train(recipe)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    last: dict[str, object] = {}
    for line in lines[-20:]:
        last |= line
    if args.json:
        print(json.dumps({"run": str(folder), **last}))
    else:
        print(folder)
    return 0
