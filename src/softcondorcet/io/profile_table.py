"""Profiles as tables: the columns of rankings, battles or scores, and what such a table loses.

A column is a list of names, None where there is none, or an array of numbers, nan where there is none. A column without
a role whose name a reader would take for one gets a line below its name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io.cells import fold
from softcondorcet.io.column_names import AGENT, AGENTS, CONTEST, GROUP, PAIRS, RANK, SCORE, TASK, TIES, TIME, WEIGHT
from softcondorcet.io.item_scores import ITEM, METRIC, REPEAT
from softcondorcet.io.outcomes import PLAYERS, POINTS, RESULT, WON_LOST
from softcondorcet.io.vote_columns import EXACT
from softcondorcet.pairs import couples
from softcondorcet.profile import Profile

TableKind = Literal["rankings", "battles", "scores"]
TableColumns = dict[str, list[str | None] | NDArray[Any]]

_ABOUT_VOTES = {*GROUP, *WEIGHT, *TIME, "voter"}
_ITEMS = [name for name in ITEM if name != "turn"]
_TAKEN = {
    "rankings": {*_ABOUT_VOTES, *AGENT, *RANK, *CONTEST, "ranking", "winner", "score", "higher_is_better"},
    "battles": {
        *(*_ABOUT_VOTES, "n", "day", "ties", "tie", "draw", "score", *RESULT),
        *(name for pairs in (PLAYERS, POINTS, WON_LOST) for pair in pairs for name in pair),
    },
    "scores": {
        *(*WEIGHT, *TIME, *AGENTS, *TASK, *SCORE, *_ITEMS, *REPEAT, *METRIC, *RANK, *CONTEST),
        *("winner", "ranking", "higher_is_better"),
        *(name for pair in PAIRS for name in pair),
    },
}


def table_of(profile: Profile, kind: TableKind | None = None) -> tuple[TableColumns, list[str]]:
    """The columns of a table of one kind, and what such a table does not keep, counted.

    Without a kind it is the one that the votes were read from: battles if it is known who was shown first, scores if
    these say all that the votes do, else rankings.
    """
    if kind is None:
        kind = "battles" if _are_battles(profile) else "scores" if _are_scores(profile) else "rankings"
    columns, lost = {"rankings": _rankings, "battles": _battles, "scores": _scores}[kind](profile)
    return columns, [*lost, *lost_with_agents(profile)]


def lost_with_agents(profile: Profile) -> list[str]:
    """What no table of votes keeps about agents and weights."""
    unseen = profile.n_agents - len(np.unique(profile.agent))
    lost = [f"{plural(unseen, 'agent')} in no vote"] if unseen else []
    lost += [f"facts about {plural(len(profile.facts), 'agent')}"] if profile.facts else []
    return [*lost, *(["weights before balancing"] if profile.unbalanced is not None else [])]


def lost_entries(profile: Profile) -> list[str]:
    """What is lost of agents in votes, such as their lanes, where a table has no row for each."""
    names = list(profile.entry_columns)
    return [f"{plural(len(names), 'column')} of agents in votes ({some(map(repr, names))})"] if names else []


def _are_battles(profile: Profile) -> bool:
    games = profile.turned is not None and profile.kind == "games" and not profile.entry_columns
    return games and bool((profile.length == 2).all())


def _are_scores(profile: Profile) -> bool:
    """Whether scores say all that the votes do."""
    try:
        return profile.score is not None and not _scores(profile)[1]
    except DataError:
        return False


def _rankings(profile: Profile) -> tuple[TableColumns, list[str]]:
    """A row for each agent of each vote."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    columns: TableColumns = {
        "vote_id" if profile.kind == "election" else "contest_id": vote + 1,
        "rank": profile.tier + 1,
        "agent": [profile.agents[k] for k in profile.agent.tolist()],
    }
    columns |= _at(about_votes(profile, "rankings"), vote)
    if profile.score is not None:
        columns["score"] = profile.score
    return columns | other_columns(profile.entry_columns, "rankings", columns), []


