"""Attacks by those who may vote: too many pairs, too much weight, again and again, and what blind matches give away."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Sequence

from helpers.attack.clients import Client
from helpers.attack.harness import Target

AGENTS, RANKED, RANKINGS = 5000, 1000, 60
TICKETS = 100_000  # more than all boards together may have had


def large_rankings(target: Target) -> None:
    """Sixty anonymous rankings of 1,000 out of 5,000 agents; battles between known agents are taken afterwards."""
    board, rng = target.new_board(), random.Random(1)
    client = target.client(board, host="127.0.0.3")
    known: list[str] = []
    end = time.monotonic() + 60
    for _ in range(RANKINGS):
        ranking = [f"agent-{k:04}" for k in rng.sample(range(AGENTS), RANKED)]
        reply = client.ask("/votes", {"ranking": ranking})
        while reply.status in (429, 503) and time.monotonic() < end:
            target.expect("retry-after" in reply.headers, f"{reply.status} without Retry-After")
            time.sleep(min(float(reply.headers.get("retry-after", 1)), 5.0))
            reply = client.ask("/votes", {"ranking": ranking})
        if reply.status == 201:
            known += ranking
        elif reply.status != 429:
            target.refused(reply, "a long ranking", 422)
            target.expect("pairs" in reply.detail, f"the refusal does not name the limit: {reply.detail[:100]}")
    target.expect(bool(known), "no long ranking at all was taken")
    other = target.client(board, host="127.0.0.4")
    for _ in range(20):
        target.done(other.battle(*rng.sample(known or ["x", "y"], 2)), "a battle between known agents")
    target.fitted(board, 300)


def heavy_votes(target: Target) -> None:
    """One vote of weight 1,000,000 against 1,000 honest ones; weights above 1 are for admins."""
    board = target.new_board()
    token = target.site.new_token("vote", board)[1]
    anybody, voter, admin = target.client(board), target.client(board, token=token), target.admin(board)
    for _ in range(10):
        votes = [{"a": "best", "b": "worst", "winner": "a"}] * 100
        target.done(admin.ask("/votes", votes), "honest votes")
    for client, who in ((anybody, "anybody"), (voter, "a voter with a token")):
        for weight in (1e6, 1.5):
            heavy = {"a": "worst", "b": "best", "winner": "a", "weight": weight}
            target.refused(client.ask("/votes", heavy), f"weight {weight:g} of {who}", 403)
            light = {"a": "best", "b": "worst", "winner": "a"}
            target.refused(client.ask("/votes", [light, heavy]), f"weight {weight:g} of {who} in a list", 403)
        for weight in (1, 0.5):
            target.done(client.battle("best", "worst", weight=weight), f"weight {weight:g} of {who}")
    if not target.short and target.fitted(board):
        first = admin.get("/leaderboard.json")["rows"][0]["agent"]
        target.expect(first == "best", f"{first!r} is first after one heavy vote")
    target.done(admin.battle("best", "worst", weight=2), "weight 2 of an admin")


def keys_of_two_tokens(target: Target) -> None:
    """The idempotency key of somebody else: neither blocked by it nor answered with what it got."""
    board = target.new_board()
    one, two = (target.client(board, token=target.site.new_token("vote", board)[1]) for _ in range(2))
    key = {"Idempotency-Key": "1"}
    mine, other = ({"a": a, "b": "y", "winner": "a"} for a in ("x", "z"))
    first = one.ask("/votes", mine, headers=key)
    target.done(first, "a vote with a key")
    for client, vote, what in (
        (two, other, "another body under another token"),
        (target.client(board), mine, "the same body by somebody without a token"),
    ):
        reply = client.ask("/votes", vote, headers=key)
        target.done(reply, f"the same key, {what}")
        if reply.status == 201:
            target.expect(reply.json["id"] != first.json["id"], f"the same key, {what}: answered as the other's")
    again = one.ask("/votes", mine, headers=key)
    target.expect(again.status == 201 and again.json["id"] == first.json["id"], "the same request is counted again")


def replay(target: Target) -> None:
    """Tickets and keys that are used again, with the same vote, another vote and on another board."""
    board, elsewhere = _with_samples(target), _with_samples(target)
    client, other = target.client(board), target.client(elsewhere)
    ticket = client.get("/match.json")["ticket"]
    votes = [client.ask("/votes", {"ticket": ticket, "winner": "a"}) for _ in range(3)]
    target.expect(len({vote.json.get("id") for vote in votes}) == 1, "a ticket counts more than once")
    target.refused(client.ask("/votes", {"ticket": ticket, "winner": "b"}), "a ticket with another winner", 422)
    target.refused(other.ask("/votes", {"ticket": ticket, "winner": "a"}), "a ticket of another board", 422)
    target.refused(client.ask("/votes", {"ticket": "A" * 24, "winner": "a"}), "a ticket made up", 422)
    key = {"Idempotency-Key": "again"}
    vote = {"a": "x", "b": "y", "winner": "a"}
    replies = [client.ask("/votes", vote, headers=key) for _ in range(5)]
    target.expect(len({reply.json["id"] for reply in replies}) == 1, "a key counts more than once")
    target.refused(client.ask("/votes", {**vote, "winner": "b"}, headers=key), "a key with another body", 422)
    target.done(other.ask("/votes", vote, headers=key), "the same key on another board")
    counted = client.get("/leaderboard.json")["n_votes"]
    target.expect(counted == 2, f"{counted} votes count, expected the ticket's and the key's")


def tickets_of_another_board(target: Target) -> None:
    """More tickets of one board than all boards together may have had; one of another board is still good."""
    board, busy = _with_samples(target), _with_samples(target)
    client = target.client(board)
    ticket = client.get("/match.json")["ticket"]
    taken = _take_tickets(target.client(busy, token=target.site.secret, host="127.0.0.3"), TICKETS + 1, 400)
    target.expect(taken > TICKETS, f"only {taken:,} tickets could be taken in time: no attack")
    reply = client.ask("/votes", {"ticket": ticket, "winner": "a"})
    target.done(reply, "the vote of a ticket that was there before")


def _take_tickets(client: Client, wanted: int, seconds: float) -> int:
    """Ask for matches over one connection, some hundred at a time."""
    head = f"GET /boards/{client.board}/match.json HTTP/1.1\r\nHost: localhost\r\n"
    request = f"{head}Authorization: Bearer {client.token}\r\n\r\n".encode()
    taken, end, together = 0, time.monotonic() + seconds, 200
    with client.connect() as connection:
        while taken < wanted and time.monotonic() < end:
            connection.sendall(request * together)
            taken += _answers(connection, together)
    return taken


def _answers(connection: socket.socket, number: int) -> int:
    """Read so many answers; how many of them were 200."""
    good, left, rest = 0, number, b""
    while left:
        part = connection.recv(1 << 20)
        if not part:
            raise ConnectionResetError("cut between two answers")
        *whole, rest = (rest + part).split(b"HTTP/1.1 ")
        left -= sum(bool(one) for one in whole)
        good += sum(one.startswith(b"200") for one in whole)
        if left == 1 and rest.rstrip().endswith(b"}"):
            left, good = 0, good + rest.startswith(b"200")
    return good


def blind_match_on_a_full_board(target: Target) -> None:
    """A blind match of agents that are not on a board, which is full: who they were stays hidden."""
    board = target.new_board()
    admin, client = target.admin(board), target.client(board)
    hidden = ("hidden-one", "hidden-two")
    target.done(admin.ask("/samples", [_sample(agent) for agent in hidden]), "samples")
    target.done(admin.ask("/votes", {"ranking": [f"agent {k}" for k in range(30)]}), "a vote that fills the board")
    match = client.ask("/match.json")
    target.expect(match.status in (200, 404, 422), f"a match on a full board: {match.status}")
    said = [match]
    if match.status == 200:
        vote = {"ticket": match.json["ticket"], "winner": "a"}
        said += [client.ask("/votes", vote), client.ask("/votes", {**vote, "winner": "b"})]
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        said.append(client.ask("/vote", f"ticket={vote['ticket']}&winner=a".encode(), headers=form))
    for reply in (reply for reply in said if reply.status != 201):
        target.expect(not any(name in reply.detail for name in hidden), f"a refusal names them: {reply.detail[:120]}")


def same_file_twice(target: Target) -> None:
    """The same file imported twice: told, and added again only where that is asked for."""
    board = target.new_board()
    admin = target.admin(board)
    file = table([("x", "y"), ("y", "z"), ("x", "z")] * 20)
    ask = {"format": "csv"}
    first = admin.ask("/import", file, query=ask)
    target.done(first, "an import")
    target.refused(admin.ask("/import", file, query=ask), "the same file again", 409)
    seen = admin.ask("/import", file, query={**ask, "preview": True})
    target.done(seen, "a preview", 200)
    rows = {"id": first.json["id"], "last": first.json["last"]}
    before = seen.json.get("before")
    target.expect(before == rows, f"the preview says before: {before}, expected {rows}")
    counted = admin.get("/leaderboard.json")["n_votes"]
    target.expect(counted == 60, f"{counted} votes after the same file twice, expected 60")
    target.done(admin.ask("/import", file, query={**ask, "again": True}), "the same file, asked for")
    counted = admin.get("/leaderboard.json")["n_votes"]
    target.expect(counted == 120, f"{counted} votes after the same file was asked for again, expected 120")


def scopes(target: Target) -> None:
    """Everything that is for admins, asked by everybody else."""
    board, other = target.new_board(), target.new_board()
    secrets = {
        "anybody": None,
        "a voter": target.site.new_token("vote", board)[1],
        "an admin of another board": target.site.new_token("admin", other)[1],
        "a wrong token": "sco_" + "A" * 32,
    }
    of_a_board = ("/retract?vote=1", "/quarantine?voter=ann", "/release?voter=ann", "/samples", "/import?format=csv")
    for who, secret in secrets.items():
        client, site = target.client(board, token=secret), target.client(token=secret)
        for path in of_a_board:
            target.refused(client.ask(path, b"[]"), f"{path} by {who}", 401, 403)
        for path in ("/voters.json", "/export.csv?voters=true", "/export.jsonl?voters=1"):
            target.refused(client.ask(path), f"{path} by {who}", 401, 403)
        for path, body in (("/boards", {"name": "mine"}), ("/tokens", {"scope": "admin", "label": "mine"})):
            target.refused(site.ask(path, body), f"{path} by {who}", 401, 403)
        target.refused(site.ask("/tokens.json"), f"/tokens.json by {who}", 401, 403)
        target.refused(site.ask("/tokens/1", method="DELETE"), f"the end of a token by {who}", 401, 403)
    stolen = target.client(other, token=secrets["a voter"]).battle()
    target.refused(stolen, "a vote with a token of another board", 403)


def table(battles: Sequence[tuple[str, str]]) -> bytes:
    """Battles as csv, the winner first."""
    return b"a,b,winner\n" + "".join(f"{a},{b},a\n" for a, b in battles).encode()


def _sample(agent: str, task: str = "task 1") -> dict[str, str]:
    return {"task": task, "agent": agent, "answer": f"what one of them says to {task}"}


def _with_samples(target: Target) -> str:
    """A board with two answers to each of five tasks."""
    board = target.new_board()
    samples = [_sample(agent, f"task {k}") for k in range(5) for agent in ("one", "two")]
    target.done(target.admin(board).ask("/samples", samples), "samples")
    return board
