"""One file a command: its docstring is its help, `add_arguments` its options, `run` what it does.

Files here are imported to print help, so they import at their top only what is light; the rest waits for `run`.
"""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol

from gamegen import __version__
from gamegen.core.errors import BadInput


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


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, like every other error of ours."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see {self.prog} --help")


def parse(args: Sequence[str], only: str | None = None) -> argparse.Namespace:
    """Arguments as a command takes them; raises BadInput for those that it does not know."""
    parsed, rest = build_parser(only).parse_known_args(args)
    if rest:
        hint = ""
        if "tasks" in parsed and _is_task(rest[0]):
            meant = f"{parsed.tasks},{rest[0]}" if parsed.tasks else f"--tasks {rest[0]}"
            hint = f"; did you mean {meant}?"
        raise BadInput(f"unrecognized arguments: {' '.join(rest)}{hint}; see gamegen {parsed.command} --help")
    return parsed


def _is_task(text: str) -> bool:
    """Whether somebody may mean a game or a task."""
    from gamegen.registry import games  # only where something is wrong

    return text.split(",")[0].split("/")[0] in (*games(), "all")


def build_parser(only: str | None = None) -> Parser:
    """The parser of all commands, or of one: the others need not be loaded then."""
    parser = Parser(
        prog="gamegen",
        description="Puzzle worlds for reasoning-based image editing: made by rules, judged from pixels.",
    )
    parser.add_argument("--version", action="version", version=f"gamegen {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in names() if only is None else [only]:
        command = load(name)
        text = (command.__doc__ or "").strip()
        summary = text.splitlines()[0].rstrip(".")
        sub = group.add_parser(
            name, help=summary, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser
