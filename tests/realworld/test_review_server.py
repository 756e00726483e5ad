"""The inspection as a real process on loopback: what it serves, whom it refuses, and that a kill loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gamegen.__main__ import main
from gamegen.stored import read_dataset
from realworld.review import decisions
from realworld.review.store import Store
from realworld.run import Run

from .runs import ReadyRun, ready_run

httpx = pytest.importorskip("httpx")
for needed in ("fastapi", "uvicorn"):
    pytest.importorskip(needed)

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
CLIENT = httpx.Client()  # a new one for each request is slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(run: ReadyRun, **options: Any) -> tuple[subprocess.Popen[str], str]:
    """The server and what it printed; it listens when it has printed the last line."""
    command = [sys.executable, "-m", "tests.realworld.runs", str(run.folder), json.dumps(options)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stderr is not None
    told = ""
    while "Ctrl-C" not in told:
        line = server.stdout.readline()
        assert line, server.stderr.read()
        told += line
    return server, told


@contextmanager
def serving(run: ReadyRun, **options: Any) -> Iterator[str]:
    port = free_port()
    server, _ = start(run, port=port, **options)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(ready_run(tmp_path_factory.mktemp("review") / "run", 40)) as address:
        yield address


def post(url: str, call: str, expect: int = 200, **body: Any) -> Any:
    response = CLIENT.post(f"{url}/api/{call}", json=body)
    assert response.status_code == expect, response.text
    return response.json()


def decide(url: str, who: str, item: dict[str, Any], verdict: str = "keep", expect: int = 200, **more: Any) -> Any:
    reasons = ["edited-poor"] if verdict == "drop" else []
    said = {"annotator": who, "key": item["key"], "token": item["token"], "verdict": verdict, "reasons": reasons}
    return post(url, "decide", expect, **{**said, **more})


# Work -----------------------------------------------------------------------------------------------------------------


def test_people_work_side_by_side(url: str) -> None:
    ann, ben = (post(url, "work", annotator=who)["items"] for who in ("Ann", "Ben"))
    assert not {item["key"] for item in ann} & {item["key"] for item in ben}
    answer = decide(url, "Ann", ann[0], "drop", note="blurred")
    assert answer["items"][0]["key"] == ann[1]["key"] and answer["last"]["verdict"] == "drop"
    assert answer["progress"]["drop"] == 1
    back = post(url, "undo", annotator="ann", number=answer["last"]["number"])
    assert back["again"] == ann[0]["key"] and back["progress"]["drop"] == 0
    assert back["items"][0]["former"]["note"] == "blurred"
    later = post(url, "later", annotator="Ann", key=ann[0]["key"])
    assert ann[0]["key"] not in [item["key"] for item in later["items"]]
    for who in ("Ann", "Ben"):
        post(url, "leave", annotator=who)


def test_scores_wait_for_the_decision(url: str, tmp_path: Path) -> None:
    [item, *_] = post(url, "work", annotator="Dora")["items"]
    assert "scores" not in json.dumps(item) and "visual_quality" not in json.dumps(item)
    assert decide(url, "Dora", item)["scores"]["cot_quality"] == 4
    for moment, before, after in (("always", True, True), ("never", False, False)):
        with serving(ready_run(tmp_path / moment, 2), scores=moment) as other:
            [item, *_] = post(other, "work", annotator="Dora")["items"]
            assert ("scores" in item) == before
            assert ("scores" in decide(other, "Dora", item)) == after


def test_mistakes_are_told_and_change_nothing(url: str) -> None:
    work = post(url, "work", annotator="Emil")
    item, votes = work["items"][0], work["progress"]["votes"]
    assert "at least one reason" in decide(url, "Emil", item, "drop", 400, reasons=[])["error"]
    assert "gone or changed" in decide(url, "Emil", {**item, "key": "0" * 24}, expect=409)["error"]
    assert "stage 2" in decide(url, "Emil", item, expect=400, texts={"effect": "x"})["error"]
    assert "verdict" in decide(url, "Emil", item, "maybe", 400)["error"]
    assert "annotator" in post(url, "work", 400)["error"]
    assert "extra" in post(url, "work", 400, annotator="Emil", stage=2)["error"].lower()
    assert "printable" in post(url, "work", 400, annotator="\x07")["error"]
    assert "no such decision" in post(url, "undo", 409, annotator="Emil", number=999)["error"]
    assert post(url, "work", annotator="Emil")["progress"]["votes"] == votes


def test_the_page_and_its_parts_are_there(url: str) -> None:
    page = CLIENT.get(url)
    assert page.headers["content-type"].startswith("text/html") and "/review.js" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    for name in ("review.js", "review.css", "icon.svg"):
        part = CLIENT.get(f"{url}/{name}")
        assert part.status_code == 200 and part.headers["x-content-type-options"] == "nosniff"
    assert "https://" not in CLIENT.get(f"{url}/review.js").text


def test_decisions_can_be_taken_away(url: str) -> None:
    [item, *_] = post(url, "work", annotator="Fay")["items"]
    decide(url, "Fay", item)
    found = CLIENT.get(f"{url}/decisions.json")
    assert item["id"] in [entry["id"] for entry in found.json()["decisions"]]
    assert CLIENT.get(f"{url}/decisions.csv").text.startswith("id,category,stage1")
    assert "attachment" in found.headers["content-disposition"]
    assert CLIENT.get(f"{url}/decisions.exe").status_code == 422
    assert (
        post(url, "work", annotator="Fay")["progress"]["items"]
        == CLIENT.get(f"{url}/api/results").json()["counts"]["items"]
    )


# Strangers ------------------------------------------------------------------------------------------------------------


def test_pictures_are_those_of_the_candidates_alone(url: str) -> None:
    [item, *_] = post(url, "work", annotator="Gus")["items"]
    for side in ("original", "edited"):
        picture = CLIENT.get(f"{url}/image/{item['key']}/{side}")
        assert picture.content.startswith(b"\x89PNG") and picture.headers["content-type"] == "image/png"
        assert "immutable" in picture.headers["cache-control"]
    for path in (
        "/image/nothing/original",
        f"/image/{item['key']}/ready.json",
        f"/image/{item['key']}/..%2f..%2fready.json",
        "/image/..%2f..%2f..%2fetc%2fpasswd/original",
        "/../ready.json",
        "/ready.json",
        "/review.sqlite",
        "/page/page.html",
        "/docs",
        "/openapi.json",
    ):
        assert CLIENT.get(f"{url}{path}").status_code == 404, path


def test_other_sites_in_the_same_browser_get_nothing(url: str) -> None:
    body = json.dumps({"annotator": "Mallory"})
    plain = CLIENT.post(f"{url}/api/work", content=body, headers={"content-type": "text/plain"})
    assert plain.status_code == 415, "a form of another site could send this without being asked"
    foreign = {"content-type": "application/json", "origin": "http://elsewhere.example"}
    assert CLIENT.post(f"{url}/api/work", content=body, headers=foreign).status_code == 403
    for host in ("elsewhere.example", "127.0.0.1.elsewhere.example", ""):
        assert CLIENT.get(url, headers={"host": host}).status_code == 421, "a name that was bent to this address"
    own = {"content-type": "application/json", "origin": url}
    assert CLIENT.post(f"{url}/api/work", content=body, headers=own).status_code == 200
    assert CLIENT.get(url.replace("127.0.0.1", "localhost")).status_code == 200
    post(url, "leave", annotator="Mallory")


def test_large_requests_are_cut_off(url: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 16_384

    response = CLIENT.post(f"{url}/api/work", content=endless(), headers={"content-type": "application/json"})
    assert response.status_code == 413 and "262144" in response.text
    [item, *_] = post(url, "work", annotator="Hal")["items"]
    assert "note" in decide(url, "Hal", item, expect=400, note="x" * 3000)["error"]


def test_a_token_keeps_a_network_out(tmp_path: Path) -> None:
    with serving(ready_run(tmp_path / "run", 2), token="open-sesame") as url:
        for path in ("/", "/?token=wrong", "/review.js", "/api/about", "/decisions.json"):
            assert CLIENT.get(url + path).status_code == 401, path
        assert CLIENT.post(f"{url}/api/work", json={"annotator": "Ann"}).status_code == 401
        assert CLIENT.get(url, headers={"cookie": 'x="\\'}).status_code == 401
        with httpx.Client(base_url=url, follow_redirects=True) as client:
            page = client.get("/?token=open-sesame")
            assert page.status_code == 200 and str(page.url).rstrip("/") == url, "the token leaves the address bar"
            assert "httponly" in page.history[0].headers["set-cookie"].lower()
            assert client.post("/api/work", json={"annotator": "Ann"}).status_code == 200
        assert CLIENT.get(f"{url}/api/about", headers={"authorization": "Bearer open-sesame"}).status_code == 200


def test_beyond_this_machine_a_token_is_made_up(tmp_path: Path) -> None:
    server, told = start(ready_run(tmp_path / "run", 1), host="0.0.0.0", port=0)
    try:
        address = told.split()[3]
        token = address.partition("?token=")[2]
        assert len(token) >= 16
        port = address.partition("?")[0].rstrip("/").rpartition(":")[2]
        assert CLIENT.get(f"http://127.0.0.1:{port}/").status_code == 401
        assert CLIENT.get(f"http://127.0.0.1:{port}/?token={token}").status_code == 303
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


# What the command refuses ---------------------------------------------------------------------------------------------


def refused(run: ReadyRun, **options: Any) -> str:
    command = [sys.executable, "-m", "tests.realworld.runs", str(run.folder), json.dumps(options)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


def test_what_cannot_be_served_is_said_before_it_begins(tmp_path: Path) -> None:
    run = ready_run(tmp_path / "run", 2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1, port {port}: " in refused(run, port=port)
    assert "nobody has decided anything there yet" in refused(run, stage=2)
    assert "the stages are 1 and 2, not 3" in refused(run, stage=3)
    assert "votes must be 1 to 99, not 0" in refused(run, votes=0)
    assert "did you mean 'after'" in refused(run, scores="afterwards")


@pytest.mark.parametrize(
    ("edited", "message"),
    [
        ("../elsewhere.png", "outside of the run folder"),
        ("images/nothing.png", "cannot read the picture"),
        ("ready.json", "is no PNG, JPEG or WebP picture"),
    ],
)
def test_pictures_that_may_not_be_shown(tmp_path: Path, edited: str, message: str) -> None:
    run = ready_run(tmp_path / "run", 2, changed={"edited": edited})
    (tmp_path / "elsewhere.png").write_bytes((run.folder / "images/t1/edited-0.png").read_bytes())
    (run.folder / "images" / "nothing.png").unlink(missing_ok=True)
    told = refused(run)
    assert message in told and Path(edited).name in told


def test_the_command_of_a_run_without_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text('{"version": 1, "settings": {}}')
    assert main(["real", "review", str(tmp_path)]) == 2
    assert "has no candidates to inspect" in capsys.readouterr().err


def test_from_the_filter_to_the_dataset(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands as people use them: both stages over HTTP, then the export."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    count = len(list(Run.open(folder).candidates()))
    assert count > 2

    def review(stage: int, say: Callable[[str, dict[str, Any]], Any]) -> None:
        port = free_port()
        command = [sys.executable, "-m", "gamegen", "real", "review", folder, "--stage", stage, "--port", port]
        server = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None and "Ctrl-C" in server.stdout.readline() + server.stdout.readline()
            url = f"http://127.0.0.1:{port}"
            while items := post(url, "work", annotator="Ann")["items"]:
                say(url, items[0])
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(PATIENCE) == 0, "Ctrl-C is the way to end it"

    def real(*args: object) -> str:
        assert main(["real", *map(str, args)]) == 0
        return capsys.readouterr().out

    first = next(Run.open(folder).candidates()).id
    review(1, lambda url, item: decide(url, "Ann", item, "drop" if item["id"] == first else "keep"))
    review(2, lambda url, item: decide(url, "Ann", item, texts={"effect": f"Seen by Ann: {item['effect']}"}))
    assert f"{count - 1} rows" in real("export", folder)
    rows = [stored.row for stored in read_dataset(folder / "dataset")]
    assert len(rows) == count - 1 and all(row["reference_effect"].startswith("Seen by Ann: ") for row in rows)
    assert f"real/{first}" not in [row["id"] for row in rows]
    assert "dropped by people in stage 1: edited-poor" in real("status", folder)
    real("review", folder, "--decisions", tmp_path / "decisions.json")
    told = json.loads((tmp_path / "decisions.json").read_text())["decisions"]
    assert len(told) == count and told[0]["votes"][0]["annotator"] == "Ann"


# Kill -9 --------------------------------------------------------------------------------------------------------------

PEOPLE, COUNT, VOTES, KILLS = ("Ann", "Ben", "Cem"), 60, 2, 5


def test_a_server_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Three people decide without a pause while the server is killed again and again; each insists as the page does."""
    run = ready_run(tmp_path / "run", COUNT)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    confirmed: dict[str, list[tuple[str, str]]] = {who: [] for who in PEOPLE}
    clients = {who: httpx.Client() for who in PEOPLE}
    finished = threading.Event()
    retries: Counter[str] = Counter()

    def insist(who: str, call: str, **body: Any) -> Any:
        for _ in range(2000):
            try:
                response = clients[who].post(f"{url}/api/{call}", json={"annotator": who, **body}, timeout=5)
            except httpx.TransportError:
                retries[who] += 1
                time.sleep(0.02)
                continue
            assert response.status_code == 200, response.text
            return response.json()
        raise AssertionError("the server did not come back")

    def person(who: str) -> None:
        work = insist(who, "work")
        while not finished.is_set():
            if not work["items"]:
                if not work["progress"]["missing"]:
                    return
                time.sleep(0.05)
                work = insist(who, "work")
                continue
            item = work["items"][0]
            verdict = "keep" if (hash_of(item["key"]) + len(who)) % 3 else "drop"
            reasons = ["edited-poor"] if verdict == "drop" else []
            time.sleep(0.01)
            work = insist(who, "decide", key=item["key"], token=item["token"], verdict=verdict, reasons=reasons)
            confirmed[who].append((item["key"], verdict))

    server, _ = start(run, port=port, votes=VOTES)
    threads = [threading.Thread(target=person, args=(who,)) for who in PEOPLE]
    try:
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            before = sum(map(len, confirmed.values()))
            deadline = time.monotonic() + PATIENCE
            while sum(map(len, confirmed.values())) < before + 12 and any(t.is_alive() for t in threads):
                assert time.monotonic() < deadline, "nobody gets on"
                time.sleep(0.003)
            server.send_signal(signal.SIGKILL)
            server.communicate(timeout=PATIENCE)
            server, _ = start(run, port=port, votes=VOTES)
        for thread in threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        finished.set()
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert sum(retries.values()) >= KILLS, "the kills were felt"
    with Store(run.decisions) as store:
        votes = store.votes(undone=True)
        assert store.rows("PRAGMA integrity_check")[0][0] == "ok"
    stored = [(vote.annotator, vote.key, vote.ballot.verdict) for vote in votes]
    assert sorted(stored) == sorted((who, *said) for who, all_said in confirmed.items() for said in all_said)
    assert len({entry[:2] for entry in stored}) == len(stored) >= COUNT * VOTES
    assert all(decision.stage1 for decision in decisions(run).values()) and len(decisions(run)) == COUNT


