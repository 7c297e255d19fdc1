"""Elo, Bradley-Terry, Plackett-Luce and Weng-Lin: against slow references, optimality, and what limits them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Literal

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from conftest import FAMOUS, data_folder, paper_example, paper_table, profiles, tennessee, three_cycle, votes
from hypothesis import assume, given, settings

import softcondorcet as sc
from softcondorcet import METHODS, Profile, Ratings, synthetic
from softcondorcet.kernels import plackett_luce as vote_kernels
from softcondorcet.methods.bradley_terry import TIES
from softcondorcet.methods.plackett_luce import distinct
from softcondorcet.solvers.likelihood import PairLikelihood, VoteLikelihood, centring, joined, minimise

Ties = Literal["half", "davidson", "rao_kupper"]
Model = Literal["plackett_luce", "bradley_terry"]

POINTS = 400 / math.log(10)
CYCLES = [["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"], ["y", "z"], ["z", "x"]]


def by_name(board: Ratings) -> dict[str, float]:
    return {name: board[name] for name in board.agents}


def slopes(loss: Callable[[dict[str, float]], float], at: dict[str, float]) -> list[float]:
    """Central differences; their own error is about 1e-9 per comparison here."""
    step = 1e-5
    return [
        (loss({**at, name: value + step}) - loss({**at, name: value - step})) / (2 * step) for name, value in at.items()
    ]


def finite_without_prior(profile: Profile, ties_lead: bool = True) -> bool:
    """Every listed agent leads to every other one by wins, and by ties both ways."""
    edges, listed = set(), set()
    for (a, b), (wins, losses, ties) in reference.pair_counts(profile).items():
        listed |= {a, b}
        edges |= {(a, b)} if wins or (ties and ties_lead) else set()
        edges |= {(b, a)} if losses or (ties and ties_lead) else set()
    reach = reference.reachable(edges, profile.agents)
    return all((a, b) in reach for a in listed for b in listed)


# The paper's warm-up


def test_the_papers_warm_up_win_rates_put_a_first_and_sco_puts_c_first() -> None:
    """Section 4.1: C beats A and B, but the win rate of A (7/15) is above that of C (6/15)."""
    example = paper_example()
    assert sc.bradley_terry(example).order[0] == "A"
    assert sc.plackett_luce(example).order[0] == "A"
    assert sc.sco(example).order[0] == "C" == sc.condorcet_winner(example)


def test_online_elo_agrees_at_small_steps_but_depends_on_the_order_of_votes() -> None:
    first, second = [["A", "B", "C"]] * 2, [["C", "A", "B"]] * 3
    one, other = Profile.from_rankings(first + second), Profile.from_rankings(second + first)
    assert sc.elo(one, k=4).order[0] == sc.elo(other, k=4).order[0] == "A"
    assert (sc.elo(one).order[0], sc.elo(other).order[0]) == ("C", "A")


# Elo


@given(profiles(), st.sampled_from([1.0, 32.0, 500.0]))
def test_elo_is_the_plain_loop(profile: Profile, k: float) -> None:
    expected = reference.elo(profile, k, POINTS)
    board = sc.elo(profile, k=k)
    for name in profile.agents:
        assert board[name] - 1000 == pytest.approx(expected[name], rel=1e-9, abs=1e-9)
    assert board.values.mean() == pytest.approx(1000)
    assert board.unit == POINTS


def test_elo_by_hand() -> None:
    board = sc.elo(Profile.from_rankings([["a", "b"], ["b", "a"]]), k=20, start=1500)
    p = 1 / (1 + 10 ** (-20 / 400))  # a leads by 20 points before it loses
    assert board["a"] == pytest.approx(1500 + 10 - 20 * p)
    assert sc.elo(Profile.from_rankings([[["a", "b"]]])).values.tolist() == [1000, 1000]


def test_elo_with_small_steps_settles_at_bradley_terry() -> None:
    """Elo is stochastic gradient descent on the loss of Bradley-Terry; many small steps average out."""
    rng = np.random.default_rng(0)
    profile = tennessee().take(np.repeat(np.arange(4), [42, 26, 15, 17]))
    order = np.concatenate([rng.permutation(100) for _ in range(500)])
    shuffled = profile.take(order)
    many = Profile(shuffled.agents, shuffled.start, shuffled.agent, shuffled.tier, np.ones(len(order)))
    board, target = sc.elo(many, k=0.1), sc.bradley_terry(tennessee(), prior=0).scale()
    np.testing.assert_allclose(board.values, target.values, atol=1)  # a step is up to 0.3 points


def test_elo_warns_where_votes_are_too_heavy_or_long() -> None:
    heavy = sc.elo(Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[1000, 1]))
    assert any("1 votes are so heavy or long" in note and "16,000 points" in note for note in heavy.warnings)
    assert not any("heavy" in note for note in sc.elo(paper_example()).warnings)
    with pytest.raises(sc.DataError, match=r"weights: up to 1e\+290"):
        sc.elo(Profile.from_rankings([["a", "b"]], weights=[1e290]), k=1e20)


@pytest.mark.parametrize("method", ["elo", "plackett_luce", "weng_lin"])
def test_methods_on_whole_votes_say_so(method: str) -> None:
    with pytest.raises(sc.OptionError, match=r"data must be a Profile \(this needs whole votes\), got Pairs"):
        sc.rank(paper_example().pairs(), method)


# Bradley-Terry


@settings(max_examples=40)
@given(profiles(max_agents=6), st.sampled_from([1e-3, 0.01, 1.0]))
def test_bradley_terry_is_the_optimum(profile: Profile, prior: float) -> None:
    board = sc.bradley_terry(profile, prior=prior)
    at = by_name(board)

    def loss(r: dict[str, float]) -> float:
        return reference.tie_loss(profile, r, "half", 0.0) + prior / 2 * sum(x * x for x in r.values())

    assert board.converged
    assert board.loss == pytest.approx(loss(at), abs=1e-9)
    np.testing.assert_allclose(slopes(loss, at), 0, atol=1e-6)
    assert board.values.mean() == pytest.approx(0, abs=1e-12)


@settings(max_examples=40)
@given(profiles(max_agents=6), st.sampled_from(["davidson", "rao_kupper"]))
def test_ties_as_an_outcome_are_fitted_too(profile: Profile, ties: Ties) -> None:
    counts = np.array(list(reference.pair_counts(profile).values())).reshape(-1, 3).sum(axis=0)
    assume(counts[:2].any() and counts[2])
    board = sc.bradley_terry(profile, ties=ties, prior=0.1)
    at = by_name(board)
    parameter = board.options["nu" if ties == "davidson" else "theta"]
    least = 0.0 if ties == "davidson" else 1.0
    at["c"] = math.log(parameter - least)

    def loss(r: dict[str, float]) -> float:
        ratings = {name: r[name] for name in profile.agents}
        told = reference.tie_loss(profile, ratings, ties, least + math.exp(r["c"]))
        return told + 0.1 / 2 * sum(x * x for x in ratings.values())

    assert board.loss == pytest.approx(loss(at), abs=1e-9)
    np.testing.assert_allclose(slopes(loss, at), 0, atol=1e-6)


@pytest.mark.parametrize("ties", ["davidson", "rao_kupper"])
def test_tie_models_at_their_ends(ties: Ties) -> None:
    strict = sc.bradley_terry(tennessee(), ties=ties)
    assert strict.options.get("nu", strict.options.get("theta")) == (0.0 if ties == "davidson" else 1.0)
    np.testing.assert_array_equal(strict.values, sc.bradley_terry(tennessee()).values)
    with pytest.raises(sc.DataError, match="every comparison is a tie; expected some wins"):
        sc.bradley_terry(Profile.from_rankings([[["a", "b"]]]), ties=ties)


def test_davidson_by_hand() -> None:
    """Two agents, 6 wins, 3 losses, 9 ties: the three chances are those shares, so nu = 9 / sqrt(6 * 3)."""
    profile = Profile.from_rankings([["a", "b"], ["b", "a"], [["a", "b"]]], weights=[6, 3, 9])
    board = sc.bradley_terry(profile, ties="davidson", prior=0)
    assert board["a"] - board["b"] == pytest.approx(math.log(2), abs=1e-9)
    assert board.options["nu"] == pytest.approx(9 / math.sqrt(18), abs=1e-9)
    assert board.probability("a", "b") == pytest.approx(2 / 3)  # given that it is decided
    board = sc.bradley_terry(profile, ties="rao_kupper", prior=0)
    theta, p = board.options["theta"], math.exp(board["a"] - board["b"])
    assert (p / (p + theta), 1 / (1 + theta * p)) == (pytest.approx(6 / 18), pytest.approx(3 / 18))
    assert board.unit is None


@settings(max_examples=25)
@given(profiles(max_agents=5, max_votes=20))
def test_bradley_terry_agrees_with_hunters_algorithm(profile: Profile) -> None:
    listed = {name for pair in reference.pair_counts(profile) for name in pair}
    assume(len(listed) == profile.n_agents and finite_without_prior(profile))
    expected = reference.bradley_terry_by_mm(profile)
    assert by_name(sc.bradley_terry(profile, prior=0)) == pytest.approx(expected, abs=1e-6)


@given(profiles(max_agents=6, max_votes=8), st.sampled_from(["half", "davidson"]))
def test_without_a_prior_an_error_names_the_agents(profile: Profile, ties: Ties) -> None:
    assume(ties == "half" or profile.pairs().ties.any())
    assume(profile.pairs().wins.any() or profile.pairs().losses.any())
    if finite_without_prior(profile, ties_lead=ties == "half"):
        assert sc.bradley_terry(profile, prior=0, ties=ties).converged
    else:
        with pytest.raises(sc.DataError, match=r"no finite rating without a prior for \d+ agents .*: agent-\d"):
            sc.bradley_terry(profile, prior=0, ties=ties)


def test_agents_that_only_the_prior_limits_are_finite_and_named() -> None:
    undefeated = sc.bradley_terry(Profile.from_rankings([["top", "a"], ["top", "b"], ["a", "b"], ["b", "a"]]))
    assert any("never below another" in note and "top" in note for note in undefeated.warnings)
    assert 3 < undefeated["top"] - undefeated["a"] < 10
    groups = sc.bradley_terry(Profile.from_rankings([*CYCLES, ["a", "x"]]))
    assert any("only the prior keeps the distance finite: x, y, z" in note for note in groups.warnings)
    apart = sc.bradley_terry(Profile.from_rankings([*CYCLES, ["a", "b"]]))
    assert any("2 groups of agents were never compared" in note for note in apart.warnings)
    assert apart["a"] + apart["b"] + apart["c"] == pytest.approx(0, abs=1e-12)  # each group has mean 0
    for votes_of in ([*CYCLES, ["a", "x"]], [*CYCLES]):
        with pytest.raises(
            sc.DataError, match="3 agents that never lost to, never beat or never met the rest: x, y, z"
        ):
            sc.bradley_terry(Profile.from_rankings(votes_of), prior=0)


@pytest.mark.parametrize("method", ["bradley_terry", "plackett_luce"])
@pytest.mark.parametrize("weight", [1e-200, 1.0, 1e10, 1e290])
@pytest.mark.parametrize("prior", [0.0, 1e-12, 1e9])
def test_weights_and_priors_of_any_size(method: str, weight: float, prior: float) -> None:
    profile = Profile.from_rankings(
        [["a", "b", "c"], ["b", "c", "a"], ["c", ["a", "b"]]], weights=[weight, 2 * weight, weight]
    )
    board = sc.rank(profile, method, prior=prior)
    assert board.converged
    if prior < 1e-9 * weight or prior == 0:
        plain = Profile.from_rankings(profile.rankings(), weights=[1, 2, 1])
        np.testing.assert_allclose(board.values, sc.rank(plain, method, prior=0).values, atol=1e-8)


@pytest.mark.parametrize("method", ["bradley_terry", "plackett_luce"])
def test_an_agent_that_never_loses_is_exact_at_any_prior(method: str) -> None:
    """One win, prior c: the rating of the winner solves c r = 1 / (1 + exp(2 r))."""
    for prior in (1e-12, 1e-6, 0.01, 1.0):
        r = sc.rank(Profile.from_rankings([["a", "b"]]), method, prior=prior)["a"]
        assert prior * r == pytest.approx(1 / (1 + math.exp(2 * r)), rel=1e-8)


def test_a_solver_that_stops_early_says_so() -> None:
    with pytest.warns(sc.NotConverged, match="bradley_terry did not converge: error .*; tol is 1e-09; raise steps"):
        board = sc.bradley_terry(tennessee(), steps=2)
    assert board.converged is False
    assert board.steps == 2


def test_condorcets_cycle_is_a_tie() -> None:
    for method in ("bradley_terry", "plackett_luce"):
        assert sc.rank(three_cycle(), method).ranks.tolist() == [1, 1, 1]


def test_values_that_rounding_tells_apart_are_joined() -> None:
    x = np.array([3.0, 1.0 + 1e-13, -1.0, 1.0])
    np.testing.assert_array_equal(joined(x), [3.0, np.mean(x[[1, 3]]), -1.0, np.mean(x[[1, 3]])])
    assert len(joined(np.empty(0))) == 0
    assert len(set(joined(np.array([1e-9, 2e-9, 0.0])).tolist())) == 3


# Plackett-Luce


@settings(max_examples=40)
@given(profiles(max_agents=6), st.sampled_from([0.01, 1.0]))
def test_plackett_luce_is_the_optimum(profile: Profile, prior: float) -> None:
    board = sc.plackett_luce(profile, prior=prior)
    at = by_name(board)

    def loss(r: dict[str, float]) -> float:
        return reference.plackett_luce_loss(profile, r) + prior / 2 * sum(x * x for x in r.values())

    assert board.converged
    assert board.loss == pytest.approx(loss(at), abs=1e-9)
    np.testing.assert_allclose(slopes(loss, at), 0, atol=1e-6)


@given(st.lists(votes(["a", "b"]), min_size=1, max_size=9))
def test_plackett_luce_on_votes_of_two_is_bradley_terry(ballots: list[list[list[str]]]) -> None:
    profile = Profile.from_rankings(ballots, agents=["a", "b"])
    one, other = sc.plackett_luce(profile), sc.bradley_terry(profile)
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    assert one.loss == pytest.approx(other.loss)


@pytest.mark.parametrize("name", ["tennessee", "paper_table", "three_cycle"])
def test_plackett_luce_agrees_with_hunters_algorithm(name: str) -> None:
    profile = FAMOUS[name]()
    if not finite_without_prior(profile):  # Knoxville never leads to Memphis by wins alone
        profile = Profile.from_rankings([*profile.rankings(), list(profile.agents)[::-1]], agents=profile.agents)
    expected = reference.plackett_luce_by_mm(profile)
    assert by_name(sc.plackett_luce(profile, prior=0)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("scale", [0.1, 1, 10, 100, 1000])
@pytest.mark.parametrize("kind", ["votes", *TIES])
def test_derivatives_at_any_scale(kind: str, scale: float) -> None:
    """The Hessian against differences of the gradient; nothing overflows for ratings that are 1000 apart."""
    rng = np.random.default_rng(3)
    profile = Profile.from_rankings(
        [["a", ["b", "c"], "d"], [["d", "a"]], ["c", "b"], [["a", "b", "c"], "d"], ["d", ["a", "b", "c"]]]
    )
    loss = VoteLikelihood(profile) if kind == "votes" else PairLikelihood(profile.pairs(), TIES[kind])
    m = 4 if kind in ("votes", "half") else 5
    x, step = scale * rng.standard_normal(m), 1e-6
    gradient, diagonal = (array.copy() for array in loss.move(x))
    hessian = np.array([loss.bend(row) for row in np.eye(m)])
    differences = [(loss.move(x + step * row)[0] - loss.move(x - step * row)[0]) / (2 * step) for row in np.eye(m)]
    values = [(loss.value(x + step * row) - loss.value(x - step * row)) / (2 * step) for row in np.eye(m)]
    np.testing.assert_allclose(gradient, values, rtol=1e-6, atol=1e-7 * max(scale, 1))
    np.testing.assert_allclose(hessian, differences, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.diag(hessian), diagonal, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(hessian).min() > -1e-9


def test_equal_votes_are_joined_and_different_ones_are_not() -> None:
    profile = Profile.from_rankings([["a", "b"], ["b", "a"], [["a", "b"]], ["a", "b"], ["a"]], weights=[1, 2, 3, 4, 5])
    joint = distinct(profile)
    found = {str(vote): weight for vote, weight in zip(joint.rankings(), joint.weight.tolist(), strict=True)}
    assert found == {"[['a'], ['b']]": 5, "[['b'], ['a']]": 2, "[['a', 'b']]": 3, "[['a']]": 5}
    arrays = profile.start, profile.agent, profile.tier
    assert vote_kernels.equal_votes(*arrays, np.array([3, 1, 2, 0, 4]))
    for other in ([1, 1, 2, 0, 4], [2, 1, 2, 0, 4], [4, 1, 2, 0, 4]):
        assert not vote_kernels.equal_votes(*arrays, np.array(other))


def test_newton_needs_no_good_start_and_no_matrix() -> None:
    """Two thousand agents in a chain, the worst conditioned graph there is."""
    names = [str(k) for k in range(2000)]
    pairs = Profile.from_rankings([[a, b] for a, b in itertools.pairwise(names)]).pairs()
    loss = PairLikelihood(pairs, TIES["half"])
    end = minimise(loss, np.full(2000, 0.01), centring(pairs), steps=50, tol=1e-9)
    gradient = loss.move(end.x)[0] + 0.01 * end.x
    assert end.converged
    assert np.abs(gradient).max() < 1e-9


@pytest.mark.parametrize("method", ["bradley_terry", "plackett_luce"])
def test_newton_is_cut_where_a_whole_step_would_leap(method: str) -> None:
    """Weights over nine powers of ten: whole steps alone go round in circles on a few of these."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        m = int(rng.integers(5, 9))
        ballots = [[str(k) for k in rng.permutation(m)[: rng.integers(2, m + 1)]] for _ in range(8)]
        weights = 10.0 ** rng.uniform(-3, 6, len(ballots))
        board = sc.rank(Profile.from_rankings(ballots, weights=weights), method, prior=0.001)
        assert board.converged
        assert board.steps < 60


