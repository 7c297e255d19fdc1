"""The sigmoid loss of long votes without their pairs.

A vote of k agents holds k (k - 1) / 2 pairs. Sorted by rating, an agent differs by less than `reach` temperatures from
those next to it only; further away, s' = p (1 - p) is below exp(-reach), and left out. So a vote costs O(k log k) for
the sort plus its near pairs, each visited once for both agents. Scratch arrays are as long as the entries: votes can be
shared between threads, and what an entry gets does not depend on how.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel, summing_kernel
from softcondorcet.kernels.kendall import inversions


@kernel
def sort_votes(start, agent, x, order, key, spare_order, spare_key, first, last):
    """Sort the entries of each vote by x, low first: `order` holds their numbers, from the last sort, `key` their x.

    Merges from the bottom up; halves that already follow each other are left, so that little is moved between steps.
    """
    for v in range(first, last):
        s, k = start[v], start[v + 1] - start[v]
        for i in range(s, s + k):
            key[i] = x[agent[order[i]]]
        width = 1
        while width < k:
            for low in range(s, s + k - width, 2 * width):
                middle, high = low + width, min(low + 2 * width, s + k)
                if key[middle - 1] <= key[middle]:
                    continue
                for i in range(low, middle):
                    spare_key[i], spare_order[i] = key[i], order[i]
                a, b = low, middle
                for place in range(low, high):
                    if a >= middle:
                        break
                    if b < high and key[b] < spare_key[a]:
                        key[place], order[place] = key[b], order[b]
                        b += 1
                    else:
                        key[place], order[place] = spare_key[a], spare_order[a]
                        a += 1
            width *= 2


@summing_kernel
def gradient_of_votes(start, tier, weight, order, key, room, reach, slope, pull, first, last):
    """For each entry: `slope`, its gradient along x, and `pull`, the sum of s' over its near pairs.

    Since |s''| <= s' and s' changes by at most a factor e per temperature, `pull` bounds the curvature nearby.
    """
    e, level, up, near = room[0], room[1], room[2], room[3]
    for v in range(first, last):
        s, t = start[v], start[v + 1]
        for i in range(s, t):
            e[i], level[i] = np.exp(key[i]), tier[order[i]]
            up[i] = near[i] = 0.0
        far = s
        for i in range(s, t):
            while far < t and key[far] - key[i] < reach:
                far += 1
            own, mine, total, weights = e[i], level[i], 0.0, 0.0
            other, theirs = e[i + 1 : far], level[i + 1 : far]
            raised, touched = up[i + 1 : far], near[i + 1 : far]
            for j in range(len(other)):
                p = own / (own + other[j])
                c = p * (1.0 - p)
                lead = c if theirs[j] > mine else (-c if theirs[j] < mine else 0.0)
                total += lead
                weights += c
                raised[j] += lead
                touched[j] += c
            up[i] -= total
            near[i] += weights
        for i in range(s, t):
            slope[order[i]], pull[order[i]] = weight[v] * up[i], weight[v] * near[i]


@summing_kernel
def loss_of_votes(start, tier, weight, order, key, room, reach, first, last):
    """The loss of each vote: pairs that its order by x contradicts, near ones by s, and half of its ties.

    With the smallest `reach` there is, only equal x are near, and the loss is the discrete one.
    """
    e, level = room[0], room[1]
    losses = np.empty(last - first)
    for v in range(first, last):
        s, t = start[v], start[v + 1]
        for i in range(s, t):
            e[i], level[i] = np.exp(key[i]), -tier[order[i]]
        total = 0.0 + inversions(level[s:t])
        run = 0
        for k in range(s + 1, t):  # tiers stand in the order of the vote
            run = run + 1 if tier[k] == tier[k - 1] else 0
            total += 0.5 * run
        far = s
        for i in range(s, t):
            while far < t and key[far] - key[i] < reach:
                far += 1
            own, mine = e[i], level[i]
            other, theirs = e[i + 1 : far], level[i + 1 : far]
            for j in range(len(other)):
                p = own / (own + other[j])
                total += p if theirs[j] > mine else (-p if theirs[j] < mine else 0.0)
        losses[v - first] = weight[v] * total
    return losses


@kernel
def margins_over(start, agent, tier, weight, begin, entry, vote, a, margin, met):
    """Fill the margins of agent a over all others, and which of them it has met."""
    for k in range(begin[a], begin[a + 1]):
        v, own = vote[entry[k]], tier[entry[k]]
        for i in range(start[v], start[v + 1]):
            met[agent[i]] = True
            if tier[i] != own:
                margin[agent[i]] += weight[v] if tier[i] > own else -weight[v]


@kernel
def sum_by_agent(begin, entry, values, sums, first, last):
    """Sums over the entries of each agent, in the order of the votes."""
    for a in range(first, last):
        total = 0.0
        for k in range(begin[a], begin[a + 1]):
            total += values[entry[k]]
        sums[a] = total
