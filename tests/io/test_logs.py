"""Evaluation logs: the votes that a person reads off small files of each tool, who claims which file, broken files.

``SCO_FUZZ_EXAMPLES=10000 pytest -m fuzz tests/io/test_logs.py`` is the long run.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import data_folder
from helpers.logs import FILES, LEFT_OUT, VOTES, encoded, lm_eval, two_games, write_files, zipped
from helpers.reading import THOROUGH, Named, fuzz, notes, votes_of
from helpers.samples import main_file
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.errors import DataError, OptionError
from softcondorcet.io.formats import FORMATS
from softcondorcet.io.input_files import LOGS, InputFile, in_memory


def test_every_format_has_a_fixture() -> None:
    assert tuple(FORMATS) == LOGS
    assert set(FILES) == set(VOTES) == set(LEFT_OUT) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_votes_in_a_folder(name: str, tmp_path: Path) -> None:
    profile = sc.read(write_files(tmp_path, {**FILES[name], "README.md": "# runs", "plot.png": b"\x89PNG"}))
    assert votes_of(profile) == {task: sorted(votes) for task, votes in VOTES[name].items()}
    said = notes(profile)
    assert "skipped 2 others (README.md, plot.png)" in said
    counted = {line for line in said.splitlines() if line.startswith("left out: ")}
    expected = {(f"({count:,})", reason) for reason, count in LEFT_OUT[name].items()}
    for end, reason in expected:
        assert any(line.endswith(end) and reason in line for line in counted), (end, reason, counted)
    assert len(counted) == len(expected), counted


@pytest.mark.parametrize("name", FORMATS)
def test_an_archive_is_as_its_folder(name: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", FILES[name])
    expected = votes_of(sc.read(folder))
    (tmp_path / "x.zip").write_bytes(zipped(FILES[name]))
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(folder, "runs")
    assert votes_of(sc.read(tmp_path / "x.zip")) == expected
    assert votes_of(sc.read(tmp_path / "x.tar.gz")) == expected
    assert votes_of(sc.read(f"{folder}/**/*.*")) == expected
    assert votes_of(sc.read(folder, format=name)) == expected
    packed, plain = sc.read(tmp_path / "x.zip").source, sc.read(folder).source
    assert packed is not None and plain is not None and packed.sha256 != plain.sha256


TABLES = {
    "battles.csv": "model_a,model_b,winner\nx,y,tie\n",
    "wide.csv": "model,mmlu,arc\nx,1,2\ny,2,1\n",
    "wide.md": "|model|mmlu|\n|---|---|\n|x|1|\n|y|2|\n",
    "scores.jsonl": '{"agent": "x", "task": "t", "score": 1}\n',
    "rows.json": '[{"agent": "x", "task": "t", "score": 1}]',
    "election.soc": "# DATA TYPE: soc\n",
    "package.json": '{"name": "x", "version": "1", "config": {}, "results": 3}',
}


def test_each_file_is_claimed_by_one_reader() -> None:
    """Rows: files; columns: readers. A plain table is claimed by none."""
    for name, files in FILES.items():
        for path, content in files.items():
            file = in_memory(path, encoded(path, content))
            assert [format.name for format in FORMATS.values() if format.recognise(file)] == [name], path
    for path, text in TABLES.items():
        file = in_memory(path, text.encode())
        assert not [format.name for format in FORMATS.values() if format.recognise(file)], path


def test_files_of_two_tools_are_an_error_that_counts_them(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {**FILES["kaggle"], **FILES["alpaca_eval"]})
    with pytest.raises(DataError, match=r"several tools: kaggle \(3 files\), alpaca_eval \(1 file\)"):
        sc.read(folder)
    assert sc.read(folder, format="kaggle").n_votes == 1


# Metrics, directions, agents


def run(model: str, **metrics: float) -> dict[str, Any]:
    return lm_eval(model, {"task": {name.replace("__", ","): value for name, value in metrics.items()}})


def test_the_metric_is_one_that_all_agents_have(tmp_path: Path) -> None:
    files = {"a/r.json": run("a", acc__none=0.1, acc_norm__none=0.9), "b/r.json": run("b", acc__none=0.2)}
    folder = write_files(tmp_path, files)
    assert votes_of(sc.read(folder)) == {"task": ["b > a"]}
    assert "metric acc of task" in notes(sc.read(folder))
    only = sc.read(folder, metric="acc_norm")
    assert votes_of(only) == {"task": ["a"]}
    assert "agents without the metric of a task (1)" in notes(only)
    with pytest.raises(OptionError, match="metric must be among acc, acc_norm, got 'f1'"):
        sc.read(folder, metric="f1")


def test_a_metric_of_unknown_direction_is_a_question(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"a/r.json": run("a", oddity__none=1), "b/r.json": run("b", oddity__none=2)})
    with pytest.raises(DataError, match="--higher-is-better oddity or --lower-is-better oddity"):
        sc.read(folder)
    assert votes_of(sc.read(folder, lower_is_better="oddity")) == {"task": ["a > b"]}
    assert votes_of(sc.read(folder, higher_is_better="task")) == {"task": ["b > a"]}


def test_a_group_counts_by_itself_only_where_its_subtasks_are_not_there(tmp_path: Path) -> None:
    results = {
        "mmlu": {"acc,none": 0.5},
        "stem": {"acc,none": 0.4},
        "bbh": {"acc,none": 0.3},
        "x": {"bypass,none": 999},
    }
    below = {"mmlu": ["stem"], "stem": ["physics"], "bbh": ["a", "b"], "x": []}
    folder = write_files(tmp_path, {"r.json": lm_eval("a", results, group_subtasks=below)})
    assert set(votes_of(sc.read(folder))) == {"stem", "bbh"}


def test_files_that_contradict_each_other_on_the_direction(tmp_path: Path) -> None:
    files = copy.deepcopy(FILES["every_eval_ever"])
    files["b.json"]["evaluation_results"][0]["metric_config"]["lower_is_better"] = True
    with pytest.raises(DataError, match=r"b\.json: evaluation_results 1: lower is better in 'IFEval'; expected higher"):
        sc.read(write_files(tmp_path, files))


def test_agents_by_file_folder_and_expression(tmp_path: Path) -> None:
    rows = FILES["openai_evals"]["items.jsonl"][:1]
    folder = write_files(tmp_path, {"x-1/one.jsonl": rows, "y-2/two.jsonl": rows})
    for how, agents in (("file", {"one", "two"}), ("folder", {"x-1", "y-2"}), (r"([xy])-\d/", {"x", "y"})):
        assert set(sc.read(folder, agent_from=how).agents) == agents
    with pytest.raises(DataError, match="'zzz' is not found in the path"):
        sc.read(folder, agent_from="zzz")
    with pytest.raises(OptionError, match="agent_from must be left out"):
        sc.read(write_files(tmp_path / "k", FILES["kaggle"]), agent_from="file")


def test_samples_find_the_results_file_beside_them_and_ask_where_there_is_none(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES["lm_eval"])
    samples = next(folder.glob("alpha/samples*"))
    assert sc.read(samples).agents == ("org/alpha",)
    next(folder.glob("alpha/results*")).unlink()
    with pytest.raises(DataError, match="nothing names the agent; expected --agent-from file, folder or a regular"):
        sc.read(samples)
    assert sc.read(samples, agent_from="folder").agents == ("alpha",)


def test_one_vote_per_task_averages_first(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES["inspect"])
    profile = sc.read(folder, per="task")
    assert votes_of(profile) == {"arc": ["a > b"]}  # (1 + 1/2 + 1) / 3 and (0 + 1/2 + 0) / 3
    assert profile.score is not None and profile.score.tolist() == pytest.approx([2.5 / 3, 0.5 / 3])


def test_totals_count_where_some_agents_have_no_items(tmp_path: Path) -> None:
    """Never a task twice, and never one agent's items against another's total."""
    files = {path: content for path, content in FILES["lm_eval"].items() if "samples" not in path}
    for model in ("alpha", "beta"):
        (path,) = [path for path in files if path.startswith(model)]
        files[path] = {**files[path], "results": {"arc": {"acc,none": 0.5 if model == "alpha" else 0.6}}}
    samples = {path: rows for path, rows in FILES["lm_eval"].items() if path.startswith("alpha/samples")}
    profile = sc.read(write_files(tmp_path, {**files, **samples}))
    assert votes_of(profile) == {"arc": ["org/beta > org/alpha"]}
    assert "items of tasks of which some agents have totals only (3)" in notes(profile)


def test_pairs_of_mt_bench(tmp_path: Path) -> None:
    games = [("model_1", "model_1"), ("model_2", "model_1"), ("tie", "model_1"), ("tie", "tie"), ("model_2", "error")]
    profile = sc.read(write_files(tmp_path, {"pair.jsonl": [two_games(*pair) for pair in games]}))
    assert votes_of(profile) == {"": ["1 x = y", "1 x = y", "1 x = y", "1 x > y"]}
    assert "left out: pairs in which a verdict could not be read (1)" in notes(profile)


# Broken files


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


def hostile_zip(name: str, size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open(name, "w") as member:
        for _ in range(size >> 20):
            member.write(b" " * (1 << 20))
    return out.getvalue()


def spoilt(content: Any, change: str) -> Any:
    """The content with every number and verdict of the wrong type, or with some key missing everywhere."""
    if isinstance(content, list):
        return [spoilt(one, change) for one in content]
    if isinstance(content, dict):
        kept = {key: spoilt(value, change) for key, value in content.items()}
        return {key: value for key, value in kept.items() if key != change}
    wrong = change == "type" and (isinstance(content, int | float) or content in ("A>B", "B>>A"))
    return {"no": "number"} if wrong else content


MISSING = {
    "lm_eval": "model_name",
    "inspect": "task",
    "helm": "stats",
    "every_eval_ever": "metric_config",
    "mteb": "main_score",
    "promptfoo": "score",
    "openai_evals": "data_source_idx",
    "alpaca_eval": "generator_2",
    "arena_hard": "score",
    "mt_bench": "model",
    "kaggle": "TeamNames",
    "pgn": "White",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", ["truncated", "type", "missing"])
def test_broken_files(name: str, change: str, tmp_path: Path) -> None:
    path, content = main_file(name)
    folder = write_files(tmp_path, FILES[name])
    data = encoded(path, content)
    if change == "truncated":
        data = data[: len(data) * 2 // 3].rstrip() if name != "pgn" else data[:45]
    elif name == "pgn":
        data = data.replace(b'White "Ann"', b'Name "Ann"') if change == "missing" else data.replace(b'"1-0"', b'"2-0"')
    else:
        data = encoded(path, spoilt(content, change if change == "type" else MISSING[name]))
    (folder / path).write_bytes(data)
    with pytest.raises(DataError) as caught:
        sc.read(folder, format=name)
    assert Path(path).name in str(caught.value)
    assert "expected" in str(caught.value) or "not JSON" in str(caught.value), caught.value


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "data",
    [
        nested(10_000),
        b" " * 1000 + b"\n" * 1000,
        b"\0" * 100,
        b'{"results": ',
        b"[]",
        b"{}",
        b'{"a":"' + b'\\"' * (1 << 18),
    ],
)
def test_hostile_content(name: str, data: bytes, tmp_path: Path) -> None:
    path, _ = main_file(name)
    (tmp_path / Path(path).name).write_bytes(data)
    for chosen in (None, name):
        with pytest.raises(DataError, match=rf"{Path(path).name}"):
            sc.read(tmp_path / Path(path).name, format=chosen)


@pytest.mark.parametrize("member", ["../x.json", "/etc/x.json", "a/../../x.json", "C:\\x.json", "..\\x.json"])
def test_a_path_in_a_member_name(member: str, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(member), "{}")
    (tmp_path / "x.zip").write_bytes(out.getvalue())
    with pytest.raises(DataError, match=r"x\.zip: member .* leads out of the archive"):
        sc.read(tmp_path / "x.zip")


@pytest.mark.parametrize("name", ["x.zip", "x.eval", "x.xlsx", "x.json.gz", "x.tar.gz"])
def test_bombs(name: str, tmp_path: Path) -> None:
    size = 200 << 20
    path = tmp_path / name
    if name.endswith(".tar.gz"):
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:
            info = tarfile.TarInfo("a.json")
            info.size = size
            archive.addfile(info, io.BytesIO(b" " * size))
    elif name.endswith(".gz"):
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(size >> 20):
                file.write(b" " * (1 << 20))
    else:
        path.write_bytes(hostile_zip("header.json" if name == "x.eval" else "xl/workbook.xml", size))
    with pytest.raises(DataError, match=rf"{name}: unpacks to [\d,]+ MB or more from [\d.]+ MB; expected at most 200"):
        sc.read(path)


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3) | st.just("C"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "score", "value"]), inner),
    max_leaves=4,
)


def places(content: Any) -> list[tuple[Any, Any]]:
    """Each place in a JSON value, as the object or list that holds it, and its key."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else []
    return [place for key, value in list(inner) for place in ((content, key), *places(value))]


