"""Which sharpness, prior and temperature of ``sco`` predict votes best? Cross-validation, one option after the other.

On plenty of votes the sharp loss without a prior is what one wants: the order that contradicts them least. With few
votes per agent it overfits, and a softer loss with a prior predicts unseen votes better; how soft, the votes must say.

The search tries the defaults, then goes along one option at a time and keeps the best value: the prior, at sharpness 0,
where a fit is convex and quick; then the sharpness; then, where the loss is not that of Bradley-Terry, the temperature.
A setting is fitted on all folds side by side, started from the ratings of the setting before.

By time, each part of the later half of the votes is predicted from all votes before it, as it will be when the ratings
are used; votes of agents that change are easier to predict with later ones among the training votes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from softcondorcet import arrays
from softcondorcet.checks import Box, Watch, box, check, natural, one_of, whole
from softcondorcet.evaluation.holdout import Judged, folds as cut_at_random, folds_by_time, judge_votes
from softcondorcet.formatting import plural
from softcondorcet.installation import needs
from softcondorcet.methods.sco import Scale, sco
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

Setting = Mapping[str, Any]
_DEFAULT: Setting = {"sharpness": 1.0, "prior": 0.0, "temperature": "auto"}


@dataclass(frozen=True)
class Trial:
    """A setting, the option `varied` to get there, and the mean distance of a held-out vote, with its standard `error`.

    `log_loss` is None where ratings are not log-odds.
    """

    setting: Setting
    varied: str
    distance: float
    error: float
    log_loss: float | None


@dataclass(frozen=True)
class Tuned:
    """All settings in the order tried; ``best`` are options for ``sco``, and ``board`` its ratings of all votes."""

    trials: Sequence[Trial]
    best: Setting
    board: Ratings

    def rows(self) -> list[dict[str, Any]]:
        return [
            {**trial.setting, "distance": trial.distance, "error": trial.error, "log_loss": trial.log_loss}
            for trial in self.trials
        ]

    def summary(self) -> list[str]:
        first, won = self.trials[0], min(self.trials, key=lambda trial: trial.distance)
        words = ", ".join(f"{name} {value}" for name, value in self.best.items())
        return [
            f"best of {len(self.trials)} settings: {words}",
            f"mean distance of a held-out vote {won.distance:.4g} +- {1.96 * won.error:.2g}; "
            f"with the defaults {first.distance:.4g}",
        ]

    def to_json(self) -> str:
        data = {"best": dict(self.best), "trials": self.rows(), "board": self.board.to_dict()}
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)

    def plot(self, path: str | Path | None = None) -> Any:
        """Distance against the values tried of each option; the line shows the defaults. Needs the `plot` extra."""
        needs("matplotlib", "plot")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 3.2), layout="constrained")
        axes = figure.subplots(1, 3, sharey=True)
        for axis, option in zip(axes, ("prior", "sharpness", "temperature"), strict=True):
            trials = [trial for trial in self.trials if trial.varied == option]
            shown, error = [str(trial.setting[option]) for trial in trials], [1.96 * trial.error for trial in trials]
            axis.errorbar(shown, [trial.distance for trial in trials], yerr=error, fmt="o", capsize=3)
            axis.axhline(self.trials[0].distance, color="0.6", linewidth=1, linestyle="--")
            fixed = [f"{name} {trials[0].setting[name]}" for name in self.best if name != option] if trials else []
            axis.set_title(", ".join(fixed) or "not tried", fontsize="small")
            axis.set_xlabel(option)
        axes[0].set_ylabel("distance of a held-out vote")
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure


def tune(
    data: Profile,
    *,
    priors: Sequence[float] = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    sharpnesses: Sequence[float] = (0.1, 0.3, 1.0),
    temperatures: Sequence[float] = (1.0, 5.0),
    folds: int = 5,
    by: Literal["random", "time"] = "random",
    bounds: Box = (0.0, 100.0),
    seed: int = 0,
    watch: Watch | None = None,
) -> Tuned:
    """Choose options of ``sco`` by how well they predict votes that they have not seen.

    Parameters
    ----------
    data: a Profile.
    priors, sharpnesses, temperatures: values to try, besides the defaults of ``sco``.
    folds: parts of the votes, each of which is held out once.
    by: "random" parts, or by "time": parts of the later half of the votes, each predicted from all votes before it.
    bounds: the box of the ratings.
    seed: of the folds.
    watch: called as ``watch(setting, settings, None)`` after each setting.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(80, agents=20, seed=1)
    >>> tuned = tune(votes, priors=[0.1], sharpnesses=[0.3], temperatures=[])
    >>> len(tuned.trials), tuned.best["prior"]
    (3, 0.1)
    """
    profile = as_profile(data, "a Profile: held-out votes need votes")
    whole("folds", folds)
    one_of("by", ("random", "time"), by)
    most = profile.n_votes if by == "random" else (profile.n_votes + 1) // 2
    check(2 <= folds <= most, "folds", f"from 2 to {most:,} for {plural(profile.n_votes, 'vote')}", folds)
    natural("seed", seed)
    bounds = box("bounds", bounds)
    for option, values in (("priors", priors), ("sharpnesses", sharpnesses), ("temperatures", temperatures)):
        listed = isinstance(values, Sequence) and not isinstance(values, str) and len(values) < 100
        numbers = listed and all(isinstance(value, int | float) for value in values)
        check(numbers, option, "a list of fewer than 100 numbers", values)
    parts = cut_at_random(profile, folds, seed=seed) if by == "random" else folds_by_time(profile, folds)
    search = _Search(parts, bounds, watch, 1 + len(priors) + len(sharpnesses) + len(temperatures))
    search.attempt(_DEFAULT, "nothing")
    search.along("prior", priors, {**_DEFAULT, "sharpness": 0.0})
    search.along("sharpness", sharpnesses, search.best)
    if search.best["sharpness"]:
        search.along("temperature", temperatures, search.best)
    return Tuned(search.trials, search.best, _fit(profile, search.best, bounds))


def _fit(
    profile: Profile, setting: Setting, bounds: Box, start: Ratings | None = None, scale: Scale = "elo"
) -> Ratings:
    """``sco`` with a setting; the first one is its defaults, which shrink margins of games."""
    if setting == _DEFAULT:
        return sco(profile, bounds=bounds)
    return sco(profile, bounds=bounds, start=start, shrink=False, scale=scale, **setting)


class _Search:
    """The folds, the trials so far, and where each fold stands."""

    def __init__(self, parts: list[tuple[Profile, Profile]], bounds: Box, watch: Watch | None, most: int) -> None:
        self.folds, self.bounds = parts, bounds
        self.watch, self.most = watch, most
        self.trials: list[Trial] = []
        self.start: list[Ratings | None] = [None] * len(parts)

    @property
    def best(self) -> Setting:
        return min(self.trials, key=lambda trial: trial.distance).setting

    def along(self, option: str, values: Sequence[float], base: Setting) -> None:
        for value in values:
            self.attempt({**base, option: float(value)}, option)

    def attempt(self, setting: Setting, varied: str) -> None:
        """Fit a setting on every fold and hold it against the votes left out."""

        def fit(k: int) -> tuple[Ratings, Judged]:
            train, test = self.folds[k]
            # The defaults walk down by themselves; any other setting goes on from the one before.
            start = None if setting == _DEFAULT else self.start[k]
            board = _fit(train, setting, self.bounds, start, "box")
            return board, judge_votes(board, test)

        if any(trial.setting == setting for trial in self.trials):
            return
        with ThreadPoolExecutor(min(arrays.cores(), len(self.folds))) as pool:
            boards, judged = zip(*pool.map(fit, range(len(self.folds))), strict=True)
        if setting != _DEFAULT:
            self.start = list(boards)
        losses = [one.log_loss for one in judged if one.log_loss is not None]
        self.trials.append(
            Trial(
                setting,
                varied,
                float(np.mean([one.distance for one in judged])),
                float(np.sqrt(np.sum([one.error**2 for one in judged]))) / len(judged),
                float(np.mean(losses)) if losses else None,
            )
        )
        if self.watch is not None:
            self.watch(len(self.trials), self.most, None)
