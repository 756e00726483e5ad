"""What is asked, what is answered, and how an answer is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson

from gamegen.core.cell import Cell

P = TypeVar("P")
"""A game's position: frozen, hashable, and `parse(str(p)) == p`."""

Fact = str | int | Cell | tuple["Fact", ...]
"""What a step claims: a number, a cell, a word (`@name` is looked up in the language's terms), or several."""


@dataclass(frozen=True, slots=True)
class Problem(Generic[P]):
    """A position and what is asked of it: the task's kind and its parameters (a colour, a word, a box…)."""

    kind: str
    position: P
    params: tuple[tuple[str, str | int], ...] = ()

    def __getitem__(self, name: str) -> str | int:
        for key, value in self.params:
            if key == name:
                return value
        raise KeyError(name)

    def text(self, name: str) -> str:
        return str(self[name])


@dataclass(frozen=True, slots=True)
class Step:
    """One thought: the rule that was applied, the facts it rests on, and the action it leads to, if any."""

    rule: str  # names the sentence in the game's words file
    facts: Mapping[str, Fact] = field(default_factory=dict)
    action: str = ""  # as the game's parse_action reads it


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What the solver measured. `effort` is the one number that must rise with the level."""

    effort: float
    length: int = 1  # actions in the solution
    nodes: int = 1  # search nodes, or candidates looked at
    branching: float = 1.0  # mean number of choices at a decision
    forced: float = 1.0  # share of actions without an alternative


@dataclass(frozen=True, slots=True)
class Solution(Generic[P]):
    steps: tuple[Step, ...]
    after: P
    difficulty: Difficulty
    result: Mapping[str, Fact] = field(default_factory=dict)  # for the sentence that describes the result alone


@dataclass(frozen=True, slots=True)
class Check:
    """What the rules say of a proposed result. `parts` are shares in [0, 1], for partial credit beside the score."""

    correct: bool
    legal: bool
    preserved: float
    reason: str
    parts: Mapping[str, float] = field(default_factory=dict)


def steps_to_json(steps: Iterable[Step]) -> str:
    data = [{"rule": s.rule, "facts": dict(s.facts), "action": s.action} for s in steps]
    return orjson.dumps(data, default=_plain).decode()


def steps_from_json(text: str) -> tuple[Step, ...]:
    return tuple(
        Step(item["rule"], {name: _fact(value) for name, value in item["facts"].items()}, item["action"])
        for item in orjson.loads(text)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Cell):
        return {"row": value.row, "col": value.col}
    raise TypeError(f"a fact must be text, a number, a cell or a tuple of them, not {value!r}")


def _fact(value: Any) -> Fact:
    if isinstance(value, list):
        return tuple(_fact(item) for item in value)
    if isinstance(value, dict):
        return Cell(value["row"], value["col"])
    assert isinstance(value, str | int)
    return value
