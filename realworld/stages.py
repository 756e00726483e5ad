"""The automatic stages by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from realworld.recipe import Options
from realworld.run import Run
from realworld.stage import Done, Progress

_WORK = {
    "triples": ("realworld.triples", "write_triples"),
    "dedup": ("realworld.dedup", "drop_repeats"),
    "pairs": ("realworld.pairs", "make_pairs"),
    "reason": ("realworld.reason", "write_reasoning"),
    "filter": ("realworld.filter", "score_pairs"),
}


def run_stage(run: Run, name: str, options: Options, progress: Progress) -> Done:
    """Do what is left of a stage; only what it needs is loaded."""
    module, function = _WORK[name]
    work: Callable[[Run, Any, Progress], Done] = getattr(import_module(module), function)
    return work(run, options, progress)
