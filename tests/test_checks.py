"""Checks of options: what a near miss of a name is told, and what hostile names cost."""

from __future__ import annotations

import time

import pytest

import softcondorcet as sc
from softcondorcet.checks import near, one_of

AGENTS = ["gpt-4-turbo", "claude-2.1", "openai/o1", "X", "Llama 3 70B"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("gpt4-turbo", "gpt-4-turbo"),
        ("GPT 4 TURBO", "gpt-4-turbo"),
        ("claude", "claude-2.1"),
        ("o1", None),  # two letters are in too many names
        ("o1x", None),
        ("llama_3_70b", "Llama 3 70B"),
        ("x", "X"),
        ("mistral", None),
        ("", None),
        ("g" * 200, None),
    ],
)
def test_a_near_miss_is_told_what_was_meant(given: str, meant: str | None) -> None:
    assert near(given, AGENTS) == (f"; did you mean {meant!r}?" if meant else "")


def test_names_that_are_none() -> None:
    assert near(None, AGENTS) == near(3, AGENTS) == near("x", []) == ""
    with pytest.raises(sc.OptionError, match=r"color must be one of a, b, c, d, got \['a'\]$"):
        one_of("color", ("a", "b", "c", "d"), ["a"])


def test_hostile_names_cost_little() -> None:
    began = time.process_time()
    assert near("a" * 100, [f"{'b' * 90}{k}" for k in range(100_000)]) == ""
    assert time.process_time() - began < 2


def test_agents_methods_options_and_columns() -> None:
    table = {"model_a": ["gpt-4", "gpt-4"], "model_b": ["claude", "llama"], "winner": ["model_a", "tie"]}
    votes = sc.read(table)
    board = sc.sco(votes)
    for name, meant in (("gpt4", "gpt-4"), ("Claude", "claude")):
        with pytest.raises(KeyError, match=f"did you mean '{meant}'"):
            board[name]
    with pytest.raises(sc.OptionError, match=r"did you mean 'bradley_terry'\?"):
        sc.rank(votes, "bradley-terry")
    with pytest.raises(sc.OptionError, match=r"no option 'temprature'.*did you mean 'temperature'\?"):
        sc.rank(votes, "sco", temprature=1)
    with pytest.raises(sc.DataError, match=r"no column 'winer'; .*did you mean 'winner'\?"):
        sc.read(table, columns={"winner": "winer"})
