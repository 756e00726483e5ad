"""What a training run is made of. The defaults are the paper's; the help texts are the command line's."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from gamegen.core.errors import BadInput


def _option(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Recipe:
    data: str = field(metadata={"help": "folder of Parquet files: ours, or UniREdit's with paths"})
    model: str = field(metadata={"help": "checkpoint folder to start from"})
    out: str = field(metadata={"help": "folder of the run; an existing run is continued"})
    steps: int = _option(5000, "optimizer updates")
    warmup: int = _option(500, "updates with a rising learning rate")
    lr: float = _option(2e-5, "highest learning rate")
    min_lr: float = _option(1e-6, "learning rate at the end of the cosine")
    clip: float = _option(1.0, "largest gradient norm")
    text_weight: float = _option(2.0, "weight of the text loss")
    image_weight: float = _option(1.0, "weight of the image loss")
    shift: float = _option(4.0, "how far training times lean towards noise; 1 is not at all")
    drop_source: float = _option(0.3, "chance to hide the autoencoder's view of the source")
    ema: float = _option(0.995, "decay of the average of the weights; 0 turns it off")
    tokens: int = _option(35000, "token budget of a pack; a rank trains on one pack at a time")
    accumulate: int = _option(1, "packs per rank and update")
    dtype: str = _option("bf16", "what to compute in: bf16 or fp32; trained weights are always fp32")
    recompute: bool = _option(True, "keep only each layer's input for the backward pass")
    attention: str = _option("auto", "auto, sdpa or flex; auto is flex on a GPU")
    lora: int = _option(0, "rank of LoRA matrices on the language model; 0 trains the weights themselves")
    freeze: str = _option("", "groups of weights to keep, with commas: vision, understanding, generation, words")
    seed: int = _option(42, "decides the order of the data and all noise")
    prompt: str = _option("", "thinking prompt; empty is our own")
    save_every: int = _option(500, "updates between saves")
    keep: int = _option(2, "saves to keep")
    log_every: int = _option(1, "updates between log lines")
    sample_every: int = _option(0, "updates between sample edits judged by the exact verifier; 0 is never")
    samples: int = _option(16, "rows to edit each time")
    sample_data: str = _option("", "Parquet folder for sample edits; empty is the training data")
    sample_points: int = _option(50, "times on the sampler's way")
    sample_tokens: int = _option(512, "longest thought in sample edits")
    text_scale: float = _option(4.0, "text guidance in sample edits")
    image_scale: float = _option(2.0, "image guidance in sample edits")

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "accumulate", "save_every", "keep", "log_every", "samples"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.dtype not in ("bf16", "fp32"):
            raise BadInput(f"dtype must be bf16 or fp32, not {self.dtype!r}")
        if self.attention not in ("auto", "sdpa", "flex"):
            raise BadInput(f"attention must be auto, sdpa or flex, not {self.attention!r}")
        if not 0 <= self.ema < 1 or not 0 <= self.drop_source <= 1:
            raise BadInput("ema must be in [0, 1) and drop_source in [0, 1]")

    def learning_rate(self, step: int) -> float:
        """Of update number `step`, from 0: up in a line from 0, then down a cosine."""
        if step < self.warmup:
            return self.lr * step / self.warmup
        done = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        return self.min_lr + (self.lr - self.min_lr) * (1 + math.cos(math.pi * done)) / 2

    def write(self, run: Path) -> None:
        """Stores the recipe in its run; continuing a run with other numbers is refused, except for FREE ones."""
        path = run / "recipe.json"
        if path.exists():
            old, new = json.loads(path.read_text(encoding="utf-8")), asdict(self)
            changed = [name for name in new if name not in FREE and old.get(name) != new[name]]
            if changed:
                what = ", ".join(f"{name} {old.get(name)!r} -> {new[name]!r}" for name in changed)
                raise BadInput(f"{run} was started with another recipe ({what}); choose a new --out")
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


FREE = frozenset(
    {"out", "keep", "save_every", "log_every", "recompute", "attention"}
    | {f.name for f in fields(Recipe) if f.name.startswith("sample") or f.name.endswith("_scale")}
)
"""What may change when a run is continued: nothing here touches what is learned."""
