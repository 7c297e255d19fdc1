"""A board to try everything on: made-up votes of the last days, and answers to vote on."""

from __future__ import annotations

import time
from contextlib import closing

from softcondorcet.profile import Profile
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.service import MAIN
from softcondorcet.server.ledger.writer import Ask, Transaction
from softcondorcet.server.web.matches import Matches, Sample
from softcondorcet.synthetic import demo

DAYS = 10
_TASKS = {
    "Name a sea without a coast.": [
        "The Sargasso Sea.",
        "The Sargasso Sea: four currents bound it, no land.",
        "Every sea has a coast.",
        "The Caspian Sea, which is a lake.",
    ],
    "What is 17 x 23?": [
        "391",
        "17 x 23 = 17 x 20 + 17 x 3 = 340 + 51 = 391.",
        "About 400.",
        "17 x 23 = (20 - 3)(20 + 3) = 400 - 9 = 391.",
    ],
    "Write one line about autumn.": [
        "Leaves fall, and the light with them.",
        "Autumn is a season between two others.",
        "The lake keeps the last warm day for itself.",
        "In autumn it is autumn.",
    ],
    "Why is the sky blue?": [
        "Air scatters short waves more than long ones.",
        "It reflects the sea.",
        "Rayleigh scattering goes with the fourth power of the frequency, and eyes see little violet.",
        "Because it is not night.",
    ],
}


def make_demo(path: str) -> None:
    """Write the votes of ``synthetic.demo`` to a new board, spread over the days until now."""
    votes = asks(demo())
    per_day = -(-len(votes) // DAYS)
    known: dict[int, dict[str, int]] = {1: {}}
    following = 1
    with closing(open_database(path)) as database:
        for day in range(DAYS):
            with database.transaction():
                transaction = Transaction(database, following, known)
                transaction.now = time.time() - (DAYS - 1 - day) * 86_400
                if day == 0:
                    about = "INSERT INTO board (id, name, title, made) VALUES (1, ?, 'Demo', ?)"
                    database.run(about, (MAIN, transaction.now))
                    Matches(database).keep(transaction, 1, samples(demo().agents))
                transaction.write(1, votes[day * per_day : (day + 1) * per_day])
                transaction.flush()
            following = transaction.next
            known[1].update(transaction.new[1])


def asks(profile: Profile) -> list[Ask]:
    """Votes of a profile as they would have come in, each by one of a hundred voters of its judge."""
    requests = []
    for k in range(profile.n_votes):
        part = slice(int(profile.start[k]), int(profile.start[k + 1]))
        tiers: dict[int, list[str]] = {}
        for agent, tier in zip(profile.agent[part].tolist(), profile.tier[part].tolist(), strict=True):
            tiers.setdefault(tier, []).append(profile.agents[agent])
        group = None if profile.group is None else profile.groups[int(profile.group[k])]
        body = [tiers[tier] for tier in sorted(tiers)]
        turned = profile.turned is not None and bool(profile.turned[k])
        if len(body) == 1 and turned:  # of two that tie, the one shown first stands first
            body[0].reverse()
        winner = None if profile.turned is None else "tie" if len(body) == 1 else "b" if turned else "a"
        requests.append(Ask("vote", body, voter=f"voter-{k % 97}", group=group, winner=winner))
    return requests


def samples(agents: tuple[str, ...]) -> list[Sample]:
    """Some agents answer each task, each in its own way."""
    return [
        Sample(task, agents[(3 * place + k) % len(agents)], answer)
        for place, (task, answers) in enumerate(_TASKS.items())
        for k, answer in enumerate(answers)
    ]
