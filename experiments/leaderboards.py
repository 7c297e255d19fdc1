"""Boards people know, by several methods: what the studies ``atari`` and ``arena`` share.

A row of the table is one agent of one board with its rank by each method; rows of kind "method" judge the methods.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from experiments.datasets import BROKEN
from experiments.figures import figure, look
from experiments.study import Claim, Row
from softcondorcet import majority
from softcondorcet.errors import DataError
from softcondorcet.evaluation.compare import compare
from softcondorcet.io.cells import Table, encode, read_flag, read_score
from softcondorcet.io.delimited import parse_csv
from softcondorcet.metrics import discrete_loss, normalized_kendall_tau_distance
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {"sco": "SCO", "kemeny": "Kemeny", "bradley_terry": "Elo, fitted", "borda": "Borda", "copeland": "Copeland"}
_DRAWN = 12


def judge(name: str, profile: Profile, more: Mapping[str, Ratings]) -> list[Row]:
    """One board: the rank of each agent by each method, and a row for each method.

    `more` are ratings by ways that need more than the votes, such as mean scores.
    """
    boards = {**compare(profile, tuple(METHODS)).boards, **more}
    least, ours = boards["kemeny"], boards["sco"].order
    winner, groups = majority.condorcet_winner(profile), majority.strong_groups(profile, by="majority")
    agents = [
        {"board": name, "kind": "agent", "name": agent, **{key: board.rank_of(agent) for key, board in boards.items()}}
        for agent in ours
    ]
    facts = {
        "agents": profile.n_agents, "votes": float(profile.weight.sum()), "condorcet_winner": winner,
        "weak_winners": ", ".join(majority.weak_condorcet_winners(profile)), "pairs_met": len(profile.pairs()),
        "smith_set": len(majority.smith_set(profile)),
        "in_cycles": sum(len(group) for group in groups if len(group) > 1),
    }  # fmt: skip
    methods = []
    for key, board in boards.items():
        loss = discrete_loss(profile, board.order)  # of the order: equal ratings would spare half of each tie
        methods.append({
            "board": name, "kind": "method", "name": key, "first": board.order[0],
            "winner_first": None if winner is None else board.rank_of(winner) == 1,
            "discrete_loss": loss, "lower_bound": least.lower_bound,
            "distance_to_sco": round(normalized_kendall_tau_distance(ours, board.order), 4), **facts,
        })  # fmt: skip
    return [*methods, *agents]


def read_scores(path: Path) -> Table:
    """A csv table of agent, task and score, gzipped or not."""
    expected = "expected a csv table of agent, task and score"
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (*BROKEN, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); {expected}") from error
    if not text.strip():
        raise DataError(f"{path}: empty; {expected}")
    return parse_csv(text, str(path))


def mean_scores(source: Table, agents: Sequence[str], scaled: Mapping[str, str] | None = None) -> Ratings:
    """The mean score of each agent over the tasks it has; of each task scaled from 0 to 1, or from the score of one

    agent to that of another: ``{"zero": "random", "one": "human"}``. What a mean does with missing tasks, and with
    tasks of different scale, is why the paper asks for votes.
    """
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    (who,), names = encode(source, source.need("agent"))
    (which,), tasks = encode(source, source.need("task"))
    value = source.numbers(source.need("score"), read_score)
    if flag := source.find("higher_is_better"):
        value = np.where(source.numbers(flag, read_flag) > 0, value, -value)
    for row in np.flatnonzero(~np.isnan(value)):
        scores[tasks[which[row]]][names[who[row]]] = float(value[row])
    found: dict[str, list[float]] = defaultdict(list)
    for name, task in scores.items():
        for agent in (scaled or {}).values():
            if agent not in task:
                raise DataError(f"{source.name}: task {name!r} has no score of {agent!r}; expected one to scale it by")
        low, high = (task[scaled["zero"]], task[scaled["one"]]) if scaled else (min(task.values()), max(task.values()))
        for agent, score in task.items():
            found[agent].append((score - low) / (high - low) if high != low else 0.0)
    for agent in agents:
        if agent not in found:
            raise DataError(f"{source.name}: agent {agent!r} has no score; expected at least one")
    values = np.array([mean(found[agent]) for agent in agents])
    return Ratings(tuple(agents), values, "mean score")


def claims(rows: Sequence[Row]) -> list[Claim]:
    """What the paper says of SCO in general, on each board; and, with nothing to hold it against, what others do."""
    found = []
    methods = [row for row in rows if row["kind"] == "method"]
    for board in dict.fromkeys(row["board"] for row in methods):
        group = {row["name"]: row for row in methods if row["board"] == board}
        ours = group["sco"]
        winner = ours["condorcet_winner"]
        m = ours["agents"]
        cycles = f"{ours['smith_set']} of {m} agents in the Smith set, {ours['in_cycles']} in cycles of the majority"
        if winner is not None:
            what, first = f"{board}: SCO puts the Condorcet winner first", bool(ours["winner_first"])
            found.append(Claim(what, "yes (Theorem 1)", ours["first"], first, f"{winner}; {cycles}"))
        else:
            met = f"{ours['pairs_met']:,} of {m * (m - 1) // 2:,} pairs met"
            why = (
                f"{met}; {cycles}; beaten by none: {ours['weak_winners'] or 'no agent'}; SCO puts {ours['first']} first"
            )
            found.append(Claim(f"{board}: Condorcet winner", "", "none", None, why))
        others = {row["name"]: row["discrete_loss"] for row in group.values() if row["name"] not in ("sco", "kemeny")}
        best = min(others, key=others.__getitem__)
        why = f"no order contradicts fewer than {ours['lower_bound']:,.10g}"
        said = f"{ours['discrete_loss']:,.10g}; best of the others, {best}: {others[best]:,.10g}"
        found.append(Claim(f"{board}: comparisons that SCO contradicts", "", said, None, why))
        wrong = [name for name, row in group.items() if row["winner_first"] is False]
        if wrong:
            said = "; ".join(f"{name} puts {group[name]['first']} first" for name in wrong)
            found.append(Claim(f"{board}: methods that do not put {winner} first", "", f"{len(wrong)}", None, said))
    return found


def draw(titles: Mapping[str, str], labels: Mapping[str, str]) -> Callable[[Sequence[Row]], dict[str, Figure]]:
    """A bump chart for each board: the ranks that the methods give to the agents that SCO puts first."""

    def of(rows: Sequence[Row]) -> dict[str, Figure]:
        return {name: _bumps([row for row in rows if row["board"] == name], titles[name], labels)
                for name in dict.fromkeys(row["board"] for row in rows)}  # fmt: skip

    return of


def _bumps(rows: Sequence[Row], title: str, labels: Mapping[str, str]) -> Figure:
    """Places among the agents shown, so that lines cross only where methods disagree; the number is the real rank."""
    agents = [row for row in rows if row["kind"] == "agent"][:_DRAWN]
    keys = [key for key in labels if agents[0].get(key) is not None]
    place = {key: np.argsort(np.argsort([row[key] for row in agents], kind="stable")) for key in keys}
    made, axis = figure(9, 1.6 + 0.36 * len(agents))
    for number, row in enumerate(agents):
        style = {"color": look(number)["color"], "linestyle": look(number)["linestyle"], "linewidth": 1.8}
        y = [place[key][number] for key in keys]
        axis.plot(range(len(keys)), y, **style)
        for x, key in enumerate(keys):
            box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": style["color"], "linewidth": 1.5}
            axis.text(x, y[x], row[key], ha="center", va="center", fontsize="small", bbox=box)
        for end, height, side in ((-0.25, number, "right"), (len(keys) - 0.75, y[-1], "left")):
            axis.text(end, height, row["name"], ha=side, va="center", fontsize="small")
    of_all = next(row["agents"] for row in rows if row["kind"] == "method")
    shown = f"{title}: the {len(agents)} agents that SCO puts first" if of_all > len(agents) else title
    axis.set(title=shown, xlim=(-0.3, len(keys) - 0.7), yticks=[])
    axis.set_xlabel(f"Numbers: rank by a method among all {of_all} agents. Height: place among those shown.")
    axis.set_ylim(len(agents) - 0.4, -0.6)
    axis.set_xticks(range(len(keys)), [labels[key].replace(" ", "\n") for key in keys])
    axis.grid(visible=False)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.tick_params(length=0)
    return made
