"""Which agents the votes connect: who was never compared, who rarely, and which few votes link groups of agents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import Finding
from softcondorcet.formatting import number, plural, some
from softcondorcet.kernels import graph

# Ten votes tell a win share only to within 30 points either way (two standard errors of 1/2 / sqrt(10)): two parts of
# the data that no more than ten votes hold together cannot be placed against each other, nor an agent with fewer.
FEW = 10
# An agent with a twentieth of the usual comparisons has an interval more than four times as wide as the usual.
_SHARE = 1 / 20


def compared(case: Case) -> Iterator[Finding]:
    """Check that votes compare agents at all, and which agents no vote compares."""
    if case.pairs.total == 0:
        text = "no vote compares two agents: there is nothing to rank"
        yield Finding("problem", "nothing-compared", 0, text, "Check that the right columns were read (--column).")
    alone = majority.unlisted(case.pairs)
    if alone:
        text = f"in no comparison: {some(alone)}. Their rating is the starting value"
        yield Finding("caution", "unlisted", len(alone), text, "Compare them with others, or leave them out.", alone)
    empty = int(((case.profile.length < 2) | (case.profile.weight == 0)).sum())
    if empty:
        text = f"{empty:,} of {case.profile.n_votes:,} votes compare nothing: they rank one agent or have weight 0"
        yield Finding("note", "empty-votes", empty, text, "They change no rating; check that they were read as meant.")


def disconnected(case: Case) -> Iterator[Finding]:
    """Groups without any comparison between them."""
    groups = [group for group in majority.connected_groups(case.pairs) if len(group) > 1]
    if len(groups) > 1:
        text = f"{len(groups)} groups of agents never met: ratings across them mean nothing"
        parts = [f"{some(group)} ({plural(len(group), 'agent')})" for group in groups]
        advice = f"Compare one of {some(groups[1])} with one of {some(groups[0])}, or rank each group by itself."
        named = tuple(name for group in groups[1:] for name in group)
        yield Finding("problem", "disconnected", len(groups), f"{text}: {some(parts, 5)}", advice, named)


def weakly_linked(case: Case) -> Iterator[Finding]:
    """Parts that more than ten votes hold together, but no more than ten hold to the rest."""
    part = parts(case)
    weak = _weak_parts(case, part)
    if weak:
        agents = case.profile.agents
        named = [tuple(agents[k] for k in np.flatnonzero(part == label)) for label, _ in weak]
        few = [
            f"{plural(cut, 'vote links', 'votes link')} {some(names)} ({plural(len(names), 'agent')})"
            for names, (_, cut) in zip(named, weak, strict=True)
        ]
        text = f"{'; '.join(few[:3])}{f' and {len(few) - 3} more such groups' if len(few) > 3 else ''} to the rest"
        advice = f"Add votes between {some(named[0])} and the others: until then only the order inside is settled."
        involved = tuple(name for names in named for name in names)
        yield Finding("caution", "weakly-linked", len(weak), f"only {text}", advice, involved)


def parts(case: Case) -> Ints:
    """A number for each agent: that of a group that no removal of ten votes can separate, or its own.

    Agents that more than ten votes hold together directly are in one group. If the votes are then used up forest by
    forest, each taking only votes that join what the forest had not joined yet, the agents of a vote left over after
    ten forests are joined by each of the ten and by that vote: by eleven that share none (Nagamochi and Ibaraki,
    1992). They are merged, and the merged ones again, until none are left over. Not all groups are found that way, but
    those found cannot be separated. A single agent goes with the group it was most often compared with.
    """
    return _with_singles(case, inseparable(case))


def inseparable(case: Case) -> Ints:
    """The same, with single agents left alone."""
    m, tally = case.profile.n_agents, case.tally
    together = tally.wins + tally.losses + tally.ties
    if bool((case.profile.length <= 2).all()):
        start = 2 * np.arange(len(tally) + 1)
        member = np.stack([tally.left, tally.right], axis=1).ravel().astype(np.int64)
        votes = together
    else:
        start, member, votes = np.array(case.profile.start), case.profile.agent.astype(np.int64), case.count
    label, before = majority.linked_labels(tally, together > FEW), -1
    capped = np.minimum(votes, FEW + 1).astype(np.int64)
    while len(np.unique(label)) != before:
        before = len(np.unique(label))
        graph.merge(start, label[member], capped.copy(), label, FEW, np.empty(m, dtype=np.int64))
    return label


def _with_singles(case: Case, label: Ints) -> Ints:
    """Single agents go with the part they were compared with most; those compared with none stay alone."""
    tally, m = case.tally, len(label)
    single: Flags = np.bincount(label, minlength=m)[label] == 1
    ends = (tally.left, tally.right), (tally.right, tally.left)
    who = np.concatenate([a[single[a] & ~single[b]] for a, b in ends])
    part = np.concatenate([label[b[single[a] & ~single[b]]] for a, b in ends])
    total = tally.wins + tally.losses + tally.ties
    votes = np.concatenate([total[single[a] & ~single[b]] for a, b in ends])
    key, where = np.unique(who.astype(np.int64) * m + part, return_inverse=True)
    weight = sum_by(where, votes, len(key))
    heaviest = np.lexsort((weight, key // m))
    joined = label.copy()
    joined[key[heaviest] // m] = key[heaviest] % m  # the last one written, the heaviest, stays
    return joined


def _weak_parts(case: Case, part: Ints) -> list[tuple[int, float]]:
    """Parts of at least two agents, but for the largest, with the votes that link them to others; weakest first."""
    m = len(part)
    size = np.bincount(part, minlength=m)
    of = part[case.profile.agent]
    mixed = np.zeros(case.profile.n_votes, dtype=bool)
    first = of[case.profile.start[:-1]] if len(of) else of
    np.logical_or.at(mixed, case.vote_of, of != first[case.vote_of])
    inside = mixed[case.vote_of]
    each = np.unique(case.vote_of[inside] * m + of[inside])
    cut = sum_by(each % m, case.count[each // m], m)
    weak = np.flatnonzero((size > 1) & (cut > 0) & (cut <= FEW))
    kept = [int(k) for k in weak if k != int(np.argmax(size))]
    return sorted(((k, float(cut[k])) for k in kept), key=lambda one: one[1])


def one_sided(case: Case) -> Iterator[Finding]:
    """Agents that only won or only lost."""
    for name, words, agents in (
        ("undefeated", "never below another agent", majority.undefeated(case.pairs)),
        ("winless", "never above another agent", majority.winless(case.pairs)),
    ):
        if agents:
            text = f"{words}: {some(agents)}. Only bounds or a prior limit their ratings; more votes would"
            side = "stronger" if name == "undefeated" else "weaker"
            advice = f"Compare them with {side} agents; read their place, not the distance to the next."
            yield Finding("caution", name, len(agents), text, advice, agents)


def coverage(case: Case) -> Iterator[Finding]:
    """Share of the pairs of agents that were compared."""
    m, compared = case.profile.n_agents, len(case.pairs)
    possible = m * (m - 1) // 2
    if 0 < compared < possible / 2:
        text = f"{compared:,} of {possible:,} pairs of agents were compared ({100 * compared / possible:.2g} %)"
        advice = "The rest of the order is inferred through third agents."
        yield Finding("note", "coverage", compared / possible, text, advice)


def rarely_compared(case: Case) -> tuple[Ints, Floats, float, float]:
    """Agents with few comparisons, fewest first; the comparisons of each agent, their median, and how many are few."""
    tally, m = case.tally, case.profile.n_agents
    total = tally.wins + tally.losses + tally.ties
    had = sum_by(tally.left, total, m) + sum_by(tally.right, total, m)
    usual = float(np.median(had[had > 0])) if had.any() else 0.0
    least = max(float(FEW), usual * _SHARE)
    few = np.flatnonzero((had > 0) & (had < least))
    return few[np.argsort(had[few], kind="stable")], had, usual, least


def few_votes(case: Case) -> Iterator[Finding]:
    """Agents whose rank is provisional."""
    (few, had, usual, least), m = rarely_compared(case), case.profile.n_agents
    if len(few):
        names = tuple(case.profile.agents[k] for k in few)
        shown = some([f"{case.profile.agents[k]} ({number(had[k])})" for k in few])
        text = (
            f"{len(few):,} of {m:,} agents have fewer than {least:,.0f} comparisons (usual: {number(usual)}): {shown}"
        )
        advice = "Mark their ranks as provisional, or collect more votes for them first (sco next)."
        yield Finding("caution" if had[few[0]] < FEW else "note", "few-votes", len(few), text, advice, names)