def about_votes(profile: Profile, kind: TableKind = "rankings") -> TableColumns:
    """What votes have of weight, group, time, voter, other columns, who was shown first, direction of scores."""
    columns: TableColumns = {}
    if (profile.weight != 1).any():
        columns["weight"] = profile.weight
    group = profile.group_by if profile.group_by and profile.group_by.casefold() in GROUP else "group"
    if profile.group is not None:
        columns[group] = [profile.groups[k] for k in profile.group.tolist()]
    if profile.when is not None:
        columns["when"] = profile.when
    others = profile.columns.without(profile.group_by or "")
    columns |= other_columns(others, kind, {group} if profile.group is not None else set())
    if profile.turned is not None and kind == "rankings":
        columns["winner"] = _sides(profile)
    if profile.higher_is_better is not None and kind != "battles":
        columns["higher_is_better"] = profile.higher_is_better.astype(int)
    return columns


def other_columns(known: Mapping[str, Column], kind: TableKind, used: Collection[str]) -> TableColumns:
    """Columns under names that no reader takes for a role; the voter keeps its own."""
    columns: TableColumns = {}
    taken = {*map(fold, _TAKEN[kind]), *map(fold, used)}
    for name, column in known.items():
        free = name
        while fold(free) in taken and name != "voter":
            free += "_"
        taken.add(fold(free))
        columns[free] = _names(column.cells()) if column.values is None else column.values
    return columns


def _names(cells: list[Any]) -> list[str | None]:
    return cells


def _sides(profile: Profile) -> list[str | None]:
    """Which side won each vote over two agents: a was shown first."""
    assert profile.turned is not None
    first = profile.start[:-1]
    two = profile.length == 2
    level = np.zeros(profile.n_votes, dtype=bool)
    level[two] = profile.tier[first[two]] == profile.tier[first[two] + 1]
    word = np.where(~two, 3, np.where(level, 2, profile.turned.astype(int)))
    return [("a", "b", "tie", None)[k] for k in word.tolist()]


def _at(columns: TableColumns, vote: NDArray[Any]) -> TableColumns:
    """The columns of votes in the rows of their agents."""
    rows = vote.tolist()
    return {
        name: column[vote] if isinstance(column, np.ndarray) else [column[v] for v in rows]
        for name, column in columns.items()
    }


# Battles: two agents and who won.


def _battles(profile: Profile) -> tuple[TableColumns, list[str]]:
    """A row for each two agents of each vote, in the order in which they were shown where that is known."""
    first, second = couples(profile.start[:-1], profile.length)
    order = np.argsort(first, kind="stable")
    first, second = first[order], second[order]
    vote = np.searchsorted(profile.start, first, side="right") - 1
    level = profile.tier[first] == profile.tier[second]
    turned = np.zeros(len(vote), dtype=bool) if profile.turned is None else profile.turned[vote] & ~level
    turned &= profile.length[vote] == 2
    a, b = (profile.agent[np.where(turned, *pair)].tolist() for pair in ((second, first), (first, second)))
    left, right, tie = _words(profile)
    columns: TableColumns = {
        left: [profile.agents[k] for k in a],
        right: [profile.agents[k] for k in b],
        "winner": [(left, right, tie)[k] for k in np.where(level, 2, turned.astype(int)).tolist()],
    }
    alone, several = int((profile.length == 1).sum()), int((profile.length > 2).sum())
    lost = [f"{plural(alone, 'vote')} of one agent"] if alone else []
    if several:
        pairs = int((profile.length[vote] > 2).sum())
        lost.append(f"what stood together: {plural(several, 'vote')} became {plural(pairs, 'battle')}")
    if profile.kind == "election":
        lost.append(f"that {plural(profile.n_votes, 'vote')} are those of an election")
    lost += [f"{plural(len(profile.score), 'score')}"] if profile.score is not None else []
    return columns | _at(about_votes(profile, "battles"), vote), lost + lost_entries(profile)


def _words(profile: Profile) -> tuple[str, str, str]:
    """Titles of the two agents and the word for a tie, such that no agent is called so."""
    called = {name.casefold() for name in profile.agents}
    pair = next((pair for pair in PAIRS if called.isdisjoint(pair)), None)
    tie = next((word for word in TIES if word not in called), None)
    if pair is None or tie is None:
        raise DataError("agents are called as the sides of battles are; expected rankings: kind='rankings' keeps them")
    return *pair, tie


# Scores of agents on tasks, or on their items.


