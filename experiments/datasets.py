"""Data sets that experiments read: which there are, where they lie, and whether they are what they should be.

``manifest.json`` says of each where it comes from, under which terms, and what is in it. An archive that a server packs
on demand has no hash that lasts, so it is the contents that are checked: a data set is cut into parts, its top folders,
and each part has a number of files and one SHA-256 over their names and contents. ``tools/manifest.py`` computes them.
Nothing here opens a connection; ``download`` does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.formatting import some

# The folder to look in, and to download to, before the platform's own.
VARIABLE = "SCO_DATA"
# What an archive that is damaged, encrypted or none at all may raise.
BROKEN = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Part:
    """One top folder of an archive: how many files, and a hash of their names and contents."""

    files: int
    sha256: str


@dataclass(frozen=True)
class Dataset:
    """A data set that can be had.

    `members` is a regular expression for the members to keep of the archive at `address`, by its groups part/file.
    """

    name: str
    title: str
    file: str
    address: str
    members: str
    licence: str
    citation: str
    parts: Mapping[str, Part]

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any]) -> Dataset:
        parts = {part: Part(**facts) for part, facts in entry["parts"].items()}
        return cls(name=name, **{**entry, "parts": parts})

    @property
    def files(self) -> int:
        return sum(part.files for part in self.parts.values())

    def wrong(self, archive: Path) -> list[str]:
        """What an archive has that it should not, or has not, part by part; empty if it is the data set."""
        try:
            found = parts_of(archive)
        except DataError as error:
            return [str(error)]
        return [
            f"part {name}: expected {_shown(self.parts.get(name))}, got {_shown(found.get(name))}"
            for name in sorted({*self.parts, *found})
            if self.parts.get(name) != found.get(name)
        ]


def known() -> dict[str, Dataset]:
    """The data sets of the manifest, by name."""
    text = (Path(__file__).parent / "manifest.json").read_text(encoding="utf-8")
    return {name: Dataset.of(name, entry) for name, entry in json.loads(text).items()}


def parts_of(archive: Path) -> dict[str, Part]:
    """The parts of a zip whose members are named part/file."""
    files: dict[str, int] = {}
    hashes: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(archive) as opened:
            for name in sorted(member for member in opened.namelist() if not member.endswith("/")):
                part, content = name.partition("/")[0], opened.read(name)
                # The length keeps a name apart from what follows it, and one file from the next.
                found = hashes.setdefault(part, hashlib.sha256())
                found.update(f"{name}\n{len(content)}\n".encode())
                found.update(content)
                files[part] = files.get(part, 0) + 1
    except BROKEN as error:
        raise DataError(f"{archive}: not a zip archive that can be read ({error})") from error
    return {part: Part(files[part], hashes[part].hexdigest()) for part in files}


def folder() -> Path:
    """Where downloads go: $SCO_DATA, or the platform's folder for what can be downloaded again."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else _users_folder()


def _users_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "softcondorcet"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "softcondorcet"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softcondorcet"


def find(name: str, given: Path | None = None) -> Path:
    """The file of this name: `given` if it is a file, else the first in the folders `given`, $SCO_DATA, the user's own.

    Folders are searched with all that is below them; of several files of that name the one nearest the top counts.
    """
    if given is not None and not given.exists():
        raise DataError(f"{given}: no such file or folder; expected {name}, or a folder with it")
    if given is not None and given.is_file():
        return given
    places = [given, Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None, _users_folder()]
    for place in filter(None, places):
        for path in sorted(_below(place, name), key=lambda found: (len(found.parts), found)):
            return path
    looked = some((str(place) for place in filter(None, places)), most=len(places))
    source = next(
        (f"run './reproduce data get {known_as}', or " for known_as, data in known().items() if data.file == name), ""
    )
    raise DataError(
        f"{name}: not found in {looked}; {source}give --data a folder with it, or its path where no other is needed"
    )


def _below(place: Path, name: str) -> Iterator[Path]:
    return (path for path in place.rglob(name) if path.is_file()) if place.is_dir() else iter(())


def _shown(part: Part | None) -> str:
    return "no files" if part is None else f"{part.files:,} files with sha256 {part.sha256[:16]}..."
