"""The table of ``sco rank`` and ``sco demo``: ratings with bars, what they rest on, and the answer last."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.cli import output
from softcondorcet.cli.progress import progress
from softcondorcet.leaderboard import placed
from softcondorcet.methods.placement import ENDS, Placement
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.laplace import normal_below

if TYPE_CHECKING:
    from softcondorcet.text_table import Range

# The chance from which on two agents count as told apart at 95 %, as in ``uncertainty``.
_SURE = 0.975
_LEGEND = "bars: 95 % of each rating, by the curvature of the likelihood; 'sco bootstrap' asks resamples, too"


def show_board(
    votes: Profile | Pairs,
    ratings: Ratings,
    *,
    top: int | None = None,
    options: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> None:
    """Print ratings of these votes. `options` are those that the method was given.

    Bars are drawn, and the answer and how few votes would change it are said, where somebody looks at a terminal.
    """
    ranges = _ranges(ratings, top) if output.width(sys.stdout) else []
    drawn = output.show_rows(ratings.rows(top), "table", ranges)
    if quiet:
        return
    output.say([*ratings.summary(), *[_LEGEND] * drawn])
    if output.width(sys.stderr) is None:
        return
    output.conclude([_answer(votes, ratings)])
    if isinstance(votes, Profile):
        from softcondorcet.reporting.analysis import fewest

        with progress() as work:
            work("looking for the fewest votes that would change first place")
            flip = fewest(votes, ratings, options or {}, ratings.seed or 0)
        output.conclude([flip])


def _answer(votes: Profile | Pairs, ratings: Ratings) -> str:
    """Who comes first, and whom the fit's curvature does not tell from it. No resamples are drawn."""
    from softcondorcet.reporting.analysis import Analysis
    from softcondorcet.reporting.verdict import verdict

    pairs = as_pairs(votes)
    says = verdict(pairs, ratings, votes.noun if isinstance(votes, Profile) else "vote")
    near = _near(ratings) if says.kind == "winner" else []
    if near:
        first = ratings.agents[int(ratings.listing[0])]
        says = Analysis(ratings, pairs, sure_word="open", first=first, not_told_from=near).headline(says)
    return says.answer


def _near(ratings: Ratings) -> list[int]:
    """The agents that the curvature of the likelihood does not tell from the first one."""
    top, *others = placed(ratings).tolist()
    if not isinstance(ratings.placement, Placement) or not others:
        return []
    chance = normal_below(ratings.placement.spread.leads(top, np.array(others)))
    return [k for k, above in zip(others, chance.tolist(), strict=True) if above < _SURE]


def _ranges(ratings: Ratings, top: int | None) -> list[Range | None]:
    """The range that the fit's curvature leaves the rating of each row, where ratings are log-odds."""
    if ratings.unit is None or not isinstance(ratings.placement, Placement) or len(ratings) < 2:
        return []
    half = ENDS * ratings.placement.spread.sd * ratings.unit
    low, high = ratings.values - half, ratings.values + half
    return [(float(low[k]), float(ratings.values[k]), float(high[k])) for k in ratings.listing[:top].tolist()]
