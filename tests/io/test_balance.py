"""Each group counts the same: as if its votes had been repeated until all groups are as large."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from helpers.fast import FAST
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.reporting.analysis import analyse

# Methods for which a vote of weight 2 is two votes, whatever their order; not those that compare margins bit by bit,
# where the rounding of weights such as 1/3 decides between levels, nor stv, whose quota is a whole number of votes.
WEIGHED = sorted(
    name
    for name, method in sc.METHODS.items()
    if {"weights", "order"} <= set(method.properties) and name not in ("schulze", "ranked_pairs", "stv")
)


def tasks(large: int, small: int) -> sc.Profile:
    """Of the items of one task x wins all, and y all of the other's."""
    votes = [["x", "y", "z"]] * large + [["y", "z", "x"]] * small
    return sc.Profile.from_rankings(
        votes, columns={"task": ["large"] * large + ["small"] * small}, group_by="task", kind="election"
    )


def test_a_task_of_ten_thousand_items_counts_as_much_as_one_of_ten() -> None:
    votes = tasks(10_000, 10)
    pairs = votes.balanced().pairs()
    assert {(a, b): round(w, 6) for a, b, w in zip(pairs.left, pairs.right, pairs.wins, strict=True)} == {
        (0, 1): 5005.0,
        (0, 2): 5005.0,
        (1, 2): 10010.0,
    }
    assert pairs.total == pytest.approx(votes.pairs().total)
    assert sc.sco(votes).order == ["x", "y", "z"]
    assert sc.sco(votes.balanced()).order[0] == "y"  # level with x, and always above z
    assert sc.borda(votes.balanced())["y"] > sc.borda(votes.balanced())["x"]


def repeated(profile: sc.Profile) -> sc.Profile:
    """The same by hand: whole copies of each group's votes until all groups weigh the same, all as much as before."""
    assert profile.group is not None
    size = np.bincount(profile.group, profile.weight, minlength=len(profile.groups)).astype(int)
    most = np.lcm.reduce(size[size > 0])
    copies = np.array([most // max(k, 1) for k in size.tolist()])[profile.group] * profile.weight.astype(int)
    again = profile.take(np.repeat(np.arange(profile.n_votes), copies))
    each = np.full(again.n_votes, profile.weight.sum() / again.n_votes)
    return sc.Profile(again.agents, again.start, again.agent, again.tier, each, kind=profile.kind)


@pytest.mark.parametrize("method", WEIGHED)
@settings(max_examples=12)
@given(profile=profiles(max_agents=5), data=st.data())
def test_balanced_votes_are_votes_repeated_by_hand(method: str, profile: sc.Profile, data: st.DataObject) -> None:
    groups = data.draw(st.lists(st.sampled_from("pqr"), min_size=profile.n_votes, max_size=profile.n_votes))
    names = sorted(set(groups))
    grouped = profile.with_groups([names.index(name) for name in groups], names)
    mine, by_hand = (sc.rank(votes, method, **FAST[method]) for votes in (grouped.balanced(), repeated(grouped)))
    same = np.allclose(mine.values, by_hand.values, atol=1e-3)
    # Where several orders are as good, rounding may choose another of them.
    assert same or mine.discrete_loss == pytest.approx(by_hand.discrete_loss, abs=1e-6)


@given(profile=profiles(), data=st.data())
def test_groups_weigh_the_same_and_all_as_much_as_before(profile: sc.Profile, data: st.DataObject) -> None:
    code = data.draw(st.lists(st.integers(0, 2), min_size=profile.n_votes, max_size=profile.n_votes))
    found = profile.with_groups(code, ["p", "q", "r"]).balanced()
    assert found.group is not None
    size = np.bincount(found.group, found.weight, minlength=3)
    assert np.allclose(size[np.unique(found.group)], profile.weight.sum() / len(np.unique(found.group)))
    for group in np.unique(found.group):
        mine = found.group == group
        share = found.weight[mine] / profile.weight[mine]
        assert np.allclose(share, share[0])
    assert np.array_equal(found.cast, profile.weight)
    assert np.allclose(found.balanced().weight, found.weight)  # once more changes nothing


def test_any_column_balances_and_blanks_are_a_group() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]] * 4, columns={"Judge": ["x", "x", "x", None]})
    assert votes.balanced("judge").weight.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2.0])
    assert votes.balanced("judge").balance == "Judge"


