"""Rows of a leaderboard: one order of columns everywhere, and a field that is added once is everywhere."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles, tennessee
from hypothesis import given

import softcondorcet as sc
from softcondorcet import leaderboard
from softcondorcet.cli import main
from softcondorcet.leaderboard import Row, as_dicts, column, columns, flat, in_words, mean_chances, rounded
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.writer import Entry
from softcondorcet.server.web import content, page_cache, views
from softcondorcet.server.web.page_query import PageQuery
from softcondorcet.tables import FORMATS

NAMES = [
    "rank", "rank_low", "rank_high", "agent", "rating", "rating_low", "rating_high", "win_chance", "votes",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WithSpeed(Row):
    speed: float = column("Speed", "number", default=9.75)


def board() -> Board:
    """A live board with two votes."""
    made = Board(1, "main", "A board")
    votes = [Entry(k, 1, "vote", 1e9, None, None, None, 10**6, None, [[0], [1]]) for k in (1, 2)]
    made.replay(votes, ["x", "y"], None)
    return made


def board_page(live: Board) -> str:
    snapshot = live.snapshot()
    view = views.board(snapshot, None, [], PageQuery())
    return page_cache.html("board.html", about=content.about(snapshot), root="", twin="x.json", begin="", v=view)


def test_rows_have_the_same_columns_everywhere() -> None:
    profile, live = tennessee(), content.leaderboard(board().snapshot())
    assert list(sc.sco(profile).rows()[0]) == NAMES
    assert list(sc.bootstrap(profile, n=20).rows()[0])[:9] == NAMES
    assert list(live["rows"][0])[:9] == NAMES
    assert live["schema"] == sc.sco(profile).to_dict()["schema"] == sc.bootstrap(profile, n=20).to_dict()["schema"] == 3


def test_a_field_added_in_one_place_is_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [sc.report(tennessee(), resamples=0), board_page(board())]
    assert not any("Speed" in text for text in texts)
    monkeypatch.setattr(leaderboard, "Row", WithSpeed)
    result, live = sc.sco(tennessee()), board()
    texts = [sc.report(tennessee(), resamples=0), board_page(live), *(form(result.rows()) for form in FORMATS.values())]
    for text in texts:
        assert "speed" in text.lower() and "9.75" in text
    assert json.loads(result.to_json())["agents"][0]["speed"] == 9.75
    assert sc.bootstrap(tennessee(), n=20).rows()[0]["speed"] == 9.75
    rows = content.leaderboard(live.snapshot())["rows"]
    assert rows[0]["speed"] == 9.75
    assert next(csv.DictReader(FORMATS["csv"](rows).splitlines()))["speed"] == "9.75"
    assert ("speed", "9.75") in views.agent(live.snapshot(), "x", [])["facts"]  # type: ignore[index]


def test_facts_and_reasons_are_columns_where_there_are_any() -> None:
    rows = [
        Row(rank=1, agent="a", rating=2.0, facts={"licence": "MIT", "price": 3}),
        Row(agent="b", rating=1.0, unplaced="met nobody", facts={"price": 1.5}),
    ]
    assert list(as_dicts(rows)[0]) == [*NAMES, "facts", "unplaced"]
    assert list(flat(as_dicts(rows))[1].items())[-3:] == [("unplaced", "met nobody"), ("licence", None), ("price", 1.5)]
    shown = columns(rows)
    assert [c.title for c in shown] == ["Rank", "Agent", "Rating", "Votes", "Unplaced", "licence", "price"]
    assert [cell.text for cell in in_words(rows[1], shown, 1).values()] == ["", "b", "1.0", "", "met nobody", "", "1.5"]
    table = FORMATS["table"](flat(as_dicts(rows))).splitlines()
    assert table[0].split() == ["rank", "agent", "rating", "unplaced", "licence", "price"], "empty columns are left out"


def test_every_cell_says_what_its_row_says() -> None:
    row = Row(rank=1234, rank_low=2, rank_high=1300, agent="a", rating=-1.0, rating_low=-2.0, rating_high=0.5,
              win_chance=0.99999, votes=1500.0, mean_score=0.25, rank_overall=1230)  # fmt: skip
    cells = list(in_words(row, columns([row]), 2).values())
    assert [cell.text for cell in cells] == [
        "1,234", "a", "\u22121.00", "99.9 %", "1,500", "0.250", "1,230 ▼4",
    ]  # fmt: skip
    assert (cells[0].range, cells[2].range) == ("2\u20131,300", "\u22122.00 to 0.50")
    assert [cell.moved for cell in in_words(replace(row, rank=1230), columns([row]), 2).values()] == [""] * 7


@given(profiles())
def test_the_win_chance_is_the_mean_over_the_others(profile: sc.Profile) -> None:
    ratings = sc.bradley_terry(profile, prior=1.0)
    assert ratings.unit is not None
    for row in ratings.rows():
        # Of two that no comparisons link, ``probability`` is nan: the mean is over all others all the same.
        lead = [(row["rating"] - ratings[other]) / ratings.unit for other in ratings.agents if other != row["agent"]]
        others = [1 / (1 + np.exp(-x)) for x in lead]
        assert row["win_chance"] == (pytest.approx(np.mean(others)) if others else None)


@pytest.mark.parametrize("spread", [0.0, 1e-12, 1.0, 50.0])
def test_the_win_chance_of_many_agents_is_interpolated(spread: float) -> None:
    strength = np.random.default_rng(0).normal(size=20_000) * spread
    found = mean_chances(strength)
    some = np.arange(0, 20_000, 997)
    exact = [((0.5 + 0.5 * np.tanh((strength[k] - strength) / 2)).sum() - 0.5) / 19_999 for k in some]
    assert np.abs(found[some] - exact).max() < 1e-7
    assert found.mean() == pytest.approx(0.5, abs=1e-7)


def test_tables_print_no_column_twice(tmp_path: object) -> None:
    file = f"{tmp_path}/votes.csv"
    sc.write(tennessee(), file)
    for form, old in (("table", False), ("csv", True), ("latex", False)):
        shown = CliRunner().invoke(main, ["bootstrap", file, "--resamples", "20", "--format", form]).stdout
        assert ("upper" in shown) == old
    assert "rank ub" in shown, "an underline would need a formula"
    assert "rating_lower" in json.loads(sc.bootstrap(tennessee(), n=20).to_json())["agents"][0]


def test_a_terminal_shows_numbers_as_short_as_people_read_them() -> None:
    rows = [
        {"agent": "a", "rating": 1222.7644, "rating_low": 1191.62, "win_chance": 0.76519, "loss": 0.123456},
        {
            "agent": "b",
            "rating": 728.9577,
            "rating_low": None,
            "win_chance": None,
            "unplaced": "never met: votes would",
        },
    ]
    assert rounded(rows) == [
        {"agent": "a", "rating": 1223.0, "rating_low": 1192.0, "win_chance": 0.765, "loss": 0.123456},
        {"agent": "b", "rating": 729.0, "rating_low": None, "win_chance": None, "unplaced": "never met"},
    ]
    close = rounded([{"rating": 0.51234}, {"rating": 0.5}, {"rating": math.inf}])
    assert [row["rating"] for row in close] == [0.5123, 0.5, math.inf]
    assert rounded([{"vote": 1.23456}]) == [{"vote": 1.23456}]
    assert rounded([]) == []
