"""Circumstances: does being shown first help to win, or home ground, a longer answer, the inner lane?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from softcondorcet.arrays import sum_by
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import FEWEST, Finding, Unchecked, critical
from softcondorcet.errors import DataError
from softcondorcet.evaluation.circumstances import sides_of
from softcondorcet.evaluation.controlled import controlled
from softcondorcet.formatting import plural
from softcondorcet.profile import Profile

# A win share that shifts by less than two points moves no order where agents change sides.
_MATTERS = 0.02


def position_bias(case: Case) -> Iterator[Finding]:
    """Does an agent win more against the same rival when it is shown first?

    Each pair of agents is a table of its own: results when the one or the other was shown first. If the position did
    not matter, the results of the first kind would have the mean of both, with the variance of a draw without return
    (Mantel and Haenszel, 1959); so agents may differ in strength and in how often they are shown first.
    """
    profile = case.profile
    if profile.turned is None:
        raise Unchecked("votes do not say who was shown first")
    each, pairs = case.comparisons, case.tally
    battle = profile.length[each.vote] == 2
    size = len(pairs)
    # The agent of the smaller number is shown first if it is the first entry and these are not turned, or both not.
    leads = (each.entry[0] == profile.start[each.vote]) != profile.turned[each.vote]
    pair, count, result = each.pair[battle], each.count[battle], each.result[battle]
    first = count * leads[battle]
    total, ahead = sum_by(pair, count, size), sum_by(pair, first, size)
    mean = sum_by(pair, count * result, size) / np.maximum(total, 1)
    variance = sum_by(pair, count * result**2, size) / np.maximum(total, 1) - mean**2
    both_ways = ahead * (total - ahead) / np.maximum(total, 1)
    if both_ways.sum() < FEWEST:
        raise Unchecked("too few pairs of agents were shown both ways round")
    more = float(sum_by(pair, first * result, size).sum() - (ahead * mean).sum())
    spread = float(np.sqrt((ahead * (total - ahead) / np.maximum(total - 1, 1) * variance).sum()))
    shift = more / float(both_ways.sum()) / 2
    if spread > 0 and abs(more) / spread > critical(1, sides=2) and abs(shift) > _MATTERS:
        side = "first" if shift > 0 else "second"
        share = 100 * (0.5 + abs(shift))
        text = f"shown {side}, an agent wins {share:.0f} % of battles that would be even (z = {abs(more) / spread:.1f})"
        advice = (
            "Show each pair both ways round equally often, or judge each battle twice and keep what agrees; "
            "'sco rank FILE --control first' takes it out of the ratings."
        )
        yield Finding("caution", "position-bias", round(shift, 6), text, advice)


# Columns of entries that are known before a result is; and words in names of those that follow from it.
_OF_ENTRIES = ("lane", "gate", "draw", "stall", "box", "post", "grid", "seat", "slot", "side", "colour", "load")
_AFTER = ("score", "point", "goal", "elo", "rating", "rank", "prob", "odds", "result", "outcome", "win", "rate")
# Comparisons that one more fit takes a second for.
_MOST = 500_000


def circumstances(case: Case) -> Iterator[Finding]:
    """Does what is known of a battle or an entry before its result help to win it: home ground, length, the lane?

    Each circumstance is fitted with the ratings (``controlled``) and tested against none, by votes; of levels the most
    extreme one, with as many tests as there are levels.
    """
    profile = case.profile
    names = candidates(profile)
    if not names:
        raise Unchecked("no columns such as home, length_a and length_b, or lane")
    if case.count.sum() < FEWEST:
        raise Unchecked(f"fewer than {FEWEST} votes")
    if profile.n_pairs_compared > _MOST:
        raise Unchecked(f"the votes make more than {_MOST:,} comparisons")
    chance = 2 * (1 - NormalDist().cdf(critical(len(names), sides=2)))
    votes = replace(profile, weight=case.count)
    for name in names:
        try:
            found = controlled(votes, name, "bradley_terry", prior=0.1)
        except DataError:  # blank, or no numbers
            continue
        strongest = min(found.effects, key=lambda one: one.p)
        if strongest.p * len(found.effects) > chance or abs(strongest.share - 0.5) <= _MATTERS:
            continue
        share = 100 * max(strongest.share, 1 - strongest.share)
        helps = "with" if strongest.share > 0.5 else "against"
        text = f"{strongest.name}: an agent {helps} it ({strongest.unit}) wins {share:.0f} % of what would be even; "
        text += f"{plural(len(found.moved), 'agent')} of {len(found.board)} change rank without it"
        advice = f"'sco rank FILE --control {name}' takes it out of the ratings, unless it belongs to the agents."
        yield Finding("note", "circumstance", round(strongest.share - 0.5, 6), text, advice)


def candidates(profile: Profile) -> list[str]:
    """Names of circumstances that a profile has columns for. Being shown first has a check of its own."""
    found = [name for name in profile.entry_columns if name.casefold() in _OF_ENTRIES]
    if bool((profile.length == 2).all()) and profile.turned is not None:
        home = {name.casefold() for name in profile.columns} & {"home", "neutral", "neutral_ground", "neutral_venue"}
        found += ["home"] if home else []
        found += [name for name in sides_of(profile) if not any(word in name.casefold() for word in _AFTER)]
    return found