# Weng-Lin


@settings(max_examples=40)
@given(profiles(), st.sampled_from(["plackett_luce", "bradley_terry"]), st.sampled_from([0.0, 0.5]))
def test_weng_lin_is_the_papers_algorithm(profile: Profile, model: Model, drift: float) -> None:
    expected = reference.weng_lin(profile, model, 25, 25 / 3, 25 / 6, drift, 1e-4)
    means = sc.weng_lin(profile, model=model, drift=drift)
    lower = sc.weng_lin(profile, model=model, drift=drift, conservative=1)
    for name in profile.agents:
        mean, deviation = expected[name]
        assert means[name] == pytest.approx(mean, rel=1e-9)
        assert means[name] - lower[name] == pytest.approx(deviation, rel=1e-9)


def test_weng_lin_says_where_it_is_weak() -> None:
    tied = Profile.from_rankings([[["a", "b", "c"], "d", "e"]])
    board = sc.weng_lin(tied)
    assert board["d"] > board["a"]  # the weakness
    assert any("1 votes have ties" in note for note in board.warnings)
    pairs = sc.weng_lin(tied, model="bradley_terry")
    assert pairs["a"] > pairs["d"]
    assert not any("ties" in note for note in pairs.warnings)
    heavy = sc.weng_lin(Profile.from_rankings([["a", "b"]], weights=[100]))
    assert any("sigma met its floor 2 times" in note for note in heavy.warnings)
    least = heavy["a"] - sc.weng_lin(Profile.from_rankings([["a", "b"]], weights=[100]), conservative=1)["a"]
    assert least == pytest.approx(math.sqrt(((25 / 3) ** 2 + (25 / 300) ** 2) * 0.0001))
    assert sc.weng_lin(Profile.from_rankings([["a", "b"]])).options["sigma"] == 25 / 3


