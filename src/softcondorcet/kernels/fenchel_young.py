"""Fenchel-Young loss by stochastic gradient descent: ratings whose noisy order looks like the votes.

For each vote of a drawn batch, sort its agents by r + sigma Z, Z standard Gumbel or normal noise. The gradient is the
difference of two positions, so that an agent placed lower in the noisy order than in the vote is raised:

    r_a <- clip(r_a + lr / batch * (noisy position of a - position of a in the vote)),    positions from 0, the best

(the paper's eq. fy-grad read with positions counted from the best, which makes the loss convex). A tie in a vote gives
all its agents the middle position. `samples` noisy orders per vote are averaged. Cost for a vote of k agents: k^2 / 2
comparisons in lanes up to SHORT, beyond that a sort by buckets, linear in k unless the values clump.
"""

import math
from typing import NamedTuple

import numpy as np

from softcondorcet.kernels.batch import (
    GOLDEN,
    SHORT,
    Array,
    alias_table,
    batches,
    choose_votes,
    frozen,
    log,
    move,
    next_block,
    scratch,
    seed_state,
    uniform,
)
from softcondorcet.kernels.compile import fused

__all__ = ["GUMBEL", "NORMAL", "PerturbedPlan", "perturbed_step", "plan_perturbed", "run_perturbed", "seed_state"]

GUMBEL, NORMAL = 0, 1


class PerturbedPlan(NamedTuple):
    """A profile laid out for `run_perturbed`."""

    start: Array
    agent: Array
    ahead: Array  # by entry: its index in the vote minus its position, not 0 only in a tie; empty if no vote has ties
    keep: Array
    other: Array
    batch: int
    longest: int


class Sorting(NamedTuple):
    """Working arrays of the sort of a long vote."""

    bucket: Array
    place: Array
    value: Array
    entry: Array


@fused
def perturb(r, touched, x, y, filled, size, sigma, noise, counter):
    """Noisy ratings of the entries just laid out. Several short loops: in a long one each result waits for the last."""
    x, y = x[filled : filled + size], y[filled : filled + size]
    for e in range(size):
        counter += GOLDEN
        y[e] = uniform(counter)
    for e in range(size):
        y[e] = -log(y[e])
    if noise == GUMBEL:
        for e in range(size):
            y[e] = -log(y[e])
    else:
        for e in range(size):  # Box and Muller
            counter += GOLDEN
            y[e] = math.sqrt(2.0 * y[e]) * math.cos(2.0 * math.pi * uniform(counter))
    for e in range(size):
        x[e] = r[touched[filled + e]] + sigma * y[e]
    return counter


@fused
def add_lane_moves(x, d, filled, row, k):
    """Gradient of a block of lanes: -1 for an entry, +1 for a later one, where noise puts the later one above."""
    for i in range(k - 1):
        x_i, d_i = x[filled + row[i] :], d[filled + row[i] :]
        for j in range(i + 1, k):
            x_j, d_j = x[filled + row[j] :], d[filled + row[j] :]
            for q in range(row[j + 1] - row[j]):
                swapped = 1.0 if x_j[q] > x_i[q] else 0.0
                d_i[q] -= swapped
                d_j[q] += swapped


