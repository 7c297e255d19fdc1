"""The answer in one sentence: who is first, and whether the pairs agree, before and apart from any model.

The top agent of a board may beat every other one (a Condorcet winner), stand on a cycle of the majority, be unbeaten
without having met everyone, or be beaten by agents that no cycle links it to. All but the first are said.
How sure it is that the first agent is the best, pairs do not say: see ``Analysis.headline``.

``title_of`` names methods as people know them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.formatting import listing, number, plural
from softcondorcet.majority import linked_labels, n_beaten, strong_labels
from softcondorcet.pairs import Pairs
from softcondorcet.ratings import Ratings

TITLES = {"sco": "SCO", "bradley_terry": "Bradley-Terry"}
TITLES |= {name: name.capitalize() for name in ("elo", "copeland", "kemeny", "borda")}


def title_of(method: str) -> str:
    return TITLES.get(method, method.replace("_", " "))


# Above this many pairs, rows of both agents of each take more memory than looking through the pairs takes time.
_MANY = 4_000_000
# As many agents as a drawing of a cycle shows with all the arrows between them.
_DRAWN = 7
# Above this many agents in circles nobody wants to read their names.
_NAMED = 12

_BADGES = {
    "winner": "A Condorcet winner: one agent beats all others",
    "overruled": "A Condorcet winner that the ratings do not put first",
    "cycle": "No Condorcet winner: a cycle at the top",
    "unbeaten": "No Condorcet winner, but nobody beats the first",
    "beaten": "No Condorcet winner",
    "nothing": "Nothing to compare",
}


@dataclass(frozen=True)
class Verdict:
    """`answer` is the sentence, `details` say more; `names`, `arrows` and `loop` are what ``charts.cycle`` draws.

    Of a winner `top` is the name, and `lead` how far it is ahead, as a clause. `apart`: some agents were never compared
    with those that the answer is about. `circle` is how many agents beat each other in circles.
    """

    kind: Literal["winner", "overruled", "cycle", "unbeaten", "beaten", "nothing"]
    answer: str
    details: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    arrows: tuple[tuple[int, int, float], ...] = ()
    loop: tuple[int, ...] = ()
    top: str = ""
    lead: str = ""
    apart: bool = False
    circle: int = 0

    @property
    def badge(self) -> str:
        """The kind in words."""
        if self.kind == "winner" and self.apart:
            return "A Condorcet winner among the agents that can be compared with it"
        return _BADGES[self.kind]


def verdict(pairs: Pairs, board: Ratings, noun: str = "vote") -> Verdict:
    """What the pairs say about the first agent of a board; `noun` is what a vote is called: see ``Profile.noun``."""
    if not len(board):
        return Verdict("nothing", "There are no agents.")
    top = int(board.listing[0])
    name = board.agents[top]
    if len(board) == 1:
        return Verdict("nothing", f"{name} is the only agent: there is nothing to compare.")
    if not len(pairs):
        return Verdict("nothing", f"No {noun} compares two agents: there is nothing to rank.")
    linked = linked_labels(pairs)
    near = np.flatnonzero(linked == linked[top])
    if len(near) == 1:
        return Verdict("nothing", f"{name} comes first, but no {noun} compares it with another agent.")
    if not board.places.any():
        return Verdict("nothing", f"The {noun}s give no agent a rank: each could stand almost anywhere.")
    winner = _winner(pairs, near)
    if winner == top:
        return _won(pairs, board, top, near, noun)
    if winner is not None:
        return _overruled(pairs, board, top, winner, near)
    label = strong_labels(pairs, by="majority")
    circle = np.flatnonzero(label == label[top])
    if len(circle) > 1:
        return _circling(pairs, board, top, circle, near)
    return _apart(pairs, board, top, near, noun)


def neighbours(pairs: Pairs, agent: int) -> tuple[Ints, Floats]:
    """The agents that this one met, and its margin over each."""
    if len(pairs) > _MANY:
        first, last = np.searchsorted(pairs.left, [agent, agent + 1])
        met = np.flatnonzero(pairs.right[:first] == agent)
        lead = np.concatenate([-pairs.margin[met], pairs.margin[first:last]])
        return np.concatenate([pairs.left[met], pairs.right[first:last]]), lead + 0.0  # no minus zero
    rows = pairs.by_agent
    span = slice(rows.row[agent], rows.row[agent + 1])
    return rows.column[span], rows.margin[span]


def _winner(pairs: Pairs, near: Ints) -> int | None:
    """The agent that beats all others of its linked group, if there is one."""
    met = np.bincount(pairs.left, minlength=pairs.n_agents) + np.bincount(pairs.right, minlength=pairs.n_agents)
    met_all = np.flatnonzero((met == len(near) - 1) & (n_beaten(pairs) == len(near) - 1))
    return next((int(k) for k in np.intersect1d(met_all, near)), None)


def _among(board: Ratings, near: Ints) -> tuple[str, tuple[str, ...]]:
    """Words for whom the answer holds, and for whom it does not."""
    if len(near) == len(board):
        return "every other agent", ()
    rest = plural(len(board) - len(near), "agent was", "agents were")
    note = f"{rest} never compared with these {len(near):,}, not even through others: no order can place them."
    return f"each of the {len(near) - 1:,} others it can be compared with", (note,)


def _won(pairs: Pairs, board: Ratings, top: int, near: Ints, noun: str) -> Verdict:
    notes = _among(board, near)[1]
    column, margin = neighbours(pairs, top)
    closest = int(np.argmin(margin))
    name, rival, by = board.agents[top], board.agents[column[closest]], plural(float(margin[closest]), noun)
    which = " it can be compared with" if notes else ""
    lead = f"ahead of all {len(near) - 1:,} others{which}, closest by {by}"
    if len(near) == 2:
        lead = f"ahead of {rival}{', the only one it can be compared with,' if notes else ''} by {by}"
    detail = f"It beats every other agent{which} head to head. Its closest contest is with {rival}, won by {by}."
    return Verdict("winner", f"{name} comes first: {lead}.", (detail, *notes), top=name, lead=lead, apart=bool(notes))


def _overruled(pairs: Pairs, board: Ratings, top: int, winner: int, near: Ints) -> Verdict:
    others, notes = _among(board, near)
    first, best = board.agents[top], board.agents[winner]
    answer = f"{best} beats {others} head to head, but {title_of(board.method)} puts {first} first."
    return Verdict("overruled", answer, (_beaten_by(pairs, board, top), *notes))


def _circling(pairs: Pairs, board: Ratings, top: int, circle: Ints, near: Ints) -> Verdict:
    best_first = board.index[np.isin(board.index, circle)].tolist()
    names = [board.agents[k] for k in best_first]
    answer = f"No agent beats all others: {listing(names)} beat each other in a circle."
    if len(names) > _NAMED:
        answer = f"No clear first: {len(names):,} agents beat each other in circles."
    loop = _shortest_cycle(pairs, top)
    shown = best_first if len(names) <= _DRAWN else loop
    place = {agent: k for k, agent in enumerate(shown)}
    arrows = [
        (place[a], place[b], float(lead))
        for a in shown
        for b, lead in zip(*(x.tolist() for x in neighbours(pairs, a)), strict=True)
        if lead > 0 and b in place
    ]
    steps = list(zip(loop, [*loop[1:], loop[0]], strict=True))
    leads = {(shown[a], shown[b]): lead for a, b, lead in arrows}
    words = "; ".join(f"{board.agents[a]} beats {board.agents[b]} by {number(leads[a, b])}" for a, b in steps)
    weakest = min(steps, key=lambda step: leads[step])
    details = [
        f"{words}." if len(loop) <= _NAMED else "",
        f"Every order contradicts one of these; the weakest is that of {board.agents[weakest[0]]} over "
        f"{board.agents[weakest[1]]}.",
        f"{title_of(board.method)} puts {board.agents[top]} first.",
        *_among(board, near)[1],
    ]
    return Verdict(
        "cycle",
        answer,
        tuple(details),
        tuple(board.agents[k] for k in shown),
        tuple(arrows),
        tuple(place[k] for k in loop),
        circle=len(names),
    )


def _apart(pairs: Pairs, board: Ratings, top: int, near: Ints, noun: str) -> Verdict:
    """No winner, and no cycle through the first agent: it is unbeaten but has not met everyone, or it is beaten."""
    name, (column, margin) = board.agents[top], neighbours(pairs, top)
    notes = _among(board, near)[1]
    if (margin < 0).any():
        answer = f"{title_of(board.method)} puts {name} first, though not every agent it met is below it."
        return Verdict("beaten", answer, (_beaten_by(pairs, board, top), *notes))
    shared = np.flatnonzero(board.places == 1)
    if len(shared) > 1:
        names = listing([board.agents[k] for k in shared])
        answer = f"{names} share first place: the {noun}s do not say which is better."
        return Verdict("unbeaten", answer, (*(_met(pairs, board, int(k)) for k in shared[:3]), *notes))
    unmet, level = len(near) - 1 - len(column), [board.agents[b] for b in column[margin == 0]]
    reasons = [f"has not met {unmet:,} of the others"] * bool(unmet) + [f"is level with {listing(level)}"] * bool(level)
    answer = f"{name} comes first: no agent beats it, but it {' and '.join(reasons)}."
    return Verdict("unbeaten", answer, (_met(pairs, board, top), *notes))


def _met(pairs: Pairs, board: Ratings, agent: int) -> str:
    column, margin = neighbours(pairs, agent)
    return f"{board.agents[agent]} beats {int((margin > 0).sum()):,} of the {len(column):,} agents it met."


def _beaten_by(pairs: Pairs, board: Ratings, top: int) -> str:
    column, margin = neighbours(pairs, top)
    lost = [(board.agents[b], -float(lead)) for b, lead in zip(column, margin, strict=True) if lead < 0]
    words = listing([f"{name} (by {number(lead)})" for name, lead in sorted(lost, key=lambda pair: -pair[1])])
    verb = "beats" if len(lost) == 1 else "beat"
    return f"{words} {verb} {board.agents[top]} head to head." if lost else ""


def _shortest_cycle(pairs: Pairs, start: int) -> list[int]:
    """Agents each of which beats the next, and the last the first: as few as possible, stronger margins first."""
    before: dict[int, int] = {}
    queue = deque([start])
    while queue:
        agent = queue.popleft()
        column, margin = neighbours(pairs, agent)
        beaten = np.flatnonzero(margin > 0)
        for k in beaten[np.argsort(-margin[beaten], kind="stable")].tolist():
            other = int(column[k])
            if other == start:
                loop = [agent]
                while loop[-1] != start:
                    loop.append(before[loop[-1]])
                return loop[::-1]
            if other not in before:
                before[other] = agent
                queue.append(other)
    raise AssertionError("an agent of a strongly connected group stands on a cycle")
