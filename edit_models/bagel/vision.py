"""SigLIP for pictures of any size: all patches of a pack in one row, attention inside each picture only."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from edit_models.bagel.attention import sdpa
from edit_models.bagel.config import VisionConfig


class SelfAttention(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.q_proj = nn.Linear(config.hidden, config.hidden)
        self.k_proj = nn.Linear(config.hidden, config.hidden)
        self.v_proj = nn.Linear(config.hidden, config.hidden)
        self.out_proj = nn.Linear(config.hidden, config.hidden)

    def forward(self, x: Tensor, images: list[int]) -> Tensor:
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
        parts = zip(q.split(images), k.split(images), v.split(images), strict=True)
        return self.out_proj(torch.cat([sdpa(*part) for part in parts]).flatten(1))  # (P, C)


class FeedForward(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.hidden, config.intermediate)
        self.fc2 = nn.Linear(config.intermediate, config.hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class EncoderLayer(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.recompute = False
        self.layer_norm1 = nn.LayerNorm(config.hidden, config.eps)
        self.self_attn = SelfAttention(config)
        self.layer_norm2 = nn.LayerNorm(config.hidden, config.eps)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, images: list[int]) -> Tensor:
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(self.block, x, images, use_reentrant=False)
        return self.block(x, images)

    def block(self, x: Tensor, images: list[int]) -> Tensor:
        x = x + self.self_attn(self.layer_norm1(x), images)
        return x + self.mlp(self.layer_norm2(x))


class Embeddings(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        # The convolution of SigLIP over non-overlapping patches, as the linear map it is.
        self.patch_embedding = nn.Linear(config.patch_width, config.hidden)
        self.position_embedding = nn.Embedding(config.side**2, config.hidden)

    def forward(self, patches: Tensor, index: Tensor) -> Tensor:
        return self.patch_embedding(patches) + self.position_embedding(index)


class Encoder(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))


class VisionTransformer(nn.Module):
    """`vit_model.vision_model` of the checkpoint."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)
        self.post_layernorm = nn.LayerNorm(config.hidden, config.eps)

    def forward(self, patches: Tensor, index: Tensor, images: list[int]) -> Tensor:
        """(P, patch width) of pictures with `images` patches each -> (P, C)."""
        # Without a picture the layers still run on no rows, so that every rank has the same gradients.
        images = images or [0]
        x = self.embeddings(patches, index)
        for layer in self.encoder.layers:
            x = layer(x, images)
        return self.post_layernorm(x)


class VisionModel(nn.Module):
    """`vit_model` of the checkpoint."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.vision_model = VisionTransformer(config)
