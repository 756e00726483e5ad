"""Dual-reference judging by a seeing model: three questions a sample, each answered with a whole number from 1 to 5.

Instruction following sees the original, the instruction, the output, the reference picture and the reference text;
visual consistency the original, the instruction and the output; visual quality the output alone.

A picture that is missing or cannot be opened is the editor's failure: lowest scores, no call. A reply that cannot be
read, after asking again, is the judge's: it is kept as None and never mistaken for the editor's.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.images import load_rgb
from gamegen.stored import StoredRow
from scoring.asking import Answer, Model, at_once, key_of, put
from scoring.cache import ReplyCache
from scoring.parse import LOWEST, Opinion, parse_reply
from scoring.prompts import QUESTIONS, load_prompt

LARGEST_SIDE = 1024
"""Pictures are scaled down to this before a judge sees them."""

Scores = dict[str, int | None]
"""By question; None where the judge failed."""


@dataclass(frozen=True, slots=True)
class Dual:
    """How to judge: who, how often, and where replies are remembered."""

    judge: Model
    cache: ReplyCache
    passes: int = 1

    async def judge_all(self, rows: Iterable[StoredRow], outputs: Path, done: Progress) -> list[dict[str, Any]]:
        """A record for every row, in order. Rows are read as they are needed, as many at a time as the judge takes."""
        records: dict[int, dict[str, Any]] = {}

        async def one(item: tuple[int, StoredRow]) -> None:
            number, stored = item
            records[number] = await self.judge_one(stored, stored.output(outputs))
            done()

        await at_once(enumerate(rows), one, self.judge.concurrency)
        return [records[number] for number in sorted(records)]

    async def judge_one(self, stored: StoredRow, output: Path | None) -> dict[str, Any]:
        record = {
            "id": stored.row.get("id"),
            "category": stored.category,
            "output": stored.output_name,
            "found": output is not None,
            "model_failure": "" if output else "there is no picture",
        }
        picture = None
        if output is not None:
            try:
                picture = as_seen(output.read_bytes())
            except UnreadableImage as error:
                record["model_failure"] = str(error)
        if picture is None:
            lowest: Scores = dict.fromkeys(QUESTIONS, LOWEST)
            return {**record, "passes": [lowest] * self.passes, "replies": [{}] * self.passes, "failure": ""}
        values = seen_values(stored, picture)
        answers = [
            await asyncio.gather(*(self._ask(question, stored, values, number) for question in QUESTIONS))
            for number in range(self.passes)
        ]
        return {
            **record,
            "passes": [
                {name: _score(answer) for name, answer in zip(QUESTIONS, each, strict=True)} for each in answers
            ],
            "replies": [{name: answer.reply for name, answer in zip(QUESTIONS, each, strict=True)} for each in answers],
            "failure": "; ".join(
                dict.fromkeys(answer.failure for each in answers for answer in each if answer.failure)
            ),
        }

    def key(self, question: str, parts: Sequence[str | bytes], number: int) -> str:
        """Where the reply to a question in a pass is remembered."""
        return key_of(self.judge, load_prompt(question), parts, number)

    async def _ask(
        self, question: str, stored: StoredRow, values: Mapping[str, str | bytes], number: int
    ) -> Answer[Opinion]:
        prompt = load_prompt(question)
        parts = prompt.fill(*kind_of(stored), values)
        answer = await put(self.judge, self.cache, prompt, parts, parse_reply, number=number)
        return replace(answer, failure=f"{question}: {answer.failure}") if answer.failure else answer


class Progress(Protocol):
    def __call__(self) -> object: ...


def _score(answer: Answer[Opinion]) -> int | None:
    return None if answer.value is None else answer.value.score


def as_seen(data: bytes) -> bytes:
    """A picture as the judge gets it: a PNG of limited size. One that already is goes as it is, byte for byte."""
    pixels = load_rgb(data)
    with Image.open(io.BytesIO(data)) as image:
        if image.format == "PNG" and image.mode == "RGB" and max(image.size) <= LARGEST_SIDE:
            return data
    picture = Image.fromarray(pixels)
    picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def seen_values(stored: StoredRow, output: bytes) -> dict[str, str | bytes]:
    """Everything that a question may show, by the name of its slot."""
    row = stored.row
    try:
        return {
            "original": as_seen(row["original_image"]),
            "reference": as_seen(row["edited_image"]),
            "output": output,
            "instruction": "\n".join(text for text in (row.get("rules"), row["instruction"]) if text),
            "effect": str(row["reference_effect"]),
        }
    except (KeyError, UnreadableImage) as error:
        raise BadInput(f"row {stored.output_name} of the dataset cannot be judged by a model: {error}") from error


def kind_of(stored: StoredRow) -> tuple[str, str]:
    """Scenario (`game` or `real`) and category; one that the paper does not know is a game if it has rules."""
    try:
        name = category(stored.category)
    except BadInput:
        return "game" if stored.row.get("task") else "real", stored.category
    return CATEGORIES[name][0], name
