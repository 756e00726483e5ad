"""Two processes with sharded weights (FSDP2 over gloo) against one process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file

from edit_models.bagel.checkpoint import export, read_save
from edit_models.bagel.recipe import Recipe
from edit_models.bagel.train import train

WORKER = """
import json, os, shutil, sys, torch
from pathlib import Path
torch.set_num_threads(1)
from edit_models.bagel.recipe import Recipe
from edit_models.bagel.train import train

ports, recipes = json.loads(sys.argv[1]), [Recipe(**each) for each in json.loads(sys.argv[2])]
os.environ["MASTER_PORT"] = str(ports[0])
run = train(recipes[0])
again = Path(recipes[1].out)
if os.environ["RANK"] == "0":  # the other rank waits for this one when it joins
    shutil.copytree(run / "checkpoints" / "0000002", again / "checkpoints" / "0000002")
os.environ["MASTER_PORT"] = str(ports[1])
train(recipes[1])
"""


def train_in_two(whole: Recipe, continued: Recipe) -> None:
    """Two processes run `whole`, then `continued` from the middle of it."""
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1] for free in (one, other)]
    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "1"}
    common["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", WORKER, json.dumps(ports), json.dumps([asdict(whole), asdict(continued)])]
    processes = [
        subprocess.Popen(
            command,
            env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    errors = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(errors)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four tic-tac-toe rows, which the verifier can judge."""
    import gamegen

    folder = tmp_path_factory.mktemp("games")
    rows = [dict(sample.row()) for sample in gamegen.create_dataset("tictactoe/best", seed=0, size=4, pixels=256)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet", row_group_size=1)
    return folder


def test_two_ranks_learn_what_one_learns(tiny_folder: Path, games: Path, tmp_path: Path) -> None:
    """Each update sees all four rows: two ranks with two packs each, or one rank with four."""
    two = Recipe(
        data=str(games),
        model=str(tiny_folder),
        out=str(tmp_path / "two"),
        steps=4,
        warmup=0,
        lr=1e-3,
        tokens=1000,  # room for one row
        drop_source=0.0,
        accumulate=2,
        dtype="fp32",
        save_every=2,
        sample_every=4,
        samples=2,
        sample_points=3,
        sample_tokens=5,
    )
    one = replace(two, out=str(tmp_path / "one"), accumulate=4, sample_every=0)
    again = replace(two, out=str(tmp_path / "again"), sample_every=0)
    train_in_two(two, again)
    train(one)
    (a, b), (log, plain) = (
        [dict(read_save(Path(run.out) / "checkpoints/0000004", "adam")) for run in (two, one)],
        [lines(run) for run in (two, one)],
    )
    for name in ("text_loss", "image_loss", "grad_norm"):
        assert [line[name] for line in log[:4]] == pytest.approx([line[name] for line in plain], rel=1e-5)
    # Adam divides by tiny gradients, so weights whose gradient is zero but for rounding differ; moments do not.
    assert all(torch.allclose(a[name], b[name], atol=1e-5, rtol=1e-4) for name in b)
    assert max(b[name].abs().max() for name in b if name.endswith("exp_avg")) > 1e-2
    assert log[-1]["accuracy"] == 0 and (tmp_path / "two/samples/0000004.png").exists()

    ends = [load_file(export(Path(run), tmp_path / f"out-{i}")) for i, run in enumerate((two.out, again.out))]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def lines(recipe: Recipe) -> list[dict[str, float]]:
    return [json.loads(line) for line in (Path(recipe.out) / "log.jsonl").read_text().splitlines()]
