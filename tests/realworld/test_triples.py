"""Hand-made triples, requests, and what is taken from replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gamegen.__main__ import main
from gamegen.core.errors import JudgeFailed
from realworld.asking import prompt_named
from realworld.dedup import repeats
from realworld.ngrams import NGrams
from realworld.recipe import Triples
from realworld.run import Run, Triple
from realworld.triples import REAL, load_seeds, objection, orders, read_reply

GOOD = {
    "description": "A snowman stands in a garden.",
    "instruction": "Give it three warm days.",
    "effect": "A heap of wet snow lies in the garden.",
}


def test_there_are_good_examples_for_all_nine_categories() -> None:
    seeds = load_seeds(None)
    assert set(seeds) == set(REAL) and len(REAL) == 9
    assert all(len(each.triples) >= 6 for each in seeds.values())
    all_of_them = [
        Triple(f"{name}-{number}", name, **triple)
        for name, each in seeds.items()
        for number, triple in enumerate(each.triples)
    ]
    assert not any(repeats(all_of_them, NGrams(), 0.5)), "two examples are too much alike"
    effects = NGrams().encode([triple.effect for triple in all_of_them])
    assert ((effects @ effects.T) > 0.7).sum() == len(all_of_them)


def test_requests_differ_and_more_of_them_change_no_earlier_one() -> None:
    seeds = load_seeds(None)
    few, many = (orders(Triples(model="m", count=count), seeds) for count in (10, 40))
    assert [each.name for each in many[: len(few)]] == [each.name for each in few]
    assert many[: len(few)] == few
    prompts = ["".join(map(str, prompt_named("triples").fill("real", "", {**each.work.values()}))) for each in many]
    assert len(set(prompts)) == len(many) == 8 * 9
    assert orders(Triples(model="m", count=10, seed=1), seeds) != few
    first = many[0].work
    assert all(json.dumps(triple["instruction"])[1:-1] in prompts[0] for triple in first.examples)
    assert all(subject in prompts[0] for subject in first.subjects) and first.category in prompts[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"effect": 3}, "not a triple of texts"),
        ({"description": "A snowman."}, "the description is too short"),
        ({"instruction": "melt " * 61}, "the instruction is too long"),
        ({"effect": "It melts."}, "the effect is too short"),
        ({"instruction": "Show a heap of wet snow lies in the garden"}, "the instruction gives the effect away"),
        ({"instruction": "A HEAP of wet, snow!"}, "the instruction gives the effect away"),
        ({"instruction": "Let there be wet snow in the garden"}, ""),
    ],
)
def test_triples_are_held_to_what_was_asked(change: dict[str, object], reason: str) -> None:
    assert objection({**GOOD, **change}) == reason


@pytest.mark.parametrize("item", [None, 3, [], {}, {"description": "a"}])
def test_what_is_no_triple_is_dropped(item: object) -> None:
    assert objection(item) == "not a triple of texts"


def test_replies_are_read_strictly() -> None:
    reply = json.dumps({"triples": [GOOD]})
    assert read_reply(f"Sure!\n```json\n{reply}\n```") == [GOOD]
    for bad in ("", "no", reply[:-9], '{"triples": []}', '{"triples": "none"}', json.dumps([GOOD])):
        with pytest.raises(JudgeFailed, match="no JSON object with triples"):
            read_reply(bad)


def test_categories_may_come_one_after_the_other(endpoint: str, tmp_path: Path) -> None:
    """In whatever order they were asked for, the file is the same."""
    options = ["--model", "m", "--base-url", endpoint, "--count", "2", "--batch", "1", "--categories"]
    for folder, asked in (
        ("a", ["Pose Adjustment,Motion State Change"]),
        ("b", ["motion state change", "PoseAdjustment"]),
    ):
        for names in asked:
            assert main(["real", "triples", str(tmp_path / folder), *options, names]) == 0
    assert (tmp_path / "a" / "triples.jsonl").read_bytes() == (tmp_path / "b" / "triples.jsonl").read_bytes()
    assert [triple.id for triple in Run.open(tmp_path / "a").triples()] == [
        "pose-adjustment-1-1", "motion-state-change-1-1", "pose-adjustment-2-1", "motion-state-change-2-1",
    ]  # fmt: skip


def test_own_examples_are_checked(endpoint: str, tmp_path: Path, says: Callable[..., str]) -> None:
    path = tmp_path / "seeds" / "own.toml"
    path.parent.mkdir()
    ask = ["triples", tmp_path / "run", "--model", "m", "--base-url", endpoint, "--seeds", path.parent]
    assert "holds no example triples" in says(*ask)
    for text, words in (
        ("category = ", "own.toml is no file of example triples"),
        ('category = "Pose Adjustment"', "own.toml is no file of example triples: it has no 'meaning'"),
        ('category = "Maze"\nmeaning = "m"\ntriple = []', "Maze is no real-world category"),
        ('category = "Pose Adjustment"\nmeaning = "m"\n[[triple]]\neffect = "x"', "triple 1: not a triple of texts"),
    ):
        path.write_text(text)
        assert words in says(*ask)
