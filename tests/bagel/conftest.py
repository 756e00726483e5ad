"""Small BAGEL models shared by the tests in this folder; without torch the folder is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from edit_models.bagel.config import BagelConfig
    from edit_models.bagel.model import Bagel
    from edit_models.bagel.tokenizer import Tokenizer

if any(find_spec(name) is None for name in ("torch", "transformers", "diffusers", "tokenizers", "safetensors")):
    collect_ignore_glob = ["test_*.py"]

WORDS = ["Place X in the centre.", "The centre wins the row, so X goes there.", "Three in a row win."] * 4


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture
def portable_kernels() -> Iterator[None]:
    """For bf16: some virtual machines announce matrix instructions (AMX) and then refuse them."""
    import torch

    with torch.backends.mkldnn.flags(enabled=False):
        yield


@pytest.fixture(scope="session")
def tiny_config() -> BagelConfig:
    from edit_models.bagel.tiny import small_config

    return small_config(hidden=64, layers=2, pixels=32, patch=4, vit_patch=8)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory, tiny_config: BagelConfig) -> Path:
    from edit_models.bagel.tiny import write_small_checkpoint

    folder = tmp_path_factory.mktemp("tiny")
    write_small_checkpoint(folder, WORDS, config=tiny_config, vocab=300, seed=1)
    return folder


@pytest.fixture
def tiny_model(tiny_folder: Path) -> Bagel:
    """Loaded from disk, then shaken, so that the zero output layer gives velocities other than zero."""
    import torch

    from edit_models.bagel.loading import Checkpoint

    model = Checkpoint(tiny_folder).model()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.05)
    return model


@pytest.fixture
def tokenizer(tiny_folder: Path) -> Tokenizer:
    from edit_models.bagel.tokenizer import Tokenizer

    return Tokenizer(tiny_folder)


@pytest.fixture(scope="session")
def board_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in our format: 10 rows in two files of two row groups each; a row's source has its own colour."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    def png(colour: tuple[int, int, int], size: tuple[int, int]) -> dict[str, object]:
        stream = io.BytesIO()
        Image.new("RGB", size, colour).quantize(4).save(stream, "PNG")
        return {"bytes": stream.getvalue(), "path": None}

    folder = tmp_path_factory.mktemp("boards")
    rows = [
        {
            "id": f"row-{n}",
            "instruction": f' "Place X, {n}." ',
            "rules": "Three in a row win." if n % 2 else "",
            "reasoning": "The centre wins the row. " * (1 + n % 3),
            "original_image": png((20 * n, 0, 0), (64, 64)),
            "edited_image": png((20 * n, 200, 0), (64, 64)),
        }
        for n in range(10)
    ]
    for file, part in (("a.parquet", rows[:6]), ("b.parquet", rows[6:])):
        pq.write_table(pa.Table.from_pylist(part), folder / file, row_group_size=3)
    return folder
