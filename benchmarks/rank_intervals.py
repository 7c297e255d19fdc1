"""Do 95 % rank intervals hold the true rank in 95 % of agents? Simulated tournaments with known skills.

    python benchmarks/rank_intervals.py [--tournaments 200] [--csv benchmarks/results/rank_intervals.csv]

Most are tournaments of the paper (``synthetic.tournament``): skills from N(100, spread), an agent shows skill + N(0,
noise) in a contest. Others are battles by Bradley-Terry with what is hard about real votes: rare agents, near ties,
skills with heavy tails, matched opponents, judges of one mind each (drawn by groups), cycles (the true order is that of
the expected margins), groups that never met or met a few times. Of each, 200 resamples are rated. Columns: `exact`, how
often the fitted rank is the true one; `covered`, how often the interval holds it; `error`, the standard error of that;
`rarest`, the same for the fifth of the agents with the fewest votes; `ranks`, the mean number of ranks in it; `told`,
the share of pairs told apart, and `wrong`, how many of these stand the other way round; `unplaced`, the share of agents
without a rank. Ranks are among agents that comparisons link, of one without among all. Where fours share skills,
`covered` says how often the interval meets the four ranks that they share, and `whole` how often it holds all four.

Exits with 1 if in a design coverage is below 93 %, of the rarest too, by more than two standard errors, or if more than
2.5 % of the pairs told apart are wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any, Literal

import numpy as np
from rows import arguments, show

import softcondorcet as sc

DESIGNS: dict[str, dict[str, Any]] = {
    "paper, 200 contests of 4": {"contests": 200},
    "paper, 50 contests of 4": {"contests": 50},
    "paper, 20 contests of 4": {"contests": 20},
    "200 contests, matched by skill": {"contests": 200, "matching": "skill", "noise": 15.0},
    "200 contests, noise as wide as skills": {"contests": 200, "noise": 30.0},
    "2,000 battles, noise as wide as skills": {"contests": 2000, "size": 2, "noise": 30.0},
    "2,000 battles, skills nearly equal": {"contests": 2000, "size": 2, "spread": 5.0, "noise": 30.0},
    "8 agents, 60 contests": {"contests": 60, "agents": 8, "noise": 20.0},
    "50 agents, 500 contests": {"contests": 500, "agents": 50, "noise": 15.0},
    "50 agents, 20,000 battles": {"contests": 20_000, "agents": 50, "size": 2, "noise": 40.0},
}
SHARED = {
    "skills shared by fours, 200 contests": {"contests": 200, "noise": 15.0},
    "skills shared by fours, 2,000 battles": {"contests": 2000, "size": 2, "noise": 30.0},
}
LEAST, WRONG = 0.93, 0.025


def ranks(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 + (values[..., None, :] > values[..., :, None]).sum(-1))


@dataclass
class Case:
    """Votes, true skills in the order of their agents, and how to draw."""

    votes: sc.Profile
    skill: np.ndarray
    by: Literal["votes", "groups"] = "votes"


def tournament(design: str, seed: int) -> Case:
    options = {"agents": 20, **(DESIGNS | SHARED)[design]}
    if design in SHARED:
        skills = 100 + 30 * np.random.default_rng([seed, 9]).standard_normal(options["agents"] // 4)
        options = {**options, "skills": np.repeat(skills, 4).tolist()}
    votes, truth = sc.synthetic.tournament(seed=seed, **options)
    return Case(votes, np.array([truth[name] for name in votes.agents]))


def battles(rng: np.random.Generator, lead: np.ndarray, a: np.ndarray, b: np.ndarray, judge: Any = None) -> sc.Profile:
    """Of agents a and b, whose log-odds are `lead`."""
    won = rng.random(len(a)) < 1 / (1 + np.exp(-lead))
    names = np.array([f"agent-{k:02}" for k in range(20)])
    votes = np.where(won[:, None], np.stack([names[a], names[b]], 1), np.stack([names[b], names[a]], 1)).tolist()
    profile = sc.Profile.from_rankings(votes, agents=names.tolist(), kind="games")
    return profile if judge is None else profile.with_groups(judge, [f"judge-{k}" for k in range(judge.max() + 1)])


def drawn(rng: np.random.Generator, count: int, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different agents, each drawn by its share."""
    a = rng.choice(20, count, p=share / share.sum())
    b = rng.choice(20, 3 * count, p=share / share.sum()).reshape(3, count)
    b = np.where(b[0] != a, b[0], np.where(b[1] != a, b[1], b[2]))
    kept = a != b
    return a[kept], b[kept]


