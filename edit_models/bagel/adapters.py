"""Training less than everything: frozen groups, and LoRA by peft."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from edit_models.bagel.keyed import generator
from edit_models.bagel.parallel import put
from gamegen.core.errors import MissingExtra, unknown

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
GROUPS = {
    "vision": lambda name: name.startswith(("vit_model.", "connector.")),
    "understanding": lambda name: name.startswith("language_model.model.layers.") and "_moe_gen" not in name,
    "generation": lambda name: "_moe_gen" in name or name.startswith(("vae2llm.", "llm2vae.", "time_embedder.")),
    "words": lambda name: "embed_tokens" in name or "lm_head" in name,
}


def freeze(model: nn.Module, groups: Sequence[str]) -> None:
    """Stops the training of these groups of weights."""
    for group in groups:
        if group not in GROUPS:
            raise unknown("group of weights", group, GROUPS)
        for name, parameter in model.named_parameters():
            if GROUPS[group](name):
                parameter.requires_grad_(False)


def add_lora(model: nn.Module, rank: int) -> None:
    """Freezes everything and adds two thin matrices to each projection of the language model (alpha is 2 rank)."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise MissingExtra("peft", "bagel") from None
    model.requires_grad_(False)
    targets = [*PROJECTIONS, *(f"{name}_moe_gen" for name in PROJECTIONS[:4])]
    pattern = rf".*language_model\..*\.({'|'.join(targets)})"
    inject_adapter_in_model(LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=pattern), model)


@torch.no_grad()
def start_lora(model: nn.Module, seed: int) -> None:
    """Fresh LoRA matrices that change nothing yet; needed because the model was built without memory."""
    for name, parameter in model.named_parameters():
        if ".lora_A." in name:
            bound = math.sqrt(1 / parameter.shape[1])
            values = (torch.rand(parameter.shape, generator=generator(seed, name)) * 2 - 1) * bound
            put(parameter, values)
        elif ".lora_B." in name:
            parameter.zero_()


def merged(name: str, base: Tensor, trained: Mapping[str, Tensor]) -> Tensor:
    """The weight `name` with its LoRA product added, if there is one (scale alpha / rank = 2)."""
    stem = name.removesuffix(".weight")
    down, up = (trained.get(f"{stem}.lora_{side}.default.weight") for side in "AB")
    if down is None or up is None:
        return base
    return (base.float() + 2.0 * (up.float() @ down.float())).to(base.dtype)
