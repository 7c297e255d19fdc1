"""Sigmoid loss by stochastic gradient descent on votes: Algorithm 1 of Soft Condorcet Optimization.

A step draws a batch of votes and moves r <- clip(r - lr / batch * gradient) on the loss

    sum over votes, over pairs (a above b in the vote) of s((r_b - r_a) / tau),    s the logistic function,

whose slope s'(x) needs no exponential per pair: with E_a = exp((r_a - mid) / tau), s' = E_a E_b / (E_a + E_b)^2.
Ratings further than WIDE temperatures apart would overflow: for a vote that holds such, slopes are taken from
exp(-|x|), which takes two to three times as long. What counts is where the ratings are, not how wide the box is.

Three layouts, chosen by `plan_sigmoid`:

- votes: pair by pair; short votes side by side in lanes, long ones one by one. Cost: batch * k^2 / 2 slopes a step.
- signs: a row of int8 pair signs per vote. The margins of a batch are a sum of rows, then m^2 / 2 slopes.
- tiers: the same margins by comparing rows of tiers: slower than signs, but n m numbers where signs need n m^2 / 2.

How much the gradients of single votes scatter is found here too: it sets the rate of SGD that samples a posterior.
"""

from typing import NamedTuple

import numpy as np

from softcondorcet.kernels.batch import (
    SHORT,
    Array,
    alias_table,
    batches,
    choose_votes,
    exp,
    frozen,
    move,
    next_block,
    scratch,
    seed_state,
)
from softcondorcet.kernels.compile import fused, lean_sum
from softcondorcet.kernels.pairwise import WIDE

__all__ = ["SigmoidPlan", "plan_sigmoid", "run_sigmoid", "seed_state"]

HUGE = 1e300  # keeps an infinity times zero out of the sums when the temperature is next to nothing
SIGNS_LIMIT = 256  # with more agents a row of signs no longer stays in the cache and tiers are as fast


class SigmoidPlan(NamedTuple):
    """A profile laid out for `run_sigmoid`."""

    layout: str
    start: Array
    agent: Array
    tier: Array
    table: Array  # signs: int8[n, pairs], padded; tiers: int16[n, m], -1 where the agent is absent
    keep: Array
    other: Array
    m: int
    batch: int
    longest: int
    tied: bool


@fused
def slope(x, y, wide):
    """s'(x - y); of the exponentials of x and y unless these are `wide` apart."""
    if wide:
        gap = abs(x - y)
        q = exp(-min(gap, 700.0))
        return q / ((1.0 + q) * (1.0 + q)) if gap < 700.0 else 0.0
    return x * y / ((x + y) * (x + y))


@fused
def load_ratings(r, touched, x, d, filled, size, scale, mid, roomy):
    """Ratings of the entries just laid out, in units of tau. As exponentials, unless they are too wide apart for that.

    Returns whether they are. Only in a roomy box can they be.
    """
    touched, x, d = touched[filled : filled + size], x[filled : filled + size], d[filled : filled + size]
    for e in range(size):
        x[e] = (r[touched[e]] - mid) * scale
        d[e] = 0.0
    wide = False
    if roomy:
        for e in range(size):
            wide |= abs(x[e]) > WIDE / 2
    if not wide:
        for e in range(size):
            x[e] = exp(x[e])
    return wide


@fused
def add_lane_pairs(x, d, tier, filled, row, k, tied, wide):
    """Gradient of a block of lanes: every pair of entries i < j, for all votes that have both."""
    for i in range(k - 1):
        x_i, d_i, tier_i = x[filled + row[i] :], d[filled + row[i] :], tier[row[i] :]
        for j in range(i + 1, k):
            x_j, d_j, tier_j = x[filled + row[j] :], d[filled + row[j] :], tier[row[j] :]
            for q in range(row[j + 1] - row[j]):
                w = slope(x_i[q], x_j[q], wide)
                if tied and tier_i[q] == tier_j[q]:
                    w = 0.0
                d_i[q] -= w
                d_j[q] += w


@lean_sum
def add_vote_pairs(x, d, filled, tier, first, k, tied, wide):
    """Gradient of one vote: entry i against all entries of the tiers below its own."""
    x, d = x[filled : filled + k], d[filled : filled + k]
    below = k
    for i in range(k - 2, -1, -1):
        if not tied or tier[first + i] < tier[first + i + 1]:
            below = i + 1
        top, lower, d_lower = x[i], x[below:], d[below:]
        total = 0.0
        for j in range(len(lower)):
            w = slope(top, lower[j], wide)
            d_lower[j] += w
            total += w
        d[i] -= total


