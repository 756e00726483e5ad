"""The command line: `gamegen COMMAND …`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from gamegen import __version__, commands
from gamegen.core.errors import GamegenError, unknown

EXIT_ERROR, EXIT_INTERRUPTED = 2, 130


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one: the others need not be loaded then."""
    parser = argparse.ArgumentParser(
        prog="gamegen",
        description="Puzzle worlds for reasoning-based image editing: made by rules, judged from pixels.",
    )
    parser.add_argument("--version", action="version", version=f"gamegen {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in commands.names() if only is None else [only]:
        command = commands.load(name)
        text = (command.__doc__ or "").strip()
        summary = text.splitlines()[0].rstrip(".")
        sub = group.add_parser(
            name, help=summary, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = sys.argv[1:] if argv is None else list(argv)
    try:
        first = args[0] if args else ""
        if first and not first.startswith("-") and first not in commands.names():
            raise unknown("command", first, commands.names())
        only = first if first in commands.names() else None
        parsed = build_parser(only).parse_args(args)
        status: int = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except GamegenError as error:
        print(f"gamegen: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print("gamegen: interrupted; run the same command again to go on", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
