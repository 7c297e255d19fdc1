"""Pairs with given margins."""

from __future__ import annotations

import numpy as np

from softcondorcet import Pairs

Array = np.ndarray


def pairs_of(margin: Array) -> Pairs:
    """Pairs with these margins, won without a loss."""
    i, j = np.nonzero(np.triu(margin, 1))
    won = margin[i, j]
    names = tuple(f"agent-{k:02}" for k in range(len(margin)))
    return Pairs(names, i.astype(np.int32), j.astype(np.int32), np.maximum(won, 0), np.maximum(-won, 0), 0 * won)


CHAIN = np.triu(np.ones((4, 4)), 1)


CHAIN[0, 1] = CHAIN[2, 3] = 10
