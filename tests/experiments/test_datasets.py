"""Data sets: found where they lie, downloaded only on request, checked before they are put there."""

from __future__ import annotations

import http.server
import io
import resource
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from experiments import datasets, download
from experiments.__main__ import main
from experiments.datasets import Dataset, Part, find, known, parts_of
from softcondorcet.checks import Watch
from softcondorcet.errors import DataError, OptionError

MEMBERS = {"00001/00001-00000001.soc": b"1: 1,2\n", "00001/00001-00000002.soi": b"1: 2\n", "00002/00002-00000001.soc": b"2: 2,1\n"}  # noqa: E501  # fmt: skip
PATTERN = known()["preflib"].members


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def as_published(files: dict[str, bytes]) -> bytes:
    """An archive as GitHub makes it, with other things in it, and with names that try to leave the folder."""
    top = "PrefLib-Data-0332b0d"
    inside = {f"{top}/datasets/{name[:5]} - some/{name[6:]}": content for name, content in files.items()}
    other = {
        f"{top}/README.md": b"read me",
        f"{top}/datasets/00001 - some/info.txt": b"about",
        f"{top}/datasets/00001 - some/00001-00000001.toc": b"not one of ours",
        f"{top}/datasets/00099 - later/00099-00000001.soc": b"not one of ours",
        f"{top}/datasets/00001 - some/../../../00001-00000003.soc": b"outside",
        "/etc/00001-00000001.soc": b"outside",
    }
    return zipped({**other, **inside})


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "own.zip"
    path.write_bytes(zipped(MEMBERS))
    return Dataset(
        name="small",
        title="A small one",
        file="small.zip",
        address="https://nowhere.invalid/small.zip",
        members=PATTERN,
        licence="free",
        citation="nobody",
        parts=parts_of(path),
    )


class Server(http.server.ThreadingHTTPServer):
    """Answers each path with (status, body, headers); a body shorter than its Content-Length is cut off."""

    answers: dict[str, tuple[int, bytes, dict[str, str]]]

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        status, body, headers = self.server.answers.get(self.path, (404, b"", {}))
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.answers = {}
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def only_file(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("length", [True, False])
def test_a_good_download_has_the_members_and_nothing_else(
    dataset: Dataset, server: Server, tmp_path: Path, length: bool
) -> None:
    server.answers["/a.zip"] = (200, as_published(MEMBERS), {} if length else {"Content-Length": ""})
    server.answers["/moved.zip"] = (302, b"", {"Location": "/a.zip"})
    told: list[str] = []
    path = download.download(dataset, tmp_path / "new" / "data", address=server.address("/moved.zip"), tell=told.append)
    assert path == tmp_path / "new" / "data" / "small.zip"
    assert contents(path) == MEMBERS
    assert only_file(path.parent) == ["small.zip"]
    assert told[0].startswith("downloading http://127.0.0.1") and any("MB so far" in line for line in told) != length


def test_progress_counts_bytes(dataset: Dataset, server: Server, tmp_path: Path) -> None:
    body = as_published(MEMBERS)
    server.answers["/a.zip"] = (200, body, {})
    seen: list[tuple[int, int]] = []
    count: Watch = lambda done, total, _: seen.append((done, total))  # noqa: E731
    download.download(dataset, tmp_path, address=server.address("/a.zip"), tell=lambda title: count)
    assert seen[-1] == (len(body), len(body))


def test_what_is_there_is_kept_if_it_is_right_and_replaced_if_not(
    dataset: Dataset, server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "small.zip").write_bytes(zipped(MEMBERS))
    before = (folder / "small.zip").stat().st_mtime_ns
    download.download(dataset, folder)  # its address leads nowhere
    assert (folder / "small.zip").stat().st_mtime_ns == before
    (folder / "small.zip").write_bytes(zipped({**MEMBERS, "00003/more.soc": b""}))
    server.answers["/a.zip"] = (200, as_published(MEMBERS), {})
    download.download(dataset, folder, address=server.address("/a.zip"))
    assert contents(folder / "small.zip") == MEMBERS
    (folder / "small.zip").write_bytes(b"no zip at all")
    download.download(dataset, folder, address=server.address("/a.zip"))
    assert contents(folder / "small.zip") == MEMBERS


def test_an_archive_on_disk_will_do(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "fetched.zip").write_bytes(as_published(MEMBERS))
    path = download.download(dataset, tmp_path / "data", address=str(tmp_path / "fetched.zip"))
    assert contents(path) == MEMBERS


BODY = as_published(MEMBERS)
CHANGED = as_published({**MEMBERS, "00002/00002-00000001.soc": b"2: 1,2\n"})
MISSING = as_published({name: content for name, content in MEMBERS.items() if "00000002" not in name})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, CHANGED, {}), r"not the data set small: part 00002: expected 1 files with sha256 \w{16}..., got 1 f"),
        ((200, MISSING, {}), r"part 00001: expected 2 files with sha256 \w{16}..., got 1 files"),
        ((200, zipped({}), {}), r"part 00001: expected 2 files .*, got no files \(and 1 more\)"),
        ((200, BODY[:99], {"Content-Length": str(len(BODY))}), rf"cut off after 99 of {len(BODY):,} bytes"),
        ((200, BODY[:-40], {"Content-Length": ""}), "not a zip archive that can be read"),
        ((200, b"<html>", {}), "not a zip archive that can be read"),
        ((404, b"", {}), "the server answered 404 Not Found; expected the archive"),
        ((302, b"", {"Location": "http://example.org/a.zip"}), r"redirected to http://example.org/a.zip; expected"),
        ((302, b"", {"Location": "ftp://example.org/a.zip"}), "redirected to ftp://example.org"),
    ],
)  # fmt: skip
def test_a_bad_download_says_why_and_leaves_nothing(
    dataset: Dataset, server: Server, tmp_path: Path, answer: tuple[int, bytes, dict[str, str]], message: str
) -> None:
    server.answers["/a.zip"] = answer
    folder = tmp_path / "data"
    with pytest.raises(DataError, match=message):
        download.download(dataset, folder, address=server.address("/a.zip"))
    assert only_file(folder) == []


