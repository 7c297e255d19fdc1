"""Attacks by those who only look: costly views, addresses that mean nothing; and pages that show wrong ranks."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import softcondorcet as sc
from helpers.attack.clients import Client, Reply
from helpers.attack.harness import PATIENCE, Target
from helpers.attack.votes import table

NOTHING_FOUND = "Nothing doubtful was found"


def filtered_views(target: Target) -> None:
    """Twelve filtered views at once on a board of 1,000 agents; a visitor from elsewhere still gets views."""
    agents, battles = (150, 4000) if target.short else (1000, 20_000)
    board, rng = target.new_board(), random.Random(2)
    admin = target.admin(board)
    target.vote(admin, [_battle(rng, agents) for _ in range(battles)])
    target.fitted(board, 400)
    now = time.time()
    asked: list[dict[str, Any]] = [{"since": k + 1} for k in range(4)] + [{"until": now + k} for k in range(4)]
    asked += [{"group": f"g{k}"} for k in range(4)]
    replies: list[Reply] = []
    attackers = [
        threading.Thread(target=_look, args=(target.client(board, host="127.0.0.3"), query, replies)) for query in asked
    ]
    for attacker in attackers:
        attacker.start()
    time.sleep(0.5)
    visitor = target.client(board, host="127.0.0.4")
    for query in ({"group": "g5"}, {"since": 1000}):
        reply = visitor.ask("/leaderboard.json", query=query)
        target.done(reply, f"a view {query} of a visitor", 200)
        target.expect(reply.seconds < 30, f"a view {query} of a visitor took {reply.seconds:.0f} s")
    page = visitor.ask("/")
    target.done(page, "the page of the board", 200)
    target.expect(page.seconds < 2, f"the page of the board took {page.seconds:.1f} s")
    for attacker in attackers:
        attacker.join()
    target.expect(len(replies) == len(asked), f"{len(asked) - len(replies)} views were not answered within a minute")
    for reply in replies:
        target.expect(reply.status in (200, 429, 503), f"a view was answered {reply.status}")
        if reply.status != 200:
            target.expect("retry-after" in reply.headers, f"{reply.status} without Retry-After")
    target.expect(any(reply.status == 429 for reply in replies), "one host may have twelve views made at once")


def _battle(rng: random.Random, agents: int) -> dict[str, str]:
    a, b = sorted(rng.sample(range(agents), 2))
    winner = "a" if rng.random() < 0.7 else "b"
    return {"a": f"agent-{a:04}", "b": f"agent-{b:04}", "winner": winner, "group": f"g{rng.randrange(6)}"}


def _look(client: Client, query: dict[str, Any], replies: list[Reply]) -> None:
    with suppress(OSError):  # no answer in time
        replies.append(client.ask("/leaderboard.json", query=query))


def unknown_queries(target: Target) -> None:
    """Query parameters and groups that do not exist: an error in words, not an empty board, nor all of it."""
    board = target.new_board()
    client = target.client(board)
    for group in ("one", "two"):
        target.done(client.battle(group=group), "a vote")
    unknown = (
        "/leaderboard.json?grop=one", "/leaderboard.json?group=one&untill=3", "/leaderboard.csv?gruop=one",
        "/export.csv?sinc=1", "/export.jsonl?voter=true", "/pair.json?a=x&b=y&c=z", "/agent.json?name=x&names=y",
        "/history.json?top=1", "/?grop=one", "/agent?name=x&group=one", "/doctor?since=1",
    )  # fmt: skip
    for path in unknown:
        reply = client.ask(path)
        target.refused(reply, path, 422)
    for path, known in (("/leaderboard.json?sinse=1", "since"), ("/?sinse=1", "since"), ("/pair.json?x=1&b=y", "a")):
        target.expect(known in client.ask(path).detail, f"{path}: the refusal does not name {known}")
    for path in ("/?utm_source=mail&utm_campaign=x", "/?fbclid=1", "/?gclid=1", "/agent?name=x&utm_medium=mail"):
        target.done(client.ask(path), path, 200)
    for path in (
        "/leaderboard.json?group=none",
        "/leaderboard.csv?group=none",
        "/export.csv?group=none",
        "/?group=none",
    ):
        target.refused(client.ask(path), path, 404)
    for path in ("/leaderboard.json?group=one", "/?group=one", "/export.csv?group=two"):
        target.done(client.ask(path), path, 200)


def long_numbers(target: Target) -> None:
    """Numbers of thousands of digits in addresses."""
    client, zeros = target.client(), "0" * 5000
    for top in (zeros, "1" + zeros, "000000001" + zeros, "9" * 5000, zeros + "1", "-1", "1e3", "\u0661", "0", "100001"):
        target.refused(client.ask("/", query={"top": top}), f"?top={top[:12]}...", 422)
    for number in ("9" * 5000, "1e999999", "nan", "-inf", "0x10"):
        target.refused(client.ask("/", query={"since": number}), f"/?since={number[:12]}...", 422)
        for path in ("/leaderboard.json", "/export.csv"):
            status = client.ask(path, query={"since": number}).status
            target.expect(status in (200, 422), f"{path}?since={number[:12]}...: {status}")
    target.refused(client.ask("/tokens/" + "9" * 5000, method="DELETE"), "a token of 5,000 digits", 401, 404, 422)
    target.done(client.ask("/", query={"top": 3}), "?top=3", 200)


def etag_of_a_filtered_view(target: Target) -> None:
    """A filtered view whose tag stays while the overall ranks that it shows change."""
    board = target.new_board()
    admin = target.admin(board)
    target.done(admin.ask("/votes", [{"a": "x", "b": "y", "winner": "a", "group": "one"}] * 3), "votes")
    target.fitted(board)
    shown: dict[str, bytes] = {}
    changed = False

    def look() -> None:
        nonlocal changed
        reply = admin.ask("/leaderboard.json", query={"group": "one"})
        if reply.status == 200:
            changed |= shown.setdefault(reply.headers["etag"], reply.body) != reply.body

    look()
    names = ["x"] + [f"agent {k}" for k in range(8)]
    target.done(admin.ask("/votes", [{"ranking": ["y", *names], "group": "two"}] * 20), "votes of another group")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and admin.get("/leaderboard.json")["fit"]["behind"]:
        look()
        time.sleep(0.1)
    look()
    target.expect(not changed, "the same ETag stood for two answers")
    rows = {row["agent"]: row for row in admin.get("/leaderboard.json", group="one")["rows"]}
    target.expect(rows["y"]["rank_overall"] == 1, f"y is {rows['y']['rank_overall']} overall, expected 1")


def import_after_a_vote(target: Target) -> None:
    """A vote, and after its fit an import of 5,000: no page shows a rank that these votes do not give."""
    board, rng = target.new_board(), random.Random(3)
    names, battles = [f"agent-{k:02}" for k in range(1, 13)], list[tuple[str, str]]()
    while len(battles) < 5000:
        a, b = sorted(rng.sample(range(12), 2))
        battles.append((names[a], names[b]) if rng.random() < 0.9 else (names[b], names[a]))
    admin = target.admin(board)
    target.done(admin.battle(names[0], names[1]), "the first vote")
    target.fitted(board)
    truth = _ranks([*battles, (names[0], names[1])])
    target.done(admin.ask("/import", table(battles), query={"format": "csv"}), "the import")
    wrong: dict[str, int] = {}
    end, fitted = time.monotonic() + PATIENCE, False
    while not fitted and time.monotonic() < end:
        fitted = _fit_of_all(admin)
        for where, ranks in _shown(admin).items():
            for name, rank in ranks.items():
                if rank != truth[name]:
                    wrong[f"{where} shows {name} as {rank}, expected {truth[name]}"] = 1
        time.sleep(0.1)
    target.expect(fitted, f"no fit of the import within {PATIENCE:g} s")
    target.expect(not wrong, f"{len(wrong)} wrong ranks; {'; '.join(list(wrong)[:2])}")
    target.expect(_shown(admin)["leaderboard.json"] == truth, "the fit of the import shows no ranks, or others")


def _ranks(battles: list[tuple[str, str]]) -> dict[str, int]:
    """The ranks that the library gives for these battles."""
    ratings = sc.sco(sc.Profile.from_rankings([list(battle) for battle in battles]))
    return dict(zip(ratings.agents, ratings.ranks.tolist(), strict=True))


def _fit_of_all(client: Client) -> bool:
    fit = client.get("/leaderboard.json")["fit"]
    return fit is not None and fit["behind"] == 0


def _shown(client: Client) -> dict[str, dict[str, int]]:
    """The ranks that are shown now, in data and on the page; agents without one are left out."""
    rows = client.get("/leaderboard.json")["rows"]
    page = client.ask("/").body.decode()
    cells = re.findall(r'<td role="cell" class="rank"><b>(\d+)</b>.*?<bdi>(.*?)</bdi>', page)
    return {
        "leaderboard.json": {row["agent"]: row["rank"] for row in rows if row["rank"] is not None},
        "the page": {name: int(rank) for rank, name in cells},
    }


def nothing_doubtful_before_a_fit(target: Target) -> None:
    """What pages say of votes that nobody has looked at yet."""
    board = target.new_board()
    admin = target.admin(board)
    target.done(admin.ask("/votes", [{"a": "x", "b": "y", "winner": "a"}] * 50), "votes")
    said: set[str] = set()
    unfitted: Callable[[], bool] = lambda: admin.get("/leaderboard.json")["fit"] is None  # noqa: E731
    end = time.monotonic() + PATIENCE
    before = unfitted()
    while before and time.monotonic() < end:
        pages = {path: admin.ask(path).body.decode() for path in ("/", "/doctor")}
        before = unfitted()  # a page of before the first fit was made while there was still none afterwards
        said |= {path for path, page in pages.items() if before and NOTHING_FOUND in page}
    target.expect(not before, f"no first fit within {PATIENCE:g} s")
    target.expect(not said, f"{' and '.join(sorted(said))} said '{NOTHING_FOUND}' before the first fit")
