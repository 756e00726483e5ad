"""Editing: read the picture and the words, think, then draw.

Three contexts are kept as key/value caches: the full one, one without words (a prefix of the full one) and one
without the picture. Thinking extends the full cache token by token and is not run a second time; drawing only reads
the caches. The default settings are UniREdit's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import torch
from PIL import Image
from torch import Tensor
from tqdm import tqdm

from edit_models.bagel.attention import Cache, CachedAttention
from edit_models.bagel.autoencoder import Autoencoder
from edit_models.bagel.flow import Renorm, guided, timetable
from edit_models.bagel.images import patchify, picture, pixels, unpatchify
from edit_models.bagel.keyed import generator
from edit_models.bagel.loading import DTYPES, Checkpoint
from edit_models.bagel.model import Bagel, Output
from edit_models.bagel.sequence import Latents, Patches, Piece, Text, Tokens
from edit_models.bagel.tokenizer import Tokenizer
from edit_models.editors.protocol import Edit, Request
from gamegen.core.errors import BadInput

THINK_PROMPT = (
    "First plan the picture in your mind, then draw it. "
    "Write the plan between <think> and </think>, and give the image after it."
)
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to edit; the defaults are UniREdit's."""

    think: bool = True
    think_prompt: str = THINK_PROMPT
    think_tokens: int = 2048
    temperature: float = 0.3  # 0 is greedy
    points: int = 50  # times on the way from noise to data; one step fewer
    shift: float = 3.0
    text_scale: float = 4.0  # 1 is off
    image_scale: float = 2.0  # 1 is off
    interval: tuple[float, float] = (0.0, 1.0)  # guidance acts at lo < t <= hi
    renorm: Renorm = "text_channel"
    renorm_min: float = 0.0
    source_size: bool = True  # resize the picture back to its source's size

    def __post_init__(self) -> None:
        if self.points < 2:
            raise BadInput(f"points must be at least 2, not {self.points!r}")
        if self.renorm not in ("global", "channel", "text_channel"):
            raise BadInput(f"renorm must be global, channel or text_channel, not {self.renorm!r}")
        if self.temperature < 0 or self.think_tokens < 1:
            raise BadInput("temperature must not be negative and think_tokens must be positive")


