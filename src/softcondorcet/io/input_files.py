"""Files that hold results: one file, those of a folder, of a glob, of an archive.

``InputFile`` is one of them: its first bytes, its JSON, its rows. What is wrong with it is a ``DataError`` that begins
with its name and, where there is one, the line.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import posixpath
import re
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import IO, Any

from softcondorcet.checks import near_file
from softcondorcet.errors import DataError
from softcondorcet.io import archives
from softcondorcet.io.archives import BLOCK, BROKEN, FILES, Bounded, reason
from softcondorcet.source import Source

HEAD = 1 << 18
# Formats of tools, by the names in ``formats``, whose readers are loaded when a file may need them.
LOGS = (
    "lm_eval", "inspect", "helm", "every_eval_ever", "mteb", "promptfoo", "openai_evals", "alpaca_eval", "arena_hard",
    "mt_bench", "kaggle", "pgn",
)  # fmt: skip


class InputFile:
    """One file: ``name`` says in errors where it is, ``path`` where it stands among its neighbours (with ``/``)."""

    def __init__(
        self, name: str, path: str, opener: Callable[[], IO[bytes]], folder: Callable[[str], InputFile | None]
    ) -> None:
        self.name = name
        self.path = path
        self._open = opener
        self._folder = folder

    @classmethod
    def on_disk(cls, path: str) -> InputFile:
        return _on_disk(path)

    def __repr__(self) -> str:
        return f"InputFile({self.name!r})"

    @property
    def stem(self) -> str:
        """The file's name without its folder and endings such as ``.jsonl.gz``."""
        base = posixpath.basename(self.path)
        return re.sub(r"(\.(jsonl?|ndjson|eval|csv|tsv|md|xlsx?|parquet|pgn|txt|gz))+$", "", base, flags=re.I) or base

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.path.lower().removesuffix(".gz"))[1]

    @property
    def folder(self) -> str:
        """The path of the folder it stands in; empty at the top of an archive."""
        return posixpath.dirname(self.path)

    def beside(self, name: str) -> InputFile | None:
        """Another file of the same folder."""
        return self._folder(posixpath.join(self.folder, name))

    def raw(self) -> IO[bytes]:
        """The bytes as they stand."""
        try:
            return self._open()
        except BROKEN as error:
            raise self.broken(error) from None

    def open(self) -> IO[bytes]:
        """The bytes as a stream; a ``.gz`` is unpacked on the way."""
        try:
            stream = self._open()
            if not self.path.lower().endswith(".gz"):
                return stream
            return io.BufferedReader(Bounded(self.name, stream))
        except BROKEN as error:
            raise self.broken(error) from None

    def broken(self, error: BaseException) -> DataError:
        if isinstance(error, DataError):
            return error
        packed = "not a gzip file that can be read" if self.path.lower().endswith(".gz") else "cannot be read"
        if isinstance(error, OSError) and error.errno:
            return DataError(f"{self.name}: {reason(error)}; expected a file to read{near_file(self.name)}")
        return DataError(f"{self.name}: {packed} ({reason(error)}); expected a whole file: was it cut, or renamed?")

    def read(self, size: int = -1) -> bytes:
        try:
            with self.open() as stream:
                return stream.read(size)
        except BROKEN as error:
            raise self.broken(error) from None

    @cached_property
    def head(self) -> bytes:
        """The first bytes that are no blanks, up to a quarter of a megabyte."""
        head = b""
        try:
            with self.open() as stream:
                while not head and (block := stream.read(BLOCK)):
                    head = block.lstrip()
                return (head + stream.read(HEAD))[:HEAD] if head else b""
        except BROKEN as error:
            raise self.broken(error) from None

    @property
    def may_be_log(self) -> bool:
        """Whether it begins as JSON, a zip or a game does; logs of tools do, tables of text do not."""
        start = self.head.removeprefix(b"\xef\xbb\xbf")
        return start[:1] in (b"{", b"[", b";", b"%") or start[:2] in (b"PK", b"\xff\xfe", b"\xfe\xff")

    @cached_property
    def first(self) -> dict[str, Any] | None:
        """The object that a JSON file holds, the first of its list, or that of its first line; cut if it is long."""
        return _first_object(self)

    @cached_property
    def members(self) -> list[str] | None:
        """The names in it where it is a zip, such as an ``.eval`` log or a workbook; None where it is none."""
        if self.head[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
            return None
        with self.unzip() as archive:
            return archive.namelist()

    @contextmanager
    def unzip(self) -> Iterator[zipfile.ZipFile]:
        """The zip that the file is."""
        with self.raw() as stream:
            try:
                seekable = stream if stream.seekable() else io.BytesIO(stream.read())
                archive = archives.checked(self.name, zipfile.ZipFile(seekable))
            except BROKEN as error:
                raise self.broken(error) from None
            with archive:
                yield archive

    def text(self) -> str:
        return decode(self.read(), self.name)

    def document(self) -> dict[str, Any]:
        """The object in a JSON file."""
        found = load(self.read(), self.name)
        if not isinstance(found, dict):
            raise DataError(f"{self.name}: {brief(found)}; expected an object {{...}}")
        return found

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Objects with their line, or with their number in a list: from ``.jsonl``, or from a JSON list."""
        listed = self.head.startswith(b"[")
        for number, row in enumerate(self._list(), 1) if listed else self._lines():
            if not isinstance(row, dict):
                raise DataError(f"{self.place(number)}: {brief(row)}; expected an object such as {{...}}")
            yield number, row

    def place(self, number: int) -> str:
        """Where a row stands, for an error."""
        return f"{self.name}: entry {number}" if self.head.startswith(b"[") else f"{self.name}:{number}"

    def _list(self) -> list[Any]:
        rows = load(self.read(), self.name)
        if not isinstance(rows, list):
            raise DataError(f"{self.name}: {brief(rows)}; expected a list of objects")
        return rows

    def _lines(self) -> Iterator[tuple[int, Any]]:
        for number, line in lines(self):
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{self.name}:{number}: not JSON ({json_reason(error)}); expected one object per line"
                ) from None


def lines(source: InputFile) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1. In blocks, so that a large file takes little memory."""
    number, rest = 1, b""
    try:
        with source.open() as stream:
            while block := stream.read(BLOCK):
                block = rest + block if rest else block.removeprefix(b"\xef\xbb\xbf") if number == 1 else block
                end = block.rfind(b"\n") + 1
                yield from _numbered(block[:end], number)
                number += block.count(b"\n", 0, end)
                rest = block[end:]
            yield from _numbered(rest, number)
    except BROKEN as error:
        raise source.broken(error) from None


def _numbered(block: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    for match in re.finditer(rb"[^\s][^\n]*", block):
        number += block.count(b"\n", at, match.start())
        at = match.start()
        yield number, match[0]


def unzipped(data: bytes, name: str) -> bytes:
    """The bytes of a gzip file, if they are in bounds."""
    try:
        with io.BufferedReader(Bounded(name, io.BytesIO(data))) as stream:
            return stream.read()
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name}: not a gzip file that can be read ({reason(error)})") from None


def digest(files: list[InputFile]) -> str:
    """The SHA-256 of a file's bytes; of several files, that of the list of theirs with their names."""
    sums = []
    for file in files:
        with file.raw() as stream:
            sums.append(hashlib.file_digest(stream, "sha256").hexdigest())  # type: ignore[arg-type]
    if len(sums) == 1:
        return sums[0]
    top = os.path.commonpath([file.folder for file in files])
    listed = "".join(f"{found}  {file.path[len(top) :]}\n" for found, file in zip(sums, files, strict=True))
    return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()


def load(data: bytes, name: str) -> Any:
    """JSON in bytes; NaN and infinity are numbers, as Python writes them."""
    text = decode(data, name)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{name}:{error.lineno}: not JSON ({json_reason(error)}); expected a file that is whole"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not JSON ({json_reason(error)})") from None


