"""The command that installs a missing package here: into this Python, from where softcondorcet itself was installed.

Installers record where a package came from (``direct_url.json``): a clone, a folder, a file, a repository, or nothing
for an index. A hint that names the index sends users of a clone to a package that may not be there.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softcondorcet.errors import OptionError

_NAME = "softcondorcet"


def needs(package: str, extra: str | None = None) -> None:
    """A package that only an extra installs, or none, must be there: asked before any work is done for it."""
    if find_spec(package) is None:
        raise OptionError(f"this needs {package}: {install_command(package, extra)}")


def install_command(package: str, extra: str | None = None) -> str:
    """What to type to install `package`, or the extra of softcondorcet that brings it."""
    what = [package] if extra is None else _with_extra(extra, _origin())
    return shlex.join([*_installer(), "install", *what])


def _installer() -> list[str]:
    """The pip of this Python, or uv for an environment without pip; plain ``pip`` where that is the same."""
    python = Path(sys.executable)
    if find_spec("pip") is None:
        return ["uv", "pip", "--python", _short(python)]
    on_path = any(Path(folder) == python.parent for folder in os.get_exec_path())
    return ["pip"] if on_path else [_short(python), "-m", "pip"]


def _origin() -> dict[str, Any]:
    """Where softcondorcet was installed from; nothing for an index, or where nobody knows."""
    from importlib.metadata import PackageNotFoundError, distribution  # only a missing package needs it

    try:
        found = json.loads(distribution(_NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _with_extra(extra: str, origin: dict[str, Any]) -> list[str]:
    """The requirement for pip, by where the package came from; a folder that is gone counts for nothing."""
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    address = str(origin.get("url", ""))
    parts = urlsplit(address)
    if parts.scheme == "file":
        path = Path(url2pathname(parts.path))
        if "dir_info" in origin and (path / "pyproject.toml").exists():
            editable = ["-e"] if origin["dir_info"].get("editable") else []
            return [*editable, f"{_short(path)}[{extra}]"]
        if path.exists():
            return [f"{_NAME}[{extra}] @ {unquote(address)}"]
    if "vcs_info" in origin:
        commit = origin["vcs_info"].get("commit_id", "")
        return [f"{_NAME}[{extra}] @ {origin['vcs_info'].get('vcs', 'git')}+{address}{'@' * bool(commit)}{commit}"]
    return [f"{_NAME}[{extra}]"]


def _short(path: Path) -> str:
    """The path from the current folder where it lies inside, else the whole one."""
    try:
        here = Path.cwd()
    except OSError:  # the folder is gone
        return str(path)
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
