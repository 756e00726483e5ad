"""Every format read back by the programs it is for; runs that were killed, and folders that are not what they seem."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

import gamegen
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.dataset import Dataset, create_dataset
from gamegen.registry import plugin_of
from gamegen.sample import COLUMNS
from gamegen.stored import read_dataset
from gamegen.writing import FORMATS
from gamegen.writing.run import write_dataset
from gamegen.writing.uniredit import EXTRA

ROOT = Path(__file__).parent.parent
TASKS = gamegen.list_tasks()
COUNT = max(12, len(TASKS))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return create_dataset("all", size=COUNT, seed=3, level=[1, 2], pixels=256)


@pytest.fixture(scope="module")
def folders(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same dataset in every format, in shards of five."""
    root = tmp_path_factory.mktemp("formats")
    for name in FORMATS:
        write_dataset(dataset, root / name, format=name, shard=5)
    return {name: root / name for name in FORMATS}


def pixels(data: bytes | Image.Image) -> bytes:
    image = Image.open(io.BytesIO(data)) if isinstance(data, bytes) else data
    return image.convert("RGB").tobytes()


# Read back by the programs the formats are for ---------------------------------------------------------------------


def test_datasets_library_reads_parquet(
    dataset: Dataset, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    loaded = datasets.load_dataset(str(folders["parquet"]), cache_dir=str(tmp_path), split="train")
    assert loaded.num_rows == len(dataset) and tuple(loaded.column_names) == COLUMNS
    for row, sample in zip(loaded, dataset, strict=True):
        for name, value in sample.row().items():
            assert pixels(row[name]) == pixels(value) if isinstance(value, bytes) else row[name] == value, name
        assert gamegen.verify(row, row["edited_image"]).correct
        assert not gamegen.verify(row, row["original_image"]).correct


def test_webdataset_reads_its_shards(dataset: Dataset, folders: dict[str, Path]) -> None:
    webdataset = pytest.importorskip("webdataset")
    shards = sorted(map(str, folders["webdataset"].glob("*.tar")))
    found = list(webdataset.WebDataset(shards, shardshuffle=False).decode("pil"))
    assert len(found) == len(dataset)
    for each, sample in zip(found, dataset, strict=True):
        assert each["json"]["id"] == sample.id
        assert pixels(each["original.png"]) == pixels(sample.original)
        assert gamegen.verify(each["json"], each["edited.png"]).correct


def test_bagel_parquet_is_as_its_loader_expects(dataset: Dataset, folders: dict[str, Path]) -> None:
    folder = folders["bagel"]
    info = json.loads((folder / "parquet_info.json").read_text())
    summary = json.loads((folder / "dataset_info.json").read_text())
    assert summary["num_files"] == len(info) and summary["num_total_samples"] == len(dataset)
    rows = []
    for name, note in info.items():
        file = pq.ParquetFile(folder / name)
        assert (file.num_row_groups, file.metadata.num_rows) == (note["num_row_groups"], note["num_rows"])
        assert Path(name).parent.name == summary["data_dir"]
        rows += file.read().to_pylist()
    for row, sample in zip(rows, dataset, strict=True):
        assert len(row["instruction_list"]) == len(row["image_list"]) - 1
        assert [pixels(data) for data in row["image_list"]] == [pixels(sample.original), pixels(sample.edited)]
        assert row["instruction_list"] == [[sample.prompt]] and row["output_text_list"] == [sample.reasoning]


def test_uniredit_has_the_published_fields(dataset: Dataset, folders: dict[str, Path]) -> None:
    """The field lists as published, and nothing upstream's scripts would trip over."""
    folder = folders["uniredit"]
    published = {
        "data.json": [
            "original_image_path", "reference_image_path", "instruction", "rules", "name", "idx", "reference_effect",
        ],
        "train_data.json": ["instruction", "reasoning", "rules", "original_image_path", "edited_image_path"],
    }  # fmt: skip
    for name, fields in published.items():
        rows = json.loads((folder / name).read_text(encoding="utf-8"))
        assert isinstance(rows, list) and len(rows) == len(dataset)
        for row in rows:
            assert list(row) == [*fields, *EXTRA]
            assert row["instruction"] and row["rules"]
            for field in fields:
                if field.endswith("_path"):
                    assert (folder / row[field]).is_file()
    seen: dict[str, list[int]] = {}
    for row in json.loads((folder / "data.json").read_text(encoding="utf-8")):
        seen.setdefault(row["name"], []).append(row["idx"])
        assert row["original_image_path"] == f"original_image/{row['name']}/{row['idx']}.png"
    assert all(numbers == list(range(len(numbers))) for numbers in seen.values())


def test_jsonl_pairs_and_captions(dataset: Dataset, folders: dict[str, Path]) -> None:
    folder = folders["jsonl"]
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    for line, sample in zip(lines, dataset, strict=True):
        row = json.loads(line)
        assert pixels((folder / row["image"]).read_bytes()) == pixels(sample.edited)
        assert pixels((folder / row["edit_image"]).read_bytes()) == pixels(sample.original)
        assert (folder / row["image"]).with_suffix(".txt").read_text(encoding="utf-8") == row["prompt"] == sample.prompt


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "bagel"])
def test_our_own_reader_reads_what_was_written(name: str, dataset: Dataset, folders: dict[str, Path]) -> None:
    places: dict[str, int] = {}
    for stored, sample in zip(read_dataset(folders[name]), dataset, strict=True):
        assert stored.row["id"] == sample.id
        assert stored.place == places.get(stored.category, 0)
        places[stored.category] = stored.place + 1
        assert pixels(stored.row["edited_image"]) == pixels(sample.edited)
        assert gamegen.verify(stored.row, stored.row["edited_image"]).correct


