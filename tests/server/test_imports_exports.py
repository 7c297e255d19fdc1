"""Votes out of a board as a file and into one from a file: the same votes, and every refusal with its line."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.writer import MICRO, Ask, Entry, Transaction, agents_of, entries
from softcondorcet.server.web import exports, imports
from softcondorcet.server.web.exports import neutral, plain

NAMES = ["x", "=1+1", "'=1+1", "+y", "-z", "@w", "a,b", 'say "hi"', "a > b = c", "tie", "\uff1dwide", "caf\u00e9", "7"]


@st.composite
def asks(draw: st.DrawFn) -> list[Ask]:
    """Votes as they may stand in a ledger: weights whose sums are exact, so that counts can be compared exactly."""
    found = []
    for _ in range(draw(st.integers(1, 8))):
        names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True))
        tiers: list[list[str]] = [[]]
        for name in names:
            if draw(st.booleans()) and tiers[-1]:
                tiers.append([])
            tiers[-1].append(name)
        said = {key: draw(st.none() | st.sampled_from(["ann", "-ben", "=cat"])) for key in ("voter", "group")}
        weight = draw(st.sampled_from([MICRO, 3 * MICRO, MICRO // 4]))
        sides = ("a", "b") if len(tiers) == 2 else ("tie", "both_bad")
        winner = draw(st.none() | st.sampled_from(sides)) if len(names) == 2 else None
        found.append(Ask("vote", tiers, **said, weight=weight, winner=winner, when=draw(st.integers(0, 10**9)) / 8))
    return found


def exported(votes: list[Ask], suffix: str, **options: Any) -> bytes:
    """The file of a board with these votes."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(str(Path(folder) / "board.db"))
        try:
            with database.transaction():
                database.run("INSERT INTO board VALUES (1, 'main', 'Main', 0)")
                transaction = Transaction(database, 1, {1: {}})
                transaction.write(1, votes)
                transaction.flush()
            board = Board(1, "main", "Main")
            board.replay(entries(database, 1), list(agents_of(database, 1)))
            pieces = exports.counted(database, board, Filter(), **options)
            return b"".join(exports.FORMATS[suffix][1](pieces))
        finally:
            database.close()


def counts(profile: sc.Profile, named: Any = str) -> Counter[tuple[str, str, str]]:
    """Wins and ties of each pair by name, in whole quarters."""
    pairs, found = profile.pairs(), Counter[tuple[str, str, str]]()
    names = [named(agent) for agent in pairs.agents]
    for i, j, wins, losses, ties in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True):
        a, b = names[i], names[j]
        found.update({("beats", a, b): int(4 * wins), ("beats", b, a): int(4 * losses)})
        found.update({("ties", *sorted((a, b))): int(4 * ties)})
    return +found


@settings(max_examples=30, deadline=None)
@given(asks(), st.sampled_from(["csv", "jsonl", "parquet"]), st.booleans())
def test_an_export_is_read_again_with_the_same_pairs(votes: list[Ask], suffix: str, voters: bool) -> None:
    wanted = sc.Profile.from_rankings([ask.body for ask in votes], weights=[ask.weight / MICRO for ask in votes])
    found = sc.read(io.BytesIO(exported(votes, suffix, voters=voters)), format=suffix)
    assert found.n_votes == len(votes)
    assert counts(found, plain if suffix == "csv" else str) == counts(wanted)
    assert found.when is not None and found.when.tolist() == sorted(ask.when for ask in votes if ask.when is not None)


@settings(max_examples=30, deadline=None)
@given(asks(), st.sampled_from(["csv", "jsonl", "parquet"]))
def test_an_import_takes_in_what_an_export_gave(votes: list[Ask], suffix: Any) -> None:
    found = imports.votes_of(exported(votes, suffix, voters=True), imports.Wanted(suffix, voter="voter"))
    assert found.error == "" and found.left_out == 0

    def same(ask: Ask) -> tuple[Any, ...]:
        return ask.when, [sorted(tier) for tier in ask.body], ask.voter, ask.group, ask.weight, ask.winner

    assert sorted(map(same, found.votes), key=repr) == sorted(map(same, votes), key=repr)


