"""One table of properties over all methods: which method promises what is data in the registry, checked here.

Each check takes a method and a profile and says whether the property holds. A method is tested for exactly what it
promises; every property must be promised by some method, and every check must fail for a method that breaks it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import profiles
from helpers.fast import FAST
from hypothesis import Phase, assume, given, settings

import softcondorcet as sc
from softcondorcet import METHODS, Profile, Ratings

Rate = Callable[[Profile], Ratings]


def equal(a: Ratings, b: Ratings) -> bool:
    """To the last bit: whole weights add up exactly, in any order."""
    return all(a[name] == b[name] for name in a.agents)


def as_good(a: Ratings, b: Ratings) -> bool:
    """Equal up to rounding, or another order of the same loss: where optima tie, a listing may break the tie."""
    near = np.allclose([a[name] for name in a.agents], [b[name] for name in a.agents], atol=1e-3)
    return bool(near) or abs((a.discrete_loss or 0) - (b.discrete_loss or 0)) < 1e-9


def condorcet(rate: Rate, profile: Profile) -> bool:
    winner = sc.condorcet_winner(profile)
    assume(winner is not None)
    return rate(profile).order[0] == winner


def smith(rate: Rate, profile: Profile) -> bool:
    """Whoever is first, alone or not, is in the Smith set."""
    group = sc.smith_set(profile)
    assume(len(group) < profile.n_agents)
    board = rate(profile)
    return all(name in group for name in profile.agents if board.rank_of(name) == 1)


def unanimity(rate: Rate, profile: Profile) -> bool:
    """Over complete votes that all agree, the result agrees."""
    vote = next(iter(profile.rankings()))
    assume(len(vote) > 1)
    board = rate(Profile.from_rankings([vote] * 3))
    places = {name: t for t, names in enumerate(vote) for name in names}
    return all(board[a] > board[b] for a in places for b in places if places[a] < places[b])


def weights(rate: Rate, profile: Profile) -> bool:
    repeated = profile.take(np.repeat(np.arange(profile.n_votes), profile.weight.astype(int)))
    twice = Profile(profile.agents, repeated.start, repeated.agent, repeated.tier, np.ones(repeated.n_votes))
    return equal(rate(profile), rate(twice))


def order(rate: Rate, profile: Profile) -> bool:
    return equal(rate(profile), rate(profile.take(np.arange(profile.n_votes)[::-1])))


def names(rate: Rate, profile: Profile) -> bool:
    """Listing the agents in another order does not change the result (or gives one that is just as good)."""
    other = Profile.from_rankings(profile.rankings(), weights=profile.weight.tolist(), agents=profile.agents[::-1])
    return as_good(rate(profile), rate(other))


def reversal(rate: Rate, profile: Profile) -> bool:
    """Turning every vote round turns the order round, or gives one that is just as good."""
    turned = Profile.from_rankings(
        [vote[::-1] for vote in profile.rankings()], weights=profile.weight.tolist(), agents=profile.agents
    )
    back = rate(turned)
    mirrored = Ratings(back.agents, -back.values, "mirror")
    loss = profile.pairs().discrete_loss(mirrored.values)
    return abs(loss - (rate(profile).discrete_loss or 0)) < 1e-9


def cancellation(rate: Rate, profile: Profile) -> bool:
    """A vote and its reverse, first of all votes, leave everybody at the rank they had (``test_symmetry`` has more)."""
    vote = [[name] for name in profile.agents]
    votes, weights = [vote[::-1], vote, *profile.rankings()], [2.0, 2.0, *profile.weight.tolist()]
    more = Profile.from_rankings(votes, weights=weights, agents=profile.agents)
    return bool((rate(profile).ranks == rate(more).ranks).all())


CHECKS = {
    check.__name__: check for check in (condorcet, smith, unanimity, weights, order, names, reversal, cancellation)
}
PROMISES = [(m.name, p) for m in METHODS.values() for p in sorted(m.properties)]


@pytest.mark.parametrize(("method", "promise"), PROMISES)
def test_every_method_keeps_its_promises(method: str, promise: str) -> None:
    @settings(max_examples=25)
    @given(profiles(complete=promise in ("names", "reversal", "cancellation"), max_agents=6))
    def holds(profile: Profile) -> None:
        assert CHECKS[promise](lambda p: sc.rank(p, method, **FAST[method]), profile)

    holds()


def test_every_property_is_promised_and_every_promise_is_checked() -> None:
    assert {promise for _, promise in PROMISES} == set(CHECKS)
    assert set(FAST) == set(METHODS)


def by_name(profile: Profile) -> Ratings:
    """A method that looks at nothing but the place of a name in the list, and at the first vote: breaks everything."""
    values = np.arange(profile.n_agents, dtype=float)
    values[profile.agent[0]] += 2.5 * profile.n_votes
    return Ratings(profile.agents, values, "by_name", discrete_loss=profile.pairs().discrete_loss(values))


@pytest.mark.parametrize("promise", sorted(CHECKS))
def test_every_check_catches_a_method_that_breaks_it(promise: str) -> None:
    @settings(max_examples=200, database=None, phases=[Phase.generate])
    @given(profiles(complete=promise in ("names", "reversal"), max_agents=6))
    def holds(profile: Profile) -> None:
        assert CHECKS[promise](by_name, profile)

    with pytest.raises(AssertionError):
        holds()


@pytest.mark.parametrize("method", sorted(METHODS))
@settings(max_examples=10)
@given(profile=profiles())
def test_the_same_seed_gives_the_same_bits_and_input_is_untouched(method: str, profile: Profile) -> None:
    before = [array.copy() for array in (profile.start, profile.agent, profile.tier, profile.weight)]
    seed = {"seed": 3} if "seed" in METHODS[method].options else {}
    first, again = (sc.rank(profile, method, **seed, **FAST[method]) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
    for array, copy in zip((profile.start, profile.agent, profile.tier, profile.weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_unknown_methods_and_options_are_named() -> None:
    profile = Profile.from_rankings([["a", "b"]])
    with pytest.raises(sc.OptionError, match=r"method must be one of sco, .*, got 'elo9'; did you mean 'elo'\?"):
        sc.rank(profile, "elo9")
    with pytest.raises(sc.OptionError, match="sco has no option 'temprature'; it has loss"):
        sc.rank(profile, "sco", temprature=1)


def test_every_method_has_a_source_and_a_function_of_its_name() -> None:
    for name, method in METHODS.items():
        assert method.function.__name__ == name
        assert method.citation
        assert method.title


@pytest.mark.parametrize(("method", "options"), [*((name, {}) for name in sorted(METHODS)), ("sco", {"solver": "sgd"})])
def test_a_method_takes_pairs_where_the_registry_says_so(method: str, options: dict[str, str]) -> None:
    pairs = Profile.from_rankings([["a", "b"], ["b", "a"]]).pairs()
    if METHODS[method].takes_pairs(options):
        assert len(sc.rank(pairs, method, **options)) == 2
    else:
        with pytest.raises((sc.DataError, sc.OptionError), match="Profile"):
            sc.rank(pairs, method, **options)
