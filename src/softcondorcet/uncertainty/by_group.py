"""One board for each group of votes, side by side: by category, language, task, judge, or month.

Each group is rated by itself. An agent has a rank in a group only where the votes of the group compare it: agents that
they do not hold, and those that they never link to the others, have none. What differs is told among the same agents:
the place of an agent in a group, and its place among the agents of that group by all votes.

An order of few votes differs from another by chance alone: which agents do better or worse in a group beyond chance
is asked of the residuals (``group_differences``).

Cost: one fit per group, and as many more as there are resamples; one more, and the comparisons of all votes, for what
differs beyond chance, which is not asked of more than five million.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from softcondorcet import majority
from softcondorcet.checks import Watch, check, natural, not_negative, one_of, whole
from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.evaluation.compare import run, shared_warnings
from softcondorcet.formatting import clipped, number, percent, plural, some, span
from softcondorcet.io.conditions import among, column_named
from softcondorcet.leaderboard import SCHEMA
from softcondorcet.methods.registry import METHODS
from softcondorcet.metrics import normalized_kendall_tau_distance
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.tabular import Tabular
from softcondorcet.uncertainty.bootstrap import bootstrap
from softcondorcet.uncertainty.group_differences import Difference, group_differences
from softcondorcet.uncertainty.intervals import Uncertainty

# Periods that votes with times can be grouped by, as numpy calls them.
PERIODS = {"year": "Y", "month": "M", "day": "D"}
# Groups that a table for people has columns for, and the letters of their names.
_SHOWN, _LETTERS = 8, 20
# Differences that the summary tells, and comparisons above which none are looked for.
_TOLD, _COMPARED = 5, 5_000_000


@dataclass(frozen=True)
class GroupBoard:
    """The board of one group: its votes, and the share of pairs of its agents that all votes order the other way.

    ``apart`` are agents of its votes without a rank here: nothing compares them with the others.
    """

    name: str
    votes: float
    board: Ratings
    distance: float
    apart: tuple[str, ...]
    intervals: Uncertainty | None = None

    @property
    def full(self) -> Ratings | Uncertainty:
        """The board, with its intervals if it has any."""
        return self.intervals or self.board


@dataclass(frozen=True)
class ByGroup(Tabular):
    """Boards by group, and the board of all votes: what ``by_group`` gives.

    ``skipped`` are groups without a board, with the reason; ``more`` and ``more_votes`` count the smaller groups
    that were left out because there are so many. ``differences`` are the agents that do better or worse in a group than
    chance allows, the surest first; None where that was not asked.
    """

    names: ClassVar[bool] = True

    column: str
    overall: Ratings
    groups: Mapping[str, GroupBoard]
    skipped: Mapping[str, str]
    more: int = 0
    more_votes: float = 0.0
    intervals: Uncertainty | None = None
    differences: Sequence[Difference] | None = None

    def __getitem__(self, group: str) -> Ratings:
        return self.groups[group].board

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def method(self) -> str:
        return self.overall.method

    def rows(self, top: int | None = None, most: int | None = _SHOWN) -> list[dict[str, Any]]:
        """One dict per agent, best by all votes first: its rank by all votes and in each of the `most` largest groups.

        None where it has none; with its interval, as text, where the boards have intervals.
        """
        shown = list(self.groups.values()) if most is None else self._largest(most)
        titles = _titles([group.name for group in shown])
        boards = {"overall": self.intervals or self.overall} | {
            title: group.full for title, group in zip(titles, shown, strict=True)
        }
        ranks = {title: _ranks_in_words(board) for title, board in boards.items()}
        order = [self.overall.agents[k] for k in self.overall.listing[:top]]
        return [{"agent": agent, **{title: known.get(agent) for title, known in ranks.items()}} for agent in order]

    def long_rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per group and agent: the row of its leaderboard, its rank by all votes, and how far it moved.

        ``moved`` are places up (or down, below 0) from its place by all votes among the agents of the group.
        """
        return [
            {
                "group": group.name,
                **row,
                "rank_overall": self.overall.place_of(row["agent"]),
                "moved": moved.get(row["agent"]),
            }
            for group in self.groups.values()
            for moved in [self._moved[group.name]]
            for row in group.full.rows(top)
        ]

    def moves(self, top: int | None = 5) -> list[dict[str, Any]]:
        """Where agents stand elsewhere in a group than among its agents by all votes; the widest moves first."""
        found = [
            {"agent": agent, "group": name, "rank": board.place_of(agent), "of": len(board), "moved": moved}
            for name, group in self.groups.items()
            for board in [group.board]
            for agent, moved in self._moved[name].items()
            if moved
        ]
        return sorted(found, key=_width)[:top]

    def summary(self) -> list[str]:
        """What there is to see, in a few lines for people."""
        count = plural(len(self.groups) + len(self.skipped) + self.more, "group")
        lines = [f"{self.method} by {self.column}: {count}"]
        widest = sorted(self.groups.values(), key=lambda group: -group.distance)[:3]
        lines += [
            f"{group.name} orders {percent(group.distance)} of the pairs of its {plural(len(group.board), 'agent')} "
            f"other than all votes do ({plural(group.votes, 'vote')})"
            for group in widest
            if group.distance > 0
        ]
        lines += [
            f"moves {move['agent']}: {move['rank']} of {move['of']} in {move['group']}, "
            f"{move['rank'] + move['moved']} of the same by all votes"
            for move in self.moves()
        ] or ["no agent stands elsewhere than by all votes"]
        if self.moves(1):
            lines += self._beyond_chance()
        unranked = [name for name, group in self.groups.items() if group.apart]
        if unranked:
            lines.append(f"agents that a group never compares with its others have no rank there: {some(unranked)}")
        lines += [f"no board for {name}: {reason}" for name, reason in list(self.skipped.items())[:3]]
        if len(self.skipped) > 3:
            lines.append(f"no board for {len(self.skipped) - 3:,} more groups")
        if self.more:
            rest = f"{plural(self.more, 'smaller group')} with {plural(self.more_votes, 'vote')}"
            lines.append(f"left out: {rest}; all votes count in the column 'overall'")
        if len(self.groups) > _SHOWN:
            lines.append(f"the table has the {_SHOWN} largest groups; csv and json have all {len(self.groups)}")
        return [*lines, *(f"warning: {note}" for note in self.warnings())]

    def _beyond_chance(self) -> list[str]:
        if self.differences is None:
            return ["few votes alone make orders differ: what is more than chance was not asked of so many votes"]
        said = [f"beyond chance: {one.words()}" for one in self.differences[:_TOLD]]
        if len(self.differences) > _TOLD:
            said.append(f"beyond chance: {len(self.differences) - _TOLD} more; json has all")
        return said or ["no agent does better or worse in a group than elsewhere, beyond chance"]

    def warnings(self) -> list[str]:
        """What limits the boards, each said once."""
        boards = {"overall": self.overall} | {name: group.board for name, group in self.groups.items()}
        return shared_warnings(boards)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            "group_by": self.column,
            "groups": [
                {
                    "name": group.name,
                    "votes": group.votes,
                    "n_agents": len(group.board),
                    "distance": group.distance,
                    "apart": list(group.apart),
                    "board": group.full.to_dict(top),
                }
                for group in self.groups.values()
            ],
            "overall": (self.intervals or self.overall).to_dict(top),
            "moves": self.moves(top),
            "differences": None if self.differences is None else [asdict(one) for one in self.differences],
            "skipped": dict(self.skipped),
            "more": {"groups": self.more, "votes": self.more_votes},
            "warnings": self.warnings(),
        }

    def to_json(self, top: int | None = None) -> str:
        return json.dumps(self.to_dict(top), indent=2, ensure_ascii=False, allow_nan=False)

    def _largest(self, most: int) -> list[GroupBoard]:
        """The groups with most votes, in the order of all."""
        largest = sorted(self.groups.values(), key=lambda group: -group.votes)[:most]
        names = {group.name for group in largest}
        return [group for group in self.groups.values() if group.name in names]

    @cached_property
    def _moved(self) -> dict[str, dict[str, int]]:
        """For each group, by agent: places up from where all votes put it among the agents placed in the group."""
        moved: dict[str, dict[str, int]] = {}
        for name, group in self.groups.items():
            placed = np.flatnonzero(group.board.places)
            agents = [group.board.agents[k] for k in placed]
            values = np.array([self.overall[agent] for agent in agents])
            ascending = np.sort(values)
            places = len(values) - np.searchsorted(ascending, values, side="right") + 1
            moved[name] = dict(zip(agents, (places - group.board.places[placed]).tolist(), strict=True))
        return moved


