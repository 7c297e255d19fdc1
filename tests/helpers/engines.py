"""Votes for engines to count, as tables, and what they count, by name."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
from conftest import profiles

import softcondorcet as sc


def by_name(pairs: sc.Pairs) -> dict[tuple[str, str], tuple[float, ...]]:
    """Counts by names, the first in the alphabet first."""
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    for k in range(len(pairs)):
        a, b = pairs.agents[pairs.left[k]], pairs.agents[pairs.right[k]]
        wins, losses, ties = float(pairs.wins[k]), float(pairs.losses[k]), float(pairs.ties[k])
        found[min(a, b), max(a, b)] = (wins, losses, ties) if a < b else (losses, wins, ties)
    return found


def rows_of(profile: sc.Profile, seed: int = 0) -> dict[str, list[Any]]:
    """One row per contest and agent, shuffled: engines know no order."""
    order = np.random.default_rng(seed).permutation(len(profile.agent))
    vote = np.repeat(np.arange(profile.n_votes), profile.length)[order]
    return {
        "contest_id": vote.tolist(),
        "rank": profile.tier[order].tolist(),
        "agent": [profile.agents[k] for k in profile.agent[order]],
        "weight": profile.weight[vote].tolist(),
    }


@st.composite
def ragged(draw: st.DrawFn) -> sc.Profile:
    """Rankings with ties, of different lengths, repeated, with whole weights, 0 among them."""
    profile = draw(profiles())
    repeats = draw(st.integers(1, 3))
    weights = draw(st.lists(st.integers(0, 4), min_size=repeats * profile.n_votes, max_size=repeats * profile.n_votes))
    return sc.Profile.from_rankings(list(profile.rankings()) * repeats, weights=[float(w) for w in weights])


@st.composite
def battles(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Battles in all spellings: outer spaces, cases, winners by column and by name, weights or none."""
    names = st.sampled_from(["ada", "Ada", " bo", "bo", "cy ", "cy", "7"])
    words = st.sampled_from(["model_a", "MODEL_B", "tie", "Draw", "both_bad", "a", "right", "first", "second"])
    rows = draw(st.lists(st.tuples(names, names, words, st.integers(0, 3)), min_size=1, max_size=12))
    rows = [row for row in rows if row[0].strip() != row[1].strip()] or [("ada", "bo", "tie", 1)]
    a, b, word, weight = map(list, zip(*rows, strict=True))
    told = {"first": a, "second": b}
    winner = [told[word[k]][k] if word[k] in told else word[k] for k in range(len(word))]
    table = {"model_a": a, "model_b": b, "winner": winner}
    return {**table, "count": weight} if draw(st.booleans()) else table
