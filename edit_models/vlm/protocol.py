"""What a seeing model is to a judge: a message of texts and pictures goes in, a text comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Part = str | bytes
"""A piece of a message: text, or the bytes of a PNG."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
"""The reply that is asked for: the reason first, so that the score follows from it."""


class VisionModel(Protocol):
    name: str  # the snapshot, as the endpoint or the folder calls it
    parameters: Mapping[str, Any]  # whatever else decides a reply; part of the cache's key
    concurrency: int  # how many questions may be under way

    async def ask(self, parts: Sequence[Part]) -> str:
        """The reply as text; JudgeFailed if none came."""
        ...

    async def close(self) -> None: ...
