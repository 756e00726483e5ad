"""Editors from diffusers, by hub name or local folder: whichever pipeline the folder names, if it takes a picture.

Calls differ between pipelines, so a small table says where the picture goes. Options of a pipeline's call that are not
ours (`image_guidance_scale=1.2`, `max_area=262144`…) are handed to it by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from edit_models.editors.protocol import Edit, Request
from gamegen.core.errors import BadInput, MissingExtra, unknown

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one pipeline class is called."""

    image: str = "image"
    listed: bool = False  # it wants a list of pictures even for one
    prompt: str = "{}"
    guidance: str = "guidance_scale"
    always: tuple[tuple[str, Any], ...] = ()
    batches: bool = False  # a list of pictures is one picture for each prompt, not several for one


_QWEN = Adapter(guidance="true_cfg_scale", always=(("negative_prompt", " "),))  # without it, guidance does nothing
ADAPTERS = {
    "FluxKontextPipeline": Adapter(batches=True),
    "JoyImageEditPlusPipeline": Adapter(image="images", listed=True),
    "OmniGenPipeline": Adapter(
        image="input_images",
        listed=True,
        prompt="<img><|image_1|></img> {}",
        always=(("use_input_image_size_as_output", True),),
    ),
    "QwenImageEditPipeline": _QWEN,
    "QwenImageEditPlusPipeline": _QWEN,
    "StableDiffusionInstructPix2PixPipeline": Adapter(batches=True),
    "ZImageOmniPipeline": Adapter(listed=True),
}
"""Pipelines that differ from the usual call with `image` and `prompt`."""


class PipelineEditor:
    """Every sample has a generator of its own, on the CPU, so that its noise is the same on any device.

    Some pipelines also draw from torch's global generator, as OmniGen when it encodes the picture; it is set, too.
    """

    def __init__(
        self, pipeline: Any, *, steps: int | None = None, guidance: float | None = None, extra: Mapping[str, Any]
    ) -> None:
        self.pipeline = pipeline
        self.adapter = ADAPTERS.get(type(pipeline).__name__, Adapter())
        known = inspect.signature(pipeline.__call__).parameters
        if self.adapter.image not in known or "prompt" not in known:
            raise BadInput(f"{type(pipeline).__name__} takes no picture with a prompt; it is no editor")
        self.options = {**dict(self.adapter.always), **extra}
        if steps is not None:
            self.options["num_inference_steps"] = steps
        if guidance is not None:
            self.options[self.adapter.guidance] = guidance
        for name in self.options:
            if name not in known:
                raise unknown(f"option of {type(pipeline).__name__}", name, known)

    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Edit:
        picture = [image] if self.adapter.listed else image
        made = self._call(picture, self.adapter.prompt.format(instruction), generator(seed))
        return Edit(made[0])

    def edit_batch(self, requests: Sequence[Request]) -> list[Edit]:
        if not self.adapter.batches:
            return [self.edit(request.image, request.instruction, seed=request.seed) for request in requests]
        prompts = [self.adapter.prompt.format(request.instruction) for request in requests]
        pictures = [request.image for request in requests]
        made = self._call(pictures, prompts, [generator(request.seed) for request in requests])
        return [Edit(image) for image in made]

    def _call(self, image: Any, prompt: Any, generator: Any) -> list[Image.Image]:
        call = {self.adapter.image: image, "prompt": prompt, "generator": generator, **self.options}
        images: list[Image.Image] = self.pipeline(**call).images
        return images


def load_pipeline(
    target: str,
    *,
    worker: int = 0,
    device: str | None = None,
    dtype: str | None = None,
    steps: int | None = None,
    guidance: float | None = None,
    **extra: Any,
) -> PipelineEditor:
    pipeline = from_pretrained(target, "DiffusionPipeline", worker=worker, device=device, dtype=dtype)
    return PipelineEditor(pipeline, steps=steps, guidance=guidance, extra=extra)


def from_pretrained(target: str, loader: str, *, worker: int, device: str | None, dtype: str | None) -> Any:
    """A pipeline on a GPU in bf16 if there is one, else on the CPU in fp32; each worker takes the next GPU.

    `loader` is the class of diffusers that loads it; what that does not know, DiffusionPipeline loads as it is.
    """
    try:
        import diffusers
        import torch
    except ImportError:
        raise MissingExtra("torch and diffusers", "editors") from None

    device = device or gpu_of(worker) or "cpu"
    dtype = dtype or ("fp32" if device == "cpu" else "bf16")
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    kind = getattr(torch, DTYPES[dtype])
    try:
        try:
            pipeline = getattr(diffusers, loader).from_pretrained(target, dtype=kind)
        except ValueError:
            pipeline = diffusers.DiffusionPipeline.from_pretrained(target, dtype=kind)
    except (OSError, ValueError, ImportError) as error:
        raise BadInput(f"cannot load the pipeline {target!r}: {str(error).strip().splitlines()[0]}") from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline.to(device)


def load_bagel(
    target: str, *, worker: int = 0, device: str | None = None, dtype: str | None = None, **settings: Any
) -> Any:
    """A BAGEL checkpoint; the other options are the fields of its settings."""
    try:
        from edit_models.bagel.editor import BagelEditor, Settings
    except ImportError:
        raise MissingExtra("torch and transformers", "bagel") from None

    for name in settings:
        if name not in Settings.__dataclass_fields__:
            raise unknown("option of bagel", name, Settings.__dataclass_fields__)
    if "interval" in settings:
        settings["interval"] = tuple(settings["interval"])
    return BagelEditor.load(target, device=device or gpu_of(worker), dtype=dtype, settings=Settings(**settings))


def gpu_of(worker: int) -> str | None:
    import torch

    return f"cuda:{worker % torch.cuda.device_count()}" if torch.cuda.is_available() else None


def generator(seed: int) -> Any:
    """Noise that is the same on any device; torch's global generator is set as well, see PipelineEditor."""
    import torch

    torch.manual_seed(seed)
    return torch.Generator("cpu").manual_seed(seed)
