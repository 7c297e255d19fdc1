"""The panels of tasks and groups, and the leaderboard divided: what a reader finds where."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from helpers.reports import Page

import softcondorcet as sc
from softcondorcet.columns import Column, as_columns
from softcondorcet.reporting.groups import group_panels
from softcondorcet.reporting.page import beside
from softcondorcet.reporting.table import anchors


def scores(agents: int = 6, tasks: int = 5, missing: int = 1) -> sc.Profile:
    rng = np.random.default_rng(3)
    rows = [
        (f"a-model-of-a-rather-long-name-{a}-with-effort", f"task-{t}", 10.0 * a + rng.normal())
        for t in range(tasks)
        for a in range(agents)
    ][missing:]
    names, of, values = zip(*rows, strict=True)
    return sc.Profile.from_scores({"agent": list(names), "task": list(of), "score": list(values)})


def test_score_tables_speak_of_tasks() -> None:
    html = sc.report(scores(), resamples=20)
    text = Page(html).text
    assert '<section id="tasks"' in html and '<a href="#tasks">' in html
    assert "closest by 4 tasks" in text and "of 5 tasks would change first place" in text
    assert "of 20 resamples of the tasks" in text and "20 resamples of 5 tasks" in text
    assert "stays first without any one of 5 tasks." in text
    assert "mean score" in text.casefold() and "5 votes" not in text
    assert ">Tasks</th>" in html and ">Votes</th>" not in html


def test_nothing_decides_a_first_place_that_nobody_has() -> None:
    apart = {"agent": ["a", "b", "c", "d"], "task": ["x", "x", "y", "y"], "score": [1.0, 2.0, 2.0, 1.0]}
    text = Page(sc.report(sc.Profile.from_scores(apart), resamples=10)).text
    assert "The tasks give no agent a rank" in text
    assert "would change first place" not in text and "stays first" not in text
    level = {"agent": ["a", "b"] * 2, "task": ["x", "x", "y", "y"], "score": [1.0, 2.0, 2.0, 1.0]}
    text = Page(sc.report(sc.Profile.from_scores(level), resamples=10)).text
    assert "share first place: the tasks do not say which is better" in text and "stays first" not in text


def test_votes_have_no_panel_of_tasks() -> None:
    html = sc.report(sc.synthetic.demo(), resamples=0, methods=("borda",))
    assert 'id="tasks"' not in html and 'id="groups"' in html, "the demo has judges"


def with_languages(votes: int = 600, better: float = 3.0) -> sc.Profile:
    """Battles in two languages; agent-1 is better in one of them."""
    rng, rows, languages = np.random.default_rng(1), [], []
    for _ in range(votes):
        a, b = rng.choice(5, 2, replace=False).tolist()
        language = rng.choice(["en", "fr"])
        lead = better * ((a == 1) - (b == 1)) * (language == "fr")
        names = [f"agent-{a}", f"agent-{b}"]
        rows.append(names if rng.random() < 1 / (1 + np.exp(-lead)) else names[::-1])
        languages.append(str(language))
    return sc.Profile.from_rankings(rows, columns={"language": languages})


def test_groups_have_a_column_each_and_what_differs_is_said() -> None:
    (panel,) = group_panels(with_languages(), "borda", {})
    assert panel.column == "language" and sorted(name for name, _ in panel.heads) == ["en", "fr"]
    assert any(line.startswith("agent-1 wins more in fr than elsewhere") for line in panel.said)
    places = [name for name, _ in panel.heads]
    cells = {agent: dict(zip(places, row, strict=True)) for agent, _, row in panel.rows}
    assert cells["agent-1"]["fr"] == ("1", "up")


def test_groups_without_a_difference_say_so() -> None:
    html = sc.report(with_languages(better=0.0), resamples=0, methods=("borda",))
    assert "No agent does better or worse in a group than elsewhere, beyond chance." in Page(html).text


def test_columns_of_many_names_or_few_votes_are_no_groups() -> None:
    profile = with_languages(60)
    many = Column.of([f"judge-{k}" for k in range(60)])
    assert group_panels(replace(profile, columns=as_columns({"judge": many})), "borda", {}) == []
    assert group_panels(sc.Profile.from_rankings([]), "borda", {}) == []


def test_the_best_are_seen_and_the_rest_unfolds() -> None:
    names = [f"agent-{k:03}" for k in range(60)]
    html = sc.report(sc.Profile.from_rankings([names] * 30), resamples=0, methods=("borda",), method="borda")
    best, _, rest = html.partition("<summary>Ranks 26 to 60</summary>")
    assert "agent-024" in best and rest.index("agent-025") < rest.index("agent-059")
    ids = re.findall(r'<tr role="row" id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 60
    assert all(f'href="#{name}"' in html for name in ids)


def test_agents_without_a_rank_stand_apart_with_the_reason() -> None:
    html = sc.report(sc.synthetic.demo(), resamples=0, methods=("borda",))
    apart = html[html.index('id="unplaced"') : html.index('id="head-to-head"')]
    assert "newcomer-1" in apart and "votes between it, or newcomer-2, and them would place it" in apart
    assert "newcomer" not in html[html.index("<table") : html.index("</table>")]


def test_anchors_are_different_words() -> None:
    names = ["GPT 5", "gpt-5", "gpt 5!", "gpt-5-2", "\u4f60\u597d", "\u4f60", "x" * 300, "x" * 301]
    found = list(anchors(names).values())
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(r"agent[a-z0-9-]*", word) and len(word) < 60 for word in found)


def test_a_file_beside_never_replaces_another(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert beside(page) == str(tmp_path / "report-agents.csv")
    (tmp_path / "report-agents.csv").write_text("mine\n")
    assert beside(page) == str(tmp_path / "report-agents-2.csv")
    (tmp_path / "report-agents.csv").write_text("rank,rank_low,rank_high,agent,rating\n")
    assert beside(page) == str(tmp_path / "report-agents.csv")


def test_a_percent_sign_stays_with_its_number() -> None:
    html = sc.report(sc.synthetic.demo(), resamples=20, methods=("borda",))
    words = re.sub("<svg.*?</svg>", "", html[html.index("<header>") :], flags=re.S)  # a line of a drawing never breaks
    assert not re.search(r"\d %", words) and "\u00a0%" in words


def test_hundreds_in_circles_are_not_listed() -> None:
    names = [f"agent-{k:02}" for k in range(20)]
    rings = [[names[k], names[(k + step) % 20]] for k in range(20) for step in range(1, 10)]
    html = sc.report(sc.Profile.from_rankings(rings, weights=[12] * len(rings)), resamples=0, methods=("borda",))
    assert "No clear first: 20 agents beat each other in circles." in html
    assert "in the circle</span>" not in html, "most of them would be unmarked"
