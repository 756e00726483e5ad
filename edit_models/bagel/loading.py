"""Checkpoints: found, described, loaded strictly.

The model is built without memory (meta device) and the file is memory-mapped, so the host holds about one copy.
Every tensor must be there, with the right shape, and nothing else; the two fixed position tables are computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from edit_models.bagel.autoencoder import Autoencoder, PatchAutoencoder, flux_autoencoder
from edit_models.bagel.config import BagelConfig
from edit_models.bagel.model import Bagel, PositionTable
from gamegen.core.errors import BadInput

PATCH_EMBEDDING = "vit_model.vision_model.embeddings.patch_embedding.weight"
TABLES = ("latent_pos_embed.pos_embed", "vit_pos_embed.pos_embed")
PREFERRED = ("model.safetensors", "ema.safetensors")
AUTOENCODER = "ae.safetensors"
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
DTYPE_BYTES = {"BF16": 2, "F16": 2, "F32": 4, "F64": 8}


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor in a file, not read yet."""

    file: Path
    shape: tuple[int, ...]
    dtype: str


class Checkpoint:
    """A folder with `llm_config.json`, `vit_config.json`, a tokenizer and the weights, or one weights file in it.

    Of several weights files `model.safetensors` is taken, then `ema.safetensors`, then the shards of an index.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise BadInput(f"no such checkpoint: {path}")
        self.folder = path if path.is_dir() else path.parent
        self.files = weight_files(path)
        self.tensors = read_headers(self.files)
        shapes = {name: _linear_shape(name, stored.shape) for name, stored in self.tensors.items()}
        self.config = BagelConfig.read(self.folder, shapes)
        self.shapes = shapes

    def problems(self) -> list[str]:
        """What keeps this from loading, one line each; empty for a good checkpoint."""
        with torch.device("meta"):
            expected = {name: tuple(t.shape) for name, t in Bagel(self.config).state_dict().items()}
        found = self.shapes
        lines = []
        for what, names in (
            ("missing", sorted(expected.keys() - found.keys() - set(TABLES))),
            ("unexpected", sorted(found.keys() - expected.keys())),
        ):
            if names:
                more = f", … {len(names) - 8} more" if len(names) > 8 else ""
                lines.append(f"{len(names)} {what} tensors: {', '.join(names[:8])}{more}")
        lines.extend(
            f"{name}: expected shape {expected[name]}, found {found[name]}"
            for name in sorted(expected.keys() & found.keys())
            if expected[name] != found[name]
        )
        return lines

    def check(self) -> None:
        problems = self.problems()
        if problems:
            raise BadInput(f"{self.folder} does not hold this BAGEL model:\n  " + "\n  ".join(problems[:20]))

    def read(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor in its linear form, memory-mapped; the computed tables are left out."""
        from safetensors import safe_open

        for file in self.files:
            with safe_open(file, framework="pt") as opened:
                for name in opened.keys():  # noqa: SIM118 - not a dict
                    if name not in TABLES:
                        yield name, _linear_form(name, opened.get_tensor(name))

    def model(self, *, dtype: torch.dtype | None = None, device: str = "cpu") -> Bagel:
        """The model with its weights; `dtype` None keeps the file's."""
        self.check()
        with torch.device("meta"):
            model = Bagel(self.config)
        for name, tensor in self.read():
            assign(model, name, tensor.to(device=device, dtype=dtype or tensor.dtype))
        fill_tables(model, device)
        return model.eval()

    def autoencoder(self, *, dtype: torch.dtype | None = None, device: str = "cpu") -> Autoencoder:
        if self.config.latent.kind == "patch":
            return PatchAutoencoder(self.config.latent)
        from safetensors.torch import load_file

        path = self.folder / AUTOENCODER
        if not path.exists():
            raise BadInput(f"a BAGEL checkpoint folder needs {AUTOENCODER}: not found in {self.folder}")
        tensors = {name: t.to(dtype or t.dtype) for name, t in load_file(path, device=device).items()}
        return flux_autoencoder(tensors, self.config.latent)

    def facts(self) -> dict[str, Any]:
        """What `gamegen bagel inspect` prints."""
        sizes = {name: _numel(stored.shape) for name, stored in self.tensors.items()}
        gen = sum(n for name, n in sizes.items() if "_moe_gen" in name)
        vit = sum(n for name, n in sizes.items() if name.startswith("vit_model."))
        stored = sum(_numel(t.shape) * DTYPE_BYTES.get(t.dtype, 0) for t in self.tensors.values())
        return {
            "folder": str(self.folder),
            "files": [file.name for file in self.files],
            "tensors": len(sizes),
            "parameters": sum(sizes.values()),
            "generation_parameters": gen,
            "vision_parameters": vit,
            "dtypes": sorted({t.dtype for t in self.tensors.values()}),
            "gib": round(stored / 2**30, 3),
            "patch_embedding": "convolution" if len(self.tensors[PATCH_EMBEDDING].shape) == 4 else "linear",
            "language": asdict(self.config.language),
            "vision": asdict(self.config.vision),
            "latent": asdict(self.config.latent),
            "autoencoder": "built in" if self.config.latent.kind == "patch" else self._has(AUTOENCODER),
            "tokenizer": self._has("tokenizer.json"),
            "problems": self.problems(),
        }

    def _has(self, name: str) -> str:
        return name if (self.folder / name).exists() else "missing"


