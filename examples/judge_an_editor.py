"""Judge editors by the rules: one that does nothing, one that knows the answer, and one that knows it half the time."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image

import gamegen

Editor = Callable[[gamegen.Sample], Image.Image]


def lazy(sample: gamegen.Sample) -> Image.Image:
    return sample.original


def perfect(sample: gamegen.Sample) -> Image.Image:
    """The right answer, through JPEG and a smaller size, as editors return it."""
    data = io.BytesIO()
    sample.edited.resize((448, 448), Image.Resampling.LANCZOS).save(data, "JPEG", quality=85)
    return Image.open(data)


def moody(sample: gamegen.Sample) -> Image.Image:
    return perfect(sample) if sample.key.index % 2 else lazy(sample)


def accuracy(editor: Editor) -> float:
    dataset = gamegen.create_dataset(["tictactoe", "maze"], seed=1, size=20, level=2, split="test")
    return sum(gamegen.verify(sample, editor(sample)).correct for sample in dataset) / len(dataset)


for editor in (lazy, moody, perfect):
    print(f"{editor.__name__:<8} {accuracy(editor):.0%}")
