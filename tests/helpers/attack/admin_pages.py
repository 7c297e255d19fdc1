"""Attacks on the pages of admins: without a session, by forms of other sites, and with hostile files."""

from __future__ import annotations

import io
import re
import threading
import zipfile
from contextlib import suppress
from urllib.parse import urlencode

from helpers.attack.clients import Client
from helpers.attack.harness import Target

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ACTIONS = ("import", "preview", "quarantine", "release", "retract", "token", "revoke", "board")


def upload(data: bytes, name: str = "votes.csv", form: str = "") -> tuple[bytes, dict[str, str]]:
    """A form with a file, and its headers."""
    head = f'--x\r\nContent-Disposition: form-data; name="form"\r\n\r\n{form}\r\n--x\r\n'
    head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}


def forms_without_a_session(target: Target) -> None:
    """Codes and tokens that are guessed by many at once, and 16 MB forms of those who have not signed in."""
    board = target.new_board()
    client = target.client(board, host="127.0.0.3")
    large = upload(b"x" * 2**24)
    for action in ACTIONS:
        reply = client.ask(f"/admin-{action}", b"form=&vote=1&name=evil&label=evil&scope=admin", headers=FORM)
        target.refused(reply, f"the form {action} without a session", 401)
    with suppress(OSError):  # cut, or refused before it was sent
        reply = client.ask("/admin-import", large[0], headers=large[1])
        target.expect(reply.status in (401, 413), f"16 MB without a session: {reply.status}")

    def guess(k: int) -> None:
        for n in range(5 if target.short else 40):
            with suppress(OSError):
                client.ask("/enter", query={"code": f"{k}-{n}"})
                reply = client.ask("/sign-in", urlencode({"token": f"sco_{k}-{n}"}).encode(), headers=FORM)
                target.expect(reply.status in (403, 429, 503), f"a guessed token: {reply.status}")

    guesses = [threading.Thread(target=guess, args=(k,)) for k in range(20)]
    for one in guesses:
        one.start()
    for one in guesses:
        one.join()
    names = [one["name"] for one in target.client().get("/boards.json")]
    target.expect("evil" not in names, "a form without a session made a board")


def _session(target: Target, board: str) -> tuple[Client, dict[str, str], str]:
    """A client who has signed in by the token of the site, the headers of its session, the secret of its forms."""
    client = target.client(board, host="127.0.0.3")
    reply = client.ask("/sign-in", urlencode({"token": target.site.secret}).encode(), headers=FORM)
    target.expect(reply.status == 303, f"signing in: {reply.status}")
    cookie = {"Cookie": reply.headers.get("set-cookie", "").partition(";")[0]}
    page = client.ask("/admin", headers=cookie).body.decode()
    form = re.search(r'name="form" value="([^"]+)"', page)
    return client, cookie, form[1] if form else ""


def hostile_uploads(target: Target) -> None:
    """Files of an admin that are bombs, nested, endless or named after others; and forms that another site sends."""
    board = target.new_board()
    client, cookie, form = _session(target, board)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../votes.csv", b"a,b,winner\n" + b"x,y,a\n" * (1_000_000 if target.short else 30_000_000))
    files = {
        "bomb.zip": packed.getvalue(),
        "deep.json": b"[" * 1_000_000,
        "blanks.csv": b" " * 10_000_000,
        "../../../etc/passwd": b"a,b\n",
        "lines.csv": b"\n" * 10_000_000,
        "large.csv": b"x" * (2**24 + 2**17),
    }
    for name, data in files.items():
        body, headers = upload(data, name, form)
        reply = client.ask("/admin-import", body, headers={**headers, **cookie})
        target.expect(reply.status == 303, f"{name}: {reply.status}")
        page = client.ask("/admin", headers=cookie).body.decode()
        target.expect("Not done: " in page, f"{name} was taken")
    body, headers = upload(b"a,b,winner\nx,y,a\n", form=form)
    evil = {"Origin": "https://evil.example"}
    target.refused(client.ask("/admin-import", body, headers={**headers, **cookie, **evil}), "another site", 403)
    body, headers = upload(b"a,b,winner\nx,y,a\n", form="guessed")
    client.ask("/admin-import", body, headers={**headers, **cookie})
    n_votes = client.get("/leaderboard.json")["n_votes"]
    target.expect(n_votes == 0, f"{n_votes} votes came in by files and forms that were refused")
