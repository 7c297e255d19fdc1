"""How sure the first place is, as a word and in a sentence."""

from __future__ import annotations

import math

from softcondorcet.errors import some
from softcondorcet.reporting.gather import Material


def sureness(found: Material) -> tuple[str, str]:
    """A word ("settled", "likely", "open", or nothing where intervals are not known) and what it rests on."""
    sure = found.uncertainty
    if sure is None or found.verdict.kind == "nothing":
        return "", ""
    top = found.board.order[0]
    k = found.board.agents.index(top)
    first = float(sure.top(1)[k])
    if math.isnan(first):
        return "open", f"No resample of the votes holds {top}: they cannot say how sure its place is."
    others = [name for group in sure.tie_groups if top in group for name in group if name != top]
    word = "open" if others or first < 0.8 else "likely" if first < 0.95 else "settled"
    low, high = int(sure.rank_low[k]), int(sure.rank_high[k])
    place = f"its rank is {low}" if low == high else f"its rank is {low} to {high}"
    shared = " or shares first place" if (found.board.ranks == 1).sum() > 1 else ""
    told = f"{top} is first{shared} in {_percent(first)} of {len(sure):,} resamples of the votes; {place} at "
    told += f"{100 * sure.level:g} %."
    return word, told + (f" It cannot be told apart from {some(others, 4)}." if others else "")


def _percent(share: float) -> str:
    """Never 100 % or 0 % unless it is."""
    shown = min(max(round(100 * share), 1 if share > 0 else 0), 99 if share < 1 else 100)
    return f"{shown} %"
