"""Blind matches: answers go in, two come out without names, and a ticket says whose they were, once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from conftest import profiles
from helpers.serving import Answer, Server, serving
from hypothesis import given, strategies as st

from softcondorcet import Profile
from softcondorcet.pairs import Pairs
from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import Database, Sqlite, open_database
from softcondorcet.server.ledger.snapshot import UNIT, Fit, Snapshot
from softcondorcet.server.ledger.writer import Ask, Entry, Refused, Transaction
from softcondorcet.server.web import matches, votes as web_votes

SAMPLES = [
    {"task": "sum", "agent": "x", "answer": "it is 56"},
    {"task": "sum", "agent": "y", "answer": "58,\nI think"},
    {"task": "alone", "agent": "x", "answer": "nobody to meet"},
]


@pytest.fixture(scope="module", name="place")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matches") / "board.db"


@pytest.fixture(scope="module", name="admin")
def _admin(place: Path) -> str:
    """The secret of a token that may do all, made before the server is there."""
    database = open_database(str(place))
    with database.transaction():
        _, secret = tokens.add(Transaction(database, 1, {}), None, "admin", "test")
    database.close()
    return secret


@pytest.fixture(scope="module", name="server")
def _server(place: Path, admin: str) -> Iterator[Server]:
    with serving(str(place), "--open") as server:
        yield server


def upload(server: Server, admin: str, body: Any, board: str = "") -> Answer:
    return server.ask(f"{board}/samples", body, headers={"Authorization": f"Bearer {admin}"})


@pytest.fixture(scope="module", name="filled")
def _filled(server: Server, admin: str) -> Server:
    assert server.ask("/match.json").status == 404
    answer = upload(server, admin, SAMPLES)
    assert (answer.status, answer.json) == (201, {"n": 3, "board": "main"})
    return server


def test_a_match_has_two_answers_and_no_names(filled: Server) -> None:
    sides: Counter[str] = Counter()
    for _ in range(40):
        match = filled.ask("/match.json").json
        assert set(match) == {"ticket", "task", "a", "b"}
        assert match["task"] == "sum"
        assert {match["a"], match["b"]} == {"it is 56", "58,\nI think"}
        sides[match["a"]] += 1
    # Forty times one side by chance: one in 2^39.
    assert len(sides) == 2


@pytest.mark.parametrize("winner", ["a", "b", "tie", "both_bad"])
def test_a_ticket_votes_for_the_agent_that_was_shown(filled: Server, winner: str) -> None:
    before = filled.ask("/leaderboard.json").json["n_votes"]
    match = filled.ask("/match.json").json
    vote = {"ticket": match["ticket"], "winner": winner, "voter": "ann"}
    first, again = filled.ask("/votes", vote), filled.ask("/votes", vote)
    assert (first.status, again.status) == (201, 201)
    said = first.json
    assert again.json == said
    assert again.headers["idempotent-replayed"] == "true"
    shown = {sample["agent"]: sample["answer"] for sample in SAMPLES if sample["task"] == "sum"}
    assert (shown[said["a"]], shown[said["b"]]) == (match["a"], match["b"])
    other = filled.ask("/votes", {"ticket": match["ticket"], "winner": "a", "voter": "another"})
    assert other.status == 422
    assert filled.ask("/leaderboard.json").json["n_votes"] == before + 1


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def fields(page: bytes) -> dict[str, str]:
    """What the form of a page has filled in."""
    return dict(re.findall(r'name="(ticket|voter|token)"[^>]* value="([^"]*)"', page.decode()))


def send(server: Server, path: str, headers: dict[str, str] | None = None, **given: str) -> Answer:
    return server.ask(path, urlencode(given).encode(), headers={**FORM, **(headers or {})})


def test_a_form_votes_without_a_script(filled: Server) -> None:
    page = filled.ask("/vote")
    ticket = fields(page.body)["ticket"]
    assert (page.status, page.headers["cache-control"]) == (200, "no-store")
    assert b"it is 56" in page.body and b"58,\nI think" in page.body
    before = filled.ask("/leaderboard.json").json["n_votes"]
    done = send(filled, "/vote", {"Origin": filled.url}, ticket=ticket, winner="b", voter="ann")
    assert done.status == 200
    told = re.search(r'role="status">Your vote counts. A was ([xy]), B was ([xy]).<', done.body.decode())
    assert told is not None and {told[1], told[2]} == {"x", "y"}
    again = fields(done.body)
    assert again["voter"] == "ann" and again["ticket"] not in ("", ticket)  # the next pair
    assert filled.ask("/leaderboard.json").json["n_votes"] == before + 1
    assert send(filled, "/vote", ticket=ticket, winner="b", voter="ann").status == 200  # a page that is loaded again
    assert filled.ask("/leaderboard.json").json["n_votes"] == before + 1


@pytest.mark.parametrize(
    ("given", "status", "why"),
    [
        ({"winner": "a", "ticket": "none"}, 422, "Not done: ticket: expected one"),
        ({"winner": "c"}, 422, "Not done: winner: expected a, b"),
        ({}, 422, "Not done: winner: expected"),
        ({"winner": "a", "voter": "\u202eevil"}, 422, "Not done: voter: expected visible letters"),
        ({"winner": "a", "token": "wrong"}, 401, "Not done: this token is not known."),
        ({"winner": "a", "1": "1", "2": "2", "3": "3", "4": "4"}, 422, "Not done: expected the fields of the form."),
    ],
)
def test_a_form_is_told_what_is_wrong(filled: Server, given: dict[str, str], status: int, why: str) -> None:
    ticket = fields(filled.ask("/vote").body)["ticket"]
    answer = send(filled, "/vote", None, **{"ticket": ticket, **given})
    assert answer.status == status
    assert why in answer.body.decode()


def test_a_form_of_another_site_is_refused(filled: Server) -> None:
    ticket = fields(filled.ask("/vote").body)["ticket"]
    for origin in ("https://evil.example", "null"):
        assert send(filled, "/vote", {"Origin": origin}, ticket=ticket, winner="a").status == 403


def test_a_form_has_a_field_for_the_token_where_one_is_asked_for(tmp_path: Path) -> None:
    address = str(tmp_path / "board.db")
    database = open_database(address)
    with database.transaction():
        _, secret = tokens.add(Transaction(database, 1, {}), None, "admin", "test")
    database.close()
    with serving(address, "--every", "1000") as server:
        upload(server, secret, SAMPLES)
        page = server.ask("/vote")
        assert page.status == 200 and b'name="token"' in page.body and "ticket" not in fields(page.body)
        assert send(server, "/vote").status == 401
        shown = fields(send(server, "/vote", token=secret).body)
        assert shown["token"] == secret
        done = send(server, "/vote", None, winner="tie", **shown)
        assert done.status == 200 and b"Your vote counts." in done.body
        assert server.ask("/leaderboard.json").json["n_votes"] == 1


def test_who_wins_and_the_task_are_in_the_ledger(filled: Server, place: Path) -> None:
    match = filled.ask("/match.json").json
    said = filled.ask("/votes", {"ticket": match["ticket"], "winner": "b", "voter": "eve", "weight": 0.5}).json
    reader = Sqlite(str(place), write=False)
    query = "SELECT voter, grp, weight, winner, body FROM ledger WHERE id = ?"
    ((voter, group, weight, winner, body),) = reader.run(query, (said["id"],))
    names = dict(reader.run("SELECT number, name FROM agent"))
    reader.close()
    assert (voter, group, weight, winner) == ("eve", "sum", 500_000, "b")
    assert [[names[k] for k in tier] for tier in json.loads(body)] == [[said["b"]], [said["a"]]]


@pytest.mark.parametrize(
    ("vote", "why"),
    [
        ({"ticket": "made-up", "winner": "a"}, "expected one that /match.json gave"),
        ({"ticket": "made-up"}, "a ticket and winner"),
        ({"ticket": "made-up", "winner": "a", "a": "x", "b": "y"}, "without ranking, a, b and group"),
        ({"ticket": "made-up", "winner": "a", "group": "g"}, "without ranking, a, b and group"),
        ([{"ticket": "made-up", "winner": "a"}], "vote 1: a vote with a ticket is sent alone"),
        ({"ticket": "made-up", "winner": "c"}, "winner: expected a, b, tie, both_bad"),
    ],
)
def test_votes_with_no_good_ticket_are_refused(filled: Server, vote: Any, why: str) -> None:
    answer = filled.ask("/votes", vote)
    assert answer.status == 422
    assert why in answer.json["detail"]


def test_a_ticket_is_good_on_its_board_alone(filled: Server, admin: str) -> None:
    headers = {"Authorization": f"Bearer {admin}"}
    assert filled.ask("/boards", {"name": "second"}, headers=headers).status == 201
    assert filled.ask("/boards/second/match.json").status == 404
    ticket = filled.ask("/match.json").json["ticket"]
    assert filled.ask("/boards/second/votes", {"ticket": ticket, "winner": "a"}).status == 422
    assert filled.ask("/boards/main/votes", {"ticket": ticket, "winner": "a"}).status == 201
    assert filled.ask("/boards/none/match.json").status == 404


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([], "expected 1 to 1,000 answers, got 0"),
        ([{"task": "t", "agent": "x", "answer": "a"}] * 1001, "got 1,001"),
        ([{"task": "t", "agent": "x", "answer": "bell \x07"}], "answer 1: expected visible letters"),
        ([SAMPLES[0], {"task": "t", "agent": "x", "answer": "nul \x00"}], "answer 2: "),
        ([{"task": "t", "agent": "x", "answer": "a" * 20_001}], "at most 20,000 letters, got 20,001"),
        ([{"task": "t", "agent": "x", "answer": " \n"}], "expected some text"),
        ([{"task": "t", "agent": "x\u202e", "answer": "a"}], "answer 1: agent: expected visible letters"),
        ([{"task": "", "agent": "x", "answer": "a"}], "answer 1: task: expected a name"),
        ([{"task": "t", "agent": "x"}], "answer"),
        ([{"task": "t", "agent": "x", "answer": "a", "more": 1}], "unknown field"),
        ({"task": "t", "agent": "x", "answer": "a"}, "array"),
    ],
)
def test_answers_that_are_refused(body: Any, why: str, filled: Server, admin: str) -> None:
    answer = upload(filled, admin, body)
    assert answer.status == 422
    assert why in answer.json["detail"]


def test_answers_need_an_admin_and_a_body_of_bounded_size(filled: Server, admin: str) -> None:
    assert filled.ask("/samples", SAMPLES).status == 401
    large = [{"task": f"t{k}", "agent": "x", "answer": "a" * 20_000} for k in range(60)]
    assert upload(filled, admin, large).status == 413


def test_a_new_answer_takes_the_place_of_the_old_one(filled: Server, admin: str) -> None:
    assert upload(filled, admin, [{"task": "alone", "agent": "x", "answer": "replaced\r\nhere"}]).status == 201
    assert (
        upload(filled, admin, [{"task": "alone", "agent": "z", "answer": "a \N{GREEK SMALL LETTER PI}"}]).status == 201
    )
    shown = next(match for match in (filled.ask("/match.json").json for _ in range(200)) if match["task"] == "alone")
    assert {shown["a"], shown["b"]} == {"replaced\nhere", "a \N{GREEK SMALL LETTER PI}"}


class Clock:
    """A time that a test can move."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def dealt(tmp_path: Path, samples: list[matches.Sample], clock: Clock) -> tuple[matches.Matches, Snapshot]:
    database = open_database(str(tmp_path / "m.db"))
    found = matches.Matches(database, now=clock)
    database.close()
    found.show(1, samples)
    return found, Board(1, "main", "t").snapshot()