def rare(rng: np.random.Generator) -> Case:
    """Four of 20 agents are in a twentieth of the battles of the others."""
    skill, share = rng.standard_normal(20), np.where(np.arange(20) % 5 == 0, 0.05, 1.0)
    a, b = drawn(rng, 1500, share)
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


def new(rng: np.random.Generator) -> Case:
    """Five of 20 agents are in one to four battles."""
    skill = rng.standard_normal(20)
    a, b = drawn(rng, 2000, np.where(np.arange(20) < 5, 1e-9, 1.0))
    late = np.repeat(np.arange(5), rng.integers(1, 5, 5))
    a, b = np.concatenate([a, late]), np.concatenate([b, rng.integers(5, 20, len(late))])
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


def near_ties(rng: np.random.Generator) -> Case:
    """20 votes for each agent, skills nearly equal: an agent wins 53 % against one below by a deviation."""
    skill = 0.12 * rng.standard_normal(20)
    a, b = drawn(rng, 200, np.ones(20))
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


def heavy_tails(rng: np.random.Generator) -> Case:
    skill = rng.standard_t(2, 20)
    a, b = drawn(rng, 600, np.ones(20))
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


def matched(rng: np.random.Generator) -> Case:
    """Battles among agents of neighbouring skill alone."""
    skill = np.sort(rng.standard_normal(20))
    a = rng.integers(0, 20, 800)
    b = np.clip(a + rng.choice([-3, -2, -1, 1, 2, 3], 800), 0, 19)
    a, b = a[a != b], b[a != b]
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


def clustered(rng: np.random.Generator) -> Case:
    """60 judges, each with an opinion of its own of all agents, 20 battles each; drawn judge by judge."""
    skill = rng.standard_normal(20)
    opinion = skill + 0.7 * rng.standard_normal((60, 20))
    a, b = drawn(rng, 1200, np.ones(20))
    judge = rng.integers(0, 60, len(a))
    return Case(battles(rng, opinion[judge, a] - opinion[judge, b], a, b, judge), skill, "groups")


def cycles(rng: np.random.Generator) -> Case:
    """Pairs stray from the line by half as much as skills vary; the true order contradicts expected margins least."""
    skill, stray = rng.standard_normal(20), np.triu(0.5 * rng.standard_normal((20, 20)), 1)
    lead = skill[:, None] - skill + stray - stray.T
    a, b = drawn(rng, 6000, np.ones(20))
    votes = battles(rng, lead[a, b], a, b)
    left, right = np.triu_indices(20, 1)
    chance = 1 / (1 + np.exp(-lead[left, right]))
    expected = sc.Pairs(
        votes.agents, left, right, 1e4 * chance, 1e4 * (1 - chance), np.zeros(len(left)), kind="election"
    )
    return Case(votes, np.array(sc.kemeny(expected).values))


def disconnected(rng: np.random.Generator, bridges: int = 0) -> Case:
    """12 agents and 8, of another level, that never met, or a few times."""
    skill = rng.standard_normal(20) + np.where(np.arange(20) < 12, 0.0, rng.normal(scale=1.5))
    a, b = drawn(rng, 1600, np.ones(20))
    same = (a < 12) == (b < 12)
    a, b = a[same], b[same]
    a = np.concatenate([a, rng.integers(0, 12, bridges)])
    b = np.concatenate([b, rng.integers(12, 20, bridges)])
    return Case(battles(rng, skill[a] - skill[b], a, b), skill)


