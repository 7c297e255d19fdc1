"""Kaggle environments: replays of episodes (``.json``), each a game of two or more teams with rewards.

A team without a reward (it timed out or failed) is placed last, as Kaggle does. Episodes without any reward, and
those in which a team plays itself, are left out and counted.
"""

from __future__ import annotations

from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import get, optional
from softcondorcet.io.records import Format, Options, Scores, name_of, number


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    return "rewards" in first and ("statuses" in first or isinstance(optional(first, "info", "TeamNames"), list))


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("Kaggle episodes")
    scores.kind = "games"
    failed = 0
    for file in files:
        for place, episode in _episodes(file):
            failed += _episode(episode, place, scores)
    if failed:
        scores.notes.append(f"{failed:,} teams without a reward (timed out or failed) are last in their episode")
    return scores


def _episodes(file: InputFile) -> list[tuple[str, Any]]:
    if file.head.startswith(b"["):
        return [(file.place(line), row) for line, row in file.rows()]
    return [(file.name, file.document())]


def _episode(episode: Any, place: str, scores: Scores) -> int:
    info = get(episode, place, "info", dict, "an object with TeamNames")
    agents = optional(info, "Agents")
    named = [optional(agent, "Name") for agent in agents] if isinstance(agents, list) else []
    listed = named if named and "TeamNames" not in info else get(info, place, "TeamNames", list, "a list of names")
    teams = [name_of(name, place, "TeamNames") for name in listed]
    rewards = get(episode, place, "rewards", list, "a list of numbers")
    if len(rewards) != len(teams):
        raise DataError(f"{place}: {len(rewards)} rewards; expected {len(teams)}, one for each of TeamNames")
    found = [number(reward) for reward in rewards]
    for reward, value in zip(rewards, found, strict=True):
        if value is None and reward is not None and not isinstance(reward, float):
            raise DataError(f"{place}: a reward is {brief(reward)}; expected a number or null")
    known = [value for value in found if value is not None]
    if not known:
        scores.left_out["episodes without a reward"] += 1
        return 0
    if len(set(teams)) < len(teams):
        scores.left_out["episodes in which a team plays itself"] += 1
        return 0
    game = episode.get("name") if isinstance(episode.get("name"), str) else "episode"
    item = info.get("EpisodeId") or episode.get("id") or place
    for team, value in zip(teams, found, strict=True):
        scores.add(team, game, min(known) - 1 if value is None else value, item=str(item))
    scores.higher[game, ""] = True
    return len(found) - len(known)


FORMAT = Format(
    name="kaggle",
    title="Kaggle environments: replays of episodes (.json)",
    recognise=recognise,
    read=read,
    vote="an episode: its teams by reward",
    leaves_out="episodes without a reward or of a team against itself",
    example="sco rank episodes/",
)
