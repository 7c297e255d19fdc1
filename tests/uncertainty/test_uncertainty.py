"""How sure is an order: resamples, intervals of ratings and ranks, ties, the posterior."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from click.testing import CliRunner
from conftest import paper_example, profiles
from helpers.fast import FAST
from hypothesis import assume, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, Ratings, Uncertainty, arrays
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.cli import main
from softcondorcet.kernels.pairwise import walk
from softcondorcet.pairs import Pairs, count_pairs
from softcondorcet.seeds import stream
from softcondorcet.solvers.descent import descend, walk_to
from softcondorcet.uncertainty.intervals import bca_tails, cut
from softcondorcet.uncertainty.posterior import gradient_noise
from softcondorcet.uncertainty.rank_intervals import surely_above
from softcondorcet.uncertainty.refit import refit
from softcondorcet.uncertainty.resampling import present, resampling

NAN = math.nan


def close_race(votes: int = 60, agents: int = 6, seed: int = 3) -> Profile:
    return sc.synthetic.tournament(votes, agents=agents, size=3, noise=30, seed=seed)[0]


@st.composite
def samples(draw: st.DrawFn) -> Uncertainty:
    """A few samples of a few ratings on a coarse grid, so that there are ties; some are missing."""
    m, n = draw(st.integers(1, 5)), draw(st.integers(2, 8))
    rating = st.integers(0, 4).map(float)
    board = Ratings(tuple("abcde"[:m]), np.array(draw(st.lists(rating, min_size=m, max_size=m))), "sco")
    rows = draw(st.lists(st.lists(rating | st.just(NAN), min_size=m, max_size=m), min_size=n, max_size=n))
    return Uncertainty(board, np.array(rows), "made up", draw(st.sampled_from([0.5, 0.8, 0.95])))


# What is asked of the samples, against the slow and obvious answer


@settings(max_examples=35)
@given(samples(), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_cut_leaves_whole_samples_out(found: Uncertainty, below: float, above: float) -> None:
    low, high = cut(found.samples, below, above)
    for a in range(len(found.board)):
        known = sorted(x for x in found.samples[:, a] if not math.isnan(x))
        if not known:
            assert math.isnan(low[a]) and math.isnan(high[a])
            continue
        left = [math.floor(share * len(known) + 1e-9) for share in (below, above)]
        assert low[a] == known[min(left[0], len(known) - 1)] and high[a] == known[max(len(known) - 1 - left[1], 0)]


@settings(max_examples=35)
@given(samples())
def test_every_statement_is_what_the_samples_say(found: Uncertainty) -> None:
    names, m = found.agents, len(found.board)
    filled = [
        [y if math.isnan(x) else x for x, y in zip(row, found.board.values, strict=True)] for row in found.samples
    ]
    for a, b in itertools.product(range(m), repeat=2):
        both = [(row[a], row[b]) for row in found.samples.tolist() if not (math.isnan(row[a]) or math.isnan(row[b]))]
        share = found.above(names[a], names[b])
        if not both:
            assert math.isnan(share) and math.isnan(found.above_matrix[a, b])
            continue
        assert share == sum((x > y) + (x == y) / 2 for x, y in both) / len(both) == found.above_matrix[a, b]
    for k in range(1, m + 1):
        for a in range(m):
            ranks = [
                1 + sum(x > row[a] for x in row)
                for row, sample in zip(filled, found.samples, strict=True)
                if not math.isnan(sample[a])
            ]
            expected = sum(rank <= k for rank in ranks) / len(ranks) if ranks else NAN
            assert np.array_equal(found.top(k)[a], expected, equal_nan=True)


@settings(max_examples=35)
@given(samples())
def test_intervals_of_ranks_count_those_surely_above_and_below(found: Uncertainty) -> None:
    m, sure = len(found.board), surely_above(found.level)
    known = ~np.isnan(found.rating_low)
    for a, name in enumerate(found.agents):
        rank = int(found.board.ranks[a])
        best = 1 + sum(careful(found, name, other) <= 1 - sure for other in found.agents)
        worst = m - sum(careful(found, name, other) >= sure for other in found.agents)
        assert (found.rank_low[a], found.rank_high[a]) == (min(best, rank), max(worst, rank))
        row = found.rows()[found.board.order.index(name)]
        if not known[a]:
            assert (best, worst) == (1, m) and row["rating_lower"] is None
            continue
        assert found.rating_low[a] <= found.board.values[a] <= found.rating_high[a]
        assert found.rank_ub[a] == row["rank_ub"] == 1 + sum(found.rating_low[known] > found.rating_high[a])


def careful(found: Uncertainty, a: str, b: str) -> float:
    """The share of samples with a above b, and one undecided sample more."""
    i, j = found.agents.index(a), found.agents.index(b)
    v = sum(not (math.isnan(row[i]) or math.isnan(row[j])) for row in found.samples)
    return (v * found.above(a, b) + 0.5) / (v + 1) if v else 0.5


def test_few_votes_tell_nobody_apart_however_clear() -> None:
    for votes, rank, groups in ((5, (1, 2), 1), (6, (1, 1), 1), (18, (1, 1), 1), (19, (1, 1), 2)):
        found = sc.bootstrap(Profile.from_rankings([["a", "b"]], weights=[votes]), n=40)
        assert found.above("a", "b") == 1
        assert (found.rank_low[0], found.rank_high[0]) == rank and len(found.tie_groups) == groups
    three = sc.bootstrap(Profile.from_rankings([["a", "b", "c", "d"]], weights=[2]), n=40)  # two votes, six comparisons
    assert three.chances(0, np.array([1, 2, 3])).tolist() == [6.5 / 7] * 3


def test_ranks_of_many_agents_are_counted_by_some_of_them() -> None:
    """Twice as many agents as are held against each other one by one: both ways of counting, on the same samples."""
    m, rng = 4002, np.random.default_rng(0)
    true = np.arange(m, dtype=float)
    rows = true + rng.normal(scale=60, size=(40, m))
    found = Uncertainty(Ratings(tuple(map(str, range(m))), true, "made up"), rows, "")
    for a in (0, 1000, 2001, 4001):
        chance = found.chances(a, np.arange(m))
        best, worst = 1 + (chance <= 1 - surely_above(0.95)).sum(), m - (chance >= surely_above(0.95)).sum()
        assert abs(best - found.rank_low[a]) <= 25 and abs(worst - found.rank_high[a]) <= 25  # one in 160 of the agents


@settings(max_examples=35)
@given(samples())
def test_groups_are_cut_where_the_first_of_a_group_is_told_apart(found: Uncertainty) -> None:
    groups = found.tie_groups
    assert [name for group in groups for name in group] == found.board.order
    for group in groups:
        assert not any(careful(found, group[0], name) >= found.sure for name in group[1:])
    for group, after in itertools.pairwise(groups):
        assert careful(found, group[0], after[0]) >= found.sure


@settings(max_examples=35)
@given(samples())
def test_orders_are_counted(found: Uncertainty) -> None:
    every = found.orders(most=len(found))
    assert sum(share for _, share in every) == pytest.approx(1, abs=1e-12)
    assert [share for _, share in every] == sorted((share for _, share in every), reverse=True)
    assert len({tuple(order) for order, _ in every}) == len(every)
    assert all(sorted(order) == sorted(found.agents) for order, _ in every)


@settings(max_examples=35)
@given(samples())
def test_json_has_the_rows_and_no_nan(found: Uncertainty) -> None:
    data = json.loads(found.to_json(top=2))
    assert data["agents"] == found.rows(2) and data["samples"] == len(found)
    assert "NaN" not in found.to_json() and all(isinstance(line, str) for line in found.summary())


def test_the_summary_says_who_cannot_be_told_apart() -> None:
    board = Ratings(("a", "b", "c"), np.array([9.0, 8.0, 1.0]), "sco")
    rows = np.array([[9.0, 8.0, 1.0]] * 15 + [[8.0, 9.0, 1.0]] * 5)
    found = Uncertainty(board, rows, "20 draws", warnings=("few",))
    assert found.summary() == [
        "sco, 20 draws; intervals of 95 %",
        "a is first in 75% of the samples",
        "ranks 1-2 cannot be told apart: a, b",
        "2 groups in all, 1 of them of one agent",
        "warning: few",
    ]
    assert found.tie_groups == [["a", "b"], ["c"]] and found.orders(1) == [(["a", "b", "c"], 0.75)]
    assert (found.rank_low.tolist(), found.rank_high.tolist()) == ([1, 1, 3], [2, 2, 3])


@pytest.mark.parametrize(
    ("rows", "level", "message"),
    [
        (np.zeros((5, 2)), 0.95, "expected rows of 3 ratings"),
        (np.zeros((1, 3)), 0.95, "at least 2"),
        (np.zeros((5, 3)), 95, "level must be a number from 0.5 to 1"),
        (np.zeros((5, 3)), True, "level must be"),
    ],
)
def test_samples_that_do_not_fit_are_refused(rows: np.ndarray, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Uncertainty(Ratings(("a", "b", "c"), np.zeros(3), "sco"), rows, "", level)


def test_an_unknown_agent_and_a_matrix_too_large() -> None:
    found = sc.bootstrap(close_race(), n=5)
    with pytest.raises(KeyError, match="no agent 'zz'"):
        found.above("zz", "agent-1")
    many = Ratings(tuple(map(str, range(2001))), np.zeros(2001), "sco")
    with pytest.raises(sc.OptionError, match="too large"):
        Uncertainty(many, np.zeros((2, 2001)), "").above_matrix  # noqa: B018


# Resamples


@settings(max_examples=40)
@given(profiles(), st.integers(0, 99))
def test_a_resample_counted_into_known_pairs_is_counted_right(profile: Profile, seed: int) -> None:
    assume(profile.weight.sum() > 1)
    drawn = resampling(profile, "votes", on_pairs=True, in_order=False)
    weight = np.random.default_rng(seed).integers(0, 3, profile.n_votes).astype(float)
    if (profile.length == 2).all():  # drawn as comparisons
        assert drawn.size == profile.weight.sum()
        return
    expected, counted = count_pairs(replace(profile, weight=weight)), drawn.make(weight)
    for name in ("left", "right", "wins", "losses", "ties"):
        assert np.array_equal(getattr(expected, name), getattr(counted, name)), name


@settings(max_examples=40)
@given(profiles(), st.integers(0, 99))
def test_a_resample_has_as_many_votes_and_only_those_that_are_there(profile: Profile, seed: int) -> None:
    total = profile.weight.sum()
    assume(total > 1)
    drawn = resampling(profile, "votes", on_pairs=False, in_order=False).draw(np.random.default_rng(seed))
    assert isinstance(drawn, Profile)
    assert drawn.weight.sum() == total
    assert np.array_equal(drawn.agent, profile.agent) and np.array_equal(drawn.tier, profile.tier)


def test_votes_of_two_are_drawn_as_comparisons_with_the_same_spread() -> None:
    """Mean and covariance of the margins over many draws, both ways of drawing, against the multinomial."""
    votes = Profile.from_rankings([["a", "b"], ["b", "a"], ["b", "c"], [["a", "c"]]], weights=[6, 2, 3, 1])
    rng = np.random.default_rng(0)

    def moments(on_pairs: bool) -> tuple[np.ndarray, np.ndarray]:
        drawn = resampling(votes, "votes", on_pairs, in_order=False)
        found = []
        for _ in range(1500):
            data = drawn.draw(rng)
            pairs = data if isinstance(data, Pairs) else data.pairs()
            wins, _ = pairs.dense()
            found.append([wins[0, 1], wins[1, 0], wins[1, 2]])
        return np.mean(found, axis=0), np.cov(np.array(found).T)

    p = np.array([6, 2, 3]) / 12
    spread = 12 * (np.diag(p) - np.outer(p, p))
    for mean, covariance in (moments(True), moments(False)):
        # Four standard errors of 1,500 draws: deviations are below 1.8, those of products below 4.6.
        assert np.allclose(mean, 12 * p, atol=0.19) and np.allclose(covariance, spread, atol=0.48)


def test_groups_are_drawn_whole() -> None:
    votes = close_race(40).with_groups(np.arange(40) % 5, "vwxyz")
    drawn = resampling(votes, "groups", on_pairs=False, in_order=False)
    data = drawn.draw(np.random.default_rng(1))
    assert isinstance(data, Profile) and drawn.words == "5 groups"
    by_group = data.weight.reshape(8, 5)
    assert (by_group == by_group[0]).all() and by_group[0].sum() == 5


def test_a_row_with_a_fraction_for_a_weight_is_one_vote() -> None:
    votes = replace(close_race(10), weight=np.full(10, 0.5))
    drawn = resampling(votes, "votes", on_pairs=False, in_order=False)
    data = drawn.draw(np.random.default_rng(1))
    assert isinstance(data, Profile)
    assert drawn.words == "10 votes" and data.weight.sum() == 5 and set(data.weight) <= {0, 0.5, 1, 1.5, 2}


@given(profiles(), st.integers(2, 6))
def test_blocks_left_out_add_up_to_all_votes(profile: Profile, blocks: int) -> None:
    assume(profile.weight.sum() > 1)
    drawn = resampling(profile, "votes", on_pairs=False, in_order=False)
    parts = [part.weight for part in drawn.without_blocks(blocks, np.random.default_rng(0))]  # type: ignore[union-attr]
    assert np.array_equal(sum(profile.weight - part for part in parts), profile.weight)


def test_what_cannot_be_drawn_is_said() -> None:
    pairs = close_race().pairs()
    with pytest.raises(sc.OptionError, match="pairs know no groups"):
        sc.bootstrap(pairs, by="groups")
    with pytest.raises(sc.OptionError, match="these votes have no groups"):
        sc.bootstrap(close_race(), by="groups")
    with pytest.raises(sc.DataError, match="expected whole counts"):
        sc.bootstrap(replace(pairs, wins=pairs.wins / 2))
    with pytest.raises(sc.DataError, match="at least 2 to draw from, got 1"):
        sc.bootstrap(Profile.from_rankings([["a", "b", "c"]]))


# The fit of a resample is the fit that sco makes


@settings(max_examples=30)
@given(profiles(), st.sampled_from([5, 20, 150]))
def test_the_walk_takes_the_steps_of_the_descent_loop(profile: Profile, steps: int) -> None:
    pairs = profile.pairs()
    rows, m = pairs.by_agent, profile.n_agents
    stages = walk_to(Stage(1.0, 1.0), 100.0)
    loss = PairwiseLoss(pairs, (0.0, 100.0))
    expected = descend(loss, np.full(m, 50.0), stages, bounds=(0.0, 100.0), steps=steps, tol=0.01)
    strength = np.maximum(rows.sums(np.abs(rows.margin)), np.finfo(float).tiny)
    heats, found = np.array([stage.temperature for stage in stages]), np.full(m, 50.0)
    error = walk(rows.row, rows.column, rows.margin, strength, heats, steps, 0.01, 0.0, 100.0, found, *np.empty((3, m)))
    # Sums are grouped otherwise and the exponential differs in the last bits.
    assert np.allclose(found, expected.ratings, rtol=0, atol=1e-7)
    assert error == pytest.approx(expected.error, rel=1e-4, abs=1e-9)


@settings(max_examples=30)
@given(profiles())
def test_a_refit_is_the_fit_of_sco(profile: Profile) -> None:
    """To rounding, unless the exact stage, which a refit leaves out, finds another order."""
    board = sc.sco(profile, scale="box")
    again = refit(board)
    assert again is not None and board.discrete_loss is not None
    values = again(profile.pairs())
    loss = profile.pairs().discrete_loss(values)
    assert loss >= board.discrete_loss - 1e-9
    assert loss > board.discrete_loss + 1e-9 or np.allclose(values, board.values, atol=1e-6) or not acyclic(profile)


def acyclic(profile: Profile) -> bool:
    return all(len(group) == 1 for group in sc.strong_groups(profile, by="majority"))


def test_resamples_are_fitted_as_sco_would_fit_them() -> None:
    """The same draws, rated by the fast path and by the method itself."""
    votes = close_race(80, agents=7)
    fast, slow = sc.bootstrap(votes, n=60, scale="box"), sc.bootstrap(votes, n=60, tol=0.01, scale="box")
    drawn = resampling(votes, "votes", on_pairs=True, in_order=False)
    boards = [sc.sco(drawn.draw(rng), scale="box") for rng in stream(0, "resamples").spawn(61)[:60]]
    assert np.array_equal(fast.samples, slow.samples)
    same = [np.allclose(board.values, row, atol=0.01) for board, row in zip(boards, fast.samples, strict=True)]
    assert np.mean(same) > 0.9  # the rest are cycles, of which insertion may find another order


def test_what_the_fast_path_cannot_do_goes_through_the_method() -> None:
    assert refit(sc.sco(close_race(), prior=0.1)) is None
    assert refit(sc.sco(close_race(), solver="sgd", steps=10)) is None
    assert refit(sc.sco(close_race(), temperature=0.1)) is None
    found = sc.bootstrap(close_race(), n=8, prior=0.1)
    assert found.board.options["prior"] == 0.1 and len(found) == 8


# The bootstrap


@pytest.mark.parametrize("method", sorted(sc.METHODS))
def test_any_method_can_be_resampled(method: str) -> None:
    votes = close_race(20, agents=4)
    found = sc.bootstrap(votes, method, n=6, **FAST[method])
    assert found.board.method == method and found.samples.shape == (6, 4)
    seed = {"seed": 0} if "seed" in sc.METHODS[method].options else {}
    assert np.array_equal(found.board.values, sc.rank(votes, method, **seed, **FAST[method]).values)
    assert (found.rank_low <= found.board.ranks).all() and (found.board.ranks <= found.rank_high).all()


@pytest.mark.parametrize(("method", "options"), [("sco", {}), ("elo", {}), ("sco", {"solver": "sgd", "steps": 50})])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_cores(
    method: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    for cores in (1, 3, 8):
        monkeypatch.setattr(arrays, "cores", lambda cores=cores: cores)
        runs.append(sc.bootstrap(close_race(), method, n=20, seed=5, interval="bca", **options))
    for run in runs[1:]:
        assert np.array_equal(run.samples, runs[0].samples)
        assert run.skew is not None and runs[0].skew is not None and np.array_equal(run.skew, runs[0].skew)
    assert not np.array_equal(runs[0].samples, sc.bootstrap(close_race(), method, n=20, seed=6, **options).samples)


def test_the_fit_does_not_move_with_the_seed_and_the_votes_stay_as_they_are() -> None:
    votes = close_race()
    before = votes.weight.copy()
    boards = [sc.bootstrap(votes, n=10, seed=seed).board for seed in (0, 1)]
    assert np.array_equal(boards[0].values, boards[1].values) and np.array_equal(boards[0].values, sc.sco(votes).values)
    assert np.array_equal(votes.weight, before)


def test_counts_and_votes_one_by_one_agree() -> None:
    """The same battles as rows of weight 1 and as pair counts: the same bootstrap, up to the draws."""
    battles = sc.synthetic.tournament(400, agents=5, size=2, noise=60, seed=2)[0]
    one, other = sc.bootstrap(battles, n=400), sc.bootstrap(battles.pairs(), n=400)
    assert one.source == "400 resamples of 400 votes" and other.source == "400 resamples of 400 comparisons"
    # A share of 400 draws has a standard error of 0.025 at most; the difference of two, four of 0.035.
    assert np.abs(one.above_matrix - other.above_matrix).max() < 0.14


def test_votes_that_repeat_within_groups_make_intervals_by_group_wider() -> None:
    votes = close_race(15, agents=5)
    copies = votes.take(np.repeat(np.arange(15), 10))
    grouped = copies.with_groups(np.repeat(np.arange(15), 10), [*map(str, range(15))])
    alone, whole = (sc.bootstrap(grouped, "bradley_terry", by=by, n=100) for by in ("votes", "groups"))
    assert whole.source == "100 resamples of 15 groups"
    width = [np.mean(found.rating_high - found.rating_low) for found in (alone, whole)]
    assert width[1] > 2 * width[0]  # ten copies of each vote: intervals by vote are too narrow by the root of ten


def test_an_agent_absent_from_a_resample_is_said_and_judged_by_the_others() -> None:
    votes = Profile.from_rankings([["a", "b", "c"]] * 6 + [["b", "a", "c"]] * 5 + [["d", "c"]], agents=list("abcde"))
    found = sc.bootstrap(votes, n=50)
    gone = np.isnan(found.samples)
    assert 0 < gone[:, 3].mean() < 1 and gone[:, 4].all() and not gone[:, :3].any()
    assert any("2 agents are missing from some resamples" in note and "d, e" in note for note in found.warnings)
    row = {row["agent"]: row for row in found.rows()}
    assert row["d"]["rating_lower"] is not None
    assert row["e"]["rating_lower"] is None and (row["e"]["rank_low"], row["e"]["rank_high"]) == (1, 5)
    json.loads(found.to_json())


@given(profiles())
def test_who_is_present_stands_in_a_comparison(profile: Profile) -> None:
    named = {a for pair in reference.pair_counts(profile) for a in pair}
    expected = [name in named for name in profile.agents]
    assert present(profile).tolist() == expected == present(profile.pairs()).tolist()


def test_resamples_that_cannot_be_rated_are_left_out_and_said() -> None:
    votes = Profile.from_rankings([["a", "b"]] * 5 + [["b", "a"]] * 2)
    found = sc.bootstrap(votes, "bradley_terry", prior=0.0, n=60)
    assert any("of 60 resamples could not be rated" in note and "no finite rating" in note for note in found.warnings)
    assert 0 < np.isnan(found.samples).all(axis=1).sum() < 60 and np.isfinite(found.rating_low).all()
    lone = Profile.from_rankings([["a", "b"]] * 300 + [["b", "a"]])
    with pytest.raises(sc.DataError, match="resamples cannot be rated"):
        sc.bootstrap(lone, "bradley_terry", prior=0.0, n=2, seed=1)


def test_intervals_that_votes_cannot_support_are_said() -> None:
    found = sc.bootstrap(Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]] * 4), n=30)
    assert "1 agent never lost, so no resample shows it: intervals too narrow for a" in found.warnings
    assert any("30 resamples are too few for 95 % intervals: expected at least 40" in note for note in found.warnings)
    grouped = close_race(8).with_groups(np.arange(8) % 4, "wxyz")
    assert any("only 4 groups" in note for note in sc.bootstrap(grouped, by="groups").warnings)


def test_resamples_that_did_not_converge_are_counted() -> None:
    with pytest.warns(sc.NotConverged):
        found = sc.bootstrap(close_race(), n=40, polish=False, steps=3)
    assert "40 of 40 resamples did not converge" in found.warnings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "elo9"}, "method must be one of sco,"),
        ({"n": 1}, "at least 2 resamples"),
        ({"n": 2.5}, "n must be a positive whole number"),
        ({"by": "rows"}, "by must be 'votes' or 'groups'"),
        ({"interval": "normal"}, "interval must be"),
        ({"level": 1.0}, "level must be"),
        ({"seed": -1}, "seed must be"),
        ({"temprature": 1.0}, "sco has no option 'temprature'"),
        ({"start": None}, "start must be left out"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        sc.bootstrap(close_race(), **options)  # type: ignore[arg-type]


def test_progress_is_reported_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    sc.bootstrap(close_race(), n=12, interval="bca", watch=lambda k, total, _: seen.append((k, total)))
    assert seen == [(k, 62) for k in range(1, 63)]


# BCa


def test_bca_is_efrons_interval() -> None:
    votes = close_race(40)
    found = sc.bootstrap(votes, "borda", n=150, interval="bca")
    drawn = resampling(votes, "votes", on_pairs=True, in_order=False)
    apart = stream(0, "resamples").spawn(151)[-1]
    parts = [sc.borda(part).values for part in drawn.without_blocks(40, apart)]
    for a in range(votes.n_agents):
        expected = reference.bca_interval(
            found.samples[:, a].tolist(), float(found.board.values[a]), [float(part[a]) for part in parts], 0.95
        )
        fit = float(found.board.values[a])
        held = min(expected[0], fit), max(expected[1], fit)
        assert (found.rating_low[a], found.rating_high[a]) == pytest.approx(held, abs=1e-9)
    assert json.loads(found.to_json())["interval"] == "bca"


def test_bca_without_bias_and_skew_is_the_percentile_interval() -> None:
    below, above = bca_tails(0.9, np.full(3, 0.5), np.zeros(3))
    assert np.allclose(below, 0.05) and np.allclose(above, 0.05)
    shifted, _ = bca_tails(0.9, np.full(1, 0.6), np.zeros(1))  # most samples are below the fit: cut more of them
    skewed, _ = bca_tails(0.9, np.full(1, 0.5), np.full(1, 0.1))  # the spread grows upwards
    assert shifted > 0.05 and skewed > 0.05


# Intervals hold the truth


def test_rank_intervals_hold_the_true_rank() -> None:
    """A few of the tournaments of benchmarks/rank_intervals.py; 95 % of 240 agents has a standard error of 1.4 %."""
    held = []
    for seed in range(20):
        votes, truth = sc.synthetic.tournament(60, agents=12, noise=30, seed=seed)
        found = sc.bootstrap(votes, n=100, seed=seed)
        true = Ratings(votes.agents, np.array([truth[name] for name in votes.agents]), "truth").ranks
        held += ((found.rank_low <= true) & (true <= found.rank_high)).tolist()
    assert 0.91 < np.mean(held) < 0.995


def test_sure_is_the_deviation_of_a_difference() -> None:
    """By simulation: where one of two normal ratings is at the end of its interval, how often is it above the other?"""
    rng = np.random.default_rng(0)
    ahead = 1.96 + rng.normal(size=400_000) > rng.normal(size=400_000)
    assert surely_above(0.95) == pytest.approx(ahead.mean(), abs=0.002)  # four standard errors


# The posterior


@settings(max_examples=25)
@given(profiles(max_agents=5), st.integers(0, 9))
def test_gradient_noise_is_the_spread_of_the_gradients_of_single_votes(profile: Profile, seed: int) -> None:
    ratings = np.random.default_rng(seed).uniform(45, 55, profile.n_agents)
    named = dict(zip(profile.agents, ratings.tolist(), strict=True))
    gradients = np.array([
        list(reference.vote_gradient(vote, named, 2.0).values()) for vote in profile.rankings()
    ])  # fmt: skip
    mean = np.average(gradients, axis=0, weights=profile.weight)
    expected = np.average(((gradients - mean) ** 2).sum(axis=1), weights=profile.weight)
    for bounds in ((0.0, 100.0), (-1000.0, 1100.0)):  # with exponentials, and in a box too wide for them
        assert gradient_noise(profile, ratings, 2.0, bounds) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_the_rate_is_the_one_derived() -> None:
    votes = sc.synthetic.tournament(3000, agents=5, noise=60, seed=4)[0]
    found = sc.posterior(votes, n=20, batch=16)
    noise = gradient_noise(votes, np.array(found.board.values), 1.0, (0.0, 100.0))
    assert found.source == (
        f"posterior, 20 samples by SGD at rate {2 * 16 * 5 / (3000 * noise):.3g}, one every 188 steps"
    )
    assert not found.warnings


def test_samples_stay_in_the_box_and_repeat() -> None:
    votes = close_race(200)
    one, again = (sc.posterior(votes, n=50, bounds=(-3.0, 3.0), temperature=1.0, seed=7) for _ in range(2))
    other = sc.posterior(votes, n=50, bounds=(-3.0, 3.0), temperature=1.0, seed=8)
    assert np.array_equal(one.samples, again.samples) and not np.array_equal(one.samples, other.samples)
    assert one.samples.min() >= -3 and one.samples.max() <= 3 and one.samples.std(axis=0).max() > 0
    seen: list[int] = []
    sc.posterior(votes, n=9, watch=lambda k, n, _: seen.append(k))
    assert seen == list(range(1, 10))


def test_a_posterior_too_flat_says_so_and_needs_votes() -> None:
    clear = Profile.from_rankings([["a", "b", "c"]] * 10)
    assert any("a higher temperature would help" in note for note in sc.posterior(clear, n=10).warnings)
    with pytest.raises(sc.OptionError, match="whole votes"):
        sc.posterior(clear.pairs())  # type: ignore[arg-type]


# Commands


def test_the_command_prints_the_rows_of_the_library(tmp_path: object) -> None:
    path = f"{tmp_path}/votes.csv"
    votes = close_race()
    sc.write(votes, path)
    args = ["bootstrap", path, "--resamples", "30", "--seed", "2", "--level", "0.9"]
    result = CliRunner().invoke(main, [*args, "--format", "json"])
    expected = sc.bootstrap(sc.read(path), n=30, seed=2, level=0.9)
    assert json.loads(result.stdout) == json.loads(expected.to_json())
    table = CliRunner().invoke(main, [*args, "--top", "2"])
    assert table.exit_code == 0 and len(table.stdout.splitlines()) == 3
    assert "30 resamples of 60 votes" in table.stderr
    wrong = CliRunner().invoke(main, [*args, "--by", "groups"])
    assert wrong.exit_code == 2 and "no groups" in wrong.stderr


def test_paper_example_is_settled_by_none_of_its_five_votes() -> None:
    assert len(sc.bootstrap(paper_example()).tie_groups) < 3
