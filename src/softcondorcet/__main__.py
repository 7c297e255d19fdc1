"""``python -m softcondorcet`` is the command ``sco``."""

from softcondorcet.cli import main

main(prog_name="sco")
