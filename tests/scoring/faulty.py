"""A chat endpoint on loopback that fails as told: each request is answered by the next behaviour of its script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.seen)
            self.server.seen.append((time.monotonic(), body))
        self.server.script(number)(self, body)

    def send(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Silence: a test's output is its own."""


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Callable[[int], Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.lock = threading.Lock()
        self.seen: list[tuple[float, dict[str, Any]]] = []

    def handle_error(self, *_: object) -> None:
        """Silence: clients that lose patience and hang up are what we are here for."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving(script: Callable[[int], Behaviour]) -> Iterator[Endpoint]:
    endpoint = Endpoint(script)
    thread = threading.Thread(target=endpoint.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.shutdown()
        endpoint.server_close()


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


def says(text: str) -> Behaviour:
    return lambda handler, body: handler.send(200, completion(text))


def status(number: int, **headers: str) -> Behaviour:
    return lambda handler, body: handler.send(number, b'{"error": "as told"}', **headers)


def garbage(handler: Handler, body: dict[str, Any]) -> None:
    handler.send(200, b"\xff\xfe<html>not what you asked for")


def half(handler: Handler, body: dict[str, Any]) -> None:
    """The head promises more than comes before the line goes dead."""
    data = completion('{"reason": "fine", "score": 5}')
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True


def silence(handler: Handler, body: dict[str, Any]) -> None:
    time.sleep(1.0)


def no_schemas(handler: Handler, body: dict[str, Any]) -> None:
    if "response_format" in body:
        handler.send(400, b'{"error": "response_format is not supported"}')
    else:
        handler.send(200, completion("All cells are right.\n**Final Score is 4**"))
