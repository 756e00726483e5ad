"""The gallery page: whole, safe, on its own, and alive in a browser where there is one."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image

import gamegen
from gamegen.__main__ import main
from gamegen.gallery import LARGEST_OUTPUT, NOTHING, page
from gamegen.stored import StoredRow, read_dataset
from gamegen.writing import FORMATS
from gamegen.writing.run import write_dataset

COUNT = max(10, len(gamegen.list_tasks()))


class Page(HTMLParser):
    """Scripts by id, and every address that any element names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.addresses: list[str] = []
        self.policy = ""
        self.body = ""
        self._script: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        self.addresses += [known[name] for name in ("src", "href", "action", "data", "poster") if name in known]
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]
        if tag == "script":
            self._script = known.get("id", "code")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.body += data
        else:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    @property
    def rows(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(self.scripts["rows"])
        return found


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> list[StoredRow]:
    folder = tmp_path_factory.mktemp("gallery") / "set"
    write_dataset(gamegen.create_dataset("all", size=COUNT, pixels=256), folder)
    return list(read_dataset(folder))


@pytest.fixture(scope="module")
def outputs(stored: list[StoredRow], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right, unchanged, missing, broken and huge ones, in turn."""
    folder = tmp_path_factory.mktemp("outputs")
    noise = Image.effect_noise((1200, 1200), 90).convert("RGB")
    for number, each in enumerate(stored):
        path = folder / f"{each.output_name}.png"
        path.parent.mkdir(exist_ok=True)
        kind = number % 5
        if kind == 3:
            noise.save(path)
        elif kind != 2:
            path.write_bytes((each.row["edited_image"], each.row["original_image"], b"", b"", b"broken")[kind])
    return folder


def html(rows: list[StoredRow], outputs: Path | None = None) -> str:
    return b"".join(page(rows, title="A <title> & more", lead="lead", outputs=outputs)).decode()


def test_every_row_and_picture_is_in_the_page(stored: list[StoredRow]) -> None:
    found = Page(html(stored))
    assert [row["id"] for row in found.rows] == [each.row["id"] for each in stored]
    for number, each in enumerate(stored):
        sources = found.scripts[f"p{number}"].split()
        for source, name in zip(sources, ("original_image", "edited_image", "mask_image"), strict=False):
            kind, _, data = source.partition(",")
            assert kind == "data:image/png;base64" and base64.b64decode(data) == each.row[name]
        assert sources[3] == NOTHING and found.rows[number]["verdict"] is None
        for column in ("instruction", "rules", "reasoning"):
            assert found.rows[number][column] == each.row[column]


def test_the_page_asks_the_network_for_nothing(stored: list[StoredRow], outputs: Path) -> None:
    text = html(stored, outputs)
    found = Page(text)
    assert found.addresses == [] and found.policy.startswith("default-src 'none'")
    without_pictures = text[: text.index('id="p0"')] + found.scripts["code"]
    for word in ("http://", "https://", "//cdn", "@import", "url(h", "fetch(", "XMLHttpRequest", "import("):
        assert word not in without_pictures.replace("http-equiv", "")


def test_texts_cannot_break_out(stored: list[StoredRow]) -> None:
    evil = "</script><script>alert(1)</script><!--<script><img src=x onerror=alert(1)> \u2028 & \" '"
    row = {**stored[0].row, "instruction": evil, "reasoning": evil, "id": evil, "task": evil, "skin": evil}
    text = html([replace(stored[0], row=row)])
    found = Page(text)
    assert found.rows[0]["instruction"] == evil == found.rows[0]["id"]
    assert "alert(1)" not in found.body and "<script>alert" not in text
    assert "A <title> & more" in found.body and "A &lt;title&gt; &amp; more" in text
    assert "innerHTML" not in found.scripts["code"], "texts are only ever set as text"


def test_outputs_stand_beside_with_their_verdicts(stored: list[StoredRow], outputs: Path) -> None:
    found = Page(html(stored, outputs))
    for number, (row, each) in enumerate(zip(found.rows, stored, strict=True)):
        verdict, source = row["verdict"], found.scripts[f"p{number}"].split()[3]
        assert isinstance(verdict, dict)
        kind = number % 5
        assert verdict["correct"] == (kind == 0) and verdict["found"] == (kind != 2) and verdict["reason"]
        if kind in (0, 1):
            name = "edited_image" if kind == 0 else "original_image"
            assert base64.b64decode(source.partition(",")[2]) == each.row[name]
        elif kind == 3:
            reduced = base64.b64decode(source.removeprefix("data:image/jpeg;base64,"))
            assert len(reduced) < 5 * LARGEST_OUTPUT and max(Image.open(io.BytesIO(reduced)).size) == 1024
        else:
            assert source == NOTHING


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "bagel"])
def test_the_command_lays_out_every_format(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = gamegen.list_tasks()[-1]
    write_dataset(gamegen.create_dataset(task, size=4, level=2, pixels=256), tmp_path / "set", format=format)
    assert main(["gallery", str(tmp_path / "set"), "--limit", "3", "--out", str(tmp_path / "page.html")]) == 0
    assert "3 samples" in capsys.readouterr().out
    found = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "3 samples of 4" in found.body and len(found.rows) == 3
    for row in found.rows:
        assert (row["task"], row["level"], row["language"], row["split"]) == (task, 2, "en", "train")
        assert row["skin"] and row["instruction"]


@pytest.fixture(scope="module")
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium here")
    return found


def dom(browser: str, path: Path, profile: Path, fragment: str = "") -> str:
    """The page's elements after its script ran."""
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    command = [browser, *flags.split(), f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run([*command, path.resolve().as_uri() + fragment], capture_output=True, text=True, timeout=120)
    return done.stdout.split('<script type="application/json"')[0]


def test_a_browser_shows_cards_and_one_sample_large(
    browser: str, stored: list[StoredRow], outputs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(html(stored, outputs), encoding="utf-8")
    shown = dom(browser, path, tmp_path / "profile")
    assert shown.count('<article class="card') == COUNT
    assert '<img src="data:image/png;base64,' in shown and "correct" in shown
    wanted = stored[1].row
    large = dom(browser, path, tmp_path / "profile", "#" + quote(str(wanted["id"]), safe=""))
    sheet = large[large.index("<dialog") :]
    assert str(wanted["id"]) in sheet and "Difficulty, as measured" in sheet and f"2 / {COUNT}" in sheet


def test_a_large_page_makes_few_pictures_at_once(browser: str, stored: list[StoredRow], tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(html(stored * (1 + 600 // COUNT)), encoding="utf-8")
    shown = dom(browser, path, tmp_path / "profile")
    assert shown.count('<article class="card') > 600
    assert 2 <= shown.count("<img ") <= 100
