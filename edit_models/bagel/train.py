"""Fine-tuning BAGEL on reasoned edits, read from top to bottom.

One process, or several with  torchrun --nproc-per-node 8 -m gamegen train bagel ...
Every weight but the autoencoder's learns; the loss is text_weight * mean text loss + image_weight * mean image loss,
each mean taken over all ranks and all packs of an update.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from edit_models.bagel.adapters import add_lora, freeze, start_lora
from edit_models.bagel.attention import FlexAttention, PackedAttention
from edit_models.bagel.checkpoint import Average, restore, save, saves, state_of, trained
from edit_models.bagel.data import Rows
from edit_models.bagel.editor import THINK_PROMPT, BagelEditor, Settings
from edit_models.bagel.evaluate import accuracy, judge_edits, sheet
from edit_models.bagel.loading import DTYPES, Checkpoint
from edit_models.bagel.logs import Log, peak_memory
from edit_models.bagel.losses import flow_loss, text_loss
from edit_models.bagel.model import Bagel
from edit_models.bagel.packing import Drawing, Pack, PackState, SampleMaker, ahead, packs, prepare
from edit_models.bagel.parallel import Ranks, fill, full, join, leave, shard
from edit_models.bagel.recipe import Recipe
from edit_models.bagel.sequence import Text
from edit_models.bagel.tokenizer import Tokenizer
from gamegen.core.errors import BadInput, GamegenError


def train(recipe: Recipe) -> Path:
    """Runs or continues a run and returns its folder."""
    ranks = join()
    run, dtype = Path(recipe.out), DTYPES[recipe.dtype]
    run.mkdir(parents=True, exist_ok=True)
    if ranks.first:
        recipe.write(run)
    ranks.wait()

    # The model: built without memory, thinned out, cut into shards, then filled from the memory-mapped file.
    checkpoint = Checkpoint(Path(recipe.model))
    checkpoint.check()
    tokenizer = Tokenizer(checkpoint.folder)
    with torch.device("meta"):
        model = Bagel(checkpoint.config)
    if recipe.lora:
        add_lora(model, recipe.lora)
    freeze(model, [group for group in recipe.freeze.split(",") if group])
    for parameter in model.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(dtype)  # what does not learn needs no precision
    shard(model, ranks, dtype)
    fill(model, checkpoint.read(), ranks.device)
    start_lora(model, recipe.seed)
    if recipe.recompute:
        model.recompute_activations()
    autoencoder = checkpoint.autoencoder(dtype=dtype, device=str(ranks.device))
    autocast = (
        torch.autocast(ranks.device.type, dtype=dtype)
        if ranks.count == 1 and recipe.dtype != "fp32"
        else nullcontext()  # shards arrive in the right type
    )
    flex = recipe.attention == "flex" or (recipe.attention == "auto" and ranks.device.type == "cuda")
    attention = FlexAttention if flex else PackedAttention

    # What learns, its average, and where we were.
    optimizer = torch.optim.AdamW(trained(model).values(), lr=recipe.lr, betas=(0.9, 0.95), eps=1e-15, weight_decay=0)
    average = Average(model, recipe.ema) if recipe.ema else None
    step, position = 0, PackState()
    if existing := saves(run / "checkpoints"):
        step, position = restore(existing[-1], state_of(model, optimizer, average), ranks)

    # The data: rows of this rank -> samples -> packs, made ahead by a thread.
    rows = Rows(Path(recipe.data), seed=recipe.seed, rank=ranks.rank, ranks=ranks.count)
    make = SampleMaker(
        rows, tokenizer, checkpoint.config, seed=recipe.seed, drop_source=recipe.drop_source, prompt=recipe.prompt
    )
    stream = ahead(packs(make, recipe.tokens, position))
    log = Log(run, recipe, ranks, step)
    editor = _editor(recipe, model, autoencoder, tokenizer, ranks) if recipe.sample_every else None
    held_out = _held_out(recipe) if recipe.sample_every else []

    with polite_stop() as stop:
        while step < recipe.steps:
            began = time.perf_counter()
            packed = [next(stream) for _ in range(recipe.accumulate)]
            position = packed[-1].after
            words, patches, tokens, stopping = ranks.total(
                [*map(sum, zip(*map(counts, packed), strict=True)), float(bool(stop))]
            )

            sums = [0.0, 0.0]
            for pack in packed:
                batch = prepare(
                    pack,
                    autoencoder,
                    tokenizer,
                    checkpoint.config,
                    device=ranks.device,
                    seed=recipe.seed,
                    shift=recipe.shift,
                )
                with autocast:
                    output = model(batch.tokens, attention(batch.layout, ranks.device))
                text, image = text_loss(output.logits, batch.labels), flow_loss(output.velocity, batch.wanted)
                loss = recipe.text_weight * text / max(words, 1) + recipe.image_weight * image / max(patches, 1)
                (loss * ranks.count).backward()  # sharded gradients are averaged over the ranks; the losses are sums
                sums = [sums[0] + text.item(), sums[1] + image.item()]

            norm = full(torch.nn.utils.clip_grad_norm_(trained(model).values(), recipe.clip)).item()
            if not math.isfinite(norm):
                raise GamegenError(f"the gradient of update {step} is not finite; the last save is intact")
            for group in optimizer.param_groups:
                group["lr"] = recipe.learning_rate(step)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            if average:
                average.update(step)

            text_sum, image_sum = ranks.total(sums)
            log.line(
                step,
                {
                    "text_loss": text_sum / max(words, 1),
                    "image_loss": image_sum / max(patches, 1),
                    "lr": recipe.learning_rate(step - 1),
                    "grad_norm": norm,
                    "tokens": int(tokens),
                    "tokens_per_s": tokens / (time.perf_counter() - began),
                    "memory_gib": peak_memory(ranks.device),
                    "epoch": position.next_row / rows.count,
                    "too_long": position.too_long,
                },
            )
            ending = step == recipe.steps or stopping > 0
            if step % recipe.save_every == 0 or ending:
                state = state_of(model, optimizer, average)
                save(run / "checkpoints", state, step, position, ranks, keep=recipe.keep)
            if editor and (step % recipe.sample_every == 0 or step == recipe.steps):
                with autocast:
                    _sample(editor, held_out, average, recipe, run, step, log)
            if stopping:
                break
    stream.close()
    log.close()
    leave(ranks)
    return run


def counts(pack: Pack) -> tuple[float, float, float]:
    """Words to predict, picture tokens to denoise, and all tokens of a pack."""
    pieces = [piece for sample in pack.samples for piece in sample.pieces]
    words = sum(len(piece) - 1 for piece in pieces if isinstance(piece, Text) and piece.predict == "each")
    patches = sum(piece.tokens for piece in pieces if isinstance(piece, Drawing) and piece.learn)
    return float(words), float(patches), float(pack.length)


def _editor(recipe: Recipe, model: Bagel, autoencoder: Any, tokenizer: Tokenizer, ranks: Ranks) -> BagelEditor:
    settings = Settings(
        think_prompt=recipe.prompt or THINK_PROMPT,
        think_tokens=recipe.sample_tokens,
        points=recipe.sample_points,
        text_scale=recipe.text_scale,
        image_scale=recipe.image_scale,
    )
    return BagelEditor(model, autoencoder, tokenizer, settings=settings, agree=ranks.agree)


def _held_out(recipe: Recipe) -> list[Mapping[str, Any]]:
    """The rows for sample edits, which must be of a game, so that they can be judged."""
    rows = Rows(Path(recipe.sample_data or recipe.data), seed=recipe.seed)
    chosen = [rows.row(number) for number in range(min(recipe.samples, rows.count))]
    if "task" not in chosen[0]:
        raise BadInput(f"{rows.folder} has no task column: its edits cannot be judged, so leave out --sample-every")
    return chosen


def _sample(
    editor: BagelEditor,
    rows: Sequence[Mapping[str, Any]],
    average: Average | None,
    recipe: Recipe,
    run: Path,
    step: int,
    log: Log,
) -> None:
    """Edits the rows with the averaged weights, judges them by the rules, and keeps a picture of the result."""
    if average:
        average.swap()
    judged = judge_edits(editor, rows, seed=recipe.seed)
    if average:
        average.swap()
    log.line(step, {"accuracy": accuracy(judged)}, always=True)
    if log.file is not None:
        (run / "samples").mkdir(exist_ok=True)
        sheet(judged).save(run / "samples" / f"{step:07d}.png")


@contextmanager
def polite_stop() -> Iterator[list[int]]:
    """A list that fills when the process is asked to end (SIGTERM), so that the update is finished and saved first."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received  # only the main thread may listen
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)
