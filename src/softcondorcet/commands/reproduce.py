"""``sco reproduce``: the tables and figures of the paper, beside ours."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from softcondorcet.errors import DataError
from softcondorcet.screen import progress


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--scale",
    type=click.Choice(("tiny", "quick", "paper")),
    default="quick",
    show_default=True,
    help="How much of it: seconds, minutes, or all that the paper ran.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="The file of data, or a folder with the files; else $SCO_DATA, else what 'sco data get' got.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("experiments"),
    show_default=True,
    help="Folder for results, figures and the journal.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes; as many as cores if left out.")
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has finished.")
@click.option("--draw", is_flag=True, help="Only draw the figures again, from the tables.")
def reproduce(
    names: tuple[str, ...],
    scale: str,
    data: Path | None,
    output: Path,
    workers: int | None,
    fresh: bool,
    draw: bool,
) -> None:
    """Run items of the paper and hold each figure against ours; all for every one, none to list them.

    Writes results/NAME.csv, results/NAME.json and figures/NAME.png and .svg. A run that was stopped goes on where it
    was.

    \b
    sco reproduce warmup
    sco reproduce preflib --scale paper --data preflib-paper.zip
    sco reproduce diplomacy --data my_games.csv
    """
    from softcondorcet.reproduce import runner
    from softcondorcet.reproduce.items import NAMES, study
    from softcondorcet.tables import as_table

    if not names:
        items = [study(name) for name in NAMES]
        click.echo(as_table([{"item": i.name, "what": i.title, "data": ", ".join(i.needs) or "none"} for i in items]))
        return
    chosen = [study(name) for name in (NAMES if names == ("all",) else names)]
    failed: dict[str, str] = {}
    for item in chosen:
        try:
            if draw:
                written = runner.redraw(item, output)
            else:
                files = find_files(item.needs, data)
                with progress() as work:
                    watch = work(f"{item.name}, {scale}")
                    done = runner.reproduce(item, scale, files, output, workers=workers, fresh=fresh, watch=watch)  # type: ignore[arg-type]
                written = done.written
                click.echo(f"{item.title} ({scale})\n")
                click.echo(as_table([_shown(claim) for claim in done.claims]) + "\n")
        except DataError as error:
            if len(chosen) == 1:
                raise
            failed[item.name] = str(error)
            continue
        click.echo("wrote " + " ".join(str(path) for path in written), err=True)
    for name, reason in failed.items():
        click.echo(f"left out {name}: {reason}", err=True)
    if failed:
        sys.exit(1)


def find_files(needs: tuple[str, ...], data: Path | None) -> dict[str, Path]:
    """Where each file that an item needs lies; a single file given stands for the one it needs."""
    from softcondorcet.datasets import find

    return {name: find(name, data) for name in needs}


def _shown(claim: object) -> dict[str, str]:
    cells = dict(vars(claim))
    cells["agrees"] = {True: "yes", False: "NO", None: "-"}[cells["agrees"]]
    return cells
