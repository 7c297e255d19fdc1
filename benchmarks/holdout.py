"""Which method predicts held-out votes of many agents seen a few times each? All methods on one table of votes.

    python benchmarks/holdout.py codeforces_groups7.csv.gz [--test 3000] [--splits 5] [--csv FILE]

The protocol of the paper, as in `sc.holdout`. ``sc.tune`` chooses the options of ``sco`` on the training votes of the
first split only. Methods that cannot rate so many agents are left out with their reason. Exits with 1 if the tuned
setting is farther from the held-out votes than some method, beyond the 95 % interval, or if it all takes ten minutes.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

from rows import arguments, show

import softcondorcet as sc
from softcondorcet.evaluation.holdout import split_at_random

# Options other than the defaults, where a method would otherwise take all the time there is.
OPTIONS: dict[str, dict[str, Any]] = {"kemeny": {"time_limit": 5.0}, "fenchel_young": {"steps": 20_000}}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("votes")
    parser.add_argument("--test", type=int, default=3000)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sc.NotConverged)
    began = time.monotonic()
    votes = sc.read(options.votes)
    train, _ = split_at_random(votes, options.test, seed=0)
    tuned = sc.tune(train, folds=3)
    print(*tuned.summary(), f"tuned in {time.monotonic() - began:.0f} s", sep="\n")
    show(tuned.rows())
    methods: dict[str, tuple[str, Mapping[str, Any]]] = {name: (name, OPTIONS.get(name, {})) for name in sc.METHODS}
    methods["sco, sgd"] = ("sco", {"solver": "sgd", "steps": 100_000})
    methods["sco, tuned"] = ("sco", dict(tuned.best))

    def watch(fit: int, fits: int, _: object) -> None:
        print(f"\r{fit}/{fits}", end="", file=sys.stderr)

    found = sc.holdout(votes, methods, test=options.test, splits=options.splits, watch=watch)
    print()
    show([{k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()} for row in found.rows()], options.csv)
    print(*found.summary(), sep="\n")
    best, ours, wall = found.scores[0], found["sco, tuned"], time.monotonic() - began
    print(f"{wall:.0f} s in all")
    return int(ours.low > best.distance or wall > 600)


if __name__ == "__main__":
    sys.exit(main())
