"""The panels of a board's page, and votes as its ledger has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet import Profile

PANELS = [
    *("leaderboard", "intervals", "head-to-head", "majority", "methods", "robustness", "data", "provenance"),
]


def tiers_of(profile: Profile) -> Iterator[list[list[int]]]:
    for v in range(profile.n_votes):
        part = slice(profile.start[v], profile.start[v + 1])
        agents, tiers = profile.agent[part], profile.tier[part]
        yield [agents[tiers == t].tolist() for t in np.unique(tiers)]
