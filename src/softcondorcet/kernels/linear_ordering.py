"""Exact orders of few agents, and the cycles that stand in the way of more: what ``kemeny`` is made of.

`margin` is a full matrix, margin[a, b] = -margin[b, a] > 0 where a beats b; the loss of an order is the sum of the
margins it contradicts.

For more agents, cycles of the majority are packed one after the other, or found by price and weighed against each
other. There agents are numbered by their place in an order. An arc leads from the winner of a pair to the loser.
Those that lead down the order stand in rows: ``down[row[a]:row[a + 1]]`` are the agents below a that it beats. The
others contradict the order: ``up[back[b]:back[b + 1]]`` are the agents below b that beat it. Arcs are counted
through, first those of `down`, then those of `up`. A cycle here is one arc up, from a to b, and a path down from b to
a.
"""

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.kernels.compile import fused, kernel, lean


def subset_losses(margin: Floats) -> Floats:
    """Smallest loss of ordering each subset S of c agents among themselves, as an array of 2^c numbers.

    best[S] = min over a in S of best[S - a] + (what placing a below all of S - a contradicts). That cost is a sum over
    S - a, looked up in two halves, so that a subset costs one pass over its members: O(2^c c) in all.
    """
    lost, half = np.maximum(margin, 0), len(margin) // 2
    best = np.zeros(1 << len(margin))
    fill_subsets(subset_sums(lost[:, :half]), subset_sums(lost[:, half:]), best)
    return best


def subset_sums(values: Floats) -> Floats:
    """Of each row, the sum over every subset of its columns."""
    sums = np.zeros((len(values), 1))
    for column in values.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


@lean
def fill_subsets(low, high, best):
    c, half, mask = len(low), len(low) // 2, low.shape[1] - 1
    for s in range(1, len(best)):
        least = np.inf
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                least = min(least, best[rest] + low[a, rest & mask] + high[a, rest >> half])
        best[s] = least


@kernel
def mark_optima(cost, best, within, reached, above):
    """Mark the subsets that an order with the smallest loss begins with, from the top; and whom it has above whom.

    An order counts if its loss is the one that `subset_losses` found, or at most `within` times it. above[a, b] is
    whether any such order has a above b. At most 20 agents; O(c^2) for each subset that is marked.
    """
    c = len(cost)
    reached[(1 << c) - 1] = True
    for s in range((1 << c) - 1, 0, -1):
        if not reached[s]:
            continue
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                total = best[rest]
                for b in range(c):
                    if (rest >> b) & 1:
                        total += cost[a, b]
                if total <= best[s] * within:
                    reached[rest] = True
                    for b in range(c):
                        if (rest >> b) & 1:
                            above[b, a] = True


@kernel
def fill_optima(cost, best, within, above, reached, count, far):
    """Of every subset that `mark_optima` has reached: how many orders it has that an optimum can begin with,

    and the smallest sum over them of above[a, b] for a placed below b.
    """
    c = len(cost)
    count[0], far[0] = 1, 0.0
    for s in range(1, 1 << c):
        if not reached[s]:
            continue
        count[s], far[s] = 0, np.inf
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                total, wrong = best[rest], far[rest]
                for b in range(c):
                    if (rest >> b) & 1:
                        total += cost[a, b]
                        wrong += above[a, b]
                if total <= best[s] * within:
                    count[s] += count[rest]
                    far[s] = min(far[s], wrong)


@kernel
def forced_losses(margin, best):
    """Smallest loss of an order of the whole set that puts b above a, for every pair: forced[b, a].

    Such an order has a top part S with b in it and a not. S above the rest costs best[S] + best[rest] + what that
    contradicts between them, so the smallest such sum is exact. O(2^c c), as long as few sums improve on others.
    """
    c = len(margin)
    everyone = (1 << c) - 1
    between = np.zeros(1 << c)
    forced = np.full((c, c), np.inf)
    for a in range(c):
        forced[a, a] = 0.0
    worst = np.inf
    for s in range(1, everyone):
        a = 0
        while not (s >> a) & 1:
            a += 1
        rest = s & (s - 1)
        total = between[rest]
        for b in range(c):
            if b != a:
                total += -max(margin[a, b], 0.0) if (rest >> b) & 1 else max(margin[b, a], 0.0)
        between[s] = total
        loss = best[s] + best[everyone ^ s] + total
        if loss < worst:
            worst = 0.0
            for b in range(c):
                for a in range(c):
                    if (s >> b) & 1 and not (s >> a) & 1:
                        forced[b, a] = min(forced[b, a], loss)
                    worst = max(worst, forced[b, a])
    return forced


@kernel
def broken_triples(x, each, found):
    """Triples i < j < k whose x_ij + x_jk - x_ik leaves [0, 1] clearly: rows (i, j, k, 1 above or 0 below).

    x[i, j] says how far i stands above j. At most `each` per pair i, j, so that the cuts spread; returns how many.
    """
    m, count = len(x), 0
    for i in range(m):
        for j in range(i + 1, m):
            taken = 0
            for k in range(j + 1, m):
                total = x[i, j] + x[j, k] - x[i, k]
                if total > 1.0 + 1e-6 or total < -1e-6:
                    if count == len(found):
                        return count
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = k
                    found[count, 3] = total > 1.0
                    count += 1
                    taken += 1
                    if taken == each:
                        break
    return count


# Nothing that costs 1 is worth taking. Each arc of a path adds HOP to its price: a short path leaves room for others.
# RISE is what a cycle adds to the price of an arc it fills, so that the next ones spread out; one that became dearer by
# STALE since its path was found is looked for again, so many TRIES.
DEAR, HOP, RISE, STALE = np.float32(1.0), np.float32(0.02), np.float32(0.05), np.float32(0.1)
TRIES = 16


