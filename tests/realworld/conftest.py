"""A server process that plays all models, and a run that was made with it once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gamegen.__main__ import main

ROOT = Path(__file__).parents[2]
PAINTER = "tests.realworld.painter:painter"


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """The address of a server process."""
    command = [sys.executable, "-m", "tests.realworld.server", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    pytest.importorskip("httpx")
    with serving() as url:
        yield url


def write_recipe(path: Path, url: str, *, pictures: str = PAINTER, candidates: int = 2) -> Path:
    path.write_text(
        f"""
        [triples]
        model = "m"
        base_url = "{url}"
        count = 4
        batch = 4
        [pairs]
        generator = "{pictures}"
        editor = "{pictures}"
        candidates = {candidates}
        [reason]
        model = "m"
        base_url = "{url}"
        [filter]
        model = "m"
        base_url = "{url}"
        """
    )
    return path


@pytest.fixture(scope="session")
def finished(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run through all automatic stages; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("real")
    recipe = write_recipe(folder / "recipe.toml", endpoint)
    assert main(["real", "run", str(folder / "run"), str(recipe)]) == 0
    return folder / "run"


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that fails as it should; its one line."""

    def run(*args: object, expect: int = 2) -> str:
        assert main(["real", *map(str, args)]) == expect
        output = capsys.readouterr()
        assert output.err.startswith("gamegen: ") and output.err.count("\n") == 1, output.err
        return output.err

    return run
