"""Figures of matplotlib, and ratings in a notebook."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from conftest import tennessee
from helpers.reports import HOSTILE, Page, intervals

import softcondorcet as sc
from softcondorcet import plots

pytest.importorskip("matplotlib")

FORMULA = r"$\frac{1}{$ and \href{x}{y}"


def labels(figure: Any) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_board_plots_itself_best_first() -> None:
    board = sc.sco(tennessee())
    figure = board.plot()
    assert labels(figure) == board.order
    (line,) = figure.axes[0].lines
    assert line.get_xdata().tolist() == sorted(board.values.tolist(), reverse=True)
    assert figure.axes[0].yaxis_inverted()


def test_only_the_best_are_plotted() -> None:
    assert labels(sc.sco(tennessee()).plot(top=2)) == sc.sco(tennessee()).order[:2]
    with pytest.raises(sc.OptionError, match="top must be"):
        sc.sco(tennessee()).plot(top=0)


def test_whiskers_span_the_intervals() -> None:
    sure = intervals([["a"]], "abc")
    figure: Any = plots.whiskers(sure)
    (lines,) = figure.axes[0].collections
    spans = [(segment[0][0], segment[1][0]) for segment in lines.get_segments()]
    assert spans == list(zip(sure.rating_low, sure.rating_high, strict=True))


def test_head_to_head_shows_the_share_the_row_won() -> None:
    figure = plots.head_to_head(tennessee())
    share: Any = figure.axes[0].images[0].get_array()
    board = sc.sco(tennessee())
    assert labels(figure) == board.order
    at = {name: k for k, name in enumerate(board.order)}
    assert share[at["Nashville"], at["Memphis"]] == pytest.approx(0.58)
    assert share[at["Memphis"], at["Nashville"]] == pytest.approx(0.42)
    assert np.ma.getmaskarray(share).diagonal().all() or np.isnan(np.asarray(share)).diagonal().all()
    other = sc.plurality(tennessee())
    assert labels(plots.head_to_head(tennessee(), other, top=3)) == other.order[:3]
    with pytest.raises(sc.OptionError, match="board must be ratings of the agents of these votes"):
        plots.head_to_head(tennessee(), sc.sco(sc.synthetic.demo()))


def test_bump_has_a_line_for_each_agent() -> None:
    race = sc.compare(tennessee(), ["sco", "plurality", "borda"])
    axes = plots.bump(race).axes[0]
    ranks = [np.asarray(line.get_ydata()).tolist() for line in axes.lines]
    assert ranks == [[race[method].rank_of(agent) for method in race] for agent in race.first.order]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["sco", "plurality", "borda"]


def test_names_are_no_formulas() -> None:
    names = [FORMULA, "_x^2", HOSTILE[0]]
    profile = sc.Profile.from_rankings([names, names[::-1], names])
    for figure in (
        sc.sco(profile).plot(),
        plots.head_to_head(profile),
        plots.bump(sc.compare(profile, ["sco", "borda"])),
    ):
        assert labels(figure) == names
        assert figure._repr_png_().startswith(b"\x89PNG"), "drawing does not read them as mathematics"  # type: ignore[union-attr]


def test_axes_of_your_own_are_used() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert sc.sco(tennessee()).plot(ax=left) is figure
    assert plots.head_to_head(tennessee(), ax=right) is figure
    assert len(left.lines) == 1
    assert len(right.images) == 1


def test_pyplot_is_left_alone() -> None:
    before = "matplotlib.pyplot" in sys.modules
    sc.sco(tennessee()).plot()
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_a_notebook_shows_a_table() -> None:
    board = sc.sco(tennessee())
    found = Page(board._repr_html_())
    assert found.tags["tr"] == 5
    assert "Nashville" in found.text
    assert "Condorcet winner: Nashville beats every other agent" in found.text


def test_a_notebook_shows_the_best_twenty() -> None:
    board = sc.Ratings(tuple(map(str, range(30))), np.arange(30.0), "made_up")
    found = Page(board._repr_html_())
    assert found.tags["tr"] == 21
    assert "the first 20 of 30" in found.text and "made_up" in found.text


def test_names_in_a_notebook_stay_text() -> None:
    profile = sc.Profile.from_rankings([HOSTILE])
    html = sc.sco(profile)._repr_html_()
    found = Page(html)
    assert set(found.tags) == {"div", "table", "tr", "th", "td", "ul", "li"}
    assert {name for _, name, _ in found.attributes} == {"class", "style"}
    assert HOSTILE[0] in found.text
    assert "\u202e" not in html
    assert 'class="tex2jax_ignore mathjax_ignore"' in html
