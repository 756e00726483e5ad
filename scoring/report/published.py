"""The paper's own rows, from published.toml: other people's numbers, by another judge than ours."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).parent / "published.toml"


@dataclass(frozen=True, slots=True)
class Published:
    """One model's printed scores, in percent."""

    name: str
    access: str  # closed or open
    dimensions: Mapping[str, float]
    categories: Mapping[str, float]
    averages: Mapping[str, float]  # by scenario
    overall: float


@dataclass(frozen=True, slots=True)
class Paper:
    judge: str
    source: str
    dimensions: tuple[str, ...]
    categories: tuple[str, ...]
    models: tuple[Published, ...]


@lru_cache(maxsize=1)
def paper() -> Paper:
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    dimensions, categories = tuple(data["dimensions"]), tuple(data["categories"])
    models = tuple(
        Published(
            name=model["name"],
            access=model["access"],
            dimensions=dict(zip(dimensions, model["dimensions"], strict=True)),
            categories=dict(zip(categories, model["categories"], strict=True)),
            averages={scenario: model[scenario] for scenario in ("real", "game")},
            overall=model["overall"],
        )
        for model in data["models"]
    )
    return Paper(data["judge"], data["source"], dimensions, categories, models)
