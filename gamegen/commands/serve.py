"""Serve rewards over HTTP: rows and pictures in, verdicts out; see docs/REWARDS.md.

It knows no users and no passwords: keep it on this machine, or behind something that does.
"""

from __future__ import annotations

import argparse
from contextlib import suppress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port, 0 for any that is free (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=0, help="judging processes (default: one per core)")
    parser.add_argument("--dense", action="store_true", help="dense rewards unless a request says otherwise")
    parser.add_argument("--max-body", type=int, help="bytes in one request (default: 64 MiB)")
    parser.add_argument("--max-items", type=int, help="items in one request (default: 256)")
    parser.add_argument("--max-pixels", type=int, help="pixels of one picture (default: 4096 x 4096)")
    parser.add_argument("--max-seconds", type=float, help="judging time of one item (default: 10)")


def run(args: argparse.Namespace) -> int:
    import os

    from gamegen.core.errors import BadInput, MissingExtra
    from gamegen.judging import Limits
    from gamegen.listening import listening

    names = ("max_body", "max_items", "max_pixels", "max_seconds")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    low = [f"--{name.replace('_', '-')} {value:g}" for name, value in given.items() if value <= 0]
    if low or args.jobs < 0:
        raise BadInput(f"a limit must be above zero: {', '.join(low) or f'--jobs {args.jobs}'}")
    try:
        import uvicorn

        from gamegen.server import build_app
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "serve") from error
    with suppress(KeyboardInterrupt), listening(args.host, args.port) as door:
        app = build_app(jobs=args.jobs or os.cpu_count() or 1, dense=args.dense, limits=Limits(**given))
        host, port = door.getsockname()[:2]
        print(f"rewards at http://{f'[{host}]' if ':' in host else host}:{port}/reward; Ctrl-C ends", flush=True)
        uvicorn.Server(uvicorn.Config(app, access_log=False)).run(sockets=[door])
    return 0
