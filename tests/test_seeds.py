"""Random numbers by seed and use."""

from __future__ import annotations

from softcondorcet.seeds import STREAMS, stream


def test_no_two_uses_of_a_seed_see_the_same_numbers() -> None:
    drawn = {(seed, use): float(stream(seed, use).random()) for seed in (0, 1, 2**32 - 1) for use in STREAMS}
    assert len(set(drawn.values())) == len(drawn)
    assert stream(5, "start").random() == stream(5, "start").random()
