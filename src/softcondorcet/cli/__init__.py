"""The command line: parse, one library call, print. Exit code 0 for an answer, 1 for bad data, 2 for bad usage."""

from __future__ import annotations

import click

from softcondorcet import __version__
from softcondorcet.cli import (
    board,
    client,
    completion,
    data,
    diff,
    evaluation,
    history,
    options,
    plot,
    predict,
    rank,
    report,
    serve,
    warm,
)
from softcondorcet.errors import OptionError


@click.group(cls=options.Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", prog_name="sco")
def main() -> None:
    """Which agent is best, and how sure are we?

    Rank agents from evaluation data by Soft Condorcet Optimization: ratings whose order contradicts the votes least.

    FILE is a table of battles, rankings or scores (csv, tsv, jsonl, json, parquet, xlsx, Markdown; also .gz), a log of
    an evaluation tool ('sco formats' lists them), a PrefLib file, a folder, glob or archive of such files, a member of
    an archive (votes.zip::member.soc), or - for standard input.
    """


def _moved(name: str, more: str) -> click.Command:
    """A command that is not in the package any more, and says where it went."""

    @click.command(name, hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def moved(words: tuple[str, ...]) -> None:
        raise OptionError(
            f"'sco {name}' is now './reproduce{more}' in a clone of the repository; "
            "the experiments of the paper are not part of the installed package"
        )

    return moved


# The commands by what they are for, as the help lists them.
JOBS: dict[str, tuple[click.Command, ...]] = {
    "Rank agents": (
        rank.rank,
        report.report,
        plot.plot,
        evaluation.compare,
        history.history,
        diff.diff,
        diff.regress,
        report.demo,
    ),
    "How sure": (
        data.inspect,
        evaluation.bootstrap,
        predict.predict,
        evaluation.versus,
        evaluation.robustness,
        rank.optima,
        evaluation.next_match,
    ),
    "Choose a method": (rank.methods, evaluation.holdout, predict.calibration, history.replay, evaluation.tune),
    "Files of votes": (rank.formats, data.convert, data.simulate),
    "This machine": (warm.warm, completion.completion),
    "A live leaderboard": (serve.serve, client.vote, client.push, board.board, board.token),
}

for job, commands in JOBS.items():
    main.add_job(job, commands)
for command in (_moved("reproduce", " NAME"), _moved("data", " data")):
    main.add_command(command)
