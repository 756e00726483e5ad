"""`gamegen new`: what it writes obeys every law as written, in a checkout and as somebody else's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gamegen.__main__ import main

ROOT = Path(__file__).parent.parent
NAME = "porch_lights"


def python(paths: list[Path], *args: str) -> str:
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, env=environment, cwd=paths[0])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package as written, made known the way an installer does it: by a dist-info folder with its entry point."""
    folder = tmp_path_factory.mktemp("plugin")
    assert main(["new", NAME, "--dir", str(folder)]) == 0
    project = folder / "gamegen-porch-lights"
    known = project / f"gamegen_{NAME}-0.1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: gamegen-{NAME}\nVersion: 0.1.0\n")
    (known / "entry_points.txt").write_text(f"[gamegen.games]\n{NAME} = gamegen_{NAME}:plugin\n")
    assert f'{NAME} = "gamegen_{NAME}:plugin"' in (project / "pyproject.toml").read_text()
    return project


def test_a_package_obeys_every_law_as_written(package: Path) -> None:
    code = f"from gamegen.testing import check_game; check_game({NAME!r}, samples=1); print('lawful')"
    assert python([package, ROOT], "-c", code).endswith("lawful\n")


def test_a_package_works_from_end_to_end(package: Path, tmp_path: Path) -> None:
    paths, task = [package, ROOT], f"{NAME}/light"
    assert task in python(paths, "-m", "gamegen", "list")
    where = ["--out", str(tmp_path / "set")]
    made = python(paths, "-m", "gamegen", "make", "--tasks", NAME, "--count", "6", "--format", "uniredit", *where)
    assert "6 samples of 1 tasks" in made
    outputs = str(tmp_path / "set" / "reference_image")
    table = python(paths, "-m", "gamegen", "verify", str(tmp_path / "set"), outputs)
    assert "100.0%" in table.splitlines()[-1]


def test_its_own_test_passes(package: Path) -> None:
    test = str(package / "tests" / f"test_{NAME}.py")
    assert "1 passed" in python([package, ROOT], "-m", "pytest", "-q", "-p", "no:cacheprovider", test)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our own packages, copied, with the new game among them."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("gamegen", "solvers", "renderers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    assert main(["new", NAME, "--dir", str(folder)]) == 0
    return folder


def test_in_a_checkout_the_file_name_is_the_registration(checkout: Path) -> None:
    assert f"{NAME}/light" in python([checkout], "-m", "gamegen", "list")
    test = str(checkout / "tests" / f"test_{NAME}.py")
    assert "1 passed" in python([checkout], "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    laws = "from gamegen.testing import solution_replays as law; law('porch_lights', 1); print('lawful')"
    assert python([checkout], "-c", laws).endswith("lawful\n")


def test_what_is_written_is_in_our_style(checkout: Path) -> None:
    pytest.importorskip("ruff")
    files = [str(path) for path in checkout.rglob(f"*{NAME}.py")]
    shutil.copy(ROOT / "pyproject.toml", checkout)
    assert len(files) == 4
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *files], cwd=checkout, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_nothing_is_overwritten(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (checkout, tmp_path):
        first = main(["new", NAME, "--dir", str(folder)])
        before = {path: path.read_bytes() for path in folder.rglob(f"*{NAME}*") if path.is_file()}
        capsys.readouterr()
        assert main(["new", NAME, "--dir", str(folder)]) == 2
        assert "exists already; nothing was written" in capsys.readouterr().err
        assert first == (2 if folder == checkout else 0)
        assert before == {path: path.read_bytes() for path in folder.rglob(f"*{NAME}*") if path.is_file()}


@pytest.mark.parametrize(
    "name", ["", "Lamps", "1lamp", "a", "lamp-post", "../lamp", "lamp/x", "import", "lamp_", "x" * 41]
)
def test_names_that_are_none_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", name, "--dir", str(tmp_path)]) == 2
    assert "a game's name is" in capsys.readouterr().err and not list(tmp_path.iterdir())
