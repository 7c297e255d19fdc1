"""Truncated ballots: agents that a vote does not list are ranked below those that it lists."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from softcondorcet.columns import Columns
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import plural
from softcondorcet.io.cells import Table, is_blank
from softcondorcet.io.number_text import read_numbers
from softcondorcet.profile import Profile

# Columns of a ballot: 1st, 2nd; choice 1, rank_2, preference3.
_PLACE = re.compile(
    r"(choice|rank|rank choice|preference|pref|place|vote)[\s_-]*(\d+)|(\d+)(?:[snr][td]|th)(?:[\s_-]*choice)?", re.I
)
# Entries of a profile, at 8 bytes each and as many again while it is made.
_MOST = 200_000_000


def with_ranking(table: Table) -> Table:
    """The table with one column ``ranking`` for columns such as ``1st, 2nd, 3rd`` or ``choice 1, choice 2``.

    Blank cells are places that the ballot leaves open.
    """
    columns = table.columns
    places = [_PLACE.fullmatch(title.strip()) for title in columns]
    words = [found[1].casefold() if found and found[1] else "" for found in places]
    titles = {int(found[2] or found[3]): t for found, t in zip(places, columns, strict=True) if found}
    used = [titles[k] for k in sorted(titles)]
    several = len({word for word, found in zip(words, places, strict=True) if found}) == 1
    if len(used) < 2 or sorted(titles) != [*range(1, len(used) + 1)] or not several or table.find("ranking"):
        return table
    cells = [table.cells(title) for title in used]
    if all(is_blank(cell) or _is_number(cell) for column in cells for cell in column):
        return table  # scores in numbered columns
    ranking = [[cell for cell in ballot if not is_blank(cell)] for ballot in zip(*cells, strict=True)]
    others = {title: table.cells(title) for title in columns if title not in used}
    return Table(table.name, {**others, "ranking": ranking}, table.place, text=table.text)


def _is_number(cell: object) -> bool:
    return read_numbers([cell], False) is not None


def with_unlisted_last(profile: Profile) -> Profile:
    """The votes with one more tier, the last, of all agents that they leave out; an election is what they then are."""
    name = profile.source.name if profile.source else "votes"
    if profile.turned is not None:
        words = f"'absent': {name} holds battles, and who was not there did not lose"
        raise OptionError(f"unlisted must be {words}, got 'last'")
    m, n = profile.n_agents, profile.n_votes
    if m * n > _MOST:
        raise DataError(
            f"{name}: {plural(n, 'vote')} over all {m:,} agents hold {m * n:,} entries; expected at most {_MOST:,} for "
            "unlisted='last': choose votes or agents (where)"
        )
    left_out = m - profile.length
    start, vote = m * np.arange(n + 1), np.repeat(np.arange(n), profile.length)
    place = np.arange(len(profile.agent)) - profile.start[vote] + start[vote]
    listed = np.zeros((n, m), dtype=bool)
    listed[vote, profile.agent] = True
    rest = np.nonzero(~listed)
    behind = np.ones(n * m, dtype=bool)
    behind[place] = False
    agent, tier = np.empty(n * m, dtype=np.int32), np.empty(n * m, dtype=np.int32)
    agent[place], agent[behind] = profile.agent, rest[1]
    tier[place], tier[behind] = profile.tier, m
    score = None
    if profile.score is not None:
        score = np.full(n * m, np.nan)
        score[place] = profile.score
    source = profile.source
    if source is not None:
        short = int((left_out > 0).sum())
        note = f"{short:,} of {plural(n, 'vote')} leave agents out, who stand last there"
        source = replace(source, notes=(*source.notes, note))
    return replace(
        profile,
        start=start,
        agent=agent,
        tier=tier,
        score=score,
        entry_columns=Columns(),
        kind="election",
        source=source,
    )
