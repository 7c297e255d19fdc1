"""Readers and writers: round trips, every bad file with its message, frames, and mutated input of every kind.

Mutated input must end in a ``DataError`` that begins with its place, or in a profile that accounts for every row.
``SCO_FUZZ_EXAMPLES=10000 pytest -m fuzz tests/io/test_read.py`` is the long run.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from helpers.reading import Named, fuzz
from hypothesis import given, settings, strategies as st

from softcondorcet.errors import DataError, OptionError
from softcondorcet.io import preflib
from softcondorcet.io.assemble import as_table, battles
from softcondorcet.io.column_names import PAIRS, TIES
from softcondorcet.io.files import read, read_archive
from softcondorcet.io.write import write
from softcondorcet.profile import Profile
from softcondorcet.source import Source

BAD = Path(__file__).parent / "data_bad"
MESSAGES = json.loads((BAD / "messages.json").read_text(encoding="utf-8"))
EXAMPLES = int(os.environ.get("SCO_FUZZ_EXAMPLES", "200"))
THOROUGH = settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=EXAMPLES == 200)


def read_text(text: str, name: str, **options: Any) -> Profile:
    profile: Profile = read(Named(text.encode(), name), **options)
    return profile


def votes(profile: Profile) -> list[Any]:
    """Votes as sets of names per tier, with weight, group and time: what must survive a round trip."""
    group = [None] * profile.n_votes if profile.group is None else [profile.groups[k] for k in profile.group]
    when = [None] * profile.n_votes if profile.when is None else profile.when.tolist()
    tiers = [[frozenset(tier) for tier in vote] for vote in profile.rankings()]
    return list(zip(tiers, profile.weight.tolist(), group, when, strict=True))


def same(x: Profile, y: Profile) -> bool:
    """Equal in every field."""
    return (
        x.agents == y.agents
        and (x.groups, x.kind, about(x)) == (y.groups, y.kind, about(y))
        and all(
            np.array_equal(getattr(x, name), getattr(y, name))
            if getattr(x, name) is not None
            else getattr(y, name) is None
            for name in ("start", "agent", "tier", "weight", "group", "when")
        )
    )


# Names that every format can hold: no line breaks (PrefLib), no outer spaces.
names = (
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8)
    .map(str.strip)
    .filter(bool)
)


# Columns of votes: names that a reader takes for something else come back with a line below them.
FREE = ["language", "Turn", "n", "x y"]
column_names = st.sampled_from([*FREE, "count", "date", "winner", "model", "score", "higher_is_better", "contest_id"])


def columns(n: int) -> st.SearchStrategy[list[Any]]:
    """Names or numbers, not all of them missing."""
    words = st.lists(names.map("w{}".format) | st.none(), min_size=n - 1, max_size=n - 1).map(lambda rest: ["w", *rest])
    number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53) | st.none()
    return words | st.lists(number, min_size=n - 1, max_size=n - 1).map(lambda rest: [0.5, *rest])


def voters(n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-1, 1), min_size=n - 1, max_size=n - 1).map(lambda rest: [0, *rest])


def scores(n: int, entries: int) -> st.SearchStrategy[dict[str, Any]]:
    number = st.floats(allow_infinity=False)
    return st.fixed_dictionaries(
        {
            "score": st.lists(number, min_size=entries, max_size=entries),
            "higher_is_better": st.lists(st.booleans(), min_size=n, max_size=n),
        }
    )


def about(profile: Profile) -> dict[str, Any]:
    """What is known about votes beside their weight, group and time, by the names it comes back under."""
    others = [(name, column) for name, column in profile.columns.items() if name != profile.group_by]
    known: dict[str, Any] = {name.rstrip("_"): column.named().cells() for name, column in others}
    if profile.score is not None:
        vote = np.repeat(np.arange(profile.n_votes), profile.length).tolist()
        agents = [profile.agents[k] for k in profile.agent]
        known["scores"] = set(zip(vote, agents, map(str, profile.score + 0.0), strict=True))
        known["directions"] = np.asarray(profile.higher_is_better).tolist()
    return known


@st.composite
def profiles(draw: st.DrawFn, *, whole: bool, listed: bool) -> Profile:
    """Ties, partial and repeated votes; if ``listed``, every agent stands in a vote, and votes have group and time."""
    agents = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    n = draw(st.integers(1, 6))
    rankings = []
    for _ in range(n):
        order = draw(st.permutations(agents))
        kept = order[: draw(st.integers(1, len(order)))]
        ties = draw(st.lists(st.booleans(), min_size=len(kept), max_size=len(kept)))
        ranking: list[list[str]] = []
        for name, tied in zip(kept, ties, strict=True):
            if tied and ranking:
                ranking[-1].append(name)
            else:
                ranking.append([name])
        rankings.append(ranking)
    weight = st.integers(0, 10**6) if whole else st.floats(0, 1e9, allow_subnormal=False)
    weights = draw(st.lists(weight, min_size=n, max_size=n))
    if not listed:
        return Profile.from_rankings(rankings, weights=weights, agents=agents)
    made = Profile.from_rankings(rankings, weights=weights)
    when = sorted(draw(st.lists(st.floats(-1e10, 1e10, allow_subnormal=False), min_size=n, max_size=n)))
    given = dict[str, Any](
        group=np.arange(n) % 2,
        groups=("g", "h, i"),
        when=np.array(when),
        group_by=draw(st.sampled_from(["group", "judge", "Task"])),
        columns=draw(st.dictionaries(column_names, columns(n), max_size=4)),
        **draw(st.just({}) | st.builds(lambda codes: {"voter": codes, "voters": ("p", "q")}, voters(n))),
        **draw(st.just({}) | scores(n, len(made.agent))),
    )
    return replace(made, **given)


# Round trips


@settings(THOROUGH, max_examples=min(EXAMPLES, 1000))
@given(profiles(whole=True, listed=False))
def test_preflib_round_trip(profile: Profile) -> None:
    text = preflib.text_of(profile)
    again = preflib.parse(text, "x")
    assert again.agents == profile.agents
    total: dict[Any, float] = {}
    for tiers, weight, _, _ in votes(profile):
        total[tuple(tiers)] = total.get(tuple(tiers), 0) + weight
    assert {tuple(tiers): weight for tiers, weight, _, _ in votes(again)} == total
    assert preflib.text_of(again) == text


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
@settings(THOROUGH, max_examples=min(EXAMPLES, 1000))
@given(profile=profiles(whole=False, listed=True))
def test_table_round_trip(format: str, profile: Profile) -> None:
    target = io.StringIO()
    write(profile, target, format)
    again = read_text(target.getvalue(), f"x.{format}")
    assert votes(again) == votes(profile)
    assert set(again.agents) == set(profile.agents)
    assert again.group_by == profile.group_by
    assert about(again) == about(profile)
    assert set(FREE) & set(profile.columns) <= set(again.columns)


@pytest.mark.parametrize("suffix", ["toi", "csv", "tsv", "jsonl", "toi.gz", "csv.gz", "tsv.gz", "jsonl.gz"])
def test_file_round_trip(tmp_path: Path, suffix: str) -> None:
    profile = Profile.from_rankings([["a", ["b", "c"]], ["c, d", "a"]], weights=[3, 1])
    path = tmp_path / f"x.{suffix}"
    write(profile, path)
    assert votes(read(path)) == votes(profile)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == suffix.endswith("gz")


@pytest.mark.parametrize(
    ("rankings", "fits"),
    [([["a", "b"]], "soc"), ([["a", "b"], ["a"]], "soi"), ([[["a", "b"]]], "toc"), ([[["a", "b"]], ["b"]], "toi")],
)
def test_a_suffix_of_preflib_that_does_not_fit_is_refused(tmp_path: Path, rankings: list[Any], fits: str) -> None:
    profile = Profile.from_rankings(rankings)
    for suffix in preflib.TYPES:
        path = tmp_path / f"x.{suffix}"
        if (fits[0] == "s" or suffix[0] == "t") and (fits[2] == "c" or suffix[2] == "i"):
            write(profile, path)
            assert votes(read(path)) == votes(profile)
        else:
            with pytest.raises(DataError, match=rf"x\.{suffix}: .*expected the suffix '\.{fits}'"):
                write(profile, path)
    write(profile, tmp_path / "x.txt", "preflib")
    assert f"# DATA TYPE: {fits}\n" in (tmp_path / "x.txt").read_text()


def test_a_missing_number_is_no_name_in_any_frame() -> None:
    import polars

    columns = {"model_a": [1.0, float("nan")], "model_b": [2.0, 3.0], "winner": ["model_a", "tie"]}
    for frame in (columns, polars.DataFrame(columns)):
        with pytest.raises(DataError, match="row 1: model_a is nan; expected a name"):
            read(frame)


def test_flags_are_checked_in_numeric_columns_too() -> None:
    import pandas

    columns = {"agent": ["x", "y"], "task": ["t", "t"], "score": [1, 2], "higher_is_better": [5, 5]}
    for frame in (columns, pandas.DataFrame(columns)):
        with pytest.raises(DataError, match="higher_is_better is 5; expected 1, 0, true or false"):
            read(frame)


def test_write_refuses_what_it_cannot_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="weights are not whole"):
        write(Profile.from_rankings([["a", "b"]], weights=[0.5]), tmp_path / "x.soc")
    with pytest.raises(DataError, match="has a line break"):
        write(Profile.from_rankings([["a\nc", "b"]]), tmp_path / "x.soc")
    with pytest.raises(DataError, match="without outer spaces"):
        write(Profile.from_rankings([["a ", "b"]]), tmp_path / "x.csv")
    with pytest.raises(DataError, match="cannot be written"):
        write(Profile.from_rankings([["a", "b"]]), tmp_path / "no" / "x.csv")
    for profile in (Profile.from_rankings([]), Profile.from_rankings([["a", "b"]], weights=[1e16])):
        with pytest.raises(DataError, match=r"there are no votes|below 1e15"):
            write(profile, tmp_path / "x.soc")
    with pytest.raises(OptionError, match="format of - must be"):
        write(Profile.from_rankings([["a", "b"]]), "-")
    with pytest.warns(UserWarning, match="does not keep: 1 agent in no vote"):
        write(Profile.from_rankings([["a", "b"]], agents=["a", "b", "c"]), tmp_path / "x.csv")
    write(Profile.from_rankings([["a", "b"]]), "-", "csv")
    assert capsys.readouterr().out == "vote_id,rank,agent\n1,1,a\n1,2,b\n"


def test_line_breaks_in_names_survive_in_tables(tmp_path: Path) -> None:
    profile = Profile.from_rankings([["a\r\nb", "c\rd", 'e"\nf']])
    for suffix in ("csv", "tsv", "jsonl"):
        write(profile, tmp_path / f"x.{suffix}")
        assert votes(read(tmp_path / f"x.{suffix}")) == votes(profile)


# Bad files


def test_every_bad_file_has_a_message() -> None:
    assert {path.name for path in BAD.iterdir()} == {*MESSAGES, "messages.json"}


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_bad_file(name: str) -> None:
    with pytest.raises(DataError) as caught:
        read(BAD / name)
    message, expected = str(caught.value).replace(f"{BAD}{os.sep}", ""), MESSAGES[name]
    # after '(' stand the words of a library, which change with its version
    assert message.startswith(expected) if expected.endswith("(") else message == expected


LENIENT = [
    ("x.soc", "# NUMBER VOTERS: 5000\n# NUMBER ALTERNATIVES: 2\n3: 1,2\n1: 2,1\n", "1 thing wrong.*VOTERS is 5000"),
    ("x.soc", "by hand\n\n# NUMBER ALTERNATIVES: 2\n# hm\n3: 1,2\n# hm\n1: 2,1\nend\n", "4 things.*line 1"),
    ("x.soc", "\ufeff# NUMBER ALTERNATIVES: 1\n# ALTERNATIVE NAME 2: b\n3: 1,2\n1: 2,1\n", "1 thing.*NATIVES is 1"),
    ("x.soi", "# DATA TYPE: toc\n# NUMBER ALTERNATIVES: 2\n3: 1,2\n1: 2,1\n", "1 thing wrong.*DATA TYPE is 'toc'"),
    ("x.soi", "a comment\n2\n1,a\n2,b\n9,4,2\n3,1,2\n1,2,1\n", "2 things wrong.*9 voters and a sum of counts of 4"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "words"), LENIENT)
def test_a_lenient_reader_takes_the_votes_and_counts_what_is_wrong(name: str, text: str, words: str) -> None:
    with pytest.raises(DataError, match="expected"):
        read_text(text, name)
    with pytest.warns(UserWarning, match=rf"{name}: {words}"):
        profile = read_text(text, name, lenient=True)
    assert profile.weight.tolist() == [3, 1] and profile.agent.tolist() == [0, 1, 1, 0]


def test_what_is_wrong_with_the_votes_themselves_is_refused_by_a_lenient_reader_too() -> None:
    for order, words in (("3: 1,1\n", "appears twice"), ("3: 0\n", "alternative 0"), ("3: 1,{2\n", "order is")):
        with pytest.raises(DataError, match=words):
            read_text(f"# NUMBER ALTERNATIVES: 2\n{order}", "x.toi", lenient=True)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    for source, words in [
        (tmp_path / "no.csv", "no such file"),
        (tmp_path, "is a directory"),
        ("\0", "null"),
        (tmp_path / "no.zip", "no such file"),
        (f"{tmp_path}/no.zip::x.soc", "no such file"),
    ]:
        with pytest.raises(DataError, match=words) as caught:
            read(source)
        assert str(caught.value).startswith(f"{source}".partition("::")[0] + ": ")
    for source in (42, None, [1, 2]):
        with pytest.raises(DataError, match="frame: expected a pandas, polars or pyarrow table"):
            read(source)


# PrefLib

SOC = """# FILE NAME: x.soc
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: Phoenix
# ALTERNATIVE NAME 2: Zürich: the game
# ALTERNATIVE NAME 3: Phoenix
3: 1,2,3
2: 3,1,2
1: 1,2,3
"""
TOI = SOC.replace("soc", "toi").replace("3: 1,2,3", "3: {1,3},2").replace("1: 1,2,3", "1: {3,1},2")
OLD = "3\n1,Phoenix\n2,Zürich, the game\n3,\n6,6,2\n3,1,{2,3}\n2,3\n1,1,{3,2}\n"


def test_preflib_adds_repeated_lines_and_tells_equal_names_apart() -> None:
    profile = read_text(SOC, "x.soc")
    assert profile.agents == ("Phoenix #1", "Zürich: the game", "Phoenix #3")
    assert profile.weight.tolist() == [4, 2]
    assert profile.agent.tolist() == [0, 1, 2, 2, 0, 1]


def test_preflib_ties_in_any_spelling() -> None:
    profile = read_text(TOI, "x.toi")
    assert profile.weight.tolist() == [4, 2]
    assert profile.tier.tolist() == [0, 0, 1, 0, 1, 2]
    assert profile.agent.tolist() == [0, 2, 1, 2, 0, 1]


def test_preflib_old_style() -> None:
    profile = read_text(OLD, "x.toi")
    assert profile.agents == ("Phoenix", "Zürich, the game", "3")
    assert votes(profile) == [([{"Phoenix"}, {"Zürich, the game", "3"}], 4, None, None), ([{"3"}], 2, None, None)]


@pytest.mark.parametrize(
    "loose",
    [
        "\ufeff" + SOC,
        SOC.replace("\n", "\r\n"),
        SOC + "\n\n \n",
        SOC.replace(",", " , ").replace("1: 1", "1:1"),
        SOC.replace("2: 3", "\n 2 :3"),
        SOC[:-1],
        SOC.replace("# NUMBER VOTERS: 6\n", ""),
    ],
)
def test_preflib_tolerates(loose: str) -> None:
    assert same(read_text(loose, "x.soc"), read_text(SOC, "x.soc"))


def test_preflib_keeps_agents_that_no_vote_lists() -> None:
    profile = read_text("# NUMBER ALTERNATIVES: 4\n2: 3,1\n", "x.soi")
    assert profile.agents == ("1", "2", "3", "4")
    assert votes(profile) == [([{"3"}, {"1"}], 2, None, None)]


def test_preflib_many_digits() -> None:
    text = "".join(f"{10**k}: {','.join(map(str, range(1, 1200)))},{1200 + k}\n" for k in range(12))
    profile = read_text(text, "x.soi")
    assert profile.n_agents == 1211
    assert profile.weight.tolist() == [10.0**k for k in range(12)]
    assert profile.agent[profile.start[1:] - 1].tolist() == [1199 + k for k in range(12)]


# Battles

BATTLES = (
    "model_a,model_b,winner,count,judge,tstamp\nx,y,model_a,2,j,30\ny,z,tie,1,k,10\nz,x,x,3,j,20\nx,y,model_b,4,k,20\n"
)


def test_battles() -> None:
    profile = read_text(BATTLES, "x.csv")
    assert profile.agents == ("x", "y", "z")
    assert votes(profile) == [
        ([{"y", "z"}], 1, "k", 10),
        ([{"x"}, {"z"}], 3, "j", 20),
        ([{"y"}, {"x"}], 4, "k", 20),
        ([{"x"}, {"y"}], 2, "j", 30),
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("upper", [False, True])
def test_battles_labels(pair: tuple[str, str], upper: bool) -> None:
    words = [*pair, "model_a", "B", *TIES, "x", "y"]
    rows = "".join(f"x,y,{word.upper() if upper and word not in 'xy' else word}\n" for word in words)
    profile = read_text(f"{pair[0].upper() if upper else pair[0]},{pair[1]} , winner\n{rows}", "x.csv")
    won = [[{"x"}, {"y"}], [{"y"}, {"x"}]]
    assert [vote[0] for vote in votes(profile)] == [*won, *won, *[[{"x", "y"}]] * len(TIES), *won]


def test_a_label_that_is_an_agent_elsewhere_keeps_its_meaning() -> None:
    profile = read_text("a,b,winner\ntie,x,x\nx,y,tie\na,y,a\nx,b,b\n", "x.csv")
    assert [vote[0] for vote in votes(profile)] == [[{"x"}, {"tie"}], [{"x", "y"}], [{"a"}, {"y"}], [{"b"}, {"x"}]]


def test_options_choose_columns() -> None:
    table = "first,second,best,n,weight,judge\nx,y,first,2,3,j\n"
    roles = {"a": "first", "b": "second", "winner": "best", "weight": "n", "group": ""}
    assert votes(read_text(table, "x.csv", columns=roles)) == [([{"x"}, {"y"}], 2, None, None)]
    assert votes(Profile.from_matches(pd.read_csv(io.StringIO(table)), **roles)) == [([{"x"}, {"y"}], 2, None, None)]
    with pytest.raises(OptionError, match="columns must be a dict with keys among a, b, winner"):
        read_text(BATTLES, "x.csv", columns={"loser": "model_a"})
    with pytest.raises(DataError, match=r"x\.csv: no column 'gone'; found 'model_a', 'model_b'"):
        read_text(BATTLES, "x.csv", columns={"weight": "gone"})
    with pytest.raises(OptionError, match="kind must be one of battles, rankings, scores, got 'battle'"):
        read_text(BATTLES, "x.csv", kind="battle")
    with pytest.raises(DataError, match="are not known"):
        read_text(BATTLES, "x.csv", kind="scores")
    assert read_text("game,agent,rank,score\n1,x,1,2\n1,y,2,2\n", "x.csv", kind="scores").has_ties


# Rankings and scores

RANKINGS = (
    "contest_id,rank,agent,weight,date\n"
    "7,2,b,2,2024-01-02\n7,1,a,2,2024-01-02\n3,1,c,1,2024-01-01\n7,2,c,2,2024-01-02\n"
)
ORDERS = "ranking,weight\na > b = c,2\n c>a ,1\n"
SCORES = "agent,task,score,higher_is_better\nx,t,1,1\ny,t,2,1\nz,t,,1\nx,u,1,0\ny,u,2,0\nz,u,1e0,0\nx,v,,1\n"


def test_rankings() -> None:
    profile = read_text(RANKINGS, "x.csv")
    assert votes(profile) == [([{"c"}], 1, None, 1704067200.0), ([{"a"}, {"b", "c"}], 2, None, 1704153600.0)]


def test_one_ranking_per_row() -> None:
    expected = [([{"a"}, {"b", "c"}], 2, None, None), ([{"c"}, {"a"}], 1, None, None)]
    assert votes(read_text(ORDERS, "x.csv")) == expected
    lines = '{"ranking": ["a", ["b", "c"]], "weight": 2}\n{"ranking": ["c", "a"], "weight": 1}'
    assert votes(read_text(lines, "-")) == expected
    assert votes(read({"ranking": [["a", ["b", "c"]], ["c", "a"]], "weight": [2, 1]})) == expected


def test_scores() -> None:
    profile = read_text(SCORES, "x.csv")
    assert votes(profile) == [([{"y"}, {"x"}], 1, "t", None), ([{"x", "z"}, {"y"}], 1, "u", None)]
    assert profile.agents == ("x", "y", "z")


# A battle with columns of names, of numbers, with gaps, of none; and one that is a name though it looks like a number.
ANNOTATED = (
    "model_a,model_b,winner,voter,judge,language,turn,is_code,empty,day,tstamp\n"
    "x,y,model_a,ann,j,en,1,true,,05x,3\ny,z,tie,,k,,2,false,,06x,1\nz,x,model_b,ben,j,de,,true,,05x,2\n"
)


def test_columns_without_a_role_are_kept_where_votes_have_one_value_each() -> None:
    profile = read_text(ANNOTATED, "x.csv")
    assert (profile.kind, profile.group_by, profile.groups) == ("games", "judge", ("j", "k"))
    assert about(profile) == {
        "voter": [None, "ben", "ann"],
        "language": [None, "de", "en"],
        "turn": ["2", None, "1"],
        "is_code": ["false", "true", "true"],
        "day": ["06x", "05x", "05x"],
    }
    assert profile.columns["turn"].numeric
    assert profile.voters == ("ann", "ben")
    named = read_text(ANNOTATED, "x.csv", columns={"voter": "judge", "group": "day", "when": ""})
    assert (named.voters, named.group_by) == (("j", "k"), "day")
    assert set(named.columns) == {"voter", "language", "turn", "is_code", "day", "tstamp"}


def test_columns_of_rankings_and_scores_are_those_that_all_rows_of_a_vote_share() -> None:
    rankings = read_text("race,rank,agent,lane,track\n1,1,a,3,wet\n1,2,b,4,wet\n2,1,b,3,dry\n2,2,a,4,dry\n", "x.csv")
    assert (rankings.kind, about(rankings)) == ("games", {"track": ["wet", "dry"]})
    assert read_text("voter,rank,agent\n1,1,a\n1,2,b\n", "x.csv").kind == "election"
    table = "agent,task,score,higher_is_better,area\nx,t,,1,math\ny,u,2,0,code\nx,u,1,0,code\ny,v,7,1,math\n"
    profile = read_text(table, "x.csv")
    assert (profile.kind, profile.group_by, profile.groups) == ("election", "task", ("t", "u", "v"))
    assert profile.score is not None and profile.score.tolist() == [1, 2, 7]
    assert profile.higher_is_better is not None and profile.higher_is_better.tolist() == [False, True]
    assert profile.columns["area"].cells() == ["code", "math"]
    ballots = read({"ranking": ["a > b > c", "c"], "area": ["n", "s"]})
    assert (ballots.kind, about(ballots)) == ("election", {"area": ["n", "s"]})


def test_long_texts_and_columns_of_too_many_names_are_kept_only_if_asked_for() -> None:
    n = 10_001
    frame: dict[str, Any] = {"a": ["x"] * n, "b": ["y"] * n, "winner": ["a"] * n, "id": [f"i{k}" for k in range(n)]}
    frame |= {"question": ["why " * 30] * n, "nested": [{"k": 1}] * n, **{f"c{k}": range(n) for k in range(70)}}
    for table in (frame, pl.DataFrame(frame)):
        assert list(read(table).columns) == [f"c{k}" for k in range(63)]  # with the id, 64 that might be kept
        kept = read(table, keep=["question", "id", "c69"]).columns
        assert (len(kept), kept["id"].cells()[-1], kept["c69"].cells()[-1]) == (65, f"i{n - 1}", n - 1)


def test_the_kind_of_a_profile_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "x.soc"
    path.write_text(SOC)
    assert [read(path).kind, read(path, profile_kind="games").kind] == ["election", "games"]
    assert read(read_text(BATTLES, "x.csv"), profile_kind="election").pairs().kind == "election"
    assert [read({"ranking": ["a > b", "c > d"]}).kind, read({"ranking": ["a > b", "b > a"]}).kind] == [
        "games",
        "election",
    ]
    with pytest.raises(OptionError, match="profile_kind must be 'election' or 'games', got 'battles'"):
        read(path, profile_kind="battles")  # type: ignore[call-overload]


def test_a_file_is_hashed_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(BATTLES.encode()))
    assert read(path).source == Source(str(path), hashlib.sha256(path.read_bytes()).hexdigest())
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("1.soc", SOC)
    digest = hashlib.sha256((tmp_path / "x.zip").read_bytes()).hexdigest()
    [(_, profile)] = read_archive(tmp_path / "x.zip")
    assert profile.source == read(tmp_path / "x.zip").source == Source(f"{tmp_path}/x.zip::1.soc", digest)
    assert read({"ranking": ["a > b"]}).source is None


def test_times() -> None:
    times = ("1970-01-01", "1970-01-01T00:00:01Z", "1970-01-01T02:00:02+02:00", "3.5")
    rows = "".join(f"x,y,tie,{time}\n" for time in times)
    when = read_text(f"a,b,winner,time\n{rows}", "x.csv").when
    assert when is not None and when.tolist() == [0, 1, 2, 3.5]


# Frames

FRAMES: dict[str, Callable[[str], Any]] = {
    "pandas": lambda text: pd.read_csv(io.StringIO(text)),
    "pandas categories": lambda text: pd.read_csv(io.StringIO(text), dtype="category"),
    "pandas objects": lambda text: pd.read_csv(io.StringIO(text)).astype(object),
    "polars": lambda text: pl.read_csv(io.StringIO(text)),
    "polars dates": lambda text: pl.read_csv(io.StringIO(text), try_parse_dates=True),
    "polars lazy": lambda text: pl.read_csv(io.StringIO(text)).lazy(),
    "polars categories": lambda text: pl.read_csv(io.StringIO(text), infer_schema=False).cast(pl.Categorical),
    "pyarrow": lambda text: pa.Table.from_pylist(pl.read_csv(io.StringIO(text)).to_dicts()),
    "pyarrow dictionaries": lambda text: pa.table(
        {
            name: pa.chunked_array([part.combine_chunks().dictionary_encode() for part in (column[:2], column[2:])])
            for name, column in zip(text.partition("\n")[0].split(","), FRAMES["pyarrow"](text).columns, strict=True)
        }
    ),
    "dict": lambda text: pl.read_csv(io.StringIO(text)).to_dict(as_series=False),
    "parquet": lambda text: _parquet(FRAMES["pyarrow"](text)),
}


def _parquet(table: pa.Table) -> Named:
    target = io.BytesIO()
    pyarrow.parquet.write_table(table, target)
    return Named(target.getvalue(), "x.parquet")


@pytest.mark.parametrize("text", [BATTLES, RANKINGS, ORDERS, SCORES, ANNOTATED])
@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_reads_as_its_csv(library: str, text: str) -> None:
    assert same(read(FRAMES[library](text)), read_text(text, "x.csv"))


@pytest.mark.parametrize("library", FRAMES)
def test_bad_frame_says_which_row(library: str) -> None:
    place = "x.parquet: row 1: " if library == "parquet" else "row 1: "
    with pytest.raises(DataError, match=rf"^{place}winner is 'w'; expected 'model_a'"):
        read(FRAMES[library]("model_a,model_b,winner\nx,y,tie\nx,y,w\n"))
    with pytest.raises(DataError, match=rf"^{place}winner is blank; expected 'model_a'"):
        read(FRAMES[library]("model_a,model_b,winner\nx,y,tie\nx,y,\n"))
    with pytest.raises(DataError, match=rf"^{place}model_b is blank; expected a name"):
        read(FRAMES[library]("model_a,model_b,winner\nx,y,tie\nx,,tie\n"))
    with pytest.raises(DataError, match=rf"^{place}weight is '?-2(\.0)?'?; expected a number that is not negative"):
        read(FRAMES[library]("model_a,model_b,winner,weight\nx,y,tie,1\nx,y,tie,-2\n"))


def test_odd_frames() -> None:
    with pytest.raises(DataError, match="frame: expected columns of one length; 'a' has 1, 'b' has 2"):
        read({"a": [1], "b": [1, 2]})
    with pytest.raises(DataError, match="frame: column 'a' is 5; expected a list or an array"):
        read({"a": 5})
    assert read({"a": np.array([1, 2]), "b": [np.int64(3), 4], "winner": ("a", "b")}).agents == ("1", "2", "3", "4")
    with pytest.raises(DataError, match="frame: no rows"):
        read(pd.DataFrame({"model_a": [], "model_b": [], "winner": []}))
    with pytest.raises(DataError, match=r"row 1: score is nan; expected a finite number"):
        read(pl.DataFrame({"agent": ["x", "y"], "task": ["t", "t"], "score": [1.0, float("nan")]}))
    with pytest.raises(DataError, match=r"row 0: model_a is {'name': 'x'}; expected text or a number"):
        read(pl.DataFrame({"model_a": [{"name": "x"}], "model_b": ["y"], "winner": ["tie"]}))
    with pytest.raises(DataError, match="columns 'Winner', 'winner ' have the same name but"):
        read({"model_a": ["x"], "model_b": ["y"], "Winner": ["tie"], "winner ": ["tie"]}, columns={"winner": "WINNER"})
    with pytest.raises(DataError, match="row 1: weight is True"):
        read({"ranking": ["a > b"] * 2, "weight": [1, True]})
    numbered = pd.DataFrame({"model_a": [1, 2], "model_b": [2, None], "winner": [2.0, None]})[:1]
    assert votes(read(numbered)) == [([{"2"}, {"1"}], 1, None, None)]


def test_frames_stay_as_they_are() -> None:
    frame = pd.read_csv(io.StringIO(BATTLES))
    before = frame.copy(deep=True)
    given_dict = {"ranking": [["a", "b"], None]}
    read(frame)
    pd.testing.assert_frame_equal(frame, before)
    with pytest.raises(DataError, match="row 1: ranking is blank"):
        read(given_dict)
    assert given_dict == {"ranking": [["a", "b"], None]}


def test_encode_is_by_first_appearance() -> None:
    fields = battles(as_table({"a": ["z", "y"], "b": ["x", "z"], "winner": ["tie", "tie"]}))
    assert fields["agents"] == ("z", "y", "x")


# Sources


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (SOC, 2),
        (TOI, 2),
        (OLD, 2),
        (BATTLES, 4),
        (BATTLES.replace(",", "\t"), 4),
        (BATTLES.replace(",", ";"), 4),
        (ORDERS, 2),
        ('{"model_a": "x", "model_b": "y", "winner": "tie"}\n', 1),
        ("2: 1,2\n", 1),
    ],
)
def test_stdin_by_content(monkeypatch: pytest.MonkeyPatch, text: str, n: int) -> None:
    for data in (text.encode(), gzip.compress(text.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read("-").n_votes == n
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,2\n")))
    with pytest.raises(DataError, match=r"^<stdin>: columns 'x', 'y' are not known"):
        read("-")


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b/2.csv", BATTLES)
        archive.writestr("b/1.soc", SOC)
        archive.writestr("a.soc", SOC.replace("VOTERS: 6", "VOTERS: 7"))
        archive.writestr("c.csv.gz", gzip.compress(BATTLES.encode()))
    assert read(f"{path}::b/1.soc").n_votes == 2
    assert read(f"{path}::c.csv.gz").n_votes == 4
    assert [(name, profile.n_votes) for name, profile in read_archive(path, "b/*")] == [("b/1.soc", 2), ("b/2.csv", 4)]
    with pytest.raises(DataError, match=r"x\.zip::a\.soc: NUMBER VOTERS is 7; expected 6"):
        next(read_archive(path, "*.soc"))
    with pytest.raises(DataError, match=r"x\.zip: no member matches '\*\.toc'"):
        next(read_archive(path, "*.toc"))
    with pytest.raises(DataError, match=r"x\.zip::no: no such member"):
        read(f"{path}::no")
    with pytest.raises(DataError, match=r"x\.zip: holds 4 files; expected one"):
        read(path)
    broken = path.read_bytes().replace(b"model_a", b"nodel_a", 1)
    (tmp_path / "y.zip").write_bytes(broken)
    with pytest.raises(DataError, match=r"y\.zip::b/2\.csv: cannot be unpacked"):
        read(tmp_path / "y.zip::b/2.csv")


# Mutated input

JUNK = ["", " ", "\n", "\r", "\t", "\0", "\ufeff", "\\ud800", "9" * 20]
JUNK += re.findall(
    r"\S+", ', " { } [ : :: # > = -1 nan inf 1e999 0 1_0 ٣ tie model_a x null true "a": 2024-13-01 ranking'
)
Changes = list[tuple[str, int, int, str]]  # what, where, to where, junk
EDITS = ["cut", "delete", "junk", "junk", "swap", "swap", "repeat", "digit", "digit", "byte"]
edits = st.lists(
    st.tuples(st.sampled_from(EDITS), st.integers(0, 400), st.integers(0, 400), st.sampled_from(JUNK)),
    min_size=1,
    max_size=3,
)


def mutate(text: str, changes: Changes) -> bytes:
    """The text with tokens cut, dropped, swapped, repeated or replaced, and perhaps a byte that is not UTF-8."""
    broken = False
    for kind, at, other, junk in changes:
        tokens = re.findall(r"\w+|\s|[^\w\s]", text) or [""]
        i, j = at % len(tokens), other % len(tokens)
        if kind == "cut":
            tokens = tokens[:i]
        elif kind == "delete":
            del tokens[i : i + 1 + other % 3]
        elif kind == "junk":
            tokens[i] = junk if other % 2 else tokens[i] + junk
        elif kind == "swap":
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == "repeat":
            tokens[i:i] = tokens[min(i, j) : max(i, j)][:40]
        elif kind == "digit":
            tokens[i] = re.sub(r"\d", str(other % 10), tokens[i])
        broken |= kind == "byte"
        text = "".join(tokens)
    data = text.encode("utf-8", "surrogatepass")
    return data[: changes[0][1]] + b"\xff" + data[changes[0][1] :] if broken else data


def survives(data: bytes, name: str, kind: str | None = None) -> Profile | None:
    """The profile, or None after an error of the right kind with its place."""
    try:
        return read(Named(data, name), kind=kind)
    except DataError as error:
        assert re.match(rf"{re.escape(name)}(:\d+)?: .", str(error)), str(error)
        return None


def rows_of(data: bytes) -> list[dict[str, str]]:
    text = data.decode("utf-8-sig")
    delimiter = max(",\t;", key=text.lstrip("\r\n").partition("\n")[0].count)
    every = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header, *rows = [row for row in every if any(map(str.strip, row))]  # a row of blanks is none
    keys = [key.strip().casefold() for key in header]
    return [dict(zip(keys, row, strict=True)) for row in rows]


def one_of(row: dict[str, str], *keys: str) -> str:
    return next(row[key].strip() for key in keys if key in row)


def weight_of(rows: list[dict[str, str]], *keys: str) -> float:
    key = next((key for key in keys if key in rows[0] and any(row[key].strip() for row in rows)), None)
    return sum(float(row[key]) for row in rows) if key else len(rows)


@fuzz
@THOROUGH
@given(st.sampled_from([SOC, TOI, OLD]), edits)
def test_fuzz_preflib(text: str, changes: Changes) -> None:
    data = mutate(text, changes)
    profile = survives(data, "x")
    if profile is not None:
        lines = [line for line in data.decode("utf-8-sig").split("\n") if line.strip() and line.lstrip()[:1] != "#"]
        if data.decode("utf-8-sig").lstrip()[:1].isdigit() and ":" not in lines[0]:
            lines = lines[int(lines[0]) + 2 :]
        assert profile.weight.sum() == sum(int(re.findall(r"^\s*\d+", line)[0]) for line in lines)


def rows_of_contests(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The last row of each contest."""
    return list({one_of(row, "contest_id"): row for row in rows}.values())