def test_a_winner_that_no_battle_had_is_left_out() -> None:
    rows = [
        {"ranking": ["x", "y"], "winner": "x"},
        {"ranking": ["x", "y"], "winner": "tie"},
        {"ranking": ["x", "y", "z"], "winner": "a"},
        {"ranking": ["y", "x"], "winner": "b"},
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    assert [vote.winner for vote in imports.votes_of(data, imports.Wanted("jsonl")).votes] == [None, None, None, "b"]


def test_a_parquet_file_is_read_in_a_process_of_its_own_and_a_broken_one_refused() -> None:
    votes = [Ask("vote", [["x"], ["y"]], voter="ann", winner="b", when=1.0)]
    wanted = imports.Wanted("parquet", voter="voter")
    assert asyncio.run(imports.read_apart(exported(votes, "parquet", voters=True), wanted)).votes == votes
    assert "not a parquet file" in asyncio.run(imports.read_apart(b"PAR1 and no more", wanted)).error
    hidden = exported([Ask("vote", [["x\u200b"], ["y"]], when=1.0)], "parquet")
    assert "agent: expected visible letters" in imports.votes_of(hidden, imports.Wanted("parquet")).error


def test_who_voted_is_only_told_when_asked_for() -> None:
    votes = [Ask("vote", [["x"], ["y"]], voter="ann")]
    for suffix in exports.FORMATS:
        assert b"ann" not in exported(votes, suffix)
        assert b"ann" in exported(votes, suffix, voters=True)


def test_exports_hold_what_was_said_of_each_vote() -> None:
    votes = [
        Ask("vote", [["x", "y"]], voter="ann", group="g", winner="both_bad", when=1.5),
        Ask("vote", [["x"], ["y", "z"]], weight=MICRO // 2, when=2.0),
    ]
    rows = [json.loads(line) for line in exported(votes, "jsonl", voters=True).splitlines()]
    assert rows == [
        {"id": 1, "ranking": [["x", "y"]], "winner": "both_bad", "weight": 1.0, "group": "g", "when": 1.5,
         "voter": "ann"},
        {"id": 2, "ranking": ["x", ["y", "z"]], "winner": "(none)", "weight": 0.5, "group": "(none)", "when": 2.0,
         "voter": "(none)"},
    ]  # fmt: skip
    assert exported(votes, "csv").decode().splitlines() == [
        "contest_id,rank,agent,winner,weight,group,when",
        "1,1,x,both_bad,1.0,g,1.5",
        "1,1,y,both_bad,1.0,g,1.5",
        "2,1,x,(none),0.5,(none),2.0",
        "2,2,y,(none),0.5,(none),2.0",
        "2,2,z,(none),0.5,(none),2.0",
    ]


def lopsided(bias: float, said: bool = True) -> list[Ask]:
    """Battles of four even agents; who is shown first wins more often by `bias`, and stands first in a tie."""
    rng, found = np.random.default_rng(5), []
    for k in range(1200):
        a, b = rng.permutation(["w", "x", "y", "z"])[:2].tolist()
        winner = "tie" if rng.random() < 0.1 else "a" if rng.random() < 0.5 + bias else "b"
        body = {"a": [[a], [b]], "b": [[b], [a]], "tie": [[a, b]]}[winner]
        found.append(Ask("vote", body, group=f"g{k % 3}", winner=winner if said else None, when=float(k)))
    return found


def position(profile: sc.Profile) -> str:
    """What is found about who was shown first."""
    found = sc.inspect(profile)
    return next((f.text for f in found.findings if f.name == "position-bias"), found.unchecked.get("position-bias", ""))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(("bias", "told"), [(0.0, ""), (0.15, "shown first, an agent wins 6")])
def test_who_was_shown_first_survives_export_and_import(suffix: Any, bias: float, told: str) -> None:
    votes = lopsided(bias)
    file = exported(votes, suffix)
    read = sc.read(io.BytesIO(file), format=suffix)
    assert position(read).startswith(told) and bool(told) == bool(position(read))
    assert read.turned is not None and read.turned.tolist() == [vote.winner == "b" for vote in votes]
    found = imports.votes_of(file, imports.Wanted(suffix))
    assert [(vote.body, vote.winner) for vote in found.votes] == [(vote.body, vote.winner) for vote in votes]
    assert exported(found.votes, suffix) == file


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_rankings_of_two_do_not_say_who_was_shown_first(suffix: Any) -> None:
    """They list the winner first: that it wins is no wonder."""
    read = sc.read(io.BytesIO(exported(lopsided(0.0, said=False), suffix)), format=suffix)
    assert read.turned is None and position(read) == "votes do not say who was shown first"
    mixed = exported([*lopsided(0.0), *lopsided(0.0, said=False)[:1]], suffix)
    assert sc.read(io.BytesIO(mixed), format=suffix).turned is None


@pytest.mark.parametrize("said", [True, False])
def test_a_board_asks_who_was_shown_first_only_where_votes_say_it(said: bool) -> None:
    board, names = Board(1, "main", "Main"), ["w", "x", "y", "z"]
    rows = [
        Entry(k, 1, "vote", vote.when or 0.0, None, None, None, MICRO, vote.winner,
              [[names.index(agent) for agent in tier] for tier in vote.body])
        for k, vote in enumerate(lopsided(0.0, said), 1)
    ]  # fmt: skip
    board.tell(rows, names)
    profile = board.wanted(Filter()).profile
    assert position(profile) == ("" if said else "votes do not say who was shown first")
    # A vote that no longer counts does not keep the others from being asked.
    board.tell([Entry(len(rows) + 1, 1, "vote", 0.0, None, None, None, MICRO, None, [[0], [1]])], [])
    assert board.wanted(Filter()).profile.turned is None
    board.tell([Entry(len(rows) + 2, 1, "retract", 0.0, None, None, None, MICRO, None, {"vote": len(rows) + 1})], [])
    assert (board.wanted(Filter()).profile.turned is not None) == said


@pytest.mark.parametrize(
    "rows",
    [
        [{"ranking": ["x", "y"], "winner": "x"}],
        [{"ranking": ["x", "y"], "winner": "tie"}],
        [{"ranking": [["x", "y"]], "winner": "a"}],
        [{"ranking": ["x", "y"], "winner": ["a"]}],
        [{"ranking": ["x", "y"], "winner": 1}],
        [{"ranking": ["x", "y", "z"], "winner": "a"}],
    ],
)
def test_a_column_that_says_nothing_of_sides_plays_no_role(rows: list[dict[str, Any]]) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    assert sc.read(io.BytesIO(data), format="jsonl").turned is None


def test_rows_of_a_contest_that_do_not_agree_say_nothing_of_sides() -> None:
    table = {"contest_id": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "agent": ["x", "y", "y", "x"], "winner": ["b"] * 4}
    assert sc.read(table).turned.tolist() == [True, True]  # type: ignore[union-attr]
    assert sc.read({**table, "winner": ["b", "b", "b", "a"]}).turned is None


def test_battles_that_both_lost_are_imported_as_such() -> None:
    data = b"a,b,winner\nx,y,both_bad\ny,x,tie (bothbad)\nx,y,model_b\n"
    assert [vote.winner for vote in imports.votes_of(data, imports.Wanted("csv")).votes] == ["both_bad", "tie", "b"]


def test_long_exports_come_in_pieces() -> None:
    votes = [Ask("vote", [["x"], ["y"]], winner=None if k < 4500 else "a", when=float(k)) for k in range(5000)]
    for suffix in exports.FORMATS:
        found = sc.read(io.BytesIO(exported(votes, suffix)), format=suffix)
        assert found.n_votes == 5000
        assert found.when is not None and found.when.tolist() == [float(k) for k in range(5000)]


@given(st.text(alphabet="='+-@\t\r\n\uff1d\uff20ab ", max_size=6))
def test_no_cell_is_a_formula_and_every_cell_comes_back(cell: str) -> None:
    assert not neutral(cell).startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))
    assert plain(neutral(cell)) == cell


