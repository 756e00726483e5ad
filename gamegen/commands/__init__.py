"""One file a command: its docstring is its help, `add_arguments` its options, `run` what it does.

Files here are imported to print help, so they import at their top only what is light; the rest waits for `run`.
"""

from __future__ import annotations

import argparse
import pkgutil
from importlib import import_module
from typing import Protocol


class Command(Protocol):
    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


def names() -> list[str]:
    """Every command, by file name; `import_uniredit.py` is `import-uniredit`."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in found if not name.startswith("_"))


def load(name: str) -> Command:
    module: Command = import_module(f"{__name__}.{name.replace('-', '_')}")
    return module
