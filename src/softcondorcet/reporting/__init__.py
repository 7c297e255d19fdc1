"""The report, and what it says: all that is known about votes, as words, tables and drawings."""
