"""The JSON of a board's pages, as plain dicts made from one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.leaderboard import SCHEMA, Row, as_dicts
from softcondorcet.server.ledger.snapshot import Rated, Snapshot
from softcondorcet.server.web.schemas import ALWAYS

# Loaded with the first page: a server takes votes before.
if TYPE_CHECKING:
    from softcondorcet.reporting.analysis import Analysis

Content = dict[str, Any]
_COUNTS = ("wins", "losses", "ties")


def about(snapshot: Snapshot) -> Content:
    """The fields that every answer begins with: which board, and how fresh."""
    fit = snapshot.fit
    return {
        "schema": SCHEMA,
        "board": snapshot.board,
        "title": snapshot.title,
        "snapshot": snapshot.id,
        "n_votes": snapshot.n_votes,
        "n_agents": len(snapshot.ratings),
        "changed": snapshot.changed,
        "fit": fit and {"id": fit.id, "made": fit.made, "n_votes": fit.analysis["n_votes"], "behind": snapshot.behind},
        "pending": snapshot.pending,
    }


def analysis(snapshot: Snapshot) -> Analysis:
    """What the last fit says, joined to the ratings of now."""
    from softcondorcet.reporting.analysis import Analysis

    return Analysis.of_fit(snapshot.fit.analysis if snapshot.fit else {}, snapshot.ratings, snapshot.pairs)


def rows(snapshot: Snapshot, overall: Snapshot | None = None) -> list[Row]:
    """Agents best first, each beside its rank on the `overall` board where these are only some of its votes.

    Intervals, tie groups and what is provisional are those of the last fit. While the board is pending there is no
    best: agents stand by name, without ranks and ratings.
    """
    ranks = None if overall is None else dict(zip(overall.ratings.agents, overall.ratings.ranks.tolist(), strict=True))
    ratings = snapshot.ratings
    if not snapshot.pending:
        more = {} if ranks is None else {"rank_overall": [ranks.get(name) for name in ratings.agents]}
        return analysis(snapshot).rows(more)
    votes = dict(zip(ratings.agents, np.zeros(len(ratings)) if ratings.votes is None else ratings.votes, strict=True))
    return [
        Row(
            agent=name,
            votes=float(votes[name]),
            provisional=False,
            rank_overall=None if ranks is None else ranks.get(name),
        )
        for name in sorted(ratings.agents, key=str.casefold)
    ]


def leaderboard(snapshot: Snapshot, overall: Snapshot | None = None) -> Content:
    """The rows of a board, and what the majority says of it."""
    always = ALWAYS if overall is None else (*ALWAYS, "rank_overall")
    return {
        **about(snapshot),
        "condorcet_winner": snapshot.ratings.condorcet_winner,
        "smith_set": list(snapshot.ratings.smith_set or ()),
        "rows": as_dicts(rows(snapshot, overall), always),
    }


def pair(snapshot: Snapshot, a: str, b: str) -> Content | None:
    """Two agents head to head; None where one of them is not on the board."""
    agents = snapshot.ratings.agents
    if a == b or not {a, b} <= set(agents):
        return None
    wins, ties = snapshot.pairs.dense(np.array([agents.index(a), agents.index(b)]))
    return {
        **about(snapshot),
        "a": a,
        "b": b,
        "wins": float(wins[0, 1]),
        "losses": float(wins[1, 0]),
        "ties": float(ties[0, 1]),
        "rows": as_dicts([row for row in rows(snapshot) if row.agent in (a, b)], ALWAYS),
    }


def agent(snapshot: Snapshot, name: str, past: Sequence[Rated]) -> Content | None:
    """One agent: its row, whom it met, best first, and its ratings over time; None where it is not on the board."""
    agents, pairs = snapshot.ratings.agents, snapshot.pairs
    if name not in agents:
        return None
    k = agents.index(name)
    left, right = np.flatnonzero(pairs.left == k), np.flatnonzero(pairs.right == k)
    met: Mapping[str, tuple[float, float, float]] = {
        **{agents[pairs.right[p]]: (float(pairs.wins[p]), float(pairs.losses[p]), float(pairs.ties[p])) for p in left},
        **{agents[pairs.left[p]]: (float(pairs.losses[p]), float(pairs.wins[p]), float(pairs.ties[p])) for p in right},
    }
    all_rows = rows(snapshot)
    return {
        **about(snapshot),
        "agent": name,
        "row": as_dicts([row for row in all_rows if row.agent == name], ALWAYS)[0],
        "met": [
            {"agent": row.agent, "rank": row.rank, **dict(zip(_COUNTS, met[row.agent], strict=True))}
            for row in all_rows
            if row.agent in met
        ],
        "history": _past(past, k),
    }


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


def history(snapshot: Snapshot, fits: Sequence[Rated]) -> Content:
    """The order at each fit, oldest first."""
    agents = snapshot.ratings.agents
    return {
        **about(snapshot),
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


def doctor(snapshot: Snapshot) -> Content:
    """What is doubtful about the votes, as of the last fit."""
    fit = analysis(snapshot)
    return {
        **about(snapshot),
        "findings": list(fit.findings or ()),
        "unchecked": fit.unchecked or {},
        "warnings": list(fit.warnings),
        "robust": fit.robust,
    }
