"""Fits of the past are read once, and answers say which software gave them."""

from __future__ import annotations

import pytest
from ledgers import BOARD, ledger, write
from starlette.requests import Request

from softcondorcet import __version__
from softcondorcet.serve import past
from softcondorcet.serve.past import Past
from softcondorcet.serve.routes import reply
from softcondorcet.serve.service import keep


def found(number: int) -> dict[str, object]:
    return {"values": [float(number), 50.0], "n_votes": number, "summary": "not wanted here"}


def test_a_fit_is_read_once_and_forgotten_when_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    once = past._read
    monkeypatch.setattr(past, "_read", lambda reader, number, made: read.append(number) or once(reader, number, made))
    with ledger() as (database, _, writer):
        kept = Past(database)
        assert kept.of(BOARD) == []
        for number in (1, 2, 3):
            write(writer, lambda made, number=number: keep(made, BOARD, number, found(number)))
            fits = kept.of(BOARD)
            assert [fit.id for fit in fits][-1] == number == fits[-1].n_votes
            assert fits[-1].values.tolist() == [float(number), 50.0]
        assert read == [1, 2, 3]
        assert [fit.id for fit in fits] == [1, 3]  # the second was too close to the third to be history


def test_as_many_are_kept_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "_MOST", 3)
    with ledger() as (database, _, writer):
        kept = Past(database)
        for number in (1, 2):
            write(writer, lambda made, number=number: keep(made, BOARD, number, found(number)))
        assert [fit.n_votes for fit in kept.of(BOARD)] == [1, 2] == [fit.n_votes for fit in kept.of(BOARD)]
        assert list(kept._known) == [2]


def test_another_version_of_the_software_is_another_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tag = reply(Request({"type": "http", "headers": []}), "7-1", lambda: b"{}").headers["etag"]
    assert __version__ in tag
    asks = Request({"type": "http", "headers": [(b"if-none-match", tag.encode())]})
    assert reply(asks, "7-1", lambda: b"{}").status_code == 304
    monkeypatch.setattr("softcondorcet.serve.routes.__version__", "another")
    assert reply(asks, "7-1", lambda: b"{}").status_code == 200
