"""Facts and findings about a profile. Only circumstances are fitted, where there are any."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from softcondorcet import majority
from softcondorcet.checks import Watch
from softcondorcet.doctor import circumstances, connectivity, cycles, duplicates, judges, names, tasks, voters
from softcondorcet.doctor.comparisons import MOST, Case
from softcondorcet.doctor.cycles import Cycle
from softcondorcet.doctor.finding import SEVERITIES, Finding, Severity, Unchecked
from softcondorcet.formatting import number, percent, some
from softcondorcet.profile import Profile, as_profile

# Every check, by what it looks for.
CHECKS: dict[str, Callable[[Case], Iterator[Finding]]] = {
    "compared": connectivity.compared,
    "disconnected": connectivity.disconnected,
    "weakly-linked": connectivity.weakly_linked,
    "one-sided": connectivity.one_sided,
    "few-votes": connectivity.few_votes,
    "coverage": connectivity.coverage,
    "near-duplicates": names.near_duplicates,
    "position-bias": circumstances.position_bias,
    "circumstance": circumstances.circumstances,
    "judge-bias": judges.judges,
    "judge-ties": judges.tie_habits,
    "dominant-group": judges.dominant,
    "ties": judges.ties,
    "time-drift": judges.drift,
    "duplicate-votes": duplicates.duplicates,
    "heavy-votes": duplicates.heavy_votes,
    "missing-tasks": tasks.missing,
    "reversed-tasks": tasks.reversed_tasks,
    "cycles": cycles.cycles,
    **voters.CHECKS,
}


@dataclass(frozen=True)
class Inspection:
    """Facts and findings about a profile. ``healthy`` when nothing is a problem.

    ``unchecked`` has the checks that could not be made, each with its reason.
    """

    n_agents: int
    n_votes: int
    total_weight: float
    shortest_vote: int
    longest_vote: int
    comparisons: float
    tied_share: float
    pairs_seen: int
    pairs_possible: int
    groups: int
    group_sizes: tuple[int, ...]
    condorcet_winner: str | None
    condorcet_loser: str | None
    weak_condorcet_winners: tuple[str, ...]
    smith_set: tuple[str, ...]
    largest_group_winner: str | None
    largest_group_smith_set: tuple[str, ...]
    majority_cycles: int
    largest_cycle: int
    undefeated: tuple[str, ...]
    winless: tuple[str, ...]
    unlisted: tuple[str, ...]
    rarely_compared: tuple[str, ...]
    duplicate_votes: int
    findings: tuple[Finding, ...]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    strongest_cycle: Cycle | None = None

    @property
    def healthy(self) -> bool:
        return self.worst != "problem"

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst finding, None where there is none."""
        severities = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in severities), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        return {"healthy": self.healthy, "worst": self.worst, **asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def lines(self) -> list[str]:
        """The facts and findings as lines of text."""
        share = 100 * self.pairs_seen / self.pairs_possible if self.pairs_possible else 0.0
        facts = [
            ("agents", f"{self.n_agents:,}"),
            (
                "votes",
                f"{self.n_votes:,} (total weight {number(self.total_weight)}), of {self.shortest_vote} to "
                f"{self.longest_vote} agents",
            ),
            ("comparisons", f"{number(self.comparisons)}, {percent(self.tied_share, 1)} ties"),
            ("pairs compared", f"{self.pairs_seen:,} of {self.pairs_possible:,} ({share:.3g} %)"),
            *self._top(),
            ("majority cycles", self._cycles()),
            ("duplicate votes", f"{self.duplicate_votes:,}"),
        ]
        below = [line for finding in self.findings for line in finding.lines()]
        return [*(f"{name:17} {value}" for name, value in facts), *([""] if below else []), *below]

    def _cycles(self) -> str:
        if self.strongest_cycle is None:
            return "0"
        doubt = "" if self.strongest_cycle.beyond_chance else ", which chance can make"
        through = f"{self.majority_cycles}, the largest through {self.largest_cycle:,} agents"
        return f"{through}; the strongest{doubt}: {self.strongest_cycle}"

    def _top(self) -> list[tuple[str, str]]:
        """The agents on top, of all; or, where no votes link some groups of agents, of the largest group."""
        if self.groups < 2:
            winner, smith, where = self.condorcet_winner, self.smith_set, ""
        else:
            winner, smith = self.largest_group_winner, self.largest_group_smith_set
            where = f" (among the {self.group_sizes[0]} agents of the largest group)"
        sizes = some([str(size) for size in self.group_sizes], 10)
        return [
            ("linked groups", f"{self.groups}, of {sizes} agents" if self.groups else "none"),
            ("Condorcet winner", (winner or "none") + where),
            ("Smith set", f"{len(smith)}: {some(smith)}{where}"),
        ]


def inspect(profile: Profile, *, most: int = MOST, watch: Watch | None = None) -> Inspection:
    """Look at a profile: O(pairs), and O(comparisons) where judges or times are known.

    Checks that look at comparisons one by one are left out where the votes make more than `most` of them. `watch` is
    called as ``watch(done, checks, None)``.

    >>> inspect(Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]])).smith_set
    ('a', 'b', 'c')
    """
    case = Case(as_profile(profile, "a Profile"), most)
    findings: list[Finding] = []
    unchecked: dict[str, str] = {}
    for k, (name, check) in enumerate(CHECKS.items()):
        if watch is not None:
            watch(k, len(CHECKS), None)
        try:
            findings.extend(check(case))
        except Unchecked as reason:
            unchecked[name] = str(reason)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Inspection(**_facts(case), findings=tuple(findings), unchecked=unchecked)


def _facts(case: Case) -> dict[str, Any]:
    profile, pairs = case.profile, case.pairs
    core = majority.largest_group(pairs)
    groups = [len(group) for group in majority.connected_groups(pairs) if len(group) > 1]
    cycles = [len(group) for group in majority.strong_groups(pairs, by="majority") if len(group) > 1]
    return {
        "n_agents": profile.n_agents,
        "n_votes": profile.n_votes,
        "total_weight": float(profile.weight.sum()),
        "shortest_vote": int(profile.length.min(initial=profile.n_agents)),
        "longest_vote": int(profile.length.max(initial=0)),
        "comparisons": pairs.total,
        "tied_share": float(pairs.ties.sum() / pairs.total) if pairs.total else 0.0,
        "pairs_seen": len(pairs),
        "pairs_possible": profile.n_agents * (profile.n_agents - 1) // 2,
        "groups": len(groups),
        "group_sizes": tuple(groups),
        "condorcet_winner": majority.condorcet_winner(pairs),
        "condorcet_loser": majority.condorcet_loser(pairs),
        "weak_condorcet_winners": majority.weak_condorcet_winners(pairs),
        "smith_set": majority.smith_set(pairs),
        "largest_group_winner": majority.condorcet_winner(core),
        "largest_group_smith_set": majority.smith_set(core),
        "majority_cycles": len(cycles),
        "largest_cycle": max(cycles, default=0),
        "undefeated": majority.undefeated(pairs),
        "winless": majority.winless(pairs),
        "unlisted": majority.unlisted(pairs),
        "rarely_compared": tuple(profile.agents[k] for k in connectivity.rarely_compared(case)[0]),
        "strongest_cycle": case.strongest_cycle,
        "duplicate_votes": duplicates.duplicate_votes(profile),
    }
