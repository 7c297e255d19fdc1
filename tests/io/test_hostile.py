"""Broken and hostile files of every format that can be read: an error that names the file, soon and in little memory.

``SCO_FUZZ_EXAMPLES=10000 pytest -m fuzz tests/io/test_hostile.py`` is the long run.
"""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from helpers.logs import FILES, write_files
from helpers.reading import THOROUGH, Named, fuzz, notes, votes_of
from helpers.samples import SAMPLES, parquet_of
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.errors import DataError
from softcondorcet.io.files import FORMATS


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(FORMATS)
    assert len(FORMATS) == len(set(FORMATS))


def read(name: str, data: bytes, folder: Path, format: str | None = None) -> sc.Profile:
    """The profile of a file of a format; of HELM's, beside the file that says the model."""
    path = SAMPLES[name][0]
    if name != "helm":
        profile: sc.Profile = sc.read(Named(data, path), format=format)
        return profile
    beside = {key: content for key, content in FILES[name].items() if Path(key).parent == Path(path).parent}
    return sc.read(write_files(folder, {**beside, path: data}) / Path(path).parent, format=format)


@pytest.mark.parametrize("name", FORMATS)
def test_content_tells_the_format(name: str, tmp_path: Path) -> None:
    """A file without a suffix is read as one with it, and as one whose format is said."""
    path, data = SAMPLES[name]
    expected = votes_of(read(name, data, tmp_path))
    assert expected
    assert votes_of(read(name, data, tmp_path, name)) == expected
    if name not in ("helm", "lm_eval", "mteb"):  # whose names say the run and the task
        assert votes_of(sc.read(Named(data, path.rpartition(".")[0] or path))) == expected


# Small files

NESTED = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
DEEP: dict[str, bytes] = {
    "objects": NESTED,
    "lists": b"[" * 10_000 + b"]" * 10_000,
    "a list of objects": b"[" + NESTED + b"]",
    "in a row": b'{"ranking":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
}


@pytest.mark.parametrize("how", DEEP)
@pytest.mark.parametrize("name", FORMATS)
def test_nested_10000_deep(name: str, how: str) -> None:
    for format in (None, name):
        refused(DEEP[how], SAMPLES[name][0], format)


