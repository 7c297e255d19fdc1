"""The report in a real browser: every panel is seen, nothing is loaded, nothing complains, nothing sticks out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import data_folder
from helpers.browser import OUTSIDE, axe_violations, needs_axe
from helpers.reports import HOSTILE, PANELS

import softcondorcet as sc
from softcondorcet.cli.report import server

pytestmark = pytest.mark.browser

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a report at a width and in a colour scheme; afterwards nothing may have been asked for or complained of."""
    contexts, asked, said = [], [], []

    def open_page(html: str, width: int = 1280, scheme: str = "light", javascript: bool = True) -> Any:
        (tmp_path / "report.html").write_text(html, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.goto((tmp_path / "report.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url for url in asked if not url.startswith("data:image/svg+xml,")} == {(tmp_path / "report.html").as_uri()}


@pytest.fixture(scope="module")
def demo() -> str:
    return report_of("demo")


def report_of(name: str) -> str:
    """The report of the demo, or of a real data set where there is one."""
    if name == "demo":
        return sc.report(sc.synthetic.demo(), resamples=50, now=NOW)
    return sc.report(sc.read(f"{data_folder()}/{name}"), resamples=50, now=NOW, source=f"{data_folder()}/{name}")


REAL = [
    "demo",
    pytest.param("helm/helm_lite.csv.gz", marks=pytest.mark.data),
    pytest.param("chatbot_arena/chatbot_arena_20240814_counts.csv", marks=pytest.mark.data),
]


@pytest.mark.parametrize("name", REAL)
def test_every_panel_is_seen_on_a_desk_and_on_a_phone(name: str, opened: Callable[..., Any]) -> None:
    html = report_of(name)
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (360, "dark")):
        page = opened(html, width, scheme)
        for panel in PANELS:
            assert page.locator(f"#{panel} h2").is_visible()
        for panel, drawings in (("intervals", 2), ("head-to-head", 1), ("methods", 1)):
            assert page.locator(f"#{panel} svg:visible").count() == drawings, f"{panel} is drawn once at {width}"
        assert page.evaluate(OUTSIDE) == [], f"at {width}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        style = "getComputedStyle(document.body)"
        colour = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
        assert (colour[0] < colour[1]) == (scheme == "dark") or colour == ["rgb(252, 252, 251)", "rgb(29, 33, 38)"]


def test_drawings_have_their_colours(opened: Callable[..., Any], demo: str) -> None:
    page = opened(demo)
    fill = "e => getComputedStyle(e).fill"
    won, lost = (page.locator(f"#head-to-head .{kind}").first.evaluate(fill) for kind in ("won", "lost"))
    assert {won, lost} == {"rgb(42, 120, 184)", "rgb(217, 130, 43)"}
    assert page.locator("#majority svg:visible .strong .shaft").first.evaluate("e => getComputedStyle(e).stroke") == (
        "rgb(194, 85, 10)"
    )


def test_names_are_seen_as_they_are(opened: Callable[..., Any]) -> None:
    profile = sc.Profile.from_rankings([HOSTILE, HOSTILE[::-1], [*HOSTILE[3:], *HOSTILE[:3]]])
    for width in (1280, 360):
        page = opened(sc.report(profile, resamples=20, now=NOW, title=HOSTILE[0]), width)
        seen = page.locator("#leaderboard").inner_text()
        for name in HOSTILE[:6]:
            assert name in seen
        assert "a\\u202egnp.exe\\x07\\x00" in seen
        assert page.locator("script, img, iframe").count() == 0
        assert page.title() == f"{HOSTILE[0]}: leaderboard report"
        assert page.evaluate(OUTSIDE) == []


def test_it_works_without_javascript(opened: Callable[..., Any], demo: str) -> None:
    page = opened(demo, javascript=False)
    page.locator("#head-to-head summary").click()
    assert page.locator("#head-to-head table.score").is_visible()
    assert "aster" in page.locator("#leaderboard table").inner_text()


def test_it_can_be_walked_by_keyboard(opened: Callable[..., Any], demo: str) -> None:
    page = opened(demo, 360)
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.tagName"))
    assert [f"#{panel}" for panel in [PANELS[0], "groups", *PANELS[1:]]] == reached[: len(PANELS) + 1]
    assert "#agent-cedar" in reached and "SUMMARY" in reached


def test_those_who_cannot_see_it_hear_it(opened: Callable[..., Any], demo: str) -> None:
    page = opened(demo)
    tree = page.locator("body").aria_snapshot()
    for line in (
        'heading "No agent beats all others: cedar, birch and aster beat each other in a circle." [level=1]',
        'heading "Leaderboard" [level=2]',
        'table "The best 11 of 13 agents, best first":',
        'rowheader "aster in the circle"',
        'navigation "Sections":',
    ):
        assert line in tree
    assert tree.count('img "') == 7
    assert 'img "Axis of ratings, from' in tree
    phone = opened(demo, 360).locator("body").aria_snapshot()
    assert 'rowheader "aster in the circle"' in phone, "rows stay rows on a phone"


def test_an_address_unfolds_the_agent_it_names(opened: Callable[..., Any]) -> None:
    names = [f"agent {k:03}" for k in range(400)]
    page = opened(sc.report(sc.Profile.from_rankings([names] * 30), method="borda", methods=("copeland",), resamples=0))
    row = page.locator("#agent-agent-333")
    assert not row.is_visible()
    page.evaluate("location.hash = 'agent-agent-333'")
    row.wait_for(state="visible")
    assert "agent 333" in row.inner_text()


@needs_axe
def test_axe_finds_nothing(chromium: Any, demo: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(demo, encoding="utf-8")
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto((tmp_path / "report.html").as_uri())
        assert axe_violations(page) == [], f"at {width}, {scheme}"
        context.close()


def test_it_prints_in_ink_on_paper(opened: Callable[..., Any], demo: str) -> None:
    page = opened(demo, scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator("nav").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_served_locally_it_asks_for_nothing_more(chromium: Any, demo: str) -> None:
    asked, said = [], []
    with server(demo) as local:
        thread = threading.Thread(target=local.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            page = chromium.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.on("console", lambda message: said.append(message.text))
            page.goto(url := f"http://127.0.0.1:{local.server_port}/", wait_until="networkidle")
            page.close()
        finally:
            local.shutdown()
            thread.join()
    assert [address for address in asked if not address.startswith("data:")] == [url]
    assert said == []
