"""Profile: the agents and the votes over them, in order of arrival.

A vote ranks some of the agents into tiers, best first; agents of one tier are tied. Strict, tied, partial, complete,
pairwise and weighted votes are all the same thing here, stored row by row in flat arrays (CSR). Names become integers
when a profile is made and come back only in ``Ratings``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Flags, Floats, Ints, frozen_copy, taken
from softcondorcet.checks import near, one_of
from softcondorcet.columns import VOTER, Column, Columns, as_columns, recoded
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import some
from softcondorcet.source import Source
from softcondorcet.tiers import Ranking, check_each, entries, tiers_of

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs

Kind = Literal["election", "games"]
KINDS: tuple[Kind, ...] = ("election", "games")


@dataclass(frozen=True, eq=False, init=False)
class Profile:
    """Agents and votes. Make one with ``read``, ``from_rankings``, ``from_matches`` or ``from_scores``.

    Vote ``v`` ranks ``agent[start[v]:start[v + 1]]``, sorted best first, into ``tier`` 0, 1, 2, ... with weight
    ``weight[v]``. All else is optional, and all arrays are read-only:

    when: time of each vote in seconds since 1970 (UTC).
    turned: for battles, True where the agent shown first is the second entry: does being shown first help?
    score: the scores that a table had, raw, one for each entry (as ``agent`` and ``tier``), nan where there is none;
        ``higher_is_better[v]`` is their direction in vote ``v``.
    entry_columns: what else is known about each entry, by name: the lane or the load of an agent in that vote.
    columns: what else is known about each vote, by name: judge, task, language, voter, any other (``Column``).
    group_by: the column whose names are the groups (judges, tasks) of the votes: ``group`` holds the code of each vote
        in ``groups``. Given as ``group=`` and ``groups=``, these become that column, called "group" if it has no name.
    voter: who cast each vote, codes in ``voters`` or -1: the column "voter".
    kind: "games" (battles, contests: who plays is drawn from many) or "election" (ballots, PrefLib, score tables: each
        vote is asked about all). Readers set it. Where nobody does, votes of at most half of the agents each are games.
    source: the file that the votes were read from.
    facts: what is known about agents, by name and title: organisation, price, link (``read(agent_facts=...)``).
    balance: the column by whose names ``weight`` is balanced, see ``balanced``; ``unbalanced`` are the weights before.
    """

    agents: tuple[str, ...]
    start: Ints
    agent: Ints
    tier: Ints
    weight: Floats
    when: Floats | None
    turned: Flags | None
    score: Floats | None
    higher_is_better: Flags | None
    columns: Columns
    entry_columns: Columns
    group_by: str | None
    kind: Kind
    source: Source | None
    facts: Mapping[str, Mapping[str, str | float]]
    balance: str | None
    unbalanced: Floats | None

    def __init__(
        self,
        agents: Sequence[str],
        start: Any,
        agent: Any,
        tier: Any,
        weight: Any,
        group: Any = ...,
        groups: Any = ...,
        when: Any = None,
        turned: Any = None,
        *,
        voter: Any = ...,
        voters: Any = ...,
        score: Any = None,
        higher_is_better: Any = None,
        columns: Mapping[str, Column | Sequence[object]] | None = None,
        entry_columns: Mapping[str, Column | Sequence[object]] | None = None,
        group_by: str | None = None,
        kind: Kind | None = None,
        source: Source | None = None,
        facts: Mapping[str, Mapping[str, str | float]] | None = None,
        balance: str | None = None,
        unbalanced: Any = None,
    ) -> None:
        # Of group, groups, voter and voters, '...' is what the columns say; None is that there are none.
        known = as_columns(columns)
        if group is None:
            group_by = None
        elif group is not ... or (groups is not ... and group_by is not None):
            group_by = group_by or "group"
            known = recoded(known, group_by, group, groups)
        if voter is not ... or voters is not ...:
            known = known.without(VOTER) if voter is None else recoded(known, VOTER, voter, voters)
        arrays = {
            "start": start, "agent": agent, "tier": tier, "weight": weight, "when": when, "turned": turned,
            "score": score, "higher_is_better": higher_is_better, "unbalanced": unbalanced,
        }  # fmt: skip
        for name, value in arrays.items():
            object.__setattr__(self, name, None if value is None else frozen_copy(value, _DTYPES[name]))
        others: dict[str, Any] = {"agents": tuple(agents), "columns": known, "group_by": group_by, "source": source}
        others |= {"facts": dict(facts or {}), "balance": balance, "entry_columns": as_columns(entry_columns)}
        for name, other in others.items():
            object.__setattr__(self, name, other)
        self._check()
        object.__setattr__(self, "kind", self._guessed_kind() if kind is None else kind)
        one_of("kind", KINDS, self.kind)

    @cached_property
    def n_agents(self) -> int:
        return len(self.agents)

    @cached_property
    def n_votes(self) -> int:
        return len(self.weight)

    @cached_property
    def _grouped(self) -> Column | None:
        return None if self.group_by is None else self.columns[self.group_by].grouped()

    @property
    def group(self) -> Ints | None:
        """The group of each vote, as its place in ``groups``; None where votes have no groups."""
        return self._grouped.codes if self._grouped else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups: judges, tasks, prompts."""
        return self._grouped.names if self._grouped else ()

    @cached_property
    def _voted(self) -> Column | None:
        return self.columns[VOTER].named() if VOTER in self.columns else None

    @property
    def voter(self) -> Ints | None:
        """Who cast each vote, as a place in ``voters``, -1 where nobody knows; None where no vote has a voter."""
        return self._voted.codes if self._voted else None

    @property
    def voters(self) -> tuple[str, ...]:
        """The names of the voters."""
        return self._voted.names if self._voted else ()

    @cached_property
    def length(self) -> Ints:
        """Number of agents in each vote."""
        return np.diff(self.start)

    @property
    def cast(self) -> Floats:
        """The weight of each vote as it was cast: before ``balanced``."""
        return self.weight if self.unbalanced is None else self.unbalanced

    @cached_property
    def counts(self) -> Floats:
        """How many votes each row stands for: its weight as cast where all are whole, else one, or none of weight 0."""
        whole = bool((self.cast == np.round(self.cast)).all())
        return self.cast if whole else (self.cast > 0).astype(float)

    @cached_property
    def noun(self) -> str:
        """What one vote is called: a "task" or one "item" of several of a task where there are scores, else a "vote".

        >>> Profile.from_rankings([["a", "b"]]).noun
        'vote'
        """
        if self.score is None:
            return "vote"
        return "task" if self.group is None or len(np.unique(self.group)) == self.n_votes else "item"

    @cached_property
    def n_pairs_compared(self) -> float:
        """Weighted number of pairs that the votes compare: what the counts of ``pairs()`` must add up to."""
        if bool((self.length == 2).all()):
            return float(self.weight.sum())
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

    def with_groups(self, group: Any, groups: Sequence[str]) -> Profile:
        """The same votes with other groups, one code into the names `groups` for each vote, in the same column."""
        name = self.group_by or "group"
        return replace(self, columns=recoded(self.columns, name, group, groups), group_by=name)

    def with_voters(self, voter: Any, voters: Sequence[str]) -> Profile:
        """The same votes with these voters, one code into the names `voters` for each vote, or -1."""
        return replace(self, columns=recoded(self.columns, VOTER, voter, voters))

    def take(self, votes: NDArray[Any]) -> Profile:
        """The profile of the votes chosen by an index or boolean array, in that order; all agents stay."""
        chosen = np.arange(self.n_votes)[votes]
        length = self.length[chosen]
        start = np.concatenate([[0], np.cumsum(length)])
        entry = np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], length)
        return replace(
            self,
            start=start,
            agent=taken(self.agent, entry),
            tier=taken(self.tier, entry),
            weight=taken(self.weight, chosen),
            when=None if self.when is None else taken(self.when, chosen),
            turned=None if self.turned is None else taken(self.turned, chosen),
            score=None if self.score is None else taken(self.score, entry),
            higher_is_better=None if self.higher_is_better is None else taken(self.higher_is_better, chosen),
            columns=self.columns.take(chosen),
            entry_columns=self.entry_columns.take(entry),
            unbalanced=None if self.unbalanced is None else taken(self.unbalanced, chosen),
        )

    def where(self, *conditions: str, **equal: Any) -> Profile:
        """The votes that meet all conditions, without agents that lose all their votes: see ``io.conditions``.

        >>> votes = Profile.from_rankings([["a", "b"], ["b", "a"], ["b", "c"]], columns={"lang": ["en", "de", "fr"]})
        >>> votes.where(lang=["en", "de"]).n_votes, votes.where("lang!=fr", "agent!=c").agents
        (2, ('a', 'b'))
        """
        from softcondorcet.io.conditions import conditions as parsed, select

        return select(self, (*parsed(conditions), *parsed(equal)))

    def balanced(self, by: str = "groups") -> Profile:
        """The same votes, weighted so that each group counts the same, whatever its number of votes.

        ``by`` is "groups" (tasks, judges, prompts) or any column. The weights of a group keep their proportions, those
        of all votes their sum; what only some agents took part in stays missing for the others.

        >>> columns = {"task": ["x", "x", "x", "y"]}
        >>> votes = Profile.from_rankings([["a", "b"], ["a", "b"], ["a", "b"], ["b", "a"]], columns=columns)
        >>> [round(weight, 3) for weight in votes.balanced("task").weight.tolist()]
        [0.667, 0.667, 0.667, 2.0]
        """
        from softcondorcet.io.balance import balanced

        return balanced(self, by)

    @classmethod
    def from_rankings(
        cls,
        rankings: Iterable[Ranking],
        *,
        weights: Iterable[float] | None = None,
        agents: Sequence[str] | None = None,
        columns: Mapping[str, Column | Sequence[object]] | None = None,
        group_by: str | None = None,
        kind: Kind | None = None,
    ) -> Profile:
        """Votes as lists of names, best first; a nested list is a tie.

        ``columns`` says more about each vote, such as ``{"judge": ["ann", "ben"]}``; ``group_by`` names one of them.

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
            raise DataError("agents: a name appears twice")
        arrays = np.array(start), np.array(agent), np.array(tier), weight
        return cls(tuple(code), *arrays, columns=columns, group_by=group_by, kind=kind)

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
        voter: str | None = None,
    ) -> Profile:
        """Battles, one row each: two agents and who won. Columns not named are found by their usual names.

        ``winner`` holds ``model_a``, ``model_b`` or the agent's name, ``tie`` or ``both_bad``: see the page on formats.
        """
        from softcondorcet.io.assemble import as_table, battles

        names: dict[str, Any] = {
            "a": a,
            "b": b,
            "winner": winner,
            "weight": weight,
            "group": group,
            "when": when,
            "voter": voter,
        }
        return cls(**battles(as_table(frame), **names))

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
        from softcondorcet.io.assemble import as_table, scores

        names: dict[str, Any] = {"agent": agent, "task": task, "score": score, "weight": weight}
        return cls(**scores(as_table(frame), higher_is_better=higher_is_better, **names))

    def _check(self) -> None:
        """Everything the kernels take for granted, with the vote named where it fails."""
        m, n = self.n_agents, self.n_votes
        _unique_names(self.agents)
        if len(self.start) != n + 1 or self.start[0] != 0 or self.start[-1] != len(self.agent):
            raise DataError(f"start: expected {n + 1} offsets from 0 to {len(self.agent)}")
        if len(self.tier) != len(self.agent):
            raise DataError(f"tier: expected {len(self.agent)} entries, got {len(self.tier)}")
        if self.score is not None and (self.higher_is_better is None or len(self.score) != len(self.agent)):
            raise DataError(f"score: expected {len(self.agent)} scores, and higher_is_better for each vote")
        about = {name: getattr(self, name) for name in ("when", "turned", "higher_is_better", "unbalanced")}
        for name, column in {**about, **self.columns.made}.items():
            if column is not None and len(column) != n:
                raise DataError(f"{name}: expected one entry for each of {n} votes, got {len(column)}")
        for name, column in self.entry_columns.made.items():
            if len(column) != len(self.agent):
                raise DataError(f"{name}: expected {len(self.agent)} entries, one for each agent of each vote")
        if self.group_by is not None and self.group_by not in self.columns:
            hint = near(self.group_by, self.columns)
            raise DataError(f"group_by: no column {self.group_by!r}; found {some(map(repr, self.columns))}{hint}")
        if self.when is not None:
            check_each(~np.isfinite(self.when), lambda v: f"vote {v + 1}: its time is not a finite number")
        if n == 0:
            return
        with np.errstate(over="ignore"):
            if self.n_pairs_compared > 1e300:
                raise DataError("weights: they add up to more than 1e300 comparisons, beyond what floats can count")
        check_each(self.length < 1, lambda v: f"vote {v + 1}: expected at least one agent, got none")
        check_each(
            ~(np.isfinite(self.weight) & (self.weight >= 0)),
            lambda v: f"vote {v + 1}: weight is {self.weight[v]}; expected a number that is not negative",
        )
        check_each(
            (self.agent < 0) | (self.agent >= m),
            lambda e: f"vote {np.searchsorted(self.start, e, 'right')}: no agent has number {self.agent[e]}",
        )
        tier = tiers_of(self.agents, self.start, self.agent, self.tier)
        tier.setflags(write=False)
        object.__setattr__(self, "tier", tier)

    def _guessed_kind(self) -> Kind:
        longest = int(self.length.max(initial=0))
        return "games" if 0 < 2 * longest <= self.n_agents else "election"


def as_profile(data: object, words: str = "a Profile or Pairs; sc.read makes one") -> Profile:
    """The profile, or an error for anything else."""
    if not isinstance(data, Profile):
        hint = "; sc.read(..., engine='memory') keeps the votes" if type(data).__name__ == "Pairs" else ""
        raise OptionError(f"data must be {words}, got {type(data).__name__}{hint}")
    return data


_DTYPES = {
    "start": np.int64,
    "agent": np.int32,
    "tier": np.int32,
    "weight": np.float64,
    "when": np.float64,
    "turned": np.bool_,
    "score": np.float64,
    "higher_is_better": np.bool_,
    "unbalanced": np.float64,
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
        raise DataError(f"agents: {twice!r} appears twice")
