"""Who may do what, what is refused, and what a hostile caller cannot do to the live leaderboard."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.boards import Site, admin_token, raw, site, until
from helpers.serving import SERVE, Server, serving

from softcondorcet.server.web.app import OPERATIONS

VOTE = {"a": "x", "b": "y", "winner": "a", "voter": "ann"}
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(str(tmp_path_factory.mktemp("serve") / "board.db"), "--token-rate", "100000") as found:
        assert found.ask("/boards", {"name": "two"}).status == 201
        found.admin("main").vote(VOTE)
        yield found


# What a caller of each role gets where a route is for everybody, for voters, for admins, or for who runs the service.
ROLES = ("anonymous", "voter", "admin", "other voter", "other admin", "owner")
ALLOWED = {
    "all": (None, None, None, None, None, None),
    "vote": (401, None, None, 403, 403, None),
    "admin": (401, 403, None, 403, 403, None),
    "owner": (401, 403, 403, 403, 403, None),
    "session": (401,) * len(ROLES),  # a token is no session, see test_admin_pages
}
FORMS = ("import", "preview", "quarantine", "release", "retract", "token", "revoke", "board")


@dataclass
class Row:
    """Whom a route is for, and a request that it answers with `status` if it may."""

    whose: str
    status: int = 200
    query: dict[str, Any] | None = None
    body: Any = None


OF_A_BOARD = {
    "POST /votes": Row("vote", 201, body=VOTE),
    "POST /samples": Row("admin", 201, body=[{"task": "t", "agent": "x", "answer": "1"}]),
    "GET /match.json": Row("vote", 404),
    "POST /retract": Row("admin", 201, {"vote": 1}),
    "POST /quarantine": Row("admin", 201, {"voter": "ann"}),
    "POST /release": Row("admin", 201, {"voter": "ann"}),
    "GET /voters.json": Row("admin"),
    "POST /import": Row("admin", 200, {"format": "csv", "preview": True}, b"a,b,winner\nx,y,a\n"),
    "GET /leaderboard.json": Row("all"),
    "GET /leaderboard.csv": Row("all"),
    "GET /pair.json": Row("all", 200, {"a": "x", "b": "y"}),
    "GET /agent.json": Row("all", 200, {"name": "x"}),
    "GET /history.json": Row("all"),
    "GET /doctor.json": Row("all"),
    "GET /events": Row("all"),
    "GET /export.csv": Row("all"),
    "GET /export.jsonl": Row("all"),
    "GET /export.parquet": Row("all"),
    "GET /": Row("all"),
    "GET /agent": Row("all", 200, {"name": "x"}),
    "GET /pair": Row("all", 200, {"a": "x", "b": "y"}),
    "GET /history": Row("all"),
    "GET /doctor": Row("all"),
    "GET /vote": Row("all"),
    "POST /vote": Row("vote"),
    "GET /admin": Row("all"),
    "GET /enter": Row("all", 403),
    "POST /sign-in": Row("all", 403),
    "GET /admin-votes": Row("session"),
    "GET /admin-voters": Row("session"),
    "POST /sign-out": Row("session"),
    **{f"POST /admin-{form}": Row("session") for form in FORMS},
}
OF_THE_SITE = {
    "GET /boards": Row("all"),
    "GET /boards.json": Row("all"),
    "POST /boards": Row("owner", 201, body={"name": "NEW"}),
    "GET /tokens.json": Row("owner"),
    "POST /tokens": Row("owner", 201, body={"scope": "vote", "label": "a test"}),
    "DELETE /tokens/{number}": Row("owner", 404),
    "GET /static/{name}": Row("all", 404),
    "GET /healthz": Row("all"),
    "GET /readyz": Row("all"),
    "GET /metrics": Row("all"),
    "GET /openapi.json": Row("all"),
}
ROUTES = {
    **OF_THE_SITE,
    **OF_A_BOARD,
    **{name.replace(" /", " /boards/{board}/"): row for name, row in OF_A_BOARD.items()},
}
WITH_OPTIONS = [("GET /export.csv", {"voters": True}, "admin"), ("GET /export.jsonl", {"voters": True}, "admin")]
_new = count(1)


def routes() -> set[str]:
    """All that the application answers to; HEAD is GET."""
    prefixes = {True: ("", "/boards/{board}"), False: ("",)}
    return {f"{one.method} {prefix}{one.path}" for one in OPERATIONS for prefix in prefixes[one.of_board]}


def test_every_route_is_in_the_table() -> None:
    assert routes() == set(ROUTES)


@pytest.fixture(scope="module")
def secrets(home: Site) -> dict[str, str | None]:
    made = {
        f"{other}{scope}": home.new_token(scope.replace("voter", "vote"), board)[1]
        for other, board in (("", "main"), ("other ", "two"))
        for scope in ("voter", "admin")
    }
    return {"anonymous": None, **made, "owner": home.secret}


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_is_open_to_those_it_is_for(home: Site, secrets: dict[str, str | None], name: str) -> None:
    row = ROUTES[name]
    for role, refused in zip(ROLES, ALLOWED[row.whose], strict=True):
        assert _status(home, name, row, secrets[role]) == (refused or row.status), role
    assert _status(home, name, row, "sco_wrong") in (401, row.status if row.whose == "all" else 401)


@pytest.mark.parametrize(("name", "query", "whose"), WITH_OPTIONS)
def test_some_options_are_for_admins(
    home: Site, secrets: dict[str, str | None], name: str, query: dict[str, Any], whose: str
) -> None:
    for role, refused in zip(ROLES, ALLOWED[whose], strict=True):
        assert _status(home, name, Row(whose, 200, query), secrets[role]) == (refused or 200), role


def _status(home: Site, name: str, row: Row, secret: str | None) -> int:
    method, path = name.replace("{board}", "main").replace("{number}", "99999").replace("{name}", "none.js").split(" ")
    if path.endswith("/events"):
        method = "HEAD"  # the same route, without waiting for what never ends
    body = row.body
    if body == {"name": "NEW"}:
        body = {"name": f"new-{next(_new)}"}
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    at = path + (f"?{urlencode(row.query)}" if row.query else "")
    return home.server.ask(
        at, b"" if method == "POST" and body is None else body, method=method, headers=headers
    ).status


def test_a_fresh_board_takes_votes_and_nothing_else_without_a_token(tmp_path: Path) -> None:
    with serving(str(tmp_path / "board.db")) as server:
        assert server.ask("/votes", VOTE).status == 201
        for method, path, body in [
            ("POST", "/retract?vote=1", b""),
            ("POST", "/tokens", b"{}"),
            ("GET", "/tokens.json", None),
        ]:
            assert server.ask(path, body, method=method).status == 401
        assert server.ask("/votes", VOTE, headers={"Authorization": "Bearer sco_wrong"}).status == 401
        assert server.ask("/votes", VOTE, headers={"Authorization": "Basic eDp5"}).status == 401


def test_the_world_is_refused_without_a_token(tmp_path: Path) -> None:
    address = str(tmp_path / "board.db")
    refused = subprocess.run(
        [*SERVE, address, "--host", "0.0.0.0", "--port", "0"], capture_output=True, text=True, timeout=60, check=False
    )
    assert refused.returncode == 2
    assert "--host must be 127.0.0.1 as long as there is no token" in refused.stderr


def test_the_world_is_let_in_with_one(tmp_path: Path) -> None:
    address = str(tmp_path / "board.db")
    secret = admin_token(address)
    with serving(address, "--host", "0.0.0.0") as server:
        assert server.ask("/votes", VOTE).status == 401
        assert server.ask("/votes", VOTE, headers={"Authorization": f"bearer {secret}"}).status == 201
        assert server.ask("/healthz", headers={"Host": "board.example"}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::1", "10.0.0.1:80"])
def test_names_of_other_machines_are_refused(home: Site, host: str) -> None:
    answer = home.server.ask("/leaderboard.json", headers={"Host": host})
    assert answer.status == 403
    assert "only answers to names of its own machine" in answer.json["detail"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8700", "LOCALHOST:80"])
def test_names_of_this_machine_are_not(home: Site, host: str) -> None:
    assert home.server.ask("/healthz", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://"]
)
def test_a_page_of_another_site_cannot_vote(home: Site, origin: str) -> None:
    before = home.admin().get("/leaderboard.json")["n_votes"]
    sent = {"Origin": origin, "Authorization": f"Bearer {home.secret}"}
    assert home.server.ask("/votes", VOTE, headers=sent).status == 403
    assert home.admin().get("/leaderboard.json")["n_votes"] == before
    own = {**sent, "Origin": home.server.url}
    assert home.server.ask("/votes", VOTE, headers=own).status == 201


def test_every_answer_forbids_what_pages_do_not_need(home: Site) -> None:
    for path in ("/", "/leaderboard.json", "/nothing", "/votes", "/export.csv", "/boards.json"):
        headers = home.server.ask(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers and "access-control-allow-origin" not in headers


def test_files_go_out_to_some_at_a_time_and_to_others_after_them(home: Site) -> None:
    board = home.new_board()
    for _ in range(2):  # more than what fits between a server and a client who does not read
        board.vote(*[{"ranking": [f"agent {k}" for k in range(1000)]}] * 70)
    head = f"GET /boards/{board.board}/export.csv HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    waiting = []
    try:
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].settimeout(60)
            waiting[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            waiting[-1].connect(("127.0.0.1", home.server.port))
            waiting[-1].sendall(head)
            assert b" 200 " in waiting[-1].recv(100)
        assert board.ask("/export.jsonl").status == 503
    finally:
        for connection in waiting:
            connection.close()
    assert until(lambda: board.ask("/export.jsonl").status == 200)


# Bombs


def memory(server: Server, what: str) -> float:
    """MB of the server: VmRSS now, VmHWM at most since its start."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{server.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


