"""The parts of the live leaderboard one by one: names, votes as JSON, tokens, limits, the ledger."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from softcondorcet.server.ledger import limits, tokens
from softcondorcet.server.ledger.database import Database, open_database
from softcondorcet.server.ledger.limits import BadName, Buckets, name
from softcondorcet.server.ledger.writer import (
    MICRO,
    Ask,
    Entry,
    OtherBody,
    Receipt,
    Refused,
    Transaction,
    Writer,
    entries,
)
from softcondorcet.server.web import votes
from softcondorcet.server.web.votes import BadBallot

# Names


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        ("gpt-4", "gpt-4"),
        ("  gpt   4 ", "gpt 4"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u212b", "\u00c5"),  # the sign of the unit is the letter
        ("a\u00a0b", "a b"),
        ("\u6a21\u578b \U0001f916", "\u6a21\u578b \U0001f916"),
        ("x" * 120, "x" * 120),
    ],
)
def test_a_name_has_one_form(given_: str, made: str) -> None:
    assert name(given_, "agent") == made


@pytest.mark.parametrize(
    "hidden",
    ["\0", "\n", "\t", "\x1b", "\x7f", "\x85", "\u200b", "\u200d", "\u200e", "\u202e", "\u2066", "\u2028", "\u2060",
     "\ufeff", "\ue000", "\ud800", "\U000e0041", "\u0378", "\u00ad"],
)  # fmt: skip
def test_what_cannot_be_seen_is_refused(hidden: str) -> None:
    for text in (f"a{hidden}b", f"{hidden}ab", f"ab{hidden}"):
        with pytest.raises(BadName, match=rf"agent: expected visible letters, got U\+{ord(hidden):04X}"):
            name(text, "agent")


@pytest.mark.parametrize("text", ["", " ", "\u3000", "x" * 121, "e\u0301" * 121])
def test_a_name_is_neither_empty_nor_long(text: str) -> None:
    with pytest.raises(BadName, match=r"agent: expected (a name, got nothing|at most 120 letters, got 121)"):
        name(text, "agent")


@given(st.text(max_size=130))
def test_a_name_that_passes_is_its_own_form(text: str) -> None:
    try:
        made = name(text, "agent")
    except BadName:
        return
    assert name(made, "agent") == made == unicodedata.normalize("NFC", made)
    assert 1 <= len(made) <= limits.LONGEST and made.strip() == made
    assert all(letter.isprintable() for letter in made)


# Votes as JSON


def test_votes_are_read_as_the_ledger_keeps_them() -> None:
    (ask,), _ = votes.read(b'{"ranking": ["x", ["y", "z"]], "voter": "ann", "group": "g", "weight": 2.5}')
    assert ask == Ask("vote", [["x"], ["y", "z"]], "ann", "g", 2_500_000)
    bodies = {"a": [["x"], ["y"]], "b": [["y"], ["x"]], "tie": [["x", "y"]], "both_bad": [["x", "y"]]}
    for winner, body in bodies.items():
        (ask,), _ = votes.read(json.dumps({"a": "x", "b": "y", "winner": winner}).encode())
        assert (ask.body, ask.winner, ask.voter, ask.weight) == (body, winner, None, MICRO)
    (ask,), _ = votes.read(b'{"a": "x", "b": "y", "winner": "a", "voter": "(none)", "group": "(none)"}')
    assert (ask.voter, ask.group) == (None, None)  # as exports say that there is none


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3) | st.sampled_from(["x", "y", "tie"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["ranking", "a", "b", "winner", "voter", "group", "weight"]), inner, max_size=5
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_whatever_comes_is_a_vote_or_refused(body: Any) -> None:
    try:
        asks, _ = votes.read(json.dumps(body).encode())
    except (BadBallot, msgspec.ValidationError, msgspec.DecodeError):
        return
    for ask in asks:
        listed = [agent for tier in ask.body for agent in tier]
        assert len(listed) == len(set(listed)) >= 2 and all(ask.body)
        assert 1 <= ask.weight <= 10**12


@given(st.binary(max_size=40))
def test_bytes_are_a_vote_or_refused(body: bytes) -> None:
    with pytest.raises((BadBallot, msgspec.DecodeError, UnicodeDecodeError)):
        votes.read(body)


# Tokens


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = open_database(str(tmp_path / "board.db"))
    with found.transaction():
        found.run("INSERT INTO board VALUES (1, 'main', 'Main', 0), (2, 'two', 'Two', 0)")
    yield found
    found.close()


def test_a_token_is_kept_as_a_digest_and_found_by_its_secret(database: Database) -> None:
    with database.transaction():
        transaction = Transaction(database, 1, {})
        one, secret = tokens.add(transaction, 1, "vote", "one")
        two, other = tokens.add(transaction, None, "admin", "two")
    kept = tokens.all_tokens(database)
    assert kept == [one, two]
    assert one.digest == hashlib.sha256(secret.encode()).hexdigest()
    assert tokens.find(kept, secret) == one and tokens.find(kept, other) == two
    for wrong in ("", secret[:-1], secret + " ", one.digest, "\ud800"):
        assert tokens.find(kept, wrong) is None
    with database.transaction():
        tokens.revoke(Transaction(database, 1, {}), one.id)
    assert tokens.find(tokens.all_tokens(database), secret) is None
    assert tokens.find(tokens.all_tokens(database), other) == two


def test_secrets_are_long_and_compared_in_a_time_that_tells_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction():
        secrets = [tokens.add(Transaction(database, 1, {}), None, "vote", str(k))[1] for k in range(20)]
    assert len(set(secrets)) == 20 and all(len(secret) >= 36 for secret in secrets)
    compared = []
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda x, y: compared.append(x) or compare(x, y))  # type: ignore[func-returns-value]
    assert tokens.find(tokens.all_tokens(database), secrets[0]) is not None
    assert len(compared) == 20  # also those after the one that was right


@pytest.mark.parametrize(
    ("scope", "board", "allowed"),
    [
        ("vote", 1, {("vote", 1)}),
        ("vote", None, {("vote", 1), ("vote", 2)}),
        ("admin", 1, {("vote", 1), ("admin", 1)}),
        ("admin", None, {("vote", 1), ("vote", 2), ("admin", 1), ("admin", 2)}),
    ],
)
def test_a_token_is_good_for_its_scope_and_board(scope: Any, board: int | None, allowed: set[Any]) -> None:
    token = tokens.Token(1, "", board, scope, "", 0.0, None)
    asked: list[tuple[tokens.Scope, int]] = [(wanted, at) for wanted in tokens.SCOPES for at in (1, 2)]
    assert {case for case in asked if token.allows(*case)} == allowed
    revoked = tokens.Token(1, "", board, scope, "", 0.0, revoked=5.0)
    assert not any(revoked.allows(*case) for case in asked)


# Limits


def test_a_bucket_fills_at_a_steady_rate() -> None:
    now = [0.0]
    buckets = Buckets(2.0, 4.0, now=lambda: now[0])
    assert [buckets.take("ann") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert buckets.take("ben") == 0  # has his own
    now[0] = 0.5
    assert [buckets.take("ann"), buckets.take("ann")] == [0, 0.5]
    now[0] = 100.0
    assert buckets.take("ann", 10) == 0  # more than it ever holds: when it is full
    assert buckets.take("ann", 10) == 5  # which is so again then
    now[0] = 105.0
    assert buckets.take("ann", 10) == 0


def test_forgotten_buckets_are_full_ones() -> None:
    buckets = Buckets(1.0, 1.0, most=2, now=lambda: 0.0)
    assert [buckets.take(key) for key in "abc"] == [0, 0, 0]
    assert buckets.take("c") > 0 and buckets.take("a") == 0


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(1, 8)), max_size=40))
def test_nobody_gets_more_than_rate_and_burst(asked: list[tuple[float, int]]) -> None:
    now, taken, most = 0.0, 0, 0
    buckets = Buckets(3.0, 6.0, now=lambda: now)
    for wait, amount in asked:
        now += wait
        if buckets.take("ann", amount) == 0:
            taken += amount
            most = max(most, amount)
    assert taken <= 3.0 * now + 6.0 + max(most - 6, 0) + 1e-9


# The ledger

X_BEATS_Y = Ask("vote", [["x"], ["y"]], voter="ann", group="g", weight=5, winner="a")


class Heard:
    """A writer over a database, and all that it told."""

    def __init__(self, database: Database) -> None:
        self.rows: list[tuple[int, list[Entry], list[str]]] = []
        self.writer = Writer(database, lambda *told: self.rows.append(told), lambda call: call())

    def write(self, *asks: Ask, board: int = 1, **options: Any) -> Any:
        answered: SimpleQueue[Any] = SimpleQueue()
        self.writer.submit(lambda transaction: transaction.write(board, asks, **options), answered.put)
        return answered.get(timeout=20)


@pytest.fixture
def heard(database: Database) -> Iterator[Heard]:
    found = Heard(database)
    yield found
    found.writer.close()


def test_what_is_written_is_read_again(heard: Heard, database: Database) -> None:
    assert heard.write(X_BEATS_Y, Ask("vote", [["z", "x"]], when=7.0), token=3) == Receipt(1, 2)
    assert heard.write(Ask("retract", {"vote": 1, "why": "a test"})) == Receipt(3, 3)
    one, two, three = entries(database, 1)
    assert one[1:3] == (1, "vote") and one[4:] == (3, "ann", "g", 5, "a", [[0], [1]])
    assert (two.made, two.body, two.voter) == (7.0, [[2, 0]], None)
    assert (three.kind, three.body) == ("retract", {"vote": 1, "why": "a test"})
    assert list(entries(database, 2)) == []
    assert [names for _, _, names in heard.rows] == [["x", "y", "z"], []]
    assert [entry for _, rows, _ in heard.rows for entry in rows] == [one, two, three]


def test_agents_of_each_board_are_counted_from_0(heard: Heard, database: Database) -> None:
    heard.write(X_BEATS_Y)
    heard.write(Ask("vote", [["y"], ["z"]]), board=2)
    (entry,) = entries(database, 2)
    assert entry.body == [[0], [1]]


def test_a_key_is_written_once(heard: Heard, database: Database) -> None:
    first = heard.write(X_BEATS_Y, key="k", digest="d")
    assert heard.write(X_BEATS_Y, key="k", digest="d") == Receipt(first.first, first.last, again=True)
    assert isinstance(heard.write(X_BEATS_Y, key="k", digest="other"), OtherBody)
    assert heard.write(X_BEATS_Y, key="k", digest="other", board=2).again is False
    assert len(list(entries(database, 1))) == 1


def test_a_key_is_written_once_also_within_a_commit(database: Database) -> None:
    known: dict[int, dict[str, int]] = {1: {}}
    with database.transaction():
        transaction = Transaction(database, 1, known)
        assert transaction.write(1, [X_BEATS_Y], key="k", digest="d") == Receipt(1, 1)
        assert transaction.write(1, [X_BEATS_Y], key="k", digest="d") == Receipt(1, 1, again=True)
        with pytest.raises(OtherBody):
            transaction.write(1, [X_BEATS_Y], key="k", digest="other")
        transaction.flush()
    assert len(list(entries(database, 1))) == 1


def test_a_board_that_is_full_takes_votes_on_those_it_has(heard: Heard, database: Database) -> None:
    assert heard.write(X_BEATS_Y, most_agents=2) == Receipt(1, 1)
    refused = heard.write(X_BEATS_Y, Ask("vote", [["x"], ["z"]]), most_agents=2)
    assert isinstance(refused, Refused)
    assert str(refused) == "'z' is not an agent of this board, and the board has all 2 it may have"
    assert heard.write(X_BEATS_Y, most_agents=2) == Receipt(2, 2)
    assert len(list(entries(database, 1))) == 2
