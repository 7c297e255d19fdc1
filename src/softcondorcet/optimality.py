"""How good an order is, in words: what it contradicts, whether another does better, and whether others do as well."""

from __future__ import annotations

from typing import Protocol

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