def test_votes_chosen_from_balanced_ones_are_balanced_anew() -> None:
    votes = tasks(4, 2).balanced()
    assert votes.weight.tolist() == pytest.approx([0.75] * 4 + [1.5] * 2)
    extra = sc.Profile.from_rankings(
        [["x", "y"]] * 6, columns={"task": ["p"] * 4 + ["q"] * 2, "year": [1, 1, 1, 2, 2, 2]}
    ).balanced("task")
    chosen = extra.where("year=1")
    assert chosen.weight.tolist() == [1.0, 1.0, 1.0]  # one task is left
    assert extra.where("year=2").weight.tolist() == pytest.approx([1.5, 0.75, 0.75])


def test_groups_count_the_same_whatever_the_age_of_their_votes() -> None:
    rows = {"a": ["x"] * 4, "b": ["y"] * 4, "winner": ["a"] * 4, "judge": ["old", "old", "new", "new"]}
    votes = sc.read({**rows, "date": ["2026-01-01", "2026-01-01", "2026-01-01", "2026-01-31"]}, balance="judge")
    assert sc.decay(votes, "30d").weight.tolist() == pytest.approx([0.625, 0.625, 1.25 / 3, 2.5 / 3])
    assert sc.decay(votes, as_of="2026-01-02").weight.tolist() == pytest.approx([0.75, 0.75, 1.5])


def test_missing_tasks_stay_missing() -> None:
    table = {"agent": ["x", "y", "x", "y", "z"], "task": ["p", "p", "q", "q", "q"], "score": [1, 2, 1, 2, 3]}
    votes = sc.read(table, balance="groups")
    assert [sorted(name for tier in vote for name in tier) for vote in votes.rankings()] == [
        ["x", "y"],
        ["x", "y", "z"],
    ]


def test_resamples_draw_the_votes_that_were_cast() -> None:
    """Ten items with a thousand times the weight are ten items, not ten thousand: their intervals are wide."""
    votes = sc.Profile.from_rankings(
        [["x", "y"]] * 600 + [["y", "x"]] * 400 + [["x", "y"]] * 6 + [["y", "x"]] * 4,
        columns={"task": ["large"] * 1000 + ["small"] * 10},
        group_by="task",
    )
    plain, even = (sc.bootstrap(v, "bradley_terry", n=100) for v in (votes, votes.balanced()))
    width = [float(one.rating_high[0] - one.rating_low[0]) for one in (plain, even)]
    assert width[1] > 3 * width[0]
    # Rows that stand for several votes are drawn as so many, before and after.
    counted = sc.Profile.from_rankings(
        [["x", "y"], ["y", "x"], ["x", "y"], ["y", "x"]],
        weights=[600, 400, 6, 4],
        columns={"task": ["large", "large", "small", "small"]},
        group_by="task",
    ).balanced()
    assert counted.counts.tolist() == [600, 400, 6, 4]
    same = sc.bootstrap(counted, "bradley_terry", n=100)
    assert float(same.rating_high[0] - same.rating_low[0]) == pytest.approx(width[1], rel=0.3)
    plain_pair, even_pair, counted_pair = (
        sc.versus(one, "x", "y", by="votes") for one in (votes, votes.balanced(), counted)
    )
    assert even_pair.p == pytest.approx(counted_pair.p, rel=0.05)
    assert even_pair.low is not None and plain_pair.low is not None
    assert even_pair.low < plain_pair.low


