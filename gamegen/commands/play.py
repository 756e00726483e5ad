"""Play a sample in a window: step through its solution, try moves by hand, have them checked by the rules.

Right and left go along the solution, S says the reason of a step; click on cells to move by hand (Tab chooses where
several moves are meant, Enter plays), U takes back, C checks; N and P go to other samples, 1 to 5 to other levels,
K to other skins, Q quits. Needs pygame: pip install 'gamegen[play]'
"""

from __future__ import annotations

import argparse

from gamegen.commands.show import key_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sample", metavar="ID|TASK", help="a sample's id, or a task such as sokoban/solve")
    parser.add_argument("--level", type=int, default=1, help="1 to 5 (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--split", default="train", help="train or test")
    parser.add_argument("--skin", help="one of the game's skins; default: the sample's own")
    parser.add_argument("--pixels", type=int, default=640, help="side of the picture, 256 to 1024 (default 640)")
    parser.set_defaults(language="en")


def run(args: argparse.Namespace) -> int:
    import os

    from gamegen.core.errors import MissingExtra
    from gamegen.play.session import Session

    session = Session.start(key_of(args))
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        from gamegen.play.window import Window
    except ModuleNotFoundError as error:
        if error.name != "pygame":
            raise
        raise MissingExtra("pygame", "play") from None
    Window(session).run()
    return 0
