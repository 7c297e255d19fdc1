"""The wheel and the archive of the source hold what they should: built as a release is."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import release

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return release.build(tmp_path_factory.mktemp("dist"))


def test_wheel_and_source_are_whole(built: tuple[Path, Path]) -> None:
    assert release.faults(*built) == []
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()
    for wanted in ("py.typed", "reporting/templates/report.css", "server/web/templates/board.html"):
        assert f"softcondorcet/{wanted}" in names
    assert not [name for name in names if "test" in name.partition("/")[0]]


def test_what_is_missing_or_foreign_is_found(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, source = built
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(tmp_path / wheel.name, "w") as other:
        for name in whole.namelist():
            if not name.endswith("py.typed"):
                other.writestr(name, whole.read(name))
        other.writestr("tests/test_it.py", "")
    assert release.faults(tmp_path / wheel.name, source) == [
        "the wheel lacks softcondorcet/py.typed",
        "the wheel should not hold tests/test_it.py",
    ]


def test_the_commands_of_the_readme_are_found() -> None:
    titles = [title for title, _ in release.readme()]
    assert titles[0].endswith("-o battles.csv")
    assert "sco report battles.csv -o report.html" in titles