def test_a_test_after_every_vote_refuses_balanced_ones() -> None:
    with pytest.raises(sc.OptionError, match="balance must be left out: votes balanced by task"):
        sc.sequential_test(tasks(3, 2).balanced())
    sure = sc.Profile.from_rankings([["x", "y"]] * 90, columns={"task": ["p"] * 60 + ["q"] * 30})
    assert analyse(sure, resamples=20).sure_word == "settled"
    assert analyse(sure.balanced("task"), resamples=20).sure_word == "likely"


def test_boards_by_group_are_balanced_each_by_itself() -> None:
    columns = {"task": ["p"] * 3 + ["q"] * 3, "judge": ["u", "u", "v", "u", "v", "v"]}
    votes = sc.Profile.from_rankings([["x", "y"]] * 3 + [["y", "x"]] * 3, columns=columns).balanced("judge")
    found = sc.by_group(votes, "task", "borda")
    assert [found.groups[name].votes for name in found] == [3, 3]
    assert found["p"].votes is not None
    assert found["p"].votes.tolist() == [3, 3]


ROWS = "model_a,model_b,winner,task\n" + "x,y,model_a,big\n" * 5 + "y,x,model_a,small\n" * 2 + "y,x,model_b,small\n"


@pytest.fixture
def battles(tmp_path: Path) -> str:
    (tmp_path / "battles.csv").write_text(ROWS)
    return str(tmp_path / "battles.csv")


@pytest.mark.parametrize(
    "command",
    [
        ["rank"], ["compare"], ["bootstrap", "--resamples", "5"], ["holdout", "--test", "1", "--splits", "1"],
        ["robustness", "--parts", "votes"], ["inspect"], ["next", "--resamples", "5"], ["optima"],
        ["versus", "x", "y", "--resamples", "20"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_takes_it_and_says_so(command: list[str], battles: str) -> None:
    options = ["--balance", "groups", "--format", "json"]
    done = CliRunner().invoke(main, [command[0], battles, *command[1:], *options])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["balance"] == "task"
    assert "balanced by task: 2 groups that count the same, with votes of weight 3 to 5" in done.stderr


def test_the_report_names_it(battles: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["report", battles, "--balance", "task", "-o", str(page), "--resamples", "5"])
    assert done.exit_code == 0
    assert "balanced by task" in page.read_text() and "--balance task" in page.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--balance", "tassk"],
            "balance must be a column of the votes: 'groups', 'task', got 'tassk'; did you mean",
        ),
        (["--balance", "tassk", "--engine", "duckdb"], "balance must be a column of the votes: 'groups', 'model_a'"),
        (["--balance", "task", "--engine", "ray://h:1"], "which have no groups (engine duckdb balances"),
    ],
)
def test_errors_name_the_way_out(options: list[str], words: str, battles: str) -> None:
    done = CliRunner().invoke(main, ["rank", battles, *options])
    assert done.exit_code == 2
    assert words in done.stderr


def test_votes_without_groups_say_which_columns_there_are() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]], columns={"language": ["en"]})
    with pytest.raises(sc.OptionError, match="balance must be a column such as 'language': these votes have no groups"):
        votes.balanced()
    with pytest.raises(sc.OptionError, match="balance must be left out: these votes have no groups"):
        sc.Profile.from_rankings([["a", "b"]]).balanced()


def test_the_doctor_names_the_option_and_it_heals() -> None:
    columns = {"task": ["p"] * 60 + ["q"] * 12 + ["r"] * 9}
    votes = sc.Profile.from_rankings([["x", "y"]] * 50 + [["y", "x"]] * 31, columns=columns, group_by="task")
    (finding,) = [one for one in sc.inspect(votes).findings if one.name == "dominant-group"]
    assert "--balance groups" in finding.advice
    assert "dominant-group" not in [one.name for one in sc.inspect(votes.balanced()).findings]
