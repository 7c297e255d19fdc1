"""Results with rows: they print as a table, notebooks show them as one, and they become frames."""

from __future__ import annotations

from typing import Any, ClassVar

from softcondorcet.formatting import printable
from softcondorcet.installation import needs
from softcondorcet.leaderboard import flat, rounded

# Rows that are printed and shown; frames have all.
_SHOWN = 20
# Older names of columns, which frames keep.
_OLDER = ("rating_lower", "rating_upper")


class Tabular:
    """A result with ``rows()``, a dict for each, and ``summary()``, sentences about them.

    `names`: the titles of its columns are names, of methods or groups.
    """

    names: ClassVar[bool] = False

    def rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def summary(self) -> list[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        """The first rows as a table, and what they rest on."""
        from softcondorcet.text_table import text_table

        rows, more = self._first()
        lines = (str(text_table(rows, names=self.names)), *[more] * bool(more), "", *map(printable, self.summary()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from html import escape

        from softcondorcet.tables import as_html

        rows, more = self._first()
        notes = "".join(f"<li>{escape(printable(line))}</li>" for line in self.summary())
        # The classes keep notebooks from reading a dollar sign in a name as the start of a formula.
        table = as_html(rows, more, names=self.names)
        return f'<div class="tex2jax_ignore mathjax_ignore">{table}<ul>{notes}</ul></div>'

    def _first(self) -> tuple[list[dict[str, Any]], str]:
        """The rows to show, rounded, and how many there are if these are not all."""
        rows = flat(self.rows())
        shown = [{name: row[name] for name in row if name not in _OLDER} for row in rows[:_SHOWN]]
        return rounded(shown), f"the first {_SHOWN} of {len(rows):,}" if len(rows) > _SHOWN else ""

    def to_pandas(self) -> Any:
        needs("pandas")
        import pandas

        return pandas.DataFrame(flat(self.rows()))

    def to_polars(self) -> Any:
        needs("polars")
        import polars

        return polars.DataFrame(flat(self.rows()))

    def to_arrow(self) -> Any:
        needs("pyarrow")
        import pyarrow

        return pyarrow.Table.from_pylist(flat(self.rows()))
