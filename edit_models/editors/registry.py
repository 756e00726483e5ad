"""Editors by name: `KIND`, `KIND:TARGET`, an entry point of group `gamegen.editors`, or `module:function`.

A builder takes what follows the colon (if the kind has a target) and options by keyword, and returns an editor. Kinds
that only wait for a server are shared by threads; the others are built anew in every process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from gamegen.core.errors import BadInput, unknown

GROUP = "gamegen.editors"


@dataclass(frozen=True, slots=True)
class Kind:
    """Where a builder lives, so that naming one editor does not import the others."""

    module: str
    name: str
    target: str = ""  # what stands after the colon, for messages; empty if nothing may
    waits: bool = False  # for a server, so that threads are enough

    def builder(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found


KINDS = {
    "copy": Kind("edit_models.editors.yardsticks", "Copy"),
    "oracle": Kind("edit_models.editors.yardsticks", "Oracle"),
    "noise": Kind("edit_models.editors.yardsticks", "Noise"),
    "wrong": Kind("edit_models.editors.yardsticks", "Wrong"),
    "diffusers": Kind("edit_models.editors.pipelines", "load_pipeline", target="PATH_OR_NAME"),
    "bagel": Kind("edit_models.editors.pipelines", "load_bagel", target="PATH"),
    "openai": Kind("edit_models.editors.remote", "ImagesEditor", target="MODEL", waits=True),
    "chat": Kind("edit_models.editors.remote", "ChatEditor", target="MODEL", waits=True),
}


def build(name: str, options: Mapping[str, Any] | None = None, *, worker: int = 0) -> Any:
    """The editor of this name. `worker` counts the processes, and chooses among several GPUs."""
    return _call(name, options or {}, worker)()


def check(name: str, options: Mapping[str, Any]) -> None:
    """Raise what is wrong with a name or its options, as far as that can be told without building the editor."""
    _call(name, options, 0)


def waits(name: str) -> bool:
    """Whether the editor only waits for a server."""
    kind = KINDS.get(name.partition(":")[0])
    return kind is not None and kind.waits


def _call(name: str, options: Mapping[str, Any], worker: int) -> Callable[[], Any]:
    builder, arguments = _find(name)
    signature = inspect.signature(builder)
    given = dict(options) | ({"worker": worker} if "worker" in signature.parameters else {})
    try:
        signature.bind(*arguments, **given)
    except TypeError as error:
        raise BadInput(f"editor {name!r}: {error}; it takes {_options(signature)}") from None
    return partial(builder, *arguments, **given)


def _find(name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    kind, colon, target = name.partition(":")
    if kind in KINDS:
        expected = KINDS[kind].target
        if bool(target) != bool(expected):
            raise BadInput(f"editor {name!r}: write {kind}{':' if expected else ''}{expected}")
        return KINDS[kind].builder(), (target,) if expected else ()
    foreign = {point.name: point for point in entry_points(group=GROUP)}
    if kind in foreign:
        return foreign[kind].load(), (target,) if colon else ()
    if not colon:
        raise unknown("editor", name, [*KINDS, *foreign])
    try:
        return getattr(import_module(kind), target), ()
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadInput(f"editor {name!r}: {error}; known kinds: {', '.join([*KINDS, *foreign])}") from None


def _options(signature: inspect.Signature) -> str:
    names = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY and p.name != "worker"]
    return f"the options {', '.join(names)}" if names else "no options"
