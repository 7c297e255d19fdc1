"""An admin in a browser: the way in, files, votes, voters, tokens, boards; what hostile pages and files cannot do."""

from __future__ import annotations

import io
import re
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.boards import admin_token, until
from helpers.rigging import NAMES, Style, crowd, rigged
from helpers.serving import STOP, Answer, Server, lowered, serving
from starlette.requests import Request

from softcondorcet.server.ledger.tokens import Token
from softcondorcet.server.web.imports import file_name
from softcondorcet.server.web.sessions import COOKIE, LINK_SECONDS, MOST, SESSION_SECONDS, Sessions

TARGET = 11
BATTLES = b"model_a,model_b,winner,who\n" + b"x,y,model_a,ann\ny,z,model_a,bob\nx,z,tie,ann\n"


@dataclass
class Browser:
    """What a browser does without JavaScript: it keeps cookies, follows redirects and sends forms of the last page."""

    url: str
    jar: CookieJar = field(default_factory=CookieJar)
    page: str = ""
    at: str = ""

    def open(self, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> int:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        request = urllib.request.Request(self.url + path, data, dict(headers or {}))
        try:
            with opener.open(request, timeout=STOP) as answer:
                self.page, self.at = answer.read().decode(), answer.url
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                self.page = error.read().decode()
                return error.code

    def send(self, action: str, file: tuple[str, bytes] | None = None, **fields: Any) -> int:
        """Send a form with the secret that stands on the page."""
        secret = re.search(r'name="form" value="([^"]+)"', self.page)
        given = {"form": secret[1] if secret else "", **fields}
        if file is None:
            return self.open(f"/{action}", urlencode(given, doseq=True).encode())
        body, boundary = io.BytesIO(), "x" * 20
        for name, value in given.items():
            body.write(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}"\r\n\r\n'
        body.write(head.encode() + file[1] + f"\r\n--{boundary}--\r\n".encode())
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.open(f"/{action}", body.getvalue(), kind)

    @property
    def said(self) -> str:
        found = re.search(r'<p id="said" role="status">(.*?)</p>', self.page, re.DOTALL)
        return found[1] if found else ""


def link_of(server: Server) -> str:
    found = re.search(r"to manage it, open \S+(/enter\?code=\S+) ", server.output)
    assert found is not None, server.output
    return found[1]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(str(tmp_path / "board.db"), "--owner-link", "--every", "0.2") as started:
        yield started


@pytest.fixture
def owner(server: Server) -> Browser:
    browser = Browser(server.url)
    assert browser.open(link_of(server)) == 200
    return browser


@pytest.mark.service
def test_the_link_is_good_once_and_its_cookie_is_out_of_reach(server: Server) -> None:
    first = Answer(0, {}, b"")

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    try:
        urllib.request.build_opener(Stay).open(server.url + link_of(server), timeout=STOP)
    except urllib.error.HTTPError as answer:
        first = Answer(answer.code, lowered(answer.headers), b"")
        answer.close()
    assert (first.status, first.headers["location"]) == (303, "admin")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and cookie.startswith(COOKIE)
    later = Browser(server.url)
    assert later.open(link_of(server)) == 403
    assert "This link was used" in later.page
    assert later.open("/enter?code=wrong") == 403
    assert later.open("/admin") == 200 and "Sign in to run this board" in later.page


@pytest.mark.service
def test_no_link_is_printed_to_a_log(tmp_path: Path) -> None:
    with serving(str(tmp_path / "board.db")) as server:
        assert "code=" not in server.output


@pytest.mark.service
def test_an_empty_board_becomes_a_public_one(server: Server, owner: Browser) -> None:
    """Upload, look, vote, make a token, take a vote back; all without a command line."""
    assert "admin page" in server.ask("/").body.decode()
    assert owner.send("admin-import", ("../../battles.csv", BATTLES), voter="who") == 200
    assert owner.said.startswith("3 votes over 3 agents added from ../../battles.csv; 3 agents new on this board.")
    assert until(lambda: (server.ask("/leaderboard.json").json["fit"] or {}).get("n_votes") == 3, 60)
    assert owner.send("admin-import", ("battles.csv", BATTLES), voter="who") == 200
    assert "imported before" in owner.said and "tick the box" in owner.said
    assert owner.send("admin-import", ("battles.csv", BATTLES), voter="who", again="yes") == 200
    assert server.ask("/leaderboard.json").json["n_votes"] == 6
    assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 201  # an owner is no token
    assert owner.send("admin-token", scope="vote", label="harness", board="") == 200
    secret = re.search(r"sco_[\w-]+", owner.said)
    assert secret is not None
    assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 401
    bearer = {"Authorization": f"Bearer {secret[0]}"}
    assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}, headers=bearer).status == 201
    owner.open("/admin")
    assert secret[0] not in owner.page and "harness" in owner.page
    owner.open("/admin-votes?voter=ann")
    assert owner.page.count("Take back vote") == 4
    assert owner.send("admin-retract", vote="1") == 200
    assert owner.said == "Vote 1 counts no longer."
    assert server.ask("/leaderboard.json").json["n_votes"] == 7
    owner.open("/admin")
    assert "the owner" in owner.page and "took back vote" in owner.page
    assert owner.send("admin-revoke", token="1") == 200
    assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}, headers=bearer).status == 401
    assert owner.send("admin-board", name="two", title="Second") == 200
    assert owner.open("/boards/two/admin") == 200 and "Run <bdi>Second" in owner.page
    assert owner.send("sign-out") == 200
    assert "Sign in to run this board" in owner.page
    assert owner.open("/admin-votes") == 401


