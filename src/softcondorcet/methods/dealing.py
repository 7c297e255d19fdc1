"""A walk over long votes that visits few of their pairs.

The walk from high temperature to low only finds where to start the last descent, so it may go by a sample of the pairs:
each vote is dealt at random into hands, and agents meet those of their own hand only. At a high temperature all agents
of a hand pull on each other, and 64 tell an agent where it belongs; as the temperature falls, fewer are near, and hands
grow in proportion, up to the whole vote. So a step costs about the same at any temperature. Hands are dealt anew each
time the temperature has halved.

What is saved goes into a slower walk, which lowers the loss more than exact steps do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet.methods.descent import Stage
from softcondorcet.profile import Profile

STAGES = 600
_HAND = 64


def deal(profile: Profile, size: float, rng: np.random.Generator) -> Profile:
    """Each vote as hands of at least `size` agents. Per agent a hand weighs as much as the vote: all its pairs."""
    length = profile.length
    hands = np.maximum(1, length // size).astype(np.int64)
    vote = np.repeat(np.arange(profile.n_votes), length)
    place = np.empty(len(vote), dtype=np.int64)
    place[np.lexsort((rng.random(len(vote)), vote))] = np.arange(len(vote)) - profile.start[vote]
    hand = (np.cumsum(hands) - hands)[vote] + place % hands[vote]
    entry = np.argsort(hand, kind="stable")
    held = np.bincount(hand, minlength=int(hands.sum()))
    per_agent = np.repeat(profile.weight * (length - 1), hands)
    return Profile(
        profile.agents,
        start=np.concatenate([[0], np.cumsum(held)]),
        agent=profile.agent[entry],
        tier=profile.tier[entry],
        weight=per_agent / np.maximum(held - 1, 1),
    )


def dealt_walk(
    profile: Profile, hot: float, cold: float, stages: int, rng: np.random.Generator
) -> Iterator[tuple[Profile, list[Stage]]]:
    """The stages from a hot temperature to a cold one, and hands for those of each octave."""
    heat = np.geomspace(hot, cold, stages)
    octave = np.floor(np.log2(hot / heat))
    for k in range(int(octave[-1]) + 1):
        part = heat[octave == k]
        if len(part):
            yield deal(profile, _HAND * hot / float(part[-1]), rng), [Stage(1.0, float(t)) for t in part]
