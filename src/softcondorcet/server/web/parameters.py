"""Parameters of a request: text of an address as the type that a route declares, or what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from starlette.exceptions import HTTPException

from softcondorcet.server.ledger.limits import LONGEST, name


def value_of(given: Mapping[str, str], about: msgspec.structs.FieldInfo) -> Any:
    """The value of one parameter; an error says what is expected as the documentation does."""
    at = about.encode_name
    if at not in given:
        if about.required:
            raise HTTPException(422, f"{at}: expected {_expected(not_none(about.type))}, and it is missing")
        return about.default
    text = given[at]
    kind = not_none(about.type)
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        raise HTTPException(422, f"{at}: expected {_expected(kind)}, got {text[:40]!r}") from None
    return name(value, at) if msgspec.json.schema(kind).get("format") == "name" else value


def not_none(kind: Any) -> Any:
    """The type of a parameter without None, which means that it was left out: the word null is no value."""
    parts = tuple(part for part in get_args(kind) if part is not NoneType)
    return Union[parts] if get_origin(kind) in (Union, UnionType) else kind  # noqa: UP007


def _expected(kind: Any) -> str:
    """The values that a parameter may have, in words."""
    schema = msgspec.json.schema(kind)
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    words = {
        "string": f"1 to {schema.get('maxLength', LONGEST)} letters",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
    }[schema["type"]]
    return f"{words} from {schema['minimum']} on" if "minimum" in schema else words
