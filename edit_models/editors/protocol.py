"""What an editor is: a picture and a sentence go in, a picture and perhaps its thinking come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PIL import Image

from gamegen.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Request:
    """One edit to make. The seed belongs to the sample, never to the worker, so reruns agree."""

    image: Image.Image
    instruction: str  # rules and instruction, as the editor should read them
    seed: int


@dataclass(frozen=True, slots=True)
class Edit:
    image: Image.Image
    thinking: str = ""


class Stop(BadInput):
    """Raised by an editor when no other sample will fare better, as after a refused key: the run ends at once."""


class Editor(Protocol):
    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Edit: ...


class BatchEditor(Editor, Protocol):
    """An editor that is faster on several pictures at once; the results keep the order of the requests."""

    def edit_batch(self, requests: Sequence[Request]) -> list[Edit]: ...


class RowEditor(Protocol):
    """An editor that is shown the whole row, answer included: for yardsticks, never for a model."""

    def edit_row(self, row: Mapping[str, Any], *, seed: int) -> Edit: ...
