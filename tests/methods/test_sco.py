"""SCO itself: the paper's numbers, its guarantee, and what the options promise."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
import reference
from conftest import paper_example, paper_table, profiles, tennessee, three_cycle
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile

# The paper's ratings, whatever the kind of votes.
boxed = partial(sc.sco, scale="box")


def test_the_papers_example() -> None:
    """C is the Condorcet winner and stands exactly at the upper bound; the win rate, and Fenchel-Young, prefer A."""
    board = boxed(paper_example())
    assert board.order == ["C", "A", "B"]
    assert board["C"] == 100.0
    assert board.discrete_loss == 4.0
    assert board.condorcet_winner == "C"
    assert sc.fenchel_young(paper_example()).order[0] == "A"
    assert boxed(paper_table()).discrete_loss == 5.0


@pytest.mark.parametrize(
    ("lr", "temperature", "paper", "ours"),
    [
        (0.01, 0.5, 289, 291),
        (0.01, 1, 1158, 1161),
        (0.01, 2, 4661, 4641),
        (0.1, 0.5, 28, 30),
        (0.1, 1, 115, 117),
        (0.1, 2, 463, 465),
    ],
)
def test_steps_to_convergence_of_plain_descent(lr: float, temperature: float, paper: int, ours: int) -> None:
    """The paper's Table of T_conv: steps until the order is C, A, B. Averaging over the batch is what gives it."""
    reached: list[int] = []

    def watch(step: int, _: int, ratings: np.ndarray) -> None:
        if not reached and ratings[2] > ratings[0] > ratings[1]:
            reached.append(step)

    boxed(
        paper_example(), solver="sgd", batch="all", lr=lr, temperature=temperature, steps=ours + 5, watch=watch, every=1
    )
    assert reached == [ours]
    assert abs(ours - paper) <= max(3, 0.02 * paper)


@given(profiles())
def test_a_condorcet_winner_is_first_and_at_the_bound(profile: Profile) -> None:
    board, winner = boxed(profile), reference.condorcet_winner(profile)
    if winner is not None:
        assert board.rank_of(winner) == 1
        assert (board.ranks == 1).sum() == 1
        assert board[winner] == 100.0


@given(profiles(max_agents=5, complete=True))
def test_small_orders_are_optimal_or_nearly(profile: Profile) -> None:
    """Best insertion is local; within 5 agents it may be off by a vote or two, never by more than a tenth."""
    board = boxed(profile)
    best = reference.kemeny_loss(profile)
    assert board.discrete_loss is not None
    assert best - 1e-9 <= board.discrete_loss <= 1.1 * best + 1e-9


@given(profiles())
def test_the_result_reports_its_own_losses(profile: Profile) -> None:
    board = boxed(profile)
    named = {name: board[name] for name in profile.agents}
    assert board.discrete_loss == pytest.approx(reference.discrete_loss(profile, named), abs=1e-9)
    smooth = reference.family_loss(profile, named, board.options["temperature"], 1.0)
    assert board.loss == pytest.approx(smooth, rel=1e-9, abs=1e-9)
    assert all(0 <= value <= 100 for value in board.values)


def test_a_smaller_loss_than_plain_descent_from_the_middle() -> None:
    """The walk is what finds good valleys: started cold at the target temperature, the loss stays higher."""
    profile = sc.synthetic.mallows(15, agents=40, phi=0.97, seed=4)
    walked = boxed(profile)
    cold = boxed(profile, start=sc.Ratings(profile.agents, np.full(40, 50.0), "middle"), polish=False)
    assert walked.loss is not None and cold.loss is not None
    assert walked.loss < cold.loss


def test_nothing_is_said_about_agents_nobody_compared() -> None:
    profile = Profile.from_rankings([["a", "b"], ["c", "d"]], agents=["a", "b", "c", "d", "e"])
    board = boxed(profile)
    assert board["e"] == 50.0
    assert board["a"] == board["c"] == 100.0
    assert any("2 groups of agents were never compared" in note for note in board.warnings)
    assert any("1 agent in no comparison" in note and "e" in note for note in board.warnings)


