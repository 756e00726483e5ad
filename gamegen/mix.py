"""What a dataset is made of: tasks in turn, categories in turn, and mixes from a YAML file.

tasks:
  maze: 2                      # a weight, or
  sokoban/solve: {weight: 1, levels: [3, 4, 5]}
levels: [1, 2, 3]              # for tasks that name none
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gamegen.core.errors import BadInput
from gamegen.core.key import LEVELS
from gamegen.registry import plugin_of, select

Weight = Annotated[int, Field(ge=1, le=1000)]


class _Share(BaseModel):
    model_config = ConfigDict(extra="forbid")
    weight: Weight = 1
    levels: list[int] | None = None


class _Mix(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tasks: Annotated[dict[str, Weight | _Share], Field(min_length=1)]
    levels: list[int] = list(LEVELS)


def cells_of(tasks: str, levels: tuple[int, ...] | None) -> list[tuple[str, int]]:
    """The (task, level) pairs that `--tasks` and `--levels` ask for, in the order in which they take turns."""
    if tasks.endswith((".yaml", ".yml")):
        return _from_file(Path(tasks), levels)
    return [(task, level) for level in levels or LEVELS for task in select(tasks)]


def categories_in_turn(tasks: Sequence[str], levels: Sequence[int] = LEVELS) -> list[tuple[str, int]]:
    """A round of (task, level) pairs in which every category comes equally often, however many tasks it has.

    Any number of samples taken from such rounds is as even as can be: over the categories, and in each category over
    its pairs.
    """
    groups: dict[str, list[tuple[str, int]]] = {}
    for level in levels:
        for task in tasks:
            groups.setdefault(plugin_of(task)[0].game.category, []).append((task, level))
    turns = lcm(*map(len, groups.values()))
    return [cells[turn % len(cells)] for turn in range(turns) for cells in groups.values()]


def _from_file(path: Path, levels: tuple[int, ...] | None) -> list[tuple[str, int]]:
    try:
        mix = _Mix.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BadInput(f"no such mix: {path}") from None
    except OSError as error:
        raise BadInput(f"cannot read the mix {path}: {error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        worst = max(error.errors(), key=lambda each: len(each["loc"]))  # of several readings, the one that got furthest
        place = ".".join(str(part) for part in worst["loc"] if part not in ("constrained-int", "_Share"))
        raise BadInput(f"{path}: {place or 'the file'}: {worst['msg']}") from error
    weights: dict[tuple[str, int], int] = {}
    for pattern, share in mix.tasks.items():
        each = _Share(weight=share) if isinstance(share, int) else share
        for level in levels or each.levels or mix.levels:
            if level not in LEVELS:
                raise BadInput(f"{path}: level must be one of 1 to 5, not {level!r}")
            for task in select(pattern):
                weights[task, level] = weights.get((task, level), 0) + each.weight
    return _taking_turns(weights)


def _taking_turns(weights: dict[tuple[str, int], int]) -> list[tuple[str, int]]:
    """Each cell as often as its weight says, spread so evenly that every prefix comes close to the weights."""
    shares = gcd(*weights.values())
    turns = []
    for order, (cell, weight) in enumerate(weights.items()):
        count = weight // shares
        turns += [((2 * turn + 1) / (2 * count), order, cell) for turn in range(count)]
    return [cell for _, _, cell in sorted(turns)]