def by_group(
    data: Profile,
    column: str,
    method: str = "sco",
    *,
    n: int = 0,
    most: int = 50,
    least: float = 2,
    seed: int = 0,
    watch: Watch | None = None,
    intervals: Mapping[str, Any] | None = None,
    **options: Any,
) -> ByGroup:
    """One board for each name in a column of the votes, and one of all votes, by any method.

    Parameters
    ----------
    data: a Profile.
    column: one of its columns, "group", or "year", "month" or "day" where votes have times.
    method: a name of ``METHODS``; `options` are those of the method.
    n: resamples of each group, for intervals; 0 for none. `intervals` are further options of ``bootstrap``.
    most: so many groups have a board, those with most votes.
    least: weight of the votes that a group needs for a board.
    seed: for methods that draw at random, and for resamples.
    watch: called as ``watch(group, groups, None)``.

    >>> votes = Profile.from_rankings(
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"], ["c", "a"]], columns={"topic": ["math"] * 2 + ["code"] * 3}
    ... )
    >>> found = by_group(votes, "topic")
    >>> found["math"].order, found["code"].order[-1]
    (['a', 'b'], 'a')
    """
    profile = as_profile(data, "a Profile: pairs do not say which group they are of")
    one_of("method", METHODS, method)
    natural("n", n)
    check(n != 1, "n", "0, or at least 2 resamples", n)
    whole("most", most)
    not_negative("least", least)
    named = _named(profile, column)
    assert named.codes is not None
    weight = np.bincount(named.codes, weights=profile.cast, minlength=len(named.names))
    chosen = np.sort(np.argsort(-weight, kind="stable")[:most])

    def rate(votes: Profile) -> tuple[Ratings, Uncertainty | None]:
        if n:
            found = bootstrap(votes, method, n=n, seed=seed, **(intervals or {}), **options)
            return found.board, found
        return run(votes, method, options, seed), None

    groups, skipped = dict[str, GroupBoard](), dict[str, str]()
    overall, around = rate(profile)
    for k, code in enumerate(chosen.tolist()):
        name = named.names[code]
        if watch is not None:
            watch(k, len(chosen), None)
        try:
            votes, apart = _comparable(profile, named.codes == code, float(weight[code]), least)
            board, ends = rate(votes)
        except DataError as error:
            skipped[name] = str(error)
            continue
        distance = normalized_kendall_tau_distance(board, overall)
        groups[name] = GroupBoard(name, float(weight[code]), board, distance, apart, ends)
    left = np.setdiff1d(np.arange(len(named.names)), chosen)
    compared = float((profile.length * (profile.length - 1.0)).sum()) / 2
    differ = group_differences(profile, named.codes, named.names) if compared <= _COMPARED else None
    return ByGroup(column, overall, groups, skipped, len(left), float(weight[left].sum()), around, differ)


