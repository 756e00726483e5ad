"""From pieces (words, pictures) to one flat sequence of tokens.

Positions: text tokens count up; all tokens of a picture, its two markers included, share one position, and the
count then moves on by one, except after a picture that is being denoised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import torch
from torch import Tensor

from edit_models.bagel.attention import CAUSAL, FULL, NOISE, Layout
from gamegen.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Markers:
    """Token numbers that frame every text (`start`, `end`) and every picture (`image_start`, `image_end`)."""

    start: int
    end: int
    image_start: int
    image_end: int


@dataclass(frozen=True, slots=True)
class Text:
    ids: tuple[int, ...]  # with its markers
    predict: Literal["nothing", "each", "last"] = "nothing"  # `each` token's successor, or only what follows

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """A picture as the ViT sees it."""

    values: Tensor  # (n, patch width)
    index: Tensor  # (n,) in the position table

    def __len__(self) -> int:
        return len(self.values) + 2


@dataclass(frozen=True, slots=True, eq=False)
class Latents:
    """A picture as the autoencoder sees it: clean (time 0), or on its way from noise."""

    values: Tensor  # (n, token width)
    index: Tensor  # (n,) in the position table
    time: float = 0.0
    denoise: bool = False

    def __len__(self) -> int:
        return len(self.values) + 2


@dataclass(frozen=True, slots=True)
class Gap:
    """A picture left out in training; its position stays empty."""

    def __len__(self) -> int:
        return 0


Piece = Text | Patches | Latents | Gap

ASKED = {"nothing": slice(0, 0), "each": slice(0, -1), "last": slice(-1, None)}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the model takes. Rows are grouped by kind; `order` puts (text, patches, latents) into sequence."""

    text: Tensor  # (T,) token numbers, markers included
    patches: Tensor  # (P, patch width)
    patch_index: Tensor  # (P,)
    images: list[int]  # patches per picture, sums to P
    latents: Tensor  # (G, token width)
    latent_index: Tensor  # (G,)
    times: Tensor  # (G,)
    order: Tensor  # (L,) row of each token in cat(text, patches, latents); L = T + P + G
    place: Tensor  # (L,) the inverse: where each row stands in the sequence
    positions: Tensor  # (L,) rotary positions
    predict: Tensor  # (?,) rows of text whose next token is asked for
    denoise: Tensor  # (?,) rows of latents whose velocity is asked for

    def to(self, device: torch.device | str) -> Tokens:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        moved = {k: v.to(device, non_blocking=True) if isinstance(v, Tensor) else v for k, v in values.items()}
        return Tokens(**moved)


@dataclass(slots=True)
class _Builder:
    markers: Markers
    text: list[int] = field(default_factory=list)
    predict: list[int] = field(default_factory=list)
    patches: list[Patches] = field(default_factory=list)
    latents: list[Latents] = field(default_factory=list)
    # One entry per token, in sequence:
    row: list[tuple[int, int]] = field(default_factory=list)  # (kind, row within the kind)
    position: list[int] = field(default_factory=list)
    sample: list[int] = field(default_factory=list)
    split: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])

    def add(self, piece: Piece, sample: int, split: int, position: int) -> int:
        """Appends a piece and returns the position after it."""
        before = len(self.row)
        if isinstance(piece, Gap):
            return position + 1
        if isinstance(piece, Text):
            first = self.counts[0]
            self.words(piece.ids)
            self.predict.extend(range(first, self.counts[0])[ASKED[piece.predict]])
            self.position.extend(range(position, position + len(piece)))
            mode, after = CAUSAL, position + len(piece)
        else:
            self.words((self.markers.image_start,))
            kind, store = (1, self.patches) if isinstance(piece, Patches) else (2, self.latents)
            store.append(piece)  # type: ignore[attr-defined]
            self.rows(kind, len(piece) - 2)
            self.words((self.markers.image_end,))
            self.position.extend([position] * len(piece))
            target = isinstance(piece, Latents) and piece.denoise
            mode, after = (NOISE, position) if target else (FULL, position + 1)
        length = len(self.row) - before
        self.sample.extend([sample] * length)
        self.split.extend([split] * length)
        self.mode.extend([mode] * length)
        return after

    def words(self, ids: Sequence[int]) -> None:
        self.text.extend(ids)
        self.rows(0, len(ids))

    def rows(self, kind: int, count: int) -> None:
        first = self.counts[kind]
        self.row.extend((kind, first + i) for i in range(count))
        self.counts[kind] += count

    def tokens(self, patch_width: int, token_width: int) -> Tokens:
        texts, patches, _ = self.counts
        base = (0, texts, texts + patches)
        order = torch.tensor([base[kind] + row for kind, row in self.row], dtype=torch.long)
        times = [torch.full((len(x.values),), x.time) for x in self.latents]
        asked = [torch.full((len(x.values),), x.denoise) for x in self.latents]
        return Tokens(
            text=torch.tensor(self.text, dtype=torch.long),
            patches=_cat([x.values for x in self.patches], torch.empty(0, patch_width)),
            patch_index=_cat([x.index for x in self.patches], torch.empty(0, dtype=torch.long)),
            images=[len(x.values) for x in self.patches],
            latents=_cat([x.values for x in self.latents], torch.empty(0, token_width)),
            latent_index=_cat([x.index for x in self.latents], torch.empty(0, dtype=torch.long)),
            times=_cat(times, torch.empty(0)),
            order=order,
            place=torch.argsort(order),
            positions=torch.tensor(self.position),
            predict=torch.tensor(self.predict, dtype=torch.long),
            denoise=_cat(asked, torch.empty(0, dtype=torch.bool)).nonzero()[:, 0],
        )


def build(
    samples: Sequence[Sequence[Piece]],
    markers: Markers,
    *,
    patch_width: int,
    token_width: int,
    starts: Sequence[int] | None = None,
) -> tuple[Tokens, Layout, list[int]]:
    """The flat sequence of these samples, its layout, and the next free position of each sample.

    `starts` are the positions the samples continue from (a cache); without it they begin at 0.
    """
    builder, split, ends = _Builder(markers), 0, []
    for number, pieces in enumerate(samples):
        position = starts[number] if starts else 0
        if not any(len(piece) for piece in pieces):
            raise BadInput(f"sample {number} of the pack has no tokens")
        for piece in pieces:
            position = builder.add(piece, number, split, position)
            split += 1
        ends.append(position)
    layout = Layout(torch.tensor(builder.sample), torch.tensor(builder.split), torch.tensor(builder.mode))
    return builder.tokens(patch_width, token_width), layout, ends


def _cat(parts: list[Tensor], empty: Tensor) -> Tensor:
    return torch.cat(parts) if parts else empty
