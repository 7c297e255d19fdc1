"""Drawings as SVG text: pure functions of names and numbers, for the report and for pages made on demand.

Each returns one ``<svg>`` without colours of its own; ``stylesheet()`` gives the classes a look, in light and in dark.
"""

from importlib.resources import files

from softcondorcet.charts.calibration import calibration
from softcondorcet.charts.head_to_head import cycle, heat_map, record, shares
from softcondorcet.charts.ratings import Axis, bump, timeline, whiskers

__all__ = ["Axis", "bump", "calibration", "cycle", "heat_map", "record", "shares", "stylesheet", "timeline", "whiskers"]


def stylesheet() -> str:
    """The colours of a page and the look of drawings, as CSS."""
    return files(__package__).joinpath("charts.css").read_text(encoding="utf-8")
