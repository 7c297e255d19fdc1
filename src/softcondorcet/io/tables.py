"""Tables, whatever file they are in, and the readers of those that need more than a look at their column names.

``table_in`` gives the table in a csv, tsv, Markdown, JSON, Excel or Parquet file. ``read_table`` gives the scores or
battles in such a table, and None where the readers of battles, rankings and scores take it as it stands. Where no
reader takes a table, the error says what is missing, not what is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io import delimited
from softcondorcet.io.cells import Cells, Table, read_name, shown
from softcondorcet.io.column_names import AGENT, PAIRS, SCORE, TASK, fitting
from softcondorcet.io.excel import is_workbook, parse_workbook
from softcondorcet.io.input_files import InputFile, brief, decode, in_memory, load, suffix_of
from softcondorcet.io.item_scores import ITEM, REPEAT, read_item_scores
from softcondorcet.io.logs import promptfoo
from softcondorcet.io.logs.common import agent_of
from softcondorcet.io.outcomes import PLAYERS, missing_outcome, read_outcomes
from softcondorcet.io.parquet import PARQUET, parse_parquet
from softcondorcet.io.preflib import TYPES
from softcondorcet.io.records import Battles, Options, Scores
from softcondorcet.io.wide import is_markdown, parse_markdown, read_wide

# The format that a suffix says, of votes and of tables.
SUFFIXES = {
    **{name: name for name in (*TYPES, "csv", "tsv", "jsonl", "parquet", "json", "md", "xlsx")},
    "ndjson": "jsonl",
    "xls": "xlsx",
}
_OUTCOME, _ITEM = {"a", "b", "winner"}, {"agent", "task", "score", "item", "repeat", "judge"}
_ROWS = ("data", "rows", "records", "results", "battles", "votes", "scores", "items")
_ABOUT = {"weight", "group", "when", "voter"}
# Where titles of a table may stand: the first lines of the first letters.
_HEAD, _TITLES = 10_000, 8
# Between the members of a side.
PLUS = "+"
SIDES = "sides of several agents, called 'a+b': sco rank and sc.teams rate their members, all else rates sides"
# What holds the scores of an agent by task, in a list of objects.
_SCORES = ("scores", "results", "metrics", "benchmarks", "tasks", "evaluations")


def read_table(
    table: Table, kind: str | None, columns: Mapping[str, Any], options: Options, decimal_comma: bool | None = None
) -> Scores | Battles | None:
    """The records of a table by the first reader that takes it; None where the readers of plain tables do."""
    roles = set(columns)
    found: Scores | Battles | None = None
    if kind in (None, "battles") and roles <= _OUTCOME | _ABOUT:
        found = read_outcomes(table, columns, options.keep)
    if found is None and kind in (None, "scores") and roles <= _ITEM:
        found = read_item_scores(table, columns, options)
    if found is not None or fitting(table, kind, columns):
        return found
    if kind in (None, "scores") and not roles and (found := promptfoo.read_table(table)):
        return found
    if kind in (None, "scores") and roles <= {"agent"}:
        found = read_wide(table, options, decimal_comma, columns.get("agent"))
    if found is None and kind is None and not roles and (missing := _missing(table)):
        raise DataError(f"{table.name}: {missing}")
    return found


def _missing(table: Table) -> str | None:
    """What a table lacks, of one that nearly is battles or scores."""
    if missing := missing_outcome(table):
        return missing
    agent, task, score = table.find(*AGENT), table.find(*TASK), table.find(*SCORE)
    lacks = {"agent": (agent, AGENT), "task": (task, TASK), "score": (score, SCORE)}
    blank = [role for role, (column, _) in lacks.items() if column is None]
    if len(blank) == 1:
        role, known = blank[0], {agent, task, score, *(table.find(name) for name in (*ITEM, *REPEAT))}
        others = [title for title in table.columns if title not in known]
        there = " and ".join(repr(column) for column, _ in lacks.values() if column)
        hint = f"; found {some(map(repr, others))}: --column {role}={others[0]}" if others else ""
        return f"there is {there}, but no column is the {role} ({', '.join(lacks[role][1])}){hint}"
    if table.find("winner") and not any(table.find(a) and table.find(b) for a, b in PAIRS):
        there = some(repr(title) for title in table.columns if title.strip().casefold() != "winner")
        return f"there is 'winner', but no two columns of agents; found {there}: --column a=NAME --column b=NAME"
    return None


def table_in(
    data: bytes, name: str, format: str | None = None, sheet: str | None = None
) -> tuple[Table, bool | None, Collection[str]]:
    """The table in a file, what a lone ``1,234`` is in it, and what to say of it."""
    format = format or SUFFIXES.get(suffix_of(name)) or ("parquet" if data[:4] == PARQUET else None)
    if format == "parquet":
        return parse_parquet(data, name), None, ()
    file = in_memory(name.removesuffix(".gz"), data)
    if format == "xlsx" or (format is None and is_workbook(file)):
        table, others = parse_workbook(file, sheet)
        return table, False, [f"read {table.name}; other sheets: {', '.join(others)}"] if others else []
    text = text_in(data, name)
    first = text.lstrip().partition("\n")[0].strip()
    alone = first == text.strip()  # one object may be a line of .jsonl, if it is flat, or the whole of a document
    nested = alone and ("{" in first[1:] or "[" in first)
    if format == "jsonl" or (format is None and first.startswith("{") and first.endswith("}") and not nested):
        return delimited.parse_jsonl(text, name), None, ()
    if format == "json" or (format is None and first.startswith(("{", "["))):
        return json_table(load(data, name), name), None, ()
    return text_table(text, name, format)


def text_in(data: bytes, name: str) -> str:
    """The bytes as text."""
    text = decode(data, name)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}:{line}: a NUL byte; expected text in UTF-8")
    return text


def text_table(text: str, name: str, format: str | None) -> tuple[Table, bool | None, Collection[str]]:
    """The table in a csv, tsv or Markdown text; what a lone ``1,234`` is there; and what to tell the user."""
    if marked := re.match(r"\s*<(!doctype|html|head|body|table|\?xml)\b", text[:_HEAD], re.IGNORECASE):
        raise DataError(f"{name}: HTML or XML (<{marked[1]}>); expected csv, Markdown, JSON or a workbook of the table")
    if format == "md" or (format is None and is_markdown(text)):
        tables = parse_markdown(text, name)
        if not tables:
            raise DataError(f"{name}: no table; expected a line with bars and a rule of dashes below it")
        most = max(tables, key=lambda table: table.n_rows)
        return most, None, [f"the longest of {len(tables)} tables in the text"] if len(tables) > 1 else []
    below, notes = _below_titles(text)
    if format is None and (apart := _between_blanks(below)):
        below = apart
    delimiter = "\t" if format == "tsv" else delimited.delimiter_of(below)
    table = delimited.parse_csv(delimited.one_header(below, delimiter), name, delimiter)
    return table, True if delimiter == ";" else None, notes


def _between_blanks(text: str) -> str | None:
    """The text with tabs for two blanks or more between its cells, as terminals print tables; None for any other."""
    first = text.lstrip("\r\n").partition("\n")[0].strip()
    if any(mark in first for mark in ",\t;|") or not re.search(r"\S {2,}\S", first):
        return None
    return "\n".join(re.sub(r" {2,}", "\t", line.strip()) for line in text.split("\n"))


def _below_titles(text: str) -> tuple[str, list[str]]:
    """The text with blank lines for the titles above a table: lines of one cell, as spreadsheets have them."""
    lines = text[:_HEAD].lstrip("\ufeff").split("\n")[:_TITLES]
    cells = [[cell for cell in re.split(r"[,;\t|]", line.strip("\r")) if cell.strip()] for line in lines]
    widest = max((len(row) for row in cells), default=0)
    first = next((k for k, row in enumerate(cells) if len(row) == widest), 0)
    above = [k for k, row in enumerate(cells[:first]) if row]
    if above and widest > 1 and all(lines[k].startswith("#") for k in above):
        return _without_lines(text, first, cells[above[0]][0], len(above))
    plain = all(len(cells[k]) == 1 and '"' not in lines[k] for k in above)
    # A header of one cell is one; a title stands in a line of blank cells, or above a header of several.
    if widest < 3 or not above or not plain or not any(mark in lines[above[0]] for mark in ",;\t|"):
        return text, []
    return _without_lines(text, first, cells[above[0]][0], len(above))


def _without_lines(text: str, first: int, title: str, count: int) -> tuple[str, list[str]]:
    """The text from the line `first`, with blank lines above it, so that places in errors stay true."""
    rest = text.split("\n", first)[-1]
    return "\n" * first + rest, [f"{plural(count, 'line')} above the table left out: {title.strip()!r}"]


def json_table(found: Any, name: str) -> Table:
    """The rows of a JSON list of objects, by itself or inside an object; or columns as pandas writes them."""
    if isinstance(found, dict):
        inside = [value for key, value in found.items() if key in _ROWS and isinstance(value, list)]
        if len(inside) == 1 and inside[0] and all(isinstance(row, dict) for row in inside[0]):
            return json_table(inside[0], name)
        columns = {key: [*value.values()] if isinstance(value, dict) else value for key, value in found.items()}
        numbered = all(isinstance(value, list) or _numbered(value) for value in found.values())
        if numbered and len(columns) > 1 and len({len(cells) for cells in columns.values()}) == 1:
            return Table(name, columns, lambda row: f"{name}: row {row}")
        keys = some(map(repr, found), 8)
        if len(found) > 1 and all(isinstance(value, dict) and _plain(value) for value in found.values()):
            raise DataError(
                f"{name}: objects in an object ({keys}), of which nobody knows whether agents or tasks are outside; "
                'expected a list of objects such as [{"agent": "a", "task 1": 0.5, "task 2": 0.7}, ...]'
            )
        raise DataError(
            f"{name}: JSON of no format that is known (keys {keys}); expected results of a tool ('sco formats' lists "
            "them), a list of objects, or one object per line"
        )
    if not isinstance(found, list) or not found:
        raise DataError(f"{name}: JSON that is {brief(found)}; expected a list of objects")
    found = _tables_of_helm(found) or found
    wrong = next((k for k, row in enumerate(found) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise DataError(f"{name}: entry {wrong + 1}: {shown(found[wrong])}; expected an object such as {{...}}")
    keys_of = dict.fromkeys(key for row in found for key in row)
    if not keys_of:
        raise DataError(f"{name}: objects without keys; expected keys such as 'ranking' or 'model_a'")
    columns = {key: [row.get(key) for row in found] for key in keys_of}
    return Table(name, _spread_out(columns), lambda row: f"{name}: entry {row + 1}")


def _spread_out(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns with one for each key of a column of objects: ``{"model": "a", "scores": {"mmlu": 0.5}}``."""
    inner = next((key for key in columns if key.strip().casefold() in _SCORES), None)
    cells = columns[inner] if inner is not None else []
    if not any(cells) or not all(cell is None or (isinstance(cell, dict) and _plain(cell)) for cell in cells):
        return columns
    keys = dict.fromkeys(key for cell in cells for key in cell or ())
    rest = {key: column for key, column in columns.items() if key != inner}
    if keys.keys() & rest.keys():
        return columns
    return rest | {key: [None if cell is None else cell.get(key) for cell in cells] for key in keys}


