"""Generators by name: which there are. See edit_models.registry for what a name may be."""

from __future__ import annotations

from edit_models.registry import Kind, Registry

GENERATORS = Registry(
    "generator",
    "gamegen.generators",
    {
        "diffusers": Kind("edit_models.generators.pipelines", "load_generator", target="PATH_OR_NAME"),
        "openai": Kind("edit_models.generators.remote", "ImagesGenerator", target="MODEL", waits=True),
        "chat": Kind("edit_models.generators.remote", "ChatGenerator", target="MODEL", waits=True),
    },
)
