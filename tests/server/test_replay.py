"""A server that starts again has the same numbers, to the last bit: a board is a fold over its ledger and last fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from conftest import votes as vote_strategy
from helpers.ledgers import BOARD, ledger, write
from hypothesis import given, strategies as st

from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.fits import keep
from softcondorcet.server.ledger.service import load
from softcondorcet.server.ledger.snapshot import UNIT, Snapshot
from softcondorcet.server.ledger.writer import MICRO, Ask, Refused, Transaction, Writer

NAMES = ["a", "b", "c", "d", "e"]
VOTERS = ["ann", "bob", None]

votes = st.builds(
    lambda tiers, voter, group, weight: Ask("vote", tiers, voter=voter, group=group, weight=weight),
    vote_strategy(NAMES),
    st.sampled_from(VOTERS),
    st.sampled_from(["day", "night", None]),
    st.sampled_from([MICRO, 1, 2_500_000, 10**12]),
)
retractions = st.builds(lambda row: Ask("retract", {"vote": row, "why": ""}), st.integers(1, 12))
judgements = st.builds(
    lambda kind, voter: Ask(kind, {"why": "test"}, voter=voter),
    st.sampled_from(["quarantine", "release"]),
    st.sampled_from(["ann", "bob"]),
)
commits = st.lists(st.one_of(votes, votes, retractions, judgements), min_size=1, max_size=4)
# A fit of the rows up to one before, adopted when it is ready: a number of commits later.
fits = st.tuples(st.integers(0, 3), st.lists(st.floats(0, 100), min_size=len(NAMES), max_size=len(NAMES)))
histories = st.lists(st.one_of(commits, commits, fits, st.just("look")), max_size=12)


def live(history: Sequence[Any], board: Board, writer: Writer) -> None:
    """Let a board go through what happened."""
    ends = [(0, 0)]
    for event in history:
        if event == "look":  # counts are made up to here, and added to later
            board.snapshot()
        elif isinstance(event, tuple):
            back, values = event
            last, known = ends[max(0, len(ends) - 1 - back)]
            found = {"values": values[:known], "unit": UNIT, "n_votes": 0}
            board.adopt(
                write(writer, lambda transaction, last=last, found=found: keep(transaction, BOARD, last, found))
            )
        else:
            write(writer, lambda transaction, asks=event: transaction.write(BOARD, asks))
            ends.append((board.last, len(board.agents)))


def same(one: Snapshot, other: Snapshot) -> None:
    """Not close: the same."""
    assert (one.id, one.changed, one.n_votes) == (other.id, other.changed, other.n_votes)
    assert one.ratings.agents == other.ratings.agents
    assert one.ratings.values.tobytes() == other.ratings.values.tobytes()
    assert one.ratings.votes is not None and other.ratings.votes is not None
    assert one.ratings.votes.tobytes() == other.ratings.votes.tobytes()
    for column in ("left", "right", "wins", "losses", "ties"):
        assert getattr(one.pairs, column).tobytes() == getattr(other.pairs, column).tobytes(), column


def counted(history: Sequence[Any]) -> tuple[Counter[tuple[str, str]], Counter[frozenset[str]], int]:
    """Wins of one over another and ties in whole millionths, and the number of votes: from scratch, in plain Python."""
    rows = [ask for event in history if isinstance(event, list) for ask in event]
    # A retraction of a row that is not there yet says nothing of the one that gets its number later.
    retracted = {
        ask.body["vote"] for row, ask in enumerate(rows, 1) if ask.kind == "retract" and ask.body["vote"] < row
    }
    verdict = {ask.voter: ask.kind for ask in rows if ask.kind in ("quarantine", "release")}
    wins: Counter[tuple[str, str]] = Counter()
    ties: Counter[frozenset[str]] = Counter()
    n = 0
    for row, ask in enumerate(rows, 1):
        if ask.kind != "vote" or row in retracted or verdict.get(ask.voter) == "quarantine":
            continue
        n += 1
        place = {name: k for k, tier in enumerate(ask.body) for name in tier}
        for a, b in combinations(place, 2):
            if place[a] == place[b]:
                ties[frozenset((a, b))] += ask.weight
            else:
                wins[(a, b) if place[a] < place[b] else (b, a)] += ask.weight
    return wins, ties, n


def exactly(board: Board) -> tuple[Counter[tuple[str, str]], Counter[frozenset[str]], int]:
    """The same from the counts that a board keeps."""
    n = board.snapshot().n_votes
    assert board._counts is not None
    pairs = board._counts.pairs
    wins: Counter[tuple[str, str]] = Counter()
    ties: Counter[frozenset[str]] = Counter()
    for i, j, won, lost, level in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True):
        a, b = board.agents[i], board.agents[j]
        wins[a, b], wins[b, a], ties[frozenset((a, b))] = int(won), int(lost), int(level)
    return +wins, +ties, n


@given(histories)
def test_a_restart_gives_the_same_numbers_and_counts_are_those_made_from_scratch(history: list[Any]) -> None:
    with ledger() as (database, board, writer):
        live(history, board, writer)
        (again,) = load(database)
        same(board.snapshot(), again.snapshot())
        assert again.votes.quarantined == board.votes.quarantined
        assert exactly(board) == exactly(again) == counted(history)


def test_weights_of_a_heavy_board_are_summed_exactly() -> None:
    """A thousand votes of the greatest weight and one of the least: the least is still there."""
    with ledger() as (_, board, writer):
        heavy = [Ask("vote", [["a"], ["b"]], weight=10**12)] * 1000
        write(writer, lambda transaction: transaction.write(BOARD, [*heavy, Ask("vote", [["a"], ["b"]], weight=1)]))
        board.snapshot()
        assert board._counts is not None and board._counts.pairs.wins.tolist() == [10**15 + 1]


def test_votes_of_a_voter_in_quarantine_move_no_rating() -> None:
    with ledger() as (database, board, writer):
        ask = Ask("vote", [["a"], ["b"]], voter="ann")
        write(writer, lambda transaction: transaction.write(BOARD, [ask]))
        before = board.snapshot()
        write(
            writer,
            lambda transaction: transaction.write(BOARD, [Ask("quarantine", {"why": ""}, voter="ann"), ask, ask]),
        )
        during = board.snapshot()
        assert during.ratings.values.tolist() == before.ratings.values.tolist() and during.n_votes == 0
        write(writer, lambda transaction: transaction.write(BOARD, [Ask("release", {"why": ""}, voter="ann"), ask]))
        after = board.snapshot()
        assert after.ratings.values[0] > before.ratings.values[0] and after.n_votes == 4
        (again,) = load(database)
        same(after, again.snapshot())


def test_a_fit_is_of_the_rows_it_says() -> None:
    """Votes that came while they were packed are not in the fit, or the online steps would take them twice."""
    with ledger() as (_, board, writer):
        ask = Ask("vote", [["a"], ["b"]])
        write(writer, lambda transaction: transaction.write(BOARD, [ask] * 3))
        chosen = board.wanted(Filter())
        write(writer, lambda transaction: transaction.write(BOARD, [ask] * 2))
        assert (chosen.last, chosen.profile.n_votes, board.last) == (3, 3, 5)


def test_work_that_is_refused_leaves_no_trace_in_its_commit() -> None:
    with ledger() as (database, board, writer):

        def too_many(transaction: Transaction) -> Any:
            return transaction.write(BOARD, [Ask("vote", [["x"], ["y"]])], most_agents=1)

        with pytest.raises(Refused, match="has all 1 it may have"):
            write(writer, too_many)
        write(writer, lambda transaction: transaction.write(BOARD, [Ask("vote", [["a"], ["b"]])]))
        assert board.agents == ["a", "b"] and database.run("SELECT id FROM ledger") == [(1,)]
