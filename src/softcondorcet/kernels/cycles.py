"""Cycles of the majority: packed one after the other, or found by price and weighed against each other.

Agents are numbered by their place in an order. An arc leads from the winner of a pair to the loser. Those that lead
down the order stand in rows: ``down[row[a]:row[a + 1]]`` are the agents below a that it beats. The others contradict
the order: ``up[back[b]:back[b + 1]]`` are the agents below b that beat it. Arcs are counted through, first those of
`down`, then those of `up`. A cycle here is one arc up, from a to b, and a path down from b to a.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel, lean

# Nothing that costs 1 is worth taking. Each arc of a path adds HOP to its price: a short path leaves room for others.
# RISE is what a cycle adds to the price of an arc it fills, so that the next ones spread out; one that became dearer by
# STALE since its path was found is looked for again, so many TRIES.
DEAR, HOP, RISE, STALE = np.float32(1.0), np.float32(0.02), np.float32(0.05), np.float32(0.1)
TRIES = 16


@lean
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


@lean
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


@lean
def price_of_path(price, b, a, arc, source):
    """What the path found from b to a costs by now, and its number of arcs."""
    cost, length = np.float32(0.0), 0
    while a != b:
        cost += price[arc[a]] + HOP
        length += 1
        a = source[a]
    return cost, length


@lean
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
