"""Score an editor's outputs: by the rules (exact), by a seeing model with two references (vlm), or both.

gamegen score DATASET OUTPUTS                                          by the rules, no model
gamegen score DATASET OUTPUTS --judge vlm --model NAME --dry-run       calls and tokens that a model would need
gamegen score DATASET OUTPUTS --judge both --model NAME --passes 3     key and address: OPENAI_API_KEY, OPENAI_BASE_URL

Writes exact.jsonl, vlm.jsonl and summary.json into OUTPUTS/scores. A missing picture has the lowest score; a judge that
fails is counted apart: strict numbers take its samples as lowest, lenient ones leave them out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring.dual import Dual


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=Path, help="a folder that `gamegen make` wrote")
    parser.add_argument("outputs", type=Path, help="a folder with the edited pictures")
    parser.add_argument("--judge", choices=("exact", "vlm", "both"), default="exact")
    parser.add_argument("--model", metavar="NAME|DIR", help="the judge's snapshot, or a folder to load it from")
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint (default: OPENAI_BASE_URL)")
    parser.add_argument("--passes", type=int, default=1, metavar="N", help="how often the model judges each sample")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at a time (default 8)")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for a reply (default 120)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="replies (default: judge.sqlite beside the scores)")
    parser.add_argument("--dry-run", action="store_true", help="say what a model would be asked, and stop")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: OUTPUTS/scores)")
    parser.add_argument("--jobs", type=int, default=0, help="processes for the rules (default: one per core)")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    import orjson

    from gamegen.stored import count_rows, read_dataset
    from scoring.summary import summarise

    about = _about(args)
    if args.passes < 1 or args.concurrency < 1:
        raise _bad("--passes and --concurrency must be at least 1")
    rows = count_rows(args.dataset)
    if not rows:
        raise _bad(f"{args.dataset} has no rows")
    if not any(stored.output(args.outputs) for stored in read_dataset(args.dataset)):
        raise _bad(f"{args.outputs} has no picture for any row of {args.dataset}; expected e.g. Maze/0.png")
    folder: Path = args.out or args.outputs / "scores"
    if args.dry_run:
        return _dry_run(args, folder)
    exact, vlm = _earlier(folder, about)
    if args.judge in ("exact", "both"):
        exact = _exact(args, folder, rows)
    if args.judge in ("vlm", "both"):
        vlm = _vlm(args, folder, rows, about)
    summary = summarise(exact, vlm, about=about)
    _write(folder / "summary.json", [orjson.dumps(summary, option=orjson.OPT_INDENT_2)])
    if args.json:
        print(orjson.dumps(summary, option=orjson.OPT_INDENT_2).decode())
    else:
        _print(summary)
        print(f"written to {folder}")
    return 0


def _about(args: argparse.Namespace) -> dict[str, Any]:
    """Who made the outputs, for which dataset; outputs of another dataset are refused."""
    import orjson

    from edit_models.editors.run import ABOUT, dataset_id

    if not args.outputs.is_dir():
        raise _bad(f"no such outputs folder: {args.outputs}")
    dataset, model = dataset_id(args.dataset), args.outputs.resolve().name
    path = args.outputs / ABOUT
    if path.exists():
        try:
            made = orjson.loads(path.read_bytes())
            of, model = made["dataset"], str(made["editor"])
        except (ValueError, KeyError, TypeError) as error:
            raise _bad(f"{path} is damaged: {error!r}") from error
        if of != dataset:
            raise _bad(f"{args.outputs} was made from another dataset than {args.dataset}: {of!r}, not {dataset!r}")
    return {"model": model, "dataset": dataset, "judge": None}


def _earlier(folder: Path, about: dict[str, Any]) -> tuple[list[dict[str, Any]] | None, list[dict[str, Any]] | None]:
    """What was judged here before: the judge that is not asked this time keeps its verdicts, and its name."""
    import orjson

    records: list[list[dict[str, Any]] | None] = [None, None]
    try:
        summary = orjson.loads((folder / "summary.json").read_bytes())
        if all(summary[name] == about[name] for name in ("model", "dataset")):
            for place, kind in enumerate(("exact", "vlm")):
                if summary[kind]:
                    lines = (folder / f"{kind}.jsonl").read_bytes().splitlines()
                    records[place] = [orjson.loads(line) for line in lines]
            about["judge"] = summary["judge"]
    except (OSError, ValueError, KeyError, TypeError):
        return None, None  # nothing there, or nothing usable: what is asked now is judged anew anyway
    return records[0], records[1]


def _exact(args: argparse.Namespace, folder: Path, rows: int) -> list[dict[str, Any]] | None:
    """Verdicts by the rules; None if no row has rules, and a model judges anyway."""
    import sys

    import orjson

    from scoring.exact import judge_exactly

    with _bar(args, rows, "by the rules") as bar:
        verdicts = []
        for verdict in judge_exactly(args.dataset, args.outputs, rows=rows, jobs=args.jobs):
            verdicts.append(verdict)
            bar.update(1)
    if not verdicts:
        if args.judge == "exact":
            raise _bad(
                f"no row of {args.dataset} has rules to judge by: photographs and imports have none; use --judge vlm"
            )
        print(f"no row of {args.dataset} has rules to judge by; a model alone judges", file=sys.stderr)
        return None
    _write(folder / "exact.jsonl", [orjson.dumps(verdict) + b"\n" for verdict in verdicts])
    return verdicts


def _vlm(args: argparse.Namespace, folder: Path, rows: int, about: dict[str, Any]) -> list[dict[str, Any]]:
    import asyncio
    import sys

    import orjson

    from gamegen.stored import read_dataset
    from scoring.cache import ReplyCache
    from scoring.forecast import forecast
    from scoring.judges import judge_json

    with ReplyCache(args.cache or folder / "judge.sqlite") as cache:
        dual = _dual(args, cache)
        print(forecast(read_dataset(args.dataset), args.outputs, dual), file=sys.stderr)
        with _bar(args, rows, "by a model") as bar:
            records = asyncio.run(_judge(dual, args, bar))
    about["judge"] = judge_json(dual.judge, passes=dual.passes)
    _write(folder / "vlm.jsonl", [orjson.dumps(record) + b"\n" for record in records])
    return records


async def _judge(dual: Dual, args: argparse.Namespace, bar: Any) -> list[dict[str, Any]]:
    from gamegen.stored import read_dataset

    try:
        return await dual.judge_all(read_dataset(args.dataset), args.outputs, lambda: bar.update(1))
    finally:
        await dual.judge.close()


def _dry_run(args: argparse.Namespace, folder: Path) -> int:
    from gamegen.stored import read_dataset
    from scoring.cache import ReplyCache
    from scoring.forecast import forecast

    if args.judge == "exact":
        raise _bad("--dry-run is for --judge vlm or both; the rules cost nothing")
    known = args.cache or folder / "judge.sqlite"
    with ReplyCache(known if known.exists() else None) as cache:
        print(forecast(read_dataset(args.dataset), args.outputs, _dual(args, cache)))
    return 0


def _dual(args: argparse.Namespace, cache: Any) -> Dual:
    from edit_models.vlm.named import open_model
    from scoring.dual import Dual

    if not args.model:
        raise _bad("--judge vlm needs --model: the name of a snapshot, as gpt-4.1-2025-04-14, or a local folder")
    judge = open_model(
        args.model,
        base_url=args.base_url,
        concurrency=args.concurrency,
        timeout=args.timeout,
        counting=args.dry_run,
    )
    return Dual(judge, cache, args.passes)


def _bar(args: argparse.Namespace, rows: int, what: str) -> Any:
    import sys

    from tqdm import tqdm

    return tqdm(total=rows, desc=what, unit=" samples", disable=args.json or not sys.stderr.isatty())


def _write(path: Path, pieces: Sequence[bytes]) -> None:
    from gamegen.writing.format import replacing

    with replacing(path) as stream:
        stream.writelines(pieces)


def _print(summary: dict[str, Any]) -> None:
    lines = [*summary["by_category"].items(), ("all", summary)]
    wide = max(len(name) for name, _ in lines)
    if summary["exact"]:
        print(f"{'by the rules':<{wide}}  count  missing  covered  correct  95 % interval    quality")
        for name, numbers in lines:
            if numbers["exact"]:
                print(f"{name:<{wide}}  {_exact_line(numbers['exact'])}")
        if summary["exact"]["thinking"]:
            print(_thinking_line(summary["exact"]["thinking"]))
    if summary["vlm"]:
        print(f"{'by a model':<{wide}}  count  missing  failed  covered  score  95 % interval  lenient  accuracy")
        for name, numbers in lines:
            if numbers["vlm"]:
                print(f"{name:<{wide}}  {_vlm_line(numbers['vlm'])}")
        spread = summary["vlm"]["strict"]["spread"]["percent"]
        if spread is not None:
            print(f"score of {summary['vlm']['passes']} passes: standard deviation {spread:.2f}")


def _thinking_line(numbers: dict[str, Any]) -> str:
    parts = [
        f"{words} {numbers[name]['share']:.1%} of {numbers[name]['count']}"
        for name, words in (("holds", "true"), ("correct", "right answer"), ("consistent_with_image", "as drawn"))
        if numbers[name]["count"]
    ]
    return f"thinking: {numbers['texts']} texts; {', '.join(parts) or 'none says anything that can be checked'}"


def _exact_line(numbers: dict[str, Any]) -> str:
    correct = numbers["correct"]
    low, high = correct["interval"]
    return (
        f"{correct['count']:>5}  {numbers['missing']:>7}  {correct['coverage']:>7.1%}"
        f"  {correct['mean']:>7.1%}  {low:>6.1%} - {high:>6.1%}"
        f"  {numbers['quality']['mean']:>7.3f}"
    )


def _vlm_line(numbers: dict[str, Any]) -> str:
    strict, lenient = numbers["strict"]["percent"], numbers["lenient"]["percent"]["mean"]
    low, high = strict["interval"]
    return (
        f"{strict['count']:>5}  {numbers['missing']:>7}  {numbers['judge_failures']:>6}  {strict['coverage']:>7.1%}"
        f"  {strict['mean']:>5.1f}  {low:>5.1f} - {high:>5.1f}"
        f"  {'none' if lenient is None else format(lenient, '.1f'):>7}"
        f"  {numbers['strict']['accuracy']['mean']:>8.1%}"
    )


def _bad(text: str) -> Exception:
    from gamegen.core.errors import BadInput

    return BadInput(text)
