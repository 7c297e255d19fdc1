"""A board as one version of the software leaves it: a file, a dump of PostgreSQL, and what was answered about it.

    PYTHONPATH=src:tests python tests/server/data/make_board.py

`test_older_boards.py` opens both with the version of now. Made once, by the last version that served votes beside a
web framework; made again only where an even older board is to be held.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from helpers import postgres
from helpers.boards import admin_token, until
from helpers.serving import serving

HERE = Path(__file__).parent
PATHS = ["/leaderboard.json", "/history.json", "/agent.json?name=x", "/pair.json?a=x&b=y", "/doctor.json"]
VOTES: list[dict[str, Any]] = [
    *[{"a": "x", "b": "y", "winner": "a", "voter": f"v{k}", "group": "coding"} for k in range(9)],
    *[{"a": "y", "b": "x", "winner": "a", "voter": f"v{k}"} for k in range(4)],
    {"a": "y", "b": "z", "winner": "tie", "voter": "ann"},
    {"a": "x", "b": "café", "winner": "both_bad", "weight": 0.25},
    *[{"ranking": ["x", ["y", "z"], "café"], "voter": "ben", "group": "maths"}] * 3,
]


def fill(address: str) -> dict[str, Any]:
    """Everything that a board can hold, and what is answered about it once it was fitted."""
    secret = admin_token(address)
    headers = {"Authorization": f"Bearer {secret}"}
    with serving(address, "--every", "1") as server:

        def ask(path: str, body: Any = None, key: str = "") -> Any:
            method = None if path.split("?")[0].endswith(".json") else "POST"
            sent = {**headers, **({"Idempotency-Key": key} if key else {})}
            answer = server.ask(path, body if body is not None or not method else b"", method=method, headers=sent)
            assert answer.status in (200, 201), answer
            return answer.json

        ask("/votes", VOTES, key="sent once")
        ask("/votes", {"a": "z", "b": "x", "winner": "a", "voter": "eve"})
        ask("/retract?vote=1&why=a+test")
        ask("/quarantine?voter=eve")
        ask("/boards", {"name": "second", "title": "Second board"})
        ask("/boards/second/votes", {"ranking": ["p", "q"]})
        ask("/tokens?board=main", {"scope": "vote", "label": "arena"})
        ask("/samples", [{"task": "sum", "agent": agent, "answer": f"it is {agent}"} for agent in "xy"])
        until(lambda: (ask("/leaderboard.json")["fit"] or {}).get("behind") == 0)
        until(lambda: (ask("/boards/second/leaderboard.json")["fit"] or {}).get("behind") == 0)
        return {
            "secret": secret,
            "votes": VOTES,
            "answers": {path: ask(path) for path in [*PATHS, "/boards/second/leaderboard.json"]},
        }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        told = {"sqlite": fill(f"{folder}/board.db")}
        with closing(sqlite3.connect(f"{folder}/board.db")) as database:
            database.execute("VACUUM INTO ?", (f"{folder}/small.db",))
        (HERE / "board.db.gz").write_bytes(gzip.compress(Path(folder, "small.db").read_bytes(), mtime=0))
    with postgres.cluster() as cluster:
        address = cluster.database()
        told["postgres"] = fill(address)
        dump = [f"{postgres.programs()}/pg_dump", "--inserts", "--no-owner", "--no-privileges", address]
        said = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
    kept = [line for line in said.splitlines() if line and not re.match(r"--|\\|SET |SELECT pg_catalog", line)]
    (HERE / "board.sql.gz").write_bytes(gzip.compress("\n".join(kept).encode(), mtime=0))
    (HERE / "board.json").write_text(json.dumps(told, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