def test_a_small_group_is_kept_around_the_middle() -> None:
    """Nothing says how two newcomers compare with the rest, so neither of them may lead the board."""
    board = boxed(sc.synthetic.demo())
    assert set(board.order[:3]) == {"aster", "birch", "cedar"}
    assert board["newcomer-1"] + board["newcomer-2"] == pytest.approx(100, abs=1e-6)


@given(profiles())
def test_ties_never_cost_more_than_the_order_shown(profile: Profile) -> None:
    """Agents share a rating only where no margin between any two of them says who is better."""
    board = boxed(profile)
    assert board.discrete_loss is not None
    assert board.discrete_loss <= sc.discrete_loss(profile, board.order) + 1e-9


def test_agents_that_a_margin_tells_apart_do_not_tie() -> None:
    votes = ["n0 n1", "n0 n2", "n3 n0", "n1 n3", "n4 n0", "n4 n1", "n1 n4", "n2 n4"]
    profile = Profile.from_rankings([vote.split() for vote in votes])
    board = boxed(profile)
    assert board.discrete_loss == sc.discrete_loss(profile, board.order) == 3.0


@pytest.mark.parametrize("bounds", [(0.1, 0.7), (-3.3, 11.1), (1e-3, 1e3)])
def test_no_rating_leaves_the_box_by_rounding(bounds: tuple[float, float]) -> None:
    profile = Profile.from_rankings([["a", "b", "c", "d"], ["x", "y", "z"], ["p", "q"]])
    values = boxed(profile, bounds=bounds).values
    assert values.min() >= bounds[0] and values.max() <= bounds[1]


@pytest.mark.parametrize("steps", [1, 2, 50, 101])
def test_no_more_steps_than_asked_for(steps: int) -> None:
    seen: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        board = boxed(tennessee(), steps=steps, tol=1e-12, watch=lambda step, of, _: seen.append((step, of)))
    assert board.steps == steps == len(seen)
    assert seen == [(k, steps) for k in range(1, steps + 1)]
    assert board.order[0] == "Nashville"


def test_heavy_and_light_votes_together() -> None:
    """Sums over rows must not lose a light row next to a heavy one."""
    profile = Profile.from_rankings([["h", "i"], ["a", "b"], ["b", "c"], ["a", "c"]], weights=[1e17, 1, 1, 1])
    rows = profile.pairs().by_agent
    assert rows.sums(np.abs(rows.margin)).tolist() == [1e17, 1e17, 2, 2, 2]
    board = boxed(profile, sharpness=0.5, prior=0.1)
    assert board["a"] > board["b"] > board["c"]


def test_stochastic_runs_do_not_claim_to_have_converged() -> None:
    for board in (
        boxed(tennessee(), solver="sgd", steps=1),
        sc.fenchel_young(tennessee(), steps=1),
        sc.Live().ratings(),
    ):
        assert board.converged is None and board.error is None
        assert "converged" not in board.summary()[0]


def test_equal_agents_tie() -> None:
    board = boxed(Profile.from_rankings([["top", "x"], ["top", "y"], ["x", "low"], ["y", "low"]]))
    assert board["x"] == board["y"]
    assert board.ranks.tolist() == [1, 2, 2, 4]


def test_a_cycle_is_ranked_and_said_to_be_one() -> None:
    board = boxed(three_cycle())
    assert board.discrete_loss == 4.0  # one of the three rotations; a three-way tie would cost 4.5
    assert board.condorcet_winner is None
    assert board.smith_set == ("A", "B", "C")


def test_warm_start_stays_near_and_is_cheaper() -> None:
    profile = sc.synthetic.tournament(300, seed=5)[0]
    board = boxed(profile)
    again = boxed(profile, start=board)
    assert again.steps < board.steps
    assert again.order == board.order
    grown = Profile.from_rankings([*(p for p in profile.rankings()), [["new"], ["agent-01"]]])
    assert "new" in boxed(grown, start=board)


