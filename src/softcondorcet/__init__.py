"""Which agent is best, and how sure are we? Ratings that contradict the votes least.

    import softcondorcet as sc

    profile = sc.read("battles.csv")
    print(sc.sco(profile).order)

Names are imported when they are first used, so that ``import softcondorcet`` compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "DataError": "errors",
    "OptionError": "errors",
    "NotConverged": "errors",
    "Profile": "profile",
    "Pairs": "pairs",
    "Ratings": "ratings",
    "Client": "client",
    "Pushed": "client",
    "Online": "online.online",
    "Live": "online.online",
    "read": "io.files",
    "read_archive": "io.files",
    "write": "io.write",
    "METHODS": "methods.registry",
    "rank": "methods.registry",
    "sco": "methods.sco",
    "sigmoidal_program": "methods.sigmoidal_program",
    "kemeny": "methods.kemeny",
    "certify": "methods.kemeny",
    "kwiksort": "methods.kwiksort",
    "insertion_search": "methods.local_search",
    "iterated_search": "methods.local_search",
    "Optima": "methods.optimal_orders",
    "optimal_orders": "methods.optimal_orders",
    "nearest_optimum": "methods.optimal_orders",
    "fenchel_young": "methods.fenchel_young",
    "bradley_terry": "methods.bradley_terry",
    "plackett_luce": "methods.plackett_luce",
    "elo": "methods.elo",
    "weng_lin": "methods.weng_lin",
    "approval": "methods.scoring",
    "plurality": "methods.scoring",
    "win_rate": "methods.scoring",
    "borda": "methods.scoring",
    "copeland": "methods.copeland",
    "ranked_pairs": "methods.ranked_pairs",
    "schulze": "methods.schulze",
    "maximal_lotteries": "methods.maximal_lotteries",
    "iterated_maximal_lotteries": "methods.maximal_lotteries",
    "stv": "methods.stv",
    "odds": "methods.odds",
    "sigmoid_loss": "evaluation.losses",
    "fenchel_young_loss": "evaluation.losses",
    "compare": "evaluation.compare",
    "diff": "evaluation.diff",
    "Diff": "evaluation.diff",
    "regress": "evaluation.regress",
    "Regression": "evaluation.regress",
    "Comparison": "evaluation.compare",
    "calibration": "evaluation.calibration",
    "Calibration": "evaluation.calibration",
    "holdout": "evaluation.holdout",
    "Holdout": "evaluation.holdout",
    "bootstrap": "uncertainty.bootstrap",
    "by_group": "uncertainty.by_group",
    "ByGroup": "uncertainty.by_group",
    "posterior": "uncertainty.posterior",
    "predict": "uncertainty.predict",
    "Prediction": "uncertainty.predict",
    "Uncertainty": "uncertainty.intervals",
    "new_group": "uncertainty.new_group",
    "next_matches": "uncertainty.next_matches",
    "NextMatches": "uncertainty.next_matches",
    "next_runs": "uncertainty.next_runs",
    "NextRuns": "uncertainty.next_runs",
    "sequential_test": "uncertainty.sequential_test",
    "SequentialTest": "uncertainty.sequential_test",
    "confidence_sequence": "uncertainty.sequential_test",
    "versus": "evaluation.versus",
    "Versus": "evaluation.versus_result",
    "Baseline": "evaluation.versus_result",
    "decay": "evaluation.decay",
    "controlled": "evaluation.controlled",
    "Controlled": "evaluation.controlled",
    "margins": "evaluation.margins",
    "Margins": "evaluation.margins",
    "teams": "evaluation.teams",
    "Teams": "evaluation.teams",
    "history": "evaluation.history",
    "History": "evaluation.history",
    "replay": "evaluation.replay",
    "Replay": "evaluation.replay",
    "tune": "evaluation.tune",
    "Tuned": "evaluation.tune",
    "inspect": "doctor",
    "Inspection": "doctor",
    "Finding": "doctor",
    "robustness": "evaluation.robustness",
    "Robustness": "evaluation.robustness",
    "report": "reporting.page",
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
    from softcondorcet import majority as majority, metrics as metrics, plots as plots, synthetic as synthetic
    from softcondorcet.client import Client as Client, Pushed as Pushed
    from softcondorcet.doctor import Finding as Finding, Inspection as Inspection, inspect as inspect
    from softcondorcet.errors import DataError as DataError, NotConverged as NotConverged, OptionError as OptionError
    from softcondorcet.evaluation.calibration import Calibration as Calibration, calibration as calibration
    from softcondorcet.evaluation.compare import Comparison as Comparison, compare as compare
    from softcondorcet.evaluation.controlled import Controlled as Controlled, controlled as controlled
    from softcondorcet.evaluation.decay import decay as decay
    from softcondorcet.evaluation.diff import Diff as Diff, diff as diff
    from softcondorcet.evaluation.history import History as History, history as history
    from softcondorcet.evaluation.holdout import Holdout as Holdout, holdout as holdout
    from softcondorcet.evaluation.losses import fenchel_young_loss as fenchel_young_loss, sigmoid_loss as sigmoid_loss
    from softcondorcet.evaluation.margins import Margins as Margins, margins as margins
    from softcondorcet.evaluation.regress import Regression as Regression, regress as regress
    from softcondorcet.evaluation.replay import Replay as Replay, replay as replay
    from softcondorcet.evaluation.robustness import Robustness as Robustness, robustness as robustness
    from softcondorcet.evaluation.teams import Teams as Teams, teams as teams
    from softcondorcet.evaluation.tune import Tuned as Tuned, tune as tune
    from softcondorcet.evaluation.versus import versus as versus
    from softcondorcet.evaluation.versus_result import Baseline as Baseline, Versus as Versus
    from softcondorcet.io.files import read as read, read_archive as read_archive
    from softcondorcet.io.write import write as write
    from softcondorcet.majority import (
        condorcet_loser as condorcet_loser,
        condorcet_winner as condorcet_winner,
        connected_groups as connected_groups,
        smith_set as smith_set,
        strong_groups as strong_groups,
        undefeated as undefeated,
        weak_condorcet_winners as weak_condorcet_winners,
        winless as winless,
    )
    from softcondorcet.methods.bradley_terry import bradley_terry as bradley_terry
    from softcondorcet.methods.copeland import copeland as copeland
    from softcondorcet.methods.elo import elo as elo
    from softcondorcet.methods.fenchel_young import fenchel_young as fenchel_young
    from softcondorcet.methods.kemeny import certify as certify, kemeny as kemeny
    from softcondorcet.methods.kwiksort import kwiksort as kwiksort
    from softcondorcet.methods.local_search import (
        insertion_search as insertion_search,
        iterated_search as iterated_search,
    )
    from softcondorcet.methods.maximal_lotteries import (
        iterated_maximal_lotteries as iterated_maximal_lotteries,
        maximal_lotteries as maximal_lotteries,
    )
    from softcondorcet.methods.odds import odds as odds
    from softcondorcet.methods.optimal_orders import (
        Optima as Optima,
        nearest_optimum as nearest_optimum,
        optimal_orders as optimal_orders,
    )
    from softcondorcet.methods.plackett_luce import plackett_luce as plackett_luce
    from softcondorcet.methods.ranked_pairs import ranked_pairs as ranked_pairs
    from softcondorcet.methods.registry import METHODS as METHODS, rank as rank
    from softcondorcet.methods.schulze import schulze as schulze
    from softcondorcet.methods.sco import sco as sco
    from softcondorcet.methods.scoring import (
        approval as approval,
        borda as borda,
        plurality as plurality,
        win_rate as win_rate,
    )
    from softcondorcet.methods.sigmoidal_program import sigmoidal_program as sigmoidal_program
    from softcondorcet.methods.stv import stv as stv
    from softcondorcet.methods.weng_lin import weng_lin as weng_lin
    from softcondorcet.metrics import (
        discrete_loss as discrete_loss,
        footrule_distance as footrule_distance,
        kendall_tau_distance as kendall_tau_distance,
        mean_true_rating_distance as mean_true_rating_distance,
        normalized_kendall_tau_distance as normalized_kendall_tau_distance,
    )
    from softcondorcet.online.online import Live as Live, Online as Online
    from softcondorcet.pairs import Pairs as Pairs
    from softcondorcet.profile import Profile as Profile
    from softcondorcet.ratings import Ratings as Ratings
    from softcondorcet.reporting.page import report as report
    from softcondorcet.uncertainty.bootstrap import bootstrap as bootstrap
    from softcondorcet.uncertainty.by_group import ByGroup as ByGroup, by_group as by_group
    from softcondorcet.uncertainty.intervals import Uncertainty as Uncertainty
    from softcondorcet.uncertainty.new_group import new_group as new_group
    from softcondorcet.uncertainty.next_matches import NextMatches as NextMatches, next_matches as next_matches
    from softcondorcet.uncertainty.next_runs import NextRuns as NextRuns, next_runs as next_runs
    from softcondorcet.uncertainty.posterior import posterior as posterior
    from softcondorcet.uncertainty.predict import Prediction as Prediction, predict as predict
    from softcondorcet.uncertainty.sequential_test import (
        SequentialTest as SequentialTest,
        confidence_sequence as confidence_sequence,
        sequential_test as sequential_test,
    )


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
