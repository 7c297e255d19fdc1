"""Kernels of voting rules: KwikSort, ranked pairs, Schulze's widest paths, single transferable vote.

KwikSort is quicksort by the majority, which need not be an order. Ranked pairs locks one edge after the other unless
it closes a cycle, by an order that is kept up to date. A widest path has the strongest weakest link of all paths. In
single transferable vote, a vote counts for the agents of its best tier that has any left, in equal shares. `head` is
where that tier begins in a vote, or the end of the vote when it has run out; `sharing` is how many of the tier are
left, `worth` what the vote is still worth, `score` what each agent holds.
"""

import numpy as np

from softcondorcet.kernels.batch import GOLDEN, uniform
from softcondorcet.kernels.compile import lean


@lean
def pivot_order(row, column, margin, order, line, hold, stack, state):
    """Sort `order` in place: an agent drawn as pivot, those that beat it above, those it beats below, and so on.

    An agent that neither beats the pivot nor is beaten goes to either side by chance. `line`, all zero, and `hold` are
    room for one entry per agent, `stack` for two.
    """
    counter, stack[0], stack[1], depth = state[0], 0, len(order), 1
    while depth > 0:
        depth -= 1
        first, last = stack[2 * depth], stack[2 * depth + 1]
        if last - first < 2:
            continue
        counter += GOLDEN
        pivot = order[first + np.int64(uniform(counter) * (last - first))]
        for e in range(row[pivot], row[pivot + 1]):
            line[column[e]] = margin[e]
        above, below = first, 0
        for k in range(first, last):
            a = order[k]
            if a == pivot:
                continue
            up = line[a] < 0.0
            if line[a] == 0.0:
                counter += GOLDEN
                up = uniform(counter) < 0.5
            if up:
                order[above] = a
                above += 1
            else:
                hold[below] = a
                below += 1
        for e in range(row[pivot], row[pivot + 1]):
            line[column[e]] = 0.0
        order[above] = pivot
        for k in range(below):
            order[above + 1 + k] = hold[k]
        stack[2 * depth], stack[2 * depth + 1] = first, above
        stack[2 * depth + 2], stack[2 * depth + 3] = above + 1, last
        depth += 2
    state[0] = counter


@lean
def lock(winner, loser, at, place, row, partner, filled, side, found, seen, locked):
    """Set locked[e] for each edge, taken in turn, that closes no cycle with those locked before.

    `at` lists the agents so that all locked edges lead forward, `place` is its inverse; any order will do to start
    with. An edge that leads forward is locked at once. For one that leads back, from a to b, two searches walk along
    locked edges between the places of both: down from b and up from a, the one that has worked less goes on. If they
    meet, b leads to a: a cycle. If one of them ends, what it found moves past the other's end, and a stands before b.

    Scratch, first index 0 for down and 1 for up: row, partner, filled (locked edges of each agent so far), found,
    seen (how many were found, walked from, and what that cost); side marks who found an agent.
    """
    for e in range(len(winner)):
        a, b = winner[e], loser[e]
        if place[a] > place[b]:
            way = search(a, b, place, row, partner, filled, side, found, seen)
            if way >= 0:
                move(place[b], place[a], way, at, place, side, found)
            for d in range(2):
                for k in range(seen[d, 0]):
                    side[found[d, k]] = 0
            if way < 0:
                continue
        locked[e] = True
        partner[0, row[0, a] + filled[0, a]] = b
        filled[0, a] += 1
        partner[1, row[1, b] + filled[1, b]] = a
        filled[1, b] += 1


