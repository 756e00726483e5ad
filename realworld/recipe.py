"""How each stage works. The fields are the options of the command line and the keys of a recipe file, said once.

A recipe file is TOML with a table for each stage. Keys are never in it: they come from OPENAI_API_KEY.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from gamegen.core.errors import BadInput, unknown
from scoring.parse import HIGHEST


def _option(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def _needed(help: str) -> Any:
    return field(metadata={"help": help})


def _pairs(help: str) -> Any:
    return field(default_factory=dict, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Options of every stage that asks a model."""

    model: str = _needed("a model's name at the endpoint, or a folder to load it from")
    base_url: str = _option("", "an OpenAI-compatible endpoint (default: OPENAI_BASE_URL)")
    concurrency: int = _option(8, "requests at a time")
    timeout: float = _option(120.0, "seconds to wait for a reply")
    cache: str = _option("", "file of replies, which runs may share (default: replies.sqlite in the run)")

    def __post_init__(self) -> None:
        _at_least(self, concurrency=1)
        if self.timeout <= 0:
            raise BadInput(f"timeout must be above 0, not {self.timeout:g}")


@dataclass(frozen=True, kw_only=True)
class Triples(Asking):
    count: int = _option(10, "triples to ask for in each category")
    batch: int = _option(5, "triples a request")
    examples: int = _option(3, "examples shown in a request, drawn from the seeds")
    categories: str = _option("", "categories, with commas between (default: all nine)")
    seeds: str = _option("", "folder with example triples of your own, one TOML file a category")
    seed: int = _option(0, "decides which examples and subjects a request shows")
    temperature: float = _option(1.0, "of the model")
    max_tokens: int = _option(4096, "longest reply")

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(self, count=1, batch=1, examples=1, temperature=0, max_tokens=1)


@dataclass(frozen=True, kw_only=True)
class Dedup:
    threshold: float = _option(0.7, "descriptions or instructions more similar than this are one")
    embedder: str = _option("", "a sentence embedding model, by folder or hub name (default: hashed n-grams)")

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise BadInput(f"threshold must be above 0 and at most 1, not {self.threshold:g}")


@dataclass(frozen=True, kw_only=True)
class Pairs:
    generator: str = _needed("who draws the original: diffusers:NAME, openai:MODEL, chat:MODEL or MODULE:FUNCTION")
    editor: str = _needed("who edits it: the same kinds, or bagel:PATH; see gamegen edit --help")
    generator_options: Mapping[str, Any] = _pairs("an option of the generator")
    editor_options: Mapping[str, Any] = _pairs("an option of the editor")
    candidates: int = _option(1, "edited pictures a triple; of those that pass the filter, the first is taken")
    jobs: int = _option(1, "requests at a time, or GPUs of this machine")
    seed: int = _option(0, "the pictures' seeds are made from it")

    def __post_init__(self) -> None:
        _at_least(self, candidates=1, jobs=1)


@dataclass(frozen=True, kw_only=True)
class Reason(Asking):
    """Only what all models are asked with."""


@dataclass(frozen=True, kw_only=True)
class Filter(Asking):
    keep: int = _option(HIGHEST, "least score in every question")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.keep <= HIGHEST:
            raise BadInput(f"keep must be 1 to {HIGHEST}, not {self.keep}")


Options = Triples | Dedup | Pairs | Reason | Filter
KINDS: dict[str, type[Options]] = {
    "triples": Triples,
    "dedup": Dedup,
    "pairs": Pairs,
    "reason": Reason,
    "filter": Filter,
}
"""By stage, in the order in which they run."""


def read_recipe(path: Path) -> dict[str, Options]:
    """The options of every stage; all of them are checked before anything runs."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"no such recipe: {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} is no recipe: {error}") from error
    for name in tables:
        if name not in KINDS:
            raise unknown("stage", name, KINDS)
    return {name: _from_table(path, name, kind, tables.get(name, {})) for name, kind in KINDS.items()}


def _from_table(path: Path, stage: str, kind: type[Options], table: Mapping[str, Any]) -> Options:
    if not isinstance(table, Mapping):
        raise BadInput(f"{path}: {stage} must be a table, [{stage}]")
    known = {option.name: option for option in fields(kind)}
    for name, value in table.items():
        if name not in known:
            raise unknown(f"option of {stage}", name, known)
        wanted = type_of(known[name])
        if not isinstance(value, (int, float) if wanted is float else wanted) or isinstance(value, bool):
            raise BadInput(f"{path}: {name} of [{stage}] must be {_NAMES[wanted]}, not {value!r}")
    for name, option in known.items():
        if name not in table and needed(option):
            raise BadInput(f"{path}: [{stage}] needs {name}: {option.metadata['help']}")
    return kind(**table)


_NAMES = {str: "a text", int: "a whole number", float: "a number", dict: "a table"}


def type_of(option: Any) -> type:
    """What a value of this option is; `dict` for options that are pairs of names and values."""
    if option.default_factory is not MISSING:
        return dict
    return str if option.default is MISSING else type(option.default)


def needed(option: Any) -> bool:
    return option.default is MISSING and option.default_factory is MISSING


def _at_least(options: object, **least: int) -> None:
    for name, number in least.items():
        if getattr(options, name) < number:
            raise BadInput(f"{name} must be at least {number}, not {getattr(options, name)!r}")
