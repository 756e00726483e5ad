"""A small dataset of two games, and folders of outputs made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gamegen.__main__ import main
from gamegen.stored import read_dataset

from .tiny import tiny_judge

__all__ = ["tiny_judge"]

ROWS = 8


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scoring") / "dataset"
    options = f"--tasks maze/path,tictactoe --count {ROWS} --levels 1 --pixels 256 --jobs 1 --quiet"
    assert main(["make", *options.split(), "--out", str(folder)]) == 0
    return folder


def copy_outputs(dataset: Path, folder: Path, column: str) -> Path:
    """Outputs that are the dataset's own pictures: `edited_image` is all right, `original_image` is all wrong."""
    for stored in read_dataset(dataset):
        path = folder / f"{stored.output_name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored.row[column])
    return folder


@pytest.fixture
def golds(dataset: Path, tmp_path: Path) -> Path:
    return copy_outputs(dataset, tmp_path / "golds", "edited_image")


@pytest.fixture
def originals(dataset: Path, tmp_path: Path) -> Path:
    return copy_outputs(dataset, tmp_path / "originals", "original_image")
