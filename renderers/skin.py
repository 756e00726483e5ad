"""Skins are data: `renderers/skins/NAME.toml`, one table a skin, the original's look first.

[classic]
labels = ["00", "11"]          a list is a choice the sample's stream makes
line = 2                       anything else is fixed; widths are in pixels of a 512 px picture
[[classic.palettes]]           one of these is chosen whole; every value is a colour
page = "#ffffff"
[classic.say.en]               what things are called in this skin, by language
o = "red block"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gamegen.core.rendering import Style
from gamegen.core.stream import Stream

FOLDER = Path(__file__).parent / "skins"


@lru_cache(maxsize=64)
def path_of(game: str) -> Path:
    """Where the skins of a game of ours are."""
    return FOLDER / f"{game}.toml"


@lru_cache(maxsize=64)
def names(path: Path) -> tuple[str, ...]:
    return tuple(load(path))


@lru_cache(maxsize=64)
def load(path: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def pick(path: Path, skin: str, *, pixels: int, rng: Stream) -> Style:
    """One look of a skin."""
    table = load(path)[skin]
    picks: dict[str, str | int] = {}
    for name, value in table.items():
        if name in ("palettes", "say", "about"):
            continue
        picks[name] = rng.choice(value) if isinstance(value, list) else value
    picks |= rng.choice(table["palettes"])
    return Style(skin, pixels, tuple(sorted(picks.items())))


def say(path: Path, skin: str, language: str) -> Mapping[str, str]:
    terms: Mapping[str, str] = load(path)[skin].get("say", {}).get(language, {})
    return terms
