"""Sequential test: are the first places settled? It may be asked after every vote, and be wrong no more often for it.

Let x be what a vote gives a against b: 1 if a wins, 1/2 for a tie, 0 if it loses. "a does not beat b" is the hypothesis
that x has a mean of at most c = 1/2 at each of their meetings, whatever came before. Against it one may bet: who stakes
the share k of a wealth on a has 1 + k (x / c - 1) times the wealth after the vote. If a does not beat b that is at most
1 on average, so the wealth is a nonnegative supermartingale, and by Ville's inequality it ever reaches 1 / alpha with a
chance of at most alpha: whenever one looks, and whoever chose by the votes so far which pair meets next. Such a wealth
is an e-process (Ramdas, Gruenwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference",
2023); betting on means is from Waudby-Smith and Ramdas ("Estimating means of bounded random variables by betting",
2024). Nobody knows the best stake, so shares s of the wealth are put on stakes from 0.84 down to 1e-6:

    E(a, b) = sum_k s_k (1 + k (1/c - 1))^wins (1 + k (1/2c - 1))^ties (1 - k)^losses.

At c = 1/2 ties change nothing. A vote of weight w <= 1 multiplies the wealth by at most its own part, since
(1 + y)^w <= 1 + w y. The win chances c that are not refuted at any time are a confidence sequence.

**The first place** goes to an agent that beats each of the other m - 1: that a does not is refuted by the smallest
E(a, b) over its rivals b, without a correction, as that is at most the one of the rival that a does not beat. But the
votes choose which a is asked about, and at most one of the m can be right. So the others together must not err:

    E(a, b) >= m / alpha for all b,           in general;
    E(a, b) >= min(m, 3 + alpha^2) / alpha    if each vote compares two agents.

Why 3: votes of two change one pair at a time, so the product of E(a, b) over the d agents that a does not beat is an
e-process too, and a is wrongly called first with a chance of at most e^d, e the inverse of the bound. Of each two
agents at least one does not beat the other, so by Landau's theorem on tournaments the d lowest in sum, with none of 0
but for a rightful first, are 1, 1, 1, 3, 4, 5 and so on: a cycle of three above all others. 3 e + e^3 + e^4 + ... is
at most alpha. **The first k places**: if the first i of an order are right, the next one must beat the m - i left, a
set that the votes did not choose; so the numbers above are added over the places.

Cost: one pass over the pairs of the first k agents, and 40 exponentials for each of these pairs.

When it misleads: outcomes of a pair must be exchangeable, or at least stay on one side of 1/2. Votes that are copies
of each other, judges who decide many votes alike, agents that change, or votes thrown out by what they say break it.
The agents are fixed: one that joins later asks a new question, with an error of its own.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.checks import check, positive, whole
from softcondorcet.errors import OptionError
from softcondorcet.methods.sco import sco
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.uncertainty.intervals import check_level

# Stakes half an octave apart: a wealth that has reached e^14 by its best stake is above half of that within 27 % of it.
# Shares fall with the root of the stake: near ties need small ones, and cost no more than a few times the votes of
# clear pairs; 1e-6 is for pairs that need 1e12 votes.
_STAKES = 2.0 ** (-(np.arange(40) + 0.5) / 2)
_SHARES = np.sqrt(_STAKES) / np.sqrt(_STAKES).sum()
# Above this all floats are whole, and say nothing of having been counted.
_COUNTABLE = 2.0**53
# Halvings of the range that holds the end of an interval.
_HALVINGS = 40


def log_e_values(wins: ArrayLike, losses: ArrayLike, ties: ArrayLike = 0.0, chance: ArrayLike = 0.5) -> Floats:
    """Logarithm of E, the evidence that a wins more than `chance`, ties counted as half. Element by element.

    >>> evidence = log_e_values([0, 9, 60, 600], [0, 0, 40, 400])
    >>> [f"{e:.3g}" for e in np.exp(evidence).tolist()]
    ['1', '52.4', '2.32', '5.21e+07']
    """
    wins, losses, ties, chance = (np.asarray(values, dtype=float) for values in (wins, losses, ties, chance))
    total = np.full(np.broadcast_shapes(wins.shape, losses.shape, ties.shape, chance.shape), -np.inf)
    for stake, share in zip(_STAKES.tolist(), _SHARES.tolist(), strict=True):
        wealth = wins * np.log1p(stake * (1 / chance - 1)) + losses * math.log1p(-stake) + math.log(share)
        total = np.logaddexp(total, wealth + ties * np.log1p(stake * (0.5 / chance - 1)))
    return total


def confidence_sequence(
    wins: ArrayLike, losses: ArrayLike, ties: ArrayLike = 0.0, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Lowest and highest chance of a to win against b, ties as half, that the votes leave open, at all times together.

    >>> low, high = confidence_sequence([0, 9, 60], [0, 0, 40])
    >>> [f"{a:.2f} to {b:.2f}" for a, b in zip(low.tolist(), high.tolist())]
    ['0.00 to 1.00', '0.52 to 1.00', '0.44 to 0.75']
    """
    check_level(level)
    return _lowest(wins, losses, ties, level), 1 - _lowest(losses, wins, ties, level)


