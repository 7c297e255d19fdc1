"""Tiers of votes: numbered 0, 1, 2, ... inside each vote, with the check that no agent stands in a vote twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from softcondorcet.arrays import Flags, Ints
from softcondorcet.errors import DataError

Ranking = Sequence[str | Sequence[str]]


def tiers_of(agents: Sequence[str], start: Ints, agent: Ints, tier: Ints) -> Ints:
    """Dense tiers of votes whose entries stand best first."""
    length = np.diff(start)
    if bool((length == 2).all()):
        dense = _of_battles(agents, agent.reshape(-1, 2), tier.reshape(-1, 2))
        return tier if dense is None else dense
    m, vote = len(agents), np.repeat(np.arange(len(length)), length)
    seen = np.sort(vote * m + agent)
    check_each(
        seen[1:] == seen[:-1],
        lambda e: f"vote {seen[e] // m + 1}: agent {agents[seen[e] % m]!r} appears twice",
    )
    return _dense(start, tier, vote)


def _of_battles(agents: Sequence[str], agent: Ints, tier: Ints) -> Ints | None:
    """The same where every vote has two agents, without sorting: millions of battles. None where they are dense."""
    check_each(
        agent[:, 0] == agent[:, 1],
        lambda v: f"vote {v + 1}: agent {agents[agent[v, 0]]!r} appears twice",
    )
    check_each(tier[:, 1] < tier[:, 0], lambda v: f"vote {v + 1}: tiers must not fall, entries stand best first")
    step = tier[:, 1] > tier[:, 0]
    if not tier[:, 0].any() and bool((step == tier[:, 1]).all()):
        return None
    dense = np.zeros(tier.size, dtype=np.int32)
    dense[1::2] = step
    return dense


def _dense(start: Ints, tier: Ints, vote: Ints) -> Ints:
    first = np.zeros(len(tier), dtype=bool)
    first[start[:-1]] = True
    rise = np.diff(tier, prepend=tier[:1]).astype(np.int64)
    check_each(~first & (rise < 0), lambda e: f"vote {vote[e] + 1}: tiers must not fall, entries stand best first")
    step = (rise > 0) & ~first
    dense = np.cumsum(step)
    return (dense - dense[start[:-1]][vote]).astype(np.int32)


def check_each(wrong: Flags, message: Callable[[int], str]) -> None:
    """Raise a ``DataError`` about the first entry that is wrong, if one is."""
    if wrong.any():
        raise DataError(message(int(np.argmax(wrong))))


def entries(ranking: Ranking, where: str) -> Iterator[tuple[str, int]]:
    """Each agent of a list of names, best first, with its tier; a nested list is a tie. `where` is for errors."""
    if isinstance(ranking, str) or not isinstance(ranking, Sequence):
        raise DataError(f"{where}: expected a list of agents, got {ranking!r}")
    for tier, entry in enumerate(ranking):
        for name in entry if isinstance(entry, list | tuple | set | frozenset) else [entry]:
            if not isinstance(name, str) or not name:
                raise DataError(f"{where}: expected agent names (strings), got {name!r}")
            yield name, tier
