"""Voters whose votes are improbable are named, and others are not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import profiles
from helpers.rigging import NAMES, Battles, Style, crowd, rigged, scores
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, bradley_terry
from softcondorcet.arrays import Ints
from softcondorcet.doctor import campaigns
from softcondorcet.doctor.voters import suspects

TARGET = 11
SMALL = 20_000


@pytest.fixture(scope="module", name="honest")
def _honest() -> Battles:
    return crowd(7, SMALL)


def named(votes: Battles, **more: Any) -> list[str]:
    return [found["voter"] for found in suspects(replace(votes.profile(), **more))]


def test_an_honest_crowd_is_left_alone(honest: Battles) -> None:
    # The crowd has fans, voters of three agents and careless ones; one in a thousand is what is allowed here.
    assert len(named(honest)) <= len(set(honest.voter)) / 1000


@pytest.mark.parametrize(
    "style",
    [Style(1), Style(5), Style(20), Style(50), Style(20, top=3), Style(20, down=True), Style(5, camouflage=0.5)],
    ids=str,
)
def test_riggers_are_found_however_many_they_are(honest: Battles, style: Style) -> None:
    votes = (honest + rigged(7, style, TARGET, votes=250)).shuffled(np.random.default_rng(1))
    found = scores(named(votes), votes)
    assert found["found"] >= 0.9
    assert found["false"] < 0.01


def test_accounts_that_come_together_are_found_with_less(honest: Battles) -> None:
    more = rigged(7, Style(50, camouflage=0.3), TARGET, votes=250)
    burst, spread = honest + more, (honest + more).shuffled(np.random.default_rng(1))
    assert scores(named(burst), burst)["found"] > scores(named(spread), spread)["found"]


def test_it_is_said_what_a_rigger_did(honest: Battles) -> None:
    votes = honest + rigged(7, Style(5), TARGET, votes=250) + Battles([], *(np.empty(0, int),) * 2, np.empty(0, bool))
    found = {one["voter"]: one for one in suspects(votes.profile())}
    assert found["rigger-0"]["votes"] == 50
    (why,) = found["rigger-0"]["why"]
    assert why.startswith(f"puts {NAMES[TARGET]} first in 50 of 50 votes that have it; 50 of 50 votes have it, where ")
    down = honest + rigged(7, Style(5, down=True), TARGET, votes=250)
    found = {one["voter"]: one for one in suspects(down.profile())}
    assert found["rigger-0"]["why"][0].startswith(f"puts {NAMES[TARGET]} last in 50 of 50 votes")


def test_votes_of_nobody_accuse_nobody(honest: Battles) -> None:
    votes = honest + rigged(7, Style(5), TARGET, votes=250)
    profile = votes.profile()
    hidden = np.array([name.startswith("rigger-") for name in profile.voters])
    assert profile.voter is not None
    found = suspects(profile.with_voters(np.where(hidden[profile.voter], -1, profile.voter), profile.voters))
    assert not any(one["voter"].startswith("rigger-") for one in found)


def test_longer_votes_are_looked_at_too() -> None:
    rng = np.random.default_rng(3)
    rankings = [[f"agent-{k}" for k in rng.permutation(12)[:4]] for _ in range(4000)]
    rig = [["agent-0", *(f"agent-{k}" for k in 1 + rng.permutation(11)[:3])] for _ in range(100)]
    profile = Profile.from_rankings(rankings + rig)
    voters = np.concatenate([rng.integers(400, size=4000), 400 + np.arange(100) % 4])
    found = suspects(profile.with_voters(voters, [f"voter-{k}" for k in range(404)]))
    assert {one["voter"] for one in found} == {f"voter-{k}" for k in range(400, 404)}


@given(profiles(), st.data())
@settings(max_examples=40)
def test_any_votes_can_be_looked_at(profile: Profile, data: st.DataObject) -> None:
    who = st.lists(st.integers(-1, 3), min_size=profile.n_votes, max_size=profile.n_votes)
    voters = np.array(data.draw(who))
    timed = replace(profile, when=np.arange(0.0, 10.0 * profile.n_votes, 10.0))
    # A dozen votes accuse nobody.
    assert suspects(timed.with_voters(voters, list("abcd"))) == []


@given(profiles(ties=True), st.data())
@settings(max_examples=40)
def test_chances_of_results_are_those_of_the_model(profile: Profile, data: st.DataObject) -> None:
    who = st.lists(st.integers(-1, 2), min_size=profile.n_votes, max_size=profile.n_votes)
    voters = np.array(data.draw(who))
    ratings = bradley_terry(profile).values
    for down in (False, True):
        side = campaigns._sides(profile, voters, 3, down=down)
        if not len(side.voter):
            continue
        found = campaigns._results(profile, side, ratings)
        for c in range(len(side.voter)):
            n, k, w, logs = slow(profile, voters, ratings, int(side.voter[c]), int(side.whom[c]), down)
            assert (side.n[c], side.k[c], side.w[c]) == (n, k, w)
            assert found[c] == pytest.approx(logs, abs=1e-9)  # sums of a few logarithms of about 1


def slow(
    profile: Profile, voters: Ints, ratings: Any, voter: int, agent: int, down: bool
) -> tuple[int, int, int, list[float]]:
    """Votes of the voter with a sole first (last), those with the agent, those it wins, and log-chances by taste."""
    n, k, w, logs = 0, 0, 0, [0.0] * len(campaigns._TASTES)
    for ranking, by in zip(profile.rankings(), voters.tolist(), strict=True):
        tiers = ranking[::-1] if down else ranking
        if by != voter or len(tiers) < 2 or len(tiers[0]) > 1:
            continue
        n += 1
        agents = [profile.agents.index(name) for tier in tiers for name in tier]
        if agent not in agents:
            continue
        k += 1
        won = tiers[0] == [profile.agents[agent]]
        w += won
        sign = -1 if down else 1
        rest = sum(math.exp(sign * ratings[other]) for other in agents if other != agent)
        for at, taste in enumerate(campaigns._TASTES):
            odds = math.exp(sign * ratings[agent] + taste) / rest
            logs[at] += math.log(odds / (1 + odds) if won else 1 / (1 + odds))
    return n, k, w, logs


def test_who_contradicts_all_others_is_named() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(6, size=6000), rng.integers(5, size=6000)
    b = np.where(b >= a, b + 1, b)
    better = np.where(rng.random(6000) < 0.8, np.minimum(a, b), np.maximum(a, b))
    voters = rng.integers(30, size=6000)
    contrary = voters == 0
    first = np.where(contrary, a + b - better, better)
    votes = Battles([f"voter-{v}" for v in voters], first, a + b - first, np.zeros(6000, bool))
    found = {one["voter"]: one["why"] for one in suspects(votes.profile())}
    assert set(found) == {"voter-0"}
    assert any("sides with the majority of the others in 2" in why for why in found["voter-0"])


def copies(votes: int, share: float) -> list[str]:
    """Thirty voters are asked about the same pairs; three of them answer the same."""
    rng = np.random.default_rng(6)
    a, b = rng.integers(15, size=votes), 15 + rng.integers(15, size=votes)
    won = rng.random((30, votes)) < share
    won[1:3] = won[0]
    rows = [(f"voter-{v}", *((x, y) if w else (y, x))) for v in range(30) for x, y, w in zip(a, b, won[v], strict=True)]
    who, first, second = zip(*rows, strict=True)
    return named(Battles(list(who), np.array(first), np.array(second), np.zeros(len(rows), bool)))


def test_voters_in_step_are_named_where_chance_cannot_make_it() -> None:
    assert copies(60, 0.5) == ["voter-0", "voter-1", "voter-2"]
    assert copies(6, 0.5) == []  # one of 64
    assert copies(60, 1.0) == []  # all agree about everything


def paced(gaps: dict[str, Any]) -> dict[str, list[str]]:
    """The reasons given for voters who vote with these seconds between votes."""
    rng = np.random.default_rng(8)
    rows = [(voter, when) for voter, own in gaps.items() for when in np.cumsum(own)]
    rows.sort(key=lambda row: row[1])
    a = rng.integers(5, size=len(rows))
    votes = Battles([voter for voter, _ in rows], a, (a + 1 + rng.integers(4, size=len(rows))) % 5, a < -1)
    timed = replace(votes.profile(), when=np.array([when for _, when in rows], float))
    return {one["voter"]: one["why"] for one in suspects(timed)}


def people(n: int, seed: int = 9) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {f"person-{k}": rng.lognormal(3.0, 0.7, 60) for k in range(n)}


def test_clocks_and_the_hasty_are_named_beside_people() -> None:
    rng = np.random.default_rng(10)
    found = paced({**people(20), "clock": 30 + rng.normal(0, 0.5, 60), "hasty": rng.lognormal(-1, 0.7, 60)})
    assert set(found) == {"clock", "hasty"}
    assert found["clock"][0].startswith("votes as evenly as a clock: ")
    assert found["hasty"][0].startswith("votes faster than people read: ")


def test_pace_says_nothing_where_all_are_programs_or_votes_came_in_one_request() -> None:
    assert paced({f"program-{k}": np.full(60, 7.0 + k) for k in range(10)}) == {}
    assert paced({f"voter-{k}": np.zeros(60) for k in range(10)}) == {}
    assert paced({f"replayed-{k}": np.random.default_rng(k).exponential(0.01, 60) for k in range(10)}) == {}


def test_inspect_asks_the_same_questions_where_voters_are_known(honest: Battles) -> None:
    checks = {"voter-campaign", "voter-dissent", "voter-copies", "voter-pace"}
    clean, votes = sc.inspect(honest.profile()), honest + rigged(7, Style(5), TARGET, votes=250)
    assert not checks & {finding.name for finding in clean.findings}
    assert clean.unchecked["voter-pace"] == "votes have no time"
    (found,) = [finding for finding in sc.inspect(votes.profile()).findings if finding.name in checks]
    assert (found.name, found.severity, found.number) == ("voter-campaign", "caution", 5)
    assert set(found.names) == {f"rigger-{k}" for k in range(5)}
    assert found.text.startswith("5 of 2,244 voters vote for or against one agent more than a taste explains: ")
    assert f"puts {NAMES[TARGET]} first in 50 of 50 votes" in found.text
    assert checks < sc.inspect(Profile.from_rankings([["a", "b"]])).unchecked.keys()
