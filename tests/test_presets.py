"""Presets: the plan of the real ones counted without drawing anything, and a small one made to the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from gamegen.__main__ import main
from gamegen.core.categories import CATEGORIES
from gamegen.core.key import Key
from gamegen.dataset import Dataset
from gamegen.presets import balanced_dataset, preset_named, presets
from gamegen.registry import plugin_of, select
from gamegen.stored import read_dataset


def keys_of(dataset: Dataset) -> list[Key]:
    return [dataset.key(number) for number in range(len(dataset))]


def category_of(key: Key) -> str:
    return plugin_of(key.task)[0].game.category


def even(counts: Iterable[int]) -> bool:
    numbers = list(counts)
    return max(numbers) - min(numbers) <= 1


def check_balance(keys: list[Key]) -> None:
    """Every category, in it every task, level and skin, and in every task and level every skin."""
    assert even(Counter(map(category_of, keys)).values())
    for name in set(map(category_of, keys)):
        own = [key for key in keys if category_of(key) == name]
        for field in ("task", "level", "skin"):
            assert even(Counter(getattr(key, field) for key in own).values()), (name, field)
        cells = Counter((key.task, key.level) for key in own)
        assert even(cells.values())
        for task, level in cells:
            skins = Counter(key.skin for key in own if (key.task, key.level) == (task, level))
            assert even([*skins.values(), *[0] * (len(plugin_of(task)[0].renderer.skins) - len(skins))])


def test_the_benchmark_is_150_of_each_of_the_paper_s_nine_games() -> None:
    preset = preset_named("bench")
    dataset = balanced_dataset(preset.tasks(), size=1350, levels=preset.levels, split=preset.split, seed=preset.seed)
    keys = keys_of(dataset)
    games = [name for name, (scenario, _) in CATEGORIES.items() if scenario == "game" and name != "Chess"]
    assert Counter(map(category_of, keys)) == dict.fromkeys(games, 150)
    assert {key.split for key in keys} == {"test"} and len({key.id for key in keys}) == 1350
    check_balance(keys)
    tasks = Counter(key.task for key in keys)
    assert tasks["spaceinvaders/best"] == 50 and tasks["maze/path"] == 75 and tasks["tictactoe/best"] == 150
    assert set(Counter((key.task.partition("/")[0], key.level) for key in keys).values()) == {30}


def test_the_training_mix_is_half_of_100k_and_over_4000_each() -> None:
    preset = preset_named("train")
    assert preset.per_category > 4000 and preset.split == "train"
    assert abs(2 * preset.per_category * len(preset.categories) - 100_421) < 100
    assert set(preset.tasks()) == {task for task in select("all") if not task.startswith("chess")}
    assert preset.per_category % 30 == 0


@pytest.mark.parametrize("size", [1, 9, 61, 100, 333])
def test_any_number_is_as_even_as_can_be(size: int) -> None:
    tasks = ("maze/path", "maze/shortest", "spaceinvaders/best", "tictactoe/best", "chess/move", "chess/mate")
    dataset = balanced_dataset(tasks, size=size, levels=(1, 3), split="train", seed=4)
    counts = Counter(map(category_of, keys_of(dataset)))
    assert even([*counts.values(), *[0] * (4 - len(counts))])
    keys = keys_of(balanced_dataset(tasks, size=333, levels=(1, 3), split="train", seed=4))
    assert keys[:size] == keys_of(dataset)


def test_a_slice_is_the_same_samples() -> None:
    dataset = balanced_dataset(("maze/path", "tictactoe/best"), size=40, levels=(1, 2), split="test")
    assert keys_of(dataset[10:20]) == keys_of(dataset)[10:20]


def test_a_small_benchmark_is_what_its_plan_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["make", "--preset", "bench", "--tasks", "tictactoe,maze", "--count", "24", "--levels", "1,2"]
    options = ["--pixels", "256", "--format", "jsonl", "--jobs", "1", "--quiet", "--out", str(tmp_path / "a")]
    assert main([*command, *options]) == 0
    rows = [stored.row for stored in read_dataset(tmp_path / "a")]
    assert Counter(row["category"] for row in rows) == {"Tictactoe": 12, "Maze": 12}
    assert {row["split"] for row in rows} == {"test"} and {row["level"] for row in rows} == {1, 2}
    assert Counter(row["skin"] for row in rows if row["category"] == "Maze") == dict.fromkeys(
        plugin_of("maze/path")[0].renderer.skins, 3
    )
    check_balance([Key.parse(row["id"]) for row in rows])
    assert json.loads((tmp_path / "a" / "plan.json").read_text())["skins_in_turn"] is True
    capsys.readouterr()
    assert main(["make", *options, "--tasks", "tictactoe,maze", "--count", "24"]) == 2
    assert "another dataset" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--preset bensh", "did you mean 'bench'"),
        ("--preset bench --tasks mix.yaml", "a mix of its own"),
        ("--preset bench --count 0", "at least 1"),
        ("--tasks maze", "give --count N, or --preset"),
    ],
)
def test_bad_presets_end_in_one_line(
    arguments: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["make", *arguments.split(), "--out", str(tmp_path / "x")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_every_preset_says_what_it_is() -> None:
    for preset in presets().values():
        assert f"{preset.per_category:,}" in preset.about
