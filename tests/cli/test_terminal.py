"""The command line at a terminal: mistakes of the first minute, colours, letters, completion, the answer last."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from softcondorcet.cli import main

BATTLES = "model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nx,z,tie\n"


def run(*words: str, width: int | None = None, **env: str) -> Result:
    return CliRunner(env={**env, "COLUMNS": str(width or "")}).invoke(main, words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a first user, who stands in it."""
    (tmp_path / "battles.csv").write_text(BATTLES)
    (tmp_path / "more.csv").write_text(BATTLES)
    (tmp_path / "frame.pkl").write_bytes(pickle.dumps({"a": 1}))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "latin.csv").write_bytes("model_a,model_b,winner\nÄ,b,model_a\n".encode("latin-1"))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("model_a,model_b,winner\n")
    (tmp_path / "numbers.csv").write_text("foo,bar\n1,2\n")
    (tmp_path / "nothing").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "helpful"),
    [
        ("rank battle.csv", 1, "no such file or directory; expected a file to read; did you mean 'battles.csv'?"),
        ("rank https://example.org/battles.csv", 1, "addresses are not read: download the file first"),
        ("rank frame.pkl", 1, "a pickle, which may run any program when it is opened; save what it holds as csv"),
        ("rank picture.png", 1, "a picture; expected a table or a log"),
        ("rank paper.pdf", 1, "a PDF; expected a table or a log"),
        ("rank latin.csv", 1, "latin.csv:2: byte 0xc4 is not UTF-8; expected text in UTF-8"),
        ("rank empty.csv", 1, "empty.csv: empty; expected votes"),
        ("rank head.csv", 1, "a header and no rows; expected rows below it"),
        ("rank numbers.csv", 1, "expected battles (model_a, model_b, winner)"),
        ("rank nothing", 1, "is a directory without files"),
        ("rank battles.csv more.csv", 2, "FILE may be a folder, or several files as a glob in quotes"),
        ("compare battles.csv -o out.csv", 2, "It prints its result: add --format csv > result.csv."),
        ("rank battles.csv --format excel", 2, "'excel' is not one of 'table', 'md', 'csv', 'json', 'latex'"),
        ("rank battles.csv --method bradley-terry", 2, "did you mean 'bradley_terry'?"),
        ("rank battles.csv --top 0", 2, "0 is not in the range x>=1"),
        ("rank battles.csv --where colour=red", 1, "no column 'colour'"),
        ("battles.csv", 2, "did you mean 'sco rank battles.csv'?"),
        ("ranks battles.csv", 2, "No such command 'ranks'; did you mean 'rank'?"),
        ("report battles.csv -o x.pdf", 2, "'sco plot' draws its figures"),
        ("plot battles.csv -o x.pdf", 2, "KIND must be one of whiskers, heatmap"),
        ("plot battles.csv whiskers -o x.gif", 2, "--output must be a file of type .pdf, .svg, .png"),
        ("versus battles.csv x w", 2, "no agent 'w' among 3 agents: x, y, z"),
        ("report battles.csv -o nowhere/page.html", 1, "nowhere/page.html: cannot be written"),
    ],
)
def test_a_mistake_gets_one_helpful_sentence(words: str, code: int, helpful: str, folder: Path) -> None:
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (code, "")
    assert helpful in result.stderr
    assert "Traceback" not in result.stderr


def test_the_answer_comes_last_with_what_would_change_it_and_what_to_do_next(folder: Path) -> None:
    lines = run("rank", "battles.csv", "--kind", "battles", width=200).stderr.splitlines()
    assert lines[-3] == "x comes first: no agent beats it, but it is level with z."
    assert lines[-2].endswith("would change first place: without it y is first.")
    assert lines[-1] == "next: sco report battles.csv --kind battles"
    assert not run("rank", "battles.csv", "--quiet", width=200).stderr
    assert "next:" not in run("rank", "battles.csv").stderr


def test_more_certainty_than_the_votes_give_is_not_claimed(folder: Path) -> None:
    (folder / "one.csv").write_text("model_a,model_b,winner\nx,y,model_a\n")
    said = " ".join(run("rank", "one.csv", width=80).stderr.split())
    assert "x leads narrowly: ahead of y by 1 vote, but cannot be told from y." in said
    assert "is best" not in said
    (folder / "many.csv").write_text("model_a,model_b,winner\n" + "x,y,model_a\n" * 40)
    assert "x comes first: " in run("rank", "many.csv", width=80).stderr


