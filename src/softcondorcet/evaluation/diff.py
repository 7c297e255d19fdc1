"""What changed between two leaderboards: who moved, who is new or gone, and whether the votes tell the change apart.

Two agents that changed places may have done so by chance. A move counts as told apart only where the rank ranges of the
agent before and after have no rank in common, which needs boards with ranges (``sco bootstrap``, a live board). That
errs on the side of silence: both boards mostly rest on the same votes, whose chance moves both alike.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some, span
from softcondorcet.leaderboard import SCHEMA

# Agents whose move the summary names.
_SAID = 5


class Ranked(Protocol):
    """``Ratings``, or what ``bootstrap`` gives: rows of a leaderboard."""

    def rows(self, top: int | None = None) -> list[dict[str, Any]]: ...


# A board, its JSON or that of a live board as a dict, or the path of a file with it.
AnyBoard = Ranked | Mapping[str, Any] | str | os.PathLike[str]


@dataclass(frozen=True)
class Place:
    """Where an agent stands on one board: its rank, None without one, and the range of its rank where there is one."""

    rank: int | None
    low: int | None
    high: int | None

    def above(self, other: Place) -> bool:
        """Whether both have ranges, with no rank in common, and this one is the better."""
        return self.high is not None and other.low is not None and self.high < other.low

    def __str__(self) -> str:
        if self.rank is None:
            return ""
        return f"{self.rank}" if self.low is None or self.high is None else f"{self.rank} ({span(self.low, self.high)})"


@dataclass(frozen=True)
class Diff:
    """Two boards side by side: `old` and `new` have the place of each agent, best first."""

    old: Mapping[str, Place]
    new: Mapping[str, Place]

    @property
    def added(self) -> list[str]:
        """Agents that only the new board has."""
        return [agent for agent in self.new if agent not in self.old]

    @property
    def removed(self) -> list[str]:
        """Agents that only the old board has."""
        return [agent for agent in self.old if agent not in self.new]

    @property
    def first(self) -> tuple[list[str], list[str]]:
        """Who had rank 1, and who has it."""
        return _first(self.old), _first(self.new)

    @property
    def moved(self) -> list[str]:
        """Agents whose rank changed among those on both boards, the longest way first."""
        moves = {row["agent"]: row["moved"] for row in self._rows() if row["moved"]}
        return sorted(moves, key=lambda agent: -abs(moves[agent]))

    def told_apart(self, agent: str) -> bool | None:
        """Whether the rank ranges before and after have no rank in common; None where a board has no ranges."""
        old, new = self.old[agent], self.new[agent]
        return None if old.high is None or new.high is None else old.above(new) or new.above(old)

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent of the new board, best first, then those that are gone. `moved` is in places up.

        It counts places among the agents that both boards rank: a newcomer on top moves nobody.
        """
        words = {None: None, True: "yes", False: "no"}
        return [{**row, "told_apart": words[row["told_apart"]]} for row in self._rows()[:top]]

    def _rows(self) -> list[dict[str, Any]]:
        both = [agent for agent in self.new if agent in self.old]
        ranked = [agent for agent in both if self.old[agent].rank is not None and self.new[agent].rank is not None]
        before, after = _ranks(self.old, ranked), _ranks(self.new, ranked)
        return [
            {
                "agent": agent,
                "rank": None if agent not in self.new else self.new[agent].rank,
                "rank_before": None if agent not in self.old else self.old[agent].rank,
                "moved": before[agent] - after[agent] if agent in before else None,
                "told_apart": self.told_apart(agent) if agent in before else None,
            }
            for agent in [*self.new, *self.removed]
        ]

    def summary(self) -> list[str]:
        """What changed, in a few lines for people."""
        lines = [self._first()]
        moves = {row["agent"]: row["moved"] for row in self._rows()}
        lines += [self._move(agent, moves[agent]) for agent in self.moved[:_SAID]]
        more = len(self.moved) - _SAID
        lines += [f"{plural(more, 'more agent')} moved"] if more > 0 else []
        lines += [] if self.moved else ["no agent moved"]
        lines += [f"new: {some(self.added)}"] * bool(self.added) + [f"gone: {some(self.removed)}"] * bool(self.removed)
        return lines

    def _first(self) -> str:
        before, after = (some(agents) if agents else "nobody" for agents in self.first)
        return f"first is {after}" + (", as before" if before == after else f"; it was {before}")

    def _move(self, agent: str, places: int) -> str:
        apart = self.told_apart(agent)
        words = {None: "without ranges", True: "told apart", False: "not told apart"}[apart]
        way = "up" if places > 0 else "down"
        return f"{agent} is {way} {abs(places)}, from {self.old[agent]} to {self.new[agent]}: {words}"

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        before, after = self.first
        return {
            "schema": SCHEMA,
            "first": after,
            "first_before": before,
            "added": self.added,
            "removed": self.removed,
            "agents": self._rows()[:top],
        }

    def to_json(self, top: int | None = None) -> str:
        return json.dumps(self.to_dict(top), indent=2, ensure_ascii=False, allow_nan=False)


