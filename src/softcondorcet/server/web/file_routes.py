"""Routes by which votes leave a board as a file and come in from one."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import chain
from typing import Annotated

from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.fits import expect_group
from softcondorcet.server.ledger.limits import LONGEST, Busy
from softcondorcet.server.ledger.writer import Answer, Ask, Receipt, Refused, Transaction
from softcondorcet.server.web import exports, imports
from softcondorcet.server.web.etags import etag, has
from softcondorcet.server.web.http import MOST_IMPORT, Call, Handler, Routes, Site, json_response
from softcondorcet.server.web.routes import Filtered
from softcondorcet.server.web.schemas import WRITE, Imported, Preview
from softcondorcet.server.web.votes import key_of

# Exports at a time.
MOST_EXPORTS = 4


class Exported(Filtered, kw_only=True):
    """Parameters of an export: which votes, and whether to include who cast them."""

    voters: Annotated[bool, Meta(description="With who cast them; for admins")] = False


class HowToRead(Struct, kw_only=True):
    """Parameters of an import: how to read the file, and whether to write it."""

    format: Annotated[imports.Format, Meta(description="What the body is")]
    kind: Annotated[imports.Kind, Meta(description="What a table holds, if in doubt")] | None = None
    voter: (
        Annotated[str, Meta(min_length=1, max_length=LONGEST, description="The column that says who voted")] | None
    ) = None
    preview: Annotated[bool, Meta(description="Only say what would be added")] = False
    again: Annotated[bool, Meta(description="Add it also if it was imported before")] = False


routes = Routes("files")


def export(suffix: str) -> Handler:
    """The route of one format."""
    kind, make = exports.FORMATS[suffix]

    async def file(call: Call[Exported]) -> Response:
        """The votes that count, in the order they came."""
        wanted, voters = call.query.filter, call.query.voters
        expect_group(call.board, wanted)
        if voters:
            call.site.auth.allow(call.request, call.board, "admin")
        if suffix == "parquet" and find_spec("pyarrow") is None:
            raise HTTPException(501, "this server has no pyarrow to write parquet with")
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", call.board.name)
        # A fit changes nothing about the votes: the last row says which there are.
        tag = etag(call.board.last, suffix, wanted, voters)
        disposition = f'attachment; filename="{name}.{suffix}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Disposition": disposition}
        if has(call.request, tag):
            return Response(status_code=304, headers=headers)
        if len(call.site.exporting) >= MOST_EXPORTS:
            raise Busy("too many exports at a time; come back soon")
        pieces = make(exports.counted(call.service.database, call.board, wanted, voters=voters))
        first = await asyncio.to_thread(next, pieces, b"")  # an error is answered before the file begins
        return File(call.site.exporting, first, pieces, kind, headers)

    return file


for _suffix in exports.FORMATS:
    routes.get(
        f"/export.{_suffix}",
        exports.FORMATS[_suffix][0].partition(";")[0],
        others={304: ("You have it", None)},
        refusals=(401, 404, 422, 501, 503),
        security=[{}, {"token": []}],
    )(export(_suffix))


@routes.post(
    "/import",
    Preview,
    body="application/octet-stream",
    others={200: ("What would be added", Preview)},
    refusals=(*WRITE, 404, 409),
    idempotent=True,
)
async def import_file(call: Call[HowToRead]) -> Response:
    """Votes from a file, all or none: up to 16 MiB and 50,000 votes. An error names its line.

    The same file, read in the same way, is added to a board a second time only with `again`.
    """
    token, query = call.site.auth.allow(call.request, call.board, "admin"), call.query
    key = key_of(call.request)
    file = FileVotes(
        call.site, call.board, imports.Wanted(query.format, query.kind, query.voter), token.id if token else None,
        preview=query.preview, again=query.again, key=key,
    )  # fmt: skip
    preview = await file.add(lambda: call.body(MOST_IMPORT))
    return json_response(preview, 200 if query.preview else 201)


@dataclass(frozen=True)
class FileVotes:
    """The votes of a file on their way to a board: read apart, then written all or none.

    With `preview` nothing is written; `again` adds a file that was added before; `key` is an Idempotency-Key.
    """

    site: Site
    board: Board
    wanted: imports.Wanted
    token: int | None
    preview: bool = False
    again: bool = False
    key: str | None = None

    async def add(self, data: Callable[[], Awaitable[bytes]]) -> Preview:
        """Read the file and add its votes; one file at a time is read."""
        if self.site.importing.locked():
            raise Busy("another import is under way; come back soon")
        async with self.site.importing:
            body = await data()
            file = await imports.read_apart(body, self.wanted)
        if file.error:
            raise Refused(file.error)
        preview = _preview(file, self.board, self.site.service.settings.most_agents)
        how = self.wanted.format, self.wanted.kind, self.wanted.voter
        digest = hashlib.sha256(repr(how).encode() + body).hexdigest()
        receipt, before = await self._write(file.votes, digest)
        if before is not None and (receipt is None or receipt.first != before.first):
            preview.before = Imported(before.first, before.last)
        if receipt is not None:
            preview.added, preview.id, preview.last = True, receipt.first, receipt.last
            self.site.service.fits.soon(self.board)
        return preview

    async def _write(self, votes: list[Ask], digest: str) -> tuple[Receipt | None, Answer | None]:
        """The votes that were written, if any, and those of the same file imported before."""
        board, service, key, number = self.board, self.site.service, self.key, self.token
        file, most = f"import\n{digest}", service.settings.most_agents

        def work(transaction: Transaction) -> tuple[Receipt | None, Answer | None]:
            before = transaction.answered(board.id, file)
            if self.preview:
                return None, before
            sent_again = key is not None and transaction.answered(board.id, key, number) is not None
            if before is not None and not self.again and not sent_again:
                raise ImportedBefore(_when(before))
            receipt = transaction.write(board.id, votes, token=number, key=key, digest=digest, most_agents=most)
            if before is None:
                transaction.remember(board.id, file, receipt)
            return receipt, before

        room = await service.pairs.reserve(board, [] if self.preview else votes)
        try:
            written: tuple[Receipt | None, Answer | None] = await service.write(work)
            return written
        except ImportedBefore as refusal:
            raise HTTPException(409, str(refusal)) from None
        finally:
            service.pairs.give_back(board, room)


class File(StreamingResponse):
    """The answer with a file. It is one of those `going` until the caller has all of it, or leaves."""

    def __init__(
        self, going: set[object], first: bytes, pieces: Generator[bytes, None, None], kind: str, headers: dict[str, str]
    ) -> None:
        super().__init__(chain([first], pieces), media_type=kind, headers=headers)
        self._going, self._pieces = going, pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._going.add(self)
        try:
            await super().__call__(scope, receive, send)
        finally:  # not left to the garbage collector: a caller who leaves stops a generator between two pieces
            self._going.discard(self)
            self._pieces.close()


class ImportedBefore(Refused):
    """The same file was imported into this board before."""


def _when(before: Answer) -> str:
    at = datetime.fromtimestamp(before.made, UTC).strftime("%Y-%m-%d %H:%M")
    return (
        f"this file was imported before, at {at} UTC, as the votes {before.first} to {before.last}; "
        "again=true adds it once more"
    )


def _preview(file: imports.Found, board: Board, most: int) -> Preview:
    """What an import would add. Refused as the import itself would be."""
    if not file.votes:
        raise Refused("no vote ranks two agents; expected at least one that does")
    known = set(board.agents)
    named = dict.fromkeys(name for vote in file.votes for tier in vote.body for name in tier)
    new = [name for name in named if name not in known]
    if new and len(known) + len(new) > most:
        raise Refused(f"{len(new):,} new agents; expected at most {most - len(known):,} more on this board")
    first = [" > ".join(" = ".join(tier) for tier in vote.body) for vote in file.votes[:5]]
    return Preview(len(file.votes), file.left_out, len(named), len(new), new[:100], first, notes=file.notes)
