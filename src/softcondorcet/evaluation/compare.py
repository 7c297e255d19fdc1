"""Many methods on the same votes, side by side: where they disagree, and which of them contradict the majority.

Every method sees the same profile; their orders are compared by Kendall-tau distance and by the discrete loss, the one
number that all orders can be judged by. What a method gets wrong against a Condorcet winner is said in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from softcondorcet import majority
from softcondorcet.checks import Watch, check, not_negative, one_of
from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import MANY, distinct_pairs, over_votes
from softcondorcet.formatting import some
from softcondorcet.methods.placement import Placement, main_pairs
from softcondorcet.methods.registry import METHODS, rank
from softcondorcet.metrics import normalized_kendall_tau_distance
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.tabular import Tabular

# What people look at side by side by default: this library's answer, and what they use today.
USUAL = ("sco", "win_rate", "bradley_terry", "borda")
# Methods that take seconds and a gigabyte where there are more pairs than ``budget.MANY``.
_SLOW = frozenset({"bradley_terry", "plackett_luce", "kemeny", "sigmoidal_program", "ranked_pairs", "schulze"})

Options = Mapping[str, Any]
# Names of methods, or a name of one's own for each method with its options.
Methods = Sequence[str] | Mapping[str, tuple[str, Options]]


@dataclass(frozen=True)
class Comparison(Tabular):
    """The ratings of each method, by its name, on the same votes. The first one is the one to compare with."""

    names: ClassVar[bool] = True

    boards: Mapping[str, Ratings]
    condorcet_winner: str | None
    condorcet_loser: str | None
    smith_set: tuple[str, ...]
    skipped: Mapping[str, str]
    titles: Mapping[str, str] = field(default_factory=dict)

    def title(self, method: str) -> str:
        """The name of a method in words for people."""
        return self.titles.get(method, method)

    def __getitem__(self, method: str) -> Ratings:
        return self.boards[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.boards)

    @cached_property
    def first(self) -> Ratings:
        return next(iter(self.boards.values()))

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent, in the order of the first method: the rank that each method gives, and its facts.

        Agents that the votes do not place have no rank by any method, and come last.
        """
        first = self.first
        return [
            {
                "agent": agent,
                **{name: board.place_of(agent) for name, board in self.boards.items()},
                **({"facts": dict(first.facts[agent])} if agent in first.facts else {}),
            }
            for agent in (first.agents[k] for k in first.listing[:top])
        ]

    def losses(self) -> list[dict[str, Any]]:
        """One dict per method: comparisons its order contradicts, and its distance to the order of the first method.

        The distance is the share of pairs of agents that stand the other way round.
        """
        return [
            {
                "method": name,
                "first": _first(board),
                "discrete_loss": board.discrete_loss,
                "distance": normalized_kendall_tau_distance(self.first, board),
            }
            for name, board in self.boards.items()
        ]

    def distances(self) -> dict[str, dict[str, float]]:
        """The share of pairs of agents that two methods put the other way round, for every two methods."""
        return {
            a: {b: normalized_kendall_tau_distance(x, y) for b, y in self.boards.items()}
            for a, x in self.boards.items()
        }

    def moves(self, top: int | None = 5) -> list[str]:
        """The agents whose rank depends most on the method, in words."""
        places = {
            agent: {self.title(name): board.place_of(agent) or 0 for name, board in self.boards.items()}
            for agent in self._placed
        }
        moved = {agent: ranks for agent, ranks in places.items() if min(ranks.values()) < max(ranks.values())}
        widest = sorted(moved, key=lambda agent: min(moved[agent].values()) - max(moved[agent].values()))
        return [
            f"{agent}: {best} by {_those(ranks, best)}, {worst} by {_those(ranks, worst)}"
            for agent, ranks in ((agent, moved[agent]) for agent in widest[:top])
            for best, worst in [(min(ranks.values()), max(ranks.values()))]
        ]

    @cached_property
    def _placed(self) -> list[str]:
        """The agents with a rank, in the order of the first method."""
        return [agent for agent in self.first.order if self.first.place_of(agent) is not None]

    def violations(self) -> list[str]:
        """What the methods get wrong against the majority, in words."""
        found = []
        winner, loser = self.condorcet_winner, self.condorcet_loser
        for method, board in self.boards.items():
            name = self.title(method)
            tops = [agent for agent in board.order if board.place_of(agent) == 1]
            last = next((agent for agent in reversed(board.order) if board.place_of(agent) is not None), None)
            if winner is not None and tops != [winner]:
                verb = "level with" if winner in tops else "above"
                other = next(agent for agent in tops if agent != winner)
                found.append(f"{name} ranks {other} {verb} {winner} although {winner} beats every agent")
            outside = [agent for agent in tops if agent not in self.smith_set]
            if outside and winner is None:
                beaten_by = f"every agent of the Smith set ({some(self.smith_set)})"
                found.append(f"{name} ranks {outside[0]} first although {beaten_by} beats it")
            placed = loser is not None and last is not None and board.place_of(loser) is not None
            if placed and board[str(loser)] > board[str(last)]:
                found.append(f"{name} ranks {loser} above {last} although every agent beats {loser}")
        return found

    def summary(self) -> list[str]:
        """What there is to see, in a few lines for people."""
        lines = self.violations() or ["no method contradicts a majority about who is first or last"]
        lines += [f"moves {line}" for line in self.moves()] or ["all methods give the same ranks"]
        lines += [f"left out {name}: {reason}" for name, reason in self.skipped.items()]
        return [*lines, *(f"warning: {note}" for note in self.warnings())]

    def warnings(self) -> list[str]:
        """What limits the methods, each said once, with their names where it is not said of all."""
        return shared_warnings(self.boards)

    def to_dict(self) -> dict[str, Any]:
        return {
            "methods": list(self.boards),
            "condorcet_winner": self.condorcet_winner,
            "smith_set": list(self.smith_set),
            "losses": self.losses(),
            "distances": self.distances(),
            "violations": self.violations(),
            "moves": self.moves(),
            "warnings": self.warnings(),
            "skipped": dict(self.skipped),
            "agents": self.rows(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def usual_methods(data: Profile | Pairs) -> tuple[str, ...]:
    """What readers use. Elo depends on the order of votes, so it is among them only where votes have times."""
    timed = isinstance(data, Profile) and data.when is not None and bool((data.weight == 1).all())
    return (*USUAL, "elo") if timed else USUAL


def too_slow(data: Profile | Pairs, methods: Iterable[str]) -> dict[str, str]:
    """Those of the methods that would take too long on so many pairs, each with the reason."""
    pairs = distinct_pairs(data)
    return {name: f"it takes too long on {pairs:,} pairs" for name in methods if pairs > MANY and name in _SLOW}


def compare(
    data: Profile | Pairs,
    methods: Methods | None = None,
    *,
    seed: int = 0,
    time_limit: float = 10.0,
    watch: Watch | None = None,
) -> Comparison:
    """Rate the same votes by several methods.

    Parameters
    ----------
    data: a Profile, or Pairs where all methods need no more.
    methods: names of methods; or a mapping from a name of your own to a method and its options. By default those that
        readers use, less those that would take too long.
    seed: for the methods that draw at random.
    time_limit: seconds for each exact method, which then says how far it may be from the best order.
    watch: called as ``watch(done, methods, None)``.

    A method that cannot work on these votes is left out with its reason (``skipped``), unless none is left.

    >>> votes = Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])
    >>> compare(votes, ["sco", "bradley_terry"]).violations()
    ['bradley_terry ranks A above C although C beats every agent']
    """
    chosen = as_methods(usual_methods(data) if methods is None else methods)
    if not as_pairs(data).n_agents:
        raise DataError("votes: expected at least one agent")
    not_negative("time_limit", time_limit)
    boards: dict[str, Ratings] = {}
    skipped: dict[str, str] = too_slow(data, chosen) if methods is None else {}
    placement = Placement(data)
    for k, (name, (method, options)) in enumerate(chosen.items()):
        if watch is not None:
            watch(k, len(chosen), None)
        if name in skipped:
            continue
        try:
            board = run(data, method, {**options, **over_votes(data, method, options)}, seed, time_limit)
            boards[name] = replace(board, placement=placement)
        except DataError as error:
            skipped[name] = str(error)
    if not boards:
        raise DataError("; ".join(f"{name}: {reason}" for name, reason in skipped.items()))
    core = main_pairs(as_pairs(data))
    return Comparison(
        boards, majority.condorcet_winner(core), majority.condorcet_loser(core), majority.smith_set(core), skipped
    )


def shared_warnings(boards: Mapping[str, Ratings]) -> list[str]:
    """The warnings of several boards, each said once, with their names where it is not said of all."""
    said: dict[str, list[str]] = {}
    for name, board in boards.items():
        for note in board.warnings:
            said.setdefault(note, []).append(name)
    return [note if len(names) == len(boards) else f"{some(names)}: {note}" for note, names in said.items()]


def as_methods(methods: Methods) -> dict[str, tuple[str, Options]]:
    """Methods by the name they are shown under, checked before any of them runs."""
    listed = isinstance(methods, Mapping | Sequence) and not isinstance(methods, str) and len(methods) > 0
    check(listed, "methods", "a list of names of methods", methods)
    chosen = dict(methods) if isinstance(methods, Mapping) else {name: (name, {}) for name in methods}
    for name, found in chosen.items():
        paired = isinstance(found, tuple | list) and len(found) == 2 and isinstance(found[1], Mapping)
        check(paired, "methods", f"a method and its options for {name!r}, such as ('elo', {{}})", found)
        one_of("methods", METHODS, found[0], "among")
    return chosen


def run(data: Profile | Pairs, method: str, options: Options, seed: int, time_limit: float | None = None) -> Ratings:
    """One method among several: those that draw at random get the seed, exact ones the time limit."""
    shared = {"seed": seed} | ({} if time_limit is None else {"time_limit": time_limit})
    known = {name: value for name, value in shared.items() if name in METHODS[method].options}
    return rank(data, method, **{**known, **options})


def _first(board: Ratings) -> str:
    """The agent on top, and how many share its rank."""
    level = int((board.places == 1).sum()) - 1
    if level < 0:
        return "nobody"
    return str(board.agents[board.listing[0]]) + (f" and {level} more" if level else "")


def _those(ranks: Mapping[str, int], place: int) -> str:
    return some([name for name, rank in ranks.items() if rank == place])
