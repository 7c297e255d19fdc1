"""Log-odds under an order, and sco on games: what users see of shrunk margins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from conftest import paper_example, profiles
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile, Ratings
from softcondorcet.methods.odds import odds


@given(profiles(max_agents=6))
def test_odds_keep_the_order_and_its_ties(profile: Profile) -> None:
    for method in ("sco", "copeland", "kemeny"):
        board = sc.rank(profile, method)
        found = odds(profile, board)
        for group in sc.connected_groups(profile):
            for a, b in itertools.combinations(group, 2):
                assert np.sign(found[a] - found[b]) == np.sign(board[a] - board[b])
        assert found.unit == 1.0


@given(profiles(max_agents=6))
def test_a_condorcet_winner_of_games_is_first(profile: Profile) -> None:
    board = sc.sco(profile, shrink=True)
    winner = sc.condorcet_winner(profile)
    assert winner is None or board.order[0] == winner
    assert len(sc.connected_groups(profile)) > 1 or board.rank_of(board.order[0]) == 1
    again = Ratings.from_json(board.to_json())
    assert (again.prior, again.kappa) == (board.prior, board.kappa)


@given(profiles(max_agents=6))
def test_the_order_of_votes_and_names_does_not_matter(profile: Profile) -> None:
    board = sc.sco(profile, shrink=True)
    turned = profile.take(np.arange(profile.n_votes)[::-1])
    assert [sc.sco(turned, shrink=True)[name] for name in board] == pytest.approx([board[name] for name in board])


def test_pooled_agents_are_said() -> None:
    board = odds(paper_example(), sc.kemeny(paper_example()))
    assert "the votes support the order of 2 agents beside a neighbour, but no gap" in board.summary()
    assert board.probability("C", "A") == pytest.approx(0.5)


def test_the_summary_says_how_far_margins_were_trusted() -> None:
    rng = np.random.default_rng(0)
    games = [["a", "b"], ["b", "c"], ["c", "a"]] * 40
    cycle = sc.sco(Profile.from_rankings(games, kind="games"), shrink=True)
    assert cycle.kappa is not None and cycle.kappa < 10
    assert "times counts half by its own votes, half by the line" in cycle.summary()[1]
    line = [["x", "y"] if rng.random() < 0.7 else ["y", "x"] for _ in range(200)]
    board = sc.sco(Profile.from_rankings(line), shrink=True)
    assert board.kappa == math.inf
    assert "the votes stray from it no more than chance would" in board.summary()[1]
    assert board.to_dict()["shrink"] is True and board.to_dict()["kappa"] is None


def test_what_cannot_be_shrunk_is_refused() -> None:
    votes = Profile.from_rankings([["a", "b"]])
    with pytest.raises(
        sc.OptionError, match="shrink must be False or 'auto' with solver 'sgd', which only the plain fit has"
    ):
        sc.sco(votes, shrink=True, solver="sgd")
    with pytest.raises(sc.OptionError, match="board must be ratings of the agents of these votes"):
        odds(votes, sc.sco(Profile.from_rankings([["a", "c"]])))


def test_nothing_and_one_agent() -> None:
    for profile in (Profile.from_rankings([]), Profile.from_rankings([["a"]])):
        assert len(sc.sco(profile, shrink=True)) == profile.n_agents
        assert len(odds(profile, sc.sco(profile))) == profile.n_agents


def test_a_symmetric_cycle_is_level_and_says_that_it_goes_by_name() -> None:
    turns = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    for kind in ("games", "election"):
        board = sc.sco(Profile.from_rankings([*turns, *([*turn, "d"] for turn in turns)], kind=kind))
        assert (board.level, board.pooled) == (3, 3)
        said = [line for line in board.summary() if "shown by name" in line]
        assert said == ["3 agents level: wins and losses against each other cancel; shown by name"]
        assert not any("beside a neighbour" in line for line in board.summary())
    uneven = sc.sco(Profile.from_rankings(turns, weights=[3, 2, 2], kind="election"))
    assert uneven.level == 0 and not any("shown by name" in line for line in uneven.summary())
    assert sc.Ratings.from_json(board.to_json()).level == 3


def test_a_chance_between_groups_that_never_met_is_unknown() -> None:
    votes = Profile.from_rankings([["a", "b"], ["x", "y"], ["x", "y"]], kind="games")
    for board in (sc.sco(votes), sc.bradley_terry(votes), sc.elo(votes), odds(votes, sc.kemeny(votes))):
        assert math.isnan(board.probability("a", "x")) and board.probability("a", "b") > 0.5
