"""Feed a trainer: a dataset goes straight into torch's DataLoader; worker processes make samples as they are needed."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import DataLoader

import gamegen


def collate(samples: list[gamegen.Sample]) -> dict[str, object]:
    """Pictures as (B, 3, H, W) in [-1, 1], prompts and reasoning as text."""

    def tensor(name: str) -> torch.Tensor:
        pixels = np.stack([np.asarray(getattr(sample, name)) for sample in samples])
        return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 127.5 - 1

    return {
        "before": tensor("original"),
        "after": tensor("edited"),
        "prompt": [sample.prompt for sample in samples],
        "reasoning": [sample.reasoning for sample in samples],
    }


if __name__ == "__main__":
    dataset = gamegen.create_dataset("tictactoe", seed=3, size=64, pixels=256)
    loader = DataLoader(dataset, batch_size=8, shuffle=True, collate_fn=collate, num_workers=2)
    for batch in loader:
        print(tuple(batch["before"].shape), batch["prompt"][0][:60], "…")
        break
