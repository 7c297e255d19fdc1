"""Verdicts of a judge who saw both orders of a pair, joined to a share of a win: Arena-Hard and MT-bench.

Shown twice with the sides swapped, a judge who names the same winner twice gives a win, one who does not a tie.
"""

from __future__ import annotations

import re

# Of "A>>B": the share of a win for A, and how many votes the verdict is worth.
_GRADE = re.compile(r"\[*\s*([AB])\s*(>>|>|=|==|<|<<)\s*([AB])\s*\]*$")
STRONG = 3.0


def graded(verdict: str) -> tuple[float, float] | None:
    """The share of a win for A and the weight of ``A>>B``, ``A>B``, ``A=B``, ``B>A``, ``B<A``; None if it is none."""
    match = _GRADE.match(verdict.strip())
    if not match or match[1] == match[3]:
        return None
    left, sign, _ = match.groups()
    share = 0.5 if "=" in sign else float((">" in sign) == (left == "A"))
    return share, STRONG if len(sign) == 2 and "=" not in sign else 1.0


def joined(games: list[tuple[float, float]], of: int) -> tuple[float, float]:
    """Share of a win and weight of several games, each counted as one part of `of`."""
    total = sum(weight for _, weight in games)
    return sum(share * weight for share, weight in games) / total, total / of