def diff(old: AnyBoard, new: AnyBoard) -> Diff:
    """What changed from one leaderboard to another.

    `old` and `new` are ``Ratings``, what ``bootstrap`` gives, the JSON of either or of a live board's
    ``leaderboard.json``, or the path of a file with such JSON.

    >>> from softcondorcet import Profile, sco
    >>> before, after = (sco(Profile.from_rankings([votes])) for votes in (["a", "b", "c"], ["b", "a", "c"]))
    >>> diff(before, after).summary()[0]
    'first is b; it was a'
    """
    return Diff(_places(old), _places(new))


def _places(board: AnyBoard) -> dict[str, Place]:
    """The place of each agent, best first."""
    if isinstance(board, Mapping):
        return _of_data(board, "board")
    if not isinstance(board, str | os.PathLike):
        return _of_rows(board.rows(), "board")
    path = os.fsdecode(board)
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise DataError(f"{path}: {reason}") from None
    return _of_data(data, path)


def _of_data(data: Any, name: str) -> dict[str, Place]:
    """Of the JSON of ratings or a bootstrap (`agents`), or of a live board (`rows`)."""
    rows = next((data[key] for key in ("agents", "rows") if key in data), None) if isinstance(data, Mapping) else None
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not all(isinstance(row, Mapping) for row in rows):
        wanted = "the JSON of 'sco rank', 'sco bootstrap' or leaderboard.json"
        raise DataError(f"{name}: expected {wanted}, with rows under 'agents' or 'rows'")
    return _of_rows(rows, name)


def _of_rows(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for k, row in enumerate(rows, 1):
        agent, ranks = row.get("agent"), [row.get(key) for key in ("rank", "rank_low", "rank_high")]
        if not isinstance(agent, str):
            raise DataError(f"{name}: row {k}: expected an agent's name, got {agent!r:.40}")
        if agent in places:
            raise DataError(f"{name}: row {k}: agent {agent!r:.80} appears twice")
        for rank in ranks:
            if not (rank is None or (isinstance(rank, int) and not isinstance(rank, bool) and rank >= 1)):
                raise DataError(f"{name}: row {k}: expected ranks from 1, got {rank!r:.40}")
        places[agent] = Place(*ranks)
    return places


def _first(places: Mapping[str, Place]) -> list[str]:
    return [agent for agent, place in places.items() if place.rank == 1]


def _ranks(places: Mapping[str, Place], among: Sequence[str]) -> dict[str, int]:
    """Ranks among some of the agents."""
    ranks = {agent: places[agent].rank or 0 for agent in among}
    ascending = sorted(ranks.values())
    first: dict[int, int] = {}
    for k, rank in enumerate(ascending, 1):
        first.setdefault(rank, k)
    return {agent: first[rank] for agent, rank in ranks.items()}
