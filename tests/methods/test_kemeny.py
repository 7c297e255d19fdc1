"""Exact Kemeny-Young against trying all orders, and bounds that are never too high."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from conftest import paper_table, profiles, tennessee, three_cycle
from hypothesis import given, settings

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.exact_sums import common_step
from softcondorcet.methods import kemeny as kemeny_module
from softcondorcet.methods.kemeny import Exact, optimum, solve_large, whole_bound
from softcondorcet.methods.result import unfinished
from softcondorcet.solvers import components
from softcondorcet.solvers.components import WHOLE, contradicted
from softcondorcet.solvers.linear_ordering import Program, solve_program
from softcondorcet.solvers.order_tiers import packed_as_it_is


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
def test_program_and_subsets_agree(seed: int) -> None:
    """Pure noise over 12 agents: the hardest small case, solved both ways."""
    pairs = sc.synthetic.mallows(11, agents=12, phi=1.0, seed=seed).pairs()
    by_subsets, by_program = optimum(pairs), optimum(pairs, exact=Exact(subsets=2))
    assert by_program.proven and by_subsets.proven
    assert by_program.loss == by_subsets.loss


@settings(max_examples=30)
@given(profiles(max_agents=6))
def test_bounds_without_a_program_are_never_too_high(profile: Profile) -> None:
    """Whatever the order the agents are listed in, and with no program to correct it."""
    pairs = profile.pairs()
    rough = solve_large(pairs, time.monotonic() + 5, Exact(program=0))
    best = components.best_order(pairs, np.zeros(pairs.n_agents), packed_as_it_is)
    assert 0 <= rough.bound <= best.loss + 1e-9
    assert rough.loss >= best.loss - 1e-9
    assert rough.loss == pytest.approx(contradicted(components.margin_matrix(pairs), rough.order))


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


def test_large_components_get_a_bound() -> None:
    """Noise, which cycles with one contradicted margin each do not prove: still within 3 % of what is contradicted.

    More time would not help, and a limit on it is not said to have been in the way.
    """
    pairs = sc.synthetic.mallows(51, agents=40, phi=1.0, seed=1).pairs()
    rough, best = optimum(pairs, exact=Exact(program=20)), optimum(pairs)
    assert best.proven and not rough.proven and not rough.late
    assert rough.bound <= best.loss <= rough.loss
    assert rough.loss - rough.bound < 0.03 * rough.loss
    twice = optimum(_twice(sc.synthetic.mallows(51, agents=40, phi=1.0, seed=1)).pairs(), exact=Exact(program=20))
    assert not twice.proven and not twice.late  # two components, neither of which uses up its share
    assert "lower; more time would not raise the bound" in unfinished("kemeny", {}, 1.0, "stalled")


@pytest.mark.parametrize(("best", "bound"), [(2.4, 3), (3 + 1e-8, 3), (3.0, 3)])
def test_a_bound_on_whole_margins_is_whole(best: float, bound: float) -> None:
    assert whole_bound(best) == bound


def nearly_in_order(agents: int) -> Profile:
    """Everyone beats all below, but the last beats the first: one component, and any 3-cycle proves the order."""
    names = [f"{k:02}" for k in range(agents)]
    battles = [[a, b] for k, a in enumerate(names) for b in names[k + 1 :] if (a, b) != (names[0], names[-1])]
    return Profile.from_rankings([*battles, [names[-1], names[0]]])


def test_no_search_where_a_quick_bound_proves_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = nearly_in_order(30)
    asked = []
    monkeypatch.setattr(kemeny_module, "search", lambda *words, **more: asked.append(words))
    board = sc.kemeny(profile)
    assert board.converged and board.discrete_loss == 1
    assert not asked


def test_small_components_go_first_and_each_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [nearly_in_order(size).rankings() for size in (40, 25, 30)]
    votes = [
        [[f"{part}{name}" for name in tier] for tier in vote] for part, block in enumerate(blocks) for vote in block
    ]
    links = [[f"{part}{k:02}", f"{part + 1}{j:02}"] for part in (0, 1) for k in range(25) for j in range(25)]
    seen: list[tuple[int, float]] = []

    def solve(part: sc.Pairs, ends: float, _: Exact) -> components.Solved:
        seen.append((part.n_agents, ends - time.monotonic()))
        return components.Solved(np.arange(part.n_agents), 1.0, 0.0, False)

    monkeypatch.setattr(kemeny_module, "solve_large", solve)
    with pytest.warns(sc.NotConverged):
        sc.kemeny(Profile.from_rankings([*votes, *links]), time_limit=1000)
    assert [size for size, _ in seen] == [25, 30, 40]
    shares = [25**2 / (25**2 + 30**2 + 40**2), 30**2 / (30**2 + 40**2), 1]
    assert [left / 1000 for _, left in seen] == pytest.approx(shares, abs=0.05)


def test_the_limit_holds_for_many_agents_seen_a_few_times() -> None:
    profile = sc.synthetic.tournament(20_000, agents=8_000, size=4, seed=1)[0]
    profile.pairs()
    began = time.monotonic()
    with pytest.warns(sc.NotConverged):
        board = sc.kemeny(profile, time_limit=2)
    assert time.monotonic() - began < 12  # machines may be busy; without a limit it takes minutes
    assert board.discrete_loss is not None and board.lower_bound is not None
    assert 0 < board.lower_bound < board.discrete_loss


def test_the_limit_holds_where_votes_are_long() -> None:
    """One component of 1,500 agents, whose cycles take a second to pack and minutes to weigh."""
    sc.certify(noise(0, [1.0] * 7), sc.borda(noise(0, [1.0] * 7)))  # compiles
    profile = sc.synthetic.mallows(5, agents=1500, phi=1.0, seed=1)
    began = time.process_time()  # a busy machine adds to the time on the clock, not to this
    with pytest.warns(sc.NotConverged, match="raise time_limit"):
        board = sc.kemeny(profile, time_limit=1)
    assert time.process_time() - began < 5  # what it takes to begin and to end, on a slow machine
    assert board.status == "time_limit"
    assert board.gap is not None and 0 < board.gap < 0.5


def test_packing_ends_in_time_with_a_bound() -> None:
    """A look at the clock after each piece: late, the first piece is all there is, and it is a bound."""
    pairs = sc.synthetic.mallows(5, agents=300, phi=1.0, seed=1).pairs()
    late, whole = (components.packed(pairs, np.arange(300), ends) for ends in (0.0, math.inf))
    assert 0 < late < 0.2 * whole


def test_a_program_with_no_time_still_answers() -> None:
    margin = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    order, bound = solve_program(margin, WHOLE, ends=0.0)
    assert sorted(order.tolist()) == [0, 1, 2]
    assert bound <= contradicted(margin, order) == 1.0


def test_a_solution_that_is_not_quite_whole_proves_nothing() -> None:
    """Whole up to a tolerance, beside large margins: it costs less than the order it stands for."""
    margin = np.array([[0.0, 1e6, -1.0], [-1e6, 0.0, 1.0], [1.0, -1.0, 0.0]])
    program = Program(margin)
    program.whole(np.array([0, 1, 2]), WHOLE)
    for off, right in ((0.0, True), (1e-12, True), (1e-6, False)):
        x = np.clip(program.start, off, 1 - off)
        assert program._is_whole(x, float(program.cost @ x[program.i, program.j])) == right
    solved = program.solve_whole(10.0)
    assert solved is not None
    # Without the inequality of three, no margin need be contradicted; a solver a hair above that would say so too.
    assert math.ceil(solved[1]) == math.ceil(solved[1] + 1e-5) == 0


def test_time_spent_on_linear_programs_is_not_given_to_whole_numbers_too() -> None:
    """The clock of the solver goes on through the former, and begins anew for the latter."""
    program = Program(components.margin_matrix(sc.synthetic.mallows(51, agents=75, phi=1.0, seed=3).pairs()))
    while program.highs.getRunTime() < 1.5:
        solved = program.solve(10.0)
        assert solved is not None
        if not program.cut(solved[0]):
            program.highs.clearSolver()  # the last one again, to spend time
    program.whole(np.arange(75), WHOLE)
    began = time.monotonic()
    program.solve_whole(0.1)
    assert time.monotonic() - began < 1.0  # where the two add up it takes 1.6


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
    said = any("the best order, which kemeny shows, contradicts" in note for note in board.warnings)
    assert said == (best < board.discrete_loss - 1e-9)
    strict = sc.certify(profile, sc.kemeny(profile))
    assert strict.gap == 0
    assert not any("contradicts" in note for note in strict.warnings)


def test_a_certificate_needs_ratings_of_these_votes() -> None:
    with pytest.raises(sc.OptionError, match="board must be ratings of the agents of these votes"):
        sc.certify(tennessee(), sc.sco(paper_table()))


def test_components_are_proven_one_by_one() -> None:
    """Several components, each proven within less than one vote, are optimal together."""
    block = sc.synthetic.mallows(7, agents=8, phi=1.0, seed=2)
    votes = [[f"{part}-{name}" for part in "abc" for (name,) in vote] for vote in block.rankings()]
    best = optimum(Profile.from_rankings(votes).pairs(), exact=Exact(subsets=2))
    assert best.proven and best.loss == best.bound


def test_where_no_majority_orders_components_kemeny_follows_sco() -> None:
    """Two groups that never met: an order between them is anyone's guess, and should at least be the same guess."""
    votes = [["a", "b"], ["b", "c"], ["x", "y"], ["y", "z"]]
    for listed in (votes, votes[::-1]):
        profile = sc.Profile.from_rankings(listed)
        soft = sc.sco(profile)
        assert sc.normalized_kendall_tau_distance(soft, sc.kemeny(profile)) <= 3 / 15  # three pairs of equal rating


