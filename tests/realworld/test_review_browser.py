"""The inspection in a real browser: keys, views, corrections, a server that dies; nothing foreign loads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from realworld.review import decisions

from .runs import ReadyRun, ready_run
from .test_review_server import PATIENCE, free_port, post, serving, start

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

EVIL = '<img src=x onerror="window.broken=1"></p><script>window.broken = 1</script>'
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    own = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(executable_path=own, args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"there is no Chromium here: {error}")
        yield found
        found.close()


@pytest.fixture
def run(tmp_path: Path) -> ReadyRun:
    return ready_run(tmp_path / "run", 4, changed={"instruction": EVIL, "effect": EVIL, "category": EVIL})


class Tab:
    """A page of one person's; complaints, and requests to anywhere else, are kept."""

    def __init__(self, browser: Any, url: str, who: str, *, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        self.page, self.complaints = self.context.new_page(), []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: asked.url.startswith(url) or self.complaints.append(asked.url))
        self.page.goto(url)
        self.page.fill("#name", who)
        self.begin()

    def begin(self) -> None:
        self.page.wait_for_selector("#enter button:enabled")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#head:not([hidden])")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def decide(self, *keys: str) -> None:
        """Press keys that decide, undo or put off, and wait for the answer."""
        with self.page.expect_response(lambda answer: "/api/" in answer.url and "/api/work" not in answer.url):
            self.press(*keys)
        self.page.wait_for_selector("body:not(.busy)")

    def shows(self, selector: str, text: str) -> None:
        playwright.expect(self.page.locator(selector)).to_contain_text(text)

    def style(self, selector: str, name: str) -> str:
        return str(self.page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}"))


@pytest.fixture
def url(run: ReadyRun) -> Iterator[str]:
    with serving(run) as address:
        yield address


@pytest.fixture
def tab(browser: Any, url: str) -> Iterator[Tab]:
    opened = Tab(browser, url, "Ann")
    yield opened
    assert opened.complaints == []
    opened.context.close()


def test_keys_alone_carry_through_the_first_stage(tab: Tab, run: ReadyRun) -> None:
    tab.shows("#texts", EVIL)
    tab.shows("#kind", EVIL)
    assert tab.page.evaluate("window.broken") is None and tab.page.locator("#texts img, #texts script").count() == 0
    tab.press("d")
    tab.shows("#advice", "tick a reason")
    assert decisions(run) == {}, "no drop without a reason"
    tab.press("3", "5", "5", "n")
    tab.page.keyboard.type("kdu 1")
    tab.press("Enter")
    assert tab.page.locator("#reasons :checked").count() == 1, "what is written into the note presses no buttons"
    tab.decide("Enter")
    tab.shows("#told", "Dropped c0")
    tab.shows("#told", "Models: cot quality 4, else 5")
    assert decisions(run)["c0"].reasons == ("not-followed",) and decisions(run)["c0"].votes[0].ballot.note == "kdu 1"
    tab.decide("u")
    tab.shows("#advice", "You had decided: drop")
    assert tab.page.input_value("#note") == "kdu 1" and tab.page.locator("#reasons :checked").count() == 1
    tab.press("k")
    tab.shows("#advice", "take them off")
    tab.press("3")
    tab.decide("k")
    tab.decide("s")  # c1 is put off
    tab.decide("k")
    tab.decide("k")
    assert [name for name, found in decisions(run).items() if found.stage1] == ["c0", "c2", "c3"]
    tab.shows("#texts", "Wait until 1 is over.")
    tab.decide("k")
    tab.shows("#results", "All done")
    tab.shows("#results", "4 of 4 samples decided: 4 kept, 0 dropped.")
    tab.shows("#results", "gamegen real review RUN --stage 2")
    tab.page.click("#results button")
    tab.shows("#texts", "Wait until 1 is over.")
    tab.press("g")
    tab.shows("#results", "3 of 4 samples decided: 3 kept, 0 dropped.")
    tab.press("g")
    tab.shows("#texts", "Wait until 1 is over.")
    assert "c1" not in decisions(run)


