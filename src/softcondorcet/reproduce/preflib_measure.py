"""What each method makes of one PrefLib instance: one row of plain values.

`match` is 1 where the Condorcet winner comes first; agents of equal rating stand as they are listed, as a stable sort
leaves them. After SGD on long votes several agents are at the upper bound together, so that the listing decides:
`alone` is 1 where the winner is there alone, `among` where it is one of them. `weak_match` is 1 where a weak winner, an
agent that no other beats, comes first.

Distances are Kendall-tau distances over the number of pairs; `distance` is to the Kemeny order found, `nearest` to the
optimal order nearest by, where all of them are known. `excess` is the discrete loss above that of the Kemeny order, as
a share of it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from statistics import mean
from typing import Any

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError, NotConverged
from softcondorcet.methods.kemeny import kemeny
from softcondorcet.methods.optima import nearest_optimum, optimal_orders
from softcondorcet.metrics import discrete_loss, normalized_kendall_tau_distance
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.registry import rank
from softcondorcet.reproduce.study import Row

# Every instance is rated by these; those with few agents also by the sigmoidal program.
RULES = ("borda", "copeland", "bradley_terry", "kwiksort")
FEW = 20
# Up to here the Kemeny order is the first of the optimal ones by the listing of the agents, which is the order that a
# search through all permutations meets first: the paper's.
FIRST_OF_ALL = 10
# Finding the nearest optimum takes a table of all margins.
_MATRIX = 500


def measure(profile: Profile, limit: float, sgd: Mapping[str, Any] | None) -> Row:
    """One row. `limit` is seconds for the exact order; `sgd` what ``sgd_runs`` takes, or None.

    Where `sgd["always"]` is False, SGD runs only if there is a Condorcet winner.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return _measure(profile, limit, sgd)


def _measure(profile: Profile, limit: float, sgd: Mapping[str, Any] | None) -> Row:
    began = time.process_time()
    pairs = profile.pairs()
    board = rank(pairs, "sco")
    cpu = time.process_time() - began
    best = Best(pairs, limit)
    row: Row = {
        "m": pairs.n_agents, "n": int(profile.weight.sum()), "winner": best.winner is not None,
        "weak": bool(best.weak), "proven": best.proven, "gap": best.gap, "kemeny_cpu": best.cpu,
    }  # fmt: skip
    row |= {"sco_cpu": _rounded(cpu), **best.judge(board, "sco")}
    if pairs.n_agents <= FEW:
        row |= best.judge(rank(pairs, "sigmoidal_program"), "sigmoidal_program")
    for name in RULES:
        row |= best.judge(rank(profile, name), name)
    if sgd is not None and (best.winner or sgd["always"]):
        row |= {"sgd_drawn": sgd["always"], **sgd_runs(profile, best, sgd)}
    return row


class Best:
    """What a method is held against: winners of the majority, and the best order found with its proof."""

    def __init__(self, pairs: Pairs, limit: float) -> None:
        self.pairs = pairs
        self.winner = majority.condorcet_winner(pairs)
        self.weak = frozenset(majority.weak_condorcet_winners(pairs))
        began = time.process_time()
        if pairs.n_agents <= FIRST_OF_ALL:
            found = optimal_orders(pairs, most=1)
            self.order, self.proven, self.gap = found.orders[0], True, 0.0
        else:
            board = kemeny(pairs, time_limit=limit)
            self.order, self.proven, self.gap = board.order, bool(board.converged), round(board.gap or 0.0, 8)
        self.cpu = round(time.process_time() - began, 5)
        self.loss = discrete_loss(pairs, self.order)

    def judge(self, board: Ratings, name: str) -> Row:
        """The row of one result; each key begins with the name of the method."""
        judged = {
            **self.judge_top(board.values),
            "distance": normalized_kendall_tau_distance(board.order, self.order),
            **({} if name in RULES else {"nearest": self._nearest(board)}),
            "excess": (discrete_loss(self.pairs, board.order) - self.loss) / max(self.loss, 1.0),
        }
        return {f"{name}_{key}": _rounded(value) for key, value in judged.items()}

    def judge_top(self, values: Floats) -> dict[str, float | None]:
        """Whether winners are on top. None where there is no winner to be there."""
        top = [self.pairs.agents[k] for k in np.flatnonzero(values == values.max())]
        judged = {"match": top[0] == self.winner, "alone": top == [self.winner], "among": self.winner in top}
        return {
            **{key: float(found) if self.winner is not None else None for key, found in judged.items()},
            "weak_match": float(top[0] in self.weak) if self.weak else None,
        }

    def _nearest(self, board: Ratings) -> float | None:
        m = self.pairs.n_agents
        if m > _MATRIX:
            return None
        strict = Ratings(board.agents, -np.argsort(board.index).astype(float), board.method)
        try:
            return nearest_optimum(self.pairs, strict)[1] / (m * (m - 1) / 2)
        except DataError:  # too many agents linked by cycles to know all optimal orders
            return None


def sgd_runs(profile: Profile, best: Best, sgd: Mapping[str, Any]) -> Row:
    """The paper's Algorithm 1, `seeds` times: means over the seeds.

    `sgd` holds "lr", "temperature", "batch", "steps", "seeds", and "work": a run takes fewer steps where steps times
    the mean number of pairs of a vote would exceed it. `sgd_half` is the match after half of the steps: the same as at
    the end where the top has settled.
    """
    length = profile.length
    pairs_per_vote = float(np.average(length * (length - 1) / 2, weights=profile.weight))
    steps = max(2, int(min(sgd["steps"], sgd["work"] / max(pairs_per_vote, 1.0))))
    runs = [_one_run(profile, best, sgd, steps, seed) for seed in range(sgd["seeds"])]
    means = {key: None if runs[0][key] is None else _rounded(mean(run[key] for run in runs)) for key in runs[0]}
    return {"sgd_steps": steps, "sgd_seeds": len(runs), **means}


def _one_run(profile: Profile, best: Best, sgd: Mapping[str, Any], steps: int, seed: int) -> Row:
    half: dict[str, float | None] = {}

    def watch(_step: int, _steps: int, ratings: Floats) -> None:
        half.update(half or best.judge_top(ratings))

    options = {key: sgd[key] for key in ("lr", "temperature", "batch")}
    began = time.process_time()
    board = rank(profile, "sco", solver="sgd", **options, steps=steps, seed=seed, watch=watch, every=-(-steps // 2))
    cpu = time.process_time() - began
    return {"sgd_cpu": cpu, "sgd_half": half["match"], **best.judge(board, "sgd")}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 7)
