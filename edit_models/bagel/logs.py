"""What a run tells: a progress bar, `log.jsonl` and TensorBoard."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from edit_models.bagel.parallel import Ranks
from edit_models.bagel.recipe import Recipe


def peak_memory(device: torch.device) -> float:
    """GiB: of the GPU, or of this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class Log:
    """Rank 0 writes `log.jsonl`, TensorBoard (if installed) and a progress bar; the others are silent."""

    def __init__(self, run: Path, recipe: Recipe, ranks: Ranks, step: int) -> None:
        self.every, self.board, self.file = recipe.log_every, None, None
        if not ranks.first:
            return
        self._forget(run / "log.jsonl", step)
        self.file = (run / "log.jsonl").open("a", encoding="utf-8")
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            pass
        else:
            self.board = SummaryWriter(str(run / "tensorboard"), purge_step=step + 1)
        self.bar = tqdm(total=recipe.steps, initial=step, unit="step", disable=None)

    def line(self, step: int, values: dict[str, Any], *, always: bool = False) -> None:
        if self.file is None:
            return
        if not always:
            self.bar.update()
            self.bar.set_postfix({name: f"{values[name]:.3g}" for name in ("text_loss", "image_loss", "tokens_per_s")})
        if always or step % self.every == 0:
            self.file.write(json.dumps({"step": step, **values}) + "\n")
            self.file.flush()
            if self.board:
                for name, value in values.items():
                    self.board.add_scalar(name, value, step)

    def close(self) -> None:
        if self.file:
            self.file.close()
            self.bar.close()
        if self.board:
            self.board.close()

    @staticmethod
    def _forget(path: Path, step: int) -> None:
        """Drops the lines after the save that the run continues from."""
        if path.exists():
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if json.loads(line)["step"] <= step]
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