def test_views_compare_the_two_pictures(tab: Tab, run: ReadyRun) -> None:
    page, edited = tab.page, "[data-side=edited] .frame"
    assert page.evaluate("Promise.all([...document.images].map((image) => image.decode())).then(() => 'all')") == "all"
    left, right = (page.locator(f"[data-side={side}]").bounding_box() for side in ("original", "edited"))
    assert (
        left["width"] == pytest.approx(right["width"], abs=1)
        and left["width"] > 300
        and left["x"] + left["width"] <= right["x"]
    )
    tab.press("l")
    assert page.get_attribute("button[data-view=slider]", "aria-pressed") == "true"
    before = tab.style(edited, "clipPath")
    tab.press("ArrowRight", "ArrowRight")
    assert page.input_value("#slide") == "58" and tab.style(edited, "clipPath") != before
    tab.press("c")
    assert tab.style("[data-side=edited]", "mixBlendMode") == "difference"
    tab.press("f")
    seen = {tab.style(edited, "opacity") for _ in range(40) if not page.wait_for_timeout(50)}
    assert seen == {"0", "1"}, "it flickers"
    tab.press("b", "+", "+")
    tab.shows("#zoom", "169 %")
    moved = tab.style("[data-side=original] img", "transform")
    assert moved == tab.style("[data-side=edited] img", "transform") != "none"
    tab.press("ArrowLeft")
    assert tab.style("[data-side=original] img", "transform") != moved
    page.mouse.move(left["x"] + 50, left["y"] + 50)
    page.mouse.wheel(0, -300)
    tab.shows("#zoom", "371 %")
    tab.press("0")
    tab.shows("#zoom", "100 %")
    page.keyboard.down("Space")
    assert page.locator(".swapped").count() == 1
    page.keyboard.up("Space")
    assert page.locator(".swapped").count() == 0
    tab.press("?")
    tab.shows("#keys", "hold: show the other picture")
    tab.press("k")
    page.wait_for_timeout(300)
    assert decisions(run) == {}, "no decision behind the list of keys"
    tab.press("Escape")
    assert not page.locator("#keys").is_visible()


def test_corrections_stand_beside_the_original(browser: Any, run: ReadyRun) -> None:
    with serving(run) as url:
        first = Tab(browser, url, "Ann")
        first.decide("k")
        first.decide("k")
        first.context.close()
    with serving(run, stage=2) as url:
        tab = Tab(browser, url, "Ben", scheme="dark")
        assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert tab.page.input_value("#edit-effect") == EVIL
        tab.decide("k")
        tab.press("e")
        tab.page.fill("#edit-effect", "Then it is half past two o'clock.")
        tab.shows(".effect .marks", "Then it is 2 half past two o'clock.")
        assert tab.page.locator(".effect del").text_content() == "2 "
        tab.page.reload()
        tab.begin()
        playwright.expect(tab.page.locator("#edit-effect")).to_have_value("Then it is half past two o'clock.")
        tab.press("r")
        tab.page.fill("#edit-reasoning", "   ")
        tab.press("Control+Enter")
        tab.shows("#advice", "must not be empty")
        tab.page.click(".reasoning .put-back")
        tab.decide("Control+Enter")
        tab.shows("#results", "All done")
        tab.shows("#results", "Reference effect")
        assert tab.complaints == []
        tab.context.close()
    found = decisions(run)
    assert found["c0"].texts == {} and found["c1"].texts == {"effect": "Then it is half past two o'clock."}
    assert found["c1"].corrections["effect"].by == "Ben" and found["c1"].stage2 == "keep"


def test_two_people_see_different_samples_and_their_agreement(browser: Any, run: ReadyRun) -> None:
    with serving(run, votes=2) as url:
        ann, ben = (Tab(browser, url, who) for who in ("Ann", "Ben"))
        for tab, keys in ((ann, "kkk"), (ben, "kkk")):
            for key in keys:
                tab.decide(key)
        ann.decide("k")
        ann.shows("#idle", "Nothing for you now")
        ben.press("2")
        ben.decide("d")
        cem = Tab(browser, url, "Cem")
        cem.decide("k")  # the tie
        cem.shows("#results", "4 of 4 samples decided: 4 kept, 0 dropped.")
        cem.shows("#agreement", "75.0 %")
        cem.shows("#agreement", "-0.143")  # of 8 votes 7 keep: by chance 50/64; (3/4 - 50/64) / (14/64) = -1/7
        assert [tab.complaints for tab in (ann, ben, cem)] == [[], [], []]
        for tab in (ann, ben, cem):
            tab.context.close()