def refused(data: bytes, path: str, format: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        sc.read(Named(data, path), format=format)
    message = str(caught.value)
    assert message.startswith(path) and len(message) < 1000, message
    return message


# Of plain formats: a field is missing, and one is of the wrong type. Those of tools are in test_logs.
BROKEN: dict[str, list[bytes]] = {
    **{
        suffix: [b"# DATA TYPE: soc\n: 1,2\n", b"# DATA TYPE: soc\nx: 1,2\n", b"# NUMBER VOTERS: two\n1: 1,2\n"]
        for suffix in ("soc", "soi", "toc", "toi", "preflib")
    },
    "csv": [b"model_a,model_b\nx,y\n", b"model_a,model_b,winner\nx,y,7\n", b"\xff\xfea", b"a,b,winner\nx,y\n"],
    "tsv": [b"model_a\tmodel_b\nx\ty\n", b"model_a\tmodel_b\twinner\nx\ty\t7\n"],
    "jsonl": [
        b'{"model_a": "x", "winner": "tie"}\n',
        b'{"model_a": {"x": 1}, "model_b": "y", "winner": "tie"}\n',
        b"3\n",
    ],
    "json": [b'[{"model_a": "x"}]', b'[{"model_a": {"x": 1}, "model_b": "y", "winner": "tie"}]', b"[3]", b'"x"'],
    "md": [b"| model |\n|---|\n| x |\n", b"|model|MMLU|\n|--|--|\n|x|one|\n|y|2|\n|z|3|\n"],
}


@pytest.mark.parametrize("name", BROKEN)
def test_missing_fields_and_wrong_types(name: str) -> None:
    for data in BROKEN[name]:
        refused(data, SAMPLES[name][0], name)


@pytest.mark.parametrize("name", FORMATS)
def test_cut_anywhere(name: str, tmp_path: Path) -> None:
    """A file that is cut is an error, or a smaller file of the same kind: never a traceback, never other agents."""
    path, data = SAMPLES[name]
    agents = set(read(name, data, tmp_path).agents)
    for cut in {*range(0, len(data), max(1, len(data) // 25)), len(data) - 1}:
        try:
            found = set(read(name, data[:cut], tmp_path).agents)
        except DataError as error:
            assert Path(path).name in str(error), error
        else:
            assert len(found) <= len(agents), (cut, found)


def packed(files: dict[str, bytes | str], suffix: str, link: str = "") -> bytes:
    """An archive of files; ``link`` is the name of a link in a tar that leads out of it."""
    out = io.BytesIO()
    if suffix == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for path, data in files.items():
                archive.writestr(zipfile.ZipInfo(path), data)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz") as packing:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            content = data if isinstance(data, bytes) else data.encode()
            info.size = len(content)
            packing.addfile(info, io.BytesIO(content))
        if link:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            packing.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize("suffix", ["zip", "tar.gz"])
@pytest.mark.parametrize("lead", ["../../%s", "/tmp/%s", "a/../../%s", "C:\\%s", "..\\%s"])
def test_a_member_whose_name_leads_out(lead: str, suffix: str, tmp_path: Path) -> None:
    for name in FORMATS:
        path, data = SAMPLES[name]
        target = tmp_path / f"{name}.{suffix}"
        target.write_bytes(packed({lead % Path(path).name: data}, suffix))
        with pytest.raises(DataError, match=rf"{name}\.{suffix}: member .* leads out of the archive"):
            sc.read(target)
    assert {path.suffix for path in tmp_path.iterdir()} == {f".{suffix.rpartition('.')[2]}"}


@pytest.mark.parametrize("name", FILES)
def test_a_link_in_an_archive_is_skipped_and_counted(name: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", FILES[name])
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    (tmp_path / "x.tar.gz").write_bytes(packed({**files}, "tar.gz", link="latest.json"))
    found = sc.read(tmp_path / "x.tar.gz")
    assert votes_of(found) == votes_of(sc.read(folder))
    assert "skipped" in notes(found) and "latest.json" in notes(found)


@pytest.mark.parametrize("place", ["XFD1048576", "A4294967295", "ZZZZZZZZZ3", "AAAA99999"])
def test_a_cell_far_out_in_a_workbook(place: str) -> None:
    """Memory for all cells up to there is more than there is, and a library would end the process."""
    path, data = SAMPLES["xlsx"]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["xl/worksheets/sheet1.xml"] = files["xl/worksheets/sheet1.xml"].replace(b'r="C3"', f'r="{place}"'.encode())
    assert "sheet1.xml has cells up to row" in refused(packed({**files}, "zip"), path)


def test_bytes_in_a_parquet_file_that_are_no_text() -> None:
    text = pa.array([b"x", b"\x80y"], type=pa.binary()).view(pa.string())
    data = parquet_of({"model_a": text, "model_b": ["y", "z"], "winner": ["model_a", "tie"]})
    assert "not a parquet file that can be read" in refused(data, "x.parquet")


# Changed bytes and tokens

TOKENS = [
    b"",
    b",",
    b'"',
    b"{",
    b"]",
    b"\n",
    b"\0",
    b"\xff",
    b"NaN",
    b"1e999",
    b"null",
    b"-1",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"9" * 30,
    b"|",
]
edit = st.tuples(st.sampled_from(["flip", "drop", "token", "repeat", "swap", "cut"]), st.integers(0), st.integers(0))


def edited(data: bytes, edits: list[tuple[str, int, int]]) -> bytes:
    for what, first, second in edits:
        at = first % (len(data) + 1)
        to = min(len(data), at + second % 40)
        if what == "flip":
            data = data[:at] + bytes([(byte + 1 + second) % 256 for byte in data[at : at + 1]]) + data[at + 1 :]
        elif what == "drop":
            data = data[:at] + data[to:]
        elif what == "token":
            data = data[:at] + TOKENS[second % len(TOKENS)] + data[at + second % 3 :]
        elif what == "repeat":
            data = data[:to] + data[at:to] + data[to:]
        elif what == "swap":
            data = data[at:to] + data[:at] + data[to:]
        else:
            data = data[:at]
    return data


def inside(data: bytes, edits: list[tuple[str, int, int]]) -> bytes:
    """A zip with one of its members changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as changed:
        names = archive.namelist()
        for member in names:
            content = archive.read(member)
            changed.writestr(member, edited(content, edits) if member == names[-1] else content)
    return out.getvalue()


@fuzz
@pytest.mark.parametrize("name", FORMATS)
@THOROUGH
@given(edits=st.lists(edit, min_size=1, max_size=4), said=st.booleans())
def test_changed_bytes_are_read_or_refused(
    tmp_path: Path, name: str, edits: list[tuple[str, int, int]], said: bool
) -> None:
    path, data = SAMPLES[name]
    change: Callable[[bytes, Any], bytes] = inside if name == "xlsx" and said else edited
    try:
        profile = read(name, change(data, edits), tmp_path, name if said else None)
    except DataError as error:
        assert Path(path).parent.name in str(error), error
    else:
        assert profile.n_votes > 0 and profile.n_agents > 0


@fuzz
@THOROUGH
@given(edits=st.lists(edit, min_size=1, max_size=4), member=st.booleans())
def test_changed_eval_logs_are_read_or_refused(edits: list[tuple[str, int, int]], member: bool) -> None:
    log = FILES["inspect"]["b.eval"]
    if member:
        with zipfile.ZipFile(io.BytesIO(log)) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        chosen = ("header.json", "summaries.json")[edits[0][1] % 2]
        changed = packed({**contents, chosen: edited(contents[chosen], edits)}, "zip")
    else:
        changed = edited(log, edits)
    try:
        profile = sc.read(Named(changed, "b.eval"), format="inspect")
    except DataError as error:
        assert str(error).startswith("b.eval"), error
    else:
        assert profile.n_votes > 0


# Large files, each in a process of its own that may take 500 MB beyond what it has when it starts

CHILD = """
import json, resource, sys, time
import softcondorcet as sc
from softcondorcet.io import formats
path, format, sample = sys.argv[1], sys.argv[2] or None, sys.argv[3]
try:
    sc.read(sample)
except sc.DataError:
    pass
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    sc.read(path, format=format)
    said = "read"
except sc.DataError as error:
    said = str(error)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([said, (after - before) / 1024, time.process_time() - start]))
"""
SIZE = 100 << 20


@cache
def blanks(kind: bytes) -> bytes:
    return kind * (SIZE // len(kind))


def large(how: str, name: str, folder: Path) -> Path:
    """A large file: blanks alone, blanks inside or after a valid beginning, or a bomb."""
    path, data = SAMPLES[name]
    target = folder / Path(path).name
    half = data[: len(data) // 2]
    if how == "gzip":
        target = folder / f"{Path(path).name}.gz"
        target.write_bytes(gzip.compress(half + blanks(b"\0"), compresslevel=1))
    elif how == "zip":
        target = folder / "x.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(Path(path).name, half + blanks(b" "))
    else:
        content = {
            "blanks": blanks(b" "),
            "lines": blanks(b"\n"),
            "inside": half + blanks(b" "),
            "below": data + blanks(b"\n"),
        }
        target.write_bytes(content[how])
    return target


LARGE = ["blanks", "lines", "inside", "below", "gzip", "zip"]


@pytest.mark.fuzz
@pytest.mark.parametrize("how", LARGE)
@pytest.mark.parametrize("name", FORMATS)
def test_100_megabytes(name: str, how: str, tmp_path: Path) -> None:
    path, data = SAMPLES[name]
    (tmp_path / "first").mkdir()
    sample = tmp_path / "first" / Path(path).name
    sample.write_bytes(data)
    target = large(how, name, tmp_path)

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(target), "", str(sample)],
        capture_output=True, text=True, timeout=300, preexec_fn=bounded, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said, megabytes, seconds = json.loads(done.stdout.splitlines()[-1])
    assert megabytes < 500, (megabytes, said[:300])
    assert seconds < 2, (seconds, said[:300])
    if how in ("below", "inside") and said == "read":
        return  # blank lines below a file, or below the first lines of one, are none of its rows
    assert target.name in said and len(said) < 1000, said[:1000]
