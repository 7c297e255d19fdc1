"""The symmetric zero-sum game of a margin matrix, solved along its central path.

M is skew-symmetric, M[a, b] > 0 where a beats b. Two players name an agent each; the one whose agent beats the other's
wins the margin. A lottery p over the agents is optimal if it loses to no agent: (p M)_b >= 0 for all b. The value is
0.

For t > 0 there is one p with p_i s_i = t/c for all i, where s = p M + t; summed over i it says that p adds up to 1,
for p M p = 0. At t = infinity all p_i are 1/c. As t goes to 0, p goes to the analytic centre of the set of optimal
lotteries: p_i stays positive for every agent that any optimal lottery uses, s_i for every other one. So where there
are several optimal lotteries this is a well-defined one, which treats agents alike that the game treats alike, as no
corner of the set found by a simplex method would.

Newton's step for t -> u t solves (diag(s/p) - M) d = (t - s) + u (t/(c p) - t). The matrix is a skew one plus a
positive diagonal, so it is never singular. A step is linear in u: one solve gives the best u too. O(c^3) per step, 10
to 30 steps.

Such fast descent strays from the path, and where many lotteries are optimal no further descent leads back: it ends at
one of them, off the centre by a tenth and more at times. But by then it is known which p_i and s_i stay positive, and
the centre is where the product of these is largest, among the lotteries that are level with all agents they draw.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.kernels.elimination import eliminate

# Below this gap, p is as exact as sums of floats of size 1 allow.
_GAP = 1e-13
# Singular values below this part of the largest are 0, and the centre is found when no entry moves by more than _STILL.
_RANK, _STILL, _CENTRING = 1e-10, 1e-12, 50
# Above this many agents more cores pay.
_ONE_CORE = 512
# How far to go of the way to where a p_i or s_i would become 0.
_SHORT = 0.99


def central_lottery(margin: Floats, steps: int) -> Floats:
    """The centre of the optimal lotteries of a margin matrix, after at most so many Newton steps."""
    c = len(margin)
    game = margin / max(float(np.abs(margin).max(initial=0.0)), np.finfo(float).tiny)
    p, t = np.full(c, 1 / c), 2.0
    s = p @ game + t
    for _ in range(steps if game.any() else 0):
        if t < _GAP:
            break
        affine, centring = _solve(np.diag(s / p) - game, np.stack([t - s, t / (c * p) - t], axis=1)).T
        reach = min(1.0, _room(p, affine), _room(s, affine @ game - t))
        u = (1 - reach) ** 3  # Mehrotra's rule: the further plain descent gets, the less centring
        along = affine + u * centring
        fall = along @ game - (1 - u) * t
        size = min(1.0, _SHORT * min(_room(p, along), _room(s, fall)))
        p, s, t = p + size * along, s + size * fall, t * (1 - size * (1 - u))
    if game.any():
        p = _centre(np.where(p > s, p, 0.0), s, game)
    return p / float(p.sum())


def _centre(p: Floats, s: Floats, game: Floats) -> Floats:
    """The optimal lottery of greatest product of chances and leads, from any that draws all agents it can."""
    drawn, beaten = np.flatnonzero(p > 0), np.flatnonzero(p == 0)
    # Directions that keep the sum of the chances, and the lottery level with all it draws.
    level = np.vstack([game[np.ix_(drawn, drawn)], np.ones(len(drawn))])
    _, size, across = np.linalg.svd(level)
    free = across[int((size > _RANK * size[0]).sum()) :]
    if not len(free):
        return p
    x = np.concatenate([p[drawn], s[beaten]])
    ways = np.hstack([free, free @ game[np.ix_(drawn, beaten)]])
    for _ in range(_CENTRING):
        slope = ways / x
        step = np.linalg.solve(slope @ slope.T, slope.sum(axis=1)) @ ways
        x = x + min(1.0, _SHORT * _room(x, step)) * step
        if np.abs(step / x).max() < _STILL:
            break
    centre = np.zeros_like(p)
    centre[drawn] = x[: len(drawn)]
    return centre


def _solve(matrix: Floats, right: Floats) -> Floats:
    if len(matrix) > _ONE_CORE:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    eliminate(matrix, right)
    return right


def _room(x: Floats, step: Floats) -> float:
    """How often a step fits until an entry of x would be 0."""
    falling = step < 0
    return float((x[falling] / -step[falling]).min(initial=np.inf))
