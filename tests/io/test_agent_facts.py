"""A table about agents: facts go with them to tables, JSON, the report and the board, aliases become one agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.fast import FAST

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.io.agent_facts import agent_facts_of
from softcondorcet.io.cells import as_table

FACTS = """name,organization,License,price,context,url,colour,alias,released
gpt,Acme Labs,proprietary,2.5,128000,https://example.org/gpt?a=1&b=2,#1f77b4,gpt-0314; gpt-0613,2024-03
claude,"Other, Inc.",,15,8192,HTTP://example.com/c,teal,,
unknown,Nobody,MIT,0,,,,,
"""
VOTES = [("gpt-0314", "claude", "a"), ("gpt-0613", "claude", "b"), ("gpt-0314", "llama", "a"), ("gpt-0314", "gpt", "a")]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "facts.csv").write_text(FACTS)
    rows = "".join(f"{a},{b},{winner},{k}\n" for k, (a, b, winner) in enumerate(VOTES))
    (tmp_path / "votes.csv").write_text(f"a,b,winner,k\n{rows}")
    return str(tmp_path / "votes.csv"), str(tmp_path / "facts.csv")


def test_aliases_are_one_agent_and_what_was_done_is_said(files: tuple[str, str]) -> None:
    votes = sc.read(files[0], agent_facts=files[1])
    assert list(votes.rankings()) == [[["gpt"], ["claude"]], [["claude"], ["gpt"]], [["gpt"], ["llama"]]]
    assert votes.source is not None
    assert votes.source.notes == (
        f"{files[1]}: 2 agents of 3 described",
        f"{files[1]}: 2 aliases joined: gpt-0314, gpt-0613",
        "left out: 1 vote between an agent and its own alias",
        f"{files[1]}: 1 name that no vote has: unknown",
        f"{files[1]}: nothing about 1 agent: llama",
    )
    assert votes.facts == {
        "gpt": {
            "organisation": "Acme Labs", "licence": "proprietary", "price": 2.5, "context": 128000,
            "link": "https://example.org/gpt?a=1&b=2", "colour": "#1f77b4", "released": "2024-03",
        },
        "claude": {
            "organisation": "Other, Inc.", "price": 15, "context": 8192, "link": "HTTP://example.com/c",
            "colour": "teal",
        },
    }  # fmt: skip


@pytest.mark.parametrize("method", sorted(sc.METHODS))
def test_ratings_of_every_method_have_the_facts_of_their_agents(method: str) -> None:
    votes = sc.read({"ranking": ["x > y > z", "y > x > z", "x > z > y"]}, agent_facts={"name": ["y"], "price": [3]})
    board = sc.rank(votes, method, **FAST[method])
    assert {row["agent"]: row["facts"] for row in board.rows()} == {"x": None, "y": {"price": 3}, "z": None}
    assert sc.Ratings.from_json(board.to_json()).facts == board.facts
    again = sc.rank(votes.where("agent!=z"), method, **FAST[method])
    assert again.facts["y"] == {"price": 3}


def told(files: tuple[str, str], *command: str) -> str:
    done = CliRunner().invoke(main, [command[0], files[0], "--agent-facts", files[1], *command[1:]])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_tables_and_json_of_commands_have_them(files: tuple[str, str]) -> None:
    head = told(files, "rank").splitlines()[0].split()
    assert head[-5:] == ["organisation", "licence", "price", "context", "released"]
    assert "https://example.org/gpt?a=1&b=2" in told(files, "rank", "--format", "md")
    csv = told(files, "rank", "--format", "csv").splitlines()
    assert csv[0].endswith("votes,organisation,licence,price,context,link,colour,released")
    for command in (["rank"], ["bootstrap", "--resamples", "4"], ["compare", "--methods", "borda,copeland"]):
        rows = json.loads(told(files, *command, "--format", "json"))["agents"]
        assert {row["agent"]: (row.get("facts") or {}).get("price") for row in rows} == {
            "gpt": 2.5,
            "claude": 15,
            "llama": None,
        }
        assert "Acme Labs" in told(files, *command)
    assert "Other, Inc." in told(files, "rank", "--group-by", "group", "--column", "group=winner", "--format", "csv")


def test_the_report_shows_them_and_escapes(files: tuple[str, str], tmp_path: Path) -> None:
    text = FACTS.replace("Acme Labs", "<b>Acme</b>")
    Path(files[1]).write_text(text)
    told(files, "report", "-o", str(tmp_path / "page.html"), "--resamples", "0")
    page = (tmp_path / "page.html").read_text()
    assert '<a href="https://example.org/gpt?a=1&amp;b=2" rel="noopener noreferrer nofollow"><bdi>gpt</bdi></a>' in page
    assert "<bdi>&lt;b&gt;Acme&lt;/b&gt;</bdi> · <bdi>proprietary</bdi> · <bdi>price 2.5</bdi>" in page
    assert 'fill="#1f77b4"' in page and "<b>Acme" not in page


def test_a_table_of_a_notebook_has_columns_for_them() -> None:
    votes = sc.read({"ranking": ["x > y"]}, agent_facts={"agent": ["x"], "price": [3]})
    assert "<th>price</th>" in sc.borda(votes)._repr_html_().replace(' style="text-align: right"', "")


BAD: list[tuple[str, str]] = [
    ("name,price\nx,1\nx,2\n", "facts.csv:3: agent 'x' stands here and at {}facts.csv:2; expected once"),
    ("name,alias\nx,y\ny,\n", "facts.csv:2: alias 'y' is the name of another agent; expected a name of 'x' alone"),
    ("name,alias\nx,z\ny,w;z\n", "facts.csv:3: alias 'z' is also an alias of 'x'; expected a name of 'y' alone"),
    ("name,link\nx,javascript:alert(1)\n", "facts.csv:2: link is 'javascript:alert(1)'; expected an address such as"),
    ("name,link\nx,data:text/html;base64\n", "facts.csv:2: link is 'data:text/html;base64'; expected an address"),
    ("name,link\nx,//example.org\n", "facts.csv:2: link is '//example.org'; expected an address such as https://"),
    ("name,link\nx,https://me:pw@example.org\n", "facts.csv:2: link is 'https://me:pw@example.org'; expected an"),
    ("name,link\nx,https:///path\n", "facts.csv:2: link is 'https:///path'; expected an address such as"),
    ("name,link\nx,https://[::1\n", "facts.csv:2: link is 'https://[::1'; expected an address such as"),
    ('name,link\nx,"https://e.org/""onclick=1"\n', "expected an address such as"),
    ("name,colour\nx,red;background:url(x)\n", "facts.csv:2: colour is 'red;background:url(x)'; expected a colour"),
    ("name,rank\nx,1\n", "facts.csv: column 'rank' is one of the leaderboard's own; expected another title"),
    ("name,org,organisation\nx,1,2\n", "facts.csv: columns 'org' and 'organisation' are both the organisation"),
    ("title,price\nx,1\n", "facts.csv: no column 'name'; found 'title', 'price'; expected the names of agents"),
    ("name,price\n,1\n", "facts.csv:2: name is blank; expected a name"),
    ("name,note\nx," + 501 * "n" + "\n", "expected at most 500 letters"),
    ("", "facts.csv: empty"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), BAD, ids=[text[:20] for text, _ in BAD])
def test_a_wrong_table_is_an_error_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(text)
    with pytest.raises(sc.DataError) as caught:
        sc.read({"ranking": ["x > y"]}, agent_facts=str(path))
    assert words.format(f"{tmp_path}/") in str(caught.value)


def test_aliases_in_one_longer_vote_are_an_error() -> None:
    table: dict[str, Any] = {"agent": ["x", "x2", "y"], "task": ["t"] * 3, "score": [1, 2, 3]}
    with pytest.raises(
        sc.DataError, match="'x2', 'x' are one agent, but stand in one vote, vote 1 of the votes; leave"
    ):
        sc.read(table, agent_facts={"name": ["x"], "alias": ["x2"]})
    with pytest.raises(sc.DataError, match="all votes are between an agent and its own alias"):
        sc.read({"a": ["x"], "b": ["x2"], "winner": ["a"]}, agent_facts={"name": ["x"], "alias": ["x2"]})


def test_lists_of_aliases_and_numbers_of_json() -> None:
    about = agent_facts_of(as_table({"name": ["x"], "aliases": [["x;1", "x-2"]], "open": [True], "price": ["$2"]}))
    assert about.aliases == {"x;1": "x", "x-2": "x"}
    assert about.facts == {"x": {"open": "yes", "price": "$2"}}
