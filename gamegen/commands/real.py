"""Make pairs of photographs: texts, pictures, reasoning and filters by models, then people.

gamegen real run RUN recipe.toml --dry-run    what all stages would ask for
gamegen real run RUN recipe.toml              triples, dedup, pairs, reason, filter, as the recipe says
gamegen real status RUN                       how many are left after each step, and why the others are not
gamegen real review RUN                       two stages of inspection in a browser
gamegen real export RUN                       a dataset in RUN/dataset

Each stage is a command, too. Stopped or killed, the same command goes on; what failed is tried again. The key and the
address of endpoints come from OPENAI_API_KEY and OPENAI_BASE_URL. docs/REALWORLD.md has the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from realworld.recipe import Options
    from realworld.run import Run

HELP = {
    "triples": "let a language model write descriptions, instructions and effects",
    "dedup": "drop triples that repeat others",
    "pairs": "draw the originals and edit them",
    "reason": "let a seeing model write the reasoning of each pair",
    "filter": "let a seeing model score each pair in six questions",
}
GIVES = {"triples": "parsed", "dedup": "unique", "pairs": "pairs", "reason": "reasoned", "filter": "candidates"}
"""What is left after each stage, as `status` calls it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    whole = _action(actions, "run", "run all automatic stages as a recipe says")
    whole.add_argument("recipe", type=Path, help="TOML file with a table for each stage")
    _add_dry_run(whole)
    for name, text in HELP.items():
        stage = _action(actions, name, text)
        _add_options(stage, name)
        _add_dry_run(stage)
    _add_review(_action(actions, "review", "let people inspect what passed, in a browser"))
    export = _action(actions, "export", "write what was kept as a dataset")
    export.add_argument("--format", default="parquet", help="parquet or uniredit (default: parquet)")
    export.add_argument("--unreviewed", action="store_true", help="also what people have not decided on")
    _action(actions, "status", "say how many are left after each step")


def run(args: argparse.Namespace) -> int:
    if args.action == "review":
        return _review(args)
    if args.action == "export":
        return _export(args)
    if args.action == "status":
        return _status(args)
    from realworld.recipe import read_recipe

    recipe = read_recipe(args.recipe) if args.action == "run" else {args.action: _options(args)}
    return _dry_run(args, recipe) if args.dry_run else _stages(args, recipe)


def _action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="folder of the run")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    return parser


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be asked for, and stop")


def _add_options(parser: argparse.ArgumentParser, stage: str) -> None:
    """The fields of a stage's recipe, as options."""
    from realworld.recipe import KINDS, needed, type_of

    for option in fields(KINDS[stage]):
        name, text, kind = "--" + option.name.replace("_", "-"), option.metadata["help"], type_of(option)
        if kind is dict:
            parser.add_argument(
                name.removesuffix("s"), dest=option.name, action="append", default=[], metavar="NAME=VALUE", help=text
            )
        elif needed(option):
            parser.add_argument(name, required=True, help=text)
        else:
            shown = f"{text} (default: {option.default})" if option.default != "" else text
            parser.add_argument(name, type=kind, default=option.default, help=shown)


def _options(args: argparse.Namespace) -> Options:
    from gamegen.commands.edit import named_values
    from realworld.recipe import KINDS, type_of

    kind = KINDS[args.action]
    given = {option.name: getattr(args, option.name) for option in fields(kind)}
    pairs = {option.name: named_values(given[option.name]) for option in fields(kind) if type_of(option) is dict}
    return kind(**{**given, **pairs})


def _dry_run(args: argparse.Namespace, recipe: Mapping[str, Options]) -> int:
    from dataclasses import asdict

    from realworld.estimate import estimate
    from realworld.run import Run

    begun = args.action in ("run", "triples") and not (args.run_folder / "run.json").exists()
    estimates = list(estimate(None if begun else Run.open(args.run_folder), recipe))
    print(json.dumps([asdict(each) for each in estimates]) if args.json else "\n".join(map(str, estimates)))
    return 0


def _stages(args: argparse.Namespace, recipe: Mapping[str, Options]) -> int:
    from realworld.run import Run

    run = Run.create(args.run_folder) if "triples" in recipe else Run.open(args.run_folder)
    failed = False
    for name, options in recipe.items():
        failed = _stage(args, run, name, options) or failed
    return 1 if failed else 0


def _stage(args: argparse.Namespace, run: Run, name: str, options: Options) -> bool:
    """Run a stage and say what came of it; whether anything failed."""
    from tqdm import tqdm

    from realworld.stages import run_stage
    from realworld.status import status_of

    with tqdm(desc=name, disable=args.json or not sys.stderr.isatty()) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        done = run_stage(run, name, options, progress)
    left = status_of(run).total(GIVES[name])
    if args.json:
        counts = {"new": done.new, "earlier": done.earlier, "failed": len(done.failures), GIVES[name]: left}
        print(json.dumps({"stage": name, **counts}))
    else:
        failures = f", {len(done.failures)} failed, as {_first(done.failures)}" if done.failures else ""
        print(f"{name}: {done.new} done, {done.earlier} there already{failures}; {left} {GIVES[name]}", flush=True)
    return bool(done.failures)


def _first(failures: Mapping[str, str]) -> str:
    piece, reason = next(iter(failures.items()))
    return f"{piece}: {reason}"


def _status(args: argparse.Namespace) -> int:
    from realworld.run import Run
    from realworld.status import status_of, table

    status = status_of(Run.open(args.run_folder))
    print(json.dumps(status.as_json(), indent=2) if args.json else "\n".join(table(status)))
    return 0


def _export(args: argparse.Namespace) -> int:
    from realworld.export import export
    from realworld.run import Run

    done = export(Run.open(args.run_folder), format=args.format, unreviewed=args.unreviewed)
    if args.json:
        summary = {"folder": str(done.folder), "count": done.count, "kept": done.kept, "left_out": done.left_out}
        print(json.dumps(summary))
        return 0
    reasons = "".join(f"; {count} {reason}" for reason, count in done.left_out.items())
    print(f"{done.count} rows of {len(done.kept)} categories in {done.folder}{reasons}; to be judged by a model only")
    return 0


def _add_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stage", type=int, default=1, help="1 sorts out, 2 corrects the texts (default: 1)")
    parser.add_argument("--votes", type=int, default=1, help="people to ask about each candidate (default: 1)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8100, help="default: 8100")
    parser.add_argument("--token", help="what other machines must show (default: one is made up)")
    parser.add_argument("--scores", default="after", help="when the filter's scores are shown (default: after)")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="how long a candidate waits for someone (default: 10)"
    )
    parser.add_argument("--decisions", type=Path, metavar="FILE", help="write the decisions as .json or .csv, and stop")


def _review(args: argparse.Namespace) -> int:
    from realworld.run import Run

    run = Run.open(args.run_folder)
    if args.decisions:
        from realworld.review.export import write_decisions

        print(f"{write_decisions(run, args.decisions)} decisions in {args.decisions}")
        return 0
    from realworld.review.serve import serve

    serve(
        run,
        stage=args.stage,
        votes=args.votes,
        host=args.host,
        port=args.port,
        token=args.token,
        scores=args.scores,
        minutes=args.minutes,
    )
    return 0
