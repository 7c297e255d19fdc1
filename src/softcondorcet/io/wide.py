"""Wide tables: the first column of text names the agent, each column of numbers is a task.

Columns that sum up others (mean, average, overall, rank, total) or describe the agent (parameters, year) are no tasks:
they are named and left out, unless ``tasks`` asks for them. A table whose first column is called task or benchmark has
the tasks in its rows. A pivot table of pandas has its index first, without a name, or a header of two lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io import metric_names
from softcondorcet.io.cells import Table, is_blank, shown
from softcondorcet.io.column_names import AGENTS, SCORE, TASK
from softcondorcet.io.item_scores import ITEM
from softcondorcet.io.number_text import Numbers, comma_is_decimal, is_missing, read_flags, read_numbers
from softcondorcet.io.outcomes import PLAYERS, read_matrix
from softcondorcet.io.records import Battles, Options, Scores, name_of
from softcondorcet.io.transposed import are_tasks, read_transposed

_REPEATS = ("seed", "run", "trial", "repeat", "replicate", "fold", "epoch")
# Columns of other kinds of table: one that has them and is none of those is not wide but mistaken.
_NO_WIDE = ("winner", "ranking", "contest_id", "contest", "preference", "higher_is_better", "weight", "count", "judge")


def read_wide(
    table: Table, options: Options, decimal_comma: bool | None = None, named: str | None = None
) -> Scores | Battles | None:
    """The scores of a wide table, or the battles of a matrix of wins; None where it is none.

    ``decimal_comma`` says what a lone ``1,234`` is; ``named`` is the column of the agents, where the user says it.
    """
    titles = table.columns
    if any(table.find(name) for name in _NO_WIDE):
        return None
    cells = {title: column for title in titles if not _nested(column := table.cells(title))}
    titles = [*cells]
    told = [comma_is_decimal(column) for column in cells.values()]
    lone = decimal_comma if decimal_comma is not None else (True in told and False not in told)
    numbers = {
        title: read_numbers(column, lone if comma is None else comma)
        for (title, column), comma in zip(cells.items(), told, strict=True)
    }
    texts = [title for title in titles if numbers[title] is None and not all(map(is_missing, cells[title]))]
    if any((a := table.find(x)) and (b := table.find(y)) and {a, b} & {*texts} for x, y in PLAYERS):
        return None
    agent = table.need(named) if named else _agents(texts, cells)
    texts, numbers[agent] = [*dict.fromkeys((*texts, *([agent] if named else [])))], None
    columns = {title: found for title in titles if (found := numbers[title]) is not None}
    if not columns:  # beside numbers, yes and no say something about the agent
        columns = {title: found for title in titles if title != agent and (found := read_flags(cells[title]))}
        texts = [title for title in texts if title not in columns]
    long = table.find(*TASK) in texts[1:]  # a long table whose score has another name
    if not texts or long:
        return None
    _refuse_spoilt(table, [title for title in texts if title != agent], cells, lone)
    if not columns:
        return None
    if not named and are_tasks(agent, cells[agent], [*columns]):
        if len(columns) < 2 or table.find(*SCORE):
            return None
        return read_transposed(table, agent, cells[agent], columns, options)
    scores = Scores(table.name)
    item = _item(table, agent, cells[agent])
    columns = {title: column for title, column in columns.items() if title != item}
    tasks = _tasks(columns, options, scores)
    names = _row_names(table, agent, cells[agent], columns, len(titles) > 1, scores)
    ignored = [title for title in texts if title not in (agent, item)]
    repeats = [title for title in columns if title.strip().casefold() in _REPEATS]
    if not named and not options.said and len(texts) == 1 and (matrix := read_matrix(table, agent, names, columns)):
        return matrix
    items = [name_of(cell, table.place(row), item) for row, cell in enumerate(cells[item])] if item else None
    _refuse_twice(table, names, {title: columns[title].values for title in repeats}, items, ignored)
    if ignored:
        scores.notes.append(f"columns of text that are no task: {some(map(repr, ignored))}")
    for title in tasks:
        _column(table, title, columns[title], names, options, scores, items)
    said = f"wide table: agents in {agent or 'the first column'!r}, {len(tasks):,} tasks ({some(tasks)})"
    scores.notes.insert(0, f"{said}, items in {item!r}" if item else said)
    return scores


def _item(table: Table, agent: str, agents: list[Any]) -> str | None:
    """The column of the items where agents have a row for each, and a column for each measure."""
    item = table.find(*ITEM)
    several = len({*map(str, agents)}) < len(agents)
    return item if several and item != agent and agent.strip().casefold() in AGENTS else None


def _row_names(
    table: Table, agent: str, cells: list[Any], columns: dict[str, Numbers], several: bool, scores: Scores
) -> list[str | None]:
    """The agent of each row; None for rows without cells and for those that sum up others."""
    blank = _blank_rows(cells, columns, several)
    names = [
        None if row in blank else _without_link(name_of(cell, table.place(row), agent or "the first column"))
        for row, cell in enumerate(cells)
    ]
    if blank:
        scores.left_out["rows without any cell"] += len(blank)
    if sums := {row: name for row, name in enumerate(names) if name and _sums_up(name)}:
        names = [None if row in sums else name for row, name in enumerate(names)]
        scores.left_out[f"rows that sum up others: {some(map(repr, sums.values()))}"] += len(sums)
    return names


def _refuse_twice(
    table: Table,
    names: list[str | None],
    repeats: dict[str, list[float]],
    items: list[str] | None,
    ignored: list[str],
) -> None:
    """An agent may stand in several rows only where a column such as seed or item tells them apart."""
    if repeats and not ignored:
        return  # averaged
    seen = set()
    for row, key in enumerate(zip(names, *repeats.values(), *([items] if items else []), strict=True)):
        if key[0] is not None and key in seen:
            again = f" with one {next(iter(repeats))}" if repeats else ""
            hint = (
                f"; {ignored[0]!r} may be the task: --column task={ignored[0]} --column score=NAME" if ignored else ""
            )
            raise DataError(
                f"{table.place(row)}: agent {key[0]!r} appears twice{again} in a wide table; expected once, or a "
                f"column such as seed or run that tells the rows apart{hint}"
            )
        seen.add(key)


def _agents(texts: list[str], cells: dict[str, list[Any]]) -> str:
    """The column of text that names the rows: by its name, else the first without repeats, else the first."""
    known = [title for title in texts if title.strip().casefold() in AGENTS]
    distinct = [title for title in texts if len({*cells[title]}) == len(cells[title]) and not _days(cells[title])]
    tasks = [title for title in texts if title and are_tasks(title, [], [])]
    return (known or tasks or distinct or texts or [""])[0]


def _nested(cells: list[Any]) -> bool:
    """Whether a column holds lists or objects: neither names nor numbers."""
    return any(isinstance(cell, list | dict | set) for cell in cells)


def _blank_rows(agents: list[Any], columns: dict[str, Numbers], several: bool) -> set[int]:
    """Rows without any cell, which spreadsheets leave at the end."""
    rows = [row for row, cell in enumerate(agents) if is_blank(cell)] if several else []
    return {row for row in rows if all(column.values[row] != column.values[row] for column in columns.values())}


def _sums_up(name: str) -> bool:
    """Whether the row of such an agent is the total or the mean of the others."""
    return metric_names.is_summary(name) and "rank" not in metric_names.words_of(name)


def _without_link(name: str) -> str:
    """The name in a link of Markdown or HTML."""
    found = re.fullmatch(r"\[([^\]]+)\]\([^()\s]*\)|<a\b[^<>]*>([^<>]+)</a>.*", name, re.IGNORECASE | re.DOTALL)
    return (found[1] or found[2]).strip() if found else name


def _days(cells: list[Any]) -> bool:
    """Whether a column holds dates, which name nobody."""
    return all(re.match(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b", str(cell).strip()) for cell in cells)


def _tasks(columns: dict[str, Numbers], options: Options, scores: Scores) -> list[str]:
    if options.tasks:
        return [title for title in columns if title in options.tasks] or list(columns)
    summaries = [title for title in columns if metric_names.is_summary(title)]
    spreads = [title for title in columns if metric_names.is_spread(title)]
    facts = [title for title in columns if metric_names.is_fact(title) and title not in spreads]
    repeats = [title for title in columns if title.strip().casefold() in _REPEATS]
    again = [title for title in columns if title.strip().casefold().endswith(" raw") and title.strip()[:-4] in columns]
    tasks = [title for title in columns if title not in (*summaries, *spreads, *facts, *repeats, *again)]
    if not tasks:
        tasks, summaries = summaries, []
    left = {"sum up others": summaries, "describe the agent": facts, "number its runs": repeats}
    left |= {"say how sure others are": spreads, "are others on another scale": again}
    for what, names in left.items():
        if names:
            scores.notes.append(f"no tasks, as they {what}: {some(map(repr, names), 8)}; --task NAME takes one")
    return tasks


def _column(
    table: Table,
    title: str,
    found: Numbers,
    names: Sequence[str | None],
    options: Options,
    scores: Scores,
    items: list[str] | None = None,
) -> None:
    if found.failed and options.failures is None:
        row = found.failed[0]
        raise DataError(
            f"{table.place(row)}: {title} is {shown(table.cells(title)[row])}; expected a number, or --failures last "
            "(below all others) or --failures absent (left out) for runs that failed"
        )
    failed = set(found.failed) if options.failures == "last" else set()
    if found.places:
        scores.higher[title, ""] = False
    absent = 0
    for row, (name, value) in enumerate(zip(names, found.values, strict=True)):
        if name is not None and row in failed:
            scores.add_failed(name, title, items[row] if items else None)
        elif name is not None and value == value:
            scores.add(name, title, value, item=items[row] if items else None)
        else:
            absent += name is not None
    if absent:
        scores.left_out["blank cells: the agent is absent from the task"] += absent


def _refuse_spoilt(table: Table, texts: list[str], cells: dict[str, list[Any]], decimal_comma: bool) -> None:
    """A column of numbers with a few words in it is not text: the word is an error, not a reason to drop the task."""
    for title in texts:
        there = [(row, cell) for row, cell in enumerate(cells[title]) if not is_missing(cell)]
        readable = {row for row, cell in there if read_numbers([cell], decimal_comma) is not None}
        others = {row for row, cell in there if read_numbers([cell], not decimal_comma) is not None}
        spoilt = [row for row, _ in there if row not in readable]
        words = "a number as in the rows around it"
        if there and len(readable | others) == len(there):
            words = "numbers of one kind in a column: decimal commas or points, one unit, places or scores"
            spoilt = spoilt or [row for row, _ in there][-1:]
        elif len(readable) <= len(there) / 2:
            continue
        row = spoilt[0]
        raise DataError(f"{table.place(row)}: {title} is {shown(cells[title][row])}; expected {words}")


# Tables in Markdown, and the two header lines of a pivot table.

_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")


def is_markdown(text: str) -> bool:
    """Whether a text holds a Markdown table: a line with bars, and a rule of dashes below it."""
    rows = text.splitlines()
    return any("|" in head and _is_rule(rule) for head, rule in pairwise(rows))


def _is_rule(line: str) -> bool:
    return "|" in line and len(line) < 10_000 and _RULE.match(line) is not None


def parse_markdown(text: str, name: str) -> list[Table]:
    """The Markdown tables of a text."""
    rows = text.splitlines()
    tables = []
    at = 0
    while at + 1 < len(rows):
        if not ("|" in rows[at] and _is_rule(rows[at + 1])):
            at += 1
            continue
        header, first = _bars(rows[at]), at + 2
        end = first
        while end < len(rows) and "|" in rows[end]:
            end += 1
        body = [_bars(row) for row in rows[first:end]]
        for k, row in enumerate(body):
            if len(row) != len(header):
                raise DataError(
                    f"{name}:{first + k + 1}: row has {len(row)} cells; expected {len(header)} as in the header"
                )
        twice = [title for title in header if title and header.count(title) > 1]
        if twice:
            raise DataError(f"{name}:{at + 1}: column {twice[0]!r} stands twice in the header; expected once")
        if body:
            columns = {title: [row[k] for row in body] for k, title in enumerate(header)}
            tables.append(Table(name, columns, partial(_line, name, first)))
        at = end
    return tables


def _line(name: str, first: int, row: int) -> str:
    return f"{name}:{first + row + 1}"


def _bars(line: str) -> list[str]:
    inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
    return [_plain(cell) for cell in re.split(r"(?<!\\)\|", inner)]


def _plain(cell: str) -> str:
    """A cell without Markdown's marks: links, emphasis, code, escapes."""
    cell = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", cell.strip())
    cell = re.sub(r"^(\*\*|__|\*|_|`)(.*)\1$", r"\2", cell.strip())
    return re.sub(r"\\([\\`*_{}\[\]<>()#+\-.!|~])", r"\1", cell).strip()
