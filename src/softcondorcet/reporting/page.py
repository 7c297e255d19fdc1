"""One HTML file that needs nothing else: no request, no script, colours for light and dark, and room on a phone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from softcondorcet import __version__
from softcondorcet.drawing import stylesheet
from softcondorcet.tables import clipped, printable

if TYPE_CHECKING:
    from jinja2 import Environment

# A leaderboard of three bars; '#' would begin a fragment.
ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='rgb(42,120,184)' d='M1 2h14v3H1zM1 7h10v3H1zM1 12h6v3H1z'/></svg>"
)


def page(view: dict[str, Any], title: str, provenance: Sequence[tuple[str, str]]) -> str:
    """The report as HTML. Every word in `view` but the drawings is escaped, and invisible letters are spelt out."""
    from markupsafe import Markup

    css = style()
    made = environment(__package__).get_template("report.html")
    about = {"icon": ICON, "version": __version__, "css": Markup(css), "policy": policy(css)}
    return made.render(v=view, title=title, provenance=provenance, **about)


def environment(*packages: str) -> Environment:
    """Templates of these packages, the first first: every word is escaped, and a name that is not given is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
    )
    made.filters["clip"] = clipped
    return made


def style() -> str:
    """The look of the report, drawings included, as CSS."""
    return stylesheet() + (files(__package__) / "templates" / "report.css").read_text(encoding="utf-8")


def policy(css: str) -> str:
    """What the page may load: its own style, told by hash, and its own icon."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _visible(value: Any) -> Any:
    """Names may hold letters that hide or turn others; the style and drawings are ours and pass as they are."""
    return printable(value) if type(value) is str else value
