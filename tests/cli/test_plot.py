"""Figures from the command line: each kind in each type of file, with the numbers of the report; LaTeX compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers.reports import HOSTILE

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.cli.plot import KINDS
from softcondorcet.tables import as_latex

pytest.importorskip("matplotlib")

BEGINS = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plot") / "arena.csv"
    assert run("simulate", "demo", "-o", path).exit_code == 0
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn(kind: str, arena: Path, tmp_path: Path) -> None:
    for suffix, begin in BEGINS.items():
        figure = tmp_path / f"{kind}.{suffix}"
        result = run("plot", arena, kind, "-o", figure, "--top", 6)
        assert result.exit_code == 0, result.stderr
        assert figure.read_bytes().startswith(begin)
    width = re.search(rb'width="([\d.]+)pt"', (tmp_path / f"{kind}.svg").read_bytes())
    assert width is not None
    assert float(width[1]) == pytest.approx(3.35 * 72, abs=0.1), "a column of a paper"


def test_the_card_has_the_size_that_posts_show(arena: Path, tmp_path: Path) -> None:
    assert run("plot", arena, "--card", "-o", tmp_path / "card.png").exit_code == 0
    head = (tmp_path / "card.png").read_bytes()[16:24]
    assert (int.from_bytes(head[:4]), int.from_bytes(head[4:])) == (1200, 630)


def test_the_card_says_what_the_report_says() -> None:
    from softcondorcet.reporting.analysis import analyse
    from softcondorcet.reporting.verdict import verdict

    analysis = analyse(sc.synthetic.demo(), resamples=40)
    says = verdict(analysis.pairs, analysis.ratings)
    figure = sc.plots.card(analysis.rows(), says.answer, analysis.flip)
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert says.answer in words
    assert analysis.flip in words
    assert [name for name in analysis.ratings.order if name in words.split()][:3] == analysis.ratings.order[:3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "x.pdf"), "KIND must be one of whiskers, heatmap, bump, cycle, groups, calibration"),
        (("whiskers", "--card", "-o", "x.pdf"), "or --card without it"),
        (("whiskers", "-o", "x.html"), "--output must be a file of type .pdf, .svg, .png"),
        (("groups", "-o", "x.pdf", "--group-by", "zebra"), "no column 'zebra'"),
        (("whiskers", "-o", "x.pdf", "--method", "elo9"), "--method must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(words: tuple[str, ...], message: str, arena: Path) -> None:
    result = run("plot", arena, *words)
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def test_long_names_leave_room_in_a_column(arena: Path) -> None:
    names = [f"claude-opus-4-5-20251101-thinking-{effort}-effort" for effort in ("high", "medium", "low")]
    votes = sc.Profile.from_rankings([names, names, names[::-1]])
    figure = sc.plots.sized(sc.plots.head_to_head(votes), 3.35)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(set(labels)) == 3 and max(map(len, labels)) <= 18
    figure.draw_without_rendering()
    cell = figure.axes[0].get_window_extent().width / 3
    assert all(text.get_window_extent().width < cell for text in figure.axes[0].texts if text.get_visible())


def test_a_single_vote_is_drawn_without_intervals(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("model_a,model_b,winner\nx,y,model_a\n")
    result = run("plot", tmp_path / "one.csv", "whiskers", "-o", tmp_path / "x.svg")
    assert result.exit_code == 0 and (tmp_path / "x.svg").exists()
    assert "no intervals: votes: a resample needs at least 2 to draw from" in result.stderr


def test_a_long_answer_stays_on_the_card() -> None:
    answer = " ".join(f"word-{k}" for k in range(35))
    words = " ".join(text.get_text() for text in sc.plots.card([], answer, "").axes[0].texts)
    assert words.split()[:35] == answer.split()


def test_no_cycle_is_no_figure(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nx,z,model_a\n")
    result = run("plot", tmp_path / "votes.csv", "cycle", "-o", tmp_path / "x.pdf")
    assert result.exit_code == 1
    assert "there is no cycle at the top to draw: x comes first" in result.stderr


def test_a_report_is_no_figure(arena: Path) -> None:
    result = run("report", arena, "-o", "x.pdf")
    assert result.exit_code == 2
    assert "'sco plot' draws its figures" in result.stderr
    assert not Path("x.pdf").exists()


def test_latex_has_ranges_and_no_bare_special_letters() -> None:
    row = {"rank": 2, "rank_low": 1, "rank_high": 3, "agent": "a_b|c<d>", "rank_ub": 1}
    alone = {**row, "rank_low": 2, "rank_high": 2, "agent": "x"}
    lines = as_latex([row, alone]).splitlines()
    assert lines[2] == r"rank & rank range & agent & rank ub \\"
    assert lines[4] == r"2 & 1--3 & a\_b\textbar{}c\textless{}d\textgreater{} & 1 \\"
    assert lines[5].startswith("2 & 2 & x")


def test_latex_parts_groups_that_cannot_be_told_apart(arena: Path) -> None:
    lines = run("bootstrap", arena, "--resamples", 40, "--format", "latex").stdout.splitlines()
    parted = [k for k, line in enumerate(lines[4:], 1) if line.endswith(r"\\ \hline")]
    tied = sc.bootstrap(sc.read(str(arena)), n=40).tie_groups
    assert parted == [sum(map(len, tied[: k + 1])) for k in range(len(tied))]
    assert "tie" not in lines[2]


def test_compare_prints_latex(arena: Path) -> None:
    result = run("compare", arena, "--format", "latex", "--top", 3)
    assert result.stdout.splitlines()[2] == r"agent & sco & win rate & bradley terry & borda \\"


def test_latex_compiles(arena: Path, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex: apt-get install texlive-latex-base")
    table = run("bootstrap", arena, "--resamples", 40, "--format", "latex").stdout
    names = [name for name in HOSTILE if name.isascii() and len(name) < 100]
    hostile = as_latex([{"rank": k, "agent": name} for k, name in enumerate(names)])
    text = f"\\documentclass{{article}}\n\\usepackage[T1]{{fontenc}}\n\\begin{{document}}\n{table}\n{hostile}\n"
    (tmp_path / "t.tex").write_text(text + "\\end{document}\n")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "t.pdf").stat().st_size > 1000
