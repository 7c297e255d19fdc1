"""Which battle next, and when is it enough."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import assume, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, Ratings, Uncertainty
from softcondorcet.cli import main

SKILLS = np.array([3.0, 2.6, 2.4, 1.6, 1.2, 0.8, 0.4, 0.0, -0.4, -0.8, -1.2, -1.6])
NAMES = tuple("abcdefghijkl")


class Arena:
    """Battles between agents of known skills, counted by pair."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.wins = np.zeros((len(SKILLS), len(SKILLS)))

    def play(self, a: int, b: int) -> None:
        won = self.rng.random() < 1 / (1 + np.exp(SKILLS[b] - SKILLS[a]))
        self.wins[(a, b) if won else (b, a)] += 1

    def play_random(self, battles: int) -> None:
        for _ in range(battles):
            a, b = self.rng.choice(len(SKILLS), 2, replace=False)
            self.play(a, b)

    def votes(self) -> Profile:
        a, b = np.nonzero(self.wins)
        ballots = [[NAMES[x], NAMES[y]] for x, y in zip(a, b, strict=True)]
        return Profile.from_rankings(ballots, weights=self.wins[a, b].tolist(), agents=NAMES)


def battles_until_settled(seed: int, advised: bool, top: int, most: int = 2000) -> tuple[int, bool]:
    """Battles played until the top is settled, and whether it is then the true one."""
    arena = Arena(seed)
    arena.play_random(100)
    while True:
        advice = sc.next_matches(arena.votes(), 10, top=top, n=50)
        played = int(arena.wins.sum())
        if advice.settled or played >= most:
            return played, sc.sco(arena.votes()).order[:top] == list(NAMES[:top])
        if not advised:
            arena.play_random(100)
            continue
        for match in advice.matches:
            for _ in range(100 // len(advice.matches)):
                arena.play(NAMES.index(match.a), NAMES.index(match.b))


def test_advice_settles_the_top_with_fewer_battles_than_chance() -> None:
    """Two arenas, which chance does not settle by the 2,000 battles where it is cut off."""
    advised = [battles_until_settled(seed, True, top=1) for seed in (0, 3)]
    by_chance = [battles_until_settled(seed, False, top=1) for seed in (0, 3)]
    battles, random = (sum(played for played, _ in runs) for runs in (advised, by_chance))
    assert battles < random / 2
    assert all(right for _, right in advised)


@settings(max_examples=25)
@given(profiles(), st.integers(1, 8), st.integers(1, 7))
def test_matches_are_open_pairs_of_the_top_by_value(profile: Profile, count: int, top: int) -> None:
    assume(profile.weight.sum() > 1)
    found = sc.bootstrap(profile, n=20)
    advice = sc.next_matches(found, count, top=top)
    pairs = profile.pairs()
    wins, ties = pairs.dense()
    met = wins + wins.T + ties
    number = {name: k for k, name in enumerate(profile.agents)}
    place = {found.agents[k]: place for place, k in enumerate(found.board.listing)}
    values = []
    for match in advice.matches:
        a, b = number[match.a], number[match.b]
        assert place[match.a] < place[match.b] and place[match.a] < top
        assert match.met == met[a, b]
        q = np.nan_to_num(found.confidence(a, np.array([b])), nan=0.5)[0]
        assert match.above == q < found.sure
        assert match.value == pytest.approx(q * (1 - q) / (match.met + 1))
        values.append(match.value)
    assert values == sorted(values, reverse=True) and len(values) == min(count, advice.open)
    assert advice.settled == (advice.open == 0)


def test_settled_is_said_and_needs_no_match() -> None:
    clear = Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]], weights=[30, 22])
    first = sc.next_matches(clear, top=1)
    assert first.settled and not first.matches and first.open == 0
    assert (
        first.summary()[0] == "the first place is settled: every pair of agents it rests on is told apart with 97.5 %"
    )
    everything = sc.next_matches(clear)
    assert not everything.settled and [(m.a, m.b, m.met) for m in everything.matches] == [("b", "c", 52.0)]
    assert everything.summary()[0].startswith("the order is not settled: 1 pair of agents not told apart with 97.5 %")


def test_three_battles_settle_nothing_however_clear() -> None:
    few = Profile.from_rankings([["a", "b"]], weights=[3])
    assert not sc.next_matches(few).settled
    assert sc.next_matches(Profile.from_rankings([["a", "b"]], weights=[20])).settled


def test_samples_that_do_not_say_who_met_are_refused() -> None:
    board = Ratings(("a", "b"), np.array([1.0, 0.0]), "sco")
    with pytest.raises(sc.OptionError, match="who met whom"):
        sc.next_matches(Uncertainty(board, np.zeros((3, 2)), ""))
    with pytest.raises(sc.OptionError, match="count must be"):
        sc.next_matches(Arena(0).votes(), 0)


def test_the_command_names_matches_or_says_that_none_is_needed(tmp_path: object) -> None:
    arena = Arena(1)
    arena.play_random(150)
    path, clear = f"{tmp_path}/votes.csv", f"{tmp_path}/clear.csv"
    sc.write(arena.votes(), path)
    args = ["next", path, "--count", "4", "--top", "2", "--resamples", "40"]
    expected = sc.next_matches(sc.read(path), 4, top=2, n=40)
    result = CliRunner().invoke(main, [*args, "--format", "json"])
    assert json.loads(result.stdout) == json.loads(expected.to_json())
    table = CliRunner().invoke(main, args)
    assert len(table.stdout.splitlines()) == 5 and "the top 2 is not settled" in table.stderr
    sc.write(Profile.from_rankings([["a", "b"]], weights=[40]), clear)
    result = CliRunner().invoke(main, ["next", clear])
    assert result.exit_code == 0 and result.stdout == "" and "the order is settled" in result.stderr
