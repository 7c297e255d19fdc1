"""Orders without a proof: kwiksort, best insertion, annealing."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import reference
from conftest import profiles
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile, Ratings
from softcondorcet.kernels import insertion, voting
from softcondorcet.kernels.batch import seed_state
from softcondorcet.methods import local_search
from softcondorcet.solvers.components import contradicted, improve_order, margin_matrix

APPROXIMATE = [sc.kwiksort, sc.insertion_search, sc.iterated_search]


@pytest.mark.parametrize("method", APPROXIMATE)
@given(profile=profiles(max_agents=5))
def test_ratings_fall_evenly_along_a_strict_order(method: Callable[..., Ratings], profile: Profile) -> None:
    board, pairs = method(profile, bounds=(-1.0, 1.0)), profile.pairs()
    decided = pairs.margin != 0
    group = sc.majority.linked_labels(pairs, decided)
    steps = [np.unique(board.values[group == g])[::-1] for g in np.unique(group)]
    most = max(len(values) for values in steps)
    for values in steps:  # the group with most ratings fills the box; others have its spacing, around the middle
        spread = (len(values) - 1) / (most - 1) if most > 1 else 0.0
        assert values == pytest.approx(np.linspace(spread, -spread, len(values)))
    assert (board.values[pairs.left[decided]] != board.values[pairs.right[decided]]).all()
    assert board.discrete_loss == pytest.approx(reference.discrete_loss(profile, {a: board[a] for a in board.agents}))
    assert board.discrete_loss is not None and board.discrete_loss >= reference.kemeny_loss(profile) - 1e-9


def test_each_agent_of_kwiksort_beats_the_next() -> None:
    """Neighbours of the result were compared, one of them as the pivot; with odd votes one of them beats the other."""
    for seed in range(5):
        profile = sc.synthetic.mallows(7, agents=40, phi=1.0, seed=seed)
        board = sc.kwiksort(profile, tries=1, seed=seed)
        beaten = margin_matrix(profile.pairs())[board.index[:-1], board.index[1:]]
        assert (beaten > 0).all()


def test_the_mean_loss_of_kwiksort_is_below_twice_the_optimum() -> None:
    profile = sc.synthetic.mallows(9, agents=12, phi=1.0, seed=4)
    best, chosen = sc.kemeny(profile).discrete_loss, sc.kwiksort(profile, tries=100).discrete_loss
    losses = np.array([sc.kwiksort(profile, tries=1, seed=seed).discrete_loss for seed in range(100)], float)
    assert best is not None and chosen is not None
    assert np.mean(losses) < 2 * best
    assert len(set(losses)) > 1
    assert chosen <= np.percentile(losses, 10)


def test_an_agent_level_with_a_pivot_goes_to_either_side_alike() -> None:
    """Of three agents a beats b, and c is level with both: it is first, between and last equally often."""
    profile = Profile.from_rankings([["a", "b"], ["c"]])
    rows, place = profile.pairs().by_agent, Counter[int]()
    state = seed_state(np.random.default_rng(1))
    for _ in range(3000):
        order = np.arange(3)
        room = np.zeros(3), np.empty(3, np.int64), np.empty(10, np.int64)
        voting.pivot_order(rows.row, rows.column, rows.margin, order, *room, state)
        place[int(np.flatnonzero(order == 2)[0])] += 1
    # four standard deviations of 3,000 draws are below 0.035
    assert [place[k] / 3000 for k in range(3)] == pytest.approx([1 / 3] * 3, abs=0.035)


def test_kwiksort_of_many_agents_in_order_ends() -> None:
    profile = Profile.from_rankings([[f"{k:03}" for k in range(800)]])
    assert sc.kwiksort(profile, tries=1).order == sorted(profile.agents)


@pytest.mark.parametrize("seed", range(8))
def test_iterated_search_finds_the_optimum_of_noise(seed: int) -> None:
    profile = sc.synthetic.mallows(11, agents=30, phi=1.0, seed=seed)
    assert sc.iterated_search(profile).discrete_loss == sc.kemeny(profile).discrete_loss


def test_more_search_contradicts_less() -> None:
    """Partial votes over many agents: insertion alone stops early."""
    profile = sc.synthetic.tournament(400, agents=150, size=6, seed=1)[0]
    quick = sc.insertion_search(profile).discrete_loss
    losses = np.array([sc.iterated_search(profile, rounds=rounds).discrete_loss for rounds in (1, 3, 5)], float)
    assert quick is not None
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < 0.97 * quick


def test_time_ends_a_search_but_leaves_no_move_that_helps() -> None:
    profile = sc.synthetic.tournament(3_000, agents=1_000, size=6, seed=1)[0]
    rows = profile.pairs().by_agent
    for limit in (0.0, 0.2):
        began = time.monotonic()
        board = sc.iterated_search(profile, rounds=30, time_limit=limit)
        assert time.monotonic() - began < 10  # 30 rounds would take days
        removed, idle = improve_order(rows.row, rows.column, rows.margin, board.index.copy(), 1)
        assert idle and removed == 0


def test_options_are_checked() -> None:
    profile = Profile.from_rankings([["a", "b"]])
    with pytest.raises(sc.OptionError, match="tries must be a positive whole number, got 0"):
        sc.kwiksort(profile, tries=0)
    with pytest.raises(sc.OptionError, match=r"rounds must be a positive whole number, got 1\.5"):
        sc.iterated_search(profile, rounds=1.5)  # type: ignore[arg-type]
    with pytest.raises(sc.OptionError, match="time_limit must be a number that is not negative, got -1"):
        sc.iterated_search(profile, time_limit=-1)
    with pytest.raises(sc.OptionError, match="bounds must be two numbers, low < high"):
        sc.insertion_search(profile, bounds=(1, 0))


@pytest.mark.parametrize("heat", [0.5, 2.0])
def test_stirring_visits_orders_as_often_as_the_heat_says(heat: float) -> None:
    """Drawing one place after the other settles at probabilities in proportion to exp(-loss / heat)."""
    profile = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[3, 1, 1])
    pairs = profile.pairs()
    margin, rows = margin_matrix(pairs), pairs.by_agent
    order, place, spots = np.arange(3), np.arange(3), np.empty(3, np.int64)
    line, cost, state = np.zeros(3), np.zeros(3), seed_state(np.random.default_rng(1))
    visits: Counter[tuple[int, ...]] = Counter()
    for _ in range(20_000):
        insertion.stir(rows.row, rows.column, rows.margin, order, place, spots, line, cost, heat, state)
        visits[tuple(order.tolist())] += 1
    assert (place[order] == np.arange(3)).all() and not line.any()
    chance = {turn: np.exp(-contradicted(margin, np.array(turn)) / heat) for turn in itertools.permutations(range(3))}
    for turn, share in chance.items():
        # 20,000 visits, nearly independent: four standard deviations are below 0.015
        assert visits[turn] / 20_000 == pytest.approx(share / sum(chance.values()), abs=0.015)


@given(profiles(max_agents=6))
def test_the_loss_of_an_order_is_what_it_contradicts(profile: Profile) -> None:
    pairs = profile.pairs()
    order = np.random.default_rng(0).permutation(pairs.n_agents)
    assert local_search.contradicted_by(pairs, order) == contradicted(margin_matrix(pairs), order)


def test_a_start_is_left_alone() -> None:
    pairs = sc.synthetic.mallows(5, agents=20, phi=1.0, seed=1).pairs()
    start = np.arange(20)[::-1].copy()
    found = local_search.search(pairs, [start], rounds=2)
    assert (start == np.arange(20)[::-1]).all()
    assert local_search.contradicted_by(pairs, found) < local_search.contradicted_by(pairs, start)
