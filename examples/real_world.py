"""A run with photographs, offline: a server on this machine plays the models, a painter of flat colours draws."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from PIL import Image

from gamegen.__main__ import main

TEXTS = ("A tall red candle burns on a dark table.", "Come back in four hours.", "Of the red candle a stump is left.")
TRIPLES = json.dumps({"triples": [dict(zip(("description", "instruction", "effect"), TEXTS, strict=True))]})
REASONING = "I see a tall red candle on a dark table. In four hours it burns down to a stump, and the table stays. " * 2


class Models(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        reply = TRIPLES if "new triples" in asked else REASONING if "Write one paragraph" in asked else '{"score": 5}'
        answer = json.dumps({"choices": [{"message": {"content": reply}}]})
        self.wfile.write(f"HTTP/1.0 200 OK\r\n\r\n{answer}".encode())


class Painter:
    def generate(self, description: str, *, seed: int) -> Image.Image:
        return Image.new("RGB", (64, 64), "brown")

    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Image.Image:
        return Image.new("RGB", image.size, "maroon")


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Models)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask = f"--model scripted --base-url http://127.0.0.1:{server.server_port}"
    triples = f"triples {ask} --count 1 --batch 1 --categories TemporalEvolution"
    pairs = "pairs --generator real_world:Painter --editor real_world:Painter"
    for line in (triples, "dedup", pairs, f"reason {ask}", f"filter {ask}", "export --unreviewed"):
        assert main(["real", *line.split(), "out"]) == 0
