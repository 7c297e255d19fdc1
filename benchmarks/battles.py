"""A frame of one million battles to a table of ratings with names: Bradley-Terry here, in evalica and in arena-rank.

    python benchmarks/battles.py [--csv benchmarks/results/battles.csv]

The same pandas frame for all: model_a, model_b, winner, over 200 agents, a tenth of them ties. Text as pandas keeps it
by default (str since pandas 3) and as Python objects. evalica is shown with the columns as they are and as lists, and
must not be faster either way; of arena-rank only the fit is timed, without its intervals. Every tool runs once before
it is timed. CPU seconds, median of several runs with the range; tools alternate in one process. Exits with 1 if a
target is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

import evalica
import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from rows import arguments, show

import softcondorcet as sc

REPEATS = 5
BATTLES, AGENTS = 1_000_000, 200
TARGETS = {"evalica": 1.0, "arena-rank": 10.0}  # their CPU time over ours, at least
WINNER = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
Rows = list[dict[str, Any]]


def battles(seed: int = 0) -> pd.DataFrame:
    """Battles between agents drawn at random, won by skill; as a csv file would be read."""
    profile, _ = sc.synthetic.plackett_luce(BATTLES, agents=AGENTS, size=2, seed=seed)
    rng = np.random.default_rng(seed)
    won, lost = np.array(profile.agents)[profile.agent.reshape(-1, 2)].T
    first, tie = rng.random(BATTLES) < 0.5, rng.random(BATTLES) < 0.1
    return pd.DataFrame({
        "model_a": np.where(first, won, lost),
        "model_b": np.where(first, lost, won),
        "winner": np.where(tie, "tie", np.where(first, "model_a", "model_b")),
    })  # fmt: skip


def ours(frame: pd.DataFrame) -> Rows:
    return sc.bradley_terry(sc.Profile.from_matches(frame)).rows()


def evalica_columns(frame: pd.DataFrame) -> Rows:
    result = evalica.bradley_terry(frame["model_a"], frame["model_b"], frame["winner"].map(WINNER))
    return _listed(result.scores.items())


def evalica_lists(frame: pd.DataFrame) -> Rows:
    winners = [WINNER[word] for word in frame["winner"].tolist()]
    result = evalica.bradley_terry(frame["model_a"].tolist(), frame["model_b"].tolist(), winners)
    return _listed(result.scores.items())


def arena_rank(frame: pd.DataFrame) -> Rows:
    data = PairDataset.from_pandas(frame)
    ratings = np.asarray(BradleyTerry(n_competitors=len(data.competitors)).fit(data).params["ratings"])
    return _listed((data.competitors[k], ratings[k]) for k in np.argsort(-ratings))


def _listed(pairs: Any) -> Rows:
    return [{"rank": k, "agent": name, "rating": float(rating)} for k, (name, rating) in enumerate(pairs, 1)]


def log_odds(rows: Rows, tool: str) -> pd.Series:
    """Ratings by name with mean 0, in natural units: evalica gives strengths."""
    values = pd.Series({row["agent"]: row["rating"] for row in rows})
    natural = np.log(values) if tool.startswith("evalica") else values
    return natural - natural.mean()


TOOLS: dict[str, Callable[[pd.DataFrame], Rows]] = {
    "softcondorcet": ours,
    "evalica, columns": evalica_columns,
    "evalica, lists": evalica_lists,
    "arena-rank": arena_rank,
}


def main() -> int:
    options = arguments(__doc__).parse_args()
    frame = battles()
    frames = {"str": frame, "object": frame.astype(object)}
    table, failed = [], False
    for kind, same in frames.items():
        spent: dict[str, list[float]] = {tool: [] for tool in TOOLS}
        elapsed: dict[str, list[float]] = {tool: [] for tool in TOOLS}
        answer = log_odds(ours(same), "softcondorcet")
        for tool, work in TOOLS.items():
            # Tolerances and priors differ; the deviation of a rating here is about 0.02.
            assert (log_odds(work(same), tool) - answer).abs().max() < 1e-3, tool
        for _ in range(REPEATS):
            for tool, work in TOOLS.items():
                cpu, wall = time.process_time(), time.perf_counter()
                work(same)
                spent[tool].append(time.process_time() - cpu)
                elapsed[tool].append(time.perf_counter() - wall)
        for tool, seconds in spent.items():
            peer = tool.split(",")[0]
            ratio = median(t / o for t, o in zip(seconds, spent["softcondorcet"], strict=True))
            failed |= ratio < TARGETS.get(peer, 0.0)
            table.append({
                "frame": kind, "tool": tool, "version": version(peer), "cpu_s": round(median(seconds), 3),
                "cpu_min": round(min(seconds), 3), "cpu_max": round(max(seconds), 3),
                "wall_s": round(median(elapsed[tool]), 3), "times_ours": round(ratio, 1),
            })  # fmt: skip
    show(table, options.csv)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
