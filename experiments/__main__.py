"""The command ``./reproduce``: tables and figures of the paper beside ours, and the data sets that they read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softcondorcet.cli.options import Commands, progress
from softcondorcet.errors import DataError, OptionError

if TYPE_CHECKING:
    from experiments.study import Claim

# Files are read as they are here; another command writes them in a form that leaves no doubt.
_CONVERT = ", as options of 'sco convert', which writes a file that needs none"
HERE = Path(__file__).resolve().parent


class Items(Commands):
    """``./reproduce NAME`` runs items; only ``data`` is a command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args[:1] == ["data"] else ["run", *args])


@click.group(cls=Items, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def main() -> None:
    """The paper's tables and figures, beside ours."""


@main.command("run")
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
    help="Folder with the data, or the only file that an item needs; else $SCO_DATA, else what 'data get' got.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=HERE,
    show_default="experiments",
    help="Folder for results, figures and the journal.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes; as many as cores if left out.")
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has finished.")
@click.option("--draw", is_flag=True, help="Only draw the figures again, from the tables of that scale.")
def run(
    names: tuple[str, ...],
    scale: str,
    data: Path | None,
    output: Path,
    workers: int | None,
    fresh: bool,
    draw: bool,
) -> None:
    """Run items of the paper and hold each figure against ours; all for every one, none to list them.

    Writes results/NAME.csv, results/NAME.json and figures/NAME.png and .svg at the scale of the paper, and the same in
    folders named quick and tiny inside these at smaller scales. A run that was stopped goes on where it was.

    \b
    ./reproduce warmup
    ./reproduce preflib --scale paper --data preflib-paper.zip
    ./reproduce diplomacy --data my_games.csv
    ./reproduce data list
    """
    from experiments import runner
    from experiments.items import NAMES, study
    from softcondorcet.tables import as_table

    if not names:
        items = [study(name) for name in NAMES]
        click.echo(as_table([{"item": i.name, "what": i.title, "data": ", ".join(i.needs) or "none"} for i in items]))
        return
    wanted = dict.fromkeys(one for name in names for one in (NAMES if name == "all" else (name,)))
    chosen = [study(name) for name in wanted]
    if data is not None and not any(item.needs for item in chosen):
        raise OptionError(f"--data must be left out for {', '.join(wanted)}, got {str(data)!r}")
    failed: dict[str, str] = {}
    for item in chosen:
        try:
            if draw:
                written = runner.redraw(item, scale, output)  # type: ignore[arg-type]
            else:
                files = find_files(item.needs, data)
                with progress() as work:
                    watch = work(f"{item.name}, {scale}")
                    done = runner.reproduce(item, scale, files, output, workers=workers, fresh=fresh, watch=watch)  # type: ignore[arg-type]
                written = done.written
                click.echo(f"{item.title} ({scale})\n")
                click.echo(as_table([_shown(number, claim) for number, claim in enumerate(done.claims, 1)]) + "\n")
                reasons = [f"{number}: {claim.why}\n" for number, claim in enumerate(done.claims, 1) if claim.why]
                click.echo("".join(reasons))
        except DataError as error:
            reason = str(error) + _CONVERT * ("--column" in str(error))
            if len(chosen) == 1:
                raise DataError(reason) from error
            failed[item.name] = reason
            continue
        click.echo("wrote " + " ".join(str(path) for path in written), err=True)
    for name, reason in failed.items():
        click.echo(f"left out {name}: {reason}", err=True)
    if failed:
        sys.exit(1)


def find_files(needs: tuple[str, ...], data: Path | None) -> dict[str, Path]:
    """Where each file that an item needs lies; a single file given stands for the one it needs, never for several."""
    from experiments.datasets import find

    if data is not None and data.is_file() and len(needs) > 1:
        raise DataError(f"{data}: a single file; expected --data to be a folder with {', '.join(needs)}")
    return {name: find(name, data) for name in needs}


def _shown(number: int, claim: Claim) -> dict[str, str | int]:
    """A row of the table; reasons, which are long, stand below it."""
    agrees = {True: "yes", False: "NO", None: "-"}[claim.agrees]
    return {"": number, "what": claim.what, "paper": claim.paper, "ours": claim.ours, "difference": claim.difference,
            "agrees": agrees}  # fmt: skip


@main.group()
def data() -> None:
    """List and get the data sets that './reproduce' reads."""


@data.command("list")
def list_() -> None:
    """Say what can be had, where it comes from, and whether it is here."""
    from experiments.datasets import find, known

    for dataset in known().values():
        try:
            place = f"is here: {find(dataset.file)}"
        except DataError:
            place = f"is not here: ./reproduce data get {dataset.name}"
        click.echo(f"{dataset.name}: {dataset.title}")
        for label, text in (
            (dataset.file, place),
            ("source", dataset.address),
            ("licence", dataset.licence),
            ("cite", dataset.citation),
        ):
            click.echo(f"  {label}: {text}")


@data.command()
@click.argument("name")
@click.option(
    "-o", "--output", metavar="FOLDER", help="Folder to put it in; $SCO_DATA or the user's cache if left out."
)
@click.option("--from", "address", metavar="URL", help="Another place to get the archive from: an address or a file.")
def get(name: str, output: str | None, address: str | None) -> None:
    """Download a data set, check it, and put it where './reproduce' finds it.

    Prints its path. What is there already is checked and kept.
    """
    from experiments.datasets import folder, known
    from experiments.download import download

    sets = known()
    if name not in sets:
        raise OptionError(f"NAME must be one of {', '.join(sets)}, got {name!r}")
    dataset, target = sets[name], Path(output) if output else folder()
    click.echo(f"{dataset.title}\nfrom {address or dataset.address}\nlicence: {dataset.licence}", err=True)
    with progress() as work:
        path = download(dataset, target, address=address, tell=work)
    click.echo(f"{dataset.files:,} files, as the manifest says", err=True)
    click.echo(str(path))


if __name__ == "__main__":
    main(prog_name="./reproduce")
