"""Boards made by a version before open, serve, and say the same."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import postgres
from helpers.serving import serving

DATA = Path(__file__).parent / "data"
TOLD = json.loads((DATA / "board.json").read_text())


@pytest.fixture(params=TOLD)
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a board of before, and what was answered about it."""
    if request.param == "sqlite":
        (tmp_path / "board.db").write_bytes(gzip.decompress((DATA / "board.db.gz").read_bytes()))
        yield str(tmp_path / "board.db"), TOLD["sqlite"]
        return
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL is installed here (initdb)")
    import psycopg

    with postgres.cluster() as cluster:
        address = cluster.database()
        with psycopg.connect(address) as connection:
            connection.execute(gzip.decompress((DATA / "board.sql.gz").read_bytes()))
        yield address, TOLD["postgres"]


# Ratings were places from 0 to 100, and are Elo points under the same order.
SCALED = {"rating", "rating_low", "rating_high", "win_chance", "schema"}


def assert_within(told: Any, now: Any) -> None:
    """All that was told is told now; fields may have come."""
    if isinstance(told, dict):
        for key, value in told.items():
            if key not in SCALED:
                assert_within(value, now[key])
    elif isinstance(told, list):
        assert len(told) == len(now)
        for one, other in zip(told, now, strict=True):
            assert_within(one, other)
    else:
        assert now == (pytest.approx(told, abs=1e-6) if isinstance(told, float) else told)


def test_a_board_of_before_serves_and_takes_votes(board: tuple[str, dict[str, Any]]) -> None:
    address, told = board
    votes = told["votes"]
    headers = {"Authorization": f"Bearer {told['secret']}"}
    with serving(address, "--every", "100000") as server:
        for path, answer in told["answers"].items():
            assert_within(answer, server.ask(path).json)
        ratings = [row["rating"] for row in server.ask("/leaderboard.json").json["rows"]]
        assert ratings == sorted(ratings, reverse=True) and sum(ratings) / len(ratings) == pytest.approx(1000)
        again = server.ask("/votes", votes, headers={**headers, "Idempotency-Key": "sent once"})
        assert (again.status, again.json["last"], again.headers["idempotent-replayed"]) == (201, len(votes), "true")
        new = server.ask("/votes", {"a": "z", "b": "x", "winner": "a", "voter": "ann"}, headers=headers)
        assert new.status == 201 and new.json["id"] > len(votes)
        assert server.ask("/votes", votes[0]).status == 401, "its tokens are known"
        before = told["answers"]["/leaderboard.json"]
        now = server.ask("/leaderboard.json").json
        assert (now["n_votes"], now["fit"]["behind"]) == (before["n_votes"] + 1, 1)
        assert server.ask("/match.json", headers=headers).json["task"] == "sum"
