"""What the judge says of an edited picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Verdict:
    correct: bool
    legal: bool
    readable: bool
    preserved: float  # share of what had to stay, and stayed
    quality: float  # 1 is the clean rendering of the position that was read, 0 is unlike it
    confidence: float  # of the least certain cell
    reason: str  # one sentence
    position: str = ""  # as read; empty if unreadable
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """1 only if correct; partial credit is in `parts`, beside the score, never in it."""
        return 1.0 if self.correct else 0.0
