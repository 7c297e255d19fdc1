"""What the data can support, before any model: counts, connections, who beats whom, and what looks wrong.

``inspect`` gathers facts and findings. A finding says how bad it is, what was seen, with the number, and what to do.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from softcondorcet import majority
from softcondorcet.errors import some
from softcondorcet.profile import Profile, as_profile


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
    largest_group_winner: str | None
    largest_group_smith_set: tuple[str, ...]
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
            *self._top(),
            ("majority cycles", str(self.majority_cycles)),
            ("duplicate votes", f"{self.duplicate_votes:,}"),
        ]
        notes = [f"{finding.severity}: {finding.text}" for finding in self.findings]
        return [*(f"{name:17} {value}" for name, value in facts), *([""] if notes else []), *notes]

    def _top(self) -> list[tuple[str, str]]:
        """Who is on top: of all agents, or, where these fall into groups, of the largest group."""
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

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def inspect(profile: Profile) -> Inspection:
    """Look at a profile without fitting anything. O(pairs).

    >>> inspect(Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]])).smith_set
    ('a', 'b', 'c')
    """
    pairs = as_profile(profile, "a Profile").pairs()
    core = majority.largest_group(pairs)
    groups = [group for group in majority.connected_groups(pairs) if len(group) > 1]
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
        "groups": len(groups),
        "group_sizes": tuple(len(group) for group in groups),
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
        "duplicate_votes": duplicate_votes(profile),
    }
    return Inspection(**facts, findings=tuple(_findings(facts, groups, profile.when is not None)))


def duplicate_votes(profile: Profile) -> int:
    """Votes that say exactly what an earlier one says: same order, and same group and time where those are known.

    Votes are compared by 64-bit sums of scrambled (agent, tier) codes, so the order inside a tier does not matter.
    """
    if not profile.n_votes:
        return 0
    code = (profile.agent.astype(np.uint64) << np.uint64(32)) + profile.tier.astype(np.uint64)
    code = _scramble(code + np.uint64(0x9E3779B97F4A7C15))  # an odd start: 0 would be scrambled to 0
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
    if len(groups) > 1:
        found.append(
            Finding(
                "problem",
                "disconnected",
                len(groups),
                f"{len(groups)} groups of agents never met: ratings across them mean nothing. "
                f"Compare one of {some(groups[1])} with one of {some(groups[0])}",
            )
        )
    if facts["unlisted"]:
        found.append(
            Finding(
                "caution",
                "unlisted",
                len(facts["unlisted"]),
                f"in no comparison: {some(facts['unlisted'])}. Their rating is the starting value",
            )
        )
    for name, words in (("undefeated", "never below another agent"), ("winless", "never above another agent")):
        if facts[name]:
            found.append(
                Finding(
                    "caution",
                    name,
                    len(facts[name]),
                    f"{words}: {some(facts[name])}. Only bounds or a prior limit their ratings; more votes would",
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
