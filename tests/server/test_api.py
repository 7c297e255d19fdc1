"""Every route of the live leaderboard, over HTTP, on SQLite and on PostgreSQL."""

from __future__ import annotations

import http.client
import io
import re
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from helpers import postgres
from helpers.boards import Caller, Site, lines, site, until

import softcondorcet as sc
from softcondorcet.server.web.app import OPERATIONS

ANN, BEN = {"voter": "ann"}, {"voter": "ben"}


def battle(a: str, b: str, winner: str = "a", **more: Any) -> dict[str, Any]:
    return {"a": a, "b": b, "winner": winner, **more}


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL is installed here (initdb)")
    with postgres.cluster() as found:
        yield found


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if request.param == "sqlite":
        address = str(tmp_path_factory.mktemp("serve") / "board.db")
    else:
        address = request.getfixturevalue("cluster").database()
    with site(address, "--every", "0.1") as found:
        # Votes that are fitted while the other tests run.
        ranked = {"ranking": ["x", ["y", "z"], "w"]}
        found.admin("main").vote(*[battle("x", "y")] * 5, *[battle("y", "x")] * 2, battle("y", "z", "tie"), ranked)
        yield found


@pytest.fixture
def board(home: Site) -> Caller:
    return home.new_board()


def test_votes_of_every_form_are_counted(board: Caller) -> None:
    one = board.post("/votes", battle("x", "y", **ANN))
    assert one.status == 201
    assert one.headers["content-type"] == "application/json"
    assert one.json == {"id": one.json["id"], "last": one.json["id"], "n": 1, "board": board.board}
    board.vote(battle("x", "y", "b"), battle("x", "y", "tie", weight=2.5), battle("y", "x", "both_bad", group="g"))
    board.vote({"ranking": ["x", ["y", "z"], "w"], "voter": "ann", "group": "g", "weight": 0.5})
    assert board.counts("x", "y") == (1.5, 1.0, 3.5)
    assert board.counts("y", "z") == (0.0, 0.0, 0.5)
    assert board.counts("w", "z") == (0.0, 0.5, 0.0)
    seen = board.get("/leaderboard.json")
    assert seen["n_votes"] == 5
    assert seen["rows"][0]["agent"] == "x"
    assert [row["rank"] for row in seen["rows"]] == sorted(row["rank"] for row in seen["rows"])
    assert {row["agent"]: row["votes"] for row in seen["rows"]} == {"x": 6.0, "y": 6.0, "z": 0.5, "w": 0.5}
    assert seen["condorcet_winner"] == "x" and seen["smith_set"] == ["x"]


@pytest.mark.parametrize(
    ("vote", "why"),
    [
        ({"ranking": ["x"]}, "ranking: expected 2 to 1,000 agents, got 1"),
        ({"ranking": ["x", "y", ["x"]]}, "expected each agent once, got 'x' twice"),
        ({"ranking": ["x", []]}, "expected 2 to 1,000 agents, got 1"),
        ({"ranking": ["x", "y", []]}, "expected a name or several in each place, got an empty list"),
        ({"ranking": ["x", "y"], "winner": "a"}, "expected either a ranking, or a, b and winner; got both"),
        ({"ranking": ["x", ["y", ["z"]]]}, "Expected `str`, got `array`"),
        (battle("x", "x"), "expected two agents, got 'x' twice"),
        (battle("x", "y", "x"), "winner: expected a, b, tie, both_bad, got 'x'"),
        ({"a": "x", "b": "y"}, "expected a ranking, or a, b and winner"),
        (battle("x", "y", weight=0), "weight: expected a number from 0.000001 to 1,000,000, got 0"),
        (battle("x", "y", weight=1e300), "weight: expected a number"),
        (battle("x", "y", weight=True), "Expected `float`, got `bool`"),
        (battle("x", "y", votre="ann"), "unknown field `votre`"),
        (battle("x\u202ey", "y"), "a: expected visible letters, got U+202E"),
        (b"", "truncated"),
        (b"[", "truncated"),
        (b"\xff\xfe", "malformed"),
        (b'{"a": "\xff", "b": "y", "winner": "a"}', "utf-8"),
        (7, "Expected `object | array`, got `int`"),
        ([], "expected 1 to 1,000 votes, got 0"),
        ([battle("x", "y")] * 1001, "expected 1 to 1,000 votes, got 1,001"),
    ],
)
def test_a_bad_vote_is_refused_with_the_reason(home: Site, vote: Any, why: str) -> None:
    main = home.admin("main")
    before = main.get("/leaderboard.json")["n_votes"]
    refused = main.post("/votes", vote)
    assert refused.status == 422
    assert why in refused.json["detail"]
    assert main.get("/leaderboard.json")["n_votes"] == before


