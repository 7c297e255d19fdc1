"""The limit on the pairs of a board: long rankings cannot fill the memory, and keep nobody else out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import combinations

import pytest
from helpers.ledgers import board_of
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.limits import PairLimit
from softcondorcet.server.ledger.writer import Ask, Refused

NAMES = [f"agent {k}" for k in range(9)]
RANKINGS = st.lists(st.lists(st.sampled_from(NAMES), min_size=2, unique=True), min_size=1, max_size=6)


def ask(names: Sequence[str]) -> Ask:
    return Ask("vote", [[name] for name in names])


def pairs_of(rankings: Sequence[Sequence[str]]) -> set[frozenset[str]]:
    return {frozenset(pair) for names in rankings for pair in combinations(names, 2)}


def admitted(limit: PairLimit, board: Board, *asks: Ask) -> bool:
    try:
        limit.give_back(board, asyncio.run(limit.reserve(board, asks)))
    except Refused:
        return False
    return True


@given(RANKINGS, RANKINGS)
def test_new_pairs_are_those_that_no_vote_has_compared(old: list[list[str]], new: list[list[str]]) -> None:
    board = board_of(sc.Profile.from_rankings(old))
    wanted = pairs_of(new) - pairs_of(old)
    assert board.new_pairs([[[name] for name in names] for names in new], 10**6) == len(wanted)
    assert board.most_pairs() == len(pairs_of(old))


@given(RANKINGS, RANKINGS, st.integers(1, 36))
def test_nobody_is_refused_who_needs_no_new_pairs(old: list[list[str]], new: list[list[str]], most: int) -> None:
    """And nobody admitted who brings the board above its limit."""
    board = board_of(sc.Profile.from_rankings(old))
    before, after = pairs_of(old), pairs_of(old) | pairs_of(new)
    fits = admitted(PairLimit(most), board, *map(ask, new))
    assert fits or len(after) > max(len(before), most)
    assert not fits or len(after) <= most or after == before or len(NAMES) * (len(NAMES) - 1) // 2 <= most


def test_long_rankings_have_half_of_the_room() -> None:
    names = [f"agent {k}" for k in range(100)]
    board, limit = board_of(sc.Profile.from_rankings([*zip(names[::2], names[1::2], strict=True)])), PairLimit(2000)
    assert not admitted(limit, board, ask(names[:55]))  # 1,485 pairs
    assert admitted(limit, board, ask(names[:45])) and admitted(limit, board, ask(["agent 0", "somebody new"]))


def test_votes_on_their_way_count() -> None:
    board, limit = board_of(sc.Profile.from_rankings([NAMES[:2]])), PairLimit(20)

    first = asyncio.run(limit.reserve(board, [ask(NAMES[:6])]))
    with pytest.raises(Refused, match="may have 20 pairs"):
        asyncio.run(limit.reserve(board, [ask(NAMES[3:])]))
    limit.give_back(board, first)
    assert admitted(limit, board, ask(NAMES[3:]))


def test_room_is_counted_before_it_is_compared() -> None:
    """Rankings of the same agents were taken for more pairs than there are: room for three is not room for four."""
    old = [["a", "b", "c", "d", "e", "f", "g"], ["h", "g", "d", "b", "c"]]
    board = board_of(sc.Profile.from_rankings(old))
    known = len(pairs_of(old))
    assert board.most_pairs() > known + 3
    assert not admitted(PairLimit(known + 3), board, ask(["g", "f", "i", "a"]), ask(["i", "d"]))
