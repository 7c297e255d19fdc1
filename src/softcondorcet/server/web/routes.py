"""Routes that read a board: the leaderboard, pairs, agents, history, doubts, and news of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from softcondorcet.leaderboard import flat
from softcondorcet.server.ledger.board import Board, Filter
from softcondorcet.server.ledger.limits import LONGEST
from softcondorcet.server.ledger.service import Service
from softcondorcet.server.ledger.snapshot import Snapshot
from softcondorcet.server.web import content, schemas
from softcondorcet.server.web.auth import host_of
from softcondorcet.server.web.etags import etag, reply
from softcondorcet.server.web.exports import neutral
from softcondorcet.server.web.http import Call, NoQuery, Routes
from softcondorcet.server.web.schemas import READ
from softcondorcet.tables import as_csv

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST, extra_json_schema={"format": "name"})]
_Time = Annotated[float, Meta(ge=0)]
_SAME = {304: ("You have it", None)}
_FILTERED = (*READ, 429)  # too many views of some of the votes


class Filtered(Struct, kw_only=True):
    """The filter of a request: votes of one group, and those cast from `since` on and before `until`."""

    group: Annotated[Name, Meta(description="Only votes of this group")] | None = None
    since: Annotated[_Time, Meta(description="Only votes from this time on, in seconds since 1970")] | None = None
    until: Annotated[_Time, Meta(description="Only votes before this time")] | None = None

    @property
    def filter(self) -> Filter:
        return Filter(self.group, self.since, self.until)


class TwoAgents(Struct):
    a: Name
    b: Name


class OneAgent(Struct):
    name: Name


routes = Routes("read", refusals=READ)


async def snapshots(call: Call[Any], wanted: Filter) -> tuple[Snapshot, Snapshot | None]:
    """The board by the wanted votes; and, where these are only some, by all votes too."""
    overall = await asyncio.to_thread(call.board.snapshot)
    if not wanted:
        return overall, None
    return await call.service.filtered.snapshot(call.board, wanted, host_of(call.request)), overall


def tag_of(snapshot: Snapshot, overall: Snapshot | None, *shown: object) -> str:
    """The ETag of a leaderboard. Rows of some of the votes say the rank by all votes too: either may change alone."""
    return etag(snapshot.version, overall.id, *shown) if overall else etag(snapshot.version, *shown)


def _json(body: content.Content | None, what: str = "") -> bytes:
    if body is None:
        raise HTTPException(404, f"expected {what} on this board")
    return msgspec.json.encode(body)


@routes.get("/leaderboard.json", schemas.Leaderboard, others=_SAME, refusals=_FILTERED)
async def leaderboard(call: Call[Filtered]) -> Response:
    """Agents best first, of all votes or of those wanted."""
    wanted = call.query.filter
    snapshot, overall = await snapshots(call, wanted)
    return reply(call.request, tag_of(snapshot, overall, wanted), lambda: _json(content.leaderboard(snapshot, overall)))


@routes.get("/leaderboard.csv", "text/csv", others=_SAME, refusals=_FILTERED)
async def leaderboard_csv(call: Call[Filtered]) -> Response:
    """The leaderboard for a spreadsheet: a name that would be a formula there has a quote in front."""
    wanted = call.query.filter
    snapshot, overall = await snapshots(call, wanted)

    def make() -> bytes:
        rows = flat(content.leaderboard(snapshot, overall)["rows"])
        safe = [{key: neutral(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows]
        return (as_csv(safe) + "\n").encode()

    headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"'}
    return reply(call.request, tag_of(snapshot, overall, wanted), make, "text/csv; charset=utf-8", **headers)


@routes.get("/pair.json", schemas.Pair, others=_SAME)
async def pair(call: Call[TwoAgents]) -> Response:
    """Two agents head to head."""
    snapshot, (a, b) = await _now(call), (call.query.a, call.query.b)
    return reply(call.request, etag(snapshot.version, a, b), lambda: _json(content.pair(snapshot, a, b), "two agents"))


@routes.get("/agent.json", schemas.Agent, others=_SAME)
async def agent(call: Call[OneAgent]) -> Response:
    """One agent: whom it met, and its ratings over time."""
    snapshot, past, name = await _now(call), await _past(call), call.query.name
    return reply(
        call.request, etag(snapshot.version, name), lambda: _json(content.agent(snapshot, name, past), "an agent")
    )


@routes.get("/history.json", schemas.History, others=_SAME)
async def history(call: Call[NoQuery]) -> Response:
    """The order at each fit that was kept."""
    snapshot, past = await _now(call), await _past(call)
    return reply(call.request, etag(snapshot.version), lambda: _json(content.history(snapshot, past)))


@routes.get("/doctor.json", schemas.Doctor, others=_SAME)
async def doctor(call: Call[NoQuery]) -> Response:
    """What is doubtful about the votes, and how few would change the answer."""
    snapshot = await _now(call)
    return reply(call.request, etag(snapshot.version), lambda: _json(content.doctor(snapshot)))


async def _now(call: Call[Any]) -> Snapshot:
    return await asyncio.to_thread(call.board.snapshot)


async def _past(call: Call[Any]) -> Any:
    return await asyncio.to_thread(call.service.history.of, call.board.id, call.board.votes_upto)


@routes.get("/events", "text/event-stream")
async def events(call: Call[NoQuery]) -> Response:
    """The id of the snapshot whenever there is a new one, as server-sent events."""
    host = host_of(call.request)
    if not call.service.listeners.admits(host):
        raise HTTPException(503, "too many pages follow the board live; reload the page instead", {"Retry-After": "60"})
    stream = _events(call.service, call.board, host)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _events(service: Service, board: Board, host: str) -> AsyncIterator[bytes]:
    """Something at least every 15 seconds, so that a listener who left is noticed."""
    stream = service.listeners.add(host)
    try:
        last, quiet = "", 0.0
        while not service.stopping.is_set() and service.listeners.is_open(host, stream):
            now = board.snapshot_id
            if now != last:
                last, quiet = now, 0.0
                yield f"event: snapshot\ndata: {now}\n\n".encode()
            elif quiet >= 15.0:
                quiet = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(0.5)
            quiet += 0.5
    finally:
        service.listeners.close(host, stream)
