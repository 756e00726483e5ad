"""The reward server, as a real process on loopback: what it pays, what it refuses, and that it lives through both."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gamegen import __version__, judging
from gamegen.__main__ import main
from gamegen.adapters import verifiers_env
from gamegen.judging import Judges, Limits, judge_one
from gamegen.reward import IDLE, NEEDED
from gamegen.sample import make_sample

httpx = pytest.importorskip("httpx")
for needed in ("fastapi", "uvicorn", "python_multipart"):
    pytest.importorskip(needed)

ROOT = Path(__file__).parent.parent
SAMPLES = [make_sample(f"tictactoe/best@1:train:1:6:{index}") for index in range(3)]
ROWS = [{name: sample[name] for name in NEEDED} for sample in SAMPLES]
ROW, GOLD, COPY = ROWS[0], SAMPLES[0]["edited_image"], SAMPLES[0]["original_image"]
LIMITS = Limits(max_body=2**20, max_items=6, max_pixels=1024 * 1024)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--max-body", LIMITS.max_body, "--max-items", LIMITS.max_items, "--max-pixels", LIMITS.max_pixels]
    command = [sys.executable, "-m", "gamegen", "serve", "--port", port, "--jobs", 1, *options]
    server = subprocess.Popen(list(map(str, command)), cwd=ROOT, stderr=subprocess.PIPE)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(server, address)
        yield address
    finally:
        server.terminate()
        server.communicate(timeout=30)


def _wait(server: subprocess.Popen[bytes], address: str) -> None:
    for _ in range(600):
        assert server.poll() is None, server.communicate()[1].decode()
        try:
            httpx.get(f"{address}/health")
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def item(row: dict[str, Any], picture: bytes | None) -> dict[str, Any]:
    return {"row": row, "image": None if picture is None else base64.b64encode(picture).decode()}


def post(url: str, body: Any, expect: int = 200) -> Any:
    response = httpx.post(f"{url}/reward", json=body, timeout=60)
    assert response.status_code == expect, response.text
    return response.json()


def plain(size: tuple[int, int]) -> bytes:
    stream = io.BytesIO()
    Image.new("L", size).save(stream, "PNG")
    return stream.getvalue()


# What it pays ---------------------------------------------------------------------------------------------------------


def test_rewards_and_verdicts_keep_the_order(url: str) -> None:
    items = [item(ROW, GOLD), item(ROW, COPY), item(ROW, None), item(ROWS[1], SAMPLES[1]["edited_image"])]
    answer = post(url, {"items": items})
    assert answer["rewards"] == [1.0, 0.0, 0.0, 1.0]
    assert [verdict["correct"] for verdict in answer["verdicts"]] == [True, False, False, True]
    assert answer["verdicts"][0]["position"] == SAMPLES[0]["position_after"]
    assert answer["verdicts"][2]["reason"] == "There is no picture."
    assert post(url, {"items": items, "dense": True})["rewards"] == [1.0, IDLE, 0.0, 1.0]
    assert post(url, {"items": []}) == {"rewards": [], "verdicts": []}


def test_a_data_url_and_a_jpeg_are_pictures_too(url: str) -> None:
    stream = io.BytesIO()
    SAMPLES[0].edited.convert("RGB").save(stream, "JPEG", quality=80)
    address = "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
    assert post(url, {"items": [{"row": ROW, "image": address}]})["rewards"] == [1.0]


def test_multipart_pays_the_same(url: str) -> None:
    files = [("images", ("0.png", GOLD)), ("images", ("1.png", COPY)), ("images", ("2.png", b""))]
    fields = {"rows": json.dumps([ROW] * 3), "dense": "true"}
    response = httpx.post(f"{url}/reward", data=fields, files=files, timeout=60)
    assert response.status_code == 200 and response.json()["rewards"] == [1.0, IDLE, 0.0]


def test_the_verifiers_reward_talks_to_it(url: str) -> None:
    reward = verifiers_env.make_reward(url)
    said = [{"role": "assistant", "content": "data:image/png;base64," + base64.b64encode(GOLD).decode()}]
    assert asyncio.run(reward(completion=said, info=json.dumps(ROW))) == 1.0
    with pytest.raises(RuntimeError, match="did you mean"):
        asyncio.run(reward(completion=said, info={**ROW, "task": "tictactoe/bets"}))


# What it refuses, item by item ----------------------------------------------------------------------------------------


def test_a_bad_item_fails_alone(url: str) -> None:
    items = [
        {"row": ROW, "image": "not base64!"},
        item({**ROW, "task": "tictactoe/bets"}, GOLD),
        item(ROW, plain((1025, 1024))),
        item({**ROW, "position_before": "\x00"}, GOLD),
        {"row": ROW},
        item(ROW, GOLD),
    ]
    answer = post(url, {"items": items})
    assert answer["rewards"] == [None] * 5 + [1.0]
    expected = ["not base64", "did you mean 'tictactoe/best'", "1025 x 1024; the limit is 1048576", "", "image: Field"]
    for verdict, words in zip(answer["verdicts"], expected, strict=False):
        assert verdict.keys() == {"error"} and words in verdict["error"]


def test_a_picture_that_cannot_be_read_gets_nothing(url: str) -> None:
    stream = io.BytesIO()
    SAMPLES[0].edited.convert("RGB").resize((256, 256)).save(stream, "BMP")  # right, but no format that we open
    answer = post(url, {"items": [item(ROW, GOLD[: len(GOLD) // 2]), item(ROW, stream.getvalue()), item(ROW, b"")]})
    assert answer["rewards"] == [0.0, 0.0, 0.0]
    assert not any(verdict["readable"] for verdict in answer["verdicts"])
    assert "not a PNG, JPEG or WEBP file" in answer["verdicts"][1]["reason"]


def test_rows_of_nonsense_do_not_hurt(url: str) -> None:
    rows: list[Any] = [{}, {**ROW, "params": 3}, {**ROW, "style": "{}"}, {**ROW, "style": [1]}, {**ROW, "task": {}}]
    answer = post(url, {"items": [item(row, GOLD) for row in rows]})
    assert answer["rewards"] == [None] * 5 and all(verdict["error"] for verdict in answer["verdicts"])


# What it refuses whole ------------------------------------------------------------------------------------------------


def test_too_many_items(url: str) -> None:
    assert "limit is 6 (max_items)" in post(url, {"items": [item(ROW, None)] * 7}, expect=422)["error"]
    files = [("images", (f"{index}.png", b"")) for index in range(7)]
    response = httpx.post(f"{url}/reward", data={"rows": json.dumps([ROW] * 7)}, files=files, timeout=60)
    assert response.status_code == 422 and "limit is 6 (max_items)" in response.json()["error"]


def test_too_large_a_body(url: str) -> None:
    large = b" " * (LIMITS.max_body + 1)
    told = httpx.post(f"{url}/reward", content=large, headers={"Content-Type": "application/json"}, timeout=60)
    untold = httpx.post(f"{url}/reward", content=iter([large]), timeout=60)  # chunked: no length in advance
    for response in (told, untold):
        assert response.status_code == 413 and "limit is 1048576 bytes (max_body)" in response.json()["error"]


@pytest.mark.parametrize(
    ("status", "kind", "body", "words"),
    [
        (400, "application/json", b"{", "not JSON"),
        (400, "multipart/form-data", b"--x", "multipart body is broken"),
        (422, "application/json", b"[]", "does not fit"),
        (422, "application/json", b'{"items": 3}', "items: "),
        (422, "application/json", b'{"items": [], "denes": true}', "denes"),
        (415, "application/x-pickle", b"cos\nsystem\n(S'true'\ntR.", "application/json or multipart"),
    ],
)
def test_a_request_that_does_not_fit(url: str, status: int, kind: str, body: bytes, words: str) -> None:
    response = httpx.post(f"{url}/reward", content=body, headers={"Content-Type": kind}, timeout=60)
    assert response.status_code == status and words in response.json()["error"]


def test_multipart_that_does_not_fit(url: str) -> None:
    def send(fields: dict[str, str]) -> tuple[int, str]:
        files = [("images", ("0.png", GOLD))]
        response = httpx.post(f"{url}/reward", data=fields, files=files, timeout=60)
        return response.status_code, response.json()["error"]

    assert send({"rows": json.dumps([ROW] * 2)}) == (422, "2 rows, but 1 images")
    assert send({"rows": "["})[0] == 400
    assert send({})[0] == send({"rows": "{}"})[0] == 422
    assert send({"rows": json.dumps([ROW]), "dense": "perhaps"})[0] == 422


# How it goes ----------------------------------------------------------------------------------------------------------


def metrics(url: str) -> dict[str, float]:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_health_and_metrics(url: str) -> None:
    health = httpx.get(f"{url}/health").json()
    assert health["status"] == "ok" and health["version"] == __version__ and health["limits"]["max_items"] == 6
    before = metrics(url)
    post(url, {"items": [item(ROW, GOLD), item(ROW, None), item(ROW, COPY), item({}, GOLD)]})
    post(url, {}, expect=422)
    after = metrics(url)
    grown = {name: after[name] - before.get(name, 0) for name in after}
    assert {name: grown[f"gamegen_{name}_total"] for name in ("images", "accepted", "unreadable", "errors")} == {
        "images": 4, "accepted": 1, "unreadable": 1, "errors": 1
    }  # fmt: skip
    assert grown['gamegen_requests_total{status="200"}'] == grown['gamegen_requests_total{status="422"}'] == 1
    assert 0 < grown["gamegen_seconds_total"] < 60


# Its parts ------------------------------------------------------------------------------------------------------------


def test_an_item_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "grade", lambda row, image: time.sleep(30))
    answer = judge_one(ROW, GOLD, dense=False, limits=Limits(max_seconds=0.05))
    assert answer.reward is None and answer.verdict == {"error": "judging took more than 0.05 s (max_seconds)"}
    monkeypatch.undo()
    assert judge_one(ROW, GOLD, dense=False, limits=Limits()).reward == 1.0


def test_a_bomb_is_refused_by_its_header() -> None:
    header = bytearray(plain((8, 8)))
    header[16:24] = (60_000).to_bytes(4, "big") * 2
    header[29:33] = zlib.crc32(header[12:29]).to_bytes(4, "big")
    answer = judge_one(ROW, bytes(header), dense=False, limits=Limits())
    assert answer.reward is None and "max_pixels" in answer.verdict["error"]


@pytest.mark.parametrize("side", [-5, 0, 31, 4097, 10**9])
def test_a_row_cannot_ask_for_a_huge_board(side: int) -> None:
    style = json.dumps({**json.loads(ROW["style"]), "pixels": side})
    answer = judge_one({**ROW, "style": style}, GOLD, dense=False, limits=Limits())
    assert answer.reward is None and f"style is {side} pixels wide" in answer.verdict["error"]


def _die(*_: object) -> None:
    os._exit(1)


def test_a_process_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def both() -> tuple[judging.Answer, judging.Answer]:
        with monkeypatch.context() as patch:
            patch.setattr(judging, "_work", _die)
            first = await judges.judge(ROW, GOLD, dense=False)
        return first, await judges.judge(ROW, GOLD, dense=False)

    judges = Judges(jobs=1, limits=Limits())
    try:
        died, fine = asyncio.run(both())
    finally:
        judges.close()
    assert died.reward is None and "died" in died.verdict["error"] and fine.reward == 1.0


@pytest.mark.parametrize("option", [["--max-items", "0"], ["--max-seconds", "-1"], ["--jobs", "-2"]])
def test_a_limit_below_one_is_refused(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *option]) == 2
    assert f"above zero: {' '.join(option)}" in capsys.readouterr().err


def test_an_address_that_cannot_be_had_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 99999):
            assert main(["serve", "--port", str(port)]) == 2
            said = capsys.readouterr().err
            assert said.startswith(f"gamegen: cannot listen on 127.0.0.1, port {port}: ") and said.count("\n") == 1


def test_the_help_states_the_limits_that_hold(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert Limits() == Limits(max_body=64 * 2**20, max_items=256, max_pixels=4096 * 4096, max_seconds=10)
    assert all(f"default: {words})" in text for words in ("64 MiB", "256", "4096 x 4096", "10"))


# Its page -------------------------------------------------------------------------------------------------------------


def test_the_page_on_rewards_runs(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python of the page in one namespace; not as a script, so the part that starts processes is left out."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "REWARDS.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 10 and "http://127.0.0.1:8000" in text
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks, 1):
        code = block.replace("http://127.0.0.1:8000", url)
        exec(compile(code, f"REWARDS.md, block {number}", "exec"), names)