# Scale and probability


@pytest.mark.parametrize("method", sorted(METHODS))
def test_scale_keeps_order_and_probabilities(method: str) -> None:
    board = sc.rank(tennessee(), method)
    points = board.scale()
    assert points.order == board.order
    assert points.values.mean() == pytest.approx(1000)
    assert board.scale(anchor=("Nashville", 1200))["Nashville"] == pytest.approx(1200)
    assert (METHODS[method].link == "logistic") == (board.unit is not None)
    if board.unit is None:
        with pytest.raises(sc.OptionError, match=f"ratings of {method} are not log-odds"):
            board.probability("Memphis", "Nashville")
        assert points["Memphis"] - points["Nashville"] == pytest.approx(
            POINTS * (board["Memphis"] - board["Nashville"])
        )
        return
    p = board.probability("Memphis", "Nashville")
    assert points.probability("Memphis", "Nashville") == pytest.approx(p)
    lead = points["Memphis"] - points["Nashville"]
    assert 1 / (1 + 10 ** (-lead / 400)) == pytest.approx(p)
    assert Ratings.from_json(points.to_json()).probability("Nashville", "Memphis") == pytest.approx(1 - p)


def test_elo_points_are_already_to_scale() -> None:
    board = sc.elo(tennessee(), k=1)
    np.testing.assert_allclose(board.scale().values, board.values)
    assert board.scale(points=1, base=math.e).unit == 1.0


