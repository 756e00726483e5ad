"""The inspection over HTTP: one page, its script and style, pictures of the run's candidates, and a few JSON calls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse

from gamegen import gallery
from gamegen.core.errors import BadInput, GamegenError
from realworld.review.ballot import MAX_NOTE, MAX_TEXT, Ballot, Verdict
from realworld.review.desk import Desk
from realworld.review.items import SIDES, image_kind
from realworld.review.store import Refused

MAX_BODY = 256 * 1024
PAGE = files("realworld.review") / "page"
STYLES = ("review.css", "viewer.css", "results.css")
SCRIPTS = ("viewer.js", "texts.js", "talk.js", "work.js", "results.js", "keys.js")
FOREVER = "private, max-age=31536000, immutable"

Name = Annotated[str, Field(max_length=200)]
Key = Annotated[str, Field(max_length=64)]


class Who(BaseModel):
    model_config = ConfigDict(extra="forbid")
    annotator: Name


class Undo(Who):
    number: int


class Later(Who):
    key: Key


class Decide(Who):
    key: Key
    token: Annotated[str, Field(min_length=16, max_length=64)]
    verdict: Verdict
    reasons: Annotated[list[Key], Field(max_length=50)] = []
    note: Annotated[str, Field(max_length=2 * MAX_NOTE)] = ""
    texts: dict[Key, Annotated[str, Field(max_length=2 * MAX_TEXT)]] = {}
    seconds: Annotated[float, Field(allow_inf_nan=False)] = 0.0

    def ballot(self) -> Ballot:
        return Ballot(self.verdict, tuple(self.reasons), self.note, self.texts, self.seconds)


def build_app(desk: Desk) -> FastAPI:
    app = FastAPI(title="gamegen review", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_exception_handler(GamegenError, _told)
    app.add_exception_handler(sqlite3.Error, _told)

    def call(path: str, model: type[BaseModel], action: Callable[[Any], dict[str, Any]]) -> None:
        async def answer(request: Request) -> Response:
            try:
                asked = model.model_validate_json(await _body(request))
            except ValidationError as error:
                problem = error.errors()[0]
                raise BadInput(f"{'.'.join(map(str, problem['loc'])) or 'the body'}: {problem['msg']}") from error
            return _json(await run_in_threadpool(action, asked))

        app.add_api_route(path, answer, methods=["POST"])

    call("/api/work", Who, lambda ask: desk.work(ask.annotator))
    call("/api/decide", Decide, lambda ask: desk.decide(ask.annotator, ask.key, ask.token, ask.ballot()))
    call("/api/undo", Undo, lambda ask: desk.undo(ask.annotator, ask.number))
    call("/api/later", Later, lambda ask: desk.later(ask.annotator, ask.key))
    call("/api/leave", Who, lambda ask: desk.leave(ask.annotator))

    @app.get("/api/about")
    def about() -> Response:
        return _json(desk.about())

    @app.get("/api/results")
    def found() -> Response:
        return _json(desk.results())

    @app.get("/decisions.{kind}")
    def exported(kind: Literal["json", "csv"]) -> Response:
        return Response(
            desk.exported(kind),
            media_type="application/json" if kind == "json" else "text/csv",
            headers={"Content-Disposition": f'attachment; filename="decisions.{kind}"'},
        )

    @app.get("/image/{key}/{side}")
    def image(key: str, side: str) -> Response:
        if key not in desk.items or side not in SIDES:
            raise HTTPException(404, "there is no such picture")
        path: Path = getattr(desk.items[key].candidate, side)
        return FileResponse(path, media_type=image_kind(desk.run, path), headers={"Cache-Control": FOREVER})

    for path, kind, text in _pages():
        app.add_api_route(path, partial(_page, kind, text), methods=["GET"])
    return app


def _pages() -> list[tuple[str, str, str]]:
    """Address, media type and text; what our other pages share comes first."""
    style = [gallery.FOLDER / "page.css", *(PAGE / name for name in STYLES)]
    script = [gallery.FOLDER / "elements.js", *(PAGE / name for name in SCRIPTS)]
    return [
        ("/", "text/html", (PAGE / "page.html").read_text(encoding="utf-8")),
        ("/icon.svg", "image/svg+xml", (PAGE / "icon.svg").read_text(encoding="utf-8")),
        ("/review.css", "text/css", "\n".join(file.read_text(encoding="utf-8") for file in style)),
        ("/review.js", "text/javascript", "\n".join(file.read_text(encoding="utf-8") for file in script)),
    ]


def _page(kind: str, text: str) -> Response:
    return Response(text, media_type=kind)


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413, f"the body is too large; the limit is {MAX_BODY} bytes")
    return bytes(body)


async def _told(request: Request, error: Exception) -> Response:
    """Our own errors as JSON: 409 if it came too late, 503 if the file cannot be written, else 400."""
    if isinstance(error, sqlite3.Error):
        return _json({"error": f"the decision could not be stored: {error}"}, 503)
    return _json({"error": str(error)}, 409 if isinstance(error, Refused) else 400)


def _json(content: object, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