def _lowest(wins: ArrayLike, losses: ArrayLike, ties: ArrayLike, level: float) -> Floats:
    """The highest chance, up to rounding, that is refuted as too low: E falls as the chance grows."""
    enough = math.log(2 / (1 - level))  # an end each
    low = np.zeros(np.broadcast_shapes(np.shape(wins), np.shape(losses), np.shape(ties)))
    high = np.ones_like(low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = log_e_values(wins, losses, ties, middle) >= enough
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return low


def bound(n_agents: int, top: int, level: float, *, votes_of_two: bool) -> float:
    """How large E must be for each pair of the first `top` places: see above.

    >>> round(bound(8, 1, 0.95, votes_of_two=False), 2), round(bound(8, 1, 0.95, votes_of_two=True), 2)
    (160.0, 60.05)
    """
    alpha = 1 - level
    claims = n_agents - np.arange(min(top, n_agents - 1), dtype=float)
    return float((np.minimum(claims, 3 + alpha**2) if votes_of_two else claims).sum() / alpha)


@dataclass(frozen=True)
class OpenPair:
    """A pair of agents that is not told apart: `a` stands above `b`, and beat it with a weight of `wins`.

    `e_value` is the evidence that a beats b, `at_least` how many votes in a row a must win for it to be enough, and
    `expected` how many are needed if they go on as they did: votes of weight 1, or of the largest weight where weights
    are fractions. None is never, as where a has not won more than b, or beyond 1e15.
    """

    a: str
    b: str
    wins: float
    losses: float
    ties: float
    e_value: float
    at_least: int | None
    expected: int | None


@dataclass(frozen=True)
class SequentialTest:
    """Whether the first `top` places of `order` are `settled`, by e-values of at least `bound`, and what is `open`.

    `matches` are open pairs, those that met least first: a pair of equals would take all votes if evidence chose.
    `unmet` of the `open` ones never met.
    """

    settled: bool
    order: tuple[str, ...]
    matches: Sequence[OpenPair]
    open: int
    unmet: int
    top: int
    n_agents: int
    level: float
    bound: float

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(match) for match in self.matches]

    def summary(self) -> list[str]:
        """The answer in words."""
        whom, percent = f"the top {self.top}" if self.top > 1 else "the first place", f"{100 * self.level:.6g} %"
        if self.settled:
            each = "each of them beats all below it" if self.top > 1 else f"{self.order[0]} beats every other agent"
            return [f"{whom} is settled at {percent}, however often this is asked: {each}"]
        if self.n_agents < 2:
            return [f"{whom} is not settled: there are no two agents"]
        plural = "pairs of agents are" if self.open > 1 else "pair of agents is"
        unmet = f", {self.unmet:,} of them never met" if self.unmet else ""
        return [
            f"{whom} is not settled at {percent}: {self.open:,} {plural} open{unmet}; "
            f"each needs an e-value of {self.bound:.4g}"
        ]

    def to_dict(self) -> dict[str, Any]:
        names = ("settled", "open", "unmet", "top", "n_agents", "level", "bound")
        return {**{name: getattr(self, name) for name in names}, "order": list(self.order), "matches": self.rows()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def sequential_test(
    data: Profile | Pairs,
    count: int = 10,
    *,
    top: int = 1,
    level: float = 0.95,
    order: Sequence[str] | None = None,
    max_weight: float | None = None,
) -> SequentialTest:
    """Are the first places settled? Asked after every vote, it ever says so wrongly with a chance of 1 - level at most.

    Parameters
    ----------
    data: a Profile, or Pairs. Where all votes of a profile compare two agents, fewer of them are needed.
    count: how many open pairs to name.
    top: settle who the first `top` are, and their order.
    level: 1 less the chance that "settled" is said at any time and is wrong.
    order: all agents, best first: the one whose first places are asked about; that of ``sco`` by default.
    max_weight: the most that one vote can weigh, known before the votes. By default whole numbers are counts of votes
        of weight 1, and other weights are held against the next power of two, which takes some evidence more;
        of pairs, against the largest count.

    >>> from softcondorcet import Profile
    >>> votes = Profile.from_rankings([["a", "b"], ["b", "a"], ["a", "c"]], weights=[40, 10, 9])
    >>> test = sequential_test(votes)
    >>> test.settled, [(match.a, match.b, match.at_least) for match in test.matches]
    (False, [('a', 'c', 1)])
    """
    whole("count", count)
    whole("top", top)
    check_level(level)
    if isinstance(data, Profile) and data.balance is not None:
        raise OptionError(
            f"balance must be left out: votes balanced by {data.balance} weigh less or more with every vote that "
            "comes, and a test that may be asked after each holds for votes as they were cast only"
        )
    pairs, m = as_pairs(data), len(data.agents)
    order = tuple(sco(data).order if order is None else order)
    check(sorted(order) == sorted(data.agents), "order", "all agents, each once", order)
    votes_of_two = isinstance(data, Profile) and bool((data.length <= 2).all())
    needed = bound(m, top, level, votes_of_two=votes_of_two) if m > 1 else math.inf
    scale, records = _scale(data, max_weight), _records(pairs, order, min(top, m - 1))
    evidence = scale.evidence(records.wins, records.losses)
    still = evidence < math.log(needed)
    unmet = records.asked - len(evidence)
    named = _named(records, still, unmet, count)
    return SequentialTest(
        m > 1 and not unmet and not still.any(),
        order[:top],
        [_open_pair(order, pair, scale, math.log(needed)) for pair in named],
        int(still.sum()) + unmet,
        unmet,
        min(top, m),
        m,
        float(level),
        needed,
    )


# Places of the upper and the lower agent, and how often the upper one won, lost and tied.
_Record = tuple[int, int, float, float, float]


@dataclass(frozen=True)
class _Scale:
    """The weight that counts as one vote, and the evidence that it costs to find it in the votes."""

    unit: float
    cost: float

    def evidence(self, wins: ArrayLike, losses: ArrayLike) -> Floats:
        return log_e_values(np.asarray(wins) / self.unit, np.asarray(losses) / self.unit) - self.cost


def _scale(data: Profile | Pairs, max_weight: float | None) -> _Scale:
    """Counts of votes as they are. Other weights must be at most 1, and nobody knows beforehand how large they get.

    So the wealth is dealt among all powers of two, 2^k getting 1 / (1.5 (|k| + 1) (|k| + 2)) of it: each is the unit of
    its part, and a weight above it takes that part. What the smallest unit left has is less than what all have.
    Pairs whose counts are not whole do not say how heavy a vote was: up to the largest count, so they settle nothing.
    """
    weights = data.weight if isinstance(data, Profile) else np.concatenate([data.wins, data.losses, data.ties])
    if max_weight is not None:
        positive("max_weight", max_weight)
        known = not isinstance(data, Profile) or float(weights.max(initial=0.0)) <= max_weight
        check(known, "max_weight", "at least the largest weight of a vote", max_weight)
        return _Scale(float(max_weight), 0.0)
    if bool(((weights == np.floor(weights)) & (weights <= _COUNTABLE)).all()):
        return _Scale(1.0, 0.0)
    fraction, exponent = math.frexp(float(weights.max()))
    k = exponent - (fraction == 0.5)
    return _Scale(math.ldexp(1.0, k), math.log(1.5 * (abs(k) + 1) * (abs(k) + 2)))


@dataclass(frozen=True)
class _Records:
    """A `_Record` in columns, of each pair that met and has one of the first `places` in it."""

    upper: Ints
    lower: Ints
    wins: Floats
    losses: Floats
    ties: Floats
    places: int
    n_agents: int

    @property
    def asked(self) -> int:
        """How many pairs there are, met or not."""
        return self.places * self.n_agents - self.places * (self.places + 1) // 2


def _records(pairs: Pairs, order: tuple[str, ...], places: int) -> _Records:
    number = {name: k for k, name in enumerate(order)}
    place = np.array([number[name] for name in pairs.agents], dtype=np.int64)
    left, right = place[pairs.left], place[pairs.right]
    inside = (np.minimum(left, right) < places) & (pairs.wins + pairs.losses + pairs.ties > 0)
    left, right = left[inside], right[inside]
    wins, losses = pairs.wins[inside], pairs.losses[inside]
    first = left < right
    return _Records(
        np.minimum(left, right),
        np.maximum(left, right),
        np.where(first, wins, losses),
        np.where(first, losses, wins),
        pairs.ties[inside],
        places,
        len(order),
    )


def _named(records: _Records, still: Flags, unmet: int, count: int) -> list[_Record]:
    """Up to `count` open pairs, those that met least first."""
    found: list[_Record] = [(*pair, 0.0, 0.0, 0.0) for pair in islice(_never_met(records), min(unmet, count))]
    columns = records.upper, records.lower, records.wins, records.losses, records.ties
    rows = np.flatnonzero(still)
    met = records.wins + records.losses + records.ties
    rows = rows[np.argsort(met[rows], kind="stable")][: count - len(found)]
    return [*found, *zip(*(column[rows].tolist() for column in columns), strict=True)]


def _never_met(records: _Records) -> Iterator[tuple[int, int]]:
    """Places of pairs that never met, from the top."""
    for upper in range(records.places):
        others = np.arange(records.n_agents) > upper
        others[records.lower[records.upper == upper]] = False
        yield from ((upper, lower) for lower in np.flatnonzero(others).tolist())


def _open_pair(names: tuple[str, ...], record: _Record, scale: _Scale, enough: float) -> OpenPair:
    """With how many votes it would take more; `enough` is the evidence needed."""
    upper, lower, wins, losses, ties = record
    now, met = np.array([wins, losses]) / scale.unit, (wins + losses + ties) / scale.unit
    return OpenPair(
        names[upper],
        names[lower],
        wins,
        losses,
        ties,
        math.exp(min(float(scale.evidence(wins, losses)), 700.0)),
        _votes_until(enough + scale.cost, now, np.array([1.0, 0.0])),
        _votes_until(enough + scale.cost, now, now / met) if wins > losses else None,
    )


def _votes_until(enough: float, record: Floats, vote: Floats) -> int | None:
    """The fewest votes, each worth `vote` in wins and losses, that take the evidence of a record to `enough`."""

    def reached(votes: int) -> bool:
        return float(log_e_values(*(record + votes * vote))) >= enough

    high = next((2**k for k in range(51) if reached(2**k)), None)
    if high is None:
        return None
    return bisect_left(range(high), True, lo=high // 2 + 1, key=reached) if high > 1 else 1
