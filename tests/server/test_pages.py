"""Pages of a live board: the same numbers as the data, words that stay words, made once, and sent as they should be."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import profiles, tennessee, three_cycle
from helpers.boards import Caller, Site, site, until
from helpers.reports import HOSTILE, Page
from helpers.server_pages import PANELS, tiers_of
from hypothesis import given, settings

from softcondorcet import Profile
from softcondorcet.formatting import percent
from softcondorcet.server.ledger import fit_process
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.limits import LONGEST
from softcondorcet.server.ledger.snapshot import Fit, Snapshot
from softcondorcet.server.ledger.writer import Entry
from softcondorcet.server.web import content, page_cache, views
from softcondorcet.server.web.page_cache import PageCache, pack
from softcondorcet.server.web.page_query import SORTS, BadAddress, PageQuery, parse


def board_of(profile: Profile, found: dict[str, Any] | None = None) -> Board:
    """A board with these votes, and a fit of them that found this."""
    board = Board(1, "main", "A board")
    entries = []
    for v, tiers in enumerate(tiers_of(profile)):
        group = profile.groups[profile.group[v]] if profile.group is not None else None
        weight = round(float(profile.weight[v]) * 1e6)
        entries.append(Entry(v + 1, 1, "vote", 1e9 + v, None, None, group, weight, None, tiers))
    fit = None if found is None else Fit(1, len(entries), 1e9 + len(entries), found)
    board.replay(entries, list(profile.agents), fit)
    return board


def plain_fit(profile: Profile) -> dict[str, Any]:
    """What a fit finds at least."""
    return {"values": [float(k) for k in range(profile.n_agents)], "n_votes": profile.n_votes}


def html(seen: Snapshot, template: str, view: dict[str, Any] | None) -> str:
    assert view is not None
    return page_cache.html(template, about=content.about(seen), root="", twin="x.json", begin="http://h/", v=view)


def board_page(board: Board, what: PageQuery | None = None) -> str:
    seen = board.snapshot()
    return html(seen, "board.html", views.board(seen, None, board.votes.groups.names, what or PageQuery()))


def all_pages(board: Board) -> list[str]:
    seen, past = board.snapshot(), [board.fit] if board.fit else []
    names = seen.ratings.agents
    return [
        board_page(board),
        html(seen, "history.html", views.history(seen, [*past, *past])),
        html(seen, "doctor.html", views.doctor(seen)),
        *(html(seen, "agent.html", views.agent(seen, name, [*past, *past])) for name in names[:4]),
        *(html(seen, "pair.html", views.pair(seen, names[0], name)) for name in names[1:4]),
    ]


@pytest.fixture(scope="module", name="demo")
def _demo() -> Board:
    """A board with all that a fit can find."""
    import softcondorcet as sc

    profile = sc.synthetic.demo()
    return board_of(profile, fit_process.analyse(profile, 20))


class Table(HTMLParser):
    """The cells of the leaderboard as text, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in = False
        start = page.index("<table")
        self.feed(page[start : page.index("</table>", start)])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in = True

    def handle_endtag(self, tag: str) -> None:
        self._in = self._in and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in:
            self.rows[-1][-1] += data


def cells(page: str) -> list[list[str]]:
    """Rows of agents, without the head and what is told about tie groups."""
    return [[" ".join(cell.split()) for cell in row] for row in Table(page).rows[1:] if len(row) > 1]


# What pages say.


def test_the_table_has_the_numbers_of_the_data(demo: Board) -> None:
    rows = content.leaderboard(demo.snapshot())["rows"]
    shown = cells(board_page(demo))
    assert len(shown) == len(rows) == 13
    for row, (rank, agent, rating, _, chance, votes) in zip(rows, shown, strict=True):
        ends = (
            f"{row['rank_low']}\u2013{row['rank_high']}" if row["rank_low"] < row["rank_high"] else str(row["rank_low"])
        )
        assert rank == (f"{row['rank']} {ends}" if row["rank"] else "")
        assert (row["rank"] is None) == (row.get("unplaced") is not None) == agent.startswith("newcomer")
        assert agent.split()[0] == row["agent"]
        assert ("provisional" in agent) == row["provisional"]
        assert rating == f"{row['rating']:,.0f} {row['rating_low']:,.0f} to {row['rating_high']:,.0f}"
        assert chance == (percent(row["win_chance"], 1) if row["win_chance"] is not None else "")
        assert votes == f"{row['votes']:,.0f}"


