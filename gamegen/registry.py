"""Which games there are: our own by file name, other people's by entry point. There is no list to edit."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

import gamegen.games
from gamegen.core.errors import BadInput, MissingExtra, unknown
from gamegen.core.plugin import Plugin
from gamegen.core.words import FOLDER

GROUP = "gamegen.games"
EXTRAS = {"chess": "chess"}
"""Packages that a game of ours may need, and the extra that brings them."""


@lru_cache(maxsize=1)
def games() -> tuple[str, ...]:
    """Names of all games, sorted."""
    own = {module.name for module in pkgutil.iter_modules(gamegen.games.__path__)}
    return tuple(sorted(own | set(_foreign())))


@lru_cache(maxsize=64)
def plugin(name: str) -> Plugin:
    """The game of this name."""
    if name not in games():
        raise unknown("game", name, games())
    if name in _foreign():
        found = _foreign()[name].load()
        if not isinstance(found, Plugin):
            raise BadInput(f"entry point {name!r} of group {GROUP!r} is not a gamegen Plugin but {found!r}")
        return found
    try:
        return Plugin(
            game=import_module(f"gamegen.games.{name}").game,
            solver=import_module(f"solvers.{name}").solver,
            renderer=import_module(f"renderers.{name}").renderer,
            words=FOLDER / f"{name}.toml",
        )
    except ModuleNotFoundError as error:
        if error.name in EXTRAS:
            raise MissingExtra(f"the package {error.name}", EXTRAS[error.name]) from error
        raise


@lru_cache(maxsize=1)
def tasks() -> tuple[str, ...]:
    """Names of all tasks (`game/kind`) of all games whose packages are installed, sorted by game."""
    names = []
    for name in games():
        try:
            names += [f"{name}/{task.kind}" for task in plugin(name).game.tasks]
        except MissingExtra:
            continue
    return tuple(names)


def plugin_of(task: str) -> tuple[Plugin, str]:
    """The game of a task and the task's kind."""
    name, slash, kind = task.partition("/")
    found = plugin(name)
    kinds = [each.kind for each in found.game.tasks]
    if not slash or kind not in kinds:
        raise unknown("task", task, [f"{name}/{each}" for each in kinds])
    return found, kind


def select(pattern: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Tasks from `all`, a game, a task, or several of these (a list, or separated by commas)."""
    parts = pattern.split(",") if isinstance(pattern, str) else list(pattern)
    chosen: dict[str, None] = {}
    for part in filter(None, (part.strip() for part in parts)):
        if part == "all":
            chosen.update(dict.fromkeys(tasks()))
        elif "/" in part:
            plugin_of(part)
            chosen[part] = None
        else:
            chosen.update({f"{part}/{task.kind}": None for task in plugin(part).game.tasks})
    if not chosen:
        raise BadInput(f"no task chosen by {pattern!r}; try 'all'")
    return tuple(chosen)


@lru_cache(maxsize=1)
def _foreign() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
