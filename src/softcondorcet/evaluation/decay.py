"""Votes weighted by their age, and ratings as of a date: for every method, since only the weights of votes change.

A vote of age t counts 0.5^(t / half_life) of its weight; ages are those at the date asked for, or at the last vote.
Votes after that date are left out, and agents that only these hold.

The half-life can be chosen by the votes: each quarter of their later half is predicted from all votes before it by
Bradley-Terry, weighted by age at the end of these, and the half-life with the smallest log-loss is taken; none, where
its gain is within the 95 % interval of chance, paired by vote.

When it misleads: old votes are forgotten whether or not agents changed, so fewer votes count, and ratings become less
certain than their intervals say where agents that rarely play lose most of theirs: their votes weigh little against the
prior, which holds them in the middle. A fit that knows how far ratings move, such as ``history``, forgets no more than
it must.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check
from softcondorcet.errors import DataError, OptionError
from softcondorcet.evaluation.holdout import folds_by_time
from softcondorcet.formatting import number, plural
from softcondorcet.io.cells import read_time
from softcondorcet.io.conditions import day, period, without_idle
from softcondorcet.kernels import distances
from softcondorcet.methods.bradley_terry import bradley_terry
from softcondorcet.profile import Profile, as_profile

DAY = 86400.0
_UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 365.25 / 12, "mo": 365.25 / 12, "y": 365.25}
_FORM = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(h|d|w|m|mo|y)\s*", re.IGNORECASE)
# Half-lives that are tried, as shares of the time from the first vote to the last.
_SHARES = tuple(2.0**power for power in np.arange(-8, 1.5, 0.5))
_FOLDS, _NORMAL = 4, 1.96
# The precision of the prior of the yardstick: about that of the log-odds of games, so that few votes are no certainty.
_PRIOR = 0.5


@dataclass(frozen=True)
class HalfLives:
    """What each half-life, in days, would have predicted: its log-loss, the gain over none, and its half width.

    `best` is the one to take, None for none.
    """

    days: Sequence[float]
    log_loss: Sequence[float]
    gain: Sequence[float]
    half_width: Sequence[float]
    without: float
    best: float | None

    def summary(self) -> str:
        k = int(np.argmin(self.log_loss))
        found = f"half-life {spell(self.days[k])}: log-loss {self.log_loss[k]:.4f} of later votes"
        against = f"{self.without:.4f} without, a gain of {self.gain[k]:.4f} +- {self.half_width[k]:.4f}"
        return f"{found}, {against}" + ("" if self.best else ": within chance, so no vote is forgotten")


@dataclass(frozen=True)
class Decayed:
    """Votes up to a date, weighted by age: by which half-life, in days, and how it was chosen, if it was."""

    profile: Profile
    of: int
    days: float | None
    chosen: HalfLives | None

    def summary(self) -> list[str]:
        lines = [] if self.chosen is None else [self.chosen.summary()]
        if self.profile.n_votes < self.of:
            lines.append(f"{plural(self.profile.n_votes, 'vote')} of {number(self.of)} up to that date")
        if self.days is not None:
            total = float(f"{self.profile.weight.sum():.3g}")
            lines.append(f"half-life {spell(self.days)}: the votes count as much as {plural(total, 'vote')} of today")
        return lines

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {"half_life_days": self.days, "votes": self.profile.n_votes, "weight": float(self.profile.weight.sum())}


def decay(
    data: Profile, half_life: str | float | Literal["auto"] | None = None, *, as_of: str | date | None = None
) -> Profile:
    """The votes up to a date, each weighted by its age.

    Parameters
    ----------
    data: a Profile whose votes have times.
    half_life: "180d", "26w", "6mo", "2y" or a number of days; "auto" is chosen by the votes; None leaves weights alone.
    as_of: a date such as "2026-06-30", to its end; "2026-06" and "2026" are periods, to theirs. None: the last vote.

    >>> votes = Profile.from_matches(
    ...     {"a": ["x", "x"], "b": ["y", "y"], "winner": ["x", "y"], "when": ["2026-01-01", "2026-01-31"]}
    ... )
    >>> decay(votes, "30d").weight.tolist(), decay(votes, as_of="2026-01-15").n_votes
    ([0.5, 1.0], 1)
    """
    return decayed(data, half_life, as_of).profile


def decayed(data: Profile, half_life: Any, as_of: Any) -> Decayed:
    """The same, with what was done."""
    profile = as_profile(data, "a Profile: pairs have no times")
    days = None if half_life is None or half_life == "auto" else read_days(half_life)
    moment = None if as_of is None else read_moment(as_of)
    if profile.when is None:
        raise DataError("votes have no times; expected a column such as tstamp or date, or --column when=NAME")
    if moment is not None:
        kept = profile.when <= moment
        if not kept.any():
            raise DataError(
                f"as of {as_of}: the first vote is of {day(float(profile.when.min()))}; expected a later date"
            )
        profile = without_idle(profile, profile.take(kept))
    chosen = choose_half_life(profile) if half_life == "auto" else None
    days = chosen.best if chosen else days
    profile = profile if days is None else _weighed(profile, days, moment)
    if profile.balance is not None:
        profile = profile.balanced(profile.balance)  # groups count the same, whatever the age of their votes
    return Decayed(profile, data.n_votes, days, chosen)


def _weighed(profile: Profile, days: float, moment: float | None = None) -> Profile:
    """Weights by age at a moment, or else at the last vote."""
    assert profile.when is not None
    last = float(profile.when.max(initial=-math.inf)) if moment is None else moment
    age = (last - profile.when) / DAY / days
    # No vote is lost to rounding, however old.
    share = np.exp2(-np.minimum(age, 500.0))
    unbalanced = None if profile.unbalanced is None else profile.unbalanced * share
    return replace(profile, weight=profile.weight * share, unbalanced=unbalanced)


def choose_half_life(profile: Profile) -> HalfLives:
    """Hold half-lives against later votes."""
    if profile.when is None or np.ptp(profile.when) == 0:
        raise DataError("half_life: the votes have no times, or all the same; expected votes at several times")
    check(
        profile.n_votes >= 4 * _FOLDS, "half_life", f"a time, with only {profile.n_votes} votes to choose it by", "auto"
    )
    days = [float(np.ptp(profile.when)) / DAY * share for share in _SHARES]
    parts = folds_by_time(profile, _FOLDS)
    tested = [late for _, late in parts]
    pairs = np.concatenate([late.weight * late.length * (late.length - 1) / 2 for late in tested])
    without = np.concatenate([_surprise(train, late) for train, late in parts])
    losses, gains, widths = [], [], []
    for half_life in days:
        with_it = np.concatenate([_surprise(_weighed(train, half_life), late) for train, late in parts])
        apart, total = without - with_it, float(pairs.sum())
        losses.append(float(with_it.sum()) / total)
        gains.append(float(apart.sum()) / total)
        widths.append(_NORMAL * math.sqrt(float(((apart - gains[-1] * pairs) ** 2).sum())) / total)
    k = int(np.argmin(losses))
    best = days[k] if gains[k] > widths[k] else None
    return HalfLives(days, losses, gains, widths, float(without.sum() / pairs.sum()), best)


def _surprise(train: Profile, late: Profile) -> Floats:
    """Of each later vote minus its log-likelihood, by pairs, times its weight."""
    board = bradley_terry(train, prior=_PRIOR, tol=1e-4)
    wrong, surprise = np.zeros((2, late.n_votes))
    distances.judge(late.start, late.agent, late.tier, np.array(board.values), 1.0, wrong, surprise)
    weighed: Floats = surprise * late.weight
    return weighed


def read_days(half_life: Any) -> float:
    """A time as days."""
    words = "a time such as 180d, 26w, 6mo or 2y, a number of days, or auto"
    if isinstance(half_life, int | float) and not isinstance(half_life, bool):
        days = float(half_life)
    else:
        form = _FORM.fullmatch(half_life) if isinstance(half_life, str) else None
        check(form is not None, "half_life", words, half_life)
        assert form is not None
        days = float(form[1]) * _UNITS[form[2].lower()]
    check(math.isfinite(days) and days > 0, "half_life", words, half_life)
    return days


def read_moment(as_of: Any) -> float:
    """The last second of a date or period, or a time as it stands."""
    text = as_of.isoformat() if isinstance(as_of, date) else as_of
    if isinstance(text, str):
        if span := period(text.strip()):
            return span[1]
        with suppress(ValueError):
            return read_time(text)
    raise OptionError(f"as_of must be a date such as 2026-06-30, or a period such as 2026-06, got {as_of!r}")


def spell(days: float) -> str:
    """A time in the unit that people would use.

    >>> spell(30), spell(730.5), spell(0.5)
    ('30 days', '2 years', '12 hours')
    """
    unit, size = next((u, s) for u, s in (("year", 365.25), ("day", 1.0), ("hour", 1 / 24)) if days >= s or u == "hour")
    return plural(float(f"{days / size:.3g}"), unit)
