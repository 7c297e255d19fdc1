"""Ratings: the result of a method, by name, with everything needed to trust it or not.

A result is never a bare array. It says which method and options made it, whether it converged, how many comparisons of
the votes its order contradicts, and, in words, what limits it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, read_only
from softcondorcet.checks import check, near, positive
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import plural, rounded_up, some
from softcondorcet.leaderboard import SCHEMA, Unplaced, as_dicts, leaderboard, mean_chances
from softcondorcet.optimality import margins, optimality
from softcondorcet.tabular import Tabular

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Ratings(Tabular):
    """Ratings of agents, higher is better. Index by name: ``board["a"]``; ``board.order`` is the answer.

    ``loss`` is the smooth loss that was minimised (None for methods without one), ``discrete_loss`` the sum of
    Kendall-tau distances of all votes to ``order``, ``error`` what the solver had left to do when it stopped.
    ``converged`` and ``error`` are None where there is nothing to measure: stochastic steps have no natural end.
    ``lower_bound`` and ``loss_bound``, where known, are proven: no order has a smaller discrete loss, no ratings in the
    box a smaller smooth one. ``order_certified[a, b]`` is True where a stands above b in every minimum of it.
    Where the gap is 0, ``only_optimum`` says whether no other order contradicts as little (None: not known). If others
    do, ``optimal_orders`` counts them all and ``may_swap`` has the pairs that stand either way in them, where that was
    asked for and can be counted (``optimal_orders.counted``).
    ``status`` says how the search for such a minimum ended.
    ``unit`` is the lead that makes the odds e to 1, for methods whose ratings are log-odds: see ``probability``.
    ``prior``, the precision of the prior on log-odds, and ``kappa``, how many comparisons of each pair the line
    through all agents is worth where margins were shrunk, are those of the largest group of agents; ``precision`` is
    the prior of each agent's own group. ``pooled`` agents share a rating with a neighbour in the order: the votes
    support the order, but no gap; or not even that, of those among them that are ``level`` and go by name. ``pairs``
    say who met whom.
    ``facts`` are those of the votes about agents, by name and title.
    ``condorcet_winner`` and ``smith_set`` are those of the main group of agents, if there is one.
    ``placement`` has the agents without a rank by name: see ``unplaced``, and ``methods.placement`` for the rule.
    """

    agents: tuple[str, ...]
    values: Floats
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    converged: bool | None = None
    steps: int = 0
    error: float | None = None
    loss: float | None = None
    discrete_loss: float | None = None
    lower_bound: float | None = None
    loss_bound: float | None = None
    condorcet_winner: str | None = None
    smith_set: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    votes: Floats | None = None
    errors: Floats | None = None
    order_certified: Flags | None = None
    unit: float | None = None
    status: str | None = None
    prior: float | None = None
    kappa: float | None = None
    pooled: int | None = None
    level: int | None = None
    precision: Floats | None = None
    pairs: Pairs | None = None
    only_optimum: bool | None = None
    optimal_orders: int | None = None
    may_swap: tuple[tuple[str, str], ...] | None = None
    facts: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict)
    placement: Mapping[str, Unplaced] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if len(values) != len(self.agents):
            raise DataError(f"expected {len(self.agents)} ratings, got {len(values)}")
        wrong = ~np.isfinite(values)
        if wrong.any():
            raise DataError(f"rating of {self.agents[int(np.argmax(wrong))]!r}: expected a finite number")
        object.__setattr__(self, "values", read_only(values))
        if self.votes is not None:
            object.__setattr__(self, "votes", read_only(np.array(self.votes, dtype=float)))

    @cached_property
    def index(self) -> Ints:
        """Numbers of the agents, best first; equal ratings in the order of the profile."""
        return np.argsort(-self.values, kind="stable")

    @cached_property
    def order(self) -> list[str]:
        """Names, best first."""
        return [self.agents[k] for k in self.index]

    @cached_property
    def ranks(self) -> Ints:
        """1 + the number of agents with a higher rating, of all that are rated; equal ratings share a rank.

        The rank that tables show counts only agents with a place: see ``places``.
        """
        return 1 + _number_above(self.values, self.values)

    @cached_property
    def _group(self) -> Ints:
        """-1 for an agent with a place, else the number of its group: 0 for the main one."""
        found = (self.placement.get(name) for name in self.agents) if self.placement else iter(())
        group = np.full(len(self), -1)
        for k, one in enumerate(found):
            group[k] = -1 if one is None else one.group
        return group

    @cached_property
    def places(self) -> Ints:
        """Rank of each agent among those that have a place, as tables show it; 0 for an agent without one."""
        placed = self._group < 0
        return np.where(placed, 1 + _number_above(self.values[placed], self.values), 0)

    @cached_property
    def unplaced(self) -> tuple[str | None, ...]:
        """Why an agent has no rank, and what would give it one; None for those that have one. In order of ``agents``.

        Agents of a group that never met the others are ranked in their group: the reason says so.
        """
        reasons: list[str | None] = [None] * len(self)
        for group in np.unique(self._group[self._group >= 0]).tolist():
            members = np.flatnonzero(self._group == group)
            ranks = 1 + _number_above(self.values[members], self.values[members])
            own = group > 0 and len(members) > 1
            for k, rank in zip(members.tolist(), ranks.tolist(), strict=True):
                reason = self.placement[self.agents[k]].reason
                reasons[k] = f"{reason}; {rank} of {len(members)} in its own group" if own else reason
        return tuple(reasons)

    @cached_property
    def listing(self) -> Ints:
        """Numbers of the agents as tables list them: by rating, those without a place below, group by group."""
        return self.index[np.argsort(self._group[self.index], kind="stable")]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.agents)}

    def _find(self, agent: str) -> int:
        try:
            return self._number[agent]
        except KeyError:
            hint = near(agent, self.agents)
            raise KeyError(f"no agent {agent!r} among {len(self.agents)} rated agents{hint}") from None

    def __getitem__(self, agent: str) -> float:
        return float(self.values[self._find(agent)])

    def rank_of(self, agent: str) -> int:
        """The rank of an agent by its rating alone, among all that are rated."""
        return int(self.ranks[self._find(agent)])

    def place_of(self, agent: str) -> int | None:
        """The rank of an agent as tables show it, among those that have a place; None for one without."""
        return int(self.places[self._find(agent)]) or None

    def values_of(self, agents: Sequence[str]) -> Floats:
        """The ratings of all agents, in the order of `agents`."""
        missing = [name for name in agents if name not in self._number]
        if missing or len(agents) != len(self):
            got = f"none of agent {missing[0]!r}" if missing else f"{len(self)} for {len(agents)} agents"
            raise OptionError(f"board must be ratings of the agents of these votes, got {got}")
        values: Floats = self.values[[self._number[name] for name in agents]]
        return values

    def __len__(self) -> int:
        return len(self.agents)

    def __iter__(self) -> Iterator[str]:
        return iter(self.order)

    def __contains__(self, agent: object) -> bool:
        return agent in self._number

    @property
    def gap(self) -> float | None:
        """The share of the discrete loss that a better order might avoid, when a bound is known; 0 is optimal."""
        return _share_left(self.discrete_loss, self.lower_bound)

    @property
    def loss_gap(self) -> float | None:
        """The share of the smooth loss that better ratings in the box might avoid, when a bound is known."""
        return _share_left(self.loss, self.loss_bound)

    @property
    def scale_name(self) -> str:
        """What ratings are: "elo" points, log-"odds", places in the "box" of the paper, or the method's "own"."""
        return str(self.options.get("scale", "own"))

    def probability(self, a: str, b: str) -> float:
        """The chance that a comes out above b: 1 / (1 + exp((rating of b - rating of a) / unit)).

        For methods whose ratings are log-odds (``METHODS[name].link`` says which); others have no ``unit``. nan where
        comparisons never link the two, not even through others: then nothing is known. ``predict`` gives its interval.
        """
        if self.unit is None:
            raise OptionError(f"ratings of {self.method} are not log-odds, so they give no probability")
        if self._linked is not None and self._linked[self._find(a)] != self._linked[self._find(b)]:
            return math.nan
        lead = (self[a] - self[b]) / self.unit
        return float(np.exp(-np.logaddexp(0.0, -lead)))

    @cached_property
    def _linked(self) -> Ints | None:
        """The group of agents linked by comparisons that each agent is in; None where the pairs are not known."""
        from softcondorcet.majority import linked_labels  # a server takes votes before it loads pairs

        return None if self.pairs is None else linked_labels(self.pairs)

    @cached_property
    def win_chances(self) -> Floats | None:
        """The mean chance of each agent to come out above another one, where ratings are log-odds."""
        return None if self.unit is None or len(self) < 2 else mean_chances(self.values / self.unit)

    def scale(self, points: float = 400, base: float = 10, anchor: tuple[str, float] | None = None) -> Ratings:
        """The same ratings in Elo points: a lead of `points` makes the odds `base` to 1.

        The mean becomes 1000 or, with ``anchor=("agent", 1200)``, the rating of that agent 1200. The order, ranks and
        probabilities stay. Ratings that are not log-odds (no ``unit``) are stretched and shifted in the same way, one
        unit of rating for a factor e: the order stays, but points then mean no odds.
        """
        positive("points", points)
        positive("base", base)
        check(base > 1, "base", "a number above 1", base)
        unit = points / math.log(base)
        values = self.values * (unit / (self.unit or 1.0))
        if anchor is None:
            shift = 1000.0 - float(values.mean()) if len(values) else 0.0
        else:
            pair = isinstance(anchor, tuple | list) and len(anchor) == 2 and anchor[0] in self
            pair = pair and isinstance(anchor[1], int | float)
            check(pair, "anchor", "an agent of these ratings and its rating", anchor)
            shift = float(anchor[1]) - float(values[self._find(anchor[0])])
        usual = (points, base) == (400, 10) and self.unit is not None
        options = {**self.options, "scale": "elo" if usual else "own"}
        if anchor is not None:
            options["anchor"] = [str(anchor[0]), float(anchor[1])]
        return replace(self, values=values + shift, unit=unit if self.unit else None, options=options)

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent, best first, with the keys of ``leaderboard.Row``; None for what is not known.

        Agents without a place come last, without a rank and with the reason.
        """
        return as_dicts(leaderboard(self, top=top))

    def summary(self) -> list[str]:
        """What the order rests on, in a few lines for people."""
        ended = {True: ["converged"], False: ["not converged"], None: []}[self.converged]
        ended += [plural(self.steps, "step")] if self.steps else []
        lines = [f"{self.method}: {', '.join(ended)}" if ended else self.method]
        lines += [*margins(self), *optimality(self)]
        if self.loss is not None and self.loss_gap is not None and self.loss_bound is not None:
            near = f"within {rounded_up(self.loss - self.loss_bound)} of " if self.loss_gap > 0 else ""
            lines.append(f"the loss is {self.loss:,.6g}: {near}the global minimum")
        if self.order_certified is not None and len(self) > 1:
            share = f"{int(self.order_certified.sum()):,} of {len(self) * (len(self) - 1) // 2:,} pairs of agents"
            lines.append(f"{share} are proven to stand in this order in every minimum of the loss")
        if self.condorcet_winner is not None:
            others = "each of the others it can be compared with" if (self._group > 0).any() else "every other agent"
            lines.append(f"Condorcet winner: {self.condorcet_winner} beats {others}")
        elif 1 < len(self.smith_set) < int((self._group < 1).sum()):
            lines.append(f"no Condorcet winner; the smallest group that beats all others: {some(self.smith_set, 10)}")
        elif len(self) > 1:
            lines.append("no Condorcet winner, and no smaller group that beats all others")
        apart = [self.agents[k] for k in self.listing if self._group[k] >= 0]
        if apart:
            lines.append(f"{plural(len(apart), 'agent has', 'agents have')} no rank: {some(apart)}")
        return [*lines, *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it. The keys are stable: see the page on JSON output."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            "options": dict(self.options),
            "seed": self.seed,
            "n_agents": len(self),
            "converged": self.converged,
            "status": self.status,
            "steps": self.steps,
            "error": self.error,
            "loss": self.loss,
            "discrete_loss": self.discrete_loss,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "loss_bound": self.loss_bound,
            "loss_gap": self.loss_gap,
            "order_certified": self._certain_pairs(top),
            "only_optimum": self.only_optimum,
            "optimal_orders": self.optimal_orders,
            "may_swap": None if self.may_swap is None else [list(pair) for pair in self.may_swap],
            "condorcet_winner": self.condorcet_winner,
            "smith_set": list(self.smith_set),
            "warnings": list(self.warnings),
            "unit": self.unit,
            "scale": self.scale_name,
            "anchor": self.options.get("anchor"),
            "pooled": self.pooled,
            "level": self.level,
            "shrink": self.kappa is not None,
            "kappa": self.kappa if self.kappa is not None and math.isfinite(self.kappa) else None,
            "prior": self.prior,
            "agents": self.rows(top),
        }

    def _certain_pairs(self, top: int | None) -> list[list[str]] | None:
        """The pairs of `order_certified` by name, the upper one first, among the agents shown."""
        if self.order_certified is None:
            return None
        shown = self.listing[:top]
        above, below = np.nonzero(self.order_certified[np.ix_(shown, shown)])
        return [[self.agents[shown[a]], self.agents[shown[b]]] for a, b in zip(above, below, strict=True)]

    def to_json(self, top: int | None = None) -> str:
        return json.dumps(self.to_dict(top), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Ratings:
        """The inverse of ``to_json``: for warm starts and comparisons. Agents come in order of rating."""
        try:
            data = json.loads(text)
            rows = data["agents"]
            known = bool(rows) and rows[0].get("votes") is not None
            votes = np.array([float(r["votes"]) for r in rows]) if known else None
            agents = tuple(str(r["agent"]) for r in rows)
            if data["method"] == "sco" and "scale" not in data:  # of versions that knew no other scale
                data["options"] = {**data["options"], "scale": "box"}
            return cls(
                agents=agents,
                values=np.array([float(r["rating"]) for r in rows]),
                smith_set=tuple(data["smith_set"]),
                warnings=tuple(data["warnings"]),
                votes=votes,
                unit=data.get("unit"),
                pooled=data.get("pooled"),
                level=data.get("level"),
                prior=data.get("prior"),
                kappa=math.inf if data.get("shrink") and data.get("kappa") is None else data.get("kappa"),
                status=data.get("status"),
                only_optimum=data.get("only_optimum"),
                optimal_orders=data.get("optimal_orders"),
                may_swap=_as_pairs(data.get("may_swap")),
                facts={str(r["agent"]): dict(r["facts"]) for r in rows if r.get("facts")},
                order_certified=_certain_matrix(agents, data.get("order_certified")),
                placement={str(r["agent"]): Unplaced(str(r["unplaced"])) for r in rows if r.get("unplaced")},
                **{key: data[key] for key in _PLAIN},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"ratings: expected the JSON of Ratings.to_json, got {_short(error)}") from None

    def plot(self, *, top: int = 30, ax: Any = None) -> Any:
        """A figure of the best agents' ratings, see ``plots.whiskers``. Needs the `plot` extra."""
        from softcondorcet.plots import whiskers

        return whiskers(self, top=top, ax=ax)

    def __repr__(self) -> str:
        shown = ", ".join(f"{r['agent']} {r['rating']:.4g}" for r in self.rows(5))
        more = ", ..." if len(self) > 5 else ""
        return f"Ratings({self.method}: {shown}{more})"