@fused
def run_votes(r, rates, given, start, agent, tier, tied, keep, other, tau, lo, hi, state, z):
    """Steps on the votes layout. Row s of `given` is the batch of step s; without rows, batches are drawn."""
    roomy = (hi - lo) / tau > WIDE
    mid = 0.5 * (lo + hi)
    scale = min(1.0 / tau, HUGE / (hi - lo))
    short = SHORT if len(z.picks) > 3 else 0  # lanes of fewer votes are slower than the votes alone
    for s in range(len(rates)):
        choose_votes(z.picks, given, s, len(start) - 1, keep, other, state)
        b = filled = np.int64(0)  # a plain 0 would compile what follows once more, for a literal
        while b < len(z.picks):
            b, k, size = next_block(start, agent, tier, tied, short, b, filled, z)
            wide = load_ratings(r, z.touched, z.x, z.d, filled, size, scale, mid, roomy)
            if k > short:
                add_vote_pairs(z.x, z.d, filled, tier, z.first[0], k, tied, wide)
            else:
                add_lane_pairs(z.x, z.d, z.tier, filled, z.row, k, tied, wide)
            filled += size
        move(r, z.touched, z.d, filled, min(rates[s] / (len(z.picks) * tau), HUGE), lo, hi)


@fused
def sign_margins(picks, signs, line, margin):
    """Margins of the batch for all pairs. At most 127 signs at a time: their sum fits an int8."""
    margin[:] = 0
    for first in range(0, len(picks), 127):
        line[:] = 0
        for v in picks[first : first + 127]:
            row = signs[v]
            for p in range(len(line)):
                line[p] += row[p]
        for p in range(len(line)):
            margin[p] += line[p]


@fused
def tier_margins(picks, tiers, i, line, margin):
    """Margins of the batch for agent i against those after it; where one is absent, the two comparisons cancel."""
    margin[:] = 0
    for first in range(0, len(picks), 127):
        line[:] = 0
        for v in picks[first : first + 127]:
            own, row = tiers[v, i], tiers[v, i + 1 :]
            for p in range(len(line)):
                line[p] += (row[p] > own) - (np.uint16(row[p]) < np.uint16(own))
        for p in range(len(line)):
            margin[p] += line[p]


@lean_sum
def add_margin_pairs(x, d, i, margin, wide):
    """Gradient of agent i against the agents after it."""
    top, rest, d_rest = x[i], x[i + 1 :], d[i + 1 :]
    total = 0.0
    for p in range(len(rest)):
        w = margin[p] * slope(top, rest[p], wide)
        d_rest[p] += w
        total += w
    d[i] -= total


@fused
def run_margins(r, rates, given, table, by_signs, keep, other, tau, lo, hi, state, line, margin, z):
    """Steps on the signs or the tiers layout; `given` as in `run_votes`."""
    m = len(r)
    roomy = (hi - lo) / tau > WIDE
    mid = 0.5 * (lo + hi)
    scale = min(1.0 / tau, HUGE / (hi - lo))
    for s in range(len(rates)):
        choose_votes(z.picks, given, s, len(table), keep, other, state)
        wide = load_ratings(r, z.touched, z.x, z.d, 0, m, scale, mid, roomy)
        if by_signs:
            sign_margins(z.picks, table, line, margin)
        at = 0
        for i in range(m - 1):
            rest = m - 1 - i
            if not by_signs:
                tier_margins(z.picks, table, i, line[:rest], margin[:rest])
            add_margin_pairs(z.x, z.d, i, margin[at : at + rest], wide)
            if by_signs:
                at += rest
        move(r, z.touched, z.d, m, min(rates[s] / (len(z.picks) * tau), HUGE), lo, hi)


def tier_rows(start: Array, agent: Array, tier: Array, m: int) -> Array:
    """One row of tiers by agent per vote; an absent agent has -1: the smallest signed, the largest unsigned number."""
    n = len(start) - 1
    rows = np.full((n, m), -1, np.int16)
    rows[np.repeat(np.arange(n), np.diff(start)), agent] = tier
    return rows


