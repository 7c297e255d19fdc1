"""CPU seconds of the voting rules, against open_spiel's where it can follow, and on tens of thousands of agents.

    python benchmarks/voting.py [codeforces_groups7.csv.gz] [--csv benchmarks/results/voting.csv]

Ours: median of three runs (one where it takes over 5 s) with the pairs counted before; counting them is a row of its
own. Theirs: one run, which counts its own pairs, so the ratio is to ours with counting; only up to 100 agents. A rule
that gives up says why in the last column.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from rows import arguments, show

import softcondorcet as sc
from softcondorcet.pairs import count_pairs

RULES: dict[str, tuple[dict[str, Any], str]] = {
    "approval": ({"k": 3}, "approval.ApprovalVoting"),
    "plurality": ({}, "plurality.PluralityVoting"),
    "borda": ({}, "borda.BordaVoting"),
    "copeland": ({}, "copeland.CopelandVoting"),
    "ranked_pairs": ({}, "ranked_pairs.RankedPairsVoting"),
    "schulze": ({}, "schulze.SchulzeVoting"),
    "maximal_lotteries": ({}, ""),  # theirs needs cvxpy and ecos, which open_spiel does not install
    "iterated_maximal_lotteries": ({}, ""),
    "stv": ({}, "stv.STVVoting"),
}
THEIR_OPTIONS = {"approval": {"k": 3}, "stv": {"num_winners": 1}}
REPEATS, THEIR_MOST = 3, 100


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def ours(profile: sc.Profile, rule: str) -> tuple[list[float], sc.Ratings | str]:
    """CPU seconds of each run, and the result or why there is none."""
    spent, board = [], None
    for _ in range(REPEATS):
        began = time.process_time()
        try:
            board = sc.rank(profile, rule, **RULES[rule][0])
        except sc.DataError as error:
            return [time.process_time() - began], str(error)
        spent.append(time.process_time() - began)
        if spent[0] > 5:
            break
    assert board is not None
    return spent, board


def theirs(profile: sc.Profile, rule: str) -> float | None:
    """CPU seconds of open_spiel's rule, where there is one and it can be waited for."""
    if not RULES[rule][1] or profile.n_agents > THEIR_MOST:
        return None
    try:
        from importlib import import_module

        base = import_module("open_spiel.python.voting.base")
    except ImportError:
        return None
    module, _, name = RULES[rule][1].partition(".")
    votes = [
        base.WeightedVote(int(weight), [agent for (agent,) in vote])
        for vote, weight in zip(profile.rankings(), profile.weight, strict=True)
    ]
    election = base.PreferenceProfile(votes=votes, alternatives=list(profile.agents))
    method = getattr(import_module(f"open_spiel.python.voting.{module}"), name)(**THEIR_OPTIONS.get(rule, {}))
    return cpu(lambda: method.run_election(election))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("votes", nargs="?", help="a file of votes to run all rules on as well")
    options = parser.parse_args()
    shapes = {
        "m=20, n=200 votes of 4": sc.synthetic.tournament(200, agents=20, size=4, seed=0)[0],
        "m=100, n=1000 complete": sc.synthetic.mallows(1000, agents=100, phi=0.95, seed=0),
        "m=1000, n=51 complete noise": sc.synthetic.mallows(51, agents=1000, phi=1.0, seed=0),
        "m=3000, n=9 complete noise": sc.synthetic.mallows(9, agents=3000, phi=1.0, seed=0),
    }
    if options.votes:
        profile = sc.read(options.votes)
        shapes[f"{options.votes.rpartition('/')[2]}: m={profile.n_agents}, n={profile.n_votes}"] = profile
    rows = []
    first = next(iter(shapes.values()))
    for rule in RULES:
        sc.rank(first, rule)  # compile
    for shape, profile in shapes.items():
        counting = [cpu(partial(count_pairs, profile)) for _ in range(REPEATS)]
        work: list[tuple[str, list[float], str, float | None]] = [
            ("counting pairs", counting, f"{len(profile.pairs()):,} pairs", None)
        ]
        for rule in RULES:
            spent, result = ours(profile, rule)
            note = result if isinstance(result, str) else f"discrete loss {result.discrete_loss:,.0f}"
            work.append((rule, spent, note, theirs(profile, rule)))
        for rule, seconds, note, peer in work:
            rows.append({
                "votes": shape, "rule": rule, "cpu_s": f"{median(seconds):.4f}", "min_s": f"{min(seconds):.4f}",
                "max_s": f"{max(seconds):.4f}", "open_spiel_s": "" if peer is None else f"{peer:.4f}",
                "ratio": "" if peer is None else round(peer / (median(seconds) + median(counting)), 1), "note": note,
            })  # fmt: skip
    show(rows, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