def test_scale_refuses_what_it_cannot_use() -> None:
    board = sc.bradley_terry(tennessee())
    for options, words in (
        ({"anchor": ("Berlin", 1000)}, "anchor must be an agent of these ratings and its rating"),
        ({"anchor": 3}, "anchor must be an agent"),
        ({"base": 1}, "base must be a number above 1"),
        ({"points": 0}, "points must be a positive number"),
    ):
        with pytest.raises(sc.OptionError, match=words):
            board.scale(**options)


@pytest.mark.parametrize(
    ("method", "option", "value", "words"),
    [
        ("elo", "k", 0, "a positive number"),
        ("elo", "base", 1, "a number above 1"),
        ("elo", "start", math.nan, "a number that is not negative"),
        ("bradley_terry", "prior", -1, "a number that is not negative"),
        ("bradley_terry", "prior", 1e10, "at most 1e9"),
        ("bradley_terry", "ties", "drop", "'half' or 'davidson' or 'rao_kupper'"),
        ("plackett_luce", "tol", 0, "a positive number"),
        ("plackett_luce", "steps", 0.5, "a positive whole number"),
        ("weng_lin", "model", "thurstone", "'plackett_luce' or 'bradley_terry'"),
        ("weng_lin", "kappa", 2, "at most 1"),
        ("weng_lin", "conservative", -1, "a number that is not negative"),
    ],
)
def test_options_are_checked(method: str, option: str, value: object, words: str) -> None:
    with pytest.raises(sc.OptionError, match=f"{option} must be {words}"):
        sc.rank(tennessee(), method, **{option: value})


