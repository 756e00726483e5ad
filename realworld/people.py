"""What people decided, as the export and the status take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from realworld.run import Run

if TYPE_CHECKING:
    from realworld.review import Decision

UNDECIDED = "not decided by people"


def decisions_of(run: Run) -> Mapping[str, Decision]:
    """By candidate; nothing where nobody has begun, and then the review is not even loaded."""
    if not run.decisions.exists():
        return {}
    from realworld.review import decisions

    return decisions(run)


def standing(decision: Decision | None) -> str:
    """Why people keep a candidate out; nothing if they kept it in both stages."""
    for stage, verdict in ((1, decision and decision.stage1), (2, decision and decision.stage2)):
        if verdict == "drop":
            return f"dropped by people in stage {stage}"
        if verdict is None:
            return UNDECIDED
    return ""
