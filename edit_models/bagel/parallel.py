"""One process or many: who we are, weights in shards (FSDP2), weights from a file. The model knows none of this."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from edit_models.bagel.layers import DecoderLayer
from edit_models.bagel.loading import fill_tables
from edit_models.bagel.vision import EncoderLayer


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process among all of them."""

    rank: int
    count: int
    device: torch.device
    mesh: DeviceMesh | None  # None when alone

    @property
    def first(self) -> bool:
        return self.rank == 0

    def total(self, values: Iterable[float]) -> list[float]:
        """Each number summed over all ranks."""
        tensor = torch.tensor(list(values), dtype=torch.float64, device=self.device)
        if self.count > 1:
            dist.all_reduce(tensor)
        return tensor.tolist()

    def agree(self, values: list[int]) -> list[int]:
        """Rank 0's numbers, on every rank."""
        if self.count == 1:
            return values
        tensor = torch.tensor(values, device=self.device)
        dist.broadcast(tensor, src=0)
        return tensor.tolist()

    def wait(self) -> None:
        if self.count > 1:
            dist.barrier()


def join() -> Ranks:
    """Joins the processes that torchrun started; alone without torchrun."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    cuda = torch.cuda.is_available()
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    if count == 1:
        return Ranks(0, 1, device, None)
    if not dist.is_initialized():
        dist.init_process_group("nccl" if cuda else "gloo")
    return Ranks(dist.get_rank(), count, device, init_device_mesh(device.type, (count,)))


def leave(ranks: Ranks) -> None:
    if ranks.count > 1:
        dist.destroy_process_group()


def shard(model: nn.Module, ranks: Ranks, dtype: torch.dtype) -> None:
    """Splits every weight over the ranks, layer by layer; they compute in `dtype` and add gradients in fp32."""
    if ranks.mesh is None:
        return
    how: dict[str, Any] = {
        "mesh": ranks.mesh,
        "mp_policy": MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32),
    }
    for module in model.modules():
        if isinstance(module, DecoderLayer | EncoderLayer):
            fully_shard(module, **how)
    fully_shard(model, **how)


@torch.no_grad()
def fill(model: nn.Module, tensors: Iterable[tuple[str, Tensor]], device: torch.device) -> None:
    """Gives a model without memory its weights; of a sharded one, each rank keeps only its own part."""
    model.to_empty(device=device)
    parameters = {plain_name(name): parameter for name, parameter in model.named_parameters()}
    for name, tensor in tensors:
        put(parameters[name], tensor)
    fill_tables(model, device)


@torch.no_grad()
def put(parameter: Tensor, values: Tensor) -> None:
    """Copies a whole tensor into a parameter, or this rank's part of it into a shard."""
    if isinstance(parameter, DTensor):
        whole = values.to(parameter.device, parameter.dtype)
        values = distribute_tensor(whole, parameter.device_mesh, parameter.placements, src_data_rank=None)
    parameter.copy_(values)


def plain_name(name: str) -> str:
    """The checkpoint's name of a parameter: without what LoRA puts around a layer."""
    return name.replace(".base_layer.", ".")


def full(tensor: Tensor) -> Tensor:
    """The whole tensor, gathered if it is in shards."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
