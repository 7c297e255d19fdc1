"""The live board in a real browser: every panel is seen, pages follow the votes, hostile words run nowhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.boards import Caller, Site, site, until
from helpers.browser import OUTSIDE, axe_violations, needs_axe
from helpers.server_pages import PANELS, tiers_of

from softcondorcet import synthetic

pytestmark = pytest.mark.browser

ALL = ["/", "/agent?name=aster", "/pair?a=aster&b=birch", "/history", "/doctor", "/vote", "/boards"]
SIZES = ((1280, "light"), (1280, "dark"), (390, "light"), (360, "dark"))

# Ways to make a page run something, each with a place for what to run; they are names of agents, voters and groups.
VECTORS = """<script>{}</script>|"><script>{}</script>|'><script>{}</script>|</title><script>{}</script>
</style><script>{}</script>|</textarea><script>{}</script>|--><script>{}</script>|]]><script>{}</script>
<img src=x onerror={}>|"><img src=x onerror="{}">|' onerror='{}' src='x|" onmouseover="{}" x="
' onfocus='{}' autofocus='|<svg onload={}>|<svg><script>{}</script></svg>|<svg/onload="{}">|</svg><img src=x onerror={}>
<math><mi xlink:href="javascript:{}">|<body onload={}>|<iframe src="javascript:{}">
<iframe srcdoc="<script>{}</script>">|<details open ontoggle={}>
<input autofocus onfocus={}>|<select autofocus onfocus={}>|<video><source onerror="{}">|<audio src=x onerror={}>
<a href="javascript:{}">x</a>|javascript:{}|data:text/html,<script>{}</script>|<object data="javascript:{}">
<embed src="javascript:{}">|<form action="javascript:{}"><button>|<base href="javascript:{}//">
<link rel=import href="data:,{}">|<meta http-equiv=refresh content="0;javascript:{}">
<style onload={}></style>|<marquee onstart={}>x</marquee>|<p onclick={}>x|<x contenteditable onfocus={} autofocus>
${{{}}}|{{{{constructor.constructor('{}')()}}}}|{{%raw%}}<script>{}</script>
&lt;script&gt;{}&lt;/script&gt;|&#60;script&#62;{}&#60;/script&#62;
\\u003cscript\\u003e{}\\u003c/script\\u003e|%3Cscript%3E{}%3C/script%3E|<<script>{}//<</script>|<script/x>{}</script>|<ScRiPt>{}</sCrIpT>
<noscript><p title="</noscript><img src=x onerror={}>">|<template><script>{}</script></template>""".replace(
    "\n", "|"
).split("|")
PAYLOADS = [vector.format(run) for run in ("window.ran=1", "window['ran']=2") for vector in VECTORS]


@pytest.fixture(scope="module", name="place")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server whose main board has the votes of the demo and is fitted."""
    with site(str(tmp_path_factory.mktemp("browser") / "board.db"), "--open") as found:
        profile = synthetic.demo()
        names, groups = profile.agents, profile.group
        assert groups is not None
        same = Counter((json.dumps(tiers), int(groups[v])) for v, tiers in enumerate(tiers_of(profile)))
        votes = [
            {
                "ranking": [[names[k] for k in tier] for tier in json.loads(tiers)],
                "group": profile.groups[group],
                "weight": n,
            }
            for (tiers, group), n in same.items()
        ]
        main = found.admin()
        main.vote(*votes)  # at once, so that the first fit sees them all
        samples = [
            {"task": "What is 7 x 8?", "agent": name, "answer": f"It is {50 + k}."} for k, name in enumerate(names[:3])
        ]
        assert main.post("/samples", samples).status == 201
        until(lambda: (main.get("/leaderboard.json")["fit"] or {}).get("n_votes") == len(votes), 180)
        yield found


