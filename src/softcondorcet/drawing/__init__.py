"""Drawings as SVG text: pure functions of names and numbers, for the report and for pages made on demand.

Each returns one ``<svg>`` without colours of its own; ``stylesheet()`` gives the classes a look, in light and in dark.
"""

from importlib.resources import files

from softcondorcet.drawing.bump import bump
from softcondorcet.drawing.cycle import cycle
from softcondorcet.drawing.heat_map import heat_map, record
from softcondorcet.drawing.shares import shares
from softcondorcet.drawing.timeline import timeline
from softcondorcet.drawing.whiskers import whiskers

__all__ = ["bump", "cycle", "heat_map", "record", "shares", "stylesheet", "timeline", "whiskers"]


def stylesheet() -> str:
    """The colours of a page and the look of drawings, as CSS."""
    return files(__package__).joinpath("drawing.css").read_text(encoding="utf-8")
