"""Asked after every vote: how often is a first place called settled wrongly, and how many votes does it take?

    python benchmarks/settled.py [--runs 2000] [--csv benchmarks/results/settled.csv]

Each run plays votes one by one and asks after each whether the first place is settled at 95 %, by the e-values and the
bound of ``sequential_test``. A run is wrong if at any time an agent is called first that does not beat every other one
in the long run; where several are equal, or in a cycle, every answer is wrong. Columns: `wrong` and `right`, the shares
of runs in which it was ever said wrongly or rightly; `votes`, the median of votes until it was said rightly;
`fixed`, how many votes a test that looks once needs for a power of one half (a z-test for each rival, at 5 % divided by
the agents, or by three where votes are of two); `peeking`, the share of runs in which that z-test is ever wrong if it
is asked after every vote, as nobody may; `bootstrap`, the same for ``next_matches(top=1)``, asked every 20 votes in the
last design, where it also chooses who meets.

Exits with 1 if more than 5 % are wrong in any design by more than chance (three standard errors).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.uncertainty.sequential_test import bound, log_e_values

LEVEL = 0.95
TABLE = 1600


def chances(m: int, **pairs: float) -> np.ndarray:
    """The chance that the row beats the column: 1/2 but for `pairs`, as ab=0.6; `a=0.7` is a against all."""
    p = np.full((m, m), 0.5)
    for names, chance in pairs.items():
        a = ord(names[0]) - ord("a")
        for b in [ord(names[1]) - ord("a")] if len(names) > 1 else [k for k in range(m) if k != a]:
            p[a, b], p[b, a] = chance, 1 - chance
    return p


@dataclass
class State:
    """Weights won and lost, evidence of each agent over each, of all runs."""

    rng: np.random.Generator
    wins: np.ndarray
    evidence: np.ndarray
    enough: float
    run: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.run = np.arange(len(self.wins))

    @property
    def met(self) -> np.ndarray:
        return np.asarray(self.wins + self.wins.transpose(0, 2, 1))


Pick = tuple[np.ndarray, np.ndarray]


def at_random(state: State) -> Pick:
    runs, m = state.wins.shape[:2]
    a = np.asarray(state.rng.integers(m, size=runs))
    return a, (a + state.rng.integers(1, m, size=runs)) % m


def greedy(state: State) -> Pick:
    """The agent with the best record against the rival it met least of those it has not beaten for sure."""
    lead = ((state.wins - state.wins.transpose(0, 2, 1)) / (state.met + 2)).sum(2)
    a = (lead + 1e-9 * state.rng.random(lead.shape)).argmax(1)
    told = state.evidence[state.run, a] >= state.enough
    met = state.met[state.run, a] + np.where(told, 1e9, 0.0)
    met[state.run, a] = np.inf
    return a, met.argmin(1)


def by_value(state: State) -> Pick:
    """The value of ``next_matches``, q (1 - q) / (n + 1), with q by a normal curve, of pairs with the best agent."""
    margin = state.wins - state.wins.transpose(0, 2, 1)
    q = 1 / (1 + np.exp(-1.7 * margin / np.sqrt(state.met + 1)))
    a = (margin / (state.met + 2)).sum(2).argmax(1)
    value = (q * (1 - q) / (state.met + 1))[state.run, a]
    value[state.run, a] = -1
    return a, value.argmax(1)


def after_losses(state: State, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Heavy votes for a that is behind, light ones for one that is ahead: weights that know the past."""
    ahead = state.wins[state.run, a, b] > state.wins[state.run, b, a]
    return np.where(ahead, 0.1, 1.0)


