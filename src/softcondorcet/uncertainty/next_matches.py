"""Which two agents should meet next, and when is it enough?

Let q be the chance that a is better than b, by the samples of an ``Uncertainty``, and let the two have met n times.
What does one more battle tell about who is better? If p1 and p0 are the chances that a wins it when a is better and
when b is, the information is, for p1 and p0 near each other and near 1/2,

    I = H(outcome) - H(outcome | who is better) = 2 q (1 - q) (p1 - p0)^2 + ...    in nats.

After n battles the win rate is known to about 1 / (2 sqrt(n + 1)), so p1 and p0 are about that far from 1/2, on either
side, and (p1 - p0)^2 is about 1 / (n + 1). Hence the value of a match:

    value = q (1 - q) / (n + 1):    the order of the two is open, and they have not met often.

A pair is open until q reaches what tells agents apart (``Uncertainty.sure``, 0.975 at level 0.95). The order is settled
when no pair is open; the top is, when none is that has an agent of the first k in it. q is that of
``Uncertainty.chances``, which is more careful than the share of samples where votes are few.

Cost: samples x agents x up to 200 places below each; agents further apart are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import Watch, whole
from softcondorcet.errors import OptionError
from softcondorcet.formatting import plural
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.tabular import Tabular
from softcondorcet.uncertainty.bootstrap import bootstrap
from softcondorcet.uncertainty.intervals import Uncertainty

# Places below an agent at which others are still looked at.
_REACH = 200


@dataclass(frozen=True)
class Match:
    """Two agents to meet: `a` stands above `b` now, `above` is the chance that rightly so, `met` how often they met."""

    a: str
    b: str
    above: float
    met: float
    value: float


@dataclass(frozen=True)
class NextMatches(Tabular):
    """The matches that tell most, best first. `settled`: no more are needed; `open`: how many pairs are open."""

    matches: Sequence[Match]
    settled: bool
    open: int
    top: int
    n_agents: int
    level: float
    source: str
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(match) for match in self.matches]

    def summary(self) -> list[str]:
        """The answer in words."""
        line = settled_in_words(self.settled, self.open, self.top, self.n_agents, self.level, self.source)
        return [line, *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        return {
            "settled": self.settled,
            "open": self.open,
            "top": self.top,
            "n_agents": self.n_agents,
            "level": self.level,
            "source": self.source,
            "warnings": list(self.warnings),
            "matches": self.rows(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def settled_in_words(settled: bool, pairs: int, top: int, n_agents: int, level: float, source: str) -> str:
    """Whether the order, or its top, is settled, and how many pairs are open."""
    whom = "the order" if top >= n_agents else f"the top {top}" if top > 1 else "the first place"
    sure = f"{100 * (1 + level) / 2:.4g} %"
    if settled:
        return f"{whom} is settled: every pair of agents it rests on is told apart with {sure}"
    return f"{whom} is not settled: {plural(pairs, 'pair')} of agents not told apart with {sure} ({source})"


def next_matches(
    data: Profile | Pairs | Uncertainty,
    count: int = 10,
    *,
    top: int | None = None,
    method: str = "sco",
    n: int = 200,
    level: float = 0.95,
    seed: int = 0,
    watch: Watch | None = None,
) -> NextMatches:
    """The pairs of agents whose next battle tells most about the order, and whether any is needed at all.

    Parameters
    ----------
    data: a Profile or Pairs, of which `n` resamples are rated by `method`; or what ``bootstrap`` gave for them.
    count: how many matches to name. They are different pairs: play some, and ask again.
    top: settle only who the first `top` are, and their order; None for all agents.
    level, seed, watch: as in ``bootstrap``.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(200, agents=6, size=2, noise=40, seed=1)
    >>> advice = next_matches(votes, 3, top=1)
    >>> advice.settled, len(advice.matches)
    (False, 3)
    """
    whole("count", count)
    if top is not None:
        whole("top", top)
    found = data if isinstance(data, Uncertainty) else bootstrap(data, method, n=n, level=level, seed=seed, watch=watch)
    if found.pairs is None:
        raise OptionError("data must be a Profile, Pairs or the result of bootstrap: others do not say who met whom")
    m = len(found.board)
    places = m if top is None else min(top, m)
    a, b, above = open_pairs(found, places)
    met = found.pairs.met(a, b)
    value = found.pairs.match_value(a, b, above)
    best = np.lexsort((met, -value))[:count]
    names = found.agents
    return NextMatches(
        [Match(names[a[k]], names[b[k]], float(above[k]), float(met[k]), float(value[k])) for k in best],
        not len(a),
        len(a),
        places,
        m,
        found.level,
        found.source,
        found.warnings,
    )


def open_pairs(found: Uncertainty, places: int) -> tuple[Ints, Ints, Floats]:
    """Pairs that are not told apart, the upper one among the first `places`, with the chance that it is above."""
    order, m = found.board.listing, len(found.board)
    upper, lower, chance = [], [], []
    for place in range(min(places, m - 1)):
        a, others = order[place], order[place + 1 : place + 1 + _REACH]
        # Whether agents that comparisons never link are above each other is as open as it can be.
        above = np.nan_to_num(found.confidence(a, others), nan=0.5)
        still = above < found.sure
        upper.append(np.full(int(still.sum()), a))
        lower.append(others[still])
        chance.append(above[still])
    if not upper:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    return np.concatenate(upper), np.concatenate(lower), np.concatenate(chance)