def test_every_panel_is_there_and_says_what_was_found(demo: Board) -> None:
    page = board_page(demo)
    for panel in PANELS:
        assert page.count(f'<section id="{panel}"') == 1
    found = demo.fit.analysis  # type: ignore[union-attr]
    text = Page(page).text
    for words in (
        found["sure"],
        found["summary"],
        *found["robust"]["lines"],
        *found["moves"],
        found["findings"][0]["text"],
    ):
        assert " ".join(words.split()) in text
    assert text.count("cannot be told apart") >= len(found["tie_groups"])
    assert len(re.findall('class="drawing (?!bar)', page)) == 10, "five drawings at two widths"
    assert page.count('class="drawing bar"') == 12, "a bar for each of 11 ranked agents, and the axis"


def test_cells_of_the_heat_map_lead_to_pairs(demo: Board) -> None:
    seen = demo.snapshot()
    page = board_page(demo)
    links = set(re.findall(r'href="pair\?([^"]*)"', page))
    pairs = {tuple(value for _, value in parse_qsl(link.replace("&amp;", "&"))) for link in links}
    met = {
        (seen.ratings.agents[i], seen.ratings.agents[j]) for i, j in zip(seen.pairs.left, seen.pairs.right, strict=True)
    }
    placed = {pair for pair in met if not any(name.startswith("newcomer") for name in pair)}
    assert pairs == placed | {(b, a) for a, b in placed}


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (tennessee(), "Nashville beats every other agent head to head"),
        (three_cycle(), "No agent beats all others: C, A and B beat each other in a circle."),
    ],
)
def test_the_answer_is_that_of_the_pairs(profile: Profile, words: str) -> None:
    assert words in Page(board_page(board_of(profile))).text


def test_votes_since_the_fit_are_told() -> None:
    profile = tennessee()
    found = {**plain_fit(profile), "sure": "It is sure.", "sure_word": "settled"}
    board = board_of(profile, found)
    assert "Fitted" in board_page(board)
    assert "came since" not in board_page(board)
    board.tell([Entry(99, 1, "vote", 2e9, None, None, None, 10**6, None, [[4], [0]])], ["Newville"])
    text = Page(board_page(board)).text
    assert "1 vote came since" in text
    assert "At the last fit: It is sure." in text
    row = next(row for row in cells(board_page(board)) if row[1].startswith("Newville"))
    assert "provisional" in row[1], "no fit knows it"


def test_an_empty_board_says_how_to_begin() -> None:
    page = board_page(Board(1, "main", "A board"))
    assert "http://h/votes" in page
    assert "<table" not in page


def test_rows_can_be_chosen_and_sorted(demo: Board) -> None:
    rows = content.leaderboard(demo.snapshot())["rows"]

    def agents(**what: Any) -> list[str]:
        return [row[1].split()[0] for row in cells(board_page(demo, PageQuery(**what)))]

    names = [row["agent"] for row in rows]
    assert agents() == names
    assert agents(sort="agent") == sorted(names)
    assert agents(sort="-agent") == sorted(names)[::-1]
    votes = {row["agent"]: row["votes"] for row in rows}
    assert [votes[name] for name in agents(sort="-votes")] == sorted(votes.values(), reverse=True)
    assert agents(find="NEWC") == [name for name in names if name.startswith("newcomer")]
    assert agents(top=5) == names[:5]
    assert "Show all 13 agents" in board_page(demo, PageQuery(top=5))
    assert "Show all" not in board_page(demo)


def test_some_votes_stand_beside_all_of_them() -> None:
    everyone, some = board_of(tennessee()).snapshot(), board_of(tennessee(), plain_fit(tennessee())).snapshot()
    view = views.board(some, everyone, ["g"], PageQuery(group="g"))
    moved = {row[1].split()[0]: row[5] for row in cells(html(some, "board.html", view))}
    for name, told in moved.items():
        here, overall = some.ratings.rank_of(name), everyone.ratings.rank_of(name)
        sign = "" if here == overall else f" {'▲' if overall > here else '▼'}{abs(overall - here)}"
        assert told == f"{overall}{sign}"
    assert {told[-2:-1] for told in moved.values()} >= {"▲", "▼"}


