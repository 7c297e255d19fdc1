"""Limits of the live leaderboard, what it says when something goes wrong, and what its log never holds."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator

import pytest
from boards import Caller, Site, admin_token, raw
from serving import serving

VOTE = {"a": "x", "b": "y", "winner": "a", "voter": "ann"}

# A server with small limits, a broken page and a talkative log.
STRICT = """
import logging
import sys
logging.basicConfig(level=logging.DEBUG)
from softcondorcet.serve import content, gate
from softcondorcet.serve.run import run
from softcondorcet.serve.service import Settings
gate.LONGEST_BODY = 2.0
def broken(*_):
    raise RuntimeError("sco_secret of 10.1.2.3")
content.history = broken
run(sys.argv[1], Settings(token_rate=1, voter_rate=0.1, most_agents=30, every=1000), "127.0.0.1", 0)
"""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    address = str(tmp_path_factory.mktemp("strict") / "board.db")
    secret = admin_token(address)
    with serving(address, command=(sys.executable, "-c", STRICT)) as server:
        yield Site(server, address, secret)


def test_what_goes_wrong_inside_is_one_line_in_the_log(strict: Site) -> None:
    before = strict.server.output
    answer = strict.ask("/history.json")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/json")
    assert answer.json == {"detail": "something went wrong here; the log says where"}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    said = strict.server.output.removeprefix(before)
    wanted = r"ERROR:softcondorcet\.serve\.guard:GET '/history\.json': RuntimeError at <string>:\d+\n"
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
