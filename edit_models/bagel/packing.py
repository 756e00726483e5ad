"""From rows to packs of a token budget, resumable at every pack.

A sample that does not fit the open pack waits in a short buffer and is tried first for the next one. The packer's
state is the next row number and the row numbers that wait; every random choice is keyed by the row and its lap, so
nothing else has to be stored.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from PIL import Image
from torch import Tensor

from edit_models.bagel.attention import Layout
from edit_models.bagel.autoencoder import Autoencoder
from edit_models.bagel.config import BagelConfig
from edit_models.bagel.data import Rows
from edit_models.bagel.editor import THINK_CLOSE, THINK_OPEN, THINK_PROMPT
from edit_models.bagel.flow import draw_time, noised, velocity
from edit_models.bagel.images import patchify, pixels
from edit_models.bagel.keyed import generator
from edit_models.bagel.sequence import Gap, Latents, Patches, Piece, Text, Tokens, build
from edit_models.bagel.tokenizer import Tokenizer
from gamegen.core.errors import BadInput

MISFITS = 4  # samples that may fail to fit before a pack is closed
ENDLESS = 1000  # samples over the budget in a row that make us give up

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture for the autoencoder, which runs where the model is; as a piece it counts its future tokens."""

    pixels: Tensor  # (3, h, w)
    tokens: int
    learn: bool = False  # the target

    def __len__(self) -> int:
        return self.tokens + 2


@dataclass(frozen=True, slots=True)
class TrainSample:
    number: int  # of the row, in the rank's order
    key: str  # of the row, among all ranks
    pieces: tuple[Piece | Drawing, ...]

    @property
    def length(self) -> int:
        return sum(map(len, self.pieces))


@dataclass(frozen=True, slots=True)
class PackState:
    """Everything needed to continue: which row comes next, which ones wait, how many were skipped."""

    next_row: int = 0
    waiting: tuple[int, ...] = ()
    too_long: int = 0

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PackState:
        return cls(data["next_row"], tuple(data["waiting"]), data["too_long"])


@dataclass(frozen=True, slots=True)
class Pack:
    samples: tuple[TrainSample, ...]
    after: PackState  # the packer's state once this pack is used

    @property
    def length(self) -> int:
        return sum(sample.length for sample in self.samples)


@dataclass(frozen=True, slots=True)
class Batch:
    """A pack as the model takes it, with what it should answer."""

    tokens: Tokens
    layout: Layout
    labels: Tensor  # (predicted tokens,)
    wanted: Tensor  # (denoised tokens, width): the velocity


