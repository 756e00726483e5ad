"""Datasets by name: how many samples of which categories, balanced over tasks, levels and skins; see presets.toml.

The presets hold the paper's nine games. Chess, which the paper does not have, is made with `--tasks chess`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gamegen.core.errors import unknown
from gamegen.core.key import DEFAULT_PIXELS
from gamegen.dataset import Dataset, skins_for
from gamegen.mix import categories_in_turn
from gamegen.registry import plugin_of, select


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    about: str
    per_category: int
    split: str
    seed: int
    levels: tuple[int, ...]
    categories: tuple[str, ...]

    def tasks(self) -> tuple[str, ...]:
        """The tasks of its categories, in the order of the categories."""
        found = {task: plugin_of(task)[0].game.category for task in select("all")}
        return tuple(task for name in self.categories for task, category in found.items() if category == name)


@cache
def presets() -> dict[str, Preset]:
    data = tomllib.loads((files("gamegen") / "presets.toml").read_text(encoding="utf-8"))
    return {
        name: Preset(
            name,
            each["about"],
            each["per_category"],
            each["split"],
            each["seed"],
            tuple(each["levels"]),
            tuple(each["categories"]),
        )
        for name, each in data.items()
    }


def preset_named(name: str) -> Preset:
    if name not in presets():
        raise unknown("preset", name, presets())
    return presets()[name]


def balanced_dataset(
    tasks: Sequence[str],
    *,
    size: int,
    levels: Sequence[int],
    split: str,
    seed: int = 0,
    skins: Sequence[str] = (),
    language: str = "en",
    pixels: int = DEFAULT_PIXELS,
) -> Dataset:
    """`size` samples in which categories, each category's tasks and levels, and the skins come equally often.

    Equally means: the numbers differ by one at most where they cannot be equal.
    """
    wanted = tuple(skins) or tuple(dict.fromkeys(s for task in tasks for s in plugin_of(task)[0].renderer.skins))
    return Dataset(
        categories_in_turn(tasks, levels),
        seed=seed,
        size=size,
        skins=skins_for(tasks, wanted),
        split=split,
        language=language,
        pixels=pixels,
        skins_in_turn=True,
    )


def categories_of(tasks: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plugin_of(task)[0].game.category for task in tasks))
