"""Templates and the files that go with them, read once: pages as HTML, styles and scripts as bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from softcondorcet import __version__
from softcondorcet.serve.press import pack

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES = (
    ("Leaderboard", "./"),
    ("History", "history"),
    ("Data", "doctor"),
    ("Vote", "vote"),
)
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def html(template: str, *, about: dict[str, Any], root: str, here: str = "", twin: str = "", **given: Any) -> str:
    """A page. `root` leads from it to the root of the site; every word that is given is escaped."""
    from softcondorcet.reporting.page import ICON

    pages = (*PAGES, ("Boards", f"{root}boards"))
    common = {"icon": ICON, "version": __version__, "static": address, "pages": pages, "moment": moment, "count": count}
    made = _environment().get_template(template)
    return made.render(about=about, root=root, here=here, twin=twin, **common, **given)


@cache
def _environment() -> Environment:
    from softcondorcet.reporting.page import environment

    return environment(__package__ or "", "softcondorcet.reporting")


@cache
def statics() -> dict[str, tuple[bytes, str]]:
    """Styles and scripts by name, each packed, with its hash."""
    from softcondorcet.reporting.page import style

    found = {path.name: path.read_text(encoding="utf-8") for path in (files(__package__) / "static").iterdir()}
    found["site.css"] = style() + found["site.css"]
    return {name: pack(content.encode()) for name, content in found.items()}


def address(name: str) -> str:
    """Where a style or script is, seen from the root. Its hash is part of it: it may be kept for ever."""
    return f"static/{name}?{statics()[name][1]}"


def moment(time: float) -> Any:
    """A time that scripts may say in other words."""
    from markupsafe import Markup

    exact = datetime.fromtimestamp(time, UTC)
    shape = '<time datetime="{}">{} UTC</time>'
    return Markup(shape).format(exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S"))


def count(votes: int) -> str:
    return f"{votes:,} vote{'s' * (votes != 1)}"
