"""The slow, obvious version of each thing, in plain Python: the only second implementation, never shipped."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from softcondorcet import Pairs, Profile
from softcondorcet.arrays import Ints


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


def margins(profile: Profile) -> defaultdict[tuple[str, str], float]:
    found = defaultdict[tuple[str, str], float](float)
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
    """Half a mistake for a tie in a vote, and for equal ratings; a whole one for a comparison the other way round."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        tier = {name: t for t, names in enumerate(vote) for name in names}
        for a, b in itertools.combinations(tier, 2):
            level = tier[a] == tier[b] or ratings[a] == ratings[b]
            total += weight * (0.5 if level else (tier[a] < tier[b]) != (ratings[a] > ratings[b]))
    return total


def kemeny_loss(profile: Profile) -> float:
    """The smallest discrete loss of any strict order, by trying them all."""
    return min(_losses(profile).values())


def kemeny_orders(profile: Profile) -> list[list[str]]:
    """All strict orders of the smallest discrete loss."""
    losses = _losses(profile)
    return [list(order) for order, loss in losses.items() if loss < min(losses.values()) + 1e-9]


def kemeny_margin(margin: np.ndarray) -> float:
    """The smallest sum of margins that an order contradicts, by trying them all; in arrays, for up to 10 agents.

    Grows every ordered beginning by every agent that is not in it: m! of them in the end, none is left out.
    """
    m = len(margin)
    lost = np.maximum(margin, 0)
    members = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    below = members @ lost.T  # below[s, a]: what placing a below all of the set s contradicts
    used, loss = np.zeros(1, dtype=np.int64), np.zeros(1)
    for _ in range(m):
        grown = [(a, (used >> a & 1) == 0) for a in range(m)]
        loss = np.concatenate([loss[free] + below[used[free], a] for a, free in grown])
        used = np.concatenate([used[free] | 1 << a for a, free in grown])
    return float(loss.min())


def _losses(profile: Profile) -> dict[tuple[str, ...], float]:
    """The discrete loss of every strict order: a pair that stands the other way round costs its votes, a tie half."""
    counts = pair_counts(profile)
    return {
        order: sum(tied / 2 + (lost if place[a] < place[b] else won) for (a, b), (won, lost, tied) in counts.items())
        for order in itertools.permutations(profile.agents)
        for place in [{name: k for k, name in enumerate(order)}]
    }


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


def elo(profile: Profile, k: float, unit: float) -> dict[str, float]:
    """One pass; all pairs of a vote are judged by the ratings before it."""
    ratings = dict.fromkeys(profile.agents, 0.0)
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        tier = {name: t for t, names in enumerate(vote) for name in names}
        before = dict(ratings)
        for a, b in itertools.permutations(tier, 2):
            won = 1.0 if tier[a] < tier[b] else 0.5 if tier[a] == tier[b] else 0.0
            ratings[a] += k * weight * (won - 1 / (1 + math.exp((before[b] - before[a]) / unit)))
    return ratings


def tie_loss(profile: Profile, ratings: dict[str, float], model: str, parameter: float) -> float:
    """Negative log-likelihood of all comparisons, ties as half wins, Davidson's (nu) or Rao and Kupper's (theta)."""
    total = 0.0
    for (a, b), (wins, losses, ties) in pair_counts(profile).items():
        x, y = math.exp(ratings[a]), math.exp(ratings[b])
        if model == "half":
            p, q, t = x / (x + y), y / (x + y), math.sqrt(x * y) / (x + y)
        elif model == "davidson":
            level = parameter * math.sqrt(x * y)
            p, q, t = (part / (x + y + level) for part in (x, y, level))
        else:
            p, q = x / (x + parameter * y), y / (y + parameter * x)
            t = x * y * (parameter**2 - 1) / ((x + parameter * y) * (y + parameter * x))
        total -= sum(count * math.log(chance) for count, chance in ((wins, p), (losses, q), (ties, t)) if count)
    return total


def bradley_terry_by_mm(profile: Profile, sweeps: int = 20_000) -> dict[str, float]:
    """Hunter (2004), eq. 3, a tie as half a win: strength = wins / sum over opponents of games / (sum of strengths)."""
    counts = pair_counts(profile)
    strength = dict.fromkeys(profile.agents, 1.0)
    for _ in range(sweeps):
        wins, expected = defaultdict[str, float](float), defaultdict[str, float](float)
        for (a, b), (won, lost, tied) in counts.items():
            wins[a] += won + tied / 2
            wins[b] += lost + tied / 2
            share = (won + lost + tied) / (strength[a] + strength[b])
            expected[a] += share
            expected[b] += share
        new = {name: wins[name] / expected[name] for name in strength}
        if max(abs(math.log(new[name] / strength[name])) for name in new) < 1e-13:
            break
        strength = new
    return _centred({name: math.log(value) for name, value in strength.items()})