def weight_files(path: Path) -> list[Path]:
    """The safetensors files that together hold the model."""
    if path.is_file():
        return [path]
    for name in PREFERRED:
        if (path / name).exists():
            return [path / name]
    for index in sorted(path.glob("*.safetensors.index.json")):
        names = {Path(name).name for name in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()}
        files = [path / name for name in sorted(names) if name != AUTOENCODER]
        absent = [file.name for file in files if not file.exists()]
        if absent:
            raise BadInput(f"{index.name} names {len(absent)} files that are not there: {', '.join(absent[:5])}")
        return files
    raise BadInput(f"no weights in {path}: expected model.safetensors, ema.safetensors or an index of shards")


def read_headers(files: Iterable[Path]) -> dict[str, Stored]:
    """Names, shapes and types from the headers alone."""
    from safetensors import SafetensorError, safe_open

    tensors: dict[str, Stored] = {}
    for file in files:
        try:
            with safe_open(file, framework="pt") as opened:
                for name in opened.keys():  # noqa: SIM118 - not a dict
                    part = opened.get_slice(name)
                    if name in tensors:
                        raise BadInput(f"{name} is in both {tensors[name].file.name} and {file.name}")
                    tensors[name] = Stored(file, tuple(part.get_shape()), part.get_dtype())
        except SafetensorError as error:
            raise BadInput(f"{file} is not a safetensors file: {error}") from None
    return tensors


def assign(model: nn.Module, name: str, tensor: Tensor) -> None:
    """Puts one tensor in the place of a parameter without memory."""
    owner, _, leaf = name.rpartition(".")
    module = model.get_submodule(owner)
    old = getattr(module, leaf)
    setattr(module, leaf, nn.Parameter(tensor, requires_grad=old.requires_grad))


def fill_tables(model: nn.Module, device: str | torch.device) -> None:
    for module in model.modules():
        if isinstance(module, PositionTable):
            module.fill()
            module.pos_embed = module.pos_embed.to(device)


def _linear_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], _numel(shape[1:])) if name == PATCH_EMBEDDING and len(shape) == 4 else shape


def _linear_form(name: str, tensor: Tensor) -> Tensor:
    if name == PATCH_EMBEDDING and tensor.ndim == 4:  # SigLIP's convolution (out, channel, row, column)
        return tensor.permute(0, 2, 3, 1).flatten(1)
    return tensor


def _numel(shape: Iterable[int]) -> int:
    count = 1
    for side in shape:
        count *= side
    return count
