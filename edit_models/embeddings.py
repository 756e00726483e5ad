"""Sentences as vectors, by any encoder that transformers loads: the mean of its last states, brought to length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BadInput, MissingExtra

BATCH = 64
LONGEST = 256  # tokens


class SentenceModel:
    def __init__(self, folder: str, *, device: str | None = None) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtra("torch and transformers", "editors") from error
        self.name = folder
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder)
            self._model = AutoModel.from_pretrained(folder).to(self._device).eval()
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder!r} cannot be loaded as a sentence embedding model: {error}") from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D). Texts of like length go together, so that little is padding."""
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found: list[Any] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            for place, vector in zip(places, self._batch([texts[place] for place in places]), strict=True):
                found[place] = vector
        return np.stack(found)

    def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        import torch

        inputs = self._tokenizer(texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        inputs = inputs.to(self._device)
        with torch.inference_mode():
            states = self._model(**inputs).last_hidden_state  # (B, L, D)
        real = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)  # (B, L, 1)
        mean = (states * real).sum(1) / real.sum(1).clamp(min=1)
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(mean.float(), dim=1).cpu().numpy()
        return vectors