def with_sides(table: Table) -> tuple[Table, str | None]:
    """The table with lists of agents, the sides of a game, as text "ann+ben"; and "+" where there are such lists."""
    sides = next((pair for pair in PLAYERS if table.folded.issuperset(pair)), None)
    named = [name for role in (*(sides or ()), "winner") if sides and (name := table.find(role))]
    samples = {name: table.sample(name, 100) for name in named}
    names = [name for name, cells in samples.items() if any(map(_is_list, cells))]
    if not names:
        return table, None
    return table.with_columns(
        {name: [_side(table, name, row) for row in enumerate(table.cells(name))] for name in names}
    ), PLUS


def _is_list(cell: object) -> bool:
    return isinstance(cell, list | tuple | np.ndarray)


def _side(table: Table, name: str, at: tuple[int, Any]) -> Any:
    """The members of a side in the order of the alphabet; a single name is a side of one."""
    row, cell = at
    if not _is_list(cell):
        return cell
    members = []
    for one in cell:
        try:
            members.append(read_name(one))
        except ValueError:
            raise DataError(f"{table.place(row)}: {name} is {shown(cell)}; expected a list of names") from None
        if PLUS in members[-1]:
            raise DataError(
                f"{table.place(row)}: {name} has the agent {members[-1]!r}; expected names without {PLUS!r}, which "
                "stands between the members of a side"
            )
    if not members or len(set(members)) < len(members):
        raise DataError(f"{table.place(row)}: {name} is {shown(cell)}; expected one or more names, each once")
    return PLUS.join(sorted(members))


