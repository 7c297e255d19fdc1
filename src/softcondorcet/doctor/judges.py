"""Judges, tasks or other groups of votes that differ from the rest: in taste, in favours, in ties, in number.

Early and late votes are two such groups: do they agree?
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.doctor.comparisons import Case, Comparisons
from softcondorcet.doctor.finding import FEWEST, Finding, Unchecked, critical, excess
from softcondorcet.formatting import percent, some

# Differences smaller than these are real where votes prove them, but move no order: points of agreement with the
# others, of an agent's win share, of the share of ties.
_AGREE, _FAVOUR, _TIES = 0.1, 0.2, 0.2


def judges(case: Case) -> Iterator[Finding]:
    """Groups of votes that favour an agent, and groups that go against the others about the rest as well."""
    favourites = _favourites(case)
    against = dissenting(case, {g: a for g, (a, _) in favourites.items()})
    accused = {g for g, *_ in against}
    yield from _dissent(case, against)
    yield from _favour(case, {g: shifts for g, shifts in favourites.items() if g not in accused})


def _dissent(case: Case, against: list[tuple[int, float, float]]) -> Iterator[Finding]:
    if against:
        groups = case.profile.groups
        shown = [f"{groups[g]} ({percent(had)} where {percent(due)} is usual)" for g, had, due in against]
        text = (
            f"{len(against)} of {len(groups):,} groups side with the majority of a pair less than others: {some(shown)}"
        )
        advice = (
            "Look at their votes: labels the wrong way round, random answers, another task? Then rate without them."
        )
        yield Finding("caution", "judge-dissent", len(against), text, advice, tuple(groups[g] for g, *_ in against))


def _favour(case: Case, favourites: dict[int, tuple[int, float]]) -> Iterator[Finding]:
    if favourites:
        agents, groups = case.profile.agents, case.profile.groups
        shown = [
            f"{groups[g]} puts {agents[a]} {'above' if shift > 0 else 'below'} others "
            f"{100 * abs(shift):.0f} points more often"
            for g, (a, shift) in favourites.items()
        ]
        text = f"{len(favourites)} of {len(groups):,} groups favour or punish an agent against the rest: {some(shown)}"
        advice = "A judge that is kin to the agent, or a slip of labels? See what changes without it (sco robustness)."
        names = tuple(dict.fromkeys([*(groups[g] for g in favourites), *(agents[a] for a, _ in favourites.values())]))
        yield Finding("caution", "judge-favour", len(favourites), text, advice, names)


def dissenting(case: Case, favourites: dict[int, int]) -> list[tuple[int, float, float]]:
    """Groups with their share of comparisons that agree with the majority, and the share that is usual there.

    The result of a comparison, less its mean over all votes on the pair, counts by how clear the pair is: by the margin
    as a share of the comparisons. Comparisons of a group's favourite are left out: they are a finding of their own.
    """
    group, size, each = case.by_group, len(case.profile.groups), case.decided
    favourite = np.full(size, -1)
    favourite[list(favourites)] = list(favourites.values())
    own = favourite[group[each.vote]]
    each = each.only((case.profile.agent[each.entry[0]] != own) & (case.profile.agent[each.entry[1]] != own))
    mean = each.expected(each.result)
    clear = (2 * mean - 1)[each.pair]
    difference = clear * (each.result - mean[each.pair])
    excesses = excess(group, *_per_vote(case, each, difference, each.room(group)), size)
    of = group[each.vote]
    due, had = (
        sum_by(of, each.count * np.sign(clear) * (2 * result - 1), size) for result in (mean[each.pair], each.result)
    )
    total = np.maximum(sum_by(of, each.count * (clear != 0), size), 1.0)
    tested = excesses.votes >= FEWEST
    wrong = np.flatnonzero(tested & (excesses.z < -critical(int(tested.sum()))) & (due - had > 2 * _AGREE * total))
    wrong = wrong[np.argsort(excesses.z[wrong])]
    return [(int(g), (1 + had[g] / total[g]) / 2, (1 + due[g] / total[g]) / 2) for g in wrong]


def _favourites(case: Case) -> dict[int, tuple[int, float]]:
    """Groups in which an agent wins far more, or far less, than it does against the same agents elsewhere.

    With the agent and the difference of win shares; of several agents the one furthest from chance.
    """
    group, m = case.by_group, case.profile.n_agents
    label = group[case.vote_of].astype(np.int64) * m + case.profile.agent
    shifts = [one for one in by_agent(case, label, case.decided.room(group)) if abs(one[2]) > _FAVOUR]
    best: dict[int, tuple[int, float]] = {}
    for key, _, shift in sorted(shifts, key=lambda one: -abs(one[1])):
        best.setdefault(key // m, (key % m, shift))
    return best


def by_agent(case: Case, label: Ints, room: Floats) -> list[tuple[int, float, float]]:
    """Labels of entries whose agent does better or worse than elsewhere: label, z, difference of win shares.

    A label is that of an agent in a group of votes. Those with 20 votes or more are tested, together. The mean that
    results are held against holds the label's own; the difference to all others is larger by 1 / room.
    """
    each = case.decided
    off = each.result - each.expected(each.result)[each.pair]
    n = len(case.profile.agent)
    entry, sign = np.concatenate(each.entry), np.concatenate([off, -off])
    rivals = np.bincount(entry, minlength=n)
    difference = sum_by(entry, sign, n)
    space = sum_by(entry, np.concatenate([room, room]), n) / np.maximum(rivals, 1)
    key, where = np.unique(label, return_inverse=True)
    count = case.count[case.vote_of] * (rivals > 0)
    excesses = excess(where, difference, space, count, len(key))
    tested = excesses.votes >= FEWEST
    limit = critical(int(tested.sum()), sides=2)
    apart = sum_by(where, count * rivals * space, len(key))
    shift = sum_by(where, count * difference, len(key)) / np.where(apart > 0, apart, np.inf)
    return [
        (int(key[k]), float(excesses.z[k]), float(shift[k]))
        for k in np.flatnonzero(tested & (np.abs(excesses.z) > limit))
    ]


def tie_habits(case: Case) -> Iterator[Finding]:
    """Groups that call far more, or far fewer, ties than others do on the same pairs."""
    group, groups = case.by_group, case.profile.groups
    size, each = len(groups), case.comparisons
    tied = each.tied.astype(float)
    off = tied - each.expected(tied)[each.pair]
    excesses = excess(group, *_per_vote(case, each, off, each.room(group)), size)
    shift = sum_by(group[each.vote], each.count * off, size)
    shift /= np.maximum(sum_by(group[each.vote], each.count, size), 1.0)
    tested = excesses.votes >= FEWEST
    limit = critical(int(tested.sum()), sides=2)
    odd = np.flatnonzero(tested & (np.abs(excesses.z) > limit) & (np.abs(shift) > _TIES))
    if len(odd):
        odd = odd[np.argsort(-np.abs(excesses.z[odd]))]
        shown = [f"{groups[g]} ({100 * shift[g]:+.0f} points)" for g in odd]
        text = f"{len(odd)} of {size:,} groups call far more or fewer ties than others on the same pairs: {some(shown)}"
        advice = "Ask how they were told to treat ties; a judge that ties everything says nothing."
        yield Finding("caution", "judge-ties", len(odd), text, advice, tuple(groups[g] for g in odd))


def ties(case: Case) -> Iterator[Finding]:
    """Most comparisons end without a winner."""
    share = float(case.pairs.ties.sum() / case.pairs.total) if case.pairs.total else 0.0
    if share > 0.5:
        text = f"{percent(share)} of comparisons are ties: most say nothing about who is better"
        advice = "Are scores rounded or at their ceiling, or is an unknown answer stored as a tie?"
        yield Finding("caution", "ties", share, text, advice)


def dominant(case: Case) -> Iterator[Finding]:
    """Report a group that outvotes all others together."""
    group, groups = case.by_group, case.profile.groups
    weight = sum_by(group, case.profile.weight * case.profile.length * (case.profile.length - 1), len(groups))
    top, share = int(np.argmax(weight)), float(weight.max() / max(weight.sum(), 1e-300))
    if share > 0.5:
        text = f"{groups[top]} makes {percent(share)} of all comparisons, the other {len(groups) - 1:,} groups the rest"
        advice = "The order is mostly its opinion: --balance groups counts each the same; sco robustness leaves it out."
        yield Finding("caution", "dominant-group", share, text, advice, (groups[top],))


def _per_vote(case: Case, each: Comparisons, difference: Floats, room: Floats) -> tuple[Floats, Floats, Floats]:
    """Differences of comparisons summed per vote, the mean room of its comparisons, and its count if it has any."""
    n = case.profile.n_votes
    compared = np.bincount(each.vote, minlength=n)
    count = case.count * (compared > 0)
    return sum_by(each.vote, difference, n), sum_by(each.vote, room, n) / np.maximum(compared, 1), count


# Twenty points of win share: 40 % early, 60 % late. Less moves an agent by a few places at most.
_MATTERS = 0.2


def drift(case: Case) -> Iterator[Finding]:
    """Agents whose results against the same agents changed between the first and the second half of the votes."""
    when, profile = case.profile.when, case.profile
    if when is None:
        raise Unchecked("votes have no time")
    turn = np.argsort(when, kind="stable")
    half = np.searchsorted(np.cumsum(case.count[turn]), case.count.sum() / 2)
    late = (when > when[turn[min(half, len(when) - 1)]]).astype(np.int64)
    if not late.any():
        raise Unchecked("all votes have one time")
    label = late[case.vote_of] * profile.n_agents + profile.agent
    shifts = by_agent(case, label, case.decided.room(late))
    moved = [(key - profile.n_agents, shift) for key, _, shift in shifts if key >= profile.n_agents]
    moved = sorted((one for one in moved if abs(one[1]) > _MATTERS), key=lambda one: -abs(one[1]))
    if moved:
        names = tuple(profile.agents[k] for k, _ in moved)
        shown = [f"{profile.agents[k]} ({100 * shift:+.0f} points of win share)" for k, shift in moved]
        text = f"{len(moved)} of {profile.n_agents:,} agents do better or worse in late votes: {some(shown)}"
        advice = "An agent that was changed under its name, or other voters? '--half-life auto' counts old votes less, "
        advice += "'sco history FILE' rates over time."
        yield Finding("caution", "time-drift", len(moved), text, advice, names)
