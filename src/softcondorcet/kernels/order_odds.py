"""Newton's method for Bradley-Terry ratings that fall along an order, compiled as a whole.

Agents stand at places, best first: ``order[place]``. ``link[place]`` says what binds an agent to the one before: FREE
nothing, BELOW a rating that is not higher, LEVEL the same rating. Neighbours of equal rating are a pool. A step looks
which pools would come apart by a step against the gradient, solves Newton's equations for the pools that are left by
conjugate gradients, and pools what then stands the wrong way round. Where pools are few beside the pairs, the Hessian
is added up to a matrix of pools first, and each iteration costs the square of their number.

Rows hold each pair twice, see ``pairs.ByAgent``.
"""

import math

import numpy as np

from softcondorcet.kernels.bradley_terry import both
from softcondorcet.kernels.compile import lean

FREE, BELOW, LEVEL = 0, 1, 2
NEAR = 600.0  # up to here exp neither overflows nor vanishes
ITERATIONS = 1_000
ROUGH, EXACT = 0.1, 1e-4  # the share of Newton's equations that is left at most, and where an iteration is cheap
ROWS = 14  # of scratch


@lean
def exponentials(x, strength):
    """The exponentials of all ratings, or False where they are too far apart for it."""
    for a in range(len(x)):
        if not abs(x[a]) < NEAR:
            return False
        strength[a] = math.exp(x[a])
    return True


@lean
def slopes_near(row, column, margin, played, strength, gradient, diagonal, curve):
    """Derivatives of the negative log-likelihood by exponentials of the ratings, one for each agent."""
    for a in range(len(strength)):
        own, slope, bend = strength[a], 0.0, 0.0
        for k in range(row[a], row[a + 1]):
            other = strength[column[k]]
            share = 1.0 / (own + other)
            slope += played[k] * (own - other) * share - margin[k]
            c = played[k] * (own * share) * (other * share)
            curve[k] = c
            bend += c
        gradient[a], diagonal[a] = 0.5 * slope, bend


@lean
def slopes(row, column, margin, played, precision, pull, x, strength, gradient, diagonal, curve):
    """The gradient with its prior, the diagonal of the Hessian with its prior, and the curvature of each pair."""
    if exponentials(x, strength):
        slopes_near(row, column, margin, played, strength, gradient, diagonal, curve)
    else:
        for a in range(len(x)):
            slope, bend = 0.0, 0.0
            for k in range(row[a], row[a + 1]):
                p, q = both(x[a] - x[column[k]])
                slope += played[k] * (p - q) - margin[k]
                curve[k] = played[k] * p * q
                bend += curve[k]
            gradient[a], diagonal[a] = 0.5 * slope, bend
    for a in range(len(x)):
        gradient[a] += precision[a] * x[a] - pull[a]
        diagonal[a] += precision[a]


@lean
def bend(row, column, curve, diagonal, v, product):
    """The Hessian times v."""
    for a in range(len(v)):
        pull = 0.0
        for k in range(row[a], row[a + 1]):
            pull += curve[k] * v[column[k]]
        product[a] = diagonal[a] * v[a] - pull


@lean
def pool(order, link, value, weight, mean, total, begin):
    """Blocks of places so that weighted means of `value` (by agent) fall along each run of links. Returns how many.

    Block b covers the places ``begin[b]`` to ``begin[b + 1]``.
    """
    blocks = 0
    for place in range(len(order)):
        a = order[place]
        mean[blocks], total[blocks], begin[blocks] = value[a], weight[a], place
        blocks += 1
        while blocks > 1:
            kind = link[begin[blocks - 1]]
            if kind == FREE or (kind == BELOW and mean[blocks - 2] > mean[blocks - 1]):
                break
            both_of_them = total[blocks - 2] + total[blocks - 1]
            mean[blocks - 2] += (mean[blocks - 1] - mean[blocks - 2]) * total[blocks - 1] / both_of_them
            total[blocks - 2] = both_of_them
            blocks -= 1
    begin[blocks] = len(order)
    return blocks