@pytest.fixture
def opened(chromium: Any, place: Site) -> Iterator[Callable[..., Any]]:
    """Opens a page; afterwards nothing may have left the site, complained, or run that is not ours."""
    contexts: list[Any] = []
    asked: list[str] = []
    said: list[str] = []

    def open_page(path: str, width: int = 1280, scheme: str = "light", javascript: bool = True) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(90_000)  # for a busy machine
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.goto(place.server.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith((f"{place.server.url}/", "data:image/svg+xml,"))] == []


def test_every_panel_is_seen_on_a_desk_and_on_a_phone(opened: Callable[..., Any]) -> None:
    for width, scheme in SIZES:
        page = opened("/", width, scheme)
        for panel in PANELS:
            assert page.locator(f"#{panel} h2").is_visible()
        for panel, drawings in (("intervals", 2), ("head-to-head", 1), ("majority", 1), ("methods", 1)):
            assert page.locator(f"#{panel} svg:visible").count() == drawings, f"{panel} is drawn once at {width}"
        assert page.locator("table.board tbody tr:not(.told)").count() == 13


@pytest.mark.parametrize("path", [*ALL, "/?find=zzz"])
def test_nothing_sticks_out(path: str, opened: Callable[..., Any]) -> None:
    for width, scheme in SIZES:
        page = opened(path, width, scheme)
        assert page.locator("h1").is_visible()
        assert page.evaluate(OUTSIDE) == [], f"at {width}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        style = "getComputedStyle(document.body)"
        dark = page.evaluate(f"{style}.color") == "rgb(228, 231, 234)"
        assert dark == (scheme == "dark")


@needs_axe
@pytest.mark.parametrize("path", [*ALL, "/?group=judge-6&sort=-votes"])
def test_axe_finds_nothing(path: str, opened: Callable[..., Any]) -> None:
    for width, scheme in ((1280, "light"), (360, "dark")):
        page = opened(path, width, scheme)
        assert axe_violations(page) == [], f"{path} at {width}"


def rows(page: Any) -> list[str]:
    shown = page.locator("table.board tbody tr:not(.told):visible")
    names: list[str] = shown.evaluate_all("rows => rows.map(row => row.querySelector('.agent bdi').innerText)")
    return names