def test_an_agent_and_a_pair_say_who_beat_whom(demo: Board) -> None:
    seen = demo.snapshot()
    assert demo.fit is not None
    later = replace(demo.fit, made=demo.fit.made + 600)
    page = html(seen, "agent.html", views.agent(seen, "aster", [demo.fit, later]))
    told = content.agent(seen, "aster", [demo.fit])
    assert told is not None
    shown = cells(page[page.index('id="met"') :])
    assert [(row[0], row[1], row[2]) for row in shown] == [
        (str(other["rank"]), other["agent"], f"{other['wins']:g}") for other in told["met"]
    ]
    assert page.count('class="drawing timeline') == 2
    won = content.pair(seen, "aster", "birch")
    assert won is not None
    text = Page(html(seen, "pair.html", views.pair(seen, "aster", "birch"))).text
    assert f"aster beats birch by {won['wins'] - won['losses']:g}." in text
    assert views.pair(seen, "aster", "aster") is None
    assert views.agent(seen, "nobody", []) is None


def test_history_tells_the_order_of_each_fit() -> None:
    profile = tennessee()
    board = board_of(profile)
    fits = [
        Fit(k, 4, 1e9 + 600 * k, {"values": values, "n_votes": k})
        for k, values in enumerate(([4, 3, 2, 1], [1, 2, 3, 4]), 1)
    ]
    seen = board.snapshot()
    page = html(seen, "history.html", views.history(seen, fits))
    agents = list(seen.ratings.agents)
    rows = cells(page[page.index('id="fits"') :])
    assert [row[2] for row in rows] == [", ".join(agents[:0:-1]), ", ".join(agents[:3])]
    names, ranks = views.ranks_over_time(seen, fits)
    assert names == agents[::-1]
    assert ranks == [[4, 1], [3, 2], [2, 3], [1, 4]]


# Names are hostile input.


def check_harmless(page: str) -> None:
    """Nothing that runs, loads or styles but our own two files; every link stays on the site."""
    seen = Page(page)
    assert not {"iframe", "img", "object", "embed", "style", "base", "meta-refresh"} & set(seen.tags)
    assert seen.tags["script"] <= 1
    assert seen.tags["link"] == 2
    for tag, name, value in seen.attributes:
        assert not name.startswith("on"), f"{tag} {name}"
        assert name != "style", "the policy forbids it"
        if name in ("href", "src", "action", "formaction") and not value.startswith("data:image/svg+xml,<svg"):
            parts = urlsplit(value)
            assert not parts.scheme and not parts.netloc and not value.startswith("/"), value
    assert seen.text.isprintable()


def test_hostile_names_stay_names() -> None:
    names = [name[:LONGEST] for name in HOSTILE]
    profile = Profile.from_rankings([names, names[::-1], [*names[3:], *names[:3]]])
    profile = profile.with_groups(np.arange(3), names[:3])
    words = {"text": names[0], "advice": names[2], "severity": "note", "name": "x"}
    found = {**plain_fit(profile), "findings": [words], "sure": names[2], "sure_word": "open", "moves": names[:3]}
    found |= {"methods": {t: {str(k): k + 1 for k in range(len(names))} for t in names[:2]}, "level": 0.95}
    for page in all_pages(board_of(profile, found)):
        check_harmless(page)
    text = Page(board_page(board_of(profile, found))).text
    for name in names[:6]:
        assert " ".join(name.split()) in text


@settings(max_examples=25)
@given(
    profiles(max_agents=5, max_votes=6), st.lists(st.text(min_size=1, max_size=30), min_size=7, max_size=7, unique=True)
)
def test_any_votes_and_names_make_pages(profile: Profile, names: Sequence[str]) -> None:
    profile = replace(profile, agents=tuple(names[: profile.n_agents]))
    for board in (board_of(profile), board_of(profile, plain_fit(profile))):
        pages = all_pages(board)
        for page in pages:
            check_harmless(page)
        assert len(cells(pages[0])) == profile.n_agents


@settings(max_examples=60)
@given(
    st.builds(
        PageQuery,
        group=st.none() | st.text(min_size=1, max_size=LONGEST),
        since=st.none() | st.integers(0, 10**10).map(float),
        until=st.none() | st.integers(0, 10**10).map(float),
        find=st.text(max_size=LONGEST),
        sort=st.sampled_from([*SORTS, *(f"-{sort}" for sort in SORTS)]),
        top=st.integers(1, 10**5),
    )
)
def test_an_address_says_what_was_asked(what: PageQuery) -> None:
    query = dict(parse_qsl(urlsplit(what.address()).query, keep_blank_values=True, strict_parsing=what != PageQuery()))
    assert parse(query) == what
    data = dict(parse_qsl(urlsplit(what.data("leaderboard.json")).query))
    assert set(data) <= {"group", "since", "until"}