HARD: dict[str, Callable[[np.random.Generator], Case]] = {
    "rare agents": rare,
    "newcomers of 1 to 4 battles": new,
    "near ties, 20 votes an agent": near_ties,
    "heavy tails": heavy_tails,
    "matched by skill": matched,
    "clustered judges": clustered,
    "cycles": cycles,
    "two groups that never met": disconnected,
    "two groups that met three times": partial(disconnected, bridges=3),
}
METHODS = ("sco", "bradley_terry")


def judge(design: str, method: str, tournaments: int, resamples: int) -> dict[str, Any]:
    seen: dict[str, list[float]] = {name: [] for name in ("exact", "covered", "rarest", "ranks", "whole", "unplaced")}
    told = wrong = pairs = 0
    for seed in range(tournaments):
        case = HARD[design](np.random.default_rng([seed, 4])) if design in HARD else tournament(design, seed)
        found = sc.bootstrap(case.votes, method, n=resamples, by=case.by, seed=seed)
        placed = found.board.places > 0
        counted = placed if placed.any() else ~placed
        above, level = case.skill[:, None] < case.skill, case.skill[:, None] == case.skill
        linked = sc.connected_groups(case.votes)[0]
        among = np.where(counted[:, None], np.isin(case.votes.agents, linked)[None], True)
        best = 1 + (above & among).sum(1)
        worst = best + (level & among).sum(1) - np.where(among.diagonal(), 1, 0)
        low, high = found.rank_low, found.rank_high
        inside = (low <= worst) & (best <= high)
        few = np.argsort(found.board.votes if found.board.votes is not None else np.zeros(20), kind="stable")
        right = (best <= found.board.places) & (found.board.places <= worst)
        seen["exact"].append(float(right[counted].mean()))
        seen["covered"].append(float(inside.mean()))
        seen["rarest"].append(float(inside[few[: len(few) // 5]].mean()))
        seen["ranks"].append(float(np.mean(high - low + 1)))
        seen["whole"].append(float(np.mean((low <= best) & (worst <= high))))
        seen["unplaced"].append(float(1 - placed.mean()))
        for a in range(len(few)):
            sure = found.confidence(a, np.arange(len(few))) >= found.sure
            told += int(sure.sum())
            wrong += int((sure & (case.skill > case.skill[a])).sum())
            pairs += len(few) - 1
    about = {name: mean(values) for name, values in seen.items()}
    return {
        "design": design,
        "method": method,
        "exact": f"{about['exact']:.1%}",
        "covered": f"{about['covered']:.1%}",
        "error": f"{np.std(seen['covered']) / np.sqrt(tournaments):.1%}",
        "rarest": f"{about['rarest']:.1%}",
        "error_rarest": f"{np.std(seen['rarest']) / np.sqrt(tournaments):.1%}",
        "ranks": f"{about['ranks']:.1f}",
        "told": f"{2 * told / max(pairs, 1):.1%}",
        "wrong": f"{wrong / max(told, 1):.2%}",
        "unplaced": f"{about['unplaced']:.1%}",
        "whole": f"{about['whole']:.1%}" if design in SHARED else "",
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--only", default="", help="designs with this in their name")
    options = parser.parse_args()
    began, rows = time.monotonic(), []
    for method in options.methods.split(","):
        for design in DESIGNS | HARD | SHARED:
            if options.only in design:
                rows.append(judge(design, method, options.tournaments, options.resamples))
                print(f"{time.monotonic() - began:.0f} s", *rows[-1].values(), sep="  ", file=sys.stderr, flush=True)
    show(rows, options.csv)
    missed = [row for row in rows if _missed(row)]
    for row in missed:
        print(f"missed: {row['method']}, {row['design']}")
    return int(bool(missed))


def _missed(row: dict[str, Any]) -> bool:
    number = {name: float(row[name][:-1]) / 100 for name in ("covered", "error", "rarest", "error_rarest", "wrong")}
    low = any(
        number[name] + 2 * number[error] < LEAST for name, error in (("covered", "error"), ("rarest", "error_rarest"))
    )
    return low or number["wrong"] > WRONG


if __name__ == "__main__":
    sys.exit(main())
