"""How well does each online model predict votes, each from those before it? One pass: predict, then update.

The first part of the votes only warms the ratings up; the rest is scored: the share of comparisons that the ratings put
the other way round (equal ratings and ties count as half), and the mean -log probability of a comparison. All models
see the same votes, so their differences are paired: the interval of a difference is over votes.

Options can be chosen by the votes, too: those with the smallest log-loss on the first part, which is not scored. The
search goes along one option after the other, twice.

When it misleads: options that fit the first part need not fit what comes later, and with few votes the differences
between them are chance. What is tuned for odds is not always best for the order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, one_of, yes_or_no
from softcondorcet.errors import DataError
from softcondorcet.evaluation.holdout import in_time
from softcondorcet.formatting import plural
from softcondorcet.online.models import MODELS, State, Votes, make_model
from softcondorcet.profile import Profile, as_profile

# Values that are tried for each option.
GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "elo": {"k": (2, 4, 8, 16, 24, 32, 48, 64)},
    "weng_lin": {"sigma": (1, 2, 4, 25 / 3), "drift": (0, 1 / 12, 0.25, 0.5, 1)},
    "kalman": {
        "deviation": (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2.5),
        "drift": (0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2),
        "drift_per_vote": (0, 0.02, 0.05, 0.1),
        "overlap": (0, 0.25, 0.5, 0.75, 1),
    },
    "sco": {
        "deviation": (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5),
        "drift": (0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2),
        "overlap": (0, 0.25, 0.5, 0.75, 1),
    },
}
_ROUNDS, _NORMAL = 2, 1.96
# The first part of the part that is not scored, in which options are not judged either.
_WARM = 0.5


@dataclass(frozen=True)
class Replayed:
    """One model: the share of comparisons it put the wrong way round, and its log-loss.

    The differences are to the best model of the replay, with half of their 95 % intervals, paired by vote.
    """

    model: str
    options: Mapping[str, Any]
    discordant: float
    log_loss: float
    discordant_difference: float
    discordant_half_width: float
    log_loss_difference: float
    log_loss_half_width: float


@dataclass(frozen=True)
class Replay:
    """The models by log-loss, over `votes` scored votes of `of`."""

    models: Sequence[Replayed]
    votes: int
    of: int
    tuned: bool

    def __getitem__(self, model: str) -> Replayed:
        return {one.model: one for one in self.models}[model]

    def rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in vars(one).items() if name != "options"} for one in self.models]

    def summary(self) -> list[str]:
        best = self.models[0]
        level = [one.model for one in self.models[1:] if one.log_loss_difference <= one.log_loss_half_width]
        line = f"on the last {plural(self.votes, 'vote')}, each predicted from all before it: {best.model} is nearest"
        lines = [line + (f"; not told apart from it: {', '.join(level)}" if level else "")]
        if self.tuned:
            lines += [f"{one.model}: {_words(one.options)}" for one in self.models]
        return lines

    def to_json(self) -> str:
        models = [{**vars(one), "options": dict(one.options)} for one in self.models]
        data = {"votes": self.votes, "of": self.of, "tuned": self.tuned, "models": models}
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def replay(
    data: Profile,
    models: Sequence[str] | Mapping[str, tuple[str, Mapping[str, Any]]] = tuple(MODELS),
    *,
    scored: float = 0.5,
    tune: bool = False,
) -> Replay:
    """Predict each vote from those before it, by several online models.

    Parameters
    ----------
    data: a Profile; its votes are taken in the order of their times, or else as listed.
    models: names of models of ``Online``; or a mapping from a name of your own to a model and its options.
    scored: the share of the votes, the last ones, that is scored.
    tune: choose the options of each model by the votes that are not scored.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(400, agents=8, seed=1)
    >>> found = replay(votes, ["elo", "kalman"])
    >>> found.votes, found.models[0].model, found["kalman"].log_loss < 0.69
    (200, 'elo', True)
    """
    profile = as_profile(data, "a Profile: votes are predicted one by one")
    check(isinstance(scored, int | float) and 0 < scored < 1, "scored", "a number between 0 and 1", scored)
    yes_or_no("tune", tune)
    chosen = models if isinstance(models, Mapping) else {name: (name, {}) for name in models}
    for name, _ in chosen.values():
        one_of("models", MODELS, name, "among")
    check(bool(chosen), "models", "at least one model", models)
    ordered = profile.take(in_time(profile))
    first = ordered.n_votes - max(1, int(ordered.n_votes * scored))
    late = np.arange(ordered.n_votes) >= first
    if not (ordered.length[late] > 1).any():
        raise DataError("votes: none of those to score compares two agents; expected at least one")
    found = []
    for name, (model, options) in chosen.items():
        best = tune_online(ordered, model, options, first) if tune else dict(options)
        found.append((name, best, *watch(ordered, model, best)))
    return _held_against_each_other(found, ordered, late, tune)


def tune_online(profile: Profile, model: str, options: Mapping[str, Any], first: int) -> dict[str, Any]:
    """The options with the smallest log-loss on votes before the vote `first`, of which the earlier half warms up."""
    early = profile.take(np.arange(first))
    judged = np.arange(first) >= int(first * _WARM)
    best, least = dict(options), math.inf
    for _ in range(_ROUNDS):
        before = dict(best)
        for option, values in GRIDS[model].items():
            for value in values if option not in options else ():
                loss = _mean(watch(early, model, {**best, option: value})[1], early, judged)
                if loss < least:
                    best, least = {**best, option: value}, loss
        if best == before:
            break
    return best


def watch(profile: Profile, model: str, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Comparisons that each vote was expected to have otherwise, and minus the sum of their log-likelihoods."""
    made, m = make_model(model, options), profile.n_agents
    mean, variance = made.start
    state = State(np.full(m, mean), np.full(m, variance), np.full(m, math.nan))
    when = np.full(profile.n_votes, math.nan) if profile.when is None else profile.when
    return made.watch(state, Votes(profile.start, profile.agent, profile.tier, profile.weight, when))


def _mean(values: Floats, votes: Profile, chosen: Any) -> float:
    """The mean over comparisons of the chosen votes."""
    pairs = votes.length * (votes.length - 1) / 2
    total = float((votes.weight * pairs)[chosen].sum())
    return float((votes.weight * values)[chosen].sum()) / total if total else math.inf


def _held_against_each_other(found: list[Any], votes: Profile, late: Any, tuned: bool) -> Replay:
    """The models, best first, with their differences to the best."""
    found = sorted(found, key=lambda one: _mean(one[3], votes, late))
    best = found[0]
    models = []
    for name, options, wrong, surprise in found:
        means = _mean(wrong, votes, late), _mean(surprise, votes, late)
        apart, closer = _difference(wrong, best[2], votes, late), _difference(surprise, best[3], votes, late)
        models.append(Replayed(name, options, *means, *apart, *closer))
    return Replay(models, int(late.sum()), votes.n_votes, tuned)


def _difference(mine: Floats, other: Floats, votes: Profile, chosen: Any) -> tuple[float, float]:
    """The difference of two means over comparisons, and half of its 95 % interval over votes."""
    pairs = (votes.length * (votes.length - 1) / 2)[chosen]
    weight, apart = votes.weight[chosen], (mine - other)[chosen]
    total = float((weight * pairs).sum())
    mean = float((weight * apart).sum()) / total
    spread = math.sqrt(float(((weight * (apart - mean * pairs)) ** 2).sum())) / total
    return mean, _NORMAL * spread


def _words(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in options.items() if isinstance(value, int | float)) or "-"
