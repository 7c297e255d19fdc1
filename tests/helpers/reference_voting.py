"""Voting rules straight from their definitions, in plain Python and exact fractions; see ``reference``."""

from __future__ import annotations

import itertools
from fractions import Fraction

import reference

from softcondorcet import Profile

Edge = tuple[str, str]


def points_of_first(profile: Profile, k: int) -> dict[str, Fraction]:
    """A point for each of the first k places of each vote, shared inside a tier."""
    points = dict.fromkeys(profile.agents, Fraction(0))
    for vote, weight in weighted(profile):
        above = 0
        for names in vote:
            for name in names:
                points[name] += weight * Fraction(max(0, min(k - above, len(names))), len(names))
            above += len(names)
    return points


def borda(profile: Profile) -> dict[str, Fraction]:
    """Places from the bottom of each vote, their mean inside a tier."""
    points = dict.fromkeys(profile.agents, Fraction(0))
    for vote, weight in weighted(profile):
        below = sum(map(len, vote))
        for names in vote:
            below -= len(names)
            for name in names:
                points[name] += weight * (below + Fraction(len(names) - 1, 2))
    return points


def copeland(profile: Profile) -> dict[str, int]:
    lead = reference.margins(profile)
    return {a: sum((lead[a, b] > 0) - (lead[a, b] < 0) for b in profile.agents) for a in profile.agents}


def ranked_pairs(profile: Profile) -> dict[str, float]:
    """Lock by margin, lead in net margin, listing; a locked pair that would close a cycle is left out."""
    lead, number = reference.margins(profile), {name: k for k, name in enumerate(profile.agents)}
    net = {a: sum(lead[a, b] for b in profile.agents) for a in profile.agents}
    edges = [(a, b) for a in profile.agents for b in profile.agents if lead[a, b] > 0]
    edges.sort(key=lambda e: (-lead[e], net[e[1]] - net[e[0]], number[e[0]], number[e[1]]))
    locked: set[Edge] = set()
    for a, b in edges:
        if (b, a) not in reference.reachable(locked, profile.agents):
            locked.add((a, b))
    return standing(reference.reachable(locked, profile.agents), profile.agents)


def schulze(profile: Profile, strength: str) -> dict[str, float]:
    """Strongest paths by trying every agent in between, as often as there are agents."""
    agents, path = profile.agents, dict.fromkeys(itertools.product(profile.agents, repeat=2), 0.0)
    for (a, b), (wins, losses, _) in reference.pair_counts(profile).items():
        if wins > losses:
            path[a, b] = wins - losses if strength == "margins" else wins
        if losses > wins:
            path[b, a] = losses - wins if strength == "margins" else losses
    for _ in agents:
        for a, k, b in itertools.product(agents, repeat=3):
            path[a, b] = max(path[a, b], min(path[a, k], path[k, b]))
    return standing({(a, b) for a, b in path if path[a, b] > path[b, a]}, agents)


def stv(profile: Profile, seats: int) -> tuple[dict[str, float], bool]:
    """Places from the bottom, and whether agents left one by one, without a surplus; counts all votes in each round."""
    points, total = borda(profile), sum(weight for _, weight in weighted(profile))
    quota = total // (seats + 1) + 1
    worth, left = [weight for _, weight in weighted(profile)], set(profile.agents)
    elected: list[set[str]] = []
    gone: list[set[str]] = []
    plain = True
    while left:
        held = dict.fromkeys(left, Fraction(0))
        holders = []
        for vote, w in zip(profile.rankings(), worth, strict=True):
            names = next((alive for tier in vote if (alive := left & set(tier))), set())
            holders.append(names)
            for name in names:
                held[name] += w / len(names)
        full = max(held.values()) >= quota
        pick = max if full else min
        tied = {name for name in left if held[name] == pick(held.values())}
        out = {name for name in tied if points[name] == pick(points[name] for name in tied)}
        kept = quota / pick(held.values()) if full else Fraction(0)
        plain &= len(out) == 1 and (not full or kept == 1)
        for v, names in enumerate(holders):
            if names:
                worth[v] -= worth[v] * Fraction(len(names & out), len(names)) * kept
        (elected if full else gone).append(out)
        left -= out
    levels = [*elected, *gone[::-1]]
    below = {(a, b) for high, low in itertools.combinations(levels, 2) for a in high for b in low}
    return standing(below, profile.agents), plain


def standing(above: set[Edge], agents: tuple[str, ...]) -> dict[str, float]:
    """Agents below, and half of those neither above nor below."""
    value = {}
    for a in agents:
        others = [b for b in agents if b != a]
        level = sum((a, b) not in above and (b, a) not in above for b in others)
        value[a] = sum((a, b) in above for b in others) + level / 2
    return value


def weighted(profile: Profile) -> list[tuple[list[list[str]], Fraction]]:
    return list(zip(profile.rankings(), map(Fraction, profile.weight.tolist()), strict=True))
