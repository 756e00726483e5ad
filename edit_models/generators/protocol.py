"""What a generator is: a description goes in, a picture comes out."""

from __future__ import annotations

from typing import Protocol

from PIL import Image


class Generator(Protocol):
    def generate(self, description: str, *, seed: int) -> Image.Image: ...