def test_level_agents_stand_as_they_are_listed() -> None:
    assert sc.kemeny(sc.Profile.from_rankings([[["a", "b", "c"]]])).order == ["a", "b", "c"]


@given(profiles(), st.integers(0, 1000))
def test_components_in_sequence_contradict_no_majority(profile: Profile, seed: int) -> None:
    pairs, values = profile.pairs(), np.random.default_rng(seed).random(profile.n_agents)
    label = components.in_sequence(pairs, values)
    known = sc.majority.strong_labels(pairs, by="majority")
    up = np.where(pairs.margin > 0, pairs.left, pairs.right)[pairs.margin != 0]
    down = np.where(pairs.margin > 0, pairs.right, pairs.left)[pairs.margin != 0]
    assert (label[up] <= label[down]).all()
    assert len(set(label)) == len(set(known)) == len(set(zip(label, known, strict=True)))  # the same components


def test_rounding_decides_no_majority() -> None:
    level = sc.Profile.from_rankings([["a", "b"], ["a", "b"], ["b", "a"]], weights=[0.1, 0.2, 0.3])
    assert sc.condorcet_winner(level) is None
    assert sc.sco(level)["a"] == sc.sco(level)["b"]


def test_a_gap_in_large_counts_is_not_called_optimal() -> None:
    votes = sc.Profile.from_rankings([["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]], weights=[1e12, 1e12, 100])
    board = sc.certify(votes, sc.Ratings(("a", "b", "c"), np.array([3.0, 2.0, 1.0]), "mine"))
    assert board.gap is not None and board.gap > 0
    assert board.warnings and "optimal" not in " ".join(board.summary())


def noise(seed: int, weights: list[float]) -> Profile:
    """Votes by chance over 24 agents, which subsets are too many for."""
    rng = np.random.default_rng(seed)
    names = [f"{k:02}" for k in range(24)]
    return sc.Profile.from_rankings([list(rng.permutation(names)) for _ in weights], weights=weights)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_heavy_votes_about_others_prove_nothing(seed: int) -> None:
    """Weights that fall with age: next to 20 votes of today, losses of old ones differ by less than a billionth."""
    alone = noise(seed, [0.97**t for t in range(9)])
    old = 0.97**800
    votes = [[["x"], ["y"]]] * 20 + [[list(tier) for tier in vote] for vote in alone.rankings()]
    mixed = sc.Profile.from_rankings(votes, weights=[*(0.97**t for t in range(20)), *(old * alone.weight)])
    exact, board = sc.kemeny(alone), sc.kemeny(mixed)
    assert exact.converged and board.converged
    assert exact.discrete_loss is not None and board.discrete_loss is not None
    assert board.discrete_loss / old == pytest.approx(exact.discrete_loss, rel=1e-9)
    assert board.lower_bound is not None and board.lower_bound <= board.discrete_loss
    other = sc.certify(mixed, sc.Ratings(mixed.agents, np.arange(26.0), "by number"))
    assert other.gap is not None and other.gap > 0.01 and other.warnings


@pytest.mark.parametrize("factor", [1000.0, 0.5, 2e-9, 1e5 / 3, 1e12])
def test_proofs_do_not_depend_on_the_scale_of_weights(factor: float) -> None:
    votes = noise(0, [1.0, 2.0, 1.0, 3.0, 2.0, 1.0, 1.0])
    scaled = sc.Profile.from_rankings(votes.rankings(), weights=list(factor * votes.weight))
    plain, board = sc.kemeny(votes), sc.kemeny(scaled)
    assert plain.converged and board.converged and board.gap == 0
    assert plain.discrete_loss is not None and board.discrete_loss is not None
    assert board.discrete_loss / factor == pytest.approx(plain.discrete_loss, rel=1e-12)


def test_large_losses_are_proven_to_the_last_vote() -> None:
    """About 6e7 mistakes, where a solver's usual tolerance of a millionth is some 60 votes."""
    rng = np.random.default_rng(1)
    board = sc.kemeny(noise(1, [float(w) for w in rng.integers(90_000, 110_000, 7)]))
    assert board.converged and board.gap == 0 and board.discrete_loss is not None and board.discrete_loss > 1e7


@given(st.lists(st.integers(-1000, 1000), min_size=1), st.sampled_from([1.0, 0.5, 0.1, 7.0, 1e-9, 3e10]))
def test_the_common_step_divides_all_margins(counts: list[int], step: float) -> None:
    greatest = math.gcd(*counts)
    found = common_step(np.array(counts) * step)
    assert found == pytest.approx(greatest * step, rel=1e-9)


def test_margins_without_a_common_step() -> None:
    assert common_step(np.array([1.0, np.sqrt(2.0), np.pi])) == 0
    assert common_step(np.array([1e30, 1.0])) == 0
    assert common_step(np.array([1e18, 1.0])) == 0  # sums of the two cannot tell one from none
    assert common_step(np.array([1.0, 1 + 1e-7])) == pytest.approx(1e-7)  # near a step is not at it
    assert common_step(np.zeros(3)) == 0


@pytest.mark.parametrize(("scale", "digits"), [(10, 2), (10, 3), (1000, 1), (1, 5)])
def test_weights_of_a_few_decimals_have_a_step(scale: float, digits: int) -> None:
    for seed in range(10):
        days = np.random.default_rng(seed).uniform(0, 365, 250)
        weights = np.round(scale * np.exp(-days / 90), digits)
        votes = sc.synthetic.mallows(250, agents=25, phi=0.99, seed=seed).rankings()
        step = common_step(Profile.from_rankings(votes, weights=list(weights)).pairs().margin)
        assert step == pytest.approx(10.0**-digits, rel=1e-9) or step / 10.0**-digits == pytest.approx(2, rel=1e-9)


@pytest.mark.parametrize("method", [partial(sc.sco, scale="box"), sc.sigmoidal_program, sc.kemeny])
@pytest.mark.parametrize("weights", [[1, 2], [2, 9], [3, 2]])
def test_a_certificate_is_about_the_votes_it_is_asked_for(
    method: Callable[..., sc.Ratings], weights: list[int]
) -> None:
    """Two votes contradicted of three are as many as before of five: what was proven of those proves nothing here."""
    board = method(Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[3, 2]))
    votes = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=weights)
    found = sc.certify(votes, board)
    assert found.lower_bound == min(weights) and found.discrete_loss == weights[1]
    assert (found.gap == 0) == (weights == [3, 2])
    if method is not sc.kemeny:
        assert found.loss == pytest.approx(weights[1]) and found.loss_bound == pytest.approx(min(weights))
    assert (found.order_certified, found.status, found.converged, found.error) == (None,) * 4
    assert found.votes is not None and found.votes.tolist() == [sum(weights)] * 2
    assert sc.certify(votes, sc.bradley_terry(votes)).loss is None


def test_a_certificate_for_the_same_votes_keeps_what_was_proven_of_them() -> None:
    """In a box of five temperatures the least loss is not that of the best order: its proof is better than K*."""
    chain = Profile.from_rankings([["a", "b", "c", "d"], ["c", "b"], ["d", "a"]], weights=[2, 3, 1])
    board = sc.sigmoidal_program(chain, temperature=20)
    kept, other = (sc.certify(chain, board, made_from_these=same) for same in (True, False))
    assert board.loss_bound is not None and other.loss_bound is not None and kept.loss_bound == board.loss_bound
    assert other.loss_bound < 0.9 * board.loss_bound
    assert kept.order_certified is board.order_certified and kept.status == board.status and kept.converged
    assert kept.lower_bound == other.lower_bound


def test_weights_next_to_nothing_prove_nothing() -> None:
    votes = Profile.from_rankings([["a", "b"]], weights=[1e-16])
    board = sc.certify(votes, sc.Ratings(("a", "b"), np.array([0.0, 1.0]), "mine"))
    assert board.gap == 1 and "this one is optimal" not in " ".join(board.summary())
    smallest = replace(board, loss=5e-324, loss_bound=0.0)
    assert "within 4.940656458e-324 of the global minimum" in " ".join(smallest.summary())


def test_a_step_is_larger_than_what_is_rounded_to_it() -> None:
    """Beside 1e13 a margin of 1.4 is next to nothing, but not next to 1: there is no step of 1."""
    assert common_step(np.array([1.4, 1.0, 1e13])) < 0.5
    votes = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]], weights=[1.4, 1, 1e13])
    assert sc.optimal_orders(votes).count == 1
    votes = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]], weights=[1, 3.009e-11, 3e-11])
    assert sc.optimal_orders(votes).count == 1  # no step of 3e-11
    names = [f"agent-{k:02}" for k in range(21)]
    ring = Profile.from_rankings([list(pair) for pair in zip(names, [*names[1:], names[0]], strict=True)],
                                 weights=[1.4, 1.0, *[1e13] * 19])  # fmt: skip
    turned = [*names[1:], names[0]]
    board = sc.certify(ring, sc.Ratings(tuple(turned), -np.arange(21.0), "turned"))
    assert board.lower_bound is not None and board.lower_bound <= 1.0 + 1e-9  # agent-02 first contradicts only that


