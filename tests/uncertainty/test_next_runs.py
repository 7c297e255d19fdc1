"""Which run next: only missing scores, those of open pairs first, and what to do where none is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import softcondorcet as sc
from softcondorcet.cli import main


def table(missing: set[tuple[int, int]] = frozenset(), lead: float = 0.3) -> sc.Profile:  # type: ignore[assignment]
    """Four agents on twelve tasks; the first two are close, the others far below."""
    rng = np.random.default_rng(5)
    skill = [10.0 + lead, 10.0, 3.0, 0.0]
    rows = [
        (f"m{a}", f"t{t:02}", skill[a] + rng.normal()) for t in range(12) for a in range(4) if (a, t) not in missing
    ]
    agents, tasks, scores = zip(*rows, strict=True)
    return sc.Profile.from_scores({"agent": list(agents), "task": list(tasks), "score": list(scores)})


def test_the_missing_score_of_an_open_pair_comes_first() -> None:
    profile = table({(0, 3), (3, 7)})
    advice = sc.next_runs(profile, sc.bootstrap(profile, n=60))
    assert not advice.settled and advice.missing == 2
    assert (advice.runs[0].agent, advice.runs[0].task) == ("m0", "t03")
    assert all(run.value > 0 for run in advice.runs)
    assert "2 scores are missing" in advice.summary()


def test_a_table_without_gaps_asks_for_new_tasks() -> None:
    profile = table(lead=0.8)
    advice = sc.next_runs(profile, sc.bootstrap(profile, n=60), top=1)
    assert advice.runs == [] and advice.missing == 0
    said = " ".join(advice.summary())
    assert "no score is missing: only new tasks can tell more" in said
    assert "more tasks like these would tell" in said or "are level on these tasks" in said


def test_votes_have_no_tasks() -> None:
    profile = sc.synthetic.demo()
    with pytest.raises(sc.OptionError, match="Profile of scores"):
        sc.next_runs(profile, sc.bootstrap(profile, n=20))


def test_the_command_names_runs(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(6)
    lines = [
        f"{a},t{t},{a == 'x'} {rng.normal():.3f}".replace("True ", "").replace("False ", "")
        for a in "xyz"
        for t in range(9)
    ]
    path.write_text("\n".join(["agent,task,score", *lines[1:]]) + "\n")
    result = CliRunner().invoke(main, ["next", str(path), "--resamples", "40", "--format", "json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["missing"] == 1
    assert {(run["agent"], run["task"]) for run in found["runs"]} <= {("x", "t0")}
