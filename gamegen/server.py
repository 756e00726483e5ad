"""The reward server: rows and pictures in over HTTP, rewards and verdicts out. Nothing is unpickled, nothing stored.

POST /reward takes JSON, `{"items": [{"row": {…}, "image": "<base64>" or null}, …], "dense": false}`, or multipart with
the field `rows` (a JSON list), one file `images` for each row in the same order (an empty file means no picture) and,
if wanted, `dense`. The answer is `{"rewards": […], "verdicts": […]}`, in order. An item that cannot be judged gets the
reward null and the verdict `{"error": …}`, and the others are judged. GET /health and GET /metrics say how it goes.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import Message

from gamegen import __version__
from gamegen.core.errors import GamegenError
from gamegen.judging import Answer, Judges, Limits
from gamegen.reward import NEEDED

METRICS = {
    "images": "Items that were sent.",
    "accepted": "Items whose edit was right.",
    "unreadable": "Items whose picture was missing or could not be read.",
    "errors": "Items that could not be judged.",
}


class BadRequest(GamegenError):
    """A whole request is refused, with an HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Batch(BaseModel):
    model_config = ConfigDict(extra="forbid")
    items: list[Any]
    dense: bool | None = None  # as the server was started


class Item(BaseModel):
    row: dict[str, Any]
    image: str | None


Work = tuple[dict[str, Any], bytes | None]
"""A row, and a picture or None."""


@dataclass(slots=True)
class Counts:
    """What /metrics tells, since the start."""

    requests: Counter[int] = field(default_factory=Counter)  # by HTTP status
    items: Counter[str] = field(default_factory=Counter)  # by the names in METRICS
    seconds: float = 0.0  # spent judging, over all processes

    def add(self, answers: list[Answer]) -> None:
        for answer in answers:
            self.items["images"] += 1
            self.items["errors"] += answer.reward is None
            self.items["accepted"] += bool(answer.verdict.get("correct"))
            self.items["unreadable"] += answer.verdict.get("readable") is False
            self.seconds += answer.seconds

    def text(self) -> str:
        lines = ["# HELP gamegen_requests_total Calls of /reward, by status.", "# TYPE gamegen_requests_total counter"]
        lines += [f'gamegen_requests_total{{status="{code}"}} {n}' for code, n in sorted(self.requests.items())]
        for name, meaning in METRICS.items():
            lines += [f"# HELP gamegen_{name}_total {meaning}", f"# TYPE gamegen_{name}_total counter"]
            lines.append(f"gamegen_{name}_total {self.items[name]}")
        lines += ["# HELP gamegen_seconds_total Time spent judging.", "# TYPE gamegen_seconds_total counter"]
        return "\n".join([*lines, f"gamegen_seconds_total {self.seconds:.6f}", ""])


def build_app(*, jobs: int, dense: bool = False, limits: Limits | None = None) -> FastAPI:
    """The server as an ASGI application; its judging processes live as long as it runs."""
    limits = limits or Limits()
    counts = Counts()
    judges = Judges(jobs=jobs, limits=limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        judges.close()

    app = FastAPI(title="gamegen rewards", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)

    @app.post("/reward")
    async def reward(request: Request) -> Response:
        try:
            work, asked_dense = await _receive(request, limits)
        except BadRequest as error:
            counts.requests[error.status] += 1
            return _json({"error": str(error)}, error.status)
        wanted = dense if asked_dense is None else asked_dense
        answers = await asyncio.gather(*(_answer(judges, item, dense=wanted) for item in work))
        counts.requests[200] += 1
        counts.add(answers)
        return _json({"rewards": [a.reward for a in answers], "verdicts": [a.verdict for a in answers]})

    @app.get("/health")
    async def health() -> Response:
        return _json({"status": "ok", "version": __version__, "jobs": jobs, "dense": dense, "limits": asdict(limits)})

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(counts.text(), media_type="text/plain; version=0.0.4")

    return app


async def _answer(judges: Judges, item: Work | str, *, dense: bool) -> Answer:
    if isinstance(item, str):
        return Answer.error(item)
    row, picture = item
    return await judges.judge(row, picture, dense=dense)


async def _receive(request: Request, limits: Limits) -> tuple[list[Work | str], bool | None]:
    """The items of a request, each ready to be judged or the reason why it is not; BadRequest for the whole."""
    body = await _body(request, limits)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _from_multipart(request, body, limits)
    if kind not in ("application/json", ""):
        raise BadRequest(415, f"send application/json or multipart/form-data, not {kind}")
    try:
        batch = Batch.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, f"the body is not JSON: {error}") from error
    except ValidationError as error:
        raise BadRequest(422, f"the body does not fit: {_first(error)}") from error
    _check_count(len(batch.items), limits)
    return [_from_json(item) for item in batch.items], batch.dense


async def _body(request: Request, limits: Limits) -> bytes:
    """The whole body, or 413 as soon as it is known to be too large."""
    refusal = BadRequest(413, f"the body is too large; the limit is {limits.max_body} bytes (max_body)")
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > limits.max_body:
        raise refusal
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limits.max_body:
            raise refusal
    return bytes(body)


def _check_count(count: int, limits: Limits) -> None:
    if count > limits.max_items:
        raise BadRequest(422, f"{count} items in one request; the limit is {limits.max_items} (max_items)")


def _from_json(item: object) -> Work | str:
    try:
        checked = Item.model_validate(item)
    except ValidationError as error:
        return f"the item does not fit: {_first(error)}"
    if checked.image is None:
        return _light(checked.row), None
    encoded = checked.image.partition(",")[2] if checked.image.startswith("data:") else checked.image
    try:
        return _light(checked.row), base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        return f"the image is not base64: {error}"


async def _from_multipart(request: Request, body: bytes, limits: Limits) -> tuple[list[Work | str], bool | None]:
    async def replay() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    most = limits.max_items + 1  # one more, so that too many are counted by us and not by the parser
    try:
        form = await Request(request.scope, replay).form(max_files=most, max_fields=2, max_part_size=limits.max_body)
    except HTTPException as error:
        raise BadRequest(400, f"the multipart body is broken: {error.detail}") from error
    async with _closing(form):
        rows = _rows(form.get("rows"))
        files = [part for part in form.getlist("images") if isinstance(part, UploadFile)]
        _check_count(max(len(rows), len(files)), limits)
        if len(rows) != len(files):
            raise BadRequest(422, f"{len(rows)} rows, but {len(files)} images")
        pictures = [await file.read() or None for file in files]
    work: list[Work | str] = [
        (_light(row), picture) if isinstance(row, dict) else f"a row must be an object, not {row!r:.80}"
        for row, picture in zip(rows, pictures, strict=True)
    ]
    return work, _flag(form.get("dense"))


@asynccontextmanager
async def _closing(form: FormData) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await form.close()


def _rows(text: object) -> list[Any]:
    try:
        rows = orjson.loads(text) if isinstance(text, str) else None
    except orjson.JSONDecodeError as error:
        raise BadRequest(400, f"the field rows is not JSON: {error}") from error
    if not isinstance(rows, list):
        raise BadRequest(422, "the field rows must be a JSON list of rows")
    return rows


def _flag(text: object) -> bool | None:
    if text not in (None, "true", "false"):
        raise BadRequest(422, f"the field dense must be true or false, not {text!r:.80}")
    return None if text is None else text == "true"


def _light(row: dict[str, Any]) -> dict[str, Any]:
    """Only what judging needs goes to another process."""
    return {name: row[name] for name in NEEDED if name in row}


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'it'}: {problem['msg']}"


def _json(content: object, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
