"""On the real data sets, where they are at hand: run with -m data; SCO_DATA names their folder."""

from __future__ import annotations

import os
import random
import re
import zipfile

import numpy as np
import pytest
import reference
from conftest import data_folder

import softcondorcet as sc
from softcondorcet.solvers.components import margin_matrix

pytestmark = pytest.mark.data


def test_preflib_winners_are_first_on_a_sample() -> None:
    """All 12,680 are in benchmarks/preflib.py."""
    path = os.path.join(data_folder(), "preflib-paper.zip")
    with zipfile.ZipFile(path) as archive:
        names = random.Random(1).sample(archive.namelist(), 150)
        checked = 0
        for name in names:
            profile = sc.read(archive.open(name))
            winner = sc.condorcet_winner(profile)
            if winner is not None and profile.n_agents <= 500:
                board = sc.sco(profile)
                assert board.order[0] == winner, name
                assert board[winner] == 100.0, name
                checked += 1
    assert checked > 80


def test_optimal_on_every_preflib_instance_up_to_ten_agents() -> None:
    """All 865 of the paper's Table 2: the loss of trying all orders, and sco at an optimum or very near one."""
    checked, equal = 0, 0
    distance: dict[int, list[float]] = {}
    with zipfile.ZipFile(os.path.join(data_folder(), "preflib-paper.zip")) as archive:
        for name in archive.namelist():
            head = re.search(rb"# NUMBER ALTERNATIVES: (\d+)", archive.open(name).read(4096))
            m = int(head[1]) if head and name.endswith((".soc", ".soi")) else 0
            if not 2 <= m <= 10:
                continue
            profile = sc.read(archive.open(name))
            pairs = profile.pairs()
            exact, board = sc.kemeny(profile), sc.sco(profile)
            unavoidable = np.minimum(pairs.wins, pairs.losses).sum()
            assert exact.discrete_loss == unavoidable + reference.kemeny_margin(margin_matrix(pairs)), name
            checked += 1
            equal += board.discrete_loss == exact.discrete_loss
            shown = sc.Ratings(board.agents, -np.argsort(board.index).astype(float), "order")  # ties as they are shown
            distance.setdefault(m, []).append(sc.nearest_optimum(profile, shown)[1] / (m * (m - 1) / 2))
    assert checked == 865
    assert equal >= 0.99 * checked
    assert max(np.mean(group) for group in distance.values()) <= 0.005


def test_an_archive_member_and_the_iterator_agree() -> None:
    path = os.path.join(data_folder(), "preflib-paper.zip")
    one = sc.read(f"{path}::00014/00014-00000001.soc")
    name, same = next(sc.read_archive(path, "00014/*.soc"))
    assert name == "00014/00014-00000001.soc"
    assert one.agents == same.agents and one.pairs().total == same.pairs().total == 5000 * 45


@pytest.mark.parametrize(
    ("name", "agents", "weight"),
    [
        ("chatbot_arena/chatbot_arena_20240814_counts.csv", 129, 1_670_250),
        ("codeforces/codeforces_groups7.csv.gz", 53_322, 31_049),
        ("codeforces/codeforces_rankings.csv.gz", 280_701, 1_071),
        ("f1/f1_rankings.csv.gz", 791, 1_160),
        ("atari/atari_rainbow_table5.csv", None, None),
        ("helm/helm_lite.csv.gz", 91, None),
        ("llmfao/llmfao_human_battles.csv", None, None),
    ],
)
def test_every_kind_of_table_is_read_whole(name: str, agents: int | None, weight: int | None) -> None:
    profile = sc.read(os.path.join(data_folder(), name))
    assert profile.n_agents == (agents or profile.n_agents)
    assert profile.weight.sum() == (weight or profile.weight.sum())
    assert profile.n_votes > 1


def test_fifty_thousand_agents_are_rated() -> None:
    profile = sc.read(os.path.join(data_folder(), "codeforces/codeforces_groups7.csv.gz"))
    held = sc.sco(profile, sharpness=0.0, prior=0.03)
    assert held.converged
    assert len(held) == profile.n_agents


def test_nobody_of_few_races_stands_above_the_champions() -> None:
    board = sc.sco(sc.read(os.path.join(data_folder(), "f1", "f1_rankings.csv.gz")))
    placed = [row for row in board.rows() if row["rank"] is not None]
    assert len(placed) > 100
    assert min(row["votes"] for row in placed) >= 5
    assert {"juan-manuel-fangio", "lewis-hamilton", "max-verstappen"} <= {row["agent"] for row in placed[:6]}
