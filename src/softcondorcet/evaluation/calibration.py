"""How far can chances be trusted? What ratings said of votes that they had not seen, against what came out.

The votes are cut into parts, each of which is predicted from the others (or, by time, from all before it). Each
held-out comparison is turned so that its favourite comes first: the ratings said that it wins with a chance of one half
or more, and it did or did not (a tie is half). Comparisons are put into bins by the chance, and of each bin the mean
chance stands beside the share that came out, with its binomial (Wilson) interval.

The calibration error is the mean distance of the two over the bins, by comparisons. It is never 0: right chances have
one too, by chance alone, which `by_chance` says (the mean of a normal distance, sqrt(2 / pi) standard errors a bin).
`bias` is the mean chance less the share that came out: above 0 the ratings are too sure. Comparisons of one long vote
are not independent, so each counts as much as it tells (``solvers.laplace.independent_comparisons``).

Cost: a fit for each part and method. Pairs that no vote of the other parts links have no chance, and are counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import Watch, check, natural, one_of, whole
from softcondorcet.errors import DataError
from softcondorcet.evaluation.compare import Methods, as_methods, run
from softcondorcet.evaluation.holdout import folds as cut_at_random, folds_by_time
from softcondorcet.formatting import confidence, number, percent, plural
from softcondorcet.majority import linked_labels
from softcondorcet.methods.odds import odds
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.laplace import independent_comparisons

CALIBRATED = ("sco", "bradley_terry")
_LEVEL = 0.95
# Standard errors from which on a bias is more than chance.
_CLEAR = 2.0


@dataclass(frozen=True)
class Bin:
    """Held-out comparisons with a chance of the favourite from `start` to `end`.

    `chance` is their mean chance, `came_out` the share in which the favourite did come out above, `low` to `high` its
    interval of 95 %; `comparisons` are independent ones.
    """

    start: float
    end: float
    chance: float
    came_out: float
    low: float
    high: float
    comparisons: float


@dataclass(frozen=True)
class Curve:
    """The reliability of one method: its bins, calibration `error`, that `by_chance`, `bias` (above 0: too sure)."""

    method: str
    bins: Sequence[Bin]
    error: float
    by_chance: float
    bias: float
    log_loss: float

    def words(self) -> str:
        """One sentence."""
        off = f"off by {_points(self.error)} on average, where right ones would be by {_points(self.by_chance)}"
        return f"{self.method}: chances are {off}{self.lean()}; log-loss {self.log_loss:.4f}"

    def lean(self) -> str:
        """Whether the chances are too sure or too careful, where that is more than chance."""
        count = sum(one.comparisons for one in self.bins)
        noise = math.sqrt(sum(one.comparisons * one.chance * (1 - one.chance) for one in self.bins)) / count
        if abs(self.bias) <= _CLEAR * noise:
            return ""
        return f"; too {'sure' if self.bias > 0 else 'careful'} by {_points(abs(self.bias))}"


@dataclass(frozen=True)
class Calibration:
    """A curve for each method, on the same held-out comparisons; `unknown` of them had no chance."""

    curves: Mapping[str, Curve]
    folds: int
    by: str
    unknown: float = 0.0

    def __getitem__(self, method: str) -> Curve:
        return self.curves[method]

    @property
    def first(self) -> Curve:
        return next(iter(self.curves.values()))

    def rows(self) -> list[dict[str, Any]]:
        """One dict per method and bin."""
        return [{"method": name, **vars(one)} for name, curve in self.curves.items() for one in curve.bins]

    def summary(self) -> list[str]:
        """What the curves say, in words."""
        others = "all before it" if self.by == "time" else "the others"
        lines = [
            f"{self.folds} parts of the votes, each predicted from {others}",
            *(curve.words() for curve in self.curves.values()),
        ]
        wrong = [one for one in self.first.bins if not one.low <= one.chance <= one.high]
        lines += [
            f"{self.first.method} said {percent(one.chance)}: {percent(one.came_out)} came out "
            f"({percent(one.low)} to {percent(one.high)} at {confidence(_LEVEL)})"
            for one in wrong
        ]
        if self.unknown:
            lines.append(f"{plural(self.unknown, 'comparison')} without a chance: no other vote links the two agents")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it."""
        curves = [{**vars(curve), "bins": [dict(vars(one)) for one in curve.bins]} for curve in self.curves.values()]
        return {"folds": self.folds, "by": self.by, "unknown": self.unknown, "methods": curves}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def calibration(
    data: Profile,
    methods: Methods = CALIBRATED,
    *,
    folds: int = 5,
    bins: int = 10,
    by: Literal["random", "time"] = "random",
    seed: int = 0,
    watch: Watch | None = None,
) -> Calibration:
    """How often what ratings called likely came out, on votes that they had not seen.

    Parameters
    ----------
    data: a Profile.
    methods: names of methods, or a mapping from a name of your own to a method and its options. One whose ratings are
        no log-odds is judged by log-odds under its order.
    folds: parts of the votes, each of which is held out once.
    bins: of the chance of the favourite, from one half to one.
    by: "random" parts, or by "time": parts of the later half of the votes, each predicted from all votes before it.
    seed: of the parts, and of methods that draw at random.
    watch: called as ``watch(fit, fits, None)``.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.plackett_luce(400, agents=8, size=2, seed=1)
    >>> found = calibration(votes, folds=3)
    >>> list(found.curves), found["sco"].error < 0.1
    (['sco', 'bradley_terry'], True)
    """
    profile = as_profile(data, "a Profile: held-out votes need votes")
    chosen = as_methods(methods)
    whole("folds", folds)
    whole("bins", bins)
    one_of("by", ("random", "time"), by)
    natural("seed", seed)
    votes = float(profile.counts.sum()) if by == "random" else (profile.n_votes + 1) // 2
    check(2 <= folds <= votes, "folds", f"from 2 to {number(votes)} for these votes", folds)
    parts = cut_at_random(profile, folds, seed=seed) if by == "random" else folds_by_time(profile, folds)
    found: dict[str, list[Floats]] = {name: [] for name in chosen}
    unknown = 0.0
    for k, (train, test) in enumerate(parts):
        for j, (name, (method, options)) in enumerate(chosen.items()):
            said, left_out = _said(run(train, method, options, seed), train, test)
            found[name].append(said)
            unknown += left_out if j == 0 else 0.0
            if watch is not None:
                watch(k * len(chosen) + j + 1, folds * len(chosen), None)
    curves = {name: _curve(name, np.concatenate(said, axis=1), bins) for name, said in found.items()}
    return Calibration(curves, folds, by, unknown)