def samples_of(agents: str, task: str = "t") -> list[matches.Sample]:
    return [matches.Sample(task, agent, f"by {agent}") for agent in agents]


def test_tickets_last_an_hour(tmp_path: Path) -> None:
    clock = Clock()
    found, empty = dealt(tmp_path, samples_of("xy"), clock)
    match = found.deal(1, empty)
    assert match is not None
    ticket = match.ticket
    clock.now = matches.HOUR - 1
    assert found.find(1, ticket).task == "t"
    clock.now = matches.HOUR + 1
    with pytest.raises(Refused, match="within the last hour"):
        found.find(1, ticket)


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> Iterator[Database]:
    """One board, and a transaction on it that is open."""
    database = open_database(str(tmp_path / "b.db"))
    with database.transaction():
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 't', 0)")
        yield database
    database.close()


def test_all_answers_of_a_board_are_bounded(database: Database) -> None:
    found, transaction = matches.Matches(database, most_letters=10), Transaction(database, 1, {})
    found.keep(transaction, 1, samples_of("xy"))
    with pytest.raises(Refused, match="10 letters"):
        found.keep(transaction, 1, samples_of("z"))


def test_answers_are_read_at_the_start(database: Database) -> None:
    before, transaction = matches.Matches(database), Transaction(database, 1, {})
    for samples in (samples_of("xy"), [matches.Sample("t", "y", "better")]):
        before.keep(transaction, 1, samples)
        before.show(1, samples)
    for found in (before, matches.Matches(database)):
        match = found.deal(1, Board(1, "main", "t").snapshot())
        assert match is not None
        assert {match.a, match.b} == {"by x", "better"}
        assert found.deal(2, Board(2, "other", "t").snapshot()) is None


