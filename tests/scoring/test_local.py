"""A tiny seeing model, taught one reply and saved to disk, as judge: loaded here, and behind `transformers serve`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from gamegen.__main__ import main

from .conftest import ROWS

if any(find_spec(name) is None for name in ("torch", "transformers", "tokenizers", "httpx")):
    pytest.skip("needs torch, transformers and httpx", allow_module_level=True)


def test_a_local_model_judges(dataset: Path, golds: Path, tiny_judge: Path) -> None:
    assert main(["score", str(dataset), str(golds), "--judge", "vlm", "--model", str(tiny_judge)]) == 0
    _check(golds)


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("fastapi", "uvicorn", "openai", "accelerate")),
    reason="needs transformers[serving]",
)
def test_a_model_behind_transformers_serve_judges(dataset: Path, golds: Path, tiny_judge: Path, tmp_path: Path) -> None:
    with _served(tiny_judge, tmp_path) as url:
        options = ["--judge", "vlm", "--model", str(tiny_judge), "--base-url", url, "--concurrency", "2"]
        assert main(["score", str(dataset), str(golds), *options]) == 0
    _check(golds)


@contextmanager
def _served(folder: Path, hub: Path) -> Iterator[str]:
    """The endpoint's address, once its own process says that it is well."""
    import httpx

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve", str(folder)]
    options = ["--device", "cpu", "--dtype", "float32", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(hub)}
    with (hub / "serve.log").open("wb") as log:
        process = subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=log)
    try:
        for _ in range(300):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200:
                    break
            except httpx.HTTPError:
                assert process.poll() is None, (hub / "serve.log").read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def test_a_folder_without_a_model_is_refused(dataset: Path, golds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(dataset), str(golds), "--judge", "vlm", "--model", str(golds)]) == 2
    assert "cannot be loaded" in capsys.readouterr().err


def _check(golds: Path) -> None:
    summary = json.loads((golds / "scores" / "summary.json").read_text())
    assert summary["vlm"]["judge_failures"] == 0
    assert summary["vlm"]["strict"]["percent"]["mean"] == pytest.approx(75)
    assert summary["vlm"]["strict"]["percent"]["count"] == ROWS
    assert summary["judge"]["model"].endswith("tiny-judge")
