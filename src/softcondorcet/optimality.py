"""How good an order is, in words: what it contradicts, whether another does better or as well, what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from softcondorcet.formatting import number, plural, some

# A gap over this says little by itself.
_WEAK = 0.2


class Order(Protocol):
    """What is known of an order; ``Ratings`` says what each word means."""

    @property
    def discrete_loss(self) -> float | None: ...
    @property
    def lower_bound(self) -> float | None: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def only_optimum(self) -> bool | None: ...
    @property
    def optimal_orders(self) -> int | None: ...
    @property
    def may_swap(self) -> tuple[tuple[str, str], ...] | None: ...
    @property
    def method(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Any]: ...
    @property
    def kappa(self) -> float | None: ...
    @property
    def pooled(self) -> int | None: ...
    @property
    def level(self) -> int | None: ...


def margins(order: Order) -> list[str]:
    """How far margins were trusted, and what of the ratings they do not support."""
    lines = []
    if order.kappa is not None:
        pull = "games: margins are shrunk toward the line of Bradley-Terry"
        worth = f"{float(f'{order.kappa:.2g}'):,g}" if math.isfinite(order.kappa) else ""
        half = f"a pair that met {worth} times counts half by its own votes, half by the line"
        lines.append(f"{pull}; {half if worth else 'the votes stray from it no more than chance would'}")
    elif order.method == "sco" and order.options.get("shrink") is False:
        lines.append("margins are taken as they are")
    if order.level:
        lines.append(f"{plural(order.level, 'agent')} level: wins and losses against each other cancel; shown by name")
    if more := (order.pooled or 0) - (order.level or 0):
        lines.append(f"the votes support the order of {plural(more, 'agent')} beside a neighbour, but no gap")
    return lines


def optimality(order: Order) -> list[str]:
    """Lines of a summary."""
    if order.discrete_loss is None:
        return []
    lines = [f"the order contradicts {plural(order.discrete_loss, 'comparison')} of the votes"]
    if order.gap is None or order.lower_bound is None:
        return lines
    bound = f"no order contradicts fewer than {number(order.lower_bound)}"
    if order.gap > 0:
        share = f"at most {order.gap:.3%}" if order.gap > 1e-5 else "less than 0.001%"
        weak = ": a poor order or a weak bound" if order.gap > _WEAK else ""
        return [*lines, f"{bound}: {share} of its contradictions could be avoided{weak}"]
    lines.append(f"{bound}: {_optimal(order)}")
    if order.may_swap:
        pairs = some((f"{a} and {b}" for a, b in order.may_swap), 5)
        lines.append(f"pairs that stand either way in optimal orders: {pairs}")
    return lines


def _optimal(order: Order) -> str:
    """That no order is better, and whether others are as good."""
    if order.only_optimum is None:
        return "this one is optimal, and maybe others are too"
    if order.only_optimum:
        return "this one is optimal, and no other is"
    if order.optimal_orders is None:
        return "this one is optimal, and so are others"
    return f"this is one of {order.optimal_orders:,} optimal orders"
