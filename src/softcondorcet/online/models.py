"""The models of online ratings: what a vote changes, and what the ratings say of the next one.

Each model is the options of it and a step on the state: two or three numbers per agent, in flat arrays that kernels
change in place. Elo and Weng-Lin take the same kernels as ``elo`` and ``weng_lin``; the filter and SCO share one, since
they differ in the slope of a loss only: see ``kernels.skill_filter``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import Box, box, check, near, not_negative, one_of, positive, scale
from softcondorcet.errors import OptionError
from softcondorcet.kernels import fenchel_young, sgd
from softcondorcet.kernels.batch import Array, frozen
from softcondorcet.kernels.bradley_terry import run_elo, run_weng_lin
from softcondorcet.kernels.skill_filter import LEVEL, SPREAD, run_filter
from softcondorcet.seeds import stream

YEAR = 365.25 * 86400
# How fast the odds of SCO follow what was predicted, and how many temperatures its box is wide.
_ODDS_RATE, _WIDTH = 0.5, 20.0
_NO_VOTES = np.empty(0)


class Votes(NamedTuple):
    """Votes in a row: where the entries of each start, their agents and tiers, best first; weights; times, or nan."""

    start: npt.ArrayLike
    agent: npt.ArrayLike
    tier: npt.ArrayLike
    weight: npt.ArrayLike
    when: npt.ArrayLike

    def frozen(self) -> tuple[Array, ...]:
        """As kernels take them."""
        types = np.int64, np.int32, np.int32, np.float64, np.float64
        return tuple(frozen(array, kind) for array, kind in zip(self, types, strict=True))


@dataclass
class State:
    """By agent: mean, variance, and time of the last vote (nan: none, or unknown). `odds` is the scale of the chances.

    `odds` holds the factor from differences to log-odds, and what was learned of it; `noise` the state of a generator.
    """

    mean: Floats
    variance: Floats
    last: Floats
    odds: Floats = field(default_factory=lambda: np.array([1.0, 0.0]))
    noise: Array = field(default_factory=lambda: np.zeros(1, np.uint64))

    def grow(self, room: int, mean: float, variance: float) -> None:
        """Room for more agents that stand where new ones do."""
        for name, value in (("mean", mean), ("variance", variance), ("last", math.nan)):
            setattr(self, name, np.concatenate([getattr(self, name), np.full(room, value)]))


class Model(Protocol):
    """What ``Online`` asks of a model; its fields are its options."""

    @property
    def start(self) -> tuple[float, float]:
        """Mean and variance of a new agent."""

    def begin(self, state: State, seed: int) -> None:
        """Set up what is not about an agent."""

    def step(self, state: State, votes: Votes) -> None:
        """Follow votes, one after the other."""

    def watch(self, state: State, votes: Votes) -> tuple[Floats, Floats]:
        """The same, and what each vote was predicted to be just before.

        The pairs that it puts the other way round, level ones as half, and minus the sum of their log-likelihoods.
        """

    def log_odds(self, state: State, a: Ints, b: Ints, now: float) -> Floats:
        """Of each of a against b."""

    def ratings(self, state: State) -> tuple[Floats, float | None]:
        """Ratings, and the lead that makes the odds e to 1."""

    def deviations(self, state: State, now: float) -> Floats | None:
        """How uncertain the ratings are, in their unit; None where the model does not say."""


@dataclass(frozen=True)
class Elo:
    """``elo``, with the same options."""

    k: float = 32.0
    scale: float = 400.0
    base: float = 10.0
    start_rating: float = 1000.0

    def __post_init__(self) -> None:
        for name in ("k", "scale", "base"):
            positive(name, getattr(self, name))
        check(self.base > 1, "base", "a number above 1", self.base)
        not_negative("start_rating", self.start_rating)

    @property
    def start(self) -> tuple[float, float]:
        return 0.0, 0.0

    @property
    def unit(self) -> float:
        return self.scale / math.log(self.base)

    def begin(self, state: State, seed: int) -> None:
        pass

    def step(self, state: State, votes: Votes) -> None:
        start, agent, tier, weight, _ = votes.frozen()
        room = np.empty((2, int(np.diff(start).max(initial=0))))
        run_elo(state.mean, start, agent, tier, weight, float(self.k), self.unit, room[0], room[1])

    def watch(self, state: State, votes: Votes) -> tuple[Floats, Floats]:
        return watch_one_by_one(self, state, votes)

    def log_odds(self, state: State, a: Ints, b: Ints, now: float) -> Floats:
        return (state.mean[a] - state.mean[b]) / self.unit

    def ratings(self, state: State) -> tuple[Floats, float]:
        return self.start_rating + state.mean, self.unit

    def deviations(self, state: State, now: float) -> None:
        return None


@dataclass(frozen=True)
class WengLin:
    """``weng_lin``, with the same options; its `model` is the `likelihood` here."""

    likelihood: Literal["plackett_luce", "bradley_terry"] = "plackett_luce"
    mu: float = 25.0
    sigma: float | None = None
    beta: float | None = None
    drift: float | None = None
    kappa: float = 0.0001

    def __post_init__(self) -> None:
        one_of("likelihood", ("plackett_luce", "bradley_terry"), self.likelihood)
        positive("mu", self.mu)
        for name, share in (("sigma", 3), ("beta", 6), ("drift", 300)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.mu / share)
        for name in ("sigma", "beta", "kappa"):
            positive(name, getattr(self, name))
        not_negative("drift", self.drift)
        check(self.kappa <= 1, "kappa", "at most 1", self.kappa)

    @property
    def start(self) -> tuple[float, float]:
        return self.mu, float(self.sigma or 0) ** 2

    def begin(self, state: State, seed: int) -> None:
        pass

    def step(self, state: State, votes: Votes) -> None:
        start, agent, tier, weight, _ = votes.frozen()
        beta, drift = float(self.beta or 0), float(self.drift or 0)
        room = np.empty((5, int(np.diff(start).max(initial=0))))
        pairs = self.likelihood == "bradley_terry"
        law = beta**2, drift**2, float(self.kappa)
        run_weng_lin(state.mean, state.variance, start, agent, tier, weight, pairs, *law, room)

    def watch(self, state: State, votes: Votes) -> tuple[Floats, Floats]:
        return watch_one_by_one(self, state, votes)

    def log_odds(self, state: State, a: Ints, b: Ints, now: float) -> Floats:
        spread: Floats = np.sqrt(state.variance[a] + state.variance[b] + 2 * float(self.beta or 0) ** 2)
        return (state.mean[a] - state.mean[b]) / spread

    def ratings(self, state: State) -> tuple[Floats, float]:
        return state.mean.copy(), math.sqrt(2) * float(self.beta or 0)

    def deviations(self, state: State, now: float) -> Floats:
        return np.sqrt(state.variance)


@dataclass(frozen=True)
class Kalman:
    """The filter: natural log-odds with a variance for each agent, which grows with the time since its last vote.

    deviation: of an agent's log-odds before its first vote; as far as absence lets it grow again. drift: deviation of
    the change in a year. drift_per_vote: the same from each vote to the next, for votes without times. overlap: how far
    the pairs of one vote say the same, from 0 (each counts like a battle) to 1 (all pairs of an agent count like one).
    """

    deviation: float = 1.0
    drift: float = 0.2
    drift_per_vote: float = 0.0
    overlap: float = 0.5

    def __post_init__(self) -> None:
        positive("deviation", self.deviation)
        for name in ("drift", "drift_per_vote", "overlap"):
            not_negative(name, getattr(self, name))
        check(self.overlap <= 1, "overlap", "from 0 to 1", self.overlap)

    @property
    def start(self) -> tuple[float, float]:
        return 0.0, self.deviation**2

    @property
    def law(self) -> Floats:
        """The four numbers of the kernel."""
        return np.array([self.deviation**2, self.drift**2 / YEAR, self.drift_per_vote**2, self.overlap])

    def begin(self, state: State, seed: int) -> None:
        pass

    def step(self, state: State, votes: Votes) -> None:
        filter_votes(state, votes, self.law, sharp=False)

    def watch(self, state: State, votes: Votes) -> tuple[Floats, Floats]:
        wrong, surprise = no_predictions(votes)
        filter_votes(state, votes, self.law, sharp=False, wrong=wrong, surprise=surprise)
        return wrong, surprise

    def log_odds(self, state: State, a: Ints, b: Ints, now: float) -> Floats:
        spread = np.sqrt(1 + SPREAD * (self.variances(state, now, a) + self.variances(state, now, b)))
        lead: Floats = state.odds[0] * (state.mean[a] - state.mean[b])
        return lead / spread

    def ratings(self, state: State) -> tuple[Floats, float]:
        return state.mean.copy(), 1.0

    def deviations(self, state: State, now: float) -> Floats:
        return np.sqrt(self.variances(state, now))

    def variances(self, state: State, now: float, agents: Any = slice(None)) -> Floats:
        """As they are at a time; nan is at the last vote of each agent."""
        passed, variance = np.nan_to_num(np.maximum(now - state.last[agents], 0.0)), state.variance[agents]
        grown: Floats = np.minimum(variance + self.law[1] * passed, np.maximum(self.deviation**2, variance))
        return grown


@dataclass(frozen=True)
class Sco:
    """Soft Condorcet Optimization online: the sigmoid loss by the step of the filter, or the paper's own step.

    loss: "sigmoid" or "fenchel_young". lr: "auto" moves each agent as far as it is uncertain, and learns the odds from
    the votes that it predicts; a number is the rate of the paper's step, which knows neither. temperature: of the
    sigmoid loss, or the scale of the Gumbel noise of the Fenchel-Young loss; "auto" is a twentieth of the box, and 1
    for the paper's step. bounds: the box. deviation, drift, overlap: as of the filter, in temperatures.
    """

    loss: Literal["sigmoid", "fenchel_young"] = "sigmoid"
    lr: float | Literal["auto"] = "auto"
    temperature: float | Literal["auto"] = "auto"
    bounds: Box = (0.0, 100.0)
    deviation: float = 0.5
    drift: float = 0.5
    overlap: float = 0.5

    def __post_init__(self) -> None:
        one_of("loss", ("sigmoid", "fenchel_young"), self.loss)
        object.__setattr__(self, "bounds", box("bounds", self.bounds))
        if self.lr != "auto":
            positive("lr", self.lr)
        check(self.lr != "auto" or self.loss == "sigmoid", "lr", "a number with the Fenchel-Young loss", self.lr)
        if self.temperature == "auto":
            width = self.bounds[1] - self.bounds[0]
            object.__setattr__(self, "temperature", width / _WIDTH if self.lr == "auto" else 1.0)
        scale("temperature", self.temperature, self.bounds)
        self._filter  # noqa: B018  checks its options

    @property
    def _filter(self) -> Kalman:
        return Kalman(self.deviation, self.drift, 0.0, self.overlap)

    @property
    def heat(self) -> float:
        """The temperature as the number that it is by now."""
        return float(self.temperature)

    @property
    def start(self) -> tuple[float, float]:
        return (0.0, self.deviation**2) if self.lr == "auto" else (sum(self.bounds) / 2, 0.0)

    def begin(self, state: State, seed: int) -> None:
        state.noise = sgd.seed_state(stream(seed, "online"))

    def step(self, state: State, votes: Votes) -> None:
        if self.lr == "auto":
            filter_votes(state, votes, self._filter.law, **self._sharp)
        elif self.loss == "sigmoid":
            rates = self.lr * np.asarray(votes.weight)
            take_steps(state.mean, votes[:3], rates, temperature=self.heat, bounds=self.bounds)
        else:
            start, agent, tier, weight, _ = map(np.asarray, votes)
            for v in range(len(weight)):
                entries = slice(start[v], start[v + 1])
                step = state.mean, agent[entries].astype(np.int32), tier[entries].astype(np.int32), self.lr * weight[v]
                fenchel_young.perturbed_step(*step, self.heat, 1, 0, *self.bounds, state.noise)

    @property
    def _sharp(self) -> dict[str, Any]:
        """The sigmoid loss in the box, for the filter."""
        return {"sharp": True, "rate": _ODDS_RATE, "limit": (self.bounds[1] - self.bounds[0]) / 2 / self.heat}

    def watch(self, state: State, votes: Votes) -> tuple[Floats, Floats]:
        self._need_odds()
        wrong, surprise = no_predictions(votes)
        filter_votes(state, votes, self._filter.law, **self._sharp, wrong=wrong, surprise=surprise)
        return wrong, surprise

    def _need_odds(self) -> None:
        check(self.lr == "auto", "lr", "'auto' for odds: the paper's step gives an order and no chances", self.lr)

    def log_odds(self, state: State, a: Ints, b: Ints, now: float) -> Floats:
        self._need_odds()
        return self._filter.log_odds(state, a, b, now)

    def ratings(self, state: State) -> tuple[Floats, float | None]:
        if self.lr != "auto":
            return state.mean.copy(), None
        return sum(self.bounds) / 2 + self.heat * state.mean, self.heat / float(state.odds[0])

    def deviations(self, state: State, now: float) -> Floats | None:
        return None if self.lr != "auto" else self.heat * self._filter.deviations(state, now)


MODELS: dict[str, type[Any]] = {"sco": Sco, "elo": Elo, "weng_lin": WengLin, "kalman": Kalman}


def make_model(name: str, options: Mapping[str, Any]) -> Model:
    """A model by its name, with options that are checked."""
    one_of("model", MODELS, name)
    known = tuple(MODELS[name].__dataclass_fields__)
    for option in options:
        if option not in known:
            raise OptionError(f"{name} has no option {option!r}; it has {', '.join(known)}{near(option, known)}")
    made: Model = MODELS[name](**options)
    return made


def no_predictions(votes: Votes) -> tuple[Floats, Floats]:
    """Two zeros for each vote."""
    wrong, surprise = np.zeros((2, len(np.asarray(votes.weight))))
    return wrong, surprise


def watch_one_by_one(model: Model, state: State, votes: Votes) -> tuple[Floats, Floats]:
    """Follow votes, each predicted before it is counted, where no kernel does both."""
    wrong, surprise = no_predictions(votes)
    start, agent, tier, weight, when = votes.frozen()
    for v in range(len(weight)):
        entries = slice(start[v], start[v + 1])
        who, place = agent[entries], tier[entries]
        upper, lower = np.triu_indices(len(who), 1)
        odds = model.log_odds(state, who[upper], who[lower], when[v])
        tied = place[upper] == place[lower]
        wrong[v] = np.where(tied | (np.abs(odds) < LEVEL), 0.5, odds < 0).sum()
        surprise[v] = (np.logaddexp(0, -odds) + np.where(tied, odds / 2, 0.0)).sum()
        model.step(state, Votes([0, len(who)], who, place, weight[v : v + 1], when[v : v + 1]))
    return wrong, surprise


def filter_votes(
    state: State,
    votes: Votes,
    law: Floats,
    *,
    sharp: bool,
    rate: float = 0.0,
    limit: float = math.inf,
    wrong: Floats = _NO_VOTES,
    surprise: Floats = _NO_VOTES,
) -> None:
    """The filter over votes; `wrong` and `surprise` get what each was predicted to be, before it was counted."""
    start, agent, tier, weight, when = votes.frozen()
    room = np.empty((4, int(np.diff(start).max(initial=0))))
    arrays = state.mean, state.variance, state.last, start, agent, tier, weight, when
    run_filter(*arrays, law, sharp, state.odds, float(rate), float(limit), wrong, surprise, room)


def take_steps(
    ratings: Floats,
    votes: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    rates: npt.ArrayLike,
    *,
    temperature: float,
    bounds: Box,
    chosen: Ints | None = None,
) -> None:
    """The paper's step on the ratings, in place, for each vote, or for the chosen ones, in their order and at its rate.

    One step of stochastic gradient descent with a batch of one: the same step that ``sco(solver="sgd", batch=1)`` folds
    over sampled votes (the paper's section 3.2.1 and its appendix on online use).
    """
    start, agent, tier = map(np.asarray, votes)
    plan = sgd.plan_sigmoid(start, agent, tier, np.ones(len(start) - 1), len(ratings), 1, layout="votes")
    rows = np.arange(len(start) - 1) if chosen is None else chosen
    nothing_drawn = np.zeros(1, np.uint64)
    sgd.run_sigmoid(plan, ratings, np.asarray(rates), temperature, *bounds, nothing_drawn, rows[:, None])
