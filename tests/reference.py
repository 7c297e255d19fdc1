"""The slow, obvious version of each thing, in plain Python: the only second implementation, never shipped."""

from __future__ import annotations

import itertools
import math
from collections import Counter

from softcondorcet import Profile


def pair_counts(profile: Profile) -> dict[tuple[str, str], list[float]]:
    """[wins, losses, ties] of a over b for each pair in the order of the profile's agents."""
    place = {name: k for k, name in enumerate(profile.agents)}
    counts: dict[tuple[str, str], list[float]] = {}
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        tier = {name: t for t, names in enumerate(vote) for name in names}
        for a, b in itertools.combinations(sorted(tier, key=place.__getitem__), 2):
            outcome = 2 if tier[a] == tier[b] else int(tier[a] > tier[b])
            counts.setdefault((a, b), [0.0, 0.0, 0.0])[outcome] += weight
    return counts


def margins(profile: Profile) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for (a, b), (wins, losses, _) in pair_counts(profile).items():
        found[a, b] = wins - losses
        found[b, a] = losses - wins
    return found


def kendall_tau_distance(x: dict[str, float], y: dict[str, float]) -> float:
    """Both map an agent to its tier; a tie in one of them only is half a mistake."""
    total = 0.0
    for a, b in itertools.combinations(x, 2):
        first, second = _sign(x[a] - x[b]), _sign(y[a] - y[b])
        if first != second:
            total += 1.0 if first and second else 0.5
    return total


def discrete_loss(profile: Profile, ratings: dict[str, float]) -> float:
    order = {name: -value for name, value in ratings.items()}
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        tier = {name: float(t) for t, names in enumerate(vote) for name in names}
        total += weight * kendall_tau_distance(tier, order)
    return total


def kemeny_loss(profile: Profile) -> float:
    """The smallest discrete loss of any strict order, by trying them all."""
    return min(
        discrete_loss(profile, {name: -float(k) for k, name in enumerate(order)})
        for order in itertools.permutations(profile.agents)
    )


def condorcet_winner(profile: Profile) -> str | None:
    lead = margins(profile)
    for a in profile.agents:
        if all(lead[a, b] > 0 for b in profile.agents if b != a):
            return a
    return None


def smith_set(profile: Profile) -> tuple[str, ...]:
    """The smallest dominating group, by trying all groups in order of size."""
    lead = margins(profile)
    for size in range(1, profile.n_agents + 1):
        for group in itertools.combinations(profile.agents, size):
            rest = set(profile.agents) - set(group)
            if all(lead[a, b] > 0 for a in group for b in rest):
                return group
    raise AssertionError("all agents together always dominate")


def reachable(edges: set[tuple[str, str]], agents: tuple[str, ...]) -> set[tuple[str, str]]:
    """Transitive closure, by Warshall."""
    closure = set(edges) | {(a, a) for a in agents}
    for k, a, b in itertools.product(agents, repeat=3):
        if (a, k) in closure and (k, b) in closure:
            closure.add((a, b))
    return closure


def family_loss(
    profile: Profile, ratings: dict[str, float], temperature: float, q: float, attract: bool = False
) -> float:
    """The pairwise family, summed over votes; a tie is half a win each, or attracts."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        tier = {name: t for t, names in enumerate(vote) for name in names}
        for a, b in itertools.combinations(tier, 2):
            d = (ratings[a] - ratings[b]) / temperature
            p = 1 / (1 + math.exp(-d))
            won, lost = _cost(p, q), _cost(1 / (1 + math.exp(d)), q)
            if tier[a] == tier[b]:
                total += weight * ((0.5 - 2 * p * (1 - p)) if attract else (won + lost) / 2)
            else:
                total += weight * (won if tier[a] < tier[b] else lost)
    return total


def footrule_loss(profile: Profile, ratings: dict[str, float], temperature: float) -> float:
    """The soft footrule of the votes."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        names = [name for tier in vote for name in tier]
        above = 0
        for tier in vote:
            place = above + (len(tier) - 1) / 2
            above += len(tier)
            for a in tier:
                soft = sum(1 / (1 + math.exp((ratings[a] - ratings[b]) / temperature)) for b in names if b != a)
                total += weight * (math.sqrt((soft - place) ** 2 + 0.25) - 0.5)
    return total


def _cost(p: float, q: float) -> float:
    return -math.log(p) if q == 0 else (1 - p**q) / q


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)
