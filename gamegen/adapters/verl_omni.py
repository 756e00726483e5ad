"""For verl-omni: a reward on the generated picture, `compute_score` or `compute_dense_score`.

`reward_model.ground_truth` of the Parquet row is the JSON of the row's needed columns. Every answer has the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gamegen.adapters.inputs import picture, row_of
from gamegen.reward import grade


def compute_score(
    data_source: str,
    solution_image: Any,
    ground_truth: Mapping[str, Any] | str,
    extra_info: Mapping[str, Any] | None,
) -> dict[str, float]:
    """1 if the edit is right by the rules, else 0, with the measures beside it; the image is CHW, or NCHW of one."""
    graded = grade(row_of(ground_truth), picture(solution_image))
    return {"score": graded.strict, **graded.measures()}


def compute_dense_score(
    data_source: str,
    solution_image: Any,
    ground_truth: Mapping[str, Any] | str,
    extra_info: Mapping[str, Any] | None,
) -> dict[str, float]:
    """Partial credit for wrong edits, with the measures beside it."""
    graded = grade(row_of(ground_truth), picture(solution_image))
    return {"score": graded.dense, **graded.measures()}