@pytest.mark.service
def test_a_quarantine_is_seen_before_it_is_made_and_undone(server: Server, owner: Browser) -> None:
    votes = (crowd(7, 800) + rigged(7, Style(2), TARGET, votes=200)).bodies()
    assert server.ask("/votes", votes).status == 201
    assert until(lambda: (server.ask("/leaderboard.json").json["fit"] or {}).get("n_votes") == len(votes), 60)
    owner.open("/admin-voters")
    riggers = ["rigger-0", "rigger-1"]
    assert re.findall(r'name="voter" value="([^"]+)"', owner.page) == riggers
    assert owner.send("admin-preview", voter=riggers, why="they lift one agent") == 200
    assert "Without rigger-0, rigger-1" in owner.page and "200 votes of main would count no longer" in owner.page
    moved = re.search(rf"<bdi>{NAMES[TARGET]}</bdi></th><td>(\d+)</td><td>(\d+|none)</td>", owner.page)
    assert moved is not None and moved[1] != moved[2]
    assert server.ask("/leaderboard.json").json["n_votes"] == len(votes)  # nothing is done yet
    assert owner.send("admin-quarantine", voter=riggers, why="they lift one agent") == 200
    assert until(lambda: server.ask("/leaderboard.json").json["fit"]["n_votes"] == 800, 60)
    ranks = {row["agent"]: row["rank"] for row in server.ask("/leaderboard.json").json["rows"]}
    assert str(ranks[NAMES[TARGET]]).lower() == moved[2]  # as it was foretold
    owner.open("/admin")
    assert "they lift one agent" in owner.page and 'aria-label="Release rigger-0"' in owner.page
    assert owner.send("admin-release", voter=riggers) == 200
    assert until(lambda: server.ask("/leaderboard.json").json["fit"]["n_votes"] == len(votes), 60)
    assert owner.send("admin-preview", voter="nobody") == 200
    assert owner.said.startswith("Not done: expected voters who have voted on this board")


@pytest.mark.service
def test_a_form_of_another_page_does_nothing(server: Server, owner: Browser) -> None:
    for action in ("admin-token", "admin-import", "admin-quarantine", "admin-board", "admin-retract"):
        sent = urlencode({"form": "guessed", "scope": "admin", "label": "evil", "name": "evil", "vote": 1}).encode()
        assert owner.open(f"/{action}", sent) == 200
        assert owner.said.startswith("Not done: the form is not of this session")
        origin = {"Origin": "https://evil.example", "Content-Type": "application/x-www-form-urlencoded"}
        assert owner.open(f"/{action}", sent, origin) == 403
    assert owner.open("/admin-preview", b"form=guessed&voter=x") == 403
    assert [board["name"] for board in server.ask("/boards.json").json] == ["main"]


