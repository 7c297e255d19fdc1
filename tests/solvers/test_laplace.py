"""How uncertain votes leave each agent: against the matrix inverted, by simulation, and by enumerating orders."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from softcondorcet import Pairs, Profile, synthetic
from softcondorcet.solvers.laplace import independent_comparisons, laplace


def test_variances_are_those_of_the_inverted_hessian() -> None:
    votes = synthetic.tournament(60, agents=12, size=2, noise=30, seed=1)[0]
    found = laplace(votes)
    pairs, prior = votes.pairs(), float(found.prior[0])
    met, hessian = np.zeros((12, 12)), np.zeros((12, 12))
    for a, b, wins, losses, ties in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True):
        chance = 1 / (1 + math.exp(found.ratings[b] - found.ratings[a]))
        met[a, b] = met[b, a] = wins + losses + ties
        curve = (wins + losses + ties) * chance * (1 - chance)
        hessian[[a, b], [a, b]] += curve
        hessian[[a, b], [b, a]] -= curve
    share = met / met.sum(axis=1)[:, None]
    away, each = np.eye(12) - share, prior / (1 + (share**2).sum(axis=1))
    level = prior / 12 * (np.eye(12) - 1 / 12)
    inverse = np.linalg.pinv(hessian + away.T @ np.diag(each) @ away + level, hermitian=True)
    weight = 1 / np.diag(inverse)
    weight /= weight.sum()
    frame = np.eye(12) - weight[None]
    np.testing.assert_allclose(found.variance, np.diag(frame @ inverse @ frame.T), rtol=1e-6)  # ratings: about 1e-7
    spread = math.sqrt(inverse[3, 3] + inverse[5, 5] - 2 * inverse[3, 5])
    assert found.leads(3, np.array([5]))[0] == pytest.approx((found.ratings[3] - found.ratings[5]) / spread, rel=1e-6)


def test_the_prior_alone_says_how_uncertain_an_agent_without_votes_is() -> None:
    pairs = Pairs(("a", "b", "c"), np.array([0]), np.array([1]), np.ones(1), np.ones(1), np.zeros(1))
    found = laplace(pairs)
    assert found.variance[2] == pytest.approx(1 / found.prior[found.group[2]])
    # Of two that met twice at even odds, the lead varies by 1 / (1/2 + prior + prior / 4): the rows of I - P are
    # (1, -1) and (-1, 1), so either adds the square of the lead times half the prior; a quarter comes from the level.
    prior = found.prior[found.group[0]]
    lead = found.variance[0] + found.variance[1] - 2 * found.covariance[0, 1] if found.covariance is not None else 0
    assert lead == pytest.approx(1 / (0.5 + 1.25 * prior))
    assert np.isnan(found.leads(0, np.array([2]))[0]), "they never met: no number of deviations"
    assert found.leads(0, np.array([1]))[0] == 0


def test_draws_agree_with_the_inverse() -> None:
    """Two halves of 60 agents, joined by one vote: there all are uncertain together, which a diagonal cannot tell."""
    votes = synthetic.tournament(2_000, agents=60, size=2, noise=30, seed=2)[0].pairs()
    far = votes.renumbered(np.arange(60))
    bridge = Pairs((), np.array([0]), np.array([60]), np.ones(1), np.zeros(1), np.zeros(1))
    joined = Pairs(
        tuple(map(str, range(120))),
        *(np.concatenate([getattr(votes, end), getattr(bridge, end), getattr(far, end) + 60]) for end in ENDS),
        *(np.concatenate([getattr(part, count) for part in (votes, bridge, far)]) for count in COUNTS),
    )
    turn = np.lexsort((joined.right, joined.left))
    joined = replace(joined, **{name: getattr(joined, name)[turn] for name in (*ENDS, *COUNTS)})
    exact, drawn = laplace(joined), laplace(joined, exact=10)
    assert drawn.covariance is None
    # 16 draws: a variance is known to a factor of 1 -+ 0.35, its root to half of that; three times this at most.
    assert np.abs(drawn.sd / exact.sd - 1).max() < 0.55
    assert np.sqrt(1 / exact.information).mean() < exact.sd.mean() / 2, "the bridge is most of it"


def test_the_ratings_are_the_most_likely_ones() -> None:
    """Of neighbours in skill alone, too, whose levels a prior around 0 would pull together."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 14, 2_000)
    won = rng.random(len(a)) < 1 / (1 + np.exp(-0.3))  # each agent against the next one
    names = [f"{k:02}" for k in range(15)]
    votes = [[names[k], names[k + 1]] if first else [names[k + 1], names[k]] for k, first in zip(a, won, strict=True)]
    found = laplace(Profile.from_rankings(votes, agents=names, kind="games"))
    assert found.covariance is not None
    lead, spread = found.lead(0, np.array([14]))
    assert abs(lead[0] - 14 * 0.3) < 2 * spread[0] < 2.5
    many = laplace(Profile.from_rankings(votes, agents=names, kind="games"), exact=0)
    np.testing.assert_allclose(many.ratings, found.ratings, atol=1e-6)


ENDS, COUNTS = ("left", "right"), ("wins", "losses", "ties")


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_a_long_vote_tells_what_plackett_luce_says(length: int) -> None:
    """The Fisher information of one agent in a vote of equals, from the score in each of its orders."""
    scores = []
    for order in itertools.permutations(range(length)):
        place = order.index(0)
        scores.append(1 - math.fsum(1 / (length - k) for k in range(place + 1)))
    information = np.mean(np.square(scores))
    vote = Profile.from_rankings([[f"a{k}" for k in range(length)]])
    weight = independent_comparisons(vote).wins[0]
    assert weight * (length - 1) / 4 == pytest.approx(information, rel=1e-12)


def test_votes_of_several_lengths_count_each_by_its_own() -> None:
    mixed = Profile.from_rankings([["a", "b", "c", "d"], ["a", "b"], ["c", "d"]], weights=[2, 1, 1])
    told = {
        frozenset((pairs.agents[a], pairs.agents[b])): total
        for pairs in [independent_comparisons(mixed)]
        for a, b, total in zip(
            pairs.left.tolist(), pairs.right.tolist(), (pairs.wins + pairs.losses).tolist(), strict=True
        )
    }
    four = independent_comparisons(Profile.from_rankings([["a", "b", "c", "d"]])).wins[0]
    assert told[frozenset("ab")] == pytest.approx(2 * four + 1)
    assert told[frozenset("ad")] == pytest.approx(2 * four)
