"""What stages will ask for, before they ask: calls, pictures and tokens. Nothing is built, loaded or asked.

Where an earlier stage has still to run, all that it may give is counted on: the figures are the most that it can cost,
if no reply has to be asked for again. Tokens are those of texts of usual length and pictures of 1024 pixels.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from PIL import Image

from realworld.asking import prompt_named
from realworld.filter import QUESTIONS
from realworld.recipe import Dedup, Filter, Options, Pairs, Triples
from realworld.run import Run
from realworld.triples import orders, seeds_of
from scoring.forecast import REPLY_TOKENS, tokens_of

USUAL = {
    "category": 20, "meaning": 250, "subjects": 150, "count": 1,
    "description": 200, "instruction": 80, "effect": 250, "reasoning": 700,
}  # fmt: skip
"""Characters of each text; examples are a description, an instruction and an effect each."""


@dataclass(frozen=True, slots=True)
class Estimate:
    stage: str
    calls: int = 0  # to models that answer in words
    images: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __str__(self) -> str:
        drawn = f"{self.images:,} pictures to make" if self.images else ""
        tokens = f"about {self.input_tokens:,} tokens in and {self.output_tokens:,} out"
        asked = f"{self.calls:,} calls, {tokens}" if self.calls else ""
        return f"{self.stage}: {drawn or asked or 'nothing to ask for'}"


def estimate(run: Run | None, recipe: Mapping[str, Options]) -> Iterator[Estimate]:
    """For each stage of the recipe, in order, what is left to do. `run` is None if there is no run folder yet."""
    triples = len(list(run.unique())) if run else 0
    pairs = len(list(run.pairs())) if run else 0
    open_end = False  # whether more triples may come
    for stage, options in recipe.items():
        done = _finished(run, stage)
        if isinstance(options, Triples):
            requests = len(orders(options, seeds_of(options)))
            reply = options.batch * sum(USUAL[name] for name in ("description", "instruction", "effect")) // 4
            yield _asked(stage, ["triples"], requests - done, reply, examples=options.examples * 600)
            open_end = done < requests
            triples = requests * options.batch if open_end else triples
        elif isinstance(options, Dedup):
            written = [triple.id for triple in run.triples()] if run else []
            if not open_end and run and list(run.results("dedup")) != written:
                triples = len(written)
            yield Estimate(stage)
        elif isinstance(options, Pairs):
            pairs = triples * options.candidates
            yield Estimate(stage, images=max(0, triples + pairs - done))
        elif isinstance(options, Filter):
            yield _asked(stage, QUESTIONS, pairs - done, REPLY_TOKENS)
        else:
            yield _asked(stage, ["reasoning"], pairs - done, USUAL["reasoning"] // 4)


def _asked(stage: str, prompts: Sequence[str], pieces: int, reply: int, **sizes: int) -> Estimate:
    texts: dict[str, str | bytes] = {text: "x" * size for text, size in {**USUAL, **sizes}.items()}
    values = {**texts, "original": _blank(), "edited": _blank()}
    tokens = sum(tokens_of(part) for name in prompts for part in prompt_named(name).fill("real", "", values))
    pieces = max(0, pieces)  # what was asked for before may be more than is asked for now
    calls = pieces * len(prompts)
    return Estimate(stage, calls, 0, pieces * tokens, calls * reply)


def _finished(run: Run | None, stage: str) -> int:
    return sum("failure" not in result for result in run.results(stage).values()) if run else 0


@cache
def _blank() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (1024, 1024)).save(stream, "PNG")
    return stream.getvalue()
