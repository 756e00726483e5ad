"""A judge by its name: a folder is loaded on this machine, anything else is a snapshot behind an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gamegen.core.errors import BadInput
from scoring.dual import Judge
from scoring.prompts import QUESTIONS, load_prompt


def open_judge(name: str, *, base_url: str | None, concurrency: int, timeout: float, counting: bool = False) -> Judge:
    """`counting` is for estimates, which ask nothing and so need no key."""
    if concurrency < 1 or timeout <= 0:
        raise BadInput(f"concurrency and time-out of a judge must be above 0, not {concurrency} and {timeout:g}")
    if Path(name).is_dir() and not base_url:
        from edit_models.vlm.local import LocalModel

        local: Judge = LocalModel(name)
        return local
    from edit_models.vlm.chat import ChatModel

    key = "not needed to count" if counting else None
    remote: Judge = ChatModel(name, base_url=base_url, key=key, concurrency=concurrency, timeout=timeout)
    return remote


def judge_json(judge: Judge, *, passes: int) -> dict[str, Any]:
    """What results say of their judge."""
    return {
        "model": judge.name,
        "parameters": dict(judge.parameters),
        "prompts": [load_prompt(question).name for question in QUESTIONS],
        "passes": passes,
    }
