"""The mixture-of-transformers decoder: Qwen2 layers in two copies that meet only in attention.

Text and ViT tokens run through the understanding weights, autoencoder tokens through the generation weights
(`_moe_gen` in the checkpoint). There is no router: a token's kind decides. The two groups of rows are kept as
two tensors, `und` and `gen`, and put into sequence order only where attention needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from edit_models.bagel.attention import Attend
from edit_models.bagel.config import LanguageConfig


@dataclass(frozen=True, slots=True)
class Route:
    """How the rows of `und` and `gen` interleave, and the rotary angles of the sequence."""

    order: Tensor  # (L,) row of each token in cat(und, gen)
    place: Tensor  # (L,) the inverse
    cos: Tensor  # (L, 1, d)
    sin: Tensor  # (L, 1, d)

    def merge(self, und: Tensor, gen: Tensor) -> Tensor:
        return torch.cat([und, gen])[self.order]

    def divide(self, sequence: Tensor, und_rows: int) -> tuple[Tensor, Tensor]:
        rows = sequence[self.place]
        return rows[:und_rows], rows[und_rows:]


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float() if x.dtype.itemsize < 4 else x
        normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (normed.to(x.dtype) * self.weight).to(x.dtype)


class MLP(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.intermediate, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.intermediate, bias=False)
        self.down_proj = nn.Linear(config.intermediate, config.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class JointAttention(nn.Module):
    """Two sets of projections, one attention over all tokens."""

    def __init__(self, config: LanguageConfig, layer: int) -> None:
        super().__init__()
        self.layer, self.head_dim = layer, config.head_dim
        kv = config.kv_heads * config.head_dim
        for suffix in ("", "_moe_gen"):
            self.add_module("q_proj" + suffix, nn.Linear(config.hidden, config.hidden))
            self.add_module("k_proj" + suffix, nn.Linear(config.hidden, kv))
            self.add_module("v_proj" + suffix, nn.Linear(config.hidden, kv))
            self.add_module("o_proj" + suffix, nn.Linear(config.hidden, config.hidden, bias=False))
            self.add_module("q_norm" + suffix, RMSNorm(config.head_dim, config.eps))
            self.add_module("k_norm" + suffix, RMSNorm(config.head_dim, config.eps))

    def forward(self, und: Tensor, gen: Tensor, route: Route, attend: Attend) -> tuple[Tensor, Tensor]:
        q = route.merge(
            self.q_norm(self.heads(self.q_proj(und))),
            self.q_norm_moe_gen(self.heads(self.q_proj_moe_gen(gen))),
        )  # (L, heads, d)
        k = route.merge(
            self.k_norm(self.heads(self.k_proj(und))),
            self.k_norm_moe_gen(self.heads(self.k_proj_moe_gen(gen))),
        )  # (L, kv heads, d)
        v = route.merge(self.heads(self.v_proj(und)), self.heads(self.v_proj_moe_gen(gen)))  # (L, kv heads, d)
        q, k = rotated(q, route.cos, route.sin), rotated(k, route.cos, route.sin)
        out = attend(self.layer, q, k, v).flatten(1)  # (L, hidden)
        out_und, out_gen = route.divide(out, len(und))
        return self.o_proj(out_und), self.o_proj_moe_gen(out_gen)

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.head_dim))


class DecoderLayer(nn.Module):
    def __init__(self, config: LanguageConfig, layer: int) -> None:
        super().__init__()
        self.recompute = False  # keep only the layer's input for backward
        self.self_attn = JointAttention(config, layer)
        self.input_layernorm = RMSNorm(config.hidden, config.eps)
        self.input_layernorm_moe_gen = RMSNorm(config.hidden, config.eps)
        self.post_attention_layernorm = RMSNorm(config.hidden, config.eps)
        self.post_attention_layernorm_moe_gen = RMSNorm(config.hidden, config.eps)
        self.mlp = MLP(config)
        self.mlp_moe_gen = MLP(config)

    def forward(self, und: Tensor, gen: Tensor, route: Route, attend: Attend) -> tuple[Tensor, Tensor]:
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(self.block, und, gen, route, attend, use_reentrant=False)
        return self.block(und, gen, route, attend)

    def block(self, und: Tensor, gen: Tensor, route: Route, attend: Attend) -> tuple[Tensor, Tensor]:
        seen_und, seen_gen = self.self_attn(self.input_layernorm(und), self.input_layernorm_moe_gen(gen), route, attend)
        und, gen = und + seen_und, gen + seen_gen
        und = und + self.mlp(self.post_attention_layernorm(und))
        gen = gen + self.mlp_moe_gen(self.post_attention_layernorm_moe_gen(gen))
        return und, gen


class Decoder(nn.Module):
    """`language_model.model` of the checkpoint."""

    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab, config.hidden)
        self.layers = nn.ModuleList(DecoderLayer(config, i) for i in range(config.layers))
        self.norm = RMSNorm(config.hidden, config.eps)
        self.norm_moe_gen = RMSNorm(config.hidden, config.eps)

    def forward(
        self, und: Tensor, gen: Tensor, order: Tensor, place: Tensor, positions: Tensor, attend: Attend
    ) -> tuple[Tensor, Tensor]:
        cos, sin = angles(positions, self.config.head_dim, self.config.theta, und.dtype)
        route = Route(order, place, cos, sin)
        for layer in self.layers:
            und, gen = layer(und, gen, route, attend)
        return self.norm(und), self.norm_moe_gen(gen)


class LanguageModel(nn.Module):
    """`language_model` of the checkpoint."""

    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.model = Decoder(config)
        self.lm_head = nn.Linear(config.hidden, config.vocab, bias=False)


def angles(positions: Tensor, dim: int, theta: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """cos and sin of position * theta^(-2i/dim), each (L, 1, dim), the half repeated twice."""
    powers = torch.arange(0, dim, 2, device=positions.device, dtype=torch.float32) / dim
    turn = positions[:, None].float() * theta**-powers  # (L, dim / 2)
    turn = torch.cat([turn, turn], dim=-1)[:, None]  # (L, 1, dim)
    return turn.cos().to(dtype), turn.sin().to(dtype)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of (L, heads, d): dimension i turns together with i + d/2."""
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-second, first], dim=-1) * sin).to(x.dtype)
