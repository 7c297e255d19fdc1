"""Bounds on differences of ratings: most[a, b] >= x_a - x_b, for x = ratings / temperature.

What is known before any search, of the ratings that are worth looking at:

- *The box*: x_a - x_b <= width.
- *Pairs that cost too much.* Add independent Gumbel noise to x: the order of the sums puts b above a with probability
  s(x_b - x_a), s the logistic function, so the loss L(x) is the mean of K over random orders (K: the margins that an
  order contradicts; K*: the smallest). Orders with b above a contradict at least K* + detour[b, a] (``forced``), the
  others at least K*. So L(x) <= K* + slack implies s(x_b - x_a) <= slack / detour[b, a].
- *Exchange.* If a beats b or is level with it, and has at least b's margin over every third agent, then swapping the
  ratings of a and b where b's is higher does not raise the loss. Some minimum has x_a >= x_b for all such pairs at
  once: swap until there is none left to swap, which ends, because each swap sorts the ratings further.

Differences add up, so the bounds are closed under most[a, b] <= most[a, k] + most[k, b].
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Flags, Floats


def logistic(d: Floats) -> Floats:
    """s(d) = 1 / (1 + exp(-d)), safe at any d."""
    t = np.exp(-np.abs(d))
    shares: Floats = np.where(d >= 0, 1.0, t) / (1 + t)
    return shares


def first_differences(margin: Floats, width: float, slack: float, detour: Floats) -> Floats:
    """Bounds that hold for some global minimum, if its loss is at most K* + `slack`."""
    with np.errstate(divide="ignore"):
        share = slack / detour
        # Shares next to 1 say next to nothing, and their logit is all rounding.
        by_cost = np.where(share < 1 - 1e-9, np.log(share) - np.log1p(-np.minimum(share, 1 - 1e-9)), np.inf)
    most = np.clip(by_cost, -width, width)
    most = np.where(exchangeable(margin).T, np.minimum(most, 0.0), most)
    np.fill_diagonal(most, 0.0)
    return close(most)


def exchangeable(margin: Floats) -> Flags:
    """Pairs a, b of which some minimum has a not below b. Twins count once, in the order they are listed."""
    number = np.arange(len(margin))
    # Compared at a and at b themselves, the margins say margin[a, b] >= 0.
    as_good = np.array([(own >= margin).all(axis=1) for own in margin])
    twins = as_good & as_good.T & (number[:, None] >= number[None, :])
    exchanged: Flags = as_good & ~twins
    return exchanged


def close(most: Floats) -> Floats:
    """All bounds that follow by adding bounds up (Floyd and Warshall)."""
    for k in range(len(most)):
        most = np.minimum(most, most[:, [k]] + most[[k], :])
    return most


def tighten(most: Floats, a: int, b: int, limit: float) -> Floats:
    """The closed bounds after x_a - x_b <= limit, which must not contradict them: every new path uses that one once."""
    return np.minimum(most, most[:, [a]] + limit + most[[b], :])


def certain_order(slack: float, detour: Floats) -> Flags:
    """Pairs a, b with a above b in every minimum, if its loss is at most K* + `slack`: s(x_b - x_a) < 1/2 by the above.

    A little less than 1/2, so that no rounding is certified.
    """
    return np.greater(detour.T, 2.00001 * slack)
