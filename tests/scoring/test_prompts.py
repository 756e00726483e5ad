"""The judge's questions: each shows exactly what the paper lets it see."""

from __future__ import annotations

import pytest

from gamegen.core.categories import CATEGORIES
from scoring.prompts import QUESTIONS, load_prompt

SEEN = {
    "instruction_following": {"original", "instruction", "output", "reference", "effect"},
    "visual_consistency": {"original", "instruction", "output"},
    "visual_quality": {"output"},
}
VALUES: dict[str, str | bytes] = {
    "original": b"ORIGINAL",
    "output": b"OUTPUT",
    "reference": b"REFERENCE",
    "instruction": "rules with {output} and {braces}",
    "effect": "the effect",
}


@pytest.mark.parametrize("scenario", ["real", "game"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_shows_what_it_may_and_nothing_else(question: str, scenario: str) -> None:
    parts = load_prompt(question).fill(scenario, "Maze", VALUES)
    seen = {name for name, value in VALUES.items() if value in parts or any(_inside(value, part) for part in parts)}
    assert seen == SEEN[question]
    assert sum(isinstance(part, bytes) for part in parts) == len(SEEN[question] & {"original", "output", "reference"})
    assert "whole number from 1 to 5" in str(parts[-1])


def _inside(value: str | bytes, part: str | bytes) -> bool:
    return isinstance(value, str) and isinstance(part, str) and value in part


def test_consistency_knows_what_may_change_on_every_board() -> None:
    prompt = load_prompt("visual_consistency")
    games = {name for name, (scenario, _) in CATEGORIES.items() if scenario == "game"}
    assert set(prompt.changes) == games | {"default"}
    maze, other = (str(prompt.fill("game", name, VALUES)) for name in ("Maze", "Somebody's own game"))
    assert "Walls, the start, the end" in maze and prompt.changes["default"] in other


def test_boards_are_not_asked_to_be_photographs() -> None:
    assert "clean board" in load_prompt("visual_quality").texts["game"]
    assert "photographer" not in load_prompt("visual_quality").texts["game"]
