"""Does the default predict held-out votes as well as the best static method, tuned ones included?

    python benchmarks/default_holdout.py DATA [--sets "football;f1"] [--csv benchmarks/results/default_holdout.csv]

DATA is the folder of the data sets; files that are not there are left out. Four made-up sets need no file: duels of
players whose skills move, races of twelve, games of eight with much luck, and an arena with ties whose pairs stray from
a line. A tenth of the votes is held out, at most 20,000: at random, three times (once where agents are many), and the
last ones where votes are dated. ``sc.tune`` sees training votes only.

Share of discordant comparisons (ties in a vote and equal ratings as half) and log-loss of the chances, where ratings
are log-odds. `over_default` is the share of the method less that of the default, `half` half of its 95 % interval,
paired by vote; `of_best` the share as a multiple of that of the best static method: elo and weng_lin go through the
votes one after the other, and so follow time. Exits with 1 where the default is more than 1 % behind it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from over_time import Comparisons
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.evaluation.holdout import known_agents, split_at_random, split_by_time

FILES = {
    "football": "football_intl/football_intl_battles.csv.gz",
    "f1": "f1/f1_rankings.csv.gz",
    "ti4": "ti4/ti4_rankings.csv.gz",
    "llmfao, humans": "llmfao/llmfao_human_battles.csv",
    "llmfao, gpt 4": "llmfao/llmfao_gpt4_judge_battles.csv",
    "chatbot arena": "chatbot_arena/chatbot_arena_20240814_counts.csv",
    "codeforces groups": "codeforces/codeforces_groups7.csv.gz",
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "sco": ("sco", {}),
    "sco, plain": ("sco", {"shrink": False}),
    "bradley_terry": ("bradley_terry", {}),
    "bradley_terry, prior 0.1": ("bradley_terry", {"prior": 0.1}),
    "bradley_terry, prior 1": ("bradley_terry", {"prior": 1.0}),
    "plackett_luce": ("plackett_luce", {}),
    "plackett_luce, prior 0.1": ("plackett_luce", {"prior": 0.1}),
    "plackett_luce, prior 1": ("plackett_luce", {"prior": 1.0}),
    "elo": ("elo", {}),
    "weng_lin": ("weng_lin", {}),
    "borda": ("borda", {}),
    "copeland": ("copeland", {}),
}
ONE_PASS = {"elo", "weng_lin"}
MOST, MANY, BEHIND = 20_000, 5_000, 1.01


# Made-up sets, of the kinds that people have.


def named(agents: np.ndarray) -> list[list[str]]:
    return [[f"agent-{k:03}" for k in vote] for vote in agents.tolist()]


def duels(rng: np.random.Generator) -> sc.Profile:
    """8,000 battles of 200 players over 40 weeks, most against one of like skill; skills move week by week."""
    skill = 1.2 * rng.standard_normal(200) + np.cumsum(0.12 * rng.standard_normal((40, 200)), axis=0)
    week = np.repeat(np.arange(40), 200)
    a = rng.integers(0, 200, len(week))
    met = rng.integers(0, 200, (4, len(week)))
    b = met[np.abs(skill[week, met] - skill[week, a]).argmin(axis=0), np.arange(len(week))]
    won = rng.random(len(week)) < 1 / (1 + np.exp(skill[week, b] - skill[week, a]))
    votes = np.where(won[:, None], np.stack([a, b], 1), np.stack([b, a], 1))
    return dated(votes[a != b], week[a != b])


def ranked(rng: np.random.Generator, skill: np.ndarray, size: int) -> np.ndarray:
    """A contest for each row of skills, by Plackett and Luce, of agents drawn at random."""
    drawn = np.argsort(rng.random(skill.shape), axis=1)[:, :size]
    shown = np.take_along_axis(skill, drawn, 1) + rng.gumbel(size=drawn.shape)
    return np.take_along_axis(drawn, np.argsort(-shown, axis=1), 1)


def races(rng: np.random.Generator) -> sc.Profile:
    """600 races of 12 among 150 drivers over 20 years; skills move year by year."""
    year = np.repeat(np.arange(20), 30)
    skill = rng.standard_normal(150) + np.cumsum(0.2 * rng.standard_normal((20, 150)), axis=0)
    return dated(ranked(rng, skill[year], 12), year)


def luck(rng: np.random.Generator) -> sc.Profile:
    """2,000 games of eight among 300 players, much of it luck."""
    skill = np.broadcast_to(0.4 * rng.standard_normal(300), (2_000, 300))
    return sc.Profile.from_rankings(named(ranked(rng, skill, 8)), kind="games")


def arena(rng: np.random.Generator) -> sc.Profile:
    """20,000 battles of 60 models, a third of them ties, some models new; pairs stray from the line."""
    skill, stray = 0.8 * rng.standard_normal(60), np.triu(0.3 * rng.standard_normal((60, 60)), 1)
    lead = skill[:, None] - skill + stray - stray.T
    share = rng.gamma(0.5, size=60)
    a, b = rng.choice(60, (2, 20_000), p=share / share.sum())
    a, b = a[a != b], b[a != b]
    tied = rng.random(len(a)) < 1 / 3
    won = rng.random(len(a)) < 1 / (1 + np.exp(-lead[a, b]))
    votes = named(np.where(won[:, None], np.stack([a, b], 1), np.stack([b, a], 1)))
    ballots = [[vote] if tie else vote for vote, tie in zip(votes, tied.tolist(), strict=True)]
    return sc.Profile.from_rankings(ballots, kind="games")


def dated(votes: np.ndarray, period: np.ndarray) -> sc.Profile:
    profile = sc.Profile.from_rankings(named(votes), kind="games")
    return replace(profile, when=86_400.0 * 7 * period.astype(float))


MADE = {"duels, made up": duels, "races of 12, made up": races, "games of 8, made up": luck, "arena, made up": arena}


# Scores.


def judged(board: sc.Ratings, train: sc.Profile, test: sc.Profile, each: Comparisons) -> tuple[Any, Any]:
    """By vote: comparisons the wrong way round, and minus their log-likelihood, None where there are no chances."""
    values = board.values_of(train.agents)
    wrong, surprise = each.judge((values[each.upper] - values[each.lower]) / (board.unit or 1.0), test.n_votes)
    return wrong, surprise if board.unit else None


def splits(profile: sc.Profile) -> Iterator[tuple[str, list[tuple[sc.Profile, sc.Profile]]]]:
    test = min(int(profile.weight.sum()) // 10, MOST)
    many = profile.n_agents > MANY
    if many:
        test = min(test, 3_000)
    yield "random", [split_at_random(profile, test, seed=seed) for seed in range(1 if many else 3)]
    if profile.when is not None:
        train, late = split_by_time(profile, test)
        yield "time", [(train, known_agents(train, late))]


def rows_of(name: str, split: str, parts: list[tuple[sc.Profile, sc.Profile]]) -> list[dict[str, Any]]:
    found: dict[str, list[tuple[Any, Any, float]]] = {}
    for train, test in parts:
        each = Comparisons.of(test)
        methods = {**METHODS, "sco, tuned": ("sco", dict(sc.tune(train, folds=3).best))}
        for label, (method, options) in methods.items():
            began = time.process_time()
            try:
                board = sc.rank(train, method, **options)
            except sc.DataError:  # one pass cannot take thousands of votes at once
                continue
            found.setdefault(label, []).append((*judged(board, train, test, each), time.process_time() - began))
        print(name, split, {label: round(parts[-1][-1], 2) for label, parts in found.items()}, file=sys.stderr)
    weight = np.concatenate([test.weight for _, test in parts])
    pairs = np.concatenate([test.length * (test.length - 1) / 2 for _, test in parts])
    total = float((weight * pairs).sum())
    wrong = {label: np.concatenate([part[0] for part in own]) for label, own in found.items()}
    share = {label: float((weight * own).sum()) / total for label, own in wrong.items()}
    best, rows = min(value for label, value in share.items() if label not in ONE_PASS), []
    for label, own in sorted(found.items(), key=lambda item: share[item[0]]):
        apart, over = wrong[label] - wrong["sco"], share[label] - share["sco"]
        half = 1.96 * float(np.sqrt((weight * (apart - over * pairs) ** 2).sum())) / total
        surprise = [part[1] for part in own]
        chances = all(values is not None for values in surprise)
        rows.append({
            "set": name, "split": split, "votes": int(weight.sum()), "method": label,
            "discordant": round(share[label], 5), "of_best": round(share[label] / best, 4),
            "over_default": round(over, 5), "half": round(half, 5),
            "log_loss": round(float((weight * np.concatenate(surprise)).sum()) / total, 5) if chances else "",
        })  # fmt: skip
    return rows


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="", help="words in the names of sets, with semicolons between them")
    given = parser.parse_args()
    warnings.simplefilter("ignore", sc.NotConverged)
    rows: list[dict[str, Any]] = []
    for number, name in enumerate([*MADE, *FILES]):
        if given.sets and not any(word in name for word in given.sets.split(";")):
            continue
        if name in FILES and not (given.data / FILES[name]).exists():
            print(f"{given.data / FILES[name]} is not there", file=sys.stderr)
            continue
        rng = np.random.default_rng([number, 8])
        profile = MADE[name](rng) if name in MADE else sc.read(given.data / FILES[name])
        profile = profile.take(profile.length > 1)
        for split, parts in splits(profile):
            rows += rows_of(name, split, parts)
            show(rows, given.csv)
    behind = [row for row in rows if row["method"] == "sco" and row["of_best"] > BEHIND]
    for row in behind:
        print(f"{row['set']}, {row['split']}: {row['of_best']} of the best")
    return int(bool(behind))


if __name__ == "__main__":
    sys.exit(main())
