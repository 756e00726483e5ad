"""Fifth stage: six questions about each pair, each answered with a whole number from 1 to 5 by a seeing model.

All six are asked of every pair: what is kept is decided when the scores are read, so that another `keep` asks nothing.
A reply that cannot be read, after asking again, is the model's failure: the pair is neither kept nor dropped.
"""

from __future__ import annotations

import asyncio
from typing import Any

from gamegen.core.errors import BadInput
from realworld.asking import Ask, picture, prompt_named, run_asking
from realworld.recipe import Filter
from realworld.run import Pair, Run
from realworld.stage import Done, Piece, Progress
from scoring.parse import parse_reply

QUESTIONS = (
    "text_hallucination",
    "instruction_following",
    "content_preservation",
    "visual_quality",
    "image_hallucination",
    "cot_quality",
)
"""In the order of the paper, in which drops are counted."""


def score_pairs(run: Run, options: Filter, progress: Progress) -> Done:
    run.set(keep=options.keep)
    pieces = [Piece(pair.id, pair.key, pair) for pair in run.reasoned()]
    if not pieces:
        raise BadInput(f"{run.folder} has no pairs with reasoning yet; `gamegen real reason` writes it")
    return run_asking(run, "filter", options, pieces, _answer, prompts=QUESTIONS, progress=progress)


async def _answer(pair: Pair, ask: Ask) -> dict[str, Any]:
    triple = pair.triple
    values: dict[str, str | bytes] = {
        "description": triple.description,
        "instruction": triple.instruction,
        "effect": triple.effect,
        "reasoning": pair.reasoning,
        "original": picture(pair.original),
        "edited": picture(pair.edited),
    }
    opinions = await asyncio.gather(*(ask(prompt_named(name), values, parse_reply) for name in QUESTIONS))
    return {
        "scores": {name: opinion.score for name, opinion in zip(QUESTIONS, opinions, strict=True)},
        "reasons": {name: opinion.reason for name, opinion in zip(QUESTIONS, opinions, strict=True)},
    }
