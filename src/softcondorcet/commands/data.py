"""Commands for the data sets that 'sco reproduce' reads: data list, data get."""

from __future__ import annotations

from pathlib import Path

import click

from softcondorcet.errors import DataError, OptionError
from softcondorcet.screen import progress


@click.group()
def data() -> None:
    """List and get the data sets that 'sco reproduce' reads."""


@data.command("list")
def list_() -> None:
    """Say what can be had, where it comes from, and whether it is here."""
    from softcondorcet.datasets import find, known

    for dataset in known().values():
        try:
            place = f"is here: {find(dataset.file)}"
        except DataError:
            place = f"is not here: sco data get {dataset.name}"
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
    """Download a data set, check it, and put it where 'sco reproduce' finds it.

    Prints its path. What is there already is checked and kept.
    """
    from softcondorcet.datasets import folder, known
    from softcondorcet.download import download

    sets = known()
    if name not in sets:
        raise OptionError(f"NAME must be one of {', '.join(sets)}, got {name!r}")
    dataset, target = sets[name], Path(output) if output else folder()
    click.echo(f"{dataset.title}\nfrom {address or dataset.address}\nlicence: {dataset.licence}", err=True)
    with progress() as work:
        path = download(dataset, target, address=address, tell=work)
    click.echo(f"{dataset.files:,} files, as the manifest says", err=True)
    click.echo(str(path))