def test_a_bad_download_leaves_the_old_file(dataset: Dataset, server: Server, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "small.zip").write_bytes(zipped({"00001/old.soc": b"old"}))
    server.answers["/a.zip"] = (200, CHANGED, {})
    with pytest.raises(DataError, match="part 00002"):
        download.download(dataset, tmp_path / "data", address=server.address("/a.zip"))
    assert contents(tmp_path / "data" / "small.zip") == {"00001/old.soc": b"old"}


def test_no_network(dataset: Dataset, tmp_path: Path) -> None:
    with Server(("127.0.0.1", 0), Handler) as gone:
        address = gone.address("/a.zip")
    with pytest.raises(DataError, match=r"/a.zip: no answer, or not all of it \(.*refused.*\); is there a network\?"):
        download.download(dataset, tmp_path, address=address)


def test_a_server_that_says_nothing(dataset: Dataset, tmp_path: Path) -> None:
    impatient = download.Limits(patience=0.05)
    with (
        Server(("127.0.0.1", 0), Handler) as silent,  # it listens, but nobody serves
        pytest.raises(DataError, match=r"no answer, or not all of it .*timed out"),
    ):
        download.download(dataset, tmp_path, address=silent.address("/a.zip"), limits=impatient)


@pytest.mark.parametrize(
    "address", ["http://example.org/a.zip", "file:///etc/passwd", "ftp://127.0.0.1/a.zip", "x.zip"]
)
def test_only_safe_addresses(dataset: Dataset, tmp_path: Path, address: str) -> None:
    with pytest.raises(OptionError, match="address must be one that begins with https://, or a file, got"):
        download.download(dataset, tmp_path, address=address)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (download.Limits(downloaded=100), "more than 100 bytes"),
        (download.Limits(unpacked=18), "19 bytes to unpack; expected at most 18"),
    ],
)
def test_limits(dataset: Dataset, server: Server, tmp_path: Path, limits: download.Limits, why: str) -> None:
    server.answers["/a.zip"] = (200, BODY, {})
    with pytest.raises(DataError, match=why):
        download.download(dataset, tmp_path / "data", address=server.address("/a.zip"), limits=limits)
    assert only_file(tmp_path / "data") == []


