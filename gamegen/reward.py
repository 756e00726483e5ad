"""Rewards from one row and one picture, on the CPU, in milliseconds: what reinforcement learning on edits needs.

    reward(row, image)               1.0 if the edit is right by the rules, else 0.0
    reward(row, image, dense=True)   right is 1.0; anything else is at most 0.9 and grows with what is right in it

The dense reward of a wrong edit is 0.9 x (0.4 progress + 0.3 preserved + 0.2 legal + 0.1 readable): `progress` is the
mean of the game's own parts (cells right, steps made…), `preserved` the share of what had to stay. Each term is in
[0, 1] and the reward grows with each. Doing nothing, which preserves everything and is readable, is held at `IDLE`, the
least that a readable picture gets, so that copying the input never pays more than another picture that can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from gamegen.core.verdict import Verdict
from gamegen.images import Source
from gamegen.judge import verify
from gamegen.workers import use_one_thread

PROGRESS, PRESERVED, LEGAL, READABLE = 0.4, 0.3, 0.2, 0.1
CEILING = 0.9
"""The most that an edit which is not right can get."""

IDLE = CEILING * READABLE
"""What a picture in which nothing was done gets."""

NEEDED = ("id", "task", "position_before", "params", "style")
"""The columns of a row that judging needs."""


@dataclass(frozen=True, slots=True)
class Grade:
    """A verdict and the two rewards that follow from it."""

    verdict: Verdict
    dense: float

    @property
    def strict(self) -> float:
        return self.verdict.score

    def measures(self) -> dict[str, float]:
        """The same numbers for every game, as loggers want them."""
        verdict = self.verdict
        return {
            "strict": self.strict,
            "dense": self.dense,
            "progress": progress(verdict),
            "preserved": verdict.preserved,
            "legal": float(verdict.legal),
            "readable": float(verdict.readable),
            "quality": verdict.quality,
        }


def grade(row: Mapping[str, Any], image: Source | None) -> Grade:
    """Judge a picture; a missing or unreadable one gets 0, a row that cannot be judged raises BadInput."""
    verdict = verify(row, image)
    return Grade(verdict, dense_reward(verdict, str(row["position_before"])))


def reward(row: Mapping[str, Any], image: Source | None, *, dense: bool = False) -> float:
    """A number in [0, 1]; a missing or unreadable picture gets 0."""
    graded = grade(row, image)
    return graded.dense if dense else graded.strict


def dense_reward(verdict: Verdict, before: str) -> float:
    """Partial credit from a verdict; `before` is the position the editor was given."""
    if verdict.correct:
        return 1.0
    if not verdict.readable:
        return 0.0
    if verdict.position == before:
        return IDLE
    credit = PROGRESS * progress(verdict) + PRESERVED * verdict.preserved + LEGAL * verdict.legal + READABLE
    return CEILING * credit


def progress(verdict: Verdict) -> float:
    """The mean of the game's own parts; 0 if there are none."""
    return sum(verdict.parts.values()) / len(verdict.parts) if verdict.parts else 0.0


class RewardPool:
    """Rewards for many pictures at once, over several processes; results keep the order."""

    def __init__(self, *, jobs: int, dense: bool = False) -> None:
        self._dense = dense
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=use_one_thread)

    def __call__(self, rows: Sequence[Mapping[str, Any]], images: Iterable[Source | None]) -> list[float]:
        light = ({name: row[name] for name in NEEDED} for row in rows)
        work = [(row, image, self._dense) for row, image in zip(light, images, strict=True)]
        return list(self._pool.map(_one, work, chunksize=max(1, len(work) // 32)))

    def __enter__(self) -> RewardPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


def _one(item: tuple[Mapping[str, Any], Source | None, bool]) -> float:
    row, image, dense = item
    return reward(row, image, dense=dense)
