"""Attacks with names: too long, not to be seen, or code to somebody else."""

from __future__ import annotations

import json

from helpers.attack.harness import Target

# Normalisation sorts combining marks by their class: the later half has to pass the earlier one, letter by letter.
MARKS = "e" + "\u0301" * 32_000 + "\u0323" * 32_000
INVISIBLE = (
    "\u3164", "\u115f", "\u1160", "\uffa0", "\u2800", "\u034f", "\ufe0f", "\U000e0100", "\u17b4", "\u180b",
    "\u200b", "\u200d", "\u202e", "\u2060", "\u00ad", "\ufeff", "\ue000", "\u0007", "\u2028",
)  # fmt: skip
# Names of 120 letters at most after normalisation, of any script.
GOOD = ("e\u0301" * 120, "模型 β-1", "Großmutter (2026)", "हिन्दी", "🐘")
CODE = (
    "<script>alert(1)</script>", "'; DROP TABLE ledger; --", '" onmouseover="alert(1)', "{{7*7}}", "%s%n%x",
    "=HYPERLINK(1)", "../../etc/passwd", "${jndi:ldap://x}", "</td></table>",
)  # fmt: skip


def combining_marks(target: Target) -> None:
    """Names of 64,000 combining marks, in a body of 128 kB."""
    board = target.new_board()
    places = {
        "a": {"a": MARKS, "b": "y", "winner": "a"},
        "voter": {"a": "x", "b": "y", "winner": "a", "voter": MARKS},
        "ranking": {"ranking": ["x", ["y", MARKS]]},
        "group": {"ranking": ["x", "y"], "group": MARKS},
    }
    for place, vote in list(places.items())[: 2 if target.short else None]:
        _quickly(target, f"marks as {place}", board, "/votes", vote)
    _quickly(target, "marks as a task", board, "/samples", [{"task": MARKS, "agent": "x", "answer": "1"}])


def _quickly(target: Target, what: str, board: str, path: str, body: object) -> None:
    reply = target.admin(board).ask(path, body)
    target.refused(reply, what, 422)
    target.expect(reply.seconds < 1, f"{what}: refused after {reply.seconds:.1f} s")


def invisible_names(target: Target) -> None:
    """Names that nobody sees, and pairs of names that nobody can tell apart; good names of any script are taken."""
    board = target.new_board()
    client = target.client(board)
    taken = []
    for letter in INVISIBLE:
        for name in (letter, f"x{letter}y"):
            statuses = {
                client.battle(name).status,
                client.battle(voter=name).status,
                client.ask("/votes", {"ranking": ["x", name]}).status,
            }
            if statuses != {422}:
                taken.append(f"U+{ord(letter):04X}")
    target.expect(not taken, f"names with {', '.join(dict.fromkeys(taken))} were not refused everywhere")
    for name in GOOD:
        target.done(client.battle(name), f"the name {name[:20]!a}")


def injection(target: Target) -> None:
    """Names that are code to a browser, a database, a template, a spreadsheet or a file system."""
    board = target.new_board()
    client, admin = target.client(board), target.admin(board)
    for name in CODE:
        target.done(client.battle(name, "plain", voter=name, group=name), f"the name {name!r}")
    for path in ("/", "/doctor", "/history"):
        page = client.ask(path).body.decode()
        for bad in ("<script>alert", 'onmouseover="alert', "</td></table><"):
            target.expect(bad not in page.replace("&#34;", "'"), f"{path} holds {bad!r}")
    for name in CODE:
        reply = client.ask("/agent", query={"name": name})
        target.done(reply, f"the page of {name!r}", 200)
        target.expect(b"<script>alert" not in reply.body, f"the page of {name!r} runs it")
    table = (
        client.ask("/leaderboard.csv").body.decode() + admin.ask("/export.csv", query={"voters": True}).body.decode()
    )
    target.expect(",=HYPER" not in table and "\n=HYPER" not in table, "a cell of a csv begins a formula")
    known = {row["agent"] for row in client.get("/leaderboard.json")["rows"]}
    target.expect(known == {*CODE, "plain"}, f"other names on the board: {sorted(known ^ {*CODE, 'plain'})}")
    site = target.client()
    for path in ("/static/../../etc/passwd", "/static/..%2f..%2f..%2fetc%2fpasswd", "/boards/..%2f..%2fetc/"):
        reply = site.ask(path)
        target.expect(reply.status == 404, f"{path}: expected 404, got {reply.status}")


def bombs(target: Target) -> None:
    """Bodies that are packed, nested, endless or huge where a vote, a file or a board is expected."""
    board = target.new_board()
    admin, site = target.admin(board), target.admin()
    deep = b"[" * 500_000
    bodies = {
        "packed": (b"\x1f\x8b" + b"\0" * 1000, 415),
        "deep": (deep, 422),
        "deep in a vote": (b'{"ranking": ' + deep + b"}", 422),
        "deep objects": (b'{"a":' * 150_000, 422),
        "empty places": (b'{"ranking": [' + b"[]," * 340_000 + b"[]]}", 422),
        "empty votes": (b"[" + b"{}," * 340_000 + b"{}]", 422),
        "a huge number": (b'{"a": "x", "b": "y", "winner": "a", "weight": ' + b"9" * 900_000 + b"}", 422),
        "a huge exponent": (b'{"a": "x", "b": "y", "winner": "a", "weight": 1e999999999}', 422),
        "a name of 900,000 letters": (json.dumps({"a": "x" * 900_000, "b": "y", "winner": "a"}).encode(), 422),
        "2 MB": (b" " * 2**21, 413),
    }
    for what, (body, status) in bodies.items():
        headers = {"Content-Encoding": "gzip"} if what == "packed" else {}
        for client, path in ((admin, "/votes"), (admin, "/samples"), (site, "/boards"), (site, "/tokens")):
            reply = client.ask(path, body, headers=headers)
            target.refused(reply, f"{what} to {path}", status)
            target.expect(len(reply.body) < 2000, f"{what} to {path}: an answer of {len(reply.body):,} bytes")
    head = f"POST /boards/{board}/votes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    endless = admin.exchange(head + 20 * (b"100000\r\n" + b" " * 2**20 + b"\r\n"))
    target.expect(endless[9:12] in (b"413", b""), f"20 MB in chunks: {endless[:30]!r}")
    target.refused(admin.ask("/import", b"\x1f\x8b" * 1000, query={"format": "csv"}), "a packed file", 422)
    wide = b",".join(b"c%d" % k for k in range(400_000)) + b"\n"
    target.refused(admin.ask("/import", wide, query={"format": "csv"}), "a table of 400,000 columns", 422)
    target.expect(admin.get("/leaderboard.json")["n_votes"] == 0, "a bomb was counted as a vote")
