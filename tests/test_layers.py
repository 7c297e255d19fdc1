"""Imports go one way, and nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import softcondorcet as sc

SOURCE = Path(sc.__file__).parent
# A module may import from lower layers, and from its own.
LAYERS = [
    ["arrays", "errors"],
    ["intervals"],
    ["cells", "kernels", "options", "tables", "threads"],
    ["datasets", "download"],
    ["drawing"],
    ["assemble"],
    ["columns"],
    ["profile"],
    ["pairs"],
    ["ratings", "readers", "resampling", "synthetic", "variants"],
    ["uncertainty"],
    ["majority", "metrics", "scale"],
    ["doctor", "methods", "live"],
    ["screen"],
    ["arguments", "registry"],
    ["comparison"],
    ["flips", "heldout"],
    ["bootstrapping", "robust", "sgd_posterior"],
    ["next_match"],
    ["tuning"],
    ["plots", "reporting"],
    ["reproduce"],
    ["serve"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports_of(path: Path) -> set[str]:
    """Modules of the package that a file imports when it runs: those for type checkers do not count."""
    tree = ast.parse(path.read_text())
    skipped = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in skipped and (node.module or "").startswith("softcondorcet"):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return {name for name in found if name in LEVEL}


def test_imports_go_down() -> None:
    # Profile.pairs() makes Pairs when it is called, Ratings.plot() imports matplotlib then, read() an engine if asked.
    lazy = {("profile", "pairs"), ("ratings", "plots"), ("readers", "scale")}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if name == "__init__":
            continue
        for other in imports_of(path):
            assert LEVEL[other] <= LEVEL[name] or (name, other) in lazy, f"{path.name} imports {other}"


def test_every_module_has_a_layer() -> None:
    found = {
        path.name.removesuffix(".py")
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == set(LEVEL)


def loaded_after(code: str) -> set[str]:
    show = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    ["import softcondorcet", "import softcondorcet.cli", "import softcondorcet as sc; sc.Profile; sc.read; sc.METHODS"],
)
def test_looking_around_loads_nothing_heavy(code: str) -> None:
    heavy = {"numba", "highspy", "pandas", "polars", "pyarrow", "matplotlib", "torch", "starlette", "rich", "scipy"}
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
