"""gamegen: puzzle worlds for reasoning-based image editing, made by rules, solved exactly, judged from pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamegen.core.key import Key as Key
    from gamegen.core.verdict import Verdict as Verdict
    from gamegen.dataset import Dataset as Dataset
    from gamegen.dataset import create_dataset as create_dataset
    from gamegen.judge import verify as verify
    from gamegen.registry import games as list_games
    from gamegen.registry import tasks as list_tasks
    from gamegen.sample import Sample as Sample
    from gamegen.sample import make_sample as make_sample
    from gamegen.thinking import check_reasoning as check_reasoning

__version__ = "0.1.0"

_HOME = {
    "Key": ("gamegen.core.key", "Key"),
    "Verdict": ("gamegen.core.verdict", "Verdict"),
    "Dataset": ("gamegen.dataset", "Dataset"),
    "check_reasoning": ("gamegen.thinking", "check_reasoning"),
    "create_dataset": ("gamegen.dataset", "create_dataset"),
    "list_games": ("gamegen.registry", "games"),
    "list_tasks": ("gamegen.registry", "tasks"),
    "Sample": ("gamegen.sample", "Sample"),
    "make_sample": ("gamegen.sample", "make_sample"),
    "verify": ("gamegen.judge", "verify"),
}

__all__ = [
    "Dataset",
    "Key",
    "Sample",
    "Verdict",
    "check_reasoning",
    "create_dataset",
    "list_games",
    "list_tasks",
    "make_sample",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Public names load on first use, so that `import gamegen` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'gamegen' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOME[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
