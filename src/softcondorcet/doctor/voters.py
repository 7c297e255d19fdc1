"""Suspicious voters: votes that chance does not explain, with reasons in words for the admin who decides.

Four questions are asked of every voter: is one agent lifted or sunk more than a taste can explain (``campaigns``); are
the majorities of the others contradicted more often than not; are the votes those of another voter, one by one; and
did they come faster, or more evenly, than people vote? Each has its own correction for how many voters it is asked of.
A voter who is named here has not been found guilty: somebody has to look.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.doctor.campaigns import campaigns
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.duplicates import vote_codes
from softcondorcet.doctor.finding import ALPHA, FEWEST, Finding, Unchecked
from softcondorcet.doctor.judges import dissenting
from softcondorcet.formatting import percent, some
from softcondorcet.profile import Profile

# Standard deviations below one half of the votes on the side of the majority: no careless voter gets there.
_AGAINST = 3.0
# Gaps between votes count as even within a tenth of their median; at most this share of a person's are.
_EVEN, _USUALLY_EVEN = 0.1, 0.25
# Seconds between votes that nobody reads in, where the others take at least so long.
_TOO_FAST, _READING = 1.0, 5.0

Reason = tuple[int, str]


def suspects(profile: Profile) -> list[dict[str, Any]]:
    """Suspicious voters, those with most votes first: `voter`, `votes`, and `why`, a list of sentences."""
    why: dict[int, list[str]] = defaultdict(list)
    case = Case(profile)
    for question in QUESTIONS.values():
        try:
            for voter, sentence in question(case):
                why[voter].append(sentence)
        except Unchecked:  # no voters, fewer than three, or too many comparisons to look at one by one
            continue
    by = profile.voter
    listed = [{"voter": profile.voters[v], "votes": int(np.sum(by == v)), "why": said} for v, said in why.items()]
    return sorted(listed, key=lambda one: (-one["votes"], one["voter"]))


def campaign_voters(case: Case) -> Iterator[Reason]:
    """Voters who lift or sink one agent."""
    for campaign in campaigns(case.profile, case.by_voter, len(case.profile.voters)):
        yield campaign.voter, campaign.sentence(case.profile.agents)


def dissenting_voters(case: Case) -> Iterator[Reason]:
    """Voters on the other side of clear majorities: not only less often on theirs, as the careless are."""
    voters, size = case.by_voter, len(case.profile.voters)
    names = (*map(str, range(size)), "none")
    by_voter = Case(case.profile.with_groups(np.where(voters < 0, size, voters), names), case.most)
    try:
        votes = np.bincount(by_voter.by_group)
    except Unchecked:
        raise Unchecked("fewer than 3 voters") from None
    against = dissenting(by_voter, {})
    for voter, had, due in against:
        if voter < size and (0.5 - had) * 2 * math.sqrt(votes[voter]) > _AGAINST:
            yield (
                voter,
                (
                    f"sides with the majority of the others in {percent(had)} of comparisons, "
                    f"where {percent(due)} is usual"
                ),
            )


def copying_voters(case: Case) -> Iterator[Reason]:
    """Voters who cast the same votes, where chance makes it improbable that any two who compare the same agents do.

    The chance of a vote is its share of the votes over the same agents. What is compared may be given to voters, so
    only results count.
    """
    profile, voters, size = case.profile, case.by_voter, len(case.profile.voters)
    known = np.flatnonzero(voters >= 0)
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
    """Number of votes that share the code of each vote."""
    _, of, times = np.unique(code, return_inverse=True, return_counts=True)
    return times[of].astype(float)


def pace_of_voters(case: Case) -> Iterator[Reason]:
    """Voters unlike the others in pace. Votes of one moment came in one request: their times say nothing."""
    profile, voters = case.profile, case.by_voter
    if profile.when is None:
        raise Unchecked("votes have no time")
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


QUESTIONS: dict[str, Callable[[Case], Iterator[Reason]]] = {
    "voter-campaign": campaign_voters,
    "voter-dissent": dissenting_voters,
    "voter-copies": copying_voters,
    "voter-pace": pace_of_voters,
}
# What these voters have in common, and what to do about them.
_WORDS = {
    "voter-campaign": ("vote for or against one agent more than a taste explains", "Are they its makers, or its fans?"),
    "voter-dissent": ("contradict clear majorities of the others", "Are their labels the wrong way round?"),
    "voter-copies": ("cast the votes of another voter, one by one", "Are they one person, or one program?"),
    "voter-pace": ("vote faster or more evenly than people do", "Are they programs?"),
}


def _check(name: str, case: Case) -> Iterator[Finding]:
    reasons = dict(QUESTIONS[name](case))
    if reasons:
        voters, (what, question) = case.profile.voters, _WORDS[name]
        shown = some([f"{voters[v]} {why}" for v, why in reasons.items()])
        text = f"{len(reasons):,} of {len(voters):,} voters {what}: {shown}"
        advice = f"{question} Look at their votes; then rate without those that should not count."
        yield Finding("caution", name, len(reasons), text, advice, tuple(voters[v] for v in reasons))


CHECKS: dict[str, Callable[[Case], Iterator[Finding]]] = {name: partial(_check, name) for name in QUESTIONS}