@pytest.mark.parametrize(
    ("format", "data", "why"),
    [
        ("csv", b"a,b,winner\nx,y,a\nx,y,z\n", "line 3: winner is 'z'; expected 'a', 'b', 'tie' or 'both_bad'"),
        ("csv", b"a,b,winner\nx,y\n", "line 2: row has 2 cells; expected 3 as in the header"),
        ("csv", b"a,b\nx,y\n", "there is 'a' and 'b', but no column says who won"),
        ("csv", b"", "empty; expected votes"),
        ("csv", b"\xff", "line 1: byte 0xff is not UTF-8"),
        ("csv", "a,b,winner\nx,y,a\nx,v\u202e,a\n".encode(), "line 3: agent: expected visible letters"),
        ("csv", b"a,b,winner\nx," + b"y" * 121 + b",a\n", "line 2: agent: expected at most 120 letters, got 121"),
        ("csv", b"a,b,winner,weight\nx,y,a,1\nx,y,a,0\n", "vote 2: weight: expected a number from 0.000001"),
        ("csv", b"a,b,winner,when\nx,y,a,-5\n", "a vote of before 1970 or of the future"),
        ("csv", b"a,b,winner,when\nx,y,a,99999999999\n", "a vote of before 1970 or of the future"),
        ("csv", gzip.compress(b"a,b,winner\nx,y,a\n"), "a gzip file; expected it unpacked"),
        ("csv", b"a,b,winner\n" + b"x,y,a\n" * 50_001, "50,001 votes; expected at most 50,000 at a time"),
        ("tsv", b"ranking\nx > y\nx > x\n", "line 3: agent 'x' appears twice; expected once"),
        ("jsonl", b'{"ranking": ["x", "y"]}\n{"ranking": \n', "line 2: not JSON"),
        ("jsonl", b'{"ranking": ' + b"[" * 100_000, "line 1: not JSON"),
        ("jsonl", b'{"ranking": ["x", ' + b'"y",' * 3 + b'"z"]}', "line 1: agent 'y' appears twice"),
        ("soc", b"# NUMBER ALTERNATIVES: 2\n1: 1,2\n2: 1,3\n", "line 3"),
        ("preflib", b"nothing", "line 1"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(format: Any, data: bytes, why: str) -> None:
    found = imports.votes_of(data, imports.Wanted(format))
    assert why in found.error
    assert "<stream>" not in found.error and "/" not in found.error
    assert found.votes == []


def test_battles_keep_which_side_won_and_lone_agents_are_left_out() -> None:
    found = imports.votes_of(b"a,b,winner,judge\nx,y,a,g\nx,y,b,g\nx,y,tie,h\n", imports.Wanted("csv"))
    assert [(vote.body, vote.winner, vote.group) for vote in found.votes] == [
        ([["x"], ["y"]], "a", "g"), ([["y"], ["x"]], "b", "g"), ([["x", "y"]], "tie", "h"),
    ]  # fmt: skip
    alone = imports.votes_of(b"# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n3: 1\n2: 2,1\n", imports.Wanted("soi"))
    assert [(vote.body, vote.weight) for vote in alone.votes] == [([["y"], ["x"]], 2 * MICRO)]
    assert alone.left_out == 1


def test_a_column_says_who_voted() -> None:
    data = b"a,b,winner,who,when\nx,y,a,ann,2\nx,y,b,ben,1\n"
    found = imports.votes_of(data, imports.Wanted("csv", voter="who"))
    assert [(vote.voter, vote.when, vote.winner) for vote in found.votes] == [("ben", 1.0, "b"), ("ann", 2.0, "a")]
    assert "no column 'nobody'" in imports.votes_of(data, imports.Wanted("csv", voter="nobody")).error


def test_a_file_is_read_in_a_process_of_its_own() -> None:
    found = asyncio.run(imports.read_apart(b"ranking\nx > y\n", imports.Wanted("csv")))
    assert found == imports.Found([Ask("vote", [["x"], ["y"]])])


def test_a_process_that_reads_ends_at_its_limits() -> None:
    data = b'{"ranking": [' + b"[]," * 1_000_000 + b"[]]}"
    found = asyncio.run(imports.read_apart(data, imports.Wanted("jsonl"), memory=2**27))
    assert found == imports.Found(error="this takes more memory or time to read than a file of votes may")


@pytest.mark.fuzz
@pytest.mark.parametrize("data", [b'{"ranking": [' + b"[]," * 5_000_000 + b"[]]}", b'{"a":1}\n' * 2_000_000])
def test_a_file_that_takes_too_much_memory_is_refused(data: bytes) -> None:
    found = asyncio.run(imports.read_apart(data[: 2**24], imports.Wanted("jsonl")))
    assert found.error and not found.votes
