"""Bounds from cycles: never too high whatever the weights, and as high as a linear program where it matters."""

from __future__ import annotations

import time

import numpy as np
import pytest
from conftest import profiles
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet import Pairs, Profile
from softcondorcet.methods.local_search import search
from softcondorcet.solvers import components
from softcondorcet.solvers.components import Weighing, loss_as_listed, margin_matrix, packed, weigh
from softcondorcet.solvers.linear_ordering import Program
from softcondorcet.solvers.order_tiers import packed_as_it_is


def smallest_loss(pairs: Pairs) -> float:
    return components.best_order(pairs, np.zeros(pairs.n_agents), packed_as_it_is).loss


def program_bound(pairs: Pairs) -> float:
    """The value of the linear program with all 3-cycle inequalities."""
    program, best = Program(margin_matrix(pairs)), 0.0
    while True:
        solved = program.solve(60.0)
        assert solved is not None
        best = max(best, solved[1])
        if not program.cut(solved[0]):
            return best


def forever() -> float:
    return time.monotonic() + 60


def well_listed(profile: Profile) -> Pairs:
    """Pairs with the agents numbered along a good order."""
    pairs = profile.pairs()
    order = search(pairs, [np.arange(pairs.n_agents)], rounds=4)
    names = [pairs.agents[k] for k in order]
    return Profile.from_rankings(profile.rankings(), weights=profile.weight.tolist(), agents=names).pairs()


def four_cycle() -> Pairs:
    """A beats B beats C beats D beats A; A and C are level, B and D too: no 3-cycle at all."""
    return Profile.from_rankings([["A", "B"], ["B", "C"], ["C", "D"], ["D", "A"]]).pairs()


@given(profiles(max_agents=7))
def test_the_bound_is_never_too_high(profile: Profile) -> None:
    pairs = profile.pairs()
    best = smallest_loss(pairs)
    assert 0 <= packed(pairs, np.arange(pairs.n_agents)) <= best + 1e-9
    assert 0 <= weigh(pairs, loss_as_listed(pairs), forever()).best <= best + 1e-9


@given(profiles(max_agents=7, complete=True), st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 10.0]))
def test_any_weights_give_a_bound(profile: Profile, seed: int, size: float) -> None:
    pairs = profile.pairs()
    weighing = Weighing(pairs)
    for turn in range(4):
        weighing.look(turn, forever())
    weighing.weight = (size * np.random.default_rng(seed).random(len(weighing.weight))).astype(np.float32)
    assert weighing.bound() <= smallest_loss(pairs) + 1e-9


@given(profiles(max_agents=7, complete=True))
def test_what_is_found_are_cycles_of_the_majority(profile: Profile) -> None:
    pairs = profile.pairs()
    margin, weighing = margin_matrix(pairs), Weighing(pairs)
    m = pairs.n_agents
    source = np.concatenate([np.repeat(np.arange(m), np.diff(weighing.row)), weighing.up])
    target = np.concatenate([weighing.down, np.repeat(np.arange(m), np.diff(weighing.back))])
    assert (margin[source, target] == weighing.margin).all() and (weighing.margin > 0).all()
    for turn in range(6):
        weighing.look(turn, forever())
        weighing.balance()
    for first, last in zip(weighing.start[:-1], weighing.start[1:], strict=True):
        up, *down = weighing.arcs[first:last]
        around = [up, *down[::-1]]  # paths are traced from their end
        assert last - first >= 3
        assert source[up] > target[up] and all(source[arc] < target[arc] for arc in down)
        assert [target[arc] for arc in around] == [source[arc] for arc in around[1:] + around[:1]]


def test_long_cycles_count_where_there_are_no_short_ones() -> None:
    assert packed(four_cycle(), np.arange(4)) == 0
    assert weigh(four_cycle(), 1.0, forever()).best == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("votes", "agents", "phi"), [(25, 80, 0.97), (4, 60, 0.98), (10, 100, 0.97)])
def test_as_high_as_the_program_where_that_is_whole(votes: int, agents: int, phi: float) -> None:
    """Even numbers of votes leave pairs level."""
    pairs = well_listed(sc.synthetic.mallows(votes, agents=agents, phi=phi, seed=2))
    bound = program_bound(pairs)
    assert bound > loss_as_listed(pairs) - 1  # whole, and the order optimal
    assert weigh(pairs, bound - 1e-3, forever()).best > 0.995 * bound


def test_near_the_program_where_that_is_not_whole() -> None:
    pairs = well_listed(sc.synthetic.mallows(51, agents=60, phi=1.0, seed=3))
    bound = program_bound(pairs)
    assert bound < loss_as_listed(pairs) - 1
    assert 0.98 * bound < weigh(pairs, bound, forever()).best <= bound + 1e-6 * bound


def test_the_size_of_weights_does_not_matter() -> None:
    profile = sc.synthetic.mallows(9, agents=60, phi=0.98, seed=1)
    pairs = profile.pairs()
    heavy = Profile(profile.agents, profile.start, profile.agent, profile.tier, 1e6 * profile.weight).pairs()
    light = weigh(pairs, loss_as_listed(pairs), forever()).best
    assert light > 0
    assert weigh(heavy, loss_as_listed(heavy), forever()).best == pytest.approx(1e6 * light, rel=1e-3)


def test_cycles_start_a_program_where_they_leave_off() -> None:
    """The first solution of a program that begins with the weighed cycles is worth at least their bound."""
    pairs = well_listed(sc.synthetic.mallows(4, agents=50, phi=0.98, seed=5))
    weighing = weigh(pairs, loss_as_listed(pairs), forever())
    cuts = weighing.triples()
    assert len(np.unique(cuts, axis=0)) == len(cuts)
    program = Program(margin_matrix(pairs))
    program.add(cuts)
    solved = program.solve(60.0)
    assert solved is not None
    assert solved[1] >= weighing.bound() - 1e-6 * max(weighing.bound(), 1)
    assert weighing.bound() > 0


def test_no_time_gives_a_bound_of_nothing_and_no_cuts() -> None:
    weighing = weigh(four_cycle(), 1.0, ends=0.0)
    assert weighing.best == 0
    assert weighing.triples().shape == (0, 4)
