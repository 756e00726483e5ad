"""Who may look at whom, and three ways to compute it with the same numbers.

A pack is one flat sequence of several samples; a sample is a list of splits, each in one of three modes:
`CAUSAL` text sees itself backwards, `FULL` pictures see all of themselves, and a `NOISE` picture (one that is
being denoised) does too, but nobody else may ever see it. Every split sees the earlier splits of its sample.

The model calls `attend(layer, q, k, v)` and does not know which of these it talks to:
`PackedAttention` (training, any device), `FlexAttention` (training, GPU), `CachedAttention` (editing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

CAUSAL, FULL, NOISE = 0, 1, 2


class Attend(Protocol):
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """q (L, heads, d), k and v (L, kv heads, d) -> (L, heads, d)."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each token of a flat sequence belongs."""

    sample: Tensor  # (L,) number of its sample, ascending
    split: Tensor  # (L,) number of its split, unique over the whole pack
    mode: Tensor  # (L,) CAUSAL, FULL or NOISE

    def lengths(self) -> list[int]:
        """Tokens per sample."""
        return torch.bincount(self.sample).tolist()

    def allowed(self, q: Tensor, k: Tensor) -> Tensor:
        """May token q look at token k? Index tensors of any broadcastable shapes; the one rule for all forms."""
        own = self.split[q] == self.split[k]
        backwards = q >= k
        inside = own & (self.mode[q] != CAUSAL)
        hidden = (self.mode[k] == NOISE) & ~own
        return (self.sample[q] == self.sample[k]) & (backwards | inside) & ~hidden


class PackedAttention:
    """One dense mask per sample, so memory grows with the longest sample squared, not with the pack."""

    def __init__(self, layout: Layout, device: torch.device | str) -> None:
        self.lengths = layout.lengths()
        self.masks, start = [], 0
        for length in self.lengths:
            index = torch.arange(start, start + length)
            self.masks.append(layout.allowed(index[:, None], index[None, :]).to(device))  # (l, l)
            start += length

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        parts = zip(q.split(self.lengths), k.split(self.lengths), v.split(self.lengths), strict=True)
        return torch.cat([sdpa(*part, mask) for part, mask in zip(parts, self.masks, strict=True)])


class FlexAttention:
    """The whole pack at once with a block-sparse mask; compiled on a GPU, for checking only on a CPU."""

    def __init__(self, layout: Layout, device: torch.device | str) -> None:
        from torch.nn.attention.flex_attention import create_block_mask

        there = Layout(layout.sample.to(device), layout.split.to(device), layout.mode.to(device))
        length = len(layout.sample)
        self.kernel = _flex_kernel(torch.device(device).type == "cuda")
        self.blocks = create_block_mask(
            lambda b, h, q, k: there.allowed(q, k), None, None, length, length, device=str(device)
        )

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))  # (1, heads, L, d)
        return self.kernel(q, k, v, block_mask=self.blocks, enable_gqa=True)[0].transpose(0, 1)


class Cache:
    """The keys and values of one context, in buffers with room to grow."""

    def __init__(self, layers: int) -> None:
        self.length = 0
        self.position = 0  # rotary position of the next token
        self.keys: list[Tensor | None] = [None] * layers  # each (room, kv heads, d), keys after norm and rotation
        self.values: list[Tensor | None] = [None] * layers

    def put(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Writes behind the current length (without moving it) and returns everything up to there."""
        end = self.length + len(k)
        for buffers, new in ((self.keys, k), (self.values, v)):
            buffer = buffers[layer]
            if buffer is None or len(buffer) < end:
                grown = new.new_empty(end + self.length // 4, *new.shape[1:])
                if buffer is not None:
                    grown[: self.length] = buffer[: self.length]
                buffers[layer] = buffer = grown
            buffer[self.length : end] = new
        return self.keys[layer][:end], self.values[layer][:end]  # type: ignore[index]

    def fork(self, length: int, position: int) -> Cache:
        """A context that shares the first `length` tokens and then goes its own way."""
        other = Cache(len(self.keys))
        other.length, other.position = length, position
        other.keys = [None if k is None else k[:length].clone() for k in self.keys]
        other.values = [None if v is None else v[:length].clone() for v in self.values]
        return other


class CachedAttention:
    """New tokens of several contexts, each looking at its own past and, by the same rule, at each other."""

    def __init__(self, caches: Sequence[Cache], layout: Layout, device: torch.device | str) -> None:
        self.caches, self.lengths = caches, layout.lengths()
        self.masks: list[Tensor | None] = []
        start = 0
        for cache, length in zip(caches, self.lengths, strict=True):
            index = torch.arange(start, start + length)
            new = layout.allowed(index[:, None], index[None, :])  # (l, l)
            past = torch.ones(length, cache.length, dtype=torch.bool)
            self.masks.append(None if new.all() else torch.cat([past, new], dim=1).to(device))  # (l, past + l)
            start += length

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        parts = zip(q.split(self.lengths), k.split(self.lengths), v.split(self.lengths), strict=True)
        out = []
        for cache, mask, (one_q, one_k, one_v) in zip(self.caches, self.masks, parts, strict=True):
            out.append(sdpa(one_q, *cache.put(layer, one_k, one_v), mask))
        return torch.cat(out)

    def keep(self) -> None:
        """Makes the tokens just written part of the past; denoising steps never call this."""
        for cache, length in zip(self.caches, self.lengths, strict=True):
            cache.length += length


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention of (l, heads, d) over (m, kv heads, d); each kv head serves a group of heads."""
    q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))  # (1, heads, l, d)
    grouped = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=grouped)[0].transpose(0, 1)


def _flex_kernel(compiled: bool) -> Callable[..., Tensor]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention) if compiled else flex_attention
