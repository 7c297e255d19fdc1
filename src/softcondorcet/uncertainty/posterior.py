"""Samples of ratings by stochastic gradient descent at a constant rate (the paper's appendix on the posterior).

With votes v = 1..N, counted by weight, and l_v the sigmoid loss of a vote, take exp(-sum l_v(r)) on the box as the
posterior of the ratings r. Around its mode it is nearly normal with precision N A, where A is the Hessian of the mean
loss L = sum l_v / N. Steps of SGD at a constant rate, r <- r - rate g, on batches of S votes, do not settle either: g
is the gradient of L plus noise of covariance C / S, C that of the gradient of a single vote. For small rates the steps
follow an Ornstein-Uhlenbeck process whose stationary covariance V solves

    A V + V A = rate C / S,    so    tr(A V) = rate tr(C) / (2 S).

Which rate makes its distribution q = N(mode, V) most like the posterior p = N(mode, (N A)^-1), over D agents? Since V
grows in proportion to the rate,

    KL(q, p) = (N tr(A V) - D - log det(N A V)) / 2 = rate N tr(C) / (4 S) - D / 2 log(rate) + constant,

which is smallest where N tr(C) / (4 S) = D / (2 rate):

    rate = 2 S D / (N tr(C))    (Mandt, Hoffman and Blei, 2017, theorem 1).

tr(C) is the mean squared distance of a vote's gradient to the mean gradient, summed here over all votes, not estimated.

Steps start where SGD with the paper's settings has led (`burn` steps), and every step is projected on the box, so no
sample leaves it. One sample is kept every `thin` steps: by default after as many votes as there are, in which time an
average direction forgets 1 - exp(-2) = 86 % of where it was. The first samples, a fifth of all, are dropped: at the new
rate, ratings first move further apart.

When it misleads: the argument wants a mode with curvature around it. Where agents are many temperatures apart the loss
is flat, gradients vanish, and the rate that they ask for is not a small one; it is kept below the rate at which steps
would overshoot, with a warning. The sigmoid loss is not a likelihood either: that a contradicted comparison costs a
factor e is a convention. For intervals that hold the truth as often as they say, use ``bootstrap``.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import Box, Watch, box, natural, positive, scale, whole
from softcondorcet.kernels import sgd
from softcondorcet.kernels.batch import frozen
from softcondorcet.kernels.sgd import squared_gradients
from softcondorcet.methods.result import sampled
from softcondorcet.methods.sco import sco
from softcondorcet.profile import Profile
from softcondorcet.seeds import stream
from softcondorcet.uncertainty.intervals import Uncertainty, check_level


def posterior(
    data: Profile,
    *,
    n: int = 1_000,
    temperature: float | Literal["auto"] = "auto",
    bounds: Box = (0.0, 100.0),
    burn: int = 10_000,
    lr: float = 0.01,
    batch: int = 32,
    thin: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    watch: Watch | None = None,
) -> Uncertainty:
    """Samples of soft Condorcet ratings by SGD at the constant rate that comes nearest to the posterior.

    Parameters
    ----------
    data: a Profile: batches are drawn from votes.
    n: how many samples.
    temperature, bounds: of the loss; "auto" is 1 in the default box, as in the paper.
    burn, lr, batch: steps, rate and votes per step of the SGD that leads to where sampling starts.
    thin: steps per sample; None for one pass over the votes.
    level: of the intervals.
    seed: the same seed gives the same bits.
    watch: called as ``watch(sample, samples, ratings)``.

    The fit of the result, ``board``, is where the first SGD ended, as in the paper.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(200, agents=4, noise=20, seed=3)
    >>> found = posterior(votes, n=200)
    >>> order, share = found.orders()[0]
    >>> order[0], 0.2 < share <= 1.0
    ('agent-1', True)
    """
    profile = sampled(data)
    low, high = bounds = box("bounds", bounds)
    whole("n", n)
    natural("burn", burn)
    positive("lr", lr)
    whole("batch", batch)
    if thin is not None:
        whole("thin", thin)
    check_level(level)
    natural("seed", seed)
    heat = (high - low) / 100 if temperature == "auto" else float(temperature)
    scale("temperature", heat, bounds)
    board = sco(
        profile, solver="sgd", temperature=heat, bounds=bounds, steps=max(burn, 1), lr=lr, batch=batch, seed=seed,
        scale="box",
    )  # fmt: skip
    size = float(profile.weight.sum())
    every = max(1, math.ceil(size / batch)) if thin is None else thin
    rate, notes = _rate(profile, np.array(board.values), heat, bounds, batch)
    samples = _samples(profile, np.array(board.values), rate, heat, bounds, batch, n, every, seed, watch)
    words = f"posterior, {n:,} samples by SGD at rate {rate:.3g}, one every {every:,} steps"
    return Uncertainty(board, samples, words, level, tuple(notes), pairs=profile.pairs())


def _samples(
    profile: Profile,
    ratings: Floats,
    rate: float,
    heat: float,
    bounds: Box,
    batch: int,
    n: int,
    every: int,
    seed: int,
    watch: Watch | None,
) -> Floats:
    plan = sgd.plan_sigmoid(profile.start, profile.agent, profile.tier, profile.weight, profile.n_agents, batch)
    state = sgd.seed_state(stream(seed, "posterior"))
    rates, samples = np.full(every, rate), np.empty((n, profile.n_agents))
    for k in range(-(n // 4) - 1, n):
        sgd.run_sigmoid(plan, ratings, rates, heat, *bounds, state)
        if k >= 0:
            samples[k] = ratings
            if watch is not None:
                watch(k + 1, n, ratings)
    return samples


def _rate(profile: Profile, ratings: Floats, heat: float, bounds: Box, batch: int) -> tuple[float, list[str]]:
    """The rate 2 S D / (N tr C) at these ratings, and a warning where it had to be lowered."""
    size, m = float(profile.weight.sum()), profile.n_agents
    noise = gradient_noise(profile, ratings, heat, bounds)
    # Steps overshoot from 1 / curvature on; the bound is that of descent, for the mean loss of a vote.
    largest = size / float(PairwiseLoss(profile.pairs(), bounds).curvature(Stage(1.0, heat)).max())
    asked = 2 * batch * m / (size * noise) if noise > 0 else math.inf
    if asked <= largest:
        return asked, []
    return largest, [
        f"gradients are so flat that a rate of {asked:.3g} would match the posterior; {largest:.3g} is the most at "
        "which steps do not overshoot, so samples may scatter too little; a higher temperature would help"
    ]


def gradient_noise(profile: Profile, ratings: Floats, heat: float, bounds: Box) -> float:
    """tr(C): the mean squared distance of a vote's gradient to the mean gradient."""
    arrays: list[Any] = [frozen(profile.start, np.int64), frozen(profile.agent, np.int32)]
    arrays += [frozen(profile.tier, np.int32), frozen(profile.weight, np.float64)]
    longest, total = int(profile.length.max()), np.zeros(profile.n_agents)
    room = np.empty(longest, np.uint32), np.empty(longest), np.empty(longest)
    squares = squared_gradients(*arrays, ratings, 1 / heat, sum(bounds) / 2, *room, total)
    size = float(profile.weight.sum())
    return float(squares / size - ((total / size) ** 2).sum()) / heat**2
