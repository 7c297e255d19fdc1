"""500 rigged votes among 100,000 honest ones, through a server: who is flagged, and where the target ends.

    python benchmarks/rigged.py [--seeds 3] [--styles '5 x 100;25 x 20'] [--csv benchmarks/results/rigged.csv]

For each seed a board gets the votes of a crowd (tests/helpers/rigging.py says what the
honest are like), then, style by style,
the rigged ones: it waits for the fit, puts everybody of /voters.json into quarantine, and waits for the next fit. Then
the riggers stay out, the others are released, and the next style follows. Columns: ranks of the target before, with the
rigged votes and after the quarantine. Exits with 1 where a style with a target misses it: 90 % of the riggers found,
under 1 % of the honest accused, the target within one rank of where it was.

On the server the rigged votes come in one burst, after the others. Columns "spread" are the same without a server, with
the rigged votes spread over all the time: told, not promised.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from rows import arguments, show

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.rigging import NAMES, STYLES, Battles, crowd, rigged, scores
from helpers.serving import Server, serving

from softcondorcet.doctor.voters import suspects
from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.writer import Transaction

TARGET = 11  # the twelfth best of thirty
FOUND, FALSE, RANKS = 0.9, 0.01, 1
# Five votes, of which some look honest, say too little about one voter: told, not promised.
NOT_PROMISED = {"100 x 5, 30 % camouflage", "100 x 5, 50 % camouflage"}


class Board:
    """A server with a token, asked in the way an admin would."""

    def __init__(self, server: Server, secret: str) -> None:
        self.server, self.headers = server, {"Authorization": f"Bearer {secret}"}

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """The answer; asked again where there were too many votes."""
        while True:
            answer = self.server.ask(path, body, method=method, headers=self.headers)
            if answer.status not in (429, 503):
                break
            time.sleep(float(answer.headers["retry-after"]))
        assert answer.status < 300, answer.body
        return answer.json

    def vote(self, votes: Battles) -> None:
        bodies = votes.bodies()
        for first in range(0, len(bodies), 1000):
            self.ask("/votes", bodies[first : first + 1000])

    def judge(self, verdict: str, voters: list[str]) -> None:
        for voter in voters:
            self.ask(f"/{verdict}?voter={quote(voter)}", method="POST")

    def fitted(self) -> dict[str, int]:
        """Ranks by agent, once a fit has seen everything."""
        while True:
            found = self.ask("/leaderboard.json")
            if found["fit"] is not None and found["fit"]["behind"] == 0:
                return {row["agent"]: row["rank"] for row in found["rows"]}
            time.sleep(0.5)

    def suspects(self) -> list[str]:
        return [found["voter"] for found in self.ask("/voters.json")["suspects"]]


def study(board: Board, seed: int, styles: list[str], votes: int) -> Iterator[dict[str, Any]]:
    """A row for each style, as soon as it is there."""
    honest = crowd(seed, votes)
    board.vote(honest)
    before = board.fitted()
    clean = scores(board.suspects(), honest)
    target = NAMES[TARGET]
    yield row(seed, "none", clean, clean, *[before[target]] * 3)
    for number, style in enumerate(styles):
        more = rigged(seed, STYLES[style], TARGET)
        named = Battles([f"rigger-{number}-{voter}" for voter in more.voter], more.first, more.second, more.tied)
        board.vote(named)
        board.judge("release", [honest.voter[0]])  # changes nothing, but asks for a fit at once
        during = board.fitted()
        flagged = board.suspects()
        board.judge("quarantine", flagged)
        after = board.fitted()
        ranks = before[target], during[target], after[target]
        yield row(seed, style, scores(flagged, honest + named), spread(honest + named, seed), *ranks)
        board.judge("release", [voter for voter in flagged if not voter.startswith("rigger-")])
        board.judge("quarantine", sorted(set(named.voter) - set(flagged)))


def spread(votes: Battles, seed: int) -> dict[str, float]:
    """The same votes in any order, without a server."""
    found = suspects(votes.shuffled(np.random.default_rng(seed)).profile())
    return scores([one["voter"] for one in found], votes)


def row(
    seed: int, style: str, found: dict[str, float], apart: dict[str, float], before: int, during: int, after: int
) -> dict[str, Any]:
    good = found["false"] < FALSE and (style == "none" or (found["found"] >= FOUND and abs(after - before) <= RANKS))
    said = "told" if style in NOT_PROMISED else "yes" if good else "NO"
    return {
        "seed": seed, "style": style, "found": f"{found['found']:.2f}", "false": int(found["n_false"]),
        "honest": int(found["n_honest"]), "false share": f"{found['false']:.4f}",
        "found, spread": f"{apart['found']:.2f}", "false, spread": int(apart["n_false"]),
        "before": before, "rigged": during, "after": after, "reached": said,
    }  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="how many crowds")
    parser.add_argument("--first", type=int, default=101, help="seed of the first crowd")
    parser.add_argument("--styles", default=";".join(STYLES), help="styles to try, with ; between them")
    parser.add_argument("--votes", type=int, default=100_000, help="honest votes")
    options = parser.parse_args()
    styles = options.styles.split(";")
    rows: list[dict[str, Any]] = []
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            address = str(Path(folder) / "board.db")
            database = open_database(address)
            with database.transaction():
                _, secret = tokens.add(Transaction(database, 1, {}), None, "admin", "benchmark")
            database.close()
            with serving(address, "--every", "0.5") as server:
                for found in study(Board(server, secret), seed, styles, options.votes):
                    rows.append(found)
                    show(rows, options.csv)  # each time: the whole takes hours on a busy machine
    sys.exit(any(row["reached"] == "NO" for row in rows))


if __name__ == "__main__":
    main()
