"""Votes that appear twice, and votes that weigh too much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import ALPHA, Finding, critical
from softcondorcet.formatting import number, percent
from softcondorcet.profile import Profile

# Votes of fewer agents repeat by nature: two agents have three results.
_LONG = 5
# A handful of votes is no block.
_BLOCK = 10
# Two votes over the same agents may agree by nature, but hardly more often than this.
_SURE = 0.9
_ADVICE = "Was a file read twice? Keep each vote once: copies count as votes and make intervals too narrow."


def duplicates(case: Case) -> Iterator[Finding]:
    """Votes that were written twice: at one moment, over one set of agents, or as a block of rows.

    Votes may well repeat by chance. Where times are known, two votes of one judge and one moment should differ at
    least as often as they agree; the same for long votes over one set of agents. A block that appears twice, vote by
    vote, is no chance whatever the votes are.
    """
    profile = case.profile
    twice = _same_moment(profile)
    if twice:
        text = f"{twice:,} of {profile.n_votes:,} votes repeat an earlier one exactly"
        yield Finding("caution", "duplicate-votes", twice, text, _ADVICE)
        return
    size, first, again = _block(profile)
    if size:
        text = f"{size:,} votes appear twice, one after the other: from vote {first + 1:,} and from vote {again + 1:,}"
        yield Finding("caution", "duplicate-votes", size, text, _ADVICE)


def duplicate_votes(profile: Profile) -> int:
    """Votes that say exactly what an earlier one says: same order, and same group and time where those are known."""
    if not profile.n_votes:
        return 0
    return profile.n_votes - _distinct(_with(profile, vote_codes(profile)))


def _same_moment(profile: Profile) -> int:
    """Repeated votes among those of one moment and judge (or of one long list of agents), if they are too many."""
    key = _codes(profile, with_tiers=False)
    votes = np.flatnonzero(profile.length >= _LONG)
    if profile.when is not None:
        key, votes = np.zeros_like(key), np.arange(profile.n_votes)
    different = _distinct(_with(profile, vote_codes(profile))[votes])
    same, other = len(votes) - different, different - _distinct(_with(profile, key)[votes])
    # Among same + other, more than half the same: a sign test.
    return same if same > other and (same - other) / math.sqrt(same + other) > critical(1) else 0


def _block(profile: Profile) -> tuple[int, int, int]:
    """Length of a block of votes that appears twice, and where; 0 if there is none that chance cannot make.

    Agents may come in a fixed order, so only results are left to chance: p is the share of equal ones among two votes
    over the same agents, and n^2 p^r bounds the chance that any r votes in a row stand twice. Rows sorted by what they
    say repeat by their order: where neighbours agree more often than others, only the two halves are compared.
    """
    code, n = vote_codes(profile), profile.n_votes
    equal, met = _couples(code), _couples(_codes(profile, with_tiers=False))
    if n < 20 or not equal or equal > n * (n - 1) / 4:  # too few, all different, or mostly one and the same
        return 0, 0, 0
    enough = max(_BLOCK, math.ceil((2 * math.log(n) - math.log(ALPHA)) / -math.log(min(equal / met, _SURE))))
    if n % 2 == 0 and n // 2 >= enough and bool((code[: n // 2] == code[n // 2 :]).all()):
        return n // 2, 0, n // 2
    chance, beside = 2 * equal / (n * (n - 1)), float((code[1:] == code[:-1]).mean())
    if beside > chance + 0.02 + 5 * math.sqrt(chance / n):
        return 0, 0, 0
    gap = _distance(code, enough)
    size, first = _longest_run(code[gap:] == code[:-gap]) if gap else (0, 0)
    return size, first, first + gap


def _distance(code: Ints, length: int) -> int:
    """How far apart equal runs of votes stand, of this length up to a power of two: the most common distance, or 0."""
    step, run = 1, code
    while step < length and len(run) > step:
        run, step = _scramble(run[:-step]) + run[step:], 2 * step
    turn = np.argsort(run, kind="stable")
    again = np.flatnonzero(run[turn][1:] == run[turn][:-1])
    gaps, times = np.unique(turn[again + 1] - turn[again], return_counts=True)
    return int(gaps[np.argmax(times)]) if step >= length and len(gaps) else 0


def _distinct(code: Ints) -> int:
    """Number of distinct values; sorting is several times faster than numpy's hashing here."""
    return int((np.diff(np.sort(code)) != 0).sum()) + 1 if len(code) else 0


def _couples(code: Ints) -> float:
    """Number of pairs of votes with the same code."""
    times = np.unique(code, return_counts=True)[1]
    return float((times * (times - 1.0) / 2).sum())


def _longest_run(flags: Any) -> tuple[int, int]:
    """Length and start of the longest run of True."""
    edge = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    if not len(edge):
        return 0, 0
    length = edge[1::2] - edge[::2]
    best = int(np.argmax(length))
    return int(length[best]), int(edge[2 * best])


def vote_codes(profile: Profile) -> Ints:
    """A 64-bit hash of each vote's order: sums of scrambled (agent, tier) codes.

    The order inside a tier does not matter.
    """
    return _codes(profile, with_tiers=True)


def _codes(profile: Profile, with_tiers: bool) -> Ints:
    tier = profile.tier.astype(np.uint64) if with_tiers else np.uint64(0)
    code = (profile.agent.astype(np.uint64) << np.uint64(32)) + tier
    code = _scramble(code + np.uint64(0x9E3779B97F4A7C15))  # an odd start: 0 would be scrambled to 0
    return np.add.reduceat(code, profile.start[:-1]) if profile.n_votes else code


def _with(profile: Profile, code: Ints) -> Ints:
    """The code of a vote with its group and time, where those are known."""
    for extra in (profile.group, profile.when):
        if extra is not None:
            code = _scramble(code ^ extra.astype(np.float64).view(np.uint64))
    return code


def _scramble(x: Any) -> Any:
    """The finaliser of splitmix64: neighbouring codes become unrelated words (Steele, Lea and Flood, 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def heavy_votes(case: Case) -> Iterator[Finding]:
    """A single vote that outweighs all others."""
    weight = case.profile.weight
    if len(weight) < 20:
        return
    top, usual = int(np.argmax(weight)), float(np.median(weight))
    share = float(weight[top] / weight.sum()) if weight.sum() > 0 else 0.0
    if share > 0.5 and weight[top] > 100 * usual:
        text = (
            f"vote {top + 1:,} has weight {weight[top]:,g}, {percent(share)} of the weight of all "
            f"{len(weight):,} votes; the usual weight is {number(usual)}"
        )
        advice = "A slip in the weight column? If it is meant, the order is that vote's order."
        yield Finding("caution", "heavy-votes", share, text, advice)
