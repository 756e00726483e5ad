"""The report in a real browser: filters, keys, one sample large, addresses; nothing from the network, no errors."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gamegen.__main__ import main

from .conftest import ROWS

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture(scope="module")
def page_file(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    for editor in ("oracle", "copy"):
        assert main(["edit", str(dataset), "--editor", editor, "--out", str(folder / editor)]) == 0
        assert main(["score", str(dataset), str(folder / editor), "--jobs", "1"]) == 0
    (folder / "copy" / "Maze" / "1.txt").write_text("<b>zebra crossing</b></script><script>window.broken = 1</script>")
    runs = [str(folder / "oracle"), str(folder / "copy")]
    assert main(["report", *runs, "--out", str(folder / "report"), "--jobs", "1"]) == 0
    return folder / "report" / "index.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    own = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"there is no Chromium here: {error}")
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, page_file: Path) -> Iterator[Any]:
    """A fresh page; complaints and requests of any kind fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request", lambda request: complaints.append(request.url) if request.url[:5] not in ("file:", "data:") else None
    )
    opened.goto(page_file.as_uri())
    yield opened
    assert complaints == []
    context.close()


def shown(page: Any) -> int:
    return int(page.locator(".sample").count())


def test_filters_narrow_the_list(page: Any) -> None:
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert shown(page) == ROWS and page.text_content("#count") == f"{ROWS} samples"
    page.select_option("select[aria-label=category]", "Maze")
    assert shown(page) == ROWS // 2
    page.select_option("select[aria-label=verdict]", "correct")
    assert shown(page) == ROWS // 2, "one of the runs is right everywhere"
    page.select_option("select[aria-label=run]", label="copy")
    assert shown(page) == 0 and page.is_visible("#none")
    page.click("#reset")
    assert shown(page) == ROWS
    page.keyboard.press("/")
    page.keyboard.type("zebra CROSSING")
    playwright.expect(page.locator(".sample")).to_have_count(1)
    assert page.get_attribute(".sample", "aria-label") == "Maze/1"


def test_keys_move_open_and_explain(page: Any) -> None:
    names = [page.locator(".sample").nth(place).get_attribute("aria-label") for place in range(3)]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".sample.here", "aria-label") == names[2]
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert page.is_visible("#detail") and page.text_content("#detail nav b") == names[1]
    assert page.locator("#detail .lane").count() == 2 and "correct" in page.text_content("#detail")
    page.keyboard.press("j")
    assert page.text_content("#detail nav b") == names[2]
    page.keyboard.press("Escape")
    assert not page.is_visible("#detail") and page.get_attribute(".sample.here", "aria-label") == names[2]
    page.keyboard.press("?")
    assert page.is_visible("#keys") and "next, previous sample" in page.text_content("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    assert page.locator(".sample").first.locator(".lane").count() == 1


def test_an_address_opens_its_sample_and_texts_stay_texts(page: Any, page_file: Path) -> None:
    page.goto(page_file.as_uri() + "#sample/Maze%2F1")
    page.reload()
    assert page.text_content("#detail nav b") == "Maze/1"
    assert "<b>zebra crossing</b></script>" in page.text_content("#detail")
    assert page.evaluate("window.broken") is None
    images = page.locator("#detail img")
    images.last.wait_for()
    decoded = (
        "Promise.all([...document.querySelectorAll('#detail img')].map((image) => image.decode())).then(() => 'all')"
    )
    assert images.count() >= 6 and page.evaluate(decoded) == "all"
    page.evaluate("location.hash = '#sample/Maze%2F0'")
    playwright.expect(page.locator("#detail nav b")).to_have_text("Maze/0")


def test_the_legend_hides_and_shows(page: Any) -> None:
    key = page.locator(".key[data-series='GPT-4o']").first
    line = page.locator(".series[data-series='GPT-4o']").first
    assert line.is_visible()
    key.click()
    assert not line.is_visible() and key.get_attribute("aria-pressed") == "false"


def test_a_phone_needs_no_sideways_scrolling(browser: Any, page_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    small = context.new_page()
    small.goto(page_file.as_uri())
    assert small.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