def test_sharpness_zero_is_bradley_terry_with_a_prior() -> None:
    """At the optimum, expected wins equal wins up to the pull of the prior."""
    board = boxed(tennessee(), sharpness=0.0, prior=0.5, tol=1e-9, steps=5000)
    wins, _ = tennessee().pairs().dense()
    x = np.array([board[name] for name in tennessee().agents]) / board.options["temperature"]
    expected = ((wins + wins.T) / (1 + np.exp(x[None, :] - x[:, None]))).sum(axis=1)
    middle = 50 / board.options["temperature"]
    np.testing.assert_allclose(wins.sum(axis=1) - expected, 0.5 * (x - middle), atol=1e-5)
    assert board.converged


def test_a_prior_holds_undefeated_agents_back() -> None:
    profile = Profile.from_rankings([["once", "x"], *[["often", "x"]] * 9, ["x", "often"]])
    sharp = boxed(profile)
    held = boxed(profile, prior=1.0, sharpness=0.0)
    assert sharp.order[0] == "once"
    assert held.order[0] == "often"


def test_attracting_ties_pull_together() -> None:
    profile = Profile.from_rankings([["a", "b"], *[[["a", "b"]]] * 5])
    apart, pulled = boxed(profile), boxed(profile, ties="attract")
    assert apart["a"] - apart["b"] == 100
    assert 0 < pulled["a"] - pulled["b"] < 2
    assert pulled.converged


def test_the_footrule_finds_the_footrule_optimum_of_a_small_profile() -> None:
    import itertools

    def total(order: list[str]) -> float:
        votes = zip(tennessee().rankings(), tennessee().weight, strict=True)
        return float(sum(w * sc.footrule_distance(vote, order) for vote, w in votes))

    board = boxed(tennessee(), loss="footrule")
    assert total(board.order) == min(total(list(p)) for p in itertools.permutations(tennessee().agents))
    assert board.converged


def test_sgd_follows_the_seed_and_reaches_the_example() -> None:
    options: dict[str, Any] = {"solver": "sgd", "batch": 2, "lr": 0.1, "steps": 3000}
    first, again = boxed(paper_example(), seed=1, **options), boxed(paper_example(), seed=1, **options)
    np.testing.assert_array_equal(first.values, again.values)
    assert first.order == ["C", "A", "B"]
    assert not np.array_equal(first.values, boxed(paper_example(), seed=2, **options).values)


@pytest.mark.parametrize("schedule", ["constant", "sqrt", "inverse", "linear", "cosine"])
def test_schedules_of_the_rate(schedule: str) -> None:
    """A single vote moves its agents apart at every rate; the faster the rate falls, the less."""
    board = boxed(Profile.from_rankings([["a", "b"]]), solver="sgd", batch=1, lr=1.0, steps=50, schedule=schedule)
    constant = boxed(Profile.from_rankings([["a", "b"]]), solver="sgd", batch=1, lr=1.0, steps=50)
    assert 0 < board["a"] - board["b"] <= constant["a"] - constant["b"]


def test_start_noise_moves_the_start_only_when_asked() -> None:
    profile = Profile.from_rankings([["a", "b"]], agents=["a", "b", "idle"])
    assert boxed(profile, solver="sgd", steps=10)["idle"] == 50.0
    assert boxed(profile, solver="sgd", steps=10, noise=1.0)["idle"] != 50.0


def test_no_convergence_is_a_warning_and_a_field() -> None:
    with pytest.warns(sc.NotConverged, match="did not converge"):
        board = boxed(tennessee(), sharpness=0.0, prior=0.01, steps=2, tol=1e-9)
    assert not board.converged
    assert "raise steps" in board.warnings[0]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1000.0, 1000.0), (0.0, 1e6)])
@pytest.mark.parametrize("temperature", ["auto", 0.01, 1.0])
def test_any_box_and_temperature_gives_finite_ratings_inside(
    bounds: tuple[float, float], temperature: float | Literal["auto"]
) -> None:
    for solver in ("descent", "sgd"):
        board = boxed(tennessee(), bounds=bounds, temperature=temperature, solver=solver, steps=300)
        assert np.isfinite(board.values).all()
        assert board.values.min() >= bounds[0] and board.values.max() <= bounds[1]
    assert boxed(tennessee(), bounds=bounds, temperature=temperature).order[0] == "Nashville"


