"""Would the answer be another one if a few votes, one agent, one judge had not been there?

Four questions, each answered by rating changed votes with the same method and options, from the start: a warm start
can end in another minimum, which would look like an effect of the change.

- votes: the fewest votes whose removal changes the top agent (``fewest_votes``).
- agents: without one agent, do the others keep their order? (Independence of irrelevant alternatives; no method of
  this library has it in full: Arrow, 1951.)
- groups: without the votes of one judge or task, what changes?
- clones: with a copy of an agent that ties with it in every vote, is the same agent first? (Tideman, 1987.)

Cost: one fit per agent, group and copy, and about 20 per rival for the votes; fits run side by side on the cores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np

from softcondorcet import arrays
from softcondorcet.arrays import sum_by
from softcondorcet.checks import Watch, check, natural, one_of, whole
from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import fits_worth, over_votes
from softcondorcet.evaluation.compare import run
from softcondorcet.evaluation.fewest_votes import Each, Flip, fewest_votes, with_copy, without_agent
from softcondorcet.formatting import plural, some
from softcondorcet.leaderboard import placed
from softcondorcet.methods.registry import METHODS
from softcondorcet.metrics import kendall_tau_distance
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.tabular import Tabular

PARTS = ("votes", "agents", "groups", "clones")
# Agents named as movers of a change.
_MOVERS = 5
# How many of each kind are left out or copied, where a fit takes no time to speak of.
_USUAL = {"agents": 20, "groups": 50, "clones": 5}


@dataclass(frozen=True)
class Move:
    """An agent whose place among the others changes."""

    agent: str
    before: int
    after: int


@dataclass(frozen=True)
class Change:
    """What happens without an agent or a group, or with a copy of an agent.

    Only agents that are there before and after are compared: ``top_before`` and ``top`` are the first of these,
    ``swapped`` the pairs of them that stand the other way round (half for a pair that becomes or ceases to be level),
    ``share`` the same as a share of all their pairs, ``moves`` the agents that move furthest.
    """

    kind: str
    name: str
    top_before: str
    top: str
    swapped: float
    share: float
    moves: tuple[Move, ...]

    @property
    def top_changed(self) -> bool:
        return self.top != self.top_before


@dataclass(frozen=True)
class Robustness(Tabular):
    """How the order of a method stands up to changes of the votes. What was left out, and why, is in ``skipped``."""

    method: str
    options: Mapping[str, Any]
    top: str
    flip: Flip | None
    changes: Sequence[Change]
    skipped: Mapping[str, str]

    def of(self, kind: str) -> list[Change]:
        """The changes of one kind: agent, group or clone."""
        return [change for change in self.changes if change.kind == kind]

    def rows(self) -> list[dict[str, Any]]:
        """One dict per change, those that change the top first, then by how many pairs they swap."""
        ordered = sorted(self.changes, key=lambda change: (not change.top_changed, -change.swapped))
        return [
            {
                "change": _WORDS[change.kind],
                "name": change.name,
                "top": change.top,
                "top_changed": "yes" if change.top_changed else "no",
                "swapped": change.swapped,
                "share": change.share,
            }
            for change in ordered
        ]

    def removed_rows(self, most: int = 20) -> list[dict[str, Any]]:
        """The votes of the set found, one dict per row: its number from 1, how many of its votes, what they say."""
        return [] if self.flip is None else [asdict(removed) for removed in self.flip.removed[:most]]

    def summary(self) -> list[str]:
        """What there is to see, in a few lines for people."""
        lines = [] if self.flip is None else self.flip.lines()
        for kind, (one, many, what) in _SAID.items():
            found = self.of(kind)
            changed = [change for change in found if change.top_changed]
            if changed:
                told = some([f"{change.name} ({change.top} instead of {change.top_before})" for change in changed])
                lines.append(f"{one} {len(changed)} of {len(found)} {many} {what} changes: {told}")
            elif found:
                most = max(found, key=lambda change: change.swapped)
                pairs = plural(most.swapped, "pair swaps", "pairs swap")
                swaps = f"at most {pairs} ({one} {most.name})" if most.swapped else "no pair swaps"
                lines.append(f"{one} any of {len(found)} {many} {what} stays; {swaps}")
        return [*lines, *(f"left out {name}: {reason}" for name, reason in self.skipped.items())]

    def to_dict(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        flip = None if self.flip is None else {**asdict(self.flip), "exact": self.flip.exact}
        changes = [{**asdict(change), "top_changed": change.top_changed} for change in self.changes]
        known = {"method": self.method, "options": dict(self.options), "top": self.top}
        return {**known, "flip": flip, "changes": changes, "skipped": dict(self.skipped)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


_WORDS = {"agent": "without agent", "group": "without group", "clone": "with a copy of"}
_SAID = {
    "agent": ("without", "agents", "the first of the others"),
    "group": ("without", "groups", "the first"),
    "clone": ("with a copy of", "agents", "the first"),
}


def robustness(
    data: Profile,
    method: str = "sco",
    *,
    options: Mapping[str, Any] | None = None,
    parts: Sequence[str] = PARTS,
    rivals: int = 5,
    agents: int | None = None,
    groups: int | None = None,
    clones: int | None = None,
    seed: int = 0,
    board: Ratings | None = None,
    watch: Watch | None = None,
) -> Robustness:
    """Rate changed votes and see whether the order stands.

    Parameters
    ----------
    data: a Profile.
    method, options: a method of ``METHODS`` and its options.
    parts: which questions to ask, of "votes", "agents", "groups" and "clones".
    rivals: agents to look for votes against the top agent for.
    agents, groups, clones: at most this many are left out or copied: the best agents, the groups with most votes; 20,
        50 and 5, or fewer where a fit takes long. What is not tried is said in ``skipped``.
    seed: for the methods that draw at random, the same for every fit.
    board: the ratings of all votes by this method with these options, where they are at hand.
    watch: called as ``watch(done, tasks, None)``.

    >>> votes = Profile.from_rankings([["a", "b", "c"]] * 5 + [["b", "c", "a"]] * 3)
    >>> found = robustness(votes, "kemeny")
    >>> found.flip.bound, found.flip.votes, found.flip.new_top
    (2, 2, 'b')
    """
    profile = as_profile(data, "a Profile: robustness needs votes")
    one_of("method", METHODS, method)
    check(not isinstance(parts, str), "parts", f"among {', '.join(PARTS)}", parts)
    for part in parts:
        one_of("parts", PARTS, part, "among")
    for name, most in (("rivals", rivals), ("agents", agents), ("groups", groups), ("clones", clones)):
        if most is not None:
            whole(name, most)
    natural("seed", seed)
    if profile.n_agents < 2 or not profile.pairs().total:
        raise DataError("votes: no vote compares two agents; expected at least one that does")
    chosen = {**(options or {}), **over_votes(profile, method, options or {})}
    affordable = fits_worth(profile, chosen)

    def fit(votes: Profile) -> Ratings:
        return run(votes, method, chosen, seed)

    board = fit(profile)
    most_of = {"agents": agents, "groups": groups, "clones": clones}
    jobs, skipped = _jobs(profile, board, parts, **_at_most(most_of, affordable))
    condorcet = _ranks_condorcet_winner_first(method, chosen, board)
    with ThreadPoolExecutor(arrays.cores()) as pool:
        each = _watched(pool, watch, len(jobs) + (2 * min(rivals, profile.n_agents - 1) + 1 if "votes" in parts else 0))
        flip = None
        if "votes" in parts:
            flip = fewest_votes(profile, board, fit, condorcet=condorcet, rivals=rivals, each=each, fits=affordable)
        tried = each(lambda job: _change(job, board, fit), jobs)
    for failed in tried:
        skipped |= failed if isinstance(failed, dict) else {}
    changes = tuple(change for change in tried if isinstance(change, Change))
    return Robustness(method, board.options, board.agents[int(placed(board)[0])], flip, changes, skipped)


def _at_most(asked: Mapping[str, int | None], affordable: int) -> dict[str, int]:
    """How many changes of each kind to try: as asked for, or the usual number, or a fair part of those that fit."""
    fair = min(1.0, affordable / sum(_USUAL.values()))
    return {kind: max(1, int(fair * _USUAL[kind])) if most is None else most for kind, most in asked.items()}


def _watched(pool: ThreadPoolExecutor, watch: Watch | None, total: int) -> Each:
    """Work on a list of tasks side by side, and report each one done."""
    done = count(1)

    def each(work: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
        answers = []
        for answer in pool.map(work, tasks):
            answers.append(answer)
            if watch is not None:
                watch(next(done), total, None)
        return answers

    return each


Job = tuple[str, str, Callable[[], Profile]]


def _jobs(
    profile: Profile, board: Ratings, parts: Sequence[str], agents: int, groups: int, clones: int
) -> tuple[list[Job], dict[str, str]]:
    """What to change: kind, name, and the changed votes, made when they are needed; and what is not tried."""
    jobs: list[Job] = []
    skipped: dict[str, str] = {}
    names, best = profile.agents, placed(board).tolist()
    if "agents" in parts and profile.n_agents > 2:
        jobs += [("agent", names[k], lambda k=k: without_agent(profile, k)) for k in best[:agents]]  # type: ignore[misc]
        if profile.n_agents > agents:
            skipped["agents"] = f"only the best {agents} of {profile.n_agents:,} are left out in turn"
    if "groups" in parts and profile.group is not None:
        codes, weight = np.unique(profile.group), sum_by(profile.group, profile.weight, len(profile.groups))
        codes = codes[np.argsort(-weight[codes], kind="stable")]
        for g in codes[:groups] if len(codes) > 1 else []:
            jobs.append(("group", profile.groups[g], lambda g=g: profile.take(profile.group != g)))  # type: ignore[misc]
        if len(codes) > groups:
            skipped["groups"] = f"only the {groups} of {len(codes):,} with most votes are left out in turn"
    elif "groups" in parts:
        skipped["groups"] = "votes have no judge, task or group"
    if "clones" in parts:
        jobs += [("clone", names[k], lambda k=k: with_copy(profile, k)) for k in best[:clones]]  # type: ignore[misc]
        if profile.n_agents > clones:
            skipped["clones"] = f"only the best {clones} of {profile.n_agents:,} are copied in turn"
    return jobs, skipped


def _change(job: Job, board: Ratings, fit: Callable[[Profile], Ratings]) -> Change | dict[str, str]:
    kind, name, make = job
    try:
        after = fit(make())
    except DataError as error:
        return {f"{_WORDS[kind]} {name}": str(error)}
    there = set(after.agents)
    both = [agent for k in placed(board).tolist() if (agent := board.agents[k]) in there]
    old, new = ({agent: ratings[agent] for agent in both} for ratings in (board, after))
    if kind == "clone":  # a copy that is first is the original that is first
        new[name] = max(new[name], float(after.values[-1]))
    swapped = kendall_tau_distance(old, new)
    order = sorted(both, key=lambda agent: -new[agent])  # stable: level agents as before
    place = {agent: k for k, agent in enumerate(order, 1)}
    moves = [Move(agent, k, place[agent]) for k, agent in enumerate(both, 1) if place[agent] != k]
    moves.sort(key=lambda move: -abs(move.after - move.before))
    share = swapped / (len(both) * (len(both) - 1) / 2) if len(both) > 1 else 0.0
    return Change(kind, name, both[0], order[0], swapped, share, tuple(moves[:_MOVERS]))


def _ranks_condorcet_winner_first(method: str, options: Mapping[str, Any], board: Ratings) -> bool:
    """Whether the method with these options keeps its promise: most do by default, sco where it polishes or shrinks."""
    if "condorcet" not in METHODS[method].properties:
        return False
    kept = board.options.get("polish") or board.options.get("shrink")
    return bool(kept) if method == "sco" else not options or method == "kemeny"
