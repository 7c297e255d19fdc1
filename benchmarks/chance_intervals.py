"""Do 95 % intervals of chances hold the true chance in 95 % of the pairs? Simulated votes with known chances.

    python benchmarks/chance_intervals.py [--tournaments 100] [--csv benchmarks/results/chance_intervals.csv]

20 agents whose chances against each other are known: battles by Bradley-Terry with what is hard about real votes (rare
agents, newcomers, near ties, skills with heavy tails, matched opponents, judges of one mind each, cycles, groups that
met three times, ties), contests of four and whole ballots by Plackett-Luce. ``sc.predict`` says of each pair what the
chance is, with 100 resamples. Columns: `covered`, the share of pairs whose interval holds the true chance, and its
standard `error` (tournaments are independent, pairs of one are not); `rarest`, the same for pairs with one of the fifth
of the agents that have the fewest votes; `width` of the intervals, of the rarest too; `off`, the mean distance of the
chance to the true one.

Exits with 1 if in a design less than 93 % or more than 98 % are covered, of the rarest too, by more than two standard
errors; where hardly anything is known (`width` above 0.3) more than 98 % is no miss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from rank_intervals import battles, drawn
from rows import arguments, show

import softcondorcet as sc

AGENTS = 20
LEAST, MOST, WIDE = 0.93, 0.98, 0.3


@dataclass
class Case:
    """Votes, and the true chance of each agent against each other, in the order of `names`."""

    votes: sc.Profile
    chance: np.ndarray
    by: Literal["votes", "groups"] = "votes"


def logistic(lead: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-lead)))


def fought(rng: np.random.Generator, lead: np.ndarray, a: np.ndarray, b: np.ndarray) -> Case:
    return Case(battles(rng, lead[a, b], a, b), logistic(lead))


def skills(rng: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    skill = scale * rng.standard_normal(AGENTS)
    return np.asarray(skill[:, None] - skill)


def even(rng: np.random.Generator, count: int = 1500) -> Case:
    return fought(rng, skills(rng), *drawn(rng, count, np.ones(AGENTS)))


def rare(rng: np.random.Generator) -> Case:
    """Four agents are in a twentieth of the battles of the others."""
    return fought(rng, skills(rng), *drawn(rng, 1500, np.where(np.arange(AGENTS) % 5 == 0, 0.05, 1.0)))


def newcomers(rng: np.random.Generator) -> Case:
    """Five agents are in one to four battles."""
    a, b = drawn(rng, 2000, np.where(np.arange(AGENTS) < 5, 1e-9, 1.0))
    late = np.repeat(np.arange(5), rng.integers(1, 5, 5))
    a, b = np.concatenate([a, late]), np.concatenate([b, rng.integers(5, AGENTS, len(late))])
    return fought(rng, skills(rng), a, b)


def near_ties(rng: np.random.Generator) -> Case:
    return fought(rng, skills(rng, 0.12), *drawn(rng, 200, np.ones(AGENTS)))


def heavy_tails(rng: np.random.Generator) -> Case:
    skill = rng.standard_t(2, AGENTS)
    return fought(rng, skill[:, None] - skill, *drawn(rng, 600, np.ones(AGENTS)))


def matched(rng: np.random.Generator) -> Case:
    """Battles among agents of neighbouring skill alone."""
    skill = np.sort(rng.standard_normal(AGENTS))
    a = rng.integers(0, AGENTS, 800)
    b = np.clip(a + rng.choice([-3, -2, -1, 1, 2, 3], 800), 0, AGENTS - 1)
    return fought(rng, skill[:, None] - skill, a[a != b], b[a != b])


def clustered(rng: np.random.Generator) -> Case:
    """60 judges, each with an opinion of its own of all agents, 20 battles each; drawn judge by judge."""
    skill = rng.standard_normal(AGENTS)
    a, b = drawn(rng, 1200, np.ones(AGENTS))
    judge = rng.integers(0, 60, len(a))
    opinion = skill + 0.7 * rng.standard_normal((60, AGENTS))
    votes = battles(rng, opinion[judge, a] - opinion[judge, b], a, b, judge)
    # The chance among all judges there could be.
    others = skill[:, None] - skill + 0.7 * np.sqrt(2) * rng.standard_normal((2000, 1, 1))
    return Case(votes, logistic(others).mean(axis=0), "groups")


def cycles(rng: np.random.Generator, count: int = 6000) -> Case:
    """Pairs stray from the line by half as much as skills vary."""
    stray = np.triu(0.5 * rng.standard_normal((AGENTS, AGENTS)), 1)
    return fought(rng, skills(rng) + stray - stray.T, *drawn(rng, count, np.ones(AGENTS)))


def bridged(rng: np.random.Generator) -> Case:
    """12 agents and 8 of another level, that met three times."""
    skill = rng.standard_normal(AGENTS) + np.where(np.arange(AGENTS) < 12, 0.0, rng.normal(scale=1.5))
    a, b = drawn(rng, 1600, np.ones(AGENTS))
    same = (a < 12) == (b < 12)
    a, b = np.concatenate([a[same], rng.integers(0, 12, 3)]), np.concatenate([b[same], rng.integers(12, AGENTS, 3)])
    return fought(rng, skill[:, None] - skill, a, b)


def tied(rng: np.random.Generator) -> Case:
    """A third of the battles end level, whoever meets; a tie is half."""
    lead = skills(rng)
    a, b = drawn(rng, 1500, np.ones(AGENTS))
    names = np.array([f"agent-{k:02}" for k in range(AGENTS)])
    level, won = rng.random(len(a)) < 1 / 3, rng.random(len(a)) < logistic(lead[a, b])
    votes = [
        [[x, y]] if tie else [x, y] if first else [y, x]
        for x, y, tie, first in zip(names[a].tolist(), names[b].tolist(), level, won, strict=True)
    ]
    profile = sc.Profile.from_rankings(votes, agents=names.tolist(), kind="games")
    return Case(profile, 1 / 6 + 2 / 3 * logistic(lead))


def ranked(rng: np.random.Generator, votes: int, size: int) -> Case:
    """Plackett-Luce votes of so many agents."""
    profile, truth = sc.synthetic.plackett_luce(votes, agents=AGENTS, size=size, seed=int(rng.integers(2**31)))
    skill = np.array([truth[name] for name in profile.agents])
    return Case(profile, logistic(skill[:, None] - skill))


DESIGNS: dict[str, Callable[[np.random.Generator], Case]] = {
    "1,500 battles": even,
    "150 battles": partial(even, count=150),
    "rare agents": rare,
    "newcomers of 1 to 4 battles": newcomers,
    "near ties, 20 votes an agent": near_ties,
    "heavy tails": heavy_tails,
    "matched by skill": matched,
    "clustered judges": clustered,
    "cycles": cycles,
    "cycles, 600 battles": partial(cycles, count=600),
    "two groups that met three times": bridged,
    "a third of ties": tied,
    "200 contests of 4": partial(ranked, votes=200, size=4),
    "40 whole ballots": partial(ranked, votes=40, size=AGENTS),
}


def judge(design: str, tournaments: int, resamples: int, method: str) -> dict[str, Any]:
    """All tournaments of a design."""
    seen: list[tuple[float, ...]] = []
    upper, lower = np.triu_indices(AGENTS, 1)
    for seed in range(tournaments):
        case = DESIGNS[design](np.random.default_rng([seed, 5]))
        names = sorted(case.votes.agents)
        pairs = [(names[a], names[b]) for a, b in zip(upper, lower, strict=True)]
        found = sc.predict(case.votes, pairs=pairs, method=method, n=resamples, by=case.by, seed=seed)
        known = np.array([one.chance is not None for one in found.chances])
        chance, low, high = (
            np.array([getattr(one, name) for one in found.chances], dtype=float)[known]
            for name in ("chance", "chance_low", "chance_high")
        )
        truth = case.chance[upper, lower][known]
        votes = np.bincount(case.votes.agent, minlength=AGENTS)
        few = np.array(case.votes.agents)[np.argsort(votes, kind="stable")[: AGENTS // 5]]
        thin = np.array([bool({one.a, one.b} & set(few)) for one in found.chances])[known]
        inside = (low <= truth) & (truth <= high)
        wide = high - low
        seen.append(
            (inside.mean(), inside[thin].mean(), wide.mean(), wide[thin].mean(), float(np.abs(chance - truth).mean()))
        )
    mean, error = np.mean(seen, axis=0), np.std(seen, axis=0) / np.sqrt(tournaments)
    return {
        "design": design,
        "method": method,
        "tournaments": tournaments,
        "covered": f"{mean[0]:.1%}",
        "error": f"{error[0]:.1%}",
        "rarest": f"{mean[1]:.1%}",
        "error_rarest": f"{error[1]:.1%}",
        "width": f"{mean[2]:.3f}",
        "width_rarest": f"{mean[3]:.3f}",
        "off": f"{mean[4]:.3f}",
    }


def missed(row: dict[str, Any]) -> bool:
    """Whether coverage is out of its bounds by more than two standard errors."""
    number = {name: float(row[name].rstrip("%")) for name in ("width", "width_rarest")}
    for name, error, width in (("covered", "error", "width"), ("rarest", "error_rarest", "width_rarest")):
        share, slack = (float(row[key].rstrip("%")) / 100 for key in (name, error))
        if share + 2 * slack < LEAST or (share - 2 * slack > MOST and number[width] < WIDE):
            return True
    return False


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tournaments", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--method", default="sco")
    parser.add_argument("--only", default="", help="designs with this in their name")
    options = parser.parse_args()
    rows = []
    for design in (design for design in DESIGNS if options.only in design):
        rows.append(judge(design, options.tournaments, options.resamples, options.method))
        print(*rows[-1].values(), sep="  ", file=sys.stderr, flush=True)
    show(rows, options.csv)
    outside = [row["design"] for row in rows if missed(row)]
    for design in outside:
        print(f"missed: {design}")
    return int(bool(outside))


if __name__ == "__main__":
    sys.exit(main())
