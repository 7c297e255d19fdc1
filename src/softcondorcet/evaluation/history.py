"""Ratings of every agent over time, all votes at once: Bradley-Terry whose ratings walk from period to period.

Each agent has a rating in each period in which it has votes. What a vote says of one period it also says, less surely,
of those before and after, as far as ratings are known to move: by `drift` in the root of a year. Between two periods of
an agent its rating lies on the line between them; after its last, it stays, ever less certain. See
``solvers.whole_history`` for the model and its cost.

`drift`, and `deviation`, how far new agents lie apart, are the most likely ones, with all ratings integrated out by
Laplace's approximation.

When it misleads: ratings of different periods compare only because agents overlap. If all get better alike, nobody
does: ratings are relative to those who played. The walk is smooth, so a sudden change (a new version under an old name)
is spread over some periods before and after. A vote of k agents counts as all its pairs, each as 2 / k of a battle,
since they are not independent; intervals of races are rough for that. With ``model="plackett_luce"`` rankings count as
they are, and intervals are those of the model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import check, natural, near, not_negative, one_of, positive
from softcondorcet.errors import DataError, OptionError
from softcondorcet.evaluation.decay import DAY, read_days, read_moment
from softcondorcet.formatting import plural
from softcondorcet.leaderboard import as_dicts, leaderboard
from softcondorcet.majority import linked_labels
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.whole_history import Periods, Search, WholeHistory, fit, with_variances

YEAR = 365.25 * DAY
MODELS = ("bradley_terry", "plackett_luce")
UNITS = ("day", "week", "month", "quarter", "year")
# The shortest unit that cuts the votes into no more periods than this, by default.
_PERIODS = 60
# Drifts that are tried: how far ratings move from the first vote to the last.
_MOVES = (0.0, *(2.0**power for power in range(-3, 6)))


@dataclass(frozen=True)
class History:
    """Ratings over time, as natural log-odds. One number for each period in which an agent has votes, in `fitted`.

    `labels` name the periods, and `starts` are their first moments. ``at`` gives the ratings of all agents at a date.
    """

    agents: tuple[str, ...]
    period: str
    labels: tuple[str, ...]
    starts: Floats
    fitted: WholeHistory
    votes: Floats
    level: float
    model: str
    tried: Sequence[tuple[float, float, float]]
    warnings: tuple[str, ...]

    @property
    def drift(self) -> float:
        """How far a rating moves in a year: the deviation of the change."""
        return self.fitted.drift

    @property
    def deviation(self) -> float:
        """How far ratings of new agents lie apart."""
        return self.fitted.deviation

    def at(self, when: Any = None) -> Ratings:
        """The ratings at a date, by default at the last period, of all agents that had a vote by then.

        ``.scale()`` gives Elo points.
        """
        values, _, known = self._at(when)
        agents = tuple(name for name, there in zip(self.agents, known, strict=True) if there)
        counted = self._votes_until(when)[known]
        options = {"period": self.period, "model": self.model, "drift": self.drift, "deviation": self.deviation}
        return Ratings(
            agents, values[known], "history", options, converged=self.fitted.converged, steps=self.fitted.steps,
            error=self.fitted.error, loss=self.fitted.loss, warnings=self.warnings, votes=counted, unit=1.0,
        )  # fmt: skip

    def board(self, when: Any = None, top: int | None = None) -> list[dict[str, Any]]:
        """Rows of the leaderboard at a date, with the interval of each rating and the last period with votes."""
        _, deviation, known = self._at(when)
        ratings = self.at(when)
        half = self._z * deviation[known]
        ends: dict[str, Any] = {"rating_low": ratings.values - half, "rating_high": ratings.values + half}
        ends["facts"] = [{"last": self.labels[k]} for k in self._last(when)[known].tolist()]
        return as_dicts(leaderboard(ratings, top=top, more=ends))

    def of(self, agent: str) -> list[dict[str, Any]]:
        """The rows of one agent, period by period."""
        if agent not in self.agents:
            raise KeyError(f"no agent {agent!r} among {len(self.agents)} rated agents{near(agent, self.agents)}")
        number = self.agents.index(agent)
        return [self._row(p) for p in self.fitted.along[self._begin[number] : self._begin[number + 1]].tolist()]

    def probability(self, a: str, b: str, when: Any = None) -> float:
        """The chance that a comes out above b at a date."""
        return self.at(when).probability(a, b)

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One row for each agent and period, agents by their last rating, best first."""
        return [row for agent in self.at().order[:top] for row in self.of(agent)]

    def table(self, top: int | None = None, most: int = 8) -> list[dict[str, Any]]:
        """A row for each agent, the best at the end first, with its ratings at some periods, once it had a vote."""
        shown = sorted({round(k) for k in np.linspace(0, len(self.labels) - 1, min(most, len(self.labels)))})
        boards = {self.labels[k]: self._by_name(float(self.starts[k])) for k in shown}
        rows = []
        for last in self.board(top=top):
            name = last["agent"]
            ratings = {label: board.get(name) for label, board in boards.items()}
            half = (last["rating_high"] - last["rating_low"]) / 2
            rows.append({"rank": last["rank"], "agent": name, **ratings, "+-": half, **last["facts"]})
        return rows

    def _by_name(self, when: float) -> dict[str, float]:
        board = self.at(when)
        return dict(zip(board.agents, board.values.tolist(), strict=True))

    def summary(self) -> list[str]:
        first, last = self.labels[0], self.labels[-1]
        return [
            f"{plural(len(self.agents), 'agent')} in {plural(len(self.labels), 'period')} ({self.period}) "
            f"from {first} to {last}: {plural(len(self.votes), 'rating')}",
            f"ratings move by {self.drift:.3g} in a year (natural log-odds, 1 is 174 Elo points), "
            f"new agents lie {self.deviation:.3g} apart{': the most likely' if self.tried else ''}",
            *(f"warning: {note}" for note in self.warnings),
        ]

    def to_json(self, top: int | None = None) -> str:
        data = {
            "period": self.period,
            "model": self.model,
            "drift": self.drift,
            "deviation": self.deviation,
            "level": self.level,
            "tried": [
                {"drift": drift, "deviation": deviation, "log_likelihood": value}
                for drift, deviation, value in self.tried
            ],
            "converged": self.fitted.converged,
            "warnings": list(self.warnings),
            "periods": list(self.labels),
            "agents": self.board(top=top),
            "ratings": self.rows(top),
        }
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)

    @cached_property
    def _z(self) -> float:
        return NormalDist().inv_cdf((1 + self.level) / 2)

    @cached_property
    def _begin(self) -> Ints:
        """Where the parameters of each agent start, in ``fitted.along``."""
        return np.searchsorted(self.fitted.periods.agent[self.fitted.along], np.arange(len(self.agents) + 1))

    def _row(self, p: int) -> dict[str, Any]:
        fitted = self.fitted
        value, half = float(fitted.values[p]), self._z * math.sqrt(float(fitted.variance[p]))
        return {
            "agent": self.agents[int(fitted.periods.agent[p])],
            "period": self.labels[int(fitted.periods.period[p])],
            "rating": value,
            "rating_low": value - half,
            "rating_high": value + half,
            "votes": float(self.votes[p]),
        }

    def _moment(self, when: Any) -> float:
        """The first moment of the period of a date; the last period by default."""
        if when is None:
            return float(self.starts[-1])
        moment = float(when) if isinstance(when, int | float) else read_moment(when)
        return float(begin_of(np.array([moment]), self.period, float(self.starts[0]))[0])

    def _votes_until(self, when: Any) -> Floats:
        periods = self.fitted.periods
        early = self.starts[periods.period] <= self._moment(when)
        return np.bincount(periods.agent[early], self.votes[early], len(self.agents)).astype(float)

    def _last(self, when: Any) -> Ints:
        """The last period of each agent by a date."""
        last, periods = np.zeros(len(self.agents), dtype=np.int64), self.fitted.periods
        early = self.starts[periods.period] <= self._moment(when)
        np.maximum.at(last, periods.agent[early], periods.period[early])
        return last

    def _at(self, when: Any) -> tuple[Floats, Floats, Any]:
        """Of all agents the rating at a date, its deviation, and whether the agent had a vote by then."""
        fitted, along, moment = self.fitted, self.fitted.along, self._moment(when)
        times, number = self.starts[fitted.periods.period[along]], fitted.periods.agent[along]
        early = np.bincount(number[times <= moment], minlength=len(self.agents))
        known, left = early > 0, self._begin[:-1] + early - 1
        left = np.where(known, left, 0)
        right = np.minimum(left + 1, len(along) - 1)
        inside = known & (left + 1 < self._begin[1:])
        before, after = (moment - times[left]) / YEAR, np.where(inside, times[right] - moment, 0.0) / YEAR
        share = np.where(inside, before / np.where(inside, before + after, 1.0), 0.0)
        one, other = along[left], along[right]
        value = (1 - share) * fitted.values[one] + share * fitted.values[other]
        moved = fitted.drift**2 * np.where(inside, before * (1 - share), before)
        variance = (1 - share) ** 2 * fitted.variance[one] + share**2 * fitted.variance[other]
        variance = variance + 2 * share * (1 - share) * fitted.shared[other] + moved
        return value, np.sqrt(variance), known


