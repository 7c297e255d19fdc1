"""The quick ones of the attacks in their short form, and that what runs them finds what is wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from attacks import ATTACKS
from helpers.attack.clients import Bystander, Client, Seen
from helpers.attack.harness import Attack, Servers, Setup, Target, run


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with Servers() as running:
        yield running


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.short], ids=lambda attack: attack.name)
def test_the_server_holds(attack: Attack, servers: Servers) -> None:
    outcome = run(attack, servers, short=True)
    if outcome.skipped and not outcome.broken:
        pytest.skip(outcome.skipped)
    assert outcome.broken == []


def test_attacks_have_names_of_their_own() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def planted(target: Target) -> None:
    """A server that stands still for a while and forgets a vote."""
    target.kept.add(1_000_000)
    os.kill(target.site.server.pid, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(target.site.server.pid, signal.SIGCONT)


def test_a_stalled_server_and_a_lost_vote_and_too_much_memory_are_found(servers: Servers) -> None:
    large = Setup(prepared="held = b'x' * 1_000_000_000")
    broken = "; ".join(run(Attack(planted, large, fresh=True), servers).broken)
    for words in ("took over 1 s", "acknowledged votes lost", "GB of memory"):
        assert words in broken


@pytest.mark.parametrize(
    ("ready", "votes", "complaint"),
    [(200, 503, "said 200 between two votes that were not kept"), (503, 201, "said 503 between two that were")],
)
def test_a_readyz_that_lies_is_found(ready: int, votes: int, complaint: str) -> None:
    statuses = {"readyz": ready, "page": 200, "data": 200, "vote": votes}
    seen = [Seen(what, k, 0.01, status) for k, (what, status) in enumerate(3 * [*statuses.items()])]
    refusals = frozenset({503} if votes == 503 else ())
    assert complaint in "; ".join(Bystander(Client(0, set()), seen).complaints(1.0, refusals))
    truth = [Seen(one.what, one.began, 0.01, 200 if one.status < 300 else 503) for one in seen if one.what != "readyz"]
    assert Bystander(Client(0, set()), truth).complaints(1.0, frozenset({503})) == []