class BagelEditor:
    """Edits several pictures at once; what one request gives does not depend on the others in its batch."""

    def __init__(
        self,
        model: Bagel,
        autoencoder: Autoencoder,
        tokenizer: Tokenizer,
        *,
        settings: Settings | None = None,
        progress: bool = False,
        agree: Callable[[list[int]], list[int]] = list,
    ) -> None:
        """`agree` makes ranks that edit in lock-step (sharded weights) continue with the same words."""
        self.model, self.autoencoder, self.tokenizer = model, autoencoder, tokenizer
        self.settings = settings or Settings()
        self.progress, self.agree = progress, agree
        self.config = model.config

    @classmethod
    def load(
        cls,
        path: Path | str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        settings: Settings | None = None,
        progress: bool = False,
    ) -> Self:
        """The editor of a checkpoint folder: on a GPU (in bf16) if there is one, else on the CPU (as stored)."""
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = dtype or ("bf16" if device.startswith("cuda") else None)
        if dtype is not None and dtype not in DTYPES:
            raise BadInput(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
        kind = DTYPES[dtype] if dtype else None
        checkpoint = Checkpoint(Path(path))
        tokenizer = Tokenizer(checkpoint.folder)
        model = checkpoint.model(dtype=kind, device=device)
        autoencoder = checkpoint.autoencoder(dtype=kind, device=device)
        return cls(model, autoencoder, tokenizer, settings=settings, progress=progress)

    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Edit:
        return self.edit_batch([Request(image, instruction, seed)])[0]

    @torch.no_grad()
    def edit_batch(self, requests: Sequence[Request]) -> list[Edit]:
        if not requests:
            return []
        think = self.settings.think
        prompt = [self.tokenizer.text(self.settings.think_prompt)] if think else []
        sources = [self._source(request) for request in requests]
        asked = [self.tokenizer.text(request.instruction) for request in requests]

        full = [Cache(self.config.language.layers) for _ in requests]
        self._feed(full, [[*prompt, *source] for source in sources])
        wordless = [(cache.length, cache.position) for cache in full]
        self._feed(full, [[text] for text in asked])
        seeds = [request.seed for request in requests]
        thoughts = self._think(full, seeds) if think else [[] for _ in requests]

        textless, imageless = None, None
        if self.settings.text_scale > 1:
            textless = [cache.fork(*mark) for cache, mark in zip(full, wordless, strict=True)]
        if self.settings.image_scale > 1:
            length = sum(map(len, prompt))
            imageless = [cache.fork(length, length) for cache in full]
            self._feed(
                imageless, [[text, *piece] for text, piece in zip(asked, map(self._piece, thoughts), strict=True)]
            )
        grids = [source[0] for source in sources]
        drawn = self._draw(full, textless, imageless, grids, seeds)
        if self.settings.source_size:
            sizes = [request.image.size for request in requests]
            drawn = [image.resize(size, Image.Resampling.BICUBIC) for image, size in zip(drawn, sizes, strict=True)]
        return [Edit(image, self._words(ids)) for image, ids in zip(drawn, thoughts, strict=True)]

    def _source(self, request: Request) -> tuple[Latents, Patches]:
        values = pixels(request.image, self.config.vae_size)
        latent = self.autoencoder.encode(values, generator(request.seed, "encode"))
        c = self.config.latent
        seen = pixels(request.image, self.config.vit_size)
        return (
            Latents(*patchify(latent, c.patch, side=c.side, what="the picture's latent")),
            Patches(*patchify(seen, self.config.vision.patch, side=self.config.vision.side, what="the picture")),
        )

    def _feed(self, caches: Sequence[Cache], samples: Sequence[Sequence[Piece]]) -> Output:
        """Runs new pieces of each context and makes them its past."""
        tokens, layout, ends = self.model.sequence(samples, self.tokenizer.markers, caches)
        attend = CachedAttention(caches, layout, self._device)
        output = self.model(tokens.to(self._device), attend)
        attend.keep()
        for cache, end in zip(caches, ends, strict=True):
            cache.position = end
        return output

    def _think(self, caches: Sequence[Cache], seeds: Sequence[int]) -> list[list[int]]:
        """Continues each context with words until it ends them; the caches then hold the thought as a text piece."""
        markers = self.tokenizer.markers
        randoms = [generator(seed, "think") for seed in seeds]
        thoughts: list[list[int]] = [[] for _ in caches]
        unfed = [[markers.start] for _ in caches]
        active = list(range(len(caches)))
        bar = tqdm(total=self.settings.think_tokens, desc="think", unit="token", disable=not self.progress)
        for _ in range(self.settings.think_tokens):
            logits = self._feed(
                [caches[i] for i in active], [[Text(tuple(unfed[i]), predict="last")] for i in active]
            ).logits
            chosen = self.agree([self._choose(row, randoms[i]) for row, i in zip(logits, active, strict=True)])
            for i, token in zip(active, chosen, strict=True):
                unfed[i] = [token]
                if token != markers.end:
                    thoughts[i].append(token)
            active = [i for i in active if unfed[i] != [markers.end]]
            bar.update()
            if not active:
                break
        bar.close()
        rest = [[Text((*(t for t in tokens if t != markers.end), markers.end))] for tokens in unfed]
        self._feed(caches, rest)
        return thoughts

    def _choose(self, logits: Tensor, random: torch.Generator) -> int:
        if self.settings.temperature == 0:
            return int(logits.argmax())
        chances = torch.softmax(logits.float().cpu() / self.settings.temperature, dim=-1)
        return int(torch.multinomial(chances, 1, generator=random))

    def _draw(
        self,
        full: Sequence[Cache],
        textless: Sequence[Cache] | None,
        imageless: Sequence[Cache] | None,
        grids: Sequence[Latents],
        seeds: Sequence[int],
    ) -> list[Image.Image]:
        """From noise to pictures of the sources' sizes; all pictures and contexts go through the model together."""
        s = self.settings
        x = [
            torch.randn(grid.values.shape, generator=generator(seed, "noise"))
            for grid, seed in zip(grids, seeds, strict=True)
        ]
        x = [values.to(self._device) for values in x]
        branches = [full, *(b for b in (textless, imageless) if b is not None)]
        guided_step, plain_step = self._step(branches, grids), self._step(branches[:1], grids)
        bar = tqdm(list(timetable(s.points, s.shift)), desc="draw", unit="step", disable=not self.progress)
        for t, t_next in bar:
            if s.interval[0] < t <= s.interval[1] and len(branches) > 1:
                answers = iter(guided_step(x, t))
                v, v_textless, v_imageless = (
                    [next(answers) for _ in x] if branch is not None else [None] * len(x)
                    for branch in (full, textless, imageless)
                )
                v = [
                    guided(
                        *each,
                        text_scale=s.text_scale,
                        image_scale=s.image_scale,
                        renorm=s.renorm,
                        renorm_min=s.renorm_min,
                    )
                    for each in zip(v, v_textless, v_imageless, strict=True)
                ]
            else:
                v = plain_step(x, t)
            x = [values - step * (t - t_next) for values, step in zip(x, v, strict=True)]
        return [self._picture(values, grid) for values, grid in zip(x, grids, strict=True)]

    def _step(
        self, branches: Sequence[Sequence[Cache]], grids: Sequence[Latents]
    ) -> Callable[[Sequence[Tensor], float], list[Tensor]]:
        """A function from noisy pictures and time to velocities, branch by branch; what never changes is built once."""
        caches = [cache for branch in branches for cache in branch]
        samples = [[replace(grid, time=1.0, denoise=True)] for _ in branches for grid in grids]
        tokens, layout, _ = self.model.sequence(samples, self.tokenizer.markers, caches)
        attend = CachedAttention(caches, layout, self._device)
        ready: Tokens = tokens.to(self._device)
        lengths = [len(grid.values) for _ in branches for grid in grids]

        def velocities(x: Sequence[Tensor], t: float) -> list[Tensor]:
            now = replace(ready, latents=torch.cat([*x] * len(branches)), times=torch.full_like(ready.times, t))
            return list(self.model(now, attend).velocity.float().split(lengths))

        return velocities

    def _picture(self, values: Tensor, grid: Latents) -> Image.Image:
        c = self.config.latent
        last = int(grid.index[-1])
        latent = unpatchify(values, c.patch, last // c.side + 1, last % c.side + 1)
        return picture(self.autoencoder.decode(latent))

    def _piece(self, ids: list[int]) -> list[Text]:
        markers = self.tokenizer.markers
        return [Text((markers.start, *ids, markers.end))] if self.settings.think else []

    def _words(self, ids: list[int]) -> str:
        return self.tokenizer.words(ids).strip().removeprefix(THINK_OPEN).removesuffix(THINK_CLOSE).strip()

    @property
    def _device(self) -> torch.device:
        return self.model.latent_pos_embed.pos_embed.device