def test_profiles_without_a_comparison_are_rated_at_the_middle() -> None:
    for profile in (
        Profile.from_rankings([["a"], ["b"]]),
        Profile.from_rankings([[["a", "b"]]]),
        Profile.from_rankings([]),
    ):
        board = boxed(profile)
        assert board.converged
        assert all(value == 50.0 for value in board.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0}, "temperature must be a positive number, got 0"),
        ({"temperature": 1e300}, "temperature must be between"),
        ({"bounds": (0, 1e-310)}, "bounds must be two numbers that are clearly apart"),
        ({"bounds": (-1e308, 1e308)}, "bounds must be two numbers that are clearly apart"),
        ({"seed": None}, "seed must be a whole number"),
        ({"every": -1}, "every must be a whole number"),
        ({"polish": "no"}, "polish must be True or False"),
        ({"temperature": "hot"}, "temperature must be a positive number, got 'hot'"),
        ({"temperature": [1]}, "temperature must be a positive number"),
        ({"bounds": 5}, "bounds must be two numbers"),
        ({"bounds": (0, float("inf"))}, "bounds must be two numbers"),
        ({"prior": None}, "prior must be"),
        ({"steps": 1.5}, "steps must be a positive whole number"),
        ({"start": {"Memphis": 300}}, "start must be numbers from 0 to 100, as of 'Memphis'"),
        ({"start": 3}, "start must be Ratings, or a dict"),
        ({"bounds": (1, 0)}, "bounds must be two numbers"),
        ({"sharpness": 2}, "sharpness must be a number from 0 to 1"),
        ({"prior": -1}, "prior must be"),
        ({"solver": "magic"}, "solver must be 'descent' or 'sgd'"),
        ({"loss": "log"}, "loss must be 'kendall' or 'footrule'"),
        ({"ties": "drop"}, "ties must be"),
        ({"steps": 0}, "steps must be"),
        ({"batch": 0}, "batch must be"),
        ({"lr": -1, "solver": "sgd"}, "lr must be"),
        ({"schedule": "zigzag", "solver": "sgd"}, "schedule must be one of constant, sqrt"),
        ({"solver": "sgd", "prior": 1}, "solver must be 'descent'"),
        ({"loss": "footrule", "prior": 1}, "loss must be 'kendall'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        boxed(tennessee(), **options)


def test_methods_that_need_votes_say_so() -> None:
    with pytest.raises(sc.OptionError, match="data must be a Profile"):
        boxed(tennessee().pairs(), solver="sgd")
    with pytest.raises(sc.OptionError, match="data must be a Profile"):
        boxed(tennessee().pairs(), loss="footrule")
    with pytest.raises(sc.OptionError, match="data must be a Profile"):
        sc.fenchel_young(tennessee().pairs())  # type: ignore[arg-type]
    assert boxed(tennessee().pairs()).order == boxed(tennessee()).order


def test_there_must_be_a_vote_to_sample() -> None:
    for profile in (Profile.from_rankings([]), Profile.from_rankings([["a", "b"]], weights=[0])):
        with pytest.raises(sc.DataError, match="at least one vote with a positive weight"):
            boxed(profile, solver="sgd")
        with pytest.raises(sc.DataError, match="at least one vote with a positive weight"):
            sc.fenchel_young(profile)
        assert boxed(profile).converged


@pytest.mark.parametrize("data", ["battles.csv", {"a": 1}, [["a", "b"]], None])
def test_anything_but_a_profile_is_refused_with_a_hint(data: Any) -> None:
    for use in (sc.sco, sc.condorcet_winner, sc.smith_set, sc.inspect, sc.fenchel_young):
        with pytest.raises(sc.OptionError, match="data must be a Profile"):
            use(data)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    assert boxed(tennessee(), solver="sgd", steps=np.int64(3), batch=np.int32(2)).steps == 3  # type: ignore[arg-type]


def test_fenchel_young_orders_by_skill_with_either_noise() -> None:
    profile, truth = sc.synthetic.tournament(2000, agents=6, size=3, seed=1)
    for perturbation in ("gumbel", "normal"):
        board = sc.fenchel_young(profile, perturbation=perturbation, lr=0.1, samples=2, seed=3)
        assert sc.kendall_tau_distance(board, truth) == 0


def test_results_carry_what_they_rest_on() -> None:
    board = boxed(tennessee())
    assert board.votes is not None and board.votes.tolist() == [100.0] * 4
    assert board.method == "sco" and board.seed == 0
    assert board.options["temperature"] == 1.0
    assert board.rank_of("Nashville") == 1 and "Nashville" in board and len(board) == 4
    back = sc.Ratings.from_json(board.to_json())
    assert back.order == board.order and [back[n] for n in back] == [board[n] for n in back]
    assert back.to_dict() == board.to_dict()
    with pytest.raises(KeyError, match="no agent 'Paris'"):
        board["Paris"]
    assert not board.votes.flags.writeable
    with pytest.raises(sc.DataError, match="rating of 'a': expected a finite number"):
        sc.Ratings(("a",), np.array([np.nan]), "sco")
    with pytest.raises(sc.DataError, match=r"expected the JSON of Ratings\.to_json"):
        sc.Ratings.from_json('{"agents": 3}')


def test_frames_come_out() -> None:
    board = boxed(tennessee())
    for frame in (board.to_pandas(), board.to_polars(), board.to_arrow()):
        assert len(frame) == 4
        assert "rating" in (frame.column_names if hasattr(frame, "column_names") else frame.columns)


def test_no_warning_leaks_from_a_clean_fit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert boxed(tennessee()).converged


@given(profiles(max_agents=6))
def test_the_default_is_optimal_and_proves_it(profile: Profile) -> None:
    """Few agents: the order is exact, and the bound holds for both losses."""
    board = boxed(profile)
    best = reference.kemeny_loss(profile)
    assert board.lower_bound is not None and board.discrete_loss is not None
    assert board.lower_bound == pytest.approx(min(best, board.discrete_loss), abs=1e-9)
    assert board.gap == 0
    assert board.loss is not None and board.loss_bound is not None
    assert board.loss_bound == pytest.approx(best, abs=1e-9)
    assert board.loss - board.loss_bound <= 1e-5 * profile.pairs().total + 1e-9


@settings(max_examples=20)
@given(profiles(max_agents=5), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 5.0, 100.0]))
def test_no_ratings_have_a_smaller_loss_than_the_best_order(profile: Profile, seed: int, temperature: float) -> None:
    """The smooth loss is the mean discrete loss of a random order, so the best order bounds it, at any temperature."""
    ratings = np.random.default_rng(seed).uniform(0, 100, profile.n_agents)
    named = dict(zip(profile.agents, ratings, strict=True))
    assert reference.family_loss(profile, named, temperature, 1.0) >= reference.kemeny_loss(profile) - 1e-9


