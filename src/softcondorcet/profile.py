"""Profile: the agents and the votes over them, in order of arrival.

A vote ranks some of the agents into tiers, best first; agents of one tier are tied. Strict, tied, partial, complete,
pairwise and weighted votes are all the same thing here, stored row by row in flat arrays (CSR). Names become integers
when a profile is made and come back only in ``Ratings``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.errors import DataError, OptionError

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs

Ranking = Sequence[str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class Profile:
    """Agents and votes. Make one with ``read``, ``from_rankings``, ``from_matches`` or ``from_scores``.

    Vote ``v`` ranks ``agent[start[v]:start[v + 1]]``, sorted best first, into ``tier`` 0, 1, 2, ... with weight
    ``weight[v]``. ``group`` holds one code into ``groups`` per vote (a judge, a task, a prompt), ``when`` its time in
    seconds since 1970 (UTC); both are optional. So is ``turned``, for battles: True where the agent shown first is the
    second entry, so that it can be asked whether being shown first helps. All arrays are read-only.
    """

    agents: tuple[str, ...]
    start: Ints
    agent: Ints
    tier: Ints
    weight: Floats
    group: Ints | None = None
    groups: tuple[str, ...] = ()
    when: Floats | None = None
    turned: Flags | None = None

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            value = getattr(self, name)
            if value is not None:
                array: NDArray[Any] = np.array(value, dtype=dtype)
                array.setflags(write=False)
                object.__setattr__(self, name, array)
        object.__setattr__(self, "agents", tuple(self.agents))
        object.__setattr__(self, "groups", tuple(self.groups))
        self._check()

    @property
    def n_agents(self) -> int:
        return len(self.agents)

    @property
    def n_votes(self) -> int:
        return len(self.weight)

    @cached_property
    def length(self) -> Ints:
        """Number of agents in each vote."""
        return np.diff(self.start)

    @cached_property
    def n_pairs_compared(self) -> float:
        """Weighted number of pairs that the votes compare: what the counts of ``pairs()`` must add up to."""
        return float(self.weight @ (self.length * (self.length - 1) / 2))

    @cached_property
    def has_ties(self) -> bool:
        """Whether any vote puts two agents into one tier."""
        inside = np.ones(len(self.tier), dtype=bool)
        inside[self.start[:-1][self.length > 0]] = False
        return bool((inside[1:] & (np.diff(self.tier) == 0)).any())

    def __repr__(self) -> str:
        return f"Profile({self.n_agents} agents, {self.n_votes} votes)"

    def pairs(self) -> Pairs:
        """Each unordered pair of agents seen together, counted once. Computed on first use and kept."""
        return self._pairs

    @cached_property
    def _pairs(self) -> Pairs:
        from softcondorcet.pairs import count_pairs

        return count_pairs(self)

    def rankings(self) -> Iterator[list[list[str]]]:
        """Each vote as a list of tiers, best first, each tier a list of names."""
        names = self.agents
        for v in range(self.n_votes):
            vote: list[list[str]] = []
            for e in range(self.start[v], self.start[v + 1]):
                if self.tier[e] == len(vote):
                    vote.append([])
                vote[-1].append(names[self.agent[e]])
            yield vote

    def take(self, votes: NDArray[Any]) -> Profile:
        """The profile of the votes chosen by an index or boolean array, in that order; all agents stay."""
        chosen = np.arange(self.n_votes)[votes]
        length = self.length[chosen]
        start = np.concatenate([[0], np.cumsum(length)])
        entry = np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], length)
        return replace(
            self,
            start=start,
            agent=self.agent[entry],
            tier=self.tier[entry],
            weight=self.weight[chosen],
            group=None if self.group is None else self.group[chosen],
            when=None if self.when is None else self.when[chosen],
            turned=None if self.turned is None else self.turned[chosen],
        )

    @classmethod
    def from_rankings(
        cls,
        rankings: Iterable[Ranking],
        *,
        weights: Iterable[float] | None = None,
        agents: Sequence[str] | None = None,
    ) -> Profile:
        """Votes as lists of names, best first; a nested list is a tie.

        >>> Profile.from_rankings([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 1]).n_votes
        2
        """
        code: dict[str, int] = {name: k for k, name in enumerate(agents or ())}
        start, agent, tier = [0], [], []
        for v, ranking in enumerate(rankings, 1):
            for name, place in entries(ranking, f"vote {v}"):
                if agents is not None and name not in code:
                    raise DataError(f"vote {v}: agent {name!r} is not among the given agents")
                agent.append(code.setdefault(name, len(code)))
                tier.append(place)
            start.append(len(agent))
        weight = np.ones(len(start) - 1) if weights is None else _numbers(weights, "weights")
        if len(weight) != len(start) - 1:
            raise DataError(f"weights: expected one for each of {len(start) - 1} votes, got {len(weight)}")
        if agents is not None and len(code) != len(agents):
            raise DataError("agents: a name stands twice")
        return cls(tuple(code), np.array(start), np.array(agent), np.array(tier), weight)

    @classmethod
    def from_matches(
        cls,
        frame: Any,
        *,
        a: str | None = None,
        b: str | None = None,
        winner: str | None = None,
        weight: str | None = None,
        group: str | None = None,
        when: str | None = None,
    ) -> Profile:
        """Battles, one row each: two agents and who won. Columns not named are found by their usual names.

        ``winner`` holds ``model_a``, ``model_b`` or the agent's name, ``tie`` or ``both_bad``: see the page on formats.
        """
        from softcondorcet.columns import as_table, battles

        return cls(**battles(as_table(frame), a=a, b=b, winner=winner, weight=weight, group=group, when=when))

    @classmethod
    def from_scores(
        cls,
        frame: Any,
        *,
        agent: str | None = None,
        task: str | None = None,
        score: str | None = None,
        higher_is_better: str | bool | None = None,
        weight: str | None = None,
    ) -> Profile:
        """A score table, one row per agent and task; each task becomes one vote, equal scores tie, missing = absent.

        ``higher_is_better`` is the name of a column, or True or False for all tasks; by default the column of that
        name where there is one, else True.
        """
        from softcondorcet.columns import as_table, scores

        names = {"agent": agent, "task": task, "score": score, "weight": weight}
        return cls(**scores(as_table(frame), higher_is_better=higher_is_better, **names))

    def _check(self) -> None:
        """Everything the kernels take for granted, with the vote named where it fails."""
        m, n = self.n_agents, self.n_votes
        _unique_names(self.agents)
        if len(self.start) != n + 1 or self.start[0] != 0 or self.start[-1] != len(self.agent):
            raise DataError(f"start: expected {n + 1} offsets from 0 to {len(self.agent)}")
        if len(self.tier) != len(self.agent):
            raise DataError(f"tier: expected {len(self.agent)} entries, got {len(self.tier)}")
        for name in ("group", "when", "turned"):
            column = getattr(self, name)
            if column is not None and len(column) != n:
                raise DataError(f"{name}: expected one entry for each of {n} votes, got {len(column)}")
        if self.group is not None:
            known = (self.group >= 0) & (self.group < len(self.groups))
            _first(~known, lambda v: f"vote {v + 1}: no group has number {self.group[v]}")
        if self.when is not None:
            _first(~np.isfinite(self.when), lambda v: f"vote {v + 1}: its time is not a finite number")
        if n == 0:
            return
        with np.errstate(over="ignore"):
            if self.n_pairs_compared > 1e300:
                raise DataError("weights: they add up to more than 1e300 comparisons, beyond what floats can count")
        _first(self.length < 1, lambda v: f"vote {v + 1}: expected at least one agent, got none")
        _first(
            ~(np.isfinite(self.weight) & (self.weight >= 0)),
            lambda v: f"vote {v + 1}: weight is {self.weight[v]}; expected a number that is not negative",
        )
        _first(
            (self.agent < 0) | (self.agent >= m),
            lambda e: f"vote {np.searchsorted(self.start, e, 'right')}: no agent has number {self.agent[e]}",
        )
        tier = self._battle_tiers() if bool((self.length == 2).all()) else self._vote_tiers()
        tier.setflags(write=False)
        object.__setattr__(self, "tier", tier)

    def _vote_tiers(self) -> Ints:
        """Dense tiers; checks that no agent stands twice in a vote."""
        m, vote = self.n_agents, np.repeat(np.arange(self.n_votes), self.length)
        seen = np.sort(vote * m + self.agent)
        _first(
            seen[1:] == seen[:-1],
            lambda e: f"vote {seen[e] // m + 1}: agent {self.agents[seen[e] % m]!r} stands twice in it",
        )
        return _dense_tiers(self.start, self.tier, vote)

    def _battle_tiers(self) -> Ints:
        """The same where every vote has two agents, without sorting: most data are battles, millions of them."""
        agent, tier = self.agent.reshape(-1, 2), self.tier.reshape(-1, 2)
        _first(
            agent[:, 0] == agent[:, 1],
            lambda v: f"vote {v + 1}: agent {self.agents[agent[v, 0]]!r} stands twice in it",
        )
        _first(tier[:, 1] < tier[:, 0], lambda v: f"vote {v + 1}: tiers must not fall, entries stand best first")
        dense = np.zeros(tier.shape, dtype=np.int32)
        dense[:, 1] = tier[:, 1] > tier[:, 0]
        return dense.ravel()


def as_profile(data: object, words: str = "a Profile or Pairs; sc.read makes one") -> Profile:
    """The profile, or an error for anything else."""
    if not isinstance(data, Profile):
        raise OptionError(f"data must be {words}, got {type(data).__name__}")
    return data


def entries(ranking: Ranking, where: str) -> Iterator[tuple[str, int]]:
    """Each agent of a list of names, best first, with its tier; a nested list is a tie. `where` is for errors."""
    if isinstance(ranking, str) or not isinstance(ranking, Sequence):
        raise DataError(f"{where}: expected a list of agents, got {ranking!r}")
    for tier, entry in enumerate(ranking):
        for name in entry if isinstance(entry, list | tuple | set | frozenset) else [entry]:
            if not isinstance(name, str) or not name:
                raise DataError(f"{where}: expected agent names (strings), got {name!r}")
            yield name, tier


_DTYPES = {
    "start": np.int64,
    "agent": np.int32,
    "tier": np.int32,
    "weight": np.float64,
    "group": np.int32,
    "when": np.float64,
    "turned": np.bool_,
}


def _numbers(values: Iterable[float], what: str) -> Floats:
    try:
        numbers = np.array(list(values), dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: expected numbers ({error})") from None
    if numbers.ndim != 1:
        raise DataError(f"{what}: expected a list of numbers, got lists in it")
    return numbers


def _unique_names(agents: tuple[str, ...]) -> None:
    for name in agents:
        if not isinstance(name, str) or not name:
            raise DataError(f"agents: expected names (strings), got {name!r}")
    if len(set(agents)) != len(agents):
        seen: set[str] = set()
        twice = next(name for name in agents if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"agents: {twice!r} stands twice")


def _first(wrong: Flags, message: Any) -> None:
    """Raise a ``DataError`` about the first entry that is wrong, if one is."""
    if wrong.any():
        raise DataError(message(int(np.argmax(wrong))))


def _dense_tiers(start: Ints, tier: Ints, vote: Ints) -> Ints:
    """Tiers renumbered 0, 1, 2, ... inside each vote; the entries must already stand best first."""
    first = np.zeros(len(tier), dtype=bool)
    first[start[:-1]] = True
    rise = np.diff(tier, prepend=tier[:1]).astype(np.int64)
    _first(~first & (rise < 0), lambda e: f"vote {vote[e] + 1}: tiers must not fall, entries stand best first")
    step = (rise > 0) & ~first
    dense = np.cumsum(step)
    return (dense - dense[start[:-1]][vote]).astype(np.int32)