def test_a_batch_is_taken_whole_or_not_at_all(board: Caller) -> None:
    refused = board.post("/votes", [battle("x", "y"), battle("y", "z"), battle("z", "z")])
    assert refused.status == 422
    assert refused.json["detail"] == "vote 3: expected two agents, got 'z' twice"
    seen = board.get("/leaderboard.json")
    assert (seen["n_votes"], seen["rows"]) == (0, [])
    taken = board.post("/votes", [battle("x", "y")] * 1000)
    assert taken.status == 201
    assert taken.json["n"] == 1000 == taken.json["last"] - taken.json["id"] + 1
    assert board.counts("x", "y") == (1000, 0, 0)


def test_a_key_is_answered_once(board: Caller, home: Site) -> None:
    key = {"Idempotency-Key": "k"}
    first = board.post("/votes", battle("x", "y"), headers=key)
    again = board.post("/votes", battle("x", "y"), headers=key)
    other = board.post("/votes", battle("y", "x"), headers=key)
    assert (first.status, again.status, other.status) == (201, 201, 422)
    assert first.json == again.json
    assert "idempotent-replayed" not in first.headers and again.headers["idempotent-replayed"] == "true"
    assert "used before, with another body" in other.json["detail"]
    assert board.counts("x", "y") == (1, 0, 0)
    elsewhere = home.new_board()
    assert elsewhere.post("/votes", battle("y", "x"), headers=key).status == 201
    assert board.post("/votes", battle("x", "y"), headers={"Idempotency-Key": "k" * 201}).status == 422


def test_each_token_has_keys_of_its_own(home: Site, board: Caller) -> None:
    key = {"Idempotency-Key": "k"}
    assert board.post("/votes", battle("x", "y"), headers=key).status == 201
    for _ in range(2):
        other = Caller(board.server, board.board, home.new_token("vote", board.board)[1])
        sent = [other.post("/votes", battle("y", "x"), headers=key) for _ in range(2)]
        assert [answer.status for answer in sent] == [201, 201] and sent[0].json == sent[1].json
        assert sent[1].headers["idempotent-replayed"] == "true"
    assert board.counts("x", "y") == (1, 2, 0)


def test_a_key_is_answered_once_also_at_the_same_time(board: Caller) -> None:
    def send(k: int) -> tuple[int, Any]:
        found = board.post("/votes", battle("x", "y", "a" if k % 4 else "b"), headers={"Idempotency-Key": "k"})
        return found.status, found.json

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(send, range(16)))
    taken = [said for status, said in found if status == 201]
    assert len({said["id"] for said in taken}) == 1
    assert len(taken) in (4, 12)  # those with the body that came first
    assert all(status == 422 for status, said in found if said not in taken)
    assert board.get("/leaderboard.json")["n_votes"] == 1


