"""For TRL's GRPOTrainer and its kin: `reward_funcs=[gamegen_reward]` or `[gamegen_dense_reward]`.

The dataset keeps the row's needed columns, and TRL hands each over as a list. A row whose `task` is None belongs to
another reward of a mixed dataset, and is skipped with None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gamegen.adapters.inputs import said_picture
from gamegen.core.errors import BadInput
from gamegen.reward import NEEDED, reward


def gamegen_reward(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
    """Strict rewards of the last picture in each completion."""
    return _rewards(completions, columns, dense=False)


def gamegen_dense_reward(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
    """Dense rewards of the last picture in each completion."""
    return _rewards(completions, columns, dense=True)


def _rewards(completions: Sequence[Any], columns: Mapping[str, Any], *, dense: bool) -> list[float | None]:
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise BadInput(
            f"the dataset lacks the columns {', '.join(missing)}; keep them with remove_unused_columns=False"
        )
    cells = zip(*(columns[name] for name in NEEDED), strict=True)
    rows = [dict(zip(NEEDED, row, strict=True)) for row in cells]
    return [
        None if row["task"] is None else reward(row, said_picture(completion), dense=dense)
        for row, completion in zip(rows, completions, strict=True)
    ]
