"""The voting rules against those of open_spiel, which takes strict votes, complete or partial, with whole weights.

Where its result depends on the listing of agents or votes, only elections are compared in which nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import reference
from helpers import reference_voting

import softcondorcet as sc
from experiments import warmup
from softcondorcet import Profile, Ratings

pytestmark = pytest.mark.peer


def elections(count: int, complete: bool, weight: int = 9) -> Iterator[tuple[Profile, Any]]:
    """Random strict votes over 2 to 7 agents, as ours and as theirs."""
    base = pytest.importorskip("open_spiel.python.voting.base", reason="pip install open_spiel==2.0.2")
    for seed in range(count):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(2, 8))
        names = [f"agent-{k}" for k in range(m)]
        sizes = [m if complete else int(rng.integers(1, m + 1)) for _ in range(rng.integers(1, 10))]
        votes = [rng.permutation(names)[:size].tolist() for size in sizes]
        weights = rng.integers(1, weight + 1, len(votes)).tolist()
        ours = Profile.from_rankings(votes, weights=weights, agents=names)
        theirs = base.PreferenceProfile(
            votes=[base.WeightedVote(w, vote) for w, vote in zip(weights, votes, strict=True)],
            alternatives=sc.borda(ours).order,  # their single transferable vote breaks ties by the listing
        )
        yield ours, theirs


def run(rule: str, profile: Any, **options: Any) -> dict[str, float]:
    """Score of each agent by a rule of open_spiel."""
    module, _, name = rule.partition(".")
    found = getattr(pytest.importorskip(f"open_spiel.python.voting.{module}"), name)(**options).run_election(profile)
    return dict(zip(found.ranking, found.scores, strict=True))


def values(board: Ratings) -> dict[str, float]:
    return {name: board[name] for name in board.agents}


def all_differ(profile: Profile) -> bool:
    """Every pair of agents has a margin, and no two the same: no rule on margins meets a tie."""
    margin = np.abs(profile.pairs().margin)
    m = profile.n_agents
    return len(margin) == m * (m - 1) // 2 and bool((margin > 0).all()) and len(np.unique(margin)) == len(margin)


@pytest.mark.parametrize("complete", [True, False])
def test_points(complete: bool) -> None:
    compared = 0
    for ours, theirs in elections(100, complete):
        for k in (1, 2, 3):
            assert values(sc.approval(ours, k=k)) == run("approval.ApprovalVoting", theirs, k=k)
        assert values(sc.plurality(ours)) == run("plurality.PluralityVoting", theirs)
        assert values(sc.borda(ours)) == run("borda.BordaVoting", theirs)
        compared += 1
    assert compared == 100


@pytest.mark.parametrize("complete", [True, False])
def test_copeland(complete: bool) -> None:
    """Theirs gives a point for a win and half for a tie or no comparison: (m - 1 + ours) / 2."""
    compared = 0
    for ours, theirs in elections(100, complete):
        expected = run("copeland.CopelandVoting", theirs)
        assert {name: (len(expected) - 1 + x) / 2 for name, x in values(sc.copeland(ours)).items()} == expected
        compared += 1
    assert compared == 100


def test_ranked_pairs_and_schulze() -> None:
    compared = 0
    for ours, theirs in elections(400, complete=True, weight=10_000):
        if all_differ(ours):
            assert sc.ranked_pairs(ours).order == list(run("ranked_pairs.RankedPairsVoting", theirs))
            assert sc.schulze(ours, strength="wins").order == list(run("schulze.SchulzeVoting", theirs))
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("complete", [True, False])
def test_maximal_lotteries(complete: bool) -> None:
    """Where there is one maximal lottery; theirs comes from a linear program and adds noise of 1e-10."""
    for needed in ("cvxpy", "ecos"):
        pytest.importorskip(needed, reason="their linear programs need cvxpy and ecos")
    single = iterated = 0
    for ours, theirs in elections(60, complete, weight=100):
        board = sc.maximal_lotteries(ours)
        if not any("several" in note for note in board.warnings):
            expected = run("maximal_lotteries.MaximalLotteriesVoting", theirs, iterative=False)
            assert values(board) == pytest.approx(expected, abs=1e-6)
            single += 1
        board = sc.iterated_maximal_lotteries(ours)
        if not any("several" in note for note in board.warnings):
            expected = run("maximal_lotteries.MaximalLotteriesVoting", theirs, iterative=True)
            assert values(board) == pytest.approx(expected, abs=1e-6)
            iterated += 1
    assert single > 20 and iterated > (20 if complete else 2)


@pytest.mark.parametrize("complete", [True, False])
def test_stv(complete: bool) -> None:
    """Where no surplus has to be divided: theirs passes on whole votes, those listed last."""
    compared = 0
    for ours, theirs in elections(300, complete, weight=3):
        for seats in (1, 2, 3):
            if seats < ours.n_agents and reference_voting.stv(ours, seats)[1]:
                assert sc.stv(ours, seats=seats).order == list(run("stv.STVVoting", theirs, num_winners=seats))
                compared += 1
    assert compared > 50


def test_the_winner_of_one_seat() -> None:
    """Whatever surplus there is: it can only change who comes after the winner."""
    compared = 0
    for ours, theirs in elections(200, complete=True, weight=10_000):
        assert sc.stv(ours).order[0] == next(iter(run("stv.STVVoting", theirs, num_winners=1)))
        compared += 1
    assert compared == 200


def test_margins_are_theirs() -> None:
    compared = 0
    for ours, theirs in elections(30, complete=False):
        matrix, lead = theirs.margin_matrix(), reference.margins(ours)
        for a, row in zip(theirs.alternatives, matrix, strict=True):
            for b, margin in zip(theirs.alternatives, row, strict=True):
                assert lead[a, b] == margin
                compared += 1
    assert compared > 100


def test_t_conv_of_the_authors_code() -> None:
    """Gradient descent of open_spiel's Python, which made the paper's results, takes the steps of the item `warmup`."""
    base = pytest.importorskip("open_spiel.python.voting.base", reason="pip install open_spiel==2.0.2")
    module = pytest.importorskip("open_spiel.python.voting.soft_condorcet_optimization")
    for lr, temperature in warmup.PAPER:
        votes = base.PreferenceProfile(alternatives=["A", "B", "C"])
        votes.add_vote(["A", "B", "C"], 2)
        votes.add_vote(["C", "A", "B"], 3)
        theirs, other = module.SoftCondorcetOptimizer(votes, temperature=temperature), 0
        for step in range(1, warmup.enough_steps(lr, temperature) + 1):
            theirs.step(lr, np.arange(5))
            other = other if theirs.ranking() == warmup.BEST else step
        assert warmup.steps_in_single_precision(warmup.example(), lr, temperature) == other + 1
