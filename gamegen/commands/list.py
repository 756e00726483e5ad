"""List games, their tasks, levels and skins."""

from __future__ import annotations

import argparse
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tasks", nargs="?", default="all", help="a game, a task, several with commas, or all")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    import orjson

    from gamegen.core.key import LEVELS
    from gamegen.registry import plugin_of, select

    rows: list[dict[str, Any]] = []
    for name in select(args.tasks):
        plugin, kind = plugin_of(name)
        task = plugin.game.task(kind)
        rows.append(
            {
                "task": name,
                "category": plugin.game.category,
                "dimension": plugin.game.dimension,
                "levels": list(LEVELS),
                "skins": list(plugin.renderer.skins),
                "unique": task.unique,
                "summary": task.summary,
            }
        )
    if args.json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return 0
    lines = [("task", "levels", "skins", "what is asked")]
    lines += [(row["task"], "1-5", ", ".join(row["skins"]), row["summary"]) for row in rows]
    wide = [max(len(line[place]) for line in lines) for place in range(3)]
    for name, levels, skins, summary in lines:
        print(f"{name:<{wide[0]}}  {levels:<{wide[1]}}  {skins:<{wide[2]}}  {summary}")
    return 0
