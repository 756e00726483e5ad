"""The two losses, as sums; the caller divides by the counts of the whole step, over all ranks and micro-steps."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def text_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Negative log-likelihood of `labels` (n,) under `logits` (n, vocab), summed; 0 for no labels."""
    wide = logits if logits.dtype.itemsize >= 4 else logits.float()
    return F.cross_entropy(wide, labels, reduction="sum")


def flow_loss(velocity: Tensor, wanted: Tensor) -> Tensor:
    """Squared error of the velocity (n, width), mean over the width, summed over the tokens."""
    wide = velocity if velocity.dtype.itemsize >= 4 else velocity.float()
    return (wide - wanted.to(wide.dtype)).square().mean(-1).sum()
