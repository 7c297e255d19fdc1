"""Fits of the live leaderboard: what goes wrong with one is told, and neither ends them nor the service."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.boards import Caller, site, until
from helpers.ledgers import BOARD, board_of, ledger, write

import softcondorcet as sc
from softcondorcet.server.ledger import fit_process
from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.fits import FitFailed, Fits, analyse, keep
from softcondorcet.server.ledger.service import Settings
from softcondorcet.server.ledger.snapshot import Fit, listed
from softcondorcet.server.ledger.writer import MICRO, Entry


def fit_of(board: Board, settings: Settings, **how: Any) -> dict[str, Any]:
    return asyncio.run(analyse(board.wanted(Filter()), settings, **how))


@pytest.fixture(scope="module")
def small() -> Board:
    return board_of(sc.synthetic.tournament(60, agents=6, seed=1)[0])


async def unwritten(_: object) -> Any:
    """Where fits go in tests that do not look at the database."""
    return Fit(1, 1, time.time(), {"values": [50.0], "n_votes": 1})


def test_what_goes_wrong_is_logged_and_tried_again(small: Board, caplog: pytest.LogCaptureFixture) -> None:
    """Files that cannot be opened, a database that is locked, a defect: the loop goes on, and says what it was."""

    class Broken(Board):
        faults: Sequence[Exception] = ()

        def wanted(self, wanted: Filter, upto: int | None = None) -> Any:
            if self.faults:
                self.faults, (fault, *_) = self.faults[1:], self.faults
                raise fault
            return small.wanted(wanted, upto)

    board = Broken(BOARD, "main", "Title", fitted=True)
    board.tell([Entry(1, BOARD, "vote", 1.0, None, None, None, MICRO, None, [[0], [1]])], ["a", "b"])
    board.faults = [OSError(24, "Too many open files"), RuntimeError("sco_secret")]

    async def watched() -> tuple[list[str], Fits]:
        fits, told = Fits(Settings(every=0.1, resamples=0), unwritten, again=0.1), []
        loop = asyncio.create_task(fits.run(lambda: [board], lambda: told.append(fits.failure)))
        late = time.monotonic() + 60
        while not fits.n_made and time.monotonic() < late:
            await asyncio.sleep(0.05)
        loop.cancel()
        return told, fits

    with caplog.at_level(logging.ERROR):
        told, fits = asyncio.run(watched())
    assert fits.n_made == 1 and fits.n_failed == 2 and fits.failure == "" and fits.age is not None
    assert [words for words in dict.fromkeys(told) if words] == [
        "a fit could not be made: Too many open files",
        "a fit could not be made: RuntimeError",
    ]
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == 2 and all("a fit of board main: " in line for line in logged)
    assert "sco_secret" not in "".join(logged)


def test_the_loop_goes_on_whatever_goes_wrong_between_fits(small: Board, caplog: pytest.LogCaptureFixture) -> None:
    """The reason is one line in the log, and is gone when the cause is."""
    fits, told, faults = Fits(Settings(), unwritten), [], [KeyError("sco_secret"), KeyError("sco_secret")]

    def between() -> None:
        told.append(fits.broken)
        if faults:
            raise faults.pop()

    async def watched() -> None:
        loop = asyncio.create_task(fits.run(list, between))
        late = time.monotonic() + 30
        while len(told) < 4 and not loop.done() and time.monotonic() < late:
            await asyncio.sleep(0.05)
        loop.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(watched())
    assert told == ["", "fits cannot be made: KeyError", "fits cannot be made: KeyError", ""]
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith("the loop of fits: KeyError at test_fits.py:")


def test_a_fit_that_takes_too_long_is_ended(small: Board) -> None:
    began = time.monotonic()
    with pytest.raises(FitFailed, match=r"the fit took more than 0\.05 s"):
        fit_of(small, Settings(fit_seconds=0.05))
    assert time.monotonic() - began < 20


def test_a_fit_that_takes_too_much_memory_makes_do_with_ratings() -> None:
    """Nothing but ratings fits into what is left here, once all that is needed for them is loaded."""
    profile = sc.synthetic.tournament(3, agents=1500, size=1500, seed=2)[0]
    board = board_of(profile)
    whole, lean = (fit_of(board, Settings(fit_memory=memory)) for memory in (2**31, 400 * 2**20))
    assert whole["methods"].keys() > {"elo"}
    assert lean["methods"] is None and "too much memory" in lean["unsure"], lean
    assert lean["values"] == whole["values"]
    with pytest.raises(FitFailed, match="the fit ended with "):
        fit_of(board, Settings(fit_memory=50 * 2**20))


def test_a_fit_whose_process_ended_is_tried_again(small: Board, caplog: pytest.LogCaptureFixture) -> None:
    board = board_of(small.wanted(Filter()).profile)
    fits = Fits(Settings(fit_seconds=0.05), unwritten, again=0.1)
    with caplog.at_level(logging.ERROR):
        asyncio.run(fits.attempt(board))
    assert fits.failure == "a fit could not be made: the fit took more than 0.05 s" and not fits.due(board)
    assert "a fit of board main: the fit took more than 0.05 s" in caplog.messages
    late = time.monotonic() + 10
    while not fits.due(board):
        assert time.monotonic() < late, "it is not tried again"
        time.sleep(0.05)


def test_fits_come_at_once_where_ranks_mean_nothing_without_them(small: Board) -> None:
    fits, board = Fits(Settings(every=1000.0), unwritten), board_of(small.wanted(Filter()).profile)
    assert board.pending and fits.due(board)
    board.adopt(Fit(1, board.last, 1.0, {"values": [50.0] * 6, "n_votes": 60}))
    fits.note(board, board.last, 60, 1.0)
    assert not board.pending and not fits.due(board)

    def more(n: int) -> None:
        rows = [
            Entry(board.last + 1 + k, BOARD, "vote", 1.0, None, None, None, MICRO, None, [[0], [1]]) for k in range(n)
        ]
        board.tell(rows, [])

    more(60)
    assert not board.pending and not fits.due(board)
    more(1)
    assert board.pending and fits.due(board)
    assert not replace(board, fitted=False).pending


def test_history_goes_on_after_a_clock_that_was_wrong() -> None:
    """An hour ahead for a while: fits of that time go, later ones are kept as ever."""
    times = [0.0, 700.0, 1400.0, 5000.0, 5700.0, 2100.0, 2800.0, 3500.0]
    with ledger() as (database, _, writer):
        for number, now in enumerate(times, 1):

            def work(transaction: Any, number: int = number, now: float = now) -> Fit:
                transaction.now = now
                return keep(transaction, BOARD, number, {"values": [], "n_votes": number})

            write(writer, work)
        kept = [made for (made,) in database.run("SELECT made FROM fit ORDER BY id")]
    assert kept == [0.0, 700.0, 1400.0, 2100.0, 2800.0, 3500.0]


def test_a_board_never_changed_in_the_future() -> None:
    board = Board(BOARD, "main", "Title")
    board.tell([Entry(1, BOARD, "vote", time.time() + 1e6, None, None, None, MICRO, None, [[0], [1]])], ["a", "b"])
    assert board.changed <= time.time()


def test_few_resamples_are_none(small: Board) -> None:
    """Above so many pairs there are fewer resamples, then none, and the page says why."""
    profile = small.wanted(Filter()).profile
    assert fit_process.analyse(profile, 60)["rank_low"] is not None
    many = sc.synthetic.tournament(4, agents=500, size=400, seed=3)[0]
    found = fit_process.analyse(many, 100, part=True)
    assert len(many.pairs()) > 75_000 and found["rank_low"] is None
    assert found["unsure"] == f"There are no intervals: resampling {len(many.pairs()):,} pairs takes too long here."


def test_the_fewest_votes_are_searched_once() -> None:
    profile = sc.Profile.from_rankings([["x", "y", "z"]] * 3 + [["y", "x", "z"]])
    whole, some = fit_process.analyse(profile, 20), fit_process.analyse(profile, 20, part=True)
    assert (whole["robust"]["flip"]["votes"], some["robust"]["flip"]) == (3, None)
    assert (whole["flip"], some["flip"]) == ("", "")  # searched for reports, and takes longer than all else


def test_boards_of_groups_come_with_the_fit() -> None:
    profile = sc.synthetic.demo()
    found = fit_process.by_group(profile, 20)
    assert found.keys() == set(profile.groups)
    one = profile.groups[0]
    assert profile.group is not None
    alone = fit_process.analyse(listed(profile.take(profile.group == 0)), 20, part=True)
    np.testing.assert_array_equal(found[one]["values"], alone["values"])


def test_groups_of_a_board_count_the_same_where_that_is_asked_for(tmp_path: Path) -> None:
    address = str(tmp_path / "board.db")
    x_first, y_first = {"a": "x", "b": "y", "winner": "a"}, {"a": "x", "b": "y", "winner": "b"}
    votes = [{**x_first, "group": "one"}] * 8 + [{**y_first, "group": "two"}] * 2 + [{**y_first, "group": "three"}]
    for options, first in (((), "x"), (("--balance", "groups"), "y")):  # also a board that was fitted without
        with site(address, "--open", *options) as place:
            board = Caller(place.server)
            if not options:
                board.vote(*votes)
            found = until(partial(_fitted, board, first))
            best = found["rows"][0]
            assert (best["rank"], best["agent"], best["votes"]) == (1, first, 11)
            assert found["condorcet_winner"] == first
            page = board.ask("/").body.decode()
            assert ("each group the same" in page) is bool(options)
            pair = board.get("/pair.json", a="x", b="y")
            assert (pair["wins"], pair["losses"]) == pytest.approx((11 / 3, 22 / 3) if options else (8, 3))
            assert board.get("/leaderboard.json", group="one")["rows"][0]["agent"] == "x"


def _fitted(board: Caller, first: str) -> dict[str, Any] | None:
    """The board, once a fit of all votes has put an agent first."""
    found: dict[str, Any] = board.get("/leaderboard.json")
    ready = found["fit"] is not None and not found["fit"]["behind"] and found["rows"][0]["agent"] == first
    return found if ready else None
