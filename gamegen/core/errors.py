"""What can go wrong, by name. Each message says what was expected, what came, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class GamegenError(Exception):
    """The root of our own errors; the command line prints it as one line."""


class BadInput(GamegenError, ValueError):
    """A value, file or option from outside does not fit."""


class IllegalAction(GamegenError):
    """The rules do not allow this action in this position."""


class Unsolvable(GamegenError):
    """The problem has no answer, or its search hit the node limit."""


class UnreadableImage(GamegenError):
    """The picture cannot be read back into a position with confidence."""

    matrix: Any = None
    """(3, 3): where the board lies in it, if that was found."""


class BoardNotFound(UnreadableImage):
    """Nothing in the picture lies like the one that was given."""


class JudgeFailed(GamegenError):
    """A judge gave no usable verdict; this is never held against the judged model."""


class MissingExtra(GamegenError, ImportError):
    """An optional part is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: install it with  pip install 'gamegen[{extra}]'")


class Rejected(Exception):
    """A candidate was turned down while generating; the reason is counted in the manifest."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def unknown(what: str, name: str, known: Iterable[str]) -> BadInput:
    """The error for a name we do not know, with the nearest one we do."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"
    return BadInput(f"unknown {what} {name!r}{hint}")
