"""The item `preflib` on a small archive made here: instances, settings, what is measured, how it adds up."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from conftest import paper_example, profiles, three_cycle
from hypothesis import given, settings

import softcondorcet as sc
from experiments import preflib, preflib_measure
from experiments.datasets import find
from experiments.preflib_measure import Best, measure
from experiments.preflib_table import GROUPS, claims, table
from experiments.runner import reproduce
from experiments.study import SCALES, Row, Scale
from softcondorcet import Profile
from softcondorcet.errors import DataError

SGD = {**GROUPS[0].sgd(), "steps": 200, "seeds": 2, "work": 1e9}


def votes(agents: int, seed: int) -> Profile:
    return sc.synthetic.mallows(9, agents=agents, phi=0.8, seed=seed)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four instances of each of some sizes, one with a single agent, and a file that is none."""
    path = tmp_path_factory.mktemp("data") / preflib.ARCHIVE
    with zipfile.ZipFile(path, "w") as opened:
        for agents in (2, 3, 6, 10, 12, 30, 60, 110):
            for seed in range(4):
                text = io.StringIO()
                sc.write(votes(agents, seed), text, "soc")
                opened.writestr(f"{agents:05}/{agents:05}-{seed:08}.soc", text.getvalue())
        opened.writestr("00001/00001-00000001.soi", "# NUMBER ALTERNATIVES: 1\n# NUMBER VOTERS: 1\n1: 1\n")
        opened.writestr("00001/info.txt", "about")
    return path


def test_tiny(archive: Path, tmp_path: Path) -> None:
    done = reproduce(preflib.STUDY, "tiny", {preflib.ARCHIVE: archive}, tmp_path, workers=1)
    assert [(row["m_from"], row["instances"]) for row in done.table] == [(m, 2) for m in (2, 3, 6, 10, 11, 21, 51)]
    for row in done.table:
        assert row["mean_n"] == 9
        assert row["sco_match"] in (1, None) and row["sco_excess"] == 0 and row["sco_nearest"] in (0, None)
        assert row["kemeny_proven"] == 1 and row["kemeny_open_gap"] is None
        assert (row["sigmoidal_program_match"] is None) == (row["m_from"] > 20 or not row["winners"])
        assert row["sgd_instances"] == 2 and row["sgd_seeds"] == "1"
        assert row["sgd_cpu_s"] > 0 and row["sco_there_cpu_s"] == row["sco_cpu_s"] > 0
    assert {path.name for path in done.written} == {"preflib.csv", "preflib.json", "preflib.png", "preflib.svg"}
    said = {claim.what: claim.agrees for claim in done.claims}
    assert said["Condorcet winner alone on top by our default, in all groups"] is True
    assert said["Condorcet match of SGD, 3 agents"] is None  # two instances say nothing


def test_jobs_cover_the_archive(archive: Path) -> None:
    files = {preflib.ARCHIVE: archive}
    seen: dict[Scale, list[str]] = {}
    for scale in SCALES:
        jobs = preflib.jobs(scale, files)
        seen[scale] = [member for job in jobs for member in job["members"]]
        assert len(set(seen[scale])) == len(seen[scale])
        assert json.loads(json.dumps(jobs)) == jobs == preflib.jobs(scale, files)
    assert len(seen["paper"]) == 32 and not any(name.startswith("00001") for name in seen["paper"])
    assert len(seen["tiny"]) == 14
    # A smaller scale measures some of what a larger one does.
    assert set(seen["tiny"]) < set(seen["quick"]) == set(seen["paper"])
    assert seen["paper"][0].startswith("00110") and seen["paper"][-1].startswith("00002")


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as opened:
        opened.writestr("00001/a.soc", "3\n1,a\n2,b\n3,c\n")
    with pytest.raises(DataError, match=r"a.soc: expected '# NUMBER ALTERNATIVES: m' near its top"):
        preflib.jobs("tiny", {preflib.ARCHIVE: tmp_path / "x.zip"})


