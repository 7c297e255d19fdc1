"""Agents against tasks: Atari and HELM score tables as votes of tasks, by SCO, Elo and mean score (the introduction).

Each task is a vote that ranks the agents by score. A mean of scores adds up tasks of different scale; votes do not.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.leaderboards import METHODS, claims, draw, judge, mean_scores, read_scores
from experiments.study import Files, Job, Row, Scale, Study
from softcondorcet.profile import Profile

_HUMAN = {"zero": "random", "one": "human"}
BOARDS = {
    "agent57": ("atari_agent57_table.csv", "Atari, 57 games (Agent57's table)", _HUMAN),
    "muesli": ("atari_muesli_table11.csv", "Atari, 57 games (Muesli's table)", _HUMAN),
    "rainbow": ("atari_rainbow_table5.csv", "Atari, 54 games (Rainbow's table)", None),
    "helm_lite": ("helm_lite.csv.gz", "HELM Lite, 9 tasks", None),
    "helm_classic": ("helm_classic.csv.gz", "HELM Classic, 14 tasks", None),
}


def jobs(scale: Scale, files: Files) -> list[Job]:
    return [{"board": name} for name in reversed(BOARDS)]


def work(job: Job, files: Files) -> list[Row]:
    file, _, scaled = BOARDS[job["board"]]
    source = read_scores(files[file])
    profile = Profile.from_scores(source)
    return judge(job["board"], profile, {"mean_score": mean_scores(source, profile.agents, scaled)})


def table(rows: Sequence[Row]) -> list[Row]:
    return list(rows)


STUDY = Study(
    "atari",
    "Agents against tasks: SCO, Elo and mean score on Atari and HELM",
    jobs,
    work,
    table,
    claims,
    draw({name: title for name, (_, title, _) in BOARDS.items()}, {**METHODS, "mean_score": "mean score"}),
    tuple(file for file, _, _ in BOARDS.values()),
)