def test_times_are_understood_as_people_write_them() -> None:
    assert parse({"since": "2026-01-31"}).since == parse({"since": "2026-01-31T00:00"}).since == 1769817600.0
    assert parse({"since": "2026-01-31T01:00+01:00"}).since == 1769817600.0
    assert parse({"since": "1769817600"}).since_local == "2026-01-31T00:00"
    assert parse({"since": "", "group": "", "find": "", "sort": "", "top": ""}) == PageQuery()


@pytest.mark.parametrize(
    "query",
    [
        *({"since": text} for text in ("yesterday", "-1", "nan", "inf", "1e30", "9999-99-99")),
        *({"top": text} for text in ("0", "-1", "x", "1e3", "9" * 5000, "²")),
        {"sort": "price"},
        {"until": "<b>"},
    ],
)
def test_an_address_that_cannot_be_understood_says_why(query: dict[str, str]) -> None:
    with pytest.raises(BadAddress, match=f"{next(iter(query))}: expected"):
        parse(query)


# Made once.


def run_cache(work: Any, **options: Any) -> Any:
    return asyncio.run(work(PageCache(**options)))


def test_a_page_is_made_once_for_what_it_shows() -> None:
    made = count(1)

    async def make() -> tuple[str, str]:
        await asyncio.sleep(0.01)
        number = next(made)
        return f"page {number}", f"tag {number}"

    async def work(pages: PageCache) -> None:
        first = await asyncio.gather(*(pages.page("a", "1", make) for _ in range(20)))
        assert {page.etag for page in first} == {"tag 1"}
        assert gzip.decompress((await pages.page("a", "1", make)).packed) == b"page 1"
        assert gzip.decompress((await pages.page("a", "2", make)).packed) == b"page 2", "the board has changed"
        assert gzip.decompress((await pages.page("b", "2", make)).packed) == b"page 3", "another page"

    run_cache(work)
    assert next(made) == 4


def test_while_a_page_is_made_others_get_the_one_before() -> None:
    async def work(pages: PageCache) -> None:
        release = asyncio.Event()

        async def slow() -> tuple[str, str]:
            await release.wait()
            return "new", "tag"

        async def quick() -> tuple[str, str]:
            return "old", "tag"

        old = await pages.page("a", "1", quick)
        waiting = asyncio.create_task(pages.page("a", "2", slow))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(pages.page("a", "2", slow), 5) is old
        release.set()
        assert gzip.decompress((await waiting).packed) == b"new"

    run_cache(work)


def test_pages_are_not_made_all_the_time() -> None:
    clock = [0.0]

    async def work(pages: PageCache) -> list[bytes]:
        made = count(1)

        async def make() -> tuple[str, str]:
            clock[0] += 0.4  # seconds that it takes
            return str(next(made)), "tag"

        found = []
        for version in range(6):
            found.append(gzip.decompress((await pages.page("a", str(version), make)).packed))
        clock[0] += 5.0
        found.append(gzip.decompress((await pages.page("a", "7", make)).packed))
        return found

    # A second at once is two of 0.4 s after the first; then the one before, until a tenth of the time is 0.4 s again.
    assert run_cache(work, clock=lambda: clock[0]) == [b"1", b"2", b"3", b"3", b"3", b"3", b"4"]


def test_what_went_wrong_is_tried_again() -> None:
    async def bad() -> tuple[str, str]:
        raise ValueError("no")

    async def good() -> tuple[str, str]:
        return "yes", "tag"

    async def work(pages: PageCache) -> None:
        with pytest.raises(ValueError, match="no"):
            await pages.page("a", "1", bad)
        assert gzip.decompress((await pages.page("a", "1", good)).packed) == b"yes"

    run_cache(work)


def test_pages_that_are_kept_have_a_bound() -> None:
    made = list[int]()

    async def work(pages: PageCache) -> None:
        async def ask(k: int) -> None:
            async def make() -> tuple[str, str]:
                made.append(k)
                return str(k), "tag"

            await pages.page(k, "1", make)

        for k in range(200):
            await ask(k)
            assert pages.bytes <= 1000
        kept = len(pages)
        for k in range(199, 199 - kept, -1):  # the newest are there
            await ask(k)
        assert made == list(range(200)) and 10 < kept < 200
        await ask(0)
        assert made[-1] == 0

    run_cache(work, most=1000)