# Against other packages and on real data


@pytest.mark.peer
@pytest.mark.parametrize("size", [2, 5])
def test_choix_finds_the_same(size: int) -> None:
    choix = pytest.importorskip("choix")
    profile = synthetic.plackett_luce(400, agents=12, size=size, seed=4)[0]
    rankings = [tuple(row) for row in profile.agent.reshape(-1, size).tolist()]
    board = sc.plackett_luce(profile, prior=0)
    for fitted in (choix.opt_rankings(12, rankings, tol=1e-12), choix.mm_rankings(12, rankings, tol=1e-13)):
        np.testing.assert_allclose(board.values, fitted - fitted.mean(), atol=1e-6)
    # choix penalises alpha times the sum of squares: twice our precision.
    penalised = choix.opt_rankings(12, rankings, alpha=0.25, tol=1e-12)
    np.testing.assert_allclose(sc.plackett_luce(profile, prior=0.5).values, penalised, atol=1e-6)
    if size == 2:
        pairwise = choix.ilsr_pairwise(12, rankings, tol=1e-13)
        np.testing.assert_allclose(sc.bradley_terry(profile, prior=0).values, pairwise - pairwise.mean(), atol=1e-6)


@pytest.mark.peer
def test_evalica_finds_the_same() -> None:
    evalica = pytest.importorskip("evalica")
    profile = synthetic.demo()
    kept = profile.take(profile.agent[profile.start[:-1]] < 11)  # without the two newcomers, who met only each other
    pairs = kept.agent.reshape(-1, 2)
    won = np.where(kept.tier[1::2] == 0, evalica.Winner.Draw, evalica.Winner.X)
    result = evalica.bradley_terry(
        [kept.agents[k] for k in pairs[:, 0]],
        [kept.agents[k] for k in pairs[:, 1]],
        [evalica.Winner(w) for w in won],
        tolerance=1e-12,
        limit=100_000,
    )
    theirs = np.log([result.scores[name] for name in kept.agents[:11]])
    ours = sc.bradley_terry(kept, prior=0).values[:11]
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)