DEEP = b"[" * 500_000
BOMBS: dict[str, tuple[bytes, dict[str, str], int]] = {
    "packed": (b"\x1f\x8b" + b"\0" * 1000, {"Content-Encoding": "gzip"}, 415),
    "deep JSON": (DEEP, {}, 422),
    "deep JSON in a vote": (b'{"ranking": ' + DEEP + b"}", {}, 422),
    "deep objects": (b'{"a":' * 150_000, {}, 422),
    "10,000 names": (json.dumps({"ranking": [f"agent {k}" for k in range(10_000)]}).encode(), {}, 422),
    "many empty places": (b'{"ranking": [' + b"[]," * 340_000 + b"[]]}", {}, 422),
    "many votes": (b"[" + b"{}," * 340_000 + b"{}]", {}, 422),
    "many numbers": (b"[" + b"1," * 500_000 + b"1]", {}, 422),
    "a huge number": (b'{"a": "x", "b": "y", "winner": "a", "weight": ' + b"9" * 900_000 + b"}", {}, 422),
    "a huge exponent": (b'{"a": "x", "b": "y", "winner": "a", "weight": 1e999999999}', {}, 422),
    "a long name": (json.dumps({"a": "x" * 2 * MEGABYTE, "b": "y", "winner": "a"}).encode(), {}, 413),
    "a long name that fits": (json.dumps({"a": "x" * 900_000, "b": "y", "winner": "a"}).encode(), {}, 422),
    "50 MB": (b" " * 50 * MEGABYTE, {}, 413),
}


