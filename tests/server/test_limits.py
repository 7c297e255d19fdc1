"""Limits of the live leaderboard, what it says when something goes wrong, and what its log never holds."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from helpers.boards import Caller, Site, admin_token, raw, site
from helpers.serving import serving

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.fits import keep
from softcondorcet.server.ledger.limits import Listeners
from softcondorcet.server.ledger.writer import Refused, Transaction
from softcondorcet.server.web.matches import Matches, Sample

VOTE = {"a": "x", "b": "y", "winner": "a", "voter": "ann"}

# A server with small limits and a talkative log.
STRICT = """
import logging
import sys
logging.basicConfig(level=logging.DEBUG)
from softcondorcet.server.run import run
from softcondorcet.server.ledger.service import Settings
limits = Settings(token_rate=1, voter_rate=0.1, most_agents=30, every=1000, body_seconds=2.0)
run(sys.argv[1], limits, "127.0.0.1", 0)
"""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    address = str(tmp_path_factory.mktemp("strict") / "board.db")
    secret = admin_token(address)
    with closing(open_database(address)) as database, database.transaction():
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Title', 0)")
        for values in ([1.0] * 7, []):  # a fit of agents that are not there, which no version wrote, and one after it
            keep(Transaction(database, 1, {}), 1, 0, {"values": values, "n_votes": len(values)})
    with serving(address, command=(sys.executable, "-c", STRICT)) as server:
        yield Site(server, address, secret)


def test_what_goes_wrong_inside_is_one_line_in_the_log(strict: Site) -> None:
    before = strict.server.output
    answer = strict.ask("/history.json")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/json")
    assert answer.json == {"detail": "something went wrong here; the log says where"}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    said = strict.server.output.removeprefix(before)
    wanted = r"ERROR:softcondorcet\.server\.web\.http:GET '/history\.json': (IndexError|ValueError) at \w+\.py:\d+\n"
    assert re.fullmatch(wanted, said), said


def test_a_slow_body_is_given_up(strict: Site) -> None:
    head = f"Authorization: Bearer {strict.secret}\r\nContent-Length: 100\r\n\r\n".encode()
    began = time.monotonic()
    assert b" 408 " in raw(strict.server, "/votes HTTP/1.1", head, b"{")
    assert time.monotonic() - began > 1.9


def fresh(strict: Site, board: str = "main") -> Caller:
    """An admin who has not voted yet."""
    return Caller(strict.server, board, strict.new_token("admin", board)[1])


def test_too_many_votes_are_told_when_to_come_back(strict: Site) -> None:
    by_ann = [fresh(strict).post("/votes", VOTE) for _ in range(3)]
    assert [answer.status for answer in by_ann] == [201, 429, 429]  # of one voter
    assert 1 <= int(by_ann[1].headers["retry-after"]) <= 20
    caller = fresh(strict)
    votes = [{**VOTE, "voter": None}] * 30
    assert [caller.post("/votes", votes).status for _ in range(3)] == [201, 429, 429]  # of one token
    assert fresh(strict).post("/votes", votes).status == 201


def test_a_batch_of_one_voter_can_be_larger_than_a_second(strict: Site) -> None:
    by_cat = {**VOTE, "voter": "cat"}
    assert fresh(strict).post("/votes", [by_cat] * 10).status == 201
    assert fresh(strict).post("/votes", by_cat).status == 429


def test_a_board_has_room_for_so_many_agents(strict: Site) -> None:
    board = strict.new_board().board
    assert fresh(strict, board).post("/votes", {"ranking": [f"agent {k}" for k in range(30)]}).status == 201
    more = "'one more' is not an agent of this board, and the board has all 30 it may have"
    refused = fresh(strict, board).post("/votes", {**VOTE, "a": "agent 1", "b": "one more"})
    assert (refused.status, refused.json["detail"]) == (422, more)
    for preview in (True, False):
        file = b"a,b,winner\nagent 1,one more,a\n"
        refused = fresh(strict, board).post("/import", file, format="csv", preview=preview)
        assert refused.status == 422
        assert refused.json["detail"] == "1 new agents; expected at most 0 more on this board"
    assert fresh(strict, board).post("/votes", {"ranking": ["agent 1", "agent 2"]}).status == 201


def test_no_token_voter_or_address_is_in_the_log(strict: Site) -> None:
    server = strict.server
    strict.ask("/nothing?token=sco_secret")
    server.ask("/votes", b"sco_secret", headers={"Authorization": "Bearer sco_secret"})
    server.ask("/votes", b"\0", headers={"Authorization": f"Bearer {strict.secret}"})
    assert b" 400 " in raw(server, "/votes NONSENSE/9", b"\r\n\r\n")
    said = "\n".join(line for line in server.output.splitlines() if not line.startswith("the leaderboard is at"))
    for secret in (strict.secret, "sco_secret", "127.0.0.1", "10.1.2.3", "ann"):
        assert secret not in said
    assert server.output.count("the leaderboard is at") == 1


def test_weight_above_one_is_for_admins(tmp_path: Path) -> None:
    heavy, light = {**VOTE, "weight": 1.5}, {**VOTE, "weight": 1.0}
    with site(str(tmp_path / "board.db"), "--open") as home:
        voter = Caller(home.server, token=home.new_token("vote")[1])
        for caller in (Caller(home.server), voter):
            refused = caller.post("/votes", [light, heavy])
            assert refused.status == 403
            wanted = "weight: expected at most 1, got 1.5; more takes a token of scope admin"
            assert refused.json["detail"] == wanted
            assert caller.post("/votes", light).status == 201
        assert home.admin().post("/votes", heavy).status == 201
        assert home.admin().get("/leaderboard.json")["n_votes"] == 3
    with serving(str(tmp_path / "other.db"), "--max-weight", "2") as server:
        assert [server.ask("/votes", {**VOTE, "weight": w}).status for w in (2, 2.01)] == [201, 403]


def test_long_votes_cost_as_much_as_the_battles_they_are(strict: Site) -> None:
    names = [f"agent {k}" for k in range(24)]
    caller = fresh(strict, strict.new_board().board)
    assert [caller.post("/votes", {"ranking": names}).status for _ in range(2)] == [201, 429]


def test_a_refused_match_does_not_say_whose_answers_they_were(tmp_path: Path) -> None:
    with site(str(tmp_path / "board.db"), "--open", "--max-agents", "2") as home:
        home.admin().vote({"a": "x", "b": "y", "winner": "a"})
        samples = [{"task": "t", "agent": agent, "answer": agent[::-1]} for agent in ("secret-1", "secret-2")]
        assert home.admin().post("/samples", samples).status == 201
        ticket = home.server.ask("/match.json").json["ticket"]
        refused = home.server.ask("/votes", {"ticket": ticket, "winner": "a"})
        assert refused.status == 422 and b"secret" not in refused.body
        assert "the match cannot count" in refused.json["detail"]


@pytest.mark.parametrize("top", ["0" * 5000, "1" + "0" * 5000, "000000001" + "0" * 5000, "1e3", "\u0661"])
def test_a_number_of_rows_is_a_short_number(strict: Site, top: str) -> None:
    answer = strict.server.ask(f"/?{urlencode({'top': top})}")
    assert answer.status == 422 and "top: expected a number from 1 to 100,000" in answer.body.decode()


def test_pages_name_the_parameters_that_they_take(strict: Site) -> None:
    answer = strict.server.ask("/?gruop=de")
    assert answer.status == 422 and "&#39;gruop&#39; is not a parameter; expected group, since" in answer.body.decode()
    assert strict.server.ask("/doctor?group=de").status == 422
    assert strict.server.ask("/?utm_source=mail&fbclid=x").status == 200


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [("gzip", True), ("gzip;q=0", False), ("br, gzip; q=0.5", True), ("*", True), ("*;q=0", False), ("identity", False),
     ("GZIP;Q=1", True), ("gzip;q=x", False), ("*, gzip;q=0", False), ("", False)],
)  # fmt: skip
def test_pages_are_packed_for_who_takes_it(strict: Site, accepted: str, packed: bool) -> None:
    answer = strict.server.ask("/static/site.css", headers={"Accept-Encoding": accepted})
    assert (answer.headers.get("content-encoding") == "gzip") == packed
    assert answer.body.startswith(b"\x1f\x8b") == packed


def test_one_host_cannot_have_all_streams() -> None:
    listeners = Listeners(most=10)
    greedy = [listeners.add("greedy") for _ in range(10)]
    assert not listeners.admits("greedy") and listeners.admits("modest")
    modest = listeners.add("modest")
    assert len(listeners) == 10 and listeners.is_open("modest", modest)
    assert [listeners.is_open("greedy", stream) for stream in greedy] == [False] + [True] * 9
    while listeners.admits("modest"):
        listeners.add("modest")
    assert len(listeners) == 10 and not listeners.admits("modest") and not listeners.admits("greedy")
    listeners.close("modest", modest)
    assert len(listeners) == 9 and listeners.admits("greedy")


def test_tickets_of_one_board_do_not_end_those_of_another(tmp_path: Path) -> None:
    samples = [Sample("t", agent, agent) for agent in ("x", "y")]
    seen = Board(1, "", "").snapshot()
    with closing(open_database(str(tmp_path / "board.db"))) as database:
        matches = Matches(database, most_tickets=5)
        for board in (1, 2):
            matches.show(board, samples)
        tickets = [dealt.ticket for board in [1, *[2] * 20] if (dealt := matches.deal(board, seen))]
        assert matches.find(1, tickets[0]).board == 1
        assert [matches.find(2, ticket).board for ticket in tickets[-5:]] == [2] * 5
        with pytest.raises(Refused):
            matches.find(2, tickets[-6])
