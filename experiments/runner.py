"""Run a study: its jobs on all cores, each kept in a journal as it ends, then the table, the claims and the figures.

A run that was stopped goes on where it was: jobs found in the journal are not run again. A journal of other code,
scale or data is begun anew.
"""

from __future__ import annotations

import csv
import hashlib
import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import experiments
import softcondorcet
from experiments.study import Claim, Files, Job, Row, Scale, Study
from softcondorcet import __version__, arrays
from softcondorcet.checks import Watch
from softcondorcet.errors import DataError
from softcondorcet.installation import needs

# From a job, as text, to its rows and the seconds since the job before.
Done = dict[str, tuple[list[Row], float]]


@dataclass(frozen=True)
class Reproduced:
    """What a run left: the table, the claims, and the files written."""

    table: list[Row]
    claims: list[Claim]
    written: list[Path]


def reproduce(
    study: Study,
    scale: Scale,
    files: Files,
    folder: Path,
    *,
    workers: int | None = None,
    fresh: bool = False,
    watch: Watch | None = None,
) -> Reproduced:
    """Run the jobs that are left and write results/NAME.csv, results/NAME.json and figures/NAME.png and .svg.

    At a smaller scale than the paper's they are in folders of that name inside results and figures.
    """
    with _in_words(study, folder):
        return _reproduce(study, scale, files, folder, workers, fresh, watch)


def redraw(study: Study, scale: Scale, folder: Path) -> list[Path]:
    """The figures of a table that was written before."""
    path = _within(folder / "results", scale) / f"{study.name}.csv"
    command = f"./reproduce {study.name} --scale {scale}"
    if not path.exists():
        raise DataError(f"{path}: expected the table of an earlier run; run '{command}' first")
    with _in_words(study, folder):
        try:
            return draw(study, read_table(path), _within(folder / "figures", scale))
        except KeyError as error:
            raise DataError(f"{path}: expected a column {error}; run '{command}' again") from error


def _within(folder: Path, scale: Scale) -> Path:
    """Where results of a scale go: those of the paper's scale stand alone, so that a quick try overwrites none."""
    return folder if scale == "paper" else folder / scale


@contextmanager
def _in_words(study: Study, folder: Path) -> Iterator[None]:
    """What goes wrong around the code, said in one sentence."""
    needs("matplotlib", "plot")
    try:
        yield
    except OSError as error:
        raise DataError(f"{error.filename or folder}: {error.strerror or error}") from error
    except BrokenProcessPool as error:
        raise DataError(
            f"{study.name}: a process was ended from outside, perhaps for want of memory; the same command goes on "
            "where it was, and needs less with --workers 1"
        ) from error


def _reproduce(
    study: Study, scale: Scale, files: Files, folder: Path, workers: int | None, fresh: bool, watch: Watch | None
) -> Reproduced:
    head = {"study": study.name, "scale": scale, "version": __version__, "code": _digest(_modules()),
            "data": {name: _digest([path]) for name, path in files.items()}}  # fmt: skip
    jobs = {json.dumps(job, sort_keys=True): job for job in study.jobs(scale, files)}
    journal = folder / "work" / f"{study.name}-{scale}.jsonl"
    done = {} if fresh else _read_journal(journal, head)
    if not done:
        _write(journal, json.dumps(head))
    _finish(study, jobs, done, files, journal, workers, watch)
    table = study.table([row for key in jobs for row in done[key][0]])
    claims = study.claims(table)
    seconds = round(sum(done[key][1] for key in jobs), 1)
    about = {**head, "title": study.title, "seconds": seconds, "claims": [asdict(claim) for claim in claims]}
    results = _within(folder / "results", scale)
    written = [_write_table(table, results / f"{study.name}.csv")]
    written.append(_write(results / f"{study.name}.json", json.dumps(about, indent=2, ensure_ascii=False)))
    return Reproduced(table, claims, [*written, *draw(study, table, _within(folder / "figures", scale))])


def draw(study: Study, table: Sequence[Row], folder: Path) -> list[Path]:
    """Each figure as PNG and SVG."""
    written = []
    for part, figure in study.draw(table).items():
        for suffix in ("png", "svg"):
            path = folder / f"{study.name}{part and '-' + part}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=150)
            written.append(path)
    return written


def read_table(path: Path) -> list[Row]:
    """A table as ``reproduce`` wrote it: numbers are numbers again, and an empty cell is None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def _value(cell: str) -> Any:
    try:
        return json.loads(cell) if cell else None
    except ValueError:
        return cell


def _finish(
    study: Study,
    jobs: dict[str, Job],
    done: Done,
    files: Files,
    journal: Path,
    workers: int | None,
    watch: Watch | None,
) -> None:
    """Run the jobs that are not done, and keep each in the journal as it ends."""
    left = {key: job for key, job in jobs.items() if key not in done}
    before = time.monotonic()
    with journal.open("a", encoding="utf-8") as file:
        for key, rows in _run(study, left, files, workers, len(jobs), watch):
            now = time.monotonic()
            done[key], before = (rows, now - before), now
            # A line begins with its end of line: it is whole even where the one before was cut off.
            file.write("\n" + json.dumps([key, *done[key]], allow_nan=False))
            file.flush()


def _modules() -> list[Path]:
    """The code: what another version of it has found is not what this one would find."""
    return sorted(path for package in (softcondorcet, experiments) for path in Path(package.__path__[0]).rglob("*.py"))


def _digest(paths: list[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]


def _read_journal(journal: Path, head: dict[str, Any]) -> Done:
    """Finished jobs, their rows and the seconds since the one before, if the journal is of the same run.

    A line cut off by a stop is left out.
    """
    if not journal.exists():
        return {}
    lines = journal.read_text(encoding="utf-8").splitlines()
    done: Done = {}
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if number == 0 and entry != head:
            return {}
        if entry is None:
            continue
        if number:
            key, rows, seconds = entry
            done[key] = rows, seconds
    return done


def _run(study: Study, jobs: dict[str, Job], files: Files, workers: int | None, total: int, watch: Watch | None) -> Any:
    """(key, rows) of each job as it ends. One process is no process: easier to debug, and quicker for a few jobs."""
    finished = total - len(jobs)
    if (workers or arrays.cores()) == 1 or len(jobs) == 1:
        for key, job in jobs.items():
            yield key, study.work(job, files)
            finished += 1
            _report(watch, finished, total)
        return
    with ProcessPoolExecutor(workers or arrays.cores(), multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[list[Row]], str] = {pool.submit(study.work, job, files): key for key, job in jobs.items()}
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
                    finished += 1
                    _report(watch, finished, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _report(watch: Watch | None, done: int, total: int) -> None:
    if watch is not None:
        watch(done, total, None)


def _write_table(table: Sequence[Row], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in table for key in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return path


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