def hash_of(key: str) -> int:
    return int(key[:6], 16)


def test_an_answer_that_was_lost_is_given_again(tmp_path: Path) -> None:
    """The decision was stored and the server died before it could say so."""
    run = ready_run(tmp_path / "run", 3)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server, _ = start(run, port=port)
    [item, *_] = post(url, "work", annotator="Ann")["items"]
    first = decide(url, "Ann", item)["last"]
    os.kill(server.pid, signal.SIGKILL)
    server.communicate(timeout=PATIENCE)
    with serving(run) as again:
        assert decide(again, "Ann", item)["last"] == first
        assert "already decided otherwise" in decide(again, "Ann", item, "drop", 409)["error"]
        post(again, "undo", annotator="Ann", number=first["number"])
        assert "was undone" in decide(again, "Ann", item, expect=409)["error"], "a late copy must not bring it back"


def test_a_full_disk_is_said_and_can_be_tried_again(tmp_path: Path) -> None:
    """Another program that holds the file for long is the same to a decision: it cannot be stored now."""
    run = ready_run(tmp_path / "run", 3)
    with serving(run) as url:
        [item, *_] = post(url, "work", annotator="Ann")["items"]
        with Store(run.decisions) as other:
            other.rows("CREATE TRIGGER full BEFORE INSERT ON vote BEGIN SELECT raise(FAIL, 'disk is full'); END")
            assert "could not be stored: disk is full" in decide(url, "Ann", item, expect=503)["error"]
            other.rows("DROP TRIGGER full")
        assert decide(url, "Ann", item)["progress"]["keep"] == 1