def test_what_is_retracted_or_in_quarantine_does_not_count(board: Caller) -> None:
    first = board.vote(battle("x", "y", **ANN))
    board.vote(battle("x", "y", **ANN), battle("y", "x", **BEN), battle("x", "z"))

    def counted() -> tuple[int, Any]:
        return board.get("/leaderboard.json")["n_votes"], board.counts("x", "y")

    assert counted() == (4, (2, 1, 0))
    done = board.post("/retract", vote=first, why="a test")
    assert done.status == 201 and done.json["n"] == 1
    assert counted() == (3, (1, 1, 0))
    assert board.post("/retract", vote=first).status == 201  # once more is once
    assert counted() == (3, (1, 1, 0))
    assert board.post("/quarantine", voter="ann", why="a test").status == 201
    assert counted() == (2, (0, 1, 0))
    board.vote(battle("x", "y", **ANN))
    assert counted() == (2, (0, 1, 0))
    assert board.get("/voters.json") == {"suspects": [], "quarantined": ["ann"]}
    assert board.post("/release", voter="ann").status == 201
    assert counted() == (4, (2, 1, 0))
    assert board.get("/voters.json")["quarantined"] == []


def test_what_is_not_there_cannot_be_retracted_or_quarantined(board: Caller, home: Site) -> None:
    elsewhere = home.new_board().vote(battle("x", "y", **ANN))
    for answer in (
        board.post("/retract", vote=10**9),
        board.post("/retract", vote=elsewhere),
        board.post("/quarantine", voter="ann"),
        board.post("/release", voter="ann"),
    ):
        assert answer.status == 404
        assert answer.json["detail"].startswith("expected ")
    for answer in (board.post("/retract"), board.post("/retract", vote=0), board.post("/quarantine", voter="a\u200bb")):
        assert answer.status == 422


def test_boards_know_nothing_of_each_other(home: Site) -> None:
    one, two = home.new_board(), home.new_board()
    one.vote(battle("x", "y"))
    two.vote(battle("y", "x", **ANN), battle("y", "z"))
    assert one.get("/leaderboard.json")["n_votes"] == 1
    assert [row["agent"] for row in one.get("/leaderboard.json")["rows"]] == ["x", "y"]
    assert one.ask("/pair.json", a="x", b="z").status == 404
    assert two.counts("x", "y") == (0, 1, 0)
    assert one.ask("/agent.json", name="z").status == 404
    told = {said["name"]: said for said in home.ask("/boards.json").json}
    assert told[two.board] == {"name": two.board, "title": two.board, "n_votes": 2, "n_agents": 3}
    assert home.ask("/boards", {"name": one.board}).status == 409
    for wrong in ("a/b", "a\n", "", ".", "caf\u00e9"):
        assert home.ask("/boards", {"name": wrong}).status == 422
    assert home.ask("/boards", {"name": "b" * 61}).status == 422
    assert home.ask("/boards", {"name": "b", "titel": "B"}).status == 422
    assert home.admin("no-such-board").ask("/leaderboard.json").status == 404


def test_tokens_are_shown_once_and_can_be_revoked(home: Site, board: Caller) -> None:
    number, secret = home.new_token("vote", board.board)
    voter = Caller(board.server, board.board, secret)
    voter.vote(battle("x", "y"))
    (told,) = [token for token in home.ask("/tokens.json").json if token["id"] == number]
    assert told == {**told, "scope": "vote", "label": "a test", "board": board.board} and "token" not in told
    assert secret not in home.ask("/tokens.json").body.decode()
    assert home.ask(f"/tokens/{number}", method="DELETE").status == 204
    assert voter.post("/votes", battle("x", "y")).status == 401
    assert home.ask(f"/tokens/{number}", method="DELETE").status == 404
    assert board.get("/leaderboard.json")["n_votes"] == 1
    assert home.ask("/tokens?board=no-such-board", {"scope": "vote", "label": "x"}).status == 404
    assert home.ask("/tokens", {"scope": "all", "label": "x"}).status == 422
    assert home.ask("/tokens", {"scope": "vote"}).status == 422


