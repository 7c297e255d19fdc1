"""Fits of versions whose ratings were places from 0 to 100, put on today's scale: Elo points under the same order.

The order of such a fit stays, and its gaps are fitted to the votes that it saw. What is stored stays as it is, so that
an older version can open the board again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.server.ledger.snapshot import UNIT, Fit

if TYPE_CHECKING:
    from softcondorcet.profile import Profile


def in_elo(values: Floats, profile: Profile) -> Floats:
    """Elo points of the first agents of a profile, in the order of these values, by its votes."""
    from softcondorcet.methods.odds import odds
    from softcondorcet.ratings import Ratings

    known = len(values)
    beyond = np.full(profile.n_agents - known, float(np.mean(values)) if known else 0.0)
    board = Ratings(profile.agents, np.concatenate([values, beyond]), "sco", {})
    points: Floats = odds(profile, board).scale().values[:known]
    return points


def is_older(fit: Fit) -> bool:
    return "unit" not in fit.analysis


def converted(fit: Fit, profile: Profile) -> Fit:
    """The same fit in Elo points; its intervals of ratings were on the old scale and are left out."""
    values = in_elo(fit.values, profile)
    ends = {"rating_low": None, "rating_high": None}
    return replace(fit, analysis={**fit.analysis, **ends, "values": values.tolist(), "unit": UNIT, "older": True})
