"""The OpenAPI document, made from the table of operations and the types that they take and answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import NODEFAULT

from softcondorcet import __version__
from softcondorcet.server.ledger.limits import LONGEST
from softcondorcet.server.web.http import Operation
from softcondorcet.server.web.parameters import not_none
from softcondorcet.server.web.schemas import Problem
from softcondorcet.server.web.votes import LONGEST_KEY

BOARD = "/boards/{board}"
_WHY = {
    401: "No token, or one that is not known",
    403: "The token is for something else, or a page of another site asks",
    404: "There is no such thing",
    408: "The body came too slowly",
    409: "It is there already",
    413: "The body is too long",
    415: "The body is packed",
    422: "It cannot be understood; says where",
    429: "Too many votes; says when to come back",
    501: "This server cannot make it",
    503: "Too much waits to be written; come back soon",
    507: "The disk is full: nothing was kept",
}
_DONE = {200: "Done", 201: "Made", 204: "Done"}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body is answered as before, and counted once",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
}
_NAMED = {
    "name": "board",
    "in": "path",
    "required": True,
    "description": "The name of a board",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
}


class Schemas:
    """JSON schemas of types; those with a name are kept together, and referred to."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}

    def of(self, kind: Any) -> dict[str, Any]:
        (schema,), named = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
        self.named.update(named)
        return schema

    def content(self, kind: Any, examples: Sequence[Any] = ()) -> dict[str, Any]:
        """The `content` of a body: of a media type, anything; of a type, JSON."""
        if isinstance(kind, str):
            return {kind: {"schema": {}}}
        described: dict[str, Any] = {"schema": self.of(kind)}
        if examples:
            described["examples"] = {f"example{k}": {"value": example} for k, example in enumerate(examples, 1)}
        return {"application/json": described}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The description of all operations that have a tag; those of a board also under its name."""
    schemas, paths = Schemas(), dict[str, Any]()
    for one in operations:
        if one.tag:
            paths.setdefault(one.path, {})[one.method.lower()] = _described(one, schemas)
    for one in operations:
        if one.tag and one.of_board:
            paths.setdefault(BOARD + one.path, {})[one.method.lower()] = _described(one, schemas, of_named_board=True)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "softcondorcet",
            "version": __version__,
            "description": "Votes in, leaderboard out. Times are seconds since 1970. Without /boards it is board main.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.named,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(one: Operation, schemas: Schemas, *, of_named_board: bool = False) -> dict[str, Any]:
    name = one.path.strip("/").replace("/", "_").replace(".", "_").replace("{", "").replace("}", "")
    described: dict[str, Any] = {
        "tags": [one.tag],
        "summary": (one.handler.__doc__ or "").partition("\n")[0],
        "description": "\n".join(line.strip() for line in (one.handler.__doc__ or "").splitlines()).strip(),
        "operationId": f"{one.method.lower()}_{name}" + "_of_board" * of_named_board,
        "parameters": [*([_NAMED] if of_named_board else []), *_parameters(one, schemas)],
        "responses": {str(status): about for status, about in sorted(_answers(one, schemas, of_named_board).items())},
    }
    if one.body is not None:
        content = schemas.content(one.body, one.examples)
        described["requestBody"] = {"required": one.body_required, "content": content}
    if one.security is not None:
        described["security"] = list(one.security)
    elif 401 in one.refusals:
        described["security"] = [{"token": []}]
    return described


def _parameters(one: Operation, schemas: Schemas) -> list[dict[str, Any]]:
    listed = []
    for name, about in {} if one.page else one.parameters.items():
        schema = schemas.of(not_none(about.type))
        words = {"description": schema.pop("description")} if "description" in schema else {}
        if about.default not in (NODEFAULT, None):
            schema["default"] = about.default
        place = "path" if f"{{{name}}}" in one.path else "query"
        listed.append({"name": name, "in": place, "required": about.required, **words, "schema": schema})
    return [*listed, _KEY] if one.idempotent else listed


def _answers(one: Operation, schemas: Schemas, of_named_board: bool) -> Mapping[int, dict[str, Any]]:
    answers: dict[int, dict[str, Any]] = {one.status: {"description": _DONE[one.status]}}
    if one.answer is not None:
        answers[one.status]["content"] = schemas.content(one.answer)
    for status, (words, kind) in one.others.items():
        answers[status] = {"description": words, **({"content": schemas.content(kind)} if kind else {})}
    # A page of another site may ask for anything; a parameter may be misspelt.
    refused = {
        *one.refusals,
        403,
        *([422] if not (one.page or one.any_query) else []),
        *([404] if of_named_board else []),
    }
    return answers | {status: {"description": _WHY[status], "content": schemas.content(Problem)} for status in refused}
