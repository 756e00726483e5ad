"""Editors behind a server: a real one on loopback, which is busy, broken, slow or talks nonsense when told to."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from edit_models.editors.registry import build
from edit_models.editors.remote import BadReply
from edit_models.editors.run import run_editor
from gamegen.core.errors import BadInput

pytest.importorskip("httpx")


def _png(colour: str) -> str:
    data = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


GOOD = json.dumps({"data": [{"b64_json": _png("red")}]})


class Handler(BaseHTTPRequestHandler):
    plan: ClassVar[list[str]] = []  # what the next answers are; then all is well
    seen: ClassVar[list[bytes]] = []
    paths: ClassVar[Counter[str]] = Counter()
    chat: ClassVar[dict[str, object]] = {}
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.lock:
            self.seen.append(body)
            self.paths[self.path] += 1
            fault = self.plan.pop(0) if self.plan else "well"
        if self.headers["Authorization"] != "Bearer word":
            fault = "401"
        if fault == "slow":
            time.sleep(1.5)
        status, _, after = fault.partition(" after ")
        if status.isdigit():
            return self._answer(int(status), "not now", after=after)
        text = {"garbage": "<html>", "empty": "{}", "bad64": '{"data": [{"b64_json": "?"}]}'}.get(fault, GOOD)
        text = json.dumps({"choices": [{"message": self.chat}]}) if "chat" in self.path and fault == "well" else text
        return self._answer(200, text, cut=fault == "cut")

    def _answer(self, status: int, text: str, *, cut: bool = False, after: str = "") -> None:
        self.send_response(status)
        if after:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        try:
            self.wfile.write(text[: len(text) // 2 if cut else None].encode())
        except BrokenPipeError:
            self.close_connection = True
        self.close_connection = self.close_connection or cut

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Handler]]:
    class Fresh(Handler):
        plan: ClassVar[list[str]] = []
        seen: ClassVar[list[bytes]] = []
        paths: ClassVar[Counter[str]] = Counter()
        chat: ClassVar[dict[str, object]] = {}

    loopback = ThreadingHTTPServer(("127.0.0.1", 0), Fresh)
    thread = threading.Thread(target=loopback.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{loopback.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "word")
    yield Fresh
    loopback.shutdown()
    loopback.server_close()


QUICK = {"backoff": 0.001, "retries": 3, "timeout": 0.5}
BOARD = Image.new("RGB", (64, 64), "blue")


@pytest.mark.parametrize("faults", [[], ["429"], ["500", "503", "429"], ["slow"], ["cut"], ["garbage"]])
def test_a_busy_server_is_asked_again(server: type[Handler], faults: list[str]) -> None:
    server.plan[:] = faults
    edit = build("openai:painter", {**QUICK, "size": "64x64"}).edit(BOARD, "Make it red.", seed=7)
    assert edit.image.getpixel((5, 5)) == (255, 0, 0)
    assert server.paths == {"/v1/images/edits": len(faults) + 1}
    sent = server.seen[-1]
    assert all(part in sent for part in (b"painter", b"Make it red.", b"64x64", b"\x89PNG"))
    assert b'name="seed"' not in sent


@pytest.mark.parametrize(
    "faults, words, tries",
    [
        (["500"] * 9, "gave up after 4 tries; the last: 500", 4),
        (["slow"] * 9, "no answer within 0.5 s", 4),
        (["garbage"] * 9, "JSONDecodeError", 4),
        (["400"], "refused with 400", 1),
        (["empty"], "no picture in the answer", 1),
        (["bad64"], "not base64", 1),
    ],
)
def test_a_broken_server_is_given_up(server: type[Handler], faults: list[str], words: str, tries: int) -> None:
    server.plan[:] = faults
    with pytest.raises(BadReply, match=words):
        build("openai:painter", QUICK).edit(BOARD, "Make it red.", seed=7)
    assert server.paths["/v1/images/edits"] == tries


def test_the_pause_that_a_server_names_is_kept(server: type[Handler]) -> None:
    server.plan[:] = ["429 after 0.6"]
    began = time.monotonic()
    build("openai:painter", QUICK).edit(BOARD, "Make it red.", seed=7)
    assert time.monotonic() - began >= 0.6 and server.paths["/v1/images/edits"] == 2


@pytest.mark.parametrize(
    "status, words", [(401, "refuses the key"), (403, "refuses the key"), (404, "the model's name")]
)
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_refused_key_ends_the_run_and_loses_nothing(
    server: type[Handler], dataset: Path, tmp_path: Path, status: int, words: str, jobs: int
) -> None:
    server.plan[:] = ["well"] * 4 + ["400"] + [str(status)] * 99
    out = tmp_path / "out"
    with pytest.raises(BadInput, match=words):
        run_editor(dataset, editor="openai:painter", options=QUICK, out=out, jobs=jobs)
    assert server.paths["/v1/images/edits"] <= 5 + 2 * jobs
    assert len(list(out.glob("*/*.png"))) == 4
    server.plan[:] = []
    ran = run_editor(dataset, editor="openai:painter", options=QUICK, out=out)
    assert (ran.kept, ran.edited, ran.failures) == (4, 17, ())


def test_without_a_key_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadInput, match="OPENAI_API_KEY"):
        build("openai:painter")


URL = f"data:image/png;base64,{_png('lime')}"


@pytest.mark.parametrize(
    "message, thinking",
    [
        ({"content": "Done.", "images": [{"type": "image_url", "image_url": {"url": URL}}]}, "Done."),
        ({"content": [{"type": "text", "text": "So."}, {"type": "image_url", "image_url": {"url": URL}}]}, "So."),
        ({"content": f"Here: ![]({URL})", "reasoning": "It wins."}, "It wins.\nHere:"),
    ],
)
def test_chat_models_answer_with_pictures(server: type[Handler], message: dict[str, object], thinking: str) -> None:
    server.chat.update(message)
    edit = build("chat:talker", {**QUICK, "send_seed": True}).edit(BOARD, "Make it green.", seed=7)
    assert edit.image.getpixel((5, 5)) == (0, 255, 0) and edit.thinking == thinking
    sent = json.loads(server.seen[0])
    assert sent["seed"] == 7 and sent["model"] == "talker" and server.paths == {"/v1/chat/completions": 1}
    assert sent["messages"][0]["content"][1]["text"] == "Make it green."


def test_a_chat_model_that_only_talks_fails(server: type[Handler]) -> None:
    server.chat["content"] = "I cannot draw."
    with pytest.raises(BadReply, match="without a picture: 'I cannot draw"):
        build("chat:talker", QUICK).edit(BOARD, "Make it green.", seed=7)


def test_a_run_accounts_for_every_sample_and_hides_the_key(
    server: type[Handler], dataset: Path, tmp_path: Path
) -> None:
    server.plan[:] = ["400", "429", "empty", "500"]
    options = {**QUICK, "api_key": "word"}
    first = run_editor(dataset, editor="openai:painter", options=options, out=tmp_path / "out", jobs=4)
    assert (first.edited, len(first.failures)) == (19, 2)
    second = run_editor(dataset, editor="openai:painter", options=QUICK, out=tmp_path / "out", jobs=4)
    assert (second.edited, second.kept, second.failures) == (2, 19, ())
    assert json.loads((tmp_path / "out" / "edit.json").read_text())["options"] == {}
