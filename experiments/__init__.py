"""The paper's tables and figures, each made by one command: ``./reproduce NAME``. One file for each."""