def seen(profile: Profile, **found: Any) -> Snapshot:
    """A board after these votes, with what a fit found out."""
    board = Board(1, "main", "t")
    rows = []
    for k, ranking in enumerate(profile.rankings()):
        tiers = [[profile.agents.index(agent) for agent in tier] for tier in ranking]
        rows.append(Entry(k + 1, 1, "vote", 0.0, None, None, None, 1_000_000, None, tiers))
    board.tell(rows, profile.agents)
    if found:
        board.adopt(Fit(1, len(rows), 0.0, {"n_votes": len(rows), **found}))
    return board.snapshot()


def test_pairs_that_are_close_and_have_not_met_come_first() -> None:
    votes = Profile.from_rankings([["a", "b"]] * 9 + [["b", "a"]] * 8 + [["c", "d"]] * 17, agents=list("abcd"))
    sure = {"level": 0.95, "unit": UNIT, "values": [60.0, 59.0, 90.0, 10.0]}
    board = seen(votes, **sure, rating_low=[50.0, 49.0, 85.0, 5.0], rating_high=[70.0, 69.0, 95.0, 15.0])
    close, settled, unmet, new = matches.values(board, ["a", "c", "a", "a"], ["b", "d", "c", "newcomer"])
    assert settled < close < new
    assert settled < unmet < new
    assert new == 0.25
    assert matches.values(board, ["b"], ["a"]) == close


