"""What a judging run will ask for, before it asks: calls, calls answered by the cache, and tokens.

Texts are taken at four characters a token. A picture is taken at 85 tokens and 170 for each tile of 512 pixels, after
its shorter side is brought down to 768: the published rule of one large provider. Others count otherwise, so the
figures are for planning.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.stored import StoredRow
from scoring.dual import Dual, as_seen, kind_of, seen_values
from scoring.prompts import QUESTIONS, load_prompt

REPLY_TOKENS = 80
"""A reason of two sentences and a score."""


@dataclass(frozen=True, slots=True)
class Forecast:
    samples: int
    missing: int  # no picture, or one that cannot be opened: no call
    cached: int
    calls: int
    input_tokens: int

    @property
    def output_tokens(self) -> int:
        return self.calls * REPLY_TOKENS

    def __str__(self) -> str:
        return (
            f"{self.samples} samples, {self.missing} without a picture: {self.calls} calls and {self.cached} from the "
            f"cache; about {self.input_tokens:,} tokens in and {self.output_tokens:,} out"
        )


def forecast(rows: Iterable[StoredRow], outputs: Path, dual: Dual) -> Forecast:
    samples = missing = cached = calls = tokens = 0
    for stored in rows:
        samples += 1
        path = stored.output(outputs)
        try:
            picture = None if path is None else as_seen(path.read_bytes())
        except UnreadableImage:
            picture = None
        if picture is None:
            missing += 1
            continue
        values = seen_values(stored, picture)
        for question in QUESTIONS:
            parts = load_prompt(question).fill(*kind_of(stored), values)
            for number in range(dual.passes):
                if dual.cache.get(dual.key(question, parts, number)) is not None:
                    cached += 1
                else:
                    calls += 1
                    tokens += sum(map(tokens_of, parts))
    return Forecast(samples, missing, cached, calls, tokens)


def tokens_of(part: str | bytes) -> int:
    if isinstance(part, str):
        return ceil(len(part) / 4)
    with Image.open(io.BytesIO(part)) as image:
        scale = min(1.0, 768 / min(image.size))
        across, down = (ceil(side * scale / 512) for side in image.size)
    return 85 + 170 * across * down
