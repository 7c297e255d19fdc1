"""What the pages and their JSON twins say, as plain dicts made from one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softcondorcet.serve.board import Snapshot
from softcondorcet.serve.past import Rated

Content = dict[str, Any]
_COUNTS = ("wins", "losses", "ties")


def about(seen: Snapshot) -> Content:
    """What every answer begins with: which board, and how fresh."""
    return {
        "board": seen.board,
        "title": seen.title,
        "snapshot": seen.id,
        "n_votes": seen.n_votes,
        "n_agents": len(seen.ratings),
        "changed": seen.changed,
        "fit": None
        if seen.fit is None
        else {"id": seen.fit.id, "made": seen.fit.made, "n_votes": seen.fit.found["n_votes"], "behind": seen.behind},
    }


def leaderboard(seen: Snapshot, overall: Snapshot | None = None) -> Content:
    """Agents best first, each beside its rank on the `overall` board where these are only some of its votes.

    Intervals, tie groups and what is provisional are those of the last fit.
    """
    board = seen.ratings
    found = rows(seen)
    if overall is not None:
        ranks = dict(zip(overall.ratings.agents, overall.ratings.ranks.tolist(), strict=True))
        found = [{**row, "rank_overall": ranks.get(row["agent"])} for row in found]
    return {
        **about(seen),
        "condorcet_winner": board.condorcet_winner,
        "smith_set": list(board.smith_set or ()),
        "rows": found,
    }


def rows(seen: Snapshot) -> list[Content]:
    """One dict per agent, best first; None for what the last fit does not know of it."""
    board, found = seen.ratings, seen.fit.found if seen.fit else {}
    known = len(found.get("values", ()))
    group = {k: number for number, group in enumerate(found.get("tie_groups", ())) for k in group}
    provisional = set(found.get("provisional", ()))

    def of_fit(column: str, k: int) -> Any:
        values = found.get(column)
        return values[k] if values is not None and k < known else None

    assert board.votes is not None
    return [
        {
            "rank": int(board.ranks[k]),
            "agent": board.agents[k],
            "rating": float(board.values[k]),
            "rating_low": of_fit("rating_low", k),
            "rating_high": of_fit("rating_high", k),
            "rank_low": of_fit("rank_low", k),
            "rank_high": of_fit("rank_high", k),
            "tie_group": group.get(k),
            "votes": float(board.votes[k]),
            "provisional": k >= known or k in provisional,
        }
        for k in board.index.tolist()
    ]


def pair(seen: Snapshot, a: str, b: str) -> Content | None:
    """Two agents head to head; None where one of them is not on the board."""
    board = seen.ratings
    if a == b or not {a, b} <= set(board.agents):
        return None
    chosen = np.array([board.agents.index(a), board.agents.index(b)])
    wins, ties = seen.pairs.dense(chosen)
    won, lost, level = float(wins[0, 1]), float(wins[1, 0]), float(ties[0, 1])
    return {
        **about(seen),
        "a": a,
        "b": b,
        "wins": won,
        "losses": lost,
        "ties": level,
        "rows": _only(rows(seen), {a, b}),
    }


def agent(seen: Snapshot, name: str, past: Sequence[Rated]) -> Content | None:
    """One agent: its row, whom it met, best first, and its ratings over time; None where it is not on the board."""
    board = seen.ratings
    if name not in board.agents:
        return None
    k = board.agents.index(name)
    pairs = seen.pairs
    left, right = np.flatnonzero(pairs.left == k), np.flatnonzero(pairs.right == k)
    met: Mapping[int, tuple[float, float, float]] = {
        **{int(pairs.right[p]): (float(pairs.wins[p]), float(pairs.losses[p]), float(pairs.ties[p])) for p in left},
        **{int(pairs.left[p]): (float(pairs.losses[p]), float(pairs.wins[p]), float(pairs.ties[p])) for p in right},
    }
    return {
        **about(seen),
        "agent": name,
        "row": _only(rows(seen), {name})[0],
        "met": [
            {"agent": board.agents[j], "rank": int(board.ranks[j]), **dict(zip(_COUNTS, met[j], strict=True))}
            for j in board.index.tolist()
            if j in met
        ],
        "history": _past(past, k),
    }  # fmt: skip


def _past(fits: Sequence[Rated], k: int) -> list[Content]:
    """The rating and rank of agent k in each fit that knows it."""
    return [
        {
            "made": fit.made,
            "n_votes": fit.n_votes,
            "rating": float(fit.values[k]),
            "rank": 1 + int((fit.values > fit.values[k]).sum()),
        }
        for fit in fits
        if k < len(fit.values)
    ]


def history(seen: Snapshot, fits: Sequence[Rated]) -> Content:
    """The order at each fit, oldest first."""
    agents = seen.ratings.agents
    return {
        **about(seen),
        "fits": [
            {
                "fit": fit.id,
                "made": fit.made,
                "n_votes": fit.n_votes,
                "order": [agents[k] for k in np.argsort(-fit.values, kind="stable")],
            }
            for fit in fits
        ],
    }


def doctor(seen: Snapshot) -> Content:
    """What is doubtful about the votes, as of the last fit."""
    found = seen.fit.found if seen.fit else {}
    return {
        **about(seen),
        "findings": found.get("findings", []),
        "unchecked": found.get("unchecked", {}),
        "warnings": found.get("warnings", []),
        "robust": found.get("robust"),
    }


def _only(all_rows: list[Content], names: set[str]) -> list[Content]:
    return [row for row in all_rows if row["agent"] in names]
