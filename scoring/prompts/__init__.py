"""The judge's questions, as versioned data: one TOML file a question, with a text for photographs and one for boards.

Change a text and raise its `version`: it is part of the cache's key and of every result.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gamegen.core.errors import BadInput

QUESTIONS = ("instruction_following", "visual_consistency", "visual_quality")
"""In the order in which they are asked and weighed."""

PICTURES = ("original", "output", "reference")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    question: str
    version: int
    inputs: tuple[str, ...]  # what the judge may see: no slot outside of it is filled
    texts: Mapping[str, str]  # by scenario: real, game
    changes: Mapping[str, str]  # by category: which parts of a board may change
    again: str  # added when a reply could not be read

    @property
    def name(self) -> str:
        return f"{self.question}@{self.version}"

    def fill(self, scenario: str, category: str, values: Mapping[str, str | bytes]) -> list[str | bytes]:
        """The message, text and pictures in turn. One pass: braces in an instruction stay as they are."""
        parts: list[str | bytes] = []
        known = {**values, "changes": self.changes.get(category, self.changes.get("default", ""))}
        for number, piece in enumerate(_SLOT.split(self.texts[scenario])):
            found = piece if number % 2 == 0 else known[piece]
            if isinstance(found, str) and parts and isinstance(parts[-1], str):
                parts[-1] += found
            elif found:
                parts.append(found)
        return parts


@cache
def load_prompt(question: str, package: str = __name__) -> Prompt:
    """A question from its file in a package, checked: its slots are exactly its inputs."""
    name = f"{question}.toml"
    data = tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
    prompt = Prompt(
        question, data["version"], tuple(data["inputs"]), data["text"], data.get("changes", {}), data["again"]
    )
    for scenario, text in prompt.texts.items():
        slots = set(_SLOT.findall(text)) - {"changes"}
        if slots != set(prompt.inputs):
            raise BadInput(f"{name}, {scenario}: the slots {sorted(slots)} are not the inputs {sorted(prompt.inputs)}")
    return prompt
