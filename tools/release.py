"""Build the package, look into it, and try it as a stranger does: from the wheel to a report, in empty environments.

    python tools/release.py [--dist FOLDER]

For each Python of `VERSIONS` that is on the PATH, in a new environment with an empty home: the wheel is installed, the
commands and the Python of README.md run word for word, and nothing may stay behind that they do not name. Then extras
are asked for, typed code is checked against the package, and it runs where nothing can be written beside its source.
Prints the seconds of each step; exits with 1 if one fails, or if a way from the wheel to a report takes over `LIMIT`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parent.parent
VERSIONS, LIMIT = ("3.11", "3.12", "3.13"), 90.0
# What a user of the source needs beside the package.
BESIDE = (
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "pyproject.toml",
    "test",
    "demo",
    "tests/conftest.py",
    "tools/venv.sh",
)
CLIENT = """
from softcondorcet import Profile, Ratings, sco

board: Ratings = sco(Profile.from_rankings([["a", "b"]]))
order: list[str] = list(board.order)
wrong: int = board.order
"""
# A command that needs each of these extras, and a name in the hint that it gives without.
HINTS = {
    "plot": ["sco", "plot", "battles.csv", "whiskers", "-o", "figure.png"],
    "serve": ["sco", "serve", "--demo"],
    "parquet": ["sco", "convert", "battles.csv", "battles.parquet"],
    "excel": ["sco", "rank", "battles.xlsx"],
}


@dataclass
class Home:
    """An environment of its own: a Python, an empty home and an empty folder to work in."""

    folder: Path
    seconds: float = 0.0
    steps: list[tuple[str, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.python, self.home, self.work = self.folder / "venv/bin/python", self.folder / "home", self.folder / "work"
        self.home.mkdir(parents=True)
        self.work.mkdir()

    def run(self, title: str, command: list[str] | str, expected: int = 0) -> str:
        """Run a command, or a line of a shell, and print how long it took. Returns what it printed."""
        pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "PYENV_", "SSL_"))}
        path = os.pathsep.join([str(self.python.parent), os.environ["PATH"]])
        env = {**pip, "PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        began, before = monotonic(), os.times()
        shell = isinstance(command, str)
        done = subprocess.run(command, shell=shell, cwd=self.work, env=env, capture_output=True, text=True, check=False)
        passed, after = monotonic() - began, os.times()
        self.seconds += passed
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"  {passed:6.2f} s  {cpu:6.2f} s CPU  {title}", flush=True)
        if done.returncode != expected:
            sys.exit(f"{title}: exit code {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def build(dist: Path) -> tuple[Path, Path]:
    """The wheel and the archive of the source, built and checked."""
    command = [sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stdout + made.stderr)
    wheel, source = next(dist.glob("*.whl")), next(dist.glob("*.tar.gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, source], check=True)
    return wheel, source


def faults(wheel: Path, source: Path) -> list[str]:
    """What is missing from the two files, or does not belong there."""
    package = ROOT / "src/softcondorcet"
    files = {f"softcondorcet/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    wanted = {name for name in files if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(source) as archive_of_source:
        inside = {name.partition("/")[2] for name in archive_of_source.getnames()}
    found = [f"the wheel lacks {name}" for name in sorted(wanted - held)]
    found += [f"the wheel should not hold {name}" for name in sorted(held - wanted)]
    return found + [f"the source archive lacks {name}" for name in BESIDE if name not in inside]


def readme() -> list[tuple[str, list[str] | str]]:
    """Commands and Python of README.md, word for word; what makes the file of votes first."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S)).splitlines()
    shell = [line for line in lines if line.startswith(("sco ", "printf "))]
    shell.sort(key=lambda line: "-o battles.csv" not in line)
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    return [(line.partition("  #")[0].strip(), line) for line in shell] + [
        ("Python of README.md", ["python", "-c", b]) for b in blocks
    ]


def install(home: Home, python: str, *packages: str) -> None:
    home.run("new environment", [python, "-m", "venv", str(home.folder / "venv")])
    home.run(f"pip install {Path(packages[0]).name}", ["python", "-m", "pip", "install", "--quiet", *packages])