def test_a_certificate_says_when_time_was_over() -> None:
    votes = sc.synthetic.mallows(51, agents=60, phi=1.0, seed=3)
    assert "it may rise with more time" in " ".join(sc.certify(votes, sc.borda(votes), time_limit=0).warnings)
    assert "more time" not in " ".join(sc.certify(tennessee(), sc.borda(tennessee()), time_limit=0.5).warnings)


def test_a_certificate_bounds_the_smooth_loss_too() -> None:
    """The sigmoid loss is the mean discrete loss of random orders; other losses are not."""
    votes = noise(0, [1.0] * 7)
    plain = sc.sco(votes, scale="box")
    board = sc.certify(votes, plain)
    assert sc.certify(votes, sc.sco(votes)).loss is None, "log-odds are no places in the box"
    assert plain.loss_gap is not None and board.loss_gap is not None and board.gap is not None
    assert 0 < board.gap <= board.loss_gap < 0.5 * plain.loss_gap
    assert sc.certify(votes, sc.sco(votes, sharpness=0.5, scale="box")).loss_bound is None
    assert sc.certify(votes, sc.bradley_terry(votes)).loss_bound is None


def test_a_gap_lost_in_rounding_is_said_all_the_same() -> None:
    """Beside a loss of 1e18 a gap of one is 0 in floating point; the search has not converged for that."""
    assert "may be up to 0 lower; raise time_limit" in unfinished("kemeny", {}, 0.0, "time_limit")


