"""Routes by which votes leave a board as a file and come in from one."""

import hashlib
import re
from asyncio import Lock
from collections.abc import Awaitable, Callable, Generator
from importlib.util import find_spec
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from softcondorcet import __version__
from softcondorcet.serve import exports, imports, shapes
from softcondorcet.serve.board import Board
from softcondorcet.serve.gate import MOST_IMPORT, Gate, body_of
from softcondorcet.serve.names import LONGEST
from softcondorcet.serve.routes import WRITE, Wanted, says
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Ask, Busy, Receipt, Refused, Transaction

# Files that may be on their way out at a time.
_EXPORTS = 4
_FILE_BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {}}}}}


def transfer_routes(service: Service, gate: Gate, board_of: Callable[..., Awaitable[Board]]) -> APIRouter:
    """Export and import of a board; `board_of` finds which."""
    routes = APIRouter(tags=["files"])
    The = Annotated[Board, Depends(board_of)]  # noqa: N806
    going, importing = set[object](), Lock()

    def export(suffix: str) -> None:
        kind, make = exports.FORMATS[suffix]
        there: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {}}}, 304: {"description": "You have it"}}

        @routes.get(
            f"/export.{suffix}",
            name=f"export_{suffix}",
            response_class=StreamingResponse,
            responses={**there, **says(401, 404, 422, 501, 503)},
            openapi_extra={"security": [{}, {"token": []}]},
        )
        async def file(
            request: Request,
            board: The,
            wanted: Wanted,
            voters: Annotated[bool, Query(description="With who cast them; for admins")] = False,
        ) -> Response:
            """The votes that count, in the order they came."""
            if voters:
                gate.allow(request, board, "admin")
            if suffix == "parquet" and find_spec("pyarrow") is None:
                raise HTTPException(501, "this server has no pyarrow to write parquet with")
            asked = hashlib.sha256(repr((suffix, wanted, voters, __version__)).encode()).hexdigest()[:16]
            tag = f'"{board.last}-{asked}"'
            headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Disposition": _named(board, suffix)}
            if tag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
            if len(going) >= _EXPORTS:
                raise Busy("too many files are on their way out already")
            votes = exports.counted(service.database, board, wanted, voters=voters)
            return File(going, make(votes), kind, headers)

    for suffix in exports.FORMATS:
        export(suffix)

    @routes.post(
        "/import",
        status_code=201,
        responses={
            200: {"model": shapes.Preview, "description": "What would be added"},
            201: {"model": shapes.Preview, "description": "What was added"},
            **WRITE,
            **says(404),
        },
        openapi_extra=_FILE_BODY,
    )
    async def votes(
        request: Request,
        board: The,
        format: Annotated[imports.Format, Query(description="What the body is")],
        kind: Annotated[imports.Kind | None, Query(description="What a table holds, if in doubt")] = None,
        voter: Annotated[
            str | None, Query(min_length=1, max_length=LONGEST, description="The column that says who voted")
        ] = None,
        preview: Annotated[bool, Query(description="Only say what would be added")] = False,
        idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
    ) -> Response:
        """Votes from a file, all or none: up to 16 MiB and 50,000 votes. What is wrong is told with its line."""
        token = gate.allow(request, board, "admin")
        if importing.locked():
            raise Busy("another file is being read")
        async with importing:
            body = await body_of(request, MOST_IMPORT)
            found = await imports.read_apart(body, imports.Wanted(format, kind, voter))
        if found.error:
            raise Refused(found.error)
        told = _told(found, board, service.settings.most_agents)
        if not preview:
            digest = hashlib.sha256(repr((format, kind, voter)).encode() + body).hexdigest()

            def work(made: Transaction) -> Receipt:
                most = service.settings.most_agents
                return made.write(
                    board.id,
                    found.votes,
                    token=token.id if token else None,
                    key=idempotency_key,
                    digest=digest,
                    most_agents=most,
                )

            receipt: Receipt = await service.write(work)
            told |= {"added": True, "id": receipt.first, "last": receipt.last}
        return Response(msgspec.json.encode(told), 200 if preview else 201, media_type="application/json")

    return routes


class File(StreamingResponse):
    """A file that is one of those `going` until the caller has it all, or leaves."""

    def __init__(
        self, going: set[object], pieces: Generator[bytes, None, None], kind: str, headers: dict[str, str]
    ) -> None:
        super().__init__(pieces, media_type=kind, headers=headers)
        self._going, self._pieces = going, pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._going.add(self)
        try:
            await super().__call__(scope, receive, send)
        finally:  # not left to the garbage collector: a caller who leaves stops a generator between two pieces
            self._going.discard(self)
            self._pieces.close()


def _named(board: Board, suffix: str) -> str:
    return f'attachment; filename="{re.sub(r"[^A-Za-z0-9_.-]", "_", board.name)}.{suffix}"'


def _told(found: imports.Found, board: Board, most: int) -> dict[str, Any]:
    """What would be added. Refused here too if it cannot be."""
    if not found.votes:
        raise Refused("no vote ranks two agents; expected at least one that does")
    known = set(board.agents)
    named = dict.fromkeys(name for vote in found.votes for tier in vote.body for name in tier)
    new = [name for name in named if name not in known]
    if new and len(known) + len(new) > most:
        raise Refused(f"{len(new):,} new agents; expected at most {most - len(known):,} more on this board")
    return {
        "n_votes": len(found.votes),
        "left_out": found.left_out,
        "n_agents": len(named),
        "n_new_agents": len(new),
        "new_agents": new[:100],
        "first": [_shown(vote) for vote in found.votes[:5]],
        "added": False,
        "id": None,
        "last": None,
    }


def _shown(vote: Ask) -> str:
    return " > ".join(" = ".join(tier) for tier in vote.body)
