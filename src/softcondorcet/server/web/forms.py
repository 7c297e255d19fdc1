"""Forms that a browser sends: fields, and one file at most, out of a body that is read within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from softcondorcet.server.ledger.writer import Refused
from softcondorcet.server.web.auth import header_of
from softcondorcet.server.web.http import MOST_IMPORT, Call

# Fields of a form: a page of voters to choose from has most.
MOST_FIELDS = 2000
# Bytes around the file of a form, and bytes of it that are parsed at a time.
_AROUND, _PIECE = 2**16, 2**18


@dataclass(frozen=True)
class Form:
    """The fields of a form, each with the values it was sent with, and the file with the name that it had there."""

    fields: Mapping[str, Sequence[str]]
    file_name: str = ""
    file: bytes = b""

    def one(self, field: str) -> str:
        """The value of a field without the blanks around it; empty where it was not sent."""
        return next(iter(self.fields.get(field, ())), "").strip()


async def form_of(call: Call[Any]) -> Form:
    """The form that a request brings."""
    kind = header_of(call.request, b"content-type") or ""
    if kind.startswith("multipart/form-data"):
        return await _with_file(call, await call.body(MOST_IMPORT + _AROUND))
    try:
        body = (await call.body()).decode("ascii")
        return Form(parse_qs(body, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        raise Refused("expected the fields of a form") from None


async def _with_file(call: Call[Any], body: bytes) -> Form:
    async def stream() -> AsyncGenerator[bytes, None]:
        for begin in range(0, len(body), _PIECE):
            yield body[begin : begin + _PIECE]
            await asyncio.sleep(0)  # others are answered meanwhile

    parser = MultiPartParser(call.request.headers, stream(), max_files=1, max_fields=30)
    try:
        sent = await parser.parse()
    except (MultiPartException, UnicodeDecodeError):
        raise Refused("expected a form with one file") from None
    try:
        file = next((part for part in sent.values() if isinstance(part, UploadFile)), None)
        fields = {name: [v for v in sent.getlist(name) if isinstance(v, str)] for name in sent}
        return Form(fields, (file.filename or "") if file else "", await file.read() if file else b"")
    finally:
        await sent.close()