def plackett_luce_by_mm(profile: Profile, sweeps: int = 20_000) -> dict[str, float]:
    """Hunter (2004), section 5: strict votes, each a chain of choices from what is left."""
    orders = [[name for tier in vote for name in tier] for vote in profile.rankings()]
    votes = list(zip(orders, profile.weight.tolist(), strict=True))
    strength = dict.fromkeys(profile.agents, 1.0)
    for _ in range(sweeps):
        chosen, expected = Counter[str](), Counter[str]()
        for names, weight in votes:
            for k, first in enumerate(names[:-1]):
                chosen[first] += weight
                left = sum(strength[name] for name in names[k:])
                for name in names[k:]:
                    expected[name] += weight / left
        new = {name: chosen[name] / expected[name] for name in strength}
        if max(abs(math.log(new[name] / strength[name])) for name in new) < 1e-13:
            break
        strength = new
    return _centred({name: math.log(value) for name, value in strength.items()})


def plackett_luce_loss(profile: Profile, ratings: dict[str, float]) -> float:
    """Negative log-likelihood of the votes; Efron's mean denominators for ties, whose last agent needs no choice."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        for t, names in enumerate(vote):
            own = sum(math.exp(ratings[name]) for name in names)
            below = sum(math.exp(ratings[name]) for tier in vote[t + 1 :] for name in tier)
            size = len(names)
            chosen = size - 1 if t == len(vote) - 1 else size
            total += weight * sum(math.log(below + (1 - r / size) * own) for r in range(chosen))
            total -= weight * chosen / size * sum(ratings[name] for name in names)
    return total


def weng_lin(
    profile: Profile, model: str, mu: float, sigma: float, beta: float, drift: float, kappa: float
) -> dict[str, tuple[float, float]]:
    """Mean and deviation after one pass: algorithms 4 and 1 of the paper, sums as they are printed there."""
    skill = dict.fromkeys(profile.agents, (mu, sigma**2))
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        rank = {name: t for t, names in enumerate(vote) for name in names}
        if len(rank) < 2:
            continue
        before = {name: (skill[name][0], skill[name][1] + drift**2) for name in rank}
        for i, (mean, variance) in before.items():
            omega = delta = 0.0
            if model == "plackett_luce":
                c = math.sqrt(sum(v + beta**2 for _, v in before.values()))
                for q in rank:
                    if rank[q] > rank[i]:
                        continue
                    tied = sum(rank[s] == rank[q] for s in rank)
                    p = math.exp(mean / c) / sum(math.exp(before[s][0] / c) for s in rank if rank[s] >= rank[q])
                    omega += variance / c * ((q == i) - p) / tied
                    delta += math.sqrt(variance) / c * variance / c**2 * p * (1 - p) / tied
            else:
                for q in rank:
                    if q == i:
                        continue
                    c = math.sqrt(variance + before[q][1] + 2 * beta**2)
                    p = 1 / (1 + math.exp((before[q][0] - mean) / c))
                    won = 1.0 if rank[i] < rank[q] else 0.5 if rank[i] == rank[q] else 0.0
                    omega += variance / c * (won - p)
                    delta += math.sqrt(variance) / c * variance / c**2 * p * (1 - p)
            skill[i] = mean + weight * omega, variance * max(1 - weight * delta, kappa)
    return {name: (mean, math.sqrt(variance)) for name, (mean, variance) in skill.items()}


def _centred(values: dict[str, float]) -> dict[str, float]:
    mean = sum(values.values()) / len(values)
    return {name: value - mean for name, value in values.items()}


def _cost(p: float, q: float) -> float:
    return -math.log(p) if q == 0 else (1 - p**q) / q


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def contradicted_margins(margin: np.ndarray) -> dict[tuple[int, ...], float]:
    """What each order of the agents contradicts of a margin matrix."""
    return {
        order: sum(max(margin[b][a], 0.0) for a, b in itertools.combinations(order, 2))
        for order in itertools.permutations(range(len(margin)))
    }


def vote_gradient(vote: list[list[str]], ratings: dict[str, float], temperature: float) -> dict[str, float]:
    """Of the sigmoid loss of one vote, by each agent's rating."""
    gradient = dict.fromkeys(ratings, 0.0)
    for above, below in itertools.combinations(vote, 2):
        for a, b in itertools.product(above, below):
            p = 1 / (1 + math.exp((ratings[a] - ratings[b]) / temperature))
            gradient[a] -= p * (1 - p) / temperature
            gradient[b] += p * (1 - p) / temperature
    return gradient