def test_the_table_sorts_and_searches_at_once(opened: Callable[..., Any]) -> None:
    page = opened("/")
    first = rows(page)
    page.get_by_role("link", name="Agent", exact=True).click()
    assert rows(page) == sorted(first)
    assert page.url.endswith("?sort=agent")
    page.get_by_role("link", name="Agent", exact=True).click()
    assert rows(page) == sorted(first, reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Agent")
    assert page.locator(".told:visible").count() == 0
    page.get_by_role("link", name="Votes", exact=True).click()
    votes = [int(text.replace(",", "")) for text in page.locator("tbody td.votes").all_inner_texts()]
    assert votes == sorted(votes)
    page.get_by_role("link", name="Rank", exact=True).click()
    assert rows(page) == first
    assert page.locator(".told:visible").count() > 0
    page.keyboard.press("/")
    page.keyboard.type("NEWC")
    assert rows(page) == [name for name in first if name.startswith("newcomer")]
    page.keyboard.type("zzz")
    assert page.locator("[data-none]").is_visible()
    page.keyboard.press("Escape")
    assert rows(page) == first
    page.reload()
    assert rows(page) == first


def test_an_address_is_sorted_by_the_server_as_by_the_page(opened: Callable[..., Any]) -> None:
    page = opened("/?sort=-agent")
    names = rows(page)
    assert names == sorted(names, reverse=True)
    page.get_by_role("link", name="Rank", exact=True).click()
    assert rows(page) == rows(opened("/"))


def test_it_works_without_javascript(opened: Callable[..., Any]) -> None:
    page = opened("/", javascript=False)
    first = rows(page)
    page.get_by_role("link", name="Agent", exact=True).click()
    assert rows(page) == sorted(first)
    page.locator("[name=find]").fill("newc")
    page.get_by_role("button", name="Show").click()
    assert rows(page) == ["newcomer-1", "newcomer-2"]
    page.get_by_role("link", name="newcomer-1", exact=True).click()
    assert page.locator("h1").inner_text() == "newcomer-1"
    page.locator("#met a").first.click()
    assert "newcomer" in page.locator("h1").inner_text()


def test_it_can_be_walked_by_keyboard(opened: Callable[..., Any]) -> None:
    page = opened("/")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.tagName"))
    assert reached[0] == "#main"
    assert reached[1:7] == ["./", "./", "history", "doctor", "vote", "boards"]
    assert {"INPUT", "SUMMARY", "BUTTON", "agent?name=aster"} <= set(reached)
    assert not any(where.startswith("pair?") for where in reached), "nobody walks through all cells of a heat map"


def test_a_page_follows_the_votes(opened: Callable[..., Any], place: Site) -> None:
    board = place.new_board()
    board.vote({"ranking": ["old", "older"]})
    page = opened(f"/boards/{board.board}/")
    page.get_by_role("link", name="Votes", exact=True).click()
    page.locator("#head-to-head summary").click()
    before = page.evaluate("performance.timeOrigin")
    board.vote({"ranking": ["fresh", "old", "older"]})
    page.locator("table.board", has_text="fresh").wait_for(timeout=20_000)
    assert page.evaluate("performance.timeOrigin") == before, "it was not loaded again"
    votes = [int(text) for text in page.locator("tbody td.votes").all_inner_texts()]
    assert votes == sorted(votes), "still sorted as it was"
    assert page.locator("#head-to-head details").get_attribute("open") is not None
    page.get_by_role("button", name="Pause updates").click()
    board.vote({"ranking": ["later", "old"]})
    page.wait_for_timeout(5000)
    assert "later" not in rows(page)
    page.get_by_role("button", name="Follow the board").click()
    page.locator("table.board", has_text="later").wait_for(timeout=20_000)


def test_a_cell_of_the_heat_map_leads_to_the_pair(opened: Callable[..., Any]) -> None:
    page = opened("/")
    page.locator("#head-to-head .wide svg a").first.click()
    page.wait_for_url("**/pair?**")
    assert "beats" in page.locator("h1").inner_text()


def test_a_blind_vote_is_cast_by_keyboard_and_names_come_after(opened: Callable[..., Any], place: Site) -> None:
    before = place.admin().get("/leaderboard.json")["n_votes"]
    page = opened("/vote")
    page.locator("#match").wait_for()
    page.locator("button[data-winner]:enabled").first.wait_for()
    shown = page.locator("main").inner_text()
    assert "What is 7 x 8?" in shown
    assert not any(name in shown for name in synthetic.demo().agents)
    page.keyboard.press("1")
    page.locator("#said", has_text="Your vote counts").wait_for()
    told = page.locator("#said").inner_text()
    answers = {f"It is {50 + k}.": name for k, name in enumerate(synthetic.demo().agents[:3])}
    a, b = (answers[page.locator(f"#{side}").inner_text()] for side in "ab")
    assert told == f"Your vote counts. A was {a}, B was {b}."
    assert place.admin().get("/leaderboard.json")["n_votes"] == before + 1
    page.keyboard.press("Enter")
    page.locator("button[data-winner]:enabled").first.wait_for()
    page.get_by_role("button", name="Both bad").click()
    page.locator("#said", has_text="Your vote counts").wait_for()
    assert place.admin().get("/leaderboard.json")["n_votes"] == before + 2


def test_a_blind_vote_is_cast_without_a_script(opened: Callable[..., Any], place: Site) -> None:
    before = place.admin().get("/leaderboard.json")["n_votes"]
    page = opened("/vote", javascript=False)
    assert page.locator("#task").inner_text() == "What is 7 x 8?"
    assert not page.locator("#choices").is_visible()
    page.get_by_label("B is better").check()
    page.get_by_role("button", name="Vote", exact=True).click()
    page.locator("#said", has_text="Your vote counts").wait_for()
    assert place.admin().get("/leaderboard.json")["n_votes"] == before + 1
    assert page.get_by_label("B is better").is_visible()  # the next pair


def test_the_payloads_would_run_on_a_careless_page(chromium: Any) -> None:
    """Else that none runs on ours would say nothing."""
    page = chromium.new_page()
    ran = 0
    for payload in PAYLOADS[: len(VECTORS)]:
        page.goto("about:blank")
        page.set_content(f"<!doctype html><p>{payload}</p>")
        page.wait_for_timeout(20)
        ran += bool(page.evaluate("window.ran"))
    page.close()
    assert ran > len(VECTORS) // 3


@pytest.fixture(name="hostile")
def _hostile(place: Site) -> Caller:
    """A board all of whose words are payloads."""
    board = place.new_board()
    n = len(PAYLOADS)
    board.vote(
        *(
            {"ranking": [PAYLOADS[k], PAYLOADS[(k + 1) % n], PAYLOADS[(k + 7) % n]], "voter": word, "group": word}
            for k, word in enumerate(PAYLOADS)
        )
    )
    samples = [
        {"task": word, "agent": PAYLOADS[(k + s) % n], "answer": word * 2}
        for s in (0, 1)
        for k, word in enumerate(PAYLOADS)
    ]
    assert board.post("/samples", samples).status == 201
    return board


def test_no_payload_runs(opened: Callable[..., Any], hostile: Caller) -> None:
    assert len(PAYLOADS) >= 100
    base = f"/boards/{hostile.board}"
    page = opened(f"{base}/")
    assert sorted(rows(page)) == sorted(" ".join(payload.split()) for payload in PAYLOADS)
    assert page.evaluate("window.ran") is None
    for k, payload in enumerate(PAYLOADS):
        query = [f"/agent?{urlencode({'name': payload})}", f"/pair?{urlencode({'a': payload, 'b': PAYLOADS[k - 1]})}"][
            k % 2
        ]
        page.goto(f"{hostile.server.url}{base}{query}")
        assert page.evaluate("window.ran") is None, payload
        assert payload in page.locator("h1").inner_text()
    for where in ("/history", "/doctor", f"/?{urlencode({'find': PAYLOADS[1]})}"):
        page.goto(f"{hostile.server.url}{base}{where}")
        assert page.evaluate("window.ran") is None, where


def test_no_answer_runs_on_the_page_where_people_vote(opened: Callable[..., Any], hostile: Caller) -> None:
    page = opened(f"/boards/{hostile.board}/vote")
    for _ in range(12):
        page.locator("button[data-winner]:enabled").first.wait_for()
        assert page.locator("#task").inner_text() in [" ".join(payload.split()) for payload in PAYLOADS]
        page.keyboard.press("3")
        page.locator("#said", has_text="Your vote counts").wait_for()
        page.wait_for_timeout(20)
        assert page.evaluate("window.ran") is None
        page.keyboard.press("Enter")


def test_an_address_runs_nothing(chromium: Any, place: Site) -> None:
    """Pages that tell what was wrong with an address say it in words; a browser complains of their status."""
    page = chromium.new_page()
    for payload in PAYLOADS[:: len(PAYLOADS) // 12]:
        for query in ({"since": payload}, {"sort": payload}):
            page.goto(f"{place.server.url}/?{urlencode(query)}")
            assert page.evaluate("window.ran") is None, payload
            assert "expected" in page.locator("h1").inner_text()
        page.goto(f"{place.server.url}/agent?{urlencode({'name': payload})}")
        assert page.evaluate("window.ran") is None, payload
    page.close()


def test_it_prints_in_ink_on_paper(opened: Callable[..., Any]) -> None:
    page = opened("/", scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("form.filters").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_events_say_that_there_is_something_new(opened: Callable[..., Any]) -> None:
    page = opened("/doctor")
    said = page.evaluate(
        "new Promise(done => { const e = new EventSource('events'); "
        "e.addEventListener('snapshot', m => { e.close(); done(m.data); }); })"
    )
    assert json.dumps(said) == json.dumps(page.evaluate("document.body.dataset.snapshot"))