def test_the_manifest_counts_and_hashes(dataset: Dataset, folders: dict[str, Path]) -> None:
    from renderers.png import pixel_hash

    for folder in folders.values():
        manifest = json.loads((folder / "manifest.json").read_text())
        assert sum(manifest["kept"].values()) == len(dataset) and set(manifest["kept"]) <= set(TASKS)
        lines = [line.split("\t") for line in (folder / "hashes.tsv").read_text().splitlines()[1:]]
        for (name, before, after), sample in zip(lines, dataset, strict=True):
            pair = [pixel_hash(p.pixels, p.palette) for p in (sample.original_picture, sample.edited_picture)]
            assert [name, before, after] == [sample.id, *pair]
        assert not (folder / ".parts").exists() and not list(folder.rglob("*.tmp"))


# Crashes --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick() -> Dataset:
    """A dataset of the task that is ready soonest in a fresh process: crashes need many of them."""

    def slowness(task: str) -> tuple[bool, float]:
        started = time.perf_counter()
        gamegen.make_sample(Key(task, seed=5, pixels=256)).row()
        enumerates = plugin_of(task)[0].game.finite
        return enumerates, time.perf_counter() - started

    return create_dataset(min(TASKS, key=slowness), size=60, seed=5, level=1, pixels=256)


def make(quick: Dataset, folder: Path, format: str, jobs: int) -> list[str]:
    """The command that writes this dataset in shards of two."""
    options = f"--count 60 --seed 5 --levels 1 --pixels 256 --shard 2 --quiet --format {format} --jobs {jobs}"
    return [sys.executable, "-m", "gamegen", "make", "--tasks", quick.task(0), "--out", str(folder), *options.split()]


def environment() -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but the one that tells of the run itself."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def kill_after(command: list[str], folder: Path, parts: int) -> None:
    """Start a run and kill it, with no warning, once it has finished this many shards."""
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if len(list((folder / ".parts").glob("*.json"))) >= parts:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_killed_runs_go_on_to_the_same_bytes(format: str, quick: Dataset, tmp_path: Path) -> None:
    write_dataset(quick, tmp_path / "plain", format=format, shard=2)
    folder = tmp_path / "killed"
    early, late = sorted(random.Random(format).sample(range(1, 15), 2))
    kill_after(make(quick, folder, format, 1), folder, early)
    kill_after(make(quick, folder, format, 2), folder, late)
    assert write_dataset(quick, folder, format=format, shard=2).resumed >= 2 * late
    assert tree(folder) == tree(tmp_path / "plain")


def test_a_finished_folder_is_left_alone(dataset: Dataset, folders: dict[str, Path]) -> None:
    before = tree(folders["parquet"])
    again = write_dataset(dataset, folders["parquet"], format="parquet", shard=5)
    assert again.resumed == len(dataset) and tree(folders["parquet"]) == before