def _plain(cell: dict[str, Any]) -> bool:
    return all(value is None or isinstance(value, int | float | str) for value in cell.values())


def _tables_of_helm(found: list[Any]) -> list[dict[str, Any]] | None:
    """The rows of the first of HELM's tables, ``[{"title", "header": [{"value"}], "rows": [[{"value"}]]}]``."""
    first = found[0]
    if not isinstance(first, dict) or not {"header", "rows"} <= first.keys():
        return None
    try:
        titles = [str(cell["value"]) for cell in first["header"]]
        return [{title: cell.get("value") for title, cell in zip(titles, row, strict=True)} for row in first["rows"]]
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def _numbered(value: Any) -> bool:
    """Whether an object's keys are 0, 1, 2 ...: a column as pandas writes it."""
    return isinstance(value, dict) and all(key == str(k) for k, key in enumerate(value))


def together(name: str, tables: list[tuple[InputFile, Table]], options: Options) -> Table:
    """Tables with the same columns, one below the other; with the agent from the path where ``agent_from`` says how."""
    first, head = tables[0]
    for file, table in tables[1:]:
        if set(table.columns) != set(head.columns):
            raise DataError(
                f"{file.name}: columns {table.names}; expected {head.names} as in {first.name}: "
                "files of one folder are one table"
            )
    sizes = [table.n_rows for _, table in tables]
    columns: dict[str, Any] = {title: _joined([table.column(title) for _, table in tables]) for title in head.columns}
    if options.agent_from:
        agents = [agent_of(file, None, options, "") for file, _ in tables]
        columns["agent"] = Cells(np.repeat(np.arange(len(agents), dtype=np.int32), sizes), list(agents))
    start = np.cumsum([0, *sizes])

    def place(row: int) -> str:
        k = int(np.searchsorted(start, row, side="right")) - 1
        return tables[k][1].place(row - int(start[k]))

    return Table(name, columns, place)


def _joined(columns: list[Cells]) -> Cells:
    """Columns one below the other, with codes into one list of cells."""
    code: dict[Any, int] = {}
    parts = []
    for column in columns:
        keys = [(type(value), value) for value in column.values]
        translation = np.array([code.setdefault(key, len(code)) for key in keys], dtype=np.int32)
        parts.append(translation[column.codes] if keys else column.codes)
    return Cells(np.concatenate(parts), [value for _, value in code])


def with_index(frame: Any) -> Any:
    """A pandas table with its index as the first column, where the index holds names: a pivot table."""
    index = getattr(frame, "index", None)
    if not hasattr(frame, "reset_index") or index is None or type(index).__name__ == "RangeIndex":
        return frame
    if index.name is None and not (len(index) and isinstance(index[0], str)):
        return frame
    flat = frame.copy(deep=False)
    if getattr(frame.columns, "nlevels", 1) > 1:
        flat.columns = [" / ".join(str(part) for part in title if str(part)) for title in frame.columns]
    flat.columns.name = None
    return flat.reset_index() if index.name not in list(flat.columns) else flat
