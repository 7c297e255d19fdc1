"""Pages on which an admin runs a board in a browser: files, votes, voters, tokens, boards and health.

They work without JavaScript. What they do is what the routes of the API do, by the same functions. The owner comes by
the link that the server prints when it starts, another admin with a token; see ``sessions``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from softcondorcet.formatting import number, plural, some
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.limits import name
from softcondorcet.server.ledger.service import MAIN
from softcondorcet.server.ledger.tokens import SCOPES, find
from softcondorcet.server.ledger.writer import MICRO, Ask, Entry, Refused, RowFilter, latest
from softcondorcet.server.web import imports, page_cache
from softcondorcet.server.web.admin import NewBoard, expect_voters
from softcondorcet.server.web.file_routes import FileVotes
from softcondorcet.server.web.forms import Form, form_of
from softcondorcet.server.web.http import REFUSALS, Call, NoQuery, Routes, not_done, refusal
from softcondorcet.server.web.page_query import expect_only
from softcondorcet.server.web.rank_changes import rank_changes
from softcondorcet.server.web.schemas import Preview
from softcondorcet.server.web.sessions import COOKIE, Session
from softcondorcet.server.web.votes import put

# Rows on a page of votes, and of what was done.
_ROWS, _CHANGES = 100, 30

routes = Routes(page=True)
Action = Callable[[Call[Any], Session, Form], Awaitable[str]]


def session_of(call: Call[Any]) -> Session | None:
    """The session of a request, if it may change the board."""
    session = call.site.sessions.of(call.request, call.service.tokens)
    return session if session is not None and session.may(call.board) else None


def signed_in(call: Call[Any]) -> Session:
    session = session_of(call)
    if session is None:
        raise HTTPException(401, "Sign in on the admin page first.")
    return session


def _page(call: Call[Any], template: str, session: Session | None, view: dict[str, Any], status: int = 200) -> Response:
    form, said = (session.form, session.take_message()) if session else ("", "")
    html = page_cache.html(
        template, about=page_cache.bare(call.board), root=call.root, here="admin", form=form, said=said, v=view
    )
    return Response(html, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _to(page: str) -> Response:
    """The answer to a form: the page to load next."""
    return Response(status_code=303, headers={"Location": page, "Cache-Control": "no-store"})


def _begin(call: Call[Any], cookie: str) -> Response:
    """The answer with which a session begins."""
    answer = _to("admin")
    secure = call.request.url.scheme == "https"
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="lax", path="/", secure=secure)
    return answer


def action(path: str, back: str = "admin", *, everywhere: bool = False) -> Callable[[Action], Action]:
    """A route for a form: it does something, and the next page says what came of it.

    `everywhere` is for what is of no board, such as tokens.
    """

    def add(do: Action) -> Action:
        async def handler(call: Call[NoQuery]) -> Response:
            session = signed_in(call)
            try:
                form = await form_of(call)
                if not session.has_form(form.one("form")):
                    raise HTTPException(403, "the form is not of this session; reload its page and send it again")
                if everywhere and not session.may(None):
                    raise HTTPException(403, "this takes a token for all boards")
                session.message = await do(call, session, form)
            except REFUSALS as error:
                session.message = not_done(error)
            return _to(back)

        routes.post(path)(handler)
        return do

    return add


@routes.get("/admin")
async def admin(call: Call[NoQuery]) -> Response:
    """What there is to do and to know about the board; the way in for who has not signed in."""
    expect_only(call.request.query_params, ())
    session = session_of(call)
    if session is None:
        return _page(call, "sign_in.html", None, {"said": ""}, 200)
    service, board = call.service, call.board
    rows = await asyncio.to_thread(_latest, call, RowFilter(votes=False), _CHANGES)
    needs_token = bool(service.tokens) and not service.settings.open_votes
    view = {
        "begin": page_cache.begin(call.request),
        "n_votes": len(board.votes),
        "n_suspects": len(_suspects(board)),
        "needs_token": needs_token,
        "health": _health(call),
        "changes": [_change(row, call) for row in rows],
        "everywhere": session.may(None),
        "tokens": [(token, _board_name(call, token.board)) for token in service.tokens if token.revoked is None],
        "boards": list(service.boards.values()),
        "main": MAIN,
    }
    return _page(call, "admin.html", session, view)


def _latest(call: Call[Any], wanted: RowFilter, most: int) -> list[Entry]:
    reader = call.service.database.reader()
    try:
        return latest(reader, call.board.id, wanted, most)
    finally:
        reader.close()


def _health(call: Call[Any]) -> list[tuple[str, str]]:
    service = call.service
    age = service.fits.age
    return [
        ("state", service.trouble or "votes are taken and fitted"),
        ("database", service.database.about),
        ("votes on this board", f"{len(call.board.votes):,}"),
        ("votes that wait to be written", f"{service.waiting:,}"),
        ("rows since the last fit", f"{call.board.behind:,}"),
        ("last fit", "none yet" if age is None else f"{age:.0f} s ago"),
        ("fits since the start", f"{service.fits.n_made:,}, and {service.fits.n_failed:,} that failed"),
    ]


def _board_name(call: Call[Any], board: int | None) -> str:
    return next((one.name for one in call.service.boards.values() if one.id == board), "all boards")


def _change(row: Entry, call: Call[Any]) -> dict[str, Any]:
    """A row of the ledger that is no vote, in words."""
    words = {"retract": "took back vote", "quarantine": "quarantined", "release": "released"}[row.kind]
    by = next((token.label for token in call.service.tokens if token.id == row.token), "the owner")
    what = row.voter if row.voter is not None else f"{row.body.get('vote'):,}"
    held = row.voter is not None and row.kind == "quarantine" and call.board.votes.is_quarantined(row.voter)
    why = row.body.get("why", "")
    return {"made": row.made, "by": by, "did": words, "what": what, "why": why, "undo": row.voter if held else None}


def _suspects(board: Board) -> list[dict[str, Any]]:
    """Voters whose votes are improbable and who are not in quarantine yet."""
    listed = board.fit.analysis.get("suspects", []) if board.fit else []
    return [one for one in listed if not board.votes.is_quarantined(one["voter"])]


@routes.get("/admin-votes")
async def votes_page(call: Call[NoQuery]) -> Response:
    """The newest votes, of a voter or a group if asked for."""
    session, asked = signed_in(call), call.request.query_params
    expect_only(asked, ("voter", "group", "before"))
    before = asked.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise HTTPException(422, "before: expected the number of a vote")
    voter, group = asked.get("voter", ""), asked.get("group", "")
    wanted = RowFilter(True, voter, group, int(before or 2**62))
    rows = await asyncio.to_thread(_latest, call, wanted, _ROWS)
    listed = [_vote(row, call.board) for row in rows]
    more = rows[-1].id if len(rows) == _ROWS else None
    view = {"votes": listed, "voter": voter, "group": group, "more": more, "everything": not (voter or group or before)}
    return _page(call, "admin_votes.html", session, view)


def _vote(row: Entry, board: Board) -> dict[str, Any]:
    tiers = [" = ".join(board.agents[k] for k in tier) for tier in row.body]
    place = board.votes.place(row.id)
    gone = place is not None and board.votes.is_retracted(place)
    held = row.voter is not None and board.votes.is_quarantined(row.voter)
    state = "taken back" if gone else "voter in quarantine" if held else ""
    weight = "" if row.weight == MICRO else number(row.weight / MICRO)
    return {"id": row.id, "made": row.made, "words": " > ".join(tiers), "voter": row.voter, "group": row.group,
            "weight": weight, "state": state, "counts": not gone}  # fmt: skip


@routes.get("/admin-voters")
async def voters_page(call: Call[NoQuery]) -> Response:
    """Voters whose votes are improbable, with the reasons; and those in quarantine."""
    session = signed_in(call)
    expect_only(call.request.query_params, ())
    return _voters(call, session)


def _voters(call: Call[Any], session: Session, **preview: Any) -> Response:
    board = call.board
    view = {"suspects": _suspects(board), "quarantined": board.votes.quarantined, "chosen": [], "changes": None}
    view |= {"fitted": board.fit is not None, "known": len(board.votes.voters.names), "summary": "", "why": ""}
    return _page(call, "admin_voters.html", session, {**view, **preview})


@routes.post("/admin-preview")
async def preview(call: Call[NoQuery]) -> Response:
    """Ranks with and without the votes of some voters, before anything is done about them."""
    session = signed_in(call)
    form = await form_of(call)
    if not session.has_form(form.one("form")):
        raise HTTPException(403, "The form is not of this session: go back, reload the page and send it again.")
    try:
        chosen = _chosen(call, form)
        changes = await rank_changes(call.site, call.board, chosen)
    except REFUSALS as error:
        session.message = not_done(error)
        return _to("admin-voters")
    if changes.rows:
        summary = f"Without {some(chosen, 4)}, {plural(len(changes.rows), 'agent')} would change rank."
    else:
        summary = f"Without {some(chosen, 4)}, no agent would change rank."
    summary += f" {plural(changes.n_votes, 'vote')} of {call.board.name} would count no longer."
    return _voters(call, session, chosen=chosen, changes=changes.rows, summary=summary, why=form.one("why"))


def _chosen(call: Call[Any], form: Form) -> list[str]:
    """The voters that a form names, each known on the board."""
    given = [voter for voter in (*form.fields.get("voter", ()), form.one("other")) if voter.strip()]
    voters = list(dict.fromkeys(name(voter, "voter") for voter in given))
    if not voters:
        raise Refused("no voter is chosen")
    expect_voters(call.board, voters)
    return voters


@action("/admin-quarantine", "admin-voters")
async def quarantine(call: Call[Any], session: Session, form: Form) -> str:
    voters = _chosen(call, form)
    why = {"why": form.one("why")[:120]}
    await put(call.service, call.board, [Ask("quarantine", why, voter=one) for one in voters], session.number)
    return f"The votes of {some(voters, 4)} count no longer. Releasing them undoes it."


@action("/admin-release", "admin-voters")
async def release(call: Call[Any], session: Session, form: Form) -> str:
    voters = _chosen(call, form)
    asks = [Ask("release", {"why": form.one("why")[:120]}, voter=one) for one in voters]
    await put(call.service, call.board, asks, session.number)
    return f"The votes of {some(voters, 4)} count again."


@action("/admin-retract", "admin-votes")
async def retract(call: Call[Any], session: Session, form: Form) -> str:
    vote = form.one("vote")
    row = int(vote) if vote.isascii() and vote.isdigit() and len(vote) < 19 else 0
    if call.board.votes.place(row) is None:
        raise Refused("there is no such vote on this board")
    ask = Ask("retract", {"vote": row, "why": form.one("why")[:120]})
    await put(call.service, call.board, [ask], session.number)
    return f"Vote {row:,} counts no longer."


@action("/admin-import")
async def import_file(call: Call[Any], session: Session, form: Form) -> str:
    if not form.file:
        raise Refused("no file was chosen, or it is empty")
    wanted = imports.Wanted(None, voter=form.one("voter") or None, name=imports.file_name(form.file_name))
    again = form.one("again") == "yes"

    async def data() -> bytes:
        return form.file

    file = FileVotes(call.site, call.board, wanted, session.number, again=again)
    try:
        return _added(await file.add(data), form.file_name)
    except HTTPException as error:
        if error.status_code != 409:
            raise
        raise Refused(f"{error.detail.partition(';')[0]}; tick the box below the file to add it once more") from None


def _added(made: Preview, file: str) -> str:
    """What an import read, and what it left out."""
    words = [f"{plural(made.n_votes, 'vote')} over {plural(made.n_agents, 'agent')} added from {file or 'the file'}"]
    words += [f"{plural(made.n_new_agents, 'agent')} new on this board"] if made.n_new_agents else []
    words += [f"{plural(made.left_out, 'vote')} that rank one agent alone left out"] if made.left_out else []
    return f"{'; '.join([*words, *made.notes])}. Ranks come with the next fit, in a few seconds."


@action("/admin-token", everywhere=True)
async def new_token(call: Call[Any], session: Session, form: Form) -> str:
    scope, board, label = form.one("scope"), form.one("board"), name(form.one("label"), "label")
    if scope not in SCOPES:
        raise Refused(f"scope: expected {' or '.join(SCOPES)}")
    if board and board not in call.service.boards:
        raise Refused("there is no such board")
    chosen = call.service.boards[board] if board else None
    _, secret = await call.service.new_token(chosen, scope, label)
    return f"The token {label} is {secret} and is shown this once: keep it now."


@action("/admin-revoke", everywhere=True)
async def revoke(call: Call[Any], session: Session, form: Form) -> str:
    token = next((t for t in call.service.tokens if str(t.id) == form.one("token") and t.revoked is None), None)
    if token is None:
        raise Refused("there is no such token")
    await call.service.revoke(token.id)
    return f"The token {token.label} is not known any more."


@action("/admin-board", everywhere=True)
async def new_board(call: Call[Any], session: Session, form: Form) -> str:
    asked = msgspec.convert({"name": form.one("name"), "title": form.one("title") or None}, NewBoard)
    board = await call.service.new_board(asked.name, name(asked.title or asked.name, "title"))
    return f"The board {board.title} is at boards/{board.name}/."


@routes.get("/enter")
async def enter(call: Call[NoQuery]) -> Response:
    """The link that the server prints when it starts: good once, within the hour."""
    expect_only(call.request.query_params, ("code",))
    cookie = call.site.sessions.follow(call.request.query_params.get("code", ""))
    if cookie is None:
        raise HTTPException(403, "This link was used, or is more than an hour old. Start the server again for another.")
    return _begin(call, cookie)


@routes.post("/sign-in")
async def sign_in(call: Call[NoQuery]) -> Response:
    """A session for who has a token of scope admin."""
    try:
        secret = (await form_of(call)).one("token")
    except REFUSALS as error:
        return _page(call, "sign_in.html", None, {"said": not_done(error)}, refusal(error).status_code)
    token = find(call.service.tokens, secret)
    if token is None or not token.allows("admin", call.board.id):
        said = "Not done: this is no token of scope admin for this board."
        return _page(call, "sign_in.html", None, {"said": said}, 403)
    return _begin(call, call.site.sessions.begin(token))


@action("/sign-out")
async def sign_out(call: Call[Any], session: Session, form: Form) -> str:
    call.site.sessions.end(call.request)
    return ""


def link(url: str, code: str) -> str:
    """What the server prints for its owner."""
    made = time.strftime("%H:%M", time.localtime(time.time() + 3600))
    return f"to manage it, open {url}enter?code={code} (once, until {made})"
