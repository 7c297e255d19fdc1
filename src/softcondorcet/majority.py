"""Facts of the pairs before any model: who beats whom, the Condorcet winner, the Smith set, connected groups.

"a beats b" means that more votes put a above b than b above a. All of it works on sparse pairs in O(pairs + m log m).
Two agents never compared count as neither beating the other: a strong Condorcet winner must have met everyone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, in_order_of, sum_by
from softcondorcet.checks import one_of
from softcondorcet.kernels import graph
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile

Data = Profile | Pairs
Fact = TypeVar("Fact")


def _kept(fact: Callable[[Pairs], Fact]) -> Callable[[Data], Fact]:
    """Compute a fact about pairs once, and keep it with them: every method asks for the same few."""

    @wraps(fact)
    def known(data: Data) -> Fact:
        pairs = data if isinstance(data, Pairs) else as_pairs(data)
        kept = vars(pairs).setdefault("_majority", {})
        if fact.__name__ not in kept:
            kept[fact.__name__] = fact(pairs)
        found: Fact = kept[fact.__name__]
        return found

    return known


@_kept
def condorcet_winner(pairs: Pairs) -> str | None:
    """The agent that beats every other one, if there is one (the strong Condorcet winner)."""
    return _single(pairs, n_beaten(pairs))


@_kept
def condorcet_loser(pairs: Pairs) -> str | None:
    """The agent that every other one beats, if there is one."""
    return _single(pairs, n_beaten_by(pairs))


@_kept
def weak_condorcet_winners(pairs: Pairs) -> tuple[str, ...]:
    """Agents that no other one beats. An agent never compared is among them: nothing speaks against it."""
    return _names(pairs, np.flatnonzero(n_beaten_by(pairs) == 0))


@_kept
def smith_set(pairs: Pairs) -> tuple[str, ...]:
    """The smallest group of which each member beats every agent outside.

    It is the first of the levels of dominance, see ``dominance_levels``.
    """
    levels = dominance_levels(pairs, np.zeros(pairs.n_agents, dtype=np.int64))
    return _names(pairs, np.flatnonzero(levels == 0))


def dominance_levels(pairs: Pairs, group: Ints) -> Ints:
    """Level of each agent, 0 for the best: every agent of a level beats all agents of the levels below it.

    Levels are as many as the votes allow, and are found inside each `group` (its agents have levels one after the
    other). Members of a dominating set of s of m agents have at least m - s victories and all others fewer, so such a
    set is a prefix of the agents sorted by victories; a prefix dominates when s (m - s) victories lead out of it.
    """
    m = pairs.n_agents
    won, lost = victories(pairs)
    order = np.lexsort((-np.bincount(won, minlength=m), group))
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(m)
    # A victory of w over l leaves every prefix that holds w but not l.
    begin, end = place[won], place[lost]
    ahead = begin < end
    leaving = np.bincount(begin[ahead], minlength=m + 1) - np.bincount(end[ahead], minlength=m + 1)
    members = group[order]
    size = np.bincount(group)[members] if m else np.zeros(0, dtype=np.int64)
    prefix = np.arange(m) - np.searchsorted(members, members) + 1
    ends = np.cumsum(leaving)[:m] == prefix * (size - prefix)
    levels = np.zeros(m, dtype=np.int64)
    levels[order[1:]] = np.cumsum(ends[:-1])
    return levels


def connected_groups(data: Data) -> list[tuple[str, ...]]:
    """Groups linked by comparisons, largest first. Ratings of agents in different groups cannot be compared."""
    pairs = as_pairs(data)
    return _groups(pairs, linked_labels(pairs))


def largest_group(data: Data) -> Pairs:
    """The pairs among the agents of the largest group linked by comparisons; all of them, mostly."""
    pairs = as_pairs(data)
    label = linked_labels(pairs)
    size = np.bincount(label, minlength=1)
    return pairs_among(pairs, label == np.argmax(size))


def pairs_among(pairs: Pairs, inside: Flags) -> Pairs:
    """The pairs among some agents, who are numbered anew in the same order."""
    if inside.all():
        return pairs
    number = np.cumsum(inside, dtype=np.int32) - 1
    kept = inside[pairs.left] & inside[pairs.right]
    counts = (column[kept] for column in (pairs.wins, pairs.losses, pairs.ties))
    return Pairs(
        _names(pairs, np.flatnonzero(inside)),
        number[pairs.left[kept]],
        number[pairs.right[kept]],
        *counts,
        kind=pairs.kind,
    )


def strong_groups(data: Data, by: str = "wins") -> list[tuple[str, ...]]:
    """Strongly connected groups, from the top down, of the graph in which a leads to b if a

    - was ever above b (``by="wins"``): Bradley-Terry ratings are finite only inside such a group;
    - beats b (``by="majority"``): agents of one group stand on a common cycle of the majority.
    """
    pairs = as_pairs(data)
    label = strong_labels(pairs, by)
    members: list[list[str]] = [[] for _ in range(label.max(initial=-1) + 1)]
    for name, k in zip(pairs.agents, label.tolist(), strict=True):
        members[k].append(name)
    return [tuple(group) for group in members]


def linked_labels(pairs: Pairs, linked: Flags | None = None) -> Ints:
    """A number for each agent, the same for agents joined by pairs; by the `linked` ones where that is given."""
    which = np.ones_like(pairs.left, dtype=bool) if linked is None else linked
    labels: Ints = graph.connected(pairs.left, pairs.right, which, len(pairs.agents))
    return labels


def strong_labels(pairs: Pairs, by: str = "wins") -> Ints:
    """Number of the strongly connected group of each agent; an edge only leads to the same or a higher number."""
    one_of("by", ("wins", "majority"), by)
    if by == "wins":
        forward, backward = pairs.wins > 0, pairs.losses > 0
    else:
        forward, backward = pairs.margin > 0, pairs.margin < 0
    source = np.concatenate([pairs.left[forward], pairs.right[backward]])
    target = np.concatenate([pairs.right[forward], pairs.left[backward]])
    m = pairs.n_agents
    turn = in_order_of(source, m)
    row = np.zeros(m + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=m), out=row[1:])
    return strongly_connected(row, target[turn])


def strongly_connected(row: Ints, target: Ints) -> Ints:
    """Number of each agent's strongly connected component, counted from the sources down.

    Edges of agent a lead to ``target[row[a]:row[a + 1]]``. An edge between components leads to a higher number.
    """
    m = len(row) - 1
    label = np.full(m, -1)
    count: int = graph.visit(row, target, label, np.full(m, -1), *np.zeros((3, m), dtype=np.int64), row[:-1].copy())
    return count - 1 - label  # Tarjan's algorithm finishes sinks first


@_kept
def undefeated(pairs: Pairs) -> tuple[str, ...]:
    """Agents that were above another one and never below one: without a prior their strength has no upper limit."""
    won, lost = _decided(pairs)
    return _names(pairs, np.flatnonzero((won > 0) & (lost == 0)))


@_kept
def winless(pairs: Pairs) -> tuple[str, ...]:
    """Agents that were below another one and never above one."""
    won, lost = _decided(pairs)
    return _names(pairs, np.flatnonzero((won == 0) & (lost > 0)))


@_kept
def unlisted(pairs: Pairs) -> tuple[str, ...]:
    """Agents that no vote compares with another one."""
    seen = np.zeros(pairs.n_agents, dtype=bool)
    seen[pairs.left] = seen[pairs.right] = True
    return _names(pairs, np.flatnonzero(~seen))


def victories(pairs: Pairs) -> tuple[Ints, Ints]:
    """Winner and loser of each pair that one agent beats the other in; a zero margin is no victory."""
    up, down = pairs.margin > 0, pairs.margin < 0
    return (
        np.concatenate([pairs.left[up], pairs.right[down]]),
        np.concatenate([pairs.right[up], pairs.left[down]]),
    )


def n_beaten(pairs: Pairs) -> Ints:
    """How many others each agent beats."""
    return _counted(pairs, pairs.margin > 0, pairs.margin < 0)


def n_beaten_by(pairs: Pairs) -> Ints:
    """How many others beat each agent."""
    return _counted(pairs, pairs.margin < 0, pairs.margin > 0)


def _counted(pairs: Pairs, left: Flags, right: Flags) -> Ints:
    m = pairs.n_agents
    return np.bincount(pairs.left[left], minlength=m) + np.bincount(pairs.right[right], minlength=m)


@_kept
def _decided(pairs: Pairs) -> tuple[Floats, Floats]:
    """Comparisons won and lost by each agent."""
    m = pairs.n_agents
    return (
        sum_by(pairs.left, pairs.wins, m) + sum_by(pairs.right, pairs.losses, m),
        sum_by(pairs.left, pairs.losses, m) + sum_by(pairs.right, pairs.wins, m),
    )


def _single(pairs: Pairs, count: Ints) -> str | None:
    """The agent with m - 1 of something, of which there can be only one."""
    full = np.flatnonzero(count == len(count) - 1)
    return pairs.agents[full[0]] if len(full) and len(count) > 1 else None


def _groups(pairs: Pairs, label: Ints) -> list[tuple[str, ...]]:
    members: dict[int, list[str]] = {}
    for name, k in zip(pairs.agents, label.tolist(), strict=True):
        members.setdefault(k, []).append(name)
    return [tuple(group) for group in sorted(members.values(), key=len, reverse=True)]


def _names(pairs: Pairs, numbers: Ints) -> tuple[str, ...]:
    return tuple(pairs.agents[k] for k in numbers)
