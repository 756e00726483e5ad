"""Editors by name: which there are. See edit_models.registry for what a name may be."""

from __future__ import annotations

from edit_models.registry import Kind, Registry

EDITORS = Registry(
    "editor",
    "gamegen.editors",
    {
        "copy": Kind("edit_models.editors.yardsticks", "Copy"),
        "oracle": Kind("edit_models.editors.yardsticks", "Oracle"),
        "noise": Kind("edit_models.editors.yardsticks", "Noise"),
        "wrong": Kind("edit_models.editors.yardsticks", "Wrong"),
        "diffusers": Kind("edit_models.editors.pipelines", "load_pipeline", target="PATH_OR_NAME"),
        "bagel": Kind("edit_models.editors.pipelines", "load_bagel", target="PATH"),
        "openai": Kind("edit_models.editors.remote", "ImagesEditor", target="MODEL", waits=True),
        "chat": Kind("edit_models.editors.remote", "ChatEditor", target="MODEL", waits=True),
    },
)
build, check, waits = EDITORS.build, EDITORS.check, EDITORS.waits
