"""The command line: `gamegen COMMAND …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gamegen import commands
from gamegen.core.errors import GamegenError, unknown

EXIT_ERROR, EXIT_INTERRUPTED = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    args = sys.argv[1:] if argv is None else list(argv)
    try:
        first = args[0] if args else ""
        if first and not first.startswith("-") and first not in commands.names():
            raise unknown("command", first, commands.names())
        parsed = commands.parse(args, first if first in commands.names() else None)
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
