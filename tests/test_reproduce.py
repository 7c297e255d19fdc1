"""The paper's items at a tiny scale: what they find, how they are run, stopped and run again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.errors import DataError, OptionError
from softcondorcet.kernels import perturbed, votes
from softcondorcet.reproduce import arena, atari, landscape, posterior, warmup
from softcondorcet.reproduce.items import NAMES, study
from softcondorcet.reproduce.runner import read_table, redraw, reproduce
from softcondorcet.reproduce.study import Claim, Files, Job, Row, Study


def squares(job: Job, files: Files) -> list[Row]:
    return [{"n": job["n"], "square": job["n"] ** 2}]


def drawn(table: object) -> dict[str, object]:
    from softcondorcet.reproduce.figures import figure, whiskers

    made, axis = figure()
    whiskers(axis, [1, 2], [1, 4], [0.1, 0.1], 0, "squares")
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
    assert read_table(tmp_path / "results/toy.csv") == done.table
    assert json.loads((tmp_path / "results/toy.json").read_text())["claims"][0]["ours"] == "4"
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


def test_a_journal_of_other_data_is_not_used(tmp_path: Path) -> None:
    worked: list[int] = []

    def work(job: Job, files: Files) -> list[Row]:
        worked.append(job["n"])
        return squares(job, files)

    data = tmp_path / "votes.csv"
    for text in ("a", "a", "more"):
        data.write_text(text)
        reproduce(replace(TOY, work=work), "tiny", {"votes.csv": data}, tmp_path, workers=1)
    assert worked == [0, 1, 2] * 2


def test_figures_can_be_drawn_again_from_the_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="run 'sco reproduce toy' first"):
        redraw(TOY, tmp_path)
    reproduce(TOY, "tiny", {}, tmp_path, workers=1)
    (tmp_path / "figures/toy.png").unlink()
    assert (tmp_path / "figures/toy.png") in redraw(TOY, tmp_path)
    assert (tmp_path / "figures/toy.png").exists()


def test_warmup_agrees_with_the_paper(tmp_path: Path) -> None:
    done = reproduce(warmup.STUDY, "tiny", {}, tmp_path, workers=1)
    wrong = [claim for claim in done.claims if claim.agrees is False]
    assert wrong == []
    assert sum(claim.agrees is True for claim in done.claims) == 11  # six of gradient descent, five methods
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
    options = {"lr": rate, "temperature": heat, "batch": "all", "noise": 0.0}
    assert warmup.steps_to_best(warmup.example(), options, 0) == steps - 1


def test_fenchel_young_with_gumbel_noise_has_the_gradient_of_bradley_terry() -> None:
    """The mean of many perturbed steps is the step down the loss that the landscape draws."""
    ratings, noise, draws = np.array([0.3, -0.5, 0.2]), 1.0, 40_000
    state = votes.seed_state(np.random.default_rng(5))
    pull = np.zeros(3)
    for order, weight in (([0, 1, 2], 0.4), ([2, 0, 1], 0.6)):
        moved = ratings.copy()
        tiers = np.arange(3, dtype=np.int32)
        perturbed.perturbed_step(moved, np.array(order, dtype=np.int32), tiers, 1.0, noise, draws, 0, -50, 50, state)
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
    listed = CliRunner().invoke(main, ["reproduce"])
    assert listed.exit_code == 0
    for name in NAMES:
        assert study(name).name == name
        assert study(name).title in listed.stdout
    with pytest.raises(OptionError, match="item must be one of warmup, "):
        study("warm")


def test_the_command_prints_each_claim_and_says_what_it_wrote(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["reproduce", "landscape", "--scale", "tiny", "-o", str(tmp_path), "--workers", "1"])
    assert run.exit_code == 0
    assert "first at the minimum of the sigmoid loss" in run.stdout and "yes" in run.stdout
    assert "landscape.csv" in run.stderr
    again = CliRunner().invoke(main, ["reproduce", "landscape", "--draw", "-o", str(tmp_path)])
    assert again.exit_code == 0 and "landscape.svg" in again.stderr


def test_the_command_says_what_data_is_missing(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["reproduce", "arena", "--data", str(tmp_path), "-o", str(tmp_path / "out")])
    assert run.exit_code == 1
    assert "chatbot_arena_20240814_counts.csv" in run.stderr
    wrong = CliRunner().invoke(main, ["reproduce", "warm"])
    assert wrong.exit_code == 2 and "item must be one of" in wrong.stderr


def test_posterior_counts_rankings_of_the_papers_ten_agents(tmp_path: Path) -> None:
    done = reproduce(posterior.STUDY, "tiny", {}, tmp_path, workers=1)
    for seed in (0, 1):
        shares = [row["share"] for row in done.table if row["seed"] == seed]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1
    assert done.table[0]["true"] == "3 4 0 2 6 9 1 8 7 5"
    assert len(done.claims) == 3