@pytest.mark.parametrize(("agents", "gap"), [(30, 0.02), (200, 0.05)])
def test_components_too_large_for_subsets_have_a_bound_by_default(agents: int, gap: float) -> None:
    """Pure noise, the worst case: still most of what is contradicted is proven to be unavoidable."""
    noise = sc.synthetic.mallows(25, agents=agents, phi=1.0, seed=1)
    board = boxed(noise)
    assert board.lower_bound is not None and board.gap is not None and board.loss_gap is not None
    assert 0 < board.gap < gap and board.gap <= board.loss_gap < gap + 1e-3
    assert "could be avoided" in " ".join(board.summary()) and "weak" not in " ".join(board.summary())
    assert board.lower_bound <= (sc.iterated_search(noise, rounds=3).discrete_loss or 0)


def test_a_weak_bound_is_called_so() -> None:
    """Agents seen a few times each: the cycles of their majorities are longer than three."""
    board = boxed(sc.synthetic.tournament(600, agents=800, size=4, noise=30, seed=1)[0])
    assert board.gap is not None and board.gap > 0.5
    assert "could be avoided: a poor order or a weak bound" in " ".join(board.summary())


def test_margins_in_four_bytes_are_exact_for_whole_ones() -> None:
    votes, _ = sc.synthetic.tournament(400, agents=60, seed=2)
    np.testing.assert_array_equal(boxed(votes).values, boxed(votes, precision="single").values)
    assert votes.pairs().by_agent_single.margin.dtype == np.float32
