"""Datasets: lazy, sliceable, picklable, the same everywhere; mixes that are balanced at every length."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import gamegen
from gamegen.core.errors import BadInput
from gamegen.core.key import LEVELS
from gamegen.dataset import Dataset, create_dataset
from gamegen.mix import cells_of
from gamegen.registry import plugin_of
from tests import goldens

TASKS = gamegen.list_tasks()


@pytest.fixture(scope="module")
def some() -> Dataset:
    return create_dataset("all", size=2 * len(TASKS), seed=9, pixels=256)


def test_nothing_is_made_before_it_is_asked_for() -> None:
    huge = create_dataset("all", size=10**12)
    assert len(huge) == 10**12 and len(huge[5:]) == 10**12 - 5
    assert huge.key(-1).index == (10**12 - 1) // (len(TASKS) * len(LEVELS))


def test_indices_and_slices_are_those_of_a_list(some: Dataset) -> None:
    ids = [some.key(at).id for at in range(len(some))]
    assert some[-1].id == ids[-1] and some[0].id == ids[0]
    for cut in (slice(2, 9), slice(None, None, -1), slice(-5, None), slice(1, None, 3)):
        view = some[cut]
        assert [view.key(at).id for at in range(len(view))] == ids[cut]
        assert [view[1:][::2].key(at).id for at in range(len(view[1:][::2]))] == ids[cut][1:][::2]
    for beyond in (len(some), -len(some) - 1):
        with pytest.raises(IndexError):
            some[beyond]
    assert [sample.id for sample in some[:3]] == ids[:3]


def test_pickles_are_small_and_faithful(some: Dataset) -> None:
    data = pickle.dumps(some[1:4])
    assert len(data) < 20_000
    assert [s.row() for s in pickle.loads(data)] == [s.row() for s in some[1:4]]
    assert pickle.loads(pickle.dumps(some[0])).row() == some[0].row()


def test_a_sample_is_its_row(some: Dataset) -> None:
    sample = some[0]
    assert dict(sample) == sample.row() and len(sample) == len(sample.row())
    assert sample["id"] == sample.id and "instruction" in sample
    assert gamegen.verify(sample, sample.edited).correct


@pytest.mark.parametrize("workers", [0, 2])
def test_torch_loads_batches_as_they_are(workers: int) -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    dataset = create_dataset(TASKS[0], size=6, level=1, pixels=256)
    context = "spawn" if workers else None
    loader = torch_data.DataLoader(dataset, batch_size=3, num_workers=workers, multiprocessing_context=context)
    batches = list(loader)
    assert [name for batch in batches for name in batch["id"]] == [dataset.key(at).id for at in range(6)]
    assert batches[0]["level"].tolist() == [1, 1, 1]
    assert batches[1]["edited_image"][2] == dataset[5]["edited_image"]


def test_samples_do_not_depend_on_their_neighbours(some: Dataset) -> None:
    """Made alone, in order or backwards, in this process or another, a sample is the same."""
    backwards = {sample.id: sample["position_before"] for sample in some[::-1]}
    assert backwards == {sample.id: sample["position_before"] for sample in some}


def test_every_task_has_goldens() -> None:
    """A new game adds its own: `python -m tests.goldens`."""
    wanted = goldens.keys()
    assert {key.id for key in wanted} == set(goldens.load())


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_goldens_in_another_process(hash_seed: str) -> None:
    """Positions and pixels of a few keys of every task, against committed hashes."""
    code = "import json; from tests import goldens; print(json.dumps(goldens.make()))"
    environment = goldens.environment() | {"PYTHONHASHSEED": hash_seed}
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert output.returncode == 0, output.stderr
    found, committed = json.loads(output.stdout), goldens.load()
    changed = [key for key in committed if found.get(key) != committed[key]]
    assert not changed, f"{changed} changed: raise the generator version, or mend what changed them"


def test_options_are_checked_at_once() -> None:
    for bad in (
        {"level": 6},
        {"split": "dev"},
        {"language": "fr"},
        {"pixels": 100},
        {"skin": "no such skin"},
        {"size": -1},
        {"task": "tictactoo"},
    ):
        with pytest.raises(BadInput):
            create_dataset(**{"task": TASKS[0], **bad})  # type: ignore[arg-type]


def test_a_skin_is_kept_to_where_a_game_has_it() -> None:
    for task in TASKS:
        for skin in plugin_of(task)[0].renderer.skins:
            dataset = create_dataset(task, size=2, skin=skin, pixels=256)
            assert all(sample["skin"] == skin and f"skin={skin}" in sample.id for sample in dataset)


def test_languages_change_words_and_nothing_else() -> None:
    for task in TASKS:
        english, chinese = (create_dataset(task, size=1, language=each)[0] for each in ("en", "zh"))
        assert english.instruction != chinese.instruction
        for same in ("position_before", "position_after", "skin", "original_image", "edited_image"):
            assert english[same] == chinese[same], (task, same)


def test_every_prefix_is_balanced() -> None:
    dataset = create_dataset("all", size=7 * len(TASKS))
    for length in range(1, len(dataset)):
        counts = Counter(dataset.task(at) for at in range(length))
        assert max(counts.values()) - min(counts[task] for task in TASKS) <= 1
    whole = create_dataset("all", size=len(TASKS) * len(LEVELS))
    cells = [(whole.key(at).task, whole.key(at).level) for at in range(len(whole))]
    assert len(set(cells)) == len(cells)


def test_mixes_keep_their_weights_at_every_length(tmp_path: Path) -> None:
    first, second = (TASKS[0], TASKS[-1]) if len(TASKS) > 1 else (TASKS[0], TASKS[0])
    path = tmp_path / "mix.yaml"
    path.write_text(f"tasks:\n  {first}: {{weight: 600, levels: [1]}}\n  {second}: {{weight: 200, levels: [2]}}\n")
    cells = cells_of(str(path), None)
    assert len(cells) == 4, "common factors of the weights are taken out"
    dataset = Dataset(cells, seed=0, size=400, skins={}, split="train", language="en", pixels=512)
    levels = [dataset.key(at).level for at in range(len(dataset))]
    for length in range(1, 401):
        assert abs(levels[:length].count(1) - 0.75 * length) <= 1
    assert len({dataset.key(at).id for at in range(400)}) == 400, "no sample comes twice"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tasks: {}", "tasks"),
        ("tasks: {TASK: 0}", "greater than or equal to 1"),
        ("tasks: {TASK: {levels: [9]}}", "level must be one of 1 to 5"),
        ("tasks: {TASK: {wait: 1}}", "wait"),
        ("tasks: {tictactoo: 1}", "did you mean"),
        ("tasks: [", "not YAML"),
        ("", "the file"),
        ("levels: [1]", "tasks"),
    ],
)
def test_bad_mixes_say_what_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "mix.yaml"
    path.write_text(text.replace("TASK", TASKS[0]))
    with pytest.raises(BadInput, match=says) as caught:
        cells_of(str(path), None)
    assert "\n" not in str(caught.value)


def test_mixes_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such mix"):
        cells_of(str(tmp_path / "none.yaml"), None)
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(BadInput, match="cannot read"):
        cells_of(str(tmp_path / "folder.yaml"), None)
