"""For lmms-eval: the functions that a task's YAML names, for a dataset that `gamegen make` wrote.

The harness stores the editor's pictures itself, and hands over JSON: `{"text": …, "images": [path, …]}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from gamegen.reward import grade


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """The picture to edit."""
    return [doc["original_image"].convert("RGB")]


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, str] | None = None) -> str:
    """The prompt: rules, then the instruction, between the harness's own affixes."""
    affixes = lmms_eval_specific_kwargs or {}
    return f"{affixes.get('pre_prompt', '')}{doc['rules']} {doc['instruction']}{affixes.get('post_prompt', '')}"


def process_results(doc: Mapping[str, Any], results: Sequence[str], **kw: object) -> dict[str, float]:
    """The metrics of one answer: `gamegen_strict`, `gamegen_dense`, …; an answer without a picture gets 0 in all."""
    measures = grade(doc, _last_image(results[0] if results else "")).measures()
    return {f"gamegen_{name}": value for name, value in measures.items()}


def _last_image(result: str) -> str | None:
    try:
        answer = orjson.loads(result)
    except orjson.JSONDecodeError:
        return None  # the model answered in words alone
    images = answer.get("images") if isinstance(answer, dict) else None
    return str(images[-1]) if images else None
