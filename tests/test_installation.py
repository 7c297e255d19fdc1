"""The hint for a missing package installs it where softcondorcet runs, from where that came."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import softcondorcet as sc
from softcondorcet.installation import install_command, needs


def recorded(folder: Path, origin: Any) -> None:
    """An installed softcondorcet of which the installer recorded this origin."""
    info = folder / "softcondorcet-9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: softcondorcet\nVersion: 9\n")
    if origin is not None:
        (info / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "my clone"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    return folder


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder is not that of the Python, whose programs are not on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def hint(folder: Path, origin: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    recorded(folder / "site", origin)
    monkeypatch.syspath_prepend(str(folder / "site"))
    return install_command("starlette", "serve")


def test_from_an_index(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = Path(sys.executable)
    assert hint(outside, None, monkeypatch) == f"{python} -m pip install 'softcondorcet[serve]'"
    assert install_command("polars") == f"{python} -m pip install polars"
    monkeypatch.setenv("PATH", os.pathsep.join([str(python.parent), str(outside)]))
    assert install_command("polars") == "pip install polars"


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"url": 7}', '{"url": "file:///nowhere", "dir_info": {}}'])
def test_an_unreadable_origin_is_an_index(broken: str, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hint(outside, broken, monkeypatch).endswith("install 'softcondorcet[serve]'")


@pytest.mark.parametrize(("editable", "flag"), [(True, "-e "), (False, "")])
def test_from_a_clone(editable: bool, flag: str, clone: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": clone.as_uri(), "dir_info": {"editable": editable}}
    assert hint(outside, origin, monkeypatch).endswith(f"install {flag}'my clone[serve]'")
    monkeypatch.chdir(clone)
    assert install_command("starlette", "serve").endswith(f"install {flag}'.[serve]'")


def test_from_a_file_and_a_repository(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = outside / "softcondorcet-9-py3-none-any.whl"
    wheel.write_bytes(b"")
    words = hint(outside, {"url": wheel.as_uri(), "archive_info": {}}, monkeypatch)
    assert words.endswith(f"install 'softcondorcet[serve] @ {wheel.as_uri()}'")
    origin = {"url": "https://example.org/sco.git", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}}
    words = hint(outside / "git", origin, monkeypatch)
    assert words.endswith("install 'softcondorcet[serve] @ git+https://example.org/sco.git@a1b2'")


def test_a_missing_package_is_named_with_the_command() -> None:
    needs("numpy", "serve")
    with pytest.raises(sc.OptionError, match=r"this needs no_such_package: .*install .*\[serve\]"):
        needs("no_such_package", "serve")


def test_a_picture_without_matplotlib_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    board = sc.sco(sc.Profile.from_rankings([["a", "b"]]))
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    with pytest.raises(sc.OptionError, match=r"this needs matplotlib: .*install .*\[plot\]"):
        board.plot()


def some_votes() -> sc.Profile:
    return sc.Profile.from_matches(
        {"a": ["x", "y"], "b": ["y", "z"], "winner": ["x", "z"]}, a="a", b="b", winner="winner"
    )


# What asks for a package that may be missing: the packages, the words of the hint, and the call.
MISSING: dict[str, tuple[list[str], str, Callable[[], object]]] = {
    "whiskers": (["matplotlib"], "[plot]", lambda: sc.plots.whiskers(sc.sco(some_votes()))),
    "head_to_head": (["matplotlib"], "[plot]", lambda: sc.plots.head_to_head(some_votes().pairs())),
    "bump": (["matplotlib"], "[plot]", lambda: sc.plots.bump(sc.compare(some_votes()))),
    "cycle": (["matplotlib"], "[plot]", lambda: sc.plots.cycle("ab", [(0, 1, 1.0)])),
    "card": (["matplotlib"], "[plot]", lambda: sc.plots.card([], "", "")),
    "read parquet": (["pyarrow", "polars"], "[parquet]", lambda: sc.read("votes.parquet")),
    "write parquet": (["pyarrow"], "[parquet]", lambda: sc.write(some_votes(), "new.parquet")),
    "read excel": (["python_calamine"], "[excel]", lambda: sc.read("votes.xlsx")),
    "duckdb": (["duckdb"], "[duckdb]", lambda: sc.read("votes.csv", engine="duckdb")),
    "ray": (["ray"], "[cluster]", lambda: sc.read("votes.csv", engine="ray://here:1")),
    "gpu": (["torch"], "[gpu]", lambda: sc.sco(some_votes(), device="cuda", scale="box")),
    "pandas": (["pandas"], "install pandas", lambda: sc.sco(some_votes()).to_pandas()),
    "polars": (["polars"], "install polars", lambda: sc.sco(some_votes()).to_polars()),
    "arrow": (["pyarrow"], "install pyarrow", lambda: sc.sco(some_votes()).to_arrow()),
}


@pytest.mark.parametrize("name", MISSING)
def test_the_library_says_how_to_install_what_is_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, words, call = MISSING[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text("model_a,model_b,winner\nx,y,model_a\n")
    (tmp_path / "votes.parquet").write_bytes(b"PAR1 PAR1")
    with zipfile.ZipFile(tmp_path / "votes.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    for package in packages:
        for loaded in [known for known in sys.modules if known.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises((sc.OptionError, sc.DataError)) as told:
        call()
    assert "install" in str(told.value) and words in str(told.value)