@lean
def search(a, b, place, row, partner, filled, side, found, seen):
    """Which search ended, 0 down from b or 1 up from a; -1 if they met."""
    low, high = place[b], place[a]
    for d in range(2):
        found[d, 0] = a if d else b
        side[found[d, 0]] = d + 1
        seen[d, 0], seen[d, 1], seen[d, 2] = 1, 0, 0
    while True:
        d = 1 if seen[1, 2] < seen[0, 2] else 0
        if seen[d, 1] == seen[d, 0]:
            return d
        x = found[d, seen[d, 1]]
        seen[d, 1] += 1
        seen[d, 2] += filled[d, x] + 1
        for k in range(row[d, x], row[d, x] + filled[d, x]):
            y = partner[d, k]
            if side[y] == 2 - d:
                return -1
            if side[y] == 0 and low < place[y] < high:
                side[y] = d + 1
                found[d, seen[d, 0]] = y
                seen[d, 0] += 1


@lean
def move(low, high, way, at, place, side, found):
    """Close ranks between two places: what search 0 found goes to the end, or what search 1 found to the beginning."""
    step = -1 if way else 1
    source, goal, kept = high if way else low, high if way else low, 0
    for _ in range(high - low + 1):
        x = at[source]
        if side[x] == way + 1:
            found[way, kept] = x  # in order of place now: edges among them stay forward
            kept += 1
        else:
            at[goal], place[x] = x, goal
            goal += step
        source += step
    for k in range(kept):
        at[goal], place[found[way, k]] = found[way, k], goal
        goal += step


@lean
def widest(path):
    """Floyd and Warshall on a matrix of strengths, in place; 0 is no edge. O(c^3), several cells per nanosecond."""
    for k in range(len(path)):
        for i in range(len(path)):
            if i != k and path[i, k] > 0:
                widen(path[i], path[k], path[i, k])


@lean
def widen(line, through, first):
    """A path by way of k is as strong as the weaker of its halves. Apart from the loop above, this vectorises."""
    for j in range(len(line)):
        line[j] = max(line[j], min(first, through[j]))


@lean
def settle(v, start, agent, tier, staying, head, sharing, worth, score):
    """Move a vote on to its best tier with agents that stay, and add its shares to their scores."""
    while head[v] < start[v + 1]:
        first = last = head[v]
        left = 0
        while last < start[v + 1] and tier[last] == tier[first]:
            left += staying[agent[last]]
            last += 1
        if left > 0:
            sharing[v] = left
            add_shares(v, worth[v] / left, start, agent, tier, staying, head, score)
            return
        head[v] = last


@lean
def add_shares(v, share, start, agent, tier, staying, head, score):
    """Add a share to each agent that a vote counts for."""
    e = head[v]
    while e < start[v + 1] and tier[e] == tier[head[v]]:
        if staying[agent[e]]:
            score[agent[e]] += share
        e += 1


@lean
def settle_all(start, agent, tier, staying, head, sharing, worth, score):
    """The first count."""
    for v in range(len(start) - 1):
        settle(v, start, agent, tier, staying, head, sharing, worth, score)


@lean
def leave(leaving, kept, row, entry, vote, start, agent, tier, staying, head, sharing, worth, score, spent, touched):
    """Agents leave together; each keeps the part `kept` of what it holds and passes on the rest.

    Agent x stands in the votes ``vote[row[x]:row[x + 1]]`` at ``entry[...]``. All votes that count for one of them are
    taken back before any moves on, so that the order of `leaving` does not matter. Scratch: `spent`, all -1; `touched`.
    """
    votes = 0
    for n in range(len(leaving)):
        x = leaving[n]
        for k in range(row[x], row[x + 1]):
            v = vote[k]
            if head[v] < start[v + 1] and tier[entry[k]] == tier[head[v]]:
                if spent[v] < 0.0:
                    spent[v] = 0.0
                    touched[votes] = v
                    votes += 1
                spent[v] += kept * worth[v] / sharing[v]
    for n in range(votes):
        v = touched[n]
        add_shares(v, -worth[v] / sharing[v], start, agent, tier, staying, head, score)
    for n in range(len(leaving)):
        staying[leaving[n]] = False
    for n in range(votes):
        v = touched[n]
        worth[v] -= spent[v]
        spent[v] = -1.0
        settle(v, start, agent, tier, staying, head, sharing, worth, score)
