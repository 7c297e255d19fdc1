"""How many fits of votes are worth their time, by the size of the votes: decided before the first of them starts.

Size decides and not a clock, so that the same votes give the same answer on any machine. A fit costs about as much as
it has distinct pairs; ``PAIRS`` of them in all are about ten seconds of one core.

Few but long votes, such as a table of 5,000 models and ten tasks, make far more pairs than entries. ``sco`` then walks
over the votes (``solvers.long_votes``) where that is cheaper, and a resample costs what its entries do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from softcondorcet.formatting import confidence, number, plural
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile

PAIRS = 20_000_000
_BESIDE = 6_000_000
# From so many pairs on a single fit takes seconds and a gigabyte.
MANY = 4_000_000
# What an entry of a long vote costs in a fit over votes, in pairs; and the steps of such a fit, which leave it within
# 0.1 % of the loss that 2,000 reach.
_ENTRY, _STEPS, _TOL = 20, 300, 0.01
# What an agent costs beside its pairs.
_AGENT = 20
# Levels of intervals, and the fewest resamples of which one is left outside at either end.
_LEVELS = ((0.95, 40), (0.9, 20), (0.8, 10))


def distinct_pairs(data: Profile | Pairs) -> int:
    """At most so many pairs of agents are compared; known without counting them."""
    if isinstance(data, Pairs):
        return len(data)
    m, length = data.n_agents, data.length.astype(float)
    return int(min((length * (length - 1) / 2).sum(), m * (m - 1) / 2))


def over_votes(data: Profile | Pairs, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with which a method walks over the votes, where their pairs would take far longer; else none."""
    if method != "sco" or options or isinstance(data, Pairs):
        return {}
    pairs = distinct_pairs(data)
    return {"over": "votes", "steps": _STEPS, "tol": _TOL} if pairs > max(MANY, _ENTRY * len(data.agent)) else {}


def fit_cost(data: Profile | Pairs, options: Mapping[str, Any]) -> int:
    """What a fit of a resample costs, in pairs."""
    if isinstance(data, Profile) and options.get("over") == "votes":
        return max(_ENTRY * len(data.agent), 1)
    return max(distinct_pairs(data) + _AGENT * data.n_agents, 1)


@dataclass(frozen=True)
class Budget:
    """How to fit and resample: options of the method, how many resamples, the level of their intervals.

    ``cuts`` says in sentences what was cut, and why.
    """

    options: Mapping[str, Any]
    resamples: int
    level: float
    cuts: tuple[str, ...] = ()


def budget(data: Profile | Pairs, method: str, options: Mapping[str, Any], resamples: int, most: int = PAIRS) -> Budget:
    """At most so many resamples, fewer for many pairs; none where too few would be left to tell anything.

    >>> budget(Profile.from_rankings([["a", "b"]]), "sco", {}, 200).resamples
    200
    """
    chosen = {**options, **over_votes(data, method, options)}
    cuts = []
    if chosen != dict(options):
        cuts.append(
            f"{method} is fitted over whole votes: {number(distinct_pairs(data))} pairs would take too much time and "
            "memory, so there is no proof of how good the order is."
        )
    affordable = min(resamples, most // fit_cost(data, chosen))
    if affordable == resamples:
        return Budget(chosen, resamples, _LEVELS[0][0], tuple(cuts))
    size = plural(distinct_pairs(data), "pair")
    for level, least in _LEVELS:
        if affordable >= least:
            note = f"{affordable} resamples instead of {resamples:,}: more would take too long with {size}"
            less = level < _LEVELS[0][0]
            cuts.append(f"{note}{f'; so intervals are at {confidence(level)}' if less else ''}.")
            return Budget(chosen, affordable, level, tuple(cuts))
    cuts.append(f"There are no intervals: resampling {size} takes too long.")
    return Budget(chosen, 0, _LEVELS[0][0], tuple(cuts))


def fits_worth(data: Profile | Pairs, options: Mapping[str, Any]) -> int:
    """How many fits of all agents are worth their time beside others: about three seconds of them."""
    return _BESIDE // fit_cost(data, options)