def test_whoever_leaves_gives_back_what_was_held(tab: Tab, url: str) -> None:
    held = {item["key"] for item in post(url, "work", annotator="Ann")["items"]}
    tab.page.goto("about:blank")
    for _ in range(50):
        if held == {item["key"] for item in post(url, "work", annotator="Ben")["items"]}:
            return
        post(url, "leave", annotator="Ben")
        tab.page.wait_for_timeout(100)
    raise AssertionError("what she held went to nobody")


def test_a_sample_stays_with_whoever_is_there(browser: Any, run: ReadyRun) -> None:
    hold = 1.5
    with serving(run, minutes=hold / 60) as url:
        tab = Tab(browser, url, "Ann")
        held = {item["key"] for item in post(url, "work", annotator="Ann")["items"]}
        assert len(held) == 2
        for step in range(6):
            tab.page.mouse.move(300 + step, 300)
            tab.page.wait_for_timeout(1000 * hold / 3)
        assert not held & {item["key"] for item in post(url, "work", annotator="Ben")["items"]}
        post(url, "leave", annotator="Ben")
        tab.page.wait_for_timeout(1000 * 2.5 * hold)
        assert held == {item["key"] for item in post(url, "work", annotator="Ben")["items"]}, "she has gone to lunch"
        tab.context.close()


def test_a_server_that_dies_gets_the_decision_when_it_is_back(browser: Any, run: ReadyRun) -> None:
    port = free_port()
    server, _ = start(run, port=port)
    tab = Tab(browser, f"http://127.0.0.1:{port}", "Ann")
    server.kill()
    server.communicate(timeout=PATIENCE)
    tab.press("k")
    tab.shows("#trouble", "kept here and sent again")
    tab.press("k", "k")
    server, _ = start(run, port=port)
    try:
        tab.shows("#told", "Kept c0")
        playwright.expect(tab.page.locator("#trouble")).to_be_hidden()
        assert list(decisions(run)) == ["c0"], "keys pressed meanwhile decide nothing"
    finally:
        tab.context.close()
        server.terminate()
        server.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling_and_words_can_be_read(browser: Any, url: str, scheme: str) -> None:
    tab = Tab(browser, url, "Ann", width=390, scheme=scheme)
    for press in ([], ["l"], ["d"]):
        tab.press(*press)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    for button in ("#drop", "#keep"):
        box = tab.page.locator(button).bounding_box()
        assert box["height"] >= 44 and box["y"] + box["height"] <= 800, "a thumb's size, and in sight"
    faint = tab.page.evaluate(CONTRAST)
    assert faint == [], "text against its ground, WCAG AA"
    assert tab.complaints == []
    tab.context.close()


CONTRAST = """() => {
  const channel = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const found = [], WORDS = "button:enabled, label, h2, p, figcaption, legend, b, output, input";
  for (const element of document.querySelectorAll(WORDS)) {
    if (!element.checkVisibility() || !element.textContent.trim() && element.tagName !== "INPUT") continue;
    const [one, other] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push(`${element.tagName} ${element.textContent.slice(0, 20)} ${contrast.toFixed(2)}`);
  }
  return found;
}"""


def test_focus_can_be_seen_and_buttons_have_names(tab: Tab) -> None:
    tab.press("Tab")
    assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    unnamed = "[...document.querySelectorAll('button')].filter((b) => !(b.ariaLabel || b.textContent.trim())).length"
    assert tab.page.evaluate(unnamed) == 0
    unlabelled = (
        "[...document.querySelectorAll('input')].filter((i) => !(i.ariaLabel || i.labels.length)).map((i) => i.id)"
    )
    assert tab.page.evaluate(unlabelled) == []
