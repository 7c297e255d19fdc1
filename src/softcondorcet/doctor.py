"""What the data can support, before any model: counts, connections, who beats whom, and what looks wrong.

``inspect`` gathers facts and findings. A finding says how bad it is, what was seen, with the number, and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from softcondorcet import majority
from softcondorcet.profile import Profile


@dataclass(frozen=True)
class Finding:
    """One thing to know: "problem" makes some answers meaningless, "caution" weakens them, "note" is good to know."""

    severity: Literal["problem", "caution", "note"]
    name: str
    number: float
    text: str


@dataclass(frozen=True)
class Inspection:
    """Facts and findings about a profile. ``healthy`` when nothing is a problem."""

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
    majority_cycles: int
    largest_cycle: int
    undefeated: tuple[str, ...]
    winless: tuple[str, ...]
    unlisted: tuple[str, ...]
    duplicate_votes: int
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        return all(finding.severity != "problem" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with stable keys."""
        return {"healthy": self.healthy, **asdict(self)}

    def lines(self) -> list[str]:
        """The same for people to read."""
        seen = 100 * self.pairs_seen / self.pairs_possible if self.pairs_possible else 0.0
        facts = [
            ("agents", f"{self.n_agents:,}"),
            (
                "votes",
                f"{self.n_votes:,} (total weight {self.total_weight:,g}), of {self.shortest_vote} to "
                f"{self.longest_vote} agents",
            ),
            ("comparisons", f"{self.comparisons:,g}, {100 * self.tied_share:.1f} % ties"),
            ("pairs compared", f"{self.pairs_seen:,} of {self.pairs_possible:,} ({seen:.3g} %)"),
            ("groups", f"{self.groups}, of {_some([str(size) for size in self.group_sizes])} agents"),
            ("Condorcet winner", self.condorcet_winner or "none"),
            ("Smith set", f"{len(self.smith_set)}: {_some(self.smith_set)}"),
            ("majority cycles", str(self.majority_cycles)),
            ("duplicate votes", f"{self.duplicate_votes:,}"),
        ]
        notes = [f"{finding.severity}: {finding.text}" for finding in self.findings]
        return [*(f"{name:17} {value}" for name, value in facts), *([""] if notes else []), *notes]

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def inspect(profile: Profile) -> Inspection:
    """Look at a profile without fitting anything. O(pairs).

    >>> inspect(Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]])).smith_set
    ('a', 'b', 'c')
    """
    pairs = profile.pairs()
    core = majority.largest_group(pairs)
    groups = majority.connected_groups(pairs)
    sizes = tuple(len(group) for group in groups)
    cycles = [len(group) for group in majority.strong_groups(pairs, by="majority") if len(group) > 1]
    facts: dict[str, Any] = {
        "n_agents": profile.n_agents,
        "n_votes": profile.n_votes,
        "total_weight": float(profile.weight.sum()),
        "shortest_vote": int(profile.length.min(initial=profile.n_agents)),
        "longest_vote": int(profile.length.max(initial=0)),
        "comparisons": pairs.total,
        "tied_share": float(pairs.ties.sum() / pairs.total) if pairs.total else 0.0,
        "pairs_seen": len(pairs),
        "pairs_possible": profile.n_agents * (profile.n_agents - 1) // 2,
        "groups": sum(size > 1 for size in sizes),
        "group_sizes": sizes[:20],
        "condorcet_winner": majority.condorcet_winner(core),
        "condorcet_loser": majority.condorcet_loser(core),
        "weak_condorcet_winners": majority.weak_condorcet_winners(core),
        "smith_set": majority.smith_set(core),
        "majority_cycles": len(cycles),
        "largest_cycle": max(cycles, default=0),
        "undefeated": majority.undefeated(pairs),
        "winless": majority.winless(pairs),
        "unlisted": majority.unlisted(pairs),
        "duplicate_votes": duplicate_votes(profile),
    }
    return Inspection(**facts, findings=tuple(_findings(facts, groups, profile.when is not None)))


def duplicate_votes(profile: Profile) -> int:
    """Votes that say exactly what an earlier one says: same order, and same group and time where those are known.

    Votes are compared by 64-bit sums of scrambled (agent, tier) codes, so the order inside a tier does not matter.
    """
    if not profile.n_votes:
        return 0
    code = _scramble((profile.agent.astype(np.uint64) << np.uint64(32)) + profile.tier.astype(np.uint64))
    vote = np.add.reduceat(code, profile.start[:-1])
    for extra in (profile.group, profile.when):
        if extra is not None:
            vote = _scramble(vote ^ extra.astype(np.float64).view(np.uint64))
    return int(profile.n_votes - len(np.unique(vote)))


def _scramble(x: Any) -> Any:
    """The finaliser of splitmix64: neighbouring codes become unrelated words (Steele, Lea and Flood, 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _findings(facts: dict[str, Any], groups: list[tuple[str, ...]], timed: bool) -> list[Finding]:
    found = []
    if facts["comparisons"] == 0:
        found.append(Finding("problem", "nothing-compared", 0, "no vote compares two agents: there is nothing to rank"))
    linked = [group for group in groups if len(group) > 1]
    if len(linked) > 1:
        found.append(
            Finding(
                "problem",
                "disconnected",
                len(linked),
                f"{len(linked)} groups of agents never met: ratings across them mean nothing. "
                f"Compare one of {_some(linked[1])} with one of {_some(linked[0])}",
            )
        )
    if facts["unlisted"]:
        found.append(
            Finding(
                "caution",
                "unlisted",
                len(facts["unlisted"]),
                f"in no comparison: {_some(facts['unlisted'])}. Their rating is the starting value",
            )
        )
    for name, words in (("undefeated", "never below another agent"), ("winless", "never above another agent")):
        if facts[name]:
            found.append(
                Finding(
                    "caution",
                    name,
                    len(facts[name]),
                    f"{words}: {_some(facts[name])}. Only bounds or a prior limit their ratings; more votes would",
                )
            )
    if facts["condorcet_winner"] is None and facts["largest_cycle"]:
        found.append(
            Finding(
                "note",
                "cycles",
                facts["largest_cycle"],
                f"{facts['majority_cycles']} cycle{'s' * (facts['majority_cycles'] > 1)} in the majority, the largest "
                f"through {facts['largest_cycle']} agents: every order contradicts one",
            )
        )
    # Battles repeat all the time; a whole ranking of five or more, or a vote of the same second, does not by chance.
    if facts["duplicate_votes"] and (timed or facts["shortest_vote"] >= 5):
        found.append(
            Finding(
                "note",
                "duplicate-votes",
                facts["duplicate_votes"],
                f"{facts['duplicate_votes']} votes repeat an earlier one exactly; imported twice?",
            )
        )
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
