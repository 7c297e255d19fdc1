"""Agents against agents: Chatbot Arena and a smaller arena with judges, by SCO, Elo and win rate (the introduction)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.leaderboards import METHODS, claims, draw, judge
from experiments.study import Files, Job, Row, Scale, Study
from softcondorcet.io.files import read
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

BOARDS = {
    "chatbot_arena": ("chatbot_arena_20240814_counts.csv", "Chatbot Arena, 1.67 million votes"),
    "llmfao": ("llmfao_human_battles.csv", "LLMFAO, 8,931 votes of people"),
}


def win_rates(profile: Profile) -> Ratings:
    """The share of its comparisons that an agent wins, ties half."""
    pairs = profile.pairs()
    won, all_of = np.zeros((2, pairs.n_agents))
    np.add.at(won, pairs.left, pairs.wins + pairs.ties / 2)
    np.add.at(won, pairs.right, pairs.losses + pairs.ties / 2)
    for side in (pairs.left, pairs.right):
        np.add.at(all_of, side, pairs.wins + pairs.losses + pairs.ties)
    return Ratings(profile.agents, won / np.maximum(all_of, 1), "win rate")


def jobs(scale: Scale, files: Files) -> list[Job]:
    return [{"board": name} for name in BOARDS]


def work(job: Job, files: Files) -> list[Row]:
    profile = read(str(files[BOARDS[job["board"]][0]]))
    return judge(job["board"], profile, {"win_rate": win_rates(profile)})


def table(rows: Sequence[Row]) -> list[Row]:
    return list(rows)


STUDY = Study(
    "arena",
    "Agents against agents: SCO, Elo and win rate on Chatbot Arena",
    jobs,
    work,
    table,
    claims,
    draw({name: title for name, (_, title) in BOARDS.items()}, {**METHODS, "win_rate": "win rate"}),
    tuple(file for file, _ in BOARDS.values()),
)
