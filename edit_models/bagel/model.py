"""BAGEL: one sequence of words, seen pictures and drawn pictures; it answers with words and velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from edit_models.bagel.attention import Attend, Cache, Layout
from edit_models.bagel.config import BagelConfig
from edit_models.bagel.layers import LanguageModel
from edit_models.bagel.sequence import Markers, Piece, Tokens, build
from edit_models.bagel.vision import VisionModel


class Output(NamedTuple):
    logits: Tensor  # (tokens.predict, vocab): what follows
    velocity: Tensor  # (tokens.denoise, token width): noise - data


class TimeEmbedder(nn.Module):
    FREQUENCIES = 128

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * self.FREQUENCIES, hidden), nn.SiLU(), nn.Linear(hidden, hidden))

    def forward(self, t: Tensor) -> Tensor:
        """(G,) in [0, 1], used as it is -> (G, hidden)."""
        steps = torch.arange(self.FREQUENCIES, device=t.device, dtype=torch.float32) / self.FREQUENCIES
        turn = t[:, None].float() * 10000.0**-steps  # (G, 128)
        waves = torch.cat([turn.cos(), turn.sin()], dim=-1)
        return self.mlp(waves.to(self.mlp[0].weight.dtype))


class PositionTable(nn.Module):
    """A fixed sin/cos vector for each cell of a square grid; stored in checkpoints, never trained."""

    def __init__(self, side: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("pos_embed", torch.empty(side**2, hidden))
        self.side = side

    def fill(self) -> None:
        """Computes the table; after building on the meta device this gives it memory, too."""
        _rows, width = self.pos_embed.shape
        table = torch.from_numpy(waves_2d(self.side, width))
        self.pos_embed = table.to(self.pos_embed.device if self.pos_embed.device.type != "meta" else "cpu")

    def forward(self, index: Tensor) -> Tensor:
        return self.pos_embed[index]


class Connector(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class Bagel(nn.Module):
    def __init__(self, config: BagelConfig) -> None:
        super().__init__()
        hidden, width = config.language.hidden, config.latent.token_width
        self.config = config
        self.language_model = LanguageModel(config.language)
        self.vit_model = VisionModel(config.vision)
        self.connector = Connector(config.vision.hidden, hidden)
        self.vit_pos_embed = PositionTable(config.vision.side, hidden)
        self.vae2llm = nn.Linear(width, hidden)
        self.llm2vae = nn.Linear(hidden, width)
        self.time_embedder = TimeEmbedder(hidden)
        self.latent_pos_embed = PositionTable(config.latent.side, hidden)

    def forward(self, tokens: Tokens, attend: Attend) -> Output:
        text = self.language_model.model.embed_tokens(tokens.text)  # (T, H)
        und = torch.cat([text, self.seen(tokens).to(text.dtype)])  # (T + P, H)
        gen = self.drawn(tokens).to(text.dtype)  # (G, H)
        und, gen = self.language_model.model(
            und, gen, tokens.order, tokens.place, tokens.positions, attend
        )  # (T + P, H), (G, H)
        return Output(self.language_model.lm_head(und[tokens.predict]), self.llm2vae(gen[tokens.denoise]))

    def seen(self, tokens: Tokens) -> Tensor:
        weight = self.vit_model.vision_model.embeddings.patch_embedding.weight
        patches = tokens.patches.to(weight.dtype)
        features = self.vit_model.vision_model(patches, tokens.patch_index, tokens.images)  # (P, C)
        mapped = self.connector(features)
        return mapped + self.vit_pos_embed(tokens.patch_index).to(mapped.dtype)  # (P, H)

    def drawn(self, tokens: Tokens) -> Tensor:
        mapped = self.vae2llm(tokens.latents.to(self.vae2llm.weight.dtype)) + self.time_embedder(tokens.times)
        return mapped + self.latent_pos_embed(tokens.latent_index).to(mapped.dtype)  # (G, H)

    def sequence(
        self, samples: Sequence[Sequence[Piece]], markers: Markers, caches: Sequence[Cache] | None = None
    ) -> tuple[Tokens, Layout, list[int]]:
        """`build` for this model's widths, continuing the caches if given."""
        return build(
            samples,
            markers,
            patch_width=self.config.vision.patch_width,
            token_width=self.config.latent.token_width,
            starts=[cache.position for cache in caches] if caches else None,
        )

    def recompute_activations(self) -> None:
        """Trades time for memory in training: every layer keeps only its input."""
        for layer in [*self.language_model.model.layers, *self.vit_model.vision_model.encoder.layers]:
            layer.recompute = True

    @torch.no_grad()
    def initialise(self, seed: int) -> None:
        """Fresh weights, for training from scratch: maps keep the variance, and what a layer adds is small."""
        generator = torch.Generator().manual_seed(seed)
        quiet = (2 * self.config.language.layers) ** -0.5
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                adds = any(part in name for part in ("o_proj", "down_proj", "out_proj", "mlp.fc2"))
                weight.normal_(0.0, weight.shape[1] ** -0.5 * (quiet if adds else 1.0), generator=generator)
            else:
                weight.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
            if "q_norm" in name:  # normed queries of few dimensions could hardly single out one token otherwise
                weight.fill_(2.0)
        # The velocity contains the noise that went in, so let it through from the start.
        width, hidden = self.config.latent.token_width, self.config.language.hidden
        self.llm2vae.weight.copy_(self.vae2llm.weight.T * (width / hidden))
        self.vit_pos_embed.fill()
        self.latent_pos_embed.fill()


def waves_2d(side: int, width: int) -> np.ndarray:
    """(side * side, width): the first half of each vector tells the column, the second half the row."""
    frequency = 10000.0 ** -(np.arange(width // 4, dtype=np.float64) / (width / 4))
    turn = np.arange(side, dtype=np.float64)[:, None] * frequency  # (side, width / 4)
    line = np.concatenate([np.sin(turn), np.cos(turn)], axis=1)  # (side, width / 2)
    row, col = np.divmod(np.arange(side * side), side)
    return np.concatenate([line[col], line[row]], axis=1).astype(np.float32)