def try_readme(home: Home, python: str, wheel: Path) -> None:
    """From the wheel to a report, and no trace but the files that were asked for."""
    install(home, python, str(wheel))
    before = set(home.home.rglob("*"))  # pip asks other tools for their versions, which then write settings
    for title, command in readme():
        home.run(title, command)
    if home.seconds > LIMIT:
        sys.exit(f"from the wheel to a report took {home.seconds:.0f} s, more than {LIMIT:.0f}")
    print(f"  {home.seconds:6.2f} s  in all")
    if left := set(home.home.rglob("*")) - before | {path for path in home.work.iterdir() if path.is_dir()}:
        sys.exit(f"left behind: {', '.join(map(str, left))}")


def try_hints(home: Home) -> None:
    """Without an extra, what needs it says how to install it here, and is no traceback."""
    with zipfile.ZipFile(home.work / "battles.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    for extra, command in HINTS.items():
        said = home.run(f"{' '.join(command)}, without {extra}", command, expected=2)
        if "install" not in said or f"softcondorcet[{extra}]" not in said or "Traceback" in said:
            sys.exit(f"no hint: {said}")


def try_types(home: Home) -> None:
    """A typed client sees the types of the package: its one mistake is reported, and nothing else."""
    (home.work / "client.py").write_text(CLIENT)
    checkers = {"mypy": ["--strict", "--python-executable"], "pyright": ["--pythonpath"]}
    for checker, words in checkers.items():
        if find_spec(checker) is None:
            print(f"  {checker} is not installed: not run")
            continue
        command = [sys.executable, "-m", checker, *words, str(home.python), "client.py"]
        said = home.run(f"{checker} of a client", command, expected=1)
        if len(re.findall(r"client\.py:6.* error", said)) != 1 or not re.search(r"\b1 error\b", said):
            sys.exit(f"expected one error, in line 6: {said}")


def try_read_only(home: Home) -> None:
    """Where no cache can be written beside the source, kernels go to the user's."""
    package = home.run(
        "where it is", ["python", "-c", "import softcondorcet; print(softcondorcet.__path__[0])"]
    ).strip()
    cache = Path(package) / "kernels/__pycache__"
    shutil.rmtree(cache)
    cache.write_bytes(b"")  # a file where the folder would be: then not even root can write there
    large = "sco simulate skill --votes 20000 --agents 40 -o large.csv && sco rank large.csv --quiet --top 1"
    home.run("sco rank, compiled, nothing writable beside the source", large)
    if not any(home.home.rglob("*.nbi")):
        sys.exit("no kernels in the user's cache")


def try_extras(home: Home, wheel: Path) -> None:
    """Extras can be installed, and only `gpu` brings what a GPU needs."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in [name for name in extras if name not in ("dev", "bench", "arena")]:
        report = home.folder / "report.json"
        pip = ["python", "-m", "pip", "install", "--quiet", "--dry-run", "--report", str(report), f"{wheel}[{extra}]"]
        home.run(f"extra {extra}", pip)
        names = {item["metadata"]["name"].lower() for item in json.loads(report.read_text())["install"]}
        heavy = sorted(name for name in names if name.startswith(("torch", "nvidia", "triton")))
        if bool(heavy) != (extra == "gpu"):
            sys.exit(f"extra {extra} installs {', '.join(heavy) or 'no torch'}")


def present() -> list[str]:
    """The Pythons of `VERSIONS` on the PATH that run."""
    names = [f"python{version}" for version in VERSIONS]
    return [
        name for name in names if subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode == 0
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, help="keep wheel and source archive here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel, source = build(options.dist or Path(folder) / "dist")
        if wrong := faults(wheel, source):
            sys.exit("\n".join(wrong))
        if not (pythons := present()):
            sys.exit(f"none of Python {', '.join(VERSIONS)} is on the PATH")
        for python in pythons:
            print(f"{python}, from the wheel")
            home = Home(Path(folder) / python)
            try_readme(home, python, wheel)
        print(f"{python}, further")
        for check in (try_hints, try_types, try_read_only):
            check(home)
        try_extras(home, wheel)
        print(f"{python}, from the source archive")
        install(Home(Path(folder) / "source"), python, str(source))
    print(f"built, and tried on {', '.join(pythons)}")


if __name__ == "__main__":
    main()
