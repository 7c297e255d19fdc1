"""README and docs: their code runs, and every command, option and method is in them."""

from __future__ import annotations

import csv
import inspect
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from helpers.logs import FILES, write_files

import softcondorcet as sc
from experiments.__main__ import main as experiments
from softcondorcet.cli import main

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
# Where the commands of docs/formats.md look for the files of each tool.
LOGS = {
    "lm_eval": "lm-eval",
    "inspect": "inspect-logs",
    "helm": "helm",
    "every_eval_ever": "every-eval-ever",
    "mteb": "mteb-results",
    "promptfoo": ".",
    "openai_evals": ".",
    "alpaca_eval": ".",
    "arena_hard": "arena-hard/model_judgment",
    "mt_bench": "mt-bench",
    "kaggle": "episodes",
    "pgn": ".",
}
BATTLES = "model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nx,z,tie\nz,x,model_b\n"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S)


@pytest.fixture(autouse=True)
def _in_a_folder_with_battles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "battles.csv").write_text(BATTLES)
    for name, folder in LOGS.items():
        write_files(tmp_path / folder, FILES[name])
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_in_the_docs_runs(page: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
    assert page.read_text().startswith("#")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_in_the_docs_run(page: Path) -> None:
    for line in "\n".join(blocks(page, "sh")).splitlines():
        text = line.partition("  #")[0].strip()
        if not text:
            continue
        if text.startswith("printf "):
            subprocess.run(text, shell=True, check=True)
            continue
        if text.startswith("./reproduce "):
            assert CliRunner().invoke(experiments, shlex.split(text)[1:]).exit_code == 0, text
            continue
        if not text.startswith("sco "):
            assert text.startswith(("./", "pip ", "git ", "cd ")), f"{page.name}: {line}"
            continue
        piped = None
        command, _, target = text.partition(" > ")
        for part in command.split(" | "):
            result = CliRunner().invoke(main, shlex.split(part)[1:], input=piped)
            assert result.exit_code == 0, f"{part}: {result.stderr}"
            piped = result.stdout
        if target:
            Path(target).write_text(piped or "")


def test_the_first_screen_shows_what_the_command_prints() -> None:
    (make, rank), (shown,) = blocks(ROOT / "README.md", "sh")[1].splitlines(), blocks(ROOT / "README.md", "text")
    subprocess.run(make, shell=True, check=True)
    assert CliRunner().invoke(main, shlex.split(rank)[1:]).stdout == shown


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    groups = {name: group for name, group in main.commands.items() if isinstance(group, click.Group)}
    nested = {f"{name} {word}": one for name, group in groups.items() for word, one in group.commands.items()}
    for name, command in {**main.commands, **nested}.items():
        if command.hidden:  # it only says what it is called now
            continue
        assert f"sco {name}" in text
        for option in command.params:
            if isinstance(option, click.Option) and option.name != "help" and not option.hidden:
                assert f"`{option.opts[-1]}" in text, f"sco {name} {option.opts}"
                assert name == "rank" or option.help or option.name in ("form", "votes", "agents", "seed")


@pytest.mark.parametrize("method", sorted(sc.METHODS))
def test_every_method_has_a_page_with_its_options_and_defaults(method: str) -> None:
    text = (ROOT / "docs" / "methods" / f"{method}.md").read_text()
    assert text.startswith(f"# {method}: {sc.METHODS[method].title}")
    parameters = list(inspect.signature(sc.METHODS[method].function).parameters.values())[1:]
    documented: dict[str, str] = {}
    for names, defaults in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", text, re.M):
        values = re.split(r", (?![^(]*\))", defaults)
        keys = re.findall(r"`(\w+)`", names)
        documented |= (
            dict(zip(keys, values, strict=True)) if len(keys) == len(values) else dict.fromkeys(keys, defaults)
        )
    for parameter in parameters:
        if parameter.name == "solver":
            assert "`solver=" in text
            continue
        assert parameter.name in documented, f"{method}.{parameter.name} is not documented"
        if parameter.default is not None:
            shown = repr(parameter.default).replace("'", '"').replace("(0.0, 100.0)", "(0, 100)")
            assert f"`{shown}`".replace(".0`", "`") in documented[parameter.name].replace(".0`", "`"), parameter.name


def test_every_public_name_is_in_the_docs() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    for name in sc.__all__:
        assert re.search(rf"\b{name}\b", text), f"{name} is not documented"


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_version_to_cite_is_this_one() -> None:
    assert f"\nversion: {sc.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_files_of_the_source_that_the_docs_name_are_there() -> None:
    named = [(page.name, file) for page in PAGES for file in re.findall(r"`([\w/]+/\w+\.py)`", page.read_text())]
    assert len(named) > 2
    folders = ROOT, ROOT / "src" / "softcondorcet"
    assert [(page, file) for page, file in named if not any((folder / file).exists() for folder in folders)] == []


def test_the_table_of_methods_is_that_of_the_registry() -> None:
    page = (ROOT / "docs/methods/README.md").read_text()
    head = next(line for line in page.splitlines() if line.startswith("| method |"))
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    for method in sc.METHODS.values():
        promised = method.properties | ({"log-odds"} if method.link else set())
        ticks = ["✓" if column in promised else "" for column in columns]
        assert f"| [{method.name}]({method.name}.md) | {' | '.join(ticks)} |" in page
        assert f"- **{method.name}**: {method.title}. {method.citation}." in page


def results(name: str) -> list[dict[str, str]]:
    with (ROOT / "benchmarks" / "results" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def spread(values: list[str]) -> str:
    """The smallest and the largest, in two digits; one number where they are the same."""
    shown = [f"{value:.2g}" for value in sorted(map(float, values))]
    return shown[0] if shown[0] == shown[-1] else f"{shown[0]} to {shown[-1]}"


def test_the_cost_of_the_sigmoidal_program_is_as_measured() -> None:
    page = (ROOT / "docs/methods/sigmoidal_program.md").read_text()
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in results("sigmoidal.csv"):
        if row["tol"] == "0.001":
            votes = row["group"] if row["group"].startswith("preflib") else "synthetic"
            groups.setdefault((votes, row["width"]), []).append(row)
    assert len(groups) == 7
    for (votes, width), rows in groups.items():
        column = {key: [row[key] for row in rows] for key in rows[0]}
        ends = [int(end) for group in column["group"] for end in group.split()[1].split("-")]
        proven, instances = (sum(map(int, column[key])) for key in ("proven", "instances"))
        nodes = f"{spread(column['nodes_median'])}, {max(map(int, column['nodes_max']))}"
        seconds = f"{spread(column['cpu_median'])}, {max(map(float, column['cpu_max'])):.2g}"
        line = f"{min(ends)} to {max(ends)} | {width} | {proven} of {instances} | {nodes} | {seconds} |"
        assert f"| {'PrefLib' if votes != 'synthetic' else votes} | {line}" in page


def test_how_often_settled_is_wrong_is_as_measured() -> None:
    page = (ROOT / "docs/uncertainty.md").read_text()
    rows = results("settled.csv")
    assert all(float(row["wrong"].rstrip("%")) <= 5 for row in rows)
    shown = [row for row in rows if f"| {row['design']} |" in page]
    assert len(shown) >= 10
    for row in shown:
        cells = [row[key].replace("%", " %") for key in ("design", "wrong", "right", "votes", "fixed", "peeking")]
        assert f"| {' | '.join([row['design'], *cells[1:]])} |" in page


def test_what_kemeny_proves_is_as_measured() -> None:
    page = (ROOT / "docs/methods/kemeny.md").read_text()
    for row in results("kemeny.csv")[-6:]:
        agents = f"{row['m_from']} to {row['m_to']}" if row["m_to"] else f"over {int(row['m_from']) - 1}"
        gaps = [f"{100 * float(row[key]):.2g} %" for key in ("median_gap", "largest_gap") if row[key]]
        proven = f"{100 * float(row['proven']):.3g} %"
        assert (
            f"| {agents} | {int(row['instances']):,} | {proven} | {', '.join(gaps)} | {row['median_cpu_s']} |" in page
        )


def test_what_versus_promises_is_as_measured() -> None:
    page, rows = (ROOT / "docs/versus.md").read_text(), results("versus.csv")
    assert all(row["within"] == "True" for row in rows)
    for row in rows:
        effect = "none" if float(row["effect"]) == 0 else row["effect"]
        shares = [f"{float(row[key]):.1f} %" for key in ("told_apart_%", "by_votes_%", "interval_holds_%")]
        assert f"| {row['design']} | {effect} | {row['votes']} | {' | '.join(shares)} |" in page


def test_what_intervals_of_chances_hold_is_as_measured() -> None:
    page, rows = (ROOT / "docs/uncertainty.md").read_text(), results("chance_intervals.csv")
    assert len(rows) >= 14
    for row in rows:
        cells = [row[key].replace("%", " %") for key in ("covered", "rarest", "width", "width_rarest", "off")]
        assert f"| {row['design']} | {' | '.join(cells)} |" in page


def test_what_rank_intervals_hold_is_as_measured() -> None:
    page, rows = (ROOT / "docs/uncertainty.md").read_text(), results("rank_intervals.csv")
    assert all(float(row["wrong"].rstrip("%")) <= 2.5 and float(row["covered"].rstrip("%")) >= 93 for row in rows)
    for row in rows:
        cells = [row[key].replace("%", " %") for key in ("exact", "covered", "rarest", "ranks", "told", "wrong")]
        assert f"| {row['design']} | {' | '.join(cells)} |" in page
