"""The paper's tables and figures, each made by one command: ``sco reproduce NAME``. One file per item."""
