"""The paper's items at a tiny scale: what they find, how they are run, stopped and run again."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import softcondorcet as sc
from experiments import arena, atari, landscape, posterior, runner, warmup
from experiments.__main__ import main
from experiments.items import NAMES, study
from experiments.runner import read_table, redraw, reproduce
from experiments.study import Claim, Files, Job, Row, Study
from softcondorcet.cli import main as sco
from softcondorcet.errors import DataError, OptionError
from softcondorcet.kernels import fenchel_young, sgd


def squares(job: Job, files: Files) -> list[Row]:
    return [{"n": job["n"], "square": job["n"] ** 2}]


def drawn(table: object) -> dict[str, object]:
    from experiments.figures import figure, look, whiskers

    made, axis = figure()
    whiskers(axis, [1, 2], [1, 4], [0.1, 0.1], look(0), "squares")
    return {"": made}


TOY = Study(
    "toy",
    "Squares",
    lambda scale, files: [{"n": n} for n in range({"tiny": 3, "quick": 5, "paper": 7}[scale])],
    squares,
    list,
    lambda table: [Claim.near("two squared", 4, table[2]["square"], 0)],
    drawn,  # type: ignore[arg-type]
)


def test_a_run_leaves_a_table_claims_and_figures(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    done = reproduce(TOY, "quick", {}, tmp_path, workers=2, watch=lambda step, steps, _: seen.append((step, steps)))
    assert done.table == [{"n": n, "square": n * n} for n in range(5)]
    assert [claim.agrees for claim in done.claims] == [True]
    assert {path.name for path in done.written} == {"toy.csv", "toy.json", "toy.png", "toy.svg"}
    assert all(path.stat().st_size for path in done.written)
    assert read_table(tmp_path / "results/quick/toy.csv") == done.table
    about = json.loads((tmp_path / "results/quick/toy.json").read_text())
    assert about["claims"][0]["ours"] == "4" and len(about["code"]) == 16  # which code has found it
    assert seen[-1] == (5, 5)


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    worked: list[int] = []

    def work(job: Job, files: Files) -> list[Row]:
        worked.append(job["n"])
        if job["n"] == 3 and worked.count(3) == 1:
            raise KeyboardInterrupt
        return squares(job, files)

    stops = replace(TOY, work=work)
    with pytest.raises(KeyboardInterrupt):
        reproduce(stops, "quick", {}, tmp_path, workers=1)
    with (tmp_path / "work/toy-quick.jsonl").open("a") as journal:
        journal.write('\n["{\\"n\\": 4}", [{"n"')  # the line that a kill cut off
    assert len(reproduce(stops, "quick", {}, tmp_path, workers=1).table) == 5
    assert worked == [0, 1, 2, 3, 3, 4]
    reproduce(stops, "quick", {}, tmp_path, workers=1)
    assert len(worked) == 6
    reproduce(stops, "quick", {}, tmp_path, workers=1, fresh=True)
    assert len(worked) == 11


def test_the_time_of_a_run_is_that_of_all_its_parts(tmp_path: Path) -> None:
    """Two jobs sleep before the stop and three after it: what is written down is the sum."""
    nap, worked = 0.1, 0

    def work(job: Job, files: Files) -> list[Row]:
        nonlocal worked
        worked += 1
        if worked == 3:
            raise KeyboardInterrupt
        time.sleep(nap)
        return squares(job, files)

    naps = replace(TOY, work=work)
    with pytest.raises(KeyboardInterrupt):
        reproduce(naps, "quick", {}, tmp_path, workers=1)
    for _ in range(2):  # the second finds all jobs done, and forgets no time
        reproduce(naps, "quick", {}, tmp_path, workers=1)
        seconds = json.loads((tmp_path / "results/quick/toy.json").read_text())["seconds"]
        assert 5 * nap <= seconds + 0.05  # it is rounded to a tenth
        assert worked == 6


def test_a_journal_of_other_data_is_not_used(tmp_path: Path) -> None:
    worked: list[int] = []

    def work(job: Job, files: Files) -> list[Row]:
        worked.append(job["n"])
        return squares(job, files)

    data = tmp_path / "votes.csv"
    for text in ("a", "a", "b"):
        data.write_text(text)
        reproduce(replace(TOY, work=work), "tiny", {"votes.csv": data}, tmp_path, workers=1)
    assert worked == [0, 1, 2] * 2


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(DataError, match=r"figures/tiny: Not a directory$"):
        reproduce(TOY, "tiny", {}, tmp_path, workers=1)
    with pytest.raises(DataError, match=r"figures/tiny: Not a directory$"):
        redraw(TOY, "tiny", tmp_path)


def killed(job: Job, files: Files) -> list[Row]:
    os._exit(9)


def test_a_process_that_was_killed_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^toy: a process was ended from outside"):
        reproduce(replace(TOY, work=killed), "tiny", {}, tmp_path, workers=2)


def test_drawing_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(TOY, "tiny", {}, tmp_path, workers=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionError, match=r"this needs matplotlib: .*\[plot\]"):
        redraw(TOY, "tiny", tmp_path)


def test_wilson_intervals_stay_within_0_and_1() -> None:
    from experiments.figures import wilson

    share, of = np.array([0.8, 1.0, 0.0]), np.array([10.0, 11.0, 11.0])
    down, up = wilson(share, of)
    ends = np.array([share - down, share + up])
    assert ends.min() >= 0 and ends.max() <= 1
    # An end is a true share whose own normal interval just reaches the share seen.
    assert (ends - share) ** 2 == pytest.approx(1.96**2 * ends * (1 - ends) / of, abs=1e-12)


def test_a_table_of_other_code_cannot_be_drawn(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/posterior.csv").write_text("seed,order\n0,1 2 3\n")
    with pytest.raises(DataError, match=r"posterior.csv: expected a column 'contests'; run './reproduce posterior"):
        redraw(posterior.STUDY, "paper", tmp_path)


def test_figures_can_be_drawn_again_from_the_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"run './reproduce toy --scale tiny' first"):
        redraw(TOY, "tiny", tmp_path)
    reproduce(TOY, "tiny", {}, tmp_path, workers=1)
    (tmp_path / "figures/tiny/toy.png").unlink()
    assert (tmp_path / "figures/tiny/toy.png") in redraw(TOY, "tiny", tmp_path)
    assert (tmp_path / "figures/tiny/toy.png").exists()


def test_warmup_agrees_with_the_paper(tmp_path: Path) -> None:
    done = reproduce(warmup.STUDY, "tiny", {}, tmp_path, workers=1)
    wrong = [claim for claim in done.claims if claim.agrees is False]
    # Two steps of 28, of which 2 % is half a step.
    assert [(claim.paper, claim.ours, claim.difference) for claim in wrong] == [("28", "30", "+2")]
    single = [claim for claim in done.claims if "single precision" in claim.what]
    assert [claim.ours for claim in single] == ["289", "1158", "4661", "28", "115", "463"]
    assert sum(claim.agrees is True for claim in done.claims) == 16  # eleven of gradient descent, five methods
    assert sum(claim.agrees is None for claim in done.claims) == 6  # five seeds are too few for SGD


def test_gradient_descent_takes_as_many_steps_as_a_plain_loop() -> None:
    rate, heat = 0.1, 0.5
    ratings, steps = np.full(3, 50.0), 0
    share = {("A", "B"): 1.0, ("A", "C"): 0.4, ("B", "C"): 0.4, ("C", "A"): 0.6, ("C", "B"): 0.6}
    while not ratings[2] > ratings[0] > ratings[1]:
        pull = np.zeros(3)
        for (a, b), weight in share.items():
            i, j = "ABC".index(a), "ABC".index(b)
            p = 1 / (1 + np.exp((ratings[i] - ratings[j]) / heat))
            pull[i] += weight * p * (1 - p) / heat
            pull[j] -= weight * p * (1 - p) / heat
        ratings += rate * pull
        steps += 1
    options = {"lr": rate, "temperature": heat, "batch": "all"}
    assert warmup.steps_to_best(warmup.example(), options, 0) == steps


def test_sgd_is_looked_at_until_it_has_settled() -> None:
    """Seed 196 takes more than four times the steps of plain descent; the number is that of a far longer look."""
    options, other = dict[str, Any](lr=0.1, temperature=0.5, batch=2), 0

    def watch(step: int, _steps: int, ratings: np.ndarray) -> None:
        nonlocal other
        other = other if warmup.is_best(warmup.example(), ratings) else step

    sc.sco(warmup.example(), solver="sgd", **options, seed=196, steps=20_000, watch=watch, every=1)
    assert warmup.steps_to_best(warmup.example(), options, 196) == other + 1 > 4 * warmup.enough_steps(0.1, 0.5)


def test_fenchel_young_with_gumbel_noise_has_the_gradient_of_bradley_terry() -> None:
    """The mean of many perturbed steps is the step down the loss that the landscape draws."""
    ratings, noise, draws = np.array([0.3, -0.5, 0.2]), 1.0, 40_000
    state = sgd.seed_state(np.random.default_rng(5))
    pull = np.zeros(3)
    for order, weight in (([0, 1, 2], 0.4), ([2, 0, 1], 0.6)):
        moved = ratings.copy()
        tiers = np.arange(3, dtype=np.int32)
        fenchel_young.perturbed_step(
            moved, np.array(order, dtype=np.int32), tiers, 1.0, noise, draws, 0, -50, 50, state
        )
        pull += weight * (moved - ratings)
    value = [landscape.loss_of("fenchel_young", ratings + sign * 1e-5 * np.eye(3)) for sign in (1, -1)]
    slope = (value[0] - value[1]) / 2e-5
    assert pull == pytest.approx(-slope, abs=5 * 1.0 / np.sqrt(draws))  # five standard errors of a place


def test_landscape_has_its_minimum_where_the_paper_has_it(tmp_path: Path) -> None:
    done = reproduce(landscape.STUDY, "tiny", {}, tmp_path, workers=1)
    assert [claim.agrees for claim in done.claims] == [True, True]
    for loss in landscape.LOSSES:
        best = min(row["value"] for row in done.table if row["loss"] == loss and inside(row))
        star = next(row["value"] for row in done.table if row["loss"] == loss and row["kind"] == "minimiser")
        assert star <= best


def inside(row: Row) -> bool:
    """Whether the ratings of a point of the plane fit in the box, shifted as one likes."""
    ratings = row["across"] * landscape._ACROSS + row["up"] * landscape._UP
    return bool(np.ptp(ratings) <= 2 * landscape.BOX)


def score_tables(folder: Path) -> dict[str, Path]:
    """Small score tables under the names that ``atari`` needs; a mean score puts the wrong agent first."""
    rng = np.random.default_rng(0)
    files = {}
    for name, _, _ in atari.BOARDS.values():
        rows = ["agent,task,score,higher_is_better"]
        for task in range(9):
            steady, wild = 10 + rng.random(), 1000.0 if task == 0 else 5 + rng.random()
            scores = {"random": 0.0, "human": 1.0, "steady": steady, "wild": wild}
            rows += [f"{agent},game {task},{score},1" for agent, score in scores.items()]
        files[name] = folder / name.removesuffix(".gz")
        files[name].write_text("\n".join(rows) + "\n")
    return files


def test_atari_says_which_methods_miss_the_condorcet_winner(tmp_path: Path) -> None:
    done = reproduce(atari.STUDY, "tiny", score_tables(tmp_path), tmp_path, workers=1)
    assert not [claim for claim in done.claims if claim.agrees is False]
    missed = [claim for claim in done.claims if "do not put steady first" in claim.what]
    assert missed and all(claim.why == "mean_score puts wild first" for claim in missed)


def test_arena_compares_boards_of_battles(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name, _ in arena.BOARDS.values()}
    for path in files.values():
        sc.write(sc.synthetic.demo(), str(path))
    done = reproduce(arena.STUDY, "tiny", files, tmp_path, workers=1)
    assert not [claim for claim in done.claims if claim.agrees is False]
    rates = arena.win_rates(sc.Profile.from_rankings([["a", "b"], ["a", "b"], ["b", "a"], [["a", "b"]]]))
    assert rates["a"] == 2.5 / 4 and rates["b"] == 1.5 / 4


def test_every_item_has_a_name_a_title_and_a_place_in_the_list() -> None:
    listed = CliRunner().invoke(main, [])
    assert listed.exit_code == 0
    for name in NAMES:
        assert study(name).name == name
        assert study(name).title in listed.stdout
    with pytest.raises(OptionError, match="item must be one of warmup, "):
        study("warm")


def test_the_command_prints_each_claim_and_says_what_it_wrote(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["landscape", "--scale", "tiny", "-o", str(tmp_path), "--workers", "1"])
    assert run.exit_code == 0
    assert "first at the minimum of the sigmoid loss" in run.stdout and "yes" in run.stdout
    assert "landscape.csv" in run.stderr
    again = CliRunner().invoke(main, ["landscape", "--draw", "--scale", "tiny", "-o", str(tmp_path)])
    assert again.exit_code == 0 and "figures/tiny/landscape.svg" in again.stderr
    never = CliRunner().invoke(main, ["landscape", "--draw", "-o", str(tmp_path)])
    assert never.exit_code == 1 and "run './reproduce landscape --scale quick' first" in never.stderr


def test_a_smaller_scale_overwrites_nothing_of_the_papers(tmp_path: Path) -> None:
    kept = [tmp_path / "results" / f"landscape.{suffix}" for suffix in ("csv", "json")]
    kept += [tmp_path / "figures" / f"landscape.{suffix}" for suffix in ("png", "svg")]
    for path in kept:
        path.parent.mkdir(exist_ok=True)
        path.write_text("of the paper's scale")
    done = reproduce(landscape.STUDY, "tiny", {}, tmp_path, workers=1)
    assert {path.read_text() for path in kept} == {"of the paper's scale"}
    assert {path.parent.name for path in done.written} == {"tiny"}


def test_the_installed_command_says_where_experiments_went() -> None:
    for words, where in (("reproduce warmup --scale tiny", "./reproduce NAME"), ("data list", "./reproduce data")):
        run = CliRunner().invoke(sco, words.split())
        assert run.exit_code == 2 and f"'{where}' in a clone of the repository" in run.stderr


def test_the_command_says_what_data_is_missing(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["arena", "--data", str(tmp_path), "-o", str(tmp_path / "out")])
    assert run.exit_code == 1
    assert "chatbot_arena_20240814_counts.csv" in run.stderr
    wrong = CliRunner().invoke(main, ["warm"])
    assert wrong.exit_code == 2 and "item must be one of" in wrong.stderr


SCORES = "agent,task,score\nrandom,x,0\nhuman,x,1\nours,x,2\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty; expected a csv table of agent, task and score"),
        (b"PK\x03\x04\xff\xfe", r"cannot be read \(.*\); expected a csv table of agent, task and score"),
        (b"foo,bar\n1,2\n", "no column 'agent'; found 'foo', 'bar'"),
        (SCORES.replace("random", "chance").encode(), "task 'x' has no score of 'random'; expected one to scale it by"),
        (SCORES.replace("x,2", "x,").encode(), "agent 'ours' has no score; expected at least one"),
        (SCORES.replace("x,2", "x,high").encode(), "score is 'high'; expected a finite number"),
    ],
)
def test_atari_says_what_is_wrong_with_a_table(tmp_path: Path, data: bytes, said: str) -> None:
    files = score_tables(tmp_path)
    (tmp_path / "atari_agent57_table.csv").write_bytes(data)
    with pytest.raises(DataError, match=rf"atari_agent57_table\.csv(:\d+)?: {said}$"):
        atari.work({"board": "agent57"}, files)
    assert atari.work({"board": "muesli"}, files)


def test_a_score_table_may_be_gzipped_and_must_be_whole(tmp_path: Path) -> None:
    path = tmp_path / "helm_lite.csv.gz"
    path.write_bytes(gzip.compress(SCORES.encode()))
    files = {path.name: path}
    assert {row["first"] for row in atari.work({"board": "helm_lite"}, files) if row["kind"] == "method"} == {"ours"}
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"helm_lite.csv.gz: cannot be read .*; expected a csv table"):
        atari.work({"board": "helm_lite"}, files)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("preflib --data x.csv", "x.csv: cannot be read (File is not a zip file); expected a zip archive of PrefLib"),
        ("atari --data x.csv", "x.csv: a single file; expected --data to be a folder with atari_agent57_table.csv, "),
        ("arena --data x.csv", "expected --data to be a folder with chatbot_arena_20240814_counts.csv, llmfao_human"),
        ("diplomacy --data x.csv", "x.csv: columns 'foo', 'bar' are not known; expected battles"),
        ("online --data x.csv", "winner=NAME), as options of 'sco convert', which writes a file that needs none"),
        ("online --data .", "codeforces_groups7.csv.gz: not found in ., "),
        ("atari --data .", "; give --data a folder with it, or its path where no other is needed"),
    ],
)
def test_wrong_data_is_one_line(words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SCO_DATA", raising=False)
    Path("x.csv").write_text("foo,bar\n1,2\n")
    run = CliRunner().invoke(main, [*words.split(), "--scale", "tiny", "--workers", "1"])
    assert run.exit_code == 1
    assert said in run.stderr and run.stderr.strip().count("\n") == 0


def test_wrong_data_of_one_item_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "preflib-paper.zip").write_text("not a zip")
    words = ["preflib", "arena", "landscape", "--data", str(tmp_path), "-o", str(tmp_path / "out")]
    run = CliRunner().invoke(main, [*words, "--scale", "tiny", "--workers", "1"])
    assert run.exit_code == 1
    assert "left out preflib: " in run.stderr and "left out arena: " in run.stderr
    assert (tmp_path / "out/results/tiny/landscape.csv").exists()


def test_all_may_stand_among_other_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(runner, "redraw", lambda item, scale, folder: drawn.append(item.name) or [])  # type: ignore[func-returns-value]
    for words in (["all"], ["all", "warmup"], ["warmup", "all", "all"]):
        drawn.clear()
        run = CliRunner().invoke(main, [*words, "--draw", "-o", str(tmp_path)])
        assert run.exit_code == 0 and drawn == list(NAMES)
    assert CliRunner().invoke(main, ["all", "warm", "--draw"]).exit_code == 2


def test_posterior_counts_rankings_of_the_papers_ten_agents(tmp_path: Path) -> None:
    done = reproduce(posterior.STUDY, "tiny", {}, tmp_path, workers=1)
    for contests, seed in itertools.product(posterior.CONTESTS, (0, 1)):
        shares = [row["share"] for row in done.table if (row["contests"], row["seed"]) == (contests, seed)]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1 + 1e-9
    assert done.table[0]["true"] == "3 4 0 2 6 9 1 8 7 5"
    assert [claim.agrees for claim in done.claims] == [None] * 9  # two draws say nothing


def test_samples_of_the_posterior_do_not_drift() -> None:
    """From 200 contests on the rate that matches can be kept, and there is nowhere left to go after the burn-in."""
    (first, *_) = posterior.work({"contests": 200, "seed": 0, "samples": 1000}, {})
    assert not first["capped"] and first["drift"] < 0.4  # 0.1 in most draws; at temperature 1 it is 1.7


def test_every_claim_that_does_not_agree_is_listed_with_a_reason() -> None:
    """The page and the results say the same: each such claim with its two figures, and no other."""
    page = (Path(__file__).parents[2] / "experiments" / "README.md").read_text()
    lines = page.split("## Claims that do not agree")[1].split("## Data")[0].splitlines()
    listed = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines if line.startswith("|")]
    shown = {(item, what, paper, ours) for item, what, paper, ours, why in listed[2:] if why}
    results = (Path(__file__).parents[2] / "experiments" / "results").glob("*.json")
    known = {result.stem: json.loads(result.read_text())["claims"] for result in results}
    assert shown == {
        (item, claim["what"], claim["paper"], claim["ours"])
        for item, claims in known.items()
        for claim in claims
        if claim["agrees"] is False
    }
