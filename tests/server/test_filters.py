"""Leaderboards of some of the votes: fitted once for each fit of the board, for each caller in measure."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from helpers.ledgers import board_of

import softcondorcet as sc
from softcondorcet.server.ledger import fit_process
from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.fits import FilteredBoards, TooMany, UnknownGroup
from softcondorcet.server.ledger.service import Settings
from softcondorcet.server.ledger.snapshot import Fit


@pytest.fixture(scope="module", name="demo")
def _demo() -> Board:
    board = board_of(sc.synthetic.demo())
    profile = board.wanted(Filter()).profile
    values = [float(k) for k in range(profile.n_agents)]
    board.adopt(
        Fit(1, board.last, 1.0, {"values": values, "n_votes": profile.n_votes}), fit_process.by_group(profile, 0)
    )
    return board


def settings() -> Settings:
    return Settings(resamples=0)


def test_the_board_of_a_group_is_the_fit_of_its_votes_alone(demo: Board) -> None:
    wanted = Filter(group=demo.votes.groups.names[0])
    ready = asyncio.run(FilteredBoards(settings()).snapshot(demo, wanted, "host"))
    own = demo.wanted(wanted).profile
    assert ready.n_votes == own.n_votes and ready.ratings.agents == own.agents
    assert ready.ratings.order == sc.sco(own).order
    assert ready.pairs.total == own.pairs().total
    # What came with the fit is of other votes where some were removed since: then it is made anew.
    changed = board_of(demo.wanted(Filter()).profile)
    changed.fit, changed.by_group = demo.fit, demo.by_group
    group = changed.wanted(Filter()).profile.group
    assert group is not None
    changed.votes.retract(int((group == 0).argmax()) + 1)
    again = asyncio.run(FilteredBoards(settings()).snapshot(changed, wanted, "host"))
    assert again.n_votes == own.n_votes - 1


def test_votes_since_the_fit_are_not_in_it(demo: Board) -> None:
    board = board_of(demo.wanted(Filter()).profile)
    assert demo.fit is not None
    board.adopt(replace(demo.fit, last=100))
    seen = asyncio.run(FilteredBoards(settings()).snapshot(board, Filter(since=0.0), "host"))
    assert (seen.n_votes, seen.last) == (100, 100)


def test_a_view_is_made_once_for_each_fit(demo: Board) -> None:
    async def asked() -> list[Any]:
        filtered, wanted = FilteredBoards(settings()), Filter(since=1.0)
        both = await asyncio.gather(*(filtered.snapshot(demo, wanted, host) for host in ("a", "b")))
        return [*both, await filtered.snapshot(demo, wanted, "c")]

    one, two, three = asyncio.run(asked())
    assert one is two is three


def test_a_caller_has_few_at_a_time_and_others_still_get_theirs(demo: Board) -> None:
    async def asked() -> list[Any]:
        filtered = FilteredBoards(settings())
        greedy = [filtered.snapshot(demo, Filter(since=float(k)), "greedy") for k in range(12)]
        modest = filtered.snapshot(demo, Filter(until=1e10), "modest")
        return list(await asyncio.gather(*greedy, modest, return_exceptions=True))

    *greedy, modest = asyncio.run(asked())
    refused = [one for one in greedy if isinstance(one, TooMany)]
    assert len(refused) == 10 and all(one.wait >= 1 for one in refused)
    assert modest.n_votes == demo.wanted(Filter()).profile.n_votes


def test_an_unknown_group_is_an_error(demo: Board) -> None:
    with pytest.raises(UnknownGroup, match="no group 'nobody' on this board"):
        asyncio.run(FilteredBoards(settings()).snapshot(demo, Filter(group="nobody"), "host"))