def test_a_match_is_drawn_more_often_where_it_tells_more(tmp_path: Path) -> None:
    found, _ = dealt(tmp_path, samples_of("ab", "old") + samples_of("cd", "new"), Clock())
    board = seen(Profile.from_rankings([["a", "b"], ["b", "a"]] * 50, agents=list("abcd")))
    drawn = Counter(match.task for match in (found.deal(1, board) for _ in range(300)) if match)
    # A hundred and one times as likely: 30 of 300 or more have a chance below 1e-15.
    assert drawn["old"] < 30
    assert drawn["new"] > 270


@given(profiles(), st.data())
def test_how_often_two_met_is_counted(profile: Profile, data: st.DataObject) -> None:
    pairs: Pairs = profile.pairs()
    names = st.integers(0, profile.n_agents - 1)
    a, b = data.draw(names), data.draw(names)
    together = sum(
        weight
        for ranking, weight in zip(profile.rankings(), profile.weight, strict=True)
        if a != b and {profile.agents[a], profile.agents[b]} <= {agent for tier in ranking for agent in tier}
    )
    assert pairs.met(np.array([a]), np.array([b])) == [together]


@given(st.sampled_from(["a", "b", "tie", "both_bad"]), st.text("xyz", min_size=1), st.text("pqr", min_size=1))
def test_a_blind_vote_is_the_open_vote_of_its_agents(winner: str, a: str, b: str) -> None:
    (blind,), ticket = web_votes.read(json.dumps({"ticket": "k", "winner": winner}).encode())
    (plain,), none = web_votes.read(json.dumps({"a": a, "b": b, "winner": winner, "group": "t"}).encode())
    assert (ticket, none) == ("k", None)
    assert matches.Ticket("k", 1, "t", a, b, 0.0).played(blind) == plain
    assert isinstance(plain, Ask)
