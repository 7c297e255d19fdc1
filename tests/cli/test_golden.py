"""What each command prints at 80 and 120 columns and into a pipe, as files to look at: ``golden/COMMAND.WIDTH.txt``.

After a change that is meant: ``python tests/cli/test_golden.py`` writes them anew; look at the difference.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from softcondorcet.cli import main
from softcondorcet.formatting import wide

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = {"80": 80, "120": 120, "pipe": None}
COMMANDS = {
    "rank": "rank arena.csv",
    "rank_many_columns": "rank arena.csv --agent-facts facts.csv",
    "rank_groups": "rank arena.csv --group-by language",
    "rank_tasks": "rank tasks.csv",
    "rank_one_vote": "rank one.csv",
    "bootstrap": "bootstrap arena.csv --resamples 20",
    "compare": "compare arena.csv",
    "inspect": "inspect arena.csv",
    "robustness": "robustness arena.csv --rivals 1 --agents 2 --clones 1 --groups 2",
    "optima": "optima arena.csv --most 3",
    "versus": "versus arena.csv elm fern --resamples 200",
    "versus_many": "versus arena.csv elm fern gorse-20260101-thinking-high-effort --resamples 200",
    "next": "next arena.csv --resamples 10 --count 3",
    "next_until": "next arena.csv --until 0.95 --count 3",
    "holdout": "holdout arena.csv --methods sco,borda --test 20",
    "tune": "tune tasks.csv --folds 2",
    "replay": "replay arena.csv --models sco,elo",
    "history": "history arena.csv --period month",
    "predict": "predict arena.csv elm fern gorse-20260101-thinking-low-effort --resamples 20",
    "calibration": "calibration arena.csv --methods sco --folds 2 --bins 3",
    "diff": "diff old.json new.json",
    "regress": "regress ranges.json ranges.json",
    "methods": "methods",
    "formats": "formats",
    "convert": "convert arena.csv votes.jsonl",
    "report": "report one.csv --resamples 0 -o page.html",
    "plot": "plot arena.csv heatmap -o fig.svg",
}
# Those whose output is no table and no sentence, or needs a server.
OTHERS = {"simulate", "completion", "warm", "demo", "serve", "vote", "push", "board", "token", "reproduce", "data"}
AGENTS = (
    "elm", "fern", "gorse-20260101-thinking-high-effort", "gorse-20260101-thinking-low-effort", "heath [instruct]",
)  # fmt: skip


def write_files() -> None:
    """Battles of five agents in two languages and three months, two newcomers; scores; one vote; facts; two boards."""
    battles = []
    for k, (a, b) in enumerate(list(combinations(range(5), 2)) * 8):
        winner = "tie" if k % 7 == 3 else "model_b" if k * 5 % 11 < 3 + (a == 0) else "model_a"
        battles.append(
            f"{AGENTS[a]},{AGENTS[b]},{winner},{'en' if k % 3 else 'de'},judge-{k % 4},2026-0{1 + k // 27}-10"
        )
    battles += ["newcomer-a,newcomer-b,model_a,en,judge-1,2026-01-11"] * 2
    head = "model_a,model_b,winner,language,judge,tstamp"
    Path("arena.csv").write_text("\n".join([head, *battles]))
    scores = [
        f"{name},{','.join(str((7 * k + 5 * t * t) % 23 + 10 - k) for t in range(9))}" for k, name in enumerate(AGENTS)
    ]
    Path("tasks.csv").write_text("\n".join([",".join(["agent", *(f"task-{t}" for t in range(9))]), *scores]))
    Path("one.csv").write_text("model_a,model_b,winner\nelm,fern,model_a\n")
    facts = [f"{name},An organisation with a name,Apache-2.0,{k + 0.5}" for k, name in enumerate(AGENTS)]
    Path("facts.csv").write_text("\n".join(["name,organisation,licence,price", *facts]))
    boards = {"old": "rank one.csv", "new": "rank arena.csv", "ranges": "bootstrap arena.csv --resamples 20"}
    for name, words in boards.items():
        Path(f"{name}.json").write_text(CliRunner().invoke(main, [*words.split(), "--format", "json"]).stdout)


def printed(command: str, width: int | None) -> tuple[str, str]:
    """What a command prints on a terminal of that width, or into a pipe: standard output, standard error."""
    result = CliRunner(env={"COLUMNS": str(width or "")}).invoke(main, command.split())
    assert result.exit_code == 0, result.stderr
    # The last column of holdout is what differs from run to run.
    shown = (
        re.sub(r" +(seconds|[\d.<]+)$", "", result.stdout, flags=re.M) if "seconds" in result.stdout else result.stdout
    )
    return re.sub(r"\(\d+ KB\)", "(N KB)", shown), result.stderr


def as_file(command: str, width: int | None) -> str:
    stdout, stderr = printed(command, width)
    return f"$ sco {command}\n{stdout}--- standard error\n{stderr}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("golden")
    with contextlib.chdir(path):
        write_files()
        yield path


@pytest.mark.parametrize("name", COMMANDS)
def test_output_is_as_it_was(name: str, folder: Path) -> None:
    for label, width in WIDTHS.items():
        assert as_file(COMMANDS[name], width) == (GOLDEN / f"{name}.{label}.txt").read_text(encoding="utf-8"), label


def test_every_command_has_golden_files() -> None:
    assert {command.split()[0] for command in COMMANDS.values()} | OTHERS == set(main.commands)
    assert {path.name for path in GOLDEN.glob("*.txt")} == {f"{n}.{label}.txt" for n in COMMANDS for label in WIDTHS}


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_no_word_is_split_and_columns_left_out_are_named(name: str) -> None:
    whole = (GOLDEN / f"{name}.pipe.txt").read_text(encoding="utf-8")
    for label in ("80", "120"):
        text = (GOLDEN / f"{name}.{label}.txt").read_text(encoding="utf-8")
        assert [line for line in text.splitlines()[1:] if wide(line) > int(label)] == []
        said = " ".join(text.split())
        sentences = whole.partition("--- standard error\n")[2].splitlines()
        assert [sentence for sentence in sentences if " ".join(sentence.split()) not in said] == []
        titles = re.split(r" {2,}", whole.splitlines()[1].strip())
        assert [title for title in titles if " " not in title and title not in said] == []


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        write_files()
        for name, command in COMMANDS.items():
            for label, width in WIDTHS.items():
                (GOLDEN / f"{name}.{label}.txt").write_text(as_file(command, width), encoding="utf-8")
