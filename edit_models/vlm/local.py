"""A seeing model on this machine, through transformers' image-text-to-text classes."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from PIL import Image

from edit_models.vlm.protocol import Part
from gamegen.core.errors import BadInput, JudgeFailed, MissingExtra


class LocalModel:
    """Greedy decoding, one question at a time: the same question gets the same reply."""

    def __init__(
        self, folder: str, *, device: str | None = None, dtype: str = "auto", max_new_tokens: int = 512
    ) -> None:
        try:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as error:
            raise MissingExtra("torch and transformers", "editors") from error
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._processor = AutoProcessor.from_pretrained(folder)
            self._model = AutoModelForImageTextToText.from_pretrained(folder, dtype=dtype).to(self._device).eval()
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder!r} cannot be loaded as an image-text-to-text model: {error}") from error
        self.name = Path(folder).name
        self.parameters: Mapping[str, Any] = {
            "dtype": str(self._model.dtype),
            "max_new_tokens": max_new_tokens,
            "weights": _fingerprint(self._model),
        }
        self.concurrency = 1
        self._max_new_tokens = max_new_tokens
        self._lock = asyncio.Lock()

    async def ask(self, parts: Sequence[Part]) -> str:
        async with self._lock:
            reply = await asyncio.to_thread(self._generate, parts)
        if not reply.strip():
            raise JudgeFailed(f"{self.name} replied with nothing")
        return reply

    async def close(self) -> None:
        """Nothing is held that the process does not free."""

    def _generate(self, parts: Sequence[Part]) -> str:
        import torch

        content = [_piece(part) for part in parts]
        inputs = self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._device, dtype=self._model.dtype)
        with torch.inference_mode():
            tokens = self._model.generate(**inputs, max_new_tokens=self._max_new_tokens, do_sample=False)
        start = inputs["input_ids"].shape[1]
        return str(self._processor.batch_decode(tokens[:, start:], skip_special_tokens=True)[0])


def _fingerprint(model: Any) -> str:
    """Tells fine-tunes in folders of one name apart: a hash of every parameter's name and first values."""
    digest = blake2b(digest_size=16)
    for name, values in model.named_parameters():
        digest.update(name.encode())
        digest.update(values.detach().flatten()[:256].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def _piece(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "image": Image.open(io.BytesIO(part)).convert("RGB")}
