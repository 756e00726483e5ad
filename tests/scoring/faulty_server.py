"""An OpenAI-compatible server, a process of its own, that spoils its first answer to everything it is asked.

How, the request decides: 429 with a pause, 500, a reply cut in half, garbage, or silence until the client hangs up. The
second time it answers well: pictures come back as they were sent, and scores follow from what was asked, so that runs
against it can be compared. `python -m tests.scoring.faulty_server` prints its address and serves until it is ended.
"""

from __future__ import annotations

import base64
import json
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

FAULTS = ("429", "500", "half", "garbage", "silence", "well")
SILENCE = 1.5


class Handler(BaseHTTPRequestHandler):
    asked: ClassVar[set[int]] = set()
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        number, answer = self._answer(body)
        with self.lock:
            first = number not in self.asked
            self.asked.add(number)
        fault = FAULTS[number % len(FAULTS)] if first else "well"
        if fault == "silence":
            time.sleep(SILENCE)
        if fault in ("429", "500"):
            self._send(int(fault), b"not now")
        else:
            self._send(200, b"<html>" if fault == "garbage" else answer, cut=fault == "half")

    def _answer(self, body: bytes) -> tuple[int, bytes]:
        """A number for what was asked (boundaries of forms differ, pictures and texts do not), and the good answer."""
        if self.path.endswith("images/edits"):
            start = body.index(b"\x89PNG")
            picture = body[start : body.index(b"IEND", start) + 8]
            answer = {"data": [{"b64_json": base64.b64encode(picture).decode()}]}
            return zlib.crc32(picture), json.dumps(answer).encode()
        number = zlib.crc32(json.dumps(json.loads(body)["messages"]).encode())
        verdict = json.dumps({"reason": "so it is", "score": 1 + number // 7 % 5})
        return number, json.dumps({"choices": [{"message": {"role": "assistant", "content": verdict}}]}).encode()

    def _send(self, status: int, data: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0.1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = cut

    def log_message(self, *_: object) -> None:
        """Silence: a test's output is its own."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Silence: clients that lose patience and hang up are what we are here for."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