def suffix_of(name: str) -> str:
    """The suffix of a file's name in lower case, without its dot and without .gz."""
    base = re.split(r"[/\\:]", name.lower())[-1].removesuffix(".gz")
    return base.rpartition(".")[2] if "." in base else ""


# Files that are no text by their first bytes, and what to do about them.
_NO_TEXT = {
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "a pickle, which may run any program when it is opened; save what it holds as csv or parquet",
    ),
    b"%PDF": "a PDF; expected a table or a log: copy the numbers into a csv file",
    b"\x89PNG": "a picture; expected a table or a log",
    b"\xff\xd8\xff": "a picture; expected a table or a log",
    b"SQLite format 3": "an SQLite database; expected a table or a log: export the votes as csv",
}


def decode(data: bytes, name: str) -> str:
    """Text in UTF-8, or in UTF-16 where the first bytes say so."""
    for begin, words in _NO_TEXT.items():
        if data.startswith(begin):
            raise DataError(f"{name}: {words}")
    sixteen = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not sixteen:
        data = data.rstrip(b" \r\n")  # blank lines at the end are no rows, and there may be millions
    try:
        text = data.decode("utf-16" if sixteen else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = "not UTF-16" if sixteen else f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise DataError(f"{name}:{line}: {found}; expected text in UTF-8") from None
    if not text.strip():
        raise DataError(f"{name}: empty; expected votes")
    return text


def json_reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return str(error).partition(";")[0]


def brief(value: object) -> str:
    """A value for an error message."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# The first object of a file that may be too long to read for that.

_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[\[\]{},]', re.S)  # a string that is cut ends with the text


def _first_object(source: InputFile) -> dict[str, Any] | None:
    head = source.head.removeprefix(b"\xef\xbb\xbf")
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "ignore").lstrip(
        "\ufeff \t\r\n"
    )
    if not re.match(r"\{|\[\s*(\{|\]?\s*$)", text):
        return None
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
        return value if isinstance(value, dict) else None
    except RecursionError:
        raise DataError(f"{source.name}: not JSON (nested too deep)") from None
    except ValueError as error:
        if len(head) < HEAD:
            line = text.count("\n", 0, getattr(error, "pos", 0)) + 1
            raise DataError(
                f"{source.name}:{line}: not JSON ({json_reason(error)}); expected a file that is whole"
            ) from None
    return _closed(text[start:])


def _closed(text: str) -> dict[str, Any]:
    """What the beginning of an object holds: cut at its last comma and closed there; empty where that is not JSON."""
    open_: list[str] = []
    cut, closing = 0, ""
    for match in _BRACKET.finditer(text):
        mark = match[0]
        if mark in "{[":
            open_.append("}" if mark == "{" else "]")
        elif mark in "}]" and open_:
            open_.pop()
        elif mark == ",":
            cut, closing = match.start(), "".join(reversed(open_))
    try:
        value = json.loads(text[:cut] + closing)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# Where files come from.


@contextmanager
def files_at(path: str) -> Iterator[list[InputFile]]:
    """The files behind a path: a file, the files of a folder (hidden ones apart), of a glob or of an archive."""
    with ExitStack() as closing:
        yield _files(path, closing)


def _files(path: str, closing: ExitStack) -> list[InputFile]:
    if os.path.isdir(path):
        return [_on_disk(file) for file in _walk(path)]
    if archives.is_archive(path):
        return _archived(path, closing)
    if not os.path.exists(path) and glob.has_magic(path):
        found = sorted(glob.glob(path, recursive=True))
        files = [file for one in found for file in (_walk(one) if os.path.isdir(one) else [one])]
        if not files:
            raise DataError(f"{path}: no file matches; expected at least one")
        return [_on_disk(file) for file in dict.fromkeys(files)]
    return [_on_disk(path)]


def _archived(name: str, closing: ExitStack) -> list[InputFile]:
    found = archives.members(name, _on_disk(name).raw(), closing)
    by_path: dict[str, InputFile] = {}
    made = [InputFile(f"{name}::{path}", path, opener, by_path.get) for path, opener in sorted(found.items())]
    by_path.update({file.path: file for file in made})
    return made


def in_memory(name: str, data: bytes) -> InputFile:
    """Bytes that were read from a stream, without neighbours; a gzip is told by its first bytes."""
    path = name.replace("\\", "/")
    path = path if data[:2] != b"\x1f\x8b" or path.lower().endswith(".gz") else f"{path}.gz"
    return InputFile(name, path, lambda: io.BytesIO(data), lambda _: None)


def _walk(folder: str) -> list[str]:
    files: list[str] = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        files += [os.path.join(where, name) for name in sorted(names) if not name.startswith(".")]
        if len(files) > FILES:
            raise DataError(f"{folder}: more than {FILES:,} files; expected a folder of results, or a glob")
    return files


def _on_disk(path: str) -> InputFile:
    def opener() -> IO[bytes]:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(0, "not a regular file")
        return open(path, "rb")

    full = os.path.abspath(path).replace(os.sep, "/")
    return InputFile(path, full, opener, lambda other: _on_disk(other) if os.path.isfile(other) else None)


def whole_file(path: str) -> tuple[bytes, Source]:
    """The bytes behind a path, with the name to use for their place, and what was hashed while they were read."""
    if path == "-":
        data = sys.stdin.buffer.read()
        return data, Source("<stdin>", hashlib.sha256(data).hexdigest())
    name, separator, member = path.partition("::")
    if separator and not os.path.exists(path):
        with archives.open_zip(name) as (archive, digest):
            return archives.member(archive, name, member), Source(path, digest)
    if path.lower().endswith(".zip"):
        with archives.open_zip(path) as (archive, digest):
            members = archives.file_names(archive)
            if len(members) != 1:
                raise DataError(
                    f"{path}: holds {len(members)} files; expected one, or one of them named as "
                    f"'{path}::{members[0] if members else 'member'}', or read_archive for all"
                )
            return archives.member(archive, path, members[0]), Source(f"{path}::{members[0]}", digest)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {reason(error)}; expected a file to read{near_file(path)}") from error
    return data, Source(path, hashlib.sha256(data).hexdigest())


def stream_bytes(stream: Any) -> bytes:
    """The bytes of an open file; text is encoded as UTF-8."""
    try:
        data = stream.read()
        return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
    except archives.BROKEN as error:
        raise DataError(f"<stream>: cannot be read ({reason(error)})") from error
