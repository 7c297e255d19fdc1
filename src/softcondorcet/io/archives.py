"""Archives: the members of a zip or tar, read in place and never unpacked to a path; and how much any may unpack to."""

from __future__ import annotations

import gzip
import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import file_digest
from typing import IO, Any

from softcondorcet.errors import DataError

# What an archive may unpack to: 64 MB without question, more only up to 200 times its own size. Logs of real runs
# shrink 10 to 50 times; a bomb made of one repeated byte 1,000 times.
FREE, RATIO = 64 << 20, 200
FILES = 100_000
BLOCK = 1 << 22
BROKEN = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zlib.error, zipfile.BadZipFile, tarfile.TarError),
)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
Members = dict[str, Callable[[], IO[bytes]]]


def is_archive(path: str) -> bool:
    return path.lower().endswith((".zip", *TAR))


def members(name: str, stream: IO[bytes], closing: ExitStack) -> Members:
    """The files in a zip or tar, by path, each with what opens it, as long as the stack is not closed."""
    try:
        return (_tarred if name.lower().endswith(TAR) else _zipped)(name, closing.enter_context(stream), closing)
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        kind = "tar" if name.lower().endswith(TAR) else "zip"
        raise DataError(f"{name}: not a {kind} archive that can be read ({reason(error)})") from None


def reason(error: BaseException) -> str:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return words[:1].lower() + words[1:]


def _zipped(name: str, stream: IO[bytes], closing: ExitStack) -> Members:
    archive = closing.enter_context(checked(name, zipfile.ZipFile(stream)))
    found = [info for info in archive.infolist() if not info.is_dir() and _wanted(info.filename)]
    return {info.filename: partial(archive.open, info) for info in found}


def _tarred(name: str, stream: IO[bytes], closing: ExitStack) -> Members:
    import tempfile  # only where there is a tar: it takes a millisecond to load

    # Members of a compressed tar cannot be read out of order: it is unpacked once, to a file without a name.
    plain: Any = closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    with tarfile.open(fileobj=stream, mode="r:*") as packed:
        source: Any = packed.fileobj
        source.seek(0)
        while block := source.read(BLOCK):
            plain.write(block)
            if plain.tell() > FREE and plain.tell() > RATIO * size:
                raise _bomb(name, plain.tell(), size)
    plain.seek(0)
    archive = closing.enter_context(tarfile.open(fileobj=plain, mode="r:"))  # noqa: SIM115
    found: Members = {}
    for member in archive:
        _check_name(name, member.name)
        if len(found) > FILES:
            raise DataError(f"{name}: more than {FILES:,} files; expected a folder of results")
        if not member.isdir() and _wanted(member.name):
            found[posixpath.normpath(member.name)] = partial(_extract, archive, member)
    return found


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """The bytes of a file; a link leads anywhere, so it is one without bytes, which is skipped and counted."""
    return (archive.extractfile(member) if member.isfile() else None) or io.BytesIO()


def checked(name: str, archive: zipfile.ZipFile) -> zipfile.ZipFile:
    """The archive, if what it says it unpacks to is in bounds and no member has a name that leads out of it."""
    infos = archive.infolist()
    if len(infos) > FILES:
        raise DataError(f"{name}: {len(infos):,} files; expected at most {FILES:,}")
    for info in infos:
        _check_name(name, info.filename)
    size = sum(info.file_size for info in infos)
    packed = min(sum(info.compress_size for info in infos), _length(archive))
    if size > FREE and size > RATIO * packed:
        raise _bomb(name, size, packed)
    return archive


def _length(archive: zipfile.ZipFile) -> int:
    stream: Any = archive.fp
    return int(stream.seek(0, io.SEEK_END))


def _check_name(name: str, member: str) -> None:
    parts = re.split(r"[/\\]", member)
    if ".." in parts or not parts[0] or re.match(r"[A-Za-z]:", member) or "\0" in member:
        raise DataError(f"{name}: member {member[:80]!r} leads out of the archive; expected names of files in it")


def _wanted(member: str) -> bool:
    return not any(part.startswith(".") or part == "__MACOSX" for part in member.split("/") if part != ".")


def _bomb(name: str, size: int, packed: int) -> DataError:
    return DataError(
        f"{name}: unpacks to {size / 1e6:,.0f} MB or more from {packed / 1e6:,.1f} MB; "
        f"expected at most {RATIO} times its size"
    )


class Bounded(io.RawIOBase):
    """A gzip stream that unpacks, and stops where it has unpacked far more than a file of results would."""

    def __init__(self, name: str, source: IO[bytes]) -> None:
        self._name, self._source, self._size = name, source, 0
        self._stream = gzip.GzipFile(fileobj=source)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._source.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._size += count
        if self._size > FREE and self._size > RATIO * self._source.tell():
            raise _bomb(self._name, self._size, self._source.tell())
        return count


# A zip whose members are read one by one, each by its name.


@contextmanager
def open_zip(path: str) -> Iterator[tuple[zipfile.ZipFile, str]]:
    """An archive, and the SHA-256 of it."""
    try:
        with open(path, "rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        archive = checked(path, zipfile.ZipFile(path))
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise DataError(f"{path}: {reason(error)}; expected a zip archive") from error
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: not a zip archive that can be read ({reason(error)})") from error
    with archive:
        yield archive, digest


def file_names(archive: zipfile.ZipFile) -> list[str]:
    return sorted(name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/"))


def member(archive: zipfile.ZipFile, name: str, member: str) -> bytes:
    try:
        return archive.read(member)
    except KeyError as error:
        count = len(file_names(archive))
        raise DataError(f"{name}::{member}: no such member; expected one of the archive's {count} files") from error
    except BROKEN as error:
        raise DataError(f"{name}::{member}: cannot be unpacked ({reason(error)})") from error
