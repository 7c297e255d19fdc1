"""One pass over a stream of votes: SCO with a batch of one against online Elo (appendix on online performance).

The votes are those of ``diplomacy``, a stand-in (see ``games``). Training votes come in a random order, each once; a
step moves the agents of that vote only. The order of all agents so far is held against the held-out votes: agents not
seen yet are tied, and a tie is half a mistake, so that all methods begin at half of the pairs of a vote. Temperature 1,
rates as in the paper's figure; Elo has k = 32, as in the paper's appendix.

On these votes Elo is below SCO at all three rates, and the steps show why. A step of Elo asks how far the ratings of
two agents are apart; one of the sigmoid loss hardly does, because its slope is flat at equal ratings: while ratings are
within a temperature of each other it counts wins. So does Elo when k is small. Rows "elo, k 1" stand where SCO with
small rates does; against them the rates come out in the order of the paper, which does not say which k its figure has.

The step is that of ``Live`` and of the live leaderboard, run over the whole stream by the kernel.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from experiments.figures import band, figure
from experiments.games import FILE, describe, name_of_votes, split
from experiments.intervals import below, difference, shown, spread
from experiments.study import Claim, Files, Job, Row, Scale, Study
from softcondorcet.arrays import Floats
from softcondorcet.evaluation.holdout import judge_votes
from softcondorcet.kernels.batch import frozen
from softcondorcet.kernels.bradley_terry import run_elo
from softcondorcet.online.models import take_steps
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (0.02, 0.1, 0.5)
BOX, TEMPERATURE = (0.0, 100.0), 1.0
# Points per battle: the paper's, and one that moves ratings about as far as the rate 0.02 does.
KS, UNIT = (32, 1), 400 / math.log(10)
METHODS = {**{f"sco, rate {rate:g}": ("sco", rate) for rate in RATES}, **{f"elo, k {k}": ("elo", float(k)) for k in KS}}
_ORDERS: dict[Scale, int] = {"tiny": 2, "quick": 20, "paper": 50}
_AT_ONCE = 5
_LOOKS = 20


def jobs(scale: Scale, files: Files) -> list[Job]:
    last = _ORDERS[scale]
    return [{"first": first, "last": min(first + _AT_ONCE, last)} for first in range(0, last, _AT_ONCE)]


def work(job: Job, files: Files) -> list[Row]:
    rows = []
    for seed in range(job["first"], job["last"]):
        train, test = split(files, seed)
        votes = train.take(stream(seed, "order").permutation(train.n_votes))
        for name, (method, step) in METHODS.items():
            passed = elo_pass(votes, step) if method == "elo" else sco_pass(votes, step)
            found = [
                (seen, round(judge_votes(Ratings(train.agents, ratings, "online"), test).distance, 5))
                for seen, ratings in passed
            ]
            rows.append({"order": seed, "method": name, "curve": found, **describe(files, train, test)})
    return rows


def sco_pass(profile: Profile, rate: float) -> Iterator[tuple[int, Floats]]:
    """Votes seen, and the ratings after them: before the first vote, then after each twentieth of the profile."""
    ratings, votes = np.full(profile.n_agents, sum(BOX) / 2), (profile.start, profile.agent, profile.tier)
    yield 0, ratings
    for first, last in pairwise(_looks(profile)):
        rates, chosen = np.full(last - first, rate), np.arange(first, last)
        take_steps(ratings, votes, rates, temperature=TEMPERATURE, bounds=BOX, chosen=chosen)
        yield last, ratings


def elo_pass(profile: Profile, k: float) -> Iterator[tuple[int, Floats]]:
    """The same by ``elo``."""
    agent, tier = frozen(profile.agent, np.int32), frozen(profile.tier, np.int32)
    longest = int(profile.length.max())
    ratings, room = np.zeros(profile.n_agents), (np.empty(longest), np.empty(longest))
    yield 0, ratings
    for first, last in pairwise(_looks(profile)):
        start, weight = (
            frozen(profile.start[first : last + 1], np.int64),
            frozen(profile.weight[first:last], np.float64),
        )
        run_elo(ratings, start, agent, tier, weight, k, UNIT, *room)
        yield last, ratings


def _looks(profile: Profile) -> list[int]:
    return [profile.n_votes * k // _LOOKS for k in range(_LOOKS + 1)]


def table(rows: Sequence[Row]) -> list[Row]:
    """Means over orders; `over_elo_32` and `over_elo_1` are differences to Elo after as many votes, order by order."""
    by: dict[tuple[str, int], list[float]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: int(row["order"])):
        for seen, distance in row["curve"]:
            by[row["method"], seen].append(distance)
    about = {key: rows[0].get(key) for key in ("file", "agents", "train", "test")}
    return [
        {"method": method, "votes": seen, "orders": len(found), **spread("distance", found),
         **difference("over_elo_32", found, by["elo, k 32", seen]),
         **difference("over_elo_1", found, by["elo, k 1", seen]), **about}
        for (method, seen), found in by.items()
    ]  # fmt: skip


def claims(rows: Sequence[Row]) -> list[Claim]:
    """What the paper says of its figure, at the end of the pass."""
    end = {row["method"]: row for row in rows}  # rows are in order of votes seen
    slow, middle, fast = (end[f"sco, rate {rate:g}"] for rate in RATES)
    nearest = min(RATES, key=lambda rate: abs(float(end[f"sco, rate {rate:g}"]["over_elo_32"])))
    found = [
        ("rate closest to Elo", "0.02", f"{nearest:g}", slow, nearest == 0.02),
        ("rate 0.1 less Elo", "below 0", shown(middle, "over_elo_32", 3), middle, below(middle, "over_elo_32")),
        ("rate 0.5 less Elo", "below 0", shown(fast, "over_elo_32", 3), fast, below(fast, "over_elo_32")),
    ]
    return [
        Claim(f"{name_of_votes(rows)}: {what}", paper, ours, holds if row["orders"] >= 5 else None,
              "" if holds else f"{row['method']} less Elo with k = 1: {shown(row, 'over_elo_1', 3)}")
        for what, paper, ours, row, holds in found
    ]  # fmt: skip


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """Distances, and what they are less those of Elo, where intervals can be seen."""
    made, (left, right) = figure(11, 4.8, ncols=2)
    for number, method in enumerate(METHODS):
        picked = [row for row in rows if row["method"] == method]
        x = [row["votes"] for row in picked]
        for axis, name in ((left, "distance"), (right, "over_elo_32")):
            band(axis, x, [row[name] for row in picked], [row[f"{name}_half"] for row in picked], number, method)
    left.set(xlabel="votes seen, each once", ylabel="mean Kendall-tau distance of a held-out vote")
    right.set(xlabel="votes seen, each once", ylabel="distance less that of Elo with k = 32")
    left.legend(loc="upper right")
    made.suptitle(f"One pass: {name_of_votes(rows)}, {rows[0]['orders']} orders, 95 % bands")
    return {"": made}


STUDY = Study(
    "online", "One pass, vote by vote, against online Elo, on games as in Diplomacy (figure)",
    jobs, work, table, claims, draw, needs=(FILE,),
)  # fmt: skip
