"""A few famous profiles by name, and hypothesis strategies for any profile."""

from __future__ import annotations

import os

import hypothesis.strategies as st
import pytest
from helpers.browser import chromium as chromium
from hypothesis import HealthCheck, settings

from softcondorcet import Profile

# Kernels compile on first use, so the first example of a test may be slow; the number of examples bounds the time.
# The gate asks the same of every change (CI=1: the same examples each time); runs by hand look further each time.
settings.register_profile(
    "softcondorcet",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("softcondorcet")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the service start servers, which takes them minutes: they run apart from the default suite."""
    for item in items:
        if item.path.parent.name == "server":
            item.add_marker("service")


@pytest.fixture(autouse=True)
def _of_any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command prints fits COLUMNS; the tests that want that say so."""
    monkeypatch.delenv("COLUMNS", raising=False)


def paper_example() -> Profile:
    """The paper's eq. (example): Elo rates A highest, the Condorcet winner is C."""
    return Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])


def paper_table() -> Profile:
    """The paper's Table 1, whose optimal ranking C, A, B has distance 5."""
    return Profile.from_rankings(
        [["A", "B", "C"], ["A", "C", "B"], ["C", "A", "B"], ["B", "C", "A"]], weights=[1, 1, 2, 1]
    )


def tennessee() -> Profile:
    """The textbook vote on the capital of Tennessee: Nashville beats every other city."""
    return Profile.from_rankings(
        [
            ["Memphis", "Nashville", "Chattanooga", "Knoxville"],
            ["Nashville", "Chattanooga", "Knoxville", "Memphis"],
            ["Chattanooga", "Knoxville", "Nashville", "Memphis"],
            ["Knoxville", "Chattanooga", "Nashville", "Memphis"],
        ],
        weights=[42, 26, 15, 17],
    )


def three_cycle() -> Profile:
    """Condorcet's paradox."""
    return Profile.from_rankings([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]])


FAMOUS = {
    "paper_example": paper_example,
    "paper_table": paper_table,
    "tennessee": tennessee,
    "three_cycle": three_cycle,
}


@pytest.fixture(params=FAMOUS, name="famous")
def _famous(request: pytest.FixtureRequest) -> Profile:
    return FAMOUS[request.param]()


@st.composite
def votes(draw: st.DrawFn, names: list[str], ties: bool = True) -> list[list[str]]:
    """One vote as a list of tiers over some of the agents."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names), unique=True))
    tiers: list[list[str]] = [[chosen[0]]]
    for name in chosen[1:]:
        if ties and draw(st.integers(0, 3)) == 0:
            tiers[-1].append(name)
        else:
            tiers.append([name])
    return tiers


@st.composite
def profiles(
    draw: st.DrawFn, max_agents: int = 7, max_votes: int = 12, ties: bool = True, complete: bool = False
) -> Profile:
    """Any small profile: partial, tied and weighted votes, agents that stand in no vote."""
    names = [f"agent-{k}" for k in range(draw(st.integers(2, max_agents)))]
    if complete:
        ballots = draw(st.lists(st.permutations(names).map(lambda p: [[n] for n in p]), min_size=1, max_size=max_votes))
    else:
        ballots = draw(st.lists(votes(names, ties), min_size=1, max_size=max_votes))
    weights = draw(st.lists(st.integers(1, 5), min_size=len(ballots), max_size=len(ballots)))
    return Profile.from_rankings(ballots, weights=weights, agents=names)


def data_folder() -> str:
    """Where the real data sets lie, or a skip with a reason."""
    folder = os.environ.get("SCO_DATA", "")
    if not os.path.isdir(folder):
        pytest.skip("needs the data sets: set SCO_DATA to the folder that holds them")
    return folder
