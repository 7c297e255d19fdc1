"""What each method makes of one PrefLib instance: one row of plain values.

`match` is 1 where the Condorcet winner has the highest rating, `alone` where no other agent has it too, `weak_match`
where a weak winner, an agent that no other beats, has the highest rating.

Distances are Kendall-tau distances over the number of pairs; `distance` is to the best order found, `nearest` to the
optimal order nearest by, where all of them are known. `excess` is the discrete loss above that of the best order found,
as a share of it. For these, agents of equal rating stand as they are listed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from statistics import mean
from typing import Any

import numpy as np

from experiments.study import Row
from softcondorcet import majority
from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError, NotConverged
from softcondorcet.methods.kemeny import kemeny
from softcondorcet.methods.optimal_orders import nearest_optimum, optimal_orders
from softcondorcet.methods.registry import rank
from softcondorcet.metrics import discrete_loss, normalized_kendall_tau_distance
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

# Every instance is rated by these; those with few agents also by the sigmoidal program.
RULES = ("borda", "copeland", "bradley_terry", "kwiksort")
PROGRAM, FEW = "sigmoidal_program", 20
# Up to here the Kemeny order is the first of the optimal ones by the listing of the agents, which is the order that a
# search through all permutations meets first: the paper's.
FIRST_OF_ALL = 10
# Finding the nearest optimum takes a table of all margins.
_MATRIX = 500


def measure(profile: Profile, limit: float | None, sgd: Mapping[str, Any] | None) -> Row:
    """One row. `limit` is seconds for the exact order, `sgd` what ``sgd_runs`` takes; None leaves it out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return _measure(profile, limit, sgd)


def _measure(profile: Profile, limit: float | None, sgd: Mapping[str, Any] | None) -> Row:
    began = time.process_time()
    pairs = profile.pairs()
    board = rank(pairs, "sco", scale="box")
    cpu = time.process_time() - began
    best = Best(pairs, board, limit)
    row: Row = {
        "m": pairs.n_agents, "n": int(profile.weight.sum()), "winner": best.winner is not None,
        "weak": bool(best.weak), "proven": best.proven, "gap": best.gap, "kemeny_cpu": best.cpu,
    }  # fmt: skip
    row |= {"sco_cpu": _rounded(cpu), **best.judge(board, "sco")}
    if pairs.n_agents <= FEW:
        program = rank(pairs, PROGRAM)
        row |= {f"{PROGRAM}_proven": bool(program.converged), **best.judge(program, PROGRAM)}
    for name in RULES:
        row |= best.judge(rank(profile, name), name)
    return row | (sgd_runs(profile, best, sgd) if sgd else {})


class Best:
    """What a method is held against: winners of the majority, and the best order found with its proof."""

    def __init__(self, pairs: Pairs, default: Ratings, limit: float | None) -> None:
        self.pairs = pairs
        self.winner = majority.condorcet_winner(pairs)
        self.weak = frozenset(majority.weak_condorcet_winners(pairs))
        self.order: list[str] | None = None
        self.proven: bool | None = None
        self.gap: float | None = None
        began = time.process_time()
        if pairs.n_agents <= FIRST_OF_ALL:
            self.order, self.proven, self.gap = optimal_orders(pairs, most=1).orders[0], True, 0.0
        elif limit is not None:
            self._search(default, limit)
        self.cpu = _rounded(time.process_time() - began)
        self.loss = None if self.order is None else discrete_loss(pairs, self.order)

    def _search(self, default: Ratings, limit: float) -> None:
        """The exact order, or the better one of those at hand when time is over."""
        board = kemeny(self.pairs, time_limit=limit)
        bound = board.lower_bound or 0.0
        losses = {tuple(found.order): discrete_loss(self.pairs, found.order) for found in (board, default)}
        order, loss = min(losses.items(), key=lambda item: item[1])
        self.order, self.proven = list(order), bool(board.converged)
        self.gap = 0.0 if self.proven else _rounded((loss - bound) / max(loss, 1.0))

    def judge(self, board: Ratings, name: str) -> Row:
        """The row of one result; each key begins with the name of the method."""
        judged = self.judge_top(board.values)
        if self.order is not None and self.loss is not None:
            judged |= {
                "distance": normalized_kendall_tau_distance(board.order, self.order),
                "excess": (discrete_loss(self.pairs, board.order) - self.loss) / max(self.loss, 1.0),
                "nearest": None if name in RULES else self._nearest(board),
            }
        return {f"{name}_{key}": _rounded(value) for key, value in judged.items()}

    def judge_top(self, values: Floats) -> dict[str, float | None]:
        """Whether winners are on top. None where there is no winner to be there."""
        top = {self.pairs.agents[k] for k in np.flatnonzero(values == values.max())}
        return {
            "match": None if self.winner is None else float(self.winner in top),
            "alone": None if self.winner is None else float(top == {self.winner}),
            "weak_match": float(bool(self.weak & top)) if self.weak else None,
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

    `sgd` holds "lr", "temperature", "batch", "bounds", "steps", "seeds", and "work": a run takes fewer steps where
    steps times the mean number of pairs of a vote would exceed it. `sgd_half` is `weak_match` after half of the steps:
    much the same as at the end, where the top has settled.
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

    options = {"scale": "box", **{key: sgd[key] for key in ("lr", "temperature", "batch", "bounds")}}
    began = time.process_time()
    board = rank(profile, "sco", solver="sgd", **options, steps=steps, seed=seed, watch=watch, every=-(-steps // 2))
    cpu = time.process_time() - began
    return {"sgd_cpu": cpu, "sgd_half": half["weak_match"], **best.judge(board, "sgd")}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 7)
