"""Fourth stage: a seeing model writes the reasoning that leads from the original to the edited picture of each pair."""

from __future__ import annotations

import re
from typing import Any

from gamegen.core.errors import BadInput, JudgeFailed
from realworld.asking import Ask, picture, prompt_named, run_asking
from realworld.recipe import Reason
from realworld.run import Pair, Run
from realworld.stage import Done, Piece, Progress
from scoring.parse import shortened

FEWEST, MOST = 30, 400
"""Words of a reasoning text."""

_THINKING = re.compile(r"^.*</think(?:ing)?>", re.DOTALL)


def write_reasoning(run: Run, options: Reason, progress: Progress) -> Done:
    pieces = [Piece(pair.id, pair.key, pair) for pair in run.pairs()]
    if not pieces:
        raise BadInput(f"{run.folder} has no pairs of pictures yet; `gamegen real pairs` makes them")
    return run_asking(
        run, "reason", options, pieces, _answer, prompts=["reasoning"], progress=progress, schema=None, max_tokens=1024
    )


async def _answer(pair: Pair, ask: Ask) -> dict[str, Any]:
    triple = pair.triple
    values: dict[str, str | bytes] = {
        "instruction": triple.instruction,
        "effect": triple.effect,
        "original": picture(pair.original),
        "edited": picture(pair.edited),
    }
    return {"text": await ask(prompt_named("reasoning"), values, read_text)}


def read_text(reply: str) -> str:
    """The text in one paragraph, without what the model thought before it."""
    text = " ".join(_THINKING.sub("", reply).split())
    count = len(text.split())
    if not FEWEST <= count <= MOST:
        raise JudgeFailed(f"expected {FEWEST} to {MOST} words of reasoning, got {count}: {shortened(text)}")
    return text
