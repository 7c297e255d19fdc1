"""Votes on disk, boards in memory, and fits of them: the service without HTTP."""
