"""The effect of a quarantine before it is applied: ranks with and without the votes of some voters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.fits import analyse
from softcondorcet.server.ledger.limits import Busy
from softcondorcet.server.ledger.snapshot import Fit, snapshot_of
from softcondorcet.server.ledger.writer import Refused
from softcondorcet.server.web import content
from softcondorcet.server.web.http import Site

# Agents that are listed.
_MOST = 50


@dataclass(frozen=True)
class RankChange:
    """An agent with its rank now and without the votes; None where it has none."""

    agent: str
    now: int | None
    without: int | None


@dataclass(frozen=True)
class RankChanges:
    """Agents whose rank would change, best first, and the number of votes that would count no longer."""

    rows: Sequence[RankChange]
    n_votes: int


async def rank_changes(site: Site, board: Board, voters: Sequence[str]) -> RankChanges:
    """Fit the votes of the others alone, and compare with the last fit of all; one at a time for all admins."""
    if site.previewing.locked():
        raise Busy("another effect is computed; come back soon")
    async with site.previewing:
        if board.pending or board.fit is None:
            raise Refused("the votes are being fitted; ask again in a few seconds")
        now = await asyncio.to_thread(board.snapshot)
        votes = await asyncio.to_thread(board.wanted, Filter())
        codes = [board.votes.voters.find(voter) for voter in voters]
        kept = ~np.isin(votes.voters, [code for code in codes if code is not None])
        left = votes.profile.take(kept)
        left = left.balanced() if left.balance is not None else left
        rest = replace(votes, profile=left, voters=votes.voters[kept])
        settings = replace(site.service.settings, resamples=0)
        found = await analyse(rest, settings, part=True)
        if "error" in found:
            raise Refused(found["error"])
        then = await asyncio.to_thread(snapshot_of, rest, Fit(0, rest.last, time.time(), found))
    after = {row.agent: row.rank for row in content.rows(then)}
    changed = [RankChange(row.agent, row.rank, after.get(row.agent)) for row in content.rows(now)]
    return RankChanges([one for one in changed if one.now != one.without][:_MOST], int((~kept).sum()))
