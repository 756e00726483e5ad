"""Print a completion script for a shell: bash, zsh or tcsh.

bash:  gamegen completion bash > ~/.local/share/bash-completion/completions/gamegen
zsh:   gamegen completion zsh > ~/.zfunc/_gamegen    (with `fpath+=~/.zfunc` before compinit in ~/.zshrc)
tcsh:  gamegen completion tcsh > ~/.gamegen.csh      (with `source ~/.gamegen.csh` in ~/.tcshrc)
Other shells, fish among them, are not supported.
"""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    import shtab

    from gamegen.commands import build_parser

    parser = build_parser()
    _complete_paths(parser)
    print(shtab.complete(parser, args.shell))
    return 0


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments are files and folders."""
    from pathlib import Path

    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_paths(command)
        elif action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
