"""Why a sample is dropped, by name: a data file, so that pages, checks and exports agree."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Reason:
    name: str
    label: str
    hint: str


def _load() -> Mapping[str, Reason]:
    found = tomllib.loads(files("realworld.review").joinpath("reasons.toml").read_text(encoding="utf-8"))
    return {name: Reason(name, entry["label"], entry["hint"]) for name, entry in found.items()}


REASONS = _load()
"""name -> reason, in the order of their keys."""