_PLAIN = (
    "method", "options", "seed", "converged", "steps", "error", "loss", "discrete_loss", "lower_bound", "loss_bound",
    "condorcet_winner",
)  # fmt: skip


def _number_above(values: Floats, limit: Floats) -> Ints:
    return len(values) - np.searchsorted(np.sort(values), limit, side="right")


def _certain_matrix(agents: tuple[str, ...], pairs: list[list[str]] | None) -> Flags | None:
    """The inverse of ``Ratings._certain_pairs``."""
    if pairs is None:
        return None
    number = {name: k for k, name in enumerate(agents)}
    certain = np.zeros((len(agents), len(agents)), dtype=bool)
    for above, below in pairs:
        certain[number[above], number[below]] = True
    return certain


def _as_pairs(listed: list[list[str]] | None) -> tuple[tuple[str, str], ...] | None:
    return None if listed is None else tuple((str(a), str(b)) for a, b in listed)


def _share_left(loss: float | None, bound: float | None) -> float | None:
    """How much of a loss could still be saved; what rounding may have left counts as nothing."""
    if loss is None or bound is None:
        return None
    return (loss - bound) / loss if loss - bound > 1e-12 * loss else 0.0


def _short(error: Exception) -> str:
    return f"no key {error}" if isinstance(error, KeyError) else str(error)