def bca_interval(samples: list[float], fit: float, jackknife: list[float], level: float) -> tuple[float, float]:
    """Efron's BCa interval of one number, by its definition; whole samples are cut off at both ends."""
    normal, ordered = NormalDist(), sorted(samples)
    below = sum((x < fit) + (x == fit) / 2 for x in samples) / len(samples)
    z0 = normal.inv_cdf(min(max(below, 1e-3), 1 - 1e-3))
    mean = sum(jackknife) / len(jackknife)
    cubes, squares = (sum((mean - x) ** k for x in jackknife) for k in (3, 2))
    a = cubes / (6 * squares**1.5) if squares else 0.0

    def share(tail: float) -> float:
        z = z0 + normal.inv_cdf(tail)
        return normal.cdf(z0 + z / (1 - a * z))

    low = math.floor(share((1 - level) / 2) * len(samples))
    high = math.floor((1 - share((1 + level) / 2)) * len(samples))
    return ordered[low], ordered[len(samples) - 1 - high]


def ratings_under_order(pairs: Pairs, tier: Ints, group: Ints, prior: float) -> np.ndarray:
    """The most likely Bradley-Terry ratings that fall along the tiers of each group: all ways to pool tiers, tried."""
    best = np.zeros(pairs.n_agents)
    for g in set(group):
        members = [k for k in range(pairs.n_agents) if group[k] == g]
        tiers = sorted({tier[k] for k in members})
        least = math.inf
        for cuts in itertools.product([False, True], repeat=len(tiers) - 1):
            pool = dict(zip(tiers, np.cumsum([0, *cuts]).tolist(), strict=True))
            values, cost = _pooled(pairs, {k: pool[tier[k]] for k in members}, prior)
            if cost < least and (np.diff(values) <= 1e-12).all():
                least = cost
                best[members] = [values[pool[tier[k]]] for k in members]
    return best


def _pooled(pairs: Pairs, pool: dict[int, int], prior: float) -> tuple[np.ndarray, float]:
    """Newton's method with a matrix, on one value for each pool; the values and what they cost."""
    size = max(pool.values()) + 1
    x, weight = np.zeros(size), prior * np.bincount(list(pool.values()))
    for _ in range(60):
        gradient, hessian, cost = weight * x, np.diag(weight).astype(float), float(weight @ x**2) / 2
        for a, b, won, lost, tied in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True):
            if a not in pool:
                continue
            e = np.zeros(size)
            e[pool[a]] += 1
            e[pool[b]] -= 1
            p = 1 / (1 + math.exp(-float(e @ x)))
            wins, losses = won + tied / 2, lost + tied / 2
            gradient += (losses * p - wins * (1 - p)) * e
            hessian += (wins + losses) * p * (1 - p) * np.outer(e, e)
            cost -= wins * math.log(p) + losses * math.log(1 - p)
        x = x - np.linalg.solve(hessian, gradient)
    return x, cost


def sigmoid_loss(profile: Profile, ratings: dict[str, float], temperature: float) -> float:
    """Eq. (5) of the paper, vote by vote; a tie in a vote is half of either way."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight, strict=True):
        for above, below in itertools.combinations(vote, 2):
            for a, b in itertools.product(above, below):
                total += weight / (1 + math.exp((ratings[a] - ratings[b]) / temperature))
        for tier in vote:
            total += weight * len(list(itertools.combinations(tier, 2))) / 2
    return total


def places_from_worst(vote: Sequence[Sequence[str]]) -> dict[str, float]:
    """Of the agents of a vote, from 0; tied ones have the mean of theirs."""
    places: dict[str, float] = {}
    below = 0
    for tier in reversed(vote):
        places |= dict.fromkeys(tier, below + (len(tier) - 1) / 2)
        below += len(tier)
    return places


def fenchel_young_loss(profile: Profile, ratings: dict[str, float], sigma: float, perturbation: str) -> float:
    """The paper's appendix by drawing: E[y*(r + sigma Z) . (r + sigma Z)] - y . r, summed over votes."""
    rng, total = np.random.default_rng(0), 0.0
    for vote, weight in zip(profile.rankings(), profile.weight, strict=True):
        places = places_from_worst(vote)
        values = np.array([ratings[name] for name in places])
        draw = rng.gumbel if perturbation == "gumbel" else rng.standard_normal
        noisy = np.sort(values + sigma * draw(size=(400_000, len(values))), axis=1)
        total += weight * (float((noisy @ np.arange(len(values))).mean()) - float(values @ list(places.values())))
    return total


def fenchel_young_slope(profile: Profile, ratings: dict[str, float], sigma: float, agent: str) -> float:
    """The expected place of an agent by ratings with Gumbel noise, less its place, summed over the votes with it."""
    total = 0.0
    for vote, weight in zip(profile.rankings(), profile.weight, strict=True):
        places = places_from_worst(vote)
        if agent in places:
            expected = sum(1 / (1 + math.exp((ratings[b] - ratings[agent]) / sigma)) for b in places if b != agent)
            total += weight * (expected - places[agent])
    return total