def test_no_secret_is_in_the_database(home: Site) -> None:
    _, secret = home.new_token("vote")
    secrets = [home.secret, secret]
    if home.address.startswith("postgresql"):
        import psycopg

        with psycopg.connect(home.address) as connection:
            kept = str(connection.execute("SELECT * FROM token").fetchall()).encode()
    else:
        folder = Path(home.address).parent
        kept = b"".join(path.read_bytes() for path in folder.iterdir())
        (rows,) = sqlite3.connect(f"file:{home.address}?mode=ro", uri=True).execute("SELECT COUNT(*) FROM token")
        assert rows[0] >= 2
    for known in secrets:
        assert known.encode() not in kept and known.removeprefix("sco_").encode() not in kept
    assert len(kept) > 100


def patient(board: Caller, path: str, **query: Any) -> Any:
    """An answer that takes a fit to make, or None where that is not done yet."""
    with suppress(TimeoutError):
        return board.get(path, **query)
    return None


def test_filters_choose_votes_by_group_and_time(home: Site, board: Caller) -> None:
    board.vote(battle("x", "y", group="g"), battle("x", "y", group="g"), battle("y", "x"), battle("y", "x"))
    last = board.get("/leaderboard.json")["changed"]
    board.vote(battle("y", "x", group="h"))
    assert board.get("/leaderboard.json")["rows"][0]["agent"] == "y"
    of_group = until(lambda: patient(board, "/leaderboard.json", group="g"))
    assert of_group["n_votes"] == 2
    assert [(row["agent"], row["rank"], row["rank_overall"]) for row in of_group["rows"]] == [("x", 1, 2), ("y", 2, 1)]
    assert lines(board.ask("/export.jsonl", since=last + 1e-4).body)[0]["group"] == "h"
    assert len(lines(board.ask("/export.jsonl", until=last + 1e-4).body)) == 4
    assert len(lines(board.ask("/export.jsonl", until=last + 1e-4, group="g").body)) == 2
    board.vote(battle("x", "y", group="caf\u00e9"))
    assert len(lines(board.ask("/export.jsonl", group="cafe\u0301").body)) == 1
    for wrong in ({"since": "yesterday"}, {"since": -1}, {"until": "nan"}, {"group": "g" * 121}):
        assert board.ask("/leaderboard.json", **wrong).status == 422


def test_a_filter_that_no_vote_passes_gives_an_empty_board(board: Caller) -> None:
    board.vote(battle("x", "y"))
    for nothing in ({"until": 5}, {"since": "inf"}):
        seen = board.get("/leaderboard.json", **nothing)
        assert (seen["n_votes"], seen["rows"]) == (0, [])
        assert board.ask("/export.jsonl", **nothing).body == b""


@pytest.mark.parametrize("path", ["/leaderboard.json", "/leaderboard.csv", "/export.csv"])
def test_a_filter_that_cannot_be_meant_is_an_error_in_words(board: Caller, path: str) -> None:
    board.vote(battle("x", "y", group="de"))
    answer = board.ask(path, group="fr")
    assert (answer.status, answer.json["detail"]) == (404, "no group 'fr' on this board")
    answer = board.ask(path, gruop="de")
    assert answer.status == 422
    assert answer.json["detail"].startswith("'gruop' is not a parameter; expected group, since, until")


READ = ["/leaderboard.json", "/pair.json?a=x&b=y", "/agent.json?name=x", "/history.json", "/doctor.json"]
READ += ["/export.csv", "/export.jsonl", "/export.parquet"]


@pytest.mark.parametrize("path", READ)
def test_what_a_caller_has_is_not_sent_again(board: Caller, path: str) -> None:
    board.vote(battle("x", "y"))
    first = board.ask(path)
    tag = first.headers["etag"]
    for sent in (tag, f"W/{tag}", f'"other", {tag}'):
        again = board.ask(path, headers={"If-None-Match": sent})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert board.ask(path, headers={"If-None-Match": '"other"'}).status == 200
    board.vote(battle("x", "y"))
    changed = board.ask(path, headers={"If-None-Match": tag})
    assert changed.status == 200 and changed.headers["etag"] != tag


