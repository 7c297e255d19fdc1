"""The pages about the live leaderboard say each limit as the code has it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from softcondorcet.cli.serve import serve
from softcondorcet.server.ledger import database, fit_process, fits, limits
from softcondorcet.server.ledger.fits import Fits
from softcondorcet.server.ledger.limits import Listeners
from softcondorcet.server.ledger.service import Settings
from softcondorcet.server.run import STOP_SECONDS
from softcondorcet.server.web import admin, connections, file_routes, http, imports, matches, votes

DOCS = Path(__file__).parents[2] / "docs" / "serve"
USUAL = Settings()
MIB, KIB = 2**20, 2**10
SHARE, HOURS = {0.1: "a tenth", 0.2: "a fifth"}, {3600.0: "an hour"}

# Page -> sentences in it, each made from the limit that it is about.
SAID = {
    "operations.md": [
        f"{http.MOST_BYTES // MIB} MiB and {votes.MOST_VOTES:,} votes a request",
        f"{votes.MOST_AGENTS:,} agents a vote",
        f"{limits.LONGEST} letters a name",
        f"{http.MOST_WRITES} requests that write at a time",
        f"{connections.LONGEST_HEAD // KIB} KiB that are no body",
        f"{USUAL.body_seconds:g} seconds for a body",
        f"{Listeners().most} pages that listen for news",
        f"{matches.MOST_TICKETS:,} tickets of blind matches a board",
        f"{file_routes.MOST_EXPORTS} exports at a time",
        f"{connections.MOST:,} connections at most",
        f"at least {connections.OTHER_FILES} files fewer",
        f"waiting for {USUAL.patience:g} seconds",
        f"A fit may take {USUAL.fit_seconds:g} seconds and {USUAL.fit_memory // MIB:,} MiB",
        f"after {database.LOCK_PATIENCE / 1000:g} seconds 503 with the reason",
        f"tried again after {Fits(USUAL, lambda work: work).again:g} seconds",  # type: ignore[arg-type, return-value]
        f"rankings of more than {limits._LONG} agents",
        f"at most {SHARE[fits._SHARE]} of the time in any case",
        f"for up to {STOP_SECONDS} seconds, and ends with status 0",
    ],
    "api.md": [
        f"a list of up to {votes.MOST_VOTES:,}",
        f"2 to {votes.MOST_AGENTS:,} agents in a ranking",
        f"Names have up to {limits.LONGEST} letters",
        f"up to {http.MOST_IMPORT // MIB} MiB and {imports.MOST_VOTES:,} votes",
        f"the {fit_process._GROUPS} largest groups",
        f"A caller has {fits._OF_ONE} on their way at a time and {fits._WAITING} wait",
        f"after {fits._AT_ONCE:g} seconds that are free",
        f"the body took over {USUAL.body_seconds:g} seconds",
        f"is over {http.MOST_BYTES // MIB} MiB (import: {http.MOST_IMPORT // MIB} MiB)",
        f"up to {admin.MOST_VOTERS:,}, all or none",
        f"({votes.LIGHTEST:.6f} to {votes.HEAVIEST:,.0f}; kept in millionths)",
        f"(1 to {votes.LONGEST_KEY} letters, of your choice",
        f"who takes more than {SHARE[fits._SHARE_OF_ONE]} of the time",
    ],
    "integrity.md": [
        f"of more than {matches.MOST_TICKETS:,} on a board",
        f"Up to {matches.MOST_SAMPLES:,} answers and {http.MOST_BYTES // MIB} MiB in a request",
        f"A task is a name of up to {limits.LONGEST} letters",
        f"A ticket is good for {HOURS[matches.HOUR]} and one vote",
        f"up to {matches.LONGEST_ANSWER:,} letters in an answer, {matches.MOST_LETTERS // 10**6} million on a board",
    ],
}


@pytest.mark.parametrize(("page", "words"), [(page, words) for page, all_words in SAID.items() for words in all_words])
def test_a_page_says_the_limit_that_holds(page: str, words: str) -> None:
    assert words in " ".join((DOCS / page).read_text().split())


def test_options_have_the_defaults_that_the_page_and_the_settings_say() -> None:
    text = (DOCS / "operations.md").read_text()
    by_option = {
        "--token-rate": USUAL.token_rate, "--voter-rate": USUAL.voter_rate, "--max-agents": USUAL.most_agents,
        "--max-pairs": USUAL.most_pairs, "--max-weight": USUAL.most_weight, "--every": USUAL.every,
    }  # fmt: skip
    defaults = {option.opts[0]: option.default for option in serve.params}
    for option, value in by_option.items():
        assert f"| `{option}` | {value:.0f} |" in text
        assert defaults[option] == value
    assert {field.name for field in fields(Settings)} >= {"most_pairs", "most_weight"}