def test_a_full_disk(dataset: Dataset, server: Server, tmp_path: Path) -> None:
    """A file may have 10 bytes, as if there were no room for more."""
    server.answers["/a.zip"] = (200, BODY, {})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
        with pytest.raises(DataError, match=r"data: cannot be written \(File too large\)"):
            download.download(dataset, tmp_path / "data", address=server.address("/a.zip"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert only_file(tmp_path / "data") == []


def test_hashes_depend_on_names_and_contents_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"

    def parts(files: dict[str, bytes]) -> dict[str, Part]:
        path.write_bytes(zipped(files))
        return parts_of(path)

    first = parts(MEMBERS)
    assert {name: part.files for name, part in first.items()} == {"00001": 2, "00002": 1}
    assert parts(dict(reversed(MEMBERS.items()))) == first
    moved = {"00001/00001-00000001.soc": b"1: 1,2\n0", "00001/00001-00000002.soi": b"1: 2\n"[1:]}
    assert parts({**MEMBERS, **moved})["00001"].sha256 != first["00001"].sha256
    # Where one file ends and the next begins is part of the hash.
    assert parts({"a/1": b"a/2", "a/2": b""}) != parts({"a/1": b"", "a/2": b"a/2"})
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="not a zip archive that can be read"):
        parts_of(path)


def test_find_looks_in_the_given_place_then_in_sco_data_then_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, chosen, own = tmp_path / "given", tmp_path / "chosen", tmp_path / "cache" / "softcondorcet"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("SCO_DATA", raising=False)
    assert datasets.folder() == own
    deeper = [given / name / "er" for name in ("a", "b", "deep", "y", "z")]
    for folder in (*deeper, given / "deep", chosen, own):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.csv").write_text(str(folder))
    (given / "deep" / "only.csv").write_text("")
    assert find("a.csv", given / "deep" / "only.csv") == given / "deep" / "only.csv"
    assert find("a.csv", given) == given / "deep" / "a.csv"
    assert find("a.csv") == own / "a.csv"
    monkeypatch.setenv("SCO_DATA", str(chosen))
    assert datasets.folder() == chosen
    assert find("a.csv") == chosen / "a.csv"
    (chosen / "a.csv").unlink()
    assert find("a.csv", chosen) == own / "a.csv"


def test_find_says_what_is_missing_and_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("SCO_DATA", str(tmp_path / "none"))
    with pytest.raises(
        DataError, match=r"preflib-paper.zip: not found in .*none, .*; run './reproduce data get preflib', or give"
    ):
        find("preflib-paper.zip")
    with pytest.raises(DataError, match=r"a.csv: not found in .*; give --data a folder with it, or its path where no"):
        find("a.csv", tmp_path)
    with pytest.raises(DataError, match=r"gone: no such file or folder; expected a.csv"):
        find("a.csv", tmp_path / "gone")


def test_the_manifest_is_the_papers_data() -> None:
    preflib = known()["preflib"]
    assert preflib.files == 12_693 and len(preflib.parts) == 38
    assert preflib.address.startswith("https://") and preflib.licence and preflib.citation
    assert all(len(part.sha256) == 64 for part in preflib.parts.values())


@pytest.mark.data
def test_the_archive_is_what_the_manifest_says() -> None:
    assert known()["preflib"].wrong(find("preflib-paper.zip")) == []


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_commands(dataset: Dataset, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "known", lambda: {"small": dataset})
    monkeypatch.setenv("SCO_DATA", str(tmp_path / "data"))
    server.answers["/a.zip"] = (200, BODY, {})
    assert "small.zip: is not here: ./reproduce data get small" in run("data", "list").stdout
    done = run("data", "get", "small", "--from", server.address("/a.zip"))
    assert done.exit_code == 0 and done.stdout.strip() == str(tmp_path / "data" / "small.zip")
    assert "licence: free" in done.stderr and f"from {server.address('/a.zip')}" in done.stderr
    shown = run("data", "list").stdout
    assert f"small.zip: is here: {tmp_path / 'data' / 'small.zip'}" in shown and "cite: nobody" in shown
    assert run("data", "get", "small", "-o", str(tmp_path / "other"), "--from", server.address("/a.zip")).exit_code == 0
    assert contents(tmp_path / "other" / "small.zip") == MEMBERS
    missing = run("data", "get", "small", "-o", str(tmp_path / "third"), "--from", server.address("/b.zip"))
    assert missing.exit_code == 1 and "404 Not Found" in missing.stderr
    unknown = run("data", "get", "large")
    assert unknown.exit_code == 2 and "NAME must be one of small, got 'large'" in unknown.stderr
