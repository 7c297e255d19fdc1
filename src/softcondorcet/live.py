"""The online form: ratings that follow votes as they arrive (the paper's section 3.2.1 and its appendix on online use).

A vote changes only the agents in it, by one step of stochastic gradient descent with a batch of one: the same step that
``sco(solver="sgd", batch=1)`` folds over sampled votes. State is two numbers per agent at most, and JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.kernels import perturbed, votes
from softcondorcet.options import box, natural, one_of, positive, scale
from softcondorcet.profile import Ranking, entries
from softcondorcet.ratings import Ratings


class Live:
    """Ratings that are updated vote by vote.

    >>> live = Live(lr=1.0)
    >>> live.update(["a", "b", "c"])
    >>> live.update([["a", "c"], "b"])
    >>> live.ratings().order
    ['a', 'c', 'b']
    """

    def __init__(
        self,
        agents: Sequence[str] = (),
        *,
        loss: Literal["sigmoid", "fenchel_young"] = "sigmoid",
        lr: float = 0.1,
        temperature: float = 1.0,
        bounds: tuple[float, float] = (0.0, 100.0),
        seed: int = 0,
    ) -> None:
        """`temperature` is that of the sigmoid loss, or the scale of the Gumbel noise of the Fenchel-Young loss."""
        one_of("loss", ("sigmoid", "fenchel_young"), loss)
        positive("lr", lr)
        self.bounds = box("bounds", bounds)
        scale("temperature", temperature, self.bounds)
        natural("seed", seed)
        self.loss, self.lr, self.temperature, self.seed = loss, lr, temperature, seed
        self.n_votes = 0
        self._state = votes.seed_state(np.random.default_rng([seed, 0]))
        self._number: dict[str, int] = {}
        self._values, self._votes = np.empty(0), np.empty(0)
        for name, _ in entries(list(agents), "agents"):
            self._find(name)

    def update(self, vote: Ranking) -> None:
        """Move the ratings of the agents in one vote: names, best first; a nested list is a tie.

        New agents appear at the middle of the box. A vote that cannot be used changes nothing.
        """
        names, tiers = _read_vote(vote)
        agents = np.array([self._find(name) for name in names], dtype=np.int32)
        step = (self._values, agents, np.array(tiers, dtype=np.int32), self.lr)
        if self.loss == "sigmoid":
            votes.sigmoid_step(*step, self.temperature, *self.bounds)
        else:
            perturbed.perturbed_step(*step, self.temperature, 1, 0, *self.bounds, self._state)
        self._votes[agents] += 1
        self.n_votes += 1

    def ratings(self) -> Ratings:
        """The ratings now."""
        m = len(self._number)
        return Ratings(
            tuple(self._number),
            self._values[:m],
            "live",
            self._options(),
            seed=self.seed,
            steps=self.n_votes,
            votes=self._votes[:m].copy(),
        )

    def snapshot(self) -> str:
        """Everything, as JSON: ``Live.restore(live.snapshot())`` goes on to the last bit as if nothing had happened."""
        m = len(self._number)
        return json.dumps(
            {
                "format": 1,
                "options": self._options(),
                "seed": self.seed,
                "n_votes": self.n_votes,
                "state": [int(word) for word in self._state],
                "agents": list(self._number),
                "ratings": self._values[:m].tolist(),
                "votes": self._votes[:m].tolist(),
            },
            ensure_ascii=False,
        )

    @classmethod
    def restore(cls, text: str) -> Live:
        """The inverse of ``snapshot``."""
        try:
            data = json.loads(text)
            if data["format"] != 1:
                raise DataError(f"snapshot: expected format 1, got {data['format']!r}")
            options = data["options"] | {"bounds": tuple(data["options"]["bounds"])}
            live = cls(data["agents"], seed=data["seed"], **options)
            live.n_votes = int(data["n_votes"])
            live._state[:] = np.array(data["state"], dtype=np.uint64)
            m = len(live._number)
            if not len(data["ratings"]) == len(data["votes"]) == len(data["agents"]) == m:
                raise DataError("snapshot: expected one rating and one count of votes for each agent")
            live._values[:m], live._votes[:m] = data["ratings"], data["votes"]
            low, high = live.bounds
            if not ((live._values >= low) & (live._values <= high)).all() or not (live._votes >= 0).all():
                raise DataError("snapshot: expected ratings inside the bounds and counts that are not negative")
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise (
                error
                if isinstance(error, DataError)
                else DataError(f"snapshot: expected the JSON of Live.snapshot, got {error!r}")
            ) from None
        return live

    def _options(self) -> dict[str, Any]:
        return {"loss": self.loss, "lr": self.lr, "temperature": self.temperature, "bounds": list(self.bounds)}

    def _find(self, name: str) -> int:
        """Number of an agent; a new one starts at the middle. The arrays double, so an update stays cheap."""
        number = self._number.setdefault(name, len(self._number))
        if number >= len(self._values):
            room = max(16, number)
            middle = sum(self.bounds) / 2
            self._values = np.concatenate([self._values, np.full(room, middle)])
            self._votes = np.concatenate([self._votes, np.zeros(room)])
        return number


def _read_vote(vote: Ranking) -> tuple[list[str], list[int]]:
    tiers: dict[str, int] = {}
    for name, tier in entries(vote, "vote"):
        if name in tiers:
            raise DataError(f"vote: agent {name!r} stands twice in it")
        tiers[name] = tier
    if not tiers:
        raise DataError("vote: expected at least one agent, got none")
    return list(tiers), list(tiers.values())
