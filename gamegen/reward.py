"""Rewards from one row and one picture, on the CPU, in milliseconds: what reinforcement learning on edits needs.

    reward(row, image)               1.0 if the edit is right by the rules, else 0.0
    reward(row, image, dense=True)   right is 1.0; anything else is below 0.9 and grows with what is right in it

The dense reward of a wrong edit is 0.9 x (0.4 progress + 0.3 preserved + 0.2 legal + 0.1 readable): `progress` is the
mean of the game's own parts (cells right, steps made…), `preserved` the share of what had to stay. Each term is in
[0, 1] and the reward grows with each. Doing nothing, which preserves everything and is readable, is held at `IDLE`, so
that copying the input never pays more than trying.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from gamegen.core.verdict import Verdict
from gamegen.images import Source
from gamegen.judge import verify

PROGRESS, PRESERVED, LEGAL, READABLE = 0.4, 0.3, 0.2, 0.1
CEILING = 0.9
"""The most that an edit which is not right can get."""

IDLE = 0.1
"""What a picture in which nothing was done gets."""


def reward(row: Mapping[str, Any], image: Source | None, *, dense: bool = False) -> float:
    """A number in [0, 1]; a missing or unreadable picture gets 0."""
    verdict = verify(row, image)
    return dense_reward(verdict, str(row["position_before"])) if dense else verdict.score


def dense_reward(verdict: Verdict, before: str) -> float:
    """Partial credit from a verdict; `before` is the position the editor was given."""
    if verdict.correct:
        return 1.0
    if not verdict.readable:
        return 0.0
    if verdict.position == before:
        return IDLE
    progress = sum(verdict.parts.values()) / len(verdict.parts) if verdict.parts else 0.0
    credit = PROGRESS * progress + PRESERVED * verdict.preserved + LEGAL * verdict.legal + READABLE
    return CEILING * credit


class RewardPool:
    """Rewards for many pictures at once, over several processes; results keep the order."""

    def __init__(self, *, jobs: int, dense: bool = False) -> None:
        self._dense = dense
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"))

    def __call__(self, rows: Sequence[Mapping[str, Any]], images: Iterable[Source | None]) -> list[float]:
        light = ({name: row[name] for name in NEEDED} for row in rows)
        work = [(row, image, self._dense) for row, image in zip(light, images, strict=True)]
        return list(self._pool.map(_one, work, chunksize=max(1, len(work) // 32)))

    def __enter__(self) -> RewardPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


NEEDED = ("id", "task", "position_before", "params", "style")
"""The columns of a row that judging needs."""


def _one(item: tuple[Mapping[str, Any], Source | None, bool]) -> float:
    row, image, dense = item
    return reward(row, image, dense=dense)
