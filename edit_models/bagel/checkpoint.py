"""Saving a run so that it continues exactly, and turning it into a checkpoint that can be used.

A save is a folder `RUN/checkpoints/0001000` of torch's distributed format (each rank writes its own shards) plus one
small JSON per rank for its place in the data. It is written under another name and renamed when complete, so the
newest folder is always whole. Only trained weights are stored; the others are still in the model it started from.
The learning rate, the noise and the order of the data are functions of the step and need no storage.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch import Tensor, nn

from edit_models.bagel.adapters import merged
from edit_models.bagel.loading import AUTOENCODER, TABLES, Checkpoint
from edit_models.bagel.model import waves_2d
from edit_models.bagel.packing import PackState
from edit_models.bagel.parallel import Ranks, plain_name
from gamegen.core.errors import BadInput

COMPANIONS = ("llm_config.json", "vit_config.json", "gamegen.json", AUTOENCODER, "tokenizer.json",
              "tokenizer_config.json", "vocab.json", "merges.txt", "config.json", "generation_config.json")  # fmt: skip


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    return {plain_name(name): p for name, p in model.named_parameters() if p.requires_grad}


class Average:
    """An exponential moving average of the trained weights, in the same shards."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay, self.parameters = decay, trained(model)
        self.weights = {name: p.detach().clone() for name, p in self.parameters.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """After step `step`; young averages forget faster, so that the random start does not linger."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for name, weight in self.weights.items():
            weight.lerp_(self.parameters[name].detach(), 1 - decay)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchanges the model's weights and the averages; a second call undoes it."""
        for name, weight in self.weights.items():
            kept = self.parameters[name].detach().clone()
            self.parameters[name].copy_(weight)
            weight.copy_(kept)


def adam_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """AdamW's tensors by name; they are made (as zeros) if the optimizer has not stepped yet."""
    flat: dict[str, Tensor] = {}
    for name, parameter in trained(model).items():
        state = optimizer.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        flat |= {f"{name}/{part}": value for part, value in state.items()}
    return flat


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer, average: Average | None) -> dict[str, Any]:
    """The tensors of a run, in place: loading into this restores it."""
    return {
        "model": {name: p.detach() for name, p in trained(model).items()},
        "adam": adam_state(model, optimizer),
        "ema": average.weights if average else {},
    }


def save(folder: Path, state: dict[str, Any], step: int, data: PackState, ranks: Ranks, *, keep: int) -> Path:
    """Writes the state after `step` updates and removes all but the newest `keep` saves."""
    final = folder / f"{step:07d}"
    part = folder / f"{step:07d}.part"
    if ranks.first:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
    ranks.wait()
    with _quietly():
        dcp.save(state, checkpoint_id=part, no_dist=ranks.count == 1)
    mine = {"step": step, "ranks": ranks.count, "data": asdict(data)}
    (part / f"rank-{ranks.rank}.json").write_text(json.dumps(mine), encoding="utf-8")
    ranks.wait()
    if ranks.first:
        shutil.rmtree(final, ignore_errors=True)
        part.rename(final)
        for old in saves(folder)[:-keep]:
            shutil.rmtree(old)
    ranks.wait()
    return final


def restore(folder: Path, state: dict[str, Any], ranks: Ranks) -> tuple[int, PackState]:
    """Loads a save into `state` and returns how many updates it holds and where the data goes on."""
    mine = folder / f"rank-{ranks.rank}.json"
    stored = json.loads(mine.read_text(encoding="utf-8")) if mine.exists() else {"ranks": "fewer"}
    if stored["ranks"] != ranks.count:
        raise BadInput(
            f"{folder} was saved by {stored['ranks']} ranks and cannot be continued exactly by {ranks.count}"
        )
    with _quietly():
        dcp.load(state, checkpoint_id=folder, no_dist=ranks.count == 1)
    return stored["step"], PackState.from_json(stored["data"])


def saves(folder: Path) -> list[Path]:
    """Complete saves, oldest first."""
    return sorted(path for path in folder.glob("*") if path.name.isdigit())


def export(
    run: Path, out: Path, *, step: int | None = None, ema: bool = True, dtype: torch.dtype | None = None
) -> Path:
    """Writes a checkpoint folder: one safetensors (upstream's names), configuration, tokenizer, autoencoder.

    The file is called `ema.safetensors` or `model.safetensors`, as upstream does. LoRA is merged in.
    """
    from safetensors.torch import save_file

    recipe = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
    found = saves(run / "checkpoints")
    chosen = [path for path in found if step is None or int(path.name) == step]
    if not chosen:
        raise BadInput(f"{run}: no save of step {step}; there are {[int(path.name) for path in found]}")
    base = Checkpoint(Path(recipe["model"]))
    part = "ema" if ema and recipe["ema"] else "model"
    new = dict(read_save(chosen[-1], part))
    tensors = {}
    for name, tensor in base.read():
        value = new.get(name, tensor)
        tensors[name] = merged(name, value, new).to(dtype or value.dtype).contiguous()
    for name, side in zip(TABLES, (base.config.latent.side, base.config.vision.side), strict=True):
        table = torch.from_numpy(waves_2d(side, base.config.language.hidden))
        tensors[name] = table.to(dtype or table.dtype)
    out.mkdir(parents=True, exist_ok=True)
    for name in COMPANIONS:
        if (base.folder / name).exists():
            shutil.copyfile(base.folder / name, out / name)
    path = out / f"{part}.safetensors"
    save_file(tensors, path, metadata={"format": "pt"})
    return path


def read_save(folder: Path, part: str) -> Iterator[tuple[str, Tensor]]:
    """The tensors of one part of a save, whole, whatever the number of ranks that wrote it."""
    metadata = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
    wanted = {key: entry for key, entry in metadata.items() if key.startswith(f"{part}.")}
    empty = {key: torch.empty(entry.size, dtype=entry.properties.dtype) for key, entry in wanted.items()}
    with _quietly():
        dcp.load(empty, checkpoint_id=folder, no_dist=True)
    for key, tensor in empty.items():
        yield key.removeprefix(f"{part}."), tensor


@contextmanager
def _quietly() -> Iterator[None]:
    """Without torch's remark that one process is one process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        yield
