"""Imports go one way, and nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import layout
import pytest

import softcondorcet as sc

SOURCE = Path(sc.__file__).parent
# Low to high: a room imports from lines above its own, or from its own line.
LAYERS = """
errors
arrays exact_sums checks formatting text_table tables installation seeds
leaderboard tabular
kernels
source columns tiers profile pairs optimality ratings majority metrics synthetic
backends
io
solvers methods
online
evaluation
uncertainty
doctor
charts
plots reporting client
server.ledger
server.web
server
cli
__main__
"""
LEVEL = {name: level for level, names in enumerate(LAYERS.split("\n")) for name in names.split()}
MODULES = layout.modules(SOURCE)
IMPORTS = layout.imports(MODULES)


def upward(imports: dict[str, set[str]]) -> list[str]:
    """Imports that go up; the package itself and its folders say nothing but what they hold."""
    return [
        f"{one} imports {other}"
        for one, others in imports.items()
        for other in others
        if one != "softcondorcet" and other != "softcondorcet"
        if (one, other) not in layout.LAZY and LEVEL[MODULES[other].folder] > LEVEL[MODULES[one].folder]
    ]


def test_imports_go_down() -> None:
    assert upward(IMPORTS) == []
    planted = {**IMPORTS, "softcondorcet.kernels.graph": {"softcondorcet.majority"}}
    assert upward(planted) == ["softcondorcet.kernels.graph imports softcondorcet.majority"]


def test_nothing_imports_in_a_circle() -> None:
    assert layout.cycles(IMPORTS) == []
    planted = {**IMPORTS, "softcondorcet.errors": {"softcondorcet.checks"}}
    assert layout.cycles(planted) == [["softcondorcet.checks", "softcondorcet.errors"]]


def test_no_two_folders_import_each_other() -> None:
    assert layout.both_ways(MODULES, IMPORTS) == []
    planted = {**IMPORTS, "softcondorcet.solvers.descent": {"softcondorcet.methods.sco"}}
    assert layout.both_ways(MODULES, planted) == [("methods", "solvers")]


def test_files_and_functions_fit_a_reader() -> None:
    lines = {name: module.lines for name, module in MODULES.items()}
    assert {name: n for name, n in lines.items() if n > 450} == {}
    functions = {name: n for module in MODULES.values() for name, n in module.functions.items()}
    assert {name: n for name, n in functions.items() if n > 60} == {}
    assert sum(lines.values()) / len(lines) >= 130
    assert len(layout.short_with_one_importer(MODULES, IMPORTS)) <= 8


def test_the_flow_of_a_command_and_a_vote_stays_short() -> None:
    rank, vote = layout.flow_of_rank(), layout.flow_of_vote()
    assert rank.files <= 50 and rank.changes <= 290  # four priors are tried for games, and each is a fit
    assert vote.files <= 8


def test_no_test_patches_a_private_name() -> None:
    private = re.compile(r"""(setattr|patch|delattr|setitem)\([^)]*["'.]_[a-z]""", re.IGNORECASE)
    tests = {path.name: path.read_text() for path in Path(__file__).parent.rglob("*.py")}
    assert {name: found[0] for name, text in tests.items() if (found := private.search(text))} == {}
    assert private.search('setattr(download, "*MOST", 100)'.replace("*", "_"))


def test_every_room_has_a_layer() -> None:
    rooms = {module.folder for module in MODULES.values()} - {""}
    assert rooms == set(LEVEL)


def test_the_map_for_contributors_has_the_same_layers() -> None:
    table = re.findall(r"^\| (`.*?) \|", (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    named = [re.findall(r"`([\w/]+)`", cell) for cell in table]
    assert {name.replace("/", ".") for names in named for name in names} == set(LEVEL)
    order = [LEVEL[name.replace("/", ".")] for names in named for name in names]
    assert order == sorted(order)


def loaded_after(code: str) -> set[str]:
    show = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    ["import softcondorcet", "import softcondorcet.cli", "import softcondorcet as sc; sc.Profile; sc.read; sc.METHODS"],
)
def test_looking_around_loads_nothing_heavy(code: str) -> None:
    heavy = {
        "numba",
        "highspy",
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "torch",
        "starlette",
        "rich",
        "scipy",
        "http.server",
    }
    assert not heavy & loaded_after(code)


@pytest.mark.parametrize("code", ["import softcondorcet", "import softcondorcet.cli"])
def test_importing_the_package_loads_not_even_numpy(code: str) -> None:
    assert "numpy" not in loaded_after(code)


def test_every_public_name_is_there_and_typed() -> None:
    text = (SOURCE / "__init__.py").read_text()
    checked = {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("softcondorcet")
        for alias in node.names
    }
    assert checked == set(sc.__all__) - {"__version__"}
    for name in sc.__all__:
        assert getattr(sc, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'elo9'"):
        sc.elo9  # noqa: B018


def test_reading_first_does_not_shadow_read() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import softcondorcet as sc; sc.write; sc.read_archive; print(callable(sc.read))"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == "True"
