"""Putting questions to a model: from the cache if they were asked before, again if a reply cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from gamegen.core.errors import JudgeFailed
from scoring.cache import ReplyCache, cache_key

ATTEMPTS = 3
"""How often a question is put before its replies are called unreadable."""

T = TypeVar("T")


class Model(Protocol):
    """What is needed of a model: edit_models.vlm has two."""

    name: str
    parameters: Mapping[str, Any]
    concurrency: int

    async def ask(self, parts: Sequence[str | bytes]) -> str: ...

    async def close(self) -> None: ...


class Question(Protocol):
    """What is needed of a prompt beside its text."""

    @property
    def name(self) -> str:
        """With its version."""
        ...

    @property
    def again(self) -> str:
        """Added when a reply could not be read."""
        ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a reply says once it is read; None where the model failed, and then why."""

    value: T | None
    reply: str
    failure: str


async def put(
    model: Model,
    cache: ReplyCache,
    prompt: Question,
    parts: Sequence[str | bytes],
    read: Callable[[str], T],
    *,
    number: int = 0,
) -> Answer[T]:
    """One question. Only replies that `read` takes are remembered; it raises JudgeFailed for the others."""
    key = key_of(model, prompt, parts, number)
    known = cache.get(key)
    if known is not None:
        return Answer(read(known), known, "")
    reply, failure = "", ""
    for attempt in range(ATTEMPTS):
        try:
            reply = await model.ask([*parts, prompt.again] if attempt else parts)
            value = read(reply)
        except JudgeFailed as error:
            failure = str(error)
            if not reply:
                break  # the model has already been asked as often as it takes
        else:
            cache.put(key, reply, judge=model.name, prompt=prompt.name)
            return Answer(value, reply, "")
    return Answer(None, reply, failure)


def key_of(model: Model, prompt: Question, parts: Sequence[str | bytes], number: int = 0) -> str:
    """Where the reply to a question is remembered."""
    return cache_key(parts, prompt=prompt.name, judge=model.name, parameters=model.parameters, number=number)


async def at_once(items: Iterable[T], work: Callable[[T], Awaitable[None]], count: int) -> None:
    """Work through the items, `count` at a time; they are drawn as they are needed. What stops one stops all."""
    todo = iter(items)

    async def worker() -> None:
        for item in todo:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(worker())
    except ExceptionGroup as several:
        raise several.exceptions[0] from several
