"""Shell completion: the command that prints the script for a shell, and the names that options complete."""

from __future__ import annotations

from collections.abc import Mapping

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

# FILE and other paths: shells complete names of files. Nothing is checked here, a reader says more.
PATH = click.Path(readable=False)


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the script by which a shell completes sco.

    \b
    sco completion bash > ~/.local/share/bash-completion/completions/sco
    sco completion zsh > ~/.zfunc/_sco
    sco completion fish > ~/.config/fish/completions/sco.fish
    """
    script = get_completion_class(shell)
    assert script is not None
    root = click.get_current_context().find_root().command
    click.echo(ShellComplete.source(script(root, {}, "sco", "_SCO_COMPLETE")))


def methods(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of methods; after a comma the next one."""
    from softcondorcet.methods.registry import METHODS

    return _names({name: method.title for name, method in METHODS.items()}, begun)


def models(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of online models."""
    from softcondorcet.online.models import MODELS

    return _names(dict.fromkeys(MODELS, ""), begun)


def formats(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of formats to read."""
    from softcondorcet.io.files import FORMATS
    from softcondorcet.io.formats import FORMATS as LOGS

    titles = {name: log.title for name, log in LOGS.items()}
    return _names({name: titles.get(name, "") for name in FORMATS}, begun)


def written(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of formats to write."""
    from softcondorcet.io.write import WRITABLE

    return _names(dict.fromkeys(WRITABLE, ""), begun)


def _names(titles: Mapping[str, str], begun: str) -> list[CompletionItem]:
    """Those that begin as the last name of a list does."""
    before, comma, last = begun.rpartition(",")
    found = [name for name in titles if name.startswith(last)]
    return [CompletionItem(f"{before}{comma}{name}", help=titles[name] or None) for name in found]