@pytest.mark.parametrize("path", [*READ, "/events"])
def test_head_is_get_without_the_body(board: Caller, path: str) -> None:
    board.vote(battle("x", "y"))
    head = board.ask(path, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    if path != "/events":
        got = board.ask(path)
        same = ("etag", "content-type", "content-length", "content-security-policy")
        assert {k: head.headers.get(k) for k in same} == {k: got.headers.get(k) for k in same}
    assert board.ask("/votes", method="HEAD").status == 405


def test_a_fit_brings_ranges_history_and_doubts(home: Site) -> None:
    main = home.admin("main")
    until(lambda: main.get("/leaderboard.json")["fit"])
    seen = main.get("/leaderboard.json")
    assert seen["n_votes"] == 9
    assert seen["fit"]["n_votes"] == 9 and seen["fit"]["behind"] == 0
    assert seen["snapshot"] == f"{main.get('/history.json')['snapshot']}"
    best = seen["rows"][0]
    assert best["agent"] == "x" and best["rank_low"] <= 1 <= best["rank_high"]
    (fit,) = main.get("/history.json")["fits"]
    assert fit["order"][0] == "x" and fit["n_votes"] == 9
    of_x = main.get("/agent.json", name="x")
    assert of_x["row"] == best
    assert {met["agent"]: (met["wins"], met["losses"], met["ties"]) for met in of_x["met"]} == {
        "y": (6, 2, 0), "z": (1, 0, 0), "w": (1, 0, 0),
    }  # fmt: skip
    assert [past["rank"] for past in of_x["history"]] == [1]
    doctor = main.get("/doctor.json")
    assert {"findings", "unchecked", "warnings", "robust"} <= set(doctor)
    assert main.server.ask("/leaderboard.json").json == seen  # the board without a name


def test_answers_are_what_their_documented_types_say(home: Site) -> None:
    main = home.admin("main")
    until(lambda: main.get("/leaderboard.json")["fit"])
    query = {"/pair.json": {"a": "x", "b": "y"}, "/agent.json": {"name": "x"}}
    typed = [
        one for one in OPERATIONS if one.method == "GET" and one.of_board and not isinstance(one.answer, str | None)
    ]
    for one in [one for one in typed if one.path != "/match.json"]:
        answer = main.get(one.path, **query.get(one.path, {}))
        assert msgspec.to_builtins(msgspec.convert(answer, one.answer)) == answer, one.path
    assert len(typed) == 7


def test_agents_and_pairs_are_found_in_any_form_of_their_name(board: Caller) -> None:
    board.vote(battle("caf\u00e9", "y"))
    assert board.get("/agent.json", name="cafe\u0301")["agent"] == "caf\u00e9"
    assert board.counts("cafe\u0301", " y ") == (1, 0, 0)
    assert board.ask("/pair.json", a="y", b="y").status == 404
    assert board.ask("/agent.json", name="").status == 422
    assert board.ask("/agent.json").status == 422


def test_events_tell_of_every_new_snapshot(board: Caller) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", board.server.port, timeout=20)
    try:
        connection.request("GET", f"/boards/{board.board}/events")
        answer = connection.getresponse()
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert [answer.readline() for _ in range(3)] == [b"event: snapshot\n", b"data: 0-0\n", b"\n"]
        last = board.vote(battle("x", "y"))
        assert [answer.readline() for _ in range(3)] == [b"event: snapshot\n", f"data: {last}-0\n".encode(), b"\n"]
    finally:
        connection.close()


def test_the_service_tells_how_it_is(home: Site, board: Caller) -> None:
    board.vote(battle("x", "y"), battle("x", "y"))
    kind = "PostgreSQL" if home.address.startswith("postgresql") else "SQLite"
    for path in ("/healthz", "/readyz", "/healthz?from=a+monitor"):
        said = home.server.ask(path).json
        assert said["status"] == "ok" and said["version"] == sc.__version__ and kind in said["database"]
    metrics = home.server.ask("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert f'sco_votes{{board="{board.board}"}} 2.0' in metrics.body.decode()
    assert 'sco_requests_total{status="201"}' in metrics.body.decode()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("GET", "/boards/main/nothing", 404), ("GET", "/votes", 405),
     ("PUT", "/votes", 405), ("PUT", "/boards", 405),
     ("DELETE", "/leaderboard.json", 405), ("GET", "/boards/%00/leaderboard.json", 404), ("GET", "//", 404),
     ("GET", "/static/../../etc/passwd", 404), ("GET", "/boards/..%2f..%2fetc/leaderboard.json", 404)],
)  # fmt: skip
def test_what_is_not_there_is_refused_in_json(home: Site, method: str, path: str, status: int) -> None:
    answer = home.server.ask(path, method=method)
    assert answer.status == status
    assert isinstance(answer.json["detail"], str)
    if status == 405:
        assert answer.headers["allow"] == {"/votes": "POST", "/boards": "GET, POST, HEAD"}.get(path, "GET, HEAD")
        assert answer.json["detail"].startswith("expected ")


