"""The data doctor: what the data can support, before any model, and what looks wrong in it.

``inspect`` gathers facts and findings. A finding says how bad it is, what it is, with the number and the names, and
what to do. Each kind of finding is a small function of a ``Case``; ``inspection`` runs them all.

Nothing may be found in clean data. What chance could make is therefore tested against chance: a family of tests (all
judges, all agents) has together a chance of one in ten thousand to find anything where there is nothing (``chance``),
and what is too small to matter is no finding however many votes prove it.
"""

from softcondorcet.doctor.finding import SEVERITIES, Finding
from softcondorcet.doctor.inspection import Inspection, inspect

__all__ = ["SEVERITIES", "Finding", "Inspection", "inspect"]
