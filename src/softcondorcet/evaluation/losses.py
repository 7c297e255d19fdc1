"""The paper's two smooth losses of any ratings, whatever made them: Lanctot et al., AAMAS 2025, section 3.

``sigmoid_loss`` is eq. (5): over all votes and all pairs a above b in a vote, the sum of

    sigma((r_b - r_a) / temperature).

``fenchel_young_loss`` is that of the appendix (after Berthet et al., 2020): the sum over votes of F(r) - y . r, where y
are the places of the agents in the vote counted from the worst, and F(r) = E[y*(r + sigma Z) . (r + sigma Z)], y* being
the places by noisy ratings. The sum of places times values is the sum over pairs of the larger value. So a pair of
which a is above b adds E[max(r_a + sigma Z_a, r_b + sigma Z_b)] - r_a, which has a closed form:

    Gumbel noise:  sigma (log(1 + exp(-d)) + 0.5772...),          d = (r_a - r_b) / sigma
    normal noise:  s phi(d) - (r_a - r_b) (1 - Phi(d)),           d = (r_a - r_b) / s,  s = sqrt(2) sigma

A tie in a vote counts as half of either side. Cost: one pass over the pairs.

When they mislead: losses at two temperatures, or of two kinds, cannot be compared. Gumbel noise has a mean of 0.5772,
so that loss does not fall to 0 where all votes agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, one_of, positive
from softcondorcet.methods.result import Data
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# Ratings by agent, in any form.
Rated = Ratings | Mapping[str, float] | Sequence[float] | Floats


def sigmoid_loss(data: Data, ratings: Rated, *, temperature: float = 1.0) -> float:
    """The sum of soft Kendall-tau distances between the votes and ratings: what ``sco`` minimises in its box.

    ratings: of each agent of the votes, as ``Ratings``, by name, or listed as ``data.agents`` are.

    >>> from softcondorcet import Profile
    >>> sigmoid_loss(Profile.from_rankings([["a", "b"]]), {"a": 1.0, "b": 1.0})
    0.5
    """
    pairs = as_pairs(data)
    positive("temperature", temperature)
    lead = _leads(pairs, ratings) / temperature
    return _sum(pairs, _sigma(-lead), _sigma(lead))


def fenchel_young_loss(
    data: Data, ratings: Rated, *, sigma: float = 1.0, perturbation: Literal["gumbel", "normal"] = "gumbel"
) -> float:
    """The Fenchel-Young loss of ratings under noise of scale `sigma`: what ``fenchel_young`` minimises.

    ratings: of each agent of the votes, as ``Ratings``, by name, or listed as ``data.agents`` are.

    >>> from softcondorcet import Profile
    >>> round(fenchel_young_loss(Profile.from_rankings([["a", "b"]]), {"a": 1.0, "b": 1.0}), 4)
    1.2704
    """
    pairs = as_pairs(data)
    positive("sigma", sigma)
    one_of("perturbation", ("gumbel", "normal"), perturbation)
    lead = _leads(pairs, ratings)
    if perturbation == "gumbel":
        won, lost = (sigma * (np.logaddexp(0.0, side / sigma) + np.euler_gamma) for side in (-lead, lead))
    else:
        won, lost = (_overtaken(side, math.sqrt(2) * sigma) for side in (lead, -lead))
    return _sum(pairs, won, lost)


def _leads(pairs: Pairs, ratings: Rated) -> Floats:
    """By how much the left agent of each pair is rated above the right one."""
    values = values_of(pairs.agents, ratings)
    lead: Floats = values[pairs.left] - values[pairs.right]
    return lead


def values_of(agents: Sequence[str], ratings: Rated) -> Floats:
    """Ratings of all agents as an array, in their order."""
    expected = "a rating of each agent of these votes"
    if isinstance(ratings, Mapping):
        missing = [name for name in agents if name not in ratings]
        check(not missing, "ratings", expected, f"none of agent {missing[0]!r}" if missing else "")
        ratings = [ratings[name] for name in agents]
    if isinstance(ratings, Ratings):
        return ratings.values_of(agents)
    try:
        values = np.array(ratings, dtype=float)
    except (TypeError, ValueError):
        check(False, "ratings", expected, ratings)
    check(values.shape == (len(agents),), "ratings", f"{len(agents)} numbers, {expected}", f"shape {values.shape}")
    check(bool(np.isfinite(values).all()), "ratings", "finite numbers", values[~np.isfinite(values)][:1].tolist())
    return values


def _sum(pairs: Pairs, won: Floats, lost: Floats) -> float:
    """Over all comparisons, what each won and each lost one costs the left agent; a tie is half of both."""
    return float(((pairs.wins + pairs.ties / 2) * won + (pairs.losses + pairs.ties / 2) * lost).sum())


def _sigma(x: Floats) -> Floats:
    share: Floats = np.exp(-np.logaddexp(0.0, -x))
    return share


def _overtaken(lead: Floats, scale: float) -> Floats:
    """E[max(0, scale Z - lead)] for normal Z: what an agent behind is expected to be ahead by, after noise."""
    d = lead / scale
    tail = np.array([0.5 * math.erfc(x / math.sqrt(2)) for x in d.tolist()])
    expected: Floats = scale * np.exp(-d * d / 2) / math.sqrt(2 * math.pi) - lead * tail
    return expected
