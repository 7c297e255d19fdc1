"""Gradients of the pairwise losses: on rows of pairs (``Pairs.by_agent``), in one whole descent, and on long votes.

For a pair won by a over b, with p = 1 / (1 + exp(-(x_a - x_b))) and x = ratings / temperature,

    loss = (1 - p^q) / q;    q = 1: the paper's sigmoid loss, eq. (5);    q -> 0: -log p, Bradley-Terry,

so a's gradient per win is -p^q (1 - p), and per loss (1 - p)^q p. For q = 1 the two join to -margin p (1 - p).
Each pair stands in both rows: every agent's gradient is written once, rows can be shared between threads.

``walk`` is the loop of ``solvers.descent.descend`` on the sigmoid loss in one call, for many small problems, one per
resample: the same steps in the same order; only the sums over partners may be grouped otherwise. In Python a step of
a hundred agents takes ten times as long as its arithmetic, and holds the interpreter's lock for most of it.

Long votes need not be cut into pairs. A vote of k agents holds k (k - 1) / 2 pairs. Sorted by rating, an agent
differs by less than `reach` temperatures from those next to it only; further away, s' = p (1 - p) is below
exp(-reach), and left out. So a vote costs O(k log k) for the sort plus its near pairs, each visited once for both
agents. Scratch arrays are as long as the entries: votes can be shared between threads, and what an entry gets does
not depend on how.
"""

import math

import numpy as np

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.compile import kernel, lean, summing_kernel
from softcondorcet.kernels.distances import inversions

# Spread of x up to which exponentials can be used: E_a E_b and (E_a + E_b)^2 stay below 4 e^690 = 1.8e300.
WIDE = 690.0
# Partners handled at a time: their values are gathered into this buffer first, so that the arithmetic vectorises.
BLOCK = 256
# Pairs in all rows up to which sums in the order written take no longer: so few are interpreted at first.
FEW = 2_000


@summing_kernel
def sigmoid_gradient(row, column, margin, e, gradient, first, last):
    """The case q = 1 with no exponential per pair: e_a = exp(x_a) gives p (1 - p) = e_a e_b / (e_a + e_b)^2.

    The caller keeps x within +-345, so that the products stay finite.
    """
    near = np.empty(BLOCK)
    for a in range(first, last):
        own, total = e[a], 0.0
        partner, lead = column[row[a] : row[a + 1]], margin[row[a] : row[a + 1]]
        for s in range(0, len(partner), BLOCK):
            size = min(BLOCK, len(partner) - s)
            for k in range(size):
                near[k] = e[partner[s + k]]
            part = lead[s : s + size]
            for k in range(size):
                p = near[k] / (own + near[k])
                total += part[k] * p * (1.0 - p)
        gradient[a] = -total


@lean
def sigmoid_gradient_of_few(row, column, margin, e, gradient, first, last):
    """The same for few pairs, one by one: exact, so that it need not be compiled."""
    for a in range(first, last):
        own, total = e[a], 0.0
        for k in range(row[a], row[a + 1]):
            other = e[column[k]]
            p = other / (own + other)
            total += margin[k] * p * (1.0 - p)
        gradient[a] = -total


@summing_kernel
def logistic_gradient(row, column, margin, played, e, gradient, first, last):
    """The convex end q = 0 in the same form: expected wins minus wins."""
    near = np.empty(BLOCK)
    for a in range(first, last):
        own, total = e[a], 0.0
        partner = column[row[a] : row[a + 1]]
        lead, games = margin[row[a] : row[a + 1]], played[row[a] : row[a + 1]]
        for s in range(0, len(partner), BLOCK):
            size = min(BLOCK, len(partner) - s)
            for k in range(size):
                near[k] = e[partner[s + k]]
            part, whole = lead[s : s + size], games[s : s + size]
            for k in range(size):
                total += whole[k] * (own / (own + near[k]) - 0.5) - 0.5 * part[k]
        gradient[a] = total


@kernel
def logistic(d):
    """For a lead d = x_a - x_b, safe at any d: p, 1 - p, log p, log (1 - p)."""
    t = math.exp(-abs(d))
    high, low, log_high = 1.0 / (1.0 + t), t / (1.0 + t), -math.log1p(t)
    if d >= 0:
        return high, low, log_high, log_high - d
    return low, high, log_high + d, log_high


@kernel
def family_gradient(row, column, margin, played, tied, x, q, gradient, first, last):
    """Any q, any spread of x. `played` counts a tie as half a win for each.

    Where `tied` (ties of each pair) is not empty, each tie costs 1/2 - 2 p (1 - p) instead: nothing for equal ratings,
    half a mistake for ratings far apart.
    """
    pull = len(tied) > 0
    for a in range(first, last):
        total = 0.0
        for k in range(row[a], row[a + 1]):
            p, rest, log_p, log_rest = logistic(x[a] - x[column[k]])
            level = tied[k] if pull else 0.0
            won, lost = (played[k] - level + margin[k]) / 2, (played[k] - level - margin[k]) / 2
            total += lost * math.exp(q * log_rest) * p - won * math.exp(q * log_p) * rest
            total += 2.0 * level * p * rest * (p - rest)
        gradient[a] = total


# Twice the largest second derivative of the logistic function: see ``backends.cpu.PairwiseLoss.curvature``.
CURVE = 1 / (3 * np.sqrt(3))


@kernel
def walk(row, column, margin, strength, heats, steps, tol, low, high, ratings, ahead, e, gradient):
    """One step per temperature of `heats`, then on at the last one until a step is shorter than `tol` temperatures.

    Ratings are moved in place. `strength` is the sum of absolute margins of each agent, `ahead`, `e` and `gradient` are
    room to work in. Returns the length of the last step, in temperatures. The caller keeps the box within 690 of them.
    """
    m, middle, momentum, error = len(ratings), 0.5 * (low + high), 0.0, np.inf
    for a in range(m):
        ahead[a] = ratings[a]
    for step in range(steps):
        heat = heats[min(step, len(heats) - 1)]
        scale = 1.0 / heat
        for a in range(m):
            e[a] = exp((ahead[a] - middle) * scale)
        sigmoid_gradient(row, column, margin, e, gradient, 0, m)
        uphill, far = 0.0, 0.0
        for a in range(m):
            new = min(max(ahead[a] - gradient[a] * heat / (CURVE * strength[a]), low), high)
            uphill += (ahead[a] - new) * (new - ratings[a])
            far = max(far, abs(new - ahead[a]))
            gradient[a] = new
        momentum = momentum + 1.0 if uphill <= 0.0 else 0.0
        push = momentum / (momentum + 3.0)
        for a in range(m):
            new = gradient[a]
            ahead[a] = min(max(new + push * (new - ratings[a]), low), high)
            ratings[a] = new
        error = far / heat
        if step + 1 >= len(heats) and error <= tol:
            break
    return error


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
