"""Margins shrunk toward Bradley-Terry: the two numbers, the order, and what no number may change."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from conftest import profiles
from hypothesis import given
from reference import ratings_under_order

import softcondorcet as sc
from softcondorcet import Pairs, Profile
from softcondorcet.arrays import Floats, Ints
from softcondorcet.majority import connected_groups, dominance_levels, linked_labels
from softcondorcet.solvers.order_odds import BradleyTerry, order_odds
from softcondorcet.solvers.shrinkage import (
    fit_kappa,
    fit_prior,
    likely_counts,
    log_determinants,
    meet_their_like,
    most_likely,
    shrink,
)

LONE = np.zeros(40, dtype=np.int64)


def games(rng: np.random.Generator, skill: Floats, meetings: float, kappa: float = math.inf, least: int = 0) -> Pairs:
    """Pairs of agents of these skills (log-odds), each met about so often, whose chances vary with precision kappa."""
    m = len(skill)
    left, right = np.triu_indices(m, 1)
    chance = 1 / (1 + np.exp(skill[right] - skill[left]))
    if math.isfinite(kappa):
        chance = rng.beta(kappa * chance, kappa * (1 - chance))
    played = rng.poisson(meetings, len(left)) + least
    wins = rng.binomial(played, chance).astype(float)
    met = played > 0
    counts = wins[met], (played - wins)[met], np.zeros(met.sum())
    return Pairs(tuple(f"agent-{k}" for k in range(m)), left[met], right[met], *counts, kind="games")


@pytest.mark.parametrize("spread", [0.6, 1.5])
def test_the_prior_is_that_of_the_skills(spread: float) -> None:
    rng = np.random.default_rng(1)
    found = [fit_prior(games(rng, spread * rng.standard_normal(40), 3), LONE)[0][0] for _ in range(8)]
    assert np.median(found) == pytest.approx(spread**-2, rel=0.3)  # the median of 8, each known to about a quarter


@pytest.mark.parametrize("kappa", [4.0, 20.0])
def test_kappa_is_that_of_the_pairs(kappa: float) -> None:
    rng = np.random.default_rng(2)
    skill = rng.standard_normal(40)
    found = [fit_kappa(games(rng, skill, 12, kappa), skill, LONE)[0] for _ in range(8)]
    assert np.median(found) == pytest.approx(kappa, rel=0.25)  # the grid has steps of a fifth


def test_a_line_that_holds_is_trusted() -> None:
    rng = np.random.default_rng(3)
    skill = rng.standard_normal(40)
    found = [fit_kappa(games(rng, skill, 12), skill, LONE)[0] for _ in range(20)]
    assert np.median(found) > 500


def test_the_summit_of_each_column_is_found_as_by_trying_all() -> None:
    """Columns that rise to one summit, anywhere, also at either end."""
    summit = np.arange(61)
    rng = np.random.default_rng(7)
    left, right = rng.exponential(size=(2, 61, 61)).cumsum(axis=1)
    place = np.arange(61)[:, None]
    height = -np.where(place < summit, left[np.clip(summit - place, 0, 60), summit], 0.0)
    height -= np.where(place > summit, right[np.clip(place - summit, 0, 60), summit], 0.0)
    found = most_likely(lambda places: height[places, summit], 61, 61)
    np.testing.assert_array_equal(found, summit)


def leagues(rng: np.random.Generator, agents: int, away: float) -> tuple[Pairs, Floats]:
    """Agents of rising skill, each of whom met the nearest of five drawn at random, or any one; and their skills."""
    skill = np.sort(1.5 * rng.standard_normal(agents))
    one, any_one = rng.integers(0, agents, (2, 10 * agents))
    five = rng.integers(0, agents, (5, len(one)))
    near = five[np.abs(skill[five] - skill[one]).argmin(axis=0), np.arange(len(one))]
    other = np.where(rng.random(len(one)) < away, any_one, near)
    one, other = one[one != other], other[one != other]
    won = rng.random(len(one)) < 1 / (1 + np.exp(skill[other] - skill[one]))
    names = [f"agent-{k}" for k in range(agents)]
    votes = [[names[a], names[b]] if w else [names[b], names[a]] for a, b, w in zip(one, other, won, strict=True)]
    return Profile.from_rankings(votes, agents=names, kind="games").pairs(), skill


def test_leagues_are_not_pulled_to_one_level() -> None:
    """Where agents met their like alone, a prior around 0 has them all near 0, and the order is lost."""
    rng = np.random.default_rng(8)
    wrong, around_0, chosen = 0.0, 0.0, 0
    for _ in range(6):
        pairs, skill = leagues(rng, 40, away=0.0)
        found = shrink(pairs)
        chosen += int(found.by_level[0])
        upper, lower = np.triu_indices(40, 1)  # the lower number has the lower skill
        wrong += (found.ratings[upper] > found.ratings[lower]).sum()
        line = BradleyTerry(pairs, LONE).ratings(found.prior)
        around_0 += (line[upper] > line[lower]).sum()
        assert skill[upper[0]] <= skill[lower[0]]
    assert chosen == 6
    assert wrong < 0.8 * around_0


def test_agents_that_meet_anyone_have_a_prior_around_0() -> None:
    rng = np.random.default_rng(9)
    found = [shrink(leagues(rng, 40, away=1.0)[0]).by_level[0] for _ in range(10)]
    assert sum(found) <= 4  # it makes no difference to speak of, so either may win by chance


def test_odds_under_the_order_of_the_line_are_the_line() -> None:
    pairs, _ = leagues(np.random.default_rng(10), 40, away=0.0)
    found = shrink(pairs)
    assert found.by_level[0]
    counts, pull = likely_counts(pairs, found)
    tier = np.argsort(np.argsort(-found.ratings))
    odds = order_odds(counts, tier, found.group, found.prior, pull=pull)
    np.testing.assert_allclose(odds, found.ratings, atol=1e-5)  # the line's last step is up to 1e-6
    assert np.abs(order_odds(counts, tier, found.group, found.prior) - found.ratings).max() > 0.1


def test_evidence_estimated_chooses_as_the_exact_one() -> None:
    """1,100 agents, whose determinants are estimated."""
    for away, by_level in ((0.0, True), (1.0, False)):
        pairs, _ = leagues(np.random.default_rng(11), 1_100, away)
        group, prior = np.zeros(1_100, dtype=np.int64), np.array([1.0])
        ratings = BradleyTerry(pairs, group).ratings(prior)
        assert meet_their_like(pairs, group, prior, ratings).tolist() == [by_level]


def test_pairs_that_met_once_say_nothing_of_kappa() -> None:
    rng = np.random.default_rng(4)
    pairs = games(rng, np.zeros(40), 0, kappa=0.1, least=1)
    assert fit_kappa(pairs, np.zeros(40), LONE)[0] == math.inf


def test_the_determinant_of_many_agents_is_close_to_the_exact_one() -> None:
    rng = np.random.default_rng(5)
    pairs = games(rng, rng.standard_normal(400), 0.05)
    curve, group = rng.uniform(0.1, 3, len(pairs)), linked_labels(pairs)
    assert group.max() == 0
    for prior in (0.03, 1.0, 10.0):
        exact, near = (log_determinants(pairs, curve, np.array([prior]), group, exact=most)[0] for most in (1000, 10))
        matrix = np.zeros((400, 400))
        matrix[pairs.left, pairs.right] = matrix[pairs.right, pairs.left] = -curve
        np.fill_diagonal(matrix, prior - matrix.sum(0))
        assert exact == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12)
        assert near == pytest.approx(exact, abs=8)  # 0.02 an agent; priors differ by hundreds


def dominating_sets(profile: Profile) -> list[set[str]]:
    """Sets of which each member beats every outsider, by trying all; of the only group of agents that met."""
    margin = {}
    pairs = profile.pairs()
    for a, b, lead in zip(pairs.left, pairs.right, pairs.margin, strict=True):
        margin[pairs.agents[a], pairs.agents[b]], margin[pairs.agents[b], pairs.agents[a]] = lead, -lead
    agents = pairs.agents
    return [
        set(chosen)
        for size in range(1, len(agents))
        for chosen in itertools.combinations(agents, size)
        if all(margin.get((a, b), 0) > 0 for a in chosen for b in agents if b not in chosen)
    ]


@given(profiles(max_agents=6))
def test_what_beats_every_outsider_stands_above_whatever_the_line_says(profile: Profile) -> None:
    pairs, sets = profile.pairs(), dominating_sets(profile)
    if len(connected_groups(profile)) > 1:
        return
    order = [pairs.agents[k] for k in shrink(pairs).order]
    for chosen in sets:
        assert set(order[: len(chosen)]) == chosen
    levels = dominance_levels(pairs, np.zeros(pairs.n_agents, dtype=np.int64))
    assert levels.max() == len(sets)


@given(profiles(max_agents=5), profiles(max_agents=5))
def test_votes_of_one_group_change_nothing_in_another(one: Profile, other: Profile) -> None:
    alone = shrink(one.pairs())
    names = [f"other-{name}" for name in other.agents]
    votes = [*one.rankings(), *([[f"other-{name}" for name in tier] for tier in vote] for vote in other.rankings())]
    both = Profile.from_rankings(votes, weights=[*one.weight, *other.weight], agents=[*one.agents, *names])
    together, inside = shrink(both.pairs()), both.n_agents - len(names)
    assert [k for k in together.order if k < inside] == alone.order.tolist()
    np.testing.assert_allclose(together.ratings[:inside], alone.ratings, atol=1e-6)  # Newton ends within 1e-7
    np.testing.assert_allclose(together.prior[together.group[:inside]], alone.prior[alone.group], rtol=1e-5)
    np.testing.assert_array_equal(together.kappa[together.group[:inside]], alone.kappa[alone.group])


@given(profiles(max_agents=6))
def test_odds_under_an_order_are_the_most_likely_ones(profile: Profile) -> None:
    pairs = profile.pairs()
    group = np.unique(linked_labels(pairs), return_inverse=True)[1]
    order = sc.kemeny(profile)
    tier: Ints = np.array([order.ranks[k] for k in range(len(order))])
    prior = np.full(group.max() + 1, 0.3)
    found = order_odds(pairs, tier, group, prior)
    for g in range(group.max() + 1):
        members = np.flatnonzero(group == g)
        assert found[members].mean() == pytest.approx(0, abs=1e-9)
        along = members[np.argsort(tier[members], kind="stable")]
        assert (np.diff(found[along]) <= 1e-12).all()
        level = tier[along][1:] == tier[along][:-1]
        assert (np.diff(found[along])[level] == 0).all()
    assert cost(pairs, found) == pytest.approx(cost(pairs, ratings_under_order(pairs, tier, group, 0.3)), abs=1e-7)


def cost(pairs: Pairs, ratings: Floats, prior: float = 0.3) -> float:
    lead = ratings[pairs.left] - ratings[pairs.right]
    wins, losses = pairs.wins + pairs.ties / 2, pairs.losses + pairs.ties / 2
    surprise = wins * np.logaddexp(0, -lead) + losses * np.logaddexp(0, lead)
    return float(surprise.sum() + prior / 2 * (ratings**2).sum())


def test_an_order_that_bradley_terry_has_too_keeps_its_odds() -> None:
    rng = np.random.default_rng(6)
    pairs = games(rng, np.linspace(2, -2, 12), 30)
    board = sc.bradley_terry(pairs, prior=0.5)
    found = order_odds(pairs, board.ranks, np.zeros(12, dtype=np.int64), np.array([0.5]))
    np.testing.assert_allclose(found, board.values, atol=1e-8)
    turned = order_odds(pairs, -board.ranks, np.zeros(12, dtype=np.int64), np.array([0.5]))
    np.testing.assert_allclose(turned, 0, atol=1e-9)  # the votes support no gap of the reverse order


@pytest.mark.parametrize("weight", [1e-300, 1e100, 1e299])
def test_a_pool_of_all_that_met_stays_a_number(weight: float) -> None:
    """Beside such weights nothing is left of the prior, and so of the pool's own curvature."""
    pairs = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[weight, weight]).pairs()
    for tier in ([0, 0], [0, 1], [1, 0]):
        assert order_odds(pairs, np.array(tier), np.zeros(2, dtype=np.int64), np.array([0.5])).tolist() == [0, 0]
