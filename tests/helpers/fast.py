"""Options by which each method is quick enough for a property test."""

from __future__ import annotations

from typing import Any

# Few steps keep stochastic methods quick; what they promise must hold at any number of steps.
FAST: dict[str, dict[str, Any]] = {
    "sco": {},
    "kemeny": {},
    "kwiksort": {"tries": 3},
    "insertion_search": {},
    "iterated_search": {"rounds": 2},
    "sigmoidal_program": {},
    "fenchel_young": {"steps": 2000, "lr": 0.05},
    "bradley_terry": {},
    "plackett_luce": {},
    "elo": {},
    "weng_lin": {},
    "approval": {"k": 2},
    "plurality": {},
    "borda": {},
    "win_rate": {},
    "copeland": {},
    "ranked_pairs": {},
    "schulze": {},
    "maximal_lotteries": {},
    "iterated_maximal_lotteries": {},
    "stv": {},
}