def history(
    data: Profile,
    *,
    period: str = "auto",
    drift: float | Literal["auto"] = "auto",
    deviation: float | Literal["auto"] = "auto",
    model: Literal["bradley_terry", "plackett_luce"] = "bradley_terry",
    level: float = 0.95,
    seed: int = 0,
) -> History:
    """Ratings of every agent in every period, by all votes at once.

    Parameters
    ----------
    data: a Profile whose votes have times.
    period: "day", "week", "month", "quarter", "year", or a time such as "90d"; "auto" is the shortest unit that cuts
        the votes into at most 60 periods, or years.
    drift: how far a rating moves in a year, as the deviation of the change in natural log-odds; "auto" is
        the most likely one, and 0 is plain Bradley-Terry.
    deviation: how far new agents lie apart; "auto" is the most likely one.
    model: "bradley_terry", pairs, or "plackett_luce", whole rankings, of which the top then counts most.
    level: of the intervals. seed: of the draws behind them; ratings do not depend on it.

    >>> table = {"a": ["x", "x", "y"], "b": ["y"] * 2 + ["x"], "winner": ["x", "x", "y"]}
    >>> votes = Profile.from_matches({**table, "date": ["2024-01-05", "2024-02-05", "2026-03-05"]})
    >>> found = history(votes, period="month", drift=1.0, deviation=1.0)
    >>> found.at("2024-02").order, found.at().order, len(found.rows())
    (['x', 'y'], ['y', 'x'], 6)
    """
    profile = as_profile(data, "a Profile: pairs have no times")
    profile = profile.take((profile.weight > 0) & (profile.length > 1))
    if profile.when is None:
        raise DataError("votes have no times; expected a column such as tstamp or date, or --column when=NAME")
    if not profile.n_votes:
        raise DataError("votes: none compares two agents; expected at least one")
    for name, value in (("drift", drift), ("deviation", deviation)):
        if value != "auto":
            (not_negative if name == "drift" else positive)(name, value)
    number = isinstance(level, int | float) and not isinstance(level, bool)
    check(number and 0.5 <= level < 1, "level", "a number from 0.5 to 1, as 0.95", level)
    natural("seed", seed)
    one_of("model", MODELS, model)
    period = check_period(period, profile.when)
    starts, code = np.unique(begin_of(profile.when, period, float(profile.when.min())), return_inverse=True)
    periods = Periods.of(profile, code, starts / YEAR)
    # k (k - 1) / 2 pairs of k agents say about as much as k - 1 battles.
    shared = replace(profile, weight=profile.weight * 2 / profile.length)
    evidence = periods.votes(profile) if model == "plackett_luce" else periods.pairs(shared)
    tried: list[tuple[float, float, float]] = []
    if drift == "auto" or deviation == "auto":
        drift, deviation, tried = _chosen(periods, evidence, drift, deviation, float(np.ptp(starts)) / YEAR)
    loss, found = fit(periods, evidence, float(deviation), float(drift))
    found = with_variances(loss, found, seed)
    votes = np.bincount(periods.entry, np.repeat(profile.weight, profile.length), len(periods)).astype(float)
    labels = tuple(label(start, period) for start in starts.tolist())
    return History(profile.agents, period, labels, starts, found, votes, level, model, tried, _limits(profile, found))


