"""The command line as a user meets it: real processes where pipes and exit codes matter."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import softcondorcet as sc
from softcondorcet.cli import main

BATTLES = "model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nx,z,tie\n"


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, words, input=given)


def sco(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "softcondorcet", *words], input=given, capture_output=True, timeout=60, check=False
    )


@pytest.fixture
def battles(tmp_path: Path) -> str:
    path = tmp_path / "battles.csv"
    path.write_text(BATTLES)
    return str(path)


def test_rank_prints_a_table_and_says_what_it_rests_on(battles: str) -> None:
    result = run("rank", battles)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split("  ") == ["rank", "agent", "rating", "win chance", "votes"]
    assert result.stdout.splitlines()[1].split()[:2] == ["1", "x"]
    assert "games: margins are shrunk toward the line of Bradley-Terry" in result.stderr
    plain = run("rank", battles, "--set", "shrink=false")
    assert "sco: converged, 101 steps" in plain.stderr and "margins are taken as they are" in plain.stderr
    assert run("rank", battles, "--scale", "box").stdout.splitlines()[1].split() == ["1", "x", "100", "2"]
    assert "the order contradicts 0.5 comparisons" in result.stderr
    assert not run("rank", battles, "--quiet").stderr


def test_json_is_the_library_result(battles: str) -> None:
    shown = json.loads(run("rank", battles, "--format", "json").stdout)
    assert shown == sc.sco(sc.read(battles)).to_dict()
    assert list(shown) == [
        "schema", "method", "options", "seed", "n_agents", "converged", "status", "steps", "error", "loss",
        "discrete_loss", "lower_bound", "gap", "loss_bound", "loss_gap", "order_certified", "only_optimum",
        "optimal_orders", "may_swap", "condorcet_winner", "smith_set", "warnings", "unit", "scale", "anchor", "pooled",
        "level", "shrink", "kappa", "prior", "agents",
    ]  # fmt: skip
    assert list(shown["agents"][0]) == [
        "rank", "rank_low", "rank_high", "agent", "rating", "rating_low", "rating_high", "win_chance", "votes",
    ]  # fmt: skip
    assert len(json.loads(run("rank", battles, "--format", "json", "--top", "1").stdout)["agents"]) == 1


def test_csv_comes_back_as_it_was(battles: str) -> None:
    rows = list(csv.DictReader(io.StringIO(run("rank", battles, "--format", "csv").stdout)))
    board = sc.sco(sc.read(battles))
    assert [(row["agent"], float(row["rating"])) for row in rows] == [(n, board[n]) for n in board.order]


def test_certify_says_how_far_from_the_best_order(battles: str) -> None:
    shown = run("rank", battles, "--certify", "--time-limit", "5")
    assert "no order contradicts fewer than 0.5: this one is optimal, and no other is" in shown.stderr
    data = json.loads(run("rank", battles, "--method", "kemeny", "--certify", "--format", "json").stdout)
    assert data["lower_bound"] == data["discrete_loss"] == 0.5 and data["gap"] == 0
    assert data["options"]["time_limit"] == 60


def test_several_optimal_orders_are_said_with_the_pairs_that_may_swap(tmp_path: Path) -> None:
    """A cycle of three, and below it two agents that are level: 3 x 2 orders contradict as little."""
    path = tmp_path / "votes.jsonl"
    votes = [["a", "b", "c", ["x", "y"]], ["b", "c", "a", ["x", "y"]], ["c", "a", "b", ["x", "y"]]]
    path.write_text("\n".join(json.dumps({"ranking": vote}) for vote in votes))
    for method in ("sco", "kemeny"):
        shown = run("rank", str(path), "--method", method)
        assert "no order contradicts fewer than 5.5: this is one of 6 optimal orders" in shown.stderr
        assert "pairs that stand either way in optimal orders: a and b, a and c, b and c, x and y" in shown.stderr
        data = json.loads(run("rank", str(path), "--method", method, "--format", "json").stdout)
        assert data["only_optimum"] is False and data["optimal_orders"] == 6
        assert data["may_swap"] == [["a", "b"], ["a", "c"], ["b", "c"], ["x", "y"]]
        assert sc.Ratings.from_json(json.dumps(data)).summary()[:5] == shown.stderr.splitlines()[:5]


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    names = ["\x1b[31mred\x07", "a|b", "50%_$x$", "[bold]b[/bold]", "new\nline"]
    path.write_text("\n".join(json.dumps({"ranking": [a, b]}) for a in names for b in names if a != b))
    table = run("rank", str(path)).stdout
    assert "\x1b" not in table and "\x07" not in table
    assert len(table.splitlines()) == 6
    assert "[bold]b[/bold]" in table
    assert r"a\|b" in run("rank", str(path), "--format", "md").stdout
    assert r"50\%\_\$x\$" in run("rank", str(path), "--format", "latex").stdout
    assert {r["agent"] for r in json.loads(run("rank", str(path), "--format", "json").stdout)["agents"]} == set(names)


def test_pipes(battles: str) -> None:
    made = sco("simulate", "cycle", "--votes", "30", "--agents", "5", "--phi", "0.4")
    assert made.returncode == 0
    ranked = sco("rank", "-", "--format", "json", given=made.stdout)
    assert ranked.returncode == 0
    assert set(json.loads(ranked.stdout)["smith_set"]) == {"agent-1", "agent-2", "agent-3"}
    assert sco("rank", "-", given=BATTLES.encode()).stdout == sco("rank", battles).stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "softcondorcet", "simulate", "uniform", "--votes", "20000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_inspect_says_what_the_data_can_support(battles: str) -> None:
    text = run("inspect", battles).stdout
    assert "Condorcet winner  none" in text
    assert "caution: never below another agent: x" in text
    found = json.loads(run("inspect", battles, "--format", "json").stdout)
    assert found["undefeated"] == ["x"]
    assert found["healthy"]


def test_inspect_strict_fails_on_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("model_a,model_b,winner\na,b,model_a\nc,d,model_a\n")
    assert run("inspect", str(path)).exit_code == 0
    assert run("inspect", str(path), "--strict").exit_code == 1


def test_convert_and_back(battles: str, tmp_path: Path) -> None:
    target = str(tmp_path / "votes.toi")
    assert run("convert", battles, target).exit_code == 0
    assert sc.read(target).pairs().total == sc.read(battles).pairs().total
    assert '"ranking"' in run("convert", target, "-", "--to", "jsonl").stdout


@pytest.mark.parametrize("model", ["uniform", "skill", "mallows", "plackett-luce", "cycle", "demo"])
def test_simulate_repeats_with_its_seed(model: str) -> None:
    first, again = run("simulate", model), run("simulate", model)
    assert first.exit_code == 0
    assert first.stdout == again.stdout
    assert first.stdout != run("simulate", model, "--seed", "1").stdout


def test_the_demo_can_be_had_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "arena.csv")
    assert run("simulate", "demo", "-o", path).exit_code == 0
    assert run("rank", path).stdout in run("demo").stdout


def test_demo_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0
    assert "aster" in result.stdout
    assert "problem: 2 groups of agents never met" in result.stdout
    assert "Smith set         3: aster, birch, cedar (among the 11 agents of the largest group)" in result.stdout


def test_start_from_saved_ratings(battles: str, tmp_path: Path) -> None:
    saved = tmp_path / "board.json"
    saved.write_text(run("rank", battles, "--set", "shrink=false", "--format", "json").stdout)
    again = json.loads(run("rank", battles, "--format", "json", "--start", str(saved)).stdout)
    assert again["steps"] < json.loads(saved.read_text())["steps"]
    saved.write_text("{}")
    assert "expected the JSON of Ratings.to_json" in run("rank", battles, "--start", str(saved)).stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("rank", "no-such-file.csv"), 1, "no-such-file.csv"),
        (("rank", "{file}", "--method", "elo9"), 2, "--method must be one of sco, "),
        (("rank", "{file}", "--set", "temperature"), 2, "--set must be NAME=VALUE, got 'temperature'"),
        (("rank", "{file}", "--set", "temperature=-1"), 2, "temperature must be a positive number"),
        (("rank", "{file}", "--set", "temperature=hot"), 2, "temperature must be a positive number, got 'hot'"),
        (("rank", "{file}", "--set", "watch=1"), 2, "--set must be an option with a plain value"),
        (("rank", "{file}", "--set", "tempo=1"), 2, "sco has no option 'tempo'"),
        (("rank", "{file}", "--column", "judge"), 2, "--column must be ROLE=NAME"),
        (("rank", "{file}", "--format", "pdf"), 2, "'pdf' is not one of"),
        (("rank",), 2, "Missing argument"),
        (("rankk",), 2, "No such command"),
        (("convert", "{file}", "out.docx"), 2, "format of out.docx must be one of soc"),
        (("simulate", "cycle", "--agents", "2"), 2, "cycle must be between 3 and"),
        (("simulate", "demo", "--votes", "5"), 2, "--votes must be left out for demo"),
        (("simulate", "mallows", "--size", "3"), 2, "--size must be left out for mallows"),
        (("simulate", "uniform", "--seed", "-1"), 2, "seed must be a whole number that is not negative"),
        (("rank", "{file}", "--seed", "-1"), 2, "seed must be a whole number that is not negative"),
        (("rank", "{file}", "--set", "seed=abc"), 2, "seed must be a whole number"),
        (("rank", "{file}", "--set", "temperature=1e-300"), 2, "temperature must be between 1e-9 and 1e9 of the width"),
        (("rank", "{file}", "--set", "polish=maybe"), 2, "polish must be True or False, got 'maybe'"),
        (("rank", "{file}", "--set", "every=-1"), 2, "every must be a whole number"),
        (
            ("rank", "no-such-file.csv", "--certify", "--time-limit", "-1"),
            2,
            "'--time-limit': -1.0 is not in the range",
        ),
        (("rank", "{file}", "--certify", "--time-limit", "inf"), 2, "'--time-limit': inf is not in the range"),
        (
            ("rank", "{file}", "--certify", "--time-limit", "nan"),
            2,
            "--time-limit must be a number that is not negative",
        ),
        (
            ("rank", "{file}", "--method", "kemeny", "--set", "time_limit=2", "--time-limit", "1"),
            2,
            "--time-limit must be left out where --set time_limit is given",
        ),
        (("rank", "{file}", "--start", sys.executable), 1, f"{sys.executable}: "),
    ],
)
def test_wrong_words_get_one_line_and_a_code(words: tuple[str, ...], code: int, message: str, battles: str) -> None:
    result = run(*(word.format(file=battles) for word in words))
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout


def test_bad_data_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("model_a,model_b,winner\nx,y,model_a\nx,y,model_c\n")
    result = run("rank", str(path))
    assert result.exit_code == 1
    assert "bad.csv:3: winner is 'model_c'; expected" in result.stderr


def test_words_for_yes_and_no(battles: str) -> None:
    for word, value in (("false", False), ("True", True)):
        shown = run("rank", battles, "--set", f"shrink={word}", "--format", "json").stdout
        assert json.loads(shown)["options"]["shrink"] is value


def test_weights_beyond_floats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "heavy.csv"
    path.write_text("model_a,model_b,winner,weight\nx,y,model_a,1e308\nx,y,model_a,1e308\n")
    result = run("rank", str(path))
    assert result.exit_code == 1
    assert "more than 1e300 comparisons" in result.stderr


def test_no_progress_bar_where_nobody_looks(battles: str) -> None:
    assert b"\x1b" not in sco("rank", battles, "--set", "solver=sgd", "--set", "steps=200000").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_progress_bar_on_a_terminal_after_two_seconds(tmp_path: Path) -> None:
    import pty

    path = tmp_path / "votes.csv"
    sc.write(sc.synthetic.mallows(50, agents=40), str(path))
    leader, follower = pty.openpty()
    words = [
        "rank",
        str(path),
        "--set",
        "solver=sgd",
        "--set",
        "batch='all'",
        "--set",
        "steps=300000",
        "--set",
        "every=500",
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "softcondorcet", *words], stdout=subprocess.DEVNULL, stderr=follower,
        env={**os.environ, "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(follower)
        seen = b""
        while b"sco on 50 votes" not in seen:
            seen += os.read(leader, 1000)
        process.terminate()
    os.close(leader)
    assert b"sco on 50 votes" in seen


def test_optima_are_counted_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "cycle.soc"
    sc.write(sc.Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]), file)
    lines = run("optima", str(file), "--most", "2").stdout.splitlines()
    assert lines == ["3 optimal orders: no other contradicts as few as 4; the first 2", "a > b > c", "b > c > a"]
    data = json.loads(run("optima", str(file), "--format", "json").stdout)
    assert data["count"] == 3 and data["loss"] == 4 and ["c", "a", "b"] in data["orders"]


def test_methods_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "votes.soc"
    sc.write(sc.Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3]), file)
    shown = run("compare", str(file), "--methods", "sco,borda")
    assert shown.stdout.splitlines()[:2] == ["agent  sco  borda", "C        1      2"]
    assert "borda ranks A above C although C beats every agent" in shown.stderr
    data = json.loads(run("compare", str(file), "--methods", "sco,borda", "--format", "json").stdout)
    assert data["violations"] == ["borda ranks A above C although C beats every agent"]
    wrong = CliRunner().invoke(main, ["compare", str(file), "--methods", "sco,elo9"])
    assert wrong.exit_code == 2 and "--methods must be among" in wrong.stderr


def test_held_out_votes_and_tuning_on_the_command_line(tmp_path: Path) -> None:
    file = str(tmp_path / "votes.csv")
    run("simulate", "uniform", "--votes", "120", "-o", file)
    rows = json.loads(run("holdout", file, "--methods", "sco,borda", "--test", "15", "--format", "json").stdout)
    assert {row["method"] for row in rows["methods"]} == {"sco", "borda"} and rows["test"] == 15
    shown = run("tune", file, "--folds", "2", "--plot", str(tmp_path / "tuned.svg"))
    assert "use it: sco rank" in shown.stderr and (tmp_path / "tuned.svg").exists()
    settings = shown.stderr.split("use it: ")[1].split()[1:]
    assert run(*settings).stdout.startswith("rank")


def test_the_help_lists_every_command_once_by_its_job() -> None:
    told = CliRunner().invoke(main, ["--help"], terminal_width=80).stdout
    listed = re.findall(r"^  ([a-z]+) {2,}\S.*$", told[told.index("Rank agents:") :], re.M)
    assert sorted(listed) == sorted(name for name, command in main.commands.items() if not command.hidden)
    assert "..." not in told.partition("Rank agents:")[2]  # each says what it does in a line