@fuzz
@pytest.mark.parametrize("name", FORMATS)
@THOROUGH
@given(data=st.data())
def test_changed_values_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Any value in any place: a profile, or an error with its place; no traceback."""
    path, content = main_file(name)
    text = encoded(path, content)
    if name == "pgn":
        cut = data.draw(st.integers(0, len(text)))
        text = text[:cut] + data.draw(st.binary(max_size=5)) + text[data.draw(st.integers(cut, len(text))) :]
    else:
        holder = [content]
        for _ in range(data.draw(st.integers(1, 3))):
            inside, key = data.draw(st.sampled_from(places(holder)))
            if isinstance(inside, dict) and data.draw(st.booleans()):
                inside.pop(key, None)
            elif not isinstance(inside, dict) or key in inside:
                inside[key] = data.draw(junk)
        text = encoded(path, holder[0])
    try:
        profile = sc.read(Named(text, path), format=name)
    except DataError as error:
        assert str(error).startswith(path.rpartition("/")[0] or path), error
    else:
        assert profile.n_votes > 0


@pytest.mark.data
def test_every_real_sample_is_read() -> None:
    """Each file and each folder, by one call with no option."""
    top = Path(data_folder()) / "formats"
    read = 0
    for path in [*top.rglob("*")]:
        if path.name == "formats" or path.name == "model_meta.json":
            continue
        file = InputFile.on_disk(str(path)) if path.is_file() else None
        if file is not None:
            assert len([format for format in FORMATS.values() if format.recognise(file)]) == 1, path
        profile = sc.read(path)
        assert profile.n_votes > 0
        assert profile.source is not None and json.dumps(profile.source.notes)
        read += 1
    assert read >= 30