def test_a_page_of_500_agents_is_small() -> None:
    rng = np.random.default_rng(0)
    names = [f"company-{k % 40}/model-{k:03d}-{rng.integers(1, 400)}b-instruct" for k in range(500)]
    profile = Profile.from_rankings([[names[k] for k in rng.permutation(500)] for _ in range(20)])
    ends = {"rating_low": rng.random(500).tolist(), "rating_high": (50 + rng.random(500)).tolist(), "level": 0.95}
    ranks = {
        "rank_low": [1] * 500,
        "rank_high": [500] * 500,
        "tie_groups": [list(range(k, k + 10)) for k in range(0, 500, 10)],
    }
    methods = {t: {str(k): k + 1 for k in range(500)} for t in ("SCO", "Elo", "Kemeny", "Copeland", "Bradley-Terry")}
    page = board_page(board_of(profile, {**plain_fit(profile), **ends, **ranks, "methods": methods}))
    assert page.count("company-") > 2000
    assert len(pack(page.encode())) < 100_000, "300,000 is promised"


# Over a real server.


@pytest.fixture(scope="module", name="place")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(str(tmp_path_factory.mktemp("pages") / "board.db"), "--open") as found:
        yield found


@pytest.fixture(scope="module", name="voted")
def _voted(place: Site) -> Caller:
    """A board on which x beats y beats z in one group, and z beats all in another."""
    board = place.new_board()
    board.vote(*[{"ranking": ["x", "y", "z"], "group": "one"}] * 5, *[{"ranking": ["z", "y", "x"], "group": "two"}] * 2)
    return board


def text_of(board: Caller, path: str, status: int = 200, **query: Any) -> str:
    found = board.ask(path, **query)
    assert found.status == status, found
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in found.headers["content-security-policy"]
    return found.body.decode()


