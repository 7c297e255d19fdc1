"""What went wrong, as a status and a sentence: the same whether a route of the framework raised it or a vote."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from softcondorcet.serve.ballots import BadBallot
from softcondorcet.serve.database import DiskFull, Gone
from softcondorcet.serve.matches import BadSample
from softcondorcet.serve.names import BadName
from softcondorcet.serve.store import Busy, Refused

_SOON, _LATER = {"Retry-After": "1"}, {"Retry-After": "10"}
STATUS: dict[type[Exception], tuple[int, Mapping[str, str]]] = {
    msgspec.DecodeError: (422, {}),
    msgspec.ValidationError: (422, {}),
    BadBallot: (422, {}),
    BadName: (422, {}),
    BadSample: (422, {}),
    Refused: (422, {}),
    UnicodeDecodeError: (422, {}),
    Busy: (503, _SOON),
    Gone: (503, _SOON),
    DiskFull: (507, _LATER),
}


def refusal(error: Exception) -> Response:
    """The answer to an exception that has one; others go on."""
    if isinstance(error, HTTPException):
        return said(error.status_code, error.detail, error.headers)
    for kind in type(error).__mro__:
        if kind in STATUS:
            status, headers = STATUS[kind]
            return said(status, str(error), headers)
    raise error


def said(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode({"detail": detail}), status, headers, "application/json")