def _said(board: Ratings, train: Profile, test: Profile) -> tuple[Floats, float]:
    """Of each held-out pair the lead of its favourite, and how often that won and lost; comparisons without a lead."""
    board = board if board.unit else odds(train, board)
    group, pairs = linked_labels(train.pairs()), independent_comparisons(test)
    values = board.values_of(train.agents) / (board.unit or 1.0)
    lead = values[pairs.left] - values[pairs.right]
    won, lost = pairs.wins + pairs.ties / 2, pairs.losses + pairs.ties / 2
    # Who is the favourite of two level agents must not depend on their names.
    level = (won + lost) / 2
    first = np.where(lead > 0, won, np.where(lead < 0, lost, level))
    known = group[pairs.left] == group[pairs.right]
    said = np.array([np.abs(lead), first, won + lost - first])
    return said[:, known], float((won + lost)[~known].sum())


def _curve(name: str, said: Floats, count: int) -> Curve:
    """From leads and outcomes to a curve."""
    lead, won, lost = said
    chance = 0.5 + 0.5 * np.tanh(0.5 * lead)
    total = float((won + lost).sum())
    if not total:
        raise DataError("held-out votes: no comparison of agents that other votes link; expected at least one")
    place = np.minimum((chance - 0.5) * 2 * count, count - 1).astype(np.int64)
    weight, hits, sums = (np.bincount(place, x, minlength=count) for x in (won + lost, won, chance * (won + lost)))
    bins = [
        Bin(
            0.5 + k / (2 * count),
            0.5 + (k + 1) / (2 * count),
            float(sums[k] / weight[k]),
            float(hits[k] / weight[k]),
            *wilson(float(hits[k] / weight[k]), float(weight[k])),
            float(weight[k]),
        )
        for k in np.flatnonzero(weight).tolist()
    ]
    noise = [math.sqrt(one.chance * (1 - one.chance) / max(one.comparisons, 1.0)) for one in bins]
    surprise = won * np.logaddexp(0.0, -lead) + lost * np.logaddexp(0.0, lead)
    return Curve(
        name,
        bins,
        sum(one.comparisons * abs(one.chance - one.came_out) for one in bins) / total,
        math.sqrt(2 / math.pi) * sum(one.comparisons * sd for one, sd in zip(bins, noise, strict=True)) / total,
        float((sums.sum() - hits.sum()) / total),
        float(surprise.sum()) / total,
    )


def wilson(share: float, count: float, level: float = _LEVEL) -> tuple[float, float]:
    """Wilson's interval of a binomial share.

    >>> low, high = wilson(0.8, 50)
    >>> round(low, 3), round(high, 3)
    (0.67, 0.888)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _points(share: float) -> str:
    """A difference of shares."""
    return plural(round(100 * share, 1), "point")
