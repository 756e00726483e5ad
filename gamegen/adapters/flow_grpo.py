"""For flow_grpo: add `gamegen_score` or `gamegen_dense_score` to the `score_functions` of its `rewards.py`.

The metadata of each prompt is the row's needed columns: one JSON object a line of `train_metadata.jsonl`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gamegen.adapters.inputs import pictures, row_of
from gamegen.reward import grade

Scorer = Callable[..., tuple[list[float], dict[str, list[float]]]]


def gamegen_score(device: object) -> Scorer:
    """Strict scores; with `only_strict=False`, dense ones. The device is not used: judging runs on the CPU."""

    def _fn(
        images: Any,
        prompts: Sequence[str],
        metadata: Sequence[Mapping[str, Any] | str],
        ref_images: object = None,
        only_strict: bool = True,
    ) -> tuple[list[float], dict[str, list[float]]]:
        graded = [grade(row_of(row), image) for image, row in zip(pictures(images), metadata, strict=True)]
        measured = [each.measures() for each in graded]
        info = {name: [measures[name] for measures in measured] for name in (measured[0] if measured else ())}
        return [each.strict if only_strict else each.dense for each in graded], info

    return _fn


def gamegen_dense_score(device: object) -> Scorer:
    """Dense scores always: flow_grpo passes `only_strict` to one of its own scorers alone."""
    score = gamegen_score(device)

    def _fn(
        images: Any,
        prompts: Sequence[str],
        metadata: Sequence[Mapping[str, Any] | str],
        ref_images: object = None,
        only_strict: bool = True,
    ) -> tuple[list[float], dict[str, list[float]]]:
        return score(images, prompts, metadata, ref_images, only_strict=False)

    return _fn
