"""Is a new model worse than the old one? A check for continuous integration, on two leaderboards with rank ranges.

An agent is *better* than it was if its rank range on the new board lies above that on the old one, *worse* if it lies
below; ranges with a rank in common leave it *not told apart*. What ``diff`` says of silence holds here too: an agent
may have changed by less than these votes can show.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from xml.etree import ElementTree

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.evaluation.diff import AnyBoard, Diff, Place, diff
from softcondorcet.formatting import plural, printable
from softcondorcet.leaderboard import SCHEMA

Verdict = Literal["better", "worse", "not told apart", "without a rank"]


@dataclass(frozen=True)
class Check:
    """An agent of the new board against one of the old board; `failed` is whether the check asks for more than that."""

    agent: str
    instead_of: str
    new: Place
    old: Place
    verdict: Verdict
    failed: bool

    def __str__(self) -> str:
        name = self.agent if self.agent == self.instead_of else f"{self.agent} instead of {self.instead_of}"
        way = f"rank {self.old or 'unknown'} before, {self.new or 'unknown'} now"
        return f"{name}: {self.verdict} ({way})"


@dataclass(frozen=True)
class Regression:
    """The checks, in the order of the new board."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> list[Check]:
        """The checks that do not pass."""
        return [one for one in self.checks if one.failed]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per check."""
        return [
            {
                "agent": one.agent,
                "instead_of": None if one.agent == one.instead_of else one.instead_of,
                "before": str(one.old),
                "now": str(one.new),
                "verdict": one.verdict,
                "passed": "no" if one.failed else "yes",
            }
            for one in self.checks[:top]
        ]

    def summary(self) -> list[str]:
        """What failed, in lines for people."""
        failed = self.failed
        if not failed:
            return [f"passed: {plural(len(self.checks), 'agent')} checked"]
        return [f"failed: {len(failed)} of {plural(len(self.checks), 'agent')}", *map(str, failed)]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        rows = [{**row, "passed": row["passed"] == "yes"} for row in self.rows(top)]
        return {"schema": SCHEMA, "passed": not self.failed, "checks": rows}

    def to_json(self, top: int | None = None) -> str:
        return json.dumps(self.to_dict(top), indent=2, ensure_ascii=False, allow_nan=False)

    def to_junit(self) -> str:
        """XML that test reports of continuous integration read: a test case for each check."""
        tests, failures = str(len(self.checks)), str(len(self.failed))
        suite = ElementTree.Element("testsuite", name="sco regress", tests=tests, failures=failures, errors="0")
        for one in self.checks:
            case = ElementTree.SubElement(suite, "testcase", classname="leaderboard", name=printable(one.agent))
            if one.failed:
                ElementTree.SubElement(case, "failure", message=printable(str(one)), type=one.verdict)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def regress(old: AnyBoard, new: AnyBoard, agents: Mapping[str, str] | None = None) -> Regression:
    """Check a new leaderboard against an old one.

    Parameters
    ----------
    old, new: boards with rank ranges: what ``bootstrap`` gives, its JSON or that of a live board, or a file with it.
    agents: the models that are to be better, each with the name of what it replaces on the old board. Each fails unless
        it is told apart as better. None: every agent that both boards have, and each fails only if it is worse.

    >>> old = {"agents": [{"agent": "v1", "rank": 2, "rank_low": 2, "rank_high": 3}]}
    >>> new = {"agents": [{"agent": "v2", "rank": 1, "rank_low": 1, "rank_high": 1}]}
    >>> print(*regress(old, new, {"v2": "v1"}).checks)
    v2 instead of v1: better (rank 2 (2–3) before, 1 (1) now)
    """
    found = diff(old, new)
    for name, places in (("old", found.old), ("new", found.new)):
        if not any(place.low and place.high for place in places.values()):
            raise DataError(f"{name} board: no rank ranges; expected the JSON of 'sco bootstrap' or of a live board")
    pairs = {name: name for name in found.new if name in found.old} if agents is None else dict(agents)
    if not pairs:
        raise DataError("no agent is on both boards; expected some, or which agent replaces which: NEW=OLD")
    for after, before in pairs.items():
        check(after in found.new, "agent", "the name of one on the new board", after)
        check(before in found.old, "agent", "the name of one on the old board", before)
    return Regression(tuple(_checked(found, after, before, agents is not None) for after, before in pairs.items()))


def _checked(boards: Diff, agent: str, instead_of: str, must_gain: bool) -> Check:
    new, old = boards.new[agent], boards.old[instead_of]
    verdict: Verdict = "not told apart"
    if new.rank is None or old.rank is None:
        verdict = "without a rank"
    elif new.above(old):
        verdict = "better"
    elif old.above(new):
        verdict = "worse"
    return Check(agent, instead_of, new, old, verdict, verdict != "better" if must_gain else verdict == "worse")
