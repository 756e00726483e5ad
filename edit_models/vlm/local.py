"""A model on this machine, through transformers: one that sees, or one for text alone."""

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
    """One question at a time. The same question gets the same reply, at a temperature above 0 as well."""

    def __init__(
        self,
        folder: str,
        *,
        device: str | None = None,
        dtype: str = "auto",
        max_new_tokens: int = 512,
        temperature: float = 0.0,
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtra("torch and transformers", "editors") from error
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            config = transformers.AutoConfig.from_pretrained(folder)
            self._sees = type(config) in transformers.AutoModelForImageTextToText._model_mapping
            if self._sees:
                reader, weights = transformers.AutoProcessor, transformers.AutoModelForImageTextToText
            else:
                reader, weights = transformers.AutoTokenizer, transformers.AutoModelForCausalLM
            self._processor = reader.from_pretrained(folder)
            self._model = weights.from_pretrained(folder, dtype=dtype).to(self._device).eval()
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder!r} cannot be loaded as a model that answers in words: {error}") from error
        self.name = Path(folder).name
        self.parameters: Mapping[str, Any] = {
            "dtype": str(self._model.dtype),
            "max_new_tokens": max_new_tokens,
            "weights": _fingerprint(self._model),
            **({"temperature": temperature} if temperature else {}),
        }
        self.concurrency = 1
        self._words = {"max_new_tokens": max_new_tokens, "do_sample": temperature > 0}
        self._words |= {"temperature": temperature} if temperature else {}
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

        if not self._sees and any(isinstance(part, bytes) for part in parts):
            raise BadInput(f"{self.name} reads text only; this needs a model that sees pictures")
        content = [_piece(part) for part in parts] if self._sees else "".join(map(str, parts))
        torch.manual_seed(_seed(parts))
        inputs = self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._device, **({"dtype": self._model.dtype} if self._sees else {}))
        with torch.inference_mode():
            tokens = self._model.generate(**inputs, **self._words)
        start = inputs["input_ids"].shape[1]
        return str(self._processor.batch_decode(tokens[:, start:], skip_special_tokens=True)[0])


def _fingerprint(model: Any) -> str:
    """Tells fine-tunes in folders of one name apart: a hash of every parameter's name and first values."""
    digest = blake2b(digest_size=16)
    for name, values in model.named_parameters():
        digest.update(name.encode())
        digest.update(values.detach().flatten()[:256].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def _seed(parts: Sequence[Part]) -> int:
    """Sampling that is decided by the question, and so does not depend on what was asked before."""
    digest = blake2b(digest_size=7)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return int.from_bytes(digest.digest(), "big")


def _piece(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "image": Image.open(io.BytesIO(part)).convert("RGB")}
