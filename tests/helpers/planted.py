"""Clean data, and the same with a fault planted, for each check of the doctor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.columns import Column

Rng = np.random.Generator


Battles = dict[str, Any]


def battles(
    seed: int, *, agents: int = 8, votes: int = 2000, judges: int = 8, tie_share: float = 0.1, plain: bool = False
) -> Battles:
    """Columns of battles, with the chance of the first agent and the ingredients to change it afterwards."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(-1, 1, agents)[rng.permutation(agents)]
    a = rng.integers(agents, size=votes)
    b = (a + rng.integers(1, agents, size=votes)) % agents
    columns: Battles = {
        "rng": rng,
        "a": a,
        "b": b,
        "lead": skill[a] - skill[b],
        "tie": np.full(votes, tie_share),
        "names": [f"agent-{k}" for k in range(agents)],
        "middle": int(np.argsort(skill)[agents // 2]),
    }
    if not plain:
        columns["judge"] = [f"judge-{k}" for k in rng.integers(judges, size=votes)]
        columns["tstamp"] = 1.6e9 + np.sort(np.floor(1e7 * rng.random(votes)))
    return columns


def voted(columns: Battles) -> Profile:
    """Draw the results."""
    rng, n = columns["rng"], len(columns["a"])
    won = rng.random(n) < 1 / (1 + np.exp(-columns["lead"]))
    tie = rng.random(n) < columns["tie"]
    table = {
        "model_a": [columns["names"][k] for k in columns["a"]],
        "model_b": [columns["names"][k] for k in columns["b"]],
        "winner": np.where(tie, "tie", np.where(won, "model_a", "model_b")).tolist(),
    }
    for name in ("judge", "tstamp", "weight"):
        if name in columns:
            table[name] = list(columns[name])
    return Profile.from_matches(table)


def rankings(seed: int, *, agents: int = 10, votes: int = 400, size: int = 5) -> Profile:
    profile, _ = sc.synthetic.plackett_luce(votes, agents=agents, size=size, seed=seed)
    rng = np.random.default_rng(seed)
    judges = tuple(f"judge-{k}" for k in range(6))
    when = 1.6e9 + np.sort(np.floor(1e7 * rng.random(votes)))
    return replace(profile.with_groups(rng.integers(6, size=votes), judges), when=when)


def scores(
    seed: int, *, agents: int = 16, tasks: int = 30, change: Callable[[Any, Rng], Any] = lambda table, rng: table
) -> Profile:
    """A table of skill plus noise; `change` may edit it, NaN is a missing cell."""
    rng = np.random.default_rng(seed)
    table = change(rng.standard_normal((agents, 1)) + 0.8 * rng.standard_normal((agents, tasks)), rng)
    return Profile.from_scores(
        {
            "agent": np.repeat([f"model-{k}" for k in range(agents)], tasks).tolist(),
            "task": np.tile([f"task-{k}" for k in range(tasks)], agents).tolist(),
            "score": [None if np.isnan(score) else score for score in table.ravel()],
        }
    )


CLEAN: dict[str, Callable[[int], Profile]] = {
    "battles": lambda seed: voted(battles(seed)),
    "few battles": lambda seed: voted(battles(seed, agents=4, votes=200, judges=3)),
    "many agents": lambda seed: voted(battles(seed, agents=30, votes=4000, judges=40, tie_share=0.3)),
    "plain battles": lambda seed: voted(battles(seed, agents=12, votes=900, plain=True)),
    "rankings": rankings,
    "complete rankings": lambda seed: rankings(seed, agents=6, votes=150, size=6),
    "mallows": lambda seed: sc.synthetic.mallows(200, agents=8, phi=0.8, seed=seed),
    "scores": scores,
    "wide scores": lambda seed: scores(seed, agents=40, tasks=12),
}


def position(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    columns["lead"] += 0.5 * planted
    return voted(columns)


def lanes(seed: int, planted: bool) -> Profile:
    """Races by Plackett-Luce, in which inner lanes help."""
    rng = np.random.default_rng(seed)
    skill = 0.3 * np.arange(8)
    rows: dict[str, list[Any]] = {name: [] for name in ("race", "place", "agent", "lane")}
    for race in range(250):
        who, lane = rng.choice(8, 4, replace=False), rng.permutation(4)
        order = np.argsort(-(skill[who] - 0.4 * planted * lane + rng.gumbel(size=4)))
        rows["race"] += [race] * 4
        rows["place"] += range(4)
        rows["agent"] += [f"agent-{k}" for k in who[order]]
        rows["lane"] += (lane[order] + 1).tolist()
    return sc.read(rows)


def lengths(seed: int, planted: bool) -> Profile:
    """Battles in which the longer answer is liked."""
    columns = battles(seed)
    long = columns["rng"].integers(50, 500, (2, len(columns["a"]))).astype(float)
    columns["lead"] += 1.5 * planted * (long[0] - long[1]) / long.sum(axis=0)
    profile = voted(columns)
    sides = {"length_a": Column(values=long[0]), "length_b": Column(values=long[1])}
    return replace(profile, columns=profile.columns.plus(sides))


def random_judge(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    columns["lead"] *= np.where(np.array(columns["judge"]) == "judge-3", 1 - planted, 1)
    return voted(columns)


def reversed_judge(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    columns["lead"] *= np.where(np.array(columns["judge"]) == "judge-3", 1 - 2 * planted, 1)
    return voted(columns)


def kin_judge(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    own, kin = (np.array(columns["judge"]) == "judge-3") * 4.0 * planted, columns["middle"]
    columns["lead"] += own * (columns["a"] == kin) - own * (columns["b"] == kin)
    return voted(columns)


def judge_that_ties(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    columns["tie"] += 0.6 * planted * (np.array(columns["judge"]) == "judge-3")
    return voted(columns)


def judge_that_votes_most(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    most = columns["rng"].random(len(columns["a"])) < 0.6 * planted
    columns["judge"] = np.where(most, "judge-3", columns["judge"]).tolist()
    return voted(columns)


def ties_everywhere(seed: int, planted: bool) -> Profile:
    return voted(battles(seed, tie_share=0.7 if planted else 0.3))


def drift(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    late = np.where(np.arange(len(columns["a"])) > 1000, 2.0 * planted, 0.0)
    columns["lead"] += late * (columns["a"] == columns["middle"]) - late * (columns["b"] == columns["middle"])
    return voted(columns)


def two_groups(seed: int, planted: bool, links: int = 0) -> Profile:
    """Agents 0 and 1, and 2 to 7, meet only among themselves, but for a few battles."""
    columns = battles(seed, votes=1000, plain=True)
    across = (columns["a"] < 2) != (columns["b"] < 2)
    across &= np.cumsum(across) > links
    kept = ~(across & planted)
    for name in ("a", "b", "lead", "tie"):
        columns[name] = columns[name][kept]
    return voted(columns)


def unbeaten(seed: int, planted: bool, sign: float = 1.0) -> Profile:
    columns = battles(seed, tie_share=0.0)
    columns["lead"] += sign * 99 * planted * ((columns["a"] == 2) * 1.0 - (columns["b"] == 2))
    return voted(columns)


def newcomer(seed: int, planted: bool) -> Profile:
    """Agent 2 has four battles, a win among them."""
    columns = battles(seed, plain=True)
    its = (columns["a"] == 2) | (columns["b"] == 2)
    kept = ~(its & (np.cumsum(its) > 4) & planted)
    for name in ("a", "b", "lead", "tie"):
        columns[name] = columns[name][kept]
    first = np.flatnonzero((columns["a"] == 2) | (columns["b"] == 2))[:2]
    columns["lead"][first] += np.where(columns["a"][first] == 2, 1.0, -1.0) * np.array([99.0, -99.0]) * planted
    columns["tie"][first] *= 1 - planted
    return voted(columns)


def other_name(alias: str) -> Callable[[int, bool], Profile]:
    """A part of the battles of agent 2, which is called llama-2 here, stands under another name."""

    def plant(seed: int, planted: bool) -> Profile:
        columns = battles(seed)
        columns["names"][2] = "llama-2-chat"
        columns["names"].append(alias)
        moved = (columns["rng"].random(len(columns["a"])) < 0.3) & planted
        for side in ("a", "b"):
            columns[side] = np.where(moved & (columns[side] == 2), 8, columns[side])
        return voted(columns)

    return plant


def other_judge_name(seed: int, planted: bool) -> Profile:
    columns = battles(seed)
    columns["judge"] = [
        f"Judge {name[-1]}" if planted and k % 3 == 0 else name for k, name in enumerate(columns["judge"])
    ]
    return voted(columns)


def read_twice(seed: int, planted: bool) -> Profile:
    profile = voted(battles(seed, plain=True))
    again = np.concatenate([np.arange(2000), np.arange(500, 700)]) if planted else np.arange(2000)
    return profile.take(again)


def written_twice(seed: int, planted: bool) -> Profile:
    """Some votes stand twice with judge and time, here and there."""
    profile = voted(battles(seed))
    return profile.take(
        np.sort(np.concatenate([np.arange(2000), np.arange(0, 2000, 50 if planted else 5000)[planted ^ 1 :]]))
    )


def long_votes_twice(seed: int, planted: bool) -> Profile:
    profile, _ = sc.synthetic.plackett_luce(800, agents=30, size=6, seed=seed)
    rng = np.random.default_rng(seed)
    return profile.take(np.concatenate([np.arange(800), rng.permutation(800)[: 30 * planted]]))


def slip_in_a_weight(seed: int, planted: bool) -> Profile:
    columns = battles(seed, plain=True)
    columns["weight"] = np.ones(len(columns["a"]))
    columns["weight"][17] = 100_000.0 if planted else 1.0
    return voted(columns)


def lost_cells(seed: int, planted: bool) -> Profile:
    def change(table: Any, rng: Rng) -> Any:
        table[3, :6] = np.nan if planted else table[3, :6]
        return table

    return scores(seed, change=change)


def lower_is_better(seed: int, planted: bool) -> Profile:
    def change(table: Any, rng: Rng) -> Any:
        table[:, 5] = -table[:, 0] if planted else table[:, 0]
        return table

    return scores(seed, agents=40, change=change)


def circle(seed: int, planted: bool) -> Profile:
    """Agents 0, 1, 2 beat each other in a circle, and all others."""
    columns = battles(seed, votes=3000)
    top = (columns["a"] < 3) & (columns["b"] < 3)
    turn = np.where((columns["b"] - columns["a"]) % 3 == 1, 1.2, -1.2)
    above = 1.0 * (columns["a"] < 3) - 1.0 * (columns["b"] < 3)
    columns["lead"] = np.where(top & planted, turn, columns["lead"] + above * planted)
    return voted(columns)


def chain(seed: int, planted: bool) -> Profile:
    """Each agent meets its neighbours only."""
    columns = battles(seed, votes=3000, plain=True)
    kept = (np.abs(columns["a"] - columns["b"]) == 1) | (not planted)
    for name in ("a", "b", "lead", "tie"):
        columns[name] = columns[name][kept]
    return voted(columns)


def unseen_agent(seed: int, planted: bool) -> Profile:
    profile = voted(battles(seed))
    return replace(profile, agents=(*profile.agents, "x")) if planted else profile


def lonely_votes(seed: int, planted: bool) -> Profile:
    profile = voted(battles(seed, plain=True))
    return replace(profile, weight=np.where(np.arange(2000) % 100 == 0, 0.0 if planted else 1.0, 1.0))


FAULTS: dict[str, tuple[str, Callable[[int, bool], Profile]]] = {
    "disconnected": ("disconnected", two_groups),
    "weakly linked": ("weakly-linked", lambda seed, planted: two_groups(seed, planted, links=4)),
    "undefeated": ("undefeated", unbeaten),
    "winless": ("winless", lambda seed, planted: unbeaten(seed, planted, sign=-1.0)),
    "few votes": ("few-votes", newcomer),
    "coverage": ("coverage", chain),
    "an agent nobody met": ("unlisted", unseen_agent),
    "votes without weight": ("empty-votes", lonely_votes),
    "case": ("near-duplicate-names", other_name("LLaMA-2-chat")),
    "spaces": ("near-duplicate-names", other_name("llama 2  chat")),
    "punctuation": ("near-duplicate-names", other_name("llama_2_(chat)")),
    "look-alike letters": ("near-duplicate-names", other_name("ll\u0430m\u0430-2-ch\u0430t")),
    "a letter amiss": ("misspelt-names", other_name("lama-2-chat")),
    "letters swapped": ("misspelt-names", other_name("lalma-2-chat")),
    "judges under two names": ("near-duplicate-groups", other_judge_name),
    "position": ("position-bias", position),
    "lanes": ("circumstance", lanes),
    "lengths": ("circumstance", lengths),
    "random judge": ("judge-dissent", random_judge),
    "reversed judge": ("judge-dissent", reversed_judge),
    "judge that favours": ("judge-favour", kin_judge),
    "judge that ties": ("judge-ties", judge_that_ties),
    "judge that votes most": ("dominant-group", judge_that_votes_most),
    "ties": ("ties", ties_everywhere),
    "drift": ("time-drift", drift),
    "a block twice": ("duplicate-votes", read_twice),
    "a moment twice": ("duplicate-votes", written_twice),
    "a long vote twice": ("duplicate-votes", long_votes_twice),
    "heavy vote": ("heavy-votes", slip_in_a_weight),
    "missing tasks": ("missing-tasks", lost_cells),
    "reversed task": ("reversed-tasks", lower_is_better),
    "cycle": ("cycles", circle),
}
