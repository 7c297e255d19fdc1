"""Log-odds under the order of any method: Bradley-Terry ratings that keep that order.

Ratings of `sco`, `kemeny`, `copeland` or `ranked_pairs` are places on a scale of their own: their gaps mean nothing,
and there is no chance to win. Here the order stays, and the gaps are those that make the comparisons of the votes most
likely, with a Gaussian prior whose precision is found in the votes too (``solvers.shrinkage``). Agents that share a
rank share a rating. Groups of agents that never met have mean 0 each: nothing places one among the other.

Where the votes support the order but no gap, neighbours are pooled: their ratings differ by next to nothing, and the
summary says how many there are. A chance of 50 % between them means "not known", not "level".

When it misleads: an order that the votes contradict often has most of its agents pooled. The odds are those of the line
through all agents; of two that met often, their own record says more.

Cost: some five fits of Bradley-Terry for the prior, then some dozens of passes over the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.checks import check, one_of, positive
from softcondorcet.majority import linked_labels
from softcondorcet.methods.result import Data
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.likelihood import joined
from softcondorcet.solvers.order_odds import centred, order_odds
from softcondorcet.solvers.shrinkage import fit_prior

# An agent, and the rating that it shall have.
Anchor = tuple[str, float]
# Pooled agents are kept apart by this much, far below what is shown, so that ranks follow the order.
APART = 1e-9
# Sums of margins below this share of the largest one are nothing but rounding.
_CANCELS = 1e-9


def odds(data: Data, board: Ratings, *, prior: float | Literal["auto"] = "auto") -> Ratings:
    """The ratings of a board as natural log-odds in the same order, with mean 0; ``.scale()`` gives Elo points.

    Parameters
    ----------
    data: the Profile or Pairs that the board is about.
    board: ratings by any method.
    prior: precision of the Gaussian prior around 0; "auto" is the most likely one, for each connected group.

    >>> from softcondorcet import Profile, kemeny
    >>> votes = Profile.from_matches({"model_a": ["x"] * 4, "model_b": ["y"] * 4, "winner": [*["model_a"] * 3, "tie"]})
    >>> board = odds(votes, kemeny(votes), prior=0.1)
    >>> board.order, round(board.probability("x", "y"), 2)
    (['x', 'y'], 0.85)
    """
    pairs = as_pairs(data)
    if prior != "auto":
        positive("prior", prior)
    check(set(board.agents) == set(pairs.agents), "board", "ratings of the agents of these votes", board)
    return in_scale(with_own_odds(board, pairs, prior), "odds")


def with_own_odds(board: Ratings, pairs: Pairs, prior: float | Literal["auto"] = "auto") -> Ratings:
    """The board with log-odds under its own order, fitted to the pairs."""
    group = np.unique(linked_labels(pairs), return_inverse=True)[1]
    count = int(group.max(initial=-1)) + 1
    weights = fit_prior(pairs, group)[0] if prior == "auto" else np.full(count, float(prior))
    ranks = -np.unique(board.values_of(pairs.agents), return_inverse=True)[1]
    return with_odds(board, pairs, ranks, group, weights, pairs)


def with_odds(
    board: Ratings,
    pairs: Pairs,
    tier: Ints,
    group: Ints,
    prior: Floats,
    counts: Pairs,
    start: Floats | None = None,
    pull: Floats | None = None,
) -> Ratings:
    """The board with log-odds under `tier`, fitted to `counts`, which may hold more than the pairs of the votes.

    The fit begins at `start`, which changes nothing but the time; `pull` is that of ``order_odds``.
    """
    values = joined(order_odds(counts, tier, group, prior, start, pull))
    largest = int(np.argmax(np.bincount(group, minlength=1)))
    pooled, level = _pooled(values, tier, group, pairs)
    return replace(
        board,
        agents=pairs.agents,
        values=apart(values, tier, group),
        unit=1.0,
        votes=_votes(board, pairs),
        pooled=pooled,
        level=level,
        prior=float(prior[largest]) if len(pairs) else None,
        precision=prior[group],
        pairs=pairs,
        # These belong to the places in the box that the ratings were.
        loss=None,
        loss_bound=None,
    )


def apart(values: Floats, tier: Ints, group: Ints) -> Floats:
    """Ratings with pooled agents kept apart, so that ranks follow the order; the mean of each group stays."""
    place = np.unique(tier, return_inverse=True)[1].astype(float)
    return values - APART * centred(place, group)


def check_scale(scale: object, known: Sequence[str], anchor: Anchor | None) -> None:
    one_of("scale", known, scale)
    check(anchor is None or scale == "elo", "anchor", "left out but for scale 'elo'", anchor)


def in_scale(board: Ratings, scale: str, anchor: Anchor | None = None) -> Ratings:
    """Log-odds in Elo points, "elo", or as they are, "odds"."""
    if scale == "elo":
        return board.scale(anchor=anchor)
    return replace(
        board, values=board.values / (board.unit or 1.0), unit=1.0, options={**board.options, "scale": "odds"}
    )


def _votes(board: Ratings, pairs: Pairs) -> Floats | None:
    """The votes of each agent, in the order of the pairs."""
    if board.votes is None:
        return None
    number = {name: k for k, name in enumerate(board.agents)}
    votes: Floats = board.votes[[number[name] for name in pairs.agents]]
    return votes


def _pooled(values: Floats, tier: Ints, group: Ints, pairs: Pairs) -> tuple[int, int]:
    """Agents whose rating is that of another tier of their group; and how many of these are level.

    They are level where the wins and losses of each against the others of its rating cancel, as in a symmetric cycle.
    """
    _, one = np.unique(np.stack([group, values]), axis=1, return_inverse=True)
    one = one.ravel()
    tiers, which = np.unique(np.stack([one, tier]), axis=1, return_inverse=True)
    several = (np.bincount(tiers[0].astype(np.int64)) > 1)[tiers[0].astype(np.int64)][which.ravel()]
    margin = np.where(one[pairs.left] == one[pairs.right], pairs.margin, 0.0)
    net = sum_by(pairs.left, margin, len(one)) - sum_by(pairs.right, margin, len(one))
    uneven = np.abs(net) > _CANCELS * float(np.abs(margin).max(initial=0.0))
    cancels = np.bincount(one, weights=uneven, minlength=1)[one] == 0
    return int(several.sum()), int((several & cancels).sum())
