"""Open the inspection of a run in a browser, for one person on this machine or several on a network."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

from gamegen.core.errors import BadInput, MissingExtra, unknown
from gamegen.listening import listening
from realworld.review.ballot import STAGES
from realworld.review.desk import SCORES, Desk, Scores
from realworld.review.items import check_images, items
from realworld.review.store import Store
from realworld.run import Run

MOST_VOTES = 99


def serve(
    run: Run,
    *,
    stage: int = 1,
    votes: int = 1,
    host: str = "127.0.0.1",
    port: int = 8100,
    token: str | None = None,
    scores: Scores = "after",
    minutes: float = 10.0,
) -> None:
    """Serve until Ctrl-C. Beyond this machine a token is asked for; "" turns that off, None makes one up if needed.

    An item is kept for somebody who shows no sign of life for `minutes`.
    """
    _check(stage, votes, scores, minutes)
    try:
        import uvicorn

        from realworld.review.app import build_app
        from realworld.review.guard import LOOPBACK, Guard
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "review") from error
    found = items(run.candidates())
    if not found:
        raise BadInput(f"{run.folder} has no candidates to inspect: none has passed the filter yet")
    check_images(run, found)
    near = host in LOOPBACK
    if token is None:
        token = "" if near else secrets.token_urlsafe(12)
    with suppress(KeyboardInterrupt), Store(run.decisions) as store, listening(host, port) as door:
        _check_first_stage(store, stage)
        store.begin(found, stage=stage, asked=votes)
        desk = Desk(run, store, {item.key: item for item in found}, stage, scores, minutes * 60)
        port = door.getsockname()[1]
        hosts = LOOPBACK | {host} if near else None
        app = Guard(build_app(desk), token=token, hosts=hosts, cookie=f"review-{port}")
        for address in _addresses(host):
            print(f"stage {stage} at http://{address}:{port}/{f'?token={token}' if token else ''}", flush=True)
        print(f"{len(found)} candidates; decisions go to {run.decisions}; Ctrl-C ends", flush=True)
        uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run(sockets=[door])


def _check(stage: int, votes: int, scores: str, minutes: float) -> None:
    if stage not in STAGES:
        raise BadInput(f"the stages are {' and '.join(map(str, STAGES))}, not {stage}")
    if not 1 <= votes <= MOST_VOTES:
        raise BadInput(f"votes must be 1 to {MOST_VOTES}, not {votes}")
    if scores not in SCORES:
        raise unknown("moment to show scores", scores, SCORES)
    if not minutes > 0:
        raise BadInput(f"the minutes that an item is kept must be above zero, not {minutes:g}")


def _check_first_stage(store: Store, stage: int) -> None:
    if stage == 2 and not any(vote.stage == 1 for vote in store.votes()):
        raise BadInput("stage 2 corrects what stage 1 keeps, and nobody has decided anything there yet")


def _addresses(host: str) -> list[str]:
    """What others may type: a server that listens everywhere is found under its own number."""
    if host not in ("0.0.0.0", "::"):
        return [f"[{host}]" if ":" in host else host]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # nothing is sent: this only asks which way out would be taken
        return [probe.getsockname()[0]]
    return [socket.gethostname()]
