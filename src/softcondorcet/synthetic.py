"""Votes with a known truth: the paper's tournaments, Mallows and Plackett-Luce votes, planted cycles. All seeded.

Each function returns a ``Profile``; those with true ratings return them too, by agent name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import check, natural, one_of, whole
from softcondorcet.profile import Profile

Truth = dict[str, float]


def tournament(
    contests: int,
    *,
    agents: int = 20,
    size: int = 4,
    matching: str = "uniform",
    spread: float = 30.0,
    noise: float = 5.0,
    skills: Sequence[float] | None = None,
    seed: int = 0,
) -> tuple[Profile, Truth]:
    """The paper's section 4.3: skills from N(100, spread), contests of `size` agents, skill + N(0, noise) shown.

    matching "uniform" draws the agents of a contest at random; "skill" draws the first, then, one at a time, the
    closest of three new candidates to the mean skill of those already in.
    """
    whole("contests", contests)
    one_of("matching", ("uniform", "skill"), matching)
    natural("seed", seed)
    rng = np.random.default_rng(seed)
    skill = 100 + spread * rng.standard_normal(agents) if skills is None else np.array(skills, dtype=float)
    m = len(skill)
    check(2 <= size <= m, "size", f"between 2 and the number of agents ({m})", size)
    draw = _matched if matching == "skill" else _uniform
    players = np.array([draw(rng, skill, size) for _ in range(contests)])
    shown = skill[players] + noise * rng.standard_normal(players.shape)
    votes = np.take_along_axis(players, np.argsort(-shown, axis=1), axis=1)
    names = _names(m)
    return _strict(votes, names), dict(zip(names, skill.tolist(), strict=True))


def mallows(votes: int, *, agents: int = 10, phi: float = 0.8, seed: int = 0) -> Profile:
    """Complete votes around the order agent 1, 2, ...: each costs a factor phi per discordant pair (0 < phi <= 1).

    Repeated insertion: agent i goes d places above the bottom of those before it with probability proportional to
    phi^d, which draws exactly from the model. phi = 1 is uniform.
    """
    whole("votes", votes)
    whole("agents", agents)
    natural("seed", seed)
    return _strict(_mallows_orders(np.random.default_rng(seed), votes, agents, phi), _names(agents))


def _mallows_orders(rng: np.random.Generator, votes: int, agents: int, phi: float) -> Ints:
    check(0 < phi <= 1, "phi", "above 0 and at most 1", phi)
    orders = np.zeros((votes, 0), dtype=np.int64)
    for i in range(agents):
        chance = phi ** np.arange(i + 1)
        lift = rng.choice(i + 1, size=votes, p=chance / chance.sum())
        column = np.arange(i + 1)
        spot = (i - lift)[:, None]
        padded = np.concatenate([orders, np.zeros((votes, 1), dtype=np.int64)], axis=1)
        shifted = np.take_along_axis(padded, np.maximum(column - (column > spot), 0), axis=1)
        orders = np.where(column == spot, i, shifted)
    return orders


def plackett_luce(
    votes: int, *, agents: int = 10, size: int | None = None, spread: float = 1.0, seed: int = 0
) -> tuple[Profile, Truth]:
    """Votes over `size` random agents (all by default) by repeated choice with log-strengths from N(0, spread)."""
    whole("votes", votes)
    natural("seed", seed)
    rng = np.random.default_rng(seed)
    strength = spread * rng.standard_normal(agents)
    size = size or agents
    check(2 <= size <= agents, "size", f"between 2 and the number of agents ({agents})", size)
    players = np.array([rng.choice(agents, size, replace=False) for _ in range(votes)])
    heard = strength[players] + rng.gumbel(size=players.shape)
    names = _names(agents)
    truth = dict(zip(names, strength.tolist(), strict=True))
    return _strict(np.take_along_axis(players, np.argsort(-heard, axis=1), axis=1), names), truth


def planted_cycle(votes: int, *, agents: int = 8, cycle: int = 3, phi: float = 0.8, seed: int = 0) -> Profile:
    """Votes whose first places rotate among the first `cycle` agents: these are the Smith set, and none of them wins.

    Vote v ranks them in rotation v of their order, so each beats the next by all votes but one in `cycle`, and the
    last beats the first the same way. Below them come Mallows votes over the other agents.
    """
    check(3 <= cycle <= agents, "cycle", f"between 3 and the number of agents ({agents})", cycle)
    whole("votes", votes)
    check(votes >= cycle, "votes", f"at least the length of the cycle ({cycle})", votes)
    turns = (np.arange(cycle) + np.arange(votes)[:, None]) % cycle
    below = _mallows_orders(np.random.default_rng(seed), votes, agents - cycle, phi) + cycle
    return _strict(np.concatenate([turns, below], axis=1), _names(agents))


def demo(seed: int = 7) -> Profile:
    """The built-in data: an arena of language models, made up, with something to find in it.

    Three models at the top beat each other in a circle, the rest follow their skill with noise; judges differ, some
    votes are ties; and one newcomer was only ever compared with another newcomer.
    """
    natural("seed", seed)
    rng = np.random.default_rng(seed)
    top, field = ["aster", "birch", "cedar"], ["dahlia", "elm", "fern", "gorse", "heath", "iris", "juniper", "kelp"]
    names = [*top, *field, "newcomer-1", "newcomer-2"]
    skill = np.concatenate([[2.0, 2.0, 2.0], np.linspace(1.2, -1.5, len(field)), [0.0, 1.0]])
    lead = {(0, 1): 0.9, (1, 2): 0.9, (2, 0): 0.9}
    pairs = [(a, b) for a in range(11) for b in range(a)] + [(12, 11)]
    a, b = np.array(pairs)[rng.choice(len(pairs), 2400, p=_busy(len(pairs)))].T
    edge = np.array(
        [lead.get((i, j), 0.0) - lead.get((j, i), 0.0) for i, j in zip(a.tolist(), b.tolist(), strict=True)]
    )
    chance = 1 / (1 + np.exp(-(skill[a] - skill[b] + edge)))
    tie, won = rng.random(len(a)) < 0.12, rng.random(len(a)) < chance
    agent = np.stack([np.where(won, a, b), np.where(won, b, a)], axis=1)
    tier = np.stack([np.zeros(len(a), dtype=np.int64), ~tie], axis=1)
    judges = tuple(f"judge-{k}" for k in range(1, 9))
    return Profile(
        tuple(names),
        np.arange(len(a) + 1) * 2,
        agent.ravel(),
        tier.ravel(),
        np.ones(len(a)),
        group=rng.integers(len(judges), size=len(a)),
        groups=judges,
        turned=rng.random(len(a)) < 0.5,
    )


def _busy(count: int) -> Floats:
    """Every pair is about as likely, but for the last, the newcomers', which is rare."""
    weight = np.ones(count)
    weight[-1] = 0.3
    weight /= weight.sum()
    return weight


def _uniform(rng: np.random.Generator, skill: Floats, size: int) -> Ints:
    return rng.choice(len(skill), size, replace=False)


def _matched(rng: np.random.Generator, skill: Floats, size: int) -> Ints:
    chosen = [int(rng.integers(len(skill)))]
    while len(chosen) < size:
        free = np.setdiff1d(np.arange(len(skill)), chosen)
        drawn = rng.choice(free, min(3, len(free)), replace=False)
        chosen.append(int(drawn[np.argmin(np.abs(skill[drawn] - skill[chosen].mean()))]))
    return np.array(chosen)


def _names(m: int) -> tuple[str, ...]:
    """agent-01, agent-02, ...: sorted by name is sorted by number."""
    digits = len(str(m))
    return tuple(f"agent-{k:0{digits}}" for k in range(1, m + 1))


def _strict(votes: Ints, agents: tuple[str, ...]) -> Profile:
    n, k = votes.shape
    return Profile(agents, np.arange(n + 1) * k, votes.ravel(), np.tile(np.arange(k), n), np.ones(n))