# Of each kind of table: its votes, the entries of these, and their weight.
ACCOUNTS: dict[str, Callable[[list[dict[str, str]]], tuple[int, int, float]]] = {
    BATTLES: lambda rows: (len(rows), 2 * len(rows), weight_of(rows, "weight", "count", "n")),
    RANKINGS: lambda rows: (
        len(rows_of_contests(rows)), len(rows), weight_of(rows_of_contests(rows), "weight", "count"),
    ),
    ORDERS: lambda rows: (
        len(rows), sum(len(re.split("[>=]", row["ranking"])) for row in rows), weight_of(rows, "weight", "count"),
    ),
    SCORES: lambda rows: scores_account([row for row in rows if one_of(row, "score")]),
}  # fmt: skip


def scores_account(full: list[dict[str, str]]) -> tuple[int, int, float]:
    n = len({one_of(row, "task") for row in full})
    return n, len(full), n


@pytest.mark.parametrize(("text", "kind"), [*zip(ACCOUNTS, ("battles", "rankings", "rankings", "scores"), strict=True)])
@fuzz
@THOROUGH
@given(changes=edits)
def test_fuzz_tables(text: str, kind: str, changes: Changes) -> None:
    data = mutate(text, changes)
    profile = survives(data, "x.csv", kind)
    if profile is not None:
        found = profile.n_votes, len(profile.agent), profile.weight.sum()
        assert found == pytest.approx(ACCOUNTS[text](rows_of(data)))


