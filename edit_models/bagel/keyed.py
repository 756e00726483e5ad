"""Randomness as a function of a key, so that nothing about it needs to be stored to resume."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeVar

import torch

T = TypeVar("T")


def generator(*key: int | str) -> torch.Generator:
    """A fresh generator; equal keys give equal numbers on every machine."""
    digest = blake2b("/".join(map(str, key)).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big") >> 1)


def shuffled(items: Iterable[T], *key: int | str) -> list[T]:
    """The items in an order decided by the key."""
    kept = list(items)
    order = torch.randperm(len(kept), generator=generator(*key)).tolist()
    return [kept[i] for i in order]
