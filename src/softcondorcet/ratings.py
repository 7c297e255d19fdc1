"""Ratings: what a method found, by name, with everything needed to trust it or not.

A result is never a bare array. It says which method and options made it, whether it converged, how many comparisons of
the votes its order contradicts, and, in words, what limits it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, read_only
from softcondorcet.errors import DataError, OptionError, some
from softcondorcet.options import check, needs, positive
from softcondorcet.tables import as_html, printable

# Agents in the table of a notebook.
_SHOWN = 20
# A gap over this says little by itself.
_WEAK = 0.2


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of agents, higher is better. Index by name: ``board["a"]``; ``board.order`` is the answer.

    ``loss`` is the smooth loss that was minimised (None for methods without one), ``discrete_loss`` the sum of
    Kendall-tau distances of all votes to ``order``, ``error`` what the solver had left to do when it stopped.
    ``converged`` and ``error`` are None where there is nothing to measure: stochastic steps have no natural end.
    ``lower_bound`` and ``loss_bound``, where known, are proven: no order has a smaller discrete loss, no ratings in the
    box a smaller smooth one. ``order_certified[a, b]`` is True where a stands above b in every minimum of it.
    ``status`` says how the search for such a minimum ended.
    ``unit`` is the lead that makes the odds e to 1, for methods whose ratings are log-odds: see ``probability``.
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
        """Rank of each agent of ``agents``: 1 + the number of agents with a higher rating, so equal ratings share."""
        ascending = np.sort(self.values)
        return len(self.values) - np.searchsorted(ascending, self.values, side="right") + 1

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.agents)}

    def _find(self, agent: str) -> int:
        try:
            return self._number[agent]
        except KeyError:
            raise KeyError(f"no agent {agent!r} among {len(self.agents)} rated agents") from None

    def __getitem__(self, agent: str) -> float:
        return float(self.values[self._find(agent)])

    def rank_of(self, agent: str) -> int:
        return int(self.ranks[self._find(agent)])

    def values_of(self, agents: Sequence[str]) -> Floats:
        """The ratings of all agents, in the order of `agents`."""
        missing = [name for name in agents if name not in self._number]
        if missing or len(agents) != len(self):
            said = f"none of agent {missing[0]!r}" if missing else f"{len(self)} for {len(agents)} agents"
            raise OptionError(f"board must be ratings of the agents of these votes, got {said}")
        found: Floats = self.values[[self._number[name] for name in agents]]
        return found

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

    def probability(self, a: str, b: str) -> float:
        """The chance that a comes out above b: 1 / (1 + exp((rating of b - rating of a) / unit)).

        For methods whose ratings are log-odds (``METHODS[name].link`` says which); others have no ``unit``.
        """
        if self.unit is None:
            raise OptionError(f"ratings of {self.method} are not log-odds, so they give no probability")
        lead = (self[a] - self[b]) / self.unit
        return float(np.exp(-np.logaddexp(0.0, -lead)))

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
        return replace(self, values=values + shift, unit=unit if self.unit else None)

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent, best first: rank, agent, rating and, where known, votes."""
        rows = []
        for k in self.index[:top]:
            row: dict[str, Any] = {"rank": int(self.ranks[k]), "agent": self.agents[k], "rating": float(self.values[k])}
            if self.votes is not None:
                row["votes"] = float(self.votes[k])
            rows.append(row)
        return rows

    def summary(self) -> list[str]:
        """What the order rests on, in a few lines for people."""
        ended = {True: ["converged"], False: ["not converged"], None: []}[self.converged]
        ended += [f"{self.steps:,} step{'s' * (self.steps > 1)}"] if self.steps else []
        lines = [f"{self.method}: {', '.join(ended)}" if ended else self.method]
        if self.discrete_loss is not None:
            many = "" if self.discrete_loss == 1 else "s"
            lines.append(f"the order contradicts {self.discrete_loss:,g} comparison{many} of the votes")
        if self.gap is not None:
            bound = f"no order contradicts fewer than {self.lower_bound:,g}"
            share = f"at most {self.gap:.3%}" if self.gap > 1e-5 else "less than 0.001%"
            weak = ": a poor order or a weak bound" if self.gap > _WEAK else ""
            rest = f"{share} of its contradictions could be avoided{weak}"
            lines.append(f"{bound}: {'this one is optimal' if self.gap <= 0 else rest}")
        if self.loss is not None and self.loss_gap is not None and self.loss_bound is not None:
            near = f"within {rounded_up(self.loss - self.loss_bound)} of " if self.loss_gap > 0 else ""
            lines.append(f"the loss is {self.loss:,.6g}: {near}the global minimum")
        if self.order_certified is not None and len(self) > 1:
            share = f"{int(self.order_certified.sum()):,} of {len(self) * (len(self) - 1) // 2:,} pairs of agents"
            lines.append(f"{share} are proven to stand in this order in every minimum of the loss")
        if self.condorcet_winner is not None:
            lines.append(f"Condorcet winner: {self.condorcet_winner} beats every other agent")
        elif 1 < len(self.smith_set) < len(self):
            lines.append(f"no Condorcet winner; the smallest group that beats all others: {some(self.smith_set, 10)}")
        elif len(self) > 1:
            lines.append("no Condorcet winner, and no smaller group that beats all others")
        return [*lines, *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it. The keys are stable: see the page on JSON output."""
        return {
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
            "condorcet_winner": self.condorcet_winner,
            "smith_set": list(self.smith_set),
            "warnings": list(self.warnings),
            "unit": self.unit,
            "agents": self.rows(top),
        }

    def _certain_pairs(self, top: int | None) -> list[list[str]] | None:
        """The pairs of `order_certified` by name, the upper one first, among the agents shown."""
        if self.order_certified is None:
            return None
        shown = self.index[:top]
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
            votes = np.array([float(r["votes"]) for r in rows]) if rows and "votes" in rows[0] else None
            agents = tuple(str(r["agent"]) for r in rows)
            return cls(
                agents=agents,
                values=np.array([float(r["rating"]) for r in rows]),
                smith_set=tuple(data["smith_set"]),
                warnings=tuple(data["warnings"]),
                votes=votes,
                unit=data.get("unit"),
                status=data.get("status"),
                order_certified=_certain_matrix(agents, data.get("order_certified")),
                **{key: data[key] for key in _PLAIN},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"ratings: expected the JSON of Ratings.to_json, got {_short(error)}") from None

    def to_pandas(self) -> Any:
        needs("pandas")
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> Any:
        needs("polars")
        import polars

        return polars.DataFrame(self.rows())

    def to_arrow(self) -> Any:
        needs("pyarrow")
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

    def plot(self, *, top: int = 30, ax: Any = None) -> Any:
        """A figure of the best agents' ratings, see ``plots.whiskers``. Needs the `plot` extra."""
        from softcondorcet.plots import whiskers

        return whiskers(self, top=top, ax=ax)

    def _repr_html_(self) -> str:
        """The best agents as a table and what the order rests on, for notebooks."""
        more = f", the best {_SHOWN} of {len(self):,} agents" if len(self) > _SHOWN else ""
        notes = "".join(f"<li>{escape(printable(line))}</li>" for line in self.summary())
        table = as_html(self.rows(_SHOWN), self.method + more)
        # The classes keep notebooks from reading a dollar sign in a name as the start of a formula.
        return f'<div class="tex2jax_ignore mathjax_ignore">{table}<ul>{notes}</ul></div>'

    def __repr__(self) -> str:
        shown = ", ".join(f"{r['agent']} {r['rating']:.4g}" for r in self.rows(5))
        more = ", ..." if len(self) > 5 else ""
        return f"Ratings({self.method}: {shown}{more})"


_PLAIN = (
    "method",
    "options",
    "seed",
    "converged",
    "steps",
    "error",
    "loss",
    "discrete_loss",
    "lower_bound",
    "loss_bound",
    "condorcet_winner",
)


def _certain_matrix(agents: tuple[str, ...], pairs: list[list[str]] | None) -> Flags | None:
    """The inverse of ``Ratings._certain_pairs``."""
    if pairs is None:
        return None
    number = {name: k for k, name in enumerate(agents)}
    certain = np.zeros((len(agents), len(agents)), dtype=bool)
    for above, below in pairs:
        certain[number[above], number[below]] = True
    return certain


def _share_left(loss: float | None, bound: float | None) -> float | None:
    """How much of a loss could still be saved; what rounding may have left counts as nothing."""
    if loss is None or bound is None:
        return None
    return (loss - bound) / loss if loss - bound > 1e-12 * loss else 0.0


def rounded_up(value: float) -> str:
    """Two digits, and never less than the value, which is not negative."""
    if value == 0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(value)) - 1) or value  # or value: of the smallest numbers there are
    return f"{math.ceil(value / digit) * digit:,.10g}"


def _short(error: Exception) -> str:
    return f"no key {error}" if isinstance(error, KeyError) else str(error)
