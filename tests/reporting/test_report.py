"""The report: true sentences, one file that needs nothing else, and names that stay names."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import FAMOUS, profiles, tennessee, three_cycle
from helpers.reports import HOSTILE, PANELS, Page, intervals, table_of
from hypothesis import given, settings

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.cli.report import serve_page, server
from softcondorcet.formatting import signed
from softcondorcet.reporting.analysis import analyse, brief, sureness
from softcondorcet.reporting.verdict import verdict

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def page(profile: sc.Profile, **options: object) -> Page:
    return Page(sc.report(profile, **{"resamples": 0, "now": NOW, **options}))  # type: ignore[arg-type]


def heading(html: str) -> str:
    return re.search(r"<h1>(.*?)</h1>", html, re.S)[1]  # type: ignore[index]


@pytest.fixture
def battles(tmp_path: Path) -> str:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nx,z,tie\nz,x,model_b\n")
    return str(path)


@pytest.fixture(scope="module")
def demo() -> str:
    return sc.report(sc.synthetic.demo(), resamples=20, seed=3, now=NOW)


# The page as a file.


def test_every_panel_is_there_and_named(demo: str) -> None:
    html = demo
    for panel in PANELS:
        assert f'<section id="{panel}" aria-labelledby="h-{panel}">' in html
        assert f'<h2 id="h-{panel}">' in html
        assert f'href="#{panel}"' in html


def test_the_page_needs_nothing_else(demo: str) -> None:
    found = Page(demo)
    assert {"script", "iframe", "img", "object", "form", "base"} & set(found.tags) == set()
    for tag, name, value in found.attributes:
        assert not name.startswith("on")
        assert name != "style"
        if name in ("href", "src", "action", "data", "srcset"):
            assert value.startswith("#") or (tag == "link" and value.startswith("data:image/svg+xml,"))
        elif name != "xmlns":
            assert "://" not in value
    assert "url(" not in demo
    assert "@import" not in demo


def test_the_content_policy_allows_only_the_style_of_the_page() -> None:
    html = sc.report(tennessee(), resamples=0)
    style = re.search(r"<style>(.*?)</style>", html, re.S)[1]  # type: ignore[index]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(v for t, n, v in Page(html).attributes if (t, n) == ("meta", "content") and "default-src" in v)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_the_same_votes_seed_and_time_give_the_same_bytes(demo: str) -> None:
    assert sc.report(sc.synthetic.demo(), resamples=20, seed=3, now=NOW) == demo


@pytest.mark.parametrize("name", sorted(FAMOUS))
def test_famous_profiles_make_pages(name: str) -> None:
    found = page(FAMOUS[name]())
    assert found.tags["svg"] >= 4
    assert found.tags["h1"] == 1


@settings(max_examples=8)
@given(profiles())
def test_any_profile_makes_a_page(profile: sc.Profile) -> None:
    found = page(profile, methods=("bradley_terry", "copeland"))
    assert found.tags["section"] == len(PANELS) - 1, "no section of intervals without any"
    for agent in profile.agents:
        assert agent in found.text


@pytest.mark.parametrize("votes", [[], [["a"]], [["a"], ["b"]], [["a", "b"]], [[["a", "b"]]]])
def test_next_to_nothing_makes_a_page(votes: list[list[str]]) -> None:
    found = page(sc.Profile.from_rankings(votes), resamples=5)
    assert len(PANELS) - 1 <= found.tags["section"] <= len(PANELS), "one of intervals where there are any"


def test_hundred_agents_fit_into_a_megabyte() -> None:
    profile = sc.synthetic.mallows(30, agents=100, phi=0.95, seed=1)
    names = tuple(f"somebody-or-other/a-rather-long-name-{k}-instruct" for k in range(100))
    html = sc.report(replace(profile, agents=names), resamples=20, methods=("borda", "copeland", "bradley_terry"))
    assert len(html.encode()) < 1_000_000
    assert "The best 40 of 100 agents" in html


def test_53000_agents_fit_into_a_megabyte_and_a_file_beside(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    votes, m = 12_000, 53_000
    agent = np.concatenate([np.arange(m), rng.integers(m, size=7 * votes - m)])
    rows = np.array([r if len(set(r.tolist())) == 7 else np.arange(7) for r in agent.reshape(votes, 7)])
    profile = sc.Profile(
        tuple(map(str, range(m))),
        np.arange(votes + 1) * 7,
        rows.ravel(),
        np.tile(np.arange(7), votes),
        np.ones(votes),
    )
    path = tmp_path / "report.html"
    html = sc.report(profile, path, method="borda", methods=("copeland", "kemeny"), resamples=0, now=NOW)
    assert len(html.encode()) < 1_000_000
    assert re.search(r"[\d,]+ agents of 53,000 are not on this page", html)
    assert "report-agents.csv beside this page has all" in Page(html).text
    listed = (tmp_path / "report-agents.csv").read_text().splitlines()
    assert len(listed) == 53_001
    assert "Kemeny is left out: the exact order of more than 1,000 agents takes too long" in html


# Names.


def test_hostile_names_stay_text() -> None:
    orders = [HOSTILE, HOSTILE[::-1], [*HOSTILE[3:], *HOSTILE[:3]]]
    profile = sc.Profile.from_rankings(orders)
    clean = sc.Profile.from_rankings([[f"agent {HOSTILE.index(name)}" for name in order] for order in orders])
    box = {"scale": "box"}  # from 0 to 100 an axis has the same marks whatever room the names leave
    html = sc.report(profile, resamples=0, now=NOW, title=HOSTILE[0], command=HOSTILE[2], options=box)
    found, plain = Page(html), page(clean, command="x", options=box)
    assert found.tags == plain.tags, "names make no element"
    assert {(t, n) for t, n, _ in found.attributes} == {(t, n) for t, n, _ in plain.attributes}
    for name in HOSTILE[:6]:
        assert name in found.text
    assert "a\\u202egnp.exe\\x07\\x00" in found.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", html)
    assert "n" * 200 not in html
    assert "7 * 7" in found.text


def test_long_names_are_cut_and_stay_different() -> None:
    long = "a" * 500
    names = brief([long, long + "b", "c", "a" * 79 + "…" + "a" * 40, long])
    assert len(set(names)) == 5
    assert names[2] == "c"
    assert max(map(len, names)) < 130


# What it says.


@given(profiles())
def test_a_verdict_is_true(profile: sc.Profile) -> None:
    pairs, board = profile.pairs(), sc.sco(profile)
    said = verdict(pairs, board)
    wins, _ = pairs.dense()
    margin = {
        (a, b): wins[i, j] - wins[j, i] for i, a in enumerate(profile.agents) for j, b in enumerate(profile.agents)
    }
    top = board.order[0]
    if board.condorcet_winner is not None:
        assert (said.kind, said.top) == ("winner", board.condorcet_winner)
    if said.kind == "winner":
        linked = next(group for group in sc.connected_groups(profile) if top in group)
        assert all(margin[top, other] > 0 for other in linked if other != top)
    if said.kind == "cycle":
        loop = [said.names[k] for k in said.loop]
        assert top in loop
        assert all(margin[a, b] > 0 for a, b in zip(loop, [*loop[1:], loop[0]], strict=True))
        assert all(margin[said.names[a], said.names[b]] == lead > 0 for a, b, lead in said.arrows)
        assert len(loop) == shortest_cycle(margin, profile.agents, top)
    if said.kind == "unbeaten":
        assert not any(margin[top, other] < 0 for other in profile.agents)
    if said.kind == "beaten":
        assert any(margin[top, other] < 0 for other in profile.agents)


def shortest_cycle(margin: dict[tuple[str, str], float], agents: tuple[str, ...], top: str) -> int:
    """How many agents the shortest cycle through `top` has, by walking from all that can be reached in k steps."""
    reached, k = {top}, 0
    while True:
        reached, k = {b for a in reached for b in agents if margin[a, b] > 0}, k + 1
        if top in reached:
            return k


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        (tennessee(), "Nashville comes first: ahead of all 3 others, closest by 16 votes."),
        (three_cycle(), "No agent beats all others: A, B and C beat each other in a circle."),
        (sc.Profile.from_rankings([["a"]]), "a is the only agent: there is nothing to compare."),
        (sc.Profile.from_rankings([["a"], ["b"]]), "No vote compares two agents: there is nothing to rank."),
        (sc.Profile.from_rankings([]), "There are no agents."),
        (
            sc.Profile.from_rankings([["a", "b", "c"], ["x", "y"]]),
            "a comes first: ahead of all 2 others it can be compared with, closest by 1 vote.",
        ),
        (
            sc.Profile.from_rankings([["a", "b"], ["b", "c"], ["b", "c"], ["a", "b"]]),
            "a comes first: no agent beats it, but it has not met 1 of the others.",
        ),
        (
            sc.Profile.from_rankings([[["a", "b"]]]),
            "a and b share first place: the votes do not say which is better.",
        ),
    ],
)
def test_the_answer(profile: sc.Profile, answer: str) -> None:
    assert verdict(profile.pairs(), sc.sco(profile)).answer == answer


def test_a_method_that_overrules_the_majority_is_told() -> None:
    profile = FAMOUS["paper_example"]()
    html = sc.report(profile, method="bradley_terry", resamples=0)
    assert heading(html) == "C beats every other agent head to head, but Bradley-Terry puts A first."
    assert "C (by 1) beats A head to head." in html
    assert "Bradley-Terry ranks A above C although C beats every agent" in html


def test_a_cycle_is_told_with_its_weakest_link() -> None:
    votes = sc.Profile.from_rankings([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]], weights=[4, 3, 2])
    said = verdict(votes.pairs(), sc.sco(votes))
    assert said.details[0] == "A beats B by 3; B beats C by 5; C beats A by 1."
    assert "the weakest is that of C over A" in said.details[1]


def test_a_board_that_puts_a_loser_first_is_told() -> None:
    votes = sc.Profile.from_rankings([["a", "b"], ["b", "c"]])
    board = sc.Ratings(votes.agents, np.array([1.0, 3.0, 2.0]), "made_up")
    said = verdict(votes.pairs(), board)
    assert said.kind == "beaten"
    assert said.details[0] == "a (by 1) beats b head to head."


def test_tie_groups_are_blocks() -> None:
    groups = [["a"], ["b", "c", "d"], ["e", "f"]]
    blocks = table_of(groups, "abcdefg").blocks
    assert ["".join(line.agent for line in block.lines) for block in blocks] == ["a", "bcd", "ef", "g"]
    notes = ["", "ranks 2 to 4 cannot be told apart", "ranks 5 to 6 cannot be told apart", ""]
    assert [block.note for block in blocks] == notes
    assert [block.note for block in table_of(groups, "abcdefg", 3).blocks] == notes[:2], "the rest is further down"
    cells = blocks[1].lines[0].cells
    assert list(cells) == ["rank", "agent", "rating", "votes"]
    assert (cells["rank"], cells["rating"]) == (("2", "2\N{EN DASH}3", ""), ("6.00", "5.50 to 6.50", ""))
    assert cells["votes"].text == "1,234"
    assert blocks[-1].lines[0].marks == [("note", "provisional")]


@pytest.mark.parametrize(
    ("groups", "first", "votes", "word"),
    [
        ([["a"]], 0.99, 20, "settled"),
        ([["a"]], 0.99, 5, "likely"),
        ([["a"]], 0.5, 20, "open"),
        ([["a", "b"]], 0.99, 20, "open"),
    ],
)
def test_how_sure_is_a_word(groups: list[list[str]], first: float, votes: int, word: str) -> None:
    profile = sc.Profile.from_rankings([["a", "b", "c"]], weights=[votes])
    said, sentence = sureness(intervals(groups, "abc", first), profile)
    assert said == word
    known = {0.99: "99 % ± 1", 0.5: "50 % ± 4"}[first]
    assert sentence.startswith(f"a is first in {known} of 200 resamples of the votes; its rank is 1 to 2")
    assert ("It cannot be told apart from b." in sentence) == (len(groups[0]) > 1)
    assert ("at 95 % however often one looks" in sentence.replace("\u00a0", " ")) == (word == "settled")


def test_an_agent_in_no_resample_is_not_sure() -> None:
    found = intervals([["a"]], "abc", float("nan"))
    assert sureness(found, sc.Profile.from_rankings([["a", "b"]])) == (
        "open",
        "No resample of the votes holds a: they cannot say how sure its place is.",
    )


def test_almost_always_is_not_always() -> None:
    assert "99 %" in sureness(intervals([["a"]], "abc", 0.9999), sc.Profile.from_rankings([["a", "b", "c"]]))[1]
    assert "100 %" in sureness(intervals([["a"]], "abc", 1.0), sc.Profile.from_rankings([["a", "b", "c"]]))[1]


@pytest.mark.parametrize(
    ("value", "digits", "shown"), [(-0.04, 1, "0.0"), (-1.25, 2, "\u22121.25"), (12345.6, 0, "12,346")]
)
def test_numbers_are_set_well(value: float, digits: int, shown: str) -> None:
    assert signed(value, digits) == shown


def test_ranks_across_groups_are_not_compared() -> None:
    found = analyse(sc.synthetic.demo(), methods=("kemeny",), resamples=0)
    assert found.methods is not None and {len(ranks) for ranks in found.methods.values()} == {11}
    assert not any("newcomer" in line for line in (*found.moves, *found.violations))
    assert len(found.provisional) == 2


def test_intervals_come_from_resamples(demo: str) -> None:
    text = Page(demo).text
    assert (
        "of 20 resamples of the votes; its rank is 1 to 3 at 95 %. It cannot be told apart from birch, aster." in text
    )
    assert "ranks 1 to 3 cannot be told apart" in text
    assert "20 resamples of 2,400 votes; 95 %" in text
    assert sc.report(sc.synthetic.demo(), resamples=20, seed=4, now=NOW) != demo
    assert "20 resamples of 8 groups" in page(sc.synthetic.demo(), resamples=20, by="groups", methods=["borda"]).text


def test_findings_come_with_advice(demo: str) -> None:
    text = Page(demo).text
    assert "problem 2 groups of agents never met" in text
    assert "or rank each group by itself" in text


def test_wrong_options_are_refused() -> None:
    for options, message in (
        ({"method": "best"}, "method must be one of"),
        ({"methods": ["best"]}, "methods must be among"),
        ({"options": {"seed": 3}}, "options must be options of the method without a seed"),
        ({"options": {"best": 3}}, "sco has no option 'best'"),
        ({"resamples": -1}, "resamples must be"),
        ({"resamples": 1}, "resamples must be 0, or at least 2"),
        ({"by": "judge"}, "by must be 'votes' or 'groups'"),
        ({"top": 0}, "top must be"),
        ({"now": "today"}, "now must be a datetime"),
        ({"source": "/nowhere/votes.csv"}, "cannot be read"),
        ({"path": "/nowhere/report.html"}, "cannot be written"),
    ):
        with pytest.raises(ValueError, match=message):
            sc.report(tennessee(), **{"resamples": 0, **options})  # type: ignore[arg-type]
    with pytest.raises(sc.OptionError, match="data must be a Profile"):
        sc.report([["a", "b"]])  # type: ignore[arg-type]


# On the command line.


def test_report_writes_one_file_and_says_so(battles: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    words = ("report", battles, "-o", str(target), "--resamples", "10", "--methods", "borda,elo", "--set", "prior=0.1")
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"wrote {target} (")
    text = Page(target.read_text()).text
    assert "battles.csv" in text
    assert hashlib.sha256(Path(battles).read_bytes()).hexdigest() in text
    assert "sco report battles.csv --methods borda,elo --resamples 10 --set prior=0.1" in re.sub(
        r"(--set prior=0.1) (--methods borda,elo) (--resamples 10)", r"\2 \3 \1", text
    )
    assert str(tmp_path) not in target.read_text(), "no folder in a report"
    assert CliRunner().invoke(main, words).stdout.startswith("replaced ")


def test_report_can_be_printed(battles: str) -> None:
    result = CliRunner().invoke(main, ["report", battles, "-o", "-", "--resamples", "0"])
    assert result.stdout.startswith("<!doctype html>")
    piped = CliRunner().invoke(main, ["report", "-", "-o", "-", "--resamples", "0"], input=Path(battles).read_text())
    assert "standard input: leaderboard report" in piped.stdout


def test_no_file_of_someone_else_is_replaced_unasked(
    battles: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.html").write_text("<p>mine")
    (tmp_path / "sco-demo.html").write_text("<p>mine")
    for _ in range(2):
        assert "report-2.html" in CliRunner().invoke(main, ["report", battles, "--resamples", "0"]).stdout
        assert "sco-demo-2.html" in CliRunner().invoke(main, ["demo"]).stdout
    assert (tmp_path / "report.html").read_text() == (tmp_path / "sco-demo.html").read_text() == "<p>mine"
    assert sorted(path.name for path in tmp_path.glob("*.html")) == [
        "report-2.html", "report.html", "sco-demo-2.html", "sco-demo.html",
    ]  # fmt: skip


def test_the_votes_are_never_written_over(battles: str) -> None:
    before = Path(battles).read_text()
    result = CliRunner().invoke(main, ["report", battles, "-o", battles])
    assert result.exit_code == 2
    assert "--output must be another file than FILE" in result.stderr
    assert Path(battles).read_text() == before


def test_demo_writes_a_report_and_ends(tmp_path: Path) -> None:
    target = tmp_path / "demo.html"
    result = CliRunner().invoke(main, ["demo", "-o", str(target)])
    assert result.exit_code == 0
    assert f"wrote {target}: the same as a report" in result.stdout
    assert "127.0.0.1" not in result.stdout
    assert "No agent beats all others: cedar, birch and aster beat each other in a circle." in target.read_text()


def test_a_page_that_cannot_be_written_is_an_error() -> None:
    result = CliRunner().invoke(main, ["demo", "-o", "/nowhere/demo.html"])
    assert result.exit_code == 1
    assert "sco: /nowhere/demo.html: cannot be written" in result.stderr


def test_the_page_is_served_on_this_machine_only() -> None:
    with server("<p>page") as local:
        assert local.server_address[0] == "127.0.0.1"
        thread = threading.Thread(target=local.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            url = f"http://127.0.0.1:{local.server_port}/"
            with urllib.request.urlopen(url, timeout=10) as answer:
                assert answer.read() == b"<p>page"
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            for path in ("../../etc/passwd", "favicon.ico", "?x"):
                with pytest.raises(urllib.error.HTTPError, match="404"):
                    urllib.request.urlopen(url + path, timeout=10)
        finally:
            local.shutdown()
            thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_at_a_terminal_the_demo_serves_until_interrupted(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "softcondorcet", "demo"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        os.close(theirs)
        seen = b""
        while b"until Ctrl-C" not in seen:
            seen += os.read(ours, 4096)
        url = re.search(rb"http://127\.0\.0\.1:\d+/", seen)[0].decode()  # type: ignore[index]
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert answer.read() == (tmp_path / "sco-demo.html").read_bytes()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_port_in_use_is_told() -> None:
    with server("x") as local, pytest.raises(sc.OptionError, match="--port must be a free port"):
        serve_page("x", local.server_port)
