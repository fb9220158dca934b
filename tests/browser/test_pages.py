"""report.html in a real Chromium: it opens, asks for nothing, says nothing on the console, fits a phone."""

import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from pages import comparison, documents, evaluation
from shown import ROOT, blocks, problems_of

from gitleaks_eval.judges.pairwise.panel import ORDERS, agreed
from gitleaks_eval.judges.pairwise.verdict import Order
from gitleaks_eval.reports.html.pages import comparison_page, run_page, trend_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NODES_AT_MOST = 20_000
PICTURES = ROOT / "docs/pictures"
NAMES = ("run", "comparison", "trend")
# Those of the pages that docs/ shows as they are; of the others it shows real runs.
SHOWN = ("trend",)
_SCHEMES: dict[str, Literal["light", "dark"]] = {"light": "light", "dark": "dark"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of each kind, as files."""
    made = tmp_path_factory.mktemp("pages")
    pieces = (run_page(evaluation()), comparison_page(*comparison()), trend_page(documents()))
    for name, one in zip(NAMES, pieces, strict=True):
        (made / f"{name}.html").write_bytes(b"".join(one))
    (made / "large.html").write_bytes(b"".join(run_page(evaluation(findings=100_000, scenarios=1_100))))
    return made


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """The Chromium on PATH."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "there is no chromium on PATH; install it (Debian: apt install chromium)"
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - installed for `nox -s screenshots` alone

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: "Browser", path: Path, *, width: int = 1200, scheme: str = "light", script: bool = True) -> "Page":
    """A page that is open, and has asked for nothing and said nothing."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=_SCHEMES[scheme], java_script_enabled=script
    )
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    assert heard == []
    return page


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_a_page_opens_from_disk_asks_for_nothing_and_fits(
    chromium: "Browser", folder: Path, name: str, width: int, scheme: str
) -> None:
    page = opened(chromium, folder / f"{name}.html", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width > 1000 and name in SHOWN:
        PICTURES.mkdir(exist_ok=True)
        page.screenshot(path=PICTURES / f"{name}{'-dark' if scheme == 'dark' else ''}.png")


def test_the_picture_of_the_tutorial_is_of_the_run_that_it_shows(chromium: "Browser", tmp_path: Path) -> None:
    assert problems_of(ROOT / "docs/tutorial.md", tmp_path / "work") == []
    for name, scheme in (("tutorial", "light"), ("tutorial-dark", "dark")):
        page = opened(chromium, tmp_path / "work/gitleaks-eval-results/report.html", scheme=scheme)
        assert "16 of 17" in page.inner_text("body")
        page.screenshot(path=PICTURES / f"{name}.png")


def test_the_picture_of_the_upgrade_is_of_the_comparison_that_it_shows(chromium: "Browser", tmp_path: Path) -> None:
    (shown, *_) = (block for block in blocks(ROOT / "docs/upgrade.md") if block.is_run)
    page_of_one = tmp_path / "upgrade.md"
    page_of_one.write_text(f"```console\n{shown.text}```\n", encoding="utf-8")
    assert problems_of(page_of_one, tmp_path / "work") == []
    for name, scheme in (("comparison", "light"), ("comparison-dark", "dark")):
        page = opened(chromium, tmp_path / "work/gitleaks-eval-results/report.html", scheme=scheme)
        assert page.locator("h1").inner_text() == "REVIEW 8.30.1 against 8.18.4"
        page.screenshot(path=PICTURES / f"{name}.png")


def test_on_paper_everything_that_is_folded_is_there(chromium: "Browser", folder: Path) -> None:
    context = chromium.new_context(viewport={"width": 800, "height": 1100})
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto((folder / "run.html").as_uri())
    hidden = "e => !e.checkVisibility({ contentVisibilityAuto: true })"
    assert page.evaluate(f"[...document.querySelectorAll('li, td, th')].filter({hidden}).length") == 0


def test_a_link_to_one_item_opens_what_it_is_folded_in(chromium: "Browser", folder: Path) -> None:
    page = opened(chromium, folder / "run.html")
    (link, *_) = page.locator("details:not([open]) li > a").all()
    target = link.get_attribute("href")
    assert target
    page.goto(f"{(folder / 'run.html').as_uri()}{target}")
    assert page.locator(target).is_visible()


def test_a_long_word_of_a_judge_or_a_path_widens_no_phone(chromium: "Browser", tmp_path: Path) -> None:
    compared, reports = comparison()
    word = "deploy/id_rsa" * 12
    orders = [Order(name, 1, confidence=1.0, reasoning=word, evidence_cited=(word,)) for name in ORDERS]
    compared["pairs"][0] |= {"judge": replace(agreed(orders), mode="llm").as_json(), "rules_lost": [word]}
    path = tmp_path / "judged.html"
    path.write_bytes(b"".join(comparison_page(compared, reports)))
    page = opened(chromium, path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", NAMES)
def test_without_javascript_all_content_is_readable(chromium: "Browser", folder: Path, name: str) -> None:
    page = opened(chromium, folder / f"{name}.html", script=False)
    assert not page.locator("#filter").is_visible()
    for details in page.locator("details").all():
        if not details.evaluate("one => one.open") and details.is_visible():
            details.locator("summary").first.click()
    hidden = page.locator("[data-item]:not(:visible)").count()
    assert hidden == 0


def test_the_state_of_the_filter_stands_in_the_address(chromium: "Browser", folder: Path) -> None:
    page = opened(chromium, folder / "run.html")
    page.fill("input[name=q]", "src/a.py")
    page.check("input[name=bad]")
    assert page.url.endswith("#q=src%2Fa.py&bad=1")
    shown = page.locator("[data-item]:not(.away)").count()
    assert 0 < shown < page.locator("[data-item]").count()
    again = opened(chromium, folder / "run.html")
    again.goto(f"{page.url}")
    again.reload()
    assert again.locator("[data-item]:not(.away)").count() == shown
    assert again.locator("input[name=bad]").is_checked()


def test_the_page_is_used_by_keyboard_alone(chromium: "Browser", folder: Path) -> None:
    page = opened(chromium, folder / "run.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") in {"INPUT", "SUMMARY", "A"}


def test_text_has_the_contrast_that_people_need(chromium: "Browser", folder: Path) -> None:
    script = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
    for scheme in _SCHEMES:
        page = opened(chromium, folder / "run.html", scheme=scheme)
        assert page.evaluate(script) == []


def test_a_hundred_thousand_findings_open(chromium: "Browser", folder: Path) -> None:
    empty = folder / "empty.html"
    empty.write_bytes(b"<!DOCTYPE html><h1>FAIL</h1><!--" + b"x" * (folder / "large.html").stat().st_size + b"-->")
    for path in (empty, folder / "large.html"):
        page = chromium.new_context(viewport={"width": 1200, "height": 900}).new_page()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        start = time.monotonic()
        page.goto(path.as_uri())
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        took = time.monotonic() - start
        figures = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        # Promised are 2 s: figures that -rP shows, since a machine that is busy must not make it red.
        sys.stdout.write(f"{path.stem}: open in {took:.2f} s, busy for {figures['TaskDuration']:.2f} s\n")
        assert page.locator("h1").inner_text().startswith("FAIL")
    # What takes the time: three seconds at 85,000.
    assert figures["Nodes"] < NODES_AT_MOST
