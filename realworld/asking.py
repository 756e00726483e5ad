"""A stage that asks a model one question a piece, or several."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from edit_models.vlm.named import open_model
from edit_models.vlm.protocol import SCHEMA
from gamegen.core.errors import JudgeFailed, UnreadableImage
from realworld.recipe import Asking
from realworld.run import Run
from realworld.stage import Done, Piece, Progress, at_work
from scoring.asking import Model, at_once, put
from scoring.cache import ReplyCache
from scoring.dual import as_seen
from scoring.prompts import Prompt, load_prompt

T = TypeVar("T")
P = TypeVar("P")


class Ask(Protocol):
    """Puts a question; JudgeFailed if there is no reply that `read` takes."""

    async def __call__(self, prompt: Prompt, values: Mapping[str, str | bytes], read: Callable[[str], T]) -> T: ...


def picture(path: Path) -> bytes:
    """A picture of the run as a model gets it; a missing one fails its piece alone."""
    try:
        return as_seen(path.read_bytes())
    except (OSError, UnreadableImage) as error:
        raise JudgeFailed(
            f"{path} cannot be shown: {error}; `gamegen real pairs` makes it again if it is gone"
        ) from error


def prompt_named(name: str) -> Prompt:
    return load_prompt(name, "realworld.prompts")


def run_asking(
    run: Run,
    stage: str,
    options: Asking,
    pieces: Sequence[Piece[P]],
    answer: Callable[[P, Ask], Awaitable[Mapping[str, Any]]],
    *,
    prompts: Sequence[str],
    plan: Mapping[str, Any] | None = None,
    order: Callable[[str], Any] | None = None,
    progress: Progress,
    schema: Mapping[str, Any] | None = SCHEMA,
    temperature: float = 0,
    max_tokens: int | None = None,
) -> Done:
    """Answer every piece that is not finished. `plan` adds to what the stage's journal says of itself."""
    model = open_model(
        options.model,
        base_url=options.base_url or None,
        concurrency=options.concurrency,
        timeout=options.timeout,
        schema=schema,
        temperature=temperature,
        max_tokens=max_tokens,
    )
    whole_plan = {
        "model": model.name,
        "parameters": dict(model.parameters),
        "prompts": [prompt_named(name).name for name in prompts],
        **(plan or {}),
    }
    with (
        at_work(run, stage, whole_plan, progress) as work,
        ReplyCache(Path(options.cache) if options.cache else run.replies) as cache,
    ):

        async def one(piece: Piece[P]) -> None:
            try:
                result = await answer(piece.work, _asker(model, cache))
            except JudgeFailed as error:
                work.fail(piece, str(error))
            else:
                work.add(piece, result)

        asyncio.run(_all(model, work.missing(pieces), one))
        return work.settle(pieces, order)


async def _all(model: Any, pieces: list[Piece[P]], one: Callable[[Piece[P]], Awaitable[None]]) -> None:
    try:
        await at_once(pieces, one, model.concurrency)
    finally:
        await model.close()


def _asker(model: Model, cache: ReplyCache) -> Ask:
    async def ask(prompt: Prompt, values: Mapping[str, str | bytes], read: Callable[[str], T]) -> T:
        given = await put(model, cache, prompt, prompt.fill("real", "", values), read)
        if given.value is None:
            raise JudgeFailed(f"{prompt.question}: {given.failure}")
        return given.value

    return ask
