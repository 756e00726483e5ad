"""Builders by name: `KIND`, `KIND:TARGET`, an entry point of the registry's group, or `module:function`.

A builder takes what follows the colon (if the kind has a target) and options by keyword. Kinds that only wait for a
server are shared by threads.
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


@dataclass(frozen=True, slots=True)
class Kind:
    """Where a builder lives, so that naming one kind does not import the others."""

    module: str
    name: str
    target: str = ""  # what stands after the colon, for messages; empty if nothing may
    waits: bool = False  # for a server, so that threads are enough

    def builder(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found


@dataclass(frozen=True, slots=True)
class Registry:
    what: str  # for messages
    group: str
    kinds: Mapping[str, Kind]

    def build(self, name: str, options: Mapping[str, Any] | None = None, *, worker: int = 0) -> Any:
        """What this name stands for. `worker` counts the workers, and chooses among several GPUs."""
        return self._call(name, options or {}, worker)()

    def check(self, name: str, options: Mapping[str, Any]) -> None:
        """Raise what is wrong with a name or its options, as far as that can be told without building anything."""
        self._call(name, options, 0)

    def waits(self, name: str) -> bool:
        """Whether it only waits for a server."""
        kind = self.kinds.get(name.partition(":")[0])
        return kind is not None and kind.waits

    def _call(self, name: str, options: Mapping[str, Any], worker: int) -> Callable[[], Any]:
        builder, arguments = self._find(name)
        signature = inspect.signature(builder)
        given = dict(options) | ({"worker": worker} if "worker" in signature.parameters else {})
        try:
            signature.bind(*arguments, **given)
        except TypeError as error:
            raise BadInput(f"{self.what} {name!r}: {error}; it takes {_options(signature)}") from None
        return partial(builder, *arguments, **given)

    def _find(self, name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
        kind, colon, target = name.partition(":")
        if kind in self.kinds:
            expected = self.kinds[kind].target
            if bool(target) != bool(expected):
                raise BadInput(f"{self.what} {name!r}: write {kind}{':' if expected else ''}{expected}")
            return self.kinds[kind].builder(), (target,) if expected else ()
        foreign = {point.name: point for point in entry_points(group=self.group)}
        if kind in foreign:
            return foreign[kind].load(), (target,) if colon else ()
        known = [*self.kinds, *foreign]
        if not colon:
            raise unknown(self.what, name, known)
        try:
            return getattr(import_module(kind), target), ()
        except (ModuleNotFoundError, AttributeError) as error:
            raise BadInput(f"{self.what} {name!r}: {error}; known kinds: {', '.join(known)}") from None


def _options(signature: inspect.Signature) -> str:
    names = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY and p.name != "worker"]
    return f"the options {', '.join(names)}" if names else "no options"
