"""Ratings that follow votes as they arrive, by one of four models: ``sco``, ``elo``, ``weng_lin``, ``kalman``.

A vote changes only the agents in it. A state is a few numbers per agent, and JSON: it goes on where it stopped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, natural, near, positive
from softcondorcet.errors import DataError, OptionError
from softcondorcet.io.cells import read_time
from softcondorcet.io.column_names import TIES
from softcondorcet.online.models import State, Votes, make_model
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.tiers import Ranking, entries

ModelName = Literal["sco", "elo", "weng_lin", "kalman"]
_FORMAT = 2


class Online:
    """Ratings that are updated vote by vote.

    >>> ratings = Online("kalman")
    >>> ratings.update("ann", "ben", "ann")
    >>> ratings.update(["cem", "ann", "ben"], weight=2)
    >>> ratings.ratings().order, round(ratings.predict("ann", "ben"), 2)
    (['cem', 'ann', 'ben'], 0.72)
    """

    def __init__(
        self, model: ModelName = "kalman", agents: Sequence[str] = (), *, seed: int = 0, **options: Any
    ) -> None:
        """The options are those of the model: see ``online.models``. `agents` are known before their first vote."""
        natural("seed", seed)
        self.model, self.seed, self.n_votes = model, seed, 0
        self._model = make_model(model, options)
        self._state = State(*np.empty((3, 0)))
        self._model.begin(self._state, seed)
        self._number: dict[str, int] = {}
        self._votes = np.empty(0)
        for name, _ in entries(list(agents), "agents"):
            self._find(name)

    @overload
    def update(self, vote: Ranking, /, *, when: Any = None, weight: float = 1.0) -> None: ...
    @overload
    def update(self, a: str, b: str, winner: str, /, *, when: Any = None, weight: float = 1.0) -> None: ...
    def update(self, *vote: Any, when: Any = None, weight: float = 1.0) -> None:
        """Follow one vote: names, best first, where a nested list is a tie; or two names and the winner, or "tie".

        `when` is its time: seconds since 1970, an ISO text, a date. A vote that cannot be used changes nothing.
        """
        positive("weight", weight)
        time = _time(when)
        if len(vote) not in (1, 3):
            raise OptionError(f"vote must be one ranking, or two agents and the winner, got {len(vote)} values")
        tiers = _read_vote(vote[0] if len(vote) == 1 else _battle(*vote))
        k = len(tiers)
        self._follow(list(tiers), Votes([0, k], range(k), list(tiers.values()), [weight], [time]))

    def update_many(self, votes: Any) -> None:
        """Follow many votes: a Profile, by its times or else as listed; a table of battles; or a list of rankings.

        The same as ``update`` for each of them, at a fraction of the time.
        """
        profile = _as_profile(votes)
        if profile.when is not None:
            profile = profile.take(np.argsort(profile.when, kind="stable"))
        when = np.full(profile.n_votes, math.nan) if profile.when is None else profile.when
        used, agent = np.unique(profile.agent, return_inverse=True)
        names = [profile.agents[k] for k in used.tolist()]
        self._follow(names, Votes(profile.start, agent, profile.tier, profile.weight, when))

    def predict(self, a: str, b: str, *, when: Any = None) -> float:
        """The chance that a comes out above b, at a time or else right after their last votes; a tie is half of it."""
        one, other = np.array([self._of(a)]), np.array([self._of(b)])
        odds = self._model.log_odds(self._state, one, other, _time(when))[0]
        return float(np.exp(-np.logaddexp(0.0, -odds)))

    def ratings(self) -> Ratings:
        """The ratings now; their `unit` is the lead that makes the odds e to 1, as far as the model knows odds."""
        m = len(self._number)
        values, unit = self._model.ratings(self._state)
        return Ratings(
            tuple(self._number),
            values[:m],
            "live" if self.model == "sco" else f"online {self.model}",
            self._options(),
            seed=self.seed,
            steps=self.n_votes,
            votes=self._votes[:m].copy(),
            unit=unit,
        )

    def deviations(self, *, when: Any = None) -> Floats | None:
        """How uncertain each rating is, in the order and the unit of ``ratings``; None where the model does not say.

        The filter and SCO know less of an agent the longer it is away: `when` is the time that is asked about.
        """
        found = self._model.deviations(self._state, _time(when))
        return None if found is None else found[: len(self._number)]

    def snapshot(self) -> str:
        """Everything, as JSON: ``Online.restore(online.snapshot())`` goes on to the last bit as if nothing happened."""
        m, state = len(self._number), self._state
        data = {
            "format": _FORMAT,
            "model": self.model,
            "options": self._options(),
            "seed": self.seed,
            "n_votes": self.n_votes,
            "agents": list(self._number),
            "mean": state.mean[:m].tolist(),
            "variance": state.variance[:m].tolist(),
            "last": [None if time != time else time for time in state.last[:m].tolist()],
            "votes": self._votes[:m].tolist(),
            "odds": state.odds.tolist(),
            "noise": [int(word) for word in state.noise],
        }
        return json.dumps(data, ensure_ascii=False, allow_nan=False)

    @classmethod
    def restore(cls, text: str) -> Online:
        """The inverse of ``snapshot``."""
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                raise DataError(f"snapshot: expected format {_FORMAT}, got {data['format']!r}")
            made = Online(data["model"], data["agents"], seed=data["seed"], **data["options"])
            made._take_over(data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OptionError) as error:
            raise (
                error
                if isinstance(error, DataError)
                else DataError(f"snapshot: expected the JSON of Online.snapshot, got {error!r}")
            ) from None
        return made

    def save(self, path: str | Path) -> None:
        """Write the snapshot to a file."""
        Path(path).write_text(self.snapshot(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Online:
        """The inverse of ``save``."""
        return cls.restore(Path(path).read_text(encoding="utf-8"))

    def __len__(self) -> int:
        return len(self._number)

    def __repr__(self) -> str:
        return f"Online({self.model!r}, {len(self)} agents, {self.n_votes} votes)"

    def _follow(self, names: Sequence[str], votes: Votes) -> None:
        """Step over votes, whose agents are numbers in `names`; unless ratings would overflow."""
        known, state = len(self._number), self._state
        number = np.array([self._find(name) for name in names], dtype=np.int64)
        agent = number[np.asarray(votes.agent)]
        before = [array[number] for array in (state.mean, state.variance, state.last)]
        self._model.step(state, votes._replace(agent=agent))
        if not (np.isfinite(state.mean[number]).all() and np.isfinite(state.variance[number]).all()):
            for array, kept in zip((state.mean, state.variance, state.last), before, strict=True):
                array[number] = kept
            self._number = dict(list(self._number.items())[:known])
            raise DataError(f"weight: up to {np.max(votes.weight):g}, so that ratings overflow; expected a smaller one")
        held = np.repeat(np.asarray(votes.weight, dtype=float), np.diff(np.asarray(votes.start)))
        self._votes += np.bincount(agent, held, len(self._votes))
        self.n_votes += len(np.asarray(votes.weight))

    def _take_over(self, data: dict[str, Any]) -> None:
        """The state of a snapshot, checked."""
        m, state = len(data["agents"]), self._state
        arrays = {"mean": state.mean, "variance": state.variance, "last": state.last, "votes": self._votes}
        for name, array in arrays.items():
            values = np.array([math.nan if value is None else value for value in data[name]], dtype=float)
            if not len(values) == m == len(self._number):
                raise DataError(f"snapshot: expected one number in {name} for each of {m} agents")
            if np.isinf(values).any() or (name != "last" and np.isnan(values).any()):
                raise DataError(f"snapshot: expected finite numbers in {name}")
            if name in ("variance", "votes") and (values < 0).any():
                raise DataError(f"snapshot: expected numbers in {name} that are not negative")
            array[:m] = values
        odds = np.array(data["odds"], dtype=float)
        if odds.shape != (2,) or not (np.isfinite(odds).all() and odds[0] > 0 and odds[1] >= 0):
            raise DataError("snapshot: expected two numbers in odds, the first positive, the other not negative")
        state.odds[:] = odds
        state.noise[:] = np.array(data["noise"], dtype=np.uint64)
        self.n_votes = int(data["n_votes"])
        bounds = data["options"].get("bounds")
        if bounds is not None and m:
            values = self.ratings().values
            inside = (values >= bounds[0] - 1e-9) & (values <= bounds[1] + 1e-9)
            if not inside.all():
                raise DataError("snapshot: expected ratings inside the bounds")

    def _options(self) -> dict[str, Any]:
        options = asdict(self._model)  # type: ignore[call-overload]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

    def _of(self, name: str) -> int:
        if name not in self._number:
            hint = near(name, self._number)
            raise KeyError(f"no agent {name!r} among {len(self)} agents of earlier votes{hint}")
        return self._number[name]

    def _find(self, name: str) -> int:
        """Number of an agent; a new one starts at the middle. The arrays double, so an update stays cheap."""
        number = self._number.setdefault(name, len(self._number))
        if number >= len(self._votes):
            room = max(16, number)
            self._state.grow(room, *self._model.start)
            self._votes = np.concatenate([self._votes, np.zeros(room)])
        return number


class Live(Online):
    """``Online("sco")``: Soft Condorcet Optimization vote by vote.

    >>> live = Live()
    >>> live.update(["a", "b", "c"])
    >>> live.update([["a", "c"], "b"])
    >>> live.ratings().order
    ['a', 'c', 'b']
    """

    def __init__(self, agents: Sequence[str] = (), *, seed: int = 0, **options: Any) -> None:
        super().__init__("sco", agents, seed=seed, **options)


def _time(when: Any) -> float:
    """Seconds since 1970; nan where no time is given."""
    if when is None:
        return math.nan
    try:
        time = read_time(when)
    except ValueError as error:
        raise OptionError(f"when must be {error}, got {when!r}") from None
    check(math.isfinite(time), "when", "a finite time", when)
    return time


def _battle(a: Any, b: Any, winner: Any) -> Ranking:
    """A battle as a ranking."""
    if winner in (a, b):
        return [a, b] if winner == a else [b, a]
    if isinstance(winner, str) and winner.strip().casefold() in TIES:
        return [[a, b]]
    raise DataError(f"vote: winner is {winner!r}; expected {a!r}, {b!r} or 'tie'")


def _read_vote(vote: Ranking) -> dict[str, int]:
    """The tier of each agent of a vote, best first: 0, 1, 2, ..."""
    tiers: dict[str, int] = {}
    dense: dict[int, int] = {}
    for name, tier in entries(vote, "vote"):
        if name in tiers:
            raise DataError(f"vote: agent {name!r} appears twice")
        tiers[name] = dense.setdefault(tier, len(dense))
    if not tiers:
        raise DataError("vote: expected at least one agent, got none")
    return tiers


def _as_profile(votes: Any) -> Profile:
    if isinstance(votes, Profile):
        return votes
    if isinstance(votes, dict) or hasattr(votes, "columns"):
        return Profile.from_matches(votes)
    if isinstance(votes, str) or not isinstance(votes, Iterable):
        what = type(votes).__name__
        raise OptionError(f"votes must be a Profile, a table of battles or a list of rankings, got {what}")
    return Profile.from_rankings(votes)
