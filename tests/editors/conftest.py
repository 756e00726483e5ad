"""One small dataset with every task, and the command line in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gamegen.__main__ import main

ROOT = Path(__file__).parents[2]
Cli = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "dataset"
    assert main(["make", "--tasks", "all", "--count", "21", "--seed", "5", "--jobs", "1", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def other_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "other"
    assert main(["make", "--tasks", "tictactoe", "--count", "2", "--jobs", "1", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def cli() -> Cli:
    def start(*args: object, folder: Path = ROOT) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
        command = [sys.executable, "-m", "gamegen", *map(str, args)]
        return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return start