def uniform(state: State, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return state.rng.random(len(a))


@dataclass(frozen=True)
class Design:
    p: np.ndarray
    votes: int
    choose: Callable[[State], Pick] = at_random
    ties: float = 0.0
    weigh: Callable[[State, np.ndarray, np.ndarray], np.ndarray] | None = None
    rankings: bool = False


NEAR = {f"{x}{y}": 0.8 for x in "ab" for y in "cdef"}
TWO_AHEAD = {f"{x}{y}": 0.8 for x in "ab" for y in "cde"}
CYCLE = {"ab": 0.6, "bc": 0.6, "ca": 0.6, **{f"{x}{y}": 0.9 for x in "abc" for y in "de"}}
DESIGNS = {
    "2 equal agents": Design(chances(2), 2000),
    "2 equal agents, 30 % ties": Design(chances(2), 2000, ties=0.3),
    "2 agents, 55 to 45": Design(chances(2, ab=0.55), 4000),
    "2 agents, 60 to 40": Design(chances(2, ab=0.6), 1500),
    "2 agents, 60 to 40, 30 % ties": Design(chances(2, ab=0.6), 2000, ties=0.3),
    "2 equal agents, weights of 0 to 1": Design(chances(2), 1500, weigh=uniform),
    "2 equal agents, weights by the past": Design(chances(2), 1500, weigh=after_losses),
    "2 agents, 60 to 40, weights of 0 to 1": Design(chances(2, ab=0.6), 2000, weigh=uniform),
    "6 equal agents": Design(chances(6), 3000),
    "6 equal agents, greedy": Design(chances(6), 2000, greedy),
    "first two of 6 equal": Design(chances(6, **NEAR), 3000),
    "first two of 6 equal, greedy": Design(chances(6, **NEAR), 2000, greedy),
    "first two of 6 equal, by value": Design(chances(6, **NEAR), 2000, by_value),
    "first two of 6 equal, 30 % ties, greedy": Design(chances(6, **NEAR), 2000, greedy, ties=0.3),
    "first of 6 wins 70 %": Design(chances(6, a=0.7), 3000),
    "first of 6 wins 70 %, greedy": Design(chances(6, a=0.7), 1500, greedy),
    "first of 6 wins 70 %, by value": Design(chances(6, a=0.7), 1500, by_value),
    "first of 6 wins 55 to 45 over the next, greedy": Design(chances(6, **(NEAR | {"ab": 0.55})), 3000, greedy),
    "first three of 5 equal, greedy": Design(chances(5, **(CYCLE | {"ab": 0.5, "bc": 0.5, "ca": 0.5})), 2000, greedy),
    "first three of 5 in a cycle, greedy": Design(chances(5, **CYCLE), 1500, greedy),
    "first of 20 wins 75 %, greedy": Design(chances(20, a=0.75), 2500, greedy),
    "rankings of 5 equal agents": Design(chances(5), 500, rankings=True),
    "rankings of 5, first two equal": Design(chances(5, **TWO_AHEAD), 500, rankings=True),
    "rankings of 5, the first well ahead": Design(chances(5, a=0.7), 500, rankings=True),
}  # fmt: skip


def cast(state: State, design: Design) -> Pick:
    """One more vote in every run; which pair it changed, or all of them."""
    runs, m = state.wins.shape[:2]
    if design.rankings:
        # Skills by which the agents win about as often as they should, each shown with Gumbel noise.
        strength = np.log(design.p / (1 - design.p)).sum(1) / (m - 1)
        shown = strength + state.rng.gumbel(size=(runs, m))
        state.wins += shown[:, :, None] > shown[:, None, :]
        return np.divmod(np.arange(m * m), m)
    a, b = design.choose(state)
    weight = np.ones(runs) if design.weigh is None else design.weigh(state, a, b)
    tied = state.rng.random(runs) < design.ties
    won = state.rng.random(runs) < design.p[a, b]
    winner, loser = np.where(won, a, b), np.where(won, b, a)
    state.wins[state.run, winner, loser] += weight * ~tied
    return a, b


@cache
def table(most: int) -> np.ndarray:
    """Evidence by whole numbers of wins and losses."""
    return log_e_values(np.arange(most + 1.0)[:, None], np.arange(most + 1.0))


def evidence_of(design: Design, wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    if design.weigh is not None or max(wins.max(), losses.max()) > TABLE:
        return log_e_values(wins, losses)
    return np.asarray(table(TABLE)[wins.astype(int), losses.astype(int)])


def update(state: State, design: Design, a: np.ndarray, b: np.ndarray) -> None:
    if design.rankings:
        m = state.wins.shape[1]
        state.evidence = evidence_of(design, state.wins, state.wins.transpose(0, 2, 1))
        state.evidence[:, np.arange(m), np.arange(m)] = np.inf
        return
    for x, y in ((a, b), (b, a)):
        wins, losses = state.wins[state.run, x, y], state.wins[state.run, y, x]
        state.evidence[state.run, x, y] = evidence_of(design, wins, losses)


def rightful(p: np.ndarray) -> int | None:
    """The agent that beats every other one in the long run."""
    first = np.flatnonzero((p > 0.5).sum(1) == len(p) - 1)
    return int(first[0]) if len(first) else None


def start(design: Design, runs: int, seed: int) -> State:
    m = len(design.p)
    evidence = np.zeros((runs, m, m))
    evidence[:, np.arange(m), np.arange(m)] = np.inf
    enough = float(np.log(bound(m, 1, LEVEL, votes_of_two=not design.rankings)))
    return State(np.random.default_rng(seed), np.zeros((runs, m, m)), evidence, enough)


def play(design: Design, runs: int, seed: int) -> tuple[dict[str, Any], State]:
    """All runs of a design at once, vote by vote."""
    m, first = len(design.p), rightful(design.p)
    state = start(design, runs, seed)
    sure = NormalDist().inv_cdf(1 - (1 - LEVEL) / (m if design.rankings else min(m, 3)))
    wrong, peeked, right_at = np.zeros(runs, bool), np.zeros(runs, bool), np.full(runs, np.inf)
    fixed = None
    other = np.arange(m) != (-1 if first is None else first)
    for votes in range(1, design.votes + 1):
        update(state, design, *cast(state, design))
        called = state.evidence.min(2) >= state.enough
        z = (state.wins - state.wins.transpose(0, 2, 1)) / np.sqrt(np.maximum(state.met, 1e-9))
        z[:, np.arange(m), np.arange(m)] = np.inf
        seen = z.min(2) >= sure
        wrong |= called[:, other].any(1)
        peeked |= seen[:, other].any(1)
        if first is not None:
            right_at[called[:, first] & np.isinf(right_at)] = votes
            fixed = votes if fixed is None and seen[:, first].mean() >= 0.5 else fixed
    right = np.isfinite(right_at)
    half = right.mean() >= 0.5
    return {
        "runs": runs,
        "most_votes": design.votes,
        "wrong": f"{wrong.mean():.2%}",
        "right": "" if first is None else f"{right.mean():.1%}",
        "votes": int(np.median(right_at)) if half else "",
        "fixed": fixed or "",
        "ratio": f"{np.median(right_at) / fixed:.2f}" if half and fixed else "",
        "peeking": f"{peeked.mean():.1%}",
        "bootstrap": "",
    }, state


def votes_of(wins: np.ndarray) -> sc.Profile:
    a, b = np.nonzero(wins)
    names = [f"agent-{k}" for k in range(len(wins))]
    ballots = [[names[x], names[y]] for x, y in zip(a, b, strict=True)]
    return sc.Profile.from_rankings(ballots, weights=wins[a, b].tolist(), agents=names)


def hold_against_the_package(design: Design, state: State, some: int = 20) -> None:
    """The runs above are by arrays; what they say at the end is what ``sequential_test`` says."""
    if design.weigh is not None or design.rankings:
        return
    for wins, evidence in zip(state.wins[:some], state.evidence[:some], strict=True):
        test = sc.sequential_test(votes_of(wins), level=LEVEL)
        assert test.settled == bool((evidence.min(1) >= state.enough).any()), wins


def advised(p: np.ndarray, most: int, runs: int) -> dict[str, Any]:
    """Battles chosen by ``next_matches``, two agents being first: how often its own rule and e-values name one."""
    m, pause = len(p), 20
    enough = np.log(bound(m, 1, LEVEL, votes_of_two=True))
    wrong, boot_wrong = np.zeros(runs, bool), np.zeros(runs, bool)
    for run in range(runs):
        rng, wins = np.random.default_rng([run, 1]), np.zeros((m, m))
        plan = [divmod(k, m) for k in range(m * m) if k // m < k % m]
        for battle in range(most):
            a, b = plan[battle % len(plan)]
            winner, loser = (a, b) if rng.random() < p[a, b] else (b, a)
            wins[winner, loser] += 1
            evidence = log_e_values(wins, wins.T)
            np.fill_diagonal(evidence, np.inf)
            wrong[run] |= (evidence.min(1) >= enough).any()
            if (battle + 1) % pause == 0:
                advice = sc.next_matches(votes_of(wins), 3, top=1, n=100, seed=run)
                boot_wrong[run] |= advice.settled
                plan = [(int(match.a[6:]), int(match.b[6:])) for match in advice.matches] or plan
    return {
        "runs": runs,
        "most_votes": most,
        "wrong": f"{wrong.mean():.2%}",
        **dict.fromkeys(("right", "votes", "fixed", "ratio", "peeking"), ""),
        "bootstrap": f"{boot_wrong.mean():.1%}",
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--advised", type=int, default=200, help="runs of the last design")
    options = parser.parse_args()
    began, rows = time.monotonic(), []
    for seed, (name, design) in enumerate(DESIGNS.items()):
        row, state = play(design, options.runs, seed)
        hold_against_the_package(design, state)
        rows.append({"design": name, **row})
        print(f"{time.monotonic() - began:.0f} s", *rows[-1].values(), sep="  ", file=sys.stderr, flush=True)
    p = chances(4, **{f"{x}{y}": 0.8 for x in "ab" for y in "cd"})
    rows.append({"design": "first two of 4 equal, chosen by next_matches", **advised(p, 300, options.advised)})
    show(rows, options.csv)
    alpha = 1 - LEVEL
    return int(
        any(float(row["wrong"][:-1]) / 100 > alpha + 3 * np.sqrt(alpha * (1 - alpha) / row["runs"]) for row in rows)
    )


if __name__ == "__main__":
    sys.exit(main())
