"""What the pairs say before any model: who beats whom, and how the agents hang together.

"a beats b" means that more votes put a above b than b above a. All of it works on sparse pairs in O(pairs + m log m).
Two agents never compared count as neither beating the other: a strong Condorcet winner must have met everyone.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.kernels import graph
from softcondorcet.options import one_of
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile

Data = Profile | Pairs


def condorcet_winner(data: Data) -> str | None:
    """The agent that beats every other one, if there is one (the strong Condorcet winner)."""
    pairs = as_pairs(data)
    return _single(pairs, _won(pairs))


def condorcet_loser(data: Data) -> str | None:
    """The agent that every other one beats, if there is one."""
    pairs = as_pairs(data)
    return _single(pairs, _lost(pairs))


def weak_condorcet_winners(data: Data) -> tuple[str, ...]:
    """Agents that no other one beats. An agent never compared is among them: nothing speaks against it."""
    pairs = as_pairs(data)
    return _names(pairs, np.flatnonzero(_lost(pairs) == 0))


def smith_set(data: Data) -> tuple[str, ...]:
    """The smallest group of which each member beats every agent outside.

    Members of a dominating group of s agents have at least m - s victories and all others fewer, so the group is a
    prefix of the agents sorted by victories; a prefix dominates when s (m - s) victories lead out of it.
    """
    pairs = as_pairs(data)
    m = pairs.n_agents
    won, lost = victories(pairs)
    order = np.argsort(-np.bincount(won, minlength=m), kind="stable")
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(m)
    # A victory of w over l leaves every prefix that holds w but not l.
    leaving = np.zeros(m + 1, dtype=np.int64)
    ahead = place[won] < place[lost]
    np.add.at(leaving, place[won[ahead]] + 1, 1)
    np.add.at(leaving, place[lost[ahead]] + 1, -1)
    out, size = np.cumsum(leaving)[1:], np.arange(1, m + 1)
    dominating = np.flatnonzero(out == size * (m - size))
    return _names(pairs, np.sort(order[: size[dominating[0]]])) if m else ()


def connected_groups(data: Data) -> list[tuple[str, ...]]:
    """Groups linked by comparisons, largest first. Ratings of agents in different groups cannot be compared."""
    pairs = as_pairs(data)
    return _groups(pairs, linked_labels(pairs))


def largest_group(data: Data) -> Pairs:
    """The pairs among the agents of the largest group linked by comparisons; all of them, mostly."""
    pairs = as_pairs(data)
    label = linked_labels(pairs)
    size = np.bincount(label, minlength=1)
    inside = label == np.argmax(size)
    if inside.all():
        return pairs
    number = np.cumsum(inside, dtype=np.int32) - 1
    kept = inside[pairs.left]
    counts = (column[kept] for column in (pairs.wins, pairs.losses, pairs.ties))
    return Pairs(_names(pairs, np.flatnonzero(inside)), number[pairs.left[kept]], number[pairs.right[kept]], *counts)


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
    which = np.ones(len(pairs), dtype=bool) if linked is None else linked
    labels: Ints = graph.connected(pairs.left, pairs.right, which, pairs.n_agents)
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
    turn = np.argsort(source, kind="stable")
    row = np.zeros(pairs.n_agents + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=pairs.n_agents), out=row[1:])
    labels: Ints = graph.strong(row, target[turn])
    return labels


def undefeated(data: Data) -> tuple[str, ...]:
    """Agents that were above another one and never below one: without a prior their strength has no upper limit."""
    pairs = as_pairs(data)
    won, lost = _decided(pairs)
    return _names(pairs, np.flatnonzero((won > 0) & (lost == 0)))


def winless(data: Data) -> tuple[str, ...]:
    """Agents that were below another one and never above one."""
    pairs = as_pairs(data)
    won, lost = _decided(pairs)
    return _names(pairs, np.flatnonzero((won == 0) & (lost > 0)))


def unlisted(data: Data) -> tuple[str, ...]:
    """Agents that no vote compares with another one."""
    pairs = as_pairs(data)
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


def _won(pairs: Pairs) -> Ints:
    return np.bincount(victories(pairs)[0], minlength=pairs.n_agents)


def _lost(pairs: Pairs) -> Ints:
    return np.bincount(victories(pairs)[1], minlength=pairs.n_agents)


def _decided(pairs: Pairs) -> tuple[Floats, Floats]:
    """Comparisons won and lost by each agent."""
    m = pairs.n_agents
    return (
        sum_by(pairs.left, pairs.wins, m) + sum_by(pairs.right, pairs.losses, m),
        sum_by(pairs.left, pairs.losses, m) + sum_by(pairs.right, pairs.wins, m),
    )


def _single(pairs: Pairs, count: Ints) -> str | None:
    """The agent with m - 1 of something, of which there can be only one."""
    full = np.flatnonzero(count == pairs.n_agents - 1)
    return pairs.agents[full[0]] if len(full) and pairs.n_agents > 1 else None


def _groups(pairs: Pairs, label: Ints) -> list[tuple[str, ...]]:
    members: dict[int, list[str]] = {}
    for name, k in zip(pairs.agents, label.tolist(), strict=True):
        members.setdefault(k, []).append(name)
    return [tuple(group) for group in sorted(members.values(), key=len, reverse=True)]


def _names(pairs: Pairs, numbers: Ints) -> tuple[str, ...]:
    return tuple(pairs.agents[k] for k in numbers)
