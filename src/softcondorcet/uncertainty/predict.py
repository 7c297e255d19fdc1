"""The chance that one agent comes out above another, with an interval.

The chance is that of log-odds: of the ratings of the method or, where these are places on a scale of their own, of
log-odds under its order (``methods.odds``). A tie counts as half.

The interval is that of the likelihood (``solvers.laplace``): the lead of a over b is about normal, with the variance
that the joint covariance of both ratings gives it, so it is wide where either agent has few votes and where only a few
votes link the two. Votes of one judge or task are alike, which the likelihood does not know: where resamples draw whole
groups and scatter more, the interval is as wide as they say. Pairs also stray from a line of strengths: by the
precision kappa of the line (``solvers.shrinkage``) the chance p of a pair has the variance p (1 - p) / (kappa + 1)
around it, averaged over what the votes leave open of kappa. Both are added in squares on the scale of chances:

    low = p - root of ((p - low of the likelihood)^2 + z^2 p (1 - p) mean of 1 / (kappa + 1)),   high likewise.

It always holds the chance itself. Where comparisons never link two agents, nothing is known: neither chance nor ends.

Whether two agents are told apart is decided where it always is, by ``Uncertainty.confidence``; the interval may leave
out one half and the order still be open, because the rule looks at what is least sure of several answers.

When it misleads: the chance is that of a line through all agents, and of a meeting like those that were voted on. Of
two that met often their own record says more (``versus``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import Watch, check, near, short
from softcondorcet.errors import DataError, OptionError
from softcondorcet.evaluation.compare import run
from softcondorcet.formatting import confidence, number, percent, plural
from softcondorcet.io.pair_list import read_pair_list
from softcondorcet.methods.odds import odds
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.laplace import Laplace, laplace
from softcondorcet.solvers.shrinkage import mean_stray
from softcondorcet.uncertainty.bootstrap import bootstrap
from softcondorcet.uncertainty.intervals import Uncertainty, check_level

Data = Profile | Pairs
# What is said of two agents.
TOLD, OPEN, UNKNOWN = "told apart", "not told apart", "never linked"


@dataclass(frozen=True)
class Chance:
    """The chance that `a` comes out above `b`, and its interval; None where comparisons never link the two.

    `met` is how often they were compared, `verdict` "told apart", "not told apart" or "never linked".
    """

    a: str
    b: str
    chance: float | None
    chance_low: float | None
    chance_high: float | None
    met: float
    verdict: str

    def words(self, level: float) -> str:
        """One sentence."""
        if self.chance is None or self.chance_low is None or self.chance_high is None:
            return f"{self.a} and {self.b} were never compared, not even through others: the chance is unknown"
        ends = f"{percent(self.chance_low)} to {percent(self.chance_high)} at {confidence(level)}"
        met = f"met {plural(self.met, 'time')}" if self.met else "never met"
        return f"{self.a} comes out above {self.b} in {percent(self.chance)} ({ends}); {self.verdict}; they {met}"


@dataclass(frozen=True)
class Prediction:
    """What ``predict`` gives: the chances, in the order asked for; `source` says what decides who is told apart."""

    chances: Sequence[Chance]
    method: str
    level: float
    source: str
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [dict(vars(chance)) for chance in self.chances]

    def summary(self) -> list[str]:
        """The answer in words: of one pair all of it, of several how many can be told apart."""
        if len(self.chances) == 1:
            lines = [self.chances[0].words(self.level)]
        else:
            told, unknown = (sum(chance.verdict == word for chance in self.chances) for word in (TOLD, UNKNOWN))
            lines = [f"{number(told)} of {plural(len(self.chances), 'pair')} told apart at {confidence(self.level)}"]
            if unknown:
                lines.append(f"{plural(unknown, 'pair')} never linked by comparisons: nothing is known of them")
        lines.append(f"chances by {self.method}, a tie as half; {self.source}")
        return [*lines, *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it."""
        return {
            "method": self.method,
            "level": self.level,
            "source": self.source,
            "warnings": list(self.warnings),
            "pairs": self.rows(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def predict(
    data: Data,
    *agents: str,
    pairs: Any = None,
    method: str = "sco",
    n: int = 200,
    by: Literal["votes", "groups"] = "votes",
    level: float = 0.95,
    seed: int = 0,
    watch: Watch | None = None,
    **options: Any,
) -> Prediction:
    """The chance that an agent comes out above another, with an interval and whether the votes tell the two apart.

    Parameters
    ----------
    data: a Profile, or Pairs where the method needs no more.
    agents: one agent against every other, two against each other, or several: each pair of them.
    pairs: instead of `agents`, the pairs to predict, such as the fixtures of a league: a list of two names each, or a
        frame or file with two columns of names.
    method: a name of ``METHODS``; `options` are those of the method.
    n, by, seed, watch: resamples that decide, with the likelihood, who is told apart; as in ``bootstrap``.
    level: of the intervals.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(400, agents=5, size=2, noise=20, seed=1)
    >>> found = predict(votes, "agent-1", "agent-5")
    >>> one = found.chances[0]
    >>> one.chance_low < one.chance < one.chance_high, one.verdict
    (True, 'told apart')
    """
    check_level(level)
    wanted = _wanted(data.agents, agents, pairs)
    try:
        how: dict[str, Any] = {"n": n, "by": by, "level": level, "seed": seed, "watch": watch}
        found: Uncertainty | None = bootstrap(data, method, **how, **options)
        source = f"told apart by {n:,} resamples and the likelihood"
    except DataError as error:
        found, source = None, f"nobody is told apart without resamples ({error})"
    board = run(data, method, options, seed) if found is None else found.board
    line = board if board.unit else odds(data, board)
    chances = _chances(data, wanted, line, found, level, by == "groups")
    return Prediction(chances, board.method, level, source, board.warnings)


def _wanted(known: Sequence[str], agents: Sequence[str], pairs: Any) -> list[tuple[str, str]]:
    """The pairs that are asked for, as names, each of which there is."""
    check((pairs is None) == bool(agents), "agents", "one or more names, or pairs without them", agents)
    if isinstance(pairs, list | tuple):
        named = all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        check(named, "pairs", "pairs of names, or a frame or file with two columns of names", pairs)
        pairs = {"a": [pair[0] for pair in pairs], "b": [pair[1] for pair in pairs]}
    if pairs is not None:
        return read_pair_list(pairs, known)
    for name in agents:
        if name not in known:
            raise OptionError(f"no agent {short(name)} among {plural(len(known), 'agent')}{near(name, known)}")
    check(len(set(agents)) == len(agents), "agents", "different agents", agents)
    if len(agents) == 1:
        return [(agents[0], name) for name in known if name != agents[0]]
    return list(combinations(agents, 2))


def _chances(
    data: Data, wanted: list[tuple[str, str]], board: Ratings, found: Uncertainty | None, level: float, grouped: bool
) -> list[Chance]:
    """One for each pair, in their order."""
    place = {name: k for k, name in enumerate(data.agents)}
    ends = np.array([[place[a], place[b]] for a, b in wanted], dtype=np.int64).reshape(-1, 2)
    votes, likelihood = as_pairs(data), laplace(data)
    stray = mean_stray(votes, likelihood.ratings, likelihood.group)
    values = board.values_of(data.agents) / (board.unit or 1.0)
    met = votes.met(ends[:, 0], ends[:, 1])
    columns = np.full((4, len(ends)), np.nan)  # chance, its ends, and how sure it is who is above
    for a in np.unique(ends[:, 0]).tolist():
        rows = np.flatnonzero(ends[:, 0] == a)
        others = ends[rows, 1]
        chance = logistic(values[a] - values[others])
        spread = _scatter(found, a, others) if grouped and found is not None and found.board.unit else None
        low, high = chance_interval(likelihood, stray, a, others, level, spread)
        columns[:3, rows] = np.where(np.isnan(low), np.nan, chance), np.fmin(low, chance), np.fmax(high, chance)
        columns[3, rows] = 0.5 if found is None else found.confidence(a, others)
    sure = 1.0 if found is None else found.sure
    return [
        Chance(a, b, None, None, None, times, UNKNOWN)
        if np.isnan(chance)
        else Chance(a, b, chance, low, high, times, TOLD if max(above, 1 - above) >= sure else OPEN)
        for (a, b), (chance, low, high, above), times in zip(wanted, columns.T.tolist(), met.tolist(), strict=True)
    ]


def chance_interval(
    likelihood: Laplace, stray: Floats, a: int, others: Ints, level: float, spread: Floats | None = None
) -> tuple[Floats, Floats]:
    """Ends of the chance that agent a comes out above each of the others; nan where comparisons never link them.

    `stray` is how far pairs of each group stray from a line; `spread` another standard deviation of each lead: the
    wider of the two counts.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    lead, own = likelihood.lead(a, others)
    wide = z * (own if spread is None else np.fmax(own, spread))
    chance = logistic(lead)
    aside = z**2 * chance * (1 - chance) * stray[likelihood.group[a]]
    low = chance - np.sqrt((chance - logistic(lead - wide)) ** 2 + aside)
    high = chance + np.sqrt((logistic(lead + wide) - chance) ** 2 + aside)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _scatter(found: Uncertainty, a: int, others: Ints) -> Floats:
    """How far the lead of agent a over each of the others scatters among the samples, in log-odds."""
    lead = (found.filled[:, a, None] - found.filled[:, others]) / (found.board.unit or 1.0)
    scatter: Floats = lead.std(axis=0)
    return scatter


def logistic(lead: Floats) -> Floats:
    """The chance of a lead in log-odds, without overflow."""
    chance: Floats = 0.5 + 0.5 * np.tanh(0.5 * lead)
    return chance