def _limits(profile: Profile, found: WholeHistory) -> tuple[str, ...]:
    """What the ratings do not know, in words."""
    notes = [] if found.converged else [f"not converged: error {found.error:.2g}"]
    linked = linked_labels(profile.pairs())
    groups = len(np.unique(linked[np.unique(profile.agent)]))
    if groups > 1:
        notes.append(f"{groups} groups of agents never met, so ratings across them mean nothing")
    return tuple(notes)


def _chosen(
    periods: Periods, votes: Pairs | Profile, drift: float | str, deviation: float | str, years: float
) -> tuple[float, float, list[tuple[float, float, float]]]:
    """Drift and deviation, the most likely ones where they are left open, and what was tried."""
    search = Search(periods, votes, 1.0 if deviation == "auto" else float(deviation))
    coarse = [0.0] if years == 0 else (np.array(_MOVES) / math.sqrt(years)).tolist()
    for value in coarse if drift == "auto" else [float(drift)]:
        search.attempt(value, search.deviation)
    for factor in (2.0, 1.3):
        if deviation == "auto":
            search.climb("deviation", factor)
        if drift == "auto" and search.drift > 0:
            search.climb("drift", factor)
    tried = [(moved, apart, value) for (moved, apart), value in sorted(search.tried.items())]
    return search.drift, search.deviation, tried