def sign_rows(tiers: Array) -> Array:
    """One row of pair signs per vote: +1 where i is above j, for i < j in order; 0 for a tie or an absent agent."""
    n, m = tiers.shape
    pairs = m * (m - 1) // 2
    signs = np.zeros((n, -(-pairs // 64) * 64), np.int8)  # whole cache lines: the sum has no remainder loop
    unsigned = tiers.view(np.uint16)
    at = 0
    for i in range(m - 1):
        above = tiers[:, i + 1 :] > tiers[:, i : i + 1]
        below = unsigned[:, i + 1 :] < unsigned[:, i : i + 1]
        signs[:, at : at + m - 1 - i] = above.view(np.int8) - below.view(np.int8)
        at += m - 1 - i
    return signs


def cheapest_layout(length: Array, weight: Array, m: int, batch: int, memory: int) -> str:
    """The layout with the fewest nanoseconds a step, by constants measured on one machine (AVX-512 Xeon, 2.8 GHz)."""
    n, pairs = len(length), m * (m - 1) // 2
    cost = {"votes": batch * float(np.average(0.45 * length**2 + 6.0 * length, weights=weight))}
    if m <= SIGNS_LIMIT and n * (pairs + 64) <= memory:
        cost["signs"] = pairs * (0.9 + 0.06 * batch)
    if 2 * n * m <= memory and m < 2**15:  # tiers are kept as int16
        cost["tiers"] = pairs * (0.9 + 0.1 * batch) + 6.0 * batch * m
    return min(cost, key=lambda layout: cost[layout])


def plan_sigmoid(
    start: Array,
    agent: Array,
    tier: Array,
    weight: Array,
    m: int,
    batch: int,
    memory: int = 256 * 2**20,
    layout: str | None = None,
) -> SigmoidPlan:
    """Lay out n votes (CSR: start, agent, tier) over m agents once, in at most `memory` bytes beyond the votes."""
    length = np.diff(start)
    if layout is None:
        layout = cheapest_layout(length, weight, m, batch, memory)
    table = np.empty((0, 0), np.int16)
    if layout != "votes":
        table = tier_rows(start, agent, tier, m)
    if layout == "signs":
        table = sign_rows(table)
    tied = bool(np.any(tier[start[1:] - 1] != length - 1))  # tiers are dense: without ties the last one is k - 1
    votes = frozen(start, np.int64), frozen(agent, np.int32), frozen(tier, np.int32)
    table = frozen(table, table.dtype)
    return SigmoidPlan(layout, *votes, table, *alias_table(weight), m, batch, int(length.max()), tied)


def run_sigmoid(
    plan: SigmoidPlan,
    r: Array,
    rates: Array,
    tau: float,
    lo: float,
    hi: float,
    state: Array,
    picks: Array | None = None,
) -> None:
    """One step on r, in place, per learning rate in `rates`. Row s of `picks`, if given, names the votes of step s."""
    np.clip(r, lo, hi, out=r)  # from here on, projecting the agents a step touches is projecting them all
    given, rates = batches(picks), np.ascontiguousarray(rates, np.float64)
    batch = plan.batch if picks is None else given.shape[1]
    draws = plan.keep, plan.other, float(tau), float(lo), float(hi), state
    if plan.layout == "votes":
        z = scratch(batch, plan.longest)
        run_votes(r, rates, given, plan.start, plan.agent, plan.tier, plan.tied, *draws, z)
    else:
        everyone = np.arange(plan.m, dtype=np.uint32)
        z = scratch(batch, 0)._replace(touched=everyone, x=np.empty(plan.m), d=np.empty(plan.m))
        line = np.empty(plan.table.shape[1], plan.table.dtype)
        margin = np.empty(len(line), np.int32)
        run_margins(r, rates, given, plan.table, plan.layout == "signs", *draws, line, margin, z)


@fused
def squared_gradients(start, agent, tier, weight, r, scale, mid, touched, x, d, total):
    """Weighted sum over votes of the squared length of a vote's gradient; adds the gradients themselves to `total`.

    Gradients are by r in units of the temperature, 1 / `scale`. `touched`, `x` and `d` are room for the longest vote.
    """
    squares = 0.0
    for v in range(len(start) - 1):
        first, k = start[v], start[v + 1] - start[v]
        for i in range(k):
            touched[i] = agent[first + i]
        wide = load_ratings(r, touched, x, d, 0, k, scale, mid, True)
        add_vote_pairs(x, d, 0, tier, first, k, True, wide)
        for i in range(k):
            squares += weight[v] * d[i] * d[i]
            total[touched[i]] += weight[v] * d[i]
    return squares
