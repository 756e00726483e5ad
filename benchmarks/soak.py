"""Many samples of every task and level: does each come out, and is each another one?

    python -m benchmarks.soak [--tasks all] [--count 1000] [--jobs 2] [--json]

Every sample is made whole (problem, solution, text, pictures, PNG). Printed are the errors, the share of distinct
canonical problems, the mean measured effort and the mean and worst milliseconds a sample took.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import orjson

from gamegen.core.errors import GamegenError
from gamegen.core.key import LEVELS, Key
from gamegen.registry import plugin_of, select
from gamegen.sample import make_sample, members_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--count", type=int, default=1000, help="samples per task and level")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    work = [(task, level, args.count) for task in select(args.tasks) for level in LEVELS]
    rows = []
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for row in pool.map(_soak, work):
            rows.append(row)
            if not args.json:
                _print(row)
    if args.json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    broken = sum(len(row["errors"]) for row in rows)
    raise SystemExit(1 if broken else 0)


def _soak(work: tuple[str, int, int]) -> dict[str, Any]:
    task, level, count = work
    game = plugin_of(task)[0].game
    seen: set[str] = set()
    errors: list[str] = []
    efforts, spent = [], []
    for index in range(count):
        key = Key(task, level=level, seed=99, index=index)
        started = time.process_time()
        try:
            sample = make_sample(key)
            sample.row()
        except GamegenError as error:
            errors.append(f"{key.id}: {error}")
            continue
        spent.append(1000 * (time.process_time() - started))
        efforts.append(sample.solution.difficulty.effort)
        seen.add(game.canonical(sample.problem.position) + repr(sample.problem.params))
    members = members_of(task, level, "train")
    return {
        "task": task,
        "level": level,
        "count": count,
        "errors": errors,
        "distinct": len(seen) / count,
        "members": None if members is None else len(members),
        "effort": sum(efforts) / max(1, len(efforts)),
        "ms": sum(spent) / max(1, len(spent)),
        "worst_ms": max(spent, default=0.0),
    }


def _print(row: dict[str, Any]) -> None:
    finite = f"  (only {row['members']} problems there are)" if row["members"] is not None else ""
    print(
        f"{row['task']:<24} level {row['level']}  errors {len(row['errors'])}  distinct {row['distinct']:7.2%}"
        f"  effort {row['effort']:8.2f}  {row['ms']:7.2f} ms, worst {row['worst_ms']:8.2f}{finite}",
        flush=True,
    )


if __name__ == "__main__":
    main()
