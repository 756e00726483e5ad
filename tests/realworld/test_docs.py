"""docs/REALWORLD.md says what is so: its commands parse, its recipe is one, its names are all that there are."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from edit_models.generators.registry import GENERATORS
from gamegen import commands
from gamegen.__main__ import main
from realworld.export import COLUMNS
from realworld.filter import QUESTIONS
from realworld.recipe import KINDS, read_recipe
from realworld.run import STAGES
from realworld.triples import load_seeds

from .conftest import ROOT

PAGE = (ROOT / "docs" / "REALWORLD.md").read_text(encoding="utf-8")


def test_its_commands_parse() -> None:
    lines = re.findall(r"^gamegen (real .*)$", PAGE, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        commands.parse(shlex.split(line, comments=True), "real")


def test_its_recipe_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "recipe.toml").write_text(block)
    assert list(read_recipe(tmp_path / "recipe.toml")) == list(KINDS) == list(STAGES)


def test_it_names_what_there_is() -> None:
    for name in (*STAGES, *STAGES.values(), *(f"{kind}:" for kind in GENERATORS.kinds), *COLUMNS):
        assert name in PAGE, name
    for question in QUESTIONS:
        words = question.replace("_", " ").replace("cot quality", "reasoning")
        assert words in PAGE.lower(), question
    assert {len(each.triples) for each in load_seeds(None).values()} == {7}, "the page says seven"
    assert len(PAGE.splitlines()) < 120, "one page"


@pytest.mark.parametrize("stage", list(KINDS))
def test_every_option_is_explained(stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["real", stage, "--help"])
    text = capsys.readouterr().out
    for option in fields(KINDS[stage]):
        flag = "--" + option.name.replace("_", "-")
        assert (flag in text or flag.removesuffix("s") in text) and option.metadata["help"].split()[0] in text
