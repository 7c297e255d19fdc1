"""Battles by Bradley-Terry, as lists of names, the winner first."""

from __future__ import annotations

import math

import numpy as np

from softcondorcet import Profile


def battles(seed: int, skill: list[float], count: int, prefix: str = "a") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        a, b = rng.choice(len(skill), 2, replace=False).tolist()
        won = rng.random() < 1 / (1 + math.exp(skill[b] - skill[a]))
        found.append([f"{prefix}{a}", f"{prefix}{b}"] if won else [f"{prefix}{b}", f"{prefix}{a}"])
    return found


def games(votes: list[list[str]]) -> Profile:
    return Profile.from_rankings(votes, kind="games")