@fused
def cheap_cycles(
    row, down, back, up, margin, price, thin, phase, first, last, reach, arc, source, todo, cycles, end, count
):
    """The cheapest cycle through each arc up to an agent of [first, last), where that costs less than 1.

    Appends arcs to `cycles` and the place after its last arc to `end[c]`, for cycle c from `count` on; returns how many
    cycles there are then. `price` rises on the way. `reach`, `arc` and `source` are room for one entry per agent,
    `todo` for the arcs up to one.
    """
    filled = end[count - 1] if count > 0 else 0
    for b in range(first, last):
        open_arcs = back[b + 1] - back[b]
        for k in range(open_arcs):
            todo[k] = back[b] + k
        for _ in range(TRIES):
            if open_arcs == 0:
                break
            cheapest_paths(row, down, price, b, up[todo[open_arcs - 1]], thin, phase, reach, arc, source)
            left = 0
            for k in range(open_arcs):
                a, own = up[todo[k]], len(down) + todo[k]
                if reach[a] + price[own] >= DEAR:
                    continue
                cost, length = price_of_path(price, b, a, arc, source)
                if cost > reach[a] + STALE:
                    todo[left] = todo[k]
                    left += 1
                    continue
                if filled + length + 1 > len(cycles):
                    return count
                cycles[filled] = own
                filled += 1
                while a != b:
                    cycles[filled] = arc[a]
                    price[arc[a]] += RISE * margin[own] / margin[arc[a]]
                    filled += 1
                    a = source[a]
                end[count] = filled
                count += 1
            open_arcs = left
    return count


@fused
def cheapest_paths(row, down, price, b, far, thin, phase, reach, arc, source):
    """What it costs to `reach` each agent between b and `far` from b, and the last `arc` there with its `source`.

    Arcs lead down, so one sweep in the order of the agents settles them all. Paths pass through every `thin`-th agent
    only, counted from `phase`.
    """
    for a in range(b, far + 1):
        reach[a] = DEAR
    reach[b] = np.float32(0.0)
    for k in range(b, far):
        so_far = reach[k] + HOP
        if so_far >= DEAR or (k % thin != phase and k != b):
            continue
        for f in range(row[k], row[k + 1]):
            a = down[f]
            if a > far:
                break
            cost = so_far + price[f]
            if cost < reach[a]:
                reach[a], arc[a], source[a] = cost, f, k


@fused
def price_of_path(price, b, a, arc, source):
    """What the path found from b to a costs by now, and its number of arcs."""
    cost, length = np.float32(0.0), 0
    while a != b:
        cost += price[arc[a]] + HOP
        length += 1
        a = source[a]
    return cost, length


@fused
def balance(start, cycles, weight, margin, price, share, load, before, steps):
    """Steps of the primal-dual hybrid gradient method: weights of cycles against prices of arcs.

    A cycle that costs less than 1 gains weight, an arc with more load than its margin becomes dearer; a step is the
    inverse of the number of arcs of a cycle, and `share`, of cycles of an arc. `load` starts as the load of `weight`.
    """
    zero, one, two = np.float32(0.0), np.float32(1.0), np.float32(2.0)
    for _ in range(steps):
        for e in range(len(load)):
            before[e], load[e] = load[e], zero
        for c in range(len(weight)):
            gain = one
            for k in range(start[c], start[c + 1]):
                gain -= price[cycles[k]]
            weight[c] = max(weight[c] + gain / np.float32(start[c + 1] - start[c]), zero)
            if weight[c] > zero:
                for k in range(start[c], start[c + 1]):
                    load[cycles[k]] += weight[c]
        for e in range(len(load)):
            over = two * load[e] - before[e] - margin[e]
            price[e] = min(max(price[e] + share[e] * over, zero), one)


@kernel
def packed_cycles(row, column, place, left, first, last):
    """A lower bound on the loss: 3-cycles of the majority that share no margin, each costing its smallest one.

    For each pair the order contradicts (b above a although a beats b; a in [first, last)), looks for agents k with b
    beats k beats a, and takes what is left of all three margins. `left` starts as the margins and keeps what is unused.
    Rows hold all partners of an agent, with its margin over each.
    """
    bound = 0.0
    spot = np.full(len(row) - 1, -1, np.int64)
    for a in range(first, last):
        for e in range(row[a], row[a + 1]):
            spot[column[e]] = e
        for e in range(row[a], row[a + 1]):
            b = column[e]
            if left[e] <= 0.0 or place[b] > place[a]:
                continue
            for f in range(row[b], row[b + 1]):  # b beats k?
                k = column[f]
                back = spot[k]
                if left[f] <= 0.0 or back < 0 or left[back] >= 0.0 or k == a:
                    continue
                take = min(left[e], left[f], -left[back])
                bound += take
                left[e] -= take
                left[f] -= take
                left[back] += take
                mirror(row, column, left, b, a, take)
                mirror(row, column, left, k, b, take)
                mirror(row, column, left, k, a, -take)
                if left[e] <= 0.0:
                    break
        for e in range(row[a], row[a + 1]):
            spot[column[e]] = -1
    return bound


@kernel
def mirror(row, column, left, a, b, take):
    """Keep row a in step with row b: what left[b, a] lost, left[a, b] gains."""
    first, last = row[a], row[a + 1]
    while last - first > 1:
        middle = (first + last) // 2
        if column[middle] <= b:
            first = middle
        else:
            last = middle
    left[first] += take