def _named(profile: Profile, column: str) -> Column:
    """The names of the groups and the group of each vote; periods where the votes have times."""
    check(isinstance(column, str), "column", "the name of a column", column)
    place = profile.source.name if profile.source else "votes"
    folded = column.casefold()
    if folded in PERIODS and profile.when is not None and column not in profile.columns:
        stamps = np.clip(profile.when, -6e10, 2.5e11).astype("datetime64[s]").astype(f"datetime64[{PERIODS[folded]}]")
        names, codes = np.unique(stamps, return_inverse=True)
        return Column(codes, tuple(map(str, names)))
    named = column_named(profile, column, place)[0].grouped()
    assert named.codes is not None
    used, codes = np.unique(named.codes, return_inverse=True)
    if not len(used):
        raise DataError(f"{place}: no votes; expected at least one")
    return Column(codes, tuple(named.names[k] for k in used.tolist()))


def _comparable(profile: Profile, mine: Any, weight: float, least: float) -> tuple[Profile, tuple[str, ...]]:
    """The votes of a group over the agents that they compare with each other, and the other agents of its votes."""
    if weight < least:
        raise DataError(f"{plural(weight, 'vote')}; expected {number(least)} or more")
    votes = profile.take(mine)
    votes = among(votes, np.bincount(votes.agent, minlength=votes.n_agents) > 0)
    if votes.balance is not None:
        votes = votes.balanced(votes.balance)  # in each group anew
    linked = [group for group in majority.connected_groups(votes) if len(group) > 1]
    if not linked:
        raise DataError("its votes compare no two agents")
    if len(linked) > 1 and len(linked[0]) == len(linked[1]):
        raise DataError(f"its agents fall into {len(linked)} groups of the same size that never met")
    inside = set(linked[0])
    apart = tuple(agent for agent in votes.agents if agent not in inside)
    return among(votes, np.array([agent in inside for agent in votes.agents])) if apart else votes, apart


def _width(move: Mapping[str, Any]) -> int:
    return -abs(int(move["moved"]))


def _ranks_in_words(board: Ratings | Uncertainty) -> dict[str, int | str]:
    """The rank of each agent, with its interval where there is one."""
    if isinstance(board, Ratings):
        return {agent: rank for agent, rank in zip(board.agents, board.places.tolist(), strict=True) if rank}
    ends = board.board.places.tolist(), board.rank_low.tolist(), board.rank_high.tolist()
    ranked = zip(board.agents, *ends, strict=True)
    return {agent: f"{rank} ({span(low, high)})" for agent, rank, low, high in ranked if rank}


def _titles(names: list[str]) -> list[str]:
    """Names as titles of columns: short, and no two the same."""
    titles: list[str] = []
    for name in names:
        title = clipped(name, _LETTERS) or "(blank)"
        while title in ("agent", "overall", *titles):
            title += "'"
        titles.append(title)
    return titles