class SampleMaker:
    """The paper's layout: prompt, source (autoencoder, then ViT), rules + instruction, thinking, target.

    A row without reasoning has neither the prompt nor the thinking, and then no text loss.
    """

    def __init__(
        self, rows: Rows, tokenizer: Tokenizer, config: BagelConfig, *, seed: int, drop_source: float, prompt: str
    ) -> None:
        """`drop_source` is the chance to leave out the autoencoder's view of the source (the ViT's always stays)."""
        self.rows, self.tokenizer, self.config = rows, tokenizer, config
        self.seed, self.drop_source, self.prompt = seed, drop_source, prompt or THINK_PROMPT

    def __call__(self, number: int) -> TrainSample:
        example, text = self.rows.example(number), self.tokenizer.text
        key = self.rows.key(number)
        chance = torch.rand((), generator=generator(self.seed, "drop", key))
        source = Gap() if float(chance) < self.drop_source else self._drawing(example.source)
        pieces: list[Piece | Drawing] = [source, self._seen(example.source), text(example.instruction)]
        if example.reasoning:
            thought = text(f"{THINK_OPEN}{example.reasoning}{THINK_CLOSE}", learn=True)
            pieces = [text(self.prompt), *pieces, thought]
        return TrainSample(number, key, (*pieces, replace(self._drawing(example.target), learn=True)))

    def _drawing(self, image: Image.Image) -> Drawing:
        values = pixels(image, self.config.vae_size)
        return Drawing(values, values.shape[1] * values.shape[2] // self.config.latent.pixels**2)

    def _seen(self, image: Image.Image) -> Patches:
        c = self.config.vision
        return Patches(*patchify(pixels(image, self.config.vit_train_size), c.patch, side=c.side, what="the picture"))


def packs(make: Callable[[int], TrainSample], budget: int, state: PackState) -> Iterator[Pack]:
    """An endless stream of packs of at most `budget` tokens; no row that fits the budget is dropped or repeated."""
    kept: dict[int, TrainSample] = {}  # samples that wait, if already made
    while True:
        chosen, waiting, room = [], [], budget
        for number in state.waiting:
            sample = kept.get(number) or make(number)
            if sample.length <= room:
                chosen.append(sample)
                room -= sample.length
            else:
                waiting.append(sample)
        next_row, too_long, misfits = state.next_row, state.too_long, 0
        while misfits < MISFITS and len(waiting) < 2 * MISFITS:
            sample = make(next_row)
            next_row += 1
            if sample.length > budget:
                too_long += 1
                if too_long - state.too_long > ENDLESS:
                    raise BadInput(f"{ENDLESS} samples in a row are longer than the budget of {budget} tokens")
            elif sample.length <= room:
                chosen.append(sample)
                room -= sample.length
            else:
                waiting.append(sample)
                misfits += 1
        kept = {sample.number: sample for sample in waiting}
        state = PackState(next_row, tuple(kept), too_long)
        yield Pack(tuple(chosen), state)


def prepare(
    pack: Pack,
    autoencoder: Autoencoder,
    tokenizer: Tokenizer,
    config: BagelConfig,
    *,
    device: torch.device | str,
    seed: int,
    shift: float,
) -> Batch:
    """Encodes the pictures one by one, noises the targets (by seed and row) and builds the sequence."""
    samples, labels, wanted = [], [], []
    for sample in pack.samples:
        random = generator(seed, "noise", sample.key)
        pieces: list[Piece] = []
        for piece in sample.pieces:
            if isinstance(piece, Text) and piece.predict == "each":
                labels.extend(piece.ids[1:])
            if isinstance(piece, Drawing):
                piece, v = _latents(piece, autoencoder, config, random, shift, device)
                wanted += [] if v is None else [v]
            pieces.append(piece)
        samples.append(pieces)
    widths = {"patch_width": config.vision.patch_width, "token_width": config.latent.token_width}
    tokens, layout, _ = build(samples, tokenizer.markers, **widths)
    targets = torch.cat(wanted) if wanted else torch.empty(0, config.latent.token_width)
    return Batch(tokens.to(device), layout, torch.tensor(labels, dtype=torch.long, device=device), targets.to(device))


def _latents(
    drawing: Drawing,
    autoencoder: Autoencoder,
    config: BagelConfig,
    random: torch.Generator,
    shift: float,
    device: torch.device | str,
) -> tuple[Latents, Tensor | None]:
    """The drawing's tokens: clean, or noised together with the velocity to learn."""
    c = config.latent
    latent = autoencoder.encode(drawing.pixels.to(device), random)
    clean, index = patchify(latent, c.patch, side=c.side, what="a picture's latent")
    if not drawing.learn:
        return Latents(clean, index), None
    t = draw_time(random, shift)
    noise = torch.randn(clean.shape, generator=random).to(clean.device)
    return Latents(noised(clean, noise, t), index, time=t, denoise=True), velocity(clean, noise)


def ahead(items: Iterator[T], depth: int = 2) -> Iterator[T]:
    """The same items, made by a thread up to `depth` in advance; an error arrives where its item would have."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(depth)
    stop = threading.Event()

    def work() -> None:
        try:
            for item in items:
                ready.put((item, None))
                if stop.is_set():
                    return
        except BaseException as error:  # handed over, raised by the reader
            ready.put((None, error))

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        stop.set()