def test_the_api_describes_itself(home: Site) -> None:
    told = home.server.ask("/openapi.json").json
    assert told["openapi"].startswith("3.1")
    assert "/boards/{board}/votes" in told["paths"]
    for path, methods in told["paths"].items():
        for method, about in methods.items():
            assert about.get("description"), (method, path)


FILE = b"model_a,model_b,winner,judge,tstamp,who\nx,y,model_a,g,10,ann\nx,y,model_b,g,30,ben\nz,x,tie,h,20,ann\n"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_export_is_a_file_of_the_votes_that_count(home: Site, board: Caller, suffix: str) -> None:
    gone = board.vote(battle("x", "=y()", **ANN))
    board.vote(battle("x", "=y()", "b", **ANN, group="g"), battle("x", "z", "tie", weight=2), battle("z", "x", **BEN))
    board.post("/retract", vote=gone)
    board.post("/quarantine", voter="ben")
    got = Caller(board.server, board.board).ask(f"/export.{suffix}")  # anybody may
    assert got.status == 200
    assert got.headers["content-disposition"] == f'attachment; filename="{board.board}.{suffix}"'
    found = sc.read(io.BytesIO(got.body), format=suffix)
    shown = "'=y()" if suffix == "csv" else "=y()"
    assert list(found.rankings()) == [[[shown], ["x"]], [["x", "z"]]]
    assert found.weight.tolist() == [1, 2] and found.groups[0] == "g"
    assert b"ann" not in got.body
    part = sc.read(io.BytesIO(board.ask(f"/export.{suffix}", group="g").body), format=suffix)
    assert part.n_votes == 1
    _, secret = home.new_token("vote", board.board)
    for caller, status in ((Caller(board.server, board.board), 401), (Caller(board.server, board.board, secret), 403)):
        assert caller.ask(f"/export.{suffix}", voters=True).status == status
    told = board.ask(f"/export.{suffix}", voters=True)
    assert told.status == 200 and b"ann" in told.body and told.headers["etag"] != got.headers["etag"]


def test_an_import_is_shown_before_it_is_made(board: Caller) -> None:
    board.vote(battle("x", "v"))
    shown = board.post("/import", FILE, format="csv", preview=True, voter="who")
    assert shown.status == 200
    assert shown.json == {
        "n_votes": 3, "left_out": 0, "n_agents": 3, "n_new_agents": 2, "new_agents": ["y", "z"],
        "first": ["x > y", "z = x", "y > x"], "before": None, "added": False, "id": None, "last": None, "notes": [],
    }  # fmt: skip
    assert board.get("/leaderboard.json")["n_votes"] == 1
    key = {"Idempotency-Key": "file 1"}
    made = board.post("/import", FILE, headers=key, format="csv", voter="who")
    assert made.status == 201
    assert made.json["added"] and made.json["last"] - made.json["id"] == 2
    assert board.get("/leaderboard.json")["n_votes"] == 4
    again = board.post("/import", FILE, headers=key, format="csv", voter="who")
    assert (again.status, again.json["id"]) == (201, made.json["id"])
    assert board.post("/import", FILE + b"x,y,tie,g,40,ann\n", headers=key, format="csv").status == 422
    assert board.get("/leaderboard.json")["n_votes"] == 4
    rows = lines(board.ask("/export.jsonl", voters=True, until=100).body)
    assert [(row["when"], row["group"], row["voter"], row["winner"]) for row in rows] == [
        (10.0, "g", "ann", "a"), (20.0, "h", "ann", "tie"), (30.0, "g", "ben", "b"),
    ]  # fmt: skip
    assert board.get("/leaderboard.json")["changed"] > 1e9  # the last vote is not one of long ago


