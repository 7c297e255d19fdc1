"""Fits of the past are read once, and answers say which software gave them."""

from __future__ import annotations

from typing import Any

from helpers.ledgers import BOARD, ledger, write
from starlette.requests import Request

from softcondorcet import __version__
from softcondorcet.server.ledger.database import Database
from softcondorcet.server.ledger.fits import FitHistory, keep
from softcondorcet.server.web.etags import etag, has, reply


def found(number: int) -> dict[str, object]:
    return {"values": [float(number), 50.0], "n_votes": number, "summary": "not wanted here"}


class Counted:
    """A database that tells which fits were read."""

    def __init__(self, database: Database) -> None:
        self._database, self.read = database, list[int]()

    def reader(self) -> Counted:
        self._reader = self._database.reader()
        return self

    def run(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        if sql.startswith("SELECT body"):
            self.read += values
        return self._reader.run(sql, values)

    def close(self) -> None:
        self._reader.close()


def test_a_fit_is_read_once_and_forgotten_when_it_is_gone() -> None:
    with ledger() as (database, _, writer):
        counted = Counted(database)
        kept = FitHistory(counted)  # type: ignore[arg-type]
        assert kept.of(BOARD) == []
        for number in (1, 2, 3):
            write(writer, lambda transaction, number=number: keep(transaction, BOARD, number, found(number)))
            fits = kept.of(BOARD)
            assert [fit.id for fit in fits][-1] == number == fits[-1].n_votes
            assert fits[-1].values.tolist() == [float(number), 50.0]
        assert counted.read == [1, 2, 3]
        assert [fit.id for fit in fits] == [1, 3]  # the second was too close to the third to be history


def test_as_many_are_kept_as_there_is_room_for() -> None:
    with ledger() as (database, _, writer):
        counted = Counted(database)
        kept = FitHistory(counted, most=3)  # type: ignore[arg-type]
        for number in (1, 2):
            write(writer, lambda transaction, number=number: keep(transaction, BOARD, number, found(number)))
        assert [fit.n_votes for fit in kept.of(BOARD)] == [1, 2] == [fit.n_votes for fit in kept.of(BOARD)]
        assert counted.read == [1, 2, 1]  # the second stays


def test_an_etag_names_snapshot_version_and_what_else_is_shown() -> None:
    tag = etag("7-1")
    assert len({tag, etag("7-2"), etag("7-1", "group"), etag("7-1", "other"), etag("7-1", "other", "8-1")}) == 5
    assert __version__ in tag
    for sent, known in [(tag, True), (f"W/{tag}", True), (f'"x", {tag}', True), (tag[:-1] + '0"', False), ("", False)]:
        asks = Request({"type": "http", "headers": [(b"if-none-match", sent.encode())]})
        assert has(asks, tag) == known
        assert reply(asks, tag, lambda: b"{}").status_code == (304 if known else 200)
