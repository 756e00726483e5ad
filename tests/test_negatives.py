"""Negatives of every task: wrong by the pixels alone, named, different, the same again, and in every format."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gamegen
from gamegen.__main__ import main
from gamegen.animate import replay
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.dataset import create_dataset
from gamegen.images import load_rgb
from gamegen.negatives import ERRORS, MEANINGS, MOST, Negative, negatives
from gamegen.registry import plugin_of
from gamegen.sample import COLUMNS, Sample
from gamegen.slips import MEANINGS as SLIPS
from gamegen.slips import slips
from gamegen.stored import read_dataset
from gamegen.writing.run import write_dataset

TASKS = gamegen.list_tasks()
K = 4


def sample_of(task: str, level: int) -> Sample:
    return gamegen.make_sample(Key(task, level=level, seed=11, pixels=256))


def named(sample: Sample, count: int = 11) -> dict[str, list[Negative]]:
    found: dict[str, list[Negative]] = {}
    for negative in negatives(sample, count):
        found.setdefault(negative.error, []).append(negative)
    return found


@pytest.mark.parametrize("task", TASKS)
def test_the_judge_refuses_every_negative_by_its_pixels(task: str) -> None:
    sample = sample_of(task, 1 + TASKS.index(task) % 5)
    made = negatives(sample, 6)
    assert len(made) == 6
    for negative in made:
        verdict = gamegen.verify(sample.row(), negative.image)
        assert verdict.readable and not verdict.correct
        assert verdict.position == negative.position and verdict.reason == negative.reason != ""
        assert negative.error in MEANINGS
    assert len({negative.position for negative in made} | {str(sample.solution.after)}) == 7
    assert len({load_rgb(negative.image).tobytes() for negative in made}) == 6
    assert len({negative.error for negative in made}) >= 4


@pytest.mark.parametrize("task", TASKS)
def test_the_same_key_gives_the_same_negatives_however_many(task: str) -> None:
    assert negatives(sample_of(task, 2), 2) == negatives(sample_of(task, 2), 3)[:2]


@pytest.mark.parametrize("task", TASKS)
def test_errors_are_what_they_are_called(task: str) -> None:
    sample = sample_of(task, 3)
    game = plugin_of(task)[0].game
    before, after, found = sample.problem.position, sample.solution.after, named(sample)
    way = [str(position) for position in replay(sample)]
    for negative in found.get("half-done", []):
        assert negative.position in way[1:-1] and negative.position != str(before)
    for negative in found.get("wrong-move", []):
        assert any(
            negative.position == str(game.apply(here, action))
            for here in dict.fromkeys(replay(sample))
            for action in game.actions(here)
        )
    assert {negative.position for negative in found.get("untouched", [])} <= {str(before)}
    answer = (sample.original_picture.rgb() != sample.edited_picture.rgb()).any(axis=2)
    for error in ("one-cell", "collateral"):
        for negative in found.get(error, []):
            spoilt = (load_rgb(negative.image) != sample.edited_picture.rgb()).any(axis=2)
            assert spoilt.any() and bool((spoilt & answer).any()) == (error == "one-cell")
    assert not any(str(after) == negative.position for each in found.values() for negative in each)


def test_every_error_has_a_meaning_and_turns_up() -> None:
    assert list(MEANINGS) == [*ERRORS, *SLIPS]
    chosen = [("sudoku/solve", 1), ("sokoban/push", 4), ("tictactoe/best", 1), ("maze/path", 1)]
    drawn = {error for task, level in chosen for error in named(sample_of(task, level), MOST)}
    assert drawn == set(MEANINGS)


@pytest.mark.parametrize("task", TASKS)
def test_slips_are_what_they_are_called(task: str) -> None:
    """Told apart by the texts of positions, which know nothing of slips."""
    sample = sample_of(task, 2)
    plugin = plugin_of(task)[0]
    before, after = sample.problem.position, sample.solution.after
    played = {str(plugin.game.apply(before, action)) for action in plugin.game.actions(before)}
    made = slips(plugin.game.name, sample.problem, after)
    assert made or task == "spaceinvaders/volley"
    for error, position in made:
        text = str(position)
        if error == "illegal-move":
            assert text not in played and text != str(before)
        if error == "clue-changed":
            apart = [(old, new) for old, new in zip(str(after), text, strict=True) if old != new]
            assert len(apart) == 1 and apart[0][0] != "."
        if error == "wall-crossed" and task.startswith("maze"):
            assert "%" in text
        if error == "wrong-box":
            row, col = map(int, sample.problem.text("box").split(","))
            assert text.split("\n")[1:][row][col] in "$*" and text in played
        if error == "off-by-one" and task.startswith("sudoku"):
            assert sum(old != new for old, new in zip(str(after), text, strict=True)) == 1


@pytest.mark.parametrize("count", [0, -1, MOST + 1])
def test_a_count_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(BadInput, match=f"1 to {MOST}"):
        negatives(sample_of(TASKS[0], 1), count)


# On disk --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("negatives")
    tasks = ["--tasks", "tictactoe,sokoban/push", "--count", "4", "--levels", "1"]
    options = [*tasks, "--pixels", "256", "--shard", "3", "--quiet", "--json"]
    for name in ("parquet", "jsonl", "webdataset"):
        out = ["--out", str(root / name), "--format", name, "--negatives", str(K)]
        assert main(["make", *options, *out]) == 0
    return {path.name: path for path in root.iterdir()}


@pytest.fixture(scope="module")
def expected() -> list[tuple[Sample, list[Negative]]]:
    dataset = create_dataset(["tictactoe", "sokoban/push"], size=4, level=1, pixels=256)
    return [(sample, negatives(sample, K)) for sample in dataset]


def same(image: Image.Image | Path | bytes, negative: Negative) -> bool:
    return np.array_equal(load_rgb(image), load_rgb(negative.image))


def test_datasets_reads_the_columns(
    folders: dict[str, Path], expected: list[tuple[Sample, list[Negative]]], tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.load_dataset(str(folders["parquet"]), split="train", cache_dir=str(tmp_path))
    assert table.column_names == [*COLUMNS, "negative_images", "negative_errors", "negative_positions"]
    for row, (sample, made) in zip(table, expected, strict=True):
        assert row["id"] == sample.id
        assert row["negative_errors"] == [negative.error for negative in made]
        assert row["negative_positions"] == [negative.position for negative in made]
        assert all(isinstance(image, Image.Image) for image in row["negative_images"])
        assert all(map(same, row["negative_images"], made))
        assert not any(gamegen.verify(row, image).correct for image in row["negative_images"])
        assert gamegen.verify(row, row["edited_image"]).correct
    card = (folders["parquet"] / "README.md").read_text(encoding="utf-8")
    assert "Preference pairs" in card and all(f"| `{error}` |" in card for error in MEANINGS)


def test_jsonl_and_webdataset_hold_them(
    folders: dict[str, Path], expected: list[tuple[Sample, list[Negative]]]
) -> None:
    rows = [json.loads(line) for line in (folders["jsonl"] / "metadata.jsonl").read_text("utf-8").splitlines()]
    for row, (_, made) in zip(rows, expected, strict=True):
        assert row["negative_errors"] == [negative.error for negative in made]
        assert all(same(folders["jsonl"] / path, each) for path, each in zip(row["negative_images"], made, strict=True))
    members: dict[str, bytes] = {}
    for shard in sorted(folders["webdataset"].glob("*.tar")):
        with tarfile.open(shard) as tar:
            members |= {entry.name: stream.read() for entry in tar if (stream := tar.extractfile(entry)) is not None}
    for number, (_, made) in enumerate(expected):
        assert json.loads(members[f"{number:06d}.json"])["negative_positions"] == [each.position for each in made]
        assert all(same(members[f"{number:06d}.negative{place}.png"], each) for place, each in enumerate(made))


@pytest.mark.parametrize("name", ["parquet", "jsonl", "webdataset"])
def test_our_own_reader_still_reads(
    name: str, folders: dict[str, Path], expected: list[tuple[Sample, list[Negative]]]
) -> None:
    for stored, (sample, made) in zip(read_dataset(folders[name]), expected, strict=True):
        assert stored.row["id"] == sample.id
        assert stored.row["negative_errors"] == [negative.error for negative in made]
        assert stored.row["negative_positions"] == [negative.position for negative in made]
        assert stored.row["negative_images"] == [negative.image for negative in made]
        assert gamegen.verify(stored.row, stored.row["edited_image"]).correct


@pytest.mark.parametrize("name", ["uniredit", "bagel"])
def test_formats_without_a_place_for_them_refuse(name: str, tmp_path: Path) -> None:
    dataset = create_dataset("tictactoe", size=1, pixels=256)
    with pytest.raises(BadInput, match="no place for negatives; these have: parquet, webdataset, jsonl"):
        write_dataset(dataset, tmp_path / name, format=name, negatives=1)
    assert not (tmp_path / name).exists()


def test_a_dataset_without_negatives_says_nothing_of_them(tmp_path: Path) -> None:
    dataset = create_dataset("tictactoe", size=1, pixels=256)
    write_dataset(dataset, tmp_path / "plain")
    for name in ("plan.json", "manifest.json", "README.md"):
        assert "negative" not in (tmp_path / "plain" / name).read_text(encoding="utf-8")
    (shard,) = (tmp_path / "plain").glob("data/*.parquet")
    assert b"negative" not in shard.read_bytes()
    with pytest.raises(BadInput, match=r"another dataset \(other negatives\)"):
        write_dataset(dataset, tmp_path / "plain", negatives=2)
