"""The moves that a text tells, played in the position that the editor was given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gamegen.core.errors import BadInput, IllegalAction
from gamegen.registry import plugin_of
from gamegen.thinking.told import Told


@dataclass(frozen=True, slots=True)
class Telling:
    """One way to understand a text: actions to play, or the result itself where texts describe that."""

    actions: tuple[str, ...] = ()  # as the game's parse_action reads them
    position: Any = None
    whole: bool = True  # False if a right answer may have more to it than the text tells


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of the moves of a text."""

    actions: tuple[str, ...]
    legal: bool
    correct: bool | None  # the rules accept the result as an answer; None if all is right as far as it is told
    position: str | None  # the result as text; None if a move was illegal
    broken: str = ""  # the first illegal action


def replay(told: Told) -> Replay | None:
    """The kindest of the ways to understand a text: right, if it is right in one of them. None if it tells no move."""
    best: Replay | None = None
    for telling in tellings(told):
        played = _played(told, telling)
        if best is None or _rank(played) > _rank(best):
            best = played
        if played.correct:
            break
    return best


def tellings(told: Told) -> Iterator[Telling]:
    """What the game's reader makes of the text; nothing if the game has none."""
    reader = reader_of(told.task.partition("/")[0])
    if reader is not None:
        yield from reader.tellings(told)


@lru_cache(maxsize=64)
def reader_of(game: str) -> Any:
    """The module `readers/NAME.py`, if there is one."""
    name = f"{__package__}.readers.{game}"
    return import_module(name) if find_spec(name) is not None else None


def _rank(played: Replay) -> tuple[bool, bool, bool]:
    return played.correct is True, played.correct is None, played.legal


def _played(told: Told, telling: Telling) -> Replay:
    plugin, _ = plugin_of(told.task)
    position = told.problem.position if telling.position is None else telling.position
    for text in telling.actions:
        try:
            position = plugin.game.apply(position, plugin.game.parse_action(text))
        except (BadInput, IllegalAction, LookupError):
            return Replay(telling.actions, legal=False, correct=False, position=None, broken=text)
    check = plugin.solver.check(told.problem, position)
    correct = check.correct if telling.whole or check.correct else None
    return Replay(telling.actions, legal=True, correct=correct, position=str(position))