JSONL = (
    '{"ranking": ["a", ["b", "c"], "d"], "weight": 2, "judge": "x", "when": 5}\n'
    '{"ranking": ["d", 1], "weight": 0.5, "judge": "y", "when": "2024-01-01T00:00:00"}\n'
)
JSON_BATTLES = (
    '{"model_a": "x", "model_b": "y", "winner": "tie", "weight": 3}\n'
    '{"model_a": "y", "model_b": "z", "winner": "y", "weight": 1.5}\n'
)


@fuzz
@THOROUGH
@given(st.sampled_from([JSONL, JSON_BATTLES]), edits)
def test_fuzz_jsonl(text: str, changes: Changes) -> None:
    data = mutate(text, changes)
    profile = survives(data, "x.jsonl")
    if profile is not None:
        rows = [json.loads(line) for line in data.decode("utf-8-sig").split("\n") if line.strip()]
        assert profile.n_votes == len(rows)
        weighted = any(str(row.get("weight", "") or "").strip() or row.get("weight") == 0 for row in rows)
        total = sum(float(row["weight"]) for row in rows) if weighted else len(rows)
        assert profile.weight.sum() == pytest.approx(total)


@fuzz
@THOROUGH
@given(
    st.binary(max_size=60),
    st.sampled_from(["x", "x.csv.gz", "x.jsonl", "x.parquet", "x.soc", "x.tsv"]),
    st.sampled_from(
        [b"", b"\x1f\x8b\x08\0", b"PAR1", b"PK\x03\x04", b"# NUMBER VOTERS: ", b"{", b"1: ", b"a,b,winner\n"]
    ),
)
def test_fuzz_bytes(data: bytes, name: str, start: bytes) -> None:
    profile = survives(start + data, name)
    assert profile is None or profile.n_votes > 0