def check_period(period: Any, when: Floats) -> str:
    """The unit of the periods, or a time as it stands."""
    if period != "auto":
        if period not in UNITS:
            try:
                read_days(period)
            except OptionError:
                one_of("period", (*UNITS, "auto", "a time such as 90d"), period)
        return str(period) if isinstance(period, str) else f"{period}d"
    counts = ((unit, len(np.unique(begin_of(when, unit, 0.0)))) for unit in UNITS)
    return next((unit for unit, count in counts if count <= _PERIODS), "year")


def begin_of(when: Floats, period: str, first: float) -> Floats:
    """The first moment of the period of each time; periods without a place in the calendar start at `first`."""
    if period == "week":  # 1970-01-05 was a Monday
        return np.floor((when - 4 * DAY) / (7 * DAY)) * 7 * DAY + 4 * DAY
    if period in UNITS:
        unit = {"day": "D", "month": "M", "quarter": "M", "year": "Y"}[period]
        moments = np.floor(when).astype("datetime64[s]").astype(f"datetime64[{unit}]")
        if period == "quarter":
            moments = (moments.astype(np.int64) // 3 * 3).astype("datetime64[M]")
        seconds: Floats = moments.astype("datetime64[s]").astype(np.int64).astype(float)
        return seconds
    length = read_days(period) * DAY
    begin: Floats = first + np.floor((when - first) / length) * length
    return begin


def label(start: float, period: str) -> str:
    """The name of the period that starts then."""
    moment = datetime.fromtimestamp(start, UTC)
    if period == "quarter":
        return f"{moment.year}-Q{(moment.month + 2) // 3}"
    form = {"year": "%Y", "month": "%Y-%m"}.get(period, "%Y-%m-%d")
    return moment.strftime(form) if period in UNITS or start % DAY == 0 else moment.strftime("%Y-%m-%dT%H:%M")