@lean
def spread(order, begin, blocks, mean, out):
    """The value of its block for each agent."""
    for b in range(blocks):
        for place in range(begin[b], begin[b + 1]):
            out[order[place]] = mean[b]


@lean
def gather(order, begin, blocks, value, out):
    """The sum over each block."""
    for b in range(blocks):
        total = 0.0
        for place in range(begin[b], begin[b + 1]):
            total += value[order[place]]
        out[b] = total


@lean
def average(order, begin, blocks, value, weight, total, product, mean, out):
    """The weighted mean of its block for each agent; `total` are the weights of blocks."""
    for a in range(len(value)):
        product[a] = weight[a] * value[a]
    gather(order, begin, blocks, product, mean)
    for b in range(blocks):
        mean[b] /= total[b]
    spread(order, begin, blocks, mean, out)


@lean
def condense(row, column, curve, diagonal, order, begin, blocks, number, matrix):
    """The Hessian of blocks, row by row. `number` is scratch: the block of each agent."""
    for b in range(blocks):
        for place in range(begin[b], begin[b + 1]):
            number[order[place]] = b
    for entry in range(blocks * blocks):
        matrix[entry] = 0.0
    for a in range(len(diagonal)):
        own = matrix[number[a] * blocks : (number[a] + 1) * blocks]
        own[number[a]] += diagonal[a]
        for k in range(row[a], row[a + 1]):
            own[number[column[k]]] -= curve[k]


@lean
def multiply(matrix, size, v, product):
    """A symmetric matrix times v, row by row: each entry of the product is added up in one order."""
    for c in range(size):
        product[c] = 0.0
    for b in range(size):
        own, share = matrix[b * size : (b + 1) * size], v[b]
        for c in range(size):
            product[c] += own[c] * share


@lean
def conjugate_gradients(
    row, column, curve, diagonal, order, begin, blocks, number, matrix, right, rough,
    z, v, product, residual, direction, scale,
):  # fmt: skip
    """Solve for the values z of blocks, up to a share `rough` of `right`, preconditioned by the diagonal.

    By a matrix of blocks where there is room for it, and then it costs little to leave less.
    """
    condensed = blocks * blocks <= len(matrix)
    gather(order, begin, blocks, diagonal, scale)
    if condensed:
        condense(row, column, curve, diagonal, order, begin, blocks, number, matrix)
        for b in range(blocks):
            # Of a pool of all that met, only the prior is left, which rounding may leave nothing of.
            scale[b] = max(matrix[b * blocks + b], 1e-12 * scale[b])
    rough = min(EXACT if condensed else ROUGH, rough)
    size = 0.0
    for b in range(blocks):
        z[b], residual[b] = 0.0, right[b]
        direction[b] = right[b] / scale[b]
        size += right[b] * direction[b]
    goal = rough * rough * size
    for _ in range(ITERATIONS):
        if condensed:
            multiply(matrix, blocks, direction, v)
        else:
            spread(order, begin, blocks, direction, v)
            bend(row, column, curve, diagonal, v, product)
            gather(order, begin, blocks, product, v)
        curvature = 0.0
        for b in range(blocks):
            curvature += direction[b] * v[b]
        if size <= goal or curvature <= 0.0:
            break
        length, last = size / curvature, size
        size = 0.0
        for b in range(blocks):
            z[b] += length * direction[b]
            residual[b] -= length * v[b]
            size += residual[b] * residual[b] / scale[b]
        for b in range(blocks):
            direction[b] = residual[b] / scale[b] + size / last * direction[b]


@lean
def worst_cut(order, link, x, gradient, diagonal):
    """The place where a pool pulls apart most, the pull as a share of the curvature above it; -1 where none does."""
    worst, found, pull, weight = 0.0, -1, 0.0, 0.0
    for place in range(len(order)):
        a = order[place]
        if place == 0 or link[place] == FREE or x[a] != x[order[place - 1]]:
            pull, weight = 0.0, 0.0
        elif link[place] == BELOW and -pull > worst * weight:
            worst, found = -pull / weight, place
        pull += gradient[a]
        weight += diagonal[a]
    return worst, found


