"""Random numbers by seed and by what they are drawn for: two uses of one seed never see the same numbers.

A number once given to a use stays with it, or results that were published with a seed could not be had again.
"""

from __future__ import annotations

import numpy as np

STREAMS = {
    "sgd": 0,  # votes, and noise, of stochastic steps
    "start": 1,  # noise on the ratings that a fit starts from
    "held_out": 2,  # votes that ``holdout`` keeps back
    "pivots": 3,  # of ``kwiksort``
    "resamples": 4,  # of the bootstrap
    "posterior": 5,
    "hands": 6,  # that long votes are dealt into
    "folds": 7,  # of cross-validation, in ``tune``
    "annealing": 8,  # of local search
    "online": 9,  # noise of ``Live``
    "order": 10,  # in which an experiment casts its votes
    "versus": 11,  # resamples of votes that hold two agents
    "shrinkage": 12,  # vectors that estimate a determinant
    "spread": 13,  # vectors that estimate how uncertain ratings are
    "history": 14,  # draws from the posterior of ratings over time
    "teams": 15,  # draws from the posterior of members of teams
}


def stream(seed: int, use: str) -> np.random.Generator:
    """The generator of a seed for one of the uses in ``STREAMS``."""
    return np.random.default_rng([seed, STREAMS[use]])
