"""The formats of evaluation tools, told by content, and how a set of files of one tool becomes one table.

``FORMATS`` is the registry: each format recognises a file by its keys, reads a list of files at once (a folder, a glob,
an archive), and says what one vote is and what it leaves out. Files of no format are for the readers of plain tables.
"""

from __future__ import annotations

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io import pgn
from softcondorcet.io.input_files import InputFile
from softcondorcet.io.logs import (
    alpaca_eval,
    arena_hard,
    every_eval_ever,
    helm,
    inspect_ai,
    kaggle,
    lm_eval,
    mt_bench,
    mteb,
    openai_evals,
    promptfoo,
)
from softcondorcet.io.records import Battles, Format, Options, Scores

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        lm_eval,
        inspect_ai,
        helm,
        every_eval_ever,
        mteb,
        promptfoo,
        openai_evals,
        alpaca_eval,
        arena_hard,
        mt_bench,
        kaggle,
        pgn,
    )
}
# Of several files, those that can hold results of a tool; the rest is skipped and counted. One file is always opened.
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".eval", ".pgn", ".txt", "")
# Formats in which every row names its agent.
_AGENT_IN_ROWS = ("alpaca_eval", "arena_hard", "mt_bench", "kaggle", "promptfoo", "pgn")


def format_of(source: InputFile) -> Format | None:
    """The format of a file; None for a plain table or a file without results."""
    if not source.may_be_log:
        return None
    return next((format for format in FORMATS.values() if format.recognise(source)), None)


def read_logs(name: str, files: list[InputFile], format: str | None, options: Options) -> Scores | Battles | None:
    """The scores or battles in files of one tool; None where no file is of a tool."""
    by_format: dict[str, list[InputFile]] = {}
    skipped = []
    for file in files:
        could = len(files) == 1 or file.suffix in _SUFFIXES
        found = format_of(file) if could and file.head else None
        if found is None or (format is not None and found.name != format):
            skipped.append(file)
        else:
            by_format.setdefault(found.name, []).append(file)
    if format is not None and len(files) == 1:
        by_format, skipped = {format: files}, []
    if not by_format:
        if format is not None:
            raise DataError(f"{name}: no file is of the format {format}; expected {FORMATS[format].title}")
        return None
    if len(by_format) > 1:
        listed = ", ".join(f"{format} ({plural(len(files), 'file')})" for format, files in by_format.items())
        raise DataError(f"{name}: holds results of several tools: {listed}; expected one: format (--format-in) chooses")
    (chosen, files_of_it), *_ = by_format.items()
    agent_in_rows = chosen in _AGENT_IN_ROWS
    check(
        not (agent_in_rows and options.agent_from),
        "agent_from",
        f"left out: {chosen} names agents itself",
        options.agent_from,
    )
    records = FORMATS[chosen].read(files_of_it, options)
    records.files = len(files_of_it)
    records.name = name
    read = f"{FORMATS[chosen].title.partition(':')[0]}: {plural(len(files_of_it), 'file')}"
    if skipped:
        read += f"; skipped {len(skipped):,} others ({some([file.path.rpartition('/')[2] for file in skipped])})"
    records.notes.insert(0, read)
    return records