@pytest.mark.peer
@pytest.mark.parametrize("ties", sorted(TIES))
def test_scipy_finds_the_same(ties: Ties) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    profile = synthetic.demo()
    board = sc.bradley_terry(profile, prior=0.1, ties=ties)
    loss = PairLikelihood(profile.pairs(), TIES[ties])
    precision = loss.precision(0.1)
    start = np.zeros(len(precision))
    found = optimize.minimize(
        lambda x: loss.value(x) + float(precision @ x**2) / 2,
        start,
        jac=lambda x: loss.move(x)[0] + precision * x,
        method="BFGS",
        options={"gtol": 1e-7},
    )
    np.testing.assert_allclose(board.values, found.x[: profile.n_agents], atol=1e-6)


@pytest.mark.peer
@settings(max_examples=50)
@given(profile=profiles(), model=st.sampled_from(["plackett_luce", "bradley_terry"]))
def test_openskill_finds_the_same(profile: Profile, model: Model) -> None:
    models = pytest.importorskip("openskill.models")
    theirs = {"plackett_luce": models.PlackettLuce, "bradley_terry": models.BradleyTerryFull}[model]()
    skill = {name: theirs.rating() for name in profile.agents}
    for vote in profile.rankings():
        names = [name for tier in vote for name in tier]
        ranks = [t for t, tier in enumerate(vote) for _ in tier]
        if len(names) > 1:
            after = theirs.rate([[skill[name]] for name in names], ranks=ranks)
            skill |= {name: team[0] for name, team in zip(names, after, strict=True)}
    plain = Profile(profile.agents, profile.start, profile.agent, profile.tier, np.ones(profile.n_votes))
    means, shown = sc.weng_lin(plain, model=model), sc.weng_lin(plain, model=model, conservative=3)
    for name in profile.agents:
        assert means[name] == pytest.approx(skill[name].mu, rel=1e-9)
        assert shown[name] == pytest.approx(skill[name].ordinal(), rel=1e-9, abs=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("method", ["bradley_terry", "plackett_luce", "elo", "weng_lin"])
def test_fifty_thousand_agents(method: str) -> None:
    profile = sc.read(f"{data_folder()}/codeforces/codeforces_groups7.csv.gz")
    board = sc.rank(profile, method)
    assert len(board) == 53_322
    assert board.converged is not False
    assert np.abs(board.values).max() < 1e4


@given(profiles(max_votes=15), st.integers(0, 3), st.floats(0.05, 2))
def test_fixed_agents_stay_and_the_others_are_most_likely_beside_them(
    profile: Profile, count: int, prior: float
) -> None:
    """The slopes of the others are 0; agents fixed where the plain fit has them change nothing."""
    unit = 400 / math.log(10)
    known = {name: 1000 + 70.0 * k for k, name in enumerate(profile.agents[: count + 1])}
    board = sc.bradley_terry(profile, prior=prior, fixed=known)
    assert all(board[name] == pytest.approx(rating, abs=1e-9) for name, rating in known.items())
    x, pairs = board.values_of(profile.agents) / unit, profile.pairs()
    expected = (pairs.wins + pairs.losses + pairs.ties) / (1 + np.exp(x[pairs.right] - x[pairs.left]))
    more = pairs.wins + pairs.ties / 2 - expected
    middle = np.mean(list(known.values())) / unit
    slope = np.bincount(pairs.left, more, len(x)) - np.bincount(pairs.right, more, len(x)) - prior * (x - middle)
    scale = max(1.0, float(profile.weight.sum()))
    assert slope[count + 1 :] == pytest.approx(np.zeros(len(slope[count + 1 :])), abs=1e-7 * scale)
    assert board.unit == pytest.approx(unit) and board.options["fixed"] == known


def test_agents_fixed_where_the_plain_fit_has_them_change_nothing() -> None:
    votes = paper_table()
    points = sc.bradley_terry(votes, prior=1e-9).scale(anchor=("A", 1200))
    board = sc.bradley_terry(votes, prior=1e-9, fixed={"A": 1200, "C": points["C"]})
    assert board.values == pytest.approx(points.values, abs=1e-4)


def test_wrong_fixed_agents_are_named() -> None:
    votes = Profile.from_rankings([["anna", "ben"]])
    for fixed, message in (
        ({"ana": 1}, "got 'ana'; did you mean 'anna'"), ({}, "fixed must be ratings by agent"),
        ({"anna": "x"}, "Elo points"), ({"anna": math.nan}, "Elo points"), (["anna"], "fixed must be ratings"),
    ):  # fmt: skip
        with pytest.raises(sc.OptionError, match=message):
            sc.bradley_terry(votes, fixed=fixed)  # type: ignore[arg-type]
    with pytest.raises(sc.OptionError, match="prior must be above 0 with fixed"):
        sc.bradley_terry(votes, prior=0, fixed={"anna": 1000})