def _scores(profile: Profile) -> tuple[TableColumns, list[str]]:
    """A row for each agent of each vote, with its score; an item for each vote where a task has several."""
    if profile.score is None or profile.higher_is_better is None:
        raise DataError("these votes hold no scores; expected scores, or kind='rankings' or 'battles' (--as rankings)")
    task = profile.group if profile.group_by and fold(profile.group_by) in TASK else None
    _refuse_directions(profile, task)
    item = _items(profile, task)
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    known = ~np.isnan(profile.score)
    vote, agent = vote[known], profile.agent[known]
    votes: TableColumns = {}
    if task is not None:
        votes[profile.group_by or "task"] = [profile.groups[k] for k in task.tolist()]
    if item is not None:
        votes["item"] = item
    by_item, lost = item is not None, []
    written = item is not None and item == _item_column(profile)
    left = profile.columns.without(profile.group_by or "").without("item" if written else "")
    # A column called turn holds the items where no other does.
    others = other_columns(left, "scores", [*votes, *([] if by_item else ["turn"])])
    if profile.group is not None and task is None:
        lost.append(f"that {profile.group_by!r} are the groups ({len(profile.groups):,})")
        others[f"{profile.group_by}_"] = [profile.groups[k] for k in profile.group.tolist()]
    if (profile.weight != 1).any() and by_item:
        lost.append(f"weights of {plural(profile.n_votes, 'vote')}")
    elif (profile.weight != 1).any():
        votes["weight"] = profile.weight
    lost += [f"times of {plural(profile.n_votes, 'vote')}"] if profile.when is not None else []
    blank = int((~known).sum())
    lost += [f"{plural(blank, 'place')} without a score"] if blank else []
    apart = _votes_apart(profile, vote, known)
    lost += [f"the order of {plural(apart, 'vote')}, which scores do not give"] if apart else []
    lost += [f"that {plural(profile.n_votes, 'vote')} are games"] if profile.kind == "games" else []
    lost += lost_entries(profile)
    columns: TableColumns = {"agent": [profile.agents[k] for k in agent.tolist()]}
    columns |= _at(votes, vote) | {"score": profile.score[known]}
    columns["higher_is_better"] = profile.higher_is_better.astype(int)[vote]
    return columns | _at(others, vote), lost


def _refuse_directions(profile: Profile, task: NDArray[Any] | None) -> None:
    """All votes of a task must have one direction in a table of scores."""
    assert profile.higher_is_better is not None
    of = np.zeros(profile.n_votes, dtype=int) if task is None else task
    both = np.intersect1d(of[profile.higher_is_better], of[~profile.higher_is_better])
    if len(both):
        names = some([repr(profile.groups[k]) for k in both.tolist()]) if task is not None else "the votes"
        raise DataError(f"{names}: lower is better in some votes, higher in others; expected one: kind='rankings'")


def _items(profile: Profile, task: NDArray[Any] | None) -> list[str | None] | None:
    """The item of each vote: that of its column, else the number of the vote; None where each task has one vote.

    A vote without an item is that of a whole task, which has no other.
    """
    own = _item_column(profile)
    of = [0] * profile.n_votes if task is None else task.tolist()
    if own is not None and len(set(zip(of, own, strict=True))) == profile.n_votes:
        whole = {t for t, item in zip(of, own, strict=True) if item is None}
        if sum(t in whole for t in of) == own.count(None) < profile.n_votes:
            return own
    if task is not None and len(set(of)) == profile.n_votes:
        return None
    return [f"{k}" for k in range(1, profile.n_votes + 1)]


def _item_column(profile: Profile) -> list[str | None] | None:
    column = profile.columns.get("item")
    return None if column is None or profile.group_by == "item" else _names(column.named().cells())


def _votes_apart(profile: Profile, vote: NDArray[Any], known: NDArray[np.bool_]) -> int:
    """How many votes rank their scored agents otherwise than the scores do."""
    assert profile.score is not None and profile.higher_is_better is not None
    tier = profile.tier[known]
    key = np.where(profile.higher_is_better[vote], -profile.score[known], profile.score[known])
    within = vote[1:] == vote[:-1]
    wrong = within & (np.sign(np.diff(tier)) != np.sign(np.diff(key)))
    return len(np.unique(vote[1:][wrong]))


def plain(column: Any) -> list[Any]:
    """The cells of a column as they are written in text."""
    cells: list[Any] = column.tolist() if isinstance(column, np.ndarray) else column
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return cells
    return [None if x != x else int(x) if x.is_integer() and abs(x) < EXACT else x for x in cells]
