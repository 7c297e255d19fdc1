"""What differs between groups beyond chance: planted differences are found, and chance alone is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator

import softcondorcet as sc
from softcondorcet.arrays import Ints
from softcondorcet.uncertainty.group_differences import group_differences

GROUPS = ("en", "de", "zh")


def battles(rng: Generator, votes: int, lift: float = 0.0) -> tuple[sc.Profile, Ints]:
    """Battles of eight agents in three groups; agent a0 is better by `lift` in the last one."""
    skill, group = np.linspace(1, -1, 8), rng.integers(3, size=votes)
    rows = []
    for g in group.tolist():
        a, b = rng.choice(8, 2, replace=False).tolist()
        lead = skill[a] - skill[b] + lift * (g == 2) * ((a == 0) - (b == 0))
        won = rng.random() < 1 / (1 + np.exp(-lead))
        tie = rng.random() < 0.1
        names = [f"a{a}", f"a{b}"] if won else [f"a{b}", f"a{a}"]
        rows.append([names] if tie else names)
    return sc.Profile.from_rankings(rows), group


def test_a_planted_difference_is_found_and_told() -> None:
    profile, group = battles(np.random.default_rng(1), 3000, lift=1.5)
    found = group_differences(profile, group, GROUPS)
    assert (found[0].agent, found[0].group) == ("a0", "zh")
    assert found[0].won > found[0].expected
    assert found[0].words().startswith("a0 wins more in zh than elsewhere: ")


def test_chance_alone_is_rarely_a_difference() -> None:
    rng = np.random.default_rng(2)
    profile, _ = battles(rng, 1500)
    wrong = sum(bool(group_differences(profile, rng.integers(3, size=1500), GROUPS)) for _ in range(60))
    # At most 5 % are expected: 10 or more of 60 have a chance of 1 in 2,000.
    assert wrong < 10


def test_few_votes_differ_in_nothing() -> None:
    profile, group = battles(np.random.default_rng(3), 60, lift=5.0)
    assert group_differences(profile, group, GROUPS) == []
    assert group_differences(sc.Profile.from_rankings([]), np.zeros(0, dtype=int), ()) == []


@pytest.mark.parametrize("size", [2, 5])
def test_expected_shares_are_those_of_all_votes(size: int) -> None:
    """Where one name is the only group, nothing is outside it."""
    profile, _ = sc.synthetic.tournament(200, agents=6, size=size, seed=4)
    assert group_differences(profile, np.zeros(200, dtype=int), ("all",)) == []