@fused
def add_vote_moves(x, d, filled, k, z):
    """The same for one long vote, by sorting: deal the values to 2 k buckets of equal width, then insert.

    Where values clump (sigma small, ratings at the bounds) a bucket holds many: then insert with gaps first, as Shell.
    """
    x, d, bucket, place = x[filled : filled + k], d[filled : filled + k], z.bucket, z.place
    top = bottom = x[0]
    for e in range(k):
        top = max(top, x[e])
        bottom = min(bottom, x[e])
    last = 2.0 * k - 1.0
    scale = min(last / (top - bottom), 1e300) if top > bottom else 0.0
    for e in range(k):
        bucket[e] = np.int32(min(last, (top - x[e]) * scale))  # in this order, `min` sends a NaN to the last bucket
    for b in range(2 * k + 1):
        place[b] = 0
    for e in range(k):
        place[bucket[e] + 1] += 1
    fullest = 0
    for b in range(2 * k):
        fullest = max(fullest, place[b + 1])
        place[b + 1] += place[b]
    for e in range(k):
        p = place[bucket[e]]
        place[bucket[e]] = p + 1
        z.value[p] = x[e]
        z.entry[p] = e
    gap = fullest if fullest > 32 else 1
    while True:
        gap = max(gap * 5 // 11, 1)  # Gonnet's ratio
        for p in range(gap, k):
            value, entry, q = z.value[p], z.entry[p], p
            while q >= gap and z.value[q - gap] < value:
                z.value[q], z.entry[q] = z.value[q - gap], z.entry[q - gap]
                q -= gap
            z.value[q], z.entry[q] = value, entry
        if gap == 1:
            break
    for p in range(k):
        d[z.entry[p]] -= p - z.entry[p]


@fused
def clear_moves(ahead, k, filled, size, samples, z):
    """Start the gradient of a block: zero, but for ties."""
    for e in range(size):
        z.d[filled + e] = 0.0
    if len(ahead) > 0 and k > SHORT:
        for i in range(k):
            z.d[filled + i] = -samples * ahead[z.first[0] + i]
    elif len(ahead) > 0:
        for i in range(k):
            for q in range(z.row[i + 1] - z.row[i]):
                z.d[filled + z.row[i] + q] = -samples * ahead[z.first[q] + i]


@fused
def run_moves(r, rates, given, start, agent, ahead, keep, other, sigma, samples, noise, lo, hi, state, z, sorting):
    """Steps of the descent. Row s of `given` is the batch of step s; without rows, batches are drawn."""
    for s in range(len(rates)):
        choose_votes(z.picks, given, s, len(start) - 1, keep, other, state)
        b = filled = np.int64(0)  # a plain 0 would compile what follows once more, for a literal
        while b < len(z.picks):
            b, k, size = next_block(start, agent, agent, False, SHORT, b, filled, z)  # ties come in by `ahead`
            clear_moves(ahead, k, filled, size, samples, z)
            for _ in range(samples):
                state[0] = perturb(r, z.touched, z.x, z.y, filled, size, sigma, noise, state[0])
                if k > SHORT:
                    add_vote_moves(z.x, z.d, filled, k, sorting)
                else:
                    add_lane_moves(z.x, z.d, filled, z.row, k)
            filled += size
        move(r, z.touched, z.d, filled, rates[s] / (len(z.picks) * samples), lo, hi)


def index_ahead(start: Array, tier: Array) -> Array:
    """Index in the vote minus middle position of the tie, by entry; empty if no vote has ties."""
    length = np.diff(start)
    index = np.arange(len(tier)) - np.repeat(start[:-1], length)
    opens = np.append(True, tier[1:] != tier[:-1]) | (index == 0)
    if np.all(opens):
        return np.empty(0)
    first = np.flatnonzero(opens)
    size = np.diff(np.append(first, len(tier)))
    middle = np.repeat(index[first] + (size - 1) / 2, size)
    ahead: Array = index - middle
    return ahead


def plan_perturbed(start: Array, agent: Array, tier: Array, weight: Array, m: int, batch: int) -> PerturbedPlan:
    """Lay out n votes (CSR: start, agent, tier) once. m plays no part: a step touches its own agents only."""
    votes = frozen(start, np.int64), frozen(agent, np.int32), frozen(index_ahead(start, tier), np.float64)
    return PerturbedPlan(*votes, *alias_table(weight), batch, int(np.diff(start).max()))


def run_perturbed(
    plan: PerturbedPlan,
    r: Array,
    rates: Array,
    sigma: float,
    samples: int,
    noise: int,
    lo: float,
    hi: float,
    state: Array,
    picks: Array | None = None,
) -> None:
    """One step on r, in place, per learning rate in `rates`. Row s of `picks`, if given, names the votes of step s."""
    np.clip(r, lo, hi, out=r)  # from here on, projecting the agents a step touches is projecting them all
    given, rates = batches(picks), np.ascontiguousarray(rates, np.float64)
    options = float(sigma), int(samples), int(noise), float(lo), float(hi), state
    k = plan.longest
    sorting = Sorting(np.empty(k, np.int32), np.empty(2 * k + 1, np.int32), np.empty(k), np.empty(k, np.int32))
    z = scratch(plan.batch if picks is None else given.shape[1], k)
    run_moves(r, rates, given, *plan[:5], *options, z, sorting)


def perturbed_step(
    r: Array,
    agents: Array,
    tiers: Array,
    lr: float,
    sigma: float,
    samples: int,
    noise: int,
    lo: float,
    hi: float,
    state: Array,
) -> None:
    """One step on one given vote, best first: the online form. Only the ratings of its agents change, in place."""
    k = len(agents)
    start, order, weight = np.array([0, k]), np.arange(k), np.ones(1)
    plan = plan_perturbed(start, order, np.asarray(tiers), weight, k, 1)
    own = r[agents]
    run_perturbed(plan, own, np.full(1, lr), sigma, samples, noise, lo, hi, state, np.zeros((1, 1), np.int64))
    r[agents] = own
