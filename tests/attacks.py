"""Attacks on a live leaderboard: what happens to others, to its memory, to its word and to its votes?

    python tests/attacks.py [--only NAME] [--short]

Each attack runs against `sco serve` as a process of its own on loopback, while another client asks for health, a page
and data, and votes. The server holds if that client is answered in under a second each time, the server and its
children stay under 1 GB of memory, `/readyz` says whether votes are kept, each vote that was acknowledged is on disk,
and what the attack itself expects is so. Exits with 1 if one was not.
"""

from __future__ import annotations

import argparse
import sys

from helpers.attack import admin_pages, database, names, process, protocol, views, votes
from helpers.attack.harness import Attack, Outcome, Servers, run

TROUBLE = frozenset({503, 507})
REASONS, LONGEST_REASON = 4, 160  # that are printed of an attack, and letters of one

ATTACKS = (
    Attack(process.nothing, short=False),
    Attack(names.combining_marks),
    Attack(names.invisible_names),
    Attack(names.injection),
    Attack(names.bombs, short=False),
    Attack(protocol.smuggled_requests),
    Attack(protocol.chunked_trailers),
    Attack(protocol.chunk_extensions),
    Attack(protocol.event_streams),
    Attack(protocol.slow_clients, short=False),
    Attack(protocol.gzip_refused),
    Attack(protocol.idle_connections, protocol.FEW_FILES, fresh=True),
    Attack(protocol.forged_headers, protocol.SLOW_VOTES),
    Attack(votes.blind_match_on_a_full_board, protocol.SLOW_VOTES),
    Attack(votes.scopes, short=False),
    Attack(votes.heavy_votes),
    Attack(votes.keys_of_two_tokens),
    Attack(votes.replay),
    Attack(votes.same_file_twice),
    Attack(votes.tickets_of_another_board, short=False),
    Attack(votes.large_rankings, fresh=True, short=False),
    Attack(views.unknown_queries),
    Attack(views.long_numbers),
    Attack(views.etag_of_a_filtered_view, short=False),
    Attack(views.nothing_doubtful_before_a_fit),
    Attack(views.import_after_a_vote),
    Attack(views.filtered_views, fresh=True, short=False),
    Attack(admin_pages.forms_without_a_session),
    Attack(admin_pages.hostile_uploads),
    Attack(database.forced_backups),
    Attack(database.a_file_that_is_no_board),
    Attack(database.second_server, fresh=True),
    Attack(database.locked_database, fresh=True, refusals=TROUBLE),
    Attack(database.full_disk, fresh=True, refusals=TROUBLE),
    Attack(database.unwritable_files, fresh=True, refusals=TROUBLE, short=False),
    Attack(database.bad_pages, fresh=True, refusals=TROUBLE),
    Attack(database.bad_log, fresh=True, refusals=TROUBLE, loses=True),
    Attack(process.killed_fits, fresh=True, refusals=TROUBLE, short=False),
    Attack(process.jumping_clock, process.CLOCK, fresh=True, short=False),
    Attack(process.second_sigterm, fresh=True, watched=False),
    Attack(process.kills, watched=False, short=False),
)


def line(outcome: Outcome) -> str:
    """One attack in a line."""
    word = "skipped" if outcome.skipped else "broken" if outcome.broken else "held"
    worst = "" if outcome.worst is None else f"{1000 * outcome.worst:,.0f} ms"
    numbers = f"{outcome.name:32} {word:8} {worst:>10} {outcome.memory / 1e6:6,.0f} MB {outcome.seconds:5.0f} s"
    why = [words[:LONGEST_REASON] for words in outcome.broken[:REASONS]]
    more = len(outcome.broken) - len(why)
    return "  ".join([numbers, outcome.skipped or "; ".join(why) + (f"; and {more} more" if more else "")]).rstrip()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", action="append", metavar="NAME", choices=[attack.name for attack in ATTACKS])
    asked.add_argument("--list", action="store_true", help="say what each attack tries, and end")
    asked.add_argument(
        "--short", action="store_true", help="the quick ones, in their short form, as the tests run them"
    )
    given = asked.parse_args()
    chosen = [attack for attack in ATTACKS if not given.only or attack.name in given.only]
    chosen = [attack for attack in chosen if attack.short or given.only or not given.short]
    if given.list:
        print("\n".join(f"{attack.name:32} {attack.run.__doc__}" for attack in chosen))
        return
    broken = 0
    with Servers() as servers:
        for attack in chosen:
            outcome = run(attack, servers, short=given.short)
            broken += bool(outcome.broken)
            print(line(outcome), flush=True)
    print(f"{len(chosen)} attacks, {broken} broke something")
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