def test_colours_are_for_terminals_and_can_be_had_or_not(folder: Path) -> None:
    command = [sys.executable, "-m", "softcondorcet", "rank", "battles.csv"]

    def printed(*words: str, **env: str) -> bytes:
        done = subprocess.run(
            [*command, *words], capture_output=True, check=True, env={**os.environ, **env}, timeout=60
        )
        return done.stdout + done.stderr

    assert b"\x1b" not in printed()
    assert b"\x1b[1m" in printed("--color", "always", NO_COLOR="1")
    pretended = CliRunner(env={"NO_COLOR": "1", "COLUMNS": ""}).invoke(main, ["rank", "battles.csv"], color=True)
    assert "\x1b" not in pretended.output
    assert "\x1b" in CliRunner(env={"COLUMNS": ""}).invoke(main, ["rank", "battles.csv"], color=True).output


def test_letters_that_a_terminal_does_not_know(folder: Path) -> None:
    (folder / "letters.csv").write_text("model_a,model_b,winner\nÄ,日本,model_a\n", encoding="utf-8")
    command = [sys.executable, "-m", "softcondorcet", "rank", "letters.csv"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    for form, wanted in (("table", b"|--"), ("csv", "日本".encode()), ("json", "日本".encode())):
        done = subprocess.run([*command, "--format", form], capture_output=True, env=env, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout


class Interrupted(io.BytesIO):
    """Standard input during which Ctrl-C is pressed."""

    def read(self, size: int | None = -1) -> bytes:
        if size == 0:  # click looks whether it gives bytes
            return b""
        raise KeyboardInterrupt


def test_control_c_is_no_error() -> None:
    result = CliRunner().invoke(main, ["rank", "-"], input=Interrupted())
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "sco: stopped\n")


def test_a_full_disk_is_said(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "softcondorcet", "rank", "battles.csv", "--format", "csv", "-q"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == b"sco: the result cannot be written: No space left on device\n"


# Commands whose result programs read as JSON, and those that have none, with the reason.
_NO_JSON = {
    "report": "a page", "demo": "a page", "plot": "a picture", "convert": "votes, in the format asked for",
    "simulate": "votes, in the format asked for", "completion": "a script", "serve": "a server, which answers in JSON",
    "vote": "the number of the vote", "push": "a sentence", "board": "copies, and answers of the server",
    "token": "a secret", "warm": "a sentence",
}  # fmt: skip


def test_every_command_says_its_result_as_json_or_has_none() -> None:
    for name, command in main.commands.items():
        forms = next((p.type for p in command.params if p.name == "form" and "--format" in p.opts), None)
        if not command.hidden:
            assert (isinstance(forms, click.Choice) and "json" in forms.choices) != (name in _NO_JSON), name


def completed(*words: str) -> list[str]:
    env = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_SCO_COMPLETE": "bash_complete"}
    result = CliRunner(env=env).invoke(main, [], prog_name="sco")
    return [line.partition(",")[2] for line in result.stdout.splitlines()]


def test_names_complete() -> None:
    assert completed("sco", "boot") == ["bootstrap"]
    assert "bradley_terry" in completed("sco", "rank", "f", "--method", "b")
    assert completed("sco", "compare", "f", "--methods", "elo,bor") == ["elo,borda"]
    assert completed("sco", "replay", "f", "--models", "k") == ["kalman"]
    assert completed("sco", "rank", "f", "--format", "j") == ["json"]
    assert completed("sco", "rank", "f", "--format-in", "lm") == ["lm_eval"]
    assert "jsonl" in completed("sco", "convert", "f", "g", "--to", "js")
    assert completed("sco", "rank", "votes/b") == ["votes/b"], "the shell completes files"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_SCO_COMPLETE" in script and f"{shell}_complete" in script


def test_time_left_is_told_once_steps_are_known() -> None:
    from softcondorcet.cli.progress import line

    assert line("sco on 50 votes", passed=75.4, columns=80) == "sco on 50 votes 1:15"
    assert line("sco on 50 votes", passed=60.0, columns=80, done=0.25).endswith("━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 3:00 left")
    assert len(line("a" * 200, passed=60.0, columns=60, done=0.5)) <= 60
