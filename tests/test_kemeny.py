"""Exact Kemeny-Young against trying all orders, and bounds that are never too high."""

from __future__ import annotations

import time

import numpy as np
import pytest
import reference
from conftest import paper_table, profiles, tennessee
from hypothesis import given, settings

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.methods import kemeny as kemeny_module
from softcondorcet.methods import optimal
from softcondorcet.methods.linear_ordering import Program, solve_program
from softcondorcet.methods.optimal import contradicted, smallest_step


@given(profiles(max_agents=6))
def test_optimal_by_trying_all_orders(profile: Profile) -> None:
    board = sc.kemeny(profile)
    best = reference.kemeny_loss(profile)
    assert board.converged
    assert board.discrete_loss == pytest.approx(best, abs=1e-9)
    assert board.lower_bound == pytest.approx(best, abs=1e-9)


def test_famous_orders() -> None:
    assert sc.kemeny(paper_table()).order == ["C", "A", "B"]
    assert sc.kemeny(tennessee()).order == ["Nashville", "Chattanooga", "Knoxville", "Memphis"]


@pytest.mark.parametrize("seed", range(6))
def test_program_and_subsets_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pure noise over 12 agents: the hardest small case, solved both ways."""
    profile = sc.synthetic.mallows(11, agents=12, phi=1.0, seed=seed)
    by_subsets = sc.kemeny(profile)
    monkeypatch.setattr(optimal, "SUBSETS", 2)
    by_program = sc.kemeny(profile)
    assert by_program.converged and by_subsets.converged
    assert by_program.discrete_loss == by_subsets.discrete_loss


@settings(max_examples=30)
@given(profiles(max_agents=6))
def test_the_bound_of_disjoint_cycles_is_never_too_high(profile: Profile) -> None:
    pairs = profile.pairs()
    rough = kemeny_module.bound_by_cycles(pairs)
    best = optimal.best_order(pairs, np.zeros(pairs.n_agents), optimal.as_it_is)
    assert 0 <= rough.bound <= best.loss + 1e-9
    assert rough.loss >= best.loss - 1e-9


def test_dual_bounds_hold_for_any_dual_values() -> None:
    """Weak duality: whatever the solver says, the bound must not exceed the loss of any order."""
    rng = np.random.default_rng(0)
    margin = np.triu(rng.integers(-9, 10, (7, 7)), 1).astype(float)
    margin -= margin.T
    program = Program(margin)
    for _ in range(4):
        solved = program.solve(10.0)
        assert solved is not None
        program.cut(solved[0])
    best = min(contradicted(margin, rng.permutation(7)) for _ in range(3000))
    rows = sum(len(part) for part in program.rows)
    for scale in (0.0, 0.1, 1.0, 10.0):
        assert program._bound(scale * rng.standard_normal(rows)) <= best + 1e-9


def test_time_limit_gives_a_bound_and_says_so() -> None:
    profile = sc.synthetic.mallows(51, agents=100, phi=1.0, seed=3)
    began = time.monotonic()
    with pytest.warns(sc.NotConverged, match="raise time_limit"):
        board = sc.kemeny(profile, time_limit=0.5)
    assert time.monotonic() - began < 10
    assert board.converged is False
    assert board.lower_bound is not None and board.discrete_loss is not None and board.gap is not None
    assert 0 < board.lower_bound <= board.discrete_loss
    assert 0 < board.gap < 0.2


def test_large_components_get_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kemeny_module, "_PROGRAM", 20)
    profile = sc.synthetic.mallows(15, agents=60, phi=0.98, seed=1)
    with pytest.warns(sc.NotConverged):
        rough = sc.kemeny(profile)
    monkeypatch.undo()
    exact = sc.kemeny(profile)
    assert exact.converged
    assert exact.discrete_loss is not None and rough.lower_bound is not None and rough.discrete_loss is not None
    assert rough.lower_bound <= exact.discrete_loss <= rough.discrete_loss


def test_a_program_with_no_time_still_answers() -> None:
    margin = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    order, bound = solve_program(margin, smallest_step(margin), ends=0.0)
    assert sorted(order.tolist()) == [0, 1, 2]
    assert bound <= contradicted(margin, order) == 1.0


def test_two_hundred_agents_near_a_common_order() -> None:
    board = sc.kemeny(sc.synthetic.mallows(25, agents=200, phi=0.95, seed=1))
    assert board.converged and board.gap == 0


@given(profiles(max_agents=5))
def test_certificates_hold_for_any_ratings(profile: Profile) -> None:
    """The bound is at most the loss of the board and of the best strict order, and a better order is said to exist."""
    values = np.arange(profile.n_agents, dtype=float) % 3
    board = sc.certify(profile, sc.Ratings(profile.agents, values, "by number"))
    best = reference.kemeny_loss(profile)
    assert board.lower_bound is not None and board.discrete_loss is not None and board.gap is not None
    assert board.lower_bound <= min(best, board.discrete_loss) + 1e-9
    assert board.gap >= 0
    assert bool(board.warnings) == (best < board.discrete_loss - 1e-9)
    strict = sc.certify(profile, sc.kemeny(profile))
    assert strict.gap == 0
    assert not any("an order that contradicts" in note for note in strict.warnings)


def test_a_certificate_needs_ratings_of_these_votes() -> None:
    with pytest.raises(sc.OptionError, match="board must be ratings of the agents of these votes"):
        sc.certify(tennessee(), sc.sco(paper_table()))


def test_components_are_proven_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several components, each proven within less than one vote, are optimal together."""
    monkeypatch.setattr(optimal, "SUBSETS", 2)
    block = sc.synthetic.mallows(7, agents=8, phi=1.0, seed=2)
    votes = [[f"{part}-{name}" for part in "abc" for (name,) in vote] for vote in block.rankings()]
    board = sc.kemeny(Profile.from_rankings(votes))
    assert board.converged and board.gap == 0