SINGLE = "# NUMBER ALTERNATIVES: 1\n# NUMBER VOTERS: 1\n1: 1\n"


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (None, r"cannot be read \(File is not a zip file\)"),
        ({}, "holds 0 soc and soi files, and none of two agents or more for scale tiny"),
        ({"votes.csv": "ranking\na > b\n"}, "holds 0 soc and soi files"),
        ({"1/a.soi": SINGLE}, "holds 1 soc and soi files"),
    ],
)
def test_data_that_is_no_archive_of_preflib(tmp_path: Path, members: dict[str, str] | None, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("ranking\na > b\n")
    if members is not None:
        with zipfile.ZipFile(path, "w") as opened:
            for name, text in members.items():
                opened.writestr(name, text)
    with pytest.raises(DataError, match=f"^{path}: {said}.*; expected a zip archive of PrefLib soc and soi files$"):
        preflib.jobs("tiny", {preflib.ARCHIVE: path})


def test_a_damaged_member_is_named(archive: Path, tmp_path: Path) -> None:
    path, member = tmp_path / "bad.zip", "00003/00003-00000001.soc"
    with zipfile.ZipFile(archive) as opened:
        vote = opened.read(member)[-20:]
    path.write_bytes(archive.read_bytes().replace(vote, vote[::-1]))
    with pytest.raises(DataError, match=f"^{path}: .*{member}"):
        preflib.work({"members": [member], "limit": None, "sgd": None, "sample": False}, {preflib.ARCHIVE: path})


def test_sgd_has_the_settings_of_the_appendix() -> None:
    for group in GROUPS:
        sgd = group.sgd()
        assert sgd["batch"] == 32 and sgd["bounds"] == [0, 1000]  # the box is the default of the authors' code
        assert sgd["steps"] == (10_000 if group.high <= 10 else 100_000)
        assert (sgd["lr"], sgd["temperature"]) == ((0.1, 0.5) if group.low >= 501 else (0.01, 1.0))
        assert preflib.plan_of(group, "paper").instances is None
    assert sum(group.size for group in GROUPS) == 12_680
    assert all(a.high + 1 == b.low for a, b in pairwise(GROUPS))


def test_samples(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(preflib.PLANS, "paper", {10**9: preflib.Plan(sgd=1, exact=3, limit=7.0)})
    jobs = [job for job in preflib.jobs("paper", {preflib.ARCHIVE: archive}) if job["members"][0].startswith("00110")]
    kinds = [(len(job["members"]), job["sgd"] is not None, job["limit"]) for job in jobs]
    assert kinds == [(1, True, 7.0), (2, False, 7.0), (1, False, None)]


def test_measure_the_papers_example() -> None:
    row = measure(paper_example(), 1.0, SGD | {"steps": 4000})
    assert (row["m"], row["n"], row["winner"], row["weak"], row["proven"]) == (3, 5, True, True, True)
    # C beats A and B, but A has more wins: Borda and Bradley-Terry put it first, one pair away from the optimum.
    for name in ("sco", "sgd", "sigmoidal_program", "copeland", "kwiksort"):
        assert (row[f"{name}_match"], row[f"{name}_distance"], row[f"{name}_excess"]) == (1, 0, 0), name
    for name in ("borda", "bradley_terry"):
        assert row[f"{name}_match"] == row[f"{name}_alone"] == 0
        assert row[f"{name}_distance"] == pytest.approx(1 / 3, abs=1e-6)
        assert row[f"{name}_excess"] == pytest.approx(1 / 4)  # five mistakes instead of four
    assert row["sgd_steps"] == 4000 and row["sgd_seeds"] == 2 and row["sgd_half"] == 1


def test_what_is_not_known_is_none() -> None:
    row = measure(three_cycle(), 1.0, SGD)
    assert row["sco_match"] is row["sgd_match"] is row["sgd_half"] is row["sgd_weak_match"] is None
    assert not row["winner"] and not row["weak"]
    assert "sgd_cpu" not in measure(paper_example(), 1.0, None)
    row = measure(votes(12, 1), None, SGD)
    assert row["proven"] is row["gap"] is None and row["sco_cpu"] > 0
    assert "sco_distance" not in row and "sgd_excess" not in row
    (line,) = table([{**row, "sample": False}])
    assert line["kemeny_instances"] == 0 and line["kemeny_proven"] is line["sco_distance"] is None
    assert [claim.agrees for claim in claims([line]) if "exact" in claim.what] == [None]


def test_an_exact_order_that_ran_out_of_time_is_not_preferred_to_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = votes(30, 1)
    good = sc.kemeny(profile)
    bad = replace(good, values=-good.values, converged=False, lower_bound=1.0)
    monkeypatch.setattr(preflib_measure, "kemeny", lambda pairs, time_limit: bad)
    row = measure(profile, 1.0, None)
    ours = sc.discrete_loss(profile, sc.sco(profile).order)
    assert row["proven"] is False and row["sco_excess"] == row["sco_distance"] == 0
    assert row["gap"] == pytest.approx((ours - 1) / ours, abs=1e-6)


def test_work_bounds_the_steps() -> None:
    """Votes of four have six pairs, so 600 units of work are 100 steps."""
    assert measure(votes(4, 0), 1.0, SGD | {"work": 600})["sgd_steps"] == 100
    assert measure(votes(4, 0), 1.0, SGD | {"work": 1})["sgd_steps"] == 2


def test_who_is_on_top() -> None:
    def top(profile: Profile, *values: float) -> list[float | None]:
        judged = Best(profile.pairs(), sc.sco(profile), 1.0).judge_top(np.array(values))
        return [judged[key] for key in ("match", "alone", "weak_match")]

    example = paper_example()  # A, B, C; C is the winner
    assert top(example, 1, 0, 2) == [1, 1, 1]
    assert top(example, 2, 0, 2) == [1, 0, 1]
    assert top(example, 2, 0, 1) == [0, 0, 0]
    weak = Profile.from_rankings([["a", "b", "c"], ["b", "a", "c"]])  # neither a nor b loses, and c loses to both
    assert top(weak, 1, 3, 3) == [None, None, 1]
    assert top(weak, 1, 1, 3) == [None, None, 0]


@given(profiles(max_agents=5))
@settings(max_examples=25)
def test_the_kemeny_order_is_the_first_of_the_best_permutations(profile: Profile) -> None:
    """The order that a search through all permutations keeps if it takes only better ones."""
    pairs = profile.pairs()
    losses = {order: sc.discrete_loss(pairs, list(order)) for order in permutations(profile.agents)}
    least = min(losses.values())
    first = next(order for order, loss in losses.items() if loss <= least + 1e-9)
    best = Best(pairs, sc.sco(pairs), 1.0)
    assert best.order == list(first)
    judged = best.judge(sc.borda(profile), "sgd")
    optima = [list(order) for order, loss in losses.items() if loss <= least + 1e-9]
    near = min(sc.normalized_kendall_tau_distance(sc.borda(profile).order, order) for order in optima)
    assert judged["sgd_nearest"] == pytest.approx(near, abs=1e-6)
    assert judged["sgd_distance"] == pytest.approx(
        sc.normalized_kendall_tau_distance(sc.borda(profile).order, best.order), abs=1e-6
    )
    assert judged["sgd_excess"] >= 0
    if judged["sgd_excess"] == 0:
        assert judged["sgd_nearest"] == 0


def made_row(m: int, **changed: object) -> Row:
    """A row as ``measure`` makes it, SGD included."""
    return {"name": "x", "sample": False, **measure(votes(m, m), 1.0, SGD), **changed}


def test_the_table_adds_up() -> None:
    rows = [
        made_row(3, sgd_match=1.0, sgd_weak_match=1.0, sgd_distance=0.0, winner=True),
        made_row(3, sgd_match=0.5, sgd_weak_match=0.5, sgd_distance=0.25, winner=True, sgd_steps=50),
        made_row(3, sgd_match=None, sgd_weak_match=0.0, sgd_distance=0.5, winner=False),
        made_row(12, proven=False, gap=0.02),
        made_row(14, proven=False, gap=0.04),
        made_row(16, proven=True),
    ]
    three, more = table(rows)
    assert three["sgd_match"] == 0.75 and three["sgd_weak_match"] == 0.5 and three["sgd_distance"] == 0.25
    assert three["sgd_instances"] == 3 and three["sgd_winners"] == 2 and three["sgd_steps"] == "50 to 200"
    assert three["sgd_distance_95"] == pytest.approx(1.96 * 0.25 / 3**0.5, abs=1e-5)
    assert three["paper_match"] == 1.0 and three["paper_instances"] == 115
    assert more["m_from"] == 11 and more["mean_m"] == 14
    assert more["kemeny_proven"] == pytest.approx(1 / 3, abs=1e-5) and more["kemeny_open_gap"] == 0.03
    assert more["paper_distance"] is None
    assert three["sgd_cpu_s"] == pytest.approx(sum(row["sgd_cpu"] for row in rows[:3]), abs=1e-3)


def full(**changed: object) -> list[Row]:
    """A table as large as the paper's, in which SGD agrees with it."""
    lines = table([made_row(group.low if group.low < 20 else 12) for group in GROUPS[:3]])
    return [
        {**lines[-1], "m_from": g.low, "m_to": g.high, "instances": g.size, "paper_instances": g.size,
         "winners": g.size, "mean_m": g.m, "paper_m": g.m, "mean_n": g.n, "paper_n": g.n,
         "sigmoidal_program_proven": 1.0, "paper_program_match": g.program_match, "sco_match": 1.0, "sco_alone": 1.0,
         "paper_match": g.match, "sgd_match": g.match, "sgd_weak_match": g.match,
         "sgd_instances": g.size, "paper_distance": g.distance, "sgd_distance": g.distance,
         "sgd_cpu_s": 21.0, "sco_there_cpu_s": 1.0, **changed}
        for g in GROUPS
    ]  # fmt: skip


def test_claims_can_fail() -> None:
    def said(rows: list[Row]) -> dict[str, bool | None]:
        return {claim.what: claim.agrees for claim in claims(rows)}

    good = said(full())
    assert False not in good.values()
    # Readings, CPU time, exact Kemeny, and what sigmoidal programming has by construction or by other ties.
    assert sum(agrees is None for agrees in good.values()) == 5
    assert said(full(sco_alone=0.99))["Condorcet winner alone on top by our default, in all groups"] is False
    program = "sigmoidal programming: minima proven to 0.1 %, up to 20 agents"
    assert said(full(sigmoidal_program_proven=0.9))[program] is False
    wrong = {what for what, agrees in said(full(sgd_weak_match=0.95)).items() if agrees is False}
    assert {f"Condorcet match of SGD, {m} agents" for m in (2, 3, 4, 5)} < wrong
    assert "Condorcet match of SGD, 201 to 500 agents" not in wrong
    assert said(full(sgd_distance=0.05))["distance of SGD to Kemeny, 3 agents"] is False
    assert said(full(mean_m=17.0))["mean m by group"] is False
    assert said(full(mean_n=35.0))["mean n by group"] is False
    assert said(full(instances=10))["instances by group"] is False
    assert said(full(instances=10, sample=True))["instances by group"] is None


@pytest.mark.peer
def test_ratings_at_the_bound_are_those_of_open_spiel() -> None:
    """One vote, so that there is nothing to sample: two of 130 agents end at the upper bound, there as here."""
    pyspiel = pytest.importorskip("pyspiel", reason="pip install open_spiel==2.0.2")
    names = [f"{k:03}" for k in range(130)]
    theirs = pyspiel.sco.SoftCondorcetOptimizer(
        [(1, names)], rating_lower_bound=0.0, rating_upper_bound=100.0, batch_size=1, temperature=1.0, rng_seed=1
    )
    theirs.run_solver(20_000, 0.05)
    ours = sc.sco(Profile.from_rankings([names]), solver="sgd", batch=1, steps=20_000, lr=0.05, temperature=1.0)
    assert {name: ours[name] for name in names} == pytest.approx(theirs.ratings(), abs=1e-9)
    assert int((ours.values == 100).sum()) > 1


@pytest.mark.data
def test_the_groups_of_the_archive_are_the_papers() -> None:
    members = preflib.sizes_of(find(preflib.ARCHIVE))
    sizes = [sum(group.low <= m <= group.high for m, _ in members.values()) for group in GROUPS]
    assert sizes == [group.size for group in GROUPS]