@pytest.mark.service
def test_a_token_signs_in_for_what_it_is_good_for(tmp_path: Path) -> None:
    address = str(tmp_path / "board.db")
    secret = admin_token(address)
    with serving(address) as server:
        bearer = {"Authorization": f"Bearer {secret}"}
        assert server.ask("/boards", {"name": "two"}, headers=bearer).status == 201
        voter, of_two = (
            server.ask(path, {"scope": scope, "label": "a test"}, headers=bearer).json
            for path, scope in (("/tokens", "vote"), ("/tokens?board=two", "admin"))
        )
        browser = Browser(server.url)
        for wrong in ("", "sco_wrong", voter["token"], of_two["token"]):
            assert browser.open("/sign-in", urlencode({"token": wrong}).encode()) == 403
            assert browser.said == "Not done: this is no token of scope admin for this board."
        assert browser.open("/boards/two/sign-in", urlencode({"token": of_two["token"]}).encode()) == 200
        assert "Run <bdi>two" in browser.page and "Make a token" not in browser.page
        browser.send("boards/two/admin-token", scope="admin", label="more")
        assert browser.said == "Not done: this takes a token for all boards."
        assert browser.open("/admin-votes") == 401  # of main
        assert server.ask(f"/tokens/{of_two['id']}", method="DELETE", headers=bearer).status == 204
        assert browser.open("/boards/two/admin-votes") == 401  # a session ends with its token


def _bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("battles.csv", b"a,b,winner\n" + b"x,y,a\n" * 20_000_000)
    return packed.getvalue()


@pytest.mark.service
def test_a_file_that_is_no_file_of_votes_is_refused_in_words(server: Server, owner: Browser) -> None:
    hostile = {
        "empty.csv": b"",
        "picture.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        "half.json": b'{"results": {"arc',
        "deep.json": b"[" * 100_000,
        "battles.csv": b"a,b,winner\nx,y,nobody\n",
        "bomb.zip": _bomb(),
        "..": b"a,b\n",
    }
    for name, data in hostile.items():
        assert owner.send("admin-import", (name, data)) == 200
        assert owner.said.startswith("Not done: "), name
        assert "Traceback" not in owner.said and "/tmp" not in owner.said, owner.said
    assert "battles.csv:2" in _said(owner, "battles.csv", hostile["battles.csv"])
    assert owner.open("/admin-import", b"x", {"Content-Type": "multipart/form-data"}) == 200
    assert owner.said == "Not done: expected a form with one file."
    assert owner.open("/admin-import", b"\xff" * 100, {"Content-Type": "application/x-www-form-urlencoded"}) == 200
    assert owner.said == "Not done: expected the fields of a form."
    assert owner.send("admin-import", ("large.csv", b"x" * (2**24 + 2**17))) == 200
    assert "expected at most" in owner.said
    assert server.ask("/leaderboard.json").json["n_votes"] == 0


def _said(owner: Browser, name: str, data: bytes) -> str:
    owner.send("admin-import", (name, data))
    return owner.said


@pytest.mark.service
def test_hostile_names_stay_words(server: Server, owner: Browser) -> None:
    name = '"><script>alert(1)</script>'
    vote = {"a": name, "b": "y", "winner": "a", "voter": name, "group": name}
    assert server.ask("/votes", vote).status == 201
    owner.send("admin-quarantine", voter=name, why=name)
    for page in ("/admin", "/admin-votes", f"/admin-votes?{urlencode({'voter': name})}", "/admin-voters"):
        assert owner.open(page) == 200
        assert "<script" not in owner.page, page


@pytest.mark.parametrize(
    ("given", "kept"),
    [("battles.csv", "battles.csv"), ("../../etc/passwd", "passwd"), (r"C:\x\votes.jsonl.gz", "votes.jsonl.gz"),
     ("..", "votes"), ("", "votes"), (".hidden", "hidden"), ("a\0b\n.csv", "a_b_.csv"), ("é" * 200 + ".csv", None)],
)  # fmt: skip
def test_names_of_files_lead_nowhere(given: str, kept: str | None) -> None:
    found = file_name(given)
    assert kept is None or found == kept
    assert 0 < len(found) <= 80 and not set(found) & set("/\\\0") and found.strip(".")


def request_with(cookie: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]})


def test_links_and_sessions_end() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    late = sessions.new_link()
    now[0] = LINK_SECONDS
    assert sessions.follow(late) is None
    cookie = sessions.follow(sessions.new_link())
    assert cookie is not None
    assert sessions.of(request_with(cookie), []) is not None
    assert sessions.of(request_with(cookie + "x"), []) is None
    now[0] += SESSION_SECONDS
    assert sessions.of(request_with(cookie), []) is None


def test_there_are_only_so_many_sessions_and_the_oldest_end() -> None:
    sessions, token = Sessions(), Token(7, "", None, "admin", "me", 0.0, None)
    cookies = [sessions.begin(token) for _ in range(MOST + 1)]
    assert sessions.of(request_with(cookies[0]), [token]) is None
    assert sessions.of(request_with(cookies[1]), [token]) is not None
    assert sessions.of(request_with(cookies[1]), []) is None
