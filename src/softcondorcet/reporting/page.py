"""One HTML file that needs nothing else: no request, no script, colours for light and dark, and room on a phone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from softcondorcet import __version__
from softcondorcet.drawing import stylesheet
from softcondorcet.tables import clipped, printable

# A leaderboard of three bars; '#' would begin a fragment.
_ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='rgb(42,120,184)' d='M1 2h14v3H1zM1 7h10v3H1zM1 12h6v3H1z'/></svg>"
)


def page(view: dict[str, Any], title: str, provenance: Sequence[tuple[str, str]]) -> str:
    """The report as HTML. Every word in `view` but the drawings is escaped, and invisible letters are spelt out."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    templates = files(__package__) / "templates"
    css = stylesheet() + (templates / "report.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_visible, trim_blocks=True)
    environment.filters["clip"] = clipped
    template = environment.from_string((templates / "report.html").read_text(encoding="utf-8"))
    return template.render(
        **view,
        title=title,
        provenance=provenance,
        css=Markup(css),
        policy=policy(css),
        icon=_ICON,
        version=__version__,
    )


def policy(css: str) -> str:
    """What the page may load: its own style, told by hash, and its own icon."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _visible(value: Any) -> Any:
    """Names may hold letters that hide or turn others; the style and drawings are ours and pass as they are."""
    return printable(value) if type(value) is str else value
