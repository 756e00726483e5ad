"""Examples and the commands and code in our documents: everything we tell people to run, runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gamegen.__main__ import main

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "PLUGINS.md", ROOT / "docs" / "BENCHMARK.md"]
NEEDS = {"train_loader": "torch", "real_world": "httpx"}


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a document in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40, "an example is read at one glance"
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "Traceback" not in done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_in_documents_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a document, in order, in one namespace: later ones may use what earlier ones made."""
    monkeypatch.chdir(tmp_path)
    code = blocks(path, "python")
    assert code, f"{path.name} shows no Python"
    names: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(code, 1):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks(path, "console") for line in block.splitlines() if line.startswith("$ gamegen")]
    assert lines, f"{path.name} shows no command"
    for line in lines:
        assert main(shlex.split(line, comments=True)[2:]) == 0, f"{line}\n{capsys.readouterr().err}"


def test_the_block_finder_finds_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "x\n```python\na = 1\n```\n```console\n$ gamegen list\n```\n```\nplain\n```\n```python\nb = a\n```\n"
    )
    assert blocks(path, "python") == ["a = 1\n", "b = a\n"] and blocks(path, "console") == ["$ gamegen list\n"]