def _twice(profile: Profile) -> Profile:
    """The same votes of two groups of agents, which never meet."""
    votes = [[[f"{group}{name}" for name in tier] for tier in vote] for vote in profile.rankings() for group in "ab"]
    return Profile.from_rankings(votes)


def test_a_certificate_says_whether_the_better_order_is_the_best() -> None:
    """An order far from the best, with a bound that is exact: it is the order that is poor."""
    worst = sc.Ratings(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), "by hand")
    votes = Profile.from_rankings([["a", "b", "c"]], weights=[4])
    assert "the best order, which kemeny shows, contradicts 0 comparisons; this one contradicts 12" in (
        sc.certify(votes, worst).warnings
    )
    noise = sc.synthetic.mallows(51, agents=64, phi=1.0, seed=1)
    found = sc.certify(noise, sc.elo(noise), time_limit=0)
    assert any(note.startswith("an order that contradicts") for note in found.warnings)


def test_an_optimal_order_of_sco_is_kept() -> None:
    """Of several optima the one that sco shows, so that two proofs do not name two agents."""
    for votes in (three_cycle(), sc.synthetic.mallows(4, agents=6, phi=1.0, seed=3)):
        assert sc.optimal_orders(votes).count > 1
        board = sc.sco(votes)
        assert board.gap == 0 and sc.kemeny(votes).order == board.order


def test_ratings_made_by_hand_have_no_smooth_loss() -> None:
    assert sc.certify(three_cycle(), sc.Ratings(("A", "B", "C"), np.array([3.0, 2.0, 1.0]), "sco")).loss is None


def test_a_certificate_finds_agents_by_name() -> None:
    saved = sc.Ratings.from_json(sc.sco(tennessee()).to_json())
    assert saved.agents != tennessee().agents
    assert sc.certify(tennessee(), saved).gap == 0
    assert sc.certify(tennessee(), saved).condorcet_winner == "Nashville"
    assert sc.nearest_optimum(tennessee(), saved)[1] == 0


def test_ties_in_votes_cost_equal_and_unequal_ratings_the_same() -> None:
    """Otherwise a board that ties all agents could be 'better' than a proven optimum."""
    votes = sc.Profile.from_rankings(
        [["a", "b"], ["b", "a"], [["a", "b"]], ["a", "c"], ["b", "c"]], weights=[2, 2, 20, 5, 5]
    )
    assert sc.kemeny(votes).discrete_loss == sc.sco(votes).discrete_loss == sc.copeland(votes).discrete_loss == 12