@pytest.mark.parametrize("path", ["/", "/agent?name=x", "/pair?a=x&b=y", "/history", "/doctor"])
def test_every_page_is_sent_as_it_should(voted: Caller, path: str) -> None:
    plain = voted.ask(path)
    assert plain.status == 200
    check_harmless(plain.body.decode())
    packed = voted.ask(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    again = voted.ask(path, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert voted.ask(path, method="HEAD").status == 200
    assert voted.ask(path, method="HEAD").body == b""
    for twin in re.findall(r'<dd><a href="([^"]*\.json[^"]*)"', plain.body.decode()):
        assert voted.get("/" + twin.replace("&amp;", "&"))["snapshot"]


def test_a_vote_is_seen_at_once(place: Site) -> None:
    board = place.new_board()
    before = board.ask("/")
    board.vote({"ranking": ["first", "second"]})
    after = board.ask("/", headers={"If-None-Match": before.headers["etag"]})
    assert after.status == 200
    assert [row[1].split()[0] for row in cells(after.body.decode())] == ["first", "second"]


def test_links_and_files_are_found_from_every_page(voted: Caller, place: Site) -> None:
    base = f"/boards/{voted.board}/"
    seen = set()
    for path in ("/", "/agent?name=x", "/history", "/nothing-of-this"):
        page = voted.ask(path).body.decode() if path != "/nothing-of-this" else place.ask("/boards").body.decode()
        start = base + path[1:] if path != "/nothing-of-this" else "/boards"
        for _, name, value in Page(page).attributes:
            if name in ("href", "src") and not value.startswith(("data:", "#")):
                seen.add(urljoin(start, value))
    assert any(address.startswith("/static/") for address in seen)
    for address in seen:
        assert place.ask(address).status == 200, address


def test_files_are_kept_for_ever_under_their_hash(voted: Caller, place: Site) -> None:
    page = text_of(voted, "/")
    (style,) = re.findall(r'href="\.\./\.\./(static/site\.css\?\w+)"', page)
    found = place.ask(f"/{style}")
    assert "immutable" in found.headers["cache-control"]
    assert found.headers["content-type"].startswith("text/css")
    assert b".whiskers" in found.body and b".filters" in found.body
    assert place.ask("/static/site.css").headers["cache-control"] == "no-cache"
    assert place.ask("/static/..%2Fpages.py").status == 404
    assert place.ask("/static/nothing.js").status == 404


def test_what_is_wrong_is_a_page_too(voted: Caller) -> None:
    assert "There is no such agent" in text_of(voted, "/agent", 404, name="<b>nobody")
    assert "There is no such agent" in text_of(voted, "/pair", 404, a="x", b="x")
    assert "expected a time" in text_of(voted, "/", 422, since="<script>")
    check_harmless(text_of(voted, "/", 422, since="<script>"))


def test_a_filtered_view_keeps_its_address_and_can_be_taken_home(voted: Caller) -> None:
    page = until(lambda: text_of(voted, "/", group="two"))
    rows = cells(page)
    assert [row[1].split()[0] for row in rows] == ["z", "y", "x"]
    assert [row[-1] for row in rows] == ["3 ▲2", "2", "1 ▼2"]
    assert '<option value="two" selected>' in page
    (address,) = re.findall(r'href="(leaderboard\.csv[^"]*)" download', page)
    assert address == "leaderboard.csv?group=two"
    found = list(csv.DictReader(io.StringIO(voted.ask(f"/{address}").body.decode())))
    data = voted.get("/leaderboard.json", group="two")["rows"]
    assert [(row["agent"], float(row["rating"]), int(row["rank_overall"])) for row in found] == [
        (row["agent"], row["rating"], row["rank_overall"]) for row in data
    ]


def test_a_spreadsheet_runs_no_name(place: Site) -> None:
    board = place.new_board()
    board.vote({"ranking": ['=HYPERLINK("http://evil.example")', "+1", "@x", "plain"]})
    found = board.ask("/leaderboard.csv")
    assert found.headers["content-type"].startswith("text/csv")
    names = {row["agent"] for row in csv.DictReader(io.StringIO(found.body.decode()))}
    assert names == {'\'=HYPERLINK("http://evil.example")', "'+1", "'@x", "plain"}


def test_all_boards_are_listed(place: Site, voted: Caller) -> None:
    found = place.ask("/boards")
    assert found.status == 200
    check_harmless(found.body.decode())
    assert f'href="boards/{voted.board}/"' in found.body.decode()
    assert place.ask(f"/boards/{voted.board}").status == 200, "leads on to the board"


def test_a_view_of_some_votes_is_new_when_the_ranks_by_all_are(place: Site) -> None:
    board = place.new_board()
    board.vote(*[{"ranking": ["x", "y"], "group": "one"}] * 2)
    paths = ("/leaderboard.json", "/leaderboard.csv", "/")
    first = {path: until(partial(patient, board, path)) for path in paths}
    for path, answer in first.items():
        assert patient(board, path, answer.headers["etag"]).status == 304
    board.vote(*[{"ranking": ["y", "x"], "group": "two"}] * 5)
    for path, answer in first.items():
        again = until(partial(patient, board, path, answer.headers["etag"]))
        assert again.status == 200 and again.headers["etag"] != answer.headers["etag"] and again.body != answer.body
    rows = board.get("/leaderboard.json", group="one")["rows"]
    assert [(row["agent"], row["rank_overall"]) for row in rows] == [("x", 2), ("y", 1)]


def patient(board: Caller, path: str, tag: str = "") -> Any:
    """A view of some votes; None where it is not made in time."""
    with suppress(TimeoutError):
        return board.ask(path, headers={"If-None-Match": tag} if tag else {}, group="one")
    return None


def test_facts_about_agents_stand_on_pages_in_json_and_csv(tmp_path: Path) -> None:
    address, table = str(tmp_path / "board.db"), tmp_path / "facts.csv"
    table.write_text("name,organisation,price,link,colour\nx,Acme <Labs>,2.5,https://example.org/x,teal\n")
    with site(address, "--open", "--agent-facts", str(table)) as place:
        board = place.new_board()
        board.vote({"ranking": ["x", "y"]})
        found = board.ask("/leaderboard.json")
        rows = {row["agent"]: row.get("facts") for row in found.json["rows"]}
        about = {"organisation": "Acme <Labs>", "price": 2.5, "link": "https://example.org/x", "colour": "teal"}
        assert rows == {"x": about, "y": None}
        assert "." in found.headers["etag"].split("-")[1]  # with other facts, another tag
        assert "Acme &lt;Labs&gt;</bdi> · <bdi>price 2.5" in text_of(board, "/")
        assert board.ask("/leaderboard.csv").body.splitlines()[0].endswith(b"organisation,price,link,colour")
        page = text_of(board, "/agent", name="x")
        assert '<a href="https://example.org/x" rel="noopener noreferrer nofollow">' in page
        assert "<dt>organisation</dt><dd>Acme &lt;Labs&gt;</dd>" in page
