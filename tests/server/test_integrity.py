"""Voters whose votes are improbable are listed for admins, and a quarantine can be taken back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.rigging import NAMES, Style, crowd, rigged
from helpers.serving import Server, serving

from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.writer import Transaction

TARGET = 11


@pytest.fixture(scope="module", name="admin")
def _admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    address = str(tmp_path_factory.mktemp("integrity") / "board.db")
    database = open_database(address)
    with database.transaction():
        _, secret = tokens.add(Transaction(database, 1, {}), None, "admin", "test")
    database.close()
    with serving(address, "--every", "0.1") as server:
        yield server, {"Authorization": f"Bearer {secret}"}


def fitted(server: Server) -> dict[str, Any]:
    """The leaderboard, once a fit has seen all."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found: dict[str, Any] = server.ask("/leaderboard.json").json
        if found["fit"] is not None and found["fit"]["behind"] == 0:
            return found
        time.sleep(0.1)
    raise AssertionError("no fit in a minute")


def fits(server: Server) -> int:
    found = re.search(r"^sco_fits (\d+)", server.ask("/metrics").body.decode(), re.M)
    assert found is not None
    return int(found[1])


def test_a_quarantine_through_the_server_and_back(admin: tuple[Server, dict[str, str]]) -> None:
    server, headers = admin
    votes = crowd(7, 800) + rigged(7, Style(2), TARGET, votes=200)
    assert server.ask("/votes", votes.bodies(), headers=headers).status == 201
    with_all = fitted(server)
    found = server.ask("/voters.json", headers=headers).json
    assert {"rigger-0", "rigger-1"} == {one["voter"] for one in found["suspects"]}
    assert server.ask("/voters.json").status == 401
    named, before = [one["voter"] for one in found["suspects"]], fits(server)
    for wrong, status in (([*named, "nobody"], 404), ([], 422), (["\u200b"], 422)):  # all or none
        assert server.ask("/quarantine", {"voters": wrong}, headers=headers).status == status
    done = server.ask("/quarantine?why=together", {"voters": named}, headers=headers)
    assert done.status == 201 and done.json["n"] == 2
    without = fitted(server)
    assert fits(server) == before + 1
    assert without["n_votes"] == 800
    target = NAMES[TARGET]
    places = [[row["agent"] for row in board["rows"]].index(target) for board in (with_all, without)]
    assert places[0] < places[1]
    found = server.ask("/voters.json", headers=headers).json
    assert found == {"suspects": [], "quarantined": ["rigger-0", "rigger-1"]}
    for voter in ("rigger-0", "rigger-1"):
        assert server.ask(f"/release?voter={voter}", method="POST", headers=headers).status == 201
    again = fitted(server)
    assert again["rows"] == with_all["rows"]
    assert again["n_votes"] == with_all["n_votes"]
