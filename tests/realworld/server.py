"""An OpenAI-compatible server, a process of its own, that plays all the models of a run.

What it answers follows from what it is asked, so runs against it can be compared: triples in made-up words (in every
request one that gives its effect away and one that repeats another), reasoning, scores that are mostly 5, and pictures.
GET /asked says how often each thing was asked. `python -m tests.realworld.server [--spoil]` prints its address; with
--spoil the first answer to everything is spoilt, as by tests.scoring.faulty_server.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
import zlib
from collections import Counter
from typing import Any, ClassVar

from PIL import Image

from tests.scoring import faulty_server

SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "vu", "da", "fe", "go", "hi", "ju", "la")


class Handler(faulty_server.Handler):
    counts: ClassVar[Counter[str]] = Counter()
    spoil = False

    def do_GET(self) -> None:
        self._send(200, json.dumps(self.counts).encode())

    def _answer(self, body: bytes) -> tuple[int, bytes]:
        number = zlib.crc32(re.sub(rb"boundary=\w+|--\w{32}", b"", body))
        with self.lock:
            self.counts[f"{self.path.rpartition('/')[2]} {number}"] += 1
            if not self.spoil:
                self.asked.add(number)
        if "images" in self.path:
            return number, json.dumps({"data": [{"b64_json": picture(number)}]}).encode()
        content = json.loads(body)["messages"][0]["content"]
        text = "".join(part.get("text", "") for part in content)
        return number, json.dumps({"choices": [{"message": {"role": "assistant", "content": reply(text)}}]}).encode()


def reply(text: str) -> str:
    if "new triples of this category" in text:
        subjects = re.findall(r"^\d+\. (.*)$", text, re.MULTILINE)
        return "Here they are:\n" + json.dumps({"triples": triples(zlib.crc32(text.encode()), subjects)})
    if "Write one paragraph" in text:
        return f"<think>hm</think>I see {words(text, 40)}. So {words(text[::-1], 20)} will change."
    return json.dumps({"reason": words(text, 5), "score": 4 if zlib.crc32(text.encode()) % 10 == 0 else 5})


def triples(number: int, subjects: list[str]) -> list[dict[str, Any]]:
    found = []
    for place, subject in enumerate(subjects):
        one = f"{number} {place}"
        description = f"{words(one + 'd', 12)} in {subject}"
        found.append({"description": description, "instruction": words(one + "i", 8), "effect": words(one + "e", 15)})
    if len(found) > 2:
        found[-1]["effect"] = found[-1]["instruction"]
        found[-2]["description"] = " ".join(reversed(found[0]["description"].upper().split())) + "!"
    return found


def words(seed: str, count: int) -> str:
    """Made-up words that no other seed has."""
    numbers = (zlib.crc32(f"{seed} {place}".encode()) for place in range(count))
    return " ".join("".join(SYLLABLES[number >> shift & 15] for shift in (0, 8, 16, 24)) for number in numbers)


def picture(number: int) -> str:
    stream = io.BytesIO()
    Image.new("RGB", (48, 48), (number & 255, number >> 8 & 255, number >> 16 & 255)).save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode()


if __name__ == "__main__":
    Handler.spoil = "--spoil" in sys.argv
    server = faulty_server.Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
