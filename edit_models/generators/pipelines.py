"""Generators from diffusers, by hub name or local folder.

`AutoPipelineForText2Image` picks the text-to-image sibling of whatever the folder names; a pipeline that it does not
know is taken as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from PIL import Image

from edit_models.editors.pipelines import from_pretrained, generator
from gamegen.core.errors import BadInput, unknown


class PipelineGenerator:
    def __init__(
        self, pipeline: Any, *, steps: int | None = None, guidance: float | None = None, extra: Mapping[str, Any]
    ) -> None:
        self.pipeline = pipeline
        known = inspect.signature(pipeline.__call__).parameters
        if "prompt" not in known:
            raise BadInput(f"{type(pipeline).__name__} takes no prompt; it is no generator")
        self.options = dict(extra)
        self.options |= {"num_inference_steps": steps} if steps is not None else {}
        self.options |= {"guidance_scale": guidance} if guidance is not None else {}
        for name in self.options:
            if name not in known:
                raise unknown(f"option of {type(pipeline).__name__}", name, known)

    def generate(self, description: str, *, seed: int) -> Image.Image:
        image: Image.Image = self.pipeline(prompt=description, generator=generator(seed), **self.options).images[0]
        return image


def load_generator(
    target: str,
    *,
    worker: int = 0,
    device: str | None = None,
    dtype: str | None = None,
    steps: int | None = None,
    guidance: float | None = None,
    **extra: Any,
) -> PipelineGenerator:
    pipeline = from_pretrained(target, "AutoPipelineForText2Image", worker=worker, device=device, dtype=dtype)
    return PipelineGenerator(pipeline, steps=steps, guidance=guidance, extra=extra)
