"""For verl: `custom_reward_function.path=…/gamegen/adapters/verl.py`, `.name=compute_score` or `compute_dense_score`.

The picture is what the rollout put into `extra_info["solution_image"]` (encoded bytes, a path, a PIL image or an
array), or else the last data URL in the solution's text. Every answer has the same keys, as verl's logging needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gamegen.adapters.inputs import row_of, said_picture
from gamegen.reward import Grade, grade


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Mapping[str, Any] | str,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: object,
) -> dict[str, float]:
    """1 if the edit is right by the rules, else 0, with the measures beside it."""
    graded = _grade(solution_str, ground_truth, extra_info)
    return {"score": graded.strict, **graded.measures()}


def compute_dense_score(
    data_source: str,
    solution_str: str,
    ground_truth: Mapping[str, Any] | str,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: object,
) -> dict[str, float]:
    """Partial credit for wrong edits, with the measures beside it."""
    graded = _grade(solution_str, ground_truth, extra_info)
    return {"score": graded.dense, **graded.measures()}


def _grade(solution: str, truth: Mapping[str, Any] | str, extra_info: Mapping[str, Any] | None) -> Grade:
    # not "edited_image": in a row that is the right answer itself
    given = (extra_info or {}).get("solution_image")
    return grade(row_of(truth), given if given is not None else said_picture(solution))
