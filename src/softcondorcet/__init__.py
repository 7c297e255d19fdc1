"""Which agent is best, and how sure are we? Ratings that contradict the votes least.

    import softcondorcet as sc

    profile = sc.read("battles.csv")
    print(sc.sco(profile).order)

Names are imported when they are first used, so that ``import softcondorcet`` compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "DataError": "errors",
    "OptionError": "errors",
    "NotConverged": "errors",
    "Profile": "profile",
    "Pairs": "pairs",
    "Ratings": "ratings",
    "Live": "live",
    "read": "readers",
    "read_archive": "readers",
    "write": "readers",
    "METHODS": "registry",
    "rank": "registry",
    "sco": "methods.sco",
    "sigmoidal_program": "methods.sigmoidal_program",
    "kemeny": "methods.kemeny",
    "certify": "methods.kemeny",
    "kwiksort": "methods.kwiksort",
    "insertion_search": "methods.local_search",
    "iterated_search": "methods.local_search",
    "Optima": "methods.optima",
    "optimal_orders": "methods.optima",
    "nearest_optimum": "methods.optima",
    "fenchel_young": "methods.fenchel_young",
    "bradley_terry": "methods.bradley_terry",
    "plackett_luce": "methods.plackett_luce",
    "elo": "methods.elo",
    "weng_lin": "methods.weng_lin",
    "approval": "methods.scoring",
    "plurality": "methods.scoring",
    "borda": "methods.scoring",
    "copeland": "methods.copeland",
    "ranked_pairs": "methods.ranked_pairs",
    "schulze": "methods.schulze",
    "maximal_lotteries": "methods.lotteries",
    "iterated_maximal_lotteries": "methods.lotteries",
    "stv": "methods.stv",
    "compare": "comparison",
    "Comparison": "comparison",
    "holdout": "heldout",
    "Holdout": "heldout",
    "bootstrap": "bootstrapping",
    "posterior": "sgd_posterior",
    "Uncertainty": "uncertainty",
    "next_matches": "next_match",
    "NextMatches": "next_match",
    "tune": "tuning",
    "Tuned": "tuning",
    "inspect": "doctor",
    "Inspection": "doctor",
    "Finding": "doctor",
    "robustness": "robust",
    "Robustness": "robust",
    "report": "reporting",
    "condorcet_winner": "majority",
    "condorcet_loser": "majority",
    "weak_condorcet_winners": "majority",
    "smith_set": "majority",
    "connected_groups": "majority",
    "strong_groups": "majority",
    "undefeated": "majority",
    "winless": "majority",
    "kendall_tau_distance": "metrics",
    "normalized_kendall_tau_distance": "metrics",
    "footrule_distance": "metrics",
    "discrete_loss": "metrics",
    "mean_true_rating_distance": "metrics",
}
_MODULES = ("majority", "metrics", "plots", "synthetic")

__all__ = [*_HOME, *_MODULES, "__version__"]  # noqa: PLE0604

if TYPE_CHECKING:
    from softcondorcet import majority, metrics, plots, synthetic
    from softcondorcet.bootstrapping import bootstrap
    from softcondorcet.comparison import Comparison, compare
    from softcondorcet.doctor import Finding, Inspection, inspect
    from softcondorcet.errors import DataError, NotConverged, OptionError
    from softcondorcet.heldout import Holdout, holdout
    from softcondorcet.live import Live
    from softcondorcet.majority import (
        condorcet_loser,
        condorcet_winner,
        connected_groups,
        smith_set,
        strong_groups,
        undefeated,
        weak_condorcet_winners,
        winless,
    )
    from softcondorcet.methods.bradley_terry import bradley_terry
    from softcondorcet.methods.copeland import copeland
    from softcondorcet.methods.elo import elo
    from softcondorcet.methods.fenchel_young import fenchel_young
    from softcondorcet.methods.kemeny import certify, kemeny
    from softcondorcet.methods.kwiksort import kwiksort
    from softcondorcet.methods.local_search import insertion_search, iterated_search
    from softcondorcet.methods.lotteries import iterated_maximal_lotteries, maximal_lotteries
    from softcondorcet.methods.optima import Optima, nearest_optimum, optimal_orders
    from softcondorcet.methods.plackett_luce import plackett_luce
    from softcondorcet.methods.ranked_pairs import ranked_pairs
    from softcondorcet.methods.schulze import schulze
    from softcondorcet.methods.sco import sco
    from softcondorcet.methods.scoring import approval, borda, plurality
    from softcondorcet.methods.sigmoidal_program import sigmoidal_program
    from softcondorcet.methods.stv import stv
    from softcondorcet.methods.weng_lin import weng_lin
    from softcondorcet.metrics import (
        discrete_loss,
        footrule_distance,
        kendall_tau_distance,
        mean_true_rating_distance,
        normalized_kendall_tau_distance,
    )
    from softcondorcet.next_match import NextMatches, next_matches
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.ratings import Ratings
    from softcondorcet.readers import read, read_archive, write
    from softcondorcet.registry import METHODS, rank
    from softcondorcet.reporting import report
    from softcondorcet.robust import Robustness, robustness
    from softcondorcet.sgd_posterior import posterior
    from softcondorcet.tuning import Tuned, tune
    from softcondorcet.uncertainty import Uncertainty


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
