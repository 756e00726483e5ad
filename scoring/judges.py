"""What results say of their judge."""

from __future__ import annotations

from typing import Any

from scoring.asking import Model
from scoring.prompts import QUESTIONS, load_prompt


def judge_json(judge: Model, *, passes: int) -> dict[str, Any]:
    return {
        "model": judge.name,
        "parameters": dict(judge.parameters),
        "prompts": [load_prompt(question).name for question in QUESTIONS],
        "passes": passes,
    }
