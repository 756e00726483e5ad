"""A model by its name: a folder is loaded on this machine, anything else is a snapshot behind an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edit_models.vlm.protocol import SCHEMA, VisionModel
from gamegen.core.errors import BadInput


def open_model(
    name: str,
    *,
    base_url: str | None,
    concurrency: int,
    timeout: float,
    temperature: float = 0,
    max_tokens: int | None = None,
    schema: Mapping[str, Any] | None = SCHEMA,
    counting: bool = False,
) -> VisionModel:
    """`schema` is asked of endpoints only. `counting` is for estimates, which ask nothing and so need no key."""
    if concurrency < 1 or timeout <= 0:
        raise BadInput(f"concurrency and time-out of a model must be above 0, not {concurrency} and {timeout:g}")
    if temperature < 0:
        raise BadInput(f"temperature must not be negative, not {temperature:g}")
    if Path(name).is_dir() and not base_url:
        from edit_models.vlm.local import LocalModel

        return LocalModel(name, temperature=temperature, **({"max_new_tokens": max_tokens} if max_tokens else {}))
    from edit_models.vlm.chat import ChatModel

    return ChatModel(
        name,
        base_url=base_url,
        key="not needed to count" if counting else None,
        concurrency=concurrency,
        timeout=timeout,
        temperature=temperature,
        schema=schema,
        **({"max_tokens": max_tokens} if max_tokens else {}),
    )