def test_bombs_are_refused_and_take_no_memory(home: Site) -> None:
    server, auth = home.server, {"Authorization": f"Bearer {home.secret}"}
    until(lambda: home.admin().get("/leaderboard.json")["fit"])
    assert server.ask("/").status == 200  # all that pages need is loaded
    votes, before = home.admin().get("/leaderboard.json")["n_votes"], memory(server, "VmRSS")
    for name, (body, headers, status) in BOMBS.items():
        for path in ("/votes", "/boards", "/tokens", "/samples"):
            if status == 413:  # answered, and cut, before all of it is sent
                length = f"Authorization: Bearer {home.secret}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                assert f" {status} ".encode() in raw(server, f"{path} HTTP/1.1", length, body), (name, path)
                continue
            answer = server.ask(path, body, headers={**auth, **headers})
            assert answer.status == status, (name, path)
            assert len(answer.body) < 1000
    for path in ("/votes", "/boards"):
        chunk = b"100000\r\n" + b" " * MEGABYTE + b"\r\n"
        head = f"Authorization: Bearer {home.secret}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        assert b" 413 " in raw(server, f"{path} HTTP/1.1", head, *[chunk] * 20)
    assert memory(server, "VmHWM") - before < 100
    assert home.admin().get("/leaderboard.json")["n_votes"] == votes


def test_a_body_from_nobody_is_not_even_read(home: Site) -> None:
    for path in ("/boards", "/tokens", "/samples", "/import?format=csv"):
        head = b"Content-Length: 1000000000\r\n\r\n"
        assert b" 401 " in raw(home.server, f"{path} HTTP/1.1", head)


def test_every_route_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "serve" / "api.md").read_text()
    told = set(re.findall(r"`((?:GET|POST|DELETE) /[^`]*)`", text)) - {"POST /import?format=csv"}
    assert told == set(OF_THE_SITE) | set(OF_A_BOARD)


# 422 also for what a schema cannot say: an agent against itself, a ticket that was used, a letter that cannot be seen.
CONFIG = """
max-stream-events = 1
request-timeout = 120
checks.max_response_time = 120
checks.positive_data_acceptance.expected-statuses = ["2xx", 304, 401, 403, 404, 409, 422, 429, 503]

[parameters]
"path.board" = "main"
"""
# A view of some votes is a fit in a process of its own, some seconds each; a view of none is not.
QUICK = """
[[operations]]
include-path-regex = "/leaderboard.(json|csv)$"
parameters = { "query.group" = "no such" }
"""


def fuzz(home: Site, folder: Path, config: str, *options: str) -> str:
    """What schemathesis says of a server, and that it found nothing."""
    (folder / "config.toml").write_text(config)
    program = str(Path(sys.executable).parent / "schemathesis")
    chosen = ("--checks", "all", "--header", f"Authorization: Bearer {home.secret}", *options)
    command = [program, "--config-file", f"{folder}/config.toml", "run", f"{home.server.url}/openapi.json", *chosen]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "Traceback" not in home.server.output and "ERROR" not in home.server.output
    return done.stdout


def test_the_api_is_what_its_description_says(home: Site, tmp_path: Path) -> None:
    # The routes of the main board alone: those of boards by name are the same functions.
    once = ("--phases", "examples,coverage", "--exclude-path-regex", r"^/boards/\{board\}|/import$", "--seed", "1")
    assert re.search(r"\b([5-9]\d\d|\d{4,}) generated", fuzz(home, tmp_path, CONFIG + QUICK, *once))


@pytest.mark.fuzz
def test_the_api_is_what_its_description_says_at_length(home: Site, tmp_path: Path) -> None:
    said = fuzz(home, tmp_path, CONFIG, "--max-examples", "50", "--max-time", "300")
    assert re.search(r"\b\d{4,} generated", said)