@lean
def pools_but(cut, order, link, x, diagonal, total, begin):
    """Blocks of places with equal ratings, cut apart at one of them. Returns how many."""
    blocks = 0
    for place in range(len(order)):
        a = order[place]
        if place == 0 or place == cut or link[place] == FREE or x[a] != x[order[place - 1]]:
            total[blocks], begin[blocks] = 0.0, place
            blocks += 1
        total[blocks - 1] += diagonal[a]
    begin[blocks] = len(order)
    return blocks


@lean
def room(order, link, x, step):
    """The share of a step that can be taken before a rating meets the next above it."""
    share = 1.0
    for place in range(1, len(order)):
        a, above = order[place], order[place - 1]
        gap, closing = x[above] - x[a], step[a] - step[above]
        if link[place] == BELOW and gap > 0.0 and closing * share > gap:
            share = gap / closing
    return share


@lean
def solve(row, column, margin, played, precision, pull, order, link, x, tol, most, curve, begin, number, matrix, rooms):
    """The most likely ratings under the links, in place, from where they stand. Returns the last change of a rating.

    It has converged where that is at most `tol`; `most` steps are taken. Pools come apart where a step against the
    gradient tears them. Where Newton's step would put all of them together again, only the worst is cut: then the
    loss falls, so no pools come back for ever.
    """
    m = len(x)
    strength, gradient, diagonal, mean, total, target, z, v, product, residual, direction, scale, right, ahead = rooms
    blocks = pool(order, link, x, precision, mean, total, begin)
    spread(order, begin, blocks, mean, x)
    slopes(row, column, margin, played, precision, pull, x, strength, gradient, diagonal, curve)
    last, cut, careful = 1.0, -1, False
    for _ in range(most):
        if not careful:
            for a in range(m):
                target[a] = x[a] - 0.5 * gradient[a] / diagonal[a]
            blocks = pool(order, link, target, diagonal, mean, total, begin)
        else:
            blocks = pools_but(cut, order, link, x, diagonal, total, begin)
        average(order, begin, blocks, x, diagonal, total, v, mean, target)
        for a in range(m):
            v[a] = target[a] - x[a]
        bend(row, column, curve, diagonal, v, product)
        for a in range(m):
            product[a] = -gradient[a] - product[a]
        gather(order, begin, blocks, product, right)
        conjugate_gradients(
            row, column, curve, diagonal, order, begin, blocks, number, matrix, right, 1e-9 if careful else last,
            z, v, product, residual, direction, scale,
        )  # fmt: skip
        spread(order, begin, blocks, z, v)
        low, high = np.inf, -np.inf
        for a in range(m):
            v[a] += target[a] - x[a]
            low, high = min(low, v[a]), max(high, v[a])
            right[a] = diagonal[a]
        share = 1.0
        for attempt in range(3):
            if attempt == 1:
                share = math.log1p(high - low) / (high - low)
            elif attempt == 2:
                share = min(share, room(order, link, x, v) * (1.0 + 1e-9))
            for a in range(m):
                ahead[a] = x[a] + share * v[a]
            blocks = pool(order, link, ahead, right, mean, total, begin)
            spread(order, begin, blocks, mean, ahead)
            slopes(row, column, margin, played, precision, pull, ahead, strength, gradient, diagonal, curve)
            falls = 0.0
            for a in range(m):
                falls += gradient[a] * (ahead[a] - x[a])
            if falls <= 0.0 or high - low <= tol:
                break
        last = 0.0
        for a in range(m):
            last = max(last, abs(ahead[a] - x[a]))
            x[a] = ahead[a]
        cut = -1
        if last <= tol:
            worst, cut = worst_cut(order, link, x, gradient, diagonal)
            if worst <= tol:
                break
            last, careful = 1.0, True
    return last
