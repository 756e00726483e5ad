"""What a dataset is made of: presets, and mixes from a YAML file.

tasks:
  maze: 2                      # a weight, or
  sokoban/solve: {weight: 1, levels: [3, 4, 5]}
levels: [1, 2, 3]              # for tasks that name none
"""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gamegen.core.errors import BadInput
from gamegen.core.key import LEVELS
from gamegen.registry import select


class _Share(BaseModel):
    model_config = ConfigDict(extra="forbid")
    weight: int = Field(default=1, ge=1, le=1000)
    levels: list[int] | None = None


class _Mix(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tasks: dict[str, int | _Share]
    levels: list[int] = list(LEVELS)


def cells_of(tasks: str, levels: tuple[int, ...] | None) -> list[tuple[str, int]]:
    """The (task, level) pairs that `--tasks` and `--levels` ask for, in the order in which they take turns."""
    if tasks.endswith((".yaml", ".yml")):
        return _from_file(Path(tasks), levels)
    return [(task, level) for level in levels or LEVELS for task in select(tasks)]


def _from_file(path: Path, levels: tuple[int, ...] | None) -> list[tuple[str, int]]:
    try:
        mix = _Mix.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BadInput(f"no such mix: {path}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    cells = []
    for pattern, share in mix.tasks.items():
        each = _Share(weight=share) if isinstance(share, int) else share
        for level in levels or each.levels or mix.levels:
            if level not in LEVELS:
                raise BadInput(f"{path}: level must be one of 1 to 5, not {level!r}")
            cells += [(task, level) for task in select(pattern)] * each.weight
    return cells
