"""Dual-reference judging by a seeing model: three questions a sample, each answered with a whole number from 1 to 5.

Instruction following sees the original, the instruction, the output, the reference picture and the reference text;
visual consistency the original, the instruction and the output; visual quality the output alone.

A picture that is missing or cannot be opened is the editor's failure: lowest scores, no call. A reply that cannot be
read, after asking again, is the judge's: it is kept as None and never mistaken for the editor's.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.errors import BadInput, JudgeFailed, UnreadableImage
from gamegen.images import load_rgb
from gamegen.stored import StoredRow
from scoring.cache import ReplyCache, cache_key
from scoring.parse import LOWEST, parse_reply
from scoring.prompts import QUESTIONS, load_prompt

ATTEMPTS = 3
"""How often a question is put before its replies are called unreadable."""

LARGEST_SIDE = 1024
"""Pictures are scaled down to this before a judge sees them."""

Scores = dict[str, int | None]
"""By question; None where the judge failed."""


class Judge(Protocol):
    """What is needed of a model: edit_models.vlm has two."""

    name: str
    parameters: Mapping[str, Any]
    concurrency: int

    async def ask(self, parts: Sequence[str | bytes]) -> str: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Dual:
    """How to judge: who, how often, and where replies are remembered."""

    judge: Judge
    cache: ReplyCache
    passes: int = 1

    async def judge_all(self, rows: Iterable[StoredRow], outputs: Path, done: Progress) -> list[dict[str, Any]]:
        """A record for every row, in order. Rows are read as they are needed, as many at a time as the judge takes."""
        todo = iter(enumerate(rows))
        records: dict[int, dict[str, Any]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.judge.concurrency):
                    group.create_task(self._worker(todo, outputs, records, done))
        except ExceptionGroup as several:  # what stops one worker, as a refused key, stops all
            raise several.exceptions[0] from several
        return [records[number] for number in sorted(records)]

    async def _worker(
        self,
        todo: Iterator[tuple[int, StoredRow]],
        outputs: Path,
        records: dict[int, dict[str, Any]],
        done: Progress,
    ) -> None:
        for number, stored in todo:
            records[number] = await self.judge_one(stored, stored.output(outputs))
            done()

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
            "passes": [{name: answer.score for name, answer in zip(QUESTIONS, each, strict=True)} for each in answers],
            "replies": [{name: answer.reply for name, answer in zip(QUESTIONS, each, strict=True)} for each in answers],
            "failure": "; ".join(
                dict.fromkeys(answer.failure for each in answers for answer in each if answer.failure)
            ),
        }

    def key(self, question: str, parts: Sequence[str | bytes], number: int) -> str:
        """Where the reply to a question in a pass is remembered."""
        name = load_prompt(question).name
        judge = self.judge
        return cache_key(parts, prompt=name, judge=judge.name, parameters=judge.parameters, number=number)

    async def _ask(self, question: str, stored: StoredRow, values: Mapping[str, str | bytes], number: int) -> Answer:
        """One question, from the cache or the judge; only replies that can be read are remembered."""
        prompt = load_prompt(question)
        parts = prompt.fill(*kind_of(stored), values)
        key = self.key(question, parts, number)
        known = self.cache.get(key)
        if known is not None:
            return Answer(parse_reply(known).score, known, "")
        reply, failure = "", ""
        for attempt in range(ATTEMPTS):
            try:
                reply = await self.judge.ask([*parts, prompt.again] if attempt else parts)
                score = parse_reply(reply).score
            except JudgeFailed as error:
                failure = f"{question}: {error}"
                if not reply:
                    break  # the judge has already been asked as often as it takes
            else:
                self.cache.put(key, reply, judge=self.judge.name, prompt=prompt.name)
                return Answer(score, reply, "")
        return Answer(None, reply, failure)


@dataclass(frozen=True, slots=True)
class Answer:
    score: int | None
    reply: str
    failure: str


class Progress(Protocol):
    def __call__(self) -> object: ...


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