def test_workers_decide_nothing(dataset: Dataset, folders: dict[str, Path], tmp_path: Path) -> None:
    write_dataset(dataset, tmp_path / "two", format="webdataset", jobs=2, shard=5)
    assert tree(tmp_path / "two") == tree(folders["webdataset"])


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a matter of Unix")
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_a_full_disk_is_one_line_and_no_loss(format: str, quick: Dataset, tmp_path: Path) -> None:
    import resource

    folder, limit = tmp_path / "full", 1500

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    failed = subprocess.run(
        make(quick, folder, format, 1), env=environment(), capture_output=True, text=True, preexec_fn=small_disk
    )
    assert failed.returncode == 2, failed.stderr
    assert failed.stderr.count("\n") == 1 and "run the same command again" in failed.stderr
    assert not list(folder.rglob("*.tmp"))
    write_dataset(quick, folder, format=format, shard=2)
    write_dataset(quick, tmp_path / "plain", format=format, shard=2)
    assert tree(folder) == tree(tmp_path / "plain")


# Folders that are not what they should be --------------------------------------------------------------------------


def test_another_plan_is_refused(dataset: Dataset, folders: dict[str, Path]) -> None:
    other = create_dataset("all", size=COUNT, seed=4, level=[1, 2], pixels=256)
    with pytest.raises(BadInput, match=r"another dataset \(other seed\)"):
        write_dataset(other, folders["parquet"], format="parquet", shard=5)
    with pytest.raises(BadInput, match="other format, shard"):
        write_dataset(dataset, folders["parquet"], format="jsonl", shard=6)


def test_foreign_folders_and_files_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(BadInput, match="not empty"):
        write_dataset(dataset, tmp_path / "mine")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is a file"):
        write_dataset(dataset, tmp_path / "file")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "plan.json").write_text("{")
    with pytest.raises(BadInput, match="damaged"):
        write_dataset(dataset, tmp_path / "damaged")


def test_two_runs_do_not_share_a_folder(dataset: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    hits = []

    def second_run(count: int) -> None:
        if not hits:
            with pytest.raises(BadInput, match="another run"):
                write_dataset(dataset, tmp_path / "one", shard=5)
            hits.append(count)

    write_dataset(dataset, tmp_path / "one", shard=5, progress=second_run)
    assert hits and (tmp_path / "one" / "manifest.json").exists()


def test_unfinished_datasets_say_so(dataset: Dataset, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(count: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        write_dataset(dataset, tmp_path / "half", shard=COUNT, progress=stop)
    with pytest.raises(BadInput, match=r"holds no dataset|unfinished"):
        list(read_dataset(tmp_path / "half"))


DAMAGE = {"parquet": "data/*.parquet", "webdataset": "*.tar", "uniredit": "data.json", "jsonl": "*.jsonl"}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_shard_is_named(name: str, dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / name
    write_dataset(dataset, folder, format=name, shard=5)
    shard = sorted(folder.glob(DAMAGE[name]))[-1]
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    with pytest.raises(BadInput, match=shard.name):
        list(read_dataset(folder))


@pytest.mark.parametrize(
    ("name", "index", "field"),
    [("uniredit", "data.json", "original_image_path"), ("jsonl", "metadata.jsonl", "edit_image")],
)
@pytest.mark.parametrize("target", ["../secret.png", "/etc/hostname", "sub/../../secret.png"])
def test_paths_may_not_leave_the_folder(name: str, index: str, field: str, target: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    folder = tmp_path / "data"
    write_dataset(create_dataset(TASKS[0], size=1, pixels=256), folder, format=name)
    text = (folder / index).read_text(encoding="utf-8")
    row = json.loads(text)[0] if name == "uniredit" else json.loads(text)
    row[field] = target
    (folder / index).write_text(json.dumps([row] if name == "uniredit" else row), encoding="utf-8")
    with pytest.raises(BadInput, match="leaves"):
        list(read_dataset(folder))


def test_outputs_are_found_by_any_ending_and_stay_in_their_folder(folders: dict[str, Path], tmp_path: Path) -> None:
    stored = next(iter(read_dataset(folders["parquet"])))
    assert stored.output(tmp_path) is None
    (tmp_path / stored.category).mkdir()
    for ending in (".webp", ".jpg", ".png"):
        (tmp_path / stored.category / f"0{ending}").write_bytes(b"")
        found = stored.output(tmp_path)
        assert found is not None and found.suffix == ending
