"""Headline, badge, table, JSON, terminal and page say the same: they are compared as data on random boards."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.reports import Page

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.leaderboard import as_dicts
from softcondorcet.reporting.analysis import Analysis, analyse
from softcondorcet.reporting.verdict import Verdict, verdict

_VERBS = {"settled": " is best: ", "likely": " leads: "}


def board(seed: int) -> sc.Profile:
    """A few agents in battles or rankings, with ties; some boards fall apart, some are circles, some nearly empty."""
    rng = np.random.default_rng(seed)
    m, votes = int(rng.integers(2, 8)), int(rng.integers(1, 60))
    skill = rng.normal(scale=rng.choice([0.0, 0.5, 2.0]), size=m)
    rows = []
    for _ in range(votes):
        size = 2 if seed % 3 else int(rng.integers(2, m + 1))
        field = rng.choice(m, size, replace=False)
        order = [f"agent-{k}" for k in field[np.argsort(-(skill[field] + rng.gumbel(size=size)))]]
        rows.append([order] if rng.random() < 0.1 else order)
    apart = [["other-1", "other-2"]] * (seed % 4 == 0)
    return sc.Profile.from_rankings([*rows, *apart])


def table_of(html: str) -> list[tuple[int, str]]:
    """Rank and agent of each row of the leaderboard."""
    rows = re.findall(r'class="rank"><a [^>]*><b>([\d,]+)</b>.*?<bdi>(.*?)</bdi>', html, re.S)
    return [(int(rank), unescape(name)) for rank, name in rows]


def test_a_few_boards_agree() -> None:
    for seed in range(6):
        check(board(seed), seed)


@pytest.mark.fuzz
def test_two_hundred_boards_agree() -> None:
    for seed in range(200):
        check(board(seed), seed)


def check(profile: sc.Profile, seed: int) -> None:
    html = sc.report(profile, resamples=20, seed=seed, methods=("borda",))
    analysis = analyse(profile, resamples=20, seed=seed, methods=("borda",))
    says = verdict(analysis.pairs, analysis.ratings, analysis.noun)
    rows = as_dicts(analysis.rows())
    ranked = [(row["rank"], row["agent"]) for row in rows if row["rank"]]
    assert table_of(html) == ranked, "page and JSON"
    by_terminal = [(row["rank"], row["agent"]) for row in sc.sco(profile).rows() if row["rank"]]
    assert by_terminal == ranked, "terminal and page"
    compared = (analysis.methods or {})["sco"]
    assert {analysis.ratings.agents[int(k)]: rank for k, rank in compared.items()} == {a: r for r, a in ranked}
    text = Page(html).text
    headline(analysis, says, ranked, text)


def headline(analysis: Analysis, says: Verdict, ranked: list[tuple[int, str]], text: str) -> None:
    answer = analysis.headline(says).answer
    assert " ".join(answer.split()) in text and says.badge in text
    winner = analysis.ratings.condorcet_winner
    if ranked and says.kind != "nothing":
        assert says.badge.startswith("A Condorcet winner") == (winner is not None)
    if says.kind == "winner":
        assert says.top == ranked[0][1] == winner
        verb = _VERBS.get(analysis.sure_word)
        assert (f"{says.top}{verb}" in answer) if verb else re.search("leads narrowly: |comes first: ", answer)
    if says.kind in ("beaten", "unbeaten"):
        assert ranked[0][1] in answer
    if analysis.flip:
        assert " ".join(analysis.flip.split()) in text


def test_the_terminal_has_the_ranks_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,model_a\ny,z,model_a\nx,z,model_a\n" * 12)
    found = CliRunner().invoke(main, ["rank", str(path), "--format", "json"])
    rows = json.loads(found.stdout)["agents"]
    assert [(row["rank"], row["agent"]) for row in rows] == table_of(sc.report(sc.read(path), resamples=20))
