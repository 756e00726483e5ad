"""The three modes, checked against a rule written out split by split, and all forms against each other."""

from __future__ import annotations

import torch

from edit_models.bagel.attention import (
    CAUSAL,
    FULL,
    NOISE,
    Cache,
    CachedAttention,
    FlexAttention,
    Layout,
    PackedAttention,
    sdpa,
)

SPLITS = [  # (sample, mode, length)
    (0, CAUSAL, 4),
    (0, FULL, 3),
    (0, NOISE, 5),
    (0, FULL, 5),
    (0, CAUSAL, 2),
    (1, NOISE, 3),
    (1, CAUSAL, 6),
    (2, CAUSAL, 1),
]


def layout() -> Layout:
    rows = [(sample, number, mode) for number, (sample, mode, length) in enumerate(SPLITS) for _ in range(length)]
    sample, split, mode = (torch.tensor(column) for column in zip(*rows, strict=True))
    return Layout(sample, split, mode)


def mask_by_hand() -> torch.Tensor:
    total = sum(length for _, _, length in SPLITS)
    allowed = torch.zeros(total, total, dtype=torch.bool)
    begin = 0
    for number, (sample, mode, length) in enumerate(SPLITS):
        block = torch.ones(length, length, dtype=torch.bool)
        allowed[begin : begin + length, begin : begin + length] = block.tril() if mode == CAUSAL else block
        past = 0
        for other_sample, other_mode, other_length in SPLITS[:number]:
            if other_sample == sample and other_mode != NOISE:
                allowed[begin : begin + length, past : past + other_length] = True
            past += other_length
        begin += length
    return allowed


def tensors(length: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(length, heads, 16, generator=generator) for heads in (4, 2, 2))


def test_the_rule() -> None:
    where = layout()
    index = torch.arange(len(where.sample))
    assert torch.equal(where.allowed(index[:, None], index[None, :]), mask_by_hand())


def test_packed_flex_and_one_dense_mask_agree() -> None:
    where = layout()
    q, k, v = tensors(len(where.sample))
    dense = sdpa(q, k, v, mask_by_hand())
    assert torch.allclose(PackedAttention(where, "cpu")(0, q, k, v), dense, atol=1e-6)
    assert torch.allclose(FlexAttention(where, "cpu")(0, q, k, v), dense, atol=1e-5)


def test_grouped_heads_share_keys_in_order() -> None:
    q, k, v = tensors(6)
    repeated = sdpa(q, k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1))
    assert torch.allclose(sdpa(q, k, v), repeated, atol=1e-6)


def test_cache_in_pieces_equals_all_at_once() -> None:
    """Sample 0 is fed split by split; the noise split is looked at, but not kept."""
    where = layout()
    length = where.lengths()[0]
    q, k, v = (x[:length] for x in tensors(len(where.sample)))
    whole = sdpa(q, k, v, mask_by_hand()[:length, :length])
    cache, begin = Cache(layers=1), 0
    for number, (sample, mode, size) in enumerate(SPLITS):
        if sample:
            break
        part = slice(begin, begin + size)
        piece = Layout(torch.zeros(size, dtype=torch.long), torch.full((size,), number), torch.full((size,), mode))
        attend = CachedAttention([cache], piece, "cpu")
        assert torch.allclose(attend(0, q[part], k[part], v[part]), whole[part], atol=1e-6)
        if mode != NOISE:
            attend.keep()
        begin += size
    assert cache.length == length - 5


def test_a_fork_does_not_touch_its_origin() -> None:
    _, k, v = tensors(8)
    cache = Cache(layers=1)
    cache.put(0, k[:5], v[:5])
    cache.length = 5
    fork = cache.fork(length=2, position=2)
    fork.put(0, k[5:], v[5:])
    assert torch.equal(cache.put(0, k[5:6], v[5:6])[0], k[:6])
    assert torch.equal(fork.keys[0][:5], torch.cat([k[:2], k[5:]]))