def test_a_file_is_imported_once_unless_it_is_asked_for_again(home: Site, board: Caller) -> None:
    def send(data: bytes = FILE, to: Caller = board, key: str = "", **query: Any) -> Any:
        return to.post("/import", data, headers={"Idempotency-Key": key} if key else {}, format="csv", **query)

    assert send(preview=True).json["before"] is None
    first = send(key="one").json
    rows = {"id": first["id"], "last": first["last"]}
    assert first["before"] is None
    for key in ("", "two"):
        refused = send(key=key)
        assert refused.status == 409
        day = time.strftime("%Y-%m-%d", time.gmtime())
        assert re.fullmatch(
            rf"this file was imported before, at {day} \d\d:\d\d UTC, as the votes {rows['id']} to {rows['last']}; "
            "again=true adds it once more",
            refused.json["detail"],
        )
    assert send(preview=True).json["before"] == rows
    assert (send(key="one").json["id"], send(key="one").json["before"]) == (first["id"], None)  # a replay is none
    assert board.get("/leaderboard.json")["n_votes"] == 3
    again = send(again=True)
    assert (again.status, again.json["before"], again.json["id"]) == (201, rows, rows["last"] + 1)
    assert send().status == 409  # as ever
    assert send(voter="who").status == 201  # another way to read it makes other votes
    assert send(FILE + b"x,y,tie,g,40,ann\n").status == 201
    assert send(to=home.new_board()).status == 201
    other = Caller(board.server, board.board, home.new_token("admin", board.board)[1])
    assert send(to=other).status == 409
    assert board.get("/leaderboard.json")["n_votes"] == 3 + 3 + 3 + 4


@pytest.mark.parametrize(
    ("query", "data", "why"),
    [
        ({"format": "csv"}, b"a,b,winner\nx,y,a\nx,y,?\n", "line 3: winner is '?'"),
        ({"format": "jsonl"}, b"{}\n", "objects without keys"),
        ({"format": "parquet"}, b"PAR1", "not a parquet file that can be read"),
        (
            {"format": "xlsx"},
            b"PK",
            "format: expected one of csv, jsonl, parquet, preflib, soc, soi, toc, toi, tsv, got",
        ),
        ({"format": "csv", "kind": "scores"}, FILE, "expected battles"),
        ({}, FILE, "toi, tsv, and it is missing"),
    ],
)
def test_an_import_is_whole_or_not_at_all(board: Caller, query: dict[str, str], data: bytes, why: str) -> None:
    refused = board.post("/import", data, headers=None, **query)
    assert refused.status == 422
    assert why in refused.json["detail"]
    assert board.get("/leaderboard.json")["n_votes"] == 0


def test_a_board_moves_by_export_and_import(home: Site, board: Caller) -> None:
    board.vote({"ranking": ["x", ["y", "@z"], "w"], "group": "g", "weight": 3}, battle("y", "x", **ANN))
    for suffix in ("csv", "jsonl"):
        other = home.new_board()
        file = board.ask(f"/export.{suffix}", voters=True).body
        assert other.post("/import", file, format=suffix, voter="voter").status == 201
        assert other.counts("x", "y") == board.counts("x", "y") == (3, 1, 0)
        assert other.counts("@z", "w") == (3, 0, 0)
        assert other.post("/quarantine", voter="ann").status == 201
        assert other.counts("x", "y") == (3, 0, 0)
