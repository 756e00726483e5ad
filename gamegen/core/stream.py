"""Randomness: one stream per sample and purpose, the same on every machine, for ever.

Python promises that `random.Random(seed).random()` never changes; it does not promise that of `shuffle`, `sample` or
`choice`. So a stream makes every draw from `random()` alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """Draws decided by the parts it was named with, and by nothing else."""

    __slots__ = ("random",)

    def __init__(self, *name: str | int) -> None:
        text = "\x1f".join(map(str, name))
        seed = int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")
        self.random = random.Random(seed).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self.random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        return self.random() < share

    def choice(self, items: Sequence[T]) -> T:
        return items[int(self.random() * len(items))]

    def shuffle(self, items: list[T]) -> None:
        """Fisher-Yates, in place, from the end."""
        draw = self.random
        for last in range(len(items) - 1, 0, -1):
            other = int(draw() * (last + 1))
            items[last], items[other] = items[other], items[last]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        result = list(items)
        self.shuffle(result)
        return result

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items, in drawn order."""
        if count > len(items):
            raise ValueError(f"cannot draw {count} of {len(items)} items")
        return self.shuffled(items)[:count]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        mark = self.random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            mark -= weight
            if mark < 0:
                return item
        return items[-1]
