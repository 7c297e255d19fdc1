"""Voters whose votes are improbable, and why, in words for the one who must decide what to do about them.

Four questions are asked of every voter: is one agent lifted or sunk more than a taste can explain (``campaigns``); are
the majorities of the others contradicted more often than not; are the votes those of another voter, one by one; and
did they come faster, or more evenly, than people vote? Each has its own correction for how many voters it is asked of.
A voter who is named here has not been found guilty: an admin looks, and a quarantine can be taken back.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.doctor.case import Case
from softcondorcet.doctor.chance import ALPHA, FEWEST
from softcondorcet.doctor.finding import Unchecked
from softcondorcet.doctor.judges import dissenting
from softcondorcet.doctor.repeats import vote_codes
from softcondorcet.profile import Profile
from softcondorcet.serve.campaigns import Campaign, campaigns

# Standard deviations below one half of the votes on the side of the majority: no careless voter gets there.
_AGAINST = 3.0
# Gaps between votes count as even within a tenth of their median; at most this share of a person's are.
_EVEN, _USUALLY_EVEN = 0.1, 0.25
# Seconds between votes that nobody reads in, where the others take at least so long.
_TOO_FAST, _READING = 1.0, 5.0

Reason = tuple[int, str]


def suspects(profile: Profile, voters: Ints, names: Sequence[str]) -> list[dict[str, Any]]:
    """Voters to look at, those with most votes first: `voter`, `votes`, and `why`, a list of sentences.

    `voters` has the number of each vote's voter among `names`, or -1.
    """
    why: dict[int, list[str]] = defaultdict(list)
    for question in (_lifted, _contrary, _in_step, _timed):
        for voter, sentence in question(profile, voters, len(names)):
            why[voter].append(sentence)
    votes = np.bincount(voters[voters >= 0], minlength=len(names))
    found = [{"voter": names[v], "votes": int(votes[v]), "why": sentences} for v, sentences in why.items()]
    return sorted(found, key=lambda one: (-one["votes"], one["voter"]))


def _lifted(profile: Profile, voters: Ints, size: int) -> Iterator[Reason]:
    for found in campaigns(profile, voters, size):
        yield found.voter, _said(found, profile.agents[found.agent])


def _said(found: Campaign, agent: str) -> str:
    place = "last" if found.down else "first"
    return (
        f"puts {agent} {place} in {found.won:,} of {found.met:,} votes that have it; {found.met:,} of {found.votes:,} "
        f"votes have it, where {100 * found.usual:.2g} % is usual"
    )


def _contrary(profile: Profile, voters: Ints, size: int) -> Iterator[Reason]:
    """Voters on the other side of clear majorities: not only less often on theirs, as the careless are."""
    case = Case(replace(profile, group=np.where(voters < 0, size, voters), groups=(*map(str, range(size)), "none")))
    try:
        against = dissenting(case, {})
    except Unchecked:  # fewer than three voters, or too many comparisons to look at one by one
        return
    votes = np.bincount(case.by_group)
    for voter, had, due in against:
        if voter < size and (0.5 - had) * 2 * math.sqrt(votes[voter]) > _AGAINST:
            yield (
                voter,
                (
                    f"sides with the majority of the others in {100 * had:.0f} % of comparisons, "
                    f"where {100 * due:.0f} % is usual"
                ),
            )


def _in_step(profile: Profile, voters: Ints, size: int) -> Iterator[Reason]:
    """Voters who cast the same votes, where chance makes it improbable that any two who compare the same agents do.

    The chance of a vote is its share of the votes over the same agents. What is compared may be given to voters, so
    only results count.
    """
    known = np.flatnonzero(voters >= 0)
    if not len(known):
        return
    said = vote_codes(profile)
    asked = vote_codes(replace(profile, tier=np.zeros(len(profile.tier), dtype=np.int64)))
    chance = sum_by(voters[known], (np.log(_times(said)) - np.log(_times(asked)))[known], size)
    turn = known[np.argsort(voters[known], kind="stable")]
    who, first = np.unique(voters[turn], return_index=True)
    same: dict[tuple[int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    sums = (np.add.reduceat(code[turn], first).tolist() for code in (asked, said))
    for voter, asks, says, n in zip(who.tolist(), *sums, np.diff([*first, len(turn)]).tolist(), strict=True):
        same[asks, n][says].append(voter)
    for classes in same.values():
        together = sum(len(group) for group in classes.values())
        for group in classes.values():
            likely = math.exp(chance[group[0]]) * together * (together - 1) / 2 * len(same)
            if len(group) > 1 and likely < ALPHA:
                for voter in group:
                    yield voter, f"casts the same votes, one by one, as {len(group) - 1:,} other voters"


def _times(code: Ints) -> Floats:
    """How often the code of each vote comes."""
    _, of, times = np.unique(code, return_inverse=True, return_counts=True)
    return times[of].astype(float)


def _timed(profile: Profile, voters: Ints, size: int) -> Iterator[Reason]:
    """Voters unlike the others in pace. Votes of one moment came in one request: their times say nothing."""
    if profile.when is None:
        return
    turn = np.lexsort((profile.when, voters))
    turn = turn[voters[turn] >= 0]
    gap, of = np.diff(profile.when[turn]), voters[turn]
    kept = (of[1:] == of[:-1]) & (gap > 0)
    gap, of = gap[kept], of[1:][kept]
    tested, first = np.unique(of, return_index=True)
    gaps = dict(zip(tested.tolist(), np.split(gap, first[1:]), strict=True)) if len(tested) else {}
    gaps = {voter: own for voter, own in gaps.items() if len(own) >= FEWEST}
    if not gaps:
        return
    middle = {voter: float(np.median(own)) for voter, own in gaps.items()}
    even = {voter: int((np.abs(own / middle[voter] - 1) < _EVEN).sum()) for voter, own in gaps.items()}
    regular = {v for v, k in even.items() if _improbable(k, len(gaps[v]), len(gaps))}
    if 4 * len(regular) <= len(gaps):  # where most voters are programs, to be one is no mark
        for voter in regular:
            often = f"{even[voter]:,} of {len(gaps[voter]):,} times after {_seconds(middle[voter])}"
            yield voter, f"votes as evenly as a clock: {often}"
    if float(np.median(list(middle.values()))) >= _READING:
        for voter, own in middle.items():
            if own < _TOO_FAST:
                yield voter, f"votes faster than people read: half of {len(gaps[voter]):,} times within {_seconds(own)}"


def _improbable(k: int, n: int, tests: int) -> bool:
    """Whether k even gaps of n are too many in one of several tests: Chernoff's bound on the tail of the binomial."""
    share = k / n
    if share <= _USUALLY_EVEN:
        return False
    less = (1 - share) * math.log((1 - share) / (1 - _USUALLY_EVEN)) if share < 1 else 0.0
    return n * (share * math.log(share / _USUALLY_EVEN) + less) > math.log(tests / ALPHA)


def _seconds(gap: float) -> str:
    return f"{gap:.2g} s" if gap < 100 else f"{gap:,.0f} s"
