"""Getting a data set: download an archive, keep the members that belong to it, check them, and only then put it there.

The file appears under its name complete and checked, or not at all. Names of members are never used as paths. Only
https is followed, except to this machine itself.
"""

from __future__ import annotations

import http.client
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from experiments.datasets import Dataset
from softcondorcet import __version__
from softcondorcet.checks import Watch, check
from softcondorcet.errors import DataError

# Names the work at hand; gives what to call with how much of it is done.
Tell = Callable[[str], Watch | None]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Seconds without a byte, bytes of a download and of what is unpacked: beyond these something is wrong."""

    patience: float = 60.0
    downloaded: int = 4 * 10**9
    unpacked: int = 2 * 10**9


def download(
    dataset: Dataset,
    folder: Path,
    *,
    address: str | None = None,
    limits: Limits = Limits(),
    tell: Tell = lambda title: None,
) -> Path:
    """Put the data set into the folder and return its path. What is there already is checked and kept.

    `address` is another place to get the archive from: an address, or a file.
    """
    target, source = folder / dataset.file, address or dataset.address
    if target.exists():
        tell(f"checking {target}")
        if not dataset.wrong(target):
            return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".download-", dir=folder) as work:
            archive = Path(source)
            if not archive.is_file():
                archive = Path(work) / "archive.zip"
                with archive.open("wb") as file:
                    _fetch(source, file, limits, tell)
            made = Path(work) / dataset.file
            tell(f"unpacking {dataset.files:,} files")
            _keep(dataset, archive, made, source, limits)
            tell("checking them")
            wrong = dataset.wrong(made)
            if wrong:
                more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
                raise DataError(f"{source}: not the data set {dataset.name}: {wrong[0]}{more}")
            os.replace(made, target)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror or error}); expected room for it") from error
    return target


def _fetch(address: str, file: IO[bytes], limits: Limits, tell: Tell) -> None:
    """Download to an open file."""
    watch = tell(f"downloading {address}")
    done = 0
    for chunk, total in _chunks(address, limits.patience):
        done += len(chunk)
        if done > limits.downloaded:
            raise DataError(f"{address}: more than {limits.downloaded:,} bytes; expected less")
        file.write(chunk)
        if total and watch is not None:
            watch(done, total, None)
        elif not total:
            tell(f"downloading {address}: {done / 1e6:,.0f} MB so far")


def _chunks(address: str, patience: float) -> Iterator[tuple[bytes, int]]:
    """The bytes of an address, and how many there are in all, or 0 where the server does not say."""
    check(_is_safe(address), "address", "one that begins with https://, or a file", address)
    request = Request(address, headers={"User-Agent": f"softcondorcet/{__version__}"})
    done = total = 0
    try:
        with build_opener(_SafeRedirects).open(request, timeout=patience) as answer:
            total = answer.length or 0
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                yield chunk, total
    except HTTPError as error:
        error.close()
        raise DataError(f"{address}: the server answered {error.code} {error.reason}; expected the archive") from error
    except (OSError, http.client.HTTPException) as error:
        # What goes wrong in writing the bytes is not raised here but where they are used.
        reason = getattr(error, "reason", None) or error or type(error).__name__
        raise DataError(f"{address}: no answer, or not all of it ({reason}); is there a network?") from error
    if done < total:
        raise DataError(f"{address}: cut off after {done:,} of {total:,} bytes; try again")


class _SafeRedirects(HTTPRedirectHandler):
    """Follows a redirect only to https, or on this machine."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if not _is_safe(newurl) or (_is_local(newurl) and not _is_local(req.full_url)):
            fp.close()
            raise DataError(f"{req.full_url}: redirected to {newurl}; expected an address that begins with https://")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_safe(address: str) -> bool:
    scheme = urlsplit(address).scheme
    return scheme == "https" or (scheme == "http" and _is_local(address))


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def _keep(dataset: Dataset, archive: Path, made: Path, source: str, limits: Limits) -> None:
    """Write the members that belong to the data set, sorted by name, to an archive of their own."""
    try:
        with zipfile.ZipFile(archive) as opened, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as kept:
            found: dict[str, zipfile.ZipInfo] = {}
            for member in opened.infolist():
                match = re.fullmatch(dataset.members, member.filename)
                if match and match["part"] in dataset.parts:
                    found[f"{match['part']}/{match['file']}"] = member
            size = sum(member.file_size for member in found.values())
            if size > limits.unpacked:
                raise DataError(f"{source}: {size:,} bytes to unpack; expected at most {limits.unpacked:,}")
            for name in sorted(found):
                kept.writestr(zipfile.ZipInfo(name), opened.read(found[name]), zipfile.ZIP_DEFLATED)
    except (EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{source}: not a zip archive that can be read ({error})") from error
